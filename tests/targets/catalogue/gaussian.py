"""The claims of the accountant about the Gaussian mechanisms of the catalogue, (ε, δ) at δ = 1/100, and broken twins of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from accountant.applications.kmeans.gaussian import WeightSteps, tabulate_weights
from accountant.curves import curve_of, make_event
from accountant.guarantees import Losses, curve_of_profile, point_of_curve
from accountant.selection.select import Selection
from accountant.weights.gaussian.one_step import OneStep
from profiles import to_exact
from profiles.arrays import Floats
from profiles.mechanisms import GaussianLloyd, GaussianSum
from proofs_check.audit import Claim
from tests.targets.catalogue import broken
from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.catalogue.running import BeforeQuotients, OneColumn, PoissonSampled, release, repeat
from tests.targets.suite import Sampler, Truth

DELTA = Fraction(1, 100)
RADIUS = Fraction(2)
_GAP, _DIGITS = "1e-3", 10**15
_CENTRES = ((-1.0, 0.0), (1.0, 0.0))
_BYSTANDER = "at most the claim: a bystander is sampled as well"


def bound(square: Fraction, *, weight: int = 1, source: str) -> tuple[Claim, Truth]:
    """Return ε at δ of a record with (μ(w, x)/w)² = ``square`` that is kept with probability 1/w: the claim and both ends of the truth.

    Closed form in balls: docs/gaussian-weights.md, Theorem 4. The claim is for ζ rounded up, the lower end for ζ rounded down.
    """
    scaled = isqrt(square.numerator * _DIGITS**2 // square.denominator)
    below, above = Fraction(scaled, _DIGITS), Fraction(scaled + 1, _DIGITS)
    low, high = Fraction(0), Fraction(1)
    while not _holds(high, above, weight):
        high *= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(middle, above, weight) else (middle, high)
    least = low - Fraction(1, 10**6)
    return Claim(high, DELTA, source=source), Truth(
        Fraction(0) if least <= 0 or _holds(least, below, weight) else least, high, "the curve of the pair of laws, which is attained"
    )


def _holds(epsilon: Fraction, zeta: Fraction, weight: int) -> bool:
    return OneStep(epsilon, DELTA).is_feasible(Fraction(weight), zeta, 128) is True


def bound_twice(square: Fraction) -> Claim:
    """Return ε at δ of two fresh samples with q = 1/4 and w = 4."""
    noise = Fraction(_DIGITS, 4 * (isqrt(square.numerator * _DIGITS**2 // square.denominator) + 1))
    twice = make_event("gaussian", {"noise_multiplier": noise}, sampling_probability="1/4", count=2)
    upper = to_exact(curve_of(twice).epsilon(DELTA, gap=_GAP).upper)
    return Claim(-(-upper * 50 // 1) / 50, DELTA, source="two fresh samples, q = 1/4, w = 4, rounded up to fiftieths")


@dataclass(frozen=True, slots=True)
class Projection:
    """The score that orders outputs as the log-likelihood ratio does where one of them is moved along ``direction``."""

    direction: tuple[float, ...]

    def __call__(self, outputs: Floats) -> Floats:
        """Return the score of each output, shape (size,)."""
        found: Floats = outputs.reshape(len(outputs), -1) @ np.array(self.direction)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ShippedSteps:
    """The numbers q and w with which :meth:`accountant.DPLloyd.fit_sampled` draws a sample for ``mechanism``."""

    mechanism: GaussianLloyd
    steps: WeightSteps

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        return Selection(*self.steps.select(self.mechanism.statistic(points)["z"]))


@dataclass(frozen=True, slots=True)
class PublicPair:
    """Every record is kept with probability ``q`` and counts ``weight`` times."""

    q: float
    weight: float

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        return Selection(np.full(len(points), self.q), np.full(len(points), self.weight))


def _sum(dimension: int, sigma: int) -> GaussianSum:
    return GaussianSum(sigma=sigma, radius=RADIUS, dimension=dimension)


def _lloyd(rounds: int, deviation: int, **changes: Any) -> GaussianLloyd:
    return GaussianLloyd(
        **{"initial_centres": _CENTRES, "iterations": rounds, "sigma_count": deviation, "sigma_sum": deviation, "radius": RADIUS, **changes}
    )


def _square(mechanism: GaussianSum | GaussianLloyd, length: Fraction, weight: Fraction) -> Fraction:
    """Return μ(w, x)² of a record of this norm, exactly."""
    if isinstance(mechanism, GaussianSum):
        return (weight * length / Fraction(mechanism.sigma)) ** 2  # type: ignore[arg-type]
    count, total = Fraction(mechanism.sigma_count), Fraction(mechanism.sigma_sum)  # type: ignore[arg-type]
    return weight**2 * Fraction(mechanism.iterations) * (1 / count**2 + (length / total) ** 2)  # type: ignore[arg-type]


def _pair(dimension: int, weight: float) -> tuple[Any, Any]:
    """Return weighted data sets with two bystanders, the first one with a record of norm 2 more, along the first axis."""
    points = np.zeros((3, dimension))
    points[0, 0], points[1, -1], points[2, 0] = 0.5, -1.0, 2.0
    weights = np.array([1.0, 3.0, weight])
    return (points, weights), (points[:2], weights[:2])


def _subjects() -> Iterator[tuple[str, GaussianSum | GaussianLloyd, int]]:
    for dimension in (1, 3):
        yield f"gaussian-d{dimension}", _sum(dimension, 10), dimension
    for rounds in (1, 3):
        yield f"gaussian-lloyd-T{rounds}", _lloyd(rounds, 20), 2


def _correct() -> Iterator[AuditCase]:
    for name, mechanism, dimension in _subjects():
        single = isinstance(mechanism, GaussianSum)
        runner: Sampler = mechanism if isinstance(mechanism, GaussianSum) else BeforeQuotients(mechanism)
        score = Projection((1.0, *([0.0] * (dimension - 1)))) if single else None
        for number, weight in enumerate((1.0, 2.0, 10.0)):
            square = _square(mechanism, Fraction(2), Fraction(weight))
            claim, truth = bound(square, source=f"epsilon at delta = 1/100 of mu(w, x), w = {weight:g}, |x|_2 = 2")
            yield AuditCase(
                f"{name}/base-{number + 1}", mechanism.name, ClaimKind.BASE, release(runner), *_pair(dimension, weight), claim, truth,
                "mu(w, x) of the record", log_ratio=score,
            )  # fmt: skip
        claim, truth = bound(3 * _square(mechanism, Fraction(2), Fraction(2)), source="three releases: mu sqrt(3)")
        yield AuditCase(
            f"{name}/three-releases", mechanism.name, ClaimKind.COMPOSED, release(repeat(mechanism, 3)), *_pair(dimension, 2.0), claim,
            truth if single else Truth(Fraction(0), claim.epsilon, "at most the claim"), "three independent releases",
            log_ratio=Projection((1.0, *([0.0] * (dimension - 1))) * 3) if single else None,
        )  # fmt: skip
        points = np.zeros((2, dimension))
        points[0, 0], points[1, 0] = 2.0, 0.5
        square = _square(mechanism, Fraction(2), Fraction(1))
        once, truth = bound(square, weight=4, source="one sample, q = 1/4, w = 4")
        sampled = PoissonSampled(runner, PublicPair(0.25, 4.0))
        yield AuditCase(
            f"{name}/sampled", mechanism.name, ClaimKind.SAMPLED, release(sampled), points, points[1:], once,
            Truth(Fraction(0), truth.upper, _BYSTANDER), "the sampled pair", log_ratio=score,
        )  # fmt: skip
        if name.endswith("1"):
            twice = bound_twice(square)
            yield AuditCase(
                f"{name}/two-sampled-releases", mechanism.name, ClaimKind.COMPOSED,
                release(repeat(PoissonSampled(mechanism, PublicPair(0.25, 4.0)), 2)), points, points[1:], twice,
                Truth(Fraction(0), twice.epsilon, _BYSTANDER), "the sampled pair, two times",
            )  # fmt: skip
    for name, mechanism, dimension in list(_subjects())[::3]:
        found = point_of_curve(curve_of_profile(mechanism.profile), at_delta=DELTA).bound
        whole = found.epsilon if isinstance(found, Losses) and found.epsilon is not None else Fraction(0)
        runner = mechanism if isinstance(mechanism, GaussianSum) else BeforeQuotients(mechanism)
        yield AuditCase(
            f"{name}/unsampled-worst-case", mechanism.name, ClaimKind.WORST_CASE, release(runner), *_pair(dimension, 1.0),
            Claim(whole, DELTA, source="point_of_curve of curve_of_profile"), Truth(Fraction(0), whole, "at most the claim"),
            "the guarantee for all records, at the largest one",
        )  # fmt: skip
    yield _of_table()


def _of_table() -> AuditCase:
    lloyd = _lloyd(2, 20, confine=True)
    epsilon = Fraction(1)
    steps = tabulate_weights(lloyd, epsilon, DELTA)
    points = np.array([[2.0, 0.0], [0.5, 0.0]])
    return AuditCase(
        "gaussian-lloyd-T2-confined/privacy-constrained", lloyd.name, ClaimKind.WORST_CASE,
        release(PoissonSampled(BeforeQuotients(lloyd), ShippedSteps(lloyd, steps))), points, points[1:],
        Claim(epsilon, DELTA, source="point_of_weights of tabulate_weights"), Truth(Fraction(0), epsilon, "at most the claim"),
        "the weights with which DPLloyd samples: delta(1) <= 1/100",
    )  # fmt: skip


def _totals(arithmetic: str) -> Iterator[tuple[str, GaussianSum | GaussianLloyd, Sampler, tuple[float, ...], float]]:
    own: dict[str, Any] = {"arithmetic": arithmetic}
    total = GaussianSum(sigma=10, **own)
    yield "gaussian", total, total, (1.0,), 4.0
    yield "gaussian-w1", total, total, (0.1,), 1.0
    cube = GaussianSum(sigma=10, dimension=3, **own)
    yield "gaussian-d3", cube, OneColumn(cube, 1), (0.0, 1.0, 0.0), 4.0
    line = GaussianLloyd(initial_centres=(0.0,), iterations=1, sigma_count=10, sigma_sum=10, **own)
    yield "gaussian-lloyd-counts-and-sums", line, BeforeQuotients(line), (1.0,), 4.0


def _of_bits(arithmetic: str) -> Iterator[AuditCase]:
    """Yield the cases whose outputs are audited to their last bit; in binary64 they are twins."""
    wrong = arithmetic == "binary64"
    for name, mechanism, runner, record, weight in _totals(arithmetic):
        length = Fraction(max(record))
        claim, truth = bound(_square(mechanism, length, Fraction(weight)), source="epsilon at delta = 1/100 of mu(w, x)")
        d = len(record)
        without = "a sum of doubles is a multiple of its largest term's last place, whatever it comes to; noise near 0 is not"
        yield AuditCase(
            f"{name}/{'lowest-bits' if wrong else 'bits'}", mechanism.name, ClaimKind.BASE, runner,
            (np.array([record]), np.array([weight])), (np.zeros((0, d)), np.ones(0)), claim,
            Truth.infinite(without) if wrong else Truth(Fraction(0), truth.upper, "at most the claim"),
            "nothing is wrong with the law: sums of doubles keep fewer low bits than the noise alone (Mironov 2012)" if wrong
            else "epsilon(delta) of the record; low bits are looked at",
            broken=wrong, bits=True, samples=40_000 if wrong else 20_000,
        )  # fmt: skip


def _wrong_runs() -> Iterator[AuditCase]:
    line = GaussianSum(sigma=10)
    lloyd = GaussianLloyd(initial_centres=(0.0,), iterations=1, sigma_count=10, sigma_sum=10)
    with_it, without = (np.array([[2.0]]), np.array([5.0])), (np.zeros((0, 1)), np.ones(0))
    forward, along = Projection((1.0,)), Projection((1.0, 2.0))
    runs: tuple[tuple[str, GaussianSum | GaussianLloyd, Sampler, int, Projection, str], ...] = (
        ("gaussian/half-sigma", line, replace(line, sigma=5), 4, forward, "half the standard deviation"),
        ("gaussian/weights-twice", line, broken.WeightsTwice(line), 25, forward, "a record counts w^2 times"),
        ("gaussian/one-release-too-many", line, repeat(line, 2), 2, Projection((1.0, 1.0)), "two releases are made, one is paid for"),
        ("gaussian-lloyd/half-sigma", lloyd, BeforeQuotients(replace(lloyd, sigma_count=5, sigma_sum=5)), 4, along, "half the deviations"),
        (
            "gaussian-lloyd/one-iteration-too-many", lloyd, BeforeQuotients(replace(lloyd, iterations=2)), 2, Projection((1.0, 2.0) * 2),
            "range(T + 1): two iterations are run and one is paid for",
        ),
        ("gaussian-lloyd/weights-twice", lloyd, BeforeQuotients(lloyd), 25, along, "a record counts w^2 times"),
    )  # fmt: skip
    for name, declared, runner, factor, score, why in runs:
        square = _square(declared, Fraction(2), Fraction(5))
        claim, _ = bound(square, source="epsilon at delta = 1/100 of mu(5, 2)")
        _, truth = bound(factor * square, source="what runs")
        larger = (with_it[0], np.array([25.0])) if name == "gaussian-lloyd/weights-twice" else with_it
        kind = ClaimKind.COMPOSED if "too-many" in name else ClaimKind.BASE
        yield AuditCase(
            name, declared.name, kind, release(runner), larger, without, claim, truth, why, broken=True, samples=10_000, log_ratio=score
        )
    points = np.array([[4.0]])
    yield AuditCase(
        "gaussian/sensitivity-doubled", line.name, ClaimKind.WORST_CASE, release(replace(line, sigma=3, radius=4)), points, points[:0],
        *_of_radius(3), "norms are at most 2, says the profile; nobody clips or refuses a record of norm 4", broken=True, samples=20_000,
        log_ratio=forward,
    )  # fmt: skip
    four = GaussianSum(sigma=4)
    square = _square(four, Fraction(2), Fraction(1))
    claim, (_, truth) = bound_twice(square), bound(2 * square, weight=4, source="one sample that is used twice")
    record = np.array([[2.0]])
    yield AuditCase(
        "gaussian/reused-sample", four.name, ClaimKind.COMPOSED, release(PoissonSampled(repeat(four, 2), PublicPair(0.25, 4.0))), record,
        record[:0], claim, truth, "both releases use one Poisson sample, but each is counted as a fresh one", broken=True, samples=100_000,
        log_ratio=Projection((1.0, 1.0)),
    )  # fmt: skip


def _of_radius(sigma: int) -> tuple[Claim, Truth]:
    """Return the claim for norms up to 2, and the truth for one of 4."""
    mechanism = GaussianSum(sigma=sigma, radius=4)
    claim, _ = bound(_square(mechanism, Fraction(2), Fraction(1)), source="mu(1, x), |x|_2 <= 2")
    return claim, bound(_square(mechanism, Fraction(4), Fraction(1)), source="what runs")[1]


@cache
def gaussian_cases() -> tuple[AuditCase, ...]:
    """Return a case for both mechanisms and each kind of claim."""
    return (*_correct(), *_of_bits("exact"))


@cache
def gaussian_twins() -> tuple[AuditCase, ...]:
    """Return the broken twins."""
    return (*_wrong_runs(), *_of_bits("binary64"))
