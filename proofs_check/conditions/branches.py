"""Profiles with Abs, Min, Max or Piecewise of w: kinks, violations beside them, and pieces that meet smoothly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy

from profiles.numbers import exact_text
from profiles.symbolic import from_sympy, to_rational
from profiles.terms import to_text
from profiles.variables import WEIGHT, Variable
from proofs_check.certificates import point_json
from proofs_check.conditions.context import Context
from proofs_check.conditions.decide import refute_at, substituted
from proofs_check.kernel import Report
from proofs_check.prover.algebra import expand, put_in
from proofs_check.prover.explore import violates
from proofs_check.prover.goals import Goal
from proofs_check.prover.points import candidates
from proofs_check.prover.search import prove
from proofs_check.prover.smooth import borders, moving_borders, resolve_along, resolve_near
from proofs_check.results import Decision, Tree, Verdict

MAX_CUTS = 8
MAX_POINTS = 400

#: The left side of a condition ... ≥ 0 (> 0), made from ε as an expression in w.
LeftSide = Callable[[sympy.Expr], sympy.Expr]


def refute_by_kink(context: Context, condition: str) -> Decision | None:
    """Refute a condition that needs ε′ at a kink that the kernel confirms."""
    for border in borders(context.epsilon, context.records, context.weight):
        around = [exact_text(end) for end in border.around]
        claim = context.claim(condition, "refuted", {"at": point_json(border.record), "kink": around})
        if context.forms.admit().proves([claim], target=context.target):
            place = f"at w = {exact_text(border.weight)}" if border.exact else f"at one w between {around[0]} and {around[1]}"
            witness = {**border.record, WEIGHT: border.weight}
            reason = f"epsilon is not differentiable in w {place}"
            return Decision(condition, Verdict.REFUTED, "kink", witness=witness, reason=reason, claim=claim, checked=True)
    return None


def refute_beside_kinks(
    context: Context, condition: str, left_side: LeftSide, *, strict: bool, field: str, weight: Fraction | None = None
) -> Decision | None:
    """Refute a condition at a point around which one branch is taken, at this ``weight`` only if there is one."""
    if strict:
        for record in context.least_records:  # all branches may be equal there
            single = substituted(Goal(context.epsilon, context.domain), record)
            if single.has(sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise):
                continue
            goal, at = Goal(context.at_one(left_side(single)), (), strict), {**record, WEIGHT: sympy.S.One}
            if goal.expression == 0:
                decision = refute_at(context, condition, goal, record if weight is not None else at, field=field)
                if decision.checked:
                    return decision
    known: dict[sympy.Expr, Goal] = {}
    points = candidates(context.domain if weight is None else context.records, MAX_POINTS)
    for point in points if weight is None else ({**point, WEIGHT: weight} for point in points):
        near = resolve_near(context.epsilon, point, context.weight)
        if near is None:
            continue
        goal = known.setdefault(near, context.for_all(left_side(near), strict=strict))
        if violates(goal.term, point, strict=strict) or (strict and substituted(goal, point).is_zero):
            named = point if weight is None else {name: value for name, value in point.items() if name != WEIGHT}
            decision = refute_at(context, condition, goal.at(WEIGHT, weight) if weight is not None else goal, named, field=field)
            if decision.checked:
                return decision
    return None


@dataclass(frozen=True, slots=True)
class SmoothPiece:
    """ε as one smooth expression for the weights between ``lo`` and ``hi``, or from ``lo`` on.

    The weight runs through them as ``way``, an expression in the variable w of ``box``; where that starts at an open 0, ε is smooth inside
    only.
    """

    epsilon: sympy.Expr
    lo: sympy.Expr
    hi: sympy.Expr | None
    way: sympy.Expr
    box: tuple[Variable, ...]

    def goal(self, expression: sympy.Expr, weight: sympy.Symbol) -> Goal:
        """Return the goal that an expression is ≥ 0 on the piece."""
        return Goal(expand(put_in(expression, {weight: self.way})), self.box)


@dataclass(frozen=True, slots=True)
class Pieces:
    """ε on the pieces of [1, ∞) between ``cuts``, which may move with the record; whether they meet smoothly is the kernel's to say.

    Without cuts there is one piece, all of [1, ∞), where ε is one expression that may be smooth for w > 1 only.
    """

    cuts: tuple[sympy.Expr, ...]
    pieces: tuple[SmoothPiece, ...]

    def fields(self) -> Tree:
        """Return the field of a proof that names the cuts."""
        return {"cuts": [to_text(from_sympy(cut)) for cut in self.cuts]}


class PiecesApart(Exception):
    """The kernel does not accept that pieces meet smoothly, so that nothing is to be proved of them."""


def are_apart(report: Report) -> bool:
    """Tell whether a claim about pieces was rejected because of their cuts: whatever is claimed of the pieces is, then."""
    return (report.step or "").endswith(".proof.cuts")


def find_pieces(context: Context) -> Pieces | None:
    """Return the pieces between the borders, None where branches are left open then."""
    cuts = tuple(moving_borders(context.epsilon, context.records, context.weight))
    if not cuts:
        fixed = (border for border in borders(context.epsilon, (), context.weight) if border.exact)
        cuts = tuple(to_rational(cut) for cut in sorted({border.weight for border in fixed}))
    if len(cuts) > MAX_CUTS or (not cuts and not context.smooth):
        return None
    pieces = [_piece(context, lo, hi) for lo, hi in zip((sympy.S.One, *cuts), (*cuts, None), strict=True)]
    return Pieces(cuts, tuple(piece for piece in pieces if piece is not None)) if None not in pieces else None


def _piece(context: Context, lo: sympy.Expr, hi: sympy.Expr | None) -> SmoothPiece | None:
    """Return the piece in the way that the kernel takes: the first in which it is smooth, up to the ends or, if need be, inside only."""
    position = sympy.Symbol(WEIGHT, nonnegative=True)
    ways = [lo + position] if hi is None else [lo + (hi - lo) * position, hi - (hi - lo) * position]
    boxes = [(*context.records, Variable(WEIGHT, Fraction(0), None if hi is None else Fraction(1), is_open)) for is_open in (False, True)]
    epsilon, smooth = resolve_along(context.epsilon, boxes[0], context.weight, ways)
    if not smooth:
        return None
    bases = [
        power.base
        for power in epsilon.atoms(sympy.Pow)
        if power.exp.is_Rational and not power.exp.is_Integer and context.weight in power.base.free_symbols
    ]
    for box in boxes:
        for way in ways:
            if all(prove(Goal(expand(put_in(base, {context.weight: way})), box, strict=True), 1) is not None for base in bases):
                return SmoothPiece(epsilon, lo, hi, way, box)
    return None


def undecided(condition: str) -> Decision:
    """Return the unknown verdict for branches that nothing here could deal with."""
    reason = "epsilon has branches in w that no rule resolves, no kink was confirmed, and no violation was found beside the borders"
    return Decision(condition, Verdict.UNKNOWN, "none", reason=reason)
