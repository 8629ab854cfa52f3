"""A data set whose rows are moved into the declared ranges, each by itself: docs/sampling.md, Lemma 1.

A statistic that is a norm of columns has its range by the rows themselves: a row x with a norm above hi is replaced by x·(r/‖x‖), with
r = hi (1 − 2⁻³⁰), so that also the norm that is computed of it is at most hi (accountant.data.specs: a relative (d + 2) 2⁻⁵³). A statistic
that is a column is read as it is: what else the row holds is not known here, and a row outside is refused where it would be used; but where
it is asked for (``columns``), the column is moved into the range as well, and is then all that the row has of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pyarrow as pa

from accountant.columns.domain import clip_column
from accountant.columns.values import Column, Decimals
from accountant.data.arrays import ArraySource
from accountant.data.frames import Batch, Source, compute_statistics, resolve
from accountant.data.specs import StatisticSpec
from accountant.data.tables import TableSource
from profiles import InvalidArgument, Profile
from profiles.arrays import Floats
from profiles.mechanisms.ball import project_records
from profiles.mechanisms.datasets import check_radius
from profiles.numbers import root_below
from profiles.variables import Statistic

#: Tables, whose rows can be written: not sparse matrices.
Table = TableSource | ArraySource
_ROOT_BITS = 52  # of a root, relatively
_INSIDE = 1 - Fraction(1, 2**30)
_POWERS = {"l1": 1.0, "l2": 2.0, "l2^2": 2.0, "linf": np.inf}


@dataclass(frozen=True, slots=True)
class _Moved:
    """Columns of one batch after their rows were moved, and the statistics that are columns themselves."""

    label: str
    names: Sequence[str]
    columns: Mapping[str, Floats | Decimals]

    @property
    def numeric(self) -> Sequence[str]:
        return self.names

    def column(self, name: str, title: str | None = None) -> Floats | Decimals:
        del title  # what it names has been read already
        return self.columns[name]


@dataclass(frozen=True, slots=True)
class ClippedSource:
    """The rows of ``source``, moved into the ranges of ``profile``; each batch has the statistics ``specs`` of the moved rows.

    The columns that norms are taken of become 64-bit floats. ``ranges``: of the statistics that are columns and are moved.
    Make one with :func:`clip_rows`.
    """

    source: Table
    specs: tuple[StatisticSpec, ...]
    radii: Mapping[str, Fraction]
    columns: Mapping[str, tuple[str, ...]]
    ranges: Mapping[str, Statistic] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.source.label

    def batches(self, specs: Sequence[StatisticSpec]) -> Iterator[Batch]:
        """Yield the rows in order. ``specs`` are those that this source was made for, or none. Raises :class:`InvalidArgument`."""
        if specs and tuple(specs) != self.specs:
            raise InvalidArgument("rows were clipped for other statistics than those that are asked for; clip them for these")
        named = tuple(dict.fromkeys(name for names in self.columns.values() for name in names))
        plain = [spec for spec in self.specs if spec.norm is None]
        reads = [StatisticSpec(f"c{place}", column=name, from_data=True) for place, name in enumerate(named)]
        reads += [StatisticSpec(f"s{place}", column=spec.column) for place, spec in enumerate(plain)]
        for batch in self.source.batches(reads):
            columns: dict[str, Column] = {str(spec.column): batch.statistics[f"s{place}"] for place, spec in enumerate(plain)}
            moved: dict[str, Column] = {}
            for spec in plain:
                if spec.name in self.ranges:
                    name = str(spec.column)
                    columns[name] = moved[name] = clip_column(self.ranges[spec.name], columns[name])
            statistics = {name: _values(moved.get(name, batch.statistics[f"c{place}"])) for place, name in enumerate(named)}
            moved |= self._move(statistics)
            columns |= moved  # a column that is moved is read as it is afterwards
            frame = _Moved(self.label, [*columns], columns)  # type: ignore[arg-type]
            wanted = [self._name(spec) for spec in self.specs]
            yield Batch(batch.first_row, batch.size, compute_statistics(frame, wanted), _replace(batch.table, moved))

    def _move(self, columns: dict[str, Floats]) -> dict[str, Floats]:
        for spec in self.specs:
            if spec.norm is None:
                continue
            names = self.columns[spec.name]
            inside = project_records(np.column_stack([columns[name] for name in names]), _POWERS[spec.norm], self.radii[spec.name])
            columns |= {name: np.ascontiguousarray(inside[:, place]) for place, name in enumerate(names)}
        return columns

    def _name(self, spec: StatisticSpec) -> StatisticSpec:
        """Return the spec with its columns by name: which of all columns are numeric is decided once."""
        return spec if spec.norm is None else StatisticSpec(spec.name, norm=spec.norm, only=self.columns[spec.name])


def clip_rows(source: Source, profile: Profile, specs: Sequence[StatisticSpec], *, columns: bool = False) -> ClippedSource:
    """Return the rows of a table moved into the declared ranges; ``specs`` are complete, one for each statistic, and perhaps others, which
    are read as they are. ``columns``: whether statistics that are columns are moved, too; two of one column move it twice.

    Which columns a norm is of is decided by the specs, or by the types of the columns; never by values in them, but for text files, where
    the first thousand rows tell which columns hold numbers at all. Raises :class:`InvalidArgument`, :class:`profiles.InvalidData`.
    """
    if not isinstance(source, Table):
        raise InvalidArgument(f"rows were to be moved into declared ranges, but {source.label} is not a table whose rows can be written")
    ranges = {statistic.name: statistic for statistic in profile.record}
    radii: dict[str, Fraction] = {}
    named: dict[str, tuple[str, ...]] = {}
    for spec in specs:
        if spec.norm is None:
            continue
        most = ranges[spec.name].hi
        if most <= 0:
            raise InvalidArgument(
                f"rows were to be moved into the range of {spec.name!r}, but it ends at or below 0; declare a range of norms, "
                "without looking at the data"
            )
        radius = root_below(most, most.denominator << _ROOT_BITS) if spec.norm == "l2^2" else most
        check_radius(radius)
        radii[spec.name] = radius * _INSIDE
        named[spec.name] = _find_columns(source, spec)
    return ClippedSource(source, tuple(specs), radii, named, ranges if columns else {})


def is_clipped(profile: Profile, specs: Sequence[StatisticSpec]) -> bool:
    """Tell whether every row is in the declared ranges once it is moved: each statistic is a norm whose range begins at 0 or below."""
    lows = {statistic.name: statistic.lo for statistic in profile.record}
    return all(spec.norm is not None and lows[spec.name] <= 0 for spec in specs)


def _find_columns(source: Table, spec: StatisticSpec) -> tuple[str, ...]:
    names, numeric = source.find_columns()
    for name in (*spec.only, *spec.without):
        resolve(_Moved(source.label, names, {}), name)
    columns = spec.only or tuple(name for name in numeric if name not in spec.without)
    if not columns:
        raise InvalidArgument(f"{source.label} has no numeric columns for the norm {spec.norm}; name columns or use another file")
    return tuple(columns)


def _values(column: Column) -> Floats:
    return column if isinstance(column, np.ndarray) else column.values


def _to_array(column: Column) -> pa.Array:
    """Return a column for a file: decimals as they are written."""
    if not isinstance(column, Decimals):
        return pa.array(_values(column))
    return column.texts.combine_chunks() if isinstance(column.texts, pa.ChunkedArray) else column.texts


def _replace(table: pa.RecordBatch | None, columns: Mapping[str, Column]) -> pa.RecordBatch | None:
    if table is None:
        return None
    names = table.schema.names
    arrays = [_to_array(columns[name]) if name in columns else table.column(place) for place, name in enumerate(names)]
    return pa.RecordBatch.from_arrays(arrays, names=names)
