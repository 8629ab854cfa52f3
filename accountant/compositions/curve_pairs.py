"""Pairs of curves: a lower and an upper one that are sharp around a δ, on grids that are made finer until they are close enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from accountant.compositions.certificates import SHARES, read_kernel_events, refuse, share_work
from accountant.compositions.events import Composition, Direction
from accountant.compositions.grids import plan
from accountant.compositions.proved_curves import (
    COARSER,
    MOST_ON_GRIDS,
    ONE_CURVE,
    ZERO_CURVE,
    ProvedCurve,
    compose_on_grid,
    curve_of_one_use,
    find_least_delta,
)
from accountant.compositions.shapes import LEAST_EPSILON, Shape, Side, find_shape
from profiles import InvalidArgument, Undecided
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

#: A wider gap is not planned for: it would take hardly less time.
COARSE_GAP = Fraction(1, 50)
ROUNDS = 6  # of grids, or of guesses
_FINEST, _COARSEST = 64.0, 0.02
_AIM, _MOST_SHARE = 0.94, 0.68  # of the gap that is wanted: what a second look aims at, and what the lower side may have of it
_FIRST = 1.05  # the fineness of a first look: a little more than planned saves many second looks
_BEYOND = 16.0 * MOST_ON_GRIDS  # a guess of epsilon that is far beyond that: a grid would only be tried in vain
_FINEST_AIM = Fraction(1, 10**15)
_LOST = 1000  # one part in so many of a gap of delta may be cut off at once; the guess of delta may be several times too large


def find_curves(
    composition: Composition,
    direction: Direction,
    delta: Fraction,
    gap: Fraction,
    miss: Callable[[ProvedCurve, ProvedCurve], float],
    **how: Any,
) -> tuple[ProvedCurve, ProvedCurve]:
    """Return curves as :func:`_plan_curves`; where no lattice holds the steps of epochs, the upper one is that of known allocations."""
    allocated, lower = (
        any(event.batches is not None and event.batches.is_summed(up=True) for event in read_kernel_events(composition)),
        ZERO_CURVE,
    )
    try:
        lower, upper = _plan_curves(composition, direction, delta, gap, miss, **how)
        looked = upper.look is not None  # at one epsilon at a time, which takes long
        if not allocated or looked or (upper.guess(delta) is not None and lower.guess(delta) is not None):
            return lower, upper
    except (Undecided, InvalidArgument):
        if not allocated:
            raise
        lower = ZERO_CURVE
    return lower, _plan_curves(composition, direction, delta, gap, miss, **how, told=True)[1]


def _plan_curves(
    composition: Composition,
    direction: Direction,
    delta: Fraction,
    gap: Fraction,
    miss: Callable[[ProvedCurve, ProvedCurve], float],
    *,
    of_delta: bool = False,
    shares: int = SHARES,
    above_only: bool = False,
    told: bool = False,
) -> tuple[ProvedCurve, ProvedCurve]:
    """Return a lower and an upper curve that are sharp around ``delta``; ``miss``: how many times farther apart than wanted they are.

    ``gap``: of ε, or ``of_delta``. ``shares``: of the kernel's work each curve may take one. ``above_only``: the lower one says nothing.
    ``told``: only the upper one counts, and allocations are told.
    """
    events = _tell_steps(read_kernel_events(composition)) if told else read_kernel_events(composition)
    delta = max(delta, find_least_delta(events))
    try:
        aim = min(gap, COARSE_GAP)
        lost = delta * aim / (_LOST if of_delta else 100)
        sides = [Side(direction, up, delta, (aim / 100, lost)) for up in (False, True)]
        if len(events) == 1 and events[0].count == 1:
            return ZERO_CURVE if told else curve_of_one_use(events[0], sides[0]), curve_of_one_use(events[0], sides[1])
        shapes = [find_shape(composition, events, sides[1])] * 2
        apart = [event.rho is not None or (event.batches is not None and not event.batches.is_summed(up=False)) for event in events]
        if any(apart):  # whose two sides are of different laws
            shapes[0] = find_shape(composition, events, sides[0])
    except Rejected as problem:
        raise refuse(composition, problem) from problem
    if shapes[1].epsilon > _BEYOND:
        if of_delta:
            return ZERO_CURVE, ONE_CURVE
        raise Undecided(
            f"the privacy curve of {composition.name[:80]!r} was asked for, but its losses are about {shapes[1].epsilon:.2g} nats, "
            f"and those up to {MOST_ON_GRIDS} are computed; lower the counts, or add noise"
        )
    if of_delta:  # which falls by a factor of exp(-exponent) where epsilon rises by 1
        steps = max(shapes[1].epsilon, float(LEAST_EPSILON)) * shapes[1].exponent
        aim = min(COARSE_GAP, max(Fraction(float(gap) / max(steps, float(gap))).limit_denominator(10**15), _FINEST_AIM))
    lower, upper, far, alone = ZERO_CURVE, None, 0.0, False
    limit, start = dict[bool, int](), list[ProvedCurve | None]([ZERO_CURVE if above_only or told else None, None])
    fineness, curves, less = [_FIRST, _FIRST], list(start), 2
    for _ in range(ROUNDS):
        try:
            for i, (shape, side) in enumerate(zip(shapes, sides, strict=True)):
                if curves[i] is None:
                    curves[i] = _compose_planned(shape, side, aim, fineness[i], shares, limit)
        except Rejected as problem:  # the grid is larger than what the kernel works with
            if upper is not None:
                break  # what there is has to do
            if fineness[0] <= _COARSEST:
                raise undecided(composition, "no grid that the kernel works with shows a bound") from problem
            fineness, curves, less = [x / less for x in fineness], list(start), 2 * less
            continue
        below, above = curves
        if below is None or above is None:
            break
        if above_only or told:
            return below, above
        before, now = far, miss(below, above)
        if upper is None or now < far:
            lower, upper, far = below, above, now
        if now <= 1 or not 1 <= fineness[0] < _FINEST or (before and now > 0.9 * before and not alone):
            break  # enough; or finer grids are too large; or only bounds on some mechanism are known
        share = now / 2  # about that of the lower side
        alone = share <= _MOST_SHARE and not alone
        if alone:  # the upper side makes up for it, in a third of the time
            fineness[1] *= (share / (_AIM - share)) ** 0.5
            curves[1] = None
        else:  # errors fall like the square of a cell
            more = min(max(1.1 * now**0.5, 1.2), 6.0)
            fineness, curves = [x * more for x in fineness], [None, None]
    return lower, upper or ONE_CURVE


def _tell_steps(events: Sequence[KernelEvent]) -> list[KernelEvent]:
    """Return events in which it is known in which step of an epoch a record takes part: an upper bound without a lattice."""
    result = list[KernelEvent]()
    for event in events:
        if (batches := event.batches) is not None and batches.is_summed(up=True):
            made = partial(curves.gaussian, batches.whole)
            result.append(replace(event, base=made, reverse=made, batches=None))
        else:
            result.append(event)
    return result


def _compose_planned(shape: Shape, side: Side, gap: Fraction, fineness: float, shares: int, limit: dict[bool, int]) -> ProvedCurve:
    """Return the curve on a grid; where epochs are allocated, with coarser cells for their steps before the grid is made coarser.

    ``limit``: by side, halvings of these cells that have not been found to be too many.
    """
    finer, events = min(round(math.log2(fineness)) - 1, 1, limit.get(side.up, 1)), [part.event for part in shape.parts]
    if any(event.batches is not None and event.batches.is_summed(up=side.up) for event in events):
        while finer > -COARSER:
            with suppress(Rejected):
                return compose_on_grid(events, side, plan(shape, side, gap=gap, fineness=fineness, finer=finer), share_work(shares))
            finer -= 1
            limit[side.up] = finer
    return compose_on_grid(events, side, plan(shape, side, gap=gap, fineness=fineness, finer=finer), share_work(shares))


def undecided(composition: Composition, said: str) -> Undecided:
    """Return the error that says why no curve of a composition was computed."""
    return Undecided(
        f"the privacy curve of {composition.name[:80]!r} was asked for, but {said}; lower the counts, or ask for a larger delta or gap"
    )
