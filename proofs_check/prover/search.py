"""The search for a proof tree. It is untrusted: every tree it returns was accepted, goal by goal, by the kernel's own rules.

The tactics, in the order in which they are tried: identity; manifest sign; interval subdivision (after branch and bound in ball
arithmetic has found the goal true); monotone reduction to an end point; multiplication by a positive factor; separation of bounded
oscillations; mean-value subdivision.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import sympy

from profiles.errors import InvalidExpression
from profiles.profile import Variable
from profiles.symbolic import from_sympy
from profiles.terms import to_text
from proofs_check.prover import trees
from proofs_check.prover.algebra import clearing_factor, expand
from proofs_check.prover.explore import Exploration, Outcome, explore
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.results import Tree

MAX_DEPTH = 4
SMALL_BUDGET = 400
LARGE_BUDGET = 6000
MAX_KNOWN = 4096


_known: dict[tuple[Goal, int], Tree | None] = {}
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def effort(seconds: float) -> Iterator[None]:
    """Stop searching for proofs after a while: what is not found by then stays unknown. A search inside another ends with the outer one."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def out_of_time() -> bool:
    """Tell whether the current search should end."""
    return time.monotonic() > _deadline.get()


def prove(goal: Goal, depth: int = MAX_DEPTH) -> Tree | None:
    """Return a proof tree of ``goal`` that the kernel's rules accept, or None. None says nothing about the goal."""
    key = (goal, depth)
    if key in _known:
        return _known[key]
    if out_of_time():
        return None
    found = next(proofs(goal, depth), None)
    if found is not None or not out_of_time():
        if len(_known) > MAX_KNOWN:
            _known.clear()
        _known[key] = found
    return found


def proofs(goal: Goal, depth: int = MAX_DEPTH) -> Iterator[Tree]:
    """Yield different proof trees of ``goal``, cheap ones first.

    More than one is wanted because the kernel derives the goal of a claim in its own way: it may write the same function differently.
    """
    attempt = _Attempt(goal, depth)
    try:
        for tactic in (_identity, _manifest, _subdivide, _reduce, _clear_factors, _separate_oscillation, _subdivide_more):
            if out_of_time():
                return
            for tree in tactic(attempt):
                if accepts(goal, tree):
                    yield tree
    except InvalidExpression:
        return


@dataclass
class _Attempt:
    """A goal under attack; the exploration is made once, when a tactic first needs it."""

    goal: Goal
    depth: int
    _exploration: Exploration | None = None

    @property
    def exploration(self) -> Exploration:
        if self._exploration is None:
            self._exploration = explore(self.goal, budget=600)
        return self._exploration

    @property
    def plausible(self) -> bool:
        return self.exploration.outcome is not Outcome.VIOLATED


Tactic = Callable[[_Attempt], Iterator[Tree]]


def _identity(attempt: _Attempt) -> Iterator[Tree]:
    if not attempt.goal.strict:
        yield trees.ZERO


def _manifest(_attempt: _Attempt) -> Iterator[Tree]:
    yield trees.MANIFEST


def _subdivide(attempt: _Attempt) -> Iterator[Tree]:
    exploration = attempt.exploration
    if exploration.outcome is Outcome.HOLDS:
        yield trees.boxes(4 * exploration.boxes + 50)
    elif exploration.outcome is Outcome.HOLDS_BEFORE_TAIL:
        yield trees.boxes(min(4 * exploration.boxes + 50, LARGE_BUDGET))


def _reduce(attempt: _Attempt) -> Iterator[Tree]:
    if attempt.depth == 0 or not attempt.plausible:
        return
    for variable in sorted(attempt.goal.box, key=lambda item: item.hi is not None):
        if attempt.goal.symbol(variable.name) not in attempt.goal.expression.free_symbols:
            continue
        for increasing in (True, False):
            tree = _reduce_to_end(attempt, variable, increasing=increasing)
            if tree is not None:
                yield tree


def _reduce_to_end(attempt: _Attempt, variable: Variable, *, increasing: bool) -> Tree | None:
    end = variable.lo if increasing else variable.hi
    if end is None or (increasing and variable.open_below):
        return None
    goal = attempt.goal
    at_end = prove(goal.at(variable.name, end), attempt.depth - 1)
    if at_end is None:
        return None
    slope = prove(goal.slope(variable.name, increasing=increasing), attempt.depth - 2 if attempt.depth > 1 else 0)
    return None if slope is None else trees.monotone(variable.name, slope, at_end, increasing=increasing)


def _clear_factors(attempt: _Attempt) -> Iterator[Tree]:
    """Multiply by a positive factor exp(−g)·Π x^k that leaves neither exponentials of g nor negative powers of positive variables."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    goal = attempt.goal
    factor = clearing_factor(
        goal.expression, [goal.symbol(variable.name) for variable in goal.box if variable.lo > 0 or variable.open_below]
    )
    if factor is None:
        return
    product = prove(Goal(expand(sympy.powsimp(expand(goal.expression * factor))), goal.box, goal.strict), attempt.depth - 1)
    if product is not None:
        text = to_text(from_sympy(factor))
        yield {"rule": "scale", "factor": text, "positive": trees.MANIFEST, "product": product}


def _separate_oscillation(attempt: _Attempt) -> Iterator[Tree]:
    """Replace c·sin(·) and c·cos(·) with a constant c by −|c|: the goal is the sum of what is left and of c·sin(·) + |c| ≥ 0."""
    if attempt.depth == 0 or not attempt.plausible:
        return
    parts, rest = [], sympy.S.Zero
    for summand in sympy.Add.make_args(expand(attempt.goal.expression)):
        coefficient, factor = summand.as_coeff_Mul()
        if isinstance(factor, (sympy.sin, sympy.cos)) and coefficient.is_Rational:
            parts.append(summand + abs(coefficient))
            rest -= abs(coefficient)
        else:
            rest += summand
    if not parts:
        return
    kept = prove(Goal(rest, attempt.goal.box, attempt.goal.strict), attempt.depth - 1)
    if kept is None:
        return
    tree: Tree = {
        "rule": "sum",
        "parts": [to_text(from_sympy(part)) for part in (rest, *parts)],
        "proofs": [kept, *(trees.boxes(1) for _ in parts)],
    }
    yield {**tree, "strict": 0} if attempt.goal.strict else tree


def _subdivide_more(attempt: _Attempt) -> Iterator[Tree]:
    if not attempt.plausible or not attempt.goal.box or attempt.depth < MAX_DEPTH:
        return
    if all(variable.hi is not None for variable in attempt.goal.box):
        yield trees.boxes(SMALL_BUDGET, centred=True)
        if explore(attempt.goal, budget=LARGE_BUDGET).outcome is Outcome.HOLDS:
            yield trees.boxes(4 * LARGE_BUDGET)
    else:
        yield trees.boxes(SMALL_BUDGET)
