"""Profiles whose branches are taken for some records and not for others: the records are split, and each half is decided by itself.

Statement: what holds for all records with v ≤ c and for all records with v > c holds for all records; what fails at a record fails.
Where the border is not a number, as in z < sqrt(2) or z < y, the difference of the two sides becomes a statistic of its own, split at 0.
A table is split at its points, first at one where the target is reached: a line that is followed alone rises or falls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.symbolic import from_sympy, to_rational, to_sympy
from profiles.terms import Term, applications, children, free_symbols, fresh_name, rebuild, substitute, symbol, to_text
from profiles.variables import WEIGHT, Statistic, Variable
from proofs_check.conditions.context import Context, Place
from proofs_check.conditions.decide import accept_proof, accept_refutation
from proofs_check.conditions.statistic import prove_lower
from proofs_check.prover.algebra import derivative, expand, factored, put_in, rational_roots
from proofs_check.prover.effort import until_failure
from proofs_check.prover.pointwise import as_ball, value_at
from proofs_check.prover.smooth import gaps, resolve_inside
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Tree, Verdict

MOST_SPLITS = 3
#: What stands for the difference of two sides until it has a name.
_DIFFERENCE = "difference"
_SYMBOL: Term = ("sym", _DIFFERENCE)


def decide_by_cases(context: Context, condition: str, decide: Callable[[Context], Decision], splits: int = MOST_SPLITS) -> Decision | None:
    """Decide a condition on either side of the border of a branch between records; None where that decides nothing."""
    if not splits:
        return None
    border = next(_borders(context), None)
    by_halves = None if border is None else _decide_halves(context, condition, decide, splits, border)
    return (
        by_halves
        or next(until_failure(_by_sign(context, condition, decide, splits)), None)
        or next(until_failure(_at_points(context, condition, decide, splits)), None)
    )


def _decide_halves(
    context: Context, condition: str, decide: Callable[[Context], Decision], splits: int, border: tuple[str, Fraction]
) -> Decision | None:
    proofs: list[Tree] = []
    for half in _halves(context, *border):
        decided = _decide_half(half, condition, decide, splits)
        if decided is None or decided.claim is None:
            return None
        if decided.verdict is Verdict.REFUTED:
            again = accept_refutation(context, condition, decided.claim["proof"], method=decided.method)
            return replace(again, witness=decided.witness) if again.checked else None
        proofs.append(decided.claim["proof"])
    name, at = border
    cases: Tree = {"variable": name, "at": exact_text(at), "below": proofs[0], "above": proofs[1]}
    decision = accept_proof(context, condition, {"cases": cases}, method=f"two cases for {name}: {describe(proofs)}")
    return decision if decision.checked else None


def _decide_half(half: Context, condition: str, decide: Callable[[Context], Decision], splits: int) -> Decision | None:
    decision = decide(half)
    if decision.verdict is Verdict.UNKNOWN:
        return decide_by_cases(half, condition, decide, splits - 1)
    return decision if decision.checked else None


def _borders(context: Context) -> Iterator[tuple[str, Fraction]]:
    """Yield (v, c): a statistic and a number inside its range at which the sign of a branch's gap changes, whatever the weight."""
    numeric = {variable.name: variable for variable in context.records if variable.hi is not None}
    for gap in gaps(context.expression, context.weight):
        for factor in sympy.Mul.make_args(factored(gap) or gap):
            for own in sorted(factor.free_symbols, key=str):
                variable = numeric.get(own.name)
                if variable is None or factor.free_symbols != {own}:
                    continue
                for root in rational_roots(factor, own):
                    if variable.contains(root) and root not in (variable.lo, variable.hi):
                        yield own.name, root


