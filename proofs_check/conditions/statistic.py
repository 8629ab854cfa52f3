"""Profiles in which a part holds all occurrences of its variables: the part becomes a statistic of its own, within bounds that are proved.

Statement: if ε(w, x) = f(w, a(x)) and low ≤ a(x) ≤ high for all records x, then what holds for f(w, y), for all y in [low, high], holds
for ε.
So w·((z − 1/3)² + (y − 2/5)² + 1/1000) is c·w with c in [0.001, 0.8...]. The part may be a number, such as √2·√3/√6, which is 1.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import sympy

from profiles.errors import InvalidExpression, PDPError
from profiles.grammar import parse_expression
from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import fresh_name, substitute, to_text
from profiles.variables import WEIGHT, Parameter, Statistic, Variable
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept_proof
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, part_named, put_in
from proofs_check.prover.attempt import looks_true
from proofs_check.prover.effort import apart, remembered, until_failure, within
from proofs_check.prover.goals import Goal
from proofs_check.prover.minimize import exact_points, fraction_below, least_of, rational_point
from proofs_check.prover.oracle import accepts
from proofs_check.prover.pointwise import value_at
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import gaps
from proofs_check.results import Decision, Tree, Verdict

MOST_PARTS = 3
#: Processor seconds for one bound of a part, and for the condition of the simpler profile.
BOUND_SLICE, SLICE = 0.7, 2.5
#: Work for finding the parts, which all conditions share.
PARTS_SLICE = 0.5
MOST_DIGITS = 700


@dataclass(frozen=True, slots=True)
class Abstraction:
    """ε(w, x) = f(w, a(x)): the fields of the certificate that say so and show the bounds, and the profile f."""

    fields: Tree
    profile: Profile


def decide_by_statistic(context: Context, condition: str, decide: Callable[[Context], Decision]) -> Decision | None:
    """Prove a condition for a simpler profile of which this one is a case; None where that proves nothing."""
    for abstraction in abstractions(context.profile):
        simpler = within(SLICE, partial(_decide_simpler, context.about(abstraction.profile), decide))
        if simpler is not None and simpler.verdict is Verdict.REFUTED:
            break  # at a value that the part may well take: records are looked at next
        if simpler is None or simpler.verdict is Verdict.UNKNOWN or simpler.claim is None:
            continue
        proof: Tree = {"statistic": {**abstraction.fields, "proof": simpler.claim["proof"]}}
        name, term = str(abstraction.fields["name"]), str(abstraction.fields["term"])
        method = f"{_in_words_of(term, name, simpler.method)}, for all values of {term}"
        decision = accept_proof(context, condition, proof, method=method, details=_told(simpler, name, term))
        if decision.checked:
            return decision
    return None


def _told(decision: Decision, name: str, term: str) -> dict[str, object]:
    """Return the weight that bounds the feasible ones, and where the weight is infinite, where the proof has them.

    What holds for every value of the part holds for that of a(x): in both the part is written in its place.
    """
    told = dict[str, object]()
    if "threshold" in decision.details:
        threshold = parse_expression(str(decision.details["threshold"]), "the threshold")
        told["threshold"] = to_text(substitute(threshold, {name: parse_expression(term, "the part")}))
    if "infinite_weight" in decision.details:
        told["infinite_weight"] = [_in_words_of(term, name, text) for text in decision.details["infinite_weight"]]
    return told


def _in_words_of(term: str, name: str, text: str) -> str:
    """Return a text in which the part is written where its name is compared with a number: nobody but this module knows the name."""
    return re.sub(rf"\b{re.escape(name)}(?= [=<>] )", lambda _: term, text)


def _decide_simpler(simpler: Context, decide: Callable[[Context], Decision]) -> Decision | None:
    try:
        return decide(simpler)
    except PDPError:  # it is negative, say, for values that the part does not take
        return None


def abstractions(profile: Profile) -> Iterator[Abstraction]:
    """Yield the simpler profiles of which a profile is a case, at most a few."""
    for part in parts(profile):
        abstraction = _abstract(profile, part)
        if abstraction is not None:
            yield abstraction


@lru_cache(maxsize=64)
def parts(profile: Profile) -> tuple[sympy.Expr, ...]:
    """Return the parts of a profile that may become statistics."""
    return apart(PARTS_SLICE, lambda: _first_parts(profile)) or ()


def _first_parts(profile: Profile) -> tuple[sympy.Expr, ...]:
    try:
        return tuple(itertools.islice(until_failure(_parts(with_weight_outside(profile.expression()))), MOST_PARTS))
    except InvalidExpression:
        return ()


def with_weight_outside(expression: sympy.Expr) -> sympy.Expr:
    """Return the expression with powers of w in front of the maxima and minima of what they all are multiplied with."""

    def factored(kind: type[sympy.Max] | type[sympy.Min], *args: sympy.Expr) -> sympy.Expr:
        weight = next((symbol for a in args for symbol in a.free_symbols if symbol.name == WEIGHT), None)
        rest = None if weight is None else [expand(argument / weight) for argument in args]
        return kind(*args) if weight is None or rest is None or any(a.has(weight) for a in rest) else weight * kind(*rest)

    return expression.replace(sympy.Max, partial(factored, sympy.Max)).replace(sympy.Min, partial(factored, sympy.Min))


def is_hard(profile: Profile) -> bool:
    """Tell whether some part is not seen to be positive as it stands, or is a number that is not rational: then this is tried first."""
    for part in parts(profile):
        names = {symbol.name for symbol in part.free_symbols}
        box = tuple(variable for variable in profile.record_variables() if variable.name in names)
        if not names or part.has(sympy.Max, sympy.Min, sympy.Abs) or not accepts(Goal(part, box, strict=True), trees.MANIFEST):
            return True
    return False


def _parts(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield parts without w that hold all occurrences of their variables, those of most variables first; and numbers."""
    candidates = dict[sympy.Expr, None]()
    for node in sympy.postorder_traversal(expression):
        if isinstance(node, sympy.Expr):
            candidates |= dict.fromkeys((node, *_groups(node)))
    suited = []
    for part in candidates:
        names = {symbol.name for symbol in part.free_symbols}
        if WEIGHT in names or part == expression or part.is_Symbol or part.is_Rational or _is_plain(part):
            continue
        if not names and (part in (sympy.pi, sympy.E) or not expression.has(part) or _moves_a_border(expression, part)):
            continue
        if names and part_named(expression, part, sympy.Dummy("c", real=True)).free_symbols & part.free_symbols:
            continue
        suited.append(part)
    named = [part for part in suited if part.free_symbols]
    numbers = [part for part in reversed(suited) if not part.free_symbols]  # the whole 1 - exp(-c) before its parts
    yield from sorted(named, key=lambda part: (-len(part.free_symbols), part.count_ops()))
    yield from sorted(numbers, key=lambda part: -part.count_ops())


