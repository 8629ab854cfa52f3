"""Which refuted statement is run how: an algorithm as printed, or else the printed relation at its witness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from profiles.errors import InvalidArgument
from profiles.grammar import parse_expression
from profiles.numbers import exact_text
from profiles.symbolic import from_sympy
from profiles.terms import Term
from proofs_check.exact.enclosed import enclose_ball
from proofs_check.papers import Goals, Judgement, Status, find_claim, judge
from proofs_check.printed import bicriteria, bisection, continuous_greedy, greedy_scaling
from proofs_check.printed.results import Found, Quantity, Rerun
from proofs_check.prover.pointwise import Value, value_at
from proofs_check.statements.reading import Question, read, split_reals

#: The statements whose algorithm is run as printed. All other refuted ones are evaluated at their witness.
RUNNABLE: Mapping[str, Callable[[], Rerun]] = MappingProxyType(
    {
        "fay-2024-algorithm-1-bracket": bisection.run_bracket,
        "fay-2024-proposition-12-feasible-output": bisection.run_midpoint,
        "ghazi-2024-algorithm-4-count": greedy_scaling.run_count,
        "ghazi-2024-algorithm-4-epsilon": greedy_scaling.run_whole,
        "ghazi-2024-algorithm-4-sets": greedy_scaling.run_one_set,
        "ghazi-2024-algorithm-4-threshold": greedy_scaling.run_thresholds,
        "ghazi-2024-algorithm-5-step": continuous_greedy.run_steps,
        "ghazi-2024-theorem-g.1-rounds": bicriteria.run_rounds,
        "ghazi-2024-theorem-g.1-no-round": bicriteria.run_no_round,
        "ghazi-2024-theorem-1.5-privacy": bicriteria.run_sampled,
    }
)


def run_again(claim_id: str) -> Rerun:
    """Return what a refuted statement gives on its instance, computed now: its algorithm as printed, or both sides of its relation.

    Numbers are fractions, or enclosures where a logarithm or an exponential is in the way. Raises :class:`InvalidArgument` for an unknown
    id, and for a statement that is not refuted, so that there is nothing to run.

    >>> run_again("ghazi-2024-algorithm-5-step").found[0].value
    Fraction(6, 5)
    """
    claim = find_claim(claim_id)
    if claim_id in RUNNABLE:
        made = RUNNABLE[claim_id]()
        return replace(made, algorithm=f"{made.algorithm}. FAULTY: as printed, for this instance only")
    judgement = judge(claim_id)
    if judgement.status is not Status.REFUTED or judgement.witness is None:
        raise InvalidArgument(
            f"--run {claim_id} was given, but the statement is {judgement.status.value}, so that there is no counterexample to run; "
            "pdp claims --refuted lists those that have one"
        )
    where = ", ".join(f"{name} = {exact_text(value)}" for name, value in judgement.witness.items())
    lines = tuple(dict.fromkeys(_evaluate(judgement)))
    if not lines:
        raise InvalidArgument(
            f"--run {claim_id} was given, but what refutes it is a proof about a family of points ({where}), not one that could be run; "
            f"pdp claims --explain {claim_id} shows the proof"
        )
    failing = any(finding.status is Status.REFUTED for finding in judgement.findings)
    what = "the printed relation, which fails" if failing else "what the instance satisfies, against the statement"
    return Rerun(claim.id, f"{what} ({claim.source})", where, claim.statement, lines)


def evaluate_sides(goals: Goals, witness: Mapping[str, Fraction]) -> tuple[tuple[str, Value], ...]:
    """Return the sides of a relation at a witness, exact where they are rational, else balls; of one with derivatives the difference.

    Raises :class:`KeyError` where the witness does not name all variables.
    """
    question = read(goals)[0]
    point = split_reals(witness, question.box)
    if question.derive:
        name = "left - right" if question.sign > 0 else "right - left"
        return ((f"{name}, the left side differentiated in {', '.join(question.derive)},", value_at(_differentiate(question), point)),)
    return tuple(
        (f"{side} side", value_at(parse_expression(text), point)) for side, text in (("left", question.left), ("right", question.right))
    )


def _differentiate(question: Question) -> Term:
    return from_sympy(question.goal().expression)


def _evaluate(judgement: Judgement) -> Iterator[Found]:
    claim, witness = judgement.claim, judgement.witness or {}
    failing = {(finding.relation, finding.box) for finding in judgement.findings if finding.status is Status.REFUTED}
    chosen = [goals for goals in claim.goals if (goals.relation, goals.box) in failing]
    for goals in chosen or claim.against:
        try:
            sides = evaluate_sides(goals, witness)
        except KeyError:  # a goal about all points of a box, of which the instance names none
            continue
        for side, value in sides:
            yield Found(f"{side} of {goals.relation}", _quantity(value))


def _quantity(value: Value) -> Quantity:
    return value if isinstance(value, Fraction) else enclose_ball(value)
