"""A goal with the symbols that certificate texts are read with, and the formulas that speak about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import sympy

from profiles.grammar import parse_expression
from profiles.numbers import to_exact
from profiles.symbolic import from_sympy, to_rational, to_sympy
from profiles.terms import Term, number, symbol
from profiles.variables import Variable
from proofs_check.explain.document import Formula, Piece, Prose, Step
from proofs_check.prover.algebra import expand, put_in, tidy
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

ZERO = number(0)
_MOST = 150
#: The most summands of an expression that is multiplied out or put over a common denominator.
_MOST_SUMMANDS = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """A goal, and the symbol or number that each name of a certificate's texts stands for."""

    goal: Goal
    symbols: Mapping[str, sympy.Expr]

    def read(self, text: str) -> sympy.Expr:
        """Return an expression of the certificate. Raises :class:`profiles.InvalidExpression`."""
        return to_sympy(parse_expression(text), self.symbols)

    def term(self, text: str) -> Term:
        """Return an expression of the certificate as it is written there. Raises :class:`profiles.InvalidExpression`."""
        return parse_expression(text)

    def about(self, expression: sympy.Expr, *, strict: bool = False, box: tuple[Variable, ...] | None = None) -> Setting:
        """Return the setting with another goal over the same names."""
        return replace(self, goal=Goal(expression, self.goal.box if box is None else box, strict))

    def with_variable(self, variable: Variable) -> Setting:
        """Return the setting with a further variable in the box."""
        sign = (
            {"positive": True} if variable.lo > 0 or variable.open_below else {"nonnegative": True} if variable.lo == 0 else {"real": True}
        )
        made = {**self.symbols, variable.name: sympy.Symbol(variable.name, **sign)}
        return Setting(replace(self.goal, box=(*self.goal.box, variable)), made)

    @property
    def claim(self) -> Formula:
        """The goal as a formula: expression ≥ 0, or > 0."""
        return claim(self.goal)


def claim(goal: Goal, *, name: Term | None = None) -> Formula:
    """Return a goal as a formula, with a name of the theory for its left side in front where there is one."""
    sign = ">" if goal.strict else ">="
    shown = from_sympy(neat(goal.expression))
    return Formula((*(() if name is None else (name, "=")), shown, sign, ZERO), goal.box)


@lru_cache(maxsize=1024)
def neat(expression: sympy.Expr) -> sympy.Expr:
    """Return the shortest of the expression as it is, factored, multiplied out, factored then, and factored from the inside."""
    if expression.count_ops() > _MOST or is_huge(expression):
        return expression
    sum_ = expand(expression)
    forms = (expression, tidy(expression), sum_, tidy(sum_), _tidy_inside(expression))
    return min(forms, key=lambda form: (form.count_ops(), len(str(form))))


