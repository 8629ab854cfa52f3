"""Batches of Gaussian noise as they are drawn: curves of one step, or of one epoch, for the neighbors that an event names."""
# Proofs: docs/batches.md, whose sections are named below. A record is a vector of norm at most 1, the noise has 1/sigma^2 = m = mu^2. Where
# the worst data of one use are not known to be the worst of many, the upper side has the supremum over all data, which is the curve of a
# pair, and the lower side the curve of some data.

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

from ...core.documents import Meter, Rejected, read_fields, read_integer, require
from ...reading import read_number as read_any_number
from . import curves
from .allocations import allocation, replacement

_MOST, _ONE, _ZERO, _LARGEST = 10**9, Decimal(1), Decimal(0), 9 * 10**8  # a number whose exponential is one
_MOST_TERMS, _TURNS, _HALVES = 400, 200, 24  # of a mixture; of searches for roots, sharp ones and rough ones
_ROUGH, _FINDING, _DRAW, _FAR = 24, 2_500_000, 2_000, 300  # digits to tell outcomes, and nanoseconds; of a draw; places of a ratio
_SIZES = {"none": set[str](), "poisson": {"sampling_probability", "group_size"}, "fixed-size": {"records", "batch_size"}}
_SIZES |= {"with-replacement": _SIZES["fixed-size"], "truncated-poisson": {"records", "batch_size", "limit"}}
_SIZES |= {"random-allocation": {"steps_per_epoch"}, "shuffle": {"steps_per_epoch"}}
_NEIGHBORS = ("add-remove", "replace-one", "zero-out")
_KNOWN = {"with-replacement": ("add-remove", "replace-one")}


