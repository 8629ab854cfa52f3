"""Gaussian noise of the estimator: calibrated for (ε, δ), certified, and with weights of samples (docs/gaussian-weights.md).

Statement. With σ* a noise multiplier at which one Gaussian release has δ(ε) ≤ δ, certified in both directions, the standard deviations of
:func:`choose_deviations` have T (1/σ_count² + r²/σ_sum²) < 1/σ*², so that all iterations together are no less private than that release.
Their shares have the least first-order error of a centre: E ‖c̃ − c‖₂² = (d σ_sum² + ‖c‖₂² σ_count²)/N², which under a + b = 1/(T σ*²) for
a = 1/σ_count², b = r²/σ_sum² and ‖c‖₂ = ρ r is r² (d/b + ρ²/a)/N², least where a/b = ρ/√d.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from accountant.applications.budget.normal import largest_mu, scale_above
from accountant.applications.budget.shares import normal_count_share
from accountant.applications.kmeans.certifying import certify_curve, certify_weights
from accountant.applications.kmeans.noises import PRIVACY_CONSTRAINED, CertifiedRun, Constants, SampledRun
from accountant.compositions.queries import to_epsilon
from accountant.deltas import DeltaWarning, warn_of_delta
from accountant.guarantees import Run
from accountant.guarantees.gaussian import bound_mu
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from accountant.weights.gaussian.target import to_target_delta
from profiles import Infeasible, InvalidArgument, Profile, decimal_text, to_exact
from profiles.arrays import Floats
from profiles.mechanisms import GaussianLloyd, Mechanism
from profiles.numbers import round_down, round_up, to_number

#: The part of 1/σ* that is left: for the proof of the largest μ, for rounding ζ up to the first row of a table.
MARGIN = Fraction(1, 10**5)
#: Rows of a table of weights; how far above the largest μ it begins; what ζ, as computed in binary64, is multiplied with.
_ROWS, _ABOVE, _ROUNDED = 48, 1 + Fraction(1, 2**18), 1 + 2.0**-20
#: The largest w ζ: no record of a sample is larger than exact noise takes (docs/gaussian-weights.md, section 17).
_MOST_SHIFT = 1024
_DIGITS = 9
#: Where squares of ζ are computed without an under- or overflow that matters.
_LEAST, _MOST = Fraction(1, 2**400), Fraction(2**400)


@dataclass(frozen=True, slots=True)
class NoiseDeviations:
    """The noise of one iteration as exact numbers: N(0, σ_count²) on counts, N(0, σ_sum²) on each coordinate of sums."""

    sigma_count: Fraction
    sigma_sum: Fraction


def choose_deviations(epsilon: Fraction, delta: Fraction, *, radius: Fraction, iterations: int, dimension: int) -> NoiseDeviations:
    """Return standard deviations for (ε, δ) after T iterations, divided for the least first-order error of a centre.

    ``radius`` bounds ‖x‖₂ in the unit of the data. Raises :class:`Infeasible` where no noise is known to be enough.

    >>> found = choose_deviations(Fraction(1), Fraction(1, 10**6), radius=Fraction(4), iterations=10, dimension=22)
    >>> round(float(found.sigma_count), 3), round(float(found.sigma_sum), 3)
    (45.153, 55.944)
    """
    budget = (largest_mu(epsilon, delta) * (1 - MARGIN)) ** 2 / iterations
    share = normal_count_share(dimension)
    return NoiseDeviations(scale_above(1 / (share * budget)), scale_above(radius**2 / ((1 - share) * budget)))


@dataclass(frozen=True, slots=True, eq=False)
class WeightSteps:
    """Weights of records by ζ, rounded up: rows with falling ``zetas``, rising ``weights`` and ``probabilities`` of at most 1/w.

    A function of the profile and the target alone. ``offset`` + ``slope``·(z/radius)² is ζ², before rounding.
    """

    zetas: Floats
    weights: Floats
    probabilities: Floats
    offset: float
    slope: float
    radius: float

    @property
    def pairs(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple((Fraction(float(zeta)), Fraction(float(w))) for zeta, w in zip(self.zetas, self.weights, strict=True))

    def select(self, norms: Floats) -> tuple[Floats, Floats]:
        """Return probabilities and weights of records, shape (n,), from upper bounds of their norms: of the last row above their ζ."""
        shares = norms / self.radius
        probabilities = np.sqrt(self.offset + self.slope * (shares * shares)) * _ROUNDED
        rows = np.searchsorted(-self.zetas, -probabilities, side="right") - 1
        if len(rows) and rows.min() < 0:
            raise Infeasible("weights were asked for records beyond the declared radius; this is a mistake, please report it")
        return self.probabilities[rows], self.weights[rows]


@lru_cache(maxsize=16)
def tabulate_weights(mechanism: GaussianLloyd, epsilon: Fraction, delta: Fraction) -> WeightSteps:
    """Return the weights of all records for the target (ε, δ) of a run on one sample.

    Raises :class:`Infeasible` where some record exceeds the target with w = 1, :class:`InvalidArgument` for scales out of range.
    """
    count, total, radius = (to_exact(value) for value in (mechanism.sigma_count, mechanism.sigma_sum, mechanism.radius))
    rounds = to_exact(mechanism.iterations)
    offset, slope = rounds / count**2, rounds * radius**2 / total**2
    if not (_LEAST <= offset <= _MOST and slope <= _MOST and radius <= Fraction(2) ** 1000):
        raise InvalidArgument("weights of a sample were asked for, but the noise is out of range; change the unit of the data")
    step = OneStep(epsilon, delta)
    first = float(bound_mu(mechanism.profile).upper * _ABOVE)
    last = min(first, math.sqrt(offset))
    zetas, weights, probabilities = [], [], []
    for row in range(_ROWS):
        zeta = first * (last / first) ** (row / _ROWS)
        weight = _weigh(step, Fraction(zeta))
        zetas.append(zeta)
        weights.append(weight)
        probabilities.append(round_down(1 / Fraction(weight)))
    return WeightSteps(np.array(zetas), np.array(weights), np.array(probabilities), round_up(offset), round_up(slope), round_down(radius))


def _weigh(step: OneStep, zeta: Fraction) -> float:
    """Return a feasible weight at ζ, a float slightly below the first crossing; below that every weight is feasible."""
    try:
        crossing = find_crossing(step, (zeta, zeta), _DIGITS)
    except Infeasible:
        target = f"epsilon = {decimal_text(step.epsilon, 6, round_up=False)} and delta = {decimal_text(step.delta, 6, round_up=False)}"
        raise Infeasible(
            f"a sample for {target} was asked for, but records of the declared radius exceed these without sampling; raise target_epsilon"
        ) from None
    most = min(Fraction(_MOST_SHIFT) / zeta, 1 / step.delta)
    best = most if crossing.upper is None else min(crossing.lower, most)
    return max(1.0, round_down(best * (1 - Fraction(1, 10**8))))


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Normal noise on counts and sums, for an (ε, δ)."""

    def check(self, norm: float, delta: object, arithmetic: str) -> None:  # noqa: ARG002 - both kinds of arithmetic have it
        """Refuse other norms than the Euclidean one, and a δ that is missing or outside (0, 1)."""
        if norm != 2:
            raise InvalidArgument(f'noise="gaussian" is Euclidean, but the norm {str(norm)[:40]} was given; leave norm = 2')
        if delta is None:
            raise InvalidArgument('noise="gaussian" keeps epsilon together with a delta, but none was given; give one, such as "1e-6"')
        to_target_delta(delta)
        for text in warn_of_delta(delta):
            warnings.warn(text, DeltaWarning, stacklevel=4)

    def make(self, constants: Constants, centres: Floats) -> tuple[Mechanism, Fraction]:
        """Return :class:`GaussianLloyd` with the deviations that are given, or those of :func:`choose_deviations`."""
        epsilon = constants.read_epsilon()
        if epsilon is None:
            noise = NoiseDeviations(*constants.read_scales(("sigma_count", "sigma_sum")))
        else:
            noise = choose_deviations(
                to_epsilon(epsilon),
                to_target_delta(constants.delta),
                radius=constants.radius,
                iterations=constants.iterations,
                dimension=constants.dimension,
            )
            noise = NoiseDeviations(constants.largest * noise.sigma_count, constants.largest * noise.sigma_sum)
        made = GaussianLloyd(
            initial_centres=centres,
            iterations=constants.iterations,
            sigma_count=noise.sigma_count,
            sigma_sum=noise.sigma_sum,
            radius=constants.radius,
            min_count=constants.min_count,
            confine=True,
            arithmetic=constants.arithmetic,
        )
        return made, constants.largest * max(1 / noise.sigma_count, constants.radius / noise.sigma_sum)

    def certify(self, constants: Constants, mechanism: GaussianLloyd, profile: Profile, run: Run) -> CertifiedRun:
        """Return the guarantee at the ε that was asked for, with δ at most the one asked for; or ε at δ, where scales were given."""
        curve, point = certify_curve(mechanism, profile, run, constants.read_epsilon(), to_target_delta(constants.delta))
        return CertifiedRun(point, curve)

    def plan(
        self,
        constants: Constants,
        mechanism: GaussianLloyd,
        rule: object,
        given: Mapping[str, object] | None,
        target: object,
    ) -> SampledRun:
        """Return a sample in which each record has about the largest weight for the target ε at δ."""
        if rule != PRIVACY_CONSTRAINED or given:
            raise InvalidArgument(
                f'under noise="gaussian" a sample is drawn by the rule {PRIVACY_CONSTRAINED!r}, without constants, but another one was '
                "asked for; leave rule and constants out"
            )
        asked = constants.read_epsilon() if target is None else to_epsilon(target)
        if asked is None:
            raise InvalidArgument("a sample needs a target_epsilon where noise_scales are given, but there is none; give one")
        to_number(asked, "target_epsilon", "(0, inf)", "give a positive number")
        delta = to_target_delta(constants.delta)
        steps = tabulate_weights(mechanism, asked, delta)
        return SampledRun(steps.select, lambda run: certify_weights(mechanism, run, asked, delta, steps.pairs))
