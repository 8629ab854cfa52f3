"""Compositions: recomputes a bound on delta at epsilon for many events from nothing but the events, in exact integer arithmetic."""
# Proofs: docs/composition-bounds.md, whose sections are named below. What a certificate says about the grid changes how sharp a bound is,
# never whether it holds: each step replaces a law of losses by one whose curve delta(epsilon) is nowhere below ("upper") or above it.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, Inexact, getcontext, localcontext
from fractions import Fraction
from itertools import pairwise

from . import curves
from .syntax import read_choice, read_fields, read_integer, read_list
from .syntax import read_number as read_any_number
from .terms import Meter, require

_MOST_CELLS, _MOST_DIGITS, _MOST_EVENTS = 1 << 19, 2 * 10**7, 64
_MOST_BITS, _WIDEST = 640, 1000  # of a numerator or denominator; nats in a cell whose exponential becomes an integer
_MOST_PLACES = 320  # of a number that stands for a mass
_CELLS, _WORK = 20, 300  # so many cells, and so many squares of digits of a point of a curve, are one unit of the meter (section 14)
_SLACK = 2  # units by which a mass is moved to its side: more than its error (section 11)
Curve = Callable[[Fraction], tuple[Decimal, Decimal, Decimal]]
End = tuple[Fraction | None, Fraction]  # of a law: no finite loss is larger, if there is such a number; the mass at infinity


