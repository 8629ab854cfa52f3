"""The worst case of privacy-constrained sampling, which needs no search: ψ ≤ ε* by construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from accountant.weights.vectorised.exact import may_jump
from profiles import Infeasible, Profile
from profiles.hypotheses import CONDITION, Hypothesis
from profiles.numbers import exact_text

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
    that there is one). Lower: where assumption 9 holds w*(x) is finite, and weights w > w*(x) arbitrarily close to it have
    ψ_w(x) > ε*; ε is continuous in w (it has no Piecewise, floor or ceiling), hence ψ(x) = ε* at *every* record. So sup ψ = ε*
    exactly. Without assumption 9 the lower bound is 0. Assumption 9 is not needed for the upper bound.

    ``premises`` maps ``assumption-8``, ``assumption-9``, ``feasibility`` to True (proved) or False (refuted); ``assumption-8`` and
    ``feasibility`` stay hypotheses where they are missing.
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
    exact = premises.get("assumption-8") is True and premises.get("assumption-9") is True and not may_jump(profile.epsilon)
    record = {variable.name: variable.hi if variable.hi is not None else Fraction(1) for variable in profile.record_variables()}
    return Ends(target if exact else Fraction(0), target, record if exact else {}, open_premises)