def _at_points(context: Context, condition: str, decide: Callable[[Context], Decision], splits: int) -> Iterator[Decision]:
    """Yield the proof for the records up to a point of a table, and beyond it."""
    for variable, at in itertools.islice(_points_of_tables(context), 1):
        cases: Tree = {"variable": variable.name, "at": exact_text(at), "below": {}, "above": {}}
        halves = {"below": replace(variable, hi=at), "above": Variable(variable.name, at, variable.hi, open_below=True)}
        for step, half in halves.items():
            decided = _decide_half(_placed(context, condition, half, cases, step), condition, decide, splits)
            if decided is None or decided.claim is None or decided.verdict is not Verdict.PROVED:
                return
            cases[step] = decided.claim["proof"]
        method = f"two cases for {variable.name}: {describe([cases['below'], cases['above']])}"
        decision = accept_proof(context, condition, {"cases": cases}, method=method)
        if decision.checked:
            yield decision


def _placed(context: Context, condition: str, half: Variable, cases: Tree, step: str) -> Context:
    """Return the records of one half, whose proof has its place beside the one that was found before."""
    outer = context.place or Place(context.forms, condition, "", lambda proof: proof)
    known = dict(cases)

    def put(proof: Tree) -> Tree:
        return outer.put({"cases": {**known, step: proof}})

    record = tuple(Statistic(item.name, half.lo, half.end) if item.name == half.name else item for item in context.profile.record)
    box = tuple(half if other.name == half.name else other for other in context.records)
    place = Place(outer.whole, condition, f"{outer.step}.cases.{step}", put)
    return context.about(replace(context.profile, record=record, parts=()), box=box, place=place)


def _points_of_tables(context: Context) -> Iterator[tuple[Variable, Fraction]]:
    """Yield (v, c), c inside the range of a statistic v, at which a table of v alone bends: first where ε(1) is nearest to the target."""
    numeric = {variable.name: variable for variable in context.records if variable.hi is not None}
    bends = dict[tuple[Variable, Fraction], None]()
    for table, argument in applications(context.profile.numeric_epsilon()):
        line = to_sympy(argument, context.profile.values())
        (symbol_of, *others) = sorted(line.free_symbols, key=str) or [None]
        variable = None if symbol_of is None or others else numeric.get(symbol_of.name)
        rate = None if variable is None else derivative(line, symbol_of)
        if variable is None or rate is None or not rate.is_Rational or rate == 0:
            continue
        start = put_in(line, {symbol_of: 0})
        places = [(to_rational(knot) - start) / rate for knot in table.knots] if start.is_Rational else []
        at = [Fraction(int(place.p), int(place.q)) for place in places]
        bends |= dict.fromkeys((variable, c) for c in at if variable.lo < c < variable.end)
    yield from sorted(bends, key=lambda point: _distance(context, *point)) if context.target is not None else bends


def _distance(context: Context, variable: Variable, at: Fraction) -> float:
    """Return how far ε(1) is from the target at a value of a statistic, the others in the middle of their ranges."""
    point = {other.name: (other.lo + other.end) / 2 for other in context.records}
    value = as_ball(value_at(context.term, {**point, variable.name: at, WEIGHT: Fraction(1)}))
    return abs(float(context.target or 0) - float(value.mid()))


