"""Derivatives in the weight at points: one-sided at the border w = 1, and the proof that there is none."""

from fractions import Fraction

from .errors import Rejected
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


def smooth_pieces(session: Session, epsilon: Term, records: Box, cuts: list[Fraction]) -> list[tuple[Term, Term, Box]]:
    """Return (term, derivative, box) for each piece of the weights between cuts, after showing that pieces meet with equal slopes."""
    # Inside a piece epsilon is one smooth term, whose value it takes at the ends too, and derivatives agree at each cut: so epsilon is
    # continuously differentiable on all of [1, oo).
    ends, pieces = [WEIGHTS.lo, *cuts], list[tuple[Term, Term, Box]]()
    for lo, hi in zip(ends, [*cuts, None], strict=True):
        box = {**records, "w": Range(lo, hi)}
        term = resolve(epsilon, "w", lambda gap, strict, box=box: _is_signed_inside(session, gap, box, strict=strict))  # type: ignore[misc]
        session.define(term, box)
        session.check_smooth(term, "w", box)
        slope = differentiate(term, "w")
        for end in (lo, hi) if hi is not None else (lo,):
            here = {**records, "w": Range(end, end)}
            exact = resolve(epsilon, "w", lambda gap, strict, here=here: session.shows(Goal(gap, here, strict)))  # type: ignore[misc]
            _show_zero(session, substitute(term - exact, {"w": end}), records)
        if pieces:
            _show_zero(session, substitute(slope - pieces[-1][1], {"w": lo}), records)
        pieces.append((term, slope, box))
    return pieces


def _show_zero(session: Session, term: Term, box: Box) -> None:
    if not session.is_zero(term, box):
        raise Rejected("two pieces do not meet with equal values and slopes")


def _is_signed_inside(session: Session, gap: Term, box: Box, *, strict: bool) -> bool:
    # gap >= 0 on the box; > 0 but for the ends of the range of w if strict, because it is strictly monotone too
    if not session.shows(Goal(gap, box)):
        return False
    if strict:
        session.check_smooth(gap, "w", box)
    slope = differentiate(gap, "w") if strict else gap
    return not strict or session.shows(Goal(slope, box, strict=True)) or session.shows(Goal(-slope, box, strict=True))


def show_kink(session: Session, term: Term, between: Range) -> None:
    """Show that a term in w alone is not differentiable at some w strictly inside a bounded range."""
    # The one argument whose sign changes on the range has a single zero there. On either side of it the term equals a smooth term. Were it
    # differentiable at the zero, it would be continuous there, so both terms would take its value and its derivative at the zero.
    box, crossing = {"w": between}, list[Term]()

    def beside(end: Fraction) -> Term:
        return resolve(term, "w", lambda gap, strict: _sign(session, gap, box, end, crossing) >= strict)

    left, right = map(beside, _ends(between))
    for side in (left, right):
        session.define(side, box)
        session.check_smooth(side, "w", box)
    pairs = [(left, right), (differentiate(left, "w"), differentiate(right, "w"))]
    if not any(_sign_on(session, a - b, box) for a, b in pairs):
        raise Rejected("the one-sided derivatives are not shown to differ")


def _ends(between: Range) -> tuple[Fraction, Fraction]:
    if between.hi is None or between.lo == between.hi:
        raise Rejected("a kink must lie strictly inside a bounded range")
    return between.lo, between.hi


def _sign_on(session: Session, term: Term, box: Box) -> int:
    # 1 or -1 if the term is > 0 or < 0 at all points of the box, else 0
    low, high = enclose(term, box, session.meter, 256)
    return int(low > 0) - int(high < 0)


def _sign(session: Session, gap: Term, box: Box, end: Fraction, crossing: list[Term]) -> int:
    # the sign of a term beside its zero, on the side of an end of the range; of a term without zeros, on all of the range
    session.check_smooth(gap, "w", box)
    if _sign_on(session, gap, box) or session.is_zero(gap, box):
        return _sign_on(session, gap, box)
    crossing.append(gap)
    one = session.is_zero(gap - crossing[0], box) or session.is_zero(gap + crossing[0], box)
    signs: list[int] = [_sign_on(session, substitute(gap, {"w": q}), {}) for q in _ends(box["w"])]
    if not one or sum(signs) != 0 or not signs[0] or not _sign_on(session, differentiate(gap, "w"), box):
        raise Rejected("an argument changes its sign, and not just once, or more than one does")
    return signs[_ends(box["w"]).index(end)]
