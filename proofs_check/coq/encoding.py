"""Goals as data of the verified checker: terms of ``proofs_check/coq/verified/terms.v``, boxes, and what is equal to what.

A tree is a tuple that begins with the name of its constructor; variables are places in a list of names. Nothing here is believed: the
checker judges the data, and what it proves is stated apart, over Coq's real numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any

from proofs_check.coq.syntax import NotWritable, Syntax
from proofs_check.coq.writing import LONGEST
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import Term, exp, log, make, num, power, var
from proofs_check.kernel.core.theorems import Box, Range
from proofs_check.kernel.procedures.normal import Mono, Normaliser, Poly

Tree = tuple[Any, ...]
ZERO: Tree = ("Num", 0, 1)
ONE: Tree = ("Num", 1, 1)
_MOST_POWER = 200


def encode_number(q: Fraction) -> Tree:
    """Return the checker's tree of a fraction: numerator and denominator."""
    return ("Num", q.numerator, q.denominator)


def _natural(base: Tree, size: int) -> Tree:
    if size > _MOST_POWER:
        raise NotWritable("an exponent is too large for the verified checker")
    return ("Pow", base, size)


_TREES: Syntax[Tree] = Syntax(
    number=encode_number,
    operations={
        "add": lambda _, args: ("Add", *args),
        "mul": lambda _, args: ("Mul", *args),
        "exp": lambda _, args: ("Exp", *args),
        "log": lambda _, args: ("Ln", *args),
    },
    root=lambda base: ("Sqrt", base),
    natural=_natural,
    inverse=lambda raised: ("Inv", raised),
    rational=lambda base, q: ("Exp", ("Mul", encode_number(q), ("Ln", base))),
    unknown="not covered (operation {})",
)


def encode(term: Term, names: Sequence[str]) -> Tree:
    """Return the tree of a term over the variables ``names``. Raises :class:`NotWritable` for what the verified checker does not know."""
    return _TREES.translate(term, {name: ("Var", place) for place, name in enumerate(names)})


def decode(tree: Tree, names: Sequence[str]) -> Term:
    """Return the kernel's term of a tree."""
    kind, *rest = tree
    if kind == "Num":
        return num(Fraction(rest[0], rest[1]))
    if kind == "Var":
        return var(names[rest[0]])
    first = decode(rest[0], names)
    if kind == "Pow":
        return power(first, rest[1])
    if kind in ("Add", "Mul"):
        return make(kind.lower(), first, decode(rest[1], names))
    return {
        "Inv": lambda: power(first, -1),
        "Sqrt": lambda: power(first, Fraction(1, 2)),
        "Exp": lambda: exp(first),
        "Ln": lambda: log(first),
    }[kind]()


def put(tree: Tree, place: int, value: Tree) -> Tree:
    """Return the tree with another one for a variable: ``subst`` of the checker."""
    if tree[0] == "Var":
        return value if tree[1] == place else tree
    return tuple(put(part, place, value) if isinstance(part, tuple) else part for part in tree)


def write(tree: Tree | int) -> str:
    """Return a tree as Coq reads it. Raises :class:`NotWritable` where it is too long."""
    if isinstance(tree, int):
        return f"({tree})" if tree < 0 else str(tree)
    text = f"({' '.join([tree[0], *map(write, tree[1:])])})"
    if len(text) > 10 * LONGEST:
        raise NotWritable("it is too long when its shared parts are written out")
    return text


def write_pair(q: Fraction) -> str:
    """Return a number as a pair.

    >>> write_pair(Fraction(-3, 2))
    '((-3)%Z, 2%positive)'
    """
    return f"({write(q.numerator)}%Z, {q.denominator}%positive)"


def write_flag(value: bool) -> str:  # noqa: FBT001 - a word for it
    """Return a truth value as Coq reads it."""
    return "true" if value else "false"


def write_range(values: Range) -> str:
    """Return a closed or half-open range as the checker's constructor, ``None`` for an upper end at infinity."""
    high = "None" if values.hi is None else f"(Some {write_pair(values.hi)})"
    return f"(Range {write_pair(values.lo)} {write_flag(values.open)} {high})"


