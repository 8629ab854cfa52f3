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
        """An interval that contains the range."""
        return iv.from_fraction(self.lo, p)[0], iv.INF if self.hi is None else iv.from_fraction(self.hi, p)[1]


Box = Mapping[str, Range]


def _piecewise(node: Term, args: list[Interval]) -> Interval:
    """The hull of the values that some point of the box may select."""
    comparisons = node.value if isinstance(node.value, tuple) else ()
    result: Interval | None = None
    for i, sign in enumerate(comparisons):
        value, left, right = args[3 * i : 3 * i + 3]
        if sign in (">", ">="):
            left, right = right, left
        strict = sign in ("<", ">")
        never, always = iv.compare(left[0], right[1]), iv.compare(left[1], right[0])
        if never > 0 or (strict and never == 0):
            continue
        result = value if result is None else iv.join(result, value)
        if always < 0 or (not strict and always == 0):
            return result
    return args[-1] if result is None else iv.join(result, args[-1])


_UNARY = {"exp": iv.exp, "log": iv.log, "sin": iv.sin, "cos": iv.cos}
_BINARY = {"add": iv.add, "mul": iv.mul}


class Program:
    """Terms compiled for repeated interval evaluation: each shared node is evaluated once a box."""

    def __init__(self, terms: list[Term], p: int, meter: Meter) -> None:
        order = postorder(*terms)
        place = {node: i for i, node in enumerate(order)}
        self.p, self.meter = p, meter
        self.results = [place[t] for t in terms]
        self.constants: list[Interval | None] = [None] * len(order)
        self.steps: list[tuple[int, Term, str, tuple[int, ...]]] = []
        for i, node in enumerate(order):
            q, args = number(node), tuple(place[a] for a in node.args)
            if q is not None:
                self.constants[i] = iv.from_fraction(q, p)
            elif node.free:
                self.steps.append((i, node, node.op, args))
            else:
                self.constants[i] = self._evaluate(node, [self._constant(a) for a in args])
        self.cost = 1 + (len(self.steps) + 1) * (1 + p // 128)
        self.meter.spend(len(order) * (1 + p // 128))

    def _constant(self, i: int) -> Interval:
        """The interval of a closed node."""
        return self.constants[i] or iv.WHOLE

    def _evaluate(self, node: Term, args: list[Interval]) -> Interval:
        """One operation; the result contains every value at which the operation is defined."""
        op, p = node.op, self.p
        if op in _BINARY:
            return _BINARY[op](args[0], args[1], p)
        if op in _UNARY:
            return _UNARY[op](args[0], p)
        if op == "div":
            return iv.mul(args[0], iv.reciprocal(args[1], p + 8), p)
        if op == "pow":
            c = number(node.args[1])
            if c is not None:
                return iv.power(args[0], c, p)
            return iv.exp(iv.mul(args[1], iv.log(args[0], p + 16), p + 16), p)
        if op == "pi":
            return iv.pi(p)
        if op == "abs":
            return iv.absolute(args[0])
        if op in ("min", "max"):
            if op == "max":
                return iv.maximum(args[0], args[1])
            return iv.negate(iv.maximum(iv.negate(args[0]), iv.negate(args[1])))
        if op == "piecewise":
            return _piecewise(node, args)
        raise Rejected(f"no interval evaluation of {op}")

    def run(self, box: Mapping[str, Interval]) -> list[Interval]:
        """Enclosures of the terms at every point of the box at which they are defined."""
        self.meter.spend(self.cost)
        p, values = self.p, self.constants.copy()
        for i, node, op, args in self.steps:
            if op == "mul":
                values[i] = iv.mul(values[args[0]] or iv.WHOLE, values[args[1]] or iv.WHOLE, p)
            elif op == "add":
                values[i] = iv.add(values[args[0]] or iv.WHOLE, values[args[1]] or iv.WHOLE, p)
            elif op == "var":
                values[i] = box[str(node.value)]
            else:
                values[i] = self._evaluate(node, [values[a] or iv.WHOLE for a in args])
        return [values[i] or iv.WHOLE for i in self.results]


def enclose(term: Term, box: Box, p: int, meter: Meter) -> Interval:
    """One interval evaluation of a term over a box."""
    return Program([term], p, meter).run({v: box[v].hull(p) for v in term.free})[0]
