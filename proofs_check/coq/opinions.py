"""A second opinion: the goals of a certificate that the kernel accepted, put to Coq one by one.

It never turns a rejection into an acceptance: where the kernel rejects, Coq is not asked. What Coq does not confirm is not refuted by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proofs_check.coq.goals import ProvedGoal
from proofs_check.coq.scripts import propose_scripts, write_lemma
from proofs_check.coq.session import CoqSession, read_tactics
from proofs_check.coq.syntax import NotWritable
from proofs_check.coq.writing import write_goal
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.core.terms import forget, substitute
from proofs_check.kernel.core.theorems import Goal, Range
from proofs_check.kernel.untrusted.showing import show

#: Seconds that one goal may take.
SECONDS = 10
_SLACK = 3  # Coq ends a goal by itself; after so many times the seconds it is ended from outside


@dataclass(frozen=True, slots=True)
class Opinion:
    """What Coq said of one goal: confirmed, or not, for the reason given; ``contradicted`` where it proved the contrary at a point."""

    step: str
    rule: str
    statement: str
    confirmed: bool
    contradicted: bool = False
    reason: str = ""

    def agreed(self) -> Opinion:
        """Return the opinion on this goal with Coq's agreement."""
        return replace(self, confirmed=True)

    def refused(self, reason: str) -> Opinion:
        """Return it with the reason why it is not confirmed."""
        return replace(self, reason=reason)


def judge_goals(
    goals: Sequence[ProvedGoal], *, seconds: int = SECONDS, report: Callable[[int, int], None] = lambda _done, _total: None
) -> Iterator[tuple[Opinion, str]]:
    """Yield the opinion on each goal, and the sentences of Coq that prove it, "" where it is not confirmed; ``seconds``: what one may take.

    Raises :class:`profiles.errors.MissingProgram` where Coq or its library for intervals is missing.
    """
    with CoqSession() as coq:
        lemmas = dict[int, str]()
        for number in range(len(goals)):
            yield _judge(coq, goals, number, lemmas, seconds)
            report(number + 1, len(goals))


def _judge(coq: CoqSession, goals: Sequence[ProvedGoal], number: int, lemmas: dict[int, str], seconds: int) -> tuple[Opinion, str]:
    # lemmas: the names of those that Coq has, by the place of their goals
    goal, name = goals[number], f"goal_{number + 1}"
    said = Opinion(goal.step, goal.rule, describe_goal(goal.goal), confirmed=False)
    try:
        lemma = write_goal(goal.goal)
        sentences = write_lemma(name, lemma, list(propose_scripts(number, goals, lemmas)), seconds)
    except (NotWritable, Rejected) as problem:
        return replace(said, reason=str(problem)), ""
    answer = coq.proves(name, sentences, _SLACK * seconds + 1)
    if answer:
        lemmas[number] = name
        return replace(said, confirmed=True), sentences
    if answer is None:
        lemmas.clear()
    elif any(_is_negative(coq, f"{name}_{i}", goal.goal, point, seconds) for i, point in enumerate(_points(goal.goal))):
        return replace(said, contradicted=True, reason="Coq proved the contrary at a point"), ""
    return replace(said, reason=f"none of the tactics closed it within {seconds} s"), ""


def _is_negative(coq: CoqSession, name: str, goal: Goal, point: Mapping[str, Fraction], seconds: int) -> bool:
    forget()
    try:
        lemma = write_goal(Goal(-substitute(goal.term, point), {}, strict=True))
    except (NotWritable, Rejected):
        return False
    return bool(coq.proves(name, write_lemma(name, lemma, ["interval with (i_prec 100)"], seconds), _SLACK * seconds + 1))


def _points(goal: Goal) -> Iterator[dict[str, Fraction]]:
    # two points of the box
    for share in (Fraction(1, 1000), Fraction(1)):
        yield {v: _inside(goal.box[v], share) for v in goal.term.free}


def _inside(values: Range, share: Fraction) -> Fraction:
    return values.lo + share * (2 if values.hi is None else values.hi - values.lo)


def describe_goal(goal: Goal) -> str:
    """Return a goal as "term >= 0 for its ranges", with the variables that occur in it."""
    ranges = [
        f"{v} {'>' if r.open else '>='} {r.lo}" if r.hi is None else f"{v} in {'(' if r.open else '['}{r.lo}, {r.hi}]"
        for v, r in sorted(goal.box.items())
        if v in goal.term.free
    ]
    return f"{show(goal.term)} {'>' if goal.strict else '>='} 0{' for ' if ranges else ''}{', '.join(ranges)}"


def write_file(proved: Sequence[str]) -> str:
    """Return a file of Coq with the goals that were confirmed, each with its proof: ``coqc`` compiles it."""
    return f"{read_tactics()}\n{chr(10).join(proved)}"
