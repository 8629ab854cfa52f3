"""What commands tell of statistics that were released, and of what was drawn or weighed by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accountant.cli.output import print_as_it_is, print_json, print_line
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.statistics import BudgetedPlan
    from accountant.applications.statistics.running import WeighedWithin, WithinSummary
    from accountant.guarantees import Guarantee


def refuse_beside(options: Any, *names: str) -> None:
    """Refuse options that were given and do not go with --private-statistics. Raises :class:`InvalidArgument`."""
    for name in names:
        if getattr(options, name) not in (None, False):
            raise InvalidArgument(f"--{name.replace('_', '-')} was given, but it does not go with --private-statistics; leave it out")


def tell_result(
    result: WithinSummary | WeighedWithin, written: Mapping[str, str], private: dict[str, Any], lines: Sequence[str], *, options: Any
) -> int:
    """Print what was drawn or weighed by statistics that were released. Returns the exit code.

    ``written``: paths of files, as in the JSON. ``lines``: the first, what stands above the open hypotheses, and what stands below them.
    """
    from accountant.guarantees import render_basis

    told = {**tell_within(result.plan, result.guarantee, clipped=result.clipped), **written}
    if options.json:
        print_json(told | {"private": private})
        return 0
    first, above, *below = lines
    print_line(first)
    print_within(told, result.plan)
    if above:
        print_line(above)
    print_as_it_is("\n".join(render_basis(result.guarantee, everything=options.everything, explain=getattr(options, "explain", False))))
    for line in below:
        print_line(line)
    return 0


def tell_within(plan: BudgetedPlan, guarantee: Guarantee, *, clipped: bool) -> dict[str, Any]:
    """Return what may be published, as JSON: the released numbers, the rule made of them, and the epsilon of everything together."""
    from accountant.guarantees import hypotheses_json
    from profiles import exact_text
    from profiles.terms import to_text

    request, rule = plan.request, plan.plan.rule
    worst = None if plan.whole is None else plan.whole.bound.evidence.upper_text()
    return {
        "profile": plan.plan.profile.name,
        "epsilon": {"upper": exact_text(request.epsilon), "statistics": exact_text(request.statistics), "worst_case_of_this_run": worst},
        "released": {
            "records": float(plan.released.count),
            "total": None if plan.released.total is None else float(plan.released.total),
            "statistic": None if request.moment is None else request.moment.statistic.name,
            "exponent": None if request.moment is None else request.moment.exponent,
        },
        "rule": {
            "name": request.rule,
            "q": None if rule.q is None else to_text(rule.q),
            "target_epsilon": None if rule.target_epsilon is None else exact_text(rule.target_epsilon),
            "raised": float(plan.raised),
        },
        "expected_sample_size": plan.expected,
        "clipped": clipped,
        "checked_by_kernel": plan.plan.checked,
        "hypotheses": [item.sentence for item in guarantee.hypotheses],
        "premises": hypotheses_json(guarantee.hypotheses),
    }


def print_within(told: Mapping[str, Any], plan: BudgetedPlan) -> None:
    """Print for people what :func:`tell_within` puts into the JSON: released numbers, rule and bound."""
    from profiles import decimal_text, to_exact

    def short(value: float) -> str:
        return decimal_text(to_exact(float(value)), 6, round_up=False)

    bound, released, rule = told["epsilon"], told["released"], told["rule"]
    checked = "yes" if told["checked_by_kernel"] else "no"
    print_line(
        f"epsilon               {bound['upper']} nats for everything together, add/remove of one record; checked by kernel: {checked}"
    )
    print_line(f"released              about {short(released['records'])} records, for {bound['statistics']} of these nats")
    if released["total"] is not None:
        power = "" if released["exponent"] == 1 else f"^{released['exponent']}"
        print_line(f"                      total of {released['statistic']}{power} about {short(released['total'])}")
    told_q = "" if rule["q"] is None else f", q = {rule['q']}"
    target = "" if rule["target_epsilon"] is None else f", target epsilon {rule['target_epsilon']} of the sample"
    print_line(f"rule                  {rule['name']}{told_q}{target}")
    if plan.raised > 1:
        print_line(
            f"                      rates are {short(rule['raised'])} times those asked for: with smaller ones epsilon would be exceeded"
        )
    if told["expected_sample_size"] is not None:
        print_line(f"sample size           about {short(told['expected_sample_size'])} expected, from released numbers")
    if told["clipped"]:
        print_line("rows                  each was moved into the declared range, whatever the others are")
