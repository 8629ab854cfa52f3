"""Laws of losses on lattices, in exact integer arithmetic: made from curves, added up, made coarser, cut, and read at epsilon."""
# Proofs: docs/composition-bounds.md, whose sections are named below. Each step replaces a law by one whose curve delta(epsilon) is nowhere
# below ("upper") or above it, whatever the lattice. On the lower side there are two laws of the same outcomes: their masses under P,
# rounded down, and those under Q times exp(loss), rounded up, which differ little; the outcomes are the mechanism's, made coarser.

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, getcontext, localcontext
from fractions import Fraction
from itertools import pairwise

from . import curves
from .intervals import MOST_PLACES
from .terms import Meter, require

MOST_CELLS, _MOST_DIGITS, _WIDEST = 1 << 19, 2 * 10**7, 1000  # of a product; nats in a cell on which something is rounded
# so many squares of digits of a point of a curve, or so many cells, are one unit of the meter (section 14); units by which a mass is
# moved to its side, more than its error (section 11)
WORK, _CELLS, SLACK = 200, 20, 2
_STEP, _MORE, _ZERO, _HALF = 4, 6, Decimal(0), Decimal("0.5")  # levels passed at once; digits of a share that a mass has not
Curve = Callable[[Fraction], tuple[Decimal, Decimal, Decimal]]  # from a loss to a, V, S: the line V - S x touches the curve at x = a
Points = list[tuple[int, int]]  # places in units, in rising order, each with the level that it is on
Part = tuple[int, list[int]]  # the first place of a level that has mass, and the masses from there on


@dataclass(frozen=True, slots=True)
class Law:
    """By levels, masses at the losses k unit 2^level + shift, k a place; the mass at infinity. One unit of mass is 10^-digits."""

    parts: dict[int, Part]
    beyond: int = 0
    shift: Fraction = Fraction(0)

    @property
    def mass(self) -> int:
        """Return the finite losses' mass."""
        return sum(sum(cells) for _, cells in self.parts.values())


Laws = tuple[Law, ...]  # the upper side's, or those of P and of Q of the lower side, on the same places


