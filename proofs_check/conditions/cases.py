"""Profiles whose branches are taken for some records and not for others: the records are split, and each half is decided by itself.

Statement: what holds for all records with v ≤ c and for all records with v > c holds for all records; what fails at a record fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.symbolic import from_sympy
from profiles.variables import Statistic
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import accept
from proofs_check.prover.algebra import factored, rational_roots
from proofs_check.prover.smooth import gaps, resolve_inside
from proofs_check.prover.trees import describe
from proofs_check.results import Decision, Tree, Verdict

MOST_SPLITS = 3


def decide_by_cases(context: Context, condition: str, decide: Callable[[Context], Decision], splits: int = MOST_SPLITS) -> Decision | None:
    """Decide a condition on either side of the border of a branch between records; None where that decides nothing."""
    border = next(_borders(context), None) if splits else None
    if border is None:
        return None
    proofs: list[Tree] = []
    for half in _halves(context, *border):
        found = _decide_half(half, condition, decide, splits)
        if found is None or found.claim is None:
            return None
        if found.verdict is Verdict.REFUTED:
            again = replace(accept(context, condition, Verdict.REFUTED, found.claim["proof"], method=found.method), witness=found.witness)
            return again if again.checked else None
        proofs.append(found.claim["proof"])
    name, at = border
    cases: Tree = {"variable": name, "at": exact_text(at), "below": proofs[0], "above": proofs[1]}
    decision = accept(context, condition, Verdict.PROVED, {"cases": cases}, method=f"two cases for {name}: {describe(proofs)}")
    return decision if decision.checked else None


def _decide_half(half: Context, condition: str, decide: Callable[[Context], Decision], splits: int) -> Decision | None:
    found = decide(half)
    if found.verdict is Verdict.UNKNOWN:
        return decide_by_cases(half, condition, decide, splits - 1)
    return found if found.checked else None


def _borders(context: Context) -> Iterator[tuple[str, Fraction]]:
    """Yield (v, c): a statistic and a number inside its range at which the sign of a branch's gap changes, whatever the weight."""
    numeric = {variable.name: variable for variable in context.records if variable.hi is not None}
    for gap in gaps(context.expression, context.weight):
        for factor in sympy.Mul.make_args(factored(gap) or gap):
            for symbol in sorted(factor.free_symbols, key=str):
                variable = numeric.get(symbol.name)
                if variable is None or factor.free_symbols != {symbol}:
                    continue
                for root in rational_roots(factor, symbol):
                    if variable.contains(root) and root not in (variable.lo, variable.hi):
                        yield symbol.name, root


def _halves(context: Context, name: str, at: Fraction) -> Iterator[Context]:
    for below in (True, False):
        yield replace(context, profile=_half(context.profile, name, at, below=below))


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
