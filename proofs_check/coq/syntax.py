"""How the kernel's terms become something of Coq: one way through a term, for texts over its real numbers and for trees of its checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from proofs_check.kernel.core.terms import Term, postorder

T = TypeVar("T")


class NotWritable(Exception):
    """A goal that has no counterpart in Coq here, for the reason given. It says nothing about the goal being false."""


@dataclass(frozen=True, slots=True)
class Syntax(Generic[T]):
    """What the nodes of a term become.

    ``operations``: by the kernel's names of operations, from the value of a node and what its arguments became. Powers are made of
    ``root``, the square root; ``natural``, a power with an exponent from 2 on; ``inverse``; and ``rational``, a power with another
    exponent. ``unknown`` says that an operation is none of these. ``check`` refuses what became too large.
    """

    number: Callable[[Fraction], T]
    operations: Mapping[str, Callable[[Any, Sequence[T]], T]]
    root: Callable[[T], T]
    natural: Callable[[T, int], T]
    inverse: Callable[[T], T]
    rational: Callable[[T, Fraction], T]
    unknown: str
    check: Callable[[T], None] = lambda _: None

    def power(self, base: T, q: Fraction) -> T:
        """Return a power of what a base became."""
        if q.denominator == 2:
            base, q = self.root(base), Fraction(q.numerator)
        if q.denominator > 1:
            return self.rational(base, q)
        size = abs(q.numerator)
        raised = self.number(Fraction(1)) if not size else base if size == 1 else self.natural(base, size)
        return self.inverse(raised) if q < 0 else raised

    def translate(self, term: Term, names: Mapping[str, T]) -> T:
        """Return what a term becomes; ``names``: what its variables do. Raises :class:`NotWritable`."""
        done: dict[Term, T] = {}
        for node in postorder(term):
            args = [done[a] for a in node.args]
            if node.op == "num":
                done[node] = self.number(node.value)
            elif node.op == "var":
                if node.value not in names:
                    raise NotWritable("a variable does not belong to the goal's box")
                done[node] = names[node.value]
            elif node.op == "pow":
                done[node] = self.power(args[0], node.args[1].value)
            elif node.op in self.operations:
                done[node] = self.operations[node.op](node.value, args)
            else:
                raise NotWritable(self.unknown.format(node.op))
            self.check(done[node])
        return done[term]
