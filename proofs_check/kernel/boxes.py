"""The rule ``boxes``: bisection of a box until every piece has an enclosure of the right sign."""

from __future__ import annotations

from . import intervals as iv
from .errors import Meter, Rejected
from .intervals import Interval, Num
from .ranges import Box, Program, Range
from .terms import Term

Piece = tuple[Interval, ...]
_GEOMETRIC, _FARTHEST = 8, 4096


def _size(a: Num) -> int:
    """k with 2**(k - 1) <= |a| < 2**k."""
    return a[0].bit_length() + a[1]


def cut(x: Interval, p: int, *, from_zero: bool) -> Num:
    """A point strictly inside x: 1 or geometrically growing if x is unbounded, shrinking if x starts at an open zero."""
    lo, hi = x
    if hi == iv.INF:
        if lo[0] <= 0 or _size(lo) < 1:
            return iv.ONE
        k = _size(lo)
        if k > _FARTHEST:
            raise Rejected("unbounded pieces cannot be decided")
        return (1, k if k < _GEOMETRIC else 2 * k)
    if lo[0] == 0 and from_zero:
        k = _size(hi) - 1
        if k < -_FARTHEST:
            raise Rejected("pieces at zero cannot be decided")
        return (1, k - 1 if k > -_GEOMETRIC else 2 * k)
    if lo[0] > 0 and _size(hi) - _size(lo) > 3:
        return (1, (_size(hi) + _size(lo)) // 2)
    m, e = iv.add((lo, lo), (hi, hi), p)[0]
    middle = iv.down(m, e - 1, p)
    if iv.compare(middle, lo) <= 0 or iv.compare(middle, hi) >= 0:
        raise Rejected("a piece cannot be bisected any further at this precision")
    return middle


class Search:
    """Bisection for one term over one box. ``slopes`` are its partial derivatives: they steer the bisection and, for the
    centred form only, enter the enclosures, for which they have to exist on the whole box.
    """

    def __init__(self, forms: list[Term], slopes: dict[str, Term], box: Box, p: int, meter: Meter) -> None:
        self.p, self.box = p, box
        self.names = sorted(frozenset().union(*(f.free for f in forms)))
        self.forms = Program(forms, p, meter)
        self.value = Program(forms[:1], p, meter)
        self.slopes = Program([slopes[v] for v in self.names], p, meter) if len(slopes) >= len(self.names) else None

    def enclose(self, piece: Piece) -> Interval:
        """Natural enclosures of all forms of the term, intersected."""
        results = self.forms.run(dict(zip(self.names, piece, strict=True)))
        found = results[0]
        for other in results[1:]:
            found = iv.meet(found, other)
        return found

    def centre(self, piece: Piece) -> tuple[Num, ...] | None:
        """A point of the box inside a bounded piece."""
        points: list[Num] = []
        for v, x in zip(self.names, piece, strict=True):
            if x[1] == iv.INF or max(abs(x[0][1]), abs(x[1][1])) > 2 * _FARTHEST:
                return None
            m, e = iv.add((x[0], x[0]), (x[1], x[1]), self.p)[0]
            if not self.box[v].contains(iv.to_fraction((m, e - 1))):
                return None
            points.append((m, e - 1))
        return tuple(points)

    def centred(self, piece: Piece, slopes: list[Interval]) -> Interval:
        """f(c) + sum of slope * (x - c): the mean value theorem, one coordinate after the other."""
        middle = self.centre(piece)
        if middle is None:
            return iv.WHOLE
        total = self.value.run({v: (c, c) for v, c in zip(self.names, middle, strict=True)})[0]
        for x, c, slope in zip(piece, middle, slopes, strict=True):
            step = iv.add(x, iv.negate((c, c)), self.p)
            total = iv.add(total, iv.mul(slope, step, self.p), self.p)
        return total

    def widest(self, piece: Piece, depth: tuple[int, ...], slopes: list[Interval] | None) -> int:
        """The coordinate with the largest slope times width; the least bisected one among equals."""
        best, found = iv.ZERO, -1
        for i, x in enumerate(piece):
            if iv.compare(x[0], x[1]) >= 0:
                continue
            width = iv.add(x, iv.negate((x[0], x[0])), self.p)
            slope = iv.absolute(slopes[i]) if slopes else (iv.ONE, iv.ONE)
            effect = iv.mul(slope, width, self.p)[1]
            order = iv.compare(effect, best) if effect[1] < iv.INF[1] or best[1] < iv.INF[1] else 0
            if found < 0 or order > 0 or (order == 0 and depth[i] < depth[found]):
                best, found = effect, i
        if found < 0:
            raise Rejected("the enclosure of a single point does not decide")
        return found

    def prove(self, *, strict: bool, budget: int, centred: bool) -> None:
        """The term is >= 0 (> 0 if strict) on the whole box; rejects if at most budget pieces do not show it."""
        start = tuple(self.box[v].hull(self.p) for v in self.names)
        stack: list[tuple[Piece, tuple[int, ...]]] = [(start, (0,) * len(start))]
        seen = 0
        while stack:
            piece, depth = stack.pop()
            seen += 1
            if seen > budget:
                raise Rejected(f"{budget} boxes are not enough")
            value = self.enclose(piece)
            if decides(value, strict=strict):
                continue
            slopes = None
            if self.slopes and (centred or len(piece) > 1):
                slopes = self.slopes.run(dict(zip(self.names, piece, strict=True)))
            if centred and slopes is not None:
                value = iv.meet(value, self.centred(piece, slopes))
                if decides(value, strict=strict):
                    continue
            if value[1][0] < 0 or (strict and value[1][0] == 0):
                raise Rejected("the goal is false on a whole piece")
            i = self.widest(piece, depth, slopes)
            stack.extend(self.halves(piece, depth, i))

    def halves(self, piece: Piece, depth: tuple[int, ...], i: int) -> list[tuple[Piece, tuple[int, ...]]]:
        """The two closed halves of a piece along one coordinate."""
        at = cut(piece[i], self.p, from_zero=self.box[self.names[i]].open)
        deeper = (*depth[:i], depth[i] + 1, *depth[i + 1 :])
        low, high = (piece[i][0], at), (at, piece[i][1])
        return [((*piece[:i], half, *piece[i + 1 :]), deeper) for half in (high, low)]


def decides(value: Interval, *, strict: bool) -> bool:
    """Whether an enclosure proves the sign."""
    return value[0][0] > 0 or (not strict and value[0][0] == 0)


def single_points(box: Box) -> dict[str, Range]:
    """The variables that have one value only."""
    return {v: r for v, r in box.items() if r.lo == r.hi}
