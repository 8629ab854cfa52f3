"""Assumption 9 with a threshold that is a term in the records and parameters, for all their values at once.

Statement: if exp(ε) ≥ c w² for all w ≥ 1, with c > 0 free of w, then exp(ε) > 1 + E w from w = 1 + (1 + E)/c on, because there
c w² − E w − 1 = w (c w − E) − 1 ≥ w (c + 1) − 1 ≥ c > 0. The bound comes from a lower bound L = m + k w^p ≤ ε, k > 0, p > 0:
exp(ε) ≥ exp(L) = exp(m) exp(k w^p) ≥ exp(m) (1 + k w^p/n)^n ≥ c w² with n ≥ 2/p and c = exp(m) (k/n)^n; or it is shown as it stands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import sympy

from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, fresh_name, substitute, to_text
from profiles.variables import WEIGHT
from proofs_check.conditions.context import Context
from proofs_check.prover import trees
from proofs_check.prover.algebra import derivative, expand, gather_powers, put_in, tidy
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import until_failure, within
from proofs_check.prover.minimize import smallest_value
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.search import prove
from proofs_check.results import Tree

MOST_FACTORS = 8
#: Work (nominal seconds) for each bound, at first and again.
QUICK, SLICE = 0.4, 1.5
#: How much of one summand is kept where the others may be negative.
SHARES = (sympy.S.One, sympy.Rational(9, 10), sympy.Rational(1, 2))
NAME = "v"
#: Variables near zero for whose powers multiples are tried, and the least multiple.
MOST_SMALL, LEAST_RATIO = 3, 1e-6


@dataclass(frozen=True, slots=True)
class QuadraticBound:
    """exp(ε) ≥ c w²: the ``constant`` c, and the lower bound m + k w^p of ε that shows it with n factors, if one does.

    With n = 0 the bound is to be shown as it stands, with n > 0 and without k by exp(ε) ≥ (1 + ε/n)^n.
    """

    constant: sympy.Expr
    factors: int = 0
    offset: sympy.Expr = sympy.S.Zero
    power: sympy.Expr | None = None


def prove_growth(context: Context) -> Iterator[tuple[str, Tree]]:
    """Yield (threshold, proof) for the kernel's claim, for one c after the other for which the bound is proved."""
    likely = dict.fromkeys(until_failure(_candidates(context)))
    for seconds in (QUICK, SLICE):
        for growth in tuple(likely):
            if context.weight in growth.constant.free_symbols or prove(context.for_records(growth.constant, strict=True), 1) is None:
                del likely[growth]
                continue
            bound = within(seconds, partial(_prove_bound, context, growth))
            if bound is not None:
                del likely[growth]
                yield _assemble(context, growth.constant, bound)


def _candidates(context: Context) -> Iterator[QuadraticBound]:
    """Yield bounds worth trying: from lines and powers below ε, from exp(ε) as it stands, from ε(1)."""
    yield from until_failure(_multiples_below(context))
    yield from until_failure(_powers_below(context))
    weight = context.weight
    for summand in sympy.Add.make_args(expand(gather_powers(sympy.exp(context.epsilon)))):
        coefficient, power = summand.as_independent(weight, as_Add=False)
        exponent = _exponent(power, context)
        if exponent is not None and exponent >= 2:
            yield QuadraticBound(coefficient)
        if isinstance(power, sympy.exp):
            yield QuadraticBound(coefficient * (power.args[0] / weight) ** 2 / 4)
    yield from _lines_below(context)
    at_one = context.at_one(context.epsilon)
    for n in (2, 1, 4):
        yield QuadraticBound((at_one / n) ** n, n)


