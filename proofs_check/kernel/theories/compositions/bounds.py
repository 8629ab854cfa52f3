"""Compositions: recomputes a bound on delta at epsilon for many events from nothing but the events, in exact integer arithmetic."""
# Proofs: docs/composition-bounds.md, whose sections are named below. What a certificate says about the grid changes how sharp a bound is,
# never whether it holds: each step replaces a law of losses by one whose curve delta(epsilon) is nowhere below ("upper") or above it.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from functools import partial

from ...core.documents import Meter, read_fields, read_integer, read_list, require
from ...core.terms import meter
from ...core.theorems import Premise, Premises, Proof, rule
from ...reading import read_number as read_any_number
from . import curves
from .batches import Batches, read_batches
from .lattices import MOST_CELLS, SLACK, Curve, Lattice, LossDistributions, Points, count_bits, precision

_MOST_EVENTS, _MOST_LEVEL, _FARTHEST = 64, 60, 10**18
_MOST_BITS = 640  # of a numerator or denominator
_MOST_PLACES = 320  # of a number that stands for a mass
_MOST_LOSS = 8 * 10**8  # whose exponential is a number (section 11)
_LOGARITHM = 110_000  # nanoseconds that a largest loss on a sample takes
Made = Callable[[Meter], curves.Base]  # the meter pays for tables
End = tuple[Fraction | None, Fraction]  # of a law: no finite loss is larger, if there is such a number; the mass at infinity


@dataclass(frozen=True, slots=True)
class Event:
    """A base mechanism, its reverse, the probability with which Poisson sampling takes a record, and how often all that is used."""

    base: Made
    reverse: Made
    q: Fraction
    count: int
    rho: Fraction | None = None  # of a mechanism of which only its zCDP is known
    ends: tuple[End, End] = ((None, Fraction(0)), (None, Fraction(0)))  # of the base and of its reverse
    m: Fraction | None = None  # of Gaussian noise on all records: the mean of the loss is m/2
    batches: Batches | None = None  # where they are no Poisson samples of add-remove: all of the curve is theirs

    def curve(self, *, remove: bool, up: bool, order: Fraction | None = None, linear: object = None, meter: Meter | None = None) -> Curve:
        """Return the curve of one use, in the current decimal context; of zcdp an upper one at an order, or a lower one."""
        if self.batches is not None:
            require(order is None, "batches have no order")
            return self.batches.curve(remove=remove, up=up, linear=linear, meter=meter or Meter())
        require(linear is None, "only random allocation has a lattice of its own")
        require((order is not None) is (self.rho is not None and up), "an upper bound for zcdp has an order, and nothing else has one")
        if self.rho is None or order is None:
            return curves.sampled((self.base if remove else self.reverse)(meter or Meter()), self.q, remove=remove)
        return curves.sampled(curves.renyi(self.rho, order), self.q, remove=remove)

    def delta(
        self, *, remove: bool, up: bool, order: Fraction | None = None, linear: object = None, meter: Meter | None = None
    ) -> Callable[[Fraction], Decimal]:
        """Return the curve of one use as delta at an epsilon, in the current decimal context and within its error."""
        if self.m is not None:
            require(order is None and linear is None, "Gaussian noise on all records needs neither")
            return curves.gaussian_delta(self.m, meter or Meter())
        curve = self.curve(remove=remove, up=up, order=order, linear=linear, meter=meter)

        def delta(epsilon: Fraction) -> Decimal:
            a = _exponential(epsilon)
            v, s = curve(a)
            return v - a * s

        return delta

    def end(self, *, remove: bool, up: bool) -> End:
        """Return the end of the law of one use, its largest loss from above or below (section 13)."""
        if self.batches is not None:  # where there may be an end it is not computed, and lies above 0
            return Fraction(0) if self.batches.has_end(remove=remove) and not up else None, Fraction(0)
        loss, mass = self.ends[0 if remove else 1]
        if self.q == 1 or (remove and loss is None):
            return loss, self.q * mass
        with localcontext(curves.context(80)):
            sign, far = 1 if remove else -1, Decimal(0)
            if loss is not None and (remove or not mass):
                far = curves.decimal(self.q) * _exponential(sign * loss)
            loss = Fraction(sign * (curves.decimal(1 - self.q) + far).ln()) + Fraction(1 if up else -1, 10**60)
            return loss, self.q * mass if remove else Fraction(0)


