"""Calibration: how often the audit's bound exceeds the exact ε of a correct mechanism. It must not be more often than the stated error.

``CORRECT`` are mechanisms with their exact ε on a pair, derived by hand; each attains it, so that any bound that is too large shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from profiles.arrays import Floats
from profiles.numbers import ExactLike, to_exact
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim
from proofs_check.audit.limits import lower_limit
from proofs_check.audit.runs import AuditedMechanism


@dataclass(frozen=True, slots=True, eq=False)
class Correct:
    """A mechanism on a pair whose ε(D, D′) is known exactly: ``claim`` states it, so that no sound bound may exceed it often."""

    name: str
    mechanism: AuditedMechanism
    dataset: Any
    neighbor: Any
    claim: Claim
    neighboring: str = "add-remove"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of ``audits`` audits, ``above`` gave a bound above the exact ε, at a stated error of ``error``."""

    name: str
    audits: int
    above: int
    error: Fraction

    @property
    def rate(self) -> float:
        """The share of audits whose bound was above the exact ε."""
        return self.above / self.audits

    def contradicts(self, doubt: Fraction) -> bool:
        """Tell whether the true rate is above the stated error, at confidence 1 − ``doubt`` (Clopper–Pearson)."""
        return lower_limit(self.above, self.audits, doubt) > self.error


def calibrate(
    target: Correct,
    *,
    rng: np.random.Generator,
    audits: int = 3_000,
    samples: int = 200,
    confidence: ExactLike = "0.9",
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Calibration:
    """Audit a correct mechanism many times, each time with fresh outputs, and count bounds above the exact ε (in nats).

    ``samples`` outputs for each data set; ``options`` go to :func:`proofs_check.audit.audit`.
    """
    level = to_exact(confidence, "the confidence")
    above = 0
    for done in range(audits):
        own = np.random.default_rng(int(rng.integers(2**63)))
        result = audit(
            target.mechanism, target.dataset, target.neighbor, target.claim, rng=own, samples=samples, confidence=level,
            neighboring=target.neighboring, check_memory=False, **options,
        )  # fmt: skip
        above += Fraction(result.epsilon_lower) > target.claim.epsilon
        if progress is not None:
            progress(done + 1)
    return Calibration(target.name, audits, above, 1 - level)


#: A data set of one record, a number: the mechanisms below look at nothing else.
Point = tuple[float]


def log_up(ratio: Fraction) -> Fraction:
    """Return log(ratio) rounded up at 40 digits."""
    with mpmath.workdps(60):
        return Fraction(math.ceil(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) * 10**40), 10**40)


def randomized_response(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Keep a bit with probability 3/4: the ratio is 3 on both outputs."""
    return (rng.random(size) < (0.75 if dataset[0] else 0.25)).astype(np.float64)


def rare_event(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """P(1) = 1/20 or 1/60: the ratio is 3 at 1, and below 3 at 0."""
    return (rng.random(size) * (20.0 if dataset[0] else 60.0) < 1).astype(np.float64)


def laplace(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Shift 1, scale 1: ε = 1, attained on both sides of [0, 1]."""
    return dataset[0] + rng.laplace(0, 1, size)


def geometric(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Two-sided geometric noise with ratio 1/2 on the integers: ε = log 2 for a shift of 1."""
    return np.asarray(dataset[0] + rng.geometric(0.5, size) - rng.geometric(0.5, size), dtype=np.float64)


def exponential_one_sided(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """One-sided exponential noise, D shifted by 1 upwards: p ≤ e q everywhere, q is infinitely larger on [0, 1]. For add-DP: ε = 1."""
    return dataset[0] + rng.exponential(1, size)


def vector(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Three places of Laplace noise with scale 3: each place has ε = 1/3, the sum is attained where all three are extreme."""
    return dataset[0] + rng.laplace(0, 3, (size, 3))


def symbols(dataset: Point, rng: np.random.Generator, size: int) -> list[tuple[str, ...]]:
    """⊤ or ⊥ sequences that stop at the first ⊤; ⊤ has chance 2/5 or 1/5 at each of at most 3 steps.

    Ratios: ⊤ 2; ⊥⊤ (3/5·2/5)/(4/5·1/5) = 3/2; ⊥⊥⊤ 9/8; ⊥⊥⊥ (4/5)³/(3/5)³ = 64/27 the other way. So ε = log(64/27).
    """
    chance = 0.4 if dataset[0] else 0.2
    found = []
    for row in rng.random((size, 3)) < chance:
        hits = np.flatnonzero(row)
        found.append(("⊥",) * 3 if not len(hits) else ("⊥",) * int(hits[0]) + ("⊤",))
    return found


def same(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Does not look at its data: ε = 0, so that every positive bound is wrong."""
    return rng.normal(size=size)


def same_vector(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Does not look at its data, in five places: ε = 0."""
    return rng.normal(size=(size, 5))


def gaussian_delta(dataset: Point, rng: np.random.Generator, size: int) -> Floats:
    """Gaussian noise of scale 1 on a shift of 1, at ε = 1: δ(ε) = Φ(1/2 − ε) − e^ε Φ(−1/2 − ε)."""
    return dataset[0] + rng.normal(size=size)


def gaussian_slack(epsilon: float) -> Fraction:
    """δ(ε) of the Gaussian mechanism with sensitivity over scale 1 (Balle and Wang 2018, Theorem 5), rounded down at 30 digits."""
    with mpmath.workdps(50):
        value = mpmath.ncdf(mpmath.mpf("0.5") - epsilon) - mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.mpf("0.5") - epsilon)
        return Fraction(math.floor(value * 10**30), 10**30)


ONE, ZERO = (1.0,), (0.0,)

CORRECT = (
    Correct("randomized response", randomized_response, ONE, ZERO, Claim(log_up(Fraction(3))), "stated"),
    Correct("rare event", rare_event, ONE, ZERO, Claim(log_up(Fraction(3))), "stated"),
    Correct("Laplace", laplace, ONE, ZERO, Claim(1), "stated"),
    Correct("geometric", geometric, ONE, ZERO, Claim(log_up(Fraction(2))), "stated"),
    Correct("exponential, add-DP", exponential_one_sided, ONE, ZERO, Claim(1, one_sided=True), "stated"),
    Correct("vector of Laplace", vector, ONE, ZERO, Claim(1), "stated"),
    Correct("symbols", symbols, ONE, ZERO, Claim(log_up(Fraction(64, 27))), "stated"),
    Correct("no data, number", same, ONE, ZERO, Claim(0), "stated"),
    Correct("no data, vector", same_vector, ONE, ZERO, Claim(0), "stated"),
    Correct("Gaussian with delta", gaussian_delta, ONE, ZERO, Claim(1, gaussian_slack(1.0)), "stated"),
    Correct("Laplace, add-DP", laplace, ONE, ZERO, Claim(1, one_sided=True), "stated"),
)