def _tidy_inside(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with each sum in it factored, the innermost first, so that no fraction has to be put together at once."""
    if not expression.args:
        return expression
    made = expression.func(*(_tidy_inside(part) for part in expression.args))
    return tidy(made) if made.is_Add else made


def is_huge(expression: sympy.Expr) -> bool:
    """Tell whether an expression over a common denominator, multiplied out, may have more summands than anybody reads."""
    if len(expression.free_symbols) == 1:  # powers of one variable add up
        return False
    above, below = _summands(expression)
    return max(above, _product(below)) > _MOST_SUMMANDS


def _summands(expression: sympy.Expr) -> tuple[int, dict[sympy.Expr, int]]:
    """Return how many summands the numerator has at most, and the factors of the denominator with their powers."""
    if expression.is_Pow and expression.exp.is_Integer:
        above, below = _summands(expression.base)
        power = abs(int(expression.exp))
        if expression.exp < 0:
            return _product(dict.fromkeys(below, power)), {expression.base: power}
        return _multinomial(above, power), {factor: power * known for factor, known in below.items()}
    if not (expression.is_Add or expression.is_Mul):
        return 1, {}
    parts = [_summands(part) for part in expression.args]
    common: dict[sympy.Expr, int] = {}
    for _, below in parts:
        for factor, power in below.items():
            common[factor] = max(common.get(factor, 0), power) if expression.is_Add else common.get(factor, 0) + power
    if expression.is_Mul:
        return math.prod(above for above, _ in parts), common
    return sum(
        above * _product({factor: power - below.get(factor, 0) for factor, power in common.items()}) for above, below in parts
    ), common


def _product(factors: Mapping[sympy.Expr, int]) -> int:
    return math.prod(_multinomial(_summands(factor)[0], power) for factor, power in factors.items())


def _multinomial(summands: int, power: int) -> int:
    """Return how many summands a power of a sum has."""
    return 1 if summands == 1 else math.comb(min(summands, _MOST_SUMMANDS) + min(power, _MOST_SUMMANDS) - 1, min(power, _MOST_SUMMANDS))


def definition(name: Term, value: sympy.Expr | Fraction) -> Formula:
    """Return the definition name = value."""
    return Formula((name, "=", number(value) if isinstance(value, Fraction) else from_sympy(value)))


def range_formula(variable: Variable) -> Formula:
    """Return a range: lo ≤ x ≤ hi, x ≥ lo or x > lo."""
    name = symbol(variable.name)
    if variable.hi is None:
        return Formula((name, ">" if variable.open_below else ">=", number(variable.lo)), (variable,))
    return Formula((number(variable.lo), "<" if variable.open_below else "<=", name, "<=", number(variable.hi)), (variable,))


def listed(items: Iterable[Piece | Prose]) -> Prose:
    """Return items with commas, and the word "and" before the last one."""
    pieces: list[Piece] = []
    everything = list(items)
    for index, item in enumerate(everything):
        if index:
            pieces.append(" and " if index == len(everything) - 1 else ", ")
        pieces.extend(item if isinstance(item, tuple) else (item,))
    return tuple(pieces)


def for_all(box: Sequence[Variable], used: Iterable[str] | None = None) -> Prose:
    """Return " for all …" with the ranges of the variables (of those ``used``), nothing without variables."""
    names = None if used is None else set(used)
    kept = [variable for variable in box if names is None or variable.name in names]
    return (" for all ", *listed(range_formula(variable) for variable in kept)) if kept else ()


def at_point(point: Mapping[str, Fraction]) -> Prose:
    """Return "at x = …" for an exact point, nothing for the empty one."""
    return ("at ", *listed(definition(symbol(name), value) for name, value in point.items())) if point else ()


def read_point(fields: Tree) -> dict[str, Fraction]:
    """Return the point that the field ``at`` names."""
    return {name: to_exact(value) for name, value in fields["at"].items()}


def fix(expression: sympy.Expr, point: Mapping[str, Fraction]) -> sympy.Expr:
    """Return an expression with numbers for the variables of a point."""
    return put_in(expression, {free: to_rational(point[free.name]) for free in expression.free_symbols if free.name in point})


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a goal holds: the sentences, and the steps that they rest on."""

    said: Prose
    children: tuple[Step, ...] = ()


#: Explains why a tree proves the goal of a setting. The third argument explains the trees below it.
Explain = Callable[[Setting, Tree], Reason]
Explainer = Callable[[Setting, Tree, Explain], Reason]


def step(lead: Prose, setting: Setting, tree: Tree, explain: Explain, *, shown: Formula | None = None, behind: Prose = ()) -> Step:
    """Return the step "lead goal behind." that goes on with the reason why the tree proves the goal; ``shown`` is the goal as a formula."""
    goal = shown or goal_of(setting, tree)
    reason = explain(setting, tree)
    if setting.goal.expression == 0 and shown is None:
        return Step((*lead, "the left side is 0."))
    return Step((*lead, goal, *behind, *((". ", *reason.said) if reason.said else (".",))), reason.children)


def goal_of(setting: Setting, tree: Tree) -> Formula:
    """Return the goal as a formula; as it is, and as an equation, where the rule says that it is an identity."""
    if tree.get("rule") == "zero":
        return Formula((from_sympy(setting.goal.expression), "=", ZERO), setting.goal.box)
    return setting.claim