_NOISE, _SCALE, _LOSS, _BOTH = {"noise_multiplier"}, {"scale"}, {"epsilon"}, {"epsilon_remove", "delta_remove", "delta_add"}
_PARAMETERS = {"gaussian": _NOISE, "discrete-gaussian": _NOISE, "laplace": _SCALE, "discrete-laplace": _SCALE, "zcdp": {"rho"}}
_PARAMETERS |= {"pure": _LOSS, "randomized-response": _LOSS, "approximate": {"epsilon", "delta"}, "two-sided": _BOTH}


def read_number(word: object) -> Fraction:
    """Read a number whose arithmetic takes a moderate time."""
    return _moderate(read_any_number(word))


def _moderate(number: Fraction) -> Fraction:
    require(max(number.numerator.bit_length(), number.denominator.bit_length()) <= _MOST_BITS, "a number has too many digits")
    return number


def read_composition(value: object) -> list[Event]:
    """Read the events of a composition that has a name."""
    about = read_fields(value, {"name", "events"})
    require(isinstance(about["name"], str) and len(about["name"]) <= 1000, "the name must be a string of moderate length")
    return read_events(about["events"])


def read_events(value: object) -> list[Event]:
    """Read the events; Gaussian ones on all records are one, before all others (section 7), zcdp ones are one after them (Lemma 9)."""
    m, rho, events, zero, neighbors, of_a_change = Fraction(0), Fraction(0), list[Event](), Fraction(0), set[str](), False
    require(0 < len(read_list(value)) <= _MOST_EVENTS, "there are no events, or too many")
    for item in read_list(value):
        if "sampling" in read_fields(item):
            batches, count = read_batches(item)
            neighbors.add(batches.neighbors)
            require(len(neighbors) == 1, "one composition has one kind of neighbors")
            if batches.sampling == "none":
                m += count * batches.whole
                continue
            made = partial(curves.gaussian, batches.m)
            events.append(Event(made, made, Fraction(1), count, batches=batches))
            continue
        kind = read_fields(item).get("mechanism")
        require(isinstance(kind, str) and kind in _PARAMETERS, "unknown mechanism")
        required = {"mechanism", "sampling_probability", "count"} | _PARAMETERS[str(kind)]
        fields = read_fields(item, required, frozenset({"epsilon_add"} if kind == "two-sided" else ()))
        number = {name: read_number(fields[name]) for name in sorted(fields.keys() - {"mechanism", "count"})}
        q, count = number.pop("sampling_probability"), read_integer(fields["count"], 1, 10**9)
        noise, delta = number.get("noise_multiplier", zero), number.get("delta", zero)
        require(0 < q <= 1 and all(x >= 0 for x in number.values()), "a number is out of range")
        of_a_change |= q < 1 or kind == "gaussian"
        require(noise or number.get("scale") or not fields.keys() & {"noise_multiplier", "scale"}, "the noise must be positive")
        require(all(x < 1 for name, x in number.items() if name.startswith("delta")), "a delta must be below 1")
        if kind == "gaussian" and q == 1:
            m += count / noise**2
            continue
        if kind == "zcdp":
            require(q == 1, "zcdp says nothing about samples")
            rho += count * number["rho"]
            continue
        loss = 1 / number["scale"] if "scale" in number else number.get("epsilon")
        there, back = (loss, delta), (loss, delta)
        if kind == "two-sided":
            there, back = (number["epsilon_remove"], number["delta_remove"]), (number.get("epsilon_add"), number["delta_add"])
        if kind == "gaussian":
            both = [partial(curves.gaussian, 1 / noise**2)] * 2
        elif kind == "laplace":
            both = [partial(curves.laplace, 1 / number["scale"])] * 2
        elif kind == "discrete-gaussian":
            both = [partial(curves.discrete_gaussian, noise**2)] * 2
        else:
            both = [partial(curves.two_sided, *there, *back), partial(curves.two_sided, *back, *there)]
        events.append(Event(both[0], both[1], q, count, ends=(_end(there, back), _end(back, there))))
    # a sample without a name is one of add-remove neighbors, and noise without one is counted in what a change of data moves
    require(not of_a_change or "replace-one" not in neighbors, "beside replaced records samples and normal noise say how they are drawn")
    first = [_once(partial(curves.gaussian, m), m=m)] if m else []
    if not (m or rho or events):  # nothing is lost
        events.append(_once(partial(curves.two_sided, zero, zero, zero, zero), end=(zero, zero)))
    return first + events + ([_once(partial(curves.gaussian, 2 * rho), rho)] if rho else [])


def _exponential(loss: Fraction) -> Decimal:
    require(abs(loss) <= _MOST_LOSS, "a loss is out of range")
    return curves.decimal(loss).exp()


def _end(there: End, back: End) -> End:
    # of the worst pair with H(P, Q) <= d at exp(e), there, and H(Q, P) <= d' at exp(e'), back (Theorem 7)
    return back if back == (Fraction(0), Fraction(0)) else there


