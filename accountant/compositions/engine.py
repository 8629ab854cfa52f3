"""The engine: finds how to show a bound on δ at ε, or on ε at δ, and has it shown by the kernel, which computes it from the events alone.

Every number that leaves it was found by the kernel (:mod:`proofs_check.kernel.theories.compositions`); what is guessed here only decides
how sharp it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, exp, floor
from typing import Any

import numpy as np

from accountant.compositions.allocations import MOST_LOOKED_AT, find_crossing, is_replacement, plan_allocation, polish, slope_text
from accountant.compositions.events import Composition, Direction, MechanismKind
from accountant.compositions.grids import plan
from accountant.compositions.groups import Claim, join_lower, join_upper, list_groupings, split_events
from accountant.compositions.json_format import event_object
from accountant.compositions.largest_loss import LargestLoss, find_largest_loss
from accountant.compositions.shapes import LEAST_EPSILON, Shape, Side, find_order, find_shape
from profiles import InvalidArgument, Undecided, exact_text
from proofs_check.kernel.core.terms import Meter, Rejected
from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.batches import Batches
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent
from proofs_check.kernel.theories.compositions.lattices import Lattice, Laws
from proofs_check.kernel.untrusted.formats import OWN

_ROUNDS, _FINEST, _COARSEST = 6, 64.0, 0.02
_OF_GROUPS = (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 10))  # deltas that are tried where no one grid holds all events
_SHARES = 4  # claims of a certificate: two directions, two sides
_AIM, _MOST_SHARE = 0.94, 0.68  # of the gap that is wanted: what a second look aims at, and what the lower side may have of it
_FIRST = 1.05  # the fineness of a first look: a little more than planned saves many second looks
_ROUGH = Fraction(1, 20)  # of an upper end that another one is far above, most often
_FAR_ABOVE = 1.5  # times what Chernoff's bound expects: an upper end this large is not sharp
_COARSE = Fraction(1, 50)  # a wider gap is not planned for: it would take hardly less time
_MOST_EPSILON = 1 << 29  # whose exponential the kernel computes
_MOST_GAUSSIAN = 10**10  # of Gaussian noise alone, whose curve has no exponential
_BEYOND = 16.0 * _MOST_EPSILON  # a guess of epsilon that is far beyond that: a grid would only be tried in vain
_FINEST_AIM = Fraction(1, 10**15)
_FARTHEST = 500.0  # so far, in nats, is the next guess of a delta
_LOOK = 2e-6  # of an epsilon, where each look at it takes a convolution
_COARSER = 3  # times the cells of the lattice of an epoch may become twice as wide
_NEAR = 8  # so many times below the delta that a grid was made for, it is still sharp
_LOST = 1000  # one part in so many of a gap of delta may be cut off at once; the guess of delta may be several times too large
_PLACES = 130  # in which a mass at infinity is told from a delta
#: Smaller deltas are only told to be below this: on grids, and in closed forms.
_LEAST, _LEAST_CLOSED = Fraction(1, 10**100), Fraction(1, 10**319)


@dataclass(frozen=True, slots=True)
class EpsilonEnds:
    """The least ε at which δ(ε) is at most a given δ, from both sides, each with the claim of a certificate that says so.

    ``lower`` is ``None`` if no ε up to 2^29 (10^10 for Gaussian noise alone) is enough, ``upper`` if none was found to be.
    """

    lower: Fraction | None
    upper: Fraction | None
    claims: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class DeltaEnds:
    """δ at a given ε, from both sides, each with the claim of a certificate that says so."""

    lower: Fraction
    upper: Fraction
    claims: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class _Curve:
    """A proved curve of one side: the bound on δ at ε, about where it passes a δ, and how a certificate says how it was found."""

    delta: Callable[[Fraction], Fraction]
    guess: Callable[[Fraction], float | None]
    fields: Mapping[str, object]
    most: int = _MOST_EPSILON
    look: Callable[[Fraction], Mapping[str, object]] | None = None  # at an epsilon of its own, where each has a proof of its own
    step: float = 1e-13  # relatively, how far from the guess an epsilon is looked for first


def write_events(composition: Composition) -> list[dict[str, object]]:
    """Return the events in the words of a certificate."""
    return [event_object(event, exact_text) for event in composition.events]


def bound_epsilon(composition: Composition, delta: Fraction, direction: Direction, *, gap: Fraction = Fraction(1, 1000)) -> EpsilonEnds:
    """Return the least ε >= 0 at which δ(ε) is at most ``delta``, from both sides, about ``gap`` max(ε, 1/1000) apart.

    Where that would take a grid of too many cells they are farther apart; what is returned holds all the same.

    Raises :class:`profiles.InvalidArgument` for a δ outside [0, 1), and for mechanisms whose curve the kernel does not compute.
    """
    if not 0 <= delta < 1:
        raise InvalidArgument(f"a delta in [0, 1) was expected, but {exact_text(delta)[:40]} was found; correct it")
    end = _find_end(composition, direction)
    if not delta:
        known = () if end.lower is None or end.upper is None else (end.claim_upper(end.upper, delta),)
        return EpsilonEnds(end.lower, end.upper if known else None, (*known, *end.claim_positive()))
    try:
        ends = _bound_epsilon(composition, delta, direction, gap, _SHARES)
    except Undecided:
        ends = None
        if len(split_events(composition)) == 1:
            raise
    if ends is None or (ends.lower is not None and (ends.upper is None or 2 * ends.lower < ends.upper - LEAST_EPSILON)):
        ends = _bound_by_groups(composition, delta, direction, gap, ends)
    return ends


def bound_epsilon_above(
    composition: Composition, delta: Fraction, direction: Direction, *, gap: Fraction = Fraction(1, 1000), enough: Fraction | None = None
) -> EpsilonEnds:
    """Return an ε >= 0 at which δ(ε) is at most ``delta`` from above alone, in about half the time of :func:`bound_epsilon`.

    The lower end is 0, or None as there. How close the upper end comes to the least ε is planned by ``gap`` and not measured; where it
    is far above what is expected, both sides are computed after all. ``enough``: an ε below which nobody asks: a coarse grid may do.
    Raises as :func:`bound_epsilon`.
    """
    if not 0 < delta < 1 or any(event.mechanism is MechanismKind.ZCDP for event in composition.events):
        return bound_epsilon(composition, delta, direction, gap=gap)
    for fineness in (gap,) if enough is None or gap >= _ROUGH else (_ROUGH, gap):
        ends = _try_bound(composition, delta, direction, fineness, _SHARES, above_only=True)
        if ends is not None and ends.upper is not None and enough is not None and ends.upper <= enough:
            return ends
    if ends is not None and ends.upper is not None and _is_closed(composition):  # which is sharp, and no grid
        return ends
    if ends is None or ends.upper is None or float(ends.upper) > _FAR_ABOVE * guess_epsilon(composition, delta) + float(LEAST_EPSILON):
        return bound_epsilon(composition, delta, direction, gap=gap)
    return ends


def _is_closed(composition: Composition) -> bool:
    return len(events := _read(composition)) == 1 and events[0].count == 1


def _bound_epsilon(
    composition: Composition, delta: Fraction, direction: Direction, gap: Fraction, shares: int, *, above_only: bool = False
) -> EpsilonEnds:
    """Return the ends for δ > 0 by one grid for all events, which may take one of ``shares`` equal shares of the kernel's work."""
    end = _find_end(composition, direction)

    def miss(lower: _Curve, upper: _Curve) -> float:
        high, low = upper.guess(delta), lower.guess(delta)
        if low is None:
            return 0.0  # no epsilon is enough, which is proved
        return 16.0 if high is None else (high - low) / (float(gap) * max(float(LEAST_EPSILON), high))

    lost = _lose_wholly(composition, direction)
    size = delta - lost if delta > lost else delta  # of what finite losses may add, which is what the grid is made for
    try:
        lower, upper = _find_curves(composition, direction, size, gap, miss, shares=shares, above_only=above_only)
    except Undecided:
        if end.upper is None or end.mass > delta:
            raise
        return EpsilonEnds(Fraction(0), end.upper, (end.claim_upper(end.upper, delta),))  # the losses add up, at most
    seen = max(delta, _LEAST_CLOSED)  # what is shown of a larger delta holds of a smaller one
    high, low = epsilon_above(upper, delta), epsilon_below(lower, seen)
    made = list[Mapping[str, object]]([] if high is None else [_claim(direction, high, delta, upper, up=True)])
    if end.upper is not None and end.mass <= delta and (high is None or end.upper <= high):
        high, made = end.upper, [end.claim_upper(end.upper, delta)]
    if low != 0:
        made.append(_claim(direction, Fraction(lower.most) if low is None else low, seen, lower, up=False))
    return EpsilonEnds(low, high, tuple(made))


