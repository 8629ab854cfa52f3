"""The exponential mechanism's choice, drawn exactly from uniform digits: no rounded weight decides anything.

Statement: given exponents x_i ≥ 0, one of them 0, and multiplicities n_i, entry i is returned with probability exactly
n_i e^−x_i / Σ_j n_j e^−x_j, if the digits are uniform and independent. A number U that is uniform on [0, 1) is known by its first bits;
a choice is made in binary64 where every number within proved error bounds gives the same entry, and else with integer enclosures and more
bits of U until it does. Proof and error bounds: docs/one-sided.md, Theorem D.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from profiles.arrays import Floats, Integers
from profiles.errors import InvalidArgument
from profiles.numbers import nearest
from profiles.randomness.bits import NEXT_BITS, BitSource, draw_below
from profiles.randomness.exponentials import enclose_exp
from profiles.randomness.rounded.ieee import check_rounding

#: What enclosures need: (exponent, multiplicity), in the order of the entries.
Exact = Callable[[], Iterable[tuple[Fraction, int]]]

_FIRST = 2 * NEXT_BITS
#: e^−x is about 2^−1010 from here on, which is 0 within the margin, and no subnormal number.
_NEGLIGIBLE = 700
_STEPS = 64
#: Levels further below the best than this are left to enclosures.
_FAR = 55.4
_LONGEST = 2**20


class ExponentialChoice:
    """Claim: :meth:`draw` returns index c with probability exactly e^(λq_c) / Σ e^(λq_b), for scores q and the rational rate λ > 0.

    ``scores``: integers, binary64 numbers or fractions (an array of objects), taken as exact, finite, shape (m,), m ≥ 1. Making one costs
    a few vector operations; a draw costs the logarithm of m. Source: docs/one-sided.md, Theorem D.
    Raises :class:`InvalidArgument` for rates outside [2⁻⁹⁰⁰, 2⁹⁰⁰], :class:`PDPError` where binary64 does not round to nearest.

    >>> from profiles.randomness import open_bits
    >>> ExponentialChoice(np.array([0, 50, 0]), Fraction(1)).draw(open_bits(np.random.default_rng(1)))
    1
    """

    __slots__ = ("_margin", "_rate", "_scores", "_sums")

    def __init__(self, scores: np.ndarray[Any, Any], rate: Fraction) -> None:
        check_rounding()
        factor = _to_factor(rate)
        self._scores, self._rate = scores, rate
        exponents = measure_gaps(scores)
        with np.errstate(over="ignore", under="ignore"):
            exponents *= factor
        weights = _weigh(exponents)
        self._sums: Floats = np.cumsum(weights, out=weights)
        self._margin = _margin(self._sums, 0.0)

    def exponent(self, index: int) -> Fraction:
        """Return x = λ(max q − q_index) ≥ 0."""
        return self._rate * (_exact(self._scores.max()) - _exact(self._scores[index]))

    def draw(self, digits: BitSource) -> int:
        return _draw_entry(self._sums, self._margin, self._entries, digits)

    def _entries(self) -> Iterator[tuple[Fraction, int]]:
        top = _exact(self._scores.max())
        return ((self._rate * (top - _exact(score)), 1) for score in self._scores.tolist())


class ExponentialDraws:
    """Exact draws by the exponential mechanism at one rate λ > 0, from one source of digits, for scores that change from round to round.

    ``reach``: the largest integer distance below the best whose weight :meth:`levels` looks up. Raises like :class:`ExponentialChoice`.
    """

    __slots__ = ("_digits", "_factor", "_far", "_near", "_rate", "reach")

    def __init__(self, rate: Fraction, digits: BitSource) -> None:
        check_rounding()
        self._rate, self._factor, self._digits = rate, _to_factor(rate), digits
        self.reach = int(min(_FAR / self._factor, _LONGEST))
        #: An upper bound of the weight of one entry beyond ``reach``.
        self._far = enclose_exp(rate * (self.reach + 1), 128)[1] * 2.0**-128 * (1 + 2.0**-50)
        self._near: Floats | None = None

    def uniform(self, size: int) -> int:
        """Return each of 0, ..., size − 1 with probability exactly 1/size, size ≥ 1."""
        return draw_below(size, self._digits)

    def among(self, scores: np.ndarray[Any, Any]) -> int:
        """Return index c with probability exactly e^(λq_c) / Σ e^(λq_b); scores as in :class:`ExponentialChoice`."""
        return ExponentialChoice(scores, self._rate).draw(self._digits)

    def levels(self, distances: Integers, counts: Integers, beyond: int, exact: Iterable[tuple[int, int]]) -> int:
        """Return i with probability n_i e^−λd_i / Σ for integers 0 = d_0 < d_1 < ... ≤ ``reach``; ``beyond`` more are further away.

        ``exact`` lists (d_i, n_i) and, after them, those beyond; the returned index is one into that list.
        """
        if self._near is None:
            self._near = _weigh(np.arange(self.reach + 1, dtype=np.float64) * self._factor)
        sums = np.cumsum(self._near[distances] * counts)
        entries = ((self._rate * distance, count) for distance, count in exact)
        return _draw_entry(sums, _margin(sums, beyond * self._far), lambda: entries, self._digits)


def _weigh(exponents: Floats) -> Floats:
    """Return e^−x for x ≥ 0 (e^−700 beyond 700) with a relative error below 2⁻⁴⁵, by additions and multiplications of IEEE 754 alone.

    x = i/64 + r with 0 ≤ r < 1/64 exactly; e^−i/64 is looked up; e^−r is a Taylor polynomial, off by at most r⁶/720 < 2⁻⁴⁵·⁴; its rounding
    errors, those of the table and the last product are below 2⁻⁵⁰ together. The array is overwritten.
    """
    rest = np.minimum(exponents, float(_NEGLIGIBLE), out=exponents)
    steps = (rest * _STEPS).astype(np.intp)
    rest -= steps * (1.0 / _STEPS)
    value = rest * (-1 / 5)
    for divisor in (4, 3, 2, 1):
        value += 1.0
        value *= rest
        value *= -1 / divisor
    value += 1.0
    value *= _table()[steps]
    return value


@cache
def _table() -> Floats:
    """Return e^−i/64 for i = 0, ..., 64·700, each with a relative error below 2⁻⁵¹."""

    def column(exponents: list[Fraction]) -> Floats:
        return np.array([float(Fraction(enclose_exp(x, 1100)[0], 1 << 1100)) for x in exponents])

    whole = column([Fraction(n) for n in range(_NEGLIGIBLE + 1)])
    return np.outer(whole, column([Fraction(i, _STEPS) for i in range(_STEPS)])).ravel()


def _margin(sums: Floats, tail: float) -> float:
    """Return what partial sums, total and their product with U are off by at most, together; entries not among them weigh ≤ ``tail``."""
    return float(sums[-1]) * ((len(sums) + 1000) * 2.0**-51) + tail


def _draw_entry(sums: Floats, margin: float, exact: Exact, digits: BitSource) -> int:
    """Return the entry i with C_{i−1} ≤ U·C < C_i for the exact partial sums C_i, of which ``sums`` are within ``margin``."""
    first = digits.digit() << NEXT_BITS | digits.digit()
    target = first * 2.0**-_FIRST * float(sums[-1])
    index = int(sums.searchsorted(target, side="right"))
    if index < len(sums) and (index == 0 or float(sums[index - 1]) + margin <= target) and target + margin < float(sums[index]):
        return index
    return _draw_enclosed(first, list(exact()), digits)


def _draw_enclosed(drawn: int, entries: list[tuple[Fraction, int]], digits: BitSource) -> int:
    """Go on with a number U of which the first 64 bits are known, by enclosures that become narrower with each further digit."""
    bits = _FIRST
    while True:
        ends = [enclose_exp(exponent, 2 * bits + 64) for exponent, _ in entries]
        below = list(accumulate(count * lo for (lo, _), (_, count) in zip(ends, entries, strict=True)))
        above = list(accumulate(count * hi for (_, hi), (_, count) in zip(ends, entries, strict=True)))
        # the first entry whose sum is certainly not below U·C, where the last one's never is
        index = min(bisect_left(below, (drawn + 1) * above[-1], key=lambda end: end << bits), len(entries) - 1)
        if index == 0 or above[index - 1] << bits <= drawn * below[-1]:
            return index
        drawn, bits = drawn << NEXT_BITS | digits.digit(), bits + NEXT_BITS


def _to_factor(rate: Fraction) -> float:
    """Return a rate as a float, with a relative error of 2⁻⁵³ at most. Raises :class:`InvalidArgument` outside [2⁻⁹⁰⁰, 2⁹⁰⁰]."""
    factor = nearest(rate)
    if not 2.0**-900 <= factor <= 2.0**900:
        raise InvalidArgument(
            "the rate of an exponential choice must lie between 2**-900 and 2**900, but another one was found; rescale the scores"
        )
    return factor


def measure_gaps(scores: np.ndarray[Any, Any]) -> Floats:
    """Return max q − q_c ≥ 0 as a new array of shape (m,), with relative errors of 2⁻⁵³ at most; ∞ where binary64 overflows."""
    best = scores.max()
    if scores.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(np.subtract(best, scores, dtype=np.float64))
    if scores.dtype.kind in "iu" and int(best) - int(scores.min()) < 2**63:
        wide = scores if scores.dtype == np.uint64 else scores.astype(np.int64, copy=False)  # differences of narrow integers wrap around
        return np.asarray((wide.max() - wide).astype(np.float64))
    top = _exact(best)
    return np.array([nearest(top - _exact(value)) for value in scores.tolist()])


def _exact(value: Any) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.generic) else value)
