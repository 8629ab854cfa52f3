"""Profiles with conditions whose truth is known by hand: 8, 9, 11, 16, 17, each P (true for all records) or R (not for all).

K = ε″ + ε′²; Assumption 11 asks inf over w ≥ 1 of K·e^ε > 0 for each record, 17 asks w ε′ − ε ≥ 0, 16 asks ε′(1) < 1 − e^(−ε(1)).
E = e^ε* − 1 is 19.09 for the target 3 and 1.718 for the target 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from profiles import Profile, declare

VERDICTS = {"P": "proved", "R": "refuted"}
FULL_NAMES = {"8": "assumption-8", "9": "assumption-9", "11": "assumption-11", "16": "proposition-16", "17": "proposition-17"}


@dataclass(frozen=True)
class Case:
    """A profile, the target ε*, and the truth as text: ``8P 9P 11R``."""

    name: str
    epsilon: str
    truth: str
    record: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    target: str = "3"

    def profile(self) -> Profile:
        """The declared profile."""
        return declare(self.name, self.epsilon, record=self.record, parameters=self.parameters)

    def truths(self) -> dict[str, str]:
        """Condition → verdict."""
        return {FULL_NAMES[item[:-1]]: VERDICTS[item[-1]] for item in self.truth.split()}


P = "positive"
CASES = (
    # K = 1/4; 1/2 > 1 − e^(−1/2); w ε′ = ε.
    Case("linear", "w/2", "8P 9P 11P 16R 17P"),
    # ε = 0 at z = 0 for all w.
    Case("linear, zero at an end", "w*z", "8P 9R 11R 16R 17P", {"z": [0, 2]}),
    # ε = 0 at z = 1/2 only.
    Case("linear, zero inside", "w*(z - 1/2)**2", "8P 9R 11R 16R 17P", {"z": [0, 1]}),
    # Slopes in [0.488, 1.821].
    Case("DP-Lloyd", "T*w*(1/b + z/s)", "8P 9P 11P 16R 17P", {"z": [0, 4]}, {"T": 10, "b": "20.5", "s": 30}),
    Case("DP-Lloyd, symbolic", "T*w*(1/b + z/s)", "8R 9P 11P 16R 17P", {"z": [0, 4]}, {"T": P, "b": P, "s": P}),
    Case("two statistics", "w*(y + z)", "8P 9P 11P 16R 17P", {"y": ["0.1", 1], "z": [0, 1]}),
    # Slope 10^-6: above the logarithm from w = 2·10^7 on; K = 10^-12.
    Case("linear, tiny slope", "w/1000000", "8P 9P 11P 16R 17P"),
    # 1 > 1 − e^−2.
    Case("affine", "w + 1", "8P 9P 11P 16R 17R"),
    # 0.01 < 1 − e^−1.01.
    Case("affine, flat", "z + w/100", "8P 9P 11P 16P 17R", {"z": [1, 2]}),
    # ε(1) = 3 is the target, and 10^-9 above it.
    Case("affine, at the target", "w + 2", "8P 9P 11P 16R 17R"),
    Case("affine, above the target", "w + 2 + 1/1000000000", "8R 9P 11P 16R 17R"),
    Case("affine, symbolic", "a*w + b", "8R 9P 11P 16R 17R", {}, {"a": P, "b": P}),
    # a ≤ 1/2 < 1 − e^−1.
    Case("affine, in ranges", "a*(w - 1) + b", "8P 9P 11P 16P 17R", {}, {"a": ["0.1", "0.5"], "b": [1, 2]}),
    Case("square", "z*w**2", "8P 9P 11P 16R 17P", {"z": [1, 2]}),
    Case("square and linear", "z*w**2 + y*w", "8P 9P 11P 16R 17P", {"z": [0, 1], "y": ["0.1", 1]}),
    # 2 a + b < 1 − e^(−a−b) < a + b is impossible.
    Case("square and linear, symbolic", "a*w**2 + b*w", "8R 9P 11P 16R 17P", {}, {"a": P, "b": P}),
    Case("power 3/2", "w**(3/2)/2", "8P 9P 11P 16R 17P"),
    # K(1) = z (z − 1)/4; 16 fails at z = 2: 1 > 1 − e^−2.
    Case("root", "z*sqrt(w)", "8P 9P 11R 16R 17R", {"z": ["0.5", 2]}),
    # K(1) = 0; 1/2 < 1 − e^−1.
    Case("root, K touches 0", "sqrt(w)", "8P 9P 11R 16P 17R"),
    # K = 1/w − 1/(2 w^1.5) > 0 and K e^ε → ∞.
    Case("root, steep", "2*sqrt(w)", "8P 9P 11P 16R 17R"),
    # Above the logarithm from about 10^17 on; p (2 p − 1) < 0; 0.1 < 1 − e^−1.
    Case("tenth root", "w**(1/10)", "8P 9P 11R 16P 17R"),
    # K ≥ p²/16; at p = 1: 1/4 > 1 − e^(−1/4).
    Case("power p in [1, 2]", "w**p/4", "8P 9P 11P 16R 17P", {}, {"p": [1, 2]}),
    # K(1) = p (2 p − 1) = 0 at p = 1/2; 3/4 > 1 − e^−1.
    Case("power p in [1/2, 3/4]", "w**p", "8P 9P 11R 16R 17R", {}, {"p": ["0.5", "0.75"]}),
    # K = p w^(p−2) (p − 1 + p w^p) ≥ p w^(p−2) (2 p − 1) > 0, and K e^ε → ∞.
    Case("power p in [3/5, 9/10]", "w**p", "8P 9P 11P 16R 17R", {}, {"p": ["0.6", "0.9"]}),
    # 4 K ≥ 1 + 2/√w + 1/w − w^-1.5 ≥ 1.
    Case("linear and root", "w/2 + sqrt(w)", "8P 9P 11P 16R 17R"),
    # e^ε = 1 + z w: 16 fails with equality, 9 holds as z > E = 1.718.
    Case("logarithm above", "log(1 + z*w)", "8R 9P 11R 16R 17R", {"z": [2, 3]}, {}, "1"),
    Case("logarithm below", "log(1 + z*w)", "8P 9R 11R 16R 17R", {"z": ["0.5", 1]}, {}, "1"),
    # (e^ε)″ = 2; w ε′ < 2.
    Case("logarithm of a square", "log(1 + w**2)", "8P 9P 11P 16R 17R"),
    # (e^ε)″ = 2/w³ > 0 goes to 0; e^ε ~ 2 w; 1/3 < 1 − 1/3.
    Case("strict but not strong convexity", "log(2*w + 1/w)", "8P 9R 11R 16P 17R"),
    Case("constant", "z + 0*w", "8P 9R 11R 16P 17R", {"z": [1, 2]}),
    # w ε′ − ε = w²/(w + 1).
    Case("w log(w + 1)", "w*log(w + 1)", "8P 9P 11P 16R 17P"),
    # K = (log w + 1)² + 1/w ≥ 1; ε(1) = 0 < ε′(1).
    Case("w log w", "w*log(w)", "8P 9P 11P 16R 17P"),
    # K = (c − 1/w)² + 1/w² ≥ 1/2; 16 fails at c = 3; w ε′ − ε = log w − 1; ε(1) = 3 at c = 3.
    Case("c w − log w", "c*w - log(w)", "8P 9P 11P 16R 17R", {}, {"c": [1, 3]}),
    # w ε′ − ε = w²/(1 + w)²; ε′ increases from 3/4.
    Case("rational", "w**2/(1 + w)", "8P 9P 11P 16R 17P"),
    # ε′(1) = 0; K = 2/w³ + (1 − 1/w²)².
    Case("w + 1/w", "w + 1/w", "8P 9P 11P 16P 17R"),
    # Bounded by a.
    Case("saturating, symbolic", "a*w/(b + w)", "8R 9R 11R 16R 17R", {}, {"a": P, "b": P}),
    Case("exponential", "exp(w/2) - 1", "8P 9P 11P 16R 17P"),
    # K > 0 everywhere, but K e^ε → 0.
    Case("decay", "1 + exp(-w)", "8P 9R 11R 16P 17R"),
    # K ≥ 0.9² − 0.1; w cos w < sin w at w = π.
    Case("small waves", "w + sin(w)/10", "8P 9P 11P 16R 17R"),
    # K = 1 − 9/4 where sin 3w = 1; ε′(1) = 0.2575 < 1 − e^−1.035 = 0.645.
    Case("larger waves", "w + sin(3*w)/4", "8P 9P 11R 16P 17R"),
    # ε = w g, w ε′ − ε = w² g′; g′ = (w − 2)² ≥ 0, and (w − 2)² − 10^-8, negative within 10^-4 of 2. K > 0.4.
    Case("touching at one point", "w*(1 + (w - 2)**3/3)", "8P 9P 11P 16R 17P"),
    Case("failure in a narrow interval", "w*(1 + (w - 2)**3/3 - w/100000000)", "8P 9P 11P 16R 17R"),
    # g = 2 − 1/w + 2/(10^6 + w): g′ < 0 only from w = 2.41·10^6 on.
    Case("failure at large w", "2*w - 1 + 2*w/(1000000 + w)", "8P 9P 11P 16R 17R"),
    # Kinks at 2, none, 3, 1000 and 5.
    Case("Max with a kink", "Max(w, 2)", "8P 9P 11R 16P 17R"),
    Case("Max without a kink", "Max(w, 1/2)", "8P 9P 11P 16R 17P"),
    Case("Abs with a kink", "w + Abs(w - 3)/2", "8P 9P 11R 16P 17R"),
    Case("Min, bounded", "Min(w, 1000)", "8P 9R 11R 16R 17R"),
    Case("Piecewise with a kink", "Piecewise((w, w <= 5), (2*w - 5, True))", "8P 9P 11R 16R 17R"),
    # Several variables. At z = 1/2, w = 1.6: K = −0.10; w ε′ − ε = z w² (w − 2)².
    Case("touching, scaled", "z*w*(1 + (w - 2)**3/3)", "8P 9P 11R 16R 17P", {"z": ["0.5", 1]}),
    # Fails within 3·10^-4 of w = z; K > 0.3.
    Case("failure in a moving narrow interval", "w*(1 + (w - z)**3/30 - w/100000000)", "8P 9P 11P 16R 17R", {"z": ["2.5", "3.5"]}),
    Case("failure at large w, scaled", "z*(2*w - 1 + 2*w/(1000000 + w))", "8P 9P 11P 16R 17R", {"z": ["0.5", 1]}),
    # K = (z − 1/w)² + 1/w² ≥ z²/2; z − 1 ≤ 1/2 < 1 − e^−z at z = 3/2, and less at smaller z.
    Case("z w − log w", "z*w - log(w)", "8P 9P 11P 16P 17R", {"z": ["0.5", "1.5"]}),
    # K = (z + y/(1 + w))² − y/(1 + w)² < 0 at z = 0.1, y = 0.25, w = 1.
    Case("linear and logarithm", "z*w + y*log(1 + w)", "8P 9P 11R 16R 17R", {"y": ["0.1", 1], "z": ["0.1", 1]}),
    # w ε′ − ε = z y w²/(1 + y w); ε″ > 0, ε′ ≥ 0.1 log 1.5; ε′(1) > ε(1) > 1 − e^−ε(1).
    Case("z w log(1 + y w)", "z*w*log(1 + y*w)", "8P 9P 11P 16R 17P", {"y": ["0.5", 2], "z": ["0.1", 1]}),
    # ε′ = z e^(z w), (z w − 1) e^(z w) + 1 ≥ 0.
    Case("exponential, scaled", "exp(z*w) - 1", "8P 9P 11P 16R 17P", {"z": ["0.1", 1]}),
    # w ε′ − ε = z w²/(z + w)²; ε′ increases from (1 + 2 z)/(1 + z)² ≥ 5/9.
    Case("rational, shifted", "w**2/(z + w)", "8P 9P 11P 16R 17P", {"z": ["0.5", 2]}),
    # K = (1 + z cos w)² − z sin w ≥ 0.059, smallest at z = 1/2 near cos w = −0.77.
    Case("waves up to 1/2", "w + z*sin(w)", "8P 9P 11P 16R 17R", {"z": [0, "0.5"]}),
    # K ≥ z² p² ≥ 1/100.
    Case("power p in [1, 2], scaled", "z*w**p", "8P 9P 11P 16R 17P", {"z": ["0.1", 1]}, {"p": [1, 2]}),
    # ε′ ≥ a − b ≥ 1/4; a − b = 0.9 > 1 − e^−1.1; w ε′ − ε = −2 b/w.
    Case("a w + b/w", "a*w + b/w", "8P 9P 11P 16R 17R", {}, {"a": ["0.5", 1], "b": ["0.1", "0.25"]}),
)
