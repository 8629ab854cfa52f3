"""The infimum of (e^ε)″ over records and weights, enclosed: what μ can be at most, and a number just below that the kernel accepts.

Statement: upper is a value of (e^ε)″, rounded up, so no strong convexity constant is above it. Lower = upper·(1 − 5·10⁻⁷), rounded down, is
one: (e^ε)″ ≥ lower up to some weight by subdivision in centred interval arithmetic, whose boxes may grow with the distance to the minimum,
and beyond because (e^ε)″ rises there, or as it stands. Only the kernel decides about lower; upper is a value in ball arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import sympy

from profiles.balls import ball, upper_fraction, working_precision
from profiles.errors import InvalidExpression
from profiles.numbers import decimal_below, exact_text
from profiles.symbolic import TableFunction, from_sympy, to_rational
from profiles.terms import Term
from profiles.variables import WEIGHT, Variable
from proofs_check.conditions.branches import Pieces, SmoothPiece, are_apart, find_pieces
from proofs_check.conditions.context import Context
from proofs_check.enclosures import Enclosure
from proofs_check.prover import trees
from proofs_check.prover.algebra import cancelled, derivative, expand, gather_powers, numerator_and_denominator, put_in
from proofs_check.prover.effort import one_way, within
from proofs_check.prover.goals import Goal
from proofs_check.prover.oracle import accepts
from proofs_check.prover.search import prove
from proofs_check.results import Tree

#: Lower numbers that are tried, as shares of the upper one: the first is within the gap of 1e-6, the others are better than nothing.
SHARES = tuple(1 - Fraction(k, 10**7) for k in (5, 10**4, 10**6))
#: Where any lower number will do: few boxes show this one, and the kernel goes through them several times.
ANY = SHARES[-1:]
#: Weights up to which (e^ε)″ is looked at piece by piece, and from which on it has to be shown in another way.
CUTS = (Fraction(8), Fraction(64), Fraction(2), Fraction(1024))
#: Search effort for the part beyond one such weight.
SLICE = 0.7
_BITS = 96
_GOLDEN = (math.sqrt(5) - 1) / 2
_TAIL = (32, 100, 1_000, 10**4, 10**6, 10**8, 10**10)
_BOXES, _FLAT = 3_000, 100  # beside a weight, and beyond it
_ROUGH = (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise, sympy.floor, sympy.ceiling, TableFunction)
_MOST_OPERATIONS = 400  # of a rational function that is cancelled


@dataclass(frozen=True, slots=True)
class TightFloor:
    """lower ≤ inf (e^ε)″ ≤ upper; ``proof`` is the kernel's for the lower one (its claim is ``strong-convexity``)."""

    lower: Fraction
    upper: Fraction
    proof: Tree


def _value_near_infimum(term: Term, box: Sequence[Variable]) -> Fraction | None:
    """Return a value of a term, rounded up, near the infimum over a box (ranges without end: in w only)."""
    enclosure = Enclosure(term)
    names = [variable.name for variable in box]
    with working_precision(_BITS):

        def at(point: Mapping[str, float]) -> float:
            value = enclosure.evaluate({name: ball(_short(point[name], limits[name])) for name in names})
            return float(value.upper()) if value.is_finite() else math.inf

        limits = {variable.name: variable for variable in box}
        axes = [_axis(variable, 48 if len(box) == 1 else 12 if len(box) == 2 else 5) for variable in box]
        points = [dict(zip(names, values, strict=True)) for values in itertools.product(*axes)]
        ranked = sorted(((at(point), index) for index, point in enumerate(points)))[:4]
        best: tuple[float, dict[str, float]] = (math.inf, {})
        for _, index in ranked:
            best = min(best, _descend(at, points[index], box, axes), key=lambda found: found[0])
        if not math.isfinite(best[0]):
            return None
        return upper_fraction(enclosure.evaluate({name: ball(_short(best[1][name], limits[name])) for name in names}))


