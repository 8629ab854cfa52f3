"""Shapes: about how the losses of a composition are distributed, and at which exponent and ε. Nothing here is trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import exp, floor, log, log1p, log10, sqrt

import numpy as np

from accountant.compositions.allocations import plan_allocation
from accountant.compositions.events import Composition, Direction, Event, MechanismKind
from profiles import Undecided
from profiles.arrays import Floats
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent

#: Below this ε the two sides are as far apart as they are at it.
LEAST_EPSILON = Fraction(1, 1000)
_MOST_LOSS = 10**7
#: Intervals are halved, in so many rounds, until what the spread of losses in each adds to ε is at most this part of it.
_SPREAD, _ROUNDS, _SCALES = 0.003, 14, 45
_STEPS = 30  # of the search for an exponent: to six digits
_NEXT = Fraction(1, 10**9)
_GOLDEN = (sqrt(5) - 1) / 2
_COARSER = -3  # by so many halvings is the lattice of an epoch coarser on which its losses are looked at


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
    places: Floats
    masses: Floats
    losses: Floats
    ends: tuple[Fraction, Fraction] | None
    atoms: tuple[float, float]
    edge: Fraction
    order: Fraction | None

    def tilt(self, exponent: float) -> tuple[float, Floats, Floats]:
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
    return 1 + to_three_digits(exp(low))


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


def _log(x: Decimal) -> float:
    """Return the logarithm of a number that may be too large for a float."""
    return log(float(x.scaleb(-x.adjusted()))) + x.adjusted() * log(10)


def _round_down(x: Decimal) -> Fraction:
    return Fraction(floor(x.scaleb(25)), 10**25)


def to_three_digits(x: float) -> Fraction:
    """Return a positive number rounded down to three digits."""
    scale = Fraction(10) ** (2 - floor(log10(x)))
    return floor(x * scale) / scale
