"""The worst case of privacy-constrained sampling, which needs no search: ψ ≤ ε* by construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from accountant.weights.fast.exact import may_jump
from profiles import Infeasible, Profile
from profiles.hypotheses import CONDITION, Hypothesis
from profiles.numbers import exact_text
from proofs_check.conditions.assumption_9_nonzero import find_loss
from proofs_check.prover.explore import candidates

_MOST_RECORDS = 100
METHOD = "the constraint of Problem 7 holds at every record"
NO_CLAIM = "this step is no claim of the kernel; the conditions that it rests on are"


@dataclass(frozen=True, slots=True)
class Ends:
    """Bounds of sup ψ for q = 1/w*(x), a record at which the lower one is attained, and what they rest on."""

    lower: Fraction
    upper: Fraction
    at: Mapping[str, Fraction]
    hypotheses: tuple[Hypothesis, ...]


def bound(profile: Profile, target: Fraction, premises: Mapping[str, bool]) -> Ends:
    """Return bounds of sup ψ for the exact map w*(x) = the largest w ≥ 1 with ψ_w(x) ≤ ε*, from the verdicts of its conditions.

    Upper: every weight used satisfies (2b), so ψ ≤ ε* at every record (premise ``feasibility`` for the weights; ``assumption-8``, so
    that there is one); a record whose weight is infinite, since ε = 0 there for all w, is never selected and loses nothing. Lower: at a
    record with some loss, where ``assumption-9-nonzero`` holds, w*(x) is finite, and weights w > w*(x) arbitrarily close to it have
    ψ_w(x) > ε*; ε is continuous in w (it has no Piecewise, floor or ceiling), hence ψ(x) = ε* at *every* such record. So sup ψ = ε*
    exactly where there is one. Without that condition, or such a record, the lower bound is 0. Neither is needed for the upper bound.

    ``premises`` maps ``assumption-8``, ``assumption-9-nonzero``, ``feasibility`` to True (proved) or False (refuted), or ``assumption-9``
    from which the second follows; ``assumption-8`` and ``feasibility`` stay hypotheses where they are missing.
    Raises :class:`Infeasible` where assumption 8 is refuted.
    """
    if premises.get("assumption-8") is False:
        raise Infeasible(
            f"assumption-8 is refuted for the target {exact_text(target)}: some record has epsilon(1, x) above it; raise the target epsilon"
        )
    if premises.get("feasibility") is False:
        raise Infeasible(
            f"feasibility is refuted for the target {exact_text(target)}: a returned weight breaks the constraint; do not use it"
        )
    open_premises = tuple(CONDITION.about(name=name) for name in ("assumption-8", "feasibility") if name not in premises)
    bounded = premises.get("assumption-9") is True or premises.get("assumption-9-nonzero") is True
    record = find_loss_record(profile) if premises.get("assumption-8") is True and bounded else None
    return Ends(Fraction(0) if record is None else target, target, record or {}, open_premises)


def find_loss_record(profile: Profile) -> Mapping[str, Fraction] | None:
    """Return a record at which ε, continuous in w, is certainly positive at some weight; None where none was found.

    Where Assumption 9 holds wherever ε is not zero for all weights, and weight 1 is feasible, ψ is exactly ε* there.
    """
    if may_jump(profile.epsilon):
        return None
    variables = profile.record_variables()
    largest = {variable.name: variable.hi if variable.hi is not None else Fraction(1) for variable in variables}
    return next((point for point in (largest, *candidates(variables, _MOST_RECORDS)) if find_loss(profile, point) is not None), None)
