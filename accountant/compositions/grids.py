"""Grids: on which lattice the laws of losses of a composition are put, so that a bound is as sharp as asked. Nothing here is trusted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, floor, inf, log, log1p, log2, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.compositions.allocations import plan_allocation
from accountant.compositions.events import Composition, Direction, Event, MechanismKind
from profiles import Undecided, exact_text
from proofs_check.kernel.core.terms import require
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent
from proofs_check.kernel.theories.compositions.lattices import MOST_CELLS

Array = NDArray[np.float64]
#: Below this ε the two sides are as far apart as they are at it.
LEAST_EPSILON = Fraction(1, 1000)
_MOST_LOSS = 10**7
#: Levels of a grid differ by at least so many: a part of a law on each of them takes part in every product.
_STRIDE = 2
#: Intervals are halved, in so many rounds, until what the spread of losses in each adds to ε is at most this part of it.
_SPREAD, _ROUNDS, _SCALES = 0.003, 14, 45
#: What a cell in the tail costs more than one in the bulk, for each squaring: what lies there meets the bulk anew.
_TAIL = 0.8
_COARSEST = 1e-4  # of the mean density: where there is less, cells do not grow
_FEWEST = 2  # digits of delta: of cells that are far wider than a law next to none are needed
_ROUNDING = 0.1  # the part of the gap that rounding may take
_FIRST, _LATER = 0.62, 0.25
#: Of units between two levels so many are tried; cells whose widths are levels have this part of the error of those that they stand for.
_UNITS, _LEVELLED = 8, 0.34
_WIDEST, _WIDER = 2.0, 0.1
_PASSES = 3
_FAR_TOO_MANY = 4 * MOST_CELLS
_STEPS = 30  # of the search for an exponent: to six digits
_COARSEST_LATTICE, _MOST_LEVEL = 256.0, 58
_NEXT = Fraction(1, 10**9)
_LITTLE = 1e-2  # a unit is rounded to three digits
_GOLDEN = (sqrt(5) - 1) / 2
_COARSER = -3  # by so many halvings is the lattice of an epoch coarser on which its losses are looked at
_RARE = 1e-3  # so few uses with a loss do not count


@dataclass(frozen=True, slots=True)
class Side:
    """What is bounded: in which direction and from where, about at which δ, and what may be cut off at the ends of a law."""

    direction: Direction
    up: bool
    delta: Fraction
    tails: tuple[Fraction, Fraction]

    @property
    def digits(self) -> int:
        """Digits in which a curve is looked at: they resolve small parts of δ."""
        return len(str(int(1 / self.delta))) + 16


@dataclass(frozen=True, slots=True)
class DiscretizedEvent:
    """An event of the kernel in one direction, and about how the losses of one use are distributed.

    ``masses[i]`` of them lie between ``places[i]`` and ``places[i + 1]``, with the likelihood ratio exp(``losses[i]``), and ``atoms`` at
    ``ends``, if these have mass; all but tails/count lies in [``places[0]``, ``places[-1]``]. ``order`` is that of a mechanism of which
    only its zCDP is known, on the upper side; near ``edge`` lie most losses of events that rarely sample a record.
    """

    event: KernelEvent
    places: Array
    masses: Array
    losses: Array
    ends: tuple[Fraction, Fraction] | None
    atoms: tuple[float, float]
    edge: Fraction
    order: Fraction | None

    def tilt(self, exponent: float) -> tuple[float, Array, Array]:
        """Return log E e^(exponent loss), and the shares of the intervals and of the ends in it."""
        ends = np.array([float(end) for end in self.ends] if self.ends else [0.0, 0.0])
        with np.errstate(divide="ignore", under="ignore"):
            logs = np.concatenate([np.log(self.masses) + exponent * self.losses, np.log(np.array(self.atoms)) + exponent * ends])
            top = float(np.max(logs))
            shares = np.exp(logs - top)
        return top + log(float(np.sum(shares))), shares[:-2] / np.sum(shares), shares[-2:] / np.sum(shares)


@dataclass(frozen=True, slots=True)
class Shape:
    """The parts of a composition, the exponent at which Chernoff's bound shows the least ε at δ, and about that ε."""

    parts: tuple[DiscretizedEvent, ...]
    exponent: float
    epsilon: float


