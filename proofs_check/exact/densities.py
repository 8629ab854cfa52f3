"""Laws on the line: piecewise analytic densities with atoms, and certified probabilities of unions of intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import acb, arb

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument
from profiles.numbers import ExactLike, to_exact, to_number
from proofs_check.exact.enclosed import Enclosed, enclose_ball
from proofs_check.exact.lines import Line, Stretch, as_ball, to_fmpq
from proofs_check.exact.quadrature import RELATIVE, Integrand, Tail, integrate

_ZERO = Fraction(0)
_CHECK = Fraction(1, 2**30)
_ATOM_BITS = 192


@dataclass(frozen=True, slots=True)
class LogQuadratic:
    """y ↦ weight · e^(constant + linear·y + quadratic·y²), divided by √(2π) where ``normal``; all coefficients exact, weight > 0.

    Log ratios of two of them are quadratic polynomials with exact coefficients, so that their suprema are exact, on rays too.
    """

    weight: Fraction
    constant: Fraction = _ZERO
    linear: Fraction = _ZERO
    quadratic: Fraction = _ZERO
    normal: bool = False
    _centre: Fraction = field(init=False, repr=False, compare=False)
    _level: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weight <= 0:
            raise InvalidArgument("the weight of a density must be positive, but it is not; leave the piece out where it is 0")
        centre = -self.linear / (2 * self.quadratic) if self.quadratic else -self.constant / self.linear if self.linear else _ZERO
        object.__setattr__(self, "_centre", centre)
        object.__setattr__(self, "_level", self.constant + centre * (self.linear + centre * self.quadratic))

    def __call__(self, y: Any) -> Any:
        """Return the ball of values on a ball (real, complex or a power series)."""
        moved = y - ball(self._centre)  # so that the ball of y enters once, far from 0 too
        exponent = moved * moved * ball(self.quadratic) if self.quadratic else moved * ball(self.linear)
        grown = (exponent + ball(self._level)).exp() * ball(self.weight)
        return grown / (2 * arb.pi()).sqrt() if self.normal else grown

    def bound_tail(self, t: Fraction, *, rightward: bool) -> arb:
        """Return a bound of the integral over y ≥ t (``rightward``) or y ≤ t, which is infinite where none is known.

        With E the exponent and s = E′(t) pointing down (s < 0 rightward), E is concave if quadratic ≤ 0, hence E(y) ≤ E(t) + s (y − t), and
        the integral is at most density(t)/|s|, with equality for quadratic = 0.
        """
        slope = self.linear + 2 * self.quadratic * t
        if self.quadratic > 0 or (slope >= 0 if rightward else slope <= 0):
            return arb.pos_inf()
        return self(ball(t)) / ball(abs(slope))


@dataclass(frozen=True, slots=True)
class Piece:
    """A density on low ≤ y ≤ high (None: no end on that side).

    ``density`` is a :class:`LogQuadratic`, or any function that takes real and complex balls and power series of flint, is
    meromorphic near the piece, has no branch cuts, and is ≥ 0 on it. ``tail(t)`` bounds its mass beyond t on a piece without an end; a
    LogQuadratic brings its own.
    """

    low: Fraction | None
    high: Fraction | None
    density: Callable[[Any], Any]
    tail: Tail | None = None

    def __post_init__(self) -> None:
        if not all(end is None or isinstance(end, Fraction) for end in (self.low, self.high)):
            raise InvalidArgument("an end of a piece must be a Fraction, or None for infinity, but something else was found; convert it")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InvalidArgument("a piece of a density must have a lower end below its upper end, but it has not; correct it")
        ends = (self.low is not None) + (self.high is not None)
        if not isinstance(self.density, LogQuadratic) and (ends == 0 or (ends == 1 and self.tail is None)):
            raise InvalidArgument(
                "a piece without an end on one side needs a bound of its tail; give tail, and cut one without ends in two"
            )


@dataclass(frozen=True, slots=True)
class Density:
    """A probability law on the line: pieces in increasing order, zero between them, and atoms (point → mass).

    That the total mass may be 1 is checked (its enclosure contains 1); that densities are not negative is the declaration's claim.
    Raises :class:`InvalidArgument` for pieces out of order, missing tails, negative atoms and another total.
    """

    pieces: tuple[Piece, ...]
    atoms: Mapping[Fraction, Enclosed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for left, right in pairwise(self.pieces):
            if left.high is None or right.low is None or left.high > right.low:
                raise InvalidArgument("the pieces of a density must be in increasing order and not overlap; sort or cut them")
        for point, mass in self.atoms.items():
            if not isinstance(point, Fraction) or not isinstance(mass, Enclosed) or mass.lower < 0:
                raise InvalidArgument(
                    "an atom needs a Fraction and an Enclosed mass of at least 0, but something else was found; convert it"
                )
        total = _add_up([*self.atoms.values(), *(_mass(piece, piece.low, piece.high, _CHECK) for piece in self.pieces)])
        if not total.lower <= 1 <= total.upper:
            shown = f"[{float(total.lower):.9g}, {float(total.upper):.9g}]"
            raise InvalidArgument(f"the mass of a law must be 1, but it lies in {shown}; correct a normalising constant or the pieces")

    def at(self, y: Line) -> Any:
        """Return the density at a line, for use in integrands; ends of pieces become kinks."""
        for piece in self.pieces:
            if piece.low is not None and (y - piece.low).is_negative():
                return acb(0)
            if piece.high is None or (y - piece.high).is_negative():
                return as_ball(piece.density(y.value))
        return acb(0)


def _add_up(parts: Sequence[Enclosed]) -> Enclosed:
    return Enclosed(sum((part.lower for part in parts), _ZERO), sum((part.upper for part in parts), _ZERO))


def _tail_of(piece: Piece, factor: arb, *, rightward: bool) -> Tail | None:
    """Return the piece's bound of ∫ factor·density beyond a point, None where that side has an end."""
    law = piece.density
    if (piece.high if rightward else piece.low) is not None:
        return None
    if isinstance(law, LogQuadratic):
        return lambda t: law.bound_tail(t, rightward=rightward) * factor
    given = piece.tail
    return None if given is None else lambda t: given(t) * factor


