"""The verified checker: the goals of a certificate that the kernel accepted, judged by a program that Coq proved right (docs/formal.md).

A proof of the kernel is translated into data; a function of Coq says whether the data prove the goal, and the theorem ``accepted_is_true``
makes of its "true" a statement about the real numbers. What is translated wrongly is not verified; it cannot be verified wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import resources

from proofs_check.coq.encoding import encode, write, write_flag, write_range
from proofs_check.coq.goals import ProvedGoal, fix
from proofs_check.coq.opinions import Opinion, describe_goal
from proofs_check.coq.session import CoqSession, Library
from proofs_check.coq.syntax import NotWritable
from proofs_check.coq.translating import list_variables, translate
from proofs_check.coq.writing import write_goal
from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.core.terms import forget

#: The files of the checker, each after those that it requires.
FILES = ("terms", "enclosures", "signs", "fields", "checker")
_OPENING = """From Coq Require Import Reals ZArith List Lra.
From PDPVerified Require Import terms enclosures signs fields checker.
Import ListNotations.
Open Scope R_scope.
"""


def library() -> Library:
    """Return what a session of the verified checker begins with."""
    folder = resources.files("proofs_check.coq").joinpath("verified")
    files = tuple(folder.joinpath(f"{name}.v") for name in FILES)
    return Library(files, "PDPVerified", _OPENING, "accepted_is_true", "Constant PDPVerified.checker.accepted_is_true")


def write_theorem(name: str, number: int, goals: Sequence[ProvedGoal]) -> str:
    """Return the sentences that state a goal over Coq's real numbers, with the data of its proof. Raises :class:`NotWritable`.

    ``NAME``: the term is >= 0 (> 0) for all values of its variables in their ranges; ``NAME_defined``: it is defined there.
    """
    forget()
    names = list_variables(number, goals)
    proof, goal = translate(number, goals, names), goals[number].goal
    lemma = write_goal(goal, names)
    ranges = "; ".join(write_range(goal.box[v]) for v in names)
    point = f"(fun i => nth i [{'; '.join(lemma.names)}] 0)"
    inside = "I"
    for i, v in reversed(list(enumerate(names))):
        inside = f"(conj {f'h{i}' if goal.box[v].hi is not None else f'(conj h{i} I)'} {inside})"
    known = f"(accepted_is_true {name}_box {name}_term {write_flag(goal.strict)} {name}_proof {name}_accepted {point} {inside})"
    quantified = f"forall {' '.join(lemma.names)} : R, " if lemma.names else ""
    given = quantified + "".join(f"{item} -> " for item in lemma.ranges)
    intros = " ".join([*lemma.names, *(f"h{i}" for i in range(len(names)))])
    intros = f"intros {intros}. " if intros else ""
    return (
        f"Definition {name}_box : box := [{ranges}].\n"
        f"Definition {name}_term : expr := {write(encode(fix(goal.term, goal.box), names))}.\n"
        f"Definition {name}_proof : proof := {proof}.\n"
        f"Lemma {name}_accepted : accepts {name}_box {name}_term {write_flag(goal.strict)} {name}_proof = true.\n"
        "Proof. vm_cast_no_check (eq_refl true). Qed.\n"
        f"Theorem {name}_defined : {given}defined {point} {name}_term.\nProof. {intros}exact (proj1 {known}). Qed.\n"
        f"Theorem {name} : {given}{lemma.statements[-1]}.\nProof. {intros}exact (proj2 {known}). Qed.\n"
    )


def verify_goals(
    goals: Sequence[ProvedGoal], *, seconds: int, report: Callable[[int, int], None] = lambda _done, _total: None
) -> Iterator[tuple[Opinion, str]]:
    """Yield what the verified checker says of each goal, and its sentences, "" where it does not accept.

    Raises :class:`profiles.errors.MissingProgram` where Coq or its library for intervals is missing.
    """
    with CoqSession(library()) as coq:
        for number, goal in enumerate(goals):
            name, said = f"goal_{number + 1}", Opinion(goal.step, goal.rule, describe_goal(goal.goal), confirmed=False)
            try:
                sentences = write_theorem(name, number, goals)
            except (NotWritable, Rejected) as problem:
                yield said.refused(str(problem)), ""
            except (KeyError, ValueError, IndexError):  # the proof has another form than its translation supposes
                yield said.refused(f"not covered (rule {goal.rule}, in this form)"), ""
            else:
                answer = coq.proves(name, sentences, seconds)
                why = "not accepted" if answer is False else f"not within {seconds} s"
                yield (said.agreed(), sentences) if answer else (said.refused(f"not covered (rule {goal.rule}: {why})"), "")
            report(number + 1, len(goals))


def write_verified(proved: Sequence[str]) -> str:
    """Return a file of Coq with the goals that were verified: ``coqc -R FOLDER PDPVerified`` compiles it beside the checker's files."""
    return "\n".join([_OPENING, *proved])
