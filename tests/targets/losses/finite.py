"""Laws with finitely many losses: all outcomes of many uses, in balls; sums of discrete Gaussian noise by polynomials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt

from flint import arb, arb_poly

from profiles.balls import ball

_MOST_OUTCOMES = 100_000
_MANY_ATOMS = 60
_MOST_COEFFICIENTS = 400_000


@dataclass(frozen=True, slots=True)
class Finite:
    """One use: rows (u, mass under Q), u > 0; the mass that P, and that Q, has where the other one has none; what the rows lack at most."""

    rows: tuple[tuple[arb, arb], ...]
    only_p: arb
    only_q: arb
    lost: arb

    def losses(self, *, remove: bool) -> tuple[list[tuple[arb, arb]], arb]:
        """Return the finite losses with their masses under the first law, and the mass at infinity."""
        if remove:
            return [(u.log(), mass * u) for u, mass in self.rows], self.only_p
        return [(-u.log(), mass) for u, mass in self.rows], self.only_q


def response(epsilon: Fraction, delta: Fraction, q: Fraction) -> Finite:
    """The worst pair of (ε, δ): randomised response with probability 1 − δ, else P and Q give themselves away; sampled with q."""
    e, d, rate = ball(epsilon).exp(), ball(delta), ball(q)
    rows = [(1 - rate + rate * e, (1 - d) / (1 + e)), (1 - rate + rate / e, (1 - d) * e / (1 + e))]
    if q < 1 and delta:
        rows.append((1 - rate, d))
    return Finite(tuple(rows), rate * d, d if q == 1 else arb(0), arb(0))


def discrete_laplace(scale: Fraction, q: Fraction) -> Finite:
    """k with weights r^|k|, r = e^{−1/scale}, against k + 1: ℓ = 1/scale for k ≥ 1, with the mass r/(1 + r) under Q, else −1/scale."""
    r, rate = (-1 / ball(scale)).exp(), ball(q)
    return Finite(((1 - rate + rate / r, r / (1 + r)), (1 - rate + rate * r, 1 / (1 + r))), arb(0), arb(0), arb(0))


def discrete_gaussian(sigma: Fraction, q: Fraction, nats: int = 160) -> Finite:
    """k with weights e^{−k²/2σ²} against k + 1: ℓ = (2k − 1)/(2σ²); integers beyond σ sqrt(2 nats) are left out."""
    weights, total, rest = _weights(sigma, nats)
    variance, rate = ball(sigma) ** 2, ball(q)
    rows = tuple((1 - rate + rate * ((2 * k - 1) / (2 * variance)).exp(), w / total) for k, w in weights)
    # below -R, above R, and what the shifted law has above
    return Finite(rows, arb(0), arb(0), 3 * rest / total)


def _weights(sigma: Fraction, nats: int) -> tuple[list[tuple[int, arb]], arb, arb]:
    """Return the integers of moderate size with their weights, the sum of all weights about, and a bound on those that are left out."""
    reach = isqrt(int(2 * nats * sigma**2)) + 2
    variance = ball(sigma) ** 2

    def weight(k: int) -> arb:
        return (-arb(k * k) / (2 * variance)).exp()

    weights = [(k, weight(k)) for k in range(-reach, reach + 2)]
    ratio = (-arb(2 * reach + 1) / (2 * variance)).exp()
    rest = (2 * weight(reach) / (1 - ratio)).upper()
    total = sum((w for _, w in weights), arb(0)) + arb(0, 1) * rest
    return weights, total, arb(rest)


def discrete_gaussian_sums(sigma: Fraction, count: int, epsilon: Fraction, nats: int = 160) -> arb | None:
    """δ(ε) of many uses on all records: the losses add up to (2S + T)/(2σ²) for the sum S of T integers under Q moved by one."""
    reach = isqrt(int(2 * nats * sigma**2)) + 2
    if (2 * reach + 2) * count > _MOST_COEFFICIENTS:
        return None
    weights, total, rest = _weights(sigma, nats)
    masses = arb_poly([w / total for _, w in weights]) ** count
    low, variance, e = -reach * count, ball(sigma) ** 2, ball(epsilon)
    found = arb(0)
    for index, mass in enumerate(masses.coeffs()):
        loss = (2 * (low + index) + count) / (2 * variance)
        if loss > e:
            found += mass * (1 - (e - loss).exp())
        elif not loss <= e:
            found += mass * (1 - (e - loss).exp()).union(arb(0))
    return found + arb(0, 1) * (3 * count * rest / total).upper()


def all_outcomes(uses: Iterable[tuple[Finite, int]], epsilon: Fraction, *, remove: bool) -> arb | None:
    """Return δ(ε) of several uses by all their outcomes; None where there are too many."""
    e, law, beyond_not, lost = ball(epsilon), [(arb(0), arb(1))], arb(1), arb(0)
    for use, count in uses:
        losses, beyond = use.losses(remove=remove)
        if (count > 1 and len(losses) > _MANY_ATOMS) or comb(count + len(losses) - 1, len(losses) - 1) * len(law) > _MOST_OUTCOMES:
            return None
        power = _power(losses, count)
        law = [(x + y, a * b) for x, a in law for y, b in power]
        beyond_not *= (1 - beyond) ** count
        lost += count * use.lost
    found = 1 - beyond_not
    for loss, mass in law:
        gain = 1 - (e - loss).exp()
        if loss > e:
            found += mass * gain
        elif not loss <= e:
            found += mass * gain.union(arb(0))
    return found + arb(0, 1) * lost.upper()


def _power(losses: list[tuple[arb, arb]], count: int) -> list[tuple[arb, arb]]:
    """Return the law of the sum of ``count`` losses: one outcome for each way in which the counts of the atoms add up to it."""
    if count == 1:  # there may be more atoms than calls may be nested
        return losses
    (loss, mass), rest = losses[0], losses[1:]
    if not rest:
        return [(count * loss, mass**count)]
    found, choose, powers = [], 1, [arb(1)]
    for _ in range(count):
        powers.append(powers[-1] * mass)
    for k in range(count + 1):
        scale = arb(choose) * powers[k]
        found += [(k * loss + x, scale * p) for x, p in _power(rest, count - k)]
        choose = choose * (count - k) // (k + 1)
    return found