def _over(
    piece: Piece, low: Fraction | None, high: Fraction | None, relative: ExactLike, integrand: Integrand, bound: Fraction
) -> Enclosed:
    """Return ∫ density·integrand over a part of a piece, where |integrand| ≤ bound."""
    factor = ball(bound)
    return integrate(
        lambda y: as_ball(piece.density(y.value)) * as_ball(integrand(y)),
        -math.inf if low is None else low,
        math.inf if high is None else high,
        left_tail=_tail_of(piece, factor, rightward=False),
        right_tail=_tail_of(piece, factor, rightward=True),
        relative=relative,
    )


def _mass(piece: Piece, low: Fraction | None, high: Fraction | None, relative: ExactLike) -> Enclosed:
    return _over(piece, low, high, relative, lambda _: 1, Fraction(1))


def laplace(scale: ExactLike, shift: ExactLike = 0) -> Density:
    """Return Laplace(shift, b): density e^(−|y − shift|/b)/(2b), b = ``scale`` > 0 exact. Raises :class:`InvalidArgument`."""
    b, s = _read_scale(scale), to_exact(shift, "the shift")
    weight = 1 / (2 * b)
    left = Piece(None, s, LogQuadratic(weight, -s / b, 1 / b))
    return Density((left, Piece(s, None, LogQuadratic(weight, s / b, -1 / b))))


def exponential(scale: ExactLike, shift: ExactLike = 0) -> Density:
    """Return shift + Exponential of mean b: density e^(−(y − shift)/b)/b for y ≥ shift. Raises :class:`InvalidArgument`."""
    b, s = _read_scale(scale), to_exact(shift, "the shift")
    return Density((Piece(s, None, LogQuadratic(1 / b, s / b, -1 / b)),))


def gaussian(sigma: ExactLike, shift: ExactLike = 0) -> Density:
    """Return N(shift, σ²): density e^(−(y − shift)²/(2σ²))/(σ√(2π)), σ > 0 exact. Raises :class:`InvalidArgument`."""
    deviation, s = _read_scale(sigma), to_exact(shift, "the shift")
    v = deviation * deviation
    law = LogQuadratic(1 / deviation, -s * s / (2 * v), s / v, -1 / (2 * v), normal=True)
    return Density((Piece(None, s, law), Piece(s, None, law)))  # cut where the density is largest: tails start there


def _read_scale(scale: ExactLike) -> Fraction:
    return to_number(scale, "the scale of a law", "(0, inf)", "give a positive one")


def clamp(density: Density, low: ExactLike, high: ExactLike) -> Density:
    """Return the law of min(max(Y, low), high): what lies outside becomes atoms at the ends. Raises :class:`InvalidArgument`."""
    start, end = to_exact(low, "the lower end"), to_exact(high, "the upper end")
    if not start < end:
        raise InvalidArgument("clamping needs a lower end below the upper end, but it is not; exchange them")
    fine = Fraction(1, 2**_ATOM_BITS)
    atoms = {point: mass for point, mass in density.atoms.items() if start < point < end}
    atoms[start] = probability(density, [(-math.inf, start)], relative=fine)
    atoms[end] = probability(density, [(end, math.inf)], relative=fine)
    kept = []
    for piece in density.pieces:
        lower = start if piece.low is None else max(piece.low, start)
        upper = end if piece.high is None else min(piece.high, end)
        if lower < upper:
            kept.append(Piece(lower, upper, piece.density))
    return Density(tuple(kept), {point: mass for point, mass in atoms.items() if mass.upper > 0})