def _axis(variable: Variable, count: int) -> list[float]:
    lo = float(variable.lo)
    if variable.hi is None:
        step = max(1, 160 // count)
        return sorted({lo, *(lo + (10 ** (k / 40) - 1) / 4 for k in range(0, 160, step)), *(lo + far for far in _TAIL)})
    hi = float(variable.hi)
    return [lo + (hi - lo) * k / count for k in range(count + 1)] if lo < hi else [lo]


def _short(value: float, variable: Variable) -> Fraction:
    """Return a short exact number near a float, inside the range; its ends exactly."""
    near = Fraction(f"{value:.9g}")
    return max(variable.lo, near) if variable.hi is None else min(variable.hi, max(variable.lo, near))


def _descend(
    at: Callable[[Mapping[str, float]], float], start: Mapping[str, float], box: Sequence[Variable], axes: Sequence[Sequence[float]]
) -> tuple[float, dict[str, float]]:
    """Return a smaller value and its point by golden sections along one variable after the other."""
    point, value = dict(start), at(start)
    for _ in range(1 if len(box) == 1 else 3):
        for variable, axis in zip(box, axes, strict=True):
            index = min(range(len(axis)), key=lambda k: abs(axis[k] - point[variable.name]))
            lo, hi = axis[max(index - 1, 0)], axis[min(index + 1, len(axis) - 1)]
            for _ in range(34 if len(box) == 1 else 20):
                left, right = hi - _GOLDEN * (hi - lo), lo + _GOLDEN * (hi - lo)
                if at({**point, variable.name: left}) <= at({**point, variable.name: right}):
                    hi = right
                else:
                    lo = left
            for end in (lo, hi, (lo + hi) / 2):
                value_there = at({**point, variable.name: end})
                if value_there < value:
                    point, value = {**point, variable.name: end}, value_there
    return value, point


def enclose_infimum(
    context: Context, seconds: float, proved: tuple[Fraction, Tree] | None = None, *, shares: Sequence[Fraction] = SHARES
) -> TightFloor | None:
    """Enclose inf (e^ε)″ over all records and weights within some effort; None where it is not positive or was not bounded from below.

    All ranges but that of w must be finite. ``proved``: a number that is proved to be below, and its proof, returned if it is near.
    ``shares``: of the upper number, what the lower one may be, in the order in which they are tried.
    """
    if not context.bounded:
        return None
    whole = SmoothPiece(context.epsilon, sympy.S.One, None, context.weight, context.domain)
    pieces = Pieces((), (whole,)) if context.smooth_from_one else find_pieces(context)
    return None if pieces is None else one_way(seconds, partial(_enclose, context, pieces, proved, shares))


def _enclose(context: Context, pieces: Pieces, proved: tuple[Fraction, Tree] | None, shares: Sequence[Fraction]) -> TightFloor | None:
    bent = [_along(context, piece) for piece in pieces.pieces]
    try:
        values = [_value_near_infimum(from_sympy(expression), box) for expression, _, box in bent]
    except InvalidExpression:
        return None
    known = [value for value in values if value is not None]
    if len(known) != len(bent) or not 1e-300 < min(known) < 1e300:
        return None
    upper = min(known)
    if proved is not None and decimal_below(upper * SHARES[0], 9) <= proved[0] <= upper:
        return TightFloor(proved[0], upper, proved[1])
    if proved is not None and shares and _is_of_bent(proved[1]):  # the same proof, of which only the boxes become more
        lower = decimal_below(upper * shares[0], 9)
        again: Tree = {**proved[1], "floor": exact_text(lower)}
        if context.forms.admit().proves([context.claim("strong-convexity", "proved", again)], target=context.target):
            return TightFloor(lower, upper, again)
    for share in shares:
        lower = decimal_below(upper * share, 9)
        proofs = [tree for piece in bent if (tree := next(_trees(context, *piece, lower), None)) is not None]
        if len(proofs) < len(bent):
            continue
        goals = [Goal(expression - to_rational(lower), box) for expression, _, box in bent]
        for chosen in (proofs, [trees.restated(goal, tree) for goal, tree in zip(goals, proofs, strict=True)]):
            curvature = chosen[0] if context.smooth_from_one else chosen
            proof: Tree = {"floor": exact_text(lower), "positive": trees.MANIFEST, "form": "exp", "curvature": curvature}
            proof |= {} if context.smooth_from_one else pieces.fields()
            report = context.forms.admit().report([context.claim("strong-convexity", "proved", proof)], target=context.target)
            if report.accepted:
                return TightFloor(lower, upper, proof)
            if are_apart(report):
                return None
    return None


def _is_of_bent(proof: Tree) -> bool:
    """Tell whether a proof is of a number below (e^ε)″, as those that are made here are."""
    return bool(proof["form"] == "exp" and proof["positive"] == trees.MANIFEST)


def _along(context: Context, piece: SmoothPiece) -> tuple[sympy.Expr, sympy.Expr, tuple[Variable, ...]]:
    """Return (e^ε)″ and ε on a piece, with the way of the weight through it in place of w, and its box."""
    second = _second_derivative(context, piece.epsilon)
    if piece.way == context.weight:
        return second, piece.epsilon, piece.box
    return put_in(second, {context.weight: piece.way}), put_in(piece.epsilon, {context.weight: piece.way}), piece.box


def _second_derivative(context: Context, epsilon: sympy.Expr) -> sympy.Expr:
    """Return (e^ε)″ in the shorter of two forms: K·e^ε, or differentiated as it stands, which is shorter where ε is a logarithm."""
    whole = gather_powers(sympy.exp(epsilon))
    forms = [context.curvature_of(epsilon) * sympy.exp(epsilon), expand(derivative(derivative(whole, context.weight), context.weight))]
    return min(forms, key=lambda form: int(sympy.count_ops(form)))


def _trees(context: Context, bent: sympy.Expr, epsilon: sympy.Expr, box: tuple[Variable, ...], lower: Fraction) -> Iterator[Tree]:
    """Yield proofs of (e^ε)″ − lower ≥ 0 on a box of records and weights."""
    expression = bent - to_rational(lower)
    weights = next(variable for variable in box if variable.name == WEIGHT)
    if weights.hi is not None:
        yield from _by_boxes(Goal(expression, box))
        return
    weight = _symbol(bent, context)
    rate = expand(derivative(bent, weight) * sympy.exp(-epsilon))
    if accepts(Goal(expression, box), trees.MANIFEST):
        yield trees.MANIFEST
    for cut in (*(cut for cut in CUTS if cut > weights.lo), weights.lo):
        beyond = _with_weights(box, cut, None)
        below = None if cut == weights.lo else next(_by_boxes(Goal(expression, _with_weights(box, weights.lo, cut))), None)
        if below is None and cut != weights.lo:
            continue
        for above in _beyond(context, rate, expression, epsilon, beyond, cut):
            yield above if below is None else trees.split(WEIGHT, cut, below, above)


def _symbol(expression: sympy.Expr, context: Context) -> sympy.Symbol:
    """Return the symbol of the weight in an expression: that of the context, or the one that runs through a piece."""
    return next((symbol for symbol in sorted(expression.free_symbols, key=str) if symbol.name == WEIGHT), context.weight)


def _with_weights(box: tuple[Variable, ...], lo: Fraction, hi: Fraction | None) -> tuple[Variable, ...]:
    """Return the box with the weights from ``lo`` to ``hi``, and without ``lo`` where that is the end of a range that excludes it."""
    return tuple(
        Variable(WEIGHT, lo, hi, variable.open_below and lo == variable.lo) if variable.name == WEIGHT else variable for variable in box
    )


def _by_boxes(goal: Goal) -> Iterator[Tree]:
    """Yield a subdivision, centred but where there is no derivative."""
    tree = trees.boxes(_BOXES, centred=not goal.expression.has(*_ROUGH))
    if accepts(goal, tree):
        yield tree


def _beyond(
    context: Context, rate: sympy.Expr, expression: sympy.Expr, epsilon: sympy.Expr, box: tuple[Variable, ...], cut: Fraction
) -> Iterator[Tree]:
    """Yield proofs beyond a weight: K ≥ lower·exp(−ε) by subdivision up to infinity, (e^ε)″ rises, or it is shown as it stands."""
    factor = sympy.exp(-epsilon)
    flat = trees.scale(factor, trees.boxes(_FLAT))
    if accepts(Goal(expression, box), flat):
        yield flat
    factor, rate = _without_denominator(factor, rate, context)
    rising = within(SLICE, lambda: prove(Goal(rate, box), 3))
    if rising is not None:
        end = prove(Goal(put_in(expression, {_symbol(expression, context): to_rational(cut)}), tuple(v for v in box if v.name != WEIGHT)))
        if end is not None:
            yield trees.monotone(WEIGHT, trees.scale(factor, rising), end, increasing=True)
    direct = within(SLICE, lambda: prove(Goal(expression, box), 2))
    if direct is not None:
        yield direct


def _without_denominator(factor: sympy.Expr, rate: sympy.Expr, context: Context) -> tuple[sympy.Expr, sympy.Expr]:
    """Return factor and goal for a rate that is a rational function of the weight alone multiplied by a denominator that is > 0."""
    weight = _symbol(rate, context)
    if rate.free_symbols != {weight} or not rate.is_rational_function(weight) or sympy.count_ops(rate) > _MOST_OPERATIONS:
        return factor, rate
    above, below = numerator_and_denominator(cancelled(rate) or rate)
    if not (weight.is_positive or weight.is_nonnegative) or expand(put_in(below, {weight: weight + 1})).is_positive is not True:
        return factor, rate
    return below * factor, expand(above)
