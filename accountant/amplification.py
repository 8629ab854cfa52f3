"""Amplification by Poisson sampling of one number, per direction: ψ⁺ = log(1 + q (e^ε − 1)) and ψ⁻ = −log(1 − q (1 − e^−ε)), outward.

One theorem (docs/one-sided.md, Theorem 1), of which Theorem 6 of Fay et al. 2024 is the first direction. :func:`sampled_ball` and
:func:`enclose_add` are the formulas in balls, :func:`_at_border` the values that need none; :func:`amplify`, :func:`amplify_remove` and
:func:`amplify_add` round them, and :func:`amplify_array` evaluates the first of them for whole arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb

from accountant.rules.variance import refuse_oracle
from profiles import InvalidNumber
from profiles.arrays import Floats
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.numbers import round_down_finite, round_up_finite, to_number
from proofs_check.suprema.terms import sampled_ball

__all__ = ["MOST_EPSILON", "Amplified", "amplify", "amplify_add", "amplify_array", "amplify_remove"]

_START_BITS = 128
_MOST_BITS = 1 << 22

BITS = 256
#: Larger losses are no privacy, and their exponentials leave the range of what is stored.
MOST_EPSILON = 10_000

#: e^ε in the stable form is taken at −ε above this; up to it ``expm1`` does not overflow in extended precision.
_STABLE_FROM = 11_000


@dataclass(frozen=True, slots=True)
class Amplified:
    """Binary64 numbers with lower ≤ ψ ≤ upper, where no binary64 number lies strictly between them."""

    lower: float
    upper: float


def amplify(epsilon: object, q: object) -> Amplified:
    """Return the tightest binary64 enclosure of ψ = log(1 + q (e^ε − 1)).

    The two ends are equal (then ψ is that number) or neighbors, so that ``upper`` is less than 1 ulp above ψ. Arb evaluates ψ
    with 128, 256, 512, ... bits until its ball lies between two neighbors. This ends: for rational ε > 0 and 0 < q < 1 a rational
    r = ψ would give the relation (1 − q) e^0 + q e^ε − e^r = 0 between exponentials of distinct rationals, which the
    Lindemann–Weierstrass theorem excludes; the other cases are exact.

    ``epsilon`` ≥ 0 in nats and 0 ≤ ``q`` ≤ 1 are exact numbers: integers, fractions, decimal strings; a float is its exact binary value.
    Source: Fay et al. 2024, Theorem 6 (q = 0: never sampled, ψ = 0).
    Raises :class:`InvalidNumber` for other values and for ψ above the largest binary64 number, :class:`NotPrivate` for a
    variance-optimal q.

    >>> amplify(1, 1)
    Amplified(lower=1.0, upper=1.0)
    >>> 5000 + math.log(1e-3) <= amplify(5000, "0.001").upper < 4993.09224472102
    True
    """
    exact_q = to_probability(q)
    exact_epsilon = to_number(epsilon, "epsilon", "[0, inf)", "give a number of nats", InvalidNumber)
    known = _at_border(exact_epsilon, exact_q)
    if known is not None:
        return Amplified(round_down_finite(known), round_up_finite(known))
    bits = _START_BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            value = sampled_ball(ball(exact_q), ball(exact_epsilon))
            low, high = lower_fraction(value), upper_fraction(value)
        if low is not None and high is not None:
            lower, upper = round_down_finite(max(low, Fraction(0))), round_up_finite(high)
            if upper <= math.nextafter(lower, math.inf):
                return Amplified(lower, upper)
        bits *= 2
    raise InvalidNumber("epsilon or q has more digits than ψ can be rounded with; give shorter numbers")


def enclose_add(epsilon: Fraction | None, q: Fraction) -> arb:
    """Return a ball around ψ⁻ = −log(1 − q (1 − e^−ε)) for ε > 0 (None is ∞) and 0 < q < 1 at the working precision."""
    gone = ball(Fraction(1)) if epsilon is None else -(-ball(epsilon)).expm1()
    return -(-(ball(q) * gone)).log1p()


def _at_border(epsilon: Fraction | None, q: Fraction) -> Fraction | None:
    """Return ψ where it is known without a ball, in both directions: no loss, or no record or every record in the sample; else None."""
    if epsilon == 0 or q == 0:
        return Fraction(0)
    return epsilon if q == 1 else None


_EXTENDED = np.finfo(np.longdouble)
#: x87 extended (64-bit significand) or IEEE quadruple; elsewhere long double is binary64 and every entry goes through Arb.
HAS_EXTENDED = int(_EXTENDED.nmant) >= 63 and float(np.log(_EXTENDED.max)) > _STABLE_FROM
_BLOCK = 1 << 15


def amplify_array(epsilon: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Return binary64 upper bounds of ψ = log(1 + q (e^ε − 1)), entrywise with broadcasting, each less than 2 ulp above ψ.

    In extended precision (64 bits) ``expm1`` has an exact argument and ``log1p`` a condition number of at most 1, so that library
    errors of at most 8 units in the last place (2^−60) each leave the computed value within 2^−58 relatively; it is multiplied by
    1 + 2^−57 and rounded up to binary64. Hence ψ ≤ result < ψ (1 + 2^−56) + 1 ulp. For ε > 11,000 the form ε + log(q) is used:
    |log q| < 745, so nothing cancels, and what it omits, at most (1 − q) e^−ε / q < 2^−14000, is inside the margin. The full
    argument, with its hypothesis on the C library, is in ``docs/epsilon-bounds.md``. Without extended precision every entry goes
    through :func:`amplify`.

    ``epsilon`` ≥ 0 and 0 ≤ ``q`` ≤ 1 are arrays of binary64 numbers (other types are refused where a conversion could round).
    Raises :class:`NotPrivate` for variance-optimal probabilities, :class:`InvalidNumber` for NaN, infinities and values out of range.
    """
    refuse_oracle(q)
    left, right = np.broadcast_arrays(_checked(epsilon, "epsilon"), _checked(q, "q"))
    if left.size and not (bool(np.all(np.isfinite(left))) and bool(np.all(left >= 0))):
        raise InvalidNumber("epsilon must be finite and at least 0 in every entry, but another value was found; correct the array")
    if right.size and not bool(np.all((right >= 0) & (right <= 1))):
        raise InvalidNumber("the sampling probability q must lie in [0, 1] in every entry, but another value was found; correct the array")
    result = np.empty(left.shape, dtype=np.float64)
    flat, flat_epsilon, flat_q = result.reshape(-1), left.reshape(-1), right.reshape(-1)
    step = _in_extended if HAS_EXTENDED else _one_by_one
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        flat[part] = step(flat_epsilon[part], flat_q[part])
    return result