def find_shape(composition: Composition, events: Sequence[KernelEvent], side: Side) -> Shape:
    """Return the events as the kernel read them, with how their losses are distributed."""
    others = [e for e in composition.events if not is_merged(e)]
    before = len(events) - len(others) - sum(event.rho is not None for event in events)
    sources: list[Event | None] = [None] * before + list(others) + [None] * len(events)
    with localcontext(curves.context(side.digits)):
        sampled = [_Sampled.start(event, source, side) for event, source in zip(events, sources, strict=False)]
        shape = _find_exponent([s.part() for s in sampled], side.delta)
        for _ in range(_ROUNDS):
            if not sum(s.refine(part, shape) for s, part in zip(sampled, shape.parts, strict=True)):
                break
            shape = _find_exponent([s.part() for s in sampled], side.delta)
    return shape


def _find_exponent(parts: Sequence[DiscretizedEvent], delta: Fraction) -> Shape:
    target = log(delta.denominator) - log(delta.numerator)

    def epsilon(place: float) -> float:
        exponent = exp(place)
        constant = exponent * log(exponent) - (exponent + 1) * log1p(exponent)
        return (sum(part.event.count * part.tilt(exponent)[0] for part in parts) + target + constant) / exponent

    low, high = log(1e-7), log(1e9)
    values = {share: epsilon(low + share * (high - low)) for share in (1 - _GOLDEN, _GOLDEN)}
    for _ in range(_STEPS):
        if values[1 - _GOLDEN] <= values[_GOLDEN]:
            high = low + _GOLDEN * (high - low)
            values = {1 - _GOLDEN: epsilon(low + (1 - _GOLDEN) * (high - low)), _GOLDEN: values[1 - _GOLDEN]}
        else:
            low = high - _GOLDEN * (high - low)
            values = {1 - _GOLDEN: values[_GOLDEN], _GOLDEN: epsilon(low + _GOLDEN * (high - low))}
    return Shape(tuple(parts), exp(low), max(epsilon(low), 0.0))


@dataclass(slots=True)
class _Sampled:
    """The curve of an event at some losses."""

    event: KernelEvent
    curve: Callable[[Fraction], tuple[Decimal, Decimal]]
    ends: tuple[Fraction, Fraction] | None
    order: Fraction | None
    values: dict[float, tuple[Decimal, Decimal]]
    atoms: tuple[float, float]
    edge: Fraction

    @staticmethod
    def start(event: KernelEvent, source: Event | None, side: Side) -> _Sampled:
        order, remove = find_order(event, side), side.direction is Direction.REMOVE
        linear = plan_allocation(event, float(side.delta), remove=remove, up=side.up, finer=_COARSER)
        at = event.curve(remove=remove, up=side.up, order=order, linear=linear)

        def curve(loss: Fraction) -> tuple[Decimal, Decimal]:
            return at(curves.decimal(loss).exp())

        few, many = (curves.decimal(tail / event.count) for tail in side.tails)
        beyond = curve(Fraction(_MOST_LOSS))[0]

        def above(loss: Fraction) -> Decimal:
            return curve(loss)[0] - beyond

        ends, atoms = None if source is None else _find_ends(source, side.direction), (0.0, 0.0)
        missed = _find_missed(event)
        edge = -abs(_round_down(missed.ln())) if missed < 1 else Fraction(0)
        edge = edge if remove else -edge
        if ends is not None and (above(ends[1] + _NEXT) > many or above(ends[0] - _NEXT) < 1 - beyond - few):
            ends = None  # sampled events that lose everything at times have losses beyond these
        if ends is None:
            low, high = _crossing(above, 1 - few - beyond), _crossing(above, many)
            low, high = (x + sign * abs(x) / 2**9 for x, sign in ((low, -1), (high, 1)))  # atoms may lie there
            centre = _crossing(above, (1 - beyond) / 2)
            around = centre, centre
        else:
            (low, high), little = ends, (ends[1] - ends[0]) / 10**12
            atoms = float(above(low - little) - above(low + little)), float(above(high - little))
            around = low, high = low + little, high - little
        width = high - low
        places = {low, high, *(x + sign * width / 2**k for k in range(_SCALES) for sign in (-1, 1) for x in around)}
        values = {float(x): curve(x) for x in places if low <= x <= high}
        if len(values) < 2:
            raise Undecided(
                "a grid was needed for the losses of a mechanism, but they are smaller or larger than what one is made for; leave out what "
                "loses next to nothing, or add noise"
            )
        return _Sampled(event, curve, ends, order, values, atoms, edge)

    def part(self) -> DiscretizedEvent:
        """Return the event on the places that were evaluated so far: masses and losses between neighboring places."""
        places, masses, losses = sorted(self.values), list[float](), list[float]()
        for x, y in pairwise(places):
            p, q = (max(a - b, Decimal(0)) for a, b in zip(self.values[x], self.values[y], strict=True))
            masses.append(float(p))
            losses.append(min(max(_log(p / q), x), y) if p > 0 and q > 0 else (x + y) / 2)
        return DiscretizedEvent(
            self.event, np.array(places), np.array(masses), np.array(losses), self.ends, self.atoms, self.edge, self.order
        )

    def refine(self, part: DiscretizedEvent, shape: Shape) -> int:
        """Halve the intervals in which the tilted law is spread too far to be known well; tell how many there are."""
        spread = part.tilt(shape.exponent)[1] * np.diff(part.places) ** 2 * part.event.count * (shape.exponent + 1) / 12
        halved = np.nonzero(spread > _SPREAD * max(shape.epsilon, float(LEAST_EPSILON)))[0]
        for i in halved:
            x = (part.places[i] + part.places[i + 1]) / 2
            self.values[float(x)] = self.curve(Fraction(float(x)))
        return len(halved)


