"""The guarantee of released statistics and of one sample that is drawn by them, from that of the sample (docs/sampling.md)."""

from __future__ import annotations

from accountant.applications.budget.concluding import bound_costs, prove_released
from accountant.applications.statistics.planning import BudgetedPlan, describe_costs
from accountant.guarantees import Guarantee, compose, keep_within_budget, update_hypotheses
from accountant.guarantees.rules import name_readings
from accountant.rules.named import PUBLIC_RATE, constants_are_public
from profiles.hypotheses import FRESH_SAMPLES, RECORD_STATISTICS, WITHIN_BUDGET, Hypothesis, name_range
from profiles.variables import MAX_NAME

_PAGE = "docs/sampling.md"


def conclude_within(plan: BudgetedPlan, sampled: Guarantee, *, clipped: bool) -> Guarantee:
    """If statistics s cost a record c(x), and one analysis of a sample that is drawn by a function of s has ``sampled``, with
    c(x) + ψ(x; s) ≤ E for every s, then all of it is E-differentially private, under the hypotheses of ``sampled``, but for those about
    constants of the rule, which were released, and where rows were ``clipped`` that about the declared range.

    Source: docs/sampling.md, Theorem 6.
    """
    request = plan.request
    known = {item.hypothesis: item.evidence for item in sampled.discharged if item.hypothesis not in sampled.hypotheses}
    read = tuple(item for item in sampled.hypotheses if item.id == RECORD_STATISTICS.id)
    if plan.whole is not None:
        whole = prove_released(plan.whole.guarantee, f"{_PAGE}, Theorem 6, from the guarantee of one analysis of the sample")
        guarantee = update_hypotheses(name_readings(update_hypotheses(whole, known), read), None, sampled.hypotheses)
    else:
        costs = describe_costs(plan.plan.profile, request)
        first = bound_costs(costs).guarantee
        first = name_readings(update_hypotheses(prove_released(first, f"{_PAGE}, Theorem 5"), known), read)
        guarantee = compose(first, sampled, subject=f"statistics, then {sampled.subject}"[:MAX_NAME])
        guarantee = update_hypotheses(guarantee, {FRESH_SAMPLES: "the statistics are about every record, and of no sample"})
    guarantee = keep_within_budget(guarantee, request.epsilon)
    return update_hypotheses(guarantee, _reasons(plan, guarantee, clipped=clipped))


def _reasons(plan: BudgetedPlan, guarantee: Guarantee, *, clipped: bool) -> dict[Hypothesis, str]:
    released = f"made of arguments and of numbers that were released and paid for ({_PAGE}, Theorem 6), or the constant 1"
    reasons = dict.fromkeys((PUBLIC_RATE, *constants_are_public([name for name, _ in plan.plan.rule.constants])), released)
    if clipped:
        reasons[name_range(plan.plan.profile)] = f"each row is moved into the ball by itself ({_PAGE}, Lemma 1)"
    budget = "whatever is released, the rule is one whose worst case is proved to be within the budget before the sample is drawn"
    reasons |= {item: budget for item in guarantee.hypotheses if item.id == WITHIN_BUDGET.id}
    return reasons