def _multiples_below(context: Context) -> Iterator[QuadraticBound]:
    """Yield k d w ≤ ε, where d is a product of powers of variables that are positive and as small as one likes, and k a number."""
    small = [variable for variable in context.records if variable.open_below and variable.hi is not None]
    symbols = {symbol.name: symbol for symbol in context.epsilon.free_symbols}
    if not small or not all(variable.name in symbols for variable in small):
        return
    for powers in itertools.product((1, 2), repeat=len(small)) if len(small) <= MOST_SMALL else ():
        distance = math.prod((symbols[v.name] ** power for v, power in zip(small, powers, strict=True)), start=sympy.S.One)
        ratio = from_sympy(context.epsilon / distance / context.weight)
        values = [as_ball(value_at(ratio, point)) for point in candidates(context.domain, 200)]
        least, most = min(float(value.lower()) for value in values), max(float(value.upper()) for value in values)
        shares = (1.0,) if most <= least * (1 + 1e-9) else (0.3, 0.9, 0.1)
        for share in shares if least > LEAST_RATIO else ():
            k = sympy.Rational(f"{least * share:.1e}")
            yield from _growth(k * distance, context.weight, sympy.S.One, sympy.S.Zero)


def _powers_below(context: Context) -> Iterator[QuadraticBound]:
    weight = context.weight
    for epsilon in _branches(context.epsilon, weight):
        constant, growing = expand(epsilon).as_independent(weight, as_Add=True)
        for power, coefficient in _collected(growing, weight).items():
            exponent = _exponent(power, context)
            if exponent is not None:
                for share, m in itertools.product(SHARES, dict.fromkeys((constant, sympy.S.Zero))):
                    yield from _growth(share * coefficient, power, exponent, m)
                for simpler in (coefficient, _without_exponentials(coefficient)):
                    yield from _growth(simpler, weight if exponent >= 1 else power, exponent, sympy.S.Zero)
            if isinstance(power, sympy.exp):
                yield from _growth(coefficient * power.args[0] / weight, weight, sympy.S.One, sympy.S.Zero)
        yield from _growth(_without_exponentials(context.at_one(epsilon)), weight, sympy.S.One, sympy.S.Zero)
        slope = context.at_one(derivative(epsilon, weight))
        yield from _growth(slope, weight, sympy.S.One, context.at_one(epsilon) - slope)


def _lines_below(context: Context) -> Iterator[QuadraticBound]:
    """Yield lines k·w below ε with k a short number below all sampled values of ε/w, where those stay away from 0."""
    rate = context.epsilon / context.weight
    smallest = smallest_value(from_sympy(rate), context.domain) if context.bounded else None
    if smallest is not None and smallest > Fraction(1, 1000):
        for share in (Fraction(1), Fraction(9, 10), Fraction(1, 2)):
            k = to_rational(Fraction(f"{float(smallest * share):.2e}") if share < 1 else Fraction(math.floor(smallest * 1000), 1000))
            yield from _growth(k, context.weight, sympy.S.One, sympy.S.Zero)


def _collected(expression: sympy.Expr, weight: sympy.Symbol) -> dict[sympy.Expr, sympy.Expr]:
    """Return what each function of the weight is multiplied by in a sum."""
    coefficients: dict[sympy.Expr, sympy.Expr] = {}
    for summand in sympy.Add.make_args(expression):
        coefficient, power = summand.as_independent(weight, as_Add=False)
        coefficients[power] = coefficients.get(power, sympy.S.Zero) + coefficient
    return coefficients


def _growth(k: sympy.Expr, power: sympy.Expr, exponent: sympy.Rational, m: sympy.Expr) -> Iterator[QuadraticBound]:
    n = math.ceil(2 / min(exponent, sympy.S.One)) if exponent < 1 or not power.is_Pow else max(1, math.ceil(2 / exponent))
    if n <= MOST_FACTORS:
        yield QuadraticBound(sympy.exp(m) * (k / n) ** n, n, m, k * power)


def _branches(epsilon: sympy.Expr, weight: sympy.Symbol) -> Iterator[sympy.Expr]:
    """Yield ε, or without its branches the expressions that it is at least as large as."""
    epsilon = epsilon.replace(sympy.ceiling, lambda a: a).replace(sympy.floor, lambda a: a - 1)
    nodes = sorted(epsilon.atoms(sympy.Max, sympy.Abs, sympy.Piecewise), key=sympy.default_sort_key)
    node = next((node for node in nodes if weight in node.free_symbols), None)
    if node is None:
        yield epsilon
        for other in (node for node in nodes if isinstance(node, sympy.Max)):
            yield from (epsilon.xreplace({other: value}) for value in other.args)
        return
    values = node.args if isinstance(node, sympy.Max) else (node.args[0], -node.args[0])
    for value in [value for value, _ in node.args] if isinstance(node, sympy.Piecewise) else values:
        yield from _branches(epsilon.xreplace({node: value}), weight)


