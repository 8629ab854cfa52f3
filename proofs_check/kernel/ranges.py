"""Boxes: what each variable ranges over, and interval evaluation of terms over boxes."""

from collections.abc import Callable, Mapping
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
    hi: Fraction | None = None
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


def _piecewise(comparisons: tuple[str, ...], args: list[Interval]) -> Interval:
    # the hull of the values that some point of the box may select
    result: Interval | None = None
    for i, sign in enumerate(comparisons):
        left, right = args[3 * i + 1 : 3 * i + 3] if sign[0] == "<" else args[3 * i + 2 : 3 * i : -1]
        weak = sign[-1] == "="
        if left[0] < right[1] or (weak and left[0] == right[1]):
            result = iv.join(result or args[3 * i], args[3 * i])
        if left[1] < right[0] or (weak and left[1] == right[0]):
            return result or args[3 * i]
    return iv.join(result or args[-1], args[-1])


def _power(x: Interval, y: Interval, node: Term, p: int) -> Interval:
    c = number(node.args[1])
    return iv.exp(iv.mul(y, iv.log(x, p + 16), p + 16), p) if c is None else iv.power(x, c, p)


_EVALUATE: dict[str, Callable[[list[Interval], Term, int], Interval]] = {
    "add": lambda x, _, p: iv.add(x[0], x[1], p),
    "mul": lambda x, _, p: iv.mul(x[0], x[1], p),
    "div": lambda x, _, p: iv.mul(x[0], iv.reciprocal(x[1], p + 8), p),
    "pow": lambda x, node, p: _power(x[0], x[1], node, p),
    "exp": lambda x, _, p: iv.exp(x[0], p),
    "log": lambda x, _, p: iv.log(x[0], p),
    "sin": lambda x, _, p: iv.sin(x[0], p),
    "cos": lambda x, _, p: iv.cos(x[0], p),
    "abs": lambda x, _node, _p: iv.absolute(x[0]),
    "max": lambda x, _node, _p: iv.maximum(x[0], x[1]),
    "num": lambda _, node, p: iv.from_fraction(number(node) or Fraction(0), p),
    "pi": lambda _x, _node, p: iv.pi(p),
    "piecewise": lambda x, node, _: _piecewise(node.value if isinstance(node.value, tuple) else (), x),
}


class Program:
    """Terms compiled for repeated interval evaluation: each shared node is evaluated once a box, a constant node once."""

    def __init__(self, terms: list[Term], p: int, meter: Meter) -> None:
        order = postorder(*terms)
        place = {node: i for i, node in enumerate(order)}
        self.p, self.meter, self.results, self.start = p, meter, [place[t] for t in terms], [iv.WHOLE] * len(order)
        steps = [(i, node, [place[a] for a in node.args]) for i, node in enumerate(order)]
        self.steps, self.cost = [step for step in steps if step[1].free], (len(order) + 2) * (1 + p // 128)
        self.meter.spend(self.cost)
        for i, node, args in steps:
            self.start[i] = iv.WHOLE if node.free else _EVALUATE[node.op]([self.start[a] for a in args], node, p)

    def run(self, box: Mapping[str, Interval]) -> list[Interval]:
        """Enclose the terms at every point of the box at which they are defined."""
        self.meter.spend(self.cost)
        values = self.start.copy()
        for i, node, args in self.steps:
            values[i] = box[str(node.value)] if node.op == "var" else _EVALUATE[node.op]([values[a] for a in args], node, self.p)
        return [values[i] for i in self.results]


def enclose(term: Term, box: Box, meter: Meter, p: int = 64) -> Interval:
    """Enclose a term over a box by one interval evaluation."""
    return Program([term], p, meter).run({v: box[v].hull(p) for v in term.free})[0]
