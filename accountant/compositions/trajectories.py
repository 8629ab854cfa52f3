"""ε over the steps of a composition: bounds from both sides at many places on the way, from one composition of each side.

The laws of the losses so far are multiplied by the law of a block of steps, in the kernel's arithmetic: each is on its side of the true
one, whatever the grid. A composition of fewer steps loses no more, because it leaves out what came later; so what is known at two places
holds between them: the lower end of the one before, the upper end of the one after.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import Any

from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.certificates import write_events
from accountant.compositions.events import Composition, Direction, Event
from accountant.compositions.grids import plan
from accountant.compositions.proved_curves import curve_of_laws
from accountant.compositions.shapes import LEAST_EPSILON, Side, find_shape, is_merged
from profiles import InvalidArgument, Undecided
from profiles.numbers import to_integer
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.theories.compositions import bounds, curves
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent
from proofs_check.kernel.theories.compositions.lattices import Lattice, LossDistributions, count_bits, precision

#: Places of a trajectory, and those of one for which each place is composed anew.
POINTS, FEW_POINTS = 60, 12
_GAP = Fraction(1, 200)
_FIRST, _LOOKS, _ENOUGH, _FINER = 1.05, 3, 3.0, 6.0  # of a grid: its fineness, how often it is made finer, where it is fine enough
_NO_TAILS = (Fraction(0), Fraction(0))
_MOST_WORK = 20_000_000  # of the kernel's units: nothing of this is put into a certificate


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Bounds of ε at one δ after some numbers of steps, over both directions: the true ε of the pairs lies between the two.

    ``steps``: rising, from 1 step or more to all; ``lower`` and ``upper``: in nats, the latter None where no ε was found to be enough.
    """

    composition: Composition
    delta: Fraction
    steps: tuple[int, ...]
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction | None, ...]

    def at(self, steps: int) -> tuple[Fraction, Fraction | None]:
        """Return bounds of ε after so many steps, from the places around. Raises :class:`InvalidArgument` beyond the last one."""
        to_integer(steps, "the number of steps", 0, self.steps[-1], hint="ask for a step of the composition")
        if not steps:
            return Fraction(0), Fraction(0)
        before, after = bisect_right(self.steps, steps) - 1, bisect_left(self.steps, steps)
        return (self.lower[before] if before >= 0 else Fraction(0)), self.upper[after]


@lru_cache(maxsize=16)
def bound_steps(composition: Composition, delta: Fraction, *, points: int = POINTS, gap: Fraction = _GAP) -> Trajectory:
    """Return bounds of ε at ``delta`` in (0, 1) after about ``points`` numbers of steps, the events one after the other in their order.

    ``gap``: of the ends after all steps, relatively, about; those before are mostly closer. Where there is noise on all records or zCDP,
    each place is composed anew, and there are at most 12 of them beside other events. Raises as
    :func:`~accountant.compositions.bounds.bound_epsilon`.
    """
    if not 0 < delta < 1:
        raise InvalidArgument("epsilon over steps is bounded at a delta in (0, 1), but another one was found; correct it")
    to_integer(points, "the number of places", 1, 10_000, hint="give for example 60")
    merged = [event for event in composition.events if is_merged(event)]
    if merged or all(event.count == 1 for event in composition.events):
        whole = len(merged) == len(composition.events) == 1
        return _compose_anew(composition, delta, points if whole else min(points, FEW_POINTS), gap)
    blocks = _divide(composition.events, points)
    steps, done = list[int](), 0
    for event, sizes in zip(composition.events, blocks, strict=True):
        for size in sizes:
            done += size * steps_of(event)
            steps.append(done)
    ends = [_bound_walk(composition, delta, direction, blocks, gap) for direction in Direction]
    lower = [max(low) for low in zip(*(low for low, _ in ends), strict=True)]
    highs = [[end for end in high if end is not None] for high in zip(*(high for _, high in ends), strict=True)]
    upper = [max(high) if len(high) == len(ends) else None for high in highs]
    return Trajectory(composition, delta, tuple(steps), *_level(lower, upper))


