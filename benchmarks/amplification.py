"""The 24 cases of ψ = log(1 + q (e^ε − 1)): our upper bounds against NumPy formulas, in ulp from a 60-digit truth.

    python -m benchmarks.amplification

An entry is (computed − ψ) / ulp(ψ): an upper bound must not be negative; "overflow" and "0" are what the formula returned.
Below: how many of the 24 cases are no upper bound within 2 ulp, and the time per entry.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np

from accountant.amplification import amplify, amplify_array

EPSILONS = ("1e-12", "1e-6", "1", "50", "800", "5000")
PROBABILITIES = ("1e-12", "1e-3", "0.999999999999", "1")
Formula = Callable[[np.ndarray, np.ndarray], np.ndarray]

PEERS: dict[str, Formula] = {
    "log(1+q(exp-1))": lambda e, q: np.log(1 + q * (np.exp(e) - 1)),
    "log1p(q expm1)": lambda e, q: np.log1p(q * np.expm1(e)),
    "logaddexp": lambda e, q: np.logaddexp(np.log1p(-q), np.log(q) + e),
    "e+log(q+(1-q)e^-e)": lambda e, q: e + np.log(q + (1 - q) * np.exp(-e)),
}


def exact_psi(epsilon: float, q: float) -> mpmath.mpf:
    """Return ψ of two binary64 numbers to 60 digits: the working precision covers the cancellation and e^5000."""
    with mpmath.workdps(2400):
        value = mpmath.log(1 + mpmath.mpf(q) * (mpmath.exp(mpmath.mpf(epsilon)) - 1))
    with mpmath.workdps(60):
        return +value


def distance(found: float, epsilon: float, q: float) -> str:
    """Return the signed distance to ψ in units in the last place of ψ."""
    if not math.isfinite(found):
        return "overflow"
    if found == 0:
        return "0"
    with mpmath.workdps(60):
        truth = exact_psi(epsilon, q)
        return f"{float((mpmath.mpf(found) - truth) / mpmath.mpf(math.ulp(float(truth)))):+.3g}"


def measure(function: Formula, size: int = 200_000) -> float:
    """Return the best of three times for one entry in nanoseconds, on random ε in (0, 50) and q in (0, 1)."""
    random = np.random.default_rng(0)
    epsilon, q = random.uniform(0, 50, size), random.uniform(0, 1, size)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(epsilon, q)
        times.append(time.perf_counter() - start)
    return min(times) / size * 1e9


def run() -> None:
    """Print the table."""
    names = ["amplify (Arb)", "amplify_array", *PEERS]
    print(f"{'epsilon':>8} {'q':>15} " + " ".join(f"{name:>18}" for name in names))
    worst = dict.fromkeys(names, 0)
    for epsilon in EPSILONS:
        for q in PROBABILITIES:
            e, p = float(epsilon), float(q)
            with np.errstate(all="ignore"):
                found = [amplify(e, p).upper, float(amplify_array(e, p)), *(float(f(np.float64(e), np.float64(p))) for f in PEERS.values())]
            shown = [distance(value, e, p) for value in found]
            for name, value in zip(names, shown, strict=True):
                worst[name] += value in ("overflow", "0") or not 0 <= float(value) <= 2
            print(f"{epsilon:>8} {q:>15} " + " ".join(f"{value:>18}" for value in shown))
    print(f"{'cases that fail':<25}" + " ".join(f"{worst[name]:>18}" for name in names))
    with np.errstate(all="ignore"):
        times = [measure(amplify_array), *(measure(function) for function in PEERS.values())]
    start = time.perf_counter()
    for index in range(2_000):
        amplify(Fraction(index + 1, 40), Fraction(index + 1, 2_001))
    times = [(time.perf_counter() - start) / 2_000 * 1e9, *times]
    print(f"{'ns per entry':<25}" + " ".join(f"{value:>18.0f}" for value in times))


if __name__ == "__main__":
    run()
