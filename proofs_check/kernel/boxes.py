"""The rule ``boxes``: bisection of a box until every piece has an enclosure of the right sign."""

from decimal import Decimal
from fractions import Fraction

from . import intervals as iv
from .errors import Meter, Rejected
from .intervals import Interval
from .ranges import Box, Program
from .terms import Term

Piece = tuple[Interval, ...]
_FARTHEST = 1300


def is_decided(value: Interval, *, strict: bool) -> bool:
    # whether an enclosure shows that a value is >= 0 (> 0 if strict)
    return value[0] > 0 if strict else value[0] >= 0


def _cut(x: Interval, p: int, *, from_zero: bool) -> Decimal:
    # a point strictly inside x: 1 or geometrically growing if x is unbounded, shrinking if x starts at an open zero
    lo, hi = x
    if hi == iv.INF and lo < 1:
        return iv.ONE
    if hi == iv.INF or (lo == 0 and from_zero):
        k = lo.adjusted() if hi == iv.INF else -hi.adjusted()
        if k > _FARTHEST:
            raise Rejected("unbounded pieces, or pieces at an open zero, cannot be decided")
        k = max(k, 1) * 2 if k > 2 else k + 1
        return Decimal((0, (1,), k if hi == iv.INF else -k))
    far = lo > 0 and hi.adjusted() - lo.adjusted() > 1
    middle = Decimal((0, (1,), (hi.adjusted() + lo.adjusted() + 1) // 2)) if far else iv.middle(x, p)
    if not lo < middle < hi:
        raise Rejected("a piece cannot be bisected any further at this precision")
    return middle


class Search:
    """Bisection for one term, given in one or more equal forms, over one box."""

    # The slopes are the term's partial derivatives: they steer the bisection and, for the centred form only, enter the enclosures, for
    # which the term has to be differentiable on the whole box.
    def __init__(self, forms: list[Term], slopes: dict[str, Term], box: Box, p: int, meter: Meter) -> None:
        self.p, self.box, self.names = p, box, sorted(frozenset().union(*(f.free for f in forms)))
        self.forms, self.value = Program(forms, p, meter), Program(forms[:1], p, meter)
        self.slopes = Program([slopes[v] for v in self.names], p, meter) if slopes.keys() >= set(self.names) else None

    def _enclose(self, piece: Piece) -> Interval:
        found, *others = self.forms.run(dict(zip(self.names, piece, strict=True)))
        for other in others:
            found = iv.meet(found, other)
        return found

    def _centred(self, piece: Piece, slopes: list[Interval]) -> Interval:
        # f(c) + sum of slope * (x - c), by the mean value theorem in one coordinate after the other; c must be a point of the box
        centre: dict[str, Interval] = {}
        for v, x in zip(self.names, piece, strict=True):
            c = iv.middle(x, self.p) if x[1] != iv.INF else iv.INF
            if abs(c.adjusted()) > 2 * _FARTHEST or c == iv.INF or not self.box[v].contains(Fraction(c)):
                return iv.WHOLE
            centre[v] = (c, c)
        total = self.value.run(centre)[0]
        for x, point, slope in zip(piece, centre.values(), slopes, strict=True):
            total = iv.add(total, iv.mul(slope, iv.add(x, iv.negate(point), self.p), self.p), self.p)
        return total

    def _widest(self, piece: Piece, depth: tuple[int, ...], slopes: list[Interval] | None) -> int:
        # the coordinate with the largest slope times width; the least bisected one among equals
        best, found = iv.ZERO, -1
        for i, x in enumerate(piece):
            width = iv.add(x, iv.negate((x[0], x[0])), self.p)
            effect = iv.mul(iv.absolute(slopes[i]) if slopes else (iv.ONE, iv.ONE), width, self.p)[1]
            if x[0] < x[1] and (found < 0 or effect > best or (effect == best and depth[i] < depth[found])):
                best, found = effect, i
        if found < 0:
            raise Rejected("the enclosure of a single point does not decide")
        return found

    def prove(self, *, strict: bool, budget: int, centred: bool) -> None:
        """Show that the term is >= 0 (> 0 if strict) on the whole box; reject if at most budget pieces do not show it."""
        stack = [(tuple(self.box[v].hull(self.p) for v in self.names), (0,) * len(self.names))]
        for _ in range(budget):
            piece, depth = stack.pop()
            value = self._enclose(piece)
            use = self.slopes is not None and not is_decided(value, strict=strict) and (centred or len(piece) > 1)
            slopes = self.slopes.run(dict(zip(self.names, piece, strict=True))) if self.slopes and use else None
            if centred and slopes is not None:
                value = iv.meet(value, self._centred(piece, slopes))
            if not is_decided(value, strict=strict):
                if value[1] < 0 or (strict and value[1] == 0):
                    raise Rejected("the goal is false on a whole piece")
                i = self._widest(piece, depth, slopes)
                at = _cut(piece[i], self.p, from_zero=self.box[self.names[i]].open)
                deeper = (*depth[:i], depth[i] + 1, *depth[i + 1 :])
                stack += [((*piece[:i], half, *piece[i + 1 :]), deeper) for half in ((at, piece[i][1]), (piece[i][0], at))]
            if not stack:
                return
        raise Rejected(f"{budget} boxes are not enough")