def _bound_walk(
    composition: Composition, delta: Fraction, direction: Direction, blocks: Sequence[Sequence[int]], gap: Fraction
) -> tuple[list[Fraction], list[Fraction | None]]:
    """Return both ends of ε in one direction after each block, on finer cells where they are far from ``gap`` apart at the end."""
    fineness, best, far, uses = _FIRST, None, inf, sum(event.count for event in composition.events)
    meet = all(event.batches is None or event.batches.is_tight(uses) for event in composition.events)
    for _ in range(_LOOKS if meet else 1):  # ends that are of different data do not come closer on finer cells
        sides = (Side(direction, up, delta, _NO_TAILS) for up in (False, True))
        try:
            below, upper = (list(_walk(composition, side, blocks, gap, fineness)) for side in sides)
        except Undecided:
            if best is None:
                raise
            break  # what there is has to do
        lower = [end or Fraction(0) for end in below]
        last = upper[-1]
        miss = inf if last is None else float((last - lower[-1]) / (gap * max(last, LEAST_EPSILON)))
        if best is None or miss < far:
            best, far = (lower, upper), miss
        if miss <= _ENOUGH or miss == inf:
            break
        fineness *= min(miss**0.5, _FINER)
    return best or ([], [])


def steps_of(event: Event) -> int:
    """Return the number of steps of one use: of all in an epoch, where batches are drawn for epochs."""
    batches = event.batches
    return batches["steps_per_epoch"] if batches is not None and batches.sampling.is_by_epochs else 1


def _level(lower: Sequence[Fraction], upper: Sequence[Fraction | None]) -> tuple[tuple[Fraction, ...], tuple[Fraction | None, ...]]:
    """Return the ends with what later and earlier places say of each: lower ends that rise, upper ends that are at most the next one."""
    lows, highs = list(lower), list(upper)
    for place in range(1, len(lows)):
        lows[place] = max(lows[place], lows[place - 1])
    for place in range(len(highs) - 2, -1, -1):
        here, after = highs[place], highs[place + 1]
        highs[place] = after if here is None else here if after is None else min(here, after)
    return tuple(lows), tuple(highs)


