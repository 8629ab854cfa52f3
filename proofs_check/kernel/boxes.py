"""Boxes: what each variable ranges over; interval evaluation of terms over boxes; and bisection, the rule ``boxes``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

from . import intervals as iv
from .intervals import Interval
from .terms import Meter, Rejected, Term, postorder

_FARTHEST = 1300


@dataclass(frozen=True, slots=True)
class Range:
    """[lo, hi], or (lo, hi] if open; without hi, all finite numbers from lo on. Never empty."""

    lo: Fraction
    hi: Fraction | None = None
    open: bool = False

    def __post_init__(self) -> None:
        if self.hi is not None and (self.hi < self.lo or (self.open and self.hi == self.lo)):
            raise Rejected("a range is empty")

    @property
    def sign(self) -> int:
        """2, 1 or 0: the numbers of the range are > 0, >= 0, or neither."""
        return 2 if self.lo > 0 or (self.lo == 0 and self.open) else int(self.lo == 0)

    def contains(self, q: Fraction) -> bool:
        """Whether q is in the range."""
        return (self.lo < q if self.open else self.lo <= q) and (self.hi is None or q <= self.hi)

    def hull(self, p: int) -> Interval:
        """Return an interval that contains the range."""
        return iv.from_fraction(self.lo, p)[0], iv.INF if self.hi is None else iv.from_fraction(self.hi, p)[1]


Box = Mapping[str, Range]
Piece = tuple[Interval, ...]


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


class Program:
    """Terms compiled for repeated interval evaluation: each shared node is evaluated once a box, a constant node once."""

    def __init__(self, terms: list[Term], p: int, meter: Meter) -> None:
        order = postorder(*terms)
        place = {node: i for i, node in enumerate(order)}
        self.p, self.meter, self.cost, self.results = p, meter, (len(order) + 2) * (1 + p // 128), [place[t] for t in terms]
        self.meter.spend(self.cost)
        self.start, self.inputs, self.steps = (
            list[Interval](),
            list[tuple[int, str]](),
            list[tuple[int, Callable[..., Interval], list[int]]](),
        )
        for i, node in enumerate(order):
            args = [place[a] for a in node.args]
            self.start.append(iv.WHOLE if node.free else _operation(node)(*[self.start[a] for a in args], p))
            if node.op == "var":
                self.inputs.append((i, node.value))
            elif node.free:
                self.steps.append((i, _operation(node), args))

    def run(self, box: Mapping[str, Interval]) -> list[Interval]:
        """Enclose the terms at every point of the box at which they are defined."""
        self.meter.spend(self.cost)
        values, p = self.start.copy(), self.p
        for i, name in self.inputs:
            values[i] = box[name]
        for i, operation, args in self.steps:
            values[i] = operation(*[values[a] for a in args], p)
        return [values[i] for i in self.results]


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
    def __init__(self, forms: list[Term], slopes: Mapping[str, Term], box: Box, p: int, meter: Meter) -> None:
        self.p, self.box, self.names = p, box, sorted(frozenset().union(*(f.free for f in forms)))
        self.forms = Program(forms, p, meter)
        self.slopes = Program([slopes[v] for v in self.names], p, meter) if slopes.keys() >= set(self.names) else None

    def _run(self, program: Program, piece: Piece) -> list[Interval]:
        return program.run(dict(zip(self.names, piece, strict=True)))

    def _centred(self, piece: Piece, slopes: list[Interval]) -> Interval:
        # f(c) + sum of slope * (x - c), by the mean value theorem in one coordinate after the other; c must be a point of the box
        centre = [iv.middle(x, self.p) if x[1] != iv.INF else iv.INF for x in piece]
        for v, c in zip(self.names, centre, strict=True):
            if abs(c.adjusted()) > 2 * _FARTHEST or c == iv.INF or not self.box[v].contains(Fraction(c)):
                return iv.WHOLE
        total = reduce(iv.meet, self._run(self.forms, tuple((c, c) for c in centre)))
        for x, c, slope in zip(piece, centre, slopes, strict=True):
            total = iv.add(total, iv.mul(slope, iv.add(x, iv.negate((c, c)), self.p), self.p), self.p)
        return total

    def _widest(self, piece: Piece, depth: tuple[int, ...], slopes: list[Interval] | None) -> int:
        # the coordinate with the largest slope times width; the least bisected one among equals
        best: tuple[Decimal, int, int] | None = None
        for i, x in enumerate(piece):
            width = iv.add(x, iv.negate((x[0], x[0])), self.p)
            effect = iv.mul(iv.absolute(slopes[i]) if slopes else (iv.ONE, iv.ONE), width, self.p)[1]
            if x[0] < x[1]:
                best = max(best or (effect, -depth[i], -i), (effect, -depth[i], -i))
        if best is None:
            raise Rejected("the enclosure of a single point does not decide")
        return -best[2]

    def prove(self, *, strict: bool, budget: int, centred: bool) -> None:
        """Show that the term is >= 0 (> 0 if strict) on the whole box; reject if at most budget pieces do not show it."""
        stack = [(tuple(self.box[v].hull(self.p) for v in self.names), (0,) * len(self.names))]
        for _ in range(budget):
            piece, depth = stack.pop()
            low, high = reduce(iv.meet, self._run(self.forms, piece))
            slopes = None
            if not (low > 0 or (low == 0 and not strict)) and self.slopes and (centred or len(piece) > 1):
                slopes = self._run(self.slopes, piece)
                low, high = iv.meet((low, high), self._centred(piece, slopes)) if centred else (low, high)
            if not (low > 0 or (low == 0 and not strict)):
                if high < 0 or (strict and high == 0):
                    raise Rejected("the goal is false on a whole piece")
                i = self._widest(piece, depth, slopes)
                at = _cut(piece[i], self.p, from_zero=self.box[self.names[i]].open)
                deeper = (*depth[:i], depth[i] + 1, *depth[i + 1 :])
                stack += [((*piece[:i], half, *piece[i + 1 :]), deeper) for half in ((at, piece[i][1]), (piece[i][0], at))]
            if not stack:
                return
        raise Rejected(f"{budget} boxes are not enough")
