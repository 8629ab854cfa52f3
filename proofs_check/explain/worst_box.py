"""Subdivision once more, for the reader: how many boxes do, and in which one the certified lower bound is smallest.

Statement: where :func:`subdivide` returns a result, the boxes cover the goal's box, every box has a certified lower bound ≥ 0 (> 0), and
the least of these bounds is that of the worst box. Ball arithmetic and intervals with exact, possibly infinite, ends are used. This is
recomputed and is no part of the proof: the kernel bisects in its own arithmetic and may need more or fewer boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from profiles.symbolic import from_sympy
from profiles.terms import Term, free_symbols
from proofs_check.enclosures import Enclosure, ball, interval, lower_fraction, working_precision
from proofs_check.explain.intervals import lower_bound
from proofs_check.explain.setting import neat
from proofs_check.prover.goals import Goal

BUDGET = 3000
_BITS = 96

Cell = tuple[tuple[Fraction, Fraction | None], ...]


@dataclass(frozen=True, slots=True)
class Subdivision:
    """The number of boxes, the worst one (name, lower end, upper end or None for +∞), and the certified lower bound there."""

    boxes: int
    worst: tuple[tuple[str, Fraction, Fraction | None], ...]
    bound: Fraction


def subdivide(goal: Goal, budget: int = BUDGET) -> Subdivision | None:
    """Return a subdivision that proves the goal in untrusted arithmetic, None where ``budget`` boxes do not do.

    Raises :class:`profiles.InvalidExpression` for a goal outside the grammar.
    """
    terms = list(dict.fromkeys((from_sympy(goal.expression), from_sympy(neat(goal.expression)))))
    used = free_symbols(terms[0])
    variables = [variable for variable in goal.box if variable.name in used]
    names = [variable.name for variable in variables]
    enclosures = [Enclosure(term) for term in terms]
    stack: list[Cell] = [tuple((variable.lo, variable.hi) for variable in variables)]
    worst: tuple[Fraction, Cell] | None = None
    boxes = looked_at = 0
    while stack:
        cell = stack.pop()
        looked_at += 1
        bound = _bound(terms, enclosures, names, cell)
        if bound is not None and (bound > 0 or (bound == 0 and not goal.strict)):
            boxes += 1
            worst = min((bound, cell), worst or (bound, cell), key=lambda found: found[0])
        elif looked_at > budget or not cell:
            return None
        else:
            stack.extend(_bisect(cell, looked_at))
    if worst is None:
        return None
    return Subdivision(boxes, tuple((name, *side) for name, side in zip(names, worst[1], strict=True)), worst[0])


def _bound(terms: Sequence[Term], enclosures: Sequence[Enclosure], names: Sequence[str], cell: Cell) -> Fraction | None:
    """Return the best certified lower bound of the terms, which are equal, over a cell."""
    bounded = [(lo, hi) for lo, hi in cell if hi is not None]
    found = [lower_bound(term, dict(zip(names, cell, strict=True))) for term in terms]
    if len(bounded) == len(cell):
        with working_precision(_BITS):
            found += [lower_fraction(value) for enclosure in enclosures for value in _values(enclosure, names, bounded)]
    return max((bound for bound in found if bound is not None), default=None)


def _values(enclosure: Enclosure, names: Sequence[str], cell: Sequence[tuple[Fraction, Fraction]]) -> tuple[arb, arb]:
    """Return the natural and the mean-value enclosure over a bounded cell."""
    box = {name: interval(*side) for name, side in zip(names, cell, strict=True)}
    middle = {name: ball((lo + hi) / 2) for name, (lo, hi) in zip(names, cell, strict=True)}
    centred = enclosure.evaluate(middle)
    for name, (lo, hi) in zip(names, cell, strict=True):
        centred += enclosure.evaluate_with_slope(box, name)[1] * (interval(lo, hi) - middle[name])
    return enclosure.evaluate(box), centred


def _bisect(cell: Cell, turn: int) -> tuple[Cell, Cell]:
    """Halve the widest side, an unbounded one at every other turn at twice its lower end."""
    unbounded = [index for index, (_, hi) in enumerate(cell) if hi is None]
    bounded = [index for index, (lo, hi) in enumerate(cell) if hi is not None and hi > lo]
    if unbounded and (turn % 2 or not bounded):
        index = unbounded[turn % len(unbounded)]
    elif bounded:
        index = max(bounded, key=lambda i: (cell[i][1] or cell[i][0]) - cell[i][0])
    else:
        index = 0
    lo, hi = cell[index]
    at = max(2 * lo, lo + 1) if hi is None else (lo + hi) / 2
    return (*cell[:index], (lo, at), *cell[index + 1 :]), (*cell[:index], (at, hi), *cell[index + 1 :])
