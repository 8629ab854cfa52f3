"""The conditions' statements and left sides, with the names of the theory and written out for a profile."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import Term, free_symbols, number, substitute, symbol
from proofs_check.conditions.context import Context
from proofs_check.explain.cutting import LIMIT, weigh
from proofs_check.explain.document import Formula, Prose, Step
from proofs_check.explain.notation import EPSILON, EPSILON_AT_ONE, MU, SECOND, SLOPE, SLOPE_AT_ONE, TARGET, THRESHOLD
from proofs_check.explain.setting import ZERO, claim, for_all, listed, neat
from proofs_check.prover.goals import Goal

W, ONE = symbol("w"), number(1)
E: Term = ("add", ("exp", TARGET), ("neg", ONE))
LINE: Term = ("log", ("add", ONE, ("mul", E, W)))
CURVATURE: Term = ("add", SECOND, ("pow", SLOPE, number(2)))
SHRINKING: Term = ("add", ONE, ("neg", ("exp", ("neg", EPSILON_AT_ONE))))

STATEMENTS: dict[str, Prose] = {
    "assumption-8": ("for all records x, ", Formula((EPSILON_AT_ONE, "<=", TARGET)), "."),
    "assumption-9": (
        "for all records x there is ", Formula((THRESHOLD, ">=", ONE)), " such that ", Formula((EPSILON, ">", LINE)),
        " for all ", Formula((W, ">=", THRESHOLD)), ".",
    ),
    "assumption-11": (
        "epsilon is differentiable in w, and for all records x there is ", Formula((MU, ">", number(0))),
        " such that ", Formula((("exp", EPSILON),)), " is ", Formula((MU,)), "-strongly convex in w on ", Formula((W, ">=", ONE)), ".",
    ),
    "proposition-16": ("for all records x, ", Formula((SLOPE_AT_ONE, "<", SHRINKING)), "."),
    "proposition-17": ("for all records x and all ", Formula((W, ">=", ONE)), ", ", Formula((EPSILON, "<=", ("mul", W, SLOPE))), "."),
}  # fmt: skip

#: The left side of each condition that is one inequality ≥ 0 (> 0).
LEFT: dict[str, Term] = {
    "assumption-8": ("add", TARGET, ("neg", EPSILON_AT_ONE)),
    "assumption-11": CURVATURE,
    "proposition-16": ("add", SHRINKING, ("neg", SLOPE_AT_ONE)),
    "proposition-17": ("add", ("mul", W, SLOPE), ("neg", EPSILON)),
}

#: The conditions about w = 1 only, and those whose left side has to be positive.
AT_ONE = frozenset({"assumption-8", "proposition-16"})
STRICT = frozenset({"assumption-11", "proposition-16"})


def gap(context: Context, condition: str, epsilon: sympy.Expr) -> sympy.Expr:
    """Return the left side of a condition for an expression of ε. Raises :class:`KeyError` for one without a left side."""
    first = sympy.diff(epsilon, context.weight)
    made: dict[str, Callable[[], sympy.Expr]] = {
        "assumption-8": lambda: context.target_rational - context.at_one(epsilon),
        "assumption-11": lambda: context.curvature_of(epsilon),
        "proposition-16": lambda: 1 - sympy.exp(-context.at_one(epsilon)) - context.at_one(first),
        "proposition-17": lambda: context.weight * first - epsilon,
    }
    return made[condition]()


def profile_step(context: Context) -> Step:
    """Say what ε is, and over what the condition is quantified."""
    profile = context.profile
    written = Formula((EPSILON, "=", profile.epsilon))
    known = [Formula((symbol(p.name), "=", number(p.value))) for p in profile.parameters if p.value is not None]
    constants: Prose = (" with ", *listed(known)) if known else ()
    return Step(("The profile is ", written, *constants, ",", *for_all(context.domain), "."))


def derivatives_step(context: Context, epsilon: sympy.Expr, *, second: bool) -> Step:
    """Write out ε′, and ε″ if it is needed."""
    first = sympy.diff(epsilon, context.weight)
    said: Prose = ("Derivatives in w: ", Formula((SLOPE, "=", from_sympy(neat(first)))))
    if second:
        said = (*said, " and ", Formula((SECOND, "=", from_sympy(neat(sympy.diff(first, context.weight))))))
    return Step((*said, "."))


def goal_formula(context: Context, condition: str, epsilon: sympy.Expr, goal: Goal) -> Formula:
    """Return the goal of a condition: its left side in the names of the theory, written out for ε, and in short."""
    first = sympy.diff(epsilon, context.weight)
    made: dict[Term, Callable[[], sympy.Expr]] = {
        EPSILON: lambda: epsilon, SLOPE: lambda: neat(first), SECOND: lambda: neat(sympy.diff(first, context.weight)),
        TARGET: lambda: context.target_rational, EPSILON_AT_ONE: lambda: neat(context.at_one(epsilon)),
        SLOPE_AT_ONE: lambda: neat(context.at_one(first)),
    }  # fmt: skip
    names = free_symbols(LEFT[condition])
    written = substitute(LEFT[condition], {name[1]: from_sympy(value()) for name, value in made.items() if name[1] in names})
    short = claim(goal)
    ending = short.parts[1:] if short.parts[0] != ZERO else ("=", ZERO)
    middle = () if written == short.parts[0] or weigh(written) > LIMIT else ("=", written)
    return Formula((LEFT[condition], *middle, *(() if short.parts[0] == ZERO else ("=", short.parts[0])), *ending), goal.box)
