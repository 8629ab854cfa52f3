"""Moments A(s) = E_Q[u^s] of single uses for complex s, in balls, and bounds of |A| far from the real line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log, pi, sqrt
from typing import Any, Protocol

import numpy as np
from flint import acb, arb

from profiles.arrays import Floats
from profiles.balls import ball

#: Natural logarithm of one over the relative error of moments that is aimed at.
_ACCURACY = 75.0
_MOST_NODES = 400_000
_MOST_PRODUCTS, _MOST_FAST = 300_000, 400_000_000


class TooManyNodes(Exception):
    """A moment needs more nodes than are taken here."""


class Moments(Protocol):
    """A(s) of one use of a mechanism."""

    def log_real(self, s: float) -> float:
        """Return about log A(s) for real s: it places contours, and bounds nothing."""

    def along(self, real: arb, step: arb, count: int) -> list[acb]:
        """Return A(real + i k step), k = 0, ..., count − 1."""

    def bound(self, real: arb, height: arb) -> arb:
        """Return a bound on |A(real + i t)| for all t ≥ height > 0."""

    def log_bound(self, real: float, height: float) -> float:
        """Return about its logarithm: it places ends, and bounds nothing."""


@dataclass(frozen=True, slots=True)
class WholeGaussian:
    """Gaussian uses on all records together, m = Σ 1/σ²: ℓ is N(−m/2, m) under Q, so that A(s) = e^{m (s² − s)/2}."""

    m: Fraction

    def log_real(self, s: float) -> float:
        return float(self.m) * (s * s - s) / 2

    def along(self, real: arb, step: arb, count: int) -> list[acb]:
        points = (acb(real, step * k) for k in range(count))
        return [(ball(self.m) / 2 * (s * s - s)).exp() for s in points]

    def bound(self, real: arb, height: arb) -> arb:
        return (ball(self.m) / 2 * (real * real - real - height * height)).exp()

    def log_bound(self, real: float, height: float) -> float:
        return float(self.m) * (real * real - real - height * height) / 2


@dataclass(frozen=True, slots=True)
class Atoms:
    """Finitely many outcomes: pairs of u and of its mass under Q, all above 0."""

    rows: tuple[tuple[arb, arb], ...]

    def log_real(self, s: float) -> float:
        terms = np.array([float(mass.log()) + s * float(u.log()) for u, mass in self.rows])
        return float(np.logaddexp.reduce(terms))

    def along(self, real: arb, step: arb, count: int) -> list[acb]:
        return _vandermonde([(real * u.log()).exp() * mass for u, mass in self.rows], [u.log() * step for u, _ in self.rows], count)

    def bound(self, real: arb, height: arb) -> arb:
        del height  # it comes back again and again
        return sum(((real * u.log()).exp() * mass for u, mass in self.rows), arb(0))

    def log_bound(self, real: float, height: float) -> float:
        del height
        return self.log_real(real)


def _vandermonde(weights: list[arb], angles: list[arb], count: int) -> list[acb]:
    """Return Σ_j weights[j] e^{i k angles[j]} for k = 0, ..., count − 1."""
    turns = [acb(0, angle).exp() for angle in angles]
    terms = [acb(weight) for weight in weights]
    found = [sum(terms, acb(0))]
    for _ in range(count - 1):
        terms = [term * turn for term, turn in zip(terms, turns, strict=True)]
        found.append(sum(terms, acb(0)))
    return found


@dataclass(frozen=True)
class SampledGaussian:
    """Q = N(0, σ²), ℓ = (2x − 1)/(2σ²), q < 1: A(s) = ∫ φ_σ(x) u(x)^s dx by the trapezoid rule.

    *Error of the rule*: for f analytic in |Im x| < d with ∫ |f(x + iy)| dx ≤ N there, at most 2N/(e^{2πd/η} − 1) for the step η
    (Trefethen and Weideman 2014, Theorem 5.1). With θ = y/σ², b = q e^ℓ: |φ_σ(x + iy)| = e^{y²/2σ²} φ_σ(x), and u becomes 1 − q + b e^{iθ},
    which has an argument between 0 and θ, and an absolute value between u cos(θ/2) and u. So with s = r + it
    N ≤ e^{d²/2σ²} e^{|t| d/σ²} cos(d/2σ²)^{min(r, 0)} A(r).

    *Ends*: for r ≥ 0, u^r ≤ 1 + e^{rℓ}, and φ_σ(x) e^{rℓ} = e^{(r² − r)/2σ²} φ_σ(x − r); for r < 0, u^r ≤ (1 − q)^r.

    *Far from the real line*: for t > 0 the same shift by y > 0 shows
    |A(r + it)| ≤ e^{y²/2σ²} ∫ φ_σ(x) |u(x + iy)|^r e^{−t arg u(x + iy)} dx, which falls in t. Its integrand is
    exp((s log u + s̄ log ū)/2) with u = 1 − q + b e^{iθ}, ū = 1 − q + b e^{−iθ}; a further shift by d turns θ into θ + d/σ² in u,
    θ − d/σ² in ū, so that N ≤ e^{d²/2σ²} e^{t max(0, d/σ² − θ)/2} cos((θ + d/σ²)/2)^{min(r, 0)} A(r), for
    θ + d/σ² < π.
    """

    sigma: Fraction
    q: Fraction

    @cached_property
    def _floats(self) -> tuple[float, float]:
        return float(self.sigma), float(self.q)

    def _exponent(self, x: Floats, s: float) -> Floats:
        sigma, q = self._floats
        loss = np.logaddexp(np.log1p(-q), np.log(q) + (2 * x - 1) / (2 * sigma**2))
        found: Floats = -(x**2) / (2 * sigma**2) + s * loss
        return found

    def log_real(self, s: float) -> float:
        sigma, q = self._floats
        reach = sqrt(2 * (_ACCURACY + max(-s, 0.0) * -log(1 - q))) * sigma
        step = min(sigma, sigma**2) / 8
        low, high = -reach, max(s, 0.0) + reach
        step = max(step, (high - low) / _MOST_NODES)
        x = np.arange(low, high, step)
        return float(np.logaddexp.reduce(self._exponent(x, s))) + log(step / (sigma * sqrt(2 * pi)))

    def _angle(self) -> float:
        return min(2.0, sqrt(2 * _ACCURACY) / float(self.sigma))

    def _nodes(self, r: float, angle: float, growth: float) -> tuple[Floats, int, int, float, float]:
        """Return the whole numbers k of the nodes x = k η that count, the ends of all k, η, and the log of what the others have.

        ``angle``: d/σ²; ``growth``: log of N/A(r) but for e^{d²/2σ²}.
        """
        sigma, q = self._floats
        size = self.log_real(r)
        cost = growth + (angle * sigma) ** 2 / 2 + _ACCURACY
        step = 2 * pi * angle * sigma**2 / cost
        step = 2.0 ** np.floor(np.log2(step))  # exact
        beyond = ((r * r - r) / (2 * sigma**2) if r >= 0 else r * log(1 - q)) - size  # what the ends have at most, beside A(r) >= 1
        reach = sqrt(2 * (_ACCURACY + 5 + max(beyond, 0.0))) * sigma
        first, last = ceil(-reach / step), ceil((max(r, 0.0) + reach) / step)
        if last - first > 20 * _MOST_NODES:
            raise TooManyNodes
        index = np.arange(first, last + 1)
        exponent = self._exponent(index * step, r)
        kept = exponent > exponent.max() - _ACCURACY - 30
        if int(kept.sum()) > _MOST_NODES:
            raise TooManyNodes
        dropped = float(np.logaddexp.reduce(exponent[~kept])) if not kept.all() else -np.inf
        lost = dropped + log(step / (sigma * sqrt(2 * pi)))
        return index[kept], first, last, step, lost

    def _rest(self, r: arb, step: float, first: int, last: int, lost: float) -> arb:
        """Return a bound on the nodes that were left out: beyond both ends, and between them."""
        sigma, h = ball(self.sigma), arb(step)
        left, right = -(h * first) / sigma, h * last / sigma

        def tail(z: arb) -> arb:
            return (z / arb(2).sqrt()).erfc() / 2

        if r >= 0:
            shift = ((r * r - r) / (2 * sigma * sigma)).exp()
            ends = tail(left) + tail(right) + shift * (tail(left + r / sigma) + tail(right - r / sigma))
        else:
            ends = (r * (1 - ball(self.q)).log()).exp() * (tail(left) + tail(right))
        # a sum over nodes beyond an end where the terms fall is at most the integral from there
        return ends + arb(lost + 0.1).exp()

    def _rule_error(self, step: float, angle: float, growth: arb) -> arb:
        """Return the error of the trapezoid rule relative to A(r)."""
        a, sigma = arb(angle), ball(self.sigma)
        return 2 * ((a * sigma) ** 2 / 2 + growth).exp() / ((2 * arb.pi() * a * sigma * sigma / arb(step)).exp() - 1)

    def _table(self, index: Floats, step: float) -> tuple[list[arb], list[arb]]:
        """Return the weight η φ_σ(x) and b = q e^ℓ of nodes."""
        sigma, h = ball(self.sigma), arb(step)
        x = [h * int(k) for k in index]
        scale = h / (sigma * (2 * arb.pi()).sqrt())
        return [scale * (-((v / sigma) ** 2) / 2).exp() for v in x], [ball(self.q) * ((2 * v - 1) / (2 * sigma * sigma)).exp() for v in x]

    def along(self, real: arb, step: arb, count: int) -> list[acb]:
        angle = self._angle()
        growth = arb(angle) * step * max(count - 1, 0) + _shrinking(real, arb(angle))
        index, first, last, h, lost = self._nodes(float(real), angle, float(growth))
        if len(index) * count > _MOST_PRODUCTS:
            return self._along_fast(real, step, count)
        weights, odds = self._table(index, h)
        logs = [(1 - ball(self.q) + b).log() for b in odds]
        terms = [w * (real * v).exp() for w, v in zip(weights, logs, strict=True)]
        error, rest = self._rule_error(h, angle, growth), self._rest(real, h, first, last, lost)
        slack = _above(self._size(terms, error, rest) * error + rest)
        around = acb(arb(0, slack), arb(0, slack))
        return [value + around for value in _vandermonde(terms, [step * v for v in logs], count)]

    @staticmethod
    def _size(terms: list[arb], error: arb, rest: arb) -> arb:
        # A (1 - error) <= the sum over all nodes
        return _above((sum(terms, arb(0)) + rest) / (1 - error))

    def bound(self, real: arb, height: arb) -> arb:
        r, t = float(real), float(height)
        theta = self._turn(r, t)
        angle = min(theta + 20 / t, self._angle(), 2.9 - theta)
        plain, turned = _shrinking(real, arb(angle)), arb(max(angle - theta, 0.0)) * height / 2 + _shrinking(real, arb(angle) + arb(theta))
        index, first, last, h, lost = self._nodes(r, angle, float(turned))
        weights, odds = self._table(index, h)
        turn, s, rest = acb(0, arb(theta)).exp(), acb(real, height), 1 - ball(self.q)
        whole = sum((w * (s * (rest + b * turn).log()).real.exp() for w, b in zip(weights, odds, strict=True)), arb(0))
        terms = [w * (real * (rest + b).log()).exp() for w, b in zip(weights, odds, strict=True)]
        left = self._rest(real, h, first, last, lost)
        size = self._size(terms, self._rule_error(h, angle, plain), left)
        slack = size * self._rule_error(h, angle, turned) + _shrinking(real, arb(theta)).exp() * left
        return _above((arb(theta) * ball(self.sigma)) ** 2 / 2).exp() * _above(whole + slack)

    def _turn(self, r: float, t: float) -> float:
        return _least(lambda theta: self._shifted(self._places(r), r, t, theta), 1e-9, 1.4)

    def log_bound(self, real: float, height: float) -> float:
        return (
            self._shifted(self._places(real), real, height, self._turn(real, height))
            - self._shifted(self._places(real), real, 0.0, 0.0)
            + self.log_real(real)
        )

    def _places(self, r: float) -> Floats:
        if r not in self._kept_places:
            index, _, _, h, _ = self._nodes(r, self._angle(), float(_shrinking(arb(r), arb(self._angle()))))
            self._kept_places[r] = index[:: 1 + len(index) // 1000] * h
        return self._kept_places[r]

    @cached_property
    def _kept_places(self) -> dict[float, Floats]:
        return {}

    def _along_fast(self, real: arb, step: arb, count: int) -> list[acb]:
        """The same by products of matrices in binary64, with a bound on their rounding.

        A phase p has an error of at most 4·2^−53 (1 + |p|), a weight one of at most 2^−50 (1 + |its exponent|); a sum of n products adds
        n 2^−52, all relative to A(r).
        """
        angle = self._angle()
        growth = arb(angle) * step * max(count - 1, 0) + _shrinking(real, arb(angle))
        index, first, last, h, lost = self._nodes(float(real), angle, float(growth))
        if len(index) * count > _MOST_FAST:
            raise TooManyNodes
        sigma, q = self._floats
        x = index * h
        logs = np.logaddexp(np.log1p(-q), np.log(q) + (2 * x - 1) / (2 * sigma**2))
        exponent = -(x**2) / (2 * sigma**2) + float(real) * logs
        top = float(exponent.max())
        weights = np.exp(exponent - top)
        block = ceil(sqrt(count))
        near = np.exp(1j * float(step) * logs[:, None] * np.arange(block)[None, :])
        far = weights[None, :] * np.exp(1j * float(step) * block * np.arange(ceil(count / block))[:, None] * logs[None, :])
        found = (far @ near).ravel()[:count]
        phase = float(np.abs(logs).max()) * float(step) * count
        wide = float(np.max(np.abs(x**2 / (2 * sigma**2)) + abs(float(real)) * (np.abs(logs) + 1)) + abs(top))
        rounding = arb(weights.sum() * 2.0**-52 * (16 * (1 + phase) + 8 * (1 + wide) + 2 * len(index)))
        scale = arb(top).exp() * arb(h) / (ball(self.sigma) * (2 * arb.pi()).sqrt())
        error, rest = self._rule_error(h, angle, growth), self._rest(real, h, first, last, lost)
        size = _above((scale * (arb(weights.sum()) + rounding) + rest) / (1 - error))
        slack = _above(size * error + rest + scale * rounding)
        around = acb(arb(0, slack), arb(0, slack))
        return [acb(v.real, v.imag) * scale + around for v in found.tolist()]

    def _shifted(self, x: Floats, r: float, t: float, theta: float) -> float:
        sigma, q = self._floats
        logs = np.logaddexp(np.log1p(-q), np.log(q) + (2 * x - 1) / (2 * sigma**2))
        share = np.exp(np.log(q) + (2 * x - 1) / (2 * sigma**2) - logs)  # b / u
        turned = np.log(1 - share + share * np.exp(1j * theta))
        exponent = -(x**2) / (2 * sigma**2) + r * (logs + turned.real) - t * turned.imag
        return float(np.logaddexp.reduce(exponent)) + (theta * sigma) ** 2 / 2


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return about the place of the minimum between two positive numbers, on a logarithmic scale."""
    a, b = log(low), log(high)
    for _ in range(40):
        left, right = b - (b - a) * 0.618, a + (b - a) * 0.618
        a, b = (a, right) if function(float(np.exp(left))) <= function(float(np.exp(right))) else (left, b)
    return float(np.exp((a + b) / 2))


