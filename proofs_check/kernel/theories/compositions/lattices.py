"""Laws of losses on lattices, in exact integer arithmetic: made from curves, added up, made coarser, cut, and read at epsilon."""
# Proofs: docs/composition-bounds.md, whose sections are named below. Each step replaces a law by one whose curve delta(epsilon) is nowhere
# below ("upper") or above it, whatever the lattice. On the lower side there are two laws of the same outcomes: their masses under P,
# rounded down, and those under Q times exp(loss), rounded up, which differ little; the outcomes are the mechanism's, made coarser.

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from struct import unpack

from ...core.documents import Meter, require
from . import curves

MOST_CELLS, _MOST_BITS, _WIDEST = 1 << 19, 1 << 26, 1000  # of a product; nats in a cell on which something is rounded
_LARGEST, _LONG = 1 << 20, 1 << 12  # bits by which a mass under Q may be above 1; those that are enough to find its size
SLACK, _DUST = 2, 4  # units by which a mass is moved to its side, more than its error (section 11); what may be nothing but roundings
# nanoseconds that a cell takes, wherever it is looked at; any product (section 14)
_CELL, _SMALL = 80, 15_000
_STEP, _MORE, _ZERO, _HALF = 4, 20, Decimal(0), Decimal("0.5")  # levels passed at once; bits of a share that a mass has not
_WORD, _SPARE = 32, 6  # bits of a word, and those of the words of a mass that a mass as large as 1 leaves free
Curve = Callable[[Decimal], tuple[Decimal, Decimal]]  # from a > 0 to V, S: the line V - S x touches the curve at x = a
Points = list[tuple[int, int]]  # places in units, in rising order, each with the level that it is on
Part = tuple[int, list[int]]  # the first place of a level that has mass, and the masses from there on


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """By levels, masses at the losses k unit 2^level + shift, k a place; the mass at infinity. One unit of mass is 2^-bits."""

    parts: dict[int, Part]
    beyond: int = 0
    shift: Fraction = Fraction(0)

    @property
    def mass(self) -> int:
        """Return the finite losses' mass."""
        return sum(sum(cells) for _, cells in self.parts.values())


LossDistributions = tuple[LossDistribution, ...]  # the upper side's, or those of P and of Q of the lower side, on the same places


