"""Several sampled Gaussian steps, each on a fresh sample: the largest weight that the kernel's bound on compositions shows to be feasible.

δ after T steps has no closed form. Every δ that is returned is an upper bound that the kernel computed from the events
(:mod:`proofs_check.kernel.theories.compositions`), so that a weight is safe whatever the search did (docs/gaussian-weights.md, section 9):
estimates in binary64 tell it where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import Any

from accountant.compositions.certificates import share_work, write_events
from accountant.compositions.events import Composition, Direction, MechanismKind, make_event
from accountant.compositions.grids import count_points, plan
from accountant.compositions.shapes import Side, find_shape
from accountant.weights.gaussian.estimate import NOTHING, estimate_delta
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from profiles.errors import Infeasible, Undecided
from profiles.numbers import decimal_above, decimal_below, decimal_text, exact_text, log_fraction, root_above, root_below
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

BOTH = (Direction.REMOVE, Direction.ADD)
#: How coarse grids are, as a gap in ε: where the record comes, which loses far less if it is rarely kept; where it goes; the finest first
#: one, and the finest of all.
_COARSE, _RARE, _USUAL, _FINE, _FINEST = Fraction(1, 50), Fraction(1, 8), Fraction(1, 500), Fraction(1, 20_000), Fraction(1, 200_000)
#: Points of the grids that are finer than the first one, and how many times finer the next one is at most.
_MOST_POINTS, _MOST_FINER = 5_000, 20
#: Bounds on the way to a place; how many times the gap log δ is expected to be above an estimate.
_MOST, _LAGS = 8, 20
#: The least slope of log δ that is believed, and the step of a difference quotient.
_FLATTEST, _STEP = 0.01, 1e-3
_DIGITS, _BITS, _SHOWN, _LEAST_SHIFT = 20, 160, 12, Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class StepBound:
    """An upper bound on δ(ε) after some steps in one direction, and the grid on which the kernel computed it; none for w = 1."""

    direction: Direction
    delta: Fraction
    grid: Mapping[str, object] | None

    def shown(self, most: Fraction) -> Fraction:
        """Return δ as a decimal at or above it, and at most ``most``, which is not below δ."""
        return min(most, decimal_above(self.delta, _SHOWN))

    def claim(self, epsilon: Fraction, bound: Fraction) -> dict[str, object]:
        """Return the claim of a certificate that δ is at most ``bound``, which must not be below ``delta``."""
        stated = {"direction": self.direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(bound)}
        return {"claim": "delta-upper", "verdict": "proved", **stated, **({} if self.grid is None else {"grid": self.grid})}


def bounds_without_grid(delta: Fraction) -> tuple[StepBound, ...]:
    """Return that δ is at most ``delta`` in both directions, which the kernel finds by a closed form: of one step, or of w = 1."""
    return tuple(StepBound(direction, delta, None) for direction in BOTH)


def compose_pair(mu: Fraction, q: Fraction, steps: int, name: str = "one pair") -> Composition:
    """Return the composition of a record that is kept with probability q, and shifts the output by μ if it is, in each of some steps.

    A μ below 10⁻¹² is taken for 10⁻¹², the least that events have, which dominates it (docs/gaussian-weights.md, Theorem 6).
    """
    noise = {"noise_multiplier": 1 / max(mu, _LEAST_SHIFT)}
    return Composition(name, (make_event(MechanismKind.GAUSSIAN, noise, sampling_probability=q, count=steps),))


def bound_steps(composition: Composition, step: OneStep, direction: Direction, gap: Fraction) -> StepBound:
    """Return a bound on δ of a record's composition. Raises :class:`Undecided` where it needs a grid that the kernel does not work with."""
    try:
        events, planned = _plan(composition, step, direction, gap)
        return _compute(events, planned, step, direction)
    except Rejected as problem:
        raise _refuse(composition, problem) from problem


