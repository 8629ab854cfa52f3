"""Ours on a statement: the verdict of ``verify``, with admission and the kernel's checks in the time."""

from __future__ import annotations

from benchmarks.deciders.cases import Case
from profiles import Undecided
from proofs_check.verify import verify


def version() -> str:
    """What is compared: the code beside this file."""
    return "this commit"


def decide(case: Case, condition: str) -> str | None:
    """Return the verdict, None where it is unknown."""
    try:
        verdict = verify(case.profile(), case.target, [condition]).decisions[condition].verdict.value
    except Undecided:
        return None
    return None if verdict == "unknown" else verdict
