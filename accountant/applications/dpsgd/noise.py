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

from accountant.curves.events import Composition, Direction, MechanismKind, make_event
from accountant.curves.points import is_checked, point_at_epsilon, to_epsilon
from accountant.weights.gaussian.many_steps import StepBound, bound_steps, find_weight
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.weight import MAX_STEPS, compose_record, to_target_delta
from profiles import Infeasible, InvalidArgument, InvalidTarget, Undecided, decimal_text
from profiles.numbers import shorten, to_exact, to_integer

#: How coarse the grids are, as a gap in ε: for the way, and for the result.
_ROUGH, _USUAL = Fraction(1, 10), Fraction(1, 100)
_MOST, _NEAR = 24, 0.002
#: The noise multipliers that are searched; above the largest a step tells nothing, below the least it hides nothing.
_LEAST, _LARGEST = Fraction(1, 20), Fraction(10**6)
_DIGITS = 5

Claims = tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class Target:
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
    target: Target
    claims: Claims
    evaluations: int


def compose_steps(noise: Fraction, rate: Fraction, steps: int, name: str = "DP-SGD") -> Composition:
    """Return the composition whose curve dominates that of the steps (docs/dp-sgd.md, Theorem 2)."""
    event = make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": noise}, sampling_probability=rate, count=steps)
    return Composition(name, (event,))


def to_steps(value: object) -> int:
    """Return a number of steps. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    return to_integer(value, "the number of steps", 1, MAX_STEPS, hint="choose one in this range")


def to_rate(value: object) -> Fraction:
    """Return a largest probability. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    exact = to_exact(value, "the rate")
    if not 0 < exact <= 1:
        raise InvalidArgument(
            f"the rate, the largest probability of a record, must lie in (0, 1], but {shorten(exact)} was found; correct it"
        )
    return exact


def to_target(epsilon: object, delta: object, steps: object, rate: object) -> Target:
    """Return a target of exact numbers. Raises :class:`InvalidTarget`, :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
    exact = to_epsilon(epsilon)
    if exact <= 0:
        raise InvalidTarget(f"a target epsilon above 0 was expected, but {shorten(exact)} was found; give for example 1")
    return Target(exact, to_target_delta(delta), to_steps(steps), to_rate(rate))


@lru_cache(maxsize=64)
def find_noise(target: Target) -> FoundNoise:
    """Return the least noise multiplier that was certified for ``target``, to about a per cent.

    Raises :class:`Infeasible` where none up to 10⁶ is enough, :class:`Undecided` where none could be certified.

    >>> found = find_noise(to_target(1, "1e-5", 100, 1))
    >>> 37.3 < float(found.noise) < 37.5, len(found.claims)
    (True, 2)
    """
    search = _Search(target)
    place = search.approach(log(search.guess()), _ROUGH)
    place = search.approach(place, _USUAL)
    for _ in range(_MOST):
        noise = search.round_up(place)
        bounds = [search.bound(noise, direction, _USUAL) for direction in Direction]
        if all(bound.delta <= target.delta for bound in bounds):
            return FoundNoise(noise, target, tuple(search.claim(noise, bound) for bound in bounds), search.count)
        place += _NEAR
    raise Undecided(f"noise for {target} was asked for, but none could be certified; change the target slightly")


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
    aim = to_target(epsilon, delta, steps, 1)
    sigma = to_exact(noise_of_sum, "the noise of the sum")
    if sigma <= 0:
        raise InvalidArgument(f"the noise of the sum must be positive, but {shorten(sigma)} was found; give a positive number")
    zeta = 1 / sigma
    if aim.steps == 1:
        raise InvalidArgument("the rate of a single step was asked for; take gaussian_weight, which is exact for one step")
    found = find_weight(
        OneStep(aim.epsilon, aim.delta), (zeta, zeta), aim.steps, lambda weight: compose_record(weight, zeta, aim.steps, "DP-SGD"), _DIGITS
    )
    target = Target(aim.epsilon, aim.delta, aim.steps, 1 / found.weight)
    claims = tuple(bound.claim(aim.epsilon, _decimal_above(bound.delta, aim.delta)) for bound in found.bounds)
    return FoundNoise(1 / (found.weight * zeta), target, claims, found.evaluations)


@dataclass(slots=True)
class _Search:
    """The secant method for log δ as a function of log noise; what it believes of the curve decides only where it looks next."""

    target: Target
    slope: float = -8.0
    count: int = 0

    def guess(self) -> float:
        """Return a noise at which about the right δ is expected: that of the limit where all steps look like one Gaussian sum."""
        tail = sqrt(-2 * _log(self.target.delta))
        whole = (tail + 1) / max(float(self.target.epsilon), 1e-3)
        return max(0.5, float(self.target.rate) * sqrt(self.target.steps) * whole)

    def round_up(self, place: float) -> Fraction:
        """Return a decimal of few digits at or above e^place."""
        return Fraction(decimal_text(min(max(Fraction(exp(min(max(place, -50.0), 50.0))), _LEAST), _LARGEST), _DIGITS, round_up=True))

    def approach(self, place: float, gap: Fraction) -> float:
        """Return log noise close to where δ, where the record goes, is its target on such grids."""
        low, high = log(_LEAST), log(_LARGEST)
        before: tuple[float, float] | None = None
        for _ in range(_MOST):
            noise = self.round_up(place)
            excess = _log(self.bound(noise, Direction.REMOVE, gap).delta) - _log(self.target.delta)
            if before is not None and abs(place - before[0]) > 1e-9:
                self.slope = max(min((excess - before[1]) / (place - before[0]), -0.05), -1e4)
            before = place, excess
            if excess > 0:
                if noise == _LARGEST:
                    raise Infeasible(f"noise for {self.target} was asked for, but a multiplier of 10^6 is too little; raise the target")
                low = max(low, place)
            else:
                high = min(high, place)
                if noise == _LEAST:
                    return place
            if abs(excess) <= -self.slope * _NEAR or high - low < _NEAR / 4:
                return place
            moved = place - excess / self.slope
            place = moved if low < moved < high else (low + high) / 2
        return high

    def bound(self, noise: Fraction, direction: Direction, gap: Fraction) -> StepBound:
        """Return an upper bound on δ: of the kernel's grids, or of the closed form where there is one."""
        self.count += 1
        target = self.target
        composition = compose_steps(noise, target.rate, target.steps)
        if target.steps > 1 and target.rate < 1:
            return bound_steps(composition, OneStep(target.epsilon, target.delta), direction, gap)
        upper = point_at_epsilon(composition, target.epsilon, Fraction(1, 100)).sides[direction].upper
        return StepBound(direction, Fraction(1) if upper is None else upper, None)

    def claim(self, noise: Fraction, bound: StepBound) -> Mapping[str, object]:
        """Return the claim of a certificate that belongs to a bound."""
        target = self.target
        if target.steps > 1 and target.rate < 1:
            return bound.claim(target.epsilon, _decimal_above(bound.delta, target.delta))
        side = point_at_epsilon(compose_steps(noise, target.rate, target.steps), target.epsilon, Fraction(1, 100)).sides[bound.direction]
        if not is_checked(side):
            raise Undecided(f"noise for {target} was asked for, but the kernel has no claim of it; change the target slightly")
        return next(claim for claim in side.claims if claim.get("claim") == "delta-upper")


def _decimal_above(value: Fraction, most: Fraction) -> Fraction:
    return min(most, Fraction(decimal_text(value, 12, round_up=True)))


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator) if value > 0 else -700.0


__all__ = ["FoundNoise", "Target", "compose_steps", "find_noise", "find_rate", "to_rate", "to_steps", "to_target"]
