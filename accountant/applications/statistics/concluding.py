"""The guarantee of released statistics and of one sample that is drawn by them, from that of the sample (docs/private-statistics.md)."""

from __future__ import annotations

from accountant.applications.statistics.planning import BudgetedPlan, describe_costs
from accountant.guarantees import AnyGuarantee, both_directions, compose_directions, keep_within_budget, settle
from accountant.guarantees.derive import derive_epsilon
from accountant.guarantees.proved import prove_promises
from accountant.rules.named import PUBLIC_RATE, constants_are_public
from profiles import Declaration
from profiles.hypotheses import DECLARED_PROFILE, EXACT_REALS, FRESH_SAMPLES, WITHIN_BUDGET, Hypothesis, name_range, name_statistics
from profiles.mechanisms import KNormSum
from profiles.variables import MAX_NAME

_PAGE = "docs/private-statistics.md"


def conclude_within(plan: BudgetedPlan, sampled: AnyGuarantee, *, clipped: bool) -> AnyGuarantee:
    """If statistics s cost a record c(x), and one analysis of a sample that is drawn by a function of s has ``sampled``, with
    c(x) + ψ(x; s) ≤ E for every s, then all of it is E-differentially private, under the hypotheses of ``sampled``, but for those about
    constants of the rule, which were released, and where rows were ``clipped`` that about the declared range.

    Source: docs/private-statistics.md, Theorem 2.
    """
    request, profile = plan.request, plan.plan.profile
    known = {item.hypothesis: item.evidence for item in sampled.discharged if item.hypothesis not in sampled.hypotheses}
    known[name_statistics(profile)] = "how each is read is a hypothesis of its own"
    if plan.whole is not None:
        whole = _prove(plan.whole.guarantee, f"{_PAGE}, Theorem 2, from the guarantee of one analysis of the sample")
        found = settle(settle(whole, known), None, sampled.hypotheses)
    else:
        costs = describe_costs(profile, request)
        first = derive_epsilon(Declaration(costs, hypotheses=(EXACT_REALS,)), rule="uniform", constants={"rate": 1}).guarantee
        first = settle(_prove(first, f"{_PAGE}, Theorem 1"), known)
        found = compose_directions(f"statistics, then {sampled.subject}"[:MAX_NAME], [both_directions(first), both_directions(sampled)])
        found = settle(found, {FRESH_SAMPLES: "the statistics are about every record, and of no sample"})
    found = keep_within_budget(found, request.epsilon)
    return settle(found, _reasons(plan, found, clipped=clipped))


def _prove(guarantee: AnyGuarantee, reason: str) -> AnyGuarantee:
    named = {item: reason for item in guarantee.hypotheses if item.id == DECLARED_PROFILE.id}
    return prove_promises(guarantee, (KNormSum(beta_sum=1),), named)  # what is released are sums with the exact noise of this one


def _reasons(plan: BudgetedPlan, found: AnyGuarantee, *, clipped: bool) -> dict[Hypothesis, str]:
    released = f"made of arguments and of numbers that were released and paid for ({_PAGE}, Theorem 2), or the constant 1"
    reasons = dict.fromkeys((PUBLIC_RATE, *constants_are_public([name for name, _ in plan.plan.rule.constants])), released)
    if clipped:
        reasons[name_range(plan.plan.profile)] = f"each row is moved into the range by itself ({_PAGE}, Lemma 1)"
    budget = "whatever is released, the rule is one whose worst case is proved to be within the budget before the sample is drawn"
    reasons |= {item: budget for item in found.hypotheses if item.id == WITHIN_BUDGET.id}
    return reasons


__all__ = ["conclude_within"]
