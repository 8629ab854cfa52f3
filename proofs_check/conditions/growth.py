"""Assumption 9 with a threshold that is a term in the records and parameters, for all their values at once.

Statement: if exp(ε) ≥ 1 + c w² for all w ≥ 1, with c > 0 free of w, then exp(ε) > 1 + E w from w = 1 + E/c on, because
c w² − E w = w (c (w − E/c)) ≥ w c > 0 there. The bound is sought with exp(ε) ≥ (1 + ε/n)^n, which holds for ε ≥ 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import sympy

from profiles.profile import WEIGHT
from profiles.symbolic import from_sympy
from profiles.terms import Term, substitute, to_text
from proofs_check.conditions.context import Context
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.search import effort, prove
from proofs_check.results import Tree

MOST_FACTORS = 8
SLICE = 2.0
#: How much of one summand is kept where the others may be negative.
SHARES = (sympy.Rational(9, 10), sympy.Rational(1, 2))
NAME = "v"


@dataclass(frozen=True, slots=True)
class Growth:
    """exp(ε) ≥ 1 + c w²: the constant c, and n ≥ 1 if (1 + ε/n)^n ≥ 1 + c w² is to be shown, 0 if exp(ε) is used as it is.

    With ``below`` = L ≤ ε it is (1 + L/n)^n ≥ 1 + c w² that is shown.
    """

    constant: sympy.Expr
    factors: int
    below: sympy.Expr | None = None


def prove_growth(context: Context) -> Iterator[tuple[str, Tree]]:
    """Yield (threshold, proof) for the kernel's claim, for one c after the other for which the bound is proved."""
    for growth in dict.fromkeys(_candidates(context)):
        if context.weight in growth.constant.free_symbols or prove(context.for_records(growth.constant, strict=True), 1) is None:
            continue
        with effort(SLICE):
            bound = _prove_bound(context, growth)
        if bound is not None:
            yield _assemble(context, growth.constant, bound)


def _candidates(context: Context) -> Iterator[Growth]:
    """Yield constants worth trying: from the powers and exponentials in ε, from exp(ε) itself, from ε(1)."""
    weight = context.weight
    for summand in sympy.Add.make_args(expand(context.epsilon)):
        coefficient, power = summand.as_independent(weight, as_Add=False)
        exponent = _exponent(power, context)
        if exponent is not None and exponent > 0:
            n = max(1, math.ceil(2 / exponent))
            yield Growth((coefficient / n) ** n, n)
            for share in SHARES:
                yield Growth((share * coefficient / n) ** n, n, share * summand)
        if isinstance(power, sympy.exp):
            slope = coefficient * power.args[0] / weight
            yield Growth((slope / 2) ** 2, 2, slope * weight)
    for summand in sympy.Add.make_args(expand(sympy.powsimp(sympy.exp(context.epsilon)))):
        coefficient, power = summand.as_independent(weight, as_Add=False)
        exponent = _exponent(power, context)
        if exponent is not None and exponent >= 2:
            yield Growth(coefficient, 0)
        if isinstance(power, sympy.exp):
            yield Growth(coefficient * (power.args[0] / weight) ** 2 / 4, 0)
    at_one = context.at_one(context.epsilon)
    for n in (2, 1, 4):
        yield Growth((at_one / n) ** n, n)


def _exponent(power: sympy.Expr, context: Context) -> sympy.Rational | None:
    """Return p for w^p: a rational, or the lower end of a symbolic exponent's range; None for anything else."""
    base, exponent = power.as_base_exp()
    if base != context.weight or (exponent.is_Rational and exponent <= 0):
        return None
    ends = {variable.name: variable.lo for variable in context.records}
    values = {symbol: sympy.Rational(ends[symbol.name].numerator, ends[symbol.name].denominator) for symbol in exponent.free_symbols}
    least = exponent.subs(values)
    return least if least.is_Rational and least > 0 else None


