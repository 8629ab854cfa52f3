"""A profile that is one smooth term between some weights and another beyond: shown piece by piece, or not differentiable at a kink."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil
from typing import NewType

from ...core.documents import Rejected, require
from ...core.rules import at_step, define, equal, holds_on, is_first, resolve, signs_on, smooth
from ...core.terms import Term, differentiate, make, meter, num, postorder, smoothness, substitute, var
from ...core.theorems import Box, Choice, Goal, Premise, Premises, Proof, Range
from ...procedures.boxes import enclose
from .statements import Claim, slope_of

Proofs = NewType("Proofs", list[Proof])  # one, or one for each piece
Pieces = list[tuple[Term, Term, Term, Box]]  # a term, its derivative, a weight, and the box of that
_CROSSING = "an argument changes its sign, and not just once, or more than one does"
_ONCE = Proof({"rule": "boxes", "budget": 1, "precision": 256}, ".sign")


def on_pieces(s: Claim, proofs: Proofs, cuts: list[Term] | None, t: Callable[[Term, Term], Term]) -> Premises[None]:
    """t(epsilon, epsilon') >= 0 for all records and weights: at once, or on every piece of the weights between cuts."""
    if cuts is None:
        term = t(*(yield from slope_of(s, s.box)))
        require(len(proofs) == 1, "without cuts there is one proof")
        yield Premise(Goal(term, s.box), proofs[0])
        return
    pieces = yield from at_step(".cuts", partial(_smooth_pieces, s, cuts))
    require(len(proofs) == len(pieces), "each piece needs a proof")
    for proof, (epsilon, slope, weight, box) in zip(proofs, pieces, strict=True):
        yield Premise(Goal(substitute(t(epsilon, slope), {"w": weight}), box), proof)


def _smooth_pieces(s: Claim, cuts: list[Term]) -> Premises[Pieces]:
    # values and derivatives of pieces of [1, oo) that meet agree at the cut between them, so epsilon is continuously differentiable
    pieces, ends = Pieces(), [num(1), *cuts]
    for cut in cuts:
        yield from define(cut, s.records)
    for i, lo in enumerate(ends):
        pieces.append((yield from _piece(s, lo, ends[i + 1] if i < len(cuts) else None)))
        if i:
            before, after = (substitute(slope, {"w": lo}) for _, slope, _, _ in pieces[-2:])
            yield from equal(after, before, s.records, "two pieces do not meet with equal slopes")
    return pieces


def _piece(s: Claim, lo: Term, hi: Term | None) -> Premises[tuple[Term, Term, Term, Box]]:
    # the weights from lo to hi are lo + (hi - lo) w, or hi - (hi - lo) w, for w in [0, 1]; without hi they are lo + w for w >= 0. Inside,
    # epsilon is one term that is smooth for w > 0. The term and its derivative are defined, hence continuous, at the ends too, where
    # epsilon has the term's value: so the derivative there, from this side, is the one of the term, which is its limit
    at, box = var("w"), {**s.records, "w": Range(Fraction(0), None if hi is None else Fraction(1))}
    weights = [lo + at] if hi is None else [lo + (hi - lo) * at, hi - (hi - lo) * at]
    if hi is not None:
        yield from holds_on(s.records, hi - lo)
    term = yield from resolve(s.epsilon, "w", partial(is_first, partial(_holds_inside, weights, box)))
    slope = differentiate(term, "w")
    for part in (term, slope):
        yield Choice(tuple(partial(define, substitute(part, {"w": weight}), box) for weight in weights))
    for end in (lo,) if hi is None else (lo, hi):
        there = yield from resolve(s.epsilon, "w", partial(is_first, partial(_holds_at, s.records, end)))
        one, other = (substitute(each, {"w": end}) for each in (term, there))
        yield from equal(one, other, s.records, "epsilon jumps at the end of a piece")
    yield Premise("differentiability")
    places = [(weight, around) for around in (box, {**box, "w": replace(box["w"], open=True)}) for weight in weights]
    place, _ = yield Choice(tuple(partial(_smooth_at, term, *each) for each in places))
    return term, slope, *places[place]


def _smooth_at(term: Term, weight: Term, box: Box) -> Premises[None]:
    for base in smoothness(term, "w"):
        yield from holds_on(box, substitute(base, {"w": weight}), strict=True)


def _holds_at(records: Box, w: Term, gap: Term, *, strict: bool) -> Premises[None]:
    return holds_on(records, substitute(gap, {"w": w}), strict=strict)


def _holds_inside(weights: list[Term], box: Box, gap: Term, *, strict: bool) -> Premises[None]:
    # gap >= 0 on the piece; > 0 but for the ends of the range of w if strict, because it is strictly monotone too
    gaps = [substitute(gap, {"w": weight}) for weight in weights]
    yield Choice(tuple(partial(holds_on, box, each) for each in gaps))
    if strict:
        yield from smooth(gaps[0], "w", box)
        yield from signs_on(box)(substitute(differentiate(gap, "w"), {"w": weights[0]}), strict=True, otherwise=True)


def differ_beside(epsilon: Term, between: Range) -> Premises[None]:
    """Epsilon, a term in w alone, is not differentiable at some w strictly inside a range."""
    # The one argument whose sign changes on the range has a single zero there. On either side of it the term equals a smooth term. Were it
    # differentiable at the zero, it would be continuous there, so both terms would take its value and its derivative at the zero. Both are
    # made of parts of epsilon, which is defined, and all of whose parts are.
    require(between.lo >= 1 and between.hi not in (None, between.lo), "a kink lies strictly inside a range that does not start below 1")
    box, crossing, sides = {"w": between}, list[Term](), list[Term]()
    epsilon = _stepwise(epsilon, box)
    for i in (0, 1):
        side = yield from resolve(epsilon, "w", partial(_is_first_beside, box, crossing, i))
        yield from smooth(side, "w", box)
        sides.append(side)
    value, slope = sides[0] - sides[1], differentiate(sides[0], "w") - differentiate(sides[1], "w")
    signs = (yield from _sign_on(value, box)) or (yield from _sign_on(slope, box))
    require(signs, "the one-sided derivatives are not shown to differ")


def _stepwise(term: Term, box: Box) -> Term:
    # the term with each ceiling of w as a choice between the two whole numbers that it is on the box, n where n - 1 < a <= n
    new = dict[Term, Term]()
    for node in postorder(term):
        if node.op == "ceiling" and "w" in node.free:
            low, high = enclose(node.args[0], box, meter(), 256)
            require(-(10**15) < low <= high < 10**15, "the argument of a ceiling is too large")
            n = ceil(low)
            require(high <= n + 1, "a ceiling takes more than two values on the range")
            new[node] = make("piecewise", num(n), node.args[0], num(n), num(n + 1), value=("<=",))
    return substitute(term, new)


def _sign_on(term: Term, box: Box) -> Premises[int]:
    # 1 or -1 if the term is > 0 or < 0 at all points of the box by one enclosure, else 0
    low, high = enclose(term, box, meter(), 256)
    sign = int(low > 0) - int(high < 0)
    if sign:
        yield Premise(Goal(term if sign > 0 else -term, box, strict=True), _ONCE)
    return sign


def _is_first_beside(box: Box, crossing: list[Term], i: int, gap: Term, *, strict: bool, otherwise: bool) -> Premises[bool]:
    sign = (yield from _signs(gap, box, crossing))[i]
    require(sign >= strict or -sign >= otherwise, "a sign beside a kink is not known")
    return sign >= strict


def _signs(gap: Term, box: Box, crossing: list[Term]) -> Premises[list[int]]:
    # the signs of a term on either side of its zero, or twice the sign that it has on all of the range
    yield from smooth(gap, "w", box)
    sign = yield from _sign_on(gap, box)
    if sign:
        return [sign] * 2
    crossing.append(gap)
    first, zero = crossing[0], num(0)
    place, _ = yield Choice(tuple(partial(equal, gap, other, box, _CROSSING) for other in (zero, first, -first)))
    if place == 0:
        crossing.pop()
        return [0, 0]
    low = yield from _sign_on(substitute(gap, {"w": box["w"].lo}), {})
    high = yield from _sign_on(substitute(gap, {"w": box["w"].hi or Fraction(0)}), {})
    if low * high >= 0 or not (yield from _sign_on(differentiate(gap, "w"), box)):
        raise Rejected(_CROSSING)
    return [low, high]
