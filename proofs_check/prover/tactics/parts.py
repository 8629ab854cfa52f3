"""Trees that abstract: a part of the goal that has its variables for itself becomes one variable, within bounds that are proved."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from profiles.errors import InvalidExpression
from profiles.numbers import exact_text
from profiles.profile import Variable
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from proofs_check.prover.algebra import expand
from proofs_check.prover.attempt import Attempt, fresh_name, looks_true
from proofs_check.prover.goals import Goal
from proofs_check.prover.least import exact_points, fraction_below, least_of, rational_point
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.results import Tree

MOST_PARTS = 3
#: Numbers nearer than this share to a bound that is attained are not tried.
SHARES = (Fraction(1), Fraction(99, 100), Fraction(1, 2))


def abstract(attempt: Attempt) -> Iterator[Tree]:
    """Prove the goal for all values, within bounds, of a part that holds all occurrences of its variables."""
    goal = attempt.goal
    if attempt.depth == 0 or not attempt.plausible:
        return
    for part in list(_parts(goal))[:MOST_PARTS]:
        name = fresh_name(goal)
        box = tuple(variable for variable in goal.box if variable.name in {symbol.name for symbol in part.free_symbols})
        fresh = sympy.Symbol(name, real=True)
        shape = goal.expression.subs(part, fresh)
        if shape.free_symbols & part.free_symbols or not sympy.diff(shape, fresh).free_symbols:  # then a bound is as hard as the goal
            continue
        others = tuple(variable for variable in attempt.used if variable not in box)
        yield from _bounded(attempt, part, box, name, others)


def _bounded(attempt: Attempt, part: sympy.Expr, box: tuple[Variable, ...], name: str, others: tuple[Variable, ...]) -> Iterator[Tree]:
    goal = attempt.goal
    for lower, upper in _ranges(attempt, part, box):
        low, is_open, below = lower
        high, above = upper if upper is not None else (None, None)
        if high is not None and (high < low or (high == low and is_open)):
            continue
        sign = {"positive": True} if low > 0 or (low == 0 and is_open) else {"nonnegative": True} if low == 0 else {}
        fresh = sympy.Symbol(name, real=True, **sign)
        value = to_rational(low) if high == low else fresh
        general = goal.expression.subs(part, fresh)
        wider = (*others, Variable(name, low, high, is_open))
        instance = goal.expression.subs(part, value)
        if not looks_true(Goal(instance, wider, goal.strict)):
            continue
        proof = attempt.prove(instance, box=wider)
        if proof is not None:
            tree: Tree = {
                "rule": "generalise", "name": name, "term": to_text(from_sympy(part)), "low": exact_text(low), "lower": below,
                "general": to_text(from_sympy(general)), "proof": proof,
            }  # fmt: skip
            tree |= {"open": True} if is_open else {}
            yield tree | ({} if high is None else {"high": exact_text(high), "upper": above})
            return


def _parts(goal: Goal) -> Iterator[sympy.Expr]:
    """Yield parts that are no symbols, small ones first: constants that are not rational, then expressions in their own variables."""
    expression, seen = goal.expression, dict[sympy.Expr, None]()
    bounded = {variable.name for variable in goal.box if variable.name not in ("w", "s", "s_", "n")}
    for node in sympy.postorder_traversal(expression):
        if node == expression or not isinstance(node, sympy.Expr) or node.is_Symbol:
            continue
        for candidate in (node, *_groups(node, bounded)):
            names = {symbol.name for symbol in candidate.free_symbols}
            if names and names <= bounded and candidate not in seen and candidate != expression and not _is_plain(candidate):
                seen[candidate] = None
    found = []
    for candidate in seen:
        rest = expression.subs(candidate, sympy.Dummy(real=True))
        if not rest.free_symbols & candidate.free_symbols:
            found.append(candidate)
    yield from sorted(found, key=lambda part: (-len(part.free_symbols), part.count_ops()))


def _groups(node: sympy.Expr, names: set[str]) -> Iterator[sympy.Expr]:
    """Yield the parts of a sum or product whose terms share variables."""
    if not isinstance(node, (sympy.Add, sympy.Mul)) or len(node.args) < 3:
        return
    groups: list[tuple[set[str], list[sympy.Expr]]] = []
    for argument in node.args:
        own = {symbol.name for symbol in argument.free_symbols}
        if not own or not own <= names:
            continue
        joined, parts = set(own), [argument]
        for group in [group for group in groups if group[0] & own]:
            groups.remove(group)
            joined, parts = joined | group[0], [*group[1], *parts]
        groups.append((joined, parts))
    for _, parts in groups:
        if 1 < len(parts) < len(node.args):
            yield node.func(*parts)
    everything = [part for _, parts in groups for part in parts]
    if len(groups) > 1 and len(everything) < len(node.args):
        yield node.func(*everything)


def _is_plain(part: sympy.Expr) -> bool:
    """Tell whether a part is a variable up to a factor, or a power of one."""
    return part.is_Symbol or (part.is_Mul and len(part.args) == 2 and part.args[0].is_Number and part.args[1].is_Symbol)


Lower = tuple[Fraction, bool, Tree]
Upper = tuple[Fraction, Tree] | None


def _ranges(attempt: Attempt, part: sympy.Expr, box: tuple[Variable, ...]) -> Iterator[tuple[Lower, Upper]]:
    """Yield bounds of a part with their proofs: the best ones that are found."""
    lower = _lower(attempt, part, box)
    if lower is None:
        return
    rising = looks_true(Goal(attempt.goal.expression, attempt.goal.box, attempt.goal.strict))
    upper = _lower(attempt, -part, box) if rising else None
    if upper is not None:
        yield lower, (-upper[0], upper[2])
    yield lower, None


def _lower(attempt: Attempt, part: sympy.Expr, box: tuple[Variable, ...]) -> Lower | None:
    for bound, is_open in _bounds(part, box):
        proof = attempt.search(Goal(part - to_rational(bound), box, is_open), min(3, attempt.depth))
        if proof is not None:
            return bound, is_open, proof
    return None


def _bounds(part: sympy.Expr, box: tuple[Variable, ...]) -> Iterator[tuple[Fraction, bool]]:
    """Yield numbers that a part seems to be at least, best ones first, and whether it seems to be more."""
    least = least_of(part, box)
    if least is None or not least.value.is_finite():
        return
    for point in exact_points(part, box):
        exact = rational_point(point)
        try:
            value = None if exact is None else value_at(from_sympy(part), exact)
        except InvalidExpression:
            value = None
        if isinstance(value, Fraction) and as_ball(value) <= least.value + abs(least.value) / 10**6 and len(str(value)) < 700:
            yield value, False
    below = fraction_below(least.value)
    if below is None:
        return
    if 0 <= below < Fraction(1, 10**6):
        yield Fraction(0), True
    for share in SHARES[1:] if below else ():
        yield (below * share if below > 0 else below * (2 - share)), False
    if below > 0:
        yield Fraction(0), True
    if below >= 0:
        yield Fraction(0), False


def settle_constants(attempt: Attempt) -> Iterator[Tree]:
    """Replace numbers that are not rational: by the rational number that they equal, or by a variable in a narrow range."""
    goal = attempt.goal
    if attempt.depth == 0 or not goal.expression.free_symbols or not attempt.plausible:
        return
    for constant in _constants(goal.expression):
        least = least_of(constant, ())
        if least is None or not least.value.is_finite():
            continue
        short = Fraction(str(least.value.mid().str(30, radius=False))).limit_denominator(10**4)
        equal = abs(least.value - as_ball(short)) < Fraction(1, 10**25)
        below, above = fraction_below(least.value, 8), fraction_below(-least.value, 8)
        if below is None or above is None:
            continue
        low, high = (short, short) if equal else (below, -above)
        name = fresh_name(goal)
        fresh = sympy.Symbol(name, real=True, positive=True if low > 0 else None)
        general = goal.expression.xreplace({constant: fresh})
        instance = general.subs(fresh, to_rational(low)) if low == high else general
        wider = (*attempt.used, Variable(name, low, high))
        lower = attempt.search(Goal(constant - to_rational(low), ()), 1)
        upper = attempt.search(Goal(to_rational(high) - constant, ()), 1)
        if lower is None or upper is None or not looks_true(Goal(instance, wider, goal.strict)):
            continue
        proof = attempt.prove(expand(instance) if low == high else instance, box=wider)
        if proof is not None:
            yield {
                "rule": "generalise", "name": name, "term": to_text(from_sympy(constant)), "low": exact_text(low), "lower": lower,
                "high": exact_text(high), "upper": upper, "general": to_text(from_sympy(general)), "proof": proof,
            }  # fmt: skip


def _constants(expression: sympy.Expr) -> list[sympy.Expr]:
    """Return the largest parts without variables that are not rational: exponents of variables, and factors that are sums or roots."""
    found: dict[sympy.Expr, None] = {}
    for node in sympy.preorder_traversal(expression):
        if node.is_Pow and node.base.free_symbols and not node.exp.free_symbols and not node.exp.is_Rational:
            found[node.exp] = None
        elif isinstance(node, (sympy.Mul, sympy.Add)) and node.free_symbols:
            constant = [part for part in node.args if not part.free_symbols]
            found |= {part: None for part in constant if not part.is_Rational}
            if len(constant) > 1:
                found[node.func(*constant)] = None
    return sorted(found, key=lambda part: -part.count_ops())[:4]
