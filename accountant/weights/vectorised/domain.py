"""Statistics of a batch: exact binary64 columns, inside the declared ranges, or a refusal that names the rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountant.weights.vectorised.results import Floats
from profiles import InvalidData, Profile, exact_text
from profiles.numbers import round_down, round_up
from profiles.private import ABOVE, BELOW, NOT_FINITE, SHOWN, list_values, name_rows, name_type
from profiles.profile import Statistic
from profiles.suggestions import suggest


def as_columns(statistics: Mapping[str, ArrayLike], names: tuple[str, ...]) -> dict[str, Floats]:
    """Return the named statistics as contiguous float64 arrays of one length, without rounding any value.

    Raises :class:`InvalidData` for a missing statistic, a wrong type or shape, different lengths, integers that binary64 cannot hold.
    """
    columns: dict[str, Floats] = {}
    for name in names:
        if name not in statistics:
            found = ", ".join(sorted(statistics)) or "none"
            raise InvalidData(f"the profile needs the statistic {name!r}, but {found} was given; add it{suggest(name, list(statistics))}")
        raw = np.asarray(statistics[name])
        if raw.ndim != 1 or raw.dtype.kind not in "fiu" or raw.dtype.itemsize > 8:
            raise InvalidData(
                f"the statistic {name!r} must be a one-dimensional array of real numbers of at most 64 bits, but {name_type(raw.dtype)} of "
                f"{raw.ndim} dimensions was found; convert it"
            )
        column = np.ascontiguousarray(raw, dtype=np.float64)
        if raw.dtype.kind in "iu" and raw.size and max(abs(int(raw.min())), abs(int(raw.max()))) > 2**53:
            raise InvalidData(f"the statistic {name!r} has integers above 2^53, which binary64 cannot hold exactly; scale them")
        columns[name] = column
    if len({column.size for column in columns.values()}) > 1:
        raise InvalidData("the statistics have different lengths; give one value per record for each of them")
    return columns


def outside(statistic: Statistic, column: Floats) -> NDArray[np.intp]:
    """Return the rows whose value is NaN, infinite or outside the declared closed range, compared exactly."""
    if column.size == 0:
        return np.zeros(0, dtype=np.intp)
    lowest, highest = round_up(statistic.lo), round_down(statistic.hi)
    if lowest <= float(column.min()) and float(column.max()) <= highest:
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(~((column >= lowest) & (column <= highest)))


def require_range(profile: Profile, columns: Mapping[str, Floats], first_row: int = 0) -> None:
    """Raise :class:`InvalidData` unless every value lies in its statistic's declared range; nothing is clipped."""
    for statistic in profile.record:
        column = columns[statistic.name]
        rows = outside(statistic, column)
        if rows.size:
            raise describe_outside(statistic, int(rows.size), [(first_row + int(row), float(column[row])) for row in rows[:SHOWN]])


def describe_outside(statistic: Statistic, count: int, first: list[tuple[int, float]]) -> InvalidData:
    """Return the error for ``count`` records outside the declared range; ``first`` holds some row numbers (from 0) and values."""
    rows, several = name_rows((row for row, _ in first), more=count > len(first)), count > 1
    kinds = " or ".join(sorted({name_fault(statistic, value) for _, value in first}))
    return InvalidData(
        f"{rows} {'are' if several else 'is'} outside the declared range [{exact_text(statistic.lo)}, {exact_text(statistic.hi)}] of "
        f"{statistic.name!r}, {kinds} (rows count from 0); clip each record by itself, or declare a range that was chosen without "
        "looking at this data",
        private=f"{count} in all; {list_values(first)}",
    )


def name_fault(statistic: Statistic, value: float) -> str:
    """Return the kind of fault of a value outside the declared range."""
    return f"being {NOT_FINITE}" if not np.isfinite(value) else BELOW if value < statistic.lo else ABOVE
