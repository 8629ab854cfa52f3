"""Bounds on δ at ε and on ε at δ, from both sides, each with the claim of a certificate, which the kernel shows from the events alone.

Every number that leaves this module was computed by the kernel (:mod:`proofs_check.kernel.theories.compositions`); what is guessed here
only decides how sharp it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp

from accountant.compositions.certificates import SHARES, ClaimObject, read_kernel_events, refuse
from accountant.compositions.curve_pairs import COARSE_GAP, ROUNDS, find_curves, undecided
from accountant.compositions.events import Composition, Direction, MechanismKind
from accountant.compositions.groups import join_lower, join_upper, list_groupings, split_events
from accountant.compositions.largest_loss import LargestLoss, find_largest_loss
from accountant.compositions.proved_curves import (
    DIGITS,
    LEAST_CLOSED,
    LEAST_DELTA,
    MOST_ON_GRIDS,
    ProvedCurve,
    find_largest_epsilon,
    find_least_delta,
)
from accountant.compositions.shapes import LEAST_EPSILON, Side, find_shape
from profiles import InvalidArgument, Undecided, exact_text
from profiles.numbers import decimal_above, decimal_below
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.theories.compositions import curves

_OF_GROUPS = (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 10))  # deltas that are tried where no one grid holds all events
_ROUGH = Fraction(1, 20)  # of an upper end that another one is far above, most often
_FAR_ABOVE = 1.5  # times what Chernoff's bound expects: an upper end this large is not sharp
_FARTHEST = 500.0  # so far, in nats, is the next guess of a delta
_NEAR = 8  # so many times below the delta that a grid was made for, it is still sharp
_PLACES = 130  # in which a mass at infinity is told from a delta


@dataclass(frozen=True, slots=True)
class EpsilonEnds:
    """The least ε at which δ(ε) is at most a given δ, from both sides, each with the claim of a certificate that says so.

    ``lower`` is ``None`` if no ε up to 2^29 (10^10 for Gaussian noise alone) is enough, ``upper`` if none was found to be.
    """

    lower: Fraction | None
    upper: Fraction | None
    claims: tuple[ClaimObject, ...]


@dataclass(frozen=True, slots=True)
class DeltaEnds:
    """δ at a given ε, from both sides, each with the claim of a certificate that says so."""

    lower: Fraction
    upper: Fraction
    claims: tuple[ClaimObject, ...]


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
        ends = _bound_epsilon(composition, delta, direction, gap, SHARES)
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
        ends = _try_bound(composition, delta, direction, fineness, SHARES, above_only=True)
        if ends is not None and ends.upper is not None and enough is not None and ends.upper <= enough:
            return ends
    if ends is not None and ends.upper is not None and _is_closed(composition):  # which is sharp, and no grid
        return ends
    if ends is None or ends.upper is None or float(ends.upper) > _FAR_ABOVE * guess_epsilon(composition, delta) + float(LEAST_EPSILON):
        return bound_epsilon(composition, delta, direction, gap=gap)
    return ends


def _is_closed(composition: Composition) -> bool:
    return len(events := read_kernel_events(composition)) == 1 and events[0].count == 1


def _bound_epsilon(
    composition: Composition, delta: Fraction, direction: Direction, gap: Fraction, shares: int, *, above_only: bool = False
) -> EpsilonEnds:
    """Return the ends for δ > 0 by one grid for all events, which may take one of ``shares`` equal shares of the kernel's work."""
    end = _find_end(composition, direction)

    def miss(lower: ProvedCurve, upper: ProvedCurve) -> float:
        high, low = upper.guess(delta), lower.guess(delta)
        if low is None:
            return 0.0  # no epsilon is enough, which is proved
        return 16.0 if high is None else (high - low) / (float(gap) * max(float(LEAST_EPSILON), high))

    lost = _lose_wholly(composition, direction)
    size = delta - lost if delta > lost else delta  # of what finite losses may add, which is what the grid is made for
    try:
        lower, upper = find_curves(composition, direction, size, gap, miss, shares=shares, above_only=above_only)
    except Undecided:
        if end.upper is None or end.mass > delta:
            raise
        return EpsilonEnds(Fraction(0), end.upper, (end.claim_upper(end.upper, delta),))  # the losses add up, at most
    seen = max(delta, LEAST_CLOSED)  # what is shown of a larger delta holds of a smaller one
    high, low = upper.epsilon_above(delta), lower.epsilon_below(seen)
    made = list[ClaimObject]([] if high is None else [upper.claim(direction, high, delta, up=True)])
    if end.upper is not None and end.mass <= delta and (high is None or end.upper <= high):
        high, made = end.upper, [end.claim_upper(end.upper, delta)]
    if low != 0:
        made.append(lower.claim(direction, Fraction(lower.most) if low is None else low, seen, up=False))
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
    alone = [_try_bound(event, delta, direction, gap, SHARES * len(events)) for event in events]
    lowest = max(
        ((Fraction(MOST_ON_GRIDS) if ends.lower is None else ends.lower, place) for place, ends in enumerate(alone) if ends is not None),
        default=(Fraction(0), 0),
    )
    claims = dict[str, ClaimObject]({} if known is None else {str(claim["claim"]): claim for claim in known.claims})
    low, high = (Fraction(0), None) if known is None else (known.lower, known.upper)
    if (ends := alone[lowest[1]]) is not None and low is not None and lowest[0] > low:
        low, claims["delta-lower"] = ends.lower, join_lower(lowest[1], ends.claims[-1], direction)
        if low is None:
            return EpsilonEnds(None, None, (claims["delta-lower"],))
    upper = None
    for grouping in list_groupings(len(events), lowest[1]) if spare > 0 else ():

        def find(group: Composition, share: Fraction, count: int = len(grouping)) -> ClaimObject | None:
            ends = _try_bound(group, share, direction, gap, SHARES * count)
            return None if ends is None or ends.upper is None else ends.claims[0]

        upper = join_upper(events, grouping, [decimal_below(spare + mass, DIGITS) for mass in lost], direction, find)
        if upper is not None:
            break
    if upper is not None and (high is None or Fraction(str(upper["epsilon"])) < high):
        high, claims["delta-upper"] = Fraction(str(upper["epsilon"])), upper
    if high is None and not claims:
        raise undecided(composition, "no grid that the kernel works with shows a bound")
    return EpsilonEnds(low, high, tuple(claims[name] for name in ("delta-upper", "delta-lower") if name in claims))


