"""A certified enclosure of the minimum of a term over a finite box, by branch and bound in ball arithmetic."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from flint import arb

from profiles.profile import Variable
from profiles.terms import Term
from proofs_check.enclosures import Enclosure, ball, interval, lower_fraction, upper_fraction, working_precision
from proofs_check.prover.effort import spend
from proofs_check.prover.explore import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at

RELATIVE_GAP = Fraction(1, 10**9)
#: What a box costs a search, beside a unit for each step of the term.
BOX = 60


def minimum_enclosure(term: Term, box: Sequence[Variable], budget: int = 3000) -> tuple[Fraction, Fraction] | None:
    """Return exact numbers below and above min over ``box`` of a defined, continuous term; None if a value is not finite.

    The interval is as narrow as ``budget`` boxes allow (relative gap 1e-9 aimed at); all ranges must be finite.
    """
    names = [variable.name for variable in box]
    root = tuple((variable.lo, variable.hi if variable.hi is not None else variable.lo) for variable in box)
    enclosure = Enclosure(term)
    order = itertools.count()
    with working_precision(96):

        def over(cell: Sequence[tuple[Fraction, Fraction]]) -> arb:
            return enclosure.evaluate({name: interval(*side) for name, side in zip(names, cell, strict=True)})

        def at(values: Sequence[Fraction]) -> arb:
            return enclosure.evaluate({name: ball(value) for name, value in zip(names, values, strict=True)})

        corners = [at(values) for values in itertools.product(*root)]
        best = min((corner.upper() for corner in corners if corner.is_finite()), key=float, default=None)
        first = over(root)
        if best is None or not first.is_finite():
            return None
        queue = [(float(first.lower()), next(order), first.lower(), root)]
        for _ in range(budget):
            _, _, lower, cell = queue[0]
            if best - lower <= abs(best) * ball(RELATIVE_GAP) or not box:
                break
            heapq.heappop(queue)
            spend(BOX + 4 * enclosure.steps)
            for child in _bisect(cell, root):
                middle = at([(lo + hi) / 2 for lo, hi in child])
                best = min(best, middle.upper())
                value = over(child)
                if not value.is_finite():
                    return None
                heapq.heappush(queue, (float(value.lower()), next(order), value.lower(), child))
        least = queue[0][2]
        for entry in queue:
            least = min(least, entry[2])
        ends = lower_fraction(least), upper_fraction(best)
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _bisect(
    cell: Sequence[tuple[Fraction, Fraction]], root: Sequence[tuple[Fraction, Fraction]]
) -> list[tuple[tuple[Fraction, Fraction], ...]]:
    def share(index: int) -> Fraction:
        whole = root[index][1] - root[index][0]
        return (cell[index][1] - cell[index][0]) / whole if whole else Fraction(-1)

    widest = max(range(len(cell)), key=share)
    lo, hi = cell[widest]
    middle = (lo + hi) / 2
    return [(*cell[:widest], side, *cell[widest + 1 :]) for side in ((lo, middle), (middle, hi))]


def smallest_value(term: Term, box: Sequence[Variable]) -> Fraction | None:
    """Return a number just above the smallest of the values of a term at some points of a box: not below the infimum."""
    values = []
    for point in candidates(box, 600):
        with suppress(UndefinedAtPoint):
            values.append(as_ball(value_at(term, point, 128)))
    smallest = min((value for value in values if value.is_finite()), key=lambda value: float(value.upper()), default=None)
    return None if smallest is None else upper_fraction(smallest)