def _find_missed(event: KernelEvent) -> Decimal:
    """Return the probability with which one use takes nothing of a record, where most losses lie at its logarithm; else 1."""
    batches = event.batches
    if batches is None:
        return curves.decimal(1 - event.q if event.q < 1 else event.q)
    if batches.neighbors == "replace-one" or batches.sampling in ("shuffle", "random-allocation"):
        return Decimal(1)
    if batches.sampling == "with-replacement":
        return (curves.decimal(Fraction(batches.size["records"] - 1, batches.size["records"])).ln() * batches.size["batch_size"]).exp()
    if batches.sampling == "fixed-size" and batches.neighbors == "zero-out":
        return Decimal(1)
    return curves.decimal(1 - batches.q) ** batches.size.get("group_size", 1)


def is_merged(event: Event) -> bool:
    """Tell whether the kernel makes one event of all that are like this one: Gaussian noise on all records, and zCDP."""
    whole = event.sampling_probability == 1
    return event.mechanism is MechanismKind.ZCDP or (event.mechanism is MechanismKind.GAUSSIAN and whole)


def find_order(event: KernelEvent, side: Side) -> Fraction | None:
    """Return the Rényi order at which zCDP says most at δ, about, for the upper side of such an event."""
    if event.rho is None or not side.up:
        return None
    rho, target = float(event.rho), log(side.delta.denominator) - log(side.delta.numerator)

    def epsilon(exponent: float) -> float:
        more = exp(exponent)  # the order minus 1
        return (1 + more) * rho + (target - log1p(more)) / more - log1p(1 / more)

    low, high = log(1e-2), log(min(1e4, 9e4 / max(rho, 1) ** 0.5))
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if epsilon(left) <= epsilon(right) else (left, high)
    return 1 + _three_digits(exp(low))


def _crossing(above: Callable[[Fraction], Decimal], level: Decimal) -> Fraction:
    """Return a loss at which a falling function has just passed a level."""
    low, high = Fraction(-1, 2**40), Fraction(1, 2**40)
    while above(low) <= level and low > -_MOST_LOSS:
        low *= 4
    while above(high) > level and high < _MOST_LOSS:
        high *= 4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > level else (low, middle)
        if high - low <= max(abs(low), abs(high)) / 2**12:
            break
    return high


