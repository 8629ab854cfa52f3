"""Records as integers: what a weighted record adds to an exact sum, truncated toward 0 (docs/exact-noise.md, Theorem 1).

Claim. For a public power of two h and a record x of weight w let u_j = trunc(w x_j/h), the exact product, toward 0. Then
|h u_j| ≤ w |x_j|, hence h ‖u‖_p ≤ w ‖x‖_p for every p: a sum of such integers plus noise costs no more than the sum of the records
would, and the sum of n of them is off by less than n h. :func:`quantise` returns u in integer-valued doubles, :func:`add_exactly` adds
them exactly.

How the exact product is truncated. Let e = w x_j/h over the reals and P = fl(e); h is a power of two, so that P is the IEEE product of w/h
and x_j. Records with |trunc(P)| > L are refused, where L is the least double that is not below 2¹¹ b/h, so that |P| < 2⁵³. Let e > 0, else
mirror.

* P is not an integer: m = trunc(P) means m < P < m + 1, and both ends are doubles. Rounding is monotone and leaves doubles where they are:
  e ≥ m + 1 would give P ≥ m + 1, and e ≤ m would give P ≤ m. So trunc(e) = m.
* P < 1, also where it has underflowed: e < 1 in the same way, and trunc(e) = 0.
* P ≥ 1 is an integer: |e − P| ≤ 1/2, because doubles below 2⁵³ are at most 1 apart. So trunc(e) is P where e ≥ P, and P − 1 otherwise.
  Write w/h = f·2^i and x_j = g·2^k with f, g in [1/2, 1). P is not subnormal, so that P = fl(f g)·2^(i+k), and e − P has the sign of
  f g − fl(f g). This difference is a multiple of 2⁻¹⁰⁶ below 2⁻⁵³, hence a double, and Dekker's product after Veltkamp's splitting gives
  it without error: numbers in [1/2, 1) neither over- nor underflow on the way (Dekker 1971; Muller et al. 2018, Section 4.4). ∎

With all weights 1 there is no product, and P = e. A processor that takes subnormal numbers for 0 makes some |u_j| smaller: the claim stays.

Adding. Partial sums of integers are integers. Where (number of terms)·max|u| ≤ 2⁵³ all of them are doubles, so that every order of
additions, fused or not, is exact. Otherwise u = 2²⁶ u' + u'' with |u'| ≤ 2²⁶, |u''| < 2²⁶, and both parts are added like that (up to 2²⁷
terms). What blocks of records add up to is kept in 64-bit integers where these hold every total, and otherwise in Python's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Booleans, Floats, ignore_flags
from profiles.errors import InvalidData
from profiles.mechanisms.datasets import WeightedData
from profiles.numbers import round_up
from profiles.private import list_values
from profiles.randomness.rounded import Grid
from profiles.randomness.rounded.ieee import power_of_two

#: Integers of 64 bits, or Python's in an array of objects where 64 bits do not hold every total.
Totals = NDArray[Any]

#: The largest w|x_j|/b that is added up: a record above it costs more than 2048 nats.
MOST_RATIO = 2**11

_ENTRIES = 2**14  # of one temporary array: a few of them stay in a core's cache
_MOST_CACHED = 2**27  # numbers that are kept beside a data set
_EXACT = power_of_two(53)  # integers up to here are doubles
_HALF = power_of_two(26)
_SPLITTER = power_of_two(27) + 1
_COMFORT = 1000  # exponents up to here, of h and of the weights, leave w/h a normal number


@dataclass(frozen=True, slots=True)
class SumUnit:
    """The public unit h = 2^``exponent`` of one sum, and ``most``, the largest |P| that is not refused: of the page above."""

    exponent: int
    most: float

    @classmethod
    def of(cls, grid: Grid) -> SumUnit:
        """Return the unit of the sums to which noise on ``grid`` is added: its fine grid.

        >>> SumUnit.of(Grid.of(Fraction(3)))
        SumUnit(exponent=-39, most=3377699720527872.0)
        """
        return cls(grid.fine, round_up(MOST_RATIO * grid.scale / grid.h_f))


@ignore_flags
def quantise(points: Floats, weights: Floats | None, unit: SumUnit) -> Floats:
    """Return u = trunc(w x/h) of each entry as doubles: ``points`` of shape (n, d), ``weights`` of shape (n,) or None for weights 1.

    What is beyond ``unit.most`` comes out beyond it, or infinite.

    >>> quantise(np.array([[1.0, -0.3]]), np.array([3.0]), SumUnit(-2, 2.0**40)).tolist()
    [[12.0, -3.0]]
    """
    with np.errstate(all="ignore"):
        if weights is None:
            scaled: Floats = _scale(points, -unit.exponent)
            return np.trunc(scaled, out=scaled)
        products = _multiply(points, weights, -unit.exponent)
    units: Floats = np.trunc(products)
    doubtful = units == products
    if np.count_nonzero(doubtful):
        _lower(units, points, weights, doubtful & (units != 0) & np.isfinite(units))
    return units


def _scale(values: Floats, exponent: int) -> Floats:
    """Return ``values``·2^``exponent``, a new array."""
    scaled = values * power_of_two(exponent) if abs(exponent) <= _COMFORT else np.ldexp(values, exponent)
    return np.asarray(scaled, dtype=np.float64)


def _multiply(points: Floats, weights: Floats, exponent: int) -> Floats:
    """Return fl(w x 2^``exponent``) where it is at least 1 in magnitude, and otherwise something below 1."""
    most = float(weights.max(initial=1.0))
    if abs(exponent) <= _COMFORT and most <= power_of_two(_COMFORT - max(exponent, 0)):
        return np.asarray(points * (weights * power_of_two(exponent))[:, np.newaxis])
    (significands, powers), (factors, shifts) = np.frexp(points), np.frexp(weights)
    total = powers.astype(np.int64) + shifts[:, np.newaxis] + exponent
    return np.asarray(np.ldexp(significands * factors[:, np.newaxis], np.clip(total, -(10**5), 10**5).astype(np.int32)))


def _lower(units: Floats, points: Floats, weights: Floats, doubtful: Booleans) -> None:
    """Subtract 1 in magnitude from the ``doubtful`` entries whose exact product is smaller than the computed one."""
    places = np.nonzero(doubtful)
    if not places[0].size:
        return
    x, w = np.frexp(points[places])[0], np.frexp(weights[places[0]])[0]
    product = x * w
    x_high, x_low = _split(x)
    w_high, w_low = _split(w)
    error = ((x_high * w_high - product) + x_high * w_low + x_low * w_high) + x_low * w_low
    units[places] -= np.where(error * product < 0, np.sign(product), 0.0)


def _split(values: Floats) -> tuple[Floats, Floats]:
    """Return numbers in [1/2, 1) as sums of two with at most 26 bits, by Veltkamp."""
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    return high, values - high


def add_exactly(add: Callable[[Floats], Floats], units: Floats, terms: int, most: float) -> Totals:
    """Return add(u) as integers; each number of ``add`` is the sum of at most ``terms`` ≤ 2²⁷ entries of u, which ``most`` ≤ 2⁵² bounds.

    >>> add_exactly(lambda u: u.sum(axis=0), np.array([[2.0**52], [2.0**52 - 1]]), 2, 2.0**52).tolist()
    [9007199254740991]
    """
    if terms <= count_exact_terms(most):
        return add(units).astype(np.int64)
    high = np.trunc(units / _HALF)
    low = units - high * _HALF
    kind = hold(terms, most)
    return np.asarray(add(high).astype(np.int64).astype(kind) * 2**26 + add(low).astype(np.int64))


def count_exact_terms(most: float) -> int:
    """Return how many integers that ``most`` bounds in size can be added up in doubles, in any order, without rounding.

    >>> count_exact_terms(2.0**40)
    8192
    """
    return int(_EXACT // most)


def hold(terms: int, most: float) -> type:
    """Return the type of the entries of totals of at most ``terms`` numbers that ``most`` bounds: ``numpy.int64`` or ``object``."""
    return np.int64 if terms * int(most) < 2**63 else object


def weigh(data: WeightedData) -> Floats | None:
    """Return the weights of a data set, None where all of them are 1 and there is no product to truncate."""
    return data.weights if (data.weights != 1).any() else None


@ignore_flags
def total_units(points: Floats, weights: Floats | None, unit: SumUnit) -> Totals:
    """Return Σ u of the records, exactly, shape (d,); see :func:`quantise`. Raises :class:`InvalidData` where one is beyond ``unit.most``.

    >>> total_units(np.array([[1.0, -0.3], [0.5, 0.5]]), None, SumUnit(-2, 2.0**40)).tolist()
    [6, 1]
    """
    kind = hold(len(points), unit.most)
    total: Totals = np.zeros(points.shape[1], dtype=kind)
    for rows in cut_rows(len(points), points.shape[1]):
        units = quantise(points[rows], None if weights is None else weights[rows], unit)
        most = require_within(units, unit, rows.start)
        total += add_exactly(lambda part: part.sum(axis=0), units, len(units), most).astype(kind)
    return total


def cut_rows(count: int, columns: int) -> list[slice]:
    """Return consecutive blocks of ``count`` rows whose temporary arrays stay in a core's cache."""
    size = max(1, _ENTRIES // columns)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def require_within(units: Floats, unit: SumUnit, first_row: int) -> float:
    """Return max |u|, at least 1. Raises :class:`InvalidData` where it is above ``unit.most``; rows count from ``first_row`` on."""
    most = max(float(units.max(initial=1.0)), -float(units.min(initial=-1.0)))
    if most > unit.most:
        row = first_row + int((np.abs(units).max(axis=1) > unit.most).argmax())
        raise InvalidData(
            f"weighted records and weights must be at most {MOST_RATIO} times the noise scale to be added up exactly, but row {row} has a "
            'larger one, which would cost more than 2048 nats; choose a larger noise scale, or arithmetic="binary64" for a study',
            private=list_values([(row, math.ldexp(1.0, 11) * float(np.abs(units[row - first_row]).max()) / unit.most)]),
        )
    return most


@dataclass(frozen=True, slots=True, eq=False)
class QuantisedData:
    """The units of a data set: of its sums, shape (n, d), and beside them that of its counts; made by :func:`prepare_units`.

    ``most`` bounds all of them. Where n (d + 1) ≤ 2²⁷ units are kept once they are computed, because that takes longer than reading them;
    otherwise they are made again in each pass, in blocks.
    """

    data: WeightedData
    sums: SumUnit
    counts: SumUnit
    weighted: bool
    most: float
    kept: Floats | None
    known: set[int] = field(default_factory=set)

    def fill(self, rows: slice, out: Floats) -> Floats:
        """Return the units of some rows, shape (rows, d + 1), computed into ``out``."""
        weights = self.data.weights[rows] if self.weighted else None
        points, cells = self.data.points[rows], out[: rows.stop - rows.start]
        for part in cut_rows(len(points), points.shape[1]):
            cells[part, :-1] = quantise(points[part], None if weights is None else weights[part], self.sums)
        cells[:, -1:] = quantise(self.data.weights[rows, np.newaxis], None, self.counts)
        return cells

    def read(self, rows: slice, out: Floats) -> Floats:
        """Return the units of some rows, shape (rows, d + 1): those that are kept, or new ones in ``out``."""
        return self.fill(rows, out) if self.kept is None else self.kept[rows]

    def read_all(self) -> Floats:
        """Return the units of all rows, shape (n, d + 1)."""
        rows, columns = self.data.points.shape
        return self.fill(slice(0, rows), np.empty((rows, columns + 1)))

    def keep(self, rows: slice) -> None:
        """Compute the units of some rows where they are to be kept and are not known yet; each thread has rows of its own."""
        if self.kept is not None and rows.start not in self.known:
            self.fill(rows, self.kept[rows])
            self.known.add(rows.start)


@ignore_flags
def prepare_units(data: WeightedData, reach: float, sums: SumUnit, counts: SumUnit) -> QuantisedData:
    """Return the units of ``data``, none of which is computed if ‖x‖₂ ≤ ``reach`` shows that all are small enough.

    Raises :class:`InvalidData` where one is beyond its limit.
    """
    rows, columns = data.points.shape
    heaviest = Fraction(float(data.weights.max(initial=1.0)))
    weighted = heaviest != 1
    bound = heaviest * Fraction(reach) / Fraction(2) ** sums.exponent if math.isfinite(reach) else math.inf
    if bound > sums.most:
        bound = 1.0
        for block in cut_rows(rows, columns):
            units = quantise(data.points[block], data.weights[block] if weighted else None, sums)
            bound = max(bound, require_within(units, sums, block.start))
    if heaviest > Fraction(counts.most) * Fraction(2) ** counts.exponent:
        require_within(quantise(data.weights[:, np.newaxis], None, counts), counts, 0)
    most = max(float(bound), float(min(heaviest / Fraction(2) ** counts.exponent, Fraction(counts.most)))) * (1 + power_of_two(-50))
    kept = np.empty((rows, columns + 1)) if rows * (columns + 1) <= _MOST_CACHED else None
    return QuantisedData(data, sums, counts, weighted, min(most, max(sums.most, counts.most)), kept)