def _without_exponentials(coefficient: sympy.Expr) -> sympy.Expr:
    # exp(m) >= 1 + m, and -exp(-m) >= -1/(1 + m) for m >= 0
    def bounded(argument: sympy.Expr) -> sympy.Expr:
        return 1 / (1 - argument) if argument.could_extract_minus_sign() else 1 + argument

    return tidy(expand(coefficient.replace(sympy.exp, bounded)))


def _exponent(power: sympy.Expr, context: Context) -> sympy.Rational | None:
    """Return p > 0 for w^p: a rational, or the lower end of a symbolic exponent's range; None for anything else."""
    base, exponent = power.as_base_exp()
    if base != context.weight:
        return None
    ends = {variable.name: variable.lo for variable in context.records}
    values = {symbol: sympy.Rational(ends[symbol.name].numerator, ends[symbol.name].denominator) for symbol in exponent.free_symbols}
    least = put_in(exponent, values)
    return least if least.is_Rational and least > 0 else None


def _prove_bound(context: Context, growth: QuadraticBound) -> Tree | None:
    """Prove exp(ε) − c w² ≥ 0 on records × [1, ∞)."""
    square = growth.constant * context.weight**2
    if growth.power is None and growth.factors == 0:
        return prove(context.for_all(expand(gather_powers(sympy.exp(context.epsilon))) - square))
    if growth.power is None:
        return _by_tangents(context, context.epsilon, growth.factors, square)
    # exp(ε) ≥ exp(L) (1 + ε − L), and exp(L) = exp(m) exp(k w^p)
    below = growth.offset + growth.power
    above_line = context.for_all(context.epsilon - below)
    if not looks_true(above_line):
        return None
    lifted = sympy.exp(below) * (context.epsilon - below)
    parts = [sympy.exp(below) - square, lifted]
    powers = _by_tangents(context, growth.power, growth.factors, growth.constant * sympy.exp(-growth.offset) * context.weight**2)
    if powers is not None and expand(above_line.expression) == 0:
        return _scaled(-growth.offset, powers)
    above = None if powers is None else prove(above_line)
    if powers is None or above is None:
        return None
    rest = trees.add_up(parts, [_scaled(-growth.offset, powers), _scaled(-below, above)])
    return trees.tangent(context.epsilon - below, sympy.exp(below), rest)


def _scaled(exponent: sympy.Expr, proof: Tree) -> Tree:
    return proof if exponent == 0 else trees.scale(sympy.exp(exponent), proof)


def _by_tangents(context: Context, exponent: sympy.Expr, n: int, square: sympy.Expr) -> Tree | None:
    """Prove exp(g) − c w² ≥ 0 from (1 + g/n)^n − c w² ≥ 0, for g ≥ 0."""
    m = exponent / n
    rest = context.for_all((1 + m) ** n - square)
    proof = prove(rest) if looks_true(rest) else None
    if proof is None:
        return None
    total = sum((sympy.exp(j * m) * (1 + m) ** (n - 1 - j) for j in range(n)), sympy.S.Zero)
    return trees.tangent(m, total, proof, prove(context.for_all(total)) or trees.boxes(50))


def _assemble(context: Context, constant: sympy.Expr, bound: Tree) -> tuple[str, Tree]:
    """Return the threshold 1 + (1 + E)/c, and the proof there of exp(ε) − 1 − E w = (c w² − E w − 1) + (exp(ε) − c w²) > 0."""
    threshold = from_sympy(1 + (1 + context.growth) / constant)
    beyond: Term = ("add", threshold, ("sym", offset_name(context)))
    name = fresh_name(NAME, (variable.name for variable in context.records))
    line = from_sympy(constant * context.weight**2 - context.growth * context.weight - 1)
    rest = from_sympy(sympy.exp(context.epsilon) - constant * context.weight**2)
    general, proof = to_text(substitute(rest, {WEIGHT: ("sym", name)})), trees.renamed(bound, WEIGHT, name)
    above = trees.generalise(name, to_text(beyond), trees.ProvedRange((1, trees.MANIFEST)), general, proof)
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
    return fresh_name("s", context.names)