def _find_ends(event: Event, direction: Direction) -> tuple[Fraction, Fraction] | None:
    """Return the least and the largest finite loss, where both have mass."""
    match event.mechanism:
        case MechanismKind.LAPLACE | MechanismKind.DISCRETE_LAPLACE:
            down = up = 1 / event["scale"]
        case MechanismKind.RANDOMIZED_RESPONSE | MechanismKind.PURE | MechanismKind.APPROXIMATE:
            down = up = event["epsilon"]
        case MechanismKind.TWO_SIDED if len(event.parameters) == 4:
            up, down = event["epsilon_remove"], event["epsilon_add"]
        case _:
            return None
    q, remove = event.sampling_probability, direction is Direction.REMOVE
    if not up + down:
        return Fraction(0), Fraction(1)  # any other place: all finite losses are 0
    if q == 1:
        return (-down, up) if remove else (-up, down)
    rate, rest = curves.decimal(q), curves.decimal(1 - q)
    low, high = (Fraction((rest + rate * curves.decimal(x).exp()).ln()) for x in (-down, up))
    return (low, high) if remove else (-high, -low)


def plan(shape: Shape, side: Side, *, gap: Fraction, fineness: float = 1.0, finer: int = 0) -> dict[str, object]:
    """Return a grid in the words of a certificate, for sides that are about ``gap`` ε/fineness² apart.

    ``finer``: by so many halvings are the cells on which the steps of an epoch are added up.
    A cell of width h where a share s of the tilted law lies raises ε by count (exponent + 1) s h²/12; the number of cells is least for a
    given sum of these if h is the density of the shares to the power −1/3.
    """
    budget = float(gap) * max(shape.epsilon, float(LEAST_EPSILON)) / (shape.exponent + 1) / fineness**2
    aligned = next((part.ends for part in sorted(shape.parts, key=lambda p: -p.event.count) if part.ends is not None), None)
    cells = [_widths(part, shape, budget / len(shape.parts), 1.0 if side.up else 1.5, aligned) for part in shape.parts]
    few = min(_ROUNDING * budget * (shape.exponent + 1) ** 2, _ROUNDING)  # what part of δ the masses may be off by
    points = [float(np.sum(np.diff(part.places) / widths)) for part, widths in zip(shape.parts, cells, strict=True)]
    require(max(points) < _FAR_TOO_MANY, "the grid is too large")  # before it is written down
    uses = sum(part.event.count * number for part, number in zip(shape.parts, points, strict=True))
    digits = ceil(max(log10(4 * uses / few), _FEWEST) + log10(side.delta.denominator) - log10(side.delta.numerator))
    if aligned is None:
        finest, cells = _fit_levels(shape.parts, cells)
        unit = _three_digits(finest)
    else:
        unit = aligned[1] - aligned[0]
        finest = min(float(np.min(widths)) for widths in cells)
        unit = unit if unit.denominator < 10**40 else Fraction(floor(unit * 10**40), 10**40)
        unit /= 2 ** max(0, ceil(log2(float(unit) / finest)))  # so that atoms stay on the grid when the cells double
    step = Fraction(1, 10**digits)  # atoms lie just above points of the grid
    entries = list[dict[str, object]]()
    for part, widths in zip(shape.parts, cells, strict=True):
        linear = plan_allocation(part.event, float(side.delta), remove=side.direction is Direction.REMOVE, up=side.up, finer=finer)
        if part.ends is None:
            offset = part.edge
            low, high = (Fraction(float(part.places[i])) for i in (0, -1))
        else:
            offset = Fraction(floor(part.ends[0] / step)) * step - step
            low, high = offset, part.ends[1] - 2 * step
        first, last = floor((low - offset) / unit), ceil((high - offset) / unit)
        last = max(last, first + 1)
        start, steps = _steps(first, last, (part.places - float(offset)) / float(unit), widths / float(unit), whole=part.ends is not None)
        exact = part.ends is None or aligned is None or part.ends[1] - part.ends[0] == aligned[1] - aligned[0]
        least = _LATER * budget / len(shape.parts) * (1.0 if side.up else 2.25)
        floors = _floors(part, shape, unit, widths, least, exact=exact)
        entries.append(
            {"offset": exact_text(offset), "start": start, "steps": steps, "floors": floors}
            | ({} if part.order is None else {"order": exact_text(part.order)})
            | ({} if linear is None else {"linear": linear})
        )
    return {"digits": digits, "unit": exact_text(unit), "tails": [exact_text(tail) for tail in side.tails], "events": entries}


