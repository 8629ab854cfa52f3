"""The minimum of a term over a finite box: enclosed by branch and bound, or a value near it from a few points."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from profiles.profile import Variable
from profiles.terms import Term
from proofs_check.enclosures import upper_fraction, working_precision
from proofs_check.prover.explore import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.suprema.branch import Objective, enclose_supremum

RELATIVE_GAP = Fraction(1, 10**9)
#: Values below this are 0 as far as the relative gap is concerned.
_LEAST = Fraction(1, 10**30)


def minimum_enclosure(term: Term, box: Sequence[Variable], budget: int = 6000) -> tuple[Fraction, Fraction] | None:
    """Return exact numbers below and above min over ``box`` of a defined, continuous term; None where no finite number was found.

    The interval is as narrow as ``budget`` boxes allow (relative gap 1e-9 aimed at); all ranges must be finite.
    """
    objective = Objective(("neg", term), tuple(variable.name for variable in box))
    sides = {variable.name: (variable.lo, variable.lo if variable.hi is None else variable.hi) for variable in box}
    with working_precision(96):
        found = enclose_supremum(objective, sides, RELATIVE_GAP, budget, least=_LEAST).exact()
    return None if found is None else (-found[1], -found[0])


def smallest_value(term: Term, box: Sequence[Variable]) -> Fraction | None:
    """Return a number just above the smallest of the values of a term at some points of a box: not below the infimum."""
    values = []
    for point in candidates(box, 600):
        with suppress(UndefinedAtPoint):
            values.append(as_ball(value_at(term, point, 128)))
    smallest = min((value for value in values if value.is_finite()), key=lambda value: float(value.upper()), default=None)
    return None if smallest is None else upper_fraction(smallest)