def probability(density: Density, event: Iterable[tuple[ExactLike, ExactLike]], *, relative: ExactLike = RELATIVE) -> Enclosed:
    """Return an enclosure of P(Y ∈ event), of relative width at most ``relative``.

    ``event`` lists closed intervals (low, high), whose union is taken; ends may be ``±math.inf``.
    Raises :class:`InvalidArgument` for unusable intervals, :class:`Undecided` where the width is not reached.

    >>> round(probability(laplace(1), [(-1, 1)]).bounds().upper, 13)     # 1 − 1/e
    0.6321205588286
    """
    parts: list[Enclosed] = []
    intervals = _read_event(event)
    for low, high in intervals:
        for piece in density.pieces:
            start = low if piece.low is None else piece.low if low is None else max(low, piece.low)
            end = high if piece.high is None else piece.high if high is None else min(high, piece.high)
            if start is None or end is None or start < end:
                parts.append(_mass(piece, start, end, relative))
    for point, mass in density.atoms.items():
        if any((low is None or low <= point) and (high is None or point <= high) for low, high in intervals):
            parts.append(mass)
    return _add_up(parts).within(_ZERO, Fraction(1))


def _read_event(event: Iterable[tuple[ExactLike, ExactLike]]) -> list[tuple[Fraction | None, Fraction | None]]:
    """Return the union as disjoint intervals in increasing order, None for an infinite end."""
    read: list[tuple[Fraction | None, Fraction | None]] = []
    for low, high in event:
        start = None if isinstance(low, float) and low == -math.inf else to_exact(low, "the lower end of an interval")
        end = None if isinstance(high, float) and high == math.inf else to_exact(high, "the upper end of an interval")
        if start is not None and end is not None and start > end:
            raise InvalidArgument("the lower end of an interval must not exceed the upper one, but it does; exchange them")
        read.append((start, end))
    merged: list[tuple[Fraction | None, Fraction | None]] = []
    for start, end in sorted(read, key=lambda ends: (ends[0] is not None, ends[0] or _ZERO)):
        if merged:
            before, last = merged[-1]
            if last is None or start is None or start <= last:
                merged[-1] = (before, None if last is None or end is None else max(last, end))
                continue
        merged.append((start, end))
    return merged


def expectation(density: Density, integrand: Integrand, *, bound: ExactLike = 1, relative: ExactLike = RELATIVE) -> Enclosed:
    """Return an enclosure of E[g(Y)] for Y of law ``density`` and a piecewise analytic g with |g| ≤ ``bound`` on the whole line.

    ``integrand`` is written in a :class:`Line`, as for :func:`integrate`; that ``bound`` holds is the caller's claim (1 for conditional
    probabilities). The relative width is reached for g ≥ 0. Raises :class:`InvalidArgument`, :class:`Undecided`.
    """
    most = to_exact(bound, "the bound of the integrand")
    if most < 0:
        raise InvalidArgument("the bound of an integrand must be at least 0, but a negative one was found; give a bound of |g|")
    parts = [_over(piece, piece.low, piece.high, relative, integrand, most) for piece in density.pieces]
    with working_precision(_ATOM_BITS):
        for point, mass in density.atoms.items():
            here = integrand(Line(Stretch(to_fmpq(point), to_fmpq(point)), to_fmpq(1), to_fmpq(0)))
            value = enclose_ball(acb(as_ball(here)).real)
            corners = [value.lower * mass.lower, value.lower * mass.upper, value.upper * mass.lower, value.upper * mass.upper]
            parts.append(Enclosed(min(corners), max(corners)))
    return _add_up(parts)


def expectation_over_laplace(
    scale: ExactLike, integrand: Integrand, *, location: ExactLike = 0, bound: ExactLike = 1, relative: ExactLike = RELATIVE
) -> Enclosed:
    """Return an enclosure of E[g(R)] for R ~ Laplace(location, scale); see :func:`expectation`.

    Report noisy max of answers 0 and 1 with Laplace(1) noise says "the first" with the probability ∫ f(r) F(r − 1) dr = (3/4)/e:

    >>> from proofs_check.exact.lines import laplace_cdf
    >>> found = expectation_over_laplace(1, lambda r: laplace_cdf(r - 1)).bounds()
    >>> found.lower <= 0.75 / math.e <= found.upper, round(found.upper, 13)
    (True, 0.2759095808786)
    """
    return expectation(laplace(scale, location), integrand, bound=bound, relative=relative)