def _once(base: Made, rho: Fraction | None = None, m: Fraction | None = None, end: End = (None, Fraction(0))) -> Event:
    return Event(base, base, Fraction(1), 1, rho=rho, m=m, ends=(end, end))


def compose(
    events: Sequence[Event], grid: object, *, remove: bool, up: bool, meter: Meter | None = None
) -> tuple[Lattice, LossDistributions]:
    """Return the lattice that a certificate names, and the laws of the composition of events in one direction, on one side."""
    fields = read_fields(grid, {"digits", "unit", "tails", "events"})
    bits, unit = count_bits(read_integer(fields["digits"], 1, _MOST_PLACES)), read_number(fields["unit"])
    few, many = map(read_number, read_list(fields["tails"], 2))
    require(Fraction(1, 10**15) <= unit <= 10**6 and 0 <= few <= 1 and 0 <= many <= 1, "a number of the grid is out of range")
    lattice, whole = Lattice(up, bits, unit, (few, many), meter or Meter()), list[LossDistributions]()
    with localcontext(curves.context(precision(bits, unit))):
        for event, value in zip(events, read_list(fields["events"], len(events)), strict=True):
            part = read_fields(value, {"offset", "start", "steps", "floors"}, frozenset({"order", "linear"}))
            offset, floors = read_number(part["offset"]), [read_integer(level, 0, _MOST_LEVEL) for level in read_list(part["floors"])]
            points = _read_points(part["start"], part["steps"], lattice.meter)
            require(abs(offset) <= 10**6 and max(-points[0][0], points[-1][0]) * unit <= 10**7, "a number of the grid is out of range")
            order = read_number(part["order"]) if "order" in part else None
            curve = event.curve(remove=remove, up=up, order=order, linear=part.get("linear"), meter=lattice.meter)
            laws = lattice.discretise(curve, offset, points)
            power = lattice.power(lattice.trim(laws, Fraction(1, event.count)), event.count, floors)
            whole = [lattice.trim(lattice.multiply(whole[0], power), Fraction(1)) if whole else power]
    return lattice, whole[0]


def _read_points(start: object, steps: object, meter: Meter) -> Points:
    # from the first place on, for each level and number so many steps of 2^level, each to a place of its level
    points, at = list[tuple[int, int]](), read_integer(start, -_FARTHEST, _FARTHEST)
    for step in read_list(steps):
        pair = read_list(step, 2)
        level, number = read_integer(pair[0], 0, _MOST_LEVEL), read_integer(pair[1], 1, MOST_CELLS)
        require(at % (1 << level) == 0 and len(points) + number < MOST_CELLS, "a place is not on its level, or there are too many")
        meter.work(500 * number)
        points += [(at + (k << level), level) for k in range(0 if not points else 1, number + 1)]
        at = points[-1][0]
    require(len(points) > 1, "the grid has no cells")
    return points


def closed_form(
    event: Event,
    epsilon: Fraction,
    digits: int,
    *,
    remove: bool,
    up: bool,
    order: Fraction | None = None,
    linear: object = None,
    meter: Meter | None = None,
) -> Fraction:
    """Return a bound on delta at epsilon for one event that is used once."""
    require(event.count == 1, "only one use has a closed form")
    with localcontext(curves.context(digits + curves.GUARD)):
        (meter or Meter()).work(curves.POINT * (2400 + getcontext().prec ** 2))
        delta = event.delta(remove=remove, up=up, order=order, linear=linear, meter=meter)(epsilon)
        return Fraction(max(int(min(max(delta, Decimal(0)), Decimal(1)).scaleb(digits)) + (SLACK if up else -SLACK), 0), 10**digits)


def find_end(events: Sequence[Event], *, remove: bool, up: bool) -> End:
    """Return the end of the law of the composition: the largest losses of all uses add up, and so, at most, do the masses at infinity."""
    ends = [(event.count, *event.end(remove=remove, up=up)) for event in events]
    losses = [Fraction(count) * loss for count, loss, _ in ends if loss is not None]
    return sum(losses, Fraction(0)) if len(losses) == len(ends) else None, sum((n * mass for n, _, mass in ends), Fraction(0))