@dataclass(frozen=True, slots=True)
class Event:
    """A base mechanism, its reverse, the probability with which Poisson sampling takes a record, and how often all that is used."""

    base: Callable[[], curves.Base]
    reverse: Callable[[], curves.Base]
    q: Fraction
    count: int
    size: int = 1  # of a table of its law, in units of its noise
    rho: Fraction | None = None  # of a mechanism of which only its zCDP is known
    ends: tuple[End, End] = ((None, Fraction(0)), (None, Fraction(0)))  # of the base and of its reverse

    def curve(self, *, remove: bool, up: bool, order: Fraction | None = None, meter: Meter | None = None) -> Curve:
        """Return the curve of one use, in the current decimal context; of zcdp an upper one at an order, or a lower one."""
        require((order is not None) is (self.rho is not None and up), "an upper bound for zcdp has an order, and nothing else has one")
        digits = getcontext().prec
        (meter or Meter()).spend((200 * digits + 40 * self.size) * digits // _WORK)
        if self.rho is not None and order is not None:
            return curves.sampled(curves.renyi(self.rho, order), self.q, remove=remove)
        return curves.sampled(self.base() if remove else self.reverse(), self.q, remove=remove)

    def end(self, *, remove: bool, up: bool) -> End:
        """Return the end of the law of one use, its largest loss from above or below (section 13)."""
        loss, mass = self.ends[0 if remove else 1]
        if self.q == 1 or (remove and loss is None):
            return loss, self.q * mass
        with localcontext(curves.context(80)):
            sign, far = 1 if remove else -1, Decimal(0)
            if loss is not None and (remove or not mass):
                require(loss <= 10**12, "the loss of an event is out of range")
                far = curves.decimal(self.q) * (sign * curves.decimal(loss)).exp()
            found = Fraction(sign * (curves.decimal(1 - self.q) + far).ln())
            return found + Fraction(1 if up else -1, 10**60), self.q * mass if remove else Fraction(0)


_PARAMETERS = {
    "gaussian": {"noise_multiplier"},
    "laplace": {"scale"},
    "discrete-gaussian": {"noise_multiplier"},
    "discrete-laplace": {"scale"},
    "randomized-response": {"epsilon"},
    "pure": {"epsilon"},
    "approximate": {"epsilon", "delta"},
    "zcdp": {"rho"},
    "two-sided": {"epsilon_remove", "delta_remove", "delta_add"},
}


def read_number(word: object) -> Fraction:
    """Read a number whose arithmetic takes a moderate time."""
    number = read_any_number(word)
    require(max(number.numerator.bit_length(), number.denominator.bit_length()) <= _MOST_BITS, "a number has too many digits")
    return number


def read_events(value: object) -> list[Event]:
    """Read the events; Gaussian ones on all records are one, before all others (section 7), zcdp ones are one after them (Lemma 9)."""
    m, rho, events, zero = Fraction(0), Fraction(0), list[Event](), Fraction(0)
    items = read_list(value)
    require(0 < len(items) <= _MOST_EVENTS, "there are no events, or too many")
    for item in items:
        kind = read_fields(item).get("mechanism")
        require(isinstance(kind, str) and kind in _PARAMETERS, "unknown mechanism")
        required = {"mechanism", "sampling_probability", "count"} | _PARAMETERS[str(kind)]
        fields = read_fields(item, required, frozenset({"epsilon_add"} if kind == "two-sided" else ()))
        number = {name: read_number(fields[name]) for name in fields.keys() - {"mechanism", "count"}}
        q, count = number.pop("sampling_probability"), read_integer(fields["count"], 1, 10**9)
        noise, delta = number.get("noise_multiplier", zero), number.get("delta", zero)
        require(0 < q <= 1 and all(x >= 0 for x in number.values()), "a number is out of range")
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
            both = [_later(curves.gaussian, 1 / noise**2)] * 2
        elif kind == "laplace":
            both = [_later(curves.laplace, 1 / number["scale"])] * 2
        elif kind == "discrete-gaussian":
            both = [_later(curves.discrete_gaussian, noise**2)] * 2
        else:
            both = [_later(curves.two_sided, *there, *back), _later(curves.two_sided, *back, *there)]
        size, ends = 1 + int(noise) if kind == "discrete-gaussian" else 1, (_end(there, back), _end(back, there))
        events.append(Event(both[0], both[1], q, count, size, ends=ends))
    first = [_once(_later(curves.gaussian, m))] if m else []
    if not (m or rho or events):  # nothing is lost
        events.append(_once(_later(curves.two_sided, zero, zero, zero, zero)))
    return first + events + ([_once(_later(curves.gaussian, 2 * rho), rho)] if rho else [])


def _end(there: End, back: End) -> End:
    # of the worst pair with H(P, Q) <= d at exp(e), there, and H(Q, P) <= d' at exp(e'), back (Theorem 7)
    return back if back == (Fraction(0), Fraction(0)) else there


def _once(base: Callable[[], curves.Base], rho: Fraction | None = None) -> Event:
    return Event(base, base, Fraction(1), 1, rho=rho)


def _later(make: Callable[..., curves.Base], *numbers: Fraction | None) -> Callable[[], curves.Base]:
    return lambda: make(*numbers)


@dataclass(slots=True)
class Law:
    """A law of losses: cells[i] units of mass at loss (low + i) unit 2^level, and beyond at infinity; one unit is 10^-digits."""

    level: int
    low: int
    cells: list[int]
    beyond: int = 0


@dataclass(slots=True)
class Lattice:
    """The side on which laws are rounded, the digits of a unit of mass, and the width of a cell on level 0."""

    up: bool
    digits: int
    unit: Fraction
    tails: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))  # the mass that may be cut off at the low and at the high end
    meter: Meter = field(default_factory=Meter)

    def width(self, level: int) -> Fraction:
        """Return the width of a cell."""
        return self.unit * Fraction(2) ** level

    def discretise(self, curve: Curve, level: int, offset: Fraction, points: list[int]) -> Law:
        """Return a law on the given points of a level, moved by the offset (sections 4 and 5)."""
        h, values, start = self.width(level), list[Decimal](), Decimal(1)
        self.meter.spend((len(points) + 1) * (1500 + getcontext().prec ** 2) // _WORK + (points[-1] - points[0]) // _CELLS)
        error = Decimal(10) ** (curves.GUARD - _precision(self.digits, h))
        if self.up:
            for i in points:
                a, v, s = curve(offset + i * h)
                values.append(v - a * s + error)
            beyond = values[-1]
        else:
            points, values, start, beyond = self._below(curve, h, offset, points, error)
        cells = [0] * (points[-1] - points[0] + 1)
        powers = {g: curves.decimal(g * h).exp() for g in {j - i for i, j in pairwise(points)}}
        for k, i in enumerate(points):
            mass = (values[k - 1] - values[k]) / (1 - 1 / powers[i - points[k - 1]]) if k else start - values[k]
            mass += (values[k + 1] - values[k]) / (powers[points[k + 1] - i] - 1) if k + 1 < len(points) else 0
            cells[i - points[0]] = self._units(mass)
        return Law(level, points[0], cells, self._units(beyond))

    def _units(self, mass: Decimal) -> int:
        return max(int(mass.scaleb(self.digits)) + (_SLACK if self.up else -_SLACK), 0)

    def _below(
        self, curve: Curve, h: Fraction, offset: Fraction, points: list[int], error: Decimal
    ) -> tuple[list[int], list[Decimal], Decimal, Decimal]:
        # tangents between the points (the last but one at the last point, where there may be an atom), of the curve of the losses up to
        # the last tangent's; their lower envelope at the points; its hull. A last tangent that is constant tells what is at infinity
        middles = [Fraction(i + j, 2) for i, j in pairwise(points[:-1])]
        between = [points[0] - Fraction(1, 2), *middles, Fraction(points[-1]), points[-1] + Fraction(1, 2)]
        lines = [curve(offset + x * h) for x in between]
        _, v_end, s_end = lines[-1]
        lines = [(a, v - v_end, s - s_end) for a, v, s in lines]
        hull, start = [(-1, Decimal(0), lines[0][1] - 8 * error)], lines[0][1] - 8 * error
        for k, i in enumerate(points):
            (a, v, s), (_, v_next, s_next) = lines[k], lines[k + 1]
            ratio = curves.decimal((i - between[k]) * h).exp()
            place, allowance = a * ratio, 8 * error * (1 + ratio)
            left, right = v - place * s - allowance, v_next - place * s_next - allowance
            last = min(left, right) < 0
            if last and left < 0:
                require(len(hull) > 1, "the grid is too coarse")
                self._append(hull, (*hull.pop()[:2], Decimal(0)), error.scaleb(-8))
                break
            self._append(hull, (k, place, Decimal(0) if last else min(left, right)), error.scaleb(-8))
            if last:
                break
        return [points[k] for k, _, _ in hull[1:]], [value for _, _, value in hull[1:]], start, Decimal(0) if s_end else v_end

    @staticmethod
    def _append(hull: list[tuple[int, Decimal, Decimal]], new: tuple[int, Decimal, Decimal], margin: Decimal) -> None:
        # add a last vertex, and take away those before it at which the line does not bend upward by a margin
        while len(hull) > 1:
            (_, a, x), (_, b, y) = hull[-2:]
            if (y - x) * (new[1] - b) + margin * (new[1] - a) < (new[2] - y) * (b - a):
                break
            hull.pop()
        hull.append(new)

    def multiply(self, x: Law, y: Law) -> Law:
        """Return the law of the sum of two independent losses; one is brought to the level of the other (section 3)."""
        x, y = self.lift(x, y.level), self.lift(y, x.level)
        n, scale = len(x.cells) + len(y.cells) - 1, 10**self.digits
        width, totals = 2 * self.digits + 1, (sum(x.cells), sum(y.cells))
        require(n <= _MOST_CELLS and n * width <= _MOST_DIGITS, "the grid is too large")
        self.meter.spend(n * (width + _CELLS) // (10 * _CELLS))
        require(max(totals) + x.beyond + y.beyond <= 2 * scale, "a law has too much mass")
        exact = Context(n * width + 1, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, 1, 0, [], [Inexact])
        # integers are packed into the digits of one number, whose product has all the sums of products in its digits
        packed = Decimal("".join([f"{c:0{width}d}" for c in x.cells]))
        other = packed if y.cells is x.cells else Decimal("".join([f"{c:0{width}d}" for c in y.cells]))
        text = str(exact.multiply(packed, other)).zfill(n * width)
        sums = [int(text[i : i + width]) for i in range(0, n * width, width)]
        cells = [-(-c // scale) for c in sums] if self.up else [c // scale for c in sums]
        beyond = x.beyond * (totals[1] + y.beyond) + totals[0] * y.beyond
        return Law(x.level, x.low + y.low, cells, -(-beyond // scale) if self.up else beyond // scale)

    def lift(self, law: Law, level: int) -> Law:
        """Return a law on a coarser level, if the level is coarser (section 12)."""
        while law.level < level:
            law = self._double(law)
        return law

    def _double(self, law: Law) -> Law:
        cells, low = ([0] if law.low % 2 else []) + law.cells, law.low - law.low % 2
        cells += [0] * (1 + len(cells) % 2)  # even places first and last
        even, odd, scale = cells[::2], cells[1::2], 10 ** (self.digits + 6)
        require(self.width(law.level) <= _WIDEST, "a cell is too wide to be merged with its neighbor")
        r = curves.decimal(self.width(law.level)).exp()
        left = int((1 / (1 + r)).scaleb(self.digits + 6)) + 1  # of an odd cell's mass, what goes to the place below, rounded up
        if self.up:
            right = scale - left + 2
            for i, o in enumerate(odd):
                if o:
                    even[i] += o * left // scale + 1
                    even[i + 1] += o * right // scale + 1
            return Law(law.level + 1, low // 2, even, law.beyond)
        factor, u = int(r.scaleb(self.digits + 6)) + 1, 0  # u waits at the odd place before
        for i, o in enumerate(odd):
            need = -(-u * factor // scale)
            take = min(need, o)
            matched = u if take == need else take * scale // factor
            even[i] += matched + take
            even[i - 1] += u - matched
            after = odd[i + 1] if i + 1 < len(odd) else 0
            u = min(o - take, (o + after) * left // (2 * scale)) if after else 0
            even[i] += o - take - u
        return Law(law.level + 1, low // 2, even, law.beyond)

    def trim(self, law: Law, share: Fraction) -> Law:
        """Return the law without cells at its ends that hold at most this share of the tails: moved up, or dropped (section 3)."""
        cells, above, below, first = law.cells, 0, 0, 0
        last, (few, many) = len(cells), (int(tail * share * 10**self.digits) for tail in self.tails)
        while last > 1 and above + cells[last - 1] <= many:
            last -= 1
            above += cells[last]
        while first < last - 1 and below + cells[first] <= few:
            below += cells[first]
            first += 1
        cells = cells[first:last]
        if self.up:
            cells[0] += below
        return Law(law.level, law.low + first, cells, law.beyond + (above if self.up else 0))

    def power(self, law: Law, count: int, doublings: list[int]) -> Law:
        """Return the law of a sum of independent losses with this law, by squaring; after each, the level rises as it is told."""
        require(len(doublings) == count.bit_length() - 1, "the doublings are not as many as the squarings")
        once, result, done = law, law, 1
        for bit, double in zip(bin(count)[3:], doublings, strict=True):
            result, done = self.multiply(result, result), 2 * done
            result = self.lift(result, result.level + double)
            once = self.lift(once, result.level)
            if bit == "1":
                result, done = self.multiply(result, once), done + 1
            result = self.trim(result, Fraction(done, count))
        return result

    def delta(self, law: Law, offset: Fraction, epsilon: Fraction) -> Fraction:
        """Return a bound on delta at epsilon: the sum of mass (1 - exp(epsilon - loss)) where that is positive, and what is beyond."""
        h, total = self.width(law.level), Decimal(law.beyond)
        first = max((epsilon - offset) // h + 1 - law.low, 0)
        y, step = curves.decimal(epsilon - offset - (law.low + first) * h).exp(), (-curves.decimal(h)).exp()
        for mass in law.cells[first:]:
            total += mass * (1 - y)
            y *= step
        return Fraction(self._units(total.scaleb(-self.digits)), 10**self.digits)


def _precision(digits: int, h: Fraction) -> int:
    return digits + curves.GUARD + len(str(1 + int(1 / h))) + 3


def _points(low: int, high: int, centre: int, near: int) -> list[int]:
    # the whole numbers from low to high, far from the centre (by more than 2 near) every second of them, then every fourth, and so on
    result = list[int]()
    for end, sign in ((low, -1), (high, 1)):
        i = 0
        while i < sign * (end - centre):
            i = min(i + (1 << max((i // near).bit_length() - 1, 0)), sign * (end - centre))
            result.append(centre + sign * i)
            require(len(result) <= _MOST_CELLS, "the grid is too large")
    return sorted([*result, centre])


@dataclass(frozen=True, slots=True)
class Composed:
    """The law of the whole composition, moved by an offset, on its lattice."""

    lattice: Lattice
    law: Law
    offset: Fraction
    precision: int

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return the bound on delta at epsilon."""
        with localcontext(curves.context(self.precision)):
            return self.lattice.delta(self.law, self.offset, epsilon)


def compose(events: list[Event], grid: object, *, remove: bool, up: bool, meter: Meter | None = None) -> Composed:
    """Return the law of the composition of events in one direction, rounded to one side, on the grid of a certificate."""
    fields = read_fields(grid, {"digits", "unit", "tails", "events"})
    digits, unit = read_integer(fields["digits"], 1, _MOST_PLACES), read_number(fields["unit"])
    few, many = map(read_number, read_list(fields["tails"], 2))
    require(Fraction(1, 10**15) <= unit <= 10**6 and 0 <= few <= 1 and 0 <= many <= 1, "a number of the grid is out of range")
    lattice, precision = Lattice(up, digits, unit, (few, many), meter or Meter()), _precision(digits, unit)
    whole, shift = Law(0, 0, [10**digits]), Fraction(0)
    with localcontext(curves.context(precision)):
        for event, value in zip(events, read_list(fields["events"], len(events)), strict=True):
            part = read_fields(value, {"offset", "level", "low", "high", "centre", "near", "doublings"}, frozenset({"order"}))
            low, high, centre = (read_integer(part[name], -_MOST_CELLS, _MOST_CELLS) for name in ("low", "high", "centre"))
            require(low <= centre <= high and low < high <= low + _MOST_CELLS, "the grid has no cells, or too many, or no centre")
            level, near = read_integer(part["level"], 0, 60), read_integer(part["near"], 1, _MOST_CELLS)
            offset, doublings = read_number(part["offset"]), [read_integer(d, 0, 10) for d in read_list(part["doublings"])]
            require(abs(offset) <= 10**6 and lattice.width(level) <= 10**6, "a number of the grid is out of range")
            points = _points(low, high, centre, near)
            law = lattice.discretise(event.curve(remove=remove, up=up, order=_order(part), meter=lattice.meter), level, offset, points)
            power = lattice.power(lattice.trim(law, Fraction(1, event.count)), event.count, doublings)
            whole = power if event is events[0] else lattice.trim(lattice.multiply(whole, power), Fraction(1))
            shift += event.count * offset
    return Composed(lattice, whole, shift, precision)


def _order(fields: Mapping[str, object]) -> Fraction | None:
    return read_number(fields["order"]) if "order" in fields else None


def closed_form(
    event: Event, epsilon: Fraction, digits: int, *, remove: bool, up: bool, order: Fraction | None = None, meter: Meter | None = None
) -> Fraction:
    """Return a bound on delta at epsilon for one event that is used once."""
    require(event.count == 1 and digits <= _MOST_PLACES + 20, "only one use has a closed form, to a moderate number of places")
    with localcontext(curves.context(digits + curves.GUARD)):
        a, v, s = event.curve(remove=remove, up=up, order=order, meter=meter)(epsilon)
        units = int(min(max(v - a * s, Decimal(0)), Decimal(1)).scaleb(digits))
        return Fraction(max(units + (_SLACK if up else -_SLACK), 0), 10**digits)


def find_end(events: list[Event], *, remove: bool, up: bool) -> End:
    """Return the end of the law of the composition: the largest losses of all uses add up, and so, at most, do the masses at infinity."""
    ends = [(event.count, *event.end(remove=remove, up=up)) for event in events]
    losses = [Fraction(count) * loss for count, loss, _ in ends if loss is not None]
    return sum(losses, Fraction(0)) if len(losses) == len(ends) else None, sum((n * mass for n, _, mass in ends), Fraction(0))


def check_composition(events: list[Event], value: object, meter: Meter | None = None) -> tuple[str, str, str]:
    """Check one claim: at epsilon, delta of the composition is at most (at least) so much in one direction, or positive below epsilon."""
    claim = read_fields(value, {"claim", "verdict", "direction", "epsilon", "bound"}, frozenset({"grid", "order"}))
    name, remove = str(claim["claim"]), read_choice(claim["direction"], "remove", "add")
    up = name != "delta-positive" and read_choice(name, "delta-upper", "delta-lower")
    require(claim["verdict"] == "proved", "unknown claim or verdict")
    epsilon, bound = read_any_number(claim["epsilon"]), read_any_number(claim["bound"])
    require(0 <= epsilon <= 10**10 and 0 <= bound <= 1, "a number of the claim is out of range")
    (loss, mass), plain = find_end(events, remove=remove, up=up), claim.keys().isdisjoint({"grid", "order"})
    if name == "delta-positive":
        require(plain and bound == 0, "what is positive is above 0, for which no grid is needed")
        require(loss is None or mass or epsilon <= loss, "delta is not shown to be positive below this epsilon")
        return name, "proved", "0"
    if plain and up and loss is not None and loss <= epsilon and mass <= bound:
        found = mass
    elif "grid" in claim:
        require("order" not in claim, "the order of an event belongs to its grid")
        found = compose(events, claim["grid"], remove=remove, up=up, meter=meter).delta(epsilon)
    else:
        require(len(events) == 1, "more than one event needs a grid")
        places = len(str(bound.denominator)) + 20
        found = closed_form(events[0], epsilon, places, remove=remove, up=up, order=_order(claim), meter=meter)
    require(min(found, 1) <= bound if up else found >= bound, "delta is not shown to be on this side of the bound")
    return name, "proved", str(claim["bound"])
