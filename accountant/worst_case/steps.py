"""Bounds beside the jumps of floor and ceiling: a box that contains a jump never becomes small enough for one value of the step.

Statement: on a box a floor or ceiling takes whole values only, those in the ball around it. With each of them in its place the term is
bounded by itself, and the term is at most the largest of these bounds. A ball around two whole numbers would not do: its ends are rounded
to 30 bits, and the term may contain it twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flint import arb

from profiles.terms import Term, children, free_symbols, rebuild, symbol
from proofs_check.enclosures import Enclosure, lower_fraction, upper_fraction

#: Choices of whole values that are looked at on one box.
_MOST_CASES = 8


@dataclass(frozen=True, slots=True)
class Steps:
    """The floors and ceilings of a term, each with a name in its place in ``general``."""

    general: Enclosure
    steps: Mapping[str, Enclosure]

    def bound(self, box: Mapping[str, arb]) -> arb | None:
        """Return a ball whose upper end bounds the term on a box, None where the steps take too many values on it."""
        values: list[Sequence[int]] = []
        for step in self.steps.values():
            ball = step.evaluate(box)
            low, high = lower_fraction(ball), upper_fraction(ball)
            if low is None or high is None or high - low >= _MOST_CASES:
                return None
            values.append(range(-(-low.numerator // low.denominator), high.numerator // high.denominator + 1))
        cases = list(itertools.islice(itertools.product(*values), _MOST_CASES + 1))
        if not 1 <= len(cases) <= _MOST_CASES:
            return None
        found: arb | None = None
        for case in cases:
            value = self.general.evaluate({**box, **{name: arb(whole) for name, whole in zip(self.steps, case, strict=True)}})
            found = value if found is None else found.max(value)
        return found


def find_steps(term: Term, names: Sequence[str]) -> Steps | None:
    """Return the outermost floors and ceilings of a term that depend on ``names``, None if there are none."""
    found = {step: f"step {index}" for index, step in enumerate(dict.fromkeys(_steps(term, frozenset(names))))}
    if not found:
        return None
    general = Enclosure(_replaced(term, found))
    return Steps(general, {name: Enclosure(step) for step, name in found.items()})


def _steps(term: Term, names: frozenset[str]) -> Iterator[Term]:
    if term[0] in ("floor", "ceiling") and free_symbols(term) & names:
        yield term
        return
    for part in children(term):
        yield from _steps(part, names)


def _replaced(term: Term, found: Mapping[Term, str]) -> Term:
    return symbol(found[term]) if term in found else rebuild(term, lambda part: _replaced(part, found))
