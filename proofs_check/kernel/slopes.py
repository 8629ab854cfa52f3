"""Derivatives in the weight at points: one-sided at the border w = 1, and the proof that there is none."""

from fractions import Fraction

from .errors import Rejected
from .intervals import Interval
from .ranges import Box, Range, enclose
from .session import Goal, Session, resolve
from .terms import Term, differentiate, substitute

WEIGHTS = Range(Fraction(1))


def slope_at(session: Session, term: Term, box: Box, whole: Box) -> tuple[Term, Term]:
    """Return a branch-free term that equals the given one near the points of a box, and its derivative in w (one-sided at w = 1)."""
    # Branches are resolved on the whole box, or by strict signs, which persist in a neighbourhood of each point; so do the strict signs
    # that differentiability needs.
    depth = len(session.path)
    try:
        resolved = resolve(term, "w", lambda gap, strict: session.shows(Goal(gap, whole, strict)))
    except Rejected:
        del session.path[depth:]
        resolved = resolve(term, "w", lambda gap, _: session.shows(Goal(gap, box, strict=True)))
    session.check_smooth(resolved, "w", box)
    return resolved, differentiate(resolved, "w")


def show_kink(session: Session, term: Term, w: Fraction) -> None:
    """Show that a term in w alone is not differentiable at a number w > 1."""
    # Just left and right of w the term equals two terms that are smooth there. Were it differentiable at w, it would be continuous, so
    # both would take its value and its derivative at w.
    if w <= 1:
        raise Rejected("a kink must lie at w > 1")
    left = resolve(term, "w", lambda gap, strict: _sign(session, gap, w, -1) >= strict)
    right = resolve(term, "w", lambda gap, strict: _sign(session, gap, w, 1) >= strict)
    for side in (left, right):
        session.check_smooth(side, "w", {"w": Range(w, w)})
    pairs = [(left, right), (differentiate(left, "w"), differentiate(right, "w"))]
    if not any(_disjoint(_value(session, a, w), _value(session, b, w)) for a, b in pairs):
        raise Rejected("the one-sided derivatives are not shown to differ")


def _value(session: Session, term: Term, w: Fraction) -> Interval:
    return enclose(substitute(term, {"w": w}), {}, session.meter, 256)


def _disjoint(x: Interval, y: Interval) -> bool:
    return x[1] < y[0] or y[1] < x[0]


def _sign(session: Session, term: Term, w: Fraction, side: int) -> int:
    # the sign of a term just left (side -1) or right (1) of w: its sign at w, else that of its slope, or 0 if it is zero altogether
    session.check_smooth(term, "w", {"w": Range(w, w)})
    if session.is_zero(term, {"w": WEIGHTS}):
        return 0
    for candidate, direction in ((term, 1), (differentiate(term, "w"), side)):
        low, high = _value(session, candidate, w)
        if low > 0 or high < 0:
            return direction if low > 0 else -direction
        if not session.is_zero(substitute(candidate, {"w": w}), {}):
            break
    raise Rejected("the sign of an argument beside the point is not decided")
