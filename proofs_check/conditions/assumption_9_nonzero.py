"""What Theorem 10 needs of Assumption 9: at each record ε vanishes for all w ≥ 1, or ε(w, x) > log(1 + w(e^ε* − 1)) from some w on.

Where ε vanishes for all weights, the record costs nothing: every weight is feasible, the largest one is infinite, q = 0, and the record is
never selected (proof: docs/epsilon-bounds.md). It is proved by the proofs of Assumption 9 where that holds; else by dividing the records
at numbers c where ε vanishes into those with z = c, z = c + d and z = c − d with d > 0: on the first ε vanishes, or they are divided once
more; on the others it grows. It is refuted at a record where ε is positive at some weight and stays below from some weight on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.terms import Term, number, substitute, symbol
from profiles.variables import WEIGHT, Parameter, Statistic, Variable
from proofs_check.certificates import point_json
from proofs_check.conditions import assumption_9
from proofs_check.conditions.context import Context, Place
from proofs_check.conditions.decide import AT_ONCE, accept_proof, accept_refutation, settle
from proofs_check.prover.algebra import factored, rational_roots
from proofs_check.prover.effort import out_of_time
from proofs_check.prover.goals import Goal
from proofs_check.prover.points import candidates, telling_points
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.prover.smooth import gaps
from proofs_check.results import Decision, Tree, Verdict

ID = "assumption-9-nonzero"
MEANING = "weights are bounded, or infinite where epsilon is 0"
STATEMENT = (
    "for all records x: epsilon(w, x) = 0 for all w >= 1, or there is v >= 1 such that epsilon(w, x) > log(1 + w*(exp(target) - 1)) "
    "for all w >= v"
)

#: How a proof begins in words that finds no record without any loss.
NOWHERE = "epsilon is 0 nowhere"
#: Weights at which a loss is looked for.
WEIGHTS = tuple(Fraction(text) for text in ("1", "2", "7.3", "1000", "1000000"))
#: A value below this is taken for a zero, until the kernel has its say.
TINY = 2.0**-100
#: Records at which a refutation is tried, at which a zero is looked for, and divisions of the records that may lie inside one another.
MOST_RECORDS, MOST_POINTS, MOST_DIVISIONS = 60, 40, 8


_UNDECIDED = (
    "the records at which epsilon vanishes could not be told from those at which it grows, and none was found where it does neither"
)


def decide(context: Context) -> Decision:
    """Decide it by itself, without the verdict on Assumption 9."""
    return _refute(context) or _prove(context) or Decision(ID, Verdict.UNKNOWN, "none", reason=_UNDECIDED)


def follow_published(context: Context, published: Decision | None) -> Decision | None:
    """Return the verdict that follows from the one on Assumption 9: by its proof, or by its witness where that has some loss."""
    if published is None or published.claim is None:
        return None
    proof = published.claim["proof"]
    if published.verdict is Verdict.PROVED:
        followed = accept_proof(context, ID, proof, method=published.method, details=published.details)
        return followed if followed.checked else None
    return None if published.witness is None else _refute_at(context, published.witness, proof)


def prove_published(context: Context, needed: Decision) -> Decision | None:
    """Return that Assumption 9 is proved, by a proof of this condition in which ε vanishes at no record."""
    if needed.verdict is not Verdict.PROVED or needed.claim is None or needed.details.get("infinite_weight"):
        return None
    method, details = (
        needed.method.removeprefix(f"{NOWHERE}; elsewhere "),
        {k: v for k, v in needed.details.items() if k != "infinite_weight"},
    )
    decision = accept_proof(context, assumption_9.ID, needed.claim["proof"], method=method, details=details)
    return decision if decision.checked else None


def find_loss(profile: Profile, record: Mapping[str, Fraction]) -> Fraction | None:
    """Return a weight at which ε is certainly positive at a record, None where none was found."""
    epsilon = substitute(profile.numeric_epsilon(), {name: number(value) for name, value in record.items()})
    for weight in WEIGHTS:
        with suppress(UndefinedAtPoint):
            if as_ball(value_at(epsilon, {WEIGHT: weight})) > 0:
                return weight
    return None


def _refute(context: Context) -> Decision | None:
    for record in telling_points(context.epsilon, context.records, 24)[:MOST_RECORDS]:
        if find_loss(context.profile, record) is not None:
            tail = assumption_9.find_tail(context, record)
            refutation = None if tail is None else _refute_at(context, record, tail)
            if refutation is not None:
                return refutation
    return None


def _refute_at(context: Context, record: Mapping[str, Fraction], tail: Tree) -> Decision | None:
    weight = find_loss(context.profile, record)
    if weight is None:
        return None
    loss: Tree = {"at": point_json(record), "weight": exact_text(weight), "positive": AT_ONCE}
    proof = {**loss, **{key: tail[key] for key in ("threshold", "form", "tail")}}
    decision = accept_refutation(context, ID, proof, method="tail comparison at a record with some loss", witness=record)
    reason = f"{assumption_9.tail_reason(tail)}, but is positive at w = {exact_text(weight)}"
    return replace(decision, reason=reason) if decision.checked else None


@dataclass(frozen=True, slots=True)
class _Found:
    """A proof about the records of a context, and in words where ε vanishes and how it grows elsewhere."""

    proof: Tree
    zeros: tuple[str, ...] = ()
    growth: tuple[str, ...] = ()


def _prove(context: Context) -> Decision | None:
    everywhere = Place(context.forms, ID, "", lambda proof: proof)
    proved = _divide(replace(context, box=context.records, place=everywhere), (), MOST_DIVISIONS)
    if proved is None:
        return None
    zeros, growth = (list(dict.fromkeys(words)) for words in (proved.zeros, proved.growth))
    vanishing = f"epsilon is 0 {', '.join(zeros)}" if zeros else NOWHERE
    method = "; ".join([vanishing, *(f"elsewhere {words}" for words in growth)])
    decision = accept_proof(context, ID, proved.proof, method=method, details={"infinite_weight": zeros})
    return decision if decision.checked else None


def _divide(context: Context, where: tuple[str, ...], depth: int) -> _Found | None:
    """Prove it for the records of a context: ε vanishes, or it grows, or the records are divided."""
    if out_of_time():
        return None
    if all(_is_zero(context, point) for point in candidates(context.records, MOST_POINTS)):
        claim = settle(context, ID, {}, {"vanishing": Goal(-context.epsilon, context.domain)})
        return None if claim is None else _Found(claim["proof"], (_said(where),))
    zeros = _zeros(context)
    if not zeros:
        grown = assumption_9.prove_growth_somehow(context)
        return None if grown is None or grown.claim is None else _Found(grown.claim["proof"], (), (grown.method,))
    return _apart(context, zeros, where, depth - 1) if depth else None


def _said(where: tuple[str, ...]) -> str:
    """Return where ε vanishes in words: the equations lead to it, or inequalities where the last step is one."""
    told = [words for words in where if "=" in words or "=" not in where[-1]]
    return f"where {' and '.join(told)}" if told else "everywhere"


def _zeros(context: Context) -> list[tuple[Variable, Fraction]]:
    """Return (v, c) such that ε seems to vanish for all weights at all records with v = c; without any such, at some of them."""
    wholly: list[tuple[Variable, Fraction]] = []
    partly: list[tuple[Variable, Fraction]] = []
    for variable in context.records:
        if variable.open_below:
            continue
        rest = [other for other in context.records if other is not variable]
        for value in _values(context, variable):
            seen = [_is_zero(context, {**point, variable.name: value}) for point in candidates(rest, MOST_POINTS)]
            if any(seen):
                (wholly if all(seen) else partly).append((variable, value))
    return wholly or partly


def _values(context: Context, variable: Variable) -> list[Fraction]:
    """Return the numbers of a range at which ε may vanish: its ends, zero, zeros of factors, and borders between branches."""
    numbers = [variable.lo, Fraction(0), *([] if variable.hi is None else [variable.hi])]
    at, expression = context.profile.symbols()[variable.name], context.declared
    functions = [node for node in expression.atoms(sympy.Function) if at in node.free_symbols]
    for part in dict.fromkeys([expression, *(argument for node in functions for argument in node.args), *gaps(expression, at)]):
        for factor in _factors(part):
            numbers += rational_roots(factor, at)
    return sorted({value for value in numbers if variable.contains(value)})


def _factors(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    whole = factored(expression) if isinstance(expression, sympy.Expr) else None
    for power in sympy.Mul.make_args(expression if whole is None else whole):
        yield power.as_base_exp()[0] if isinstance(power, sympy.Expr) else sympy.S.One


def _is_zero(context: Context, record: Mapping[str, Fraction]) -> bool:
    """Tell whether ε is 0, or too close to it to be told from 0, at a record and some weights."""
    epsilon = context.term
    values = (as_ball(value_at(epsilon, {**record, WEIGHT: weight})) for weight in WEIGHTS)
    return all(value.is_finite() and abs(value) < TINY for value in values)


def _apart(context: Context, zeros: Sequence[tuple[Variable, Fraction]], where: tuple[str, ...], depth: int) -> _Found | None:
    """Divide the records at a number where ε vanishes; between two of them, if there are several of one variable."""
    variable = zeros[0][0]
    runs = _runs(context, variable, sorted(value for other, value in zeros if other is variable))
    (lo, hi), inside = runs[0], runs[0][0] > variable.lo and runs[0][1] != variable.hi
    if len(runs) > 1 or (inside and lo < hi):
        middle = (hi + runs[1][0]) / 2 if len(runs) > 1 else (lo + hi) / 2
        fields: Tree = {"variable": variable.name, "at": exact_text(middle), "closed": "yes"}
        halves = {"below": replace(variable, hi=middle), "above": Variable(variable.name, middle, variable.hi)}
        return _join(context, "cases", fields, {step: _narrowed(context, half) for step, half in halves.items()}, {}, (where, depth))
    at = lo if hi == variable.hi else hi
    fields = {"variable": variable.name, "at": exact_text(at)}
    parts = sides_of(context, variable, at)
    words = {step: (f"{variable.name} {sign} {exact_text(at)}",) for step, sign in (("on", "="), ("above", ">"), ("below", "<"))}
    return _join(context, "sides", fields, parts, words, (where, depth))


def sides_of(context: Context, variable: Variable, at: Fraction) -> dict[str, Context]:
    """Return the records at, above and below a number, in the kernel's order; beside it the variable is the distance from the number."""
    parts = {"on": _moved(context, variable, number(at), None)}
    name, width = symbol(variable.name), None if variable.hi is None else variable.hi - at
    above, below = (("add", number(at), name), ("add", number(at), ("neg", name))) if at else (name, ("neg", name))
    if width != 0:
        parts["above"] = _moved(context, variable, above, Variable(variable.name, Fraction(0), width, open_below=True))
    if variable.lo < at:
        parts["below"] = _moved(context, variable, below, Variable(variable.name, Fraction(0), at - variable.lo, open_below=True))
    return parts


