"""Statistics of a batch: inside the declared ranges, compared exactly, or a refusal that names the rows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from accountant.columns.values import Column, Columns, Decimals, NormsOfDecimals
from profiles import InvalidArgument, InvalidData, Profile, decimal_text, exact_text, to_exact
from profiles.arrays import Floats, Positions
from profiles.numbers import nearest, round_down, round_up
from profiles.private import ABOVE, BELOW, NOT_FINITE, SHOWN, list_values, name_rows, name_type
from profiles.suggestions import suggest
from profiles.variables import Statistic

_BY_ROUNDING = "by the rounding to binary64 alone"
_DIGITS = 20
#: Sums and squares of numbers below this may have lost digits, or have been raised.
_SMALL = 2.0**-400


def as_columns(statistics: Mapping[str, ArrayLike | Column], names: tuple[str, ...]) -> Columns:
    """Return the named statistics as contiguous float64 arrays of one length, without rounding any value; decimals stay decimals.

    Raises :class:`InvalidData` for a missing statistic, a wrong type or shape, different lengths, integers that binary64 cannot hold.
    """
    columns: dict[str, Floats] = {}
    written: dict[str, Decimals | NormsOfDecimals] = {}
    for name in names:
        if name not in statistics:
            others = ", ".join(sorted(statistics)) or "none"
            raise InvalidData(f"the profile needs the statistic {name!r}, but {others} was given; add it{suggest(name, list(statistics))}")
        given = statistics.original(name) if isinstance(statistics, Columns) else statistics[name]
        if isinstance(given, (Decimals, NormsOfDecimals)):
            written[name], columns[name] = given, np.ascontiguousarray(given.values)
        else:
            columns[name] = _as_column(name, np.asarray(given))
    if len({column.size for column in columns.values()}) > 1:
        raise InvalidData("the statistics have different lengths; give one value per record for each of them")
    return Columns(columns, written)


def _as_column(name: str, raw: NDArray[np.generic]) -> Floats:
    if raw.ndim != 1 or raw.dtype.kind not in "fiu" or raw.dtype.itemsize > 8:
        raise InvalidData(
            f"the statistic {name!r} must be a one-dimensional array of real numbers of at most 64 bits, but {name_type(raw.dtype)} of "
            f"{raw.ndim} dimensions was found; convert it"
        )
    if raw.dtype.kind in "iu" and raw.size and max(abs(int(raw.min())), abs(int(raw.max()))) > 2**53:
        raise InvalidData(f"the statistic {name!r} has integers above 2^53, which binary64 cannot hold exactly; scale them")
    return np.ascontiguousarray(raw, dtype=np.float64)


def outside(statistic: Statistic, column: Column) -> Positions:
    """Return the rows whose value is NaN, infinite or outside the declared closed range, compared exactly: a decimal as the decimal that is
    written, a norm of decimals as the norm of these, any other number as the binary64 number that it is.
    """
    values = column if isinstance(column, np.ndarray) else column.values
    if values.size == 0:
        return np.zeros(0, dtype=np.intp)
    lowest, highest = round_up(statistic.lo), round_down(statistic.hi)
    least, most = float(values.min()), float(values.max())
    if isinstance(column, np.ndarray):
        if lowest <= least and most <= highest:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(~((values >= lowest) & (values <= highest)))
    if isinstance(column, Decimals):
        # rounding is monotone: a decimal is inside if its number is strictly inside, and near an end the text decides; 0 is always 0
        if lowest < least and most < highest:
            return np.zeros(0, dtype=np.intp)
        zero_inside = statistic.lo <= 0 <= statistic.hi
        inside = ((values > lowest) & (values < highest)) | ((values == 0) & zero_inside)
        near = ~inside & (values >= np.nextafter(lowest, -np.inf)) & (values <= np.nextafter(highest, np.inf)) & (values != 0)
        rows = np.flatnonzero(near)
        inside[rows] = [statistic.lo <= value <= statistic.hi for value in column.exact_many(rows.tolist())]
        return np.flatnonzero(~inside)
    low, high, error = nearest(statistic.lo), nearest(statistic.hi), column.error * 1.01
    with np.errstate(all="ignore"):
        above_low = (values * (1 - error) > low) & (values > _SMALL) if low > 0 else np.ones(values.shape, dtype=np.bool_)
        inside = above_low & ((values * (1 + error) < high) | ((values == 0) & (statistic.hi >= 0)))
        near = ~inside & (values * (1 + error) >= low) & ((values * (1 - error) <= high) | (values <= _SMALL))
    rows = np.flatnonzero(near)
    inside[rows] = [column.lies_in(int(row), statistic.lo, statistic.hi) for row in rows]
    return np.flatnonzero(~inside)


def require_range(profile: Profile, columns: Columns, first_row: int = 0) -> Columns:
    """Return the columns, each norm of decimals that only rounding put outside the declared range at its end; else nothing is clipped.

    Raises :class:`InvalidData` unless every value lies in its statistic's declared range (see :func:`outside`).
    """
    for statistic in profile.record:
        column = columns.original(statistic.name)
        rows = outside(statistic, column)
        if rows.size:
            shown = [(first_row + int(row), float(column[int(row)])) for row in rows[:SHOWN]]
            raise describe_outside(statistic, int(rows.size), shown, {name_fault(statistic, column, int(row)) for row in rows[:SHOWN]})
    return clip_norms(profile, columns)


def clip_norms(profile: Profile, columns: Columns) -> Columns:
    """Return the columns of records inside the declared ranges, each norm of decimals that only rounding put outside at the range's end."""
    clipped: dict[str, Floats] = {}
    for statistic in profile.record:
        column = columns.original(statistic.name)
        if isinstance(column, NormsOfDecimals):
            clipped[statistic.name] = np.clip(column.values, round_up(statistic.lo), round_down(statistic.hi))
    return columns.joined(**clipped) if clipped else columns


