"""What a guarantee spends in each direction, and what of it another library would lose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.guarantees import AnyGuarantee, EpsilonDP, TwoSidedDP
from accountant.guarantees.theorem import require_guarantee
from profiles import InvalidArgument, OpenHypotheses


@dataclass(frozen=True, slots=True)
class Spending:
    """For D = D' with one record more: P[M(D) ∈ S] ≤ e^plus P[M(D') ∈ S] + delta_plus, and with minus and delta_minus the other way.

    Upper bounds in nats, exact; ``minus`` None is ∞.
    """

    plus: Fraction
    minus: Fraction | None
    delta_plus: Fraction = Fraction(0)
    delta_minus: Fraction = Fraction(0)


def spend(guarantee: AnyGuarantee, library: str, *, accept_hypotheses: bool) -> Spending:
    """Return the numbers of a guarantee that ``library`` may use.

    Raises :class:`OpenHypotheses` where hypotheses are open and not accepted: the library cannot carry them, so that they would be lost;
    :class:`InvalidArgument` for what no rule made, and for bounds that are no ε (a profile, a sampled profile).
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if isinstance(bound, EpsilonDP):
        found = Spending(bound.upper, bound.upper)
    elif isinstance(bound, TwoSidedDP):
        found = Spending(bound.plus, bound.minus, bound.delta_plus, bound.delta_minus)
    else:
        raise InvalidArgument(f"{library} needs an epsilon, but the guarantee of {guarantee.subject!r} has none; take its worst case")
    if guarantee.hypotheses and not accept_hypotheses:
        listed = "; ".join(item.sentence for item in guarantee.hypotheses)
        raise OpenHypotheses(
            f"the guarantee of {guarantee.subject!r} has open hypotheses, which {library} would lose ({listed}); "
            "discharge them, or pass accept_hypotheses=True"
        )
    return found
