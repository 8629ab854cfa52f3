"""Weights of linear profiles from a table of cubics, certified once for every coefficient of a range (docs/rounding.md, section 3.4).

For ε = a w the weight w*(a) depends on a and ε* alone. Each octave of a is cut into 2^10 pieces, numbered by the leading bits of a. Each
has a cubic P with (1 − 2e) w* ≤ P ≤ w* on all of it, e ≤ 4.9e-13; a piece for which that cannot be shown is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from accountant.weights.fast.linear import certify, solve_linear
from accountant.weights.fast.rounding import LIBRARY, TargetConstants, U
from profiles.arrays import Floats

#: Bits of the mantissa that number the pieces of an octave, and the binary64 bits below them.
_PIECE_BITS = 10
_SHIFT = 52 - _PIECE_BITS
_MOST_OCTAVES = 6
#: For y = a w* between these, |a⁴ d⁴w*/da⁴| ≤ FOURTH·w* and −a dw*/da ≤ e·w*; tests/weights/fast/test_table.py proves both.
LEAST_Y, MOST_Y, FOURTH = 1.0, 64.0, 128.0
#: Tolerance of the weights at the nodes, and the largest e of a piece.
_NODE_TOLERANCE, _MOST_ERROR = 6e-14, 4.9e-13
#: Above the Lebesgue constant of four Chebyshev nodes, 1.8478.
_LEBESGUE = 1.86
_NODES = np.cos(np.pi * (2 * np.arange(4) + 1) / 8)


@dataclass(frozen=True, slots=True, eq=False)
class WeightPieces:
    """Pieces ``first``, ``first`` + 1, ... of the binary64 numbers by their leading bits; the last coefficient is that of a³.

    The first and the last piece, and those without a proof, have NaN for coefficients.
    """

    first: int
    coefficients: tuple[Floats, ...]

    def evaluate(self, a: Floats, out: Floats) -> Floats:
        """Return in ``out`` a weight w with w*(1 − 9.8e-13) ≤ max(w, 1) ≤ w* for each a ≥ 0, known to a relative 4 U; NaN where there is
        none.
        """
        index = a.view(np.int64) >> _SHIFT
        index -= self.first
        part = np.empty_like(a)
        np.take(self.coefficients[-1], index, out=out, mode="clip")
        for coefficients in self.coefficients[-2::-1]:
            out *= a
            out += np.take(coefficients, index, out=part, mode="clip")
        return out


@lru_cache(maxsize=32)
def make_table(low: float, high: float, target: TargetConstants) -> WeightPieces | None:
    """Return the table for coefficients in [``low``, ``high``], at most six octaves below the end; None where no piece can be used."""
    if target.large or target.below < LEAST_Y or not 0 <= low <= high:
        return None
    last = min(_piece(high), _piece(target.below) - 1)  # a whole piece: its end is at most ε*, so that y ≥ ε* there
    first = max(_piece(low), last + 1 - (_MOST_OCTAVES << _PIECE_BITS), 1 << _PIECE_BITS)
    if first > last:
        return None
    with np.errstate(all="ignore"):
        return WeightPieces(first - 1, _fit(first, last, target))


def _piece(a: float) -> int:
    return int(np.float64(a).view(np.int64) >> _SHIFT)


def _fit(first: int, last: int, target: TargetConstants) -> tuple[Floats, ...]:
    ends = (np.arange(first, last + 2, dtype=np.int64) << _SHIFT).view(np.float64)
    start, half = ends[:-1], (ends[1:] - ends[:-1]) / 2
    middle = start + half
    nodes = middle + half * _NODES[:, np.newaxis]
    flat = nodes.ravel()
    solved = solve_linear(flat, 0.0, target).weights
    known = certify(flat, solved, LIBRARY + 8 * U, target, _NODE_TOLERANCE).reshape(nodes.shape).all(axis=0)
    values = solved.reshape(nodes.shape)
    known &= (values * nodes).max(axis=0) <= 0.99 * MOST_Y
    powers = _interpolate(nodes - middle, values, middle)
    least = values.min(axis=0) * 0.999
    size = sum(np.abs(part) * ends[1:] ** k for k, part in enumerate(powers)) / least  # Σ |C_k| a^k over w*
    missed = np.abs(_horner(powers, nodes) - values).max(axis=0) / least
    rounding = 10 * U * size
    error = _LEBESGUE * (rounding + missed + 1.01 * _NODE_TOLERANCE) + FOURTH * 1.02 / 192 * (half / start) ** 4 + rounding + 16 * U
    error *= 1 + 2.0**-20
    error[~(known & (error <= _MOST_ERROR))] = np.nan
    return tuple(np.concatenate([[np.nan], part * (1 - error), [np.nan]]) for part in powers)


def _interpolate(offsets: Floats, values: Floats, middle: Floats) -> list[Floats]:
    """Return the coefficients of 1, a, a², a³ of the cubics through four points each; what rounding does to them is measured later."""
    divided = [values[j] for j in range(4)]
    for order in range(1, 4):
        for j in range(3, order - 1, -1):
            divided[j] = (divided[j] - divided[j - 1]) / (offsets[j] - offsets[j - order])
    powers = [divided[3]]  # Newton's form, from the inside: multiply by (a − middle − offset), add the next
    for j in (2, 1, 0):
        root = middle + offsets[j]
        shifted = [np.zeros_like(middle), *powers]
        powers = [part - root * other for part, other in zip(shifted, [*powers, np.zeros_like(middle)], strict=True)]
        powers[0] = powers[0] + divided[j]
    return powers


def _horner(powers: list[Floats], a: Floats) -> Floats:
    result = powers[3] * a
    result += powers[2]
    result *= a
    result += powers[1]
    result *= a
    result += powers[0]
    return result