def _by_sign(context: Context, condition: str, decide: Callable[[Context], Decision], splits: int) -> Iterator[Decision]:
    """Yield the proof by the sign of the difference of two sides between which a branch of the weight decides, whatever the weight."""
    written = context.profile.numeric_epsilon()
    for comparison in dict.fromkeys(_comparisons(written)):
        for part, changed in _signed(comparison, written, context.profile):
            low, high = (prove_lower(side, context.records) for side in (part, -part))
            if low is None or high is None or not low[0] < 0 < -high[0]:
                continue
            name = fresh_name("d", context.names)
            epsilon = substitute(changed, {_DIFFERENCE: symbol(name)})
            record = (*context.profile.record, Statistic(name, low[0], -high[0]))
            signed = context.about(replace(context.profile, promise=epsilon, record=record, parts=()), box=None)
            halves = [_decide_half(half, condition, decide, splits) for half in _halves(signed, name, Fraction(0))]
            proofs = [
                half.claim["proof"] for half in halves if half is not None and half.verdict is Verdict.PROVED and half.claim is not None
            ]
            if len(proofs) < len(halves):
                continue
            ends: Tree = {"low": exact_text(low[0]), "lower": low[2], "high": exact_text(-high[0]), "upper": high[2]}
            cases: Tree = {"variable": name, "at": "0", "below": proofs[0], "above": proofs[1]}
            term = to_text(from_sympy(part))
            proof: Tree = {"statistic": {"name": name, "term": term, **ends, "epsilon": to_text(epsilon), "proof": {"cases": cases}}}
            decision = accept_proof(context, condition, proof, method=f"two cases for the sign of {term}: {describe(proofs)}")
            if decision.checked:
                yield decision


def _comparisons(term: Term) -> Iterator[Term]:
    """Yield the comparisons between records, and not weights, that decide between values with a weight."""
    for part in children(term):
        yield from _comparisons(part)
    if term[0] == "piecewise" and WEIGHT in free_symbols(term):
        yield from (condition for _, condition in term[1:] if len(condition) == 3 and _is_between_records(*condition[1:]))


def _is_between_records(left: Term, right: Term) -> bool:
    names = free_symbols(left) | free_symbols(right)
    return bool(names) and WEIGHT not in names


def _signed(comparison: Term, written: Term, profile: Profile) -> Iterator[tuple[sympy.Expr, Term]]:
    """Yield a difference that is positive exactly where a strict comparison holds, or a weak one fails, and ε with it as a symbol.

    Where the difference is a line in the only statistic, that is written by it as well: each half has its own values then.
    """
    sign, left, right = comparison
    larger, smaller = (right, left) if sign in ("<", ">=") else (left, right)
    rise: Term = ("neg", _SYMBOL) if sign in ("<", ">=") else _SYMBOL
    changed = _exchanged(written, comparison, (sign, ("add", rise, right), right))
    part = to_sympy(("add", larger, ("neg", smaller)), profile.values())
    if len(part.free_symbols) == 1 and len(profile.record_variables()) == 1:
        (statistic,) = part.free_symbols
        rate = derivative(part, statistic)
        if not rate.has(statistic):
            value = (sympy.Symbol(_DIFFERENCE, real=True) - put_in(part, {statistic: 0})) / rate
            yield part, substitute(changed, {statistic.name: from_sympy(expand(value))})
    yield part, changed


def _exchanged(term: Term, old: Term, new: Term) -> Term:
    """Return a term with one comparison in place of another."""
    if term[0] == "piecewise":
        pairs = ((_exchanged(value, old, new), new if condition == old else condition) for value, condition in term[1:])
        return ("piecewise", *pairs)
    return rebuild(term, lambda part: _exchanged(part, old, new))


def _halves(context: Context, name: str, at: Fraction) -> Iterator[Context]:
    for below in (True, False):
        yield context.about(_half(context.profile, name, at, below=below))


def _half(profile: Profile, name: str, at: Fraction, *, below: bool) -> Profile:
    """Return the profile on one side of a border, with the branches put in that are taken inside of that side."""
    old = next(variable for variable in profile.record_variables() if variable.name == name)
    lo, hi = (old.lo, at) if below else (at, at if old.hi is None else old.hi)
    record = tuple(Statistic(name, lo, hi) if item.name == name else item for item in profile.record)
    parameters = tuple(replace(item, bounds=(lo, hi)) if item.name == name else item for item in profile.parameters)
    narrowed = replace(profile, record=record, parameters=parameters, parts=())
    expression, weight = narrowed.expression(), narrowed.symbols()["w"]
    resolved, _ = resolve_inside(expression, narrowed.variables(), weight)
    return replace(narrowed, promise=from_sympy(resolved))
