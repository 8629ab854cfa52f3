"""The rules that compute: zero and manifest by normal forms, boxes by intervals; and the table of all rules about goals."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from ..core.documents import Rejected, require
from ..core.rules import CORE, make_smooth
from ..core.terms import Term, differentiate, make, meter, num, postorder, substitute
from ..core.theorems import Box, Goal, Identity, Premises, Range, Theorem, rule
from .boxes import Program, cover
from .normal import Normaliser


@rule
def zero(goal: Goal | Identity) -> None:
    """A term whose normal form is 0 is 0 wherever it is defined."""
    require(isinstance(goal, Identity) or not goal.strict, "the goal is strict")
    term = goal.difference if isinstance(goal, Identity) else goal.term
    for level in (False, True):
        normaliser = Normaliser(goal.box, meter(), level=level)
        if not normaliser.cleared(normaliser.poly(term), signed=False):
            return
    raise Rejected("the normal form is not zero")


def _fix(goal: Goal) -> Term:
    # the goal's term with numbers for the variables that have one value only
    return substitute(goal.term, {v: r.lo for v, r in goal.box.items() if r.lo == r.hi})


@rule
def manifest(goal: Goal) -> None:
    """A sum of products of non-negative factors is >= 0, and > 0 if one of them is; as it stands, or after x = lo + u, or x = hi - u."""
    term = _fix(goal)
    used = {v: goal.box[v] for v in sorted(term.free)}
    for downwards in (None, False, True) if any(r.hi is not None for r in used.values()) else (None, False):
        shift, box = ({}, goal.box) if downwards is None else _measured_from_ends(used, downwards=downwards)
        normaliser = Normaliser(box, meter())
        poly = normaliser.poly(substitute(term, shift))
        if max(normaliser.manifest(poly), normaliser.manifest(normaliser.cleared(poly, signed=True))) > int(goal.strict):
            return
    raise Rejected("the sign is not manifest")


def _measured_from_ends(box: Box, *, downwards: bool) -> tuple[dict[str, Term], Box]:
    # x = lo + u, or x = hi - u where that is asked for and hi is finite, for every variable x; and the ranges of u
    shift, moved = dict[str, Term](), dict[str, Range]()
    for v, r in box.items():
        x, width = make("var", value=v), None if r.hi is None else r.hi - r.lo
        down = downwards and r.hi is not None
        shift[v] = num(r.hi or 0) - x if down else x + num(r.lo)
        moved[v] = Range(Fraction(0), width) if down else replace(r, lo=Fraction(0), hi=width)
    return shift, moved


@rule
def boxes(goal: Goal, *, budget: int, form: Literal["centred", "natural"] = "natural", precision: int = 64) -> Premises[None]:
    """Finitely many pieces cover the box, and on each an interval enclosure (centred: by the mean value theorem) is >= 0 (> 0)."""
    require(1 <= budget <= 50_000 and 53 <= precision <= 1024, "the budget is from 1 to 50000, and the precision from 53 to 1024 bits")
    centred, term = form == "centred", _fix(goal)
    for v in sorted(term.free) if centred else ():
        term = yield from make_smooth(term, v, goal.box)
    slopes = [differentiate(term, v) for v in sorted(term.free)] if centred else []
    gradient = Program(slopes, precision, meter()) if slopes else None
    yield from cover(replace(goal, term=term), Program(_forms(term, goal), precision, meter()), gradient, budget)


def _forms(term: Term, goal: Goal) -> list[Term]:
    # the term, and its normal form as a term if there is one that is not much larger
    try:
        normaliser = Normaliser(goal.box, meter())
        other = normaliser.term(normaliser.poly(term))
    except Rejected:
        return [term]
    return [term, other] if other is not term and len(postorder(other)) <= 3 * len(postorder(term)) + 50 else [term]


RULES: dict[str, Callable[..., Theorem]] = {each.__name__.rstrip("_").replace("_", "-"): each for each in (zero, manifest, boxes, *CORE)}