@dataclass(frozen=True, slots=True)
class Lattice:
    """The side on which laws are rounded, the digits of a unit of mass, the width of a cell on level 0, and what may be cut off."""

    up: bool
    digits: int
    unit: Fraction
    tails: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))  # the mass at the low and at the high end
    meter: Meter = field(default_factory=Meter)

    def width(self, level: int) -> Fraction:
        """Return the width of a cell."""
        return self.unit * Fraction(2) ** level

    def discretise(self, curve: Curve, offset: Fraction, points: Points) -> Laws:
        """Return the laws on some points, moved by an offset (sections 4 and 5)."""
        self.meter.spend((len(points) + 1) * (1500 + getcontext().prec ** 2) // WORK)
        error, places = Decimal((0, (1,), curves.GUARD - precision(self.digits, self.unit))), [i for i, _ in points]
        if not self.up:
            return self._outcomes(curve, offset, points, error)
        exps = {g: (curves.decimal(self.unit) * g).exp() for g in {j - i for i, j in pairwise(places)}}
        values = [v - a * s + error for a, v, s in (curve(offset + i * self.unit) for i in places)]
        masses = [1 - values[0]]
        for r, (a, b) in zip([exps[j - i] for i, j in pairwise(places)], pairwise(values), strict=True):
            masses[-1] += (b - a) / (r - 1)
            masses.append((a - b) / (1 - 1 / r))
        return (self._law(points, masses, offset, values[-1], up=True),)

    def _outcomes(self, curve: Curve, offset: Fraction, points: Points, error: Decimal) -> Laws:
        # cells that end halfway between the points
        (first, level), (last, top) = points[0], points[-1]
        ends = [first - Fraction(1 << level, 2), *(Fraction(i + j, 2) for (i, _), (j, _) in pairwise(points)), last + Fraction(1 << top, 2)]
        lines = [curve(offset + x * self.unit) for x in ends]
        under_p = [v - w - 2 * error for (_, v, _), (_, w, _) in pairwise(lines)]
        rises = [curves.decimal((i - x) * self.unit).exp() for (i, _), x in zip(points, ends[:-1], strict=True)]
        under_q = [r * (a * (s - t) + 2 * error) for r, ((a, _, s), (_, _, t)) in zip(rises, pairwise(lines), strict=True)]
        beyond = _ZERO if lines[-1][2] else lines[-1][1]  # what has no mass under Q is at infinity
        return self._law(points, under_p, offset, beyond, up=False), self._law(points, under_q, offset, _ZERO, up=True)

    def _law(self, points: Points, masses: list[Decimal], offset: Fraction, beyond: Decimal, *, up: bool) -> Law:
        law = Law({}, self.units(beyond, up=up), offset)
        for level in sorted({level for _, level in points}):
            at = {i >> level: self.units(mass, up=up) for (i, own), mass in zip(points, masses, strict=True) if own == level}
            require(max(at) - min(at) < MOST_CELLS, "the grid is too large")
            self.meter.spend((max(at) - min(at)) // _CELLS)
            law.parts[level] = min(at), [at.get(k, 0) for k in range(min(at), max(at) + 1)]
        return law

    def units(self, mass: Decimal, *, up: bool) -> int:
        """Return at least, or at most, so many units, for a mass that is known within half a unit."""
        return max(int(mass.scaleb(self.digits)) + (SLACK if up else -SLACK), 0)

    def multiply(self, xs: Laws, ys: Laws) -> Laws:
        """Return the laws of the sum of two independent losses (section 12)."""
        return tuple(self._multiply(x, y, side) for side, (x, y) in enumerate(zip(xs, ys, strict=True)))

    def _multiply(self, x: Law, y: Law, side: int) -> Law:
        # what meets something on a coarser level is brought to that level first: all below a level is, before it meets that level
        (beyond,) = _divide([x.beyond * (y.mass + y.beyond) + x.mass * y.beyond], self.digits, up=self.up)
        result, lower, others, at = Law({}, beyond, x.shift + y.shift), None, None, 0
        for level in sorted(x.parts.keys() | y.parts.keys()):
            a, b = x.parts.get(level), y.parts.get(level)
            lower, others, at = self._lift(lower, at, level, side), None if x is y else self._lift(others, at, level, side), level
            twice = self._product(a, _add(_add(lower, lower) if x is y else others, b), side)
            _put(result, level, twice if x is y else _add(twice, self._product(lower, b, side)))
            lower, others = _add(lower, a), _add(others, b)
        return result

    def _product(self, x: Part | None, y: Part | None, side: int) -> Part | None:
        # integers are packed into the digits of one number, whose product has all the sums of products in its digits
        if x is None or y is None:
            return None
        (low, cells), (other, others) = x, y
        n, width = len(cells) + len(others) - 1, len(str(sum(cells) * sum(others)))  # of the largest sum that there may be
        require(n <= MOST_CELLS and n * width <= _MOST_DIGITS, "the grid is too large")
        self.meter.spend(n * (width + _CELLS) // (6 * _CELLS))
        exact = Context(n * width + 1, ROUND_HALF_EVEN, -MOST_PLACES, MOST_PLACES, 1, 0, [], [Inexact])
        packed = [Decimal("".join([f"{c:0{width}d}" for c in numbers])) for numbers in ([cells] if x is y else [cells, others])]
        text = str(exact.multiply(packed[0], packed[-1])).zfill(n * width)
        return low + other, _divide([int(text[i : i + width]) for i in range(0, n * width, width)], self.digits, up=self.up or side > 0)

    def _lift(self, part: Part | None, level: int, to: int, side: int) -> Part | None:
        # the same losses on a coarser level
        while part is not None and level < to:
            n, (low, cells) = 1 << min(to - level, _STEP), part
            self.meter.spend(len(cells) * (self.digits + 2 * _CELLS) // (18 * _CELLS))
            cells = [0] * (low % n) + cells + [0] * (-(low + len(cells)) % n)
            size, found = len(cells) // n, [0] * (len(cells) // n + 1)
            for k, share in enumerate(self._shares(level, n, side)):
                moved = _divide([mass * share for mass in cells[k // 2 :: n]], self.digits + _MORE, up=self.up or side > 0)
                found[k % 2 : size + k % 2] = map(int.__add__, found[k % 2 : size + k % 2], moved)
            part, level = (low // n, found), level + n.bit_length() - 1
        return part

    def _shares(self, level: int, n: int, side: int) -> list[int]:
        # of a mass that is r cells above a place of a lattice of n cells, for each r what goes there and to the next place: such that the
        # masses under P and under Q are kept, or the outcome goes to the nearest place, with its mass under Q times exp(loss)
        require(self.width(level) * n <= _WIDEST, "a cell is too wide to be merged with its neighbor")
        h, result = curves.decimal(self.width(level)), [10 ** (self.digits + _MORE), 0]
        for r in range(1, n):
            above = (1 - (-h * r).exp()) / (1 - (-h * n).exp()) if self.up else _HALF if 2 * r == n else Decimal(2 * r > n)
            both = (1 - above) * (-h * r * side).exp(), above * (h * (n - r) * side).exp()
            result += [int(w.scaleb(self.digits + _MORE)) + int((self.up or side > 0) and w > 0) for w in both]
        return result

    def lift(self, laws: Laws, floor: int) -> Laws:
        """Return the laws with what is on levels below the floor brought to it (section 12)."""
        found = tuple(Law({}, law.beyond, law.shift) for law in laws)
        for side, (law, new) in enumerate(zip(laws, found, strict=True)):
            for level, part in law.parts.items():
                _put(new, max(level, floor), _add(new.parts.get(max(level, floor)), self._lift(part, level, floor, side)))
        return found

    def trim(self, laws: Laws, share: Fraction) -> Laws:
        """Return the laws without cells at the ends of parts that hold at most this share of the tails: moved up or dropped (section 3)."""
        few, many = (int(tail * share * 10**self.digits) for tail in self.tails)
        sums, found, beyond = {level: sum(cells) for level, (_, cells) in laws[0].parts.items()}, [dict[int, Part]() for _ in laws], 0
        for level, total in sums.items():
            low, cells = laws[0].parts[level]
            first, last, above, below = 0, len(cells), 0, 0
            least = few if total == max(sums.values()) else min(few, many)  # what is rare is cut sparingly
            while last > 1 and above + cells[last - 1] <= many:
                last, above = last - 1, above + cells[last - 1]
            while first < last - 1 and below + cells[first] <= least:
                first, below = first + 1, below + cells[first]
            for law, parts in zip(laws, found, strict=True):
                parts[level] = low + first, law.parts[level][1][first:last]
            if self.up:
                found[0][level][1][0] += below
                beyond += above
        result = tuple(Law(parts, law.beyond + beyond, law.shift) for law, parts in zip(laws, found, strict=True))
        return result if self.up else self._settle(*result)

    def _settle(self, p: Law, q: Law) -> Laws:
        # all losses are moved by a number where otherwise the masses under Q would become much larger or smaller than those under P
        if not p.mass or p.mass < 2 * q.mass < 4 * p.mass:
            return p, q
        move = Fraction(int((Decimal(p.mass) / q.mass).ln().scaleb(self.digits)), 10**self.digits)
        factor, places = int(curves.decimal(move).exp().scaleb(self.digits + _MORE)) + 1, self.digits + _MORE
        parts = {level: (low, _divide([c * factor for c in cells], places, up=True)) for level, (low, cells) in q.parts.items()}
        return Law(p.parts, p.beyond, p.shift + move), Law(parts, q.beyond, q.shift + move)

    def power(self, laws: Laws, count: int, floors: list[int]) -> Laws:
        """Return the laws of a sum of independent losses with these laws, by squaring; after each, nothing stays below a floor."""
        require(len(floors) == count.bit_length() - 1, "the floors are not as many as the squarings")
        # the powers with an exponent 2^k, and the product of those that the count has: what comes late is used once, on its coarse cells
        square, result = laws, laws if count % 2 else None
        for k, floor in enumerate(floors, 1):
            square = self.trim(self.lift(self.multiply(square, square), floor), Fraction(1 << k, count))
            if count >> k & 1:
                done = Fraction(count & ((2 << k) - 1), count)
                result = square if result is None else self.trim(self.lift(self.multiply(result, square), floor), done)
        return laws if result is None else result

    def delta(self, laws: Laws, epsilon: Fraction) -> Fraction:
        """Return a bound on delta at epsilon: the sum of what is positive of p - exp(epsilon - loss) q, and what is beyond (section 5)."""
        total = Decimal(laws[0].beyond)
        with localcontext(curves.context(precision(self.digits, self.unit))):
            for level, (low, cells) in laws[0].parts.items():
                h = self.width(level)
                y, step = curves.decimal(epsilon - laws[0].shift - low * h).exp(), (-curves.decimal(h)).exp()
                for p, q in zip(cells, laws[-1].parts[level][1], strict=True):
                    total += max(p - y * q, _ZERO)
                    y *= step
            return Fraction(self.units(total.scaleb(-self.digits), up=self.up), 10**self.digits)


def _divide(numbers: list[int], places: int, *, up: bool) -> list[int]:
    scale = 10**places
    return [-(-a // scale) for a in numbers] if up else [a // scale for a in numbers]


def _put(law: Law, level: int, part: Part | None) -> None:
    law.parts.update({} if part is None else {level: part})


def _add(x: Part | None, y: Part | None) -> Part | None:
    if x is None or y is None:
        return x or y
    low, high = min(x[0], y[0]), max(x[0] + len(x[1]), y[0] + len(y[1]))
    require(high - low <= MOST_CELLS, "the grid is too large")
    cells = [0] * (x[0] - low) + x[1] + [0] * (high - x[0] - len(x[1]))
    for i, mass in enumerate(y[1], y[0] - low):
        cells[i] += mass
    return low, cells


def precision(digits: int, unit: Fraction) -> int:
    """Return the digits that are worked with for masses of so many digits on a lattice with this unit."""
    return digits + curves.GUARD + len(str(1 + int(1 / unit))) + 3
