"""Boxes: interval evaluation of terms over boxes, and over pieces that cover them, for the rule ``boxes``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from ..core import intervals as iv
from ..core.documents import Meter, Rejected, require
from ..core.intervals import Interval
from ..core.terms import Term, postorder
from ..core.theorems import Box, Goal, Premises, Question

FARTHEST = 1300
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
        find = values.__getitem__
        for node, operation, args in self.steps:
            values[node] = operation(*map(find, args), self.p)
        return [values[term] for term in self.terms]


def enclose(term: Term, box: Box, meter: Meter, p: int = 64) -> Interval:
    """Enclose a term over a box by one interval evaluation."""
    return Program([term], p, meter).run({v: box[v].hull(p) for v in term.free})[0]


def enclose_by_slopes(forms: Program, box: Box, piece: Piece, slopes: Piece) -> Interval:
    """Enclose a term on a piece of a box by f(c) + sum of slope * (x - c), the mean value theorem in one coordinate after the other."""
    p, centre = forms.p, {v: iv.middle(x, forms.p) if x[1] != iv.INF else iv.INF for v, x in piece.items()}
    forms.meter.spend(10 * len(piece))
    for v, c in centre.items():  # which must be a point of the box
        if abs(c.adjusted()) > 2 * FARTHEST or c == iv.INF or not box[v].contains(Fraction(c)):
            return iv.WHOLE
    total = reduce(iv.meet, forms.run({v: (c, c) for v, c in centre.items()}))
    for v, c in centre.items():
        total = iv.add(total, iv.mul(slopes[v], iv.add(piece[v], iv.negate((c, c)), p), p), p)
    return total


@dataclass(frozen=True, slots=True)
class Undecided(Question):
    """A piece on which an enclosure does not show a goal: at which place of which variable is it cut? With a note for both parts."""

    goal: Goal
    precision: int
    piece: Piece
    value: Interval
    slopes: Piece  # if they are known
    note: Any = None


def cover(goal: Goal, forms: Program, gradient: Program | None, budget: int) -> Premises[None]:
    """Pieces cover the box of a goal, at most so many, and on each an enclosure shows it, of equal forms of its term; or by slopes."""

    def holds(value: Interval) -> bool:
        return value[0] > 0 or (value[0] == 0 and not goal.strict)

    pieces: list[tuple[Piece, object]] = [({v: goal.box[v].hull(forms.p) for v in sorted(goal.term.free)}, None)]
    for _ in range(budget):
        piece, note = pieces.pop()
        value, slopes = reduce(iv.meet, forms.run(piece)), dict[str, Interval]()
        if gradient and not holds(value):
            slopes = dict(zip(piece, gradient.run(piece), strict=True))
            value = iv.meet(value, enclose_by_slopes(forms, goal.box, piece, slopes))
        if not holds(value):
            v, at, note = yield Undecided(goal, forms.p, piece, value, slopes, note)
            require(piece[v][0] < at < piece[v][1], "a piece is cut outside of it")
            pieces += [({**piece, v: half}, note) for half in ((at, piece[v][1]), (piece[v][0], at))]
        if not pieces:
            return
    raise Rejected(f"{budget} boxes are not enough")