def _bound_by_groups(
    composition: Composition, delta: Fraction, direction: Direction, gap: Fraction, known: EpsilonEnds | None
) -> EpsilonEnds:
    """Return the ends where groups of events have bounds of their own, or those that were found where they are closer."""
    events = split_events(composition)
    lost = [_lose_wholly(event, direction) for event in events]
    spare = (delta - sum(lost, Fraction(0))) * Fraction(999, 1000) / len(events)  # as masses at infinity are only about these
    if len(events) == 1 and known is not None:
        return known
    alone = [_try_bound(event, delta, direction, gap, _SHARES * len(events)) for event in events]
    lowest = max(
        ((Fraction(_MOST_EPSILON) if ends.lower is None else ends.lower, place) for place, ends in enumerate(alone) if ends is not None),
        default=(Fraction(0), 0),
    )
    claims = dict[str, Claim]({} if known is None else {str(claim["claim"]): claim for claim in known.claims})
    low, high = (Fraction(0), None) if known is None else (known.lower, known.upper)
    if (ends := alone[lowest[1]]) is not None and low is not None and lowest[0] > low:
        low, claims["delta-lower"] = ends.lower, join_lower(lowest[1], ends.claims[-1], direction)
        if low is None:
            return EpsilonEnds(None, None, (claims["delta-lower"],))
    upper = None
    for grouping in list_groupings(len(events), lowest[1]) if spare > 0 else ():

        def find(group: Composition, share: Fraction, count: int = len(grouping)) -> Claim | None:
            ends = _try_bound(group, share, direction, gap, _SHARES * count)
            return None if ends is None or ends.upper is None else ends.claims[0]

        upper = join_upper(events, grouping, [_round(spare + mass, up=False) for mass in lost], direction, find)
        if upper is not None:
            break
    if upper is not None and (high is None or Fraction(str(upper["epsilon"])) < high):
        high, claims["delta-upper"] = Fraction(str(upper["epsilon"])), upper
    if high is None and not claims:
        raise _undecided(composition, "no grid that the kernel works with shows a bound")
    return EpsilonEnds(low, high, tuple(claims[name] for name in ("delta-upper", "delta-lower") if name in claims))