def clip_column(statistic: Statistic, column: Column) -> Column:
    """Return a column with each finite value outside the declared range at the end that is nearer to it, inside: of decimals a decimal of
    20 digits, of other numbers the binary64 number next to the end. A function of each record by itself. What is not finite stays.

    Raises :class:`InvalidArgument` for a norm of several columns, which is not a value that could be moved.
    """
    if isinstance(column, NormsOfDecimals):
        raise InvalidArgument(
            f"the statistic {statistic.name!r} is a norm of columns, which cannot be clipped; clip the columns beforehand"
        )
    values = column if isinstance(column, np.ndarray) else column.values
    rows = outside(statistic, column)
    rows = rows[np.isfinite(values[rows])]
    if not rows.size:
        return column
    above = values[rows] > nearest((statistic.lo + statistic.hi) / 2)
    fresh = np.array(values, dtype=np.float64)
    if not isinstance(column, Decimals):
        fresh[rows] = np.where(above, round_down(statistic.hi), round_up(statistic.lo))
        return fresh
    ends = {up: decimal_text(end, _DIGITS, round_up=not up) for up, end in ((True, statistic.hi), (False, statistic.lo))}
    numbers = {up: nearest(to_exact(text)) for up, text in ends.items()}
    fresh[rows] = [numbers[up] for up in above.tolist()]
    texts = column.texts.combine_chunks() if isinstance(column.texts, pa.ChunkedArray) else column.texts
    moved = np.zeros(values.size, dtype=np.bool_)
    moved[rows] = True
    return Decimals(fresh, pc.replace_with_mask(texts, pa.array(moved), pa.array([ends[up] for up in above.tolist()], texts.type)))


def describe_outside(statistic: Statistic, count: int, first: list[tuple[int, float]], kinds: set[str]) -> InvalidData:
    """Return the error for ``count`` records outside the declared range; ``first`` holds some row numbers (from 0) and values, ``kinds``
    their faults (:func:`name_fault`).
    """
    rows, several = name_rows((row for row, _ in first), more=count > len(first)), count > 1
    rounded = sorted(kind for kind in kinds if _BY_ROUNDING in kind)
    told = "".join(f"; {_explain(statistic, above=kind.startswith(ABOVE))}" for kind in rounded)
    return InvalidData(
        f"{rows} {'are' if several else 'is'} outside the declared range [{exact_text(statistic.lo)}, {exact_text(statistic.hi)}] of "
        f"{statistic.name!r}, {' or '.join(sorted(kinds))} (rows count from 0){told}; clip each record by itself, or declare a range that "
        "was chosen without looking at this data",
        private=f"{count} in all; {list_values(first)}",
    )


def name_fault(statistic: Statistic, column: Column, row: int) -> str:
    """Return the kind of fault of a value outside the declared range."""
    value = float(column[row])
    if not np.isfinite(value):
        return f"being {NOT_FINITE}"
    exact = column.exact(row) if isinstance(column, Decimals) else Fraction(value)
    low = exact < statistic.lo
    if isinstance(column, NormsOfDecimals):
        low = column.lies_in(row, Fraction(0), statistic.lo)
        return BELOW if low else ABOVE
    end = statistic.lo if low else statistic.hi
    alone = isinstance(column, np.ndarray) and value == nearest(end)
    return f"{BELOW if low else ABOVE}{f' {_BY_ROUNDING}' if alone else ''}"


def _explain(statistic: Statistic, *, above: bool) -> str:
    """Return why a number that stands in a file of binary64 numbers is not the end of the range that it was made from."""
    end = statistic.hi if above else statistic.lo
    shown = decimal_text(Fraction(nearest(end)), _DIGITS, round_up=above)
    return (
        f"arrays and binary files hold binary64 numbers, and the one nearest to {exact_text(end)} is about {shown}, "
        f"{'above' if above else 'below'} it: give decimals in a CSV file, which count as they are written, or declare the end {shown}"
    )
