"""The release: totals plus noise on the output grid, ⌊(G h_f + Y)/h + ½⌋ for a real-valued Y, decided exactly.

Statement (docs/exact-noise.md, Theorems 2 and 3): with G the totals in units of h_f and b F a row of noise, the integers returned are
⌊G h_f/h + s F + ½⌋, s = b/h, for the very real numbers F that the bits of the source define. Most are decided in binary64, where a proved
enclosure holds no integer; the others in balls, with further bits until their floors are unique. No draw is ever rejected.
"""

from __future__ import annotations

import math
import operator
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Booleans, Floats, Integers
from profiles.errors import InvalidArgument, PDPError
from profiles.numbers import nearest
from profiles.randomness.bits import BitSource, Words
from profiles.randomness.rounded.elementary import KNOWN_BITS
from profiles.randomness.rounded.grid import Grid
from profiles.randomness.rounded.laws import NoiseLaw

#: Words of one block: its arrays stay in the processor's cache.
_BLOCK = 1 << 14
_FURTHER_BITS = 64


@dataclass(frozen=True, slots=True)
class Precision:
    """What tests change: how many first bits of a word the fast path uses, and a factor ≥ 1 that its error bounds are multiplied by.

    Neither changes a result, for the same words, but only where it is decided; fewer bits are fewer bits of the law's own numbers.
    """

    known_bits: int = KNOWN_BITS
    widen: float = 1.0

    def __post_init__(self) -> None:
        if not (1 <= self.known_bits <= KNOWN_BITS and self.widen >= 1.0):
            raise InvalidArgument(
                f"rounded noise needs 1 to {KNOWN_BITS} known bits and a factor of at least 1, but {self.known_bits} and {self.widen} were "
                " found; change them"
            )


_USUAL = Precision()


def draw_rounded(totals: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, *, precision: Precision = _USUAL) -> Floats:
    """Return totals plus noise, float64 of shape (rows, d): the binary64 numbers nearest to h·⌊(G h_f + Y)/h + ½⌋, Y = b·F of ``law``.

    ``totals``: integers G in units of h_f, int64 or Python's in an object array, shape (rows, d); each row is one vector of the law, and
    rows are independent. That number is h·integer exactly while the integer is below 2^53 in size; too large ones become the largest float.
    Raises :class:`InvalidArgument` for what are no integers, and :class:`PDPError` where the processor does not round to nearest.

    >>> from fractions import Fraction
    >>> from profiles.randomness.bits import open_bits
    >>> from profiles.randomness.rounded import LAPLACE
    >>> grid = Grid.of(Fraction(1, 2))
    >>> found = draw_rounded(np.array([[0, 3]]), LAPLACE, grid, open_bits(1))
    >>> found.shape, (found / grid.step == np.floor(found / grid.step)).tolist()
    ((1, 2), [[True, True]])
    """
    integers = draw_rounded_integers(totals, law, grid, bits, precision=precision)
    with np.errstate(all="ignore"):
        found = _to_floats(integers, grid)
    return np.clip(found, -sys.float_info.max, sys.float_info.max, out=found)


def draw_rounded_integers(
    totals: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, *, precision: Precision = _USUAL
) -> NDArray[Any]:
    """Return the integers ⌊(G h_f + Y)/h + ½⌋: int64, or Python's in an object array. Arguments and errors of :func:`draw_rounded`."""
    check_rounding()
    with np.errstate(all="ignore"):  # what overflows or is not defined has no bound, and is decided in balls
        return _draw_units(_to_rows(totals, grid), law, grid, bits, precision)


def _draw_units(rows: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, precision: Precision) -> NDArray[Any]:
    """Draw row by row, or unit by unit where the numbers of a row are independent."""
    if law.unit is None or rows.size == 0 or rows.shape[1] == law.unit:
        return _draw(rows, law, grid, bits, precision)
    flat = rows.reshape(-1)
    if flat.size % law.unit:
        flat = np.concatenate((flat, np.zeros(law.unit - flat.size % law.unit, dtype=flat.dtype)))
    return _draw(flat.reshape(-1, law.unit), law, grid, bits, precision).reshape(-1)[: rows.size].reshape(rows.shape)