def _shrinking(r: arb, theta: arb) -> arb:
    """Return the log of a bound on |u(x + iy)|^r / u^r."""
    return (theta / 2).cos().log() * r if r < 0 else arb(0)


def _above(x: arb) -> arb:
    """Return the upper end of a ball, exactly."""
    return arb(x.upper())


@dataclass(frozen=True, slots=True)
class Laplace:
    """Noise of density (c/2) e^{−c|y|}: under Q, ℓ is −c with mass ½, c with mass ½ e^{−c}, and c (2y − 1) for y in [0, 1].

    *Far from the real line*: with b = e^ℓ the middle part is ∫ g(b) d(e^{it log u})/(it), g = ¼ e^{−c/2} b^{−3/2} u^{r+1}/q, whose
    logarithm has at most one critical point, a minimum; integration by parts bounds it by (2 g(e^{−c}) + 2 g(e^c))/t.
    """

    c: Fraction
    q: Fraction

    def _parts(self) -> tuple[arb, arb, arb]:
        return ball(self.c), ball(self.q), 1 - ball(self.q)

    def log_real(self, s: float) -> float:
        c, q = float(self.c), float(self.q)
        y = (np.arange(4000) + 0.5) / 4000

        def logs(loss: Any) -> Any:
            return np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + loss)

        middle = np.log(c / 2 / 4000) - c * y + s * logs(c * (2 * y - 1))
        return float(np.logaddexp.reduce([*middle, np.log(0.5) + s * logs(-c), np.log(0.5) - c + s * logs(c)]))

    def along(self, real: arb, step: arb, count: int) -> list[acb]:
        return [self._at(acb(real, step * k)) for k in range(count)]

    def _at(self, s: acb) -> acb:
        c, q, rest = self._parts()
        low, high = (rest + q * (-c).exp()).log(), (rest + q * c.exp()).log()
        size = max((s.real * low).exp() / 2, (s.real * high - c).exp() / 2, key=float)

        def middle(y: acb, _: Any) -> acb:
            return c / 2 * (-c * y + s * (rest + q * (c * (2 * y - 1)).exp()).log(analytic=True)).exp()

        found: acb = acb.integral(middle, acb(0), acb(1), abs_tol=size * arb(2) ** -110, rel_tol=arb(2) ** -110)
        return found + (s * low).exp() / 2 + (s * high - c).exp() / 2

    def bound(self, real: arb, height: arb) -> arb:
        c, q, rest = self._parts()
        low, high = (rest + q * (-c).exp()).log(), (rest + q * c.exp()).log()
        atoms = (real * low).exp() / 2 + (real * high - c).exp() / 2
        ends = sum((((real + 1) * u - 3 * loss / 2 - c / 2).exp() / (4 * q) for u, loss in ((low, -c), (high, c))), arb(0))
        whole = self._at(acb(real)).real
        falling = atoms + 2 * ends / height
        return falling if float(falling) < float(whole) else whole

    def log_bound(self, real: float, height: float) -> float:
        return float(self.bound(arb(real), arb(height)).log())