def _divide(events: Sequence[Event], points: int) -> list[list[int]]:
    """Return for each event the sizes of its blocks: about ``points`` in all, each event has its part of them.

    They are of at most two lengths, but that the first block of all, in which ε rises fastest, is divided as 1, 2, 6, 18, ...
    """
    whole, blocks = sum(event.count for event in events), list[list[int]]()
    for event in events:
        part = min(event.count, max(1, round(points * event.count / whole)))
        ends = [(event.count * k) // part for k in range(part + 1)]
        if not blocks:
            ends = [0, *(at for k in range(20) if (at := 3**k) < ends[1]), *ends[1:]]
        blocks.append([after - before for before, after in pairwise(ends)])
    return blocks


def _compose_anew(composition: Composition, delta: Fraction, points: int, gap: Fraction) -> Trajectory:
    steps, lower, upper, before, done = list[int](), list[Fraction](), list[Fraction | None](), list[Event](), 0
    for event, sizes in zip(composition.events, _divide(composition.events, points), strict=True):
        count = 0
        for size in sizes:
            count += size
            made = Composition(composition.name, (*before, replace(event, count=count)))
            ends = [_bound_or_nothing(made, delta, direction, gap) for direction in Direction]
            steps.append(done + count * steps_of(event))
            lower.append(max(low for low, _ in ends))
            highs = [high for _, high in ends if high is not None]
            upper.append(max(highs) if len(highs) == len(ends) else None)
        before.append(event)
        done += count * steps_of(event)
    return Trajectory(composition, delta, tuple(steps), *_level(lower, upper))


def _bound_or_nothing(composition: Composition, delta: Fraction, direction: Direction, gap: Fraction) -> tuple[Fraction, Fraction | None]:
    try:
        ends = bound_epsilon(composition, delta, direction, gap=gap)
    except Undecided:
        return Fraction(0), None
    return (Fraction(0) if ends.lower is None else ends.lower), ends.upper


def _walk(
    composition: Composition, wanted: Side, blocks: Sequence[Sequence[int]], gap: Fraction, fineness: float
) -> Iterator[Fraction | None]:
    """Yield the end of ε of one side in one direction after each block."""
    delta = wanted.delta
    try:
        events = bounds.read_events(write_events(composition))
        lost = bounds.find_end(events, remove=wanted.direction is Direction.REMOVE, up=True)[1]
        size = delta - lost if delta > lost else delta
        side = replace(wanted, delta=size, tails=(gap / 100, size * gap / 100))
        grid = plan(find_shape(composition, events, side), side, gap=gap, fineness=fineness)
        for lattice, laws in _compose_by_blocks(events, grid, side, blocks):
            curve = curve_of_laws(lattice, laws, {})
            yield curve.epsilon_above(delta) if side.up else curve.epsilon_below(delta)
    except Rejected as problem:
        raise Undecided(
            f"epsilon over the steps of {composition.name[:80]!r} was asked for, but no grid of a moderate size shows it ({problem}); ask "
            "for a larger delta, or for the end alone"
        ) from problem


def _compose_by_blocks(
    events: Sequence[KernelEvent], grid: Mapping[str, Any], side: Side, blocks: Sequence[Sequence[int]]
) -> Iterator[tuple[Lattice, LossDistributions]]:
    """Yield the laws after each block: those before, times the law of the block, which is made once for each length."""
    remove, number = side.direction is Direction.REMOVE, sum(map(len, blocks))
    bits, unit = count_bits(int(grid["digits"])), Fraction(grid["unit"])
    lattice = Lattice(side.up, bits, unit, side.tails, Meter(_MOST_WORK))
    whole: LossDistributions | None = None
    for event, part, uses in zip(events, grid["events"], blocks, strict=True):
        parts = event.count // sum(uses)  # of which the kernel composes one use: an epoch has one for each step of a record
        sizes = [size * parts for size in uses]
        with localcontext(curves.context(precision(bits, unit))):
            points = list(_spread(part["start"], part["steps"]))
            curve = event.curve(remove=remove, up=side.up, linear=part.get("linear"), meter=lattice.meter)
            one = lattice.discretise(curve, Fraction(part["offset"]), points)
            one = lattice.trim(one, Fraction(1, event.count))
            made = {size: lattice.power(one, size, part["floors"][: size.bit_length() - 1]) for size in sorted(set(sizes))}
        done = 0
        for size in sizes:
            done += size
            floor = _find_floor([0, *part["floors"]], size, done)
            with localcontext(curves.context(precision(bits, unit))):
                block = lattice.lift(made[size], floor)
                whole = lattice.trim(lattice.lift(lattice.multiply(whole, block), floor), Fraction(1, number)) if whole else block
            yield lattice, whole


def _find_floor(floors: Sequence[int], size: int, done: int) -> int:
    """Return the level below which nothing stays after ``done`` uses, in blocks of ``size``.

    Planned is for a law of so many uses that is lifted to it once or twice; here about done/size are, until there are twice as many uses,
    and each adds the square of a cell to the loss.
    """
    least, most = floors[size.bit_length() - 1], floors[done.bit_length() - 1]
    return max(least, most - (done // size).bit_length() // 2)


def _spread(start: int, steps: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of a grid with their levels."""
    at, first = start, True
    for level, number in steps:
        for k in range(0 if first else 1, number + 1):
            yield at + (k << level), level
        at, first = at + (number << level), False