def _to_rows(totals: NDArray[Any], grid: Grid) -> NDArray[Any]:
    """Return totals as int64 where every sum that follows fits it, else as an object array."""
    if totals.ndim != 2:
        raise InvalidArgument(f"totals must have the shape (rows, d), but {totals.ndim} dimensions were found; reshape them")
    if totals.dtype.kind == "O":
        if not all(type(total) is int for total in totals.flat):
            raise InvalidArgument("totals in an object array must be Python integers, but other objects were found; convert them")
        return totals
    if totals.dtype.kind not in "iu":
        raise InvalidArgument(f"totals must be integers in units of the fine grid, but {totals.dtype} was found; quantise them first")
    if totals.dtype == np.uint64 or grid.output - grid.fine < 2:  # total/2^(output − fine) plus noise below 2^53 fits
        return totals.astype(object)
    return totals.astype(np.int64, copy=False)


def _to_floats(integers: NDArray[Any], grid: Grid) -> Floats:
    """Return the binary64 numbers nearest to h·integer, ±∞ for what is too large: h is one, so that nothing is rounded twice."""
    if integers.dtype != object:
        return integers.astype(np.float64) * grid.step
    return np.array([nearest(integer * grid.h) for integer in integers.flat], dtype=np.float64).reshape(integers.shape)


