"""Terms: shared, immutable expression graphs; substitution, derivatives, and what a term needs in order to be defined.

Subtraction, ``sqrt`` and ``tan`` are not operations of their own: a - b is a + (-1) b, sqrt a is a**(1/2), tan a is
sin a / cos a. An exponent that is a rational number is stored as a number, so "constant exponent" has one meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .errors import Rejected

Payload = Fraction | str | tuple[str, ...] | None
MAX_NODES = 50_000
MAX_EXPONENT = 1_000_000
MAX_BITS = 50_000


class Term:
    """One node: equal nodes made since the last ``forget`` are the same object."""

    __slots__ = ("args", "free", "op", "value")

    def __init__(self, op: str, args: tuple[Term, ...], value: Payload) -> None:
        self.op, self.args, self.value = op, args, value
        own = frozenset([value]) if op == "var" and isinstance(value, str) else frozenset()
        self.free: frozenset[str] = own.union(*(a.free for a in args))


_shared: dict[tuple[str, tuple[int, ...], Payload], Term] = {}


def forget() -> None:
    """Drop the table of shared nodes; older terms stay valid but are no longer recognised as equal to new ones."""
    _shared.clear()


def make(op: str, args: tuple[Term, ...] = (), value: Payload = None) -> Term:
    """The node, exactly as asked for (no simplification)."""
    key = (op, tuple(map(id, args)), value)
    node = _shared.get(key)
    if node is None:
        if len(_shared) > 4 * MAX_NODES:
            raise Rejected("the certificate makes too many terms")
        node = _shared[key] = Term(op, args, value)
    return node


def num(q: Fraction | int) -> Term:
    """The number q."""
    return make("num", (), Fraction(q))


def var(name: str) -> Term:
    """The variable of this name."""
    return make("var", (), name)


def postorder(*roots: Term) -> list[Term]:
    """Every node below the roots once, arguments before the nodes that use them."""
    done: set[Term] = set()
    order: list[Term] = []
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done.add(node)
            order.append(node)
        else:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args) if a not in done)
    if len(order) > MAX_NODES:
        raise Rejected(f"a term has more than {MAX_NODES} nodes")
    return order


def number(term: Term) -> Fraction | None:
    """The value of a numeric term."""
    return term.value if term.op == "num" and isinstance(term.value, Fraction) else None


def _rational(op: str, a: Fraction, b: Fraction) -> Fraction | None:
    """a op b if it is defined and of moderate size."""
    if op == "add":
        return a + b
    if op == "mul":
        return a * b
    if op == "div":
        return a / b if b else None
    if b.denominator != 1 or (b < 0 and not a) or abs(b) * (bits(a) + 1) > MAX_BITS:
        return None
    return Fraction(a**b.numerator)


def bits(q: Fraction | int) -> int:
    """The length of the longer of numerator and denominator."""
    return max(q.numerator.bit_length(), q.denominator.bit_length())


def rational_value(term: Term) -> Fraction | None:
    """The exact value of a term made of numbers and ``+ * / **`` only, provided that it is defined and not large."""
    if term.free:
        return None
    values: dict[Term, Fraction] = {}
    for node in postorder(term):
        value = number(node)
        if value is None and node.op in ("add", "mul", "div", "pow"):
            value = _rational(node.op, values[node.args[0]], values[node.args[1]])
        if value is None or bits(value) > MAX_BITS:
            return None
        values[node] = value
    return values[term]


def power(a: Term, b: Term) -> Term:
    """a**b; a rational exponent becomes a number and must be of moderate size."""
    c = rational_value(b)
    if c is None:
        return make("pow", (a, b))
    if max(abs(c.numerator), c.denominator) > MAX_EXPONENT:
        raise Rejected(f"an exponent is larger than {MAX_EXPONENT}")
    return make("pow", (a, num(c)))


def add(a: Term, b: Term) -> Term:
    """a + b, leaving out zero."""
    if number(a) == 0 or number(b) == 0:
        return b if number(a) == 0 else a
    return make("add", (a, b))


def mul(a: Term, b: Term) -> Term:
    """a b, leaving out one and absorbing zero: an identity wherever a and b are defined."""
    if number(a) == 1 or number(b) == 0:
        return b
    return a if number(b) == 1 or number(a) == 0 else make("mul", (a, b))


def negate(a: Term) -> Term:
    """-a."""
    value = number(a)
    return make("mul", (num(-1), a)) if value is None else num(-value)


def subtract(a: Term, b: Term) -> Term:
    """a - b."""
    return add(a, negate(b))


def divide(a: Term, b: Term) -> Term:
    """a / b."""
    return make("div", (a, b))


def apply(function: str, a: Term) -> Term:
    """function(a)."""
    return make(function, (a,))


def rebuild(node: Term, args: tuple[Term, ...]) -> Term:
    """The same operation on other arguments."""
    if args == node.args:
        return node
    return power(*args) if node.op == "pow" else make(node.op, args, node.value)


def substitute(term: Term, values: dict[str, Term]) -> Term:
    """The term with every variable replaced at once."""
    if not term.free & values.keys():
        return term
    new: dict[Term, Term] = {}
    for node in postorder(term):
        target = values.get(node.value) if node.op == "var" and isinstance(node.value, str) else None
        new[node] = rebuild(node, tuple(new[a] for a in node.args)) if target is None else target
    return new[term]


def at(term: Term, point: dict[str, Fraction]) -> Term:
    """The term with variables replaced by numbers."""
    return substitute(term, {name: num(q) for name, q in point.items()})


def conditions(term: Term) -> list[tuple[str, Term]]:
    """Facts (kind, term) that together make every node of the term defined; kind: nonzero, positive or nonnegative.

    "nonzero" asks for one sign throughout. Every value and both sides of every condition of a Piecewise are nodes, so
    all of them have to be defined on the whole domain.
    """
    found: dict[tuple[str, Term], None] = {}
    for node in postorder(term):
        if node.op == "div":
            found["nonzero", node.args[1]] = None
        elif node.op == "log":
            found["positive", node.args[0]] = None
        elif node.op == "pow":
            base, c = node.args[0], number(node.args[1])
            if c is None or (c < 0 and c.denominator != 1):
                found["positive", base] = None
            elif c.denominator != 1:
                found["nonnegative", base] = None
            elif c < 0:
                found["nonzero", base] = None
    return list(found)


def smoothness(term: Term, v: str) -> list[tuple[str, Term]]:
    """Facts that make a defined term infinitely often differentiable in v; rejects unresolved operations on v."""
    found: dict[tuple[str, Term], None] = {}
    for node in postorder(term):
        if v not in node.free:
            continue
        if node.op in ("abs", "min", "max", "piecewise"):
            raise Rejected(f"{node.op} of {v} is not resolved, so there is no derivative in {v}")
        if node.op == "pow" and v in node.args[0].free:
            c = number(node.args[1])
            if c is not None and c.denominator != 1:
                found["positive", node.args[0]] = None
    return list(found)


def _power_slope(node: Term, d: dict[Term, Term]) -> Term:
    """d(a**b) = c a**(c - 1) da for a constant c, else a**b (db log a + b da / a)."""
    a, b = node.args
    c = number(b)
    if c is not None:
        return mul(mul(b, power(a, num(c - 1)) if c != 1 else num(1)), d[a])
    inner = mul(d[b], apply("log", a))
    return mul(node, add(inner, mul(b, divide(d[a], a))) if number(d[a]) != 0 else inner)


_SLOPES: dict[str, Callable[[Term, dict[Term, Term]], Term]] = {
    "add": lambda n, d: add(d[n.args[0]], d[n.args[1]]),
    "mul": lambda n, d: add(mul(d[n.args[0]], n.args[1]), mul(n.args[0], d[n.args[1]])),
    "div": lambda n, d: divide(
        subtract(d[n.args[0]], mul(n, d[n.args[1]])) if number(d[n.args[1]]) != 0 else d[n.args[0]], n.args[1]
    ),
    "pow": _power_slope,
    "exp": lambda n, d: mul(n, d[n.args[0]]),
    "log": lambda n, d: divide(d[n.args[0]], n.args[0]),
    "sin": lambda n, d: mul(apply("cos", n.args[0]), d[n.args[0]]),
    "cos": lambda n, d: mul(negate(apply("sin", n.args[0])), d[n.args[0]]),
}


def differentiate(term: Term, v: str) -> Term:
    """The partial derivative in v of a term whose ``smoothness`` facts hold; a part without v is a constant."""
    slope: dict[Term, Term] = {}
    for node in postorder(term):
        if v not in node.free:
            slope[node] = num(0)
        elif node.op == "var":
            slope[node] = num(1)
        elif node.op in _SLOPES:
            slope[node] = _SLOPES[node.op](node, slope)
        else:
            raise Rejected(f"{node.op} of {v} has no derivative here")
    return slope[term]


def text(term: Term) -> str:
    """The term for people, cut when long; the grammar reads it back unless it was cut."""
    shown: dict[Term, str] = {}
    signs = {"add": " + ", "mul": "*", "div": "/", "pow": "**"}
    for node in postorder(term):
        parts = [shown[a] for a in node.args]
        if node.op in ("num", "var", "pi"):
            q = number(node)
            short = str(q) if q is not None and bits(q) < 2000 else "..."
            word = str(node.value or node.op) if q is None else short if q is not None and q.denominator == 1 and q >= 0 else f"({short})"
        elif node.op in signs:
            word = f"({signs[node.op].join(parts)})"
        else:
            word = f"{node.op}({', '.join(parts)})"
        shown[node] = word if len(word) <= 400 else word[:390] + " ..."
    return shown[term]