def _nodes(tree: Tree, nodes: dict[Tree, None]) -> None:
    # exponentials, logarithms and roots, inner ones first
    for part in tree[1:]:
        if isinstance(part, tuple):
            _nodes(part, nodes)
    if tree[0] in ("Exp", "Ln", "Sqrt"):
        nodes[tree] = None


def find_equations(trees: Sequence[Tree], names: Sequence[str], box: Box) -> Iterator[tuple[Tree, Tree, str]]:
    """Yield (left, right, why): what the exponentials, logarithms and roots of trees are in terms of as few of them as the kernel sees."""
    nodes = dict[Tree, None]()
    for tree in trees:
        _nodes(tree, nodes)
    forms, normaliser = dict[Tree, Poly](), Normaliser(box, Meter())
    for node in nodes:
        with contextlib.suppress(Rejected):
            forms[node] = normaliser.poly(decode(node[1] if node[0] == "Exp" else node, names))
    writer = _Writer(normaliser, names)
    for node, poly in forms.items():
        if node[0] == "Exp":
            writer.note_exponents(poly)
        else:
            writer.note_atoms(poly)
    for node, poly in forms.items():
        with contextlib.suppress(NotWritable):
            right = writer.product(poly) if node[0] == "Exp" else writer.sum(poly)
            if right == node:
                continue
            if node[0] == "Ln":
                yield node, right, f"(ByLogarithms {write(writer.product(poly))})"
            else:
                yield node, right, "ByExponents" if node[0] == "Exp" else "ByRoot"


class _Writer:
    # normal forms as trees; exponentials are whole powers of those of parts of their exponents
    def __init__(self, normaliser: Normaliser, names: Sequence[str]) -> None:
        self.normaliser, self.names = normaliser, names
        self.shares = dict[Term, int]()  # into how many parts an exponent is divided

    def _share(self, exponent: Term, c: Fraction | int) -> None:
        self.shares[exponent] = lcm(self.shares.get(exponent, 1), Fraction(c).denominator)

    def note_exponents(self, poly: Poly) -> None:
        for mono, c in poly.items():
            if not self._is_log(mono, c):
                self._share(self.normaliser.term({mono: Fraction(1)}), c)

    def note_atoms(self, poly: Poly) -> None:
        for mono in poly:
            for atom, e in mono:
                if atom.op == "exp":
                    self._share(atom.args[0], e)

    @staticmethod
    def _is_log(mono: Mono, c: Fraction) -> bool:
        return len(mono) == 1 and mono[0][0].op == "log" and mono[0][1] == 1 and c.denominator == 1

    def _exponential(self, exponent: Term, e: Fraction | int) -> Tree:
        share = lcm(self.shares.get(exponent, 1), Fraction(e).denominator)
        part = exponent if share == 1 else num(Fraction(1, share)) * exponent
        return _TREES.power(("Exp", encode(part, self.names)), Fraction(e) * share)

    def product(self, poly: Poly) -> Tree:
        """Return a product whose logarithm, as the checker takes it, is the polynomial."""
        factors = [
            _TREES.power(encode(mono[0][0].args[0], self.names), c)
            if self._is_log(mono, c)
            else self._exponential(self.normaliser.term({mono: Fraction(1)}), c)
            for mono, c in sorted(poly.items())
        ]
        return reduce(lambda left, right: ("Mul", left, right), factors) if factors else ONE

    def sum(self, poly: Poly) -> Tree:
        """Return the tree of a polynomial as a sum of its monomials, in their order."""
        parts = [self._monomial(mono, c) for mono, c in sorted(poly.items())]
        return reduce(lambda left, right: ("Add", left, right), parts) if parts else ZERO

    def _monomial(self, mono: Mono, c: Fraction) -> Tree:
        factors = [] if c == 1 and mono else [encode_number(c)]
        for atom, e in mono:
            factors.append(self._exponential(atom.args[0], e) if atom.op == "exp" else _TREES.power(encode(atom, self.names), Fraction(e)))
        return reduce(lambda left, right: ("Mul", left, right), factors)


def encode_sum(parts: Sequence[tuple[Term, Term]], names: Sequence[str]) -> Tree:
    """Return the sum of products of pairs."""
    total: Tree | None = None
    for scalar, rest in parts:
        part = ("Mul", encode(scalar, names), encode(rest, names))
        total = part if total is None else ("Add", total, part)
    return total or ZERO