def _draw(rows: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, precision: Precision) -> NDArray[Any]:
    """Decide all rows from their first words, then the open ones with further words: which words a row has depends on nothing else."""
    found = np.empty(rows.shape, dtype=rows.dtype)
    if rows.size == 0:
        return found
    count, d = rows.shape
    taken = law.uniforms(d)
    ratio = float(grid.ratio)
    undecided: list[tuple[int, Words]] = []
    step = max(1, _BLOCK // taken)
    for start in range(0, count, step):
        block = rows[start : start + step]
        words = bits.words(len(block) * taken).reshape(len(block), taken)
        whole, fraction = _split(block, grid)
        values, errors = law.estimate(words, precision.known_bits, d)
        floors, decided = _decide(values, errors, fraction, ratio, precision.widen)
        whole += floors
        found[start : start + step] = whole
        if not decided.all():
            undecided += ((start + int(row), words[row]) for row in np.flatnonzero(~decided.all(axis=1)))
    for index, row_words in undecided:
        found[index] = _decide_row([int(total) for total in rows[index]], row_words.tolist(), law, grid, bits, precision.known_bits)
    return found


def _split(totals: NDArray[Any], grid: Grid) -> tuple[NDArray[Any], Floats]:
    """Return q and f in [½, 3/2), f exact, with G h_f/h + ½ = q + f."""
    shift = grid.output - grid.fine
    whole = totals >> shift
    fraction = (totals & ((1 << shift) - 1)).astype(np.float64)
    fraction *= 2.0**-shift
    fraction += 0.5
    return whole, fraction


def _decide(values: Floats, errors: Floats, fraction: Floats, ratio: float, widen: float) -> tuple[Integers, Booleans]:
    """Return ⌊s F + f⌋, and whether it is that for every F within ``errors`` of ``values``. The arrays are used up.

    With t = fl(fl(s·F̂) + f) the true value is within s ε + 3u(|t| + 2) of t: s is within us of its exact value, and a product and a sum are
    rounded. The distance of t from its floor is rounded once more. So 8u(|t| + 2) is enough, and 1 + 2⁻¹⁰ covers what is lost in the
    computation of bounds.
    """
    values *= ratio
    values += fraction  # t
    errors *= ratio * (1.0 + 2.0**-10)
    floors = np.floor(values)
    rest = values - floors
    np.abs(values, out=values)
    values += 2.0
    values *= 2.0**-50
    errors += values
    if widen != 1.0:
        errors *= widen
    decided = rest > errors
    errors += rest
    decided &= errors < 1.0
    floors[~decided] = 0.0
    return floors.astype(np.int64), decided


def _decide_row(totals: list[int], words: list[int], law: NoiseLaw, grid: Grid, bits: BitSource, known: int) -> list[int]:
    """Return one row, decided in balls: with the bits that are known, then with 64 more of each uniform number, until all are unique."""
    from flint import arb, fmpq  # noqa: PLC0415 - loads FLINT, which few draws need

    from profiles.balls import working_precision  # noqa: PLC0415

    shift, s = grid.output - grid.fine, grid.ratio
    uniform = [word >> (64 - known) for word in words]
    starts = [(total << 1) + (1 << shift) for total in totals]  # 2·(G + 2^shift/2)
    while True:
        with working_precision(2 * known + 64):
            ratio, unit = arb(fmpq(s.numerator, s.denominator)), arb((1, -known - 1))
            balls = [arb(2 * k + 1, 1) * unit for k in uniform]
            values = law.enclose(balls, words, len(totals))
            floors = [
                (value * ratio + arb(fmpq(start & ((2 << shift) - 1), 2 << shift))).floor().unique_fmpz()
                for value, start in zip(values, starts, strict=True)
            ]
        if None not in floors:
            return [(start >> (shift + 1)) + int(floor) for start, floor in zip(starts, floors, strict=True)]
        further = bits.words(len(uniform)).tolist()
        uniform = [k << _FURTHER_BITS | word for k, word in zip(uniform, further, strict=True)]
        known += _FURTHER_BITS


def _probe() -> tuple[Floats, Floats, tuple[bytes, ...]]:
    """Return operands and what IEEE 754 makes of them: sums, products and quotients, and the roots of the first, in that order.

    The sums tell directed rounding, double rounding in longer registers (the first one), and subnormal numbers that are flushed to zero as
    results or as operands.
    """
    tie = 2.0**-53
    left = [1.0, 1.0, -1.0, 2.0**-1022, 2.0**-1074, 1.0, 2.0, 0.1, 3.0, 5.0, 0.7]
    right = [tie + 2.0**-66, tie, -tie, -(2.0**-1023), 2.0**-1074, 3.0, 3.0, 0.1, 0.1, -7.0, 0.3]
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(left, right, strict=True)]
    # a fraction is turned into the nearest float in integer arithmetic
    sums, products, quotients = ([float(act(x, y)) for x, y in pairs] for act in (operator.add, operator.mul, operator.truediv))
    roots = [_nearest_root(abs(x)) for x, _ in pairs]
    expected = tuple(np.array(values).tobytes() for values in (sums, products, quotients, roots))
    return np.array(left), np.array(right), expected


def _nearest_root(x: Fraction) -> float:
    """Return the float nearest to √x: of 4^600·x an integer root has hundreds of digits, and no root is half-way between two floats."""
    return float(Fraction(math.isqrt(int(x * 4**1200)), 2**1200))


_LEFT, _RIGHT, _EXPECTED = _probe()


def check_rounding() -> None:
    """Refuse arithmetic that is not rounded to nearest as IEEE 754 says, with subnormal numbers. It takes some microseconds, and a thread's
    rounding can be changed at any time by any library, so that every draw asks. Raises :class:`PDPError`.
    """
    with np.errstate(all="ignore"):
        found = (_LEFT + _RIGHT, _LEFT * _RIGHT, _LEFT / _RIGHT, np.sqrt(np.abs(_LEFT)))
    if tuple(values.tobytes() for values in found) != _EXPECTED:
        raise PDPError(
            "exact noise was to be drawn, but this processor (or a library that changed its state) does not round to nearest with "
            "subnormal numbers as IEEE 754 says; draw in a process without that library"
        )


__all__ = ["Precision", "check_rounding", "draw_rounded", "draw_rounded_integers"]
