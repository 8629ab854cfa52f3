"""Rules without subgoals: identity, sign of a normal form, subdivision."""

from __future__ import annotations

import sympy

from profiles.numbers import decimal_below
from profiles.symbolic import from_sympy
from profiles.terms import number, substitute, symbol
from profiles.variables import Variable
from proofs_check.explain.document import Formula, Piece, Prose
from proofs_check.explain.normal_form import NONNEGATIVE, NormalForm, find_normal_form, to_product, to_sum
from proofs_check.explain.rounding import DIGITS, enclose
from proofs_check.explain.setting import ZERO, Explain, Reason, Setting, for_all, listed, neat, range_formula
from proofs_check.explain.worst_box import Subdivision, lower_bound, subdivide
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

UNSEEN: Prose = (
    "The kernel reads the sign off its normal form, a sum of products of factors that are not negative.",
    " That form could not be reproduced here; pdp check checks the step.",
)


def explain_zero(_setting: Setting, _tree: Tree, _explain: Explain) -> Reason:
    """The left side is 0."""
    return Reason(("This is an identity: multiplied out, everything cancels.",))


def explain_ceiling(setting: Setting, tree: Tree, _explain: Explain) -> Reason:
    """A number lies at or below its ceiling, and less than 1 below."""
    a = from_sympy(setting.read(str(tree["argument"])))
    above: Formula = Formula((a, "<=", ("ceiling", a), "<", ("add", a, number(1))), setting.goal.box)
    return Reason(("That is what a ceiling is: ", above, "."))


def explain_manifest(setting: Setting, _tree: Tree, _explain: Explain) -> Reason:
    """The sign can be read off a sum of products of factors that are not negative."""
    goal = setting.goal
    if not goal.expression.free_symbols:
        return Reason(_value(setting))
    form = find_normal_form(goal, setting.symbols)
    if form is None:
        return Reason(UNSEEN)
    if goal.expression.is_Symbol:
        return Reason(("That is its range.",))
    return Reason((*_substitution(form), *_sum(setting, form), *_facts(form)))


def _value(setting: Setting) -> Prose:
    """A goal without variables is a number."""
    expression = setting.goal.expression
    if expression.is_Rational:
        return ()
    term = from_sympy(expression)
    ends = enclose(term, {})
    if ends is None or ends[0] < 0:
        return UNSEEN
    if ends[0] == ends[1]:
        return ("The left side is ", Formula((term, "=", number(ends[0])), ()), ".")
    return ("In numbers, ", Formula((term, ">=", number(decimal_below(ends[0], DIGITS))), ()), ".")


def _substitution(form: NormalForm) -> Prose:
    if not form.substitution:
        return ()
    ranges = {variable.name: variable for variable in form.box}
    made = [(Formula((symbol(s.name), "=", s.term)), " with ", range_formula(ranges[s.offset])) for s in form.substitution]
    return ("Substitute ", *listed(made), ". ")


def _sum(setting: Setting, form: NormalForm) -> Prose:
    where = {shift.name: shift.term for shift in form.substitution}
    goal, denominator = substitute(from_sympy(setting.goal.expression), where), from_sympy(form.denominator)
    how, cleared = _signs(setting, form), form.denominator != 1
    as_shown = form.numerator == neat(setting.goal.expression) and len(form.summands) == len(sympy.Add.make_args(form.numerator))
    if as_shown and not where and not cleared:
        return how
    factor: Prose = ("Multiplied by ", Formula((denominator, ">", ZERO), form.box), ", the left side") if cleared else ("The left side",)
    shown = Formula((to_sum(form),), form.box, equals=("mul", denominator, goal) if cleared else goal)
    return (*factor, " becomes " if where or cleared else " is ", shown, ". ", *how)


def _signs(setting: Setting, form: NormalForm) -> Prose:
    """Say what is seen: the signs of coefficients and factors, and for a strict goal a summand that is positive."""
    what = "Every factor" if len(form.summands) == 1 else "Every coefficient and every factor"
    if not setting.goal.strict:
        return (f"{what} is >= 0.",)
    if len(form.summands) == 1:
        return ("Every factor is > 0.",)
    positive = Formula((to_product(form.positive),), form.box) if form.positive is not None else Formula((to_sum(form),), form.box)
    return (f"{what} is >= 0, and the summand ", positive, " is > 0.")


def _facts(form: NormalForm) -> Prose:
    known: list[Piece] = []
    for atom, sign in form.facts:
        low = lower_bound(Goal(atom, form.box))
        bound = (">=", number(decimal_below(low, DIGITS))) if low is not None and low > 0 else (">=" if sign == NONNEGATIVE else ">", ZERO)
        known.append(Formula((from_sympy(atom), *bound), form.box))
    for coefficient in dict.fromkeys(s.coefficient for s in form.summands if any(p.could_extract_minus_sign() for p in s.coefficient.args)):
        term = from_sympy(coefficient)
        ends = enclose(term, {})
        if ends is not None:
            known.append(Formula((term, ">=", number(decimal_below(ends[0], DIGITS))), ()))
    return (" Here ", *listed(known), ".") if known else ()


def explain_boxes(setting: Setting, tree: Tree, _explain: Explain) -> Reason:
    """Subdivision, with the worst box."""
    divided = subdivide(setting.goal, centred=tree.get("form") == "centred", precision=int(tree.get("precision", 64)))
    if divided is None:
        return Reason((_allowed(tree), " The worst box could not be recomputed here in short time; pdp check checks the step."))
    if not divided.worst:
        return Reason(_value(setting))
    return Reason(_worst(setting, tree, divided))


def _allowed(tree: Tree) -> str:
    """Say what the kernel does."""
    most = tree.get("budget")
    how = "the mean value theorem in interval arithmetic" if tree.get("form") == "centred" else "interval arithmetic"
    return f"The kernel bounds the left side from below by {how}, on {most} boxes at most that cover the ranges."


def _worst(setting: Setting, tree: Tree, divided: Subdivision) -> Prose:
    box = tuple(Variable(name, lo, hi) for name, lo, hi in divided.worst)
    rest = tuple(variable for variable in setting.goal.box if variable.name not in {side.name for side in box})
    bound = number(decimal_below(divided.bound, DIGITS)) if divided.bound else ZERO
    shown = from_sympy(neat(setting.goal.expression))
    if divided.boxes == 1:
        box = tuple(variable for variable in setting.goal.box if variable not in rest)
        return ("Interval arithmetic gives ", Formula((shown, ">=", bound), setting.goal.box), *for_all(box), " at once.")
    return (
        _allowed(tree),
        f" Recomputed here, {divided.boxes} boxes do; the smallest lower bound is the one on ",
        *listed(range_formula(side) for side in box),
        ": ",
        Formula((shown, ">=", bound), (*box, *rest)),
        ".",
    )
