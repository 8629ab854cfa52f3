"""Certified suprema of log density ratios, which are ε of continuous mechanisms with one-dimensional outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, arb_series

from profiles.balls import ball, interval, lower_fraction, upper_fraction, working_precision
from profiles.numbers import round_down, round_up
from proofs_check.branch_and_bound import Box, PendingBox, enclose_supremum
from proofs_check.exact.densities import Density, LogQuadratic
from proofs_check.exact.enclosed import Bounds, Enclosed, enclose_ball, log_ratio
from proofs_check.exact.lines import as_ball
from proofs_check.exact.tables import DirectionEpsilon, ExactEpsilon

_BITS = 128
_MOST_BOXES = 8_000
_TOLERANCE = Fraction(1, 2**40)
#: A box narrower than this part of its range is given up: its upper bound stays as it is.
_NARROWEST = Fraction(1, 2**80)
_Y = "y"


@dataclass(frozen=True, slots=True)
class _Found:
    """Bounds of a supremum, and a point that proves the lower one (None: a limit at infinity, or none)."""

    bounds: Bounds
    point: Fraction | None


def epsilon_of_densities(p: Density, q: Density) -> ExactEpsilon:
    """Return bounds of ε = sup over events S of log P(S)/Q(S), and of the same with P and Q exchanged; ``p`` is the larger data set's.

    Formula: the larger one of the supremum of log(p(y)/q(y)) over the interiors of the pieces where p > 0, and of log(P{y}/Q{y}) over
    the atoms of P. *Proof.* P(S) ≤ e^ε Q(S) for all S if and only if it holds for atoms, and p ≤ e^ε q almost everywhere; both are
    continuous on each common piece, where "almost everywhere" and "everywhere" are the same. ∎

    How: where both densities are :class:`LogQuadratic`, the log ratio is a quadratic polynomial with exact coefficients, and its supremum
    is at an end or at the vertex, exactly, on rays too. Elsewhere, branch and bound in ball arithmetic with mean-value forms. On a ray
    without that form no bound is known, and the upper end is ∞; so it is where both densities vanish at one point, such as an end of a
    piece. The lower end is the log ratio at one point, or ∞ where p > 0 = q at a point of a piece. Both ends are at least 0, as ε is.
    ``event`` names the point. Raises nothing for densities that were accepted.

    >>> from proofs_check.exact.densities import laplace
    >>> epsilon_of_densities(laplace(2), laplace(2, 1)).symmetric
    Bounds(lower=0.5, upper=0.5)
    """
    return ExactEpsilon(_direct(p, q), _direct(q, p), Fraction(0))


def _direct(p: Density, q: Density) -> DirectionEpsilon:
    with working_precision(_BITS):
        suprema = [*_over_cells(p, q), *_over_atoms(p, q)]
    lower = max((each.bounds.lower for each in suprema), default=0.0)
    upper = max((each.bounds.upper for each in suprema), default=0.0)
    point = next((each.point for each in suprema if each.bounds.lower == lower and each.point is not None), None)
    return DirectionEpsilon(Bounds(max(lower, 0.0), max(upper, 0.0)), None, () if point is None or lower <= 0 else (point,))


def _over_atoms(p: Density, q: Density) -> Iterator[_Found]:
    for point, mass in p.atoms.items():
        yield _Found(log_ratio(mass, q.atoms.get(point, Enclosed(Fraction(0), Fraction(0)))), point)


def _over_cells(p: Density, q: Density) -> Iterator[_Found]:
    cuts = {end for law in (p, q) for piece in law.pieces for end in (piece.low, piece.high) if end is not None}
    for low, high in pairwise([None, *sorted(cuts), None]):
        top, bottom = _density_on(p, low, high), _density_on(q, low, high)
        if top is None:
            continue
        inside = _sample(low, high)
        if bottom is None:
            positive = bool(as_ball(top(ball(inside))) > 0)
            yield _Found(Bounds(math.inf if positive else -math.inf, math.inf), inside if positive else None)
        elif isinstance(top, LogQuadratic) and isinstance(bottom, LogQuadratic):
            yield _exact_supremum(top, bottom, low, high)
        elif low is None or high is None:
            yield _at(top, bottom, inside)
        else:
            yield _search(top, bottom, low, high)


def _density_on(law: Density, low: Fraction | None, high: Fraction | None) -> Any:
    inside = _sample(low, high)
    for piece in law.pieces:
        if (piece.low is None or piece.low < inside) and (piece.high is None or inside < piece.high):
            return piece.density
    return None


def _sample(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _at(top: Any, bottom: Any, point: Fraction) -> _Found:
    value = _log(top, ball(point)) - _log(bottom, ball(point))
    lower = round_down(enclose_ball(value).lower) if value.is_finite() else -math.inf
    return _Found(Bounds(lower, math.inf), point)


def _exact_supremum(top: LogQuadratic, bottom: LogQuadratic, low: Fraction | None, high: Fraction | None) -> _Found:
    """Return the supremum of c + l·y + m·y² plus the log of the quotient of the weights, on (low, high)."""
    constant, linear = top.constant - bottom.constant, top.linear - bottom.linear
    square = top.quadratic - bottom.quadratic

    def value(y: Fraction) -> Fraction:
        return constant + y * (linear + y * square)

    candidates = [end for end in (low, high) if end is not None]
    if square < 0:
        vertex = -linear / (2 * square)
        if (low is None or low < vertex) and (high is None or vertex < high):
            candidates.append(vertex)
    zero = (Fraction(0), Fraction(0))
    rises = (high is None and (square, linear) > zero) or (low is None and (square, -linear) > zero)
    if rises:
        return _Found(Bounds(math.inf, math.inf), None)
    best = max(candidates or [Fraction(0)], key=value)
    if top.weight == bottom.weight and top.normal == bottom.normal:
        return _Found(Bounds(round_down(value(best)), round_up(value(best))), best)
    enclosed = enclose_ball(ball(value(best)) + _log_weight(top) - _log_weight(bottom))
    return _Found(enclosed.bounds(), best)


def _log_weight(law: LogQuadratic) -> arb:
    weight = ball(law.weight).log()
    return weight - (2 * arb.pi()).log() / 2 if law.normal else weight


def _log(density: Any, y: Any) -> Any:
    if isinstance(density, LogQuadratic):
        return _log_weight(density) + ball(density.constant) + y * (ball(density.linear) + y * ball(density.quadratic))
    return as_ball(density(y)).log()


class _LogRatio:
    """log(top/bottom) on a finite piece, a function of y for branch and bound."""

    __slots__ = ("bottom", "narrowest", "top")

    def __init__(self, top: Any, bottom: Any, narrowest: Fraction) -> None:
        self.top, self.bottom, self.narrowest = top, bottom, narrowest

    def at(self, point: Mapping[str, Fraction]) -> arb:
        return self._at(ball(point[_Y]))

    def _at(self, y: arb) -> arb:
        return as_ball(_log(self.top, y) - _log(self.bottom, y))

    def above(self, box: Box) -> PendingBox:
        """Return a box with the smaller one of the natural and the mean-value form; a narrow one is not divided."""
        low, high = box[_Y]
        whole, middle = interval(low, high), ball((low + high) / 2)
        natural = self._natural(whole)
        series = arb_series([whole, arb(1)], prec=2)
        slopes = _log(self.top, series) - _log(self.bottom, series)
        centred = self._at(middle) + _slope(slopes) * (whole - middle)
        value = centred if centred.is_finite() and not centred.upper() > natural.upper() else natural
        return PendingBox(box, _Y if high - low >= self.narrowest else "", value)

    def _natural(self, box: arb) -> arb:
        numerator, denominator = as_ball(self.top(box)).upper(), as_ball(self.bottom(box)).lower()
        if numerator <= 0:
            return arb("-inf")
        return numerator.log() - denominator.log() if denominator > 0 and numerator.is_finite() else arb("inf")


def _search(top: Any, bottom: Any, low: Fraction, high: Fraction) -> _Found:
    """Bound the supremum of log(top/bottom) on a finite piece by branch and bound."""
    ratio = _LogRatio(top, bottom, (high - low) * _NARROWEST)
    supremum = enclose_supremum(ratio, {_Y: (low, high)}, _TOLERANCE, _MOST_BOXES, least=Fraction(1))
    lower, upper = lower_fraction(supremum.lower), upper_fraction(supremum.upper)
    least = -math.inf if lower is None else round_down(lower)
    return _Found(Bounds(least, max(least, math.inf if upper is None else round_up(upper))), supremum.at[_Y])


def _slope(series: Any) -> arb:
    coefficients = series.coeffs() if isinstance(series, arb_series) else []
    return coefficients[1] if len(coefficients) > 1 else arb(0)
