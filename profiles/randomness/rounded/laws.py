"""The laws of noise as functions of a fixed number of uniform numbers: an estimate with a proved error bound, and an enclosure in balls.

A law gives rows Y/b of d real numbers, Y of density proportional to exp(−‖y‖/b) for the norm that the law is named after, or of
exp(−‖y‖₂²/(2b²)) for the normal one. Proofs of the laws and of every bound: docs/exact-noise.md, sections 2 and 4. Write u = 2⁻⁵³.

A bound is itself computed in binary64, from positive numbers by +, × and ÷, and differences of which no more than half cancels: it is below
what it stands for by a factor of 1 − 2⁻²⁰ at worst, which whoever uses it allows for. It is ∞ or NaN where nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.randomness.bits import Words
from profiles.randomness.rounded.elementary import first_bits, log_error, negative_log, turn, turn_error
from profiles.randomness.rounded.ieee import U, power_of_two

#: Balls of python-flint, which is loaded where the first one is made.
Balls = list[Any]


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """Claim: for words of uniform and independent bits, :attr:`estimate` and :attr:`enclose` speak of one real-valued row F of the law.

    ``uniforms``: how many words a row of d numbers takes. ``estimate(words, known, d)``: for words of shape (rows, m), of which the first
    ``known`` bits are used (and the last one as a sign), values and error bounds of shape (rows, d) that hold however the bits go on.
    ``enclose(balls, words, d)``: balls around the d numbers of one row, for balls around its m uniform numbers in [0, 1].
    ``unit``: how many numbers are drawn together where rows are independent of each other; None: all of a row.
    """

    name: str
    uniforms: Callable[[int], int]
    estimate: Callable[[Words, int, int], tuple[Floats, Floats]]
    enclose: Callable[[Balls, Sequence[int], int], Balls]
    unit: int | None = None

    def __repr__(self) -> str:
        return f"NoiseLaw({self.name!r})"


def sum_rows(values: Floats) -> Floats:
    """Return the sums of rows, shape (rows, m ≥ 1), each entry through ⌈log₂ m⌉ additions at most."""
    columns: Floats = np.array(values.T, order="C")  # whose halves are two blocks of memory
    width = len(columns)
    while width > 1:
        half = width // 2
        columns[:half] += columns[width - half : width]
        width -= half
    total: Floats = columns[0]
    return total


def _depth(terms: int) -> int:
    return max(terms - 1, 0).bit_length()  # ⌈log₂ m⌉


def _estimate_logs(words: Words, known: int) -> tuple[Floats, Floats]:
    """Return −ln U and bounds."""
    v = first_bits(words, known)
    value = negative_log(v)
    return value, log_error(v, value, known)


# p = 1, and one side of it: F = ±(−ln U).


def _estimate_exponential(words: Words, known: int, _d: int) -> tuple[Floats, Floats]:
    return _estimate_logs(words, known)


def _enclose_exponential(balls: Balls, _words: Sequence[int], _d: int) -> Balls:
    return [-ball.log() for ball in balls]


def _estimate_laplace(words: Words, known: int, d: int) -> tuple[Floats, Floats]:
    value, error = _estimate_exponential(words, known, d)
    value.view(np.uint64)[...] ^= words << np.uint64(63)  # the word's last bit is the sign
    return value, error


def _enclose_laplace(balls: Balls, words: Sequence[int], _d: int) -> Balls:
    return [ball.log() if word & 1 else -ball.log() for ball, word in zip(balls, words, strict=True)]


# Normal pairs (Box and Muller 1958): √(−c ln U)·(cos 2πU', sin 2πU').


def _estimate_pairs(squares: Floats, errors: Floats, words: Words, known: int) -> tuple[Floats, Floats, Floats]:
    """Return cosines, sines and one bound of both, shape (rows, pairs), of squared radii A, their bounds α, and the words of the turns.

    With ρ = fl √A: |ρ − √A*| ≤ α/√A + uρ, and A > 0 as logarithms are. The first two arrays are used up.
    """
    radius = np.sqrt(squares, out=squares)
    errors /= radius
    errors += radius * (turn_error(known) + 2 * U)
    c, s = turn(first_bits(words, known))
    c *= radius
    s *= radius
    return c, s, errors


def _enclose_pairs(balls: Balls, factor: int, d: int) -> Balls:
    """Return d coordinates in the order of :func:`_join`."""
    pairs = len(balls) // 2
    radii = [(-factor * ball.log()).sqrt() for ball in balls[:pairs]]
    turns = [(2 * ball).sin_cos_pi() for ball in balls[pairs:]]
    cosines = [radius * c for radius, (_, c) in zip(radii, turns, strict=True)]
    return (cosines + [radius * s for radius, (s, _) in zip(radii, turns, strict=True)])[:d]


def _pairs(d: int) -> int:
    return (d + 1) // 2


def _join(first: Floats, second: Floats, d: int) -> Floats:
    """Return the first d columns of two arrays side by side: for an odd d the last normal number is not used."""
    return np.concatenate((first, second[:, : d - first.shape[1]]), axis=1)


def _estimate_normal(words: Words, known: int, d: int) -> tuple[Floats, Floats]:
    pairs = _pairs(d)
    squares, errors = _estimate_logs(words[:, :pairs], known)
    squares *= 2.0
    errors *= 2.0
    c, s, error = _estimate_pairs(squares, errors, words[:, pairs:], known)
    return _join(c, s, d), _join(error, error, d)


def _enclose_normal(balls: Balls, _words: Sequence[int], d: int) -> Balls:
    return _enclose_pairs(balls, 2, d)


# p = 2: F = R·g/‖g‖ with R the sum of d numbers −ln U, and g normal (its scale cancels).


def _estimate_sum(terms: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """Return sums of rows and their bounds, shape (rows,): the bounds of the terms, and one u for each level of the sum."""
    total, error = sum_rows(terms), errors.sum(axis=1)
    error += total * (_depth(terms.shape[1]) * U)
    return total, error


def _estimate_euclidean(words: Words, known: int, d: int) -> tuple[Floats, Floats]:
    """With n = fl ‖g‖ and a = fl(R/n): |a − a*| ≤ ε_a = (ε_R + a ε_n)/(n − ε_n) + ua, |F_j − F_j*| ≤ (a + ε_a)γ_j + |g_j|ε_a + u|F_j|."""
    logs = d + _pairs(d)
    terms, errors = _estimate_logs(words[:, :logs], known)
    c, s, gamma = _estimate_pairs(terms[:, d:], errors[:, d:], words[:, logs:], known)
    g, gamma = _join(c, s, d), _join(gamma, gamma, d)
    radius, radius_error = _estimate_sum(terms[:, :d], errors[:, :d])
    norm = np.sqrt(sum_rows(g * g))
    norm_error = np.sqrt((gamma * gamma).sum(axis=1))
    norm_error += norm * ((_depth(d) / 2 + 2) * U)
    radius /= norm
    error = radius_error + radius * norm_error
    norm_error[~(norm_error <= norm * 0.5)] = np.inf
    norm -= norm_error
    error /= norm
    error[~(norm > 0)] = np.inf
    error += radius * (2 * U)
    gamma *= (radius + error)[:, None]
    value = g * radius[:, None]
    np.abs(g, out=g)
    g *= (error + radius * (2 * U))[:, None]
    gamma += g
    return value, gamma


def _enclose_euclidean(balls: Balls, _words: Sequence[int], d: int) -> Balls:
    radius = -sum((ball.log() for ball in balls[1:d]), balls[0].log())
    g = _enclose_pairs(balls[d:], 1, d)
    norm = sum((x * x for x in g[1:]), g[0] * g[0]).sqrt()
    return [radius * x / norm for x in g]


# p = ∞: F = T(2U − 1) with T the sum of d + 1 numbers −ln U.


def _estimate_maximum(words: Words, known: int, d: int) -> tuple[Floats, Floats]:
    """|T(2V − 1) − T*(2U − 1)| ≤ ε_T + T·2^−known, because |2U − 1| ≤ 1; 2V − 1 is exact."""
    size, size_error = _estimate_sum(*_estimate_logs(words[:, : d + 1], known))
    place = first_bits(words[:, d + 1 :], known)
    place *= 2.0
    place -= 1.0
    place *= size[:, None]
    error = size_error + size * (power_of_two(-known) + 2 * U)
    return place, np.repeat(error[:, None], d, axis=1)


def _enclose_maximum(balls: Balls, _words: Sequence[int], d: int) -> Balls:
    size = -sum((ball.log() for ball in balls[1 : d + 1]), balls[0].log())
    return [size * (2 * ball - 1) for ball in balls[d + 1 :]]


#: Density ∝ exp(−‖y‖₁): independent numbers ±(−ln U), the sign being the last bit of the same word.
LAPLACE = NoiseLaw("laplace", lambda d: d, _estimate_laplace, _enclose_laplace, unit=1)
#: Density exp(−y) on y ≥ 0, each number by itself.
EXPONENTIAL = NoiseLaw("exponential", lambda d: d, _estimate_exponential, _enclose_exponential, unit=1)
#: Independent standard normal numbers.
NORMAL = NoiseLaw("normal", lambda d: 2 * _pairs(d), _estimate_normal, _enclose_normal, unit=2)
#: Density ∝ exp(−‖y‖₂).
EUCLIDEAN = NoiseLaw("euclidean", lambda d: d + 2 * _pairs(d), _estimate_euclidean, _enclose_euclidean)
#: Density ∝ exp(−‖y‖_∞).
MAXIMUM = NoiseLaw("maximum", lambda d: 2 * d + 1, _estimate_maximum, _enclose_maximum)


def k_norm_law(p: float) -> NoiseLaw:
    """Return the law of density ∝ exp(−‖y‖_p), for p = 1, 2 or ∞. Raises :class:`InvalidArgument` for others.

    >>> k_norm_law(2)
    NoiseLaw('euclidean')
    """
    for known, law in ((1, LAPLACE), (2, EUCLIDEAN), (math.inf, MAXIMUM)):
        if p == known:
            return law
    raise InvalidArgument(
        f'exact noise is offered for the norms p = 1, 2 and inf, but p = {p} was found; choose one of them, or arithmetic="binary64", '
        "which keeps the hypothesis of exact arithmetic open"
    )