@dataclass(frozen=True, slots=True)
class Batches:
    """How the batches of one use are drawn, which data sets are neighbors, the noise, and the numbers of the scheme."""

    sampling: str
    neighbors: str
    m: Fraction
    size: dict[str, int]
    q: Fraction = Fraction(0)

    def is_summed(self, *, up: bool) -> bool:
        """Whether the curve is computed on a lattice of its own."""
        return self.sampling == "random-allocation" and (up or self.size["participations"] == 1)

    @property
    def whole(self) -> Fraction:
        """Return 1/sigma^2 in units of what one record, or one in place of another, moves a sum of all records by."""
        return self.m * (4 if self.neighbors == "replace-one" else 1)

    def has_end(self, *, remove: bool) -> bool:
        """Whether there may be a largest loss, which is not computed here; else some data are known that lose without end."""
        return not remove and self.neighbors != "replace-one" and self.sampling not in ("random-allocation", "shuffle")

    def curve(self, *, remove: bool, up: bool, linear: object, meter: Meter) -> curves.Base:
        """Return the curve of one use on a side, in the current decimal context."""
        base = self._curve(remove=remove, up=up, linear=linear, meter=meter)
        return base if up else _finite(base)

    def _curve(self, *, remove: bool, up: bool, linear: object, meter: Meter) -> curves.Base:
        require(linear is None or self.sampling == "random-allocation", "only random allocation has a lattice of its own")
        if self.sampling == "random-allocation":
            return self._allocated(remove=remove, up=up, linear=linear, meter=meter)
        if self.sampling == "shuffle":
            return self._shuffled(remove=remove, up=up, meter=meter)
        if self.sampling == "with-replacement":
            return self._with_replacement(remove=remove, up=up, meter=meter)
        if self.sampling == "truncated-poisson":
            return self._truncated(remove=remove, up=up, meter=meter)
        if self.sampling == "fixed-size":
            return _fixed(self.m, self.q, self.neighbors, remove=remove, up=up, meter=meter)
        k, mu = self.size["group_size"], curves.decimal(self.m).sqrt()
        if k > 1:
            return _mixed(mu, _binomial(k, self.q, meter), meter, remove=remove, replaced=self.neighbors == "replace-one")
        return _poisson(self.m, self.q, self.neighbors, remove=remove, meter=meter)

    def _allocated(self, *, remove: bool, up: bool, linear: object, meter: Meter) -> curves.Base:
        # section 4.6: a use is a part of an epoch with one step of the record; without a lattice the step is told from above, and from
        # below the sum of all outputs
        steps, often = self.size["steps_per_epoch"], self.size["participations"]
        if linear is None:
            return curves.gaussian(self.whole if up else self.whole * often / steps, meter)
        require(self.is_summed(up=up), "from below nothing is added up where a record has several steps")
        if self.neighbors == "replace-one":
            return replacement(self.m, steps // often, linear, up=up, meter=meter)
        return allocation(self.m, steps // often, linear, remove=remove, up=up, meter=meter)

    def _shuffled(self, *, remove: bool, up: bool, meter: Meter) -> curves.Base:
        # section 6: from above one use on all records, or two moves; from below what the largest output of an epoch tells
        remove = remove or self.neighbors == "replace-one"  # either of the two may be the first
        times, shifts = {"zero-out": (1, (2, 1)), "replace-one": (4, (2, 0)), "add-remove": (5, (1, 0))}[self.neighbors]
        if up:
            return curves.gaussian(times * self.m, meter)
        mu, others = curves.decimal(self.m).sqrt(), self.size["steps_per_epoch"] - 1
        high, low = (shift * mu for shift in shifts)
        tail, far = curves.normal_tail(self.m, meter)
        with localcontext(curves.context(_ROUGH)):
            rough_tail, rough_far = curves.normal_tail(self.m, meter)

        def ratio(y: Decimal) -> Decimal:
            # densities of the largest output at y, if one of the steps is moved by high, and if it is by low
            here, there = rough_tail(-y), (y * y / -2).exp()
            above, below = (((y - s) ** 2 / -2).exp() * here + others * rough_tail(s - y) * there for s in (high, low))
            return above / below if below else _ZERO

        def find(a: Decimal) -> Decimal:
            # any place is right, as long as larger a have larger ones
            with localcontext(curves.context(_ROUGH)):
                left, right = Decimal(-rough_far), rough_far + high
                for _ in range(_HALVES):
                    middle = (left + right) / 2
                    left, right = (left, middle) if ratio(middle) > a else (middle, right)
            return right

        def base(a: Decimal) -> tuple[Decimal, Decimal]:
            if a.adjusted() > _FAR:
                return _ZERO, _ZERO  # these outcomes are left out
            y, digits = find(a if remove else 1 / a), getcontext().prec + max(a.adjusted(), 0)
            meter.work(_FINDING + curves.POINT * digits**2)
            with localcontext(curves.context(digits)):  # so that what is left of 1 has the digits that a takes
                rest = ((1 - tail(y) if y > 0 else tail(-y)).ln() * others).exp() if y > -far else _ZERO
                with_it, without = (rest * tail(s - y) for s in (high, low))
                return (1 - with_it, 1 - without) if remove else (without, with_it)

        return base

    def _with_replacement(self, *, remove: bool, up: bool, meter: Meter) -> curves.Base:
        mu, q = 2 * curves.decimal(self.m).sqrt(), Fraction(1, self.size["records"])
        weights = _binomial(self.size["batch_size"], q, meter)
        if self.neighbors == "add-remove":
            return _mixed(mu, weights, meter, remove=remove)
        if not up:
            return _mixed(mu, weights, meter, remove=True)
        tail, _ = curves.normal_tail(4 * self.m, meter)
        rest, rate = weights[0], 1 - weights[0]

        def spread(b: Decimal) -> tuple[Decimal, Decimal]:
            places = [(w, b.ln() / (k * mu) - k * mu / 2, k * mu) for k, w in enumerate(weights) if k]
            whole, other = (sum((w * tail(z + s * side) for w, z, s in places), _ZERO) for side in (0, 1))
            return whole / rate, other / rate

        def at(a: Decimal) -> tuple[Decimal, Decimal]:
            v, s = spread((a - rest) / rate)
            return rest * s + rate * v, s

        return _mirrored(at, at)

    def _truncated(self, *, remove: bool, up: bool, meter: Meter) -> curves.Base:
        # section 5.2: with the probability that a batch is full without the record, and that of the record in a full batch
        full, taken = _fill(self.size["records"], self.q, self.size["limit"], meter)
        if not up:
            mean = Fraction((1 - full) * curves.decimal(self.q) + taken)
            return _poisson(self.m, mean, self.neighbors, remove=remove, meter=meter)
        plain = _poisson(self.m, self.q, self.neighbors, remove=remove, meter=meter)
        if not full:
            return plain
        other = _fixed(self.m, min(Fraction(taken / full), Fraction(1)), self.neighbors, remove=remove, up=True, meter=meter)

        def base(a: Decimal) -> tuple[Decimal, Decimal]:
            (v, s), (w, t) = plain(a), other(a)
            return (1 - full) * v + full * w, (1 - full) * s + full * t

        return base


def _finite(base: curves.Base) -> curves.Base:
    # nothing is lost wholly: outcomes with a mass under Q that is below all numbers are left out, and are not at infinity
    def at(a: Decimal) -> tuple[Decimal, Decimal]:
        v, s = base(a)
        return (v, s) if s else (_ZERO, _ZERO)

    return at


def read_batches(value: object) -> tuple[Batches, int]:
    """Read an event that says how its batches are drawn, and how often it is used: steps, or epochs."""
    kind = str(read_fields(value).get("sampling"))
    require(kind in _SIZES, "unknown sampling")
    often = "epochs" if "steps_per_epoch" in _SIZES[kind] else "count"
    several = frozenset({"participations"} if kind == "random-allocation" else ())
    fields = read_fields(value, {"mechanism", "noise_multiplier", "sampling", "neighbors", often} | _SIZES[kind], several)
    require(fields["mechanism"] == "gaussian", "batches are drawn of records to which Gaussian noise is added")
    neighbors, noise = str(fields["neighbors"]), read_any_number(fields["noise_multiplier"])
    require(neighbors in _KNOWN.get(kind, _NEIGHBORS), "no curve is known for these batches and neighbors")
    require(Fraction(1, 100) <= noise <= 10**6 or (kind == "none" and noise > 0), "the noise is out of range")
    require(max(noise.numerator.bit_length(), noise.denominator.bit_length()) <= 320, "the noise has too many digits")
    size = {name: read_integer(fields[name], 1, _MOST) for name in sorted(_SIZES[kind] - {"sampling_probability"})}
    q = Fraction(size["batch_size"], size["records"]) if "records" in size else Fraction(0)
    require(q < 1, "a batch has fewer records than the data")
    if "sampling_probability" in fields:
        q = read_any_number(fields["sampling_probability"])
        require(Fraction(1, 10**15) <= q < 1 and q.denominator.bit_length() <= 320, "a probability is out of range")
    require(size.get("limit", 0) < min(size.get("records", 1), 10**6 + 1), "the limit of a batch is out of range")
    require(size.get("group_size", 1) <= _MOST_TERMS, "a group is too large")
    require(size.get("steps_per_epoch", 2) > 1, "an epoch has more than one step")
    size |= {name: read_integer(fields.get(name, 1), 1, size["steps_per_epoch"]) for name in several}
    count = read_integer(fields[often], 1, _MOST) * size.get("participations", 1)
    require(count <= _MOST, "there are too many uses")
    return Batches(kind, neighbors, 1 / noise**2, size, q), count


def _mirrored(there: curves.Base, back: curves.Base) -> curves.Base:
    # one curve from a = 1 on; below the curve 1 - a + a F(1/a) of the exchanged laws, of which F is the other curve
    def base(a: Decimal) -> tuple[Decimal, Decimal]:
        if a >= 1:
            return there(a)
        v, s = back(1 / a)
        return 1 - s, 1 - v

    return base


def _poisson(m: Fraction, q: Fraction, neighbors: str, *, remove: bool, meter: Meter) -> curves.Base:
    # section 5.1: if a record is replaced, p/s = ((1 - q) + c w)/((1 - q) + c/w) at w = e^(mu x), c = q e^(-mu^2/2)
    if neighbors != "replace-one":
        return curves.sampled(curves.gaussian(m, meter), q, remove=remove)
    (tail, _), mu, rate, rest = curves.normal_tail(m, meter), curves.decimal(m).sqrt(), curves.decimal(q), curves.decimal(1 - q)
    c = rate * (curves.decimal(m) / -2).exp()

    def base(a: Decimal) -> tuple[Decimal, Decimal]:
        b = (a - 1) * rest
        root = (b * b + 4 * a * c * c).sqrt()
        x = ((b + root) / (2 * c) if b > 0 else 2 * a * c / (root - b)).ln() / mu
        middle = rest * tail(x)
        return middle + rate * tail(x - mu), middle + rate * tail(x + mu)

    return base


def _fixed(m: Fraction, q: Fraction, neighbors: str, *, remove: bool, up: bool, meter: Meter) -> curves.Base:
    # section 3; from below the curves of some data, which are those of Poisson samples but for a record that becomes empty
    if neighbors == "add-remove":
        return curves.sampled(curves.gaussian(4 * m, meter), q, remove=remove)
    if neighbors == "replace-one":
        one = curves.sampled(curves.gaussian(4 * m, meter), q, remove=True)
        return _mirrored(one, one) if up else one
    (tail, _), mu, rate, rest = curves.normal_tail(m, meter), curves.decimal(m).sqrt(), curves.decimal(q), curves.decimal(1 - q)
    height, base = (curves.decimal(m) / 2).exp(), curves.gaussian(m, meter)
    removed, added = (curves.sampled(base, q, remove=way) for way in (True, False))

    def emptied(a: Decimal) -> tuple[Decimal, Decimal]:
        # (1 - q) N(-mu) + q N(mu) against (1 - q) N(-mu) + q N(0)
        b = a * height
        inside = b * b + 4 * (a - 1) * rest / rate
        if a < 1 and inside < b * b / 10**6:
            return _ONE, _ONE  # more outcomes than these have a larger ratio; what is between is lost
        far = (b + inside.sqrt()) / 2
        places = [far.ln() / mu] + ([((1 - a) * rest / rate / far).ln() / mu] if a < 1 else [])
        v, s = ([(rest * tail(x + mu) + rate * tail(x - shift)) for x in places] for shift in (mu, _ZERO))
        return v[0] + (1 - v[1] if a < 1 else 0), s[0] + (1 - s[1] if a < 1 else 0)

    def below(a: Decimal) -> tuple[Decimal, Decimal]:
        return emptied(a) if a >= 1 else added(a)

    if not up:
        return emptied if remove else removed
    return below if remove else _mirrored(removed, emptied)


def _binomial(trials: int, q: Fraction, meter: Meter) -> list[Decimal]:
    # the probabilities of 0, 1, ... successes up to where what is left out is below all digits
    rate, rest, least = curves.decimal(q), curves.decimal(1 - q), Decimal((0, (1,), -getcontext().prec - 6))
    weights = [(rest.ln() * trials).exp()]
    for k in range(trials):
        weights.append(weights[-1] * (trials - k) * rate / ((k + 1) * rest))
        require(len(weights) <= _MOST_TERMS, "a record may be drawn too often")
        if weights[-1] < least and k > trials * q:
            break
    meter.work(3_000 * len(weights))
    return weights


def _fill(n: int, q: Fraction, limit: int, meter: Meter) -> tuple[Decimal, Decimal]:
    # P(Bin(n - 1, q) >= limit), and limit/n P(Bin(n, q) > limit), which is all of the first but for limit coins and a failure
    meter.work(_DRAW * (limit + 20_000))
    rate, rest, least = curves.decimal(q), curves.decimal(1 - q), Decimal((0, (1,), -getcontext().prec - 6))
    weight, below, above = (rest.ln() * (n - 1)).exp(), _ZERO, _ZERO
    for k in range(limit):
        below, weight = below + weight, weight * (n - 1 - k) * rate / ((k + 1) * rest)
    first, k = weight, limit
    while limit > (n - 1) * q and weight > least * above:
        above, weight, k = above + weight, weight * (n - 1 - k) * rate / ((k + 1) * rest), k + 1
    full = above if limit > (n - 1) * q else max(1 - below, _ZERO)
    return full, (full - rest * first) * limit / n


def _mixed(mu: Decimal, weights: Sequence[Decimal], meter: Meter, *, remove: bool, replaced: bool = False) -> curves.Base:
    # sections 3.3 and 5.3: the sum of w_j N(j mu) against N(0), or if replaced against the sum of w_j N(-j mu)
    tail, far = curves.normal_tail(Fraction(mu * mu), meter)
    factors = [w * (-((j * mu) ** 2) / 2).exp() for j, w in enumerate(weights)]
    work = 40 * (2400 + getcontext().prec ** 2) + len(weights) * 1_500

    def value(y: Decimal) -> tuple[Decimal, Decimal]:
        # the sum of the factors times e^(j y), j > 0, and of these times j
        require(abs(y) * len(factors) <= _LARGEST, "the losses of a group are out of range")
        w, total, slope = y.exp(), _ZERO, _ZERO
        for j in range(len(factors) - 1, 0, -1):
            total, slope = (total + factors[j]) * w, (slope + j * factors[j]) * w
        return total, slope

    def loss(y: Decimal) -> tuple[Decimal, Decimal]:
        # what rises from -infinity to infinity and is 0 at the root, and its slope
        total, slope = value(y)
        if not replaced:
            return total.ln(), slope / total
        other, down = value(-y)
        return ((factors[0] + total) / (factors[0] + other)).ln(), slope / (factors[0] + total) + down / (factors[0] + other)

    def find(target: Decimal) -> Decimal:
        # Newton's method where it stays inside, else halves; the root is between two places, which signs show, or all losses from here to
        # it are this one but for some of its last digits
        width, y = far * mu + abs(target) + abs(factors[1].ln()) + 1, _ZERO
        least = Decimal((0, (1,), 10 - getcontext().prec))
        left, right, close = -width, width, least * (1 + width)
        for _ in range(_TURNS):
            meter.work(work)
            reached, slope = loss(y)
            left, right = (left, y) if reached > target else (y, right)
            if right - left <= close or abs(reached - target) <= least:
                return y
            step = y - (reached - target) / slope if slope > 0 else left
            small = abs(step - y) <= close / 4
            y = (y + (close / 3 if y == left else -close / 3)) if small else step if left < step < right else (left + right) / 2
        raise Rejected("the root of a mixture was not found")

    def base(a: Decimal) -> tuple[Decimal, Decimal]:
        ratio = a if remove or replaced else 1 / a
        if not replaced and ratio <= factors[0]:
            return (_ONE, _ONE) if remove else (_ZERO, _ZERO)
        x = find((ratio if replaced else ratio - factors[0]).ln()) / mu
        sign = 1 if remove or replaced else -1
        v = sum((w * tail(sign * (x - j * mu)) for j, w in enumerate(weights)), _ZERO)
        s = sum((w * tail(x + j * mu) for j, w in enumerate(weights)), _ZERO) if replaced else tail(sign * x)
        return (v, s) if remove or replaced else (s, v)

    return base
