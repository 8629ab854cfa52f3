"""δ of a composition from its moments: an integral over a vertical line of the complex plane, by the trapezoid rule, in balls.

For x > 0, (1 − e^{−x})⁺ = (1/2πi) ∫ e^{zx}/(z (z + 1)) dz over Re z = c > 0, and for x ≤ 0 the integral is 0. So with M(z) = Π A(1 + z)^T
where the record goes, Π A(−z)^T where it comes, over the events with their counts,

δ(ε) = (1/2π) ∫ F(c + it) dt, F(z) = e^{−zε} M(z)/(z (z + 1)).

*Step.* By Poisson's formula, (h/2π) Σ_k F(c + ikh) = Σ_n e^{2πcn/h} δ(ε + 2πn/h), of which n = 0 is wanted. All others are positive. For
n < 0, δ ≤ 1; for n > 0, δ(y) ≤ M(c') e^{−c'y}/(1 + c') for each c' > c, as (1 − e^{−x})⁺ e^{−c'x} ≤ 1/(1 + c').
*Ends.* |F(c + it)| ≤ e^{−cε} Π B(t)^T/t² with the bounds B of the moments, which fall; so what is beyond t is at most
e^{−cε} Π B(t)^T/(πt).

c lies near the saddle point, where no digits are lost, however small δ is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log1p, pi

import numpy as np
from flint import acb, arb

from profiles.balls import ball
from tests.targets.losses.moments import Moments, TooManyNodes

Part = tuple[Moments, int]
#: Natural logarithm of one over the relative error that is aimed at.
_DIGITS = 24.0
_MOST_TERMS = 20_000


class NotInverted(Exception):
    """The characteristic function does not decay fast enough for what is computed here."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Log M on the real axis, about; c; and the real parts of s at c."""

    parts: Sequence[Part]
    remove: bool

    def place(self, c: float) -> float:
        return 1 + c if self.remove else -c

    def log_moment(self, c: float) -> float:
        return sum(count * moments.log_real(self.place(c)) for moments, count in self.parts)


def invert(parts: Sequence[Part], epsilon: Fraction, *, remove: bool, precise: float = _DIGITS) -> arb:
    """Return a ball around δ(ε). Raises :class:`NotInverted`."""
    try:
        return _invert(_Line(parts, remove), epsilon, precise)
    except (TooManyNodes, OverflowError, FloatingPointError) as problem:
        raise NotInverted(str(problem)) from problem


def _invert(line: _Line, epsilon: Fraction, precise: float) -> arb:
    e = float(epsilon)
    c = place_of_least(lambda c: line.log_moment(c) - c * e - log(c) - log1p(c), 1e-4, 1e7)
    height = line.log_moment(c) - c * e - log(c) - log1p(c)  # about log of F at c, and of δ up to a moderate factor
    other = place_of_least(
        lambda x: line.log_moment(x) - x * e - log1p(x) + (c - x) * 2 * pi / _step_left(c, height, precise), c * 1.0001, 1e7
    )
    h = _step_left(c, height, precise)
    for _ in range(60):
        over = line.log_moment(other) - other * e - log1p(other) - (other - c) * 2 * pi / h
        if over < height - precise - 3:
            break
        h *= 0.8
        other = place_of_least(lambda x, h=h: line.log_moment(x) - x * e - log1p(x) + (c - x) * 2 * pi / h, c * 1.0001, 1e7)  # type: ignore[misc]
    centre, step = arb(c), arb(h)
    end = _find_end(line, c, h, precise)
    count = end + 1
    total = _sum(line, centre, step, count, epsilon)
    return total + arb(0, 1) * (_aliases(line, centre, arb(other), step, epsilon) + _beyond(line, centre, step * end, epsilon)).upper()


def _step_left(c: float, height: float, precise: float) -> float:
    return 2 * pi * c / (max(-height, 0.0) + precise + 8 + max(log(c), 0.0))


def _find_end(line: _Line, c: float, h: float, precise: float) -> int:
    """Return a number of steps after which the rest is small, by the bounds."""
    base = line.log_moment(c)
    end, before = 8, 0.0
    for _ in range(40):
        decay = sum(count * moments.log_bound(line.place(c), h * end) for moments, count in line.parts) - base - log(h * end)
        if decay < -precise - 3 - log(c) - log1p(c):
            return end
        if end > _MOST_TERMS or (end > 1000 and decay > before - 1):
            break
        before = decay
        end = ceil(end * 1.4)
    raise NotInverted(f"after {end} terms the bound has fallen by exp({decay:.1f}) only")


def _sum(line: _Line, c: arb, step: arb, count: int, epsilon: Fraction) -> arb:
    values = [acb(1)] * count
    for moments, uses in line.parts:
        along = moments.along(1 + c if line.remove else -c, step, count)
        values = [value * (a if line.remove else a.conjugate()) ** uses for value, a in zip(values, along, strict=True)]
    total = arb(0)
    for k, value in enumerate(values):
        z = acb(c, step * k)
        term = (value * (-z * ball(epsilon)).exp() / (z * (z + 1))).real
        total += term if k else term / 2  # k and -k have conjugate terms
    return total * step / arb.pi()


def _moment(line: _Line, c: arb) -> arb:
    found = arb(1)
    for moments, uses in line.parts:
        found *= moments.along(1 + c if line.remove else -c, arb(1), 1)[0].real ** uses
    return found


def _aliases(line: _Line, c: arb, other: arb, step: arb, epsilon: Fraction) -> arb:
    """Return a bound on the terms of Poisson's formula that are not wanted."""
    ratio = (-2 * arb.pi() * c / step).exp()
    falling = (-(other - c) * 2 * arb.pi() / step).exp()
    return ratio / (1 - ratio) + _moment(line, other) * (-other * ball(epsilon)).exp() / (1 + other) * falling / (1 - falling)


def _beyond(line: _Line, c: arb, t: arb, epsilon: Fraction) -> arb:
    found = (-c * ball(epsilon)).exp() / (arb.pi() * t)
    for moments, uses in line.parts:
        found *= moments.bound(1 + c if line.remove else -c, t) ** uses
    return found


def place_of_least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return about where a function that falls and then rises is least, on a logarithmic scale."""
    with np.errstate(all="ignore"):
        places, values = [low], [function(low)]
        while places[-1] < high and not (len(values) > 2 and values[-1] > values[-2] > values[-3]):
            places.append(places[-1] * 2)
            values.append(function(places[-1]))
        best = int(np.nanargmin(values))
        a, b = log(places[max(best - 1, 0)]), log(places[min(best + 1, len(places) - 1)])
        for _ in range(20):
            left, right = b - (b - a) * 0.618, a + (b - a) * 0.618
            a, b = (a, right) if function(float(np.exp(left))) <= function(float(np.exp(right))) else (left, b)
    return float(np.exp((a + b) / 2))