def _try_bound(
    composition: Composition, delta: Fraction, direction: Direction, gap: Fraction, shares: int, *, above_only: bool = False
) -> EpsilonEnds | None:
    try:
        return _bound_epsilon(composition, delta, direction, gap, shares, above_only=above_only)
    except Undecided:
        return None


def bound_delta(
    composition: Composition, epsilon: Fraction, direction: Direction, *, gap: Fraction = Fraction(1, 1000), above_only: bool = False
) -> DeltaEnds:
    """Return δ(ε) for ε = ``epsilon`` >= 0 from both sides, about ``gap`` δ apart; farther where δ is near 10^-100 or below it.

    ``above_only``: the lower end is 0, and what is missing of a grid is not measured.
    Raises :class:`profiles.InvalidArgument` for an ε below 0 or above 2^29 (10^10 for Gaussian noise alone), and for mechanisms whose
    curve the kernel does not compute.
    """
    most = find_largest_epsilon(read_kernel_events(composition))
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
            upper = find_curves(composition, direction, min(size, Fraction(1, 2)), gap, lambda *_: 0.0)[1]
            rounded = decimal_above(upper.delta(epsilon), DIGITS)
            if rounded < high:
                high, claim = rounded, upper.claim(direction, epsilon, rounded, up=True)
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

    def miss(lower: ProvedCurve, upper: ProvedCurve) -> float:
        high = upper.delta(epsilon)
        return float((high - lower.delta(epsilon)) / (gap * high)) if high * _NEAR > size else 0.0

    least, size = find_least_delta(read_kernel_events(composition)), _guess_delta(composition, epsilon, direction, gap)
    for _ in range(ROUNDS):
        lower, upper = find_curves(composition, direction, size, gap, miss, of_delta=True, above_only=above_only)
        high, low = min(decimal_above(upper.delta(epsilon), DIGITS), Fraction(1)), decimal_below(lower.delta(epsilon), DIGITS)
        if size <= high * _NEAR <= 100 * _NEAR * size or high - low <= gap * high or (high < size == least):
            break
        # a closed form is looked at with all digits at once where there were too few to see delta
        seen = bool(high) if above_only else bool(low)
        size = least if not seen and least < LEAST_DELTA else max(min(high, Fraction(1, 10)), size**3, least)
    made = [upper.claim(direction, epsilon, high, up=True)]
    if end is not None and end.mass <= high:
        high, made = end.mass, [dict(end.claim_upper(epsilon, end.mass))]
    if low:
        made.append(lower.claim(direction, epsilon, low, up=False))
    return DeltaEnds(low, high, tuple(made))


