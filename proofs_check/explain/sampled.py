"""Explanations of bounds of the sampled mechanism: ψ(x) = log(1 + q (exp(e) − 1)) with e = ε(1/q(x), x)."""

from __future__ import annotations

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import decimal_below, to_exact
from profiles.symbolic import from_sympy, to_rational, to_sympy
from profiles.terms import number, symbol
from proofs_check.explain.document import PSI, RATE, SAMPLED, WEIGHTED, Formula, Step
from proofs_check.explain.kernel_rules import explain_tree
from proofs_check.explain.rounding import enclose
from proofs_check.explain.setting import at_point, claim, definition, fix, for_all, read_point, step
from proofs_check.explain.statements import ONE, Case, setting_over
from proofs_check.prover.algebra import put_in
from proofs_check.prover.goals import Goal
from proofs_check.suprema.terms import odds, sampled

_ODDS = odds(RATE, SAMPLED)


def explain_upper(case: Case) -> tuple[Step, ...]:
    """An upper bound U for all records: U − ψ ≥ 0, or in odds e^U − 1 − q (e^e − 1) ≥ 0."""
    q, e = _rate(case), _weighted(case)
    records, proof, bound = setting_over(case.context, case.context.records), case.proof, to_exact(case.claim["bound"])
    upper = to_rational(bound)
    if proof["form"] == "log":
        goal, name = Goal(upper - _psi(q, e), case.context.records), ("add", number(bound), ("neg", PSI))
        lead = "To be shown: "
    else:
        goal = Goal(sympy.exp(upper) - 1 - q * (sympy.exp(e) - 1), case.context.records)
        name = ("add", ("add", ("exp", number(bound)), ("neg", ONE)), ("neg", _ODDS))
        lead = "To be shown, with the exponentials of both sides: "
    everywhere = for_all(case.context.records)
    return (
        _definitions(q, e),
        step(("The probability is positive: ",), records.about(q, strict=True), proof["q-positive"], explain_tree, behind=everywhere),
        step(("It is at most 1: ",), records.about(1 - q), proof["q-at-most-one"], explain_tree, behind=everywhere),
        step(
            (lead,), records.about(goal.expression), proof["bound"], explain_tree, shown=claim(goal, name=name), behind=everywhere
        ),
    )  # fmt: skip


def explain_lower(case: Case) -> tuple[Step, ...]:
    """A lower bound: the value of ψ at a record."""
    q, e = _rate(case), _weighted(case)
    record, bound = read_point(case.claim), to_exact(case.claim["bound"])
    value = from_sympy(fix(_psi(q, e), record))
    ends = enclose(value, {})
    if ends is None:
        raise InvalidExpression("the value at the record is not finite")
    least = number(max(bound, decimal_below(ends[0], 20)))
    ending = (">=", number(bound)) if least != number(bound) else ()
    reached = Formula((PSI, "=", value, ">=", least, *ending), ())
    return _definitions(q, e), Step(("It is reached ", *at_point(record), ": ", reached, "."))


def _rate(case: Case) -> sympy.Expr:
    if case.q is None:
        raise InvalidExpression("the claim needs a sampling rule")
    return to_sympy(case.q, case.context.profile.values())


def _weighted(case: Case) -> sympy.Expr:
    """Return ε at the weight 1/q."""
    return put_in(case.context.declared, {case.context.weight: 1 / _rate(case)})


def _psi(q: sympy.Expr, e: sympy.Expr) -> sympy.Expr:
    return to_sympy(sampled(symbol("q"), symbol("e")), {"q": q, "e": e})


def _definitions(q: sympy.Expr, e: sympy.Expr) -> Step:
    psi = Formula((PSI, "=", ("log", ("add", ONE, _ODDS)), "=", sampled(RATE, SAMPLED)))
    probability, loss = definition(RATE, q), Formula((SAMPLED, "=", WEIGHTED, "=", from_sympy(e)))
    weight = Formula((("div", ONE, RATE),))
    return Step(("A record is sampled with probability ", probability, " and gets the weight ", weight, ". So ", loss, " and ", psi, "."))
