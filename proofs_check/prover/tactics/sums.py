"""Trees that decompose: bounded oscillations, terms that may be left out, squares, and exponentials or logarithms above their tangents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import sympy

from profiles.symbolic import from_sympy
from profiles.variables import Variable
from proofs_check.prover import trees
from proofs_check.prover.algebra import expand, over_one_denominator, quadratics
from proofs_check.prover.attempt import Attempt, looks_true
from proofs_check.prover.effort import remembered
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.points import candidates
from proofs_check.prover.pointwise import UndefinedAtPoint, as_ball, value_at
from proofs_check.results import Tree

MOST_SUMMANDS = 12
#: Summands that are bounded one by one, and the largest size of such a bound.
MOST_APART, LARGEST = 4, 1e6


def separate_oscillation(attempt: Attempt) -> Iterator[Tree]:
    """Replace c·sin(·) and c·cos(·) by −|c|, for c of one sign: the goal is what is left plus c·sin(·) + |c| ≥ 0."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    parts, rest = [], sympy.S.Zero
    for summand in sympy.Add.make_args(expand(attempt.goal.expression)):
        wave = _amplitude(summand, attempt)
        if wave is None:
            rest += summand
        else:
            parts.append(wave[0] * (1 + wave[1]))
            rest -= wave[0]
    if not parts or not looks_true(Goal(rest, attempt.goal.box, attempt.goal.strict)):
        return
    if all(accepts(Goal(part, attempt.goal.box), trees.boxes(1)) for part in parts):
        kept = attempt.prove(rest)
        if kept is not None:
            yield add_up(attempt, [rest, *parts], [kept, *(trees.boxes(1) for _ in parts)])


def _amplitude(summand: sympy.Expr, attempt: Attempt) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Return (c, s) with c ≥ 0 and s a product of sines and cosines up to sign, summand = c·s, where the sign of c is seen; else None."""
    powers = [part.as_base_exp() for part in sympy.Mul.make_args(summand)]
    waves = [base**power for base, power in powers if isinstance(base, (sympy.sin, sympy.cos)) and power.is_Integer and power > 0]
    if not waves:
        return None
    wave = sympy.Mul(*waves)
    coefficient = summand / wave
    if coefficient.has(sympy.sin, sympy.cos):
        return None
    if coefficient.is_nonnegative:
        return coefficient, wave
    if coefficient.is_nonpositive:
        return -coefficient, -wave
    for amplitude, signed in ((coefficient, wave), (-coefficient, -wave)):
        if attempt.search(Goal(amplitude, attempt.goal.box), 0) is not None:
            return amplitude, signed
    return None


def add_up(attempt: Attempt, parts: Sequence[sympy.Expr], proofs: Sequence[Tree]) -> Tree:
    """Return the proof of a sum; for a strict goal the first part is the strict one."""
    return trees.add_up(parts, proofs, strict=0 if attempt.goal.strict else None)


def leave_out(attempt: Attempt) -> Iterator[Tree]:
    """Leave out a summand that is manifestly ≥ 0, where the rest still looks true and is easier."""
    summands = sympy.Add.make_args(expand(attempt.goal.expression))
    if attempt.depth < 2 or not 2 <= len(summands) <= MOST_SUMMANDS or not attempt.plausible:
        return
    box = attempt.goal.box
    for summand in summands:
        if not summand.free_symbols or attempt.search(Goal(summand, box), 0) is None:
            continue
        rest = attempt.goal.expression - summand
        if not looks_true(Goal(rest, box, attempt.goal.strict)):
            continue
        kept = attempt.prove(rest, cost=2)
        dropped = attempt.search(Goal(summand, box), 0)
        if kept is not None and dropped is not None:
            yield add_up(attempt, [rest, summand], [kept, dropped])


def bound_apart(attempt: Attempt) -> Iterator[Tree]:
    """Bound the summands that depend on something one by one from below, by short numbers, where the bounds add up to what is needed."""
    goal = attempt.goal
    constant, rest = goal.expression.as_independent(*goal.expression.free_symbols, as_Add=True)
    summands = sympy.Add.make_args(rest)
    if attempt.depth < 1 or not 2 <= len(summands) <= MOST_APART or not attempt.plausible:
        return
    least = [remembered("least-sampled", (part, goal.box), partial(_sampled_least, part, goal.box)) for part in summands]
    known = [value for value in least if value is not None]
    if len(known) < len(summands):
        return
    room = float(as_ball(value_at(from_sympy(constant), {}, 64))) + sum(known)
    if not room > 0:
        return
    bounds = [sympy.Rational(math.floor((value - room / (len(known) + 1)) * 10**3), 10**3) for value in known]
    parts = [constant + sum(bounds, sympy.S.Zero), *(summand - bound for summand, bound in zip(summands, bounds, strict=True))]
    if not looks_true(Goal(parts[0], goal.box, goal.strict)) or not all(looks_true(Goal(part, goal.box)) for part in parts[1:]):
        return
    proofs = [attempt.search(Goal(part, goal.box, goal.strict and index == 0), 2) for index, part in enumerate(parts)]
    if None not in proofs:
        yield add_up(attempt, parts, [proof for proof in proofs if proof is not None])


def _sampled_least(summand: sympy.Expr, box: tuple[Variable, ...]) -> float | None:
    term, values = from_sympy(summand), []
    for point in candidates(box, 200):
        try:
            values.append(float(as_ball(value_at(term, point, 64)).lower()))
        except (UndefinedAtPoint, OverflowError):
            return None
    least = min(values, default=math.nan)
    return least if -LARGEST < least < LARGEST else None


def complete_square(attempt: Attempt) -> Iterator[Tree]:
    """Write a y² + b y + c as a (y + b/(2a))² + c − b²/(4a), a > 0, for a variable or an atom y."""
    if attempt.depth < 2 or not attempt.plausible:
        return
    for atom, (a, b, c) in quadratics(attempt.goal.expression):
        leading = attempt.search(Goal(a, attempt.goal.box, strict=True), 0)
        if leading is None:
            continue
        rest = over_one_denominator(c - b**2 / (4 * a))
        square = a * (atom + b / (2 * a)) ** 2
        remainder = attempt.prove(rest)
        if remainder is not None:
            yield add_up(attempt, [rest, square], [remainder, trees.boxes(20)])
