"""The search for a proof tree. It is untrusted: every tree it returns was accepted, goal by goal, by the kernel's own rules.

The tactics stand in ``tactics/``; ``TACTICS`` is their order: cheap trees first, then those that need subgoals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from profiles.errors import InvalidExpression
from proofs_check.prover.attempt import MAX_DEPTH, Attempt, Tactic
from proofs_check.prover.effort import by_itself, memory, out_of_time, spend, until_failure
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.tactics.choices import choose, follow_lines
from proofs_check.prover.tactics.constants import decide_constant, use_circle
from proofs_check.prover.tactics.direct import identity, manifest, subdivide, subdivide_more
from proofs_check.prover.tactics.fading import bound_fading, name_exponent
from proofs_check.prover.tactics.generalisation import forget_atom, through_logarithm
from proofs_check.prover.tactics.maxima import choose_each, weigh
from proofs_check.prover.tactics.polynomials import add_squares, expand_from_ends
from proofs_check.prover.tactics.products import clear_factors, even_power, factor_out, positive_part, strip
from proofs_check.prover.tactics.ranges import extend_to_zero, halve, invert, reduce_to_end, split_tail
from proofs_check.prover.tactics.steps import name_arguments, smooth_steps
from proofs_check.prover.tactics.sums import bound_apart, complete_square, leave_out, separate_oscillation
from proofs_check.prover.tactics.tangents import above_logarithm, at_tangent, below_exponential, whole_logarithm
from proofs_check.prover.tactics.touching import separate, split_where_it_touches, subtract_least
from proofs_check.prover.tactics.waves import unwind
from proofs_check.prover.trees import restated
from proofs_check.results import Tree

#: What it costs to try one tactic on a goal, beside what the tactic does.
TRIAL = 100

#: Tactics without subgoals.
DIRECT: tuple[Tactic, ...] = (identity, manifest, subdivide, decide_constant, at_tangent)

#: The others, in the order in which they are tried.
TACTICS: tuple[Tactic, ...] = (
    whole_logarithm,
    even_power,
    add_squares,
    expand_from_ends,
    weigh,
    separate,
    split_where_it_touches,
    use_circle,
    factor_out,
    clear_factors,
    subtract_least,
    invert,
    through_logarithm,
    separate_oscillation,
    bound_apart,
    unwind,
    name_arguments,
    smooth_steps,
    follow_lines,
    choose,
    choose_each,
    extend_to_zero,
    reduce_to_end,
    split_tail,
    complete_square,
    halve,
    forget_atom,
    below_exponential,
    above_logarithm,
    leave_out,
    bound_fading,
    name_exponent,
    subdivide_more,
)


@by_itself
def prove(goal: Goal, depth: int = MAX_DEPTH) -> Tree | None:
    """Return a proof tree of ``goal`` that the kernel's rules accept, or None. None says nothing about the goal.

    Deeper and deeper searches, so that a short proof behind an expensive tactic is found before the long ones in front of it.
    """
    for limit in range(depth + 1):
        tree = _search(goal, limit)
        if tree is not None or out_of_time():
            return tree
    return None


@by_itself
def prove_by(tactic: Tactic, goal: Goal, depth: int = 2) -> Tree | None:
    """Return a proof tree that begins with one tactic, or None: where it is known what helps, that need not wait for its turn."""
    for limit in range(1, depth + 1):
        attempt = Attempt(goal, limit, _search)
        proof = next((tree for tree in until_failure(tactic(attempt)) if accepts(goal, tree)), None)
        if proof is not None or out_of_time():
            return proof
    return None


def proofs(goal: Goal, depth: int = MAX_DEPTH) -> Iterator[Tree]:
    """Yield different proof trees of ``goal``, cheap ones first.

    More than one is wanted because the kernel derives the goal of a claim in its own way: it may write the same function differently.
    Hence each tree comes also behind the statement of the goal as it is here.
    """
    seen: list[Tree] = []
    for limit in range(depth + 1):
        for tree in _at_depth(goal, limit):
            if tree not in seen:
                seen.append(tree)
                yield tree
                yield restated(goal, tree)


def _search(goal: Goal, depth: int) -> Tree | None:
    """Return a tree of at most this depth; remember it, or down to which depth there is none."""
    known: dict[Goal, tuple[Tree | None, int]] = memory("proofs")
    tree, failed = known.get(goal, (None, -1))
    if tree is not None or depth <= failed or out_of_time():
        return tree
    tree = next(_at_depth(goal, depth), None)
    if tree is not None or not out_of_time():
        known[goal] = (tree, depth)
    return tree


def _at_depth(goal: Goal, depth: int) -> Iterator[Tree]:
    attempt = Attempt(goal, depth, _search)
    for tactic in _tactics(attempt):
        if out_of_time():
            return
        spend(TRIAL)
        try:
            yield from (tree for tree in until_failure(tactic(attempt)) if accepts(goal, tree))
        except InvalidExpression:  # an expression that this tactic made cannot be written down
            continue


def _tactics(attempt: Attempt) -> Iterator[Tactic]:
    """Yield what to try on a goal: where positive factors can be divided out, what is left, and then whether it rises as it stands.

    A product such as exp(-w)*p(w) may rise from 0 where p does not.
    """
    yield from DIRECT
    positive = next(until_failure(iter([positive_part(attempt)] if attempt.depth else [])), None)
    if positive is not None:
        yield partial(strip, positive=positive)
        yield from (reduce_to_end, extend_to_zero)
    else:
        yield from TACTICS
