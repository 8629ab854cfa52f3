"""Write the corpus: certificates that the verifier and the worst-case search make for varied profiles.

Run from the root of the project: ``python -m tests.mutants.make_corpus``. Those made by hand are in handmade.py.
The files are committed, so that the tests need no prover.
"""

from __future__ import annotations

import json
from typing import Any

from accountant.guarantees.derive import derive_epsilon
from profiles import declare
from proofs_check.kernel import check
from proofs_check.verify import verify
from tests.mutants.corpus import FOLDER
from tests.mutants.handmade import documents

Z = {"z": [0, 4]}
# name, epsilon, record, parameters, target
CONDITIONS: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("lloyd", "T*w*(1/b + z/s)", Z, {"T": 10, "b": "20.5", "s": 30}, "20"),
    ("lloyd-low", "T*w*(1/b + z/s)", Z, {"T": 10, "b": "20.5", "s": 30}, "0.1"),
    ("lloyd-open", "T*w*(1/b + z/s)", Z, {"T": "positive", "b": "positive", "s": "positive"}, "3"),
    ("lloyd-ranges", "T*w*(1/b + z/s)", Z, {"T": ["1", "2"], "b": ["10", "20"], "s": ["30", "40"]}, "1"),
    ("sum", "w*z/b", {"z": [0, 2]}, {"b": 1}, "3"),
    ("sum-tight", "w*z/b", {"z": ["1/2", 2]}, {"b": 1}, "2"),
    ("count", "w/b", {}, {"b": "positive"}, "3"),
    ("constant", "z + 0*w", {"z": [1, 2]}, {}, "3"),
    ("root", "z*sqrt(w)", {"z": ["0.5", 2]}, {}, "3"),
    ("square", "z*w**2", {"z": [1, 2]}, {}, "3"),
    ("log-above", "log(1 + z*w)", {"z": [2, 3]}, {}, "1"),
    ("log-below", "log(1 + z*w)", {"z": ["0.5", 1]}, {}, "1"),
    ("affine", "w + 1", {}, {}, "3"),
    ("two", "w*(y + z)", {"y": ["0.1", 1], "z": [0, 1]}, {}, "3"),
    ("kink", "Max(w, 2)", {}, {}, "3"),
    ("abs-kink", "w + Abs(w - 3)/2", {}, {}, "3"),
    ("no-kink", "Max(w, 1/2)", {}, {}, "3"),
    ("power", "z*w**(3/2)", {"z": ["1/3", 1]}, {}, "1"),
    ("exponential", "exp(w/4)*z", {"z": ["0.1", 1]}, {}, "2"),
    ("self-power", "w**w*z/10", {"z": [1, 2]}, {}, "1"),
    ("quotient", "w**2*z/(1 + w)", {"z": [1, 3]}, {}, "2"),
    ("norm", "w*sqrt(y**2 + z**2 + 1)/5", {"y": [-1, 1], "z": [0, 2]}, {}, "1"),
    ("clipped", "w*Min(z, 1)/2 + w/10", Z, {}, "1"),
    ("wave", "w + sin(w)/10 + z", {"z": [0, 1]}, {}, "3"),
    ("angle", "w*(2 + cos(z))", {"z": [0, 3]}, {}, "3"),
    ("saturating", "z*w/(1 + w)", {"z": [1, 2]}, {}, "2"),
    ("log-linear", "w*log(1 + z)", {"z": ["0.1", 1]}, {}, "1"),
    ("shifted", "a*w + b/w", {}, {"a": [1, 2], "b": [1, 2]}, "5"),
    ("cube", "z*(w - 1)**3 + w", {"z": [0, 1]}, {}, "1"),
    ("renyi", "w*z + w**2*z**2/2", {"z": ["0.25", "0.5"]}, {}, "1"),
    ("turning", "2*w + cos(w)", {}, {}, "3"),
    ("larger", "Max(w, z*w)", {"z": ["0.5", 2]}, {}, "1"),
    ("either", "a*Max(w, b)", {}, {"a": "positive", "b": "positive"}, "1"),
    ("distance", "w*Abs(y - z)", {"y": [0, 1], "z": [0, 1]}, {}, "1"),
    ("bumpy", "w + sin(w)/w", {}, {}, "1"),
    ("free", "w*z/b", {"z": [0, 2]}, {"b": "positive"}, "3"),
    ("corner", "w*(y + z**2)", {"y": [0, 1], "z": [-1, 1]}, {}, "3"),
    ("arch", "w*z*(1 - z)", {"z": [0, 1]}, {}, "1"),
    ("all-free", "0*w*z", {"z": [0, 2]}, {}, "3"),
    ("nowhere-open", "w*(z + a)", {"z": [0, 1]}, {"a": "positive"}, "3"),
    ("lossy", "z + 0*w", {"z": [0, 2]}, {}, "3"),
    ("nowhere-free", "w*(z + 1)", {"z": [0, 1]}, {}, "3"),
    ("edges", "w*y*z", {"y": [0, 1], "z": [0, 2]}, {}, "3"),
    ("slow", "log(1 + w)*z", {"z": ["0.1", "0.9"]}, {}, "2"),
]
# name, epsilon, record, parameters, q
BOUNDS: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("worst-lloyd", "T*w*(1/b + z/s)", Z, {"T": 10, "b": "20.5", "s": 30}, "1/20 + z**2/50"),
    ("worst-sum", "w*z/4", {"z": [0, 2]}, {}, "1/10 + z/5"),
    ("worst-square", "w**2*z/50", {"z": [1, 2]}, {}, "1/2"),
    ("worst-root", "z*sqrt(w)", {"z": [0, 1]}, {}, "1/4 + z/4"),
]


def _write(name: str, certificate: dict[str, Any]) -> None:
    text = json.dumps(certificate, separators=(",", ":"))
    report = check(text)
    if not report.accepted:
        raise SystemExit(f"{name} is rejected at {report.step}: {report.reason}")
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="ascii")


def main() -> None:
    """Make every certificate anew."""
    FOLDER.mkdir(exist_ok=True)
    for document in documents():
        _write(document["profile"]["name"], document)
    for name, epsilon, record, parameters, target in CONDITIONS:
        _write(name, verify(declare(name, epsilon, record=record, parameters=parameters), target).certificate())
    for name, epsilon, record, parameters, q in BOUNDS:
        _write(name, dict(derive_epsilon(declare(name, epsilon, record=record, parameters=parameters), q=q).certificate()))


if __name__ == "__main__":
    main()