def _moves_a_border(expression: sympy.Expr, number: sympy.Expr) -> bool:
    """Tell whether branches of the weight meet at a place that a number decides: what is joined there is joined for this number."""
    weight = next((symbol for symbol in expression.free_symbols if symbol.name == WEIGHT), None)
    return weight is not None and any(gap.has(weight) and gap.has(number) for gap in gaps(expression, weight))


def _groups(node: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield the part of a sum or product that is free of w, and its parts that share no variables."""
    if not isinstance(node, (sympy.Add, sympy.Mul)) or len(node.args) < 3:
        return
    groups: list[tuple[set[sympy.Symbol], list[sympy.Expr]]] = []
    for argument in node.args:
        own = argument.free_symbols
        if any(symbol.name == WEIGHT for symbol in own):
            continue
        joined, parts = set(own), [argument]
        for group in [group for group in groups if group[0] & own or not (group[0] or own)]:
            groups.remove(group)
            joined, parts = joined | group[0], [*group[1], *parts]
        groups.append((joined, parts))
    everything = [part for _, parts in groups for part in parts]
    for parts in (*(parts for _, parts in groups), everything):
        if 1 < len(parts) < len(node.args):
            yield node.func(*parts)


def _is_plain(part: sympy.Expr) -> bool:
    return part.is_Mul and len(part.args) == 2 and part.args[0].is_Number and part.args[1].is_Symbol


def _abstract(profile: Profile, part: sympy.Expr) -> Abstraction | None:
    return remembered("abstractions", (profile, part), lambda: _made_abstract(profile, part))


def _made_abstract(profile: Profile, part: sympy.Expr) -> Abstraction | None:
    expression = with_weight_outside(profile.expression())
    declared = [*(item.name for item in profile.record), *(item.name for item in profile.parameters)]
    name = fresh_name("c", [*declared, *(symbol.name for symbol in expression.free_symbols)])
    names = {symbol.name for symbol in part.free_symbols}
    box = tuple(variable for variable in profile.record_variables() if variable.name in names)
    lower = prove_lower(part, box)
    upper = None if lower is None or _is_unbounded(part, box) else prove_lower(-part, box)
    if lower is None:
        return None
    low, is_open, below = lower
    high = None if upper is None else -upper[0]
    shape = part_named(expression, part, sympy.Symbol(name, real=True))
    used = {symbol.name for symbol in shape.free_symbols}
    fields: Tree = {"name": name, "term": to_text(from_sympy(part)), "low": exact_text(low), "lower": below}
    parameter: tuple[Parameter, ...] = ()
    statistic: tuple[Statistic, ...] = ()
    if high is not None and upper is not None and low <= high and not is_open:
        fields |= {"high": exact_text(high), "upper": upper[2]}
        statistic = (Statistic(name, low, high),)
        if low == high:
            shape = put_in(shape, {sympy.Symbol(name, real=True): to_rational(low)})
    elif low > 0 or is_open:
        parameter = (Parameter(name),)
        fields |= {"low": "0", "open": "1", "lower": below if low == 0 else _positive(part, box) or below}
    else:
        return None
    simpler = Profile(
        profile.name,
        from_sympy(shape),
        (*(item for item in profile.record if item.name in used), *statistic),
        (*(item for item in profile.parameters if item.name in used), *parameter),
    )
    return Abstraction({**fields, "epsilon": to_text(from_sympy(shape))}, simpler)


def _is_unbounded(part: sympy.Expr, box: tuple[Variable, ...]) -> bool:
    """Tell whether a part seems to have no upper end."""
    largest = least_of(-part, box) if any(variable.hi is None for variable in box) else None
    return largest is not None and bool(-largest.value > 10**5)


def _positive(part: sympy.Expr, box: tuple[Variable, ...]) -> Tree | None:
    return within(BOUND_SLICE, partial(prove, Goal(part, box, strict=True), 3))


def prove_lower(part: sympy.Expr, box: tuple[Variable, ...]) -> tuple[Fraction, bool, Tree] | None:
    """Return a number that a part is proved to be at least (more than, if the second is True): the best one that is found."""
    for bound, is_open in dict.fromkeys(until_failure(_bounds(part, box))):
        goal = Goal(part - to_rational(bound), box, is_open)
        if not looks_true(goal):
            continue
        proof = within(BOUND_SLICE, partial(prove, goal, 3))
        if proof is not None:
            return bound, is_open, proof
    return None


def _bounds(part: sympy.Expr, box: tuple[Variable, ...]) -> Iterator[tuple[Fraction, bool]]:
    """Yield numbers that a part seems to be at least, best ones first, and whether it seems to be more."""
    least = least_of(part, box)
    if least is None:
        return
    for exact in exact_points(part, box):
        point = rational_point(exact)
        try:
            value = None if point is None else value_at(from_sympy(part), point)
        except PDPError:
            value = None
        if isinstance(value, Fraction) and len(str(value)) < MOST_DIGITS:
            yield value, False
    below = fraction_below(least.value, 9)
    if below is None:
        return
    short = below.limit_denominator(10**4)
    if abs(below - short) * 10**7 < max(Fraction(1), abs(short)):
        yield short, False
    if abs(below) * 10**6 < 1:
        yield Fraction(0), True
        yield Fraction(0), False
        return
    rough = fraction_below(least.value, 3) or below
    yield from ((bound, False) for bound in (below, rough, rough * (Fraction(9, 10) if rough > 0 else Fraction(11, 10))))
    if below > 0:
        yield Fraction(0), True
