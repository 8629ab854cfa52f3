"""A term as a straight-line program: a list of steps in which equal subterms stand once.

Balls, gradients and NumPy arrays are evaluated by such programs; each says in ``_step`` what it needs beyond the usual.
"""

from __future__ import annotations

from typing import Any

from profiles.evaluation import constant_value
from profiles.terms import Term, spell_out

#: What is done, the indices of the steps whose results it takes, and what else it needs (a name, a number, the tests of a Piecewise).
Step = tuple[str, tuple[int, ...], Any]


class Program:
    """A term's steps in the order of evaluation; the last one gives the term's value."""

    __slots__ = ("_slots", "_steps")

    def __init__(self, term: Term) -> None:
        self._steps: list[Step] = []
        self._slots: dict[Term, int] = {}
        self._compile(term)

    def _compile(self, term: Term) -> int:
        """Return the index of the step that gives ``term``, after adding what is not there yet; tanh and the like by exponentials."""
        term = spell_out(term)
        known = self._slots.get(term)
        if known is not None:
            return known
        self._steps.append(self._step(term))
        self._slots[term] = len(self._steps) - 1
        return len(self._steps) - 1

    def _step(self, term: Term) -> Step:
        """Return the step of a term's head: the payload is a number's or symbol's, an exponent or None, or a Piecewise's tests."""
        head = term[0]
        match head:
            case "num" | "sym":
                return head, (), term[1]
            case "table":
                return head, (self._compile(term[2]),), term[1]
            case "pi":
                return head, (), None
            case "piecewise":
                values = tuple(self._compile(value) for value, _ in term[1:])
                return head, values, [None if c[0] == "true" else (c[0], self._compile(c[1]), self._compile(c[2])) for _, c in term[1:]]
        return head, tuple(self._compile(part) for part in term[1:]), constant_value(term[2]) if head == "pow" else None
