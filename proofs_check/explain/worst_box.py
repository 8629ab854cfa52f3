"""Subdivision once more, for the reader: how many boxes do, and in which one the certified lower bound is smallest.

Statement: where :func:`subdivide` returns a result, the boxes cover the goal's box, and on each of them the kernel's own interval
evaluation is ≥ 0 (> 0); the least of these lower bounds is that of the worst box. It is recomputed and no part of the proof: the kernel
bisects in an order of its own and may need more or fewer boxes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.explain.setting import neat
from proofs_check.kernel.core import intervals as iv
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import differentiate, forget
from proofs_check.kernel.core.theorems import Range
from proofs_check.kernel.procedures.boxes import Program
from proofs_check.kernel.reading import read_term, variables
from proofs_check.prover.goals import Goal

BUDGET = 2000
#: Work in the units of the kernel's meter; more than that takes the reader too long.
WORK = 1_000_000


@dataclass(frozen=True, slots=True)
class Subdivision:
    """The number of boxes, the worst one (name, lower end, upper end or None for +∞), and the certified lower bound there."""

    boxes: int
    worst: tuple[tuple[str, Fraction, Fraction | None], ...]
    bound: Fraction


def subdivide(goal: Goal, *, centred: bool = False, precision: int = 64) -> Subdivision | None:
    """Return a subdivision that proves the goal, None where it takes too long. Raises :class:`profiles.InvalidExpression`."""
    forget()
    meter = Meter()
    meter.left = WORK
    try:
        return _subdivide(goal, _Enclosure(goal, precision, meter, centred=centred))
    except Rejected:
        return None


def lower_bound(goal: Goal) -> Fraction | None:
    """Return a certified lower bound of a goal's left side on its whole box by one evaluation, None where there is none."""
    forget()
    try:
        enclosure = _Enclosure(goal, 128, Meter(), centred=False)
        low = enclosure.below(enclosure.whole)
    except Rejected:
        return None
    return Fraction(low) if low.is_finite() else None


class _Enclosure:
    """Lower bounds of a goal's left side over pieces of its box: of two ways to write it, and in the centred form too if asked for."""

    def __init__(self, goal: Goal, precision: int, meter: Meter, *, centred: bool) -> None:
        box = {variable.name: Range(variable.lo, variable.hi, variable.open_below) for variable in goal.box}
        texts = dict.fromkeys(to_text(term) for term in (goal.term, from_sympy(neat(goal.expression))))
        terms = [read_term(text, variables(box)) for text in texts]
        self.names, self.precision = sorted(frozenset().union(*(term.free for term in terms))), precision
        self.whole = {name: box[name] for name in self.names}
        self.forms = Program(terms, precision, meter)
        self.slopes = Program([differentiate(terms[0], name) for name in self.names], precision, meter) if centred else None

    def below(self, piece: Mapping[str, Range]) -> Decimal:
        """Return a number below the left side at all points of a piece."""
        hulls = {name: side.hull(self.precision) for name, side in piece.items()}
        low = reduce(iv.meet, self.forms.run(hulls))[0]
        if self.slopes is None or any(side.hi is None for side in piece.values()):
            return low
        centre = {name: iv.middle(hull, self.precision) for name, hull in hulls.items()}
        total = reduce(iv.meet, self.forms.run({name: (at, at) for name, at in centre.items()}))
        for name, slope in zip(self.names, self.slopes.run(hulls), strict=True):
            offset = iv.add(hulls[name], iv.negate((centre[name], centre[name])), self.precision)
            total = iv.add(total, iv.mul(slope, offset, self.precision), self.precision)
        return max(low, total[0])


def _subdivide(goal: Goal, enclosure: _Enclosure) -> Subdivision | None:
    stack = [enclosure.whole]
    done: list[tuple[Decimal, dict[str, Range]]] = []
    for turn in range(BUDGET):
        piece = stack.pop()
        low = enclosure.below(piece)
        if low > 0 or (low == 0 and not goal.strict):
            done.append((low, piece))
        elif not piece:
            return None
        else:
            stack.extend(_bisect(piece, turn))
        if not stack:
            bound, worst = min(done, key=lambda piece: piece[0])
            return Subdivision(len(done), tuple((name, side.lo, side.hi) for name, side in worst.items()), Fraction(bound))
    return None


def _bisect(piece: Mapping[str, Range], turn: int) -> tuple[dict[str, Range], dict[str, Range]]:
    """Halve the widest side, an unbounded one at every other turn at twice its lower end."""
    unbounded = [name for name, side in piece.items() if side.hi is None]
    widths = {name: side.hi - side.lo for name, side in piece.items() if side.hi is not None}
    if unbounded and (turn % 2 or not any(widths.values())):
        name = unbounded[turn % len(unbounded)]
    else:
        name = max(widths, key=lambda name: widths[name])
    side = piece[name]
    at = max(2 * side.lo, side.lo + 1) if side.hi is None else (side.lo + side.hi) / 2
    return {**piece, name: Range(side.lo, at, side.open)}, {**piece, name: Range(at, side.hi)}