def _try_bound(
    composition: Composition, delta: Fraction, direction: Direction, gap: Fraction, shares: int, *, above_only: bool = False
) -> EpsilonEnds | None:
    try:
        return _bound_epsilon(composition, delta, direction, gap, shares, above_only=above_only)
    except Undecided:
        return None


def _undecided(composition: Composition, said: str) -> Undecided:
    return Undecided(
        f"the privacy curve of {composition.name[:80]!r} was asked for, but {said}; lower the counts, or ask for a larger delta or gap"
    )


def bound_delta(
    composition: Composition, epsilon: Fraction, direction: Direction, *, gap: Fraction = Fraction(1, 1000), above_only: bool = False
) -> DeltaEnds:
    """Return δ(ε) for ε = ``epsilon`` >= 0 from both sides, about ``gap`` δ apart; farther where δ is near 10^-100 or below it.

    ``above_only``: the lower end is 0, and what is missing of a grid is not measured.
    Raises :class:`profiles.InvalidArgument` for an ε below 0 or above 2^29 (10^10 for Gaussian noise alone), and for mechanisms whose
    curve the kernel does not compute.
    """
    most = _find_most(_read(composition))
    if not 0 <= epsilon <= most:
        raise InvalidArgument(f"an epsilon in [0, {most}] was expected, but {exact_text(epsilon)[:40]} was found; correct it")

    end = _find_end(composition, direction)
    if end.upper is not None and end.upper <= epsilon and not end.mass:
        return DeltaEnds(Fraction(0), Fraction(0), (end.claim_upper(epsilon, end.mass),))

    ended = end.upper is not None and end.upper <= epsilon
    try:
        return _bound_delta(composition, epsilon, direction, gap, end if ended else None, above_only=above_only)
    except Undecided:
        high, claim = (end.mass if ended else Fraction(1)), None
        with suppress(Undecided):  # a grid for a moderate delta has a bound at each epsilon
            size = max(2 * _lose_wholly(composition, direction), Fraction(1, 10**6))
            upper = _find_curves(composition, direction, min(size, Fraction(1, 2)), gap, lambda *_: 0.0)[1]
            rounded = _round(upper.delta(epsilon), up=True)
            if rounded < high:
                high, claim = rounded, _claim(direction, epsilon, rounded, upper, up=True)
        for delta in _OF_GROUPS:
            if claim is not None or delta >= high or len(split_events(composition)) == 1:
                break
            with suppress(Undecided):
                ends = _bound_by_groups(composition, delta, direction, gap, None)
                if ends.upper is not None and ends.upper <= epsilon:
                    high, claim = delta, {**ends.claims[0], "epsilon": exact_text(epsilon), "bound": exact_text(delta)}
        return DeltaEnds(Fraction(0), high, (claim or end.claim_upper(epsilon, high),))