def _plan(composition: Composition, step: OneStep, direction: Direction, gap: Fraction) -> tuple[list[KernelEvent], dict[str, Any]]:
    side = Side(direction, up=True, delta=step.delta, tails=(gap / 100, step.delta * gap / 100))
    events = compositions.read_events(write_events(composition))
    return events, plan(find_shape(composition, events, side), side, gap=gap)


def _compute(events: list[KernelEvent], planned: dict[str, Any], step: OneStep, direction: Direction) -> StepBound:
    lattice, laws = compositions.compose(events, planned, remove=direction is Direction.REMOVE, up=True, meter=share_work())
    return StepBound(direction, lattice.delta(laws, step.epsilon), planned)


def _refuse(composition: Composition, problem: Rejected) -> Undecided:
    return Undecided(
        f"delta of {composition.name[:60]!r} after several steps was asked for, but the kernel does not compute it ({problem}); "
        "ask for fewer steps"
    )


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The place that was found, its pair (μ, q), the bounds in both directions that show it, and how many curves were computed."""

    place: float
    mu: Fraction
    q: Fraction
    bounds: tuple[StepBound, ...]
    evaluations: int


@dataclass(slots=True)
class PairPath:
    """Pairs (μ, q) of ``steps`` steps along which δ rises: ``pair`` gives that of a place, rounded to where δ is smaller.

    ``near``: how far below the place where δ is its target one may be found. Nothing that :meth:`find` returns rests on estimates.
    ``lag``: how much a bound on log δ was last above its estimate, where that is known.
    """

    step: OneStep
    steps: int
    pair: Callable[[float], tuple[Fraction, Fraction]]
    name: str
    near: float
    lag: float | None = None
    count: int = 0

    def find(self, low: float, high: float, *, guess: float | None = None) -> FoundPair | None:
        """Return about the largest feasible place in [``low``, ``high``], None where none was certified.

        ``guess``: about where δ is its target, which is looked at first.
        """
        aim = self._cross(low, high, guess)
        ahead = self._excess(aim)
        slope = max((ahead - self._excess(aim - _STEP)) / _STEP, _FLATTEST)
        wanted, best = slope * self.near, None
        gap = min(max(Fraction(wanted / _LAGS), _FINE), _USUAL)
        lag, free = float(gap) * _LAGS / 2 if self.lag is None else self.lag, wanted / 8
        for _ in range(_MOST):
            place = min(max(aim - (lag + free + ahead) / slope, low), high)
            mu, q = self.pair(place)
            try:
                bound = self._bound(mu, q, Direction.REMOVE, gap)
            except Undecided:
                if gap >= _COARSE:
                    raise
                gap *= 10  # the kernel does not work with so fine a grid
                continue
            excess = log_of(bound.delta) - log_of(self.step.delta)
            lag = self.lag = excess - self._excess_of(mu, q)
            if excess > 0:
                free *= 2  # the estimate, or its slope, is wrong here
            elif best is None or place > best.place:
                best = self._complete(place, mu, q, bound, gap) or best
            finer = gap / _refine(bound, gap, lag / wanted)
            reach = aim - (lag + ahead) / slope if finer == gap else aim  # about the largest place that may be hoped for
            if place <= low or (best is not None and min(reach, high) - best.place <= self.near):
                break
            lag, gap = lag * float(finer / gap), finer
        return best

    def _cross(self, low: float, high: float, guess: float | None) -> float:
        """Return about where δ is its target, an end where it is on one side of it."""
        if guess is not None:
            wide = 0.05
            while wide < high - low:
                start, end = max(low, guess - wide), min(high, guess + wide)
                if self._excess(start) <= 0 < self._excess(end):
                    low, high = start, end
                    break
                wide *= 5
        if self._excess(low) > 0:
            return low
        if self._excess(high) <= 0:
            return high
        from scipy.optimize import brentq  # noqa: PLC0415 - what reads a certificate alone searches for nothing

        return float(brentq(self._excess, low, high, xtol=self.near / 10, rtol=1e-12))

    def _excess(self, place: float) -> float:
        return self._excess_of(*self.pair(place))

    def _excess_of(self, mu: Fraction, q: Fraction) -> float:
        return estimate_delta(float(mu), float(q), self.steps, float(self.step.epsilon)) - log_of(self.step.delta)

    def _complete(self, place: float, mu: Fraction, q: Fraction, removed: StepBound, gap: Fraction) -> FoundPair | None:
        """Return the place where δ is at most the target in the other direction, too."""
        for width in (_COARSE, gap) if q < _RARE else (gap,):
            added = self._bound(mu, q, Direction.ADD, width)
            if added.delta <= self.step.delta:
                return FoundPair(place, mu, q, (removed, added), self.count)
        return None

    def _bound(self, mu: Fraction, q: Fraction, direction: Direction, gap: Fraction) -> StepBound:
        self.count += 1
        return bound_steps(compose_pair(mu, q, self.steps, self.name), self.step, direction, gap)


def _refine(bound: StepBound, gap: Fraction, ratio: float) -> int:
    """Return how many times finer the next grid is to be, where a bound is ``ratio`` times farther off than wanted; 1 for none.

    The number of points is as the root of the fineness.
    """
    points = _MOST_POINTS if bound.grid is None else count_points(bound.grid)
    factor = int(min(1.5 * ratio, _MOST_FINER, (_MOST_POINTS / points) ** 2, float(gap / _FINEST)))
    return factor if ratio > 1 and factor > 1 else 1


@dataclass(frozen=True, slots=True)
class StepsWeight:
    """A feasible weight after several steps, with the bounds that show it, and the number of compositions that were computed."""

    weight: Fraction
    bounds: tuple[StepBound, ...]
    evaluations: int


def find_weight(step: OneStep, zeta: tuple[Fraction, Fraction], steps: int, digits: int, name: str) -> StepsWeight:
    """Return a feasible weight of a record ``name``, close to the first crossing of δ after ``steps`` steps; ζ lies between the two ends.

    Raises :class:`Infeasible` where w = 1 is certified to be infeasible, :class:`Undecided` where that could not be decided.
    """
    _require_feasible_unsampled(step, zeta, steps)  # which shows w = 1 to be feasible
    once = find_crossing(step, zeta, _DIGITS)
    most = min(1 / step.delta, 1 / step.delta if once.upper is None else once.lower)

    def pair(place: float) -> tuple[Fraction, Fraction]:
        weight = decimal_below(min(max(Fraction(exp(place)), Fraction(1)), most), digits)
        return weight * zeta[1], 1 / weight

    line = PairPath(step, steps, pair, name, near=0.004)
    root = line.find(0.0, log(most))
    if root is None or root.q == 1:  # of w = 1 the kernel finds the closed form by itself
        return StepsWeight(Fraction(1), bounds_without_grid(step.delta), line.count)
    return StepsWeight(1 / root.q, root.bounds, root.evaluations)


def _require_feasible_unsampled(step: OneStep, zeta: tuple[Fraction, Fraction], steps: int) -> None:
    """Require that w = 1 is certified to be feasible, where T steps are one of √T ζ."""
    below, above = enclose_root(steps)
    if step.is_feasible(Fraction(1), zeta[1] * above, _BITS):
        return
    target = f"epsilon = {decimal_text(step.epsilon, 6, round_up=False)} and delta = {decimal_text(step.delta, 6, round_up=False)}"
    if step.is_feasible(Fraction(1), zeta[0] * below, _BITS) is False:
        raise Infeasible(
            f"a weight of at least 1 was asked for at {target} after {steps} steps, but w = 1 already exceeds them; raise the target, or "
            "the noise"
        )
    raise Undecided(f"a weight was asked for at {target} after {steps} steps, but delta at w = 1 is too close to decide; raise the target")


def enclose_root(steps: int) -> tuple[Fraction, Fraction]:
    """Return numbers at or below and at or above √T, equal where it is whole: T steps without sampling are one of √T ζ."""
    return root_below(steps, 10**_DIGITS), root_above(steps, 10**_DIGITS)


def log_of(value: Fraction) -> float:
    """Return the natural logarithm, and −700 for 0 or less."""
    return log_fraction(value) if value > 0 else NOTHING