def _prove_bound(context: Context, growth: Growth) -> Tree | None:
    """Prove exp(ε) − 1 − c w² ≥ 0 on records × [1, ∞)."""
    square = growth.constant * context.weight**2
    if growth.factors > MOST_FACTORS:
        return None
    n = growth.factors
    if n == 0:
        return prove(context.for_all(expand(sympy.powsimp(sympy.exp(context.epsilon))) - 1 - square))
    if growth.below is None:
        return _by_tangents(context, context.epsilon, n, square)
    # exp(ε) ≥ exp(L) (1 + ε − L)
    lifted = sympy.exp(growth.below) * (context.epsilon - growth.below)
    parts = [sympy.exp(growth.below) - 1 - square, lifted]
    proofs = [_by_tangents(context, growth.below, n, square), prove(context.for_all(context.epsilon - growth.below))]
    if None in proofs:
        return None
    factor = to_text(from_sympy(sympy.exp(-growth.below)))
    proofs[1] = {"rule": "scale", "factor": factor, "positive": trees.MANIFEST, "product": proofs[1]}
    return {
        "rule": "exp-tangent",
        "exponent": to_text(from_sympy(context.epsilon - growth.below)),
        "coefficient": to_text(from_sympy(sympy.exp(growth.below))),
        "nonnegative": trees.MANIFEST,
        "rest": {"rule": "sum", "parts": [to_text(from_sympy(part)) for part in parts], "proofs": proofs},
    }


def _by_tangents(context: Context, exponent: sympy.Expr, n: int, square: sympy.Expr) -> Tree | None:
    """Prove exp(g) − 1 − c w² ≥ 0 from (1 + g/n)^n − 1 − c w² ≥ 0, for g ≥ 0."""
    m = exponent / n
    rest = context.for_all((1 + m) ** n - 1 - square)
    proof = prove(rest) if looks_true(rest) else None
    if proof is None:
        return None
    total = sum((sympy.exp(j * m) * (1 + m) ** (n - 1 - j) for j in range(n)), sympy.S.Zero)
    return {
        "rule": "exp-tangent",
        "exponent": to_text(from_sympy(m)),
        "coefficient": to_text(from_sympy(total)),
        "nonnegative": prove(context.for_all(total)) or trees.boxes(50),
        "rest": proof,
    }


def _assemble(context: Context, constant: sympy.Expr, bound: Tree) -> tuple[str, Tree]:
    """Return the threshold 1 + E/c and the proof of exp(ε) − 1 − E w > 0 at w = 1 + E/c + s: (c w² − E w) + (exp(ε) − 1 − c w²)."""
    threshold = from_sympy(1 + context.growth / constant)
    beyond: Term = ("add", threshold, ("sym", offset_name(context)))
    name, taken = NAME, {variable.name for variable in context.records}
    while name in taken:
        name += "_"
    line = from_sympy(constant * context.weight**2 - context.growth * context.weight)
    rest = from_sympy(sympy.exp(context.epsilon) - 1 - constant * context.weight**2)
    above: Tree = {
        "rule": "generalise",
        "name": name,
        "term": to_text(beyond),
        "low": "1",
        "lower": trees.MANIFEST,
        "general": to_text(substitute(rest, {WEIGHT: ("sym", name)})),
        "proof": trees.renamed(bound, WEIGHT, name),
    }
    direct: Tree = {
        "rule": "sum",
        "parts": [to_text(substitute(part, {WEIGHT: beyond})) for part in (line, rest)],
        "proofs": [trees.MANIFEST, above],
        "strict": 0,
    }
    shown = to_text(threshold)
    return shown, {"threshold": shown, "threshold-proof": trees.MANIFEST, "form": "exp", "direct": direct}


def offset_name(context: Context) -> str:
    """Return the name of s = w − threshold ≥ 0 as the kernel chooses it: ``s`` with as many underscores as it takes to be new."""
    name, taken = "s", {variable.name for variable in context.records} | {parameter.name for parameter in context.profile.parameters}
    while name in taken:
        name += "_"
    return name
