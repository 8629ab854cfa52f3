"""Several sampled Gaussian steps, each on a fresh sample: the largest weight that the kernel's bound on compositions shows to be feasible.

δ after T steps has no closed form. Every δ here is an upper bound that :mod:`proofs_check.kernel.compositions` computed, so that a weight
is safe whatever the search did (docs/gaussian-weights.md, section 9): it looks below the first crossing of one step, by the secant method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, isqrt, log
from typing import Any

from accountant.curves.engine import share_work, write_events
from accountant.curves.events import Composition, Direction
from accountant.curves.grids import Side, count_points, find_shape, plan
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from profiles.errors import Infeasible, Undecided
from profiles.numbers import decimal_text, exact_text
from proofs_check.kernel import compositions
from proofs_check.kernel.compositions import Event as KernelEvent
from proofs_check.kernel.terms import Rejected

#: How coarse the grids are, as a gap in ε: the first one is for the way only, the last ones are taken where they make the weight
#: noticeably larger.
_GRIDS = (Fraction(1, 10), Fraction(1, 50), Fraction(1, 200), Fraction(1, 1000))
#: Evaluations on each grid; and how close log w has to come to where δ passes its target, from below.
_MOST, _NEAR = 16, 0.004
#: The least slope of log δ against log w that is believed.
_FLATTEST = 0.02
#: Points of the finer grids.
_MOST_POINTS = 5_000
_DIGITS, _BITS = 20, 160
Compose = Callable[[Fraction], Composition]


@dataclass(frozen=True, slots=True)
class StepBound:
    """An upper bound on δ(ε) after some steps in one direction, and the grid on which the kernel computed it; none for w = 1."""

    direction: Direction
    delta: Fraction
    grid: Mapping[str, object] | None

    def claim(self, epsilon: Fraction, bound: Fraction) -> dict[str, object]:
        """Return the claim of a certificate that δ is at most ``bound``, which must not be below ``delta``."""
        stated = {"direction": self.direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(bound)}
        return {"claim": "delta-upper", "verdict": "proved", **stated, **({} if self.grid is None else {"grid": self.grid})}


def bound_steps(composition: Composition, step: OneStep, direction: Direction, gap: Fraction) -> StepBound:
    """Return a bound on δ of a record's composition. Raises :class:`Undecided` where it needs a grid that the kernel does not work with."""
    try:
        events, planned = _plan(composition, step, direction, gap)
        lattice, laws = compositions.compose(events, planned, remove=direction is Direction.REMOVE, up=True, meter=share_work())
        return StepBound(direction, lattice.delta(laws, step.epsilon), planned)
    except Rejected as problem:
        raise Undecided(
            f"delta of {composition.name[:60]!r} after several steps was asked for, but the kernel does not compute it ({problem}); "
            "ask for fewer steps"
        ) from problem


def _plan(composition: Composition, step: OneStep, direction: Direction, gap: Fraction) -> tuple[list[KernelEvent], dict[str, Any]]:
    side = Side(direction, up=True, delta=step.delta, tails=(gap / 100, step.delta * gap / 100))
    events = compositions.read_events(write_events(composition))
    return events, plan(find_shape(composition, events, side), side, gap=gap)


@dataclass(frozen=True, slots=True)
class StepsWeight:
    """A feasible weight after several steps, with the bounds that show it, and the number of compositions that were computed."""

    weight: Fraction
    bounds: tuple[StepBound, ...]
    evaluations: int


def find_weight(step: OneStep, zeta: tuple[Fraction, Fraction], steps: int, compose: Compose, digits: int) -> StepsWeight:
    """Return a feasible weight, close to the first crossing of δ after ``steps`` steps; ``compose`` makes the composition of a weight.

    Raises :class:`Infeasible` where w = 1 is certified to be infeasible, :class:`Undecided` where no weight could be certified.
    """
    _require_feasible_unsampled(step, zeta, steps)  # which shows w = 1 to be feasible
    once = find_crossing(step, zeta, _DIGITS)
    most = min(1 / step.delta, 1 / step.delta if once.upper is None else once.lower)
    search = _Search(step, compose, most, digits)
    place, best = log(_guess(step, float(zeta[1]), steps, float(most))), None
    for index, gap in enumerate(_GRIDS):
        if index > 1 and not search.gains(_round_down(Fraction(exp(place)), digits) if best is None else best.weight, best, gap):
            break
        place, found = search.approach(place, gap, (Direction.REMOVE,) if index < 2 else tuple(Direction), on_the_way=not index)
        if index < 2 and found is not None:  # where the record comes, δ is mostly far smaller, and computed once
            found = None if not index else search.complete(found, gap)
        best = max((item for item in (best, found) if item is not None), key=lambda item: item.weight, default=None)
    if best is None:  # of w = 1 the kernel finds the closed form by itself
        best = _Feasible(Fraction(1), tuple(StepBound(direction, step.delta, None) for direction in Direction))
    if {bound.direction for bound in best.bounds} != set(Direction) or any(bound.delta > step.delta for bound in best.bounds):
        raise Undecided("a weight was asked for, but none could be certified in both directions; raise the target slightly")
    return StepsWeight(best.weight, best.bounds, search.count)


