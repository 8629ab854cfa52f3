"""Rules that reduce a goal to others: monotonicity, splitting, multipliers, sums, generalisation, tangents."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.numbers import to_exact
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import number, symbol
from profiles.variables import Variable
from proofs_check.explain.cutting import LIMIT, weigh
from proofs_check.explain.document import Formula, Prose, Step
from proofs_check.explain.setting import ZERO, Explain, Reason, Setting, for_all, goal_of, neat, range_formula, step
from proofs_check.prover.algebra import derivative, expand, gather_powers, put_in
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

#: The kernel's range of an angle.
_PERIOD = Fraction(7)


def _range(setting: Setting, name: str) -> Variable:
    return next(variable for variable in setting.goal.box if variable.name == name)


def _with_range(setting: Setting, old: Variable, lo: Fraction, hi: Fraction | None) -> Setting:
    box = tuple(Variable(v.name, lo, hi, v.open_below and lo == v.lo) if v is old else v for v in setting.goal.box)
    return setting.about(setting.goal.expression, strict=setting.goal.strict, box=box)


def explain_monotone(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """Reduction to an end of a range."""
    goal, name, rising = setting.goal, str(tree["variable"]), tree["direction"] == "increasing"
    old = _range(setting, name)
    opened = rising and old.open_below
    end = old.lo if rising or old.hi is None else old.hi
    slope = setting.about(goal.slope(name, increasing=rising).expression, strict=goal.strict and opened)
    fixed = Goal(goal.expression, goal.box, goal.strict and not opened).at(name, end)
    left = setting.about(fixed.expression, strict=fixed.strict, box=fixed.box)
    direction = "non-decreasing" if rising else "non-increasing"
    at_end = Formula((symbol(name), "=", number(end)))
    note = " (which the range does not contain; the left side is continuous there, and above its value there)" if opened else ""
    sign = "derivative" if rising else "negative of the derivative"
    lead = (f"The {sign} in ", symbol_formula(name), ": ")
    return Reason(
        ("The left side is ", direction, " in ", symbol_formula(name), ", so it suffices to look at ", at_end, f"{note}."),
        (step(lead, slope, tree["slope"], explain), step(("At ", at_end, ": "), left, tree["end"], explain)),
    )


def symbol_formula(name: str) -> Formula:
    """Return a variable as a formula of its own."""
    return Formula((symbol(name),))


def explain_split(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """Both halves of a range."""
    name, at = str(tree["variable"]), to_exact(tree["at"])
    old = _range(setting, name)
    below, above = _with_range(setting, old, old.lo, at), _with_range(setting, old, at, old.hi)
    cut = Formula((symbol(name), "=", number(at)))
    children = (
        step(("Below, ", Formula((symbol(name), "<=", number(at))), ": "), below, tree["below"], explain),
        step(("Above, ", Formula((symbol(name), ">=", number(at))), ": "), above, tree["above"], explain),
    )
    return Reason(("The range is split at ", cut, "."), children)


def explain_scale(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """A positive multiplier."""
    factor = setting.read(str(tree["factor"]))
    positive = setting.about(factor, strict=True)
    whole = factor * setting.goal.expression
    product = setting.about(_without_exponential(factor, setting.goal.expression) or _merge(whole), strict=setting.goal.strict)
    shown = Formula((from_sympy(factor), ">", ZERO), setting.goal.box)
    proof = tree["product"]
    children = [step(("The multiplier: ",), positive, tree["positive"], explain, shown=shown)] if not _is_obvious(factor) else []
    children.append(step(("It remains: ",), product, proof, explain, shown=replace(goal_of(product, proof), equals=from_sympy(whole))))
    return Reason(("The sign does not change when the left side is multiplied by ", shown, "."), tuple(children))


def _is_obvious(factor: sympy.Expr) -> bool:
    return all(isinstance(part, sympy.exp) or (part.is_Rational and part > 0) for part in sympy.Mul.make_args(factor))


def _without_exponential(factor: sympy.Expr, expression: sympy.Expr) -> sympy.Expr | None:
    """Return exp(−g)·(c·exp(g)) as c, None for another shape: quick where multiplying out is not."""
    if not isinstance(factor, sympy.exp):
        return None
    fresh = sympy.Dummy("y", positive=True)
    replaced = expression.xreplace({sympy.exp(-factor.args[0]): fresh})
    slope = derivative(replaced, fresh)
    return neat(slope) if slope != 0 and not slope.has(fresh) and put_in(replaced, {fresh: 0}) == 0 else None


def _merge(expression: sympy.Expr) -> sympy.Expr:
    return min((expression, expand(expression), gather_powers(expand(expression))), key=lambda form: form.count_ops())


def explain_sum(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """A decomposition into parts, each of the right sign; with one part, the same left side in another form."""
    strict = tree.get("strict") if setting.goal.strict else None
    kept = [i for i, part in enumerate(tree["parts"]) if i == strict or expand(setting.read(str(part))) != 0]
    if len(kept) == 1:
        return _restated(setting, str(tree["parts"][kept[0]]), tree["proofs"][kept[0]], explain)
    terms = [setting.term(str(part)) for part in tree["parts"]]
    total = terms[0]
    for term in terms[1:]:
        total = ("add", total, term)
    equal = Formula((from_sympy(setting.goal.expression), "=", total), setting.goal.box)
    children = []
    for index, (source, proof) in enumerate(zip(tree["parts"], tree["proofs"], strict=True)):
        part = setting.about(setting.read(str(source)), strict=index == strict)
        children.append(step((f"Part {index + 1}: ",), part, proof, explain))
    what = "each >= 0" if strict is None else f"each >= 0, and part {strict + 1} is > 0"
    fits = max(weigh(part) for part in equal.parts if isinstance(part, tuple)) <= LIMIT
    written: Prose = (": ", equal) if fits else (", which are written below",)
    return Reason((f"The left side is the sum of {len(terms)} parts, {what}", *written, "."), tuple(children))


def _restated(setting: Setting, source: str, proof: Tree, explain: Explain) -> Reason:
    same = setting.about(setting.read(source), strict=setting.goal.strict)
    reason = explain(same, proof)
    if proof.get("rule") in ("zero", "sum") or neat(same.goal.expression) == neat(setting.goal.expression):
        return reason
    written = Formula((from_sympy(same.goal.expression),), setting.goal.box, equals=from_sympy(setting.goal.expression))
    return replace(reason, said=("The left side can be written as ", written, ". ", *reason.said))


def explain_generalise(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """A subterm is replaced by a new variable, whose range contains its values."""
    name, term = str(tree["name"]), setting.read(str(tree["term"]))
    low, high = to_exact(tree["low"]), to_exact(tree["high"]) if "high" in tree else None
    new = Variable(name, low, high, "open" in tree)
    wider = setting.with_variable(new)
    general = wider.about(wider.read(str(tree["general"])), strict=setting.goal.strict)
    lower = setting.about(term - to_rational(low), strict=new.open_below)
    shown = from_sympy(term)
    sign = ">" if new.open_below else ">="
    children = [step(("Its range: ",), lower, tree["lower"], explain, shown=Formula((shown, sign, number(low)), setting.goal.box))]
    if high is not None:
        upper = setting.about(to_rational(high) - term)
        bound = Formula((shown, "<=", number(high)), setting.goal.box)
        children.append(step(("Its range: ",), upper, tree["upper"], explain, shown=bound))
    children.append(_generally(general, tree, explain))
    definition = Formula((symbol(name), "=", shown))
    said = (
        "Write ",
        definition,
        ". Of it only the range is used: the goal holds for all values of ",
        symbol_formula(name),
        " in that range.",
    )
    return Reason(said, tuple(children))


def _generally(general: Setting, tree: Tree, explain: Explain) -> Step:
    kept = {symbol.name for symbol in general.goal.expression.free_symbols}
    return step(("More generally: ",), general, tree["proof"], explain, behind=for_all(general.goal.box, kept))


def explain_periodicity(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """The angle of sin and cos is replaced by a new variable, whose range is longer than their period."""
    new = Variable(str(tree["name"]), Fraction(0), _PERIOD)
    wider = setting.with_variable(new)
    general = wider.about(wider.read(str(tree["general"])), strict=setting.goal.strict)
    angle = Formula((from_sympy(setting.read(str(tree["term"]))),))
    said: Prose = ("sin and cos have the period 2*pi < 7, so that those of ", angle, " are those of some ", symbol_formula(new.name))
    ending: Prose = (" with ", range_formula(new), "; what holds for all of these numbers holds for it.")
    return Reason((*said, *ending), (_generally(general, tree, explain),))


def explain_exp_tangent(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """The exponential lies above its tangent at 0."""
    m = setting.read(str(tree["exponent"]))
    if expand(m) == 0:
        return explain(setting, tree["rest"])
    axiom = Formula((("exp", from_sympy(m)), ">=", ("add", number(1), from_sympy(m))), setting.goal.box)
    return _tangent(setting, tree, explain, axiom, sympy.exp(m) - 1 - m)


def explain_log_tangent(setting: Setting, tree: Tree, explain: Explain) -> Reason:
    """The logarithm lies below its tangent at 1."""
    a = setting.read(str(tree["argument"]))
    axiom = Formula((("log", from_sympy(a)), "<=", ("add", from_sympy(a), ("neg", number(1)))), setting.goal.box)
    reason = _tangent(setting, tree, explain, axiom, a - 1 - sympy.log(a))
    positive = setting.about(a, strict=True)
    return Reason(reason.said, (step(("The argument: ",), positive, tree["argument-positive"], explain), *reason.children))


def _tangent(setting: Setting, tree: Tree, explain: Explain, axiom: Formula, gap: sympy.Expr) -> Reason:
    """The goal is c times the gap between function and tangent, plus a rest that is to be shown."""
    coefficient = setting.read(str(tree["coefficient"]))
    factor = setting.about(coefficient)
    rest = setting.about(_merge(setting.goal.expression - coefficient * gap), strict=setting.goal.strict)
    if coefficient == 1:
        said: Prose = ("Use ", axiom, ". The left side is at least what remains when the tangent is put in.")
    else:
        multiple = Formula((from_sympy(coefficient),))
        said = ("Use ", axiom, ", multiplied by the factor ", multiple, ": the left side is that factor times the gap, plus a rest.")
    children: list[Step] = []
    if coefficient != 1:
        children.append(step(("The factor: ",), factor, tree["nonnegative"], explain))
    remainder = from_sympy(setting.goal.expression - coefficient * gap)
    children.append(step(("The rest: ",), rest, tree["rest"], explain, shown=replace(goal_of(rest, tree["rest"]), equals=remainder)))
    return Reason(said, tuple(children))
