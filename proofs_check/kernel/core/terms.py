"""Terms: shared, immutable expression graphs; substitution, derivatives, and what a term needs in order to be defined."""
# Subtraction, division, roots, tan and Min are not operations of their own: a - b is a + (-1) b, a / b is a b**-1, sqrt a is a**(1/2),
# tan a is sin a / cos a, Min(a, b) is -Max(-a, -b), floor a is -ceiling(-a), and a**b is exp(b log a) unless b is a rational number, or
# if it is a long fraction. Arithmetic on numbers is done at once where it is defined, and nothing else is simplified by ``make``, so that
# definedness can be judged on what was written.

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import count
from math import ceil
from threading import local
from typing import Any

from .documents import Meter, require

MAX_BITS, _MAX_TABLE, BRANCHING = 10_000, 400_000, ("abs", "max", "piecewise")
ROUGH = (*BRANCHING, "ceiling")  # what has no derivative everywhere


class Term:
    """One node: equal nodes made since the last ``forget`` are the same object. Operators leave out zeros and ones."""

    # value: of a number the Fraction, of a variable the name, of a Piecewise the comparison signs, else None
    __slots__ = ("args", "free", "op", "serial", "value")

    def __init__(self, op: str, args: tuple[Term, ...], value: Any) -> None:
        self.op, self.args, self.value, self.serial = op, args, value, next(_serials)
        free = frozenset([value] if op == "var" else []).union(*(a.free for a in args))
        self.free: frozenset[str] = next((a.free for a in args if len(a.free) == len(free)), free)  # the same object, to save memory

    def __lt__(self, other: Term) -> bool:
        return self.serial < other.serial

    def __add__(self, other: Term) -> Term:
        return other if number(self) == 0 else self if number(other) == 0 else make("add", self, other)

    def __neg__(self) -> Term:
        return make("mul", num(-1), self)

    def __sub__(self, other: Term) -> Term:
        return self + (-other)

    def __mul__(self, other: Term) -> Term:
        if number(self) == 1 or number(other) == 0:
            return other
        return self if number(other) == 1 or number(self) == 0 else make("mul", self, other)


class _Table(local):
    # the shared nodes of a thread, what their number and size may be, and who pays for the work on them
    def __init__(self) -> None:
        self.all = dict[object, Term](), Meter(_MAX_TABLE), Meter()
        self.last = dict[object, Term]()  # the table before this one


_serials, _table = count(), _Table()


def forget(meter: Meter | None = None) -> None:
    """Drop this thread's table of shared nodes; older terms stay valid but are no longer recognised as equal to new ones."""
    # The meter, or a new one, pays for all terms that are made from now on, and for reading. The nodes are freed by the next call, when
    # what was proved of them is gone: what lives longer than its table is freed inside of what uses it, thousands deep.
    while _table.last:
        _table.last.popitem()  # the last one first, which no other one needs: so none is freed inside another one
    _table.last, _table.all = _table.all[0], ({}, Meter(_MAX_TABLE), meter or Meter())


def meter() -> Meter:
    """Return the meter of the document that this thread is checking."""
    return _table.all[2]


def pay(amount: int) -> None:
    """Spend from the meter of the document that this thread is checking."""
    _table.all[2].spend(amount)


