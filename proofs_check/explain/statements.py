"""The conditions' statements and left sides, with the names of the theory and written out for a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from profiles.symbolic import from_sympy
from profiles.terms import Term, free_symbols, number, substitute, symbol
from profiles.variables import Variable
from proofs_check.conditions.context import Context
from proofs_check.explain.cutting import LIMIT, weigh
from proofs_check.explain.document import (
    EPSILON,
    EPSILON_AT_ONE,
    MU,
    PSI,
    RATE,
    SECOND,
    SLOPE,
    SLOPE_AT_ONE,
    TARGET,
    THRESHOLD,
    Formula,
    Prose,
    Step,
)
from proofs_check.explain.setting import ZERO, Setting, claim, definition, for_all, listed, neat
from proofs_check.prover.algebra import derivative
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

W, ONE = symbol("w"), number(1)
E: Term = ("add", ("exp", TARGET), ("neg", ONE))
LINE: Term = ("log", ("add", ONE, ("mul", E, W)))
CURVATURE: Term = ("add", SECOND, ("pow", SLOPE, number(2)))
SHRINKING: Term = ("add", ONE, ("neg", ("exp", ("neg", EPSILON_AT_ONE))))

STATEMENTS: dict[str, Prose] = {
    "well-defined": (
        "for all records x and all ", Formula((W, ">=", ONE)), ", epsilon is defined, and ", Formula((EPSILON, ">=", ZERO)), ".",
    ),
    "assumption-8": ("for all records x, ", Formula((EPSILON_AT_ONE, "<=", TARGET)), "."),
    "assumption-9": (
        "for all records x there is ", Formula((THRESHOLD, ">=", ONE)), " such that ", Formula((EPSILON, ">", LINE)),
        " for all ", Formula((W, ">=", THRESHOLD)), ".",
    ),
    "assumption-9-nonzero": (
        "for all records x, ", Formula((EPSILON, "=", ZERO)), " for all ", Formula((W, ">=", ONE)), ", or there is ",
        Formula((THRESHOLD, ">=", ONE)), " such that ", Formula((EPSILON, ">", LINE)), " for all ", Formula((W, ">=", THRESHOLD)), ".",
    ),
    "assumption-11": (
        "epsilon is differentiable in w, and for all records x there is ", Formula((MU, ">", number(0))),
        " such that ", Formula((("exp", EPSILON),)), " is ", Formula((MU,)), "-strongly convex in w on ", Formula((W, ">=", ONE)), ".",
    ),
    "proposition-16": ("for all records x, ", Formula((SLOPE_AT_ONE, "<", SHRINKING)), "."),
    "strong-convexity": (
        "epsilon is differentiable in w, and for all records x, ", Formula((("exp", EPSILON),)), " is ", Formula((MU,)),
        "-strongly convex in w on ", Formula((W, ">=", ONE)), ", with the ", Formula((MU, ">", ZERO)), " given below.",
    ),
    "epsilon-upper": (
        "for all records x, ", Formula((ZERO, "<", RATE, "<=", ONE)), ", and ", Formula((PSI,)), " is at most the given number.",
    ),
    "epsilon-lower": ("there is a record x at which ", Formula((PSI,)), " is at least the given number."),
    "homogeneous": (
        "for all records x and all ", Formula((W, ">=", ONE)), ", ", Formula((EPSILON, "=", ("mul", W, EPSILON_AT_ONE))), ".",
    ),
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


@dataclass(frozen=True, slots=True)
class Case:
    """What is explained: a claim of a certificate about the profile of ``context``, with the sampling rule if there is one."""

    context: Context
    claim: Tree
    q: Term | None = None

    @property
    def name(self) -> str:
        return str(self.claim.get("claim"))

    @property
    def proof(self) -> Tree:
        """The fields of the claim's proof. Raises :class:`KeyError`."""
        tree: Tree = self.claim["proof"]
        return tree


def setting_over(context: Context, box: tuple[Variable, ...], expression: sympy.Expr = sympy.S.Zero, *, strict: bool = False) -> Setting:
    """Return a goal with the names that the certificate of this profile may use."""
    return Setting(Goal(expression, box, strict), context.profile.values())


def gap(context: Context, condition: str, epsilon: sympy.Expr) -> sympy.Expr:
    """Return the left side of a condition for an expression of ε. Raises :class:`KeyError` for one without a left side."""
    first = derivative(epsilon, context.weight)
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


def derivatives_step(context: Context, epsilon: sympy.Expr, *, second: bool, where: str = "") -> Step:
    """Write out ε′, and ε″ if it is needed; and ε itself, if its branches are decided only ``where`` the derivatives are taken."""
    first = derivative(epsilon, context.weight)
    branch: Prose = () if context.smooth or not where else (f"{where}, ", definition(EPSILON, epsilon), ". ")
    said: Prose = (*branch, "Derivatives in w: ", definition(SLOPE, neat(first)))
    if second:
        said = (*said, " and ", definition(SECOND, neat(derivative(first, context.weight))))
    return Step((*said, "."))


def goal_formula(context: Context, condition: str, epsilon: sympy.Expr, goal: Goal) -> Formula:
    """Return the goal of a condition: its left side in the names of the theory, written out for ε, and in short."""
    first = derivative(epsilon, context.weight)
    made: dict[Term, Callable[[], sympy.Expr]] = {
        EPSILON: lambda: epsilon, SLOPE: lambda: neat(first), SECOND: lambda: neat(derivative(first, context.weight)),
        TARGET: lambda: context.target_rational, EPSILON_AT_ONE: lambda: neat(context.at_one(epsilon)),
        SLOPE_AT_ONE: lambda: neat(context.at_one(first)),
    }  # fmt: skip
    names = free_symbols(LEFT[condition])
    written = substitute(LEFT[condition], {name[1]: from_sympy(value()) for name, value in made.items() if name[1] in names})
    if written[2] == ("neg", ZERO):
        written = written[1]
    short = claim(goal)
    ending = short.parts[1:] if short.parts[0] != ZERO else ("=", ZERO)
    middle = () if written == short.parts[0] or weigh(written) > LIMIT else ("=", written)
    return Formula((LEFT[condition], *middle, *(() if short.parts[0] == ZERO else ("=", short.parts[0])), *ending), goal.box)
