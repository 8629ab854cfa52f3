"""Asking the kernel's rules about one goal. The prover proposes trees; only the kernel's own code says whether a tree proves a goal.

The goal that is asked about is the prover's (SymPy differentiated it). A finished claim is put to the kernel once more as a whole, and
then the kernel derives the goal itself from the profile's text.
"""

from __future__ import annotations

import json

from profiles.errors import InvalidExpression
from profiles.profile import Profile
from profiles.terms import to_text
from proofs_check.certificates import profile_json
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import forget
from proofs_check.kernel.core.theorems import Goal as KernelGoal
from proofs_check.kernel.core.theorems import Range
from proofs_check.kernel.reading import read_term, variables
from proofs_check.kernel.theories.profiles.statements import read_claim, restate
from proofs_check.kernel.untrusted.upgrade import Searcher
from proofs_check.prover.effort import remaining, remembered, spend
from proofs_check.prover.goals import Goal
from proofs_check.results import Tree

#: What one goal may cost the kernel: a fifth of what it spends on a whole certificate, which has several.
WORK = Meter().left // 5
#: What the kernel's own unit of work costs a search, and what one question costs beside that.
KERNEL_UNIT, QUESTION = 3, 1500


def accepts(goal: Goal, tree: Tree, *, most: int = WORK) -> bool:
    """Tell whether the kernel's rules accept ``tree`` as a proof of ``goal``, with at most some of the kernel's work."""
    return remembered("oracle", (goal, json.dumps(tree), most), lambda: _ask(goal, tree, most))


def equals(profile: Profile, restatement: Tree) -> bool:
    """Tell whether the kernel agrees that ε of a profile is, for all records and weights, what a restatement says."""
    session = Searcher()
    allowed = session.meter.left
    try:
        forget(session.meter)
        statement = read_claim([], {"profile": profile_json(profile)})
        session.constants = statement.constants
        names = {**session.constants, **variables(statement.box)}
        term, roots = read_term(restatement["term"], names), [read_term(root, names) for root in restatement.get("roots", [])]
        session.run(restate(statement, term, roots, None))
    except (Rejected, InvalidExpression, RecursionError, ArithmeticError):
        return False
    finally:
        spend(QUESTION + KERNEL_UNIT * (allowed - session.meter.left))
    return True


def _ask(goal: Goal, tree: Tree, most: int) -> bool:
    allowed = int(min(most, remaining() / KERNEL_UNIT))
    meter = Meter(allowed)
    try:
        box = {variable.name: Range(variable.lo, variable.hi, variable.open_below) for variable in goal.box}
        forget(meter)
        session = Searcher(meter)
        term = session.read(to_text(goal.term), box)
        session.follow(KernelGoal(term, box, goal.strict), tree)
    except (Rejected, InvalidExpression, RecursionError, ArithmeticError):
        return False
    finally:
        spend(QUESTION + KERNEL_UNIT * (allowed - meter.left))
    return True