def make(op: str, *args: Term, value: Any = None) -> Term:
    """Return the node, exactly as asked for but for arithmetic on numbers and general powers."""
    table, room, meter = _table.all
    meter.left -= 1  # as spend(1), which is slower
    if meter.left < 0:
        meter.spend(0)
    if len(args) == 2:
        a, b = number(args[0]), number(args[1])
        long = op == "pow" and b is not None and max(abs(b.numerator), b.denominator) > 1_000_000
        if op == "pow" and (b is None or (long and b.denominator > 1)):
            return exp(args[1] * log(args[0]))
        require(not long, "an exponent is too large")
        room.spend(((bits(a) if a else 0) + (bits(b) if b else 0)) // 50)  # also for what turns out to be too large
        folded = _fold(op, a, b) if a is not None and b is not None else None
        if folded is not None:
            room.spend(1 + bits(folded) // 50)
            op, args, value = "num", (), folded
    whole = number(args[0]) if op == "ceiling" else None
    if whole is not None:
        op, args, value = "num", (), Fraction(ceil(whole))
    room.spend(bits(value) // 50 if op == "num" else 0)
    key = (op, args, value.as_integer_ratio() if op == "num" else value)
    term = table.get(key)
    if term is None:
        table[key] = term = Term(op, args, value)
        room.spend(2 + (0 if any(a.free is term.free for a in args) else len(term.free) // 4))
    return term


def _fold(op: str, a: Fraction, b: Fraction) -> Fraction | None:
    # a op b if it is rational, defined, and of moderate size
    if op == "pow" and b.denominator == 1 and abs(b) * (bits(a) + 1) <= MAX_BITS and (a or b >= 0):
        return Fraction(a**b.numerator)
    result = a + b if op == "add" else a * b if op == "mul" else None
    return result if result is not None and bits(result) <= MAX_BITS else None


def num(q: Fraction | int) -> Term:
    """Return the number q."""
    return make("num", value=q if isinstance(q, Fraction) else Fraction(q))


def var(name: str) -> Term:
    """Return the variable of this name."""
    return make("var", value=name)


def exp(a: Term) -> Term:
    """Return the exponential of a."""
    return make("exp", a)


def log(a: Term) -> Term:
    """Return the logarithm of a."""
    return make("log", a)


def power(a: Term, q: Fraction | int) -> Term:
    """Return a to a rational power."""
    return make("pow", a, num(q))


def number(term: Term) -> Fraction | None:
    """Return the value of a numeric term."""
    return term.value if term.op == "num" else None


def bits(q: Fraction) -> int:
    """Return the length of the longer of numerator and denominator."""
    return max(q.numerator.bit_length(), q.denominator.bit_length())


def postorder(*roots: Term) -> list[Term]:
    """Return every node below the roots once, arguments before the nodes that use them."""
    done: dict[Term, None] = {}
    stack = [(root, False) for root in roots]
    while stack:
        node, ready = stack.pop()
        if ready:
            done[node] = None
        elif node not in done:
            stack += [(node, True), *((a, False) for a in node.args if a not in done)]
    require(len(done) <= 50_000, "a term has too many nodes")
    pay(len(done) // 8)
    return list(done)


def substitute(term: Term, values: Mapping[Any, Term | Fraction]) -> Term:
    """Return the term with variables, given by name, and other nodes of the term replaced at once, by terms or numbers."""
    new: dict[Term, Term] = {}
    for node in postorder(term):
        changed = values.get(node.value if node.op == "var" else node)
        changed = changed if changed is not None else make(node.op, *(new[a] for a in node.args), value=node.value)
        new[node] = num(changed) if isinstance(changed, Fraction) else changed
    return new[term]


def conditions(term: Term) -> list[tuple[str, Term]]:
    """Return facts (kind, term) that make every node defined; kind: positive, nonnegative, or nonzero (one sign throughout)."""
    # every value and both sides of every condition of a Piecewise are nodes, so all of them have to be defined on the whole domain
    needed: dict[tuple[str, Term], None] = {}
    for node in postorder(term):
        c = node.args[1].value if node.op == "pow" else Fraction(0)
        if node.op == "log" or (c < 0 and c.denominator > 1):
            needed["positive", node.args[0]] = None
        elif c < 0 or c.denominator > 1:
            needed["nonzero" if c < 0 else "nonnegative", node.args[0]] = None
    return list(needed)


def smoothness(term: Term, v: str) -> list[Term]:
    """Return terms whose positivity makes a defined term infinitely often differentiable in v; reject unresolved branches."""
    nodes = [node for node in postorder(term) if v in node.free]
    require(not any(node.op in ROUGH for node in nodes), f"an operation on {v} is not resolved, so there is no derivative")
    return [node.args[0] for node in nodes if node.op == "pow" and node.args[1].value.denominator > 1]


_SLOPES: dict[str, Callable[[Term, Mapping[Term, Term]], Term]] = {  # from a node and the slopes of its arguments
    "var": lambda _n, _d: num(1),
    "add": lambda n, d: d[n.args[0]] + d[n.args[1]],
    "mul": lambda n, d: d[n.args[0]] * n.args[1] + n.args[0] * d[n.args[1]],
    "pow": lambda n, d: n.args[1] * power(n.args[0], n.args[1].value - 1) * d[n.args[0]],
    "exp": lambda n, d: n * d[n.args[0]],
    "log": lambda n, d: d[n.args[0]] * power(n.args[0], -1),
    "sin": lambda n, d: make("cos", n.args[0]) * d[n.args[0]],
    "cos": lambda n, d: -make("sin", n.args[0]) * d[n.args[0]],
}


def differentiate(term: Term, v: str) -> Term:
    """Return the partial derivative in v of a term whose ``smoothness`` facts hold; a part without v is a constant."""
    slope: dict[Term, Term] = {}
    for node in postorder(term):
        require(v not in node.free or node.op in _SLOPES, f"{node.op} of {v} has no derivative here")
        slope[node] = _SLOPES[node.op](node, slope) if v in node.free else num(0)
    return slope[term]
