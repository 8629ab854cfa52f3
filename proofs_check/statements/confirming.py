"""The kernel's word on a claim: it reads the claim's own text, checks that it is defined, differentiates, and applies its rules.

All contact of this package with the kernel is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proofs_check.kernel.core.documents import Rejected
from proofs_check.kernel.core.rules import make_smooth
from proofs_check.kernel.core.terms import Term, differentiate, forget
from proofs_check.kernel.core.theorems import Goal, Identity, Range
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.showing import behind
from proofs_check.kernel.untrusted.upgrade import Searcher
from proofs_check.results import Tree
from proofs_check.statements.reading import Question

_AT_A_POINT: tuple[Tree, ...] = ({"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 1, "precision": 256})


def confirms(question: Question, tree: Tree) -> tuple[str, ...] | None:
    """Return the rules that were used if the kernel accepts ``tree`` as a proof of the claim's text, else None."""
    box = {variable.name: Range(variable.lo, variable.hi, variable.open_below) for variable in question.box}
    try:
        forget()
        session = Searcher()
        theorem = session.follow(Goal(_difference(session, question, box, box, question.sign), box, question.strict), tree)
    except (Rejected, RecursionError, ArithmeticError):
        return None
    return behind(theorem, Goal | Identity)[0]


def confirms_violation(question: Question, point: Mapping[str, Fraction]) -> bool:
    """Tell whether the kernel's rules prove the negation of the claim at the point."""
    whole = {variable.name: Range(variable.lo, variable.hi, variable.open_below) for variable in question.box}
    if point.keys() != whole.keys() or not all(whole[name].contains(value) for name, value in point.items()):
        return False
    box = {name: Range(value, value) for name, value in point.items()}
    for tree in _AT_A_POINT:
        try:
            forget()
            session = Searcher()
            session.follow(Goal(_difference(session, question, box, whole, -question.sign), box, not question.strict), tree)
        except (Rejected, RecursionError, ArithmeticError):
            continue
        return True
    return False


def _difference(session: Session, question: Question, box: Mapping[str, Range], whole: Mapping[str, Range], sign: int) -> Term:
    left = session.read(question.left, whole if question.derive else box)
    for name in question.derive:
        left = differentiate(session.run(make_smooth(left, name, whole)), name)
    difference = left - session.read(question.right, box)
    return difference if sign > 0 else -difference