def _bound_delta(
    composition: Composition, epsilon: Fraction, direction: Direction, gap: Fraction, end: LargestLoss | None, *, above_only: bool
) -> DeltaEnds:
    """Return δ(ε) by curves. ``end``: where ε is above all finite losses."""

    def miss(lower: _Curve, upper: _Curve) -> float:
        high = upper.delta(epsilon)
        return float((high - lower.delta(epsilon)) / (gap * high)) if high * _NEAR > size else 0.0

    least, size = _find_least(_read(composition)), _guess_delta(composition, epsilon, direction, gap)
    for _ in range(_ROUNDS):
        lower, upper = _find_curves(composition, direction, size, gap, miss, of_delta=True, above_only=above_only)
        high, low = min(_round(upper.delta(epsilon), up=True), Fraction(1)), _round(lower.delta(epsilon), up=False)
        if size <= high * _NEAR <= 100 * _NEAR * size or high - low <= gap * high or (high < size == least):
            break
        # a closed form is looked at with all digits at once where there were too few to see delta
        seen = bool(high) if above_only else bool(low)
        size = least if not seen and least < _LEAST else max(min(high, Fraction(1, 10)), size**3, least)
    made = [_claim(direction, epsilon, high, upper, up=True)]
    if end is not None and end.mass <= high:
        high, made = end.mass, [dict(end.claim_upper(epsilon, end.mass))]
    if low:
        made.append(_claim(direction, epsilon, low, lower, up=False))
    return DeltaEnds(low, high, tuple(made))


def bound_deltas(
    composition: Composition, epsilons: Sequence[Fraction], direction: Direction, *, least: Fraction, gap: Fraction = Fraction(1, 100)
) -> list[tuple[Fraction, Fraction]]:
    """Return (lower, upper) bounds on δ at many ε from one grid, which is made for a δ of ``least``; they may be wider apart than ``gap``.

    Raises as :func:`bound_delta`.
    """
    lower, upper = _find_curves(composition, direction, least, gap, lambda *_: 0.0)
    return [(_round(lower.delta(e), up=False), min(_round(upper.delta(e), up=True), Fraction(1))) for e in epsilons]