def _widths(part: DiscretizedEvent, shape: Shape, budget: float, factor: float, aligned: tuple[Fraction, Fraction] | None) -> Array:
    """Return how wide cells are in each interval of a part; the lattice is made for atoms at the ends ``aligned``."""
    _, shares, atoms = part.tilt(shape.exponent)
    widths, count = np.diff(part.places), part.event.count
    wide = np.full(len(widths), float(part.places[-1] - part.places[0]))
    if np.sum(shares) > 0:
        wide = _widths_of_density(part, shape, shares, budget, factor)
    for end, share in zip(part.ends or (), atoms, strict=False):
        near = np.minimum(np.abs(part.places[:-1] - float(end)), np.abs(part.places[1:] - float(end)))
        if aligned is not None and part.ends is not None and part.ends[1] - part.ends[0] != aligned[1] - aligned[0]:  # off the lattice
            little = max(sqrt(12 * _FIRST * budget / count), _FIRST * budget * (shape.exponent + 1) / count)  # a cell moves it by its width
            wide = np.minimum(wide, np.maximum(little, near / 2))
        if np.sum(shares) > 0 and count * share >= _RARE:  # what shares a cell with an atom is taken for a part of it
            wide = np.minimum(wide, np.maximum(max(budget * (shape.exponent + 1) / (8 * count), 1 / shape.exponent), near / 2))
    if part.ends is not None and len(shape.parts) > 1:  # the laws of other events are brought to the level of an atom
        wide = np.minimum(wide, max(sqrt(8 * _LATER * budget), _LATER * budget * (shape.exponent + 1)))
    return np.array(wide)


def _widths_of_density(part: DiscretizedEvent, shape: Shape, shares: Array, budget: float, factor: float) -> Array:
    widths, count = np.diff(part.places), part.event.count
    peak = widths[np.argmax(part.masses)] * 8
    middle, bulk = (part.places[:-1] + part.places[1:]) / 2, part.places[np.argmax(part.masses)]
    away = np.abs(middle - bulk)
    spread = float(np.sum(part.masses * away**2, where=away <= peak) / np.sum(part.masses, where=away <= peak))
    floor_of = _COARSEST * float(np.sum(shares) / np.sum(widths))
    times = np.ones(len(widths))
    for _ in range(_PASSES):
        density = np.maximum(shares / widths, floor_of) * count * times
        shape_of = density ** (-1 / 3)
        error = float(np.sum(count * shares * times * shape_of**2)) / 12
        wide = shape_of * sqrt(_FIRST * budget / error) * factor
        meetings = np.log2(count * spread / wide**2)  # of what lies in the tail with a bulk that is as wide as its cell
        times = np.where(away > peak, np.maximum(_TAIL * np.minimum(meetings, count.bit_length()), 1.0), 1.0)
    most = _WIDEST + _WIDER * budget * (shape.exponent + 1)
    return np.array(np.minimum(wide, most))


def _fit_levels(parts: Sequence[DiscretizedEvent], cells: Sequence[Array]) -> tuple[float, list[Array]]:
    """Return a unit, and widths that are a power of 2^_STRIDE of it instead of those of ``cells``, with few points for their error.

    Widths w for which points cost as much as they save have an error of h^2/w^3 along the line where cells are h wide, and 1/h points.
    """
    lengths, wanted = np.concatenate([np.diff(part.places) for part in parts]), np.concatenate(list(cells))
    best, unit, times = inf, 1.0, 1.0
    for k in range(_UNITS):
        base = float(np.min(wanted)) * 2.0 ** (k * _STRIDE / _UNITS)
        levelled = _to_levels(wanted, base)
        points, error = float(np.sum(lengths / levelled)), float(np.sum(lengths * levelled**2 / wanted**3))
        if points * sqrt(error) < best:
            best, unit, times = points * sqrt(error), base, sqrt(_LEVELLED * float(np.sum(lengths / wanted)) / error)
    made = [_to_levels(widths, unit) * times for widths in cells]
    finest = min(float(np.min(widths)) for widths in made)
    return finest, made


