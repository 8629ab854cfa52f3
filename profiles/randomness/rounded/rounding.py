"""The release: totals plus noise on the output grid, ⌊(G h_f + Y)/h + ½⌋ for a real-valued Y, decided exactly.

Statement (docs/exact-noise.md, Theorems 2 and 3): with G the totals in units of h_f and b F a row of noise, the integers returned are
⌊G h_f/h + s F + ½⌋, s = b/h, for the very real numbers F that the bits of the source define. Most are decided in binary64, where a proved
enclosure holds no integer; the others in balls, with further bits until their floors are unique. No draw is ever rejected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Booleans, Floats, Integers
from profiles.errors import InvalidArgument
from profiles.numbers import nearest
from profiles.randomness.bits import BitSource, Words, read_words
from profiles.randomness.rounded.elementary import KNOWN_BITS
from profiles.randomness.rounded.grid import Grid
from profiles.randomness.rounded.ieee import U, check_rounding, power_of_two
from profiles.randomness.rounded.laws import NoiseLaw

#: Words of one block: its arrays stay in the processor's cache.
_BLOCK = 1 << 14
_FURTHER_BITS = 64
_LOST = 1.0 + power_of_two(-10)  # what the computation of a bound may lose


@dataclass(frozen=True, slots=True)
class Precision:
    """What tests change: how many first bits of a word the fast path uses, and a factor ≥ 1 that its error bounds are multiplied by.

    Known bits are those of the law's own numbers, so that fewer of them are another draw. A larger factor leaves more rows to balls and
    changes no number's value, for the same uniform numbers. But it may change which row takes the next further word: the fast path decides
    some rows that balls of the same bits leave open.
    """

    known_bits: int = KNOWN_BITS
    widen: float = 1.0

    def __post_init__(self) -> None:
        if not (1 <= self.known_bits <= KNOWN_BITS and self.widen >= 1.0):
            raise InvalidArgument(
                f"rounded noise needs 1 to {KNOWN_BITS} known bits and a factor of at least 1, but {self.known_bits} and {self.widen} were "
                "found; change them"
            )


_USUAL = Precision()


def draw_rounded(totals: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, *, precision: Precision = _USUAL) -> Floats:
    """Return totals plus noise, float64 of shape (rows, d): the binary64 numbers nearest to h·⌊(G h_f + Y)/h + ½⌋, Y = b·F of ``law``.

    ``totals``: integers G in units of h_f, int64 or Python's in an object array, shape (rows, d); each row is one vector of the law, and
    rows are independent. That number is h·integer exactly while the integer is below 2^53 and the product below 2^1024 in size; what is too
    large becomes the largest float. Raises :class:`InvalidArgument` for what are not integers, and :class:`PDPError` where the processor
    does not round to nearest.

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
        rounded = _to_floats(integers, grid)
    return np.clip(rounded, -sys.float_info.max, sys.float_info.max, out=rounded)


def draw_rounded_integers(
    totals: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, *, precision: Precision = _USUAL
) -> NDArray[Any]:
    """Return the integers ⌊(G h_f + Y)/h + ½⌋: int64 where it holds all of them, else Python's in an object array, so that also the type is
    a function of what is released and of nothing else. Arguments and errors of :func:`draw_rounded`.
    """
    check_rounding()
    with np.errstate(all="ignore"):  # what overflows or is not defined has no bound, and is decided in balls
        units = _draw_units(_to_rows(totals, grid), law, grid, bits, precision)
    return units.astype(np.int64) if units.dtype == object and _fit(units.flat) else units


def _draw_units(rows: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, precision: Precision) -> NDArray[Any]:
    """Draw row by row, or unit by unit where the numbers of a row are independent."""
    if law.unit is None or rows.size == 0 or rows.shape[1] == law.unit:
        return _draw(rows, law, grid, bits, precision)
    flat = rows.reshape(-1)
    if flat.size % law.unit:
        flat = np.concatenate((flat, np.zeros(law.unit - flat.size % law.unit, dtype=flat.dtype)))
    return _draw(flat.reshape(-1, law.unit), law, grid, bits, precision).reshape(-1)[: rows.size].reshape(rows.shape)


