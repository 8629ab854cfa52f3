"""Random allocation: from both sides, the curve of one epoch of Gaussian noise in which each record takes part in one uniform step of t."""
# Proofs: docs/batches.md, section 4. With l = dN(mu e_j)/dN(0) in step j, f = (l_1 + ... + l_t)/t is the likelihood ratio of the epoch, and
# its curve is E (f - a)^+ if the record goes, E (1 - a f)^+ if it comes. So laws of sums of l are kept here, on lattices that are linear:
# a cell of level k is 2^k units of l wide. What a certificate says of them changes how sharp the curve is, never on which side it lies.

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil

from ...core.documents import Meter, read_fields, read_integer, read_list, require
from ...reading import read_number as read_any_number
from . import curves
from .lattices import Lattice, LossDistribution, LossDistributions, Part, Points, count_bits, precision

_MOST_STEPS, _MOST_TERMS, _MOST_LEVELS, _MOST_PLACES, _MORE, _DUST, _CELL, _HEAVIEST = 10, 10**6, 80, 320, 20, 4, 80, 1000
_MOST_SLOPES, _STEEPEST, _ONE, _ZERO = 64, 10**100, Decimal(1), Decimal(0)
Numbers = tuple[int, Fraction, tuple[Fraction, Fraction]]  # bits of a unit of mass, the width of a cell, what may be cut off


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Lattice):
    """Sums of some of ``terms`` likelihood ratios: one law from above, and from below three laws of the same outcomes.

    With the record in one of the steps, each as likely as the others; without it, rounded like that; and rounded to the other side.
    """

    terms: int
    remove: bool

    @property
    def sides(self) -> tuple[bool, ...]:
        """Whether the masses of each law are rounded up."""
        return (True,) if self.up else (not self.remove, not self.remove, self.remove)

    def start(self, m: Fraction, points: Points) -> LossDistributions:
        """Return the laws of one likelihood ratio: spread to the points (section 4.2), or its cells between them (section 4.4)."""
        self.meter.work(curves.POINT * (len(points) + 1) * (2400 + getcontext().prec ** 2))
        error, unit = Decimal((0, (1,), curves.GUARD - precision(self.bits, self.unit))), curves.decimal(self.unit)
        base, xs = curves.gaussian(m, self.meter), [unit * i for i, _ in points]
        if self.up:
            values = [Decimal(1), *(v - x * s for x, (v, s) in ((x, base(x)) for x in xs[1:]))]
            widths = [b - a for a, b in pairwise(xs)]
            slopes = [Decimal(-1), *((d - c) / h for h, (c, d) in zip(widths, pairwise(values), strict=True)), Decimal(0)]
            more = [Decimal(0), *(2 * error / h for h in widths), Decimal(0)]
            masses = [b - a + e + f for (a, b), (e, f) in zip(pairwise(slopes), pairwise(more), strict=True)]
            beyond = (values[-1] + error) / self.terms if self.remove else Decimal(0)
            return (self._law(points, masses, Fraction(0), beyond, up=True),)
        ends = [(a + b) / 2 for a, b in pairwise(xs)]
        lines = [(Decimal(1), Decimal(1)), *map(base, ends), (Decimal(0), Decimal(0))]
        slack, result = 2 * error * (1 + 1 / ends[0]), list[LossDistribution]()
        for side, which in zip(self.sides, (0, 1, 1), strict=True):
            masses = [a[which] - b[which] + (slack if side else -slack) for a, b in pairwise(lines)]
            result.append(self._law(points, masses, Fraction(0), Decimal(0), up=side))
        return tuple(result)

    def _shares(self, level: int, n: int, side: int) -> list[int]:
        # of a mass that is r cells above a place of a lattice of n cells: linear above, so that mass and mean are kept, and below to the
        # nearest place, by a coin where that is either
        if (level, n, side) not in self.known:
            whole = 1 << self.bits + _MORE
            above = [whole * r // n if self.up else whole * (1 + (2 * r > n) - (2 * r < n)) // 2 for r in range(n)]
            self.known[level, n, side] = [share for x in above for share in (whole - x, x)]
        return self.known[level, n, side]

    def lift(self, laws: LossDistributions, floor: int) -> LossDistributions:
        """Return the laws with all mass below a level moved up to it."""
        lifted = tuple(LossDistribution({}, law.beyond) for law in laws)
        for side, law, new in zip(self.sides, laws, lifted, strict=True):
            for level, part in law.parts.items():
                moved = self._add(new.parts.get(max(level, floor)), self._lift(part, level, floor, int(side)))
                new.parts.update({} if moved is None else {max(level, floor): moved})
        return lifted

    def trim(self, laws: LossDistributions, share: Fraction) -> LossDistributions:
        """Return the laws without the ends of parts that hold at most this share of the tails (sections 4.2 and 4.4)."""
        self.meter.work(_CELL * sum(len(cells) for law in laws for _, cells in law.parts.values()))
        few, many = (int(tail * share * 2**self.bits) for tail in self.tails)
        seen, beyond = laws[0 if self.up or self.remove else 2], 0  # the law that counts in delta
        trimmed = [dict[int, Part]() for _ in laws]
        for level, (low, cells) in seen.parts.items():
            first, last, above, below, excess, rise = 0, len(cells), 0, 0, 0, 0
            width = self.width(level) / self.terms
            by, of = (width.numerator, width.denominator) if self.up and self.remove else (0, 1)
            while last > 1:
                mass = above + cells[last - 1]
                cut = (excess + mass) * by // of if by else mass  # of what moves by a cell the sum of its moves counts
                if cut > many and cells[last - 1] > _DUST:
                    break
                last, above, excess = last - 1, mass, excess + mass
            while first < last - 1:
                mass = below + cells[first]
                rise += mass
                if (rise * by // of if by else mass) > few and cells[first] > _DUST:
                    break
                first, below = first + 1, mass
            for law, parts in zip(laws, trimmed, strict=True):
                parts[level] = low + first, law.parts[level][1][first:last]
            if self.up:
                kept = trimmed[0][level][1]
                kept[-1] += above
                kept[0] += below if self.remove else 0
                beyond += -(-excess * by // of) if self.remove else below
        return tuple(LossDistribution(parts, law.beyond + beyond) for law, parts in zip(laws, trimmed, strict=True))

    def join(self, xs: LossDistributions, m: int, ys: LossDistributions, n: int) -> LossDistributions:
        """Return the laws of m and n steps together from below: the record is in one of them all (Lemma 4)."""
        result = list[LossDistribution]()
        for i in range(0, len(self.sides) - 1, 2):
            side, (x, x_without), (y, y_without) = int(self.sides[i]), xs[i : i + 2], ys[i : i + 2]
            first = self._multiply(x, y_without, side)
            if xs is not ys:
                second, up = self._multiply(x_without, y, side), (m + n - 1) * side
                for level, (low, cells) in first.parts.items():
                    there, others = second.parts[level]
                    require(low == there and len(cells) == len(others), "laws of the same outcomes are on the same places")
                    first.parts[level] = low, [(m * a + n * b + up) // (m + n) for a, b in zip(cells, others, strict=True)]
            result += [first, self._multiply(x_without, y_without, side)]
        if len(result) < len(self.sides):
            result.append(self._multiply(xs[-1], ys[-1], int(self.sides[-1])))
        return tuple(result)

    def all_steps(self, one: LossDistributions, floors: list[int]) -> LossDistributions:
        """Return the laws of all steps, by squaring."""
        one = self.trim(one, Fraction(1, self.terms))
        if self.up:
            return self.power(one, self.terms, floors)
        require(len(floors) == self.terms.bit_length() - 1, "the floors are not as many as the squarings")
        laws, done = one, 1
        for k, floor in enumerate(floors, 1):
            laws, done = self.lift(self.join(laws, done, laws, done), floor), 2 * done
            if self.terms >> len(floors) - k & 1:
                laws = self.trim(laws, Fraction(done, self.terms))
                laws, done = self.lift(self.join(laws, done, self.lift(one, floor), 1), floor), done + 1
            laws = self.trim(laws, Fraction(done, self.terms))
        return laws

    def read(self, laws: LossDistributions) -> curves.Base:
        """Return the curve of the epoch: from above V - a S for the law, from below the masses of {f > a} or {f < 1/a} (section 4.3)."""
        first, second = (laws[0], laws[-1]) if self.remove or self.up else (laws[2], laws[0])
        rows = sorted(
            ((low + k) << level, p, q)
            for level, (low, cells) in first.parts.items()
            for k, (p, q) in enumerate(zip(cells, second.parts[level][1], strict=True))
        )
        self.meter.work(20 * _CELL * len(rows))
        if self.remove:
            rows.reverse()
        by = Fraction(self.unit, self.terms)
        ps, qs = (list(accumulate((row[i] for row in rows), initial=0)) for i in (1, 2))
        if self.up:
            moments = list(accumulate((place * p for place, p, _ in rows), initial=0))
        sign, keys = (-1 if self.remove else 1), [(-row[0] if self.remove else row[0]) for row in rows]
        one = 1 << self.bits

        def base(a: Decimal) -> tuple[Decimal, Decimal]:
            scale = curves.decimal(by)  # in the context of who asks, which may have more digits than that of the lattice
            k = bisect_left(keys, sign * (a if self.remove else 1 / a) / scale)
            v = s = Decimal(ps[k]) / one
            if not self.up:
                s = Decimal(qs[k]) / one
            else:
                mean, beyond = Decimal(moments[k]) * scale / one, Decimal(first.beyond) / one
                v, s = (mean + beyond, s) if self.remove else (v + beyond, mean)
            require(max(v, a * s) <= _HEAVIEST, "a mass is too large")  # else roundings of V or of a S might be more than is allowed for
            return v, s

        return base


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(Linear):
    """Sums of some of the terms l - a l' for one a, of l at one record and l' at the other: one law from above, and from below four.

    With the first record in one of the steps, each as likely as the others, and without it; with the other record, and without it.
    """

    a: Decimal

    @property
    def sides(self) -> tuple[bool, ...]:
        """Whether the masses of each law are rounded up."""
        return (True,) if self.up else (False, False, True, True)

    def start(self, m: Fraction, points: Points) -> LossDistributions:
        """Return the laws of one term: spread to the points, or its cells between them (section 4.5)."""
        self.meter.work(curves.POINT * (len(points) + 1) * (2400 + getcontext().prec ** 2))
        (tail, _), mu, height = curves.normal_tail(m, self.meter), curves.decimal(m).sqrt(), (curves.decimal(m) / 2).exp()
        unit, error = curves.decimal(self.unit), (1 + self.a) * Decimal((0, (1,), curves.GUARD - precision(self.bits, self.unit)))

        def find(x: Decimal) -> Decimal:
            # the output at which the term is x: w^2 - x height w - a = 0 at w = e^(mu z)
            b = x * height
            root = (b * b + 4 * self.a).sqrt()
            return ((b + root) / 2 if b > 0 else 2 * self.a / (root - b)).ln() / mu

        xs = [unit * i for i, _ in points]
        if not self.up:
            zs = [find((x + y) / 2) for x, y in pairwise(xs)]
            laws = list[LossDistribution]()
            for side, shift in zip(self.sides, (mu, _ZERO, -mu, _ZERO), strict=True):
                rest, slack = [_ONE, *(tail(z - shift) for z in zs), _ZERO], 2 * error if side else -2 * error
                laws.append(self._law(points, [x - y + slack for x, y in pairwise(rest)], Fraction(0), _ZERO, up=side))
            return tuple(laws)
        low = [(x, x * tail(-z) - tail(mu - z) + self.a * tail(-z - mu)) for x, z in ((x, find(x)) for x in xs if x <= 0)]
        high = [(x, tail(z - mu) - self.a * tail(z + mu) - x * tail(z)) for x, z in ((x, find(x)) for x in xs if x >= 0)]
        widths = [y - x for x, y in pairwise(xs)]
        slopes = [
            _ZERO,
            *((d - c) / (y - x) for (x, c), (y, d) in pairwise(low)),
            *(1 + (d - c) / (y - x) for (x, c), (y, d) in pairwise(high)),
            _ONE,
        ]
        more = [_ZERO, *(2 * error / h for h in widths), _ZERO]
        masses = [y - x + e + f for (x, y), (e, f) in zip(pairwise(slopes), pairwise(more), strict=True)]
        return (self._law(points, masses, Fraction(0), (high[-1][1] + error) / self.terms, up=True),)

    def value(self, laws: LossDistributions) -> tuple[int, int]:
        """Return D(a) from above, and 0, or what is above 0 has of the mass of either record; in units (section 4.5)."""
        self.meter.work(20 * _CELL * sum(len(cells) for _, cells in laws[0].parts.values()))
        if self.up:
            sums = (((low + k) << level) * p for level, (low, cells) in laws[0].parts.items() for k, p in enumerate(cells) if low + k > 0)
            return laws[0].beyond + ceil(sum(sums) * Fraction(self.unit, self.terms)), 0
        v, s = (sum(sum(cells[max(1 - low, 0) :]) for low, cells in laws[i].parts.values()) for i in (0, 2))
        return v, s


def allocation(m: Fraction, terms: int, value: object, *, remove: bool, up: bool, meter: Meter) -> curves.Base:
    """Return the curve of one epoch of noise with 1/sigma^2 = m on one side, by the lattice that a certificate names."""
    fields, (bits, unit, tails) = _read_lattice(value, terms, set())
    lattice = Linear(up, bits, unit, tails, meter, terms=terms, remove=remove)
    with localcontext(curves.context(precision(bits, unit))):
        return lattice.read(lattice.all_steps(lattice.start(m, _read_places(fields, "levels")), _read_floors(fields)))


def replacement(m: Fraction, terms: int, value: object, *, up: bool, meter: Meter) -> curves.Base:
    """Return a curve of such an epoch where a record is replaced, by the values at slopes that a certificate names (section 4.5)."""
    fields, (bits, unit, tails) = _read_lattice(value, terms, {"below", "slopes"})
    points = [(-place, level) for place, level in reversed(_read_places(fields, "below"))][:-1] + _read_places(fields, "levels")
    slopes, rows = [read_any_number(slope) for slope in read_list(fields["slopes"])], list[tuple[Fraction, int, int]]()
    require(
        0 < len(slopes) <= _MOST_SLOPES and slopes[0] >= 1 and slopes[-1] <= _STEEPEST, "a slope is out of range, or there are too many"
    )
    require(all(x < y for x, y in pairwise(slopes)) and max(a.denominator.bit_length() for a in slopes) <= 320, "the slopes do not rise")
    with localcontext(curves.context(precision(bits, unit))):
        for slope in slopes:
            lattice = Replaced(up, bits, unit, tails, meter, terms=terms, remove=True, a=curves.decimal(slope))
            rows.append((Fraction(lattice.a), *lattice.value(lattice.all_steps(lattice.start(m, points), _read_floors(fields)))))
    return _chords(rows, 1 << bits) if up else _events(rows, 1 << bits)


def _chords(rows: list[tuple[Fraction, int, int]], one: int) -> curves.Base:
    # a convex curve that falls, and is its own mirror image, 1 - a + a D(1/a): the chords between its values lie above it
    values = {a: Fraction(v, one) for a, v, _ in rows}
    values |= {1 / a: 1 - (1 - d) / a for a, d in values.items() if a > 1} | {Fraction(0): Fraction(1)}
    places = sorted(values)
    slopes = [(values[x] - values[y]) / (y - x) for x, y in pairwise(places)] + [Fraction(0)]

    def base(a: Decimal) -> tuple[Decimal, Decimal]:
        k = bisect_right(places, a) - 1
        v, s = curves.decimal(values[places[k]] + places[k] * slopes[k]), curves.decimal(slopes[k])
        require(max(abs(v), abs(a * s)) <= _HEAVIEST, "a mass is too large")  # as above
        return v, s

    return base


def _events(rows: list[tuple[Fraction, int, int]], one: int) -> curves.Base:
    # masses of events, and of the complements of their mirror images, under either law; a coin decides between two: the hull of them all
    corners = {(0, 0), (one, one)} | {corner for _, v, s in rows for corner in ((s, v), (one - v, one - s))}
    hull = list[tuple[int, int]]()
    for s, v in sorted(corners, key=lambda corner: (corner[0], -corner[1])):
        if s > one or (hull and s == hull[-1][0]):
            continue
        while len(hull) > 1 and (v - hull[-2][1]) * (hull[-1][0] - hull[-2][0]) >= (hull[-1][1] - hull[-2][1]) * (s - hull[-2][0]):
            hull.pop()
        hull.append((s, v))
    edges = [Fraction(y[1] - x[1], y[0] - x[0]) for x, y in pairwise(hull)]

    def base(a: Decimal) -> tuple[Decimal, Decimal]:
        s, v = hull[sum(a < edge for edge in edges)]
        return Decimal(v) / one, Decimal(s) / one

    return base


def _read_lattice(value: object, terms: int, more: set[str]) -> tuple[Mapping[str, object], Numbers]:
    fields = read_fields(value, {"digits", "unit", "cells", "levels", "tails", "floors"} | more)
    bits, unit = count_bits(read_integer(fields["digits"], 1, _MOST_PLACES)), read_any_number(fields["unit"])
    few, many = map(read_any_number, read_list(fields["tails"], 2))
    require(Fraction(1, 2**40) <= unit <= 2**400 and 0 <= few <= 1 and 0 <= many <= 1, "a number of the lattice is out of range")
    require(max(unit.denominator, few.denominator, many.denominator).bit_length() <= 2048 and 1 <= terms <= _MOST_TERMS, "out of range")
    return fields, (bits, unit, (few, many))


def _read_places(fields: Mapping[str, object], name: str) -> Points:
    cells, levels = read_integer(fields["cells"], 1, _MOST_STEPS), read_integer(fields[name], 1, _MOST_LEVELS)
    points = [(k, 0) for k in range(1 + (2 << cells))]
    return points + [(k << level, level) for level in range(1, levels) for k in range(1 + (1 << cells), 1 + (2 << cells))]


def _read_floors(fields: Mapping[str, object]) -> list[int]:
    return [read_integer(level, 0, _MOST_LEVELS) for level in read_list(fields["floors"])]
