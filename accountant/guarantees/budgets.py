"""The rule of runs whose releases are chosen as they go: a budget that is fixed in advance, and a filter that keeps it."""

from __future__ import annotations

from fractions import Fraction

from accountant.compositions.events import Composition, MechanismKind, make_event
from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import CurveBound, Losses, describe_events
from accountant.guarantees.stored import NUMBER
from accountant.guarantees.theorem import Guarantee, Inference, conclude, require_guarantee
from profiles import InvalidArgument, decimal_text, exact_text
from profiles.hypotheses import WITHIN_BUDGET

#: The name of the rule.
KEPT = "composition within a fixed budget"
_PAGE = "docs/private-kmeans.md"
_KEPT = Signature("keep_within_budget", {"budget": NUMBER})


@_KEPT.of
def keep_within_budget(guarantee: Guarantee, budget: Fraction) -> Guarantee:
    """Let releases be made one after another, each chosen in view of all earlier outputs, and let the sum of their costs be at most
    ``budget`` at every record, *whatever* is released. Then all of them together are ``budget``-differentially private; where costs are the
    μ² of normal noise and their sum is at most ``budget``², they are dominated by one Gaussian event of noise multiplier 1/``budget``.

    ``guarantee`` is that of the costs of this run, as a worst case over records: their sum is proved, and has to be within the budget. The
    hypothesis is that it would be within the budget whatever had been released; a run that stops before it spends more closes it. Without
    this rule the ε of a run would depend on its output, and would be no guarantee.

    Source: docs/private-kmeans.md, Theorem 1; for ε Rogers, Roth, Ullman, Vadhan 2016; for μ² Smith and Thakurta 2022, and Koskela,
    Tobaben, Honkela 2023. Raises :class:`InvalidArgument` where the costs of this run are above the budget, or are not worst case.
    """
    require_guarantee(guarantee)
    bound, subject = guarantee.bound, guarantee.subject
    if isinstance(bound, Losses) and bound.add is not None and not bound.delta:
        if bound.upper > budget:
            raise InvalidArgument(_too_much(subject, "epsilon", budget))
        kept: Losses | CurveBound = Losses(budget, budget, proofs=bound.proofs, lower=bound.lower)
        said = f"whatever is released, epsilon <= {decimal_text(budget, 12, round_up=True)} is what may be spent"
    elif isinstance(bound, CurveBound) and _multiplier(bound.composition) is not None:
        noise = _multiplier(bound.composition)
        if noise is None or noise * budget < 1:
            raise InvalidArgument(_too_much(subject, "mu", budget))
        whole = Composition(bound.composition.name, (make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": 1 / budget}),))
        kept, said = CurveBound(whole), f"whatever is released, mu^2 <= 1/{exact_text(1 / budget)}^2: {describe_events(whole)}"
    else:
        raise InvalidArgument(
            f"a budget is kept for costs in epsilon, or for one Gaussian event, but the guarantee of {subject!r} is about something else; "
            "take the worst case over records first"
        )
    return conclude(
        Inference(
            "composition within a fixed budget", subject, source=f"{_PAGE}, Theorem 1", conclusion=said, call=_KEPT.record(budget=budget)
        ),
        kept,
        parents=(guarantee,),
        supposes=(WITHIN_BUDGET.about(name=subject),),
    )


def _multiplier(composition: Composition) -> Fraction | None:
    """Return the noise multiplier of one Gaussian release without sampling; None of anything else."""
    (first, *more) = composition.events
    alone = not more and first.count == 1 and first.square is not None and first.batches is None
    return first["noise_multiplier"] if alone else None


def _too_much(subject: str, number: str, budget: Fraction) -> str:
    return (
        f"{number} = {decimal_text(budget, 6, round_up=False)} may be spent by {subject[:60]!r}, but its costs are not proved to be within "
        "that; spend less"
    )