def _runs(context: Context, variable: Variable, zeros: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return the zeros of a variable as ranges on which ε seems to vanish: neighbors belong to one range if it does half-way, too."""
    rest = candidates([other for other in context.records if other.name != variable.name], MOST_POINTS)
    runs: list[tuple[Fraction, Fraction]] = []
    for value in zeros:
        middle = None if not runs else (runs[-1][1] + value) / 2
        if middle is not None and all(_is_zero(context, {**point, variable.name: middle}) for point in rest):
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def _join(
    context: Context,
    key: str,
    fields: Tree,
    parts: Mapping[str, Context],
    words: Mapping[str, tuple[str, ...]],
    rest: tuple[tuple[str, ...], int],
) -> _Found | None:
    """Prove every part, in the kernel's order, each in its place in the whole."""
    place, (where, depth) = context.place, rest
    if place is None:
        return None
    done: Tree = {}
    zeros: list[str] = []
    growth: list[str] = []
    for step, part in parts.items():
        put = _filler(place.put, key, {**fields, **{name: {} for name in parts}, **done}, step)
        there = replace(part, place=Place(place.whole, place.condition, f"{place.step}.{key}.{step}", put))
        proved = _divide(there, (*where, *words.get(step, ())), depth)
        if proved is None:
            return None
        done[step] = proved.proof
        zeros += proved.zeros
        growth += proved.growth
    return _Found({key: {**fields, **done}}, tuple(zeros), tuple(growth))


def _filler(put: Callable[[Tree], Tree], key: str, fields: Tree, step: str) -> Callable[[Tree], Tree]:
    return lambda proof: put({key: {**fields, step: proof}})


def _narrowed(context: Context, variable: Variable) -> Context:
    """Return the records for which a variable has a smaller range."""
    record = tuple(_statistic(item, variable) for item in context.profile.record)
    parameters = tuple(
        replace(item, bounds=None if variable.hi is None else (variable.lo, variable.hi)) if item.name == variable.name else item
        for item in context.profile.parameters
    )
    box = tuple(variable if other.name == variable.name else other for other in context.records)
    return context.about(replace(context.profile, record=record, parameters=parameters, parts=()), box=box)


def _statistic(item: Statistic, variable: Variable) -> Statistic:
    return Statistic(item.name, variable.lo, variable.end) if item.name == variable.name else item


def _moved(context: Context, variable: Variable, value: Term, distance: Variable | None) -> Context:
    """Return the records with a variable at a number, or on one side of it, where the variable is the distance from that number."""
    profile = context.profile
    record = tuple(item for item in profile.record if item.name != variable.name)
    parameters = tuple(item for item in profile.parameters if item.name != variable.name)
    box = tuple(other for other in context.records if other.name != variable.name)
    if distance is not None:
        bounds = None if distance.hi is None else (distance.lo, distance.hi)
        parameters, box = (*parameters, Parameter(variable.name, bounds=bounds)), (*box, distance)
    epsilon = substitute(profile.epsilon, {variable.name: value})
    return context.about(replace(profile, promise=epsilon, record=record, parameters=parameters, parts=()), box=box)