def bound_deltas(
    composition: Composition, epsilons: Sequence[Fraction], direction: Direction, *, least: Fraction, gap: Fraction = Fraction(1, 100)
) -> list[tuple[Fraction, Fraction]]:
    """Return (lower, upper) bounds on δ at many ε from one grid, which is made for a δ of ``least``; they may be wider apart than ``gap``.

    Raises as :func:`bound_delta`.
    """
    lower, upper = find_curves(composition, direction, least, gap, lambda *_: 0.0)
    return [(decimal_below(lower.delta(e), DIGITS), min(decimal_above(upper.delta(e), DIGITS), Fraction(1))) for e in epsilons]


def guess_epsilon(composition: Composition, delta: Fraction) -> float:
    """Return about what ε at ``delta`` > 0 is where a record goes: Chernoff's bound in floating point, which proves nothing."""
    try:
        side = Side(Direction.REMOVE, up=True, delta=delta, tails=(COARSE_GAP / 100, delta * COARSE_GAP / 100))
        return find_shape(composition, read_kernel_events(composition), side).epsilon
    except Rejected as problem:
        raise refuse(composition, problem) from problem


def _guess_delta(composition: Composition, epsilon: Fraction, direction: Direction, gap: Fraction) -> Fraction:
    """Return about what δ(ε) is: Chernoff's bound at ε, by Newton's method for its logarithm from a moderate δ on."""
    events, size = read_kernel_events(composition), Fraction(1, 10**6)
    if len(events) == 1 and events[0].count == 1:
        return size  # there is a closed form
    for _ in range(ROUNDS):
        try:
            shape = find_shape(composition, events, Side(direction, up=True, delta=size, tails=(gap / 100, size * gap / 100)))
        except Rejected as problem:
            raise refuse(composition, problem) from problem
        step = min(max(shape.exponent * (float(epsilon) - shape.epsilon), -_FARTHEST), _FARTHEST)
        size = max(min(size * Fraction(exp(-step)), Fraction(1, 10)), LEAST_DELTA)
        if abs(step) < 1:
            break
    return decimal_above(size, DIGITS)


def _find_end(composition: Composition, direction: Direction) -> LargestLoss:
    return find_largest_loss(read_kernel_events(composition), direction)


def _lose_wholly(composition: Composition, direction: Direction) -> Fraction:
    """Return about the mass at infinity of the composition: 1 − Π(1 − m)^count for the masses m of single uses."""
    with localcontext(curves.context(_PLACES)):
        rest = Decimal(1)
        for event in read_kernel_events(composition):
            _, mass = event.end(remove=direction is Direction.REMOVE, up=True)
            rest *= (1 - curves.decimal(mass)) ** event.count
        return Fraction(1 - rest)