@dataclass(frozen=True, slots=True)
class Bound:
    """Of the composition of events, in one direction: delta at epsilon is at most, or at least, so much; or > 0 below epsilon."""

    events: tuple[Event, ...]
    remove: bool
    name: str
    epsilon: Fraction
    delta: Fraction
    verdict: str = "proved"

    def __post_init__(self) -> None:
        require(0 <= self.epsilon <= 10**10 and 0 <= self.delta <= 1, "a number of the claim is out of range")

    @property
    def up(self) -> bool:
        """Whether delta is at most so much."""
        return self.name == "delta-upper"

    def end(self) -> End:
        """Return the largest finite loss, and the mass of infinite loss."""
        meter().work(_LOGARITHM * len(self.events))
        return find_end(self.events, remove=self.remove, up=self.up)

    def ends(self) -> bool:
        """Whether delta is at most so much because no finite loss is above epsilon, or any delta is."""
        loss, mass = self.end()
        return self.delta == 1 or (loss is not None and loss <= self.epsilon and mass <= self.delta)


@rule
def positive(bound: Bound) -> None:
    """Below the largest loss, and where something is lost wholly, delta is positive (Theorem 10)."""
    loss, mass = bound.end()
    require(bound.name == "delta-positive" and bound.delta == 0, "what is positive is above 0, for which no grid is needed")
    require(loss is None or mass or bound.epsilon <= loss, "delta is not shown to be positive below this epsilon")


@rule
def ended(bound: Bound) -> None:
    """From the largest loss on, delta is at most the mass of infinite loss (Theorem 10); no delta is above 1."""
    require(bound.up and bound.ends(), "more may be lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some of the events by their places, a bound on their composition, and what shows it."""

    events: list[int]
    epsilon: Fraction
    bound: Fraction
    proof: Proof


@rule
def joined(bound: Bound, *, parts: list[Group]) -> Premises[None]:
    """The epsilon and the delta of groups of events add up (Theorem 11); and all events lose at least as much as some of them."""
    places = [place for part in parts for place in part.events]
    known = set(range(len(bound.events)))
    require(0 < len(places) == len(known.intersection(places)), "an event is in two groups, or is none")
    epsilon, delta = (sum((getattr(part, name) for part in parts), Fraction(0)) for name in ("epsilon", "bound"))
    if bound.up:
        require(len(places) == len(bound.events), "an event is in no group")
        require(epsilon <= bound.epsilon and delta <= bound.delta, "the epsilon or the delta of the groups add up to more")
    else:
        require(bound.name == "delta-lower", "this rule is about bounds")
        require(len(parts) == 1 and epsilon >= bound.epsilon and delta >= bound.delta, "one group alone does not lose so much")
    for part in parts:
        events = tuple(bound.events[place] for place in part.events)
        yield Premise(Bound(events, bound.remove, bound.name, part.epsilon, part.bound), part.proof)


@rule
def computed(bound: Bound, *, grid: Proof | None = None, order: Fraction | None = None, linear: Proof | None = None) -> None:
    """The curve of the composition is on this side of the one on a grid, or of the closed form of one use (Theorems 2 to 8)."""
    require(bound.name != "delta-positive", "this rule is about bounds")
    if grid is not None:
        require(order is None, "the order of an event belongs to its grid")
        require(linear is None, "the lattice of an epoch belongs to its grid")
        require(bound.epsilon <= _MOST_LOSS, "the epsilon of the claim is out of range")
        lattice, laws = compose(bound.events, grid.source, remove=bound.remove, up=bound.up, meter=meter())
        delta = lattice.delta(laws, bound.epsilon)
    else:
        require(len(bound.events) == 1, "more than one event needs a grid")
        places = min(Decimal(bound.delta.denominator).adjusted() + 1, _MOST_PLACES) + 20
        order = None if order is None else _moderate(order)
        own, event = None if linear is None else linear.source, bound.events[0]
        delta = closed_form(event, bound.epsilon, places, remove=bound.remove, up=bound.up, order=order, linear=own, meter=meter())
    holds = min(delta, Fraction(1)) <= bound.delta if bound.up else delta >= bound.delta
    require(holds, "delta is not shown to be on this side of the bound")


def state_bound(events: Sequence[Event], value: object) -> tuple[Bound, Mapping[str, object]]:
    """Return what a claim about the composition of events states, and the fields of its proof."""
    claim = read_fields(value, {"claim", "verdict", "direction", "epsilon", "bound"}, frozenset({"grid", "linear", "order", "parts"}))
    name, remove = str(claim["claim"]), claim["direction"] == "remove"
    require(claim["direction"] in ("remove", "add"), "expected remove or add")
    require(name in ("delta-positive", "delta-upper", "delta-lower") and claim["verdict"] == "proved", "unknown claim or verdict")
    bound = Bound(tuple(events), remove, name, read_any_number(claim["epsilon"]), read_any_number(claim["bound"]))
    return bound, {key: claim[key] for key in ("grid", "linear", "order", "parts") if key in claim}
