"""The goals of a certificate: everything that a rule of the kernel proved while it accepted it, each once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofs_check import kernel
from proofs_check.kernel.core.terms import Term, num, substitute
from proofs_check.kernel.core.theorems import Box, Goal
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.untrusted.proofs import Session, fields_of

_IS_PART = re.compile(r"[a-z-]+|proofs\[\d+\]|cases\[\d+\]\.proof")


@dataclass(frozen=True, slots=True)
class ProvedGoal:
    """A goal, the step of the certificate where it was proved first, and the rule that proved it there.

    ``parts``: the goals that the rule rests on, by the name of their field: places in the list of goals, all of them earlier.
    """

    step: str
    goal: Goal
    rule: str
    parts: Mapping[str, int]


def fix(term: Term, box: Box) -> Term:
    """Return the term with numbers for the variables that have one value only."""
    return substitute(term, {v: r.lo for v, r in box.items() if r.lo == r.hi})


def find_split(goals: Sequence[ProvedGoal], goal: ProvedGoal) -> tuple[str, Fraction]:
    """Return the variable whose range the rule ``split`` divides, and where. Raises ``ValueError`` for another proof."""
    below, above = (goals[goal.parts[name]].goal.box for name in ("below", "above"))
    (v,) = (v for v in below if below[v] != above[v])
    return v, above[v].lo


def find_generalised(goals: Sequence[ProvedGoal], goal: ProvedGoal) -> tuple[str, Term]:
    """Return the new variable of the rule ``generalise``, and the term that it stands for. Raises ``ValueError`` for another proof."""
    general, lower = goals[goal.parts["proof"]].goal, goals[goal.parts["lower"]].goal
    (y,) = (v for v in general.box if v not in goal.goal.box)
    low = general.box[y].lo
    is_difference = lower.term.op == "add" and lower.term.args[1] is num(-low)
    return y, fix(lower.term.args[0] if is_difference else lower.term + num(low), lower.box)


def list_goals(text: str) -> tuple[kernel.Report, tuple[ProvedGoal, ...]]:
    """Check a certificate with the kernel; return its report and, if it accepts, every goal that was proved, in the order of the proof."""
    session = Session()
    report = kernel.check(text, session)
    if not report.accepted:
        return report, ()
    proved, places, latest = list[ProvedGoal](), dict[object, int](), dict[str, int]()
    for step, goal, rule in session.proved:
        key = (goal.term, tuple((v, goal.box[v]) for v in sorted(goal.term.free)), goal.strict)
        if key not in places:
            parts = {name: latest[where] for name, where in _fields(step, rule, latest)}
            places[key] = len(proved)
            proved.append(ProvedGoal(step, goal, rule, parts))
        latest[step] = places[key]  # side conditions of a goal stand at the same step, before it
    return report, tuple(proved)


def _fields(step: str, rule: str, latest: Mapping[str, int]) -> list[tuple[str, str]]:
    # the parts of a rule that have steps of their own, and these steps
    names = [name for name in fields_of(RULES[rule])[0] if name not in ("proofs", "cases")]
    for many in ("proofs[", "cases["):
        names += [where[len(step) + 1 :] for where in latest if where.startswith(f"{step}.{many}")]
    return [(name, f"{step}.{name}") for name in names if _IS_PART.fullmatch(name) and f"{step}.{name}" in latest]
