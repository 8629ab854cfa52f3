"""Closed forms in balls: Gaussian sums, one use of any mechanism; and two uses of a sampled Gaussian by rigorous quadrature."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import acb, arb

from profiles.balls import ball


def normal_tail(z: Any) -> Any:
    """Return the mass of N(0, 1) above z, for balls and complex balls."""
    return (z / arb(2).sqrt()).erfc() / 2


def gaussian_sums(m: Fraction, epsilon: Fraction) -> arb:
    """δ(ε) of N(μ, 1) against N(0, 1), μ² = m: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang 2018, Theorem 8)."""
    mu, e = ball(m).sqrt(), ball(epsilon)
    return normal_tail(e / mu - mu / 2) - e.exp() * normal_tail(e / mu + mu / 2)


def sampled_gaussian(sigma: Fraction, q: Fraction, epsilon: Any, *, remove: bool) -> Any:
    """δ(ε) of one use, for all real ε; for complex ε where w and e^ε − w' are in the right half-plane.

    The best event is x above, or below, the x at which u = e^{±ε}. With G the curve of N(1, σ²) against N(0, σ²): where the record goes
    ∫ (u − e^ε)⁺ dQ, linear in q; where it comes ∫ (1 − e^ε u)⁺ dQ.
    """
    s, rate = ball(sigma), ball(q)
    e = epsilon.exp()
    ratio = (e - 1 + rate) / rate if remove else (1 / e - 1 + rate) / rate  # e^l at the end of the event
    x = s * s * ratio.log() + arb(1) / 2
    if remove:
        return (1 - rate - e) * normal_tail(x / s) + rate * normal_tail((x - 1) / s)
    return (1 - e * (1 - rate)) * normal_tail(-x / s) - e * rate * normal_tail((1 - x) / s)


def sampled_gaussian_once(sigma: Fraction, q: Fraction, epsilon: arb, *, remove: bool) -> arb:
    """The same for all real ε: an event that holds everything, or nothing."""
    rest = 1 - ball(q)
    if remove and epsilon.exp() <= rest:
        return 1 - epsilon.exp()
    if not remove and epsilon.exp() * rest >= 1:
        return arb(0)
    found: arb = sampled_gaussian(sigma, q, epsilon, remove=remove)
    return found


def sampled_gaussian_twice(sigma: Fraction, q: Fraction, epsilon: Fraction, *, remove: bool) -> arb:
    """δ(ε) of two uses: the curve of one, averaged over the loss of the other, by adaptive quadrature in balls; ε ≥ 0.

    Where the record goes and u(x) ≥ e^ε/(1 − q) nothing is left of ε, and what is integrated is u − e^ε; where it comes and
    u(x) ≥ e^−ε/(1 − q) it is 0.
    """
    s, rate, e = ball(sigma), ball(q), ball(epsilon)
    edge = ((e if remove else -e).exp() / (1 - rate) - 1 + rate) / rate
    scale = 1 / (s * (2 * arb.pi()).sqrt())
    reach = 30 * s

    def u(x: acb) -> acb:
        return 1 - rate + rate * ((2 * x - 1) / (2 * s * s)).exp()

    def integrand(x: acb, analytic: bool) -> acb:
        value = u(x)
        e_left = e.exp() / value if remove else e.exp() * value
        w = (e_left - 1 + rate) / rate if remove else (1 / e_left - 1 + rate) / rate
        if analytic and not w.real > 0:
            return acb(arb.nan(), arb.nan())
        at = s * s * w.log(analytic=analytic) + arb(1) / 2
        first = scale * (-x * x / (2 * s * s)).exp()
        if remove:
            return first * value * ((1 - rate - e_left) * normal_tail(at / s) + rate * normal_tail((at - 1) / s))
        return first * ((1 - e_left * (1 - rate)) * normal_tail(-at / s) - e_left * rate * normal_tail((1 - at) / s))

    # up to a little before the end, where the integrand is no longer analytic, and at most the density of the first law
    top = s * s * edge.log() + arb(1) / 2 if edge > 0 else -reach
    beyond, last, gap = arb(0), reach, arb(2) ** -100
    if float(top) < float(reach):
        last = arb((top - gap).mid())
        beyond = (1 - rate - e.exp()) * normal_tail(top / s) + rate * normal_tail((top - 1) / s) if remove else arb(0)
    found = arb(0)
    if float(last) > float(-reach):
        found = acb.integral(integrand, acb(-reach), acb(last), abs_tol=arb(2) ** -90, rel_tol=arb(2) ** -60, eval_limit=200_000).real
    return found + beyond + arb(0, 1) * (4 * normal_tail((reach - 1) / s) + 4 * gap * scale).upper()


def laplace_once(c: Fraction, q: Fraction, epsilon: arb, *, remove: bool) -> arb:
    """δ(ε) of one use, y + noise of density (c/2) e^{−c|y|}: u is increasing, so that the best event is a half-line."""
    rate, k = ball(q), ball(c)
    ratio = ((epsilon if remove else -epsilon).exp() - 1 + rate) / rate
    a = epsilon.exp()

    def above(y: arb, centre: int) -> arb:
        d = k * (y - centre)
        return (-d).exp() / 2 if d >= 0 else 1 - d.exp() / 2

    if ratio <= 0 or ratio.log() < -k:
        return 1 - a if remove and epsilon <= 0 else arb(0) if not remove else arb(1) - a
    if ratio.log() > k:
        return arb(0) if remove else 1 - a
    y = (1 + ratio.log() / k) / 2
    without, shifted = above(y, 0), above(y, 1)
    if remove:
        return (1 - rate - a) * without + rate * shifted
    return (1 - a * (1 - rate)) * (1 - without) - a * rate * (1 - shifted)