def _checked(values: npt.ArrayLike, what: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind in "iu" and array.size and int(np.abs(array).max()) > 2**53:
        raise InvalidNumber(f"{what} has integers above 2**53, which are not binary64 numbers; give floats")
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidNumber(f"{what} must be an array of binary64 numbers, but the type {array.dtype} was found; convert it")
    return array.astype(np.float64)


def _in_extended(epsilon: Floats, q: Floats) -> Floats:
    e, p = epsilon.astype(np.longdouble), q.astype(np.longdouble)
    with np.errstate(all="ignore"):
        value = np.log1p(p * np.expm1(np.minimum(e, _STABLE_FROM)))
        value = np.where(e > _STABLE_FROM, e + np.log(p), value)
        value = np.where(p == 1, e, value * (1 + np.ldexp(np.longdouble(1), -57)))
        value = np.where((p == 0) | (e == 0), np.longdouble(0), value)
        rounded: Any = value.astype(np.float64)
        upper = np.where(rounded.astype(np.longdouble) < value, np.nextafter(rounded, np.inf), rounded)
    return np.asarray(upper, dtype=np.float64)


def _one_by_one(epsilon: Floats, q: Floats) -> Floats:
    return np.array([amplify(float(e), float(p)).upper for e, p in zip(epsilon, q, strict=True)], dtype=np.float64)


def amplify_remove(remove: object, q: object) -> Fraction:
    """Return an upper bound of ψ⁺ = log(1 + q (e^remove − 1)), the loss when a record is removed after each is kept with probability q.

    ``remove`` in nats from 0 to 10,000, ``q`` in [0, 1], exact. The bound exceeds ψ⁺ by less than 2^−200 relatively.
    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1 (second half); Fay et al. 2024, Theorem 6.
    Raises :class:`InvalidNumber`, :class:`NotPrivate` for a variance-optimal q.

    >>> amplify_remove("0", "1/2"), amplify_remove("1", 1)
    (Fraction(0, 1), Fraction(1, 1))
    """
    loss, rate = to_loss(remove, "epsilon_remove"), to_probability(q)
    known = _at_border(loss, rate)
    if known is not None:
        return known
    with working_precision(BITS):
        return round_outward(sampled_ball(ball(rate), ball(loss)))


def amplify_add(add: object | None, q: object) -> Fraction | None:
    """Return an upper bound of ψ⁻ = −log(1 − q (1 − e^−add)), the loss when a record is added; None where it is unbounded.

    ``add`` None is ∞, the one-sided case, where ψ⁻ = −log(1 − q) is finite for every q < 1.
    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1 (first half). Raises like :func:`amplify_remove`.

    >>> float(amplify_add(None, "1/2"))  # log 2
    0.6931471805599453
    >>> amplify_add(None, 1) is None
    True
    """
    rate = to_probability(q)
    loss = None if add is None else to_loss(add, "epsilon_add")
    known = _at_border(loss, rate)
    if known is not None or rate == 1:
        return known
    with working_precision(BITS):
        return round_outward(enclose_add(loss, rate))


def to_loss(value: object, what: str) -> Fraction:
    """Return an exact number of nats in [0, 10000]. Raises :class:`InvalidNumber`."""
    return to_number(value, what, f"[0, {MOST_EPSILON}]", "give a number of nats in that range", InvalidNumber)


def to_probability(value: object) -> Fraction:
    """Return an exact number in [0, 1]. Raises :class:`InvalidNumber`, :class:`NotPrivate`."""
    refuse_oracle(value)
    return to_number(value, "the sampling probability q", "[0, 1]", "give a probability", InvalidNumber)


def round_outward(value: arb, *, up: bool = True) -> Fraction:
    """Return an end of a ball as a fraction. Raises :class:`InvalidNumber` where the ball is not finite."""
    end = upper_fraction(value) if up else lower_fraction(value)
    if end is None:
        raise InvalidNumber("the bound is too close to a border to be enclosed; give numbers with fewer digits")
    return end
