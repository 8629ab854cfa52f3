"""Boxes: interval evaluation of terms over boxes; and bisection, the rule ``boxes``."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

from ..core import intervals as iv
from ..core.intervals import Interval
from ..core.terms import Meter, Rejected, Term, postorder, require
from ..core.theorems import Box

_FARTHEST = 1300


Piece = Mapping[str, Interval]


def _piecewise(comparisons: tuple[str, ...], *args: Interval) -> Interval:
    # the hull of the values that some point of the box may select; the last argument is a precision
    result: Interval | None = None
    for i, sign in enumerate(comparisons):
        left, right = args[3 * i + 1 : 3 * i + 3] if sign[0] == "<" else args[3 * i + 2 : 3 * i : -1]
        weak = sign[-1] == "="
        if left[0] < right[1] or (weak and left[0] == right[1]):
            result = iv.join(result or args[3 * i], args[3 * i])
        if left[1] < right[0] or (weak and left[1] == right[0]):
            return result or args[3 * i]
    return iv.join(result or args[-2], args[-2])


def _operation(node: Term) -> Callable[..., Interval]:
    # from enclosures of the arguments and a precision
    if node.op in ("num", "piecewise"):
        return partial(iv.from_fraction if node.op == "num" else _piecewise, node.value)
    return (lambda x, _, p: iv.power(x, node.args[1].value, p)) if node.op == "pow" else iv.OPERATIONS[node.op]


def _work(node: Term) -> int:
    # what an operation costs beside an addition; a constant one is done once
    fractional = node.op == "pow" and node.args[1].value.denominator > 2
    return 40 if fractional else {"exp": 5, "log": 12, "sin": 40, "cos": 40, "pow": 2}.get(node.op, 0)


class Program:
    """Terms prepared for repeated interval evaluation: each shared node is evaluated once a box, a constant node once."""

    def __init__(self, terms: list[Term], p: int, meter: Meter) -> None:
        order = postorder(*terms)
        self.terms, self.p, self.meter = terms, p, meter
        self.cost = (len(order) + 2) * (1 + p // 256) + sum(map(_work, order)) * (1 + (p // 64) ** 2 // 4)
        self.meter.spend(self.cost)
        self.start, self.inputs = dict[Term, Interval](), [node for node in order if node.op == "var"]
        self.steps = [(node, _operation(node), node.args) for node in order if node.free and node.args]
        for node in order:
            if not node.free:
                self.start[node] = _operation(node)(*[self.start[a] for a in node.args], p)

    def run(self, box: Mapping[str, Interval]) -> list[Interval]:
        """Enclose the terms at every point of the box at which they are defined."""
        self.meter.spend(self.cost)
        values = self.start | {node: box[node.value] for node in self.inputs}
        for node, operation, args in self.steps:
            values[node] = operation(*[values[a] for a in args], self.p)
        return [values[term] for term in self.terms]


def enclose(term: Term, box: Box, meter: Meter, p: int = 64) -> Interval:
    """Enclose a term over a box by one interval evaluation."""
    return Program([term], p, meter).run({v: box[v].hull(p) for v in term.free})[0]


def _cut(x: Interval, p: int, *, from_zero: bool) -> Decimal:
    # a point strictly inside x: 1 or geometrically growing if x is unbounded, shrinking if x starts at an open zero
    lo, hi = x
    if hi == iv.INF and lo < 1:
        return iv.ONE
    if hi == iv.INF or (lo == 0 and from_zero):
        k = lo.adjusted() if hi == iv.INF else -hi.adjusted()
        require(k <= _FARTHEST, "unbounded pieces, or pieces at an open zero, cannot be decided")
        k = max(k, 1) * 2 if k > 2 else k + 1
        return Decimal((0, (1,), k if hi == iv.INF else -k))
    far = lo > 0 and hi.adjusted() - lo.adjusted() > 1
    middle = Decimal((0, (1,), (hi.adjusted() + lo.adjusted() + 1) // 2)) if far else iv.middle(x, p)
    require(lo < middle < hi, "a piece cannot be bisected any further at this precision")
    return middle


class Search:
    """Bisection for one term, given in one or more equal forms, over one box."""

    # The slopes are the term's partial derivatives: they steer the bisection and, for the centred form only, enter the enclosures, for
    # which the term has to be differentiable on the whole box.
    def __init__(self, forms: list[Term], slopes: Mapping[str, Term], box: Box, p: int, meter: Meter) -> None:
        self.p, self.box, names = p, box, sorted(frozenset().union(*(f.free for f in forms)))
        self.start = {v: box[v].hull(p) for v in names}
        self.forms = Program(forms, p, meter)
        self.slopes = Program([slopes[v] for v in names], p, meter) if slopes.keys() >= set(names) else None

    def _centred(self, piece: Piece, slopes: Piece) -> Interval:
        # f(c) + sum of slope * (x - c), by the mean value theorem in one coordinate after the other; c must be a point of the box
        self.forms.meter.spend(10 * len(piece))
        centre = {v: iv.middle(x, self.p) if x[1] != iv.INF else iv.INF for v, x in piece.items()}
        for v, c in centre.items():
            if abs(c.adjusted()) > 2 * _FARTHEST or c == iv.INF or not self.box[v].contains(Fraction(c)):
                return iv.WHOLE
        total = reduce(iv.meet, self.forms.run({v: (c, c) for v, c in centre.items()}))
        for v, c in centre.items():
            total = iv.add(total, iv.mul(slopes[v], iv.add(piece[v], iv.negate((c, c)), self.p), self.p), self.p)
        return total

    def _halves(self, piece: Piece, depth: Mapping[str, int], slopes: Piece) -> list[tuple[Piece, Mapping[str, int]]]:
        # cut at the coordinate with the largest slope times width; the least bisected one among equals
        self.forms.meter.spend(5 * len(piece))
        effects: dict[str, tuple[Decimal, int]] = {}
        for v, x in piece.items():
            width = iv.add(x, iv.negate((x[0], x[0])), self.p)
            if x[0] < x[1]:
                effects[v] = iv.mul(iv.absolute(slopes.get(v, iv.UNIT)), width, self.p)[1], -depth[v]
        require(effects, "the enclosure of a single point does not decide")
        v = max(effects, key=lambda v: effects[v])
        at = _cut(piece[v], self.p, from_zero=self.box[v].open)
        return [({**piece, v: half}, {**depth, v: depth[v] + 1}) for half in ((at, piece[v][1]), (piece[v][0], at))]

    def prove(self, *, strict: bool, budget: int, centred: bool) -> None:
        """Show that the term is >= 0 (> 0 if strict) on the whole box; reject if at most budget pieces do not show it."""
        stack: list[tuple[Piece, Mapping[str, int]]] = [(self.start, dict.fromkeys(self.start, 0))]
        for _ in range(budget):
            piece, depth = stack.pop()
            low, high = reduce(iv.meet, self.forms.run(piece))
            slopes: Piece = {}
            if not (low > 0 or (low == 0 and not strict)) and self.slopes and (centred or len(piece) > 1):
                slopes = dict(zip(piece, self.slopes.run(piece), strict=True))
                low, high = iv.meet((low, high), self._centred(piece, slopes)) if centred else (low, high)
            if not (low > 0 or (low == 0 and not strict)):
                require(high > 0 or (high == 0 and not strict), "the goal is false on a whole piece")
                stack += self._halves(piece, depth, slopes)
            if not stack:
                return
        raise Rejected(f"{budget} boxes are not enough")