def guess_epsilon(composition: Composition, delta: Fraction) -> float:
    """Return about what ε at ``delta`` > 0 is where a record goes: Chernoff's bound in floating point, which proves nothing."""
    try:
        side = Side(Direction.REMOVE, up=True, delta=delta, tails=(_COARSE / 100, delta * _COARSE / 100))
        return find_shape(composition, _read(composition), side).epsilon
    except Rejected as problem:
        raise _refuse(composition, problem) from problem


def _guess_delta(composition: Composition, epsilon: Fraction, direction: Direction, gap: Fraction) -> Fraction:
    """Return about what δ(ε) is: Chernoff's bound at ε, by Newton's method for its logarithm from a moderate δ on."""
    events, size = _read(composition), Fraction(1, 10**6)
    if len(events) == 1 and events[0].count == 1:
        return size  # there is a closed form
    for _ in range(_ROUNDS):
        try:
            shape = find_shape(composition, events, Side(direction, up=True, delta=size, tails=(gap / 100, size * gap / 100)))
        except Rejected as problem:
            raise _refuse(composition, problem) from problem
        step = min(max(shape.exponent * (float(epsilon) - shape.epsilon), -_FARTHEST), _FARTHEST)
        size = max(min(size * Fraction(exp(-step)), Fraction(1, 10)), _LEAST)
        if abs(step) < 1:
            break
    return _round(size, up=True)


