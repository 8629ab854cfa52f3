"""A profile that is one smooth term between some weights and another beyond: shown piece by piece, or not differentiable at a kink."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil

from ...core.rules import Json, Session, show
from ...core.terms import Rejected, Term, differentiate, make, num, postorder, require, smoothness, substitute, var
from ...core.theorems import Box, Goal, Range, rule
from ...procedures.boxes import enclose
from ...reading import read_list
from .statements import Statement, at_record, read_range, slope_of


def on_pieces(session: Session, s: Statement, step: str, tree: Json, cuts: Json, t: Callable[[Term, Term], Term]) -> None:
    """Show t(epsilon, epsilon') >= 0 for all records and weights: at once, or on every piece of the weights between cuts."""
    if cuts is None:
        show(session, step, Goal(t(*slope_of(session, s, s.domain)), s.domain), tree)
        return
    with session.at(".cuts"):
        pieces = _smooth_pieces(session, s, [session.read(cut, s.records) for cut in read_list(cuts)])
    with session.at(step):
        for i, (proof, (epsilon, slope, weight, box)) in enumerate(zip(read_list(tree, len(pieces)), pieces, strict=True)):
            show(session, f"[{i}]", Goal(substitute(t(epsilon, slope), {"w": weight}), box), proof)


def _smooth_pieces(session: Session, s: Statement, cuts: list[Term]) -> list[tuple[Term, Term, Term, Box]]:
    # (term, derivative, weight, box) for each piece of [1, oo): values and derivatives of pieces that meet agree at the cut between them,
    # so epsilon is continuously differentiable
    pieces, ends = list[tuple[Term, Term, Term, Box]](), [num(1), *cuts]
    for i, lo in enumerate(ends):
        pieces.append(_piece(session, s, lo, ends[i + 1] if i < len(cuts) else None))
        zeros = [substitute(pieces[i][1] - before, {"w": lo}) for _, before, _, _ in pieces[:i][-1:]]
        require(all(session.is_zero(zero, s.records) for zero in zeros), "two pieces do not meet with equal slopes")
    return pieces


def _piece(session: Session, s: Statement, lo: Term, hi: Term | None) -> tuple[Term, Term, Term, Box]:
    # the weights from lo to hi are lo + (hi - lo) w, or hi - (hi - lo) w, for w in [0, 1]; without hi they are lo + w for w >= 0. Inside,
    # epsilon is one term that is smooth for w > 0. The term and its derivative are defined, hence continuous, at the ends too, where
    # epsilon has the term's value: so the derivative there, from this side, is the one of the term, which is its limit
    at, box = var("w"), {**s.records, "w": Range(Fraction(0), None if hi is None else Fraction(1))}
    weights = [lo + at] if hi is None else [lo + (hi - lo) * at, hi - (hi - lo) * at]
    if hi is not None:
        session.discharge(Goal(hi - lo, s.records))
    term = session.resolve(s.epsilon, "w", lambda gap, strict: _is_signed_inside(session, gap, weights, box, strict=strict))
    slope = differentiate(term, "w")
    for part in (term, slope):
        _define_on(session, part, weights, box)
    for end in (lo,) if hi is None else (lo, hi):
        zero = substitute(term, {"w": end}) - substitute(session.resolve(s.epsilon, "w", _signs_at(session, s, end)), {"w": end})
        require(session.is_zero(zero, s.records), "epsilon jumps at the end of a piece")
    session.rely("differentiability")
    for here in (box, {**box, "w": replace(box["w"], open=True)}):
        for weight in weights:
            bases = [substitute(base, {"w": weight}) for base in smoothness(term, "w")]
            if all(session.shows(Goal(base, here, strict=True)) for base in bases):
                return term, slope, weight, here
    raise Rejected("epsilon is not shown to be smooth inside a piece")


def _define_on(session: Session, term: Term, weights: list[Term], box: Box) -> None:
    depth = len(session.path)
    for weight in weights[:-1]:
        try:
            return session.define(substitute(term, {"w": weight}), box)
        except Rejected:
            del session.path[depth:]
    return session.define(substitute(term, {"w": weights[-1]}), box)


def _signs_at(session: Session, s: Statement, w: Term) -> Callable[[Term, bool], bool]:
    return lambda gap, strict: session.shows(Goal(substitute(gap, {"w": w}), s.records, strict))


def _is_signed_inside(session: Session, gap: Term, weights: list[Term], box: Box, *, strict: bool) -> bool:
    # gap >= 0 on the piece; > 0 but for the ends of the range of w if strict, because it is strictly monotone too
    gaps = [substitute(gap, {"w": weight}) for weight in weights]
    shown = any(session.shows(Goal(g, box)) for g in gaps)
    if not shown or not strict:
        return shown
    session.check_smooth(gaps[0], "w", box)
    slope = substitute(differentiate(gap, "w"), {"w": weights[0]})
    return session.shows(Goal(slope, box, strict=True)) or session.shows(Goal(-slope, box, strict=True))


@rule
def kink(session: Session, s: Statement, *, at: Json, kink: Json) -> None:
    """Epsilon is not differentiable at a record and some w > 1: beside it epsilon is two smooth terms with other values or slopes."""
    # The one argument whose sign changes on the range has a single zero there. On either side of it the term equals a smooth term. Were it
    # differentiable at the zero, it would be continuous there, so both terms would take its value and its derivative at the zero. Both are
    # made of parts of epsilon, which is defined, and all of whose parts are.
    s, _ = at_record(session, s, at, s.records)
    with session.at(".kink"):
        between = read_range(kink)
        require(between.lo >= 1 and between.lo != between.hi, "a kink lies strictly inside a range that does not start below 1")
        box, crossing, sides = {"w": between}, list[Term](), list[Term]()
        epsilon = _stepwise(session, s.epsilon, box)
        for i in (0, 1):
            side = session.resolve(epsilon, "w", lambda gap, strict, i=i: _signs(session, gap, box, crossing)[i] >= strict)  # type: ignore[misc]
            session.check_smooth(side, "w", box)
            sides.append(side)
        value, slope = sides[0] - sides[1], differentiate(sides[0], "w") - differentiate(sides[1], "w")
        require(_sign_on(session, value, box) or _sign_on(session, slope, box), "the one-sided derivatives are not shown to differ")


def _stepwise(session: Session, term: Term, box: Box) -> Term:
    # the term with each ceiling of w as a choice between the two whole numbers that it is on the box, n where n - 1 < a <= n
    new = dict[Term, Term]()
    for node in postorder(term):
        if node.op == "ceiling" and "w" in node.free:
            low, high = enclose(node.args[0], box, session.meter, 256)
            require(-(10**15) < low <= high < 10**15, "the argument of a ceiling is too large")
            n = ceil(low)
            require(high <= n + 1, "a ceiling takes more than two values on the range")
            new[node] = make("piecewise", num(n), node.args[0], num(n), num(n + 1), value=("<=",))
    return substitute(term, new)


def _sign_on(session: Session, term: Term, box: Box) -> int:
    # 1 or -1 if the term is > 0 or < 0 at all points of the box by one enclosure, else 0
    low, high = enclose(term, box, session.meter, 256)
    sign = int(low > 0) - int(high < 0)
    if sign:
        show(session, ".sign", Goal(term if sign > 0 else -term, box, strict=True), {"rule": "boxes", "budget": 1, "precision": 256})
    return sign


def _signs(session: Session, gap: Term, box: Box, crossing: list[Term]) -> list[int]:
    # the signs of a term on either side of its zero, or twice the sign that it has on all of the range
    session.check_smooth(gap, "w", box)
    if _sign_on(session, gap, box) or session.is_zero(gap, box):
        return [_sign_on(session, gap, box)] * 2
    crossing.append(gap)
    one = session.is_zero(gap - crossing[0], box) or session.is_zero(gap + crossing[0], box)
    signs = [_sign_on(session, substitute(gap, {"w": end}), {}) for end in (box["w"].lo, box["w"].hi or Fraction(0))]
    if not one or sum(signs) != 0 or not signs[0] or not _sign_on(session, differentiate(gap, "w"), box):
        raise Rejected("an argument changes its sign, and not just once, or more than one does")
    return signs