@dataclass(frozen=True, slots=True)
class _Feasible:
    """A weight, and bounds that are at most the target."""

    weight: Fraction
    bounds: tuple[StepBound, ...]


@dataclass(slots=True)
class _Search:
    """The secant method for log δ, where the record goes, as a function of log w; the slope is kept from one grid to the next."""

    step: OneStep
    compose: Compose
    most: Fraction
    digits: int
    slope: float = 8.0
    count: int = 0

    def approach(
        self, place: float, gap: Fraction, directions: tuple[Direction, ...], *, on_the_way: bool
    ) -> tuple[float, _Feasible | None]:
        """Return log w about where δ on such grids is its target, and the largest weight that was seen to be feasible there, if one was."""
        low, high, before, best = 0.0, log(self.most) + 1e-9, None, None
        for _ in range(_MOST):
            weight = _round_down(min(max(Fraction(exp(place)), Fraction(1)), self.most), self.digits)
            bounds = tuple(self._bound(weight, direction, gap) for direction in directions)
            excess = max(_log(bound.delta) for bound in bounds) - _log(self.step.delta)
            if before is not None and abs(place - before[0]) > 1e-9:
                self.slope = min(max((excess - before[1]) / (place - before[0]), _FLATTEST), 1e4)
            before = place, excess
            if excess <= 0:
                low = max(low, place)
                best = _Feasible(weight, bounds) if best is None or weight > best.weight else best
            else:
                high = min(high, place)
            close = abs(excess) <= self.slope * _NEAR
            if (close and (excess <= 0 or on_the_way)) or high - low < _NEAR / 4 or high < _NEAR or weight == self.most:
                break
            moved = place - excess / self.slope - _NEAR / 3
            place = moved if low < moved < high else (low + high) / 2
        return place, best

    def complete(self, found: _Feasible, gap: Fraction) -> _Feasible | None:
        """Return the weight with the bound of the other direction too; None where that one is above the target."""
        coming = self._bound(found.weight, Direction.ADD, gap)
        return _Feasible(found.weight, (*found.bounds, coming)) if coming.delta <= self.step.delta else None

    def gains(self, weight: Fraction, best: _Feasible | None, gap: Fraction) -> bool:
        """Tell whether finer grids are small enough, and would make the weight noticeably larger, or find one at all."""
        _, planned = _plan(self.compose(weight), self.step, Direction.REMOVE, gap)
        if count_points(planned) > _MOST_POINTS:
            return False
        if best is None:
            return True
        finer = self._bound(weight, Direction.REMOVE, gap)
        return _log(best.bounds[0].delta) - _log(finer.delta) > self.slope * _NEAR

    def _bound(self, weight: Fraction, direction: Direction, gap: Fraction) -> StepBound:
        self.count += 1
        return bound_steps(self.compose(weight), self.step, direction, gap)


def _require_feasible_unsampled(step: OneStep, zeta: tuple[Fraction, Fraction], steps: int) -> None:
    """Require that w = 1 is certified to be feasible, where T steps are one of √T ζ."""
    unit = 10**_DIGITS
    root = isqrt(steps * unit * unit)
    if step.is_feasible(Fraction(1), zeta[1] * Fraction(root + 1, unit), _BITS):
        return
    target = f"epsilon = {decimal_text(step.epsilon, 6, round_up=False)} and delta = {decimal_text(step.delta, 6, round_up=False)}"
    if step.is_feasible(Fraction(1), zeta[0] * Fraction(root, unit), _BITS) is False:
        raise Infeasible(
            f"a weight of at least 1 was asked for at {target} after {steps} steps, but w = 1 already exceeds them; raise the target, or "
            "the noise"
        )
    raise Undecided(f"a weight was asked for at {target} after {steps} steps, but delta at w = 1 is too close to decide; raise the target")


def _guess(step: OneStep, zeta: float, steps: int, most: float) -> float:
    """Return a weight at which about the right δ is expected: T q² (e^{μ²} − 1) is about the μ² of all steps, and half the way in log w."""
    unsampled = find_crossing_of_size(step)

    def excess(w: float) -> float:
        square = min((w * zeta) ** 2, 600.0)
        return 0.5 * (log(steps) + log(expm1(square))) - log(w) - log(unsampled)

    low, high = 0.0, log(most)
    if excess(exp(high)) <= 0:
        return max(1.0, exp(high) / 2)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(exp(middle)) <= 0 else (low, middle)
    return max(1.0, exp(low) * 0.7)


def find_crossing_of_size(step: OneStep) -> float:
    """Return about the largest ζ that is feasible at w = 1."""
    low, high = -60.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        feasible = step.is_feasible(Fraction(1), Fraction(exp(middle)), 96)
        low, high = (middle, high) if feasible else (low, middle)
    return exp(low)


def _round_down(weight: Fraction, digits: int) -> Fraction:
    unit = Fraction(10) ** (len(str(int(weight))) - digits)
    return max(Fraction(1), weight // unit * unit)


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator) if value > 0 else -700.0