def _to_levels(widths: Array, unit: float) -> Array:
    return np.array(unit * 2.0 ** (np.floor(np.log2(widths / unit) / _STRIDE) * _STRIDE))


def _floors(part: DiscretizedEvent, shape: Shape, unit: Fraction, widths: Array, budget: float, *, exact: bool) -> list[int]:
    """Return the level below which nothing stays after each squaring: what is lost is about the same each time, and ``budget`` in all.

    After k squarings cells of a width h raise ε by count 2^−k (exponent + 1) h²/8, at most by half of them, but for what has such cells
    already, or still lies at a place of the lattice: at the edge, or at an end. The laws of other events are brought to these cells once.
    """
    shares = np.maximum(part.tilt(shape.exponent)[1], part.masses)  # what shares a place with an atom is taken for a part of it
    count, most = part.event.count, floor(log2(float(part.ends[1] - part.ends[0]) / float(unit))) + 0.5 if part.ends else 60.0
    middle = (part.places[:-1] + part.places[1:]) / 2
    away = np.min([np.abs(middle - float(x)) for x in part.ends or (part.edge,)], axis=0)
    losses = list[tuple[int, float, float]]()  # of each level that is lifted to: what moves, and by how much it raises ε
    for level in range(_STRIDE, _MOST_LEVEL, _STRIDE):
        h = float(unit) * 2.0**level
        if h > _COARSEST_LATTICE:
            break
        moved = float(np.sum(shares * np.minimum(away / h, 1.0) * (widths < h))) if exact and level <= most else 1.0
        losses.append((level, moved, min(h * h / 8, h / 2 / (shape.exponent + 1))))
    once, floors, spent = budget, list[int](), 2 * budget
    while spent > budget:
        floors, spent = [0], 0.0
        for k in range(1, count.bit_length()):
            done = count >> (count.bit_length() - 1 - k)
            uses = (1.0 + done % 2) / done  # so many powers are lifted, and the law of one use with some of them
            allowed = [
                (level, lost)
                for level, moved, h in losses
                if (lost := max(count * min(uses, moved), float(len(shape.parts) > 1)) * h) <= once and level > floors[-1]
            ]
            floors.append(allowed[-1][0] if allowed else floors[-1])
            spent += allowed[-1][1] if allowed else 0.0
        once /= 1.5
    return floors[1:]


def _steps(first: int, last: int, places: Array, widths: Array, *, whole: bool) -> tuple[int, list[list[int]]]:
    """Return the first place, and levels and numbers of equal steps, as wide as they may be, to the last place or, if not whole, beyond."""
    levels = [max(0, floor(log2(w) + _LITTLE) // _STRIDE * _STRIDE) if w > 1 else 0 for w in widths]

    ends = places.tolist()

    def most(low: int, high: int) -> int:
        i, j = bisect_right(ends, low) - 1, bisect_left(ends, high)
        return min(levels[max(i, 0) : max(j, 1)] or [levels[-1]])

    begin = levels[0]
    at = start = first >> begin << begin
    steps = list[list[int]]()
    while at < last:
        level = min(max(most(at, at + 1), 0), _MOST_LEVEL)
        while level and (at % (1 << level) or (whole and at + (1 << level) > last) or most(at, at + (1 << level)) < level):
            level -= min(_STRIDE, level)
        if steps and steps[-1][0] == level:
            steps[-1][1] += 1
        else:
            steps.append([level, 1])
        at += 1 << level
    return start, steps


def count_points(grid: Mapping[str, Any]) -> int:
    """Return the number of points of a grid."""
    return sum(number for entry in grid["events"] for _, number in entry["steps"])


def _log(x: Decimal) -> float:
    """Return the logarithm of a number that may be too large for a float."""
    return log(float(x.scaleb(-x.adjusted()))) + x.adjusted() * log(10)


def _round_down(x: Decimal) -> Fraction:
    return Fraction(floor(x.scaleb(25)), 10**25)


def _three_digits(x: float) -> Fraction:
    scale = Fraction(10) ** (2 - floor(log10(x)))
    return floor(x * scale) / scale
