"""Branches: the rule that looks at each value of an Abs, Max, Min or Piecewise, and claims whose records are split at a number."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import sympy

from profiles.grammar import parse_expression
from profiles.numbers import to_exact
from profiles.symbolic import from_sympy, single_branches, to_rational
from profiles.terms import Term, free_symbols, number, symbol
from profiles.variables import Parameter, Statistic, Variable
from proofs_check.conditions.assumption_9_nonzero import sides_of
from proofs_check.conditions.context import Context
from proofs_check.explain.document import EPSILON, Formula, Prose, Step
from proofs_check.explain.setting import ZERO, Explain, Reason, Setting, definition, neat, range_formula, step
from proofs_check.explain.statements import Case, setting_over
from proofs_check.prover.algebra import expand
from proofs_check.results import Tree

_BRANCHING = (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise)
#: Powers of a Piecewise are to SymPy a Piecewise of powers.
_POWERS = (2, -1, sympy.S.Half, -2, 3, 4)


def explain_branches(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """Each value of a branching part of the left side in its place. Raises :class:`ValueError` where the part is not found."""
    node, cases = _find(setting, tree)
    children: list[Step] = []
    for value, gap, case in cases:
        share = setting.read(str(case.get("share", "0")))
        place = setting.goal.expression.xreplace({node: value, **_powers(node, value)})
        goal = setting.about(neat(place - share * gap), strict=setting.goal.strict)
        lead: Prose = ("Where it is ", Formula((from_sympy(value),)))
        if share != 0:
            known = Formula((from_sympy(neat(gap)), ">=", ZERO))
            times: Prose = () if share == 1 else (" times ", Formula((from_sympy(share), ">=", ZERO), setting.goal.box))
            lead = (*lead, ", ", known, "; this", *times, " is left out")
        children.append(step((*lead, ": "), goal, case["proof"], explain))
    said: Prose = ("The goal is shown with each value of ", Formula((from_sympy(node),)), " in its place, whichever it takes.")
    return Reason(said, tuple(children))


def _powers(node: sympy.Expr, value: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Return the powers of a Piecewise with the same powers of one of its values."""
    return {node**power: value**power for power in _POWERS} if isinstance(node, sympy.Piecewise) else {}


def _find(setting: Setting, tree: Tree) -> tuple[sympy.Expr, list[tuple[sympy.Expr, sympy.Expr, Tree]]]:
    """Return the branching part that the cases are about, and (value, what is not negative where it is taken, case)."""
    given = [(setting.read(str(case["value"])), case) for case in tree["cases"]]
    nodes = [node for node in sympy.postorder_traversal(setting.goal.expression) if isinstance(node, _BRANCHING)]
    for power, node in itertools.product((1, *_POWERS), nodes):
        if power != 1 and not isinstance(node, sympy.Piecewise):
            continue
        pieces = [
            (value, gap, next((case for known, case in given if expand(known**power - sign * value) == 0), None))
            for value, gap, sign in _choices(node)
        ]
        chosen = [(value, gap, case) for value, gap, case in pieces if case is not None]
        if len(chosen) == len(pieces) > 0:
            return node, chosen
    raise ValueError


def _choices(node: Any) -> Iterator[tuple[sympy.Expr, sympy.Expr, int]]:
    """Yield (value, gap, sign): the gap is not negative where the node has the value, which the kernel knows times the sign."""
    if isinstance(node, sympy.Piecewise):
        yield from ((value, sympy.S.Zero, 1) for value, _ in single_branches(node))
    elif isinstance(node, sympy.Abs):
        yield from ((value, 2 * value, 1) for value in (node.args[0], -node.args[0]))
    elif len(node.args) == 2:
        first, second = node.args
        sign = 1 if isinstance(node, sympy.Max) else -1
        yield from ((first, sign * (first - second), sign), (second, sign * (second - first), sign))


