"""The least noise, or the largest probability, of DP-SGD for a target (ε*, δ*): searched, and certified by the kernel's upper bounds.

The noise multiplier s is 1/μ₀, and the largest probability is q₀: T steps have the curve of the event "Gaussian noise s, Poisson sampling
q₀, T times" (docs/dp-sgd.md, Theorem 2). Nothing about the search is trusted: what is returned has claims that the kernel accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log, sqrt

from accountant.compositions.events import MOST_EPSILON, Composition
from accountant.compositions.queries import CurvePoint, is_checked, point_at_epsilon, to_epsilon
from accountant.weights.gaussian.many_steps import PairPath, StepBound, compose_pair, find_weight
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.target import to_steps, to_target_delta
from profiles import Infeasible, InvalidArgument, Undecided, decimal_text
from profiles.numbers import decimal_above, to_number, to_target

#: How close log noise comes to the least one, and how far apart both sides of a closed form are.
_NEAR, _GAP = 0.002, Fraction(1, 100)
#: The noise multipliers that are searched; above the largest a step tells nothing, below the least it hides nothing.
_LEAST, _LARGEST = Fraction(1, 20), Fraction(10**6)
_DIGITS = 5

Claims = tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class StepsTarget:
    """What T steps with the largest probability q₀ have to keep: δ(ε) ≤ δ* in both directions."""

    epsilon: Fraction
    delta: Fraction
    steps: int
    rate: Fraction

    def __str__(self) -> str:
        shown = (decimal_text(value, 6, round_up=False) for value in (self.epsilon, self.delta))
        return "epsilon = {} and delta = {} after {} steps".format(*shown, self.steps)


@dataclass(frozen=True, slots=True)
class FoundNoise:
    """A noise multiplier that keeps ``target``, and the claims that say so; ``evaluations``: curves that were computed on the way."""

    noise: Fraction
    target: StepsTarget
    claims: Claims
    evaluations: int


def compose_steps(noise: Fraction, rate: Fraction, steps: int, name: str = "DP-SGD") -> Composition:
    """Return the composition whose curve dominates that of the steps (docs/dp-sgd.md, Theorem 2)."""
    return compose_pair(1 / noise, rate, steps, name)


def to_rate(value: object) -> Fraction:
    """Return a largest probability. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    return to_number(value, "the rate, the largest probability of a record,", "(0, 1]")


def to_noise_target(epsilon: object, delta: object, steps: object, rate: object) -> StepsTarget:
    """Return a target of exact numbers. Raises :class:`InvalidTarget`, :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    return StepsTarget(to_epsilon(to_target(epsilon, f"(0, {MOST_EPSILON}]")), to_target_delta(delta), to_steps(steps), to_rate(rate))


@lru_cache(maxsize=64)
def find_noise(target: StepsTarget) -> FoundNoise:
    """Return the least noise multiplier that was certified for ``target``, to about a per cent.

    Raises :class:`Infeasible` where none up to 10⁶ is enough, :class:`Undecided` where none could be certified.

    >>> found = find_noise(to_noise_target(1, "1e-5", 100, 1))
    >>> 37.3 < float(found.noise) < 37.5, len(found.claims)
    (True, 2)
    """
    if target.steps == 1 or target.rate == 1:
        return _find_closed(target)
    line = PairPath(
        OneStep(target.epsilon, target.delta), target.steps, lambda place: (1 / _round_up(-place), target.rate), "DP-SGD", _NEAR
    )
    root = line.find(-log(_LARGEST), -log(_LEAST), guess=-log(_guess(target)))
    if root is None:
        _require_enough(target)
        raise Undecided(f"noise for {target} was asked for, but none could be certified; change the target slightly")
    return FoundNoise(1 / root.mu, target, _claim(root.bounds, target), root.evaluations)


def _find_closed(target: StepsTarget) -> FoundNoise:
    """Return the noise of what has a closed form, by halving: of one step, or of all records in each step."""
    _require_enough(target)
    low, high, count = log(_LEAST), log(_LARGEST), 1
    while high - low > _NEAR / 4:
        middle = (low + high) / 2
        count += 1
        low, high = (low, middle) if _is_enough(target, middle) else (middle, high)
    point = _point(target, high)
    if not all(is_checked(side) and side.upper is not None and side.upper <= target.delta for side in point.sides.values()):
        raise Undecided(f"noise for {target} was asked for, but none could be certified; change the target slightly")
    claims = (claim for side in point.sides.values() for claim in side.claims if claim.get("claim") == "delta-upper")
    return FoundNoise(_round_up(high), target, tuple(claims), count)


def _require_enough(target: StepsTarget) -> None:
    if not _is_enough(target, log(_LARGEST)):
        raise Infeasible(f"noise for {target} was asked for, but a multiplier of 10^6 is too little; raise the target")


def _is_enough(target: StepsTarget, place: float) -> bool:
    return all(side.upper is not None and side.upper <= target.delta for side in _point(target, place).sides.values())


def _point(target: StepsTarget, place: float) -> CurvePoint:
    return point_at_epsilon(compose_steps(_round_up(place), target.rate, target.steps), target.epsilon, _GAP)


def _guess(target: StepsTarget) -> float:
    """Return a noise at which about the right δ is expected: that of the limit where all steps look like one Gaussian sum."""
    whole = (sqrt(-2 * log(target.delta)) + 1) / max(float(target.epsilon), 1e-3)
    return min(max(0.5, float(target.rate) * sqrt(target.steps) * whole), float(_LARGEST))


def _claim(bounds: tuple[StepBound, ...], target: StepsTarget) -> Claims:
    return tuple(bound.claim(target.epsilon, bound.shown(target.delta)) for bound in bounds)


def _round_up(place: float) -> Fraction:
    """Return a decimal of few digits at or above e^place."""
    return decimal_above(min(max(Fraction(exp(min(max(place, -50.0), 50.0))), _LEAST), _LARGEST), _DIGITS)


def find_rate(noise_of_sum: object, epsilon: object, delta: object, steps: object) -> FoundNoise:
    """Return q₀ and the noise multiplier for noise of a sum that is given: its standard deviation, in units of the clipping norm.

    Claim: with ζ = 1/``noise_of_sum`` and W the largest weight that was certified for ζ after T steps, q₀ = 1/W and μ₀ = W ζ keep the
    target (docs/dp-sgd.md, Corollary 2.1). The sample is then as small as it can be for this noise.

    Raises as :func:`find_noise`, and :class:`Infeasible` where even all records at weight 1 are too much.

    >>> try:
    ...     find_rate("1/10", 1, "1e-5", 100)
    ... except Infeasible as refusal:
    ...     "w = 1 already exceeds" in str(refusal)
    True
    """
    aim = to_noise_target(epsilon, delta, steps, 1)
    zeta = 1 / to_number(noise_of_sum, "the noise of the sum", "(0, inf)", "give a positive number")
    if aim.steps == 1:
        raise InvalidArgument("the rate of a single step was asked for; take gaussian_weight, which is exact for one step")
    weight = find_weight(OneStep(aim.epsilon, aim.delta), (zeta, zeta), aim.steps, _DIGITS, "DP-SGD")
    target = StepsTarget(aim.epsilon, aim.delta, aim.steps, 1 / weight.weight)
    return FoundNoise(1 / (weight.weight * zeta), target, _claim(weight.bounds, target), weight.evaluations)