@dataclass(frozen=True, slots=True)
class Lattice:
    """The side on which laws are rounded, the bits of a unit of mass, the width of a cell on level 0, and what may be cut off."""

    up: bool
    bits: int
    unit: Fraction
    tails: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))  # the mass at the low and at the high end
    meter: Meter = field(default_factory=Meter)
    known: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)  # shares by what they depend on

    def width(self, level: int) -> Fraction:
        """Return the width of a cell."""
        return self.unit * Fraction(2) ** level

    def discretise(self, curve: Curve, offset: Fraction, points: Points) -> LossDistributions:
        """Return the laws on some points, moved by an offset (sections 4 and 5)."""
        self.meter.work(curves.POINT * (len(points) + 1) * (2400 + getcontext().prec ** 2))
        error, places = Decimal((0, (1,), curves.GUARD - precision(self.bits, self.unit))), [2 * i for i, _ in points]
        if not self.up:
            return self._outcomes(curve, offset, points, error)
        ratios, alphas = self._powers(offset, places)
        values = [v - a * s + error for a, (v, s) in ((a, curve(a)) for a in alphas)]
        masses = [1 - values[0]]
        for r, (a, b) in zip(ratios, pairwise(values), strict=True):
            masses[-1] += (b - a) / (r - 1)
            masses.append((a - b) / (1 - 1 / r))
        return (self._law(points, masses, offset, values[-1], up=True),)

    def _powers(self, offset: Fraction, places: list[int]) -> tuple[list[Decimal], list[Decimal]]:
        # exp(loss) at places in half units: their ratios, and they themselves, one from the other
        half, steps = curves.decimal(self.unit / 2), [j - i for i, j in pairwise(places)]
        exps = {g: (half * g).exp() for g in sorted(set(steps))}
        alphas = [curves.decimal(offset + places[0] * self.unit / 2).exp()]
        for g in steps:
            alphas.append(alphas[-1] * exps[g])
        return [exps[g] for g in steps], alphas

    def _outcomes(self, curve: Curve, offset: Fraction, points: Points, error: Decimal) -> LossDistributions:
        # cells that end halfway between the points
        (first, level), (last, top) = points[0], points[-1]
        ends = [2 * first - (1 << level), *(i + j for (i, _), (j, _) in pairwise(points)), 2 * last + (1 << top)]
        alphas = self._powers(offset, ends)[1]
        lines = [(a, *curve(a)) for a in alphas]
        under_p = [v - w - 2 * error for (_, v, _), (_, w, _) in pairwise(lines)]
        half, halves = curves.decimal(self.unit / 2), [2 * i - x for (i, _), x in zip(points, ends[:-1], strict=True)]
        rises = {g: (half * g).exp() for g in sorted(set(halves))}
        under_q = [rises[g] * (a * (s - t) + 2 * error) for g, ((a, _, s), (_, _, t)) in zip(halves, pairwise(lines), strict=True)]
        beyond = _ZERO if lines[-1][2] else lines[-1][1]  # what has no mass under Q is at infinity
        return self._law(points, under_p, offset, beyond, up=False), self._law(points, under_q, offset, _ZERO, up=True)

    def _law(self, points: Points, masses: list[Decimal], offset: Fraction, beyond: Decimal, *, up: bool) -> LossDistribution:
        law = LossDistribution({}, self.units(beyond, up=up), offset)
        levels = dict[int, dict[int, int]]()
        for (i, level), mass in zip(points, masses, strict=True):
            levels.setdefault(level, {})[i >> level] = self.units(mass, up=up)
        for level, at in sorted(levels.items()):
            require(max(at) - min(at) < MOST_CELLS, "the grid is too large")
            self.meter.work(_CELL * (max(at) - min(at)))
            law.parts[level] = min(at), [at.get(k, 0) for k in range(min(at), max(at) + 1)]
        return law

    def units(self, mass: Decimal, *, up: bool) -> int:
        """Return at least, or at most, so many units, for a mass that is known within half a unit."""
        zeros = max(mass.adjusted() - getcontext().prec, 0)
        require(zeros < _LARGEST * 3 // 10, "a mass is too large")
        self.meter.work(2 * _work(zeros // 9, zeros // 9))
        whole: int = int(mass.scaleb(-zeros) * (1 << self.bits)) * 10**zeros  # a large Decimal is slow to convert
        return max(whole + (SLACK if up else -SLACK), 0)

    def multiply(self, xs: LossDistributions, ys: LossDistributions) -> LossDistributions:
        """Return the laws of the sum of two independent losses (section 12)."""
        return tuple(self._multiply(x, y, side) for side, (x, y) in enumerate(zip(xs, ys, strict=True)))

    def _multiply(self, x: LossDistribution, y: LossDistribution, side: int) -> LossDistribution:
        # what meets something on a coarser level is brought to that level first: all below a level is, before it meets that level
        masses = x.mass, x.beyond, y.mass, y.beyond
        longest = max(masses).bit_length()
        require(longest <= self.bits + _LARGEST, "a mass is too large")
        self.meter.work(longest * sum(len(cells) for law in (x, y) for _, cells in law.parts.values()) // 3)
        (beyond,) = _shift([masses[1] * (masses[2] + masses[3]) + masses[0] * masses[3]], self.bits, up=self.up)
        result, lower, others, at = LossDistribution({}, beyond, x.shift + y.shift), None, None, 0
        for level in sorted(x.parts.keys() | y.parts.keys()):
            a, b = x.parts.get(level), y.parts.get(level)
            lower, others, at = self._lift(lower, at, level, side), None if x is y else self._lift(others, at, level, side), level
            twice = self._product(a, self._add(self._add(lower, lower) if x is y else others, b), side)
            _put(result, level, twice if x is y else self._add(twice, self._product(lower, b, side)))
            lower, others = self._add(lower, a), self._add(others, b)
        return result

    def _product(self, x: Part | None, y: Part | None, side: int) -> Part | None:
        # f(X) g(X) and f(-X) g(-X) for X = 2^width, a power that no two sums of products reach: their sum and their difference have every
        # other sum each, in fields of 2 width bits, of which the upper half are units of mass
        if x is None or y is None:
            return None
        (low, cells), (other, others), up = x, y, self.up or side > 0
        n, least = len(cells) + len(others) - 1, (max(sum(cells), 1) * max(sum(others), 1)).bit_length() + 1 - self.bits
        width = -(-max(least, self.bits + 1) // _WORD) * _WORD
        require(n <= MOST_CELLS and n * width <= _MOST_BITS, "the grid is too large")
        limbs, small = n * width // _WORD, min(len(cells), len(others)) * width // _WORD
        self.meter.work((2 if x is y else 3) * _work(limbs - small, small) // 3 + (n + limbs) * _CELL + _SMALL)
        halves = [[_pack(numbers[k::2], width) for k in (0, 1)] for numbers in ([cells] if x is y else [cells, others])]
        # a square of one object takes little more than half of a product
        plus, minus = (both[0] * both[-1] for both in ([even + sign * (odd << width) for even, odd in halves] for sign in (1, -1)))
        sums = [0] * n
        for k, twice in enumerate((plus + minus, (plus - minus) >> width)):
            sums[k::2] = _unpack(twice << (width - self.bits - 1), (n + 1 - k) // 2, width, up=up)
        return low + other, sums

    def _add(self, x: Part | None, y: Part | None) -> Part | None:
        if x is None or y is None:
            return x or y
        low, high = min(x[0], y[0]), max(x[0] + len(x[1]), y[0] + len(y[1]))
        require(high - low <= MOST_CELLS, "the grid is too large")
        self.meter.work(_CELL * (high - low + len(y[1])) // 2)
        cells = [0] * (x[0] - low) + x[1] + [0] * (high - x[0] - len(x[1]))
        for i, mass in enumerate(y[1], y[0] - low):
            cells[i] += mass
        return low, cells

    def _lift(self, part: Part | None, level: int, to: int, side: int) -> Part | None:
        # the same losses on a coarser level
        whole = 1 << self.bits + _MORE
        more = whole - 1 if self.up or side > 0 else 0
        while part is not None and level < to:
            n, (low, cells) = 1 << min(to - level, _STEP), part
            self.meter.work(len(cells) * (max(cells).bit_length() + 240) * 3 // 2)
            cells = [0] * (low % n) + cells + [0] * (-(low + len(cells)) % n)
            size, lifted = len(cells) // n, [0] * (len(cells) // n + 1)
            for k, share in enumerate(self._shares(level, n, side)):
                if not share:
                    continue
                moved = cells[k // 2 :: n] if share == whole else [mass * share + more >> self.bits + _MORE for mass in cells[k // 2 :: n]]
                lifted[k % 2 : size + k % 2] = map(int.__add__, lifted[k % 2 : size + k % 2], moved)
            part, level = (low // n, lifted), level + n.bit_length() - 1
        return part

    def _shares(self, level: int, n: int, side: int) -> list[int]:
        # of a mass that is r cells above a place of a lattice of n cells, for each r what goes there and to the next place: such that the
        # masses under P and under Q are kept, or the outcome goes to the nearest place, with its mass under Q times exp(loss)
        require(self.width(level) * n <= _WIDEST, "a cell is too wide to be merged with its neighbor")
        if (level, n, side) in self.known:
            return self.known[level, n, side]
        self.meter.work(9 * n * (1000 + getcontext().prec ** 2))
        h, result = curves.decimal(self.width(level)), [1 << (self.bits + _MORE), 0]
        for r in range(1, n):
            above = (1 - (-h * r).exp()) / (1 - (-h * n).exp()) if self.up else _HALF if 2 * r == n else Decimal(2 * r > n)
            both = (1 - above) * (-h * r * side).exp(), above * (h * (n - r) * side).exp()
            result += [int(w * (1 << self.bits + _MORE)) + int((self.up or side > 0) and w > 0) for w in both]
        self.known[level, n, side] = result
        return result

    def lift(self, laws: LossDistributions, floor: int) -> LossDistributions:
        """Return the laws with all mass on levels below the floor moved up to it (section 12)."""
        lifted = tuple(LossDistribution({}, law.beyond, law.shift) for law in laws)
        for side, (law, new) in enumerate(zip(laws, lifted, strict=True)):
            for level, part in law.parts.items():
                _put(new, max(level, floor), self._add(new.parts.get(max(level, floor)), self._lift(part, level, floor, side)))
        return lifted

    def trim(self, laws: LossDistributions, share: Fraction) -> LossDistributions:
        """Return the laws without cells at the ends of parts that hold at most this share of the tails: moved up or dropped (section 3)."""
        self.meter.work(_CELL * sum(len(cells) for law in laws for _, cells in law.parts.values()))
        few, many = (int(tail * share * 2**self.bits) for tail in self.tails)
        sums, trimmed, beyond = {level: sum(cells) for level, (_, cells) in laws[0].parts.items()}, [dict[int, Part]() for _ in laws], 0
        for level, total in sums.items():
            low, cells = laws[0].parts[level]
            first, last, above, below = 0, len(cells), 0, 0
            least = few if total == max(sums.values()) else min(few, many)  # what is rare is cut sparingly
            while last > 1 and (above + cells[last - 1] <= many or cells[last - 1] <= _DUST):
                last, above = last - 1, above + cells[last - 1]
            while first < last - 1 and (below + cells[first] <= least or cells[first] <= _DUST):
                first, below = first + 1, below + cells[first]
            for law, parts in zip(laws, trimmed, strict=True):
                parts[level] = low + first, law.parts[level][1][first:last]
            if self.up:
                trimmed[0][level][1][0] += below
                beyond += above
        result = tuple(LossDistribution(parts, law.beyond + beyond, law.shift) for law, parts in zip(laws, trimmed, strict=True))
        return result if self.up else self._settle(*result)

    def _settle(self, p: LossDistribution, q: LossDistribution) -> LossDistributions:
        # all losses are moved by a number where otherwise the masses under Q would become much larger or smaller than those under P;
        # outcomes without mass under P add nothing to the curve, and are left out
        if not p.mass:
            return p, LossDistribution({level: (low, [0] * len(cells)) for level, (low, cells) in q.parts.items()}, q.beyond, q.shift)
        if not q.mass or p.mass < 2 * q.mass < 4 * p.mass:
            return p, q
        lengths = p.mass.bit_length(), q.mass.bit_length()
        self.meter.work(lengths[1] * sum(len(cells) for _, cells in q.parts.values()))
        i, j = (max(n - _LONG, 0) for n in lengths)  # any move does: of what is long the leading bits are looked at
        ratio = (Decimal(p.mass >> i) / (q.mass >> j)).ln() + (i - j) * Decimal(2).ln()
        move, more = Fraction(int(ratio * (1 << self.bits)), 1 << self.bits), self.bits + _MORE
        factor = int(curves.decimal(move).exp() * (1 << more)) + 1
        parts = {level: (low, _shift([c * factor for c in cells], more, up=True)) for level, (low, cells) in q.parts.items()}
        return LossDistribution(p.parts, p.beyond, p.shift + move), LossDistribution(parts, q.beyond, q.shift + move)

    def power(self, laws: LossDistributions, count: int, floors: list[int]) -> LossDistributions:
        """Return the laws of a sum of independent losses with these laws, by squaring; after each, nothing stays below a floor."""
        require(len(floors) == count.bit_length() - 1, "the floors are not as many as the squarings")
        # exponents are the leading bits of the count: what is multiplied by is the law of one use, which is narrow on coarse cells
        power = laws
        for k, floor in enumerate(floors, 1):
            done = count >> len(floors) - k
            power = self.lift(self.multiply(power, power), floor)
            if done % 2:
                power = self.lift(self.multiply(self.trim(power, Fraction(done, count)), self.lift(laws, floor)), floor)
            power = self.trim(power, Fraction(done, count))
        return power

    def delta(self, laws: LossDistributions, epsilon: Fraction) -> Fraction:
        """Return a bound on delta at epsilon: the sum of what is positive of p - exp(epsilon - loss) q, and what is beyond (section 5)."""
        total = Decimal(laws[0].beyond)
        with localcontext(curves.context(precision(self.bits, self.unit))):
            for level, (low, cells) in laws[0].parts.items():
                h = self.width(level)
                first = max((epsilon - laws[0].shift) // h - low, 0) if self.up else 0  # up to epsilon there is nothing to add
                longest = max(laws[-1].parts[level][1]).bit_length()
                self.meter.work(5 * max(len(cells) - first, 0) * (200 + longest + longest**2 // 4000))
                y, step = curves.decimal(epsilon - laws[0].shift - (low + first) * h).exp(), (-curves.decimal(h)).exp()
                for p, q in zip(cells[first:], laws[-1].parts[level][1][first:], strict=True):
                    total += max(p - y * q, _ZERO)
                    y *= step
            return Fraction(self.units(total / (1 << self.bits), up=self.up), 1 << self.bits)


def count_bits(digits: int) -> int:
    """Return the bits of a unit of mass for masses of at least so many decimal places: a little less than a number of words."""
    least = int(10**digits).bit_length()
    return least + -(least + _SPARE) % _WORD


def _work(large: int, small: int) -> int:
    # nanoseconds that a product of two numbers of so many words takes: about 12 large small^0.585
    return 12 * large * (1 + isqrt(small)) * (3 + small.bit_length()) // 7


def _shift(numbers: list[int], bits: int, *, up: bool) -> list[int]:
    more = (1 << bits) - 1 if up else 0
    return [a + more >> bits for a in numbers]


def _pack(numbers: list[int], width: int) -> int:
    return int.from_bytes(b"".join([a.to_bytes(width // 4, "little") for a in numbers]), "little")


def _unpack(packed: int, n: int, width: int, *, up: bool) -> list[int]:
    # the upper halves of n fields of 2 width bits, rounded
    if up:
        packed += int.from_bytes((b"\xff" * (width // 8) + bytes(width // 8)) * n, "little")
    data, size = packed.to_bytes(n * width // 4, "little"), width // 8
    if size > 8:
        return [int.from_bytes(data[i : i + size], "little") for i in range(size, len(data), 2 * size)]
    return list(unpack(f"<{2 * n}{'Q' if size == 8 else 'I'}", data)[1::2])


def _put(law: LossDistribution, level: int, part: Part | None) -> None:
    law.parts.update({} if part is None else {level: part})


def precision(bits: int, unit: Fraction) -> int:
    """Return the digits that are worked with for masses of so many bits on a lattice with this unit."""
    least = len(str(1 << bits)) + curves.GUARD + len(str(1 + int(1 / unit))) + 3
    return least + -least % 4  # so that sides share tables
