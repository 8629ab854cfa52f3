"""Verdicts on profiles whose truth is derived by hand, condition by condition (P proved, R refuted; the derivation beside each).

K = ε″ + ε′²; exp∘ε is strongly convex iff inf over w ≥ 1 of K·e^ε > 0.
"""

from __future__ import annotations

import pytest

from profiles import declare
from proofs_check.verify import verify

P, R = "proved", "refuted"

# name, epsilon, record, parameters, target, {condition: verdict}
CASES = [
    # ε = a w with a in [10/20.5, 10/20.5 + 4/3] = [0.488, 1.821]: 8 holds for 20; K = a² > 0; 1 − e^{−a} < a always; w ε′ = ε.
    ("lloyd", "T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": 10, "b": "20.5", "s": 30}, "20",
     {"assumption-8": P, "assumption-9": P, "assumption-11": P, "proposition-16": R, "proposition-17": P}),
    # The same with a target below ε(1, 0) = 0.488.
    ("lloyd low", "T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": 10, "b": "20.5", "s": 30}, "0.1", {"assumption-8": R, "assumption-9": P}),
    # All constants unspecified: 8 fails for large T; K = a² > 0 and 17 with equality for all positive values.
    ("lloyd symbolic", "T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": "positive", "b": "positive", "s": "positive"}, "3",
     {"assumption-8": R, "assumption-9": P, "assumption-11": P, "proposition-16": R, "proposition-17": P}),
    # ε = 0 at z = 0 for every w: not eventually above the logarithm, exp∘ε = 1 is not strongly convex.
    ("sum", "w*z/b", {"z": [0, 2]}, {"b": 1}, "3",
     {"assumption-8": P, "assumption-9": R, "assumption-11": R, "proposition-16": R, "proposition-17": P}),
    ("count", "w/b", {}, {"b": "positive"}, "3", {"assumption-9": P, "assumption-11": P, "proposition-17": P, "proposition-16": R}),
    # Constant in w: ε′ = 0 < 1 − e^{−ε} for ε = z ≥ 1; ε ≤ w ε′ = 0 fails; bounded; exp∘ε constant.
    ("constant", "z + 0*w", {"z": [1, 2]}, {}, "3",
     {"assumption-8": P, "assumption-9": R, "assumption-11": R, "proposition-16": P, "proposition-17": R}),
    # ε = z √w: at w = 1, K = z(z − 1)/4 ≤ 0 for z ≤ 1; w ε′ = ε/2 < ε; grows faster than log.
    ("root", "z*sqrt(w)", {"z": ["0.5", 2]}, {}, "3", {"assumption-8": P, "assumption-9": P, "assumption-11": R, "proposition-17": R}),
    # ε = z w²: K = 2 z + 4 z² w² > 0, w ε′ = 2 ε ≥ ε.
    ("square", "z*w**2", {"z": [1, 2]}, {}, "3", {"assumption-8": P, "assumption-9": P, "assumption-11": P, "proposition-17": P}),
    # exp ε = 1 + z w: convex, not strongly; above 1 + E w eventually iff z > E = e − 1 = 1.718…
    ("log above", "log(1 + z*w)", {"z": [2, 3]}, {}, "1", {"assumption-8": R, "assumption-9": P, "assumption-11": R, "proposition-17": R}),
    ("log below", "log(1 + z*w)", {"z": ["0.5", 1]}, {}, "1", {"assumption-8": P, "assumption-9": R, "assumption-11": R}),
    # ε = w + 1: w ε′ = w < ε.
    ("affine", "w + 1", {}, {}, "3", {"assumption-8": P, "assumption-9": P, "assumption-11": P, "proposition-17": R, "proposition-16": R}),
    # Two statistics.
    ("two", "w*(y + z)", {"y": ["0.1", 1], "z": [0, 1]}, {}, "3",
     {"assumption-8": P, "assumption-9": P, "assumption-11": P, "proposition-17": P, "proposition-16": R}),
    # Kink at w = 2: not differentiable there.
    ("kink", "Max(w, 2)", {}, {}, "3", {"assumption-8": P, "assumption-9": P, "assumption-11": R, "proposition-17": R}),
    ("abs kink", "w + Abs(w - 3)/2", {}, {}, "3", {"assumption-8": P, "assumption-11": R, "proposition-17": R}),
    # Max(w, 1/2) = w on the domain.
    ("no kink", "Max(w, 1/2)", {}, {}, "3", {"assumption-8": P, "assumption-9": P, "assumption-11": P, "proposition-17": P}),
]  # fmt: skip


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("name", "epsilon", "record", "parameters", "target", "truth"), CASES, ids=[case[0] for case in CASES])
def test_verdicts_agree_with_the_hand_derivation(name, epsilon, record, parameters, target, truth):
    profile = declare(name, epsilon, record=record, parameters=parameters)
    found = verify(profile, target, list(truth))
    assert {condition: decision.verdict.value for condition, decision in found.decisions.items()} == truth
    for decision in found.decisions.values():
        if decision.verdict.value == R:
            assert decision.witness is not None
            assert decision.checked
