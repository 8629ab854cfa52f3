"""The worst record of a sampling rule under Gaussian noise: ε at δ over the whole declared domain, from both sides.

Theorem 10 (docs/gaussian-weights.md): where q ≤ q̄ and ζ/q ≤ μ̄ for all records of a cell, their pairs are dominated by that of (q̄, μ̄).
Cells cover the domain by branch and bound; each names a certified pair, and the two inequalities are claims of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from accountant.compositions.queries import point_at_delta
from accountant.weights.gaussian.many_steps import BOTH, StepBound, bound_steps, bounds_without_grid, compose_pair, enclose_root
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.table import TableRow, WeightTable
from accountant.weights.gaussian.target import GaussianTarget
from profiles.balls import lower_fraction, working_precision
from profiles.errors import InvalidSampling, Undecided
from profiles.numbers import decimal_above, decimal_below, exact_text
from profiles.terms import Term, free_symbols
from profiles.variables import Statistic
from proofs_check.branch_and_bound import SearchedTerm, enclose_supremum
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.suprema.ceilings import RecordTerm

_BITS, _DIGITS, _BOXES = 128, 9, 64
#: Records at which the lower side is looked for at first, in each direction of the box and in all.
_PLACES, _MOST_RECORDS, _MOST_LOOKS = 9, 27, 12
#: How much larger than a cell needs it a pair is tried at first, as a share of the gap; from which depth on a cell's middle is looked at.
_SHARE, _DEEP = Fraction(1, 6), 4
_GRIDS = (Fraction(1, 50), Fraction(1, 500))
#: The kernel computes no curve of a larger shift.
_MOST_SHIFT = Fraction(10**5)
_NOTHING_FINITE = "no finite epsilon was found at this delta; raise delta, or the least q"
Box = tuple[Statistic, ...]
Point = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class WorstCaseQuery:
    """What is asked of all records: ε at ``delta`` after ``steps`` steps, both sides about ``gap`` apart (relatively, or nats below 1),
    with at most ``budget`` cells.
    """

    delta: Fraction
    steps: int
    gap: Fraction
    budget: int


@dataclass(frozen=True, slots=True)
class Cell:
    """Records whose pairs are dominated by that of a row: ``q`` and ``shift`` are certificates of q(x) ≤ q̄ and ζ(x)/q(x) ≤ μ̄ for them."""

    row: int
    q: Mapping[str, Any] = field(repr=False)
    shift: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Split:
    """Records on both sides of a value of a statistic, which belongs to both."""

    name: str
    at: Fraction
    below: Cell | Split
    above: Cell | Split


@dataclass(frozen=True, slots=True)
class LowerEnd:
    """A record ``at`` which the rule's pair is at least that of (``mu``, ``q``), whose ε at δ is at least ``epsilon``, by ``claims``."""

    at: Point
    mu: Fraction
    q: Fraction
    epsilon: Fraction
    claims: tuple[Mapping[str, Any], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Cover:
    """ε at ``delta`` after ``steps`` steps is at most ``epsilon`` for every record: ``tree`` splits the domain into cells with their rows.

    ``lower`` is the other side, reached by a record. ``reached``: the two are as close as was asked for.
    """

    epsilon: Fraction
    delta: Fraction
    steps: int
    rows: tuple[TableRow, ...]
    tree: Cell | Split
    lower: LowerEnd | None
    reached: bool = True

    @property
    def table(self) -> WeightTable:
        """The rows as those of a table, each of which is checked by itself."""
        return WeightTable(GaussianTarget(self.epsilon, self.delta, self.steps), self.rows)

    def cells(self, box: Box) -> Iterator[tuple[Cell, Box]]:
        """Yield the cells of the cover with their ranges, which together are ``box``."""
        yield from _walk(self.tree, box)


def _walk(tree: Cell | Split, box: Box) -> Iterator[tuple[Cell, Box]]:
    if isinstance(tree, Cell):
        yield tree, box
        return
    for part, side in zip((tree.below, tree.above), cut(box, tree.name, tree.at), strict=True):
        yield from _walk(part, side)


def cut(box: Box, name: str, at: Fraction) -> tuple[Box, Box]:
    """Return the two sides of a box. Raises :class:`InvalidSampling` where the value lies outside its range."""
    if not any(item.name == name and item.lo < at < item.hi for item in box):
        raise InvalidSampling(f"a range of {name[:40]!r} is split at a value outside it; split inside")
    below = tuple(replace(item, hi=at) if item.name == name else item for item in box)
    return below, tuple(replace(item, lo=at) if item.name == name else item for item in box)


def cover_records(zeta: Term, q: Term, box: Box, asked: WorstCaseQuery) -> Cover:
    """Return both sides of the largest ε that is asked for over the records of ``box``.

    ``zeta`` and ``q`` are terms in the statistics. Raises :class:`Undecided` where no finite upper bound was found with so many cells.
    """
    search = _Search(zeta, q, asked)
    search.look_around(box)
    tree = search.cover_at_once(box) or search.cover(box, 0)
    lower = search.lower
    least = Fraction(0) if lower is None else lower.epsilon
    reached = search.epsilon - least <= asked.gap * max(Fraction(1), search.epsilon) * Fraction(101, 100)
    return Cover(search.epsilon, asked.delta, asked.steps, tuple(search.rows), tree, lower, reached)


@dataclass(slots=True)
class _Search:
    zeta: Term
    q: Term
    asked: WorstCaseQuery
    epsilon: Fraction = Fraction(0)
    lower: LowerEnd | None = None
    rows: list[TableRow] = field(default_factory=list)
    failed: list[tuple[Fraction, Fraction]] = field(default_factory=list)
    looks: int = 0
    count: int = 0

    @property
    def shift(self) -> Term:
        """The term of ζ/q, by which a record that is kept shifts the output."""
        return ("div", self.zeta, self.q)

    def look_around(self, box: Box) -> None:
        """Find the lower side at records of a coarse grid, and aim at an ε just above."""
        grid = [[item.lo + (item.hi - item.lo) * Fraction(k, _PLACES - 1) for k in range(_PLACES)] for item in box]
        points = [dict(zip((item.name for item in box), values, strict=True)) for values in product(*grid)]
        pairs = sorted(((pair_at(self.zeta, self.q, point), point) for point in points), key=lambda pair: -self._estimate(pair[0]))
        if any(pair is not None and pair[0] > _MOST_SHIFT for pair, _ in pairs):  # nor is a cell with such a record covered
            raise Undecided(_NOTHING_FINITE)
        for _, point in pairs[: _MOST_RECORDS if self.asked.steps == 1 else _PLACES]:
            self.look(point)
        self.aim()

    def aim(self) -> None:
        """Take the least ε that is worth trying."""
        least = Fraction(0) if self.lower is None else self.lower.epsilon
        wanted = decimal_above(least + self.asked.gap * max(Fraction(1), least), _DIGITS)
        if wanted > self.epsilon:
            self.epsilon = wanted
            self.failed.clear()

    def look(self, point: Point) -> None:
        """Evaluate a record, and keep it where its ε is the largest one."""
        pair = pair_at(self.zeta, self.q, point)
        if pair is None:
            return
        mu, q = pair
        if not Fraction(1, 10**9) <= mu <= _MOST_SHIFT or q < Fraction(1, 10**12):
            return
        bounded = point_at_delta(compose_pair(mu, q, self.asked.steps), self.asked.delta, Fraction(1, 1000))
        side = max(bounded.sides.values(), key=lambda end: end.lower or Fraction(0))
        if side.lower is not None and side.lower > (Fraction(0) if self.lower is None else self.lower.epsilon):
            claims = tuple(claim for claim in side.claims if claim["claim"] == "delta-lower")
            self.lower = LowerEnd(dict(point), mu, q, side.lower, claims)

    def cover_at_once(self, box: Box) -> Cell | None:
        """Return one cell for the whole domain, where the least ε of its pair is close enough to the lower side."""
        q, mu = ceiling(self.q, box), ceiling(self.shift, box)
        if not q or not mu:
            return None
        wanted = self.epsilon
        bounded = self._account(_short(mu), min(_short(q), Fraction(1)), Fraction(1, 1000))
        if bounded is None or bounded[0] > wanted:
            return None
        self.epsilon, row = bounded
        self.rows.append(row)
        cell = self._certify(box, 0)
        if cell is None:
            self.epsilon = wanted
            self.rows.clear()
        return cell

    def cover(self, box: Box, depth: int) -> Cell | Split:
        """Return cells for a box, each with a row whose pair dominates those of its records."""
        self.count += 1
        ceilings = ceiling(self.q, box), ceiling(self.shift, box)
        if ceilings[0] is not None and ceilings[1] is not None:
            cell = self._find_cell(box, min(ceilings[0], Fraction(1)), ceilings[1])
            if cell is not None:
                return cell
        if self._is_lowest(ceilings):
            return self._give_way(box, ceilings)
        if depth >= _DEEP and self.looks < _MOST_LOOKS:
            self.looks += 1
            self.look({item.name: (item.lo + item.hi) / 2 for item in box})
            self.aim()
        if self.count >= self.asked.budget or not any(item.lo < item.hi for item in box):
            return self._give_way(box, ceilings)
        wide = max(box, key=lambda item: (item.hi - item.lo) / self._scale(item))
        at = (wide.lo + wide.hi) / 2
        below, above = cut(box, wide.name, at)
        return Split(wide.name, at, self.cover(below, depth + 1), self.cover(above, depth + 1))

    def _is_lowest(self, ceilings: tuple[Fraction | None, Fraction | None]) -> bool:
        """Tell whether the pair of a box is that of the lower side, so that no smaller cells help."""
        (q, mu), room = ceilings, Fraction(1_000_001, 1_000_000)
        return None not in (self.lower, q, mu) and q <= self.lower.q * room and mu <= self.lower.mu * room  # type: ignore[operator, union-attr]

    def _scale(self, item: Statistic) -> Fraction:
        return max(abs(item.lo), abs(item.hi), Fraction(1, 10**12))

    def _give_way(self, box: Box, ceilings: tuple[Fraction | None, Fraction | None]) -> Cell:
        """Raise ε until the pair of this box is feasible: the upper side stays proved, and is farther from the lower one."""
        q, mu = ceilings
        if q is None or mu is None or not mu:
            raise Undecided(
                "q, or mu(1, x)/q(x), could not be bounded over the declared domain; change q, or narrow the ranges without looking at "
                "the data"
            )
        bounded = self._account(_short(mu), min(_short(q), Fraction(1)), Fraction(1, 1000))
        if bounded is None:
            raise Undecided(_NOTHING_FINITE)
        self.epsilon = max(self.epsilon, bounded[0])
        self.failed.clear()
        self.rows.append(bounded[1])
        cell = self._certify(box, len(self.rows) - 1)
        if cell is None:
            raise Undecided(
                "the worst record of this rule could not be bounded with so many cells; raise the budget, or narrow the ranges without "
                "looking at the data"
            )
        return cell

    def _find_cell(self, box: Box, q: Fraction, mu: Fraction) -> Cell | None:
        """Return the cell of a box where a row dominates its pairs, which is looked for among those that are there, or made."""
        place = next((k for k, row in enumerate(self.rows) if q <= row.q and mu <= row.mu), None)
        if place is None:
            room = 1 + self.asked.gap * _SHARE
            row = self._make_row(mu * room, min(q * room, Fraction(1))) or self._make_row(mu, q)
            if row is None:
                return None
            self.rows.append(row)
            place = len(self.rows) - 1
        return self._certify(box, place)

    def _account(self, mu: Fraction, q: Fraction, gap: Fraction) -> tuple[Fraction, TableRow] | None:
        """Return an ε that is enough for a pair, with its row, from an account of the pair by itself."""
        if mu > _MOST_SHIFT:
            return None
        bounded = point_at_delta(compose_pair(mu, q, self.asked.steps), self.asked.delta, gap)
        if bounded.upper is None:
            return None
        epsilon = decimal_above(max(bounded.upper, Fraction(1, 10**6)), _DIGITS)
        grids = {claim["direction"]: claim.get("grid") for claim in bounded.claims if claim["claim"] == "delta-upper"}
        return epsilon, TableRow(mu, q, tuple(StepBound(direction, self.asked.delta, grids.get(direction.value)) for direction in BOTH))

    def _certify(self, box: Box, place: int) -> Cell | None:
        """Return the cell of a box with a row, where the kernel accepts that the row dominates its pairs."""
        row = self.rows[place]
        below, shifted = RecordTerm(self.q, box).certify_at_most(row.q), RecordTerm(self.shift, box).certify_at_most(row.mu)
        return None if below is None or shifted is None else Cell(place, below, shifted)

    def _make_row(self, mu: Fraction, q: Fraction) -> TableRow | None:
        """Return a certified row with at least these numbers, None where δ(ε) is not shown to be at most δ."""
        mu, q = _short(max(mu, Fraction(1, 10**9))), min(_short(max(q, Fraction(1, 10**12))), Fraction(1))
        if mu > _MOST_SHIFT or any(mu >= other and q >= its for other, its in self.failed):
            return None
        step = OneStep(self.epsilon, self.asked.delta)
        if self.asked.steps == 1:
            if step.is_feasible(1 / q, mu * q, _BITS):
                return TableRow(mu, q, bounds_without_grid(self.asked.delta))
        elif q == 1:
            if step.is_feasible(Fraction(1), mu * enclose_root(self.asked.steps)[1], _BITS):
                return TableRow(mu, q, bounds_without_grid(self.asked.delta))
        else:
            for width in _GRIDS:
                bounds = tuple(bound_steps(compose_pair(mu, q, self.asked.steps), step, direction, width) for direction in BOTH)
                if all(bound.delta <= self.asked.delta for bound in bounds):
                    return TableRow(mu, q, bounds)
                if max(bound.delta for bound in bounds) > 3 * self.asked.delta:
                    break
            else:
                bounded = self._account(mu, q, self.asked.gap / 10)
                if bounded is not None and bounded[0] <= self.epsilon:
                    return bounded[1]
        self.failed.append((mu, q))
        return None

    def _estimate(self, pair: tuple[Fraction, Fraction] | None) -> float:
        """Return a number that mostly rises with ε: δ at some ε after one step, with the μ of all steps where q is 1."""
        if pair is None or not pair[0]:
            return 0.0
        mu, q = pair
        with working_precision(_BITS):
            step = OneStep(Fraction(1), self.asked.delta)
            _, root = enclose_root(self.asked.steps)
            return float(step.delta_remove(as_ball(1 / q), as_ball(mu * q) * as_ball(1 + (root - 1) * q)).mid())


def pair_at(zeta: Term, q: Term, point: Point) -> tuple[Fraction, Fraction] | None:
    """Return numbers at or just below ζ/q and q of a record; None where they are not enclosed."""
    ends = []
    for term in (("div", zeta, q), q):
        try:
            value = value_at(term, point, _BITS)
        except UndefinedAtPoint:
            return None
        if isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) < 150:
            ends.append(value)
            continue
        with working_precision(_BITS):
            low = lower_fraction(as_ball(value))
        if low is None or low < 0:
            return None
        ends.append(decimal_below(low, 30))
    return (ends[0], ends[1]) if 0 < ends[1] <= 1 else None


def ceiling(term: Term, box: Sequence[Statistic]) -> Fraction | None:
    """Return a number at or just above the supremum of a term over a box, None where none was found. It is certified elsewhere."""
    used = tuple(item for item in box if item.name in free_symbols(term))
    with working_precision(_BITS):
        objective = SearchedTerm(term, tuple(item.name for item in used))
        sides = {item.name: (item.lo, item.hi) for item in used}
        ends = enclose_supremum(objective, sides, Fraction(1, 10**6), _BOXES, least=Fraction(1, 10**9)).exact()
    return None if ends is None else _short(max(ends[1], Fraction(0)))


def _short(value: Fraction) -> Fraction:
    return value if len(exact_text(value)) <= _DIGITS + 6 else decimal_above(value, _DIGITS)