def _to_rows(totals: NDArray[Any], grid: Grid) -> NDArray[Any]:
    """Return totals as int64 where they leave room for noise of up to 2^62 units (:func:`_draw` sees to larger), else as an object array.

    Arrays of other classes become plain ones: what sums, comparisons and views of theirs mean is not known here. A mask would be a hole in
    the noise.
    """
    if not isinstance(totals, np.ndarray) or isinstance(totals, np.ma.MaskedArray):
        raise InvalidArgument(
            f"totals must be a NumPy array without a mask, but {type(totals).__name__} was found; convert it, and fill what is masked"
        )
    rows = np.asarray(totals)
    if rows.ndim != 2:
        raise InvalidArgument(f"totals must have the shape (rows, d), but {rows.ndim} dimensions were found; reshape them")
    if rows.dtype.kind == "O":
        if not all(type(total) is int for total in rows.flat):
            raise InvalidArgument("totals in an object array must be Python integers, but other objects were found; convert them")
        return rows
    if rows.dtype.kind not in "iu":
        raise InvalidArgument(f"totals must be integers in units of the fine grid, but {rows.dtype} was found; quantise them first")
    if (rows.dtype.kind == "u" and rows.dtype.itemsize >= 8) or grid.output - grid.fine < 2:  # |G|/2^(output − fine) may exceed 2^61
        return rows.astype(object)
    return rows.astype(np.int64, copy=False)


def _fit(integers: Iterable[int]) -> bool:
    """Tell whether all of them are integers of 64 bits."""
    return all(-(2**63) <= integer < 2**63 for integer in integers)


def _to_floats(integers: NDArray[Any], grid: Grid) -> Floats:
    """Return the binary64 numbers nearest to h·integer, ±∞ for what is too large: h is one, so that nothing is rounded twice."""
    if integers.dtype != object:
        return integers.astype(np.float64) * grid.step
    return np.array([nearest(integer * grid.h) for integer in integers.flat], dtype=np.float64).reshape(integers.shape)


def _draw(rows: NDArray[Any], law: NoiseLaw, grid: Grid, bits: BitSource, precision: Precision) -> NDArray[Any]:
    """Decide all rows from their first words, then the open ones, one after the other, with the further words that each of them needs.

    A floor that the fast path decides is below 2^52 in size. One that balls decide has no bound; if it does not fit, all become objects.
    """
    drawn = np.empty(rows.shape, dtype=rows.dtype)
    if rows.size == 0:
        return drawn
    count, d = rows.shape
    taken = law.uniforms(d)
    ratio = float(grid.ratio)
    undecided: list[tuple[int, Words]] = []
    step = max(1, _BLOCK // taken)
    for start in range(0, count, step):
        block = rows[start : start + step]
        words = read_words(bits, len(block) * taken).reshape(len(block), taken)
        whole, fraction = _split(block, grid)
        values, errors = law.estimate(words, precision.known_bits, d)
        floors, decided = _decide(values, errors, fraction, ratio, precision.widen)
        whole += floors
        drawn[start : start + step] = whole
        if not decided.all():
            undecided += ((start + int(row), words[row]) for row in np.flatnonzero(~decided.all(axis=1)))
    for index, row_words in undecided:
        row = _decide_row([int(total) for total in rows[index]], row_words.tolist(), law, grid, bits, precision.known_bits)
        if drawn.dtype != object and not _fit(row):
            drawn = drawn.astype(object)
        drawn[index] = row
    return drawn


def _split(totals: NDArray[Any], grid: Grid) -> tuple[NDArray[Any], Floats]:
    """Return q and f in [½, 3/2), f exact, with G h_f/h + ½ = q + f."""
    shift = grid.output - grid.fine
    whole = totals >> shift
    fraction = (totals & ((1 << shift) - 1)).astype(np.float64)
    fraction *= power_of_two(-shift)
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
    errors *= ratio * _LOST
    floors = np.floor(values)
    rest = values - floors
    np.abs(values, out=values)
    values += 2.0
    values *= 8 * U
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
        further = read_words(bits, len(uniform)).tolist()
        uniform = [k << _FURTHER_BITS | word for k, word in zip(uniform, further, strict=True)]
        known += _FURTHER_BITS
