"""Weighted data sets as arrays: everything that a sampler accepts is checked here, and nothing is repaired or clipped on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from profiles.arrays import Floats, ignore_flags
from profiles.errors import InvalidArgument, InvalidData
from profiles.numbers import ExactLike, exact_text, round_down, to_exact, to_number
from profiles.private import hide_length, list_values, name_type

_COLUMNS = 2**12  # terms of one of NumPy's sums of products: longer ones are cut at places that depend on the other rows
_ROWS = 2**12  # rows a block: temporary arrays of this length stay in a core's cache, and do not grow with the data set
#: The least radius of a record domain: near the subnormal numbers a norm is not known to a relative error.
LEAST_RADIUS = 2.0**-1000
#: Sums of squares between these are known to a relative error: no square that matters has under- or overflowed (for d below 2^30).
_LEAST_SQUARE, _MOST_SQUARE = 2.0**-900, 2.0**1000
_WIDER = 1 + 2.0**-20  # what a computed norm is multiplied with to be an upper bound, for all d below 2^30


@dataclass(frozen=True, slots=True, eq=False)
class WeightedData:
    """A checked weighted data set: ``points`` of shape (n, d), finite; ``weights`` of shape (n,), finite and at least 1."""

    points: Floats = field(repr=False)
    weights: Floats = field(repr=False)


@ignore_flags
def to_dataset(dataset: object, dimension: int | None, radius: ExactLike | None = None, p: float = 2) -> WeightedData:
    """Return a data set as a checked pair: ``dataset`` is an array of records (weights 1) or a tuple ``(data, weights)``.

    Raises :class:`InvalidData`: see :func:`to_points` and :func:`to_weights`.
    """
    data, weights = dataset if isinstance(dataset, tuple) and len(dataset) == 2 else (dataset, None)
    points = to_points(data, dimension)
    checked = WeightedData(points, to_weights(weights, len(points)))
    if radius is not None:
        require_norms(points, p, radius)
    return checked


@ignore_flags
def to_points(data: object, dimension: int | None, what: str = "the data set") -> Floats:
    """Return records as an array of shape (n, d), n ≥ 0; ``dimension`` None accepts any d.

    Raises :class:`InvalidData` for entries that are not finite real numbers and for a wrong shape.
    """
    points = _as_floats(data, what)
    if points.ndim == 1 and (points.size == 0 or dimension in (None, 1)):
        points = points.reshape(len(points), 1 if dimension is None else dimension)
    if points.ndim != 2 or points.shape[1] == 0 or (dimension is not None and points.shape[1] != dimension):
        wanted = "(n, d) with d ≥ 1" if dimension is None else f"(n, {dimension})"
        raise InvalidData(f"{what} must have shape {wanted}, but {hide_length(points.shape)} was found; give one row per record")
    for start in range(0, len(points), _ROWS):
        finite = np.isfinite(points[start : start + _ROWS])
        if not finite.all():
            row = start + int((~finite.all(axis=1)).argmax())
            raise InvalidData(f"{what} must be finite, but row {row} has NaN or infinite entries; remove or correct it")
    return points


@ignore_flags
def to_weights(weights: object, count: int) -> Floats:
    """Return the weights of ``count`` records as an array of shape (count,); None stands for weights 1.

    Raises :class:`InvalidData` for a wrong length and for weights that are NaN, infinite or below 1.
    """
    if weights is None:
        return np.ones(count)
    checked = _as_floats(weights, "the weights")
    if checked.shape != (count,):
        raise InvalidData(
            f"the weights must have shape (n,), one per record, but {hide_length(checked.shape)} of another "
            "length was found; give one weight per record",
            private=f"{checked.shape} for {count} records",
        )
    bad = ~(np.isfinite(checked) & (checked >= 1))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidData(
            f"weights must be finite and at least 1, but row {row} has another one; a weight is 1/q for a selection probability q",
            private=list_values([(row, float(checked[row]))]),
        )
    return checked


def _as_floats(values: object, what: str) -> Floats:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidData(
            f"{what} must be a rectangular table of numbers, but rows of different lengths were found; fill or cut them"
        ) from None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidData(f"{what} must be complete, but masked entries were found; fill or remove them")
    if array.size == 0 and array.dtype == object:
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        raise InvalidData(
            f"{what} must hold real numbers, but entries of type {name_type(array.dtype)} were found; convert them to numbers"
        )
    with np.errstate(all="ignore"):
        return np.asarray(array, dtype=np.float64)


def compute_norms(points: Floats, p: float) -> Floats:
    """Return ‖x‖_p of each row, 1 ≤ p ≤ ∞, without overflow or underflow of the powers: m · ‖x/m‖_p with m = ‖x‖_∞.

    For p = 2 the root of the sum of squares is taken where that sum is in a safe range. Which of the two is used, and every bit of the
    norm, depends on the row alone: rows are contiguous and aligned, and summed one by one.

    >>> compute_norms(np.array([[3.0, -4.0], [0.0, 0.0]]), 2).tolist()
    [5.0, 0.0]
    """
    if len(points) > _ROWS:
        return np.concatenate([compute_norms(points[start : start + _ROWS], p) for start in range(0, len(points), _ROWS)])
    rows: Floats = np.require(points, requirements=["C", "A"])
    if p != 2:
        return _scaled_norms(rows, p)
    with np.errstate(all="ignore"):
        parts = [rows[:, start : start + _COLUMNS] for start in range(0, rows.shape[1], _COLUMNS)]
        squares: Floats = sum(np.einsum("ij,ij->i", part, part) for part in parts)
        norms = np.sqrt(squares)
    extreme = np.flatnonzero(~((squares >= _LEAST_SQUARE) & (squares <= _MOST_SQUARE)))
    if extreme.size:
        norms[extreme] = _scaled_norms(rows[extreme], p)
    return norms


def _scaled_norms(points: Floats, p: float) -> Floats:
    magnitudes = np.abs(points)
    largest: Floats = magnitudes.max(axis=1)
    if math.isinf(p):
        return largest
    with np.errstate(all="ignore"):
        if p == 1:
            return np.asarray(magnitudes.sum(axis=1))
        ratios = magnitudes / np.where(largest > 0, largest, 1.0)[:, np.newaxis]
        if p == 2:
            return np.asarray(largest * np.sqrt((ratios * ratios).sum(axis=1)))
        return np.asarray(largest * (ratios**p).sum(axis=1) ** (1.0 / p))


def find_reach(points: Floats) -> float:
    """Return an upper bound of ‖x‖₂ over the rows, tight up to a relative 2⁻¹⁹ for norms above 2⁻⁴⁸⁰; inf where a square overflows."""
    largest = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, len(points), _ROWS):
            rows = points[start : start + _ROWS]
            largest = max(largest, float(np.einsum("ij,ij->i", rows, rows).max()))
    return math.sqrt(largest) * _WIDER + 2.0**-500


@ignore_flags
def require_norms(points: Floats, p: float, radius: ExactLike) -> None:
    """Refuse records outside the declared domain like :func:`norms_within`, without keeping their norms."""
    bound = round_down(to_exact(radius, "the radius"))
    for start in range(0, len(points), _ROWS):
        rows = points[start : start + _ROWS]
        if p != 2 or find_reach(rows) > bound:  # a bound that is cheap and clear of rounding settles most blocks
            norms_within(rows, p, radius, first_row=start)


@ignore_flags
def norms_within(points: Floats, p: float, radius: ExactLike, *, first_row: int = 0) -> Floats:
    """Return ‖x‖_p of each row where all of them are at most ``radius``; ``first_row`` is added to the row number of an error.

    Nothing is clipped: projecting a record is part of the mechanism's input preparation and belongs to whoever owns the data. The
    norms are rounded, by a relative (d + 32)·2⁻⁵³ at most: a record within that of the boundary may be taken for one inside.
    Raises :class:`InvalidData` for a record outside the declared domain.
    """
    bound = to_exact(radius, "the radius")
    norms = compute_norms(points, p)
    bad = norms > round_down(bound)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidData(
            f"records must have an l_{p:g} norm of at most {exact_text(bound)}, but row {first_row + row} has a larger one; "
            "move each record onto the ball by itself (project_records), or declare a radius that was chosen without looking at this data",
            private=list_values([(first_row + row, float(norms[row]))]),
        )
    return norms


def require_finite(values: Floats, what: str) -> Floats:
    """Return ``values`` unless a sum left the range of floats, which is an :class:`InvalidData` error."""
    if not np.isfinite(values).all():
        raise InvalidData(f"{what} is beyond the range of floats; rescale the data and the radius by a public constant")
    return values


def add_up(compute: Callable[[], Floats], what: str) -> Floats:
    """Return a computed sum, refusing overflow by name instead of by a warning."""
    with np.errstate(all="ignore"):
        return require_finite(compute(), what)


def check_radius(radius: object) -> None:
    """Refuse a radius that is not a positive number, or below ``LEAST_RADIUS``."""
    exact = to_number(radius, "the radius of the record domain", "(0, inf)", "give a positive one")
    if exact < Fraction(LEAST_RADIUS):
        raise InvalidArgument(
            "the radius of the record domain must be at least 2**-1000, but a smaller one was found, where binary64 cannot tell norms; "
            "rescale the data by a public constant"
        )