def explain_cases(case: Case, explain: Callable[[Case], tuple[Step, ...]]) -> tuple[Step, ...]:
    """A claim that is proved on either side of a number in the range of one variable of the records."""
    context, proof, split = case.context, case.proof, case.proof["cases"]
    name, at = str(split["variable"]), to_exact(split["at"])
    old = next(variable for variable in context.records if variable.name == name)
    ranges = {"below": replace(old, hi=at), "above": Variable(name, at, old.hi, open_below="closed" not in split)}
    own = {key: value for key, value in proof.items() if key == "obligations"}
    parts: list[Step] = []
    for side, part in ranges.items():
        some = tuple(part if variable is old else variable for variable in context.records)
        half = replace(context, box=some)
        resolved: Prose = (". There ", definition(EPSILON, half.epsilon)) if half.epsilon != context.epsilon else ()
        steps = explain(replace(case, context=half, claim={**case.claim, "proof": {**split[side], **own}}))
        parts.append(Step(("For the records with ", range_formula(part), *resolved, "."), steps))
    lead = Step(("The records are split at ", Formula((symbol(name), "=", number(at))), ", and each side is looked at by itself."))
    return lead, *parts


def explain_sides(case: Case, explain: Callable[[Case], tuple[Step, ...]]) -> tuple[Step, ...]:
    """A claim that is proved for the records at, above and below a number in the range of one variable, each by itself."""
    context, split = case.context, case.proof["sides"]
    name, at = str(split["variable"]), to_exact(split["at"])
    variable = next(variable for variable in context.records if variable.name == name)
    own = {key: value for key, value in case.proof.items() if key == "obligations"}
    place = symbol(name)
    said: dict[str, Prose] = {
        "on": ("For the records with ", Formula((place, "=", number(at)))),
        "above": (
            "For the records with ",
            Formula((place, ">", number(at))),
            f", where {name} now stands for the distance from that number",
        ),
        "below": (
            "For the records with ",
            Formula((place, "<", number(at))),
            f", where {name} now stands for the distance from that number",
        ),
    }
    parts: list[Step] = []
    for side, part in sides_of(context, variable, at).items():
        steps = explain(replace(case, context=part, claim={**case.claim, "proof": {**split[side], **own}}))
        parts.append(Step((*said[side], ", ", definition(EPSILON, part.epsilon), "."), steps))
    return Step(
        ("The records are divided at ", Formula((place, "=", number(at))), ", and each part is looked at by itself."),
    ), *parts


def explain_statistic(case: Case, explain: Callable[[Case], tuple[Step, ...]], explain_tree: Explain) -> tuple[Step, ...]:
    """A claim about ε = f(w, c), c a part of ε, that is proved for all values of c in a range."""
    context, given = case.context, case.proof["statistic"]
    base = setting_over(context, context.records)
    part, name, low = base.read(str(given["term"])), str(given["name"]), to_exact(given["low"])
    high = None if "high" not in given else to_exact(given["high"])
    shown = [step(("At least that: ",), base.about(part - to_rational(low), strict="open" in given), given["lower"], explain_tree)]
    if high is not None:
        shown.append(step(("At most that: ",), base.about(to_rational(high) - part), given["upper"], explain_tree))
    variable = Variable(name, low, high, open_below="open" in given)
    simpler = _with_statistic(context, variable, parse_expression(str(given["epsilon"])))
    steps = explain(replace(case, context=simpler, claim={**case.claim, "proof": given["proof"]}))
    lead: Prose = ("Write ", definition(symbol(name), part), ", which lies in the range ", range_formula(variable), ".")
    then: Prose = ("It is enough to look at ", definition(EPSILON, simpler.epsilon), " for all these values:")
    return Step(lead, tuple(shown)), Step(then, steps)


def _with_statistic(context: Context, variable: Variable, epsilon: Term) -> Context:
    """Return the context of the simpler profile: a statistic with ends, or a positive parameter, takes the place of the variables in it."""
    old, used = context.profile, free_symbols(epsilon)
    record = tuple(item for item in old.record if item.name in used)
    parameters = tuple(item for item in old.parameters if item.name in used)
    if variable.hi is None:
        parameters = (*parameters, Parameter(variable.name))
    else:
        record = (*record, Statistic(variable.name, variable.lo, variable.hi))
    return context.about(replace(old, promise=epsilon, record=record, parameters=parameters, parts=()))
