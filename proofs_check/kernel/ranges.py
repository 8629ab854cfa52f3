"""Boxes: what each variable ranges over, and interval evaluation of terms over boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from . import intervals as iv
from .errors import Meter, Rejected
from .intervals import Interval
from .terms import Term, number, postorder


@dataclass(frozen=True, slots=True)
class Range:
    """[lo, hi], or (lo, hi] if open; without hi, all finite numbers from lo on. Never empty."""

    lo: Fraction
    hi: Fraction | None
    open: bool = False

    def __post_init__(self) -> None:
        if self.hi is not None and (self.hi < self.lo or (self.open and self.hi == self.lo)):
            raise Rejected("a range is empty")

    def contains(self, q: Fraction) -> bool:
        """Whether q is in the range."""
        return (self.lo < q if self.open else self.lo <= q) and (self.hi is None or q <= self.hi)

    def hull(self, p: int) -> Interval:
        """Return an interval that contains the range."""
        return iv.from_fraction(self.lo, p)[0], iv.INF if self.hi is None else iv.from_fraction(self.hi, p)[1]


Box = Mapping[str, Range]
_UNARY = {"exp": iv.exp, "log": iv.log, "sin": iv.sin, "cos": iv.cos}
_BINARY = {"add": iv.add, "mul": iv.mul}


def _piecewise(comparisons: tuple[str, ...], args: list[Interval]) -> Interval:
    # the hull of the values that some point of the box may select
    possible: list[Interval] = []
    for i, sign in enumerate((*comparisons, "")):
        possible.append(args[3 * i])
        if not sign:
            break
        left, right = args[3 * i + 1 : 3 * i + 3] if sign[0] == "<" else args[3 * i + 2 : 3 * i : -1]
        never, always = iv.compare(left[0], right[1]), iv.compare(left[1], right[0])
        if never > 0 or (sign in "<>" and never == 0):
            possible.pop()
        elif always < 0 or (sign not in "<>" and always == 0):
            break
    result = possible[0]
    for other in possible[1:]:
        result = iv.join(result, other)
    return result


def _evaluate(node: Term, args: list[Interval], p: int) -> Interval:
    # one operation; the result contains every value at which the operation is defined
    op, c = node.op, number(node.args[1]) if node.op == "pow" else number(node)
    if op in _UNARY:
        return _UNARY[op](args[0], p)
    if op in _BINARY:
        return _BINARY[op](args[0], args[1], p)
    if op == "div":
        return iv.mul(args[0], iv.reciprocal(args[1], p + 8), p)
    if op == "pow":
        return iv.exp(iv.mul(args[1], iv.log(args[0], p + 16), p + 16), p) if c is None else iv.power(args[0], c, p)
    if op == "piecewise" and isinstance(node.value, tuple):
        return _piecewise(node.value, args)
    if op in ("abs", "max"):
        return iv.absolute(args[0]) if op == "abs" else iv.maximum(args[0], args[1])
    if op == "pi" or c is not None:
        return iv.pi(p) if c is None else iv.from_fraction(c, p)
    raise Rejected(f"no interval evaluation of {op}")


class Program:
    """Terms compiled for repeated interval evaluation: each shared node is evaluated once a box."""

    def __init__(self, terms: list[Term], p: int, meter: Meter) -> None:
        order = postorder(*terms)
        place = {node: i for i, node in enumerate(order)}
        self.p, self.meter, self.results = p, meter, [place[t] for t in terms]
        self.start = [iv.WHOLE] * len(order)
        steps = [(i, node, [place[a] for a in node.args]) for i, node in enumerate(order)]
        self.steps = [step for step in steps if step[1].free]
        meter.spend(len(order) * (1 + p // 128))
        for i, node, args in steps:
            if not node.free:
                self.start[i] = _evaluate(node, [self.start[a] for a in args], p)
        self.cost = (len(self.steps) + 2) * (1 + p // 128)

    def run(self, box: Mapping[str, Interval]) -> list[Interval]:
        """Enclose the terms at every point of the box at which they are defined."""
        self.meter.spend(self.cost)
        values = self.start.copy()
        for i, node, args in self.steps:
            values[i] = box[str(node.value)] if node.op == "var" else _evaluate(node, [values[a] for a in args], self.p)
        return [values[i] for i in self.results]


def enclose(term: Term, box: Box, meter: Meter, p: int = 64) -> Interval:
    """Enclose a term over a box by one interval evaluation."""
    return Program([term], p, meter).run({v: box[v].hull(p) for v in term.free})[0]
