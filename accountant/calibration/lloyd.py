"""How DP-Lloyd shares its noise between counts and sums: the published ratio, and the one of least error. No guarantee rests on either."""

from __future__ import annotations

import math
from fractions import Fraction

from profiles import InvalidArgument, InvalidNumber
from profiles.mechanisms.interface import to_dimension
from profiles.numbers import to_number

RHO = "0.225"
_PLACES = 12


def published_ratio(dimension: int, rho: object = RHO) -> Fraction:
    """Return β_count/β_sum = (4 d ρ²)^(1/3) as Fay et al. 2024, Section 5, set it, to 12 decimals.

    Su et al. 2016 derive (4 d ρ²)^(1/3) as the ratio of the privacy budgets ε_count/ε_sum for records in [−1, 1]^d, hence
    β_sum/β_count: the published setting is its inverse (docs/sampling.md, section 6). Use :func:`least_error_ratio` for good noise.

    >>> published_ratio(22)
    Fraction(164544196573, 100000000000)
    """
    exact = _positive(rho, "rho")
    return _rounded((4 * to_dimension(dimension) * float(exact) ** 2) ** (1 / 3))


def least_error_ratio(dimension: int, *, radius: object, centre_norm: object, p: float = 2) -> Fraction:
    """Return the β_count/β_sum with the least mean squared error of a centre c at a given ε, to 12 decimals.

    To first order a noisy centre errs by (ζ − ξ c)/N, N the count; E‖ζ‖₂² = A β_sum² and E ξ² = 2 β_count², and a record costs
    r/β_sum + 1/β_count for each iteration. The minimum of A β_sum² + 2 ‖c‖² β_count² at fixed cost is at

        β_count/β_sum = (A / (2 r ‖c‖²))^(1/3),   A = d² (d + 1) · Γ(3/p) Γ(d/p) / (Γ(1/p) Γ((d + 2)/p)),

    A = 2 d for p = 1, d (d + 1) for p = 2, d (d + 1)(d + 2)/3 for p = ∞. ``centre_norm`` is a guess of ‖c‖₂. The ratio is a public
    choice; a wrong guess costs accuracy, never privacy, as long as it is not made from the data. Source: docs/sampling.md, section 6.

    >>> least_error_ratio(1, radius=1, centre_norm=1, p=1)
    Fraction(1, 1)
    """
    r, norm = float(_positive(radius, "the radius")), float(_positive(centre_norm, "the norm of a centre"))
    return _rounded((noise_energy(to_dimension(dimension), p) / (2 * r * norm * norm)) ** (1 / 3))


def noise_energy(dimension: int, p: float) -> float:
    """Return A = E‖ζ‖₂² for the density ∝ exp(−‖ζ‖_p) on R^d: d(d + 1), the second moment of the Gamma(d, 1) radius, times the mean

        Q_p(d) = d Γ(3/p) Γ(d/p) / (Γ(1/p) Γ((d + 2)/p)),   Q_2 = 1,   Q_1 = 2/(d + 1),   Q_∞ = (d + 2)/3,

    of ‖θ‖₂² for the cone measure, since |θ_1|^p ~ Beta(1/p, (d − 1)/p) (p = ∞: a coordinate is ±1 with probability 1/d, else uniform on
    [−1, 1]). Source: docs/private-kmeans.md, section 12. Raises :class:`InvalidArgument` for p below 1.

    >>> noise_energy(3, 2), noise_energy(3, math.inf)
    (12.0, 20.0)
    """
    if not p >= 1:
        raise InvalidArgument(f"p must be at least 1 or math.inf, but {p} was found; correct it")
    size = dimension * (dimension + 1.0)
    if math.isinf(p):
        return size * (dimension + 2) / 3
    if p == 2:
        return size
    logs = math.lgamma(3 / p) + math.lgamma(dimension / p) - math.lgamma(1 / p) - math.lgamma((dimension + 2) / p)
    return size * dimension * math.exp(logs)


def _positive(value: object, what: str) -> Fraction:
    return to_number(value, what, "(0, inf)", error=InvalidNumber)


def _rounded(value: float) -> Fraction:
    return max(Fraction(round(value * 10**_PLACES), 10**_PLACES), Fraction(1, 10**_PLACES))