def share_work(shares: int = _SHARES) -> Meter:
    """Return what one of the four claims of a certificate (two directions, two sides) may take of the kernel's work, so that all fit."""
    return Meter(Meter().left // shares)


def make_certificate(composition: Composition, claims: tuple[Mapping[str, object], ...]) -> dict[str, object]:
    """Return the certificate of some claims about one composition, as a JSON object."""
    about = {"name": composition.name, "events": write_events(composition)}
    return {"format": OWN, "version": 1, "composition": about, "claims": [dict(claim) for claim in claims]}


def _claim(direction: Direction, epsilon: Fraction, delta: Fraction, curve: _Curve, *, up: bool) -> dict[str, object]:
    stated = {"direction": direction.value, "epsilon": exact_text(epsilon), "bound": exact_text(delta)}
    fields = curve.fields if curve.look is None else curve.look(epsilon)
    return {"claim": "delta-upper" if up else "delta-lower", "verdict": "proved", **stated, **fields}


def _find_end(composition: Composition, direction: Direction) -> LargestLoss:
    return find_largest_loss(_read(composition), direction)


def _lose_wholly(composition: Composition, direction: Direction) -> Fraction:
    """Return about the mass at infinity of the composition: 1 − Π(1 − m)^count for the masses m of single uses."""
    with localcontext(curves.context(_PLACES)):
        rest = Decimal(1)
        for event in _read(composition):
            _, mass = event.end(remove=direction is Direction.REMOVE, up=True)
            rest *= (1 - curves.decimal(mass)) ** event.count
        return Fraction(1 - rest)


def _read(composition: Composition) -> list[KernelEvent]:
    try:
        return compositions.read_events(write_events(composition))
    except Rejected as problem:
        raise _refuse(composition, problem) from problem


def _refuse(composition: Composition, problem: Rejected) -> InvalidArgument:
    return InvalidArgument(
        f"the privacy curve of {composition.name[:80]!r} was asked for, but the kernel does not compute it: {problem}; "
        "account for other numbers"
    )


def _find_curves(
    composition: Composition, direction: Direction, delta: Fraction, gap: Fraction, miss: Callable[[_Curve, _Curve], float], **how: Any
) -> tuple[_Curve, _Curve]:
    """Return curves as :func:`_plan_curves`; where no lattice holds the steps of epochs, the upper one is that of known allocations."""
    allocated, lower = any(event.batches is not None and event.batches.is_summed(up=True) for event in _read(composition)), _NOTHING
    try:
        lower, upper = _plan_curves(composition, direction, delta, gap, miss, **how)
        looked = upper.look is not None  # at one epsilon at a time, which takes long
        if not allocated or looked or (upper.guess(delta) is not None and lower.guess(delta) is not None):
            return lower, upper
    except (Undecided, InvalidArgument):
        if not allocated:
            raise
        lower = _NOTHING
    return lower, _plan_curves(composition, direction, delta, gap, miss, **how, told=True)[1]


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


def _plan_curves(
    composition: Composition,
    direction: Direction,
    delta: Fraction,
    gap: Fraction,
    miss: Callable[[_Curve, _Curve], float],
    *,
    of_delta: bool = False,
    shares: int = _SHARES,
    above_only: bool = False,
    told: bool = False,
) -> tuple[_Curve, _Curve]:
    """Return a lower and an upper curve that are sharp around ``delta``; ``miss``: how many times farther apart than wanted they are.

    ``gap``: of ε, or ``of_delta``. ``shares``: of the kernel's work each curve may take one. ``above_only``: the lower one says nothing.
    ``told``: only the upper one counts, and allocations are told.
    """
    events = _tell_steps(_read(composition)) if told else _read(composition)
    delta = max(delta, _find_least(events))
    try:
        aim = min(gap, _COARSE)
        lost = delta * aim / (_LOST if of_delta else 100)
        sides = [Side(direction, up, delta, (aim / 100, lost)) for up in (False, True)]
        if len(events) == 1 and events[0].count == 1:
            return _NOTHING if told else _closed(events[0], sides[0]), _closed(events[0], sides[1])
        shapes = [find_shape(composition, events, sides[1])] * 2
        apart = [event.rho is not None or (event.batches is not None and not event.batches.is_summed(up=False)) for event in events]
        if any(apart):  # whose two sides are of different laws
            shapes[0] = find_shape(composition, events, sides[0])
    except Rejected as problem:
        raise _refuse(composition, problem) from problem
    if shapes[1].epsilon > _BEYOND:
        if of_delta:
            return _NOTHING, _EVERYTHING
        raise Undecided(
            f"the privacy curve of {composition.name[:80]!r} was asked for, but its losses are about {shapes[1].epsilon:.2g} nats, "
            f"and those up to {_MOST_EPSILON} are computed; lower the counts, or add noise"
        )
    if of_delta:  # which falls by a factor of exp(-exponent) where epsilon rises by 1
        steps = max(shapes[1].epsilon, float(LEAST_EPSILON)) * shapes[1].exponent
        aim = min(_COARSE, max(Fraction(float(gap) / max(steps, float(gap))).limit_denominator(10**15), _FINEST_AIM))
    lower, upper, far, alone = _NOTHING, None, 0.0, False
    limit, start = dict[bool, int](), list[_Curve | None]([_NOTHING if above_only or told else None, None])
    fineness, curves, less = [_FIRST, _FIRST], list(start), 2
    for _ in range(_ROUNDS):
        try:
            for i, (shape, side) in enumerate(zip(shapes, sides, strict=True)):
                if curves[i] is None:
                    curves[i] = _compose_planned(shape, side, aim, fineness[i], shares, limit)
        except Rejected as problem:  # the grid is larger than what the kernel works with
            if upper is not None:
                break  # what there is has to do
            if fineness[0] <= _COARSEST:
                raise _undecided(composition, "no grid that the kernel works with shows a bound") from problem
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
    return lower, upper or _EVERYTHING


#: What is known from below where no lower curve was found.
_NOTHING = _Curve(lambda _: Fraction(0), lambda _: 0.0, {})
#: What is known from above where no upper curve was found.
_EVERYTHING = _Curve(lambda _: Fraction(1), lambda _: None, {})


def _find_least(events: Sequence[KernelEvent]) -> Fraction:
    return _LEAST_CLOSED if len(events) == 1 and events[0].count == 1 else _LEAST


def _find_most(events: Sequence[KernelEvent]) -> int:
    return _MOST_GAUSSIAN if len(events) == 1 and events[0].m is not None else _MOST_EPSILON


def _closed(event: KernelEvent, side: Side) -> _Curve:
    if event.batches is not None and is_replacement(event, up=side.up):
        return _look_once(event.batches.m, event.batches.size["steps_per_epoch"], side.delta, up=side.up)
    digits, order = _count_digits(side.delta), find_order(event, side)
    most, context = _find_most([event]), curves.context(digits + curves.GUARD)
    with localcontext(context):
        delta, linear = _closed_curve(event, side, order)

    def about(epsilon: Fraction) -> Fraction:
        with localcontext(context):
            try:
                return Fraction(int(delta(epsilon).scaleb(digits)), 10**digits)
            except Rejected as problem:
                raise _no_look(epsilon, problem) from problem

    def guess(target: Fraction) -> float | None:
        low, high = 0.0, 1.0
        while about(Fraction(high)) > target and high < most:
            low, high = high, high * 2
        if about(Fraction(high)) > target:
            return None
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if about(Fraction(middle)) > target else (low, middle)
        return high if about(Fraction(low)) > target else low

    error = Fraction(2 if side.up else -2, 10**digits)
    fields = ({} if order is None else {"order": exact_text(order)}) | ({} if linear is None else {"linear": linear})
    return _Curve(lambda epsilon: max(about(epsilon) + error, Fraction(0)), guess, fields, most)


@lru_cache(maxsize=16)
def _look_once(m: Fraction, steps: int, delta: Fraction, *, up: bool) -> _Curve:
    """Return the curve of one epoch of random allocation where a record is replaced, which is computed for each ε anew.

    It is one curve for both directions. ``delta``: where it is to be sharp.
    """
    batches = Batches("random-allocation", "replace-one", m, {"steps_per_epoch": steps, "participations": 1})
    base, digits = partial(curves.gaussian, m), _count_digits(delta)
    event = KernelEvent(base, base, Fraction(1), 1, batches=batches)
    seen, most = dict[Fraction, tuple[Fraction, Mapping[str, object]]](), [0]  # halvings of cells that have not been found to be too many

    def look(epsilon: Fraction) -> tuple[Fraction, Mapping[str, object]]:
        while epsilon not in seen:
            linear = plan_allocation(event, float(delta), remove=True, up=up, finer=most[0], slope=slope_text(epsilon))
            try:
                bound = compositions.closed_form(event, epsilon, digits, remove=True, up=up, linear=linear, meter=share_work())
            except Rejected as problem:
                if most[0] <= -_COARSER:
                    raise _no_look(epsilon, problem) from problem
                most[0] -= 1
            else:
                seen[epsilon] = bound, {"linear": linear}
        return seen[epsilon]

    def guess(target: Fraction) -> float | None:
        try:
            about = find_crossing(m, steps, float(target))
        except Rejected as problem:
            raise _no_look(Fraction(0), problem) from problem
        if not 0 < about[0] < MOST_LOOKED_AT:
            return None if about[0] else 0.0
        return polish(lambda epsilon: look(epsilon)[0], target, about)

    return _Curve(lambda epsilon: look(epsilon)[0], guess, {}, MOST_LOOKED_AT, lambda epsilon: look(epsilon)[1], _LOOK)


def _no_look(epsilon: Fraction, problem: Rejected) -> Undecided:
    return Undecided(f"the privacy curve of one use was asked for at {float(epsilon):.4g} nats, but {problem}; account for other numbers")


def _count_digits(delta: Fraction) -> int:
    return len(str(delta.denominator)) + 20


def _closed_curve(
    event: KernelEvent, side: Side, order: Fraction | None
) -> tuple[Callable[[Fraction], Decimal], Mapping[str, object] | None]:
    """Return δ of one use in the current context, and the lattice of an epoch: the finest one that the kernel has time for."""
    remove = side.direction is Direction.REMOVE
    for finer in range(0, -_COARSER, -1):
        linear = plan_allocation(event, float(side.delta), remove=remove, up=side.up, finer=finer)
        try:
            return event.delta(remove=remove, up=side.up, order=order, linear=linear, meter=share_work() if linear else None), linear
        except Rejected:
            if linear is None or finer == 1 - _COARSER:
                raise
    raise Rejected("no lattice of an epoch is coarse enough")


def _compose_planned(shape: Shape, side: Side, gap: Fraction, fineness: float, shares: int, limit: dict[bool, int]) -> _Curve:
    """Return the curve on a grid; where epochs are allocated, with coarser cells for their steps before the grid is made coarser.

    ``limit``: by side, halvings of these cells that have not been found to be too many.
    """
    finer, events = min(round(math.log2(fineness)) - 1, 1, limit.get(side.up, 1)), [part.event for part in shape.parts]
    if any(event.batches is not None and event.batches.is_summed(up=side.up) for event in events):
        while finer > -_COARSER:
            with suppress(Rejected):
                return _composed(events, side, plan(shape, side, gap=gap, fineness=fineness, finer=finer), share_work(shares))
            finer -= 1
            limit[side.up] = finer
    return _composed(events, side, plan(shape, side, gap=gap, fineness=fineness, finer=finer), share_work(shares))


def _composed(events: list[KernelEvent], side: Side, grid: Mapping[str, object], meter: Meter) -> _Curve:
    lattice, laws = compositions.compose(events, grid, remove=side.direction is Direction.REMOVE, up=side.up, meter=meter)
    return curve_of_laws(lattice, laws, {"grid": grid})


def curve_of_laws(lattice: Lattice, laws: Laws, fields: Mapping[str, object]) -> _Curve:
    """Return the curve of laws of losses, which is on the side of the lattice."""
    scale, first, last = 1 << lattice.bits, laws[0], laws[-1]
    places = [
        (float(first.shift) + (low + np.arange(len(cells))) * float(lattice.width(level)), cells, last.parts[level][1])
        for level, (low, cells) in first.parts.items()
    ]
    loss = np.concatenate([x for x, _, _ in places])
    above = np.array([cell / scale for _, cells, _ in places for cell in cells])
    # a lower curve's masses under Q may be as large as exp(loss) times those under P: beyond what a double holds
    below = np.array([math.log(cell) if cell else -math.inf for _, _, cells in places for cell in cells]) - lattice.bits * math.log(2)

    def about(epsilon: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            return float(np.sum(np.fmax(above - np.exp(below + (epsilon - loss)), 0.0)))

    def guess(target: Fraction) -> float | None:
        finite = float(target - Fraction(first.beyond, scale))  # may be a very small part of both
        if about(0.0) <= finite:
            return 0.0
        low, high = 0.0, max(float(np.max(loss)), 0.0) + 1
        if finite <= 0:
            return None
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if about(middle) > finite else (low, middle)
        return high

    return _Curve(partial(lattice.delta, laws), guess, fields)


def epsilon_above(curve: _Curve, delta: Fraction) -> Fraction | None:
    """Return an ε at which the curve is at most δ, close to the least one."""
    guess, step = curve.guess(delta), curve.step
    if not guess and curve.delta(Fraction(0)) <= delta:
        return Fraction(0)
    while guess is not None and step < 1:
        epsilon = _round(Fraction(guess) * (1 + Fraction(step)) + Fraction(step) / 1000, up=True)
        if curve.delta(epsilon) <= delta:
            return epsilon
        step *= 8
    return None


def epsilon_below(curve: _Curve, delta: Fraction) -> Fraction | None:
    """Return an ε at which the curve is above δ, close to the largest one; 0 if there is none; None if there is no end of them."""
    guess, step = curve.guess(delta), curve.step
    if guess is None and curve.delta(Fraction(curve.most)) > delta:
        return None
    while guess and step < 1:
        epsilon = _round(Fraction(guess) * (1 - Fraction(step)), up=False)
        if epsilon > 0 and curve.delta(epsilon) > delta:
            return epsilon
        step *= 8
    return Fraction(0)


def _round(x: Fraction, *, up: bool) -> Fraction:
    """Return a number of 14 to 16 digits on one side of x >= 0."""
    if not x:
        return x
    scale = Fraction(10) ** (14 - floor((x.numerator.bit_length() - x.denominator.bit_length()) * 0.30103))
    return (ceil(x * scale) if up else floor(x * scale)) / scale
