"""The rows of a data set with the ids of their units, in batches; and as one matrix for a mechanism that is run on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.columns.values import Column, Decimals
from accountant.data.decimals import to_number
from accountant.data.opening import open_dataset
from accountant.data.specs import StatisticSpec
from accountant.data.tables import numeric_columns
from accountant.ledger.packing import CHUNK
from accountant.ledger.prefetch import read_ahead
from accountant.ledger.units import Ids, read_ids, to_ids
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Floats


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some consecutive rows: the ids of their units and their statistics."""

    ids: Ids
    statistics: Mapping[str, Column] = field(repr=False)

    @property
    def size(self) -> int:
        return self.ids.size


@dataclass(frozen=True, slots=True)
class LedgerRows:
    """Rows that can be read once: by batches of at most CHUNK rows, with the statistics of ``specs``. ``key``: the columns of the ids."""

    data: Any
    key: tuple[str, ...]
    specs: tuple[StatisticSpec, ...] = ()

    def batches(self) -> Iterator[RowBatch]:
        """Yield the rows in order. Raises :class:`InvalidData`, :class:`profiles.UnreadableFile`."""
        source = open_dataset(self.data, batch_rows=CHUNK)
        specs = [leave_out(spec, self.key) for spec in self.specs]
        for batch in source.batches(specs):
            yield RowBatch(read_ids(batch.table, self.key, source.label, batch.first_row), batch.statistics)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows in memory: ``values`` of shape (n, d) or (n,), the ids of their units, and further columns that were asked for by name."""

    values: Floats = field(repr=False)
    ids: Ids = field(repr=False)
    columns: Mapping[str, Column] = field(default_factory=dict, repr=False)

    def batches(self, statistics: Mapping[str, Floats]) -> Iterator[RowBatch]:
        """Yield the rows in order, with statistics that a mechanism computed of all of them, each of its own row alone.

        Raises :class:`InvalidData` for statistics of another number of rows: one number for all would be the cost of a stranger.
        """
        for name, column in statistics.items():
            if np.shape(column)[:1] != (len(self.values),):
                raise InvalidData(f"the statistic {name!r} has one number for each row, but another number of them was found; correct it")
        for start in range(0, len(self.values), CHUNK):
            part = slice(start, min(start + CHUNK, len(self.values)))
            yield RowBatch(self.ids.part(part), {name: column[part] for name, column in {**self.columns, **statistics}.items()})


def leave_out(spec: StatisticSpec, key: Sequence[str]) -> StatisticSpec:
    """Return a spec whose norm does not have the ids among its numbers. Raises :class:`InvalidArgument` where it asks for one."""
    if spec.column in key or set(spec.only) & set(key):
        raise InvalidArgument(f"the statistic {spec.name!r} is read from the key column of the ledger, which holds ids; name other columns")
    if spec.norm is None or spec.only:
        return spec
    return replace(spec, without=tuple(dict.fromkeys((*spec.without, *key))))


def open_rows(data: Any, key: tuple[str, ...], specs: Sequence[StatisticSpec], ids: Any = None) -> Iterator[RowBatch]:
    """Return the batches of a data set, with the ids of their units: read from the ``key`` columns, or given beside an array."""
    if ids is None:
        return read_ahead(LedgerRows(data, key, tuple(specs)).batches())
    return load_matrix(data, key, specs, ids).batches({})


def load_matrix(data: Any, key: tuple[str, ...], specs: Sequence[StatisticSpec] = (), ids: Any = None) -> Matrix:
    """Return the rows of a data set in memory: the numeric columns but the key, in their order, and those of ``specs``.

    ``data``: an array of shape (n, d) with ``ids`` beside it, or a file or Arrow table that has the key columns.
    Raises :class:`InvalidData`, :class:`InvalidArgument`.
    """
    if ids is not None:
        if specs:
            raise InvalidArgument(
                "statistics or budgets of this ledger are read from columns, which an array with ids beside it does not have; give a file "
                "or a table with these columns and those of the key"
            )
        values = np.asarray(data)
        if values.ndim not in (1, 2) or values.dtype.kind not in "fiu":
            raise InvalidData(
                "ids were given beside the data, which must then be an array of numbers of shape (n,) or (n, d), and nothing else"
            )
        return Matrix(np.asarray(values, dtype=np.float64), to_ids(ids, len(values)))
    source, names = open_dataset(data, batch_rows=CHUNK), None
    for batch in source.batches([]):
        names = _name_numbers(batch.table, key)
        break
    if not names:
        raise InvalidData("a mechanism is run on numbers, but the data set has no numeric column besides its key; add one")
    features = [StatisticSpec(f"c{place}", column=name, from_data=True) for place, name in enumerate(names)]
    columns: dict[str, list[Column]] = {spec.name: [] for spec in (*features, *specs)}
    texts = []
    for batch in source.batches([*features, *(leave_out(spec, key) for spec in specs)]):
        texts.append(read_ids(batch.table, key, source.label, batch.first_row).values)
        for name, parts in columns.items():
            parts.append(batch.statistics[name])
    values = np.stack([np.concatenate([np.asarray(part) for part in columns[spec.name]]) for spec in features], axis=1)
    return Matrix(values, Ids(pa.concat_arrays(texts), 0), {spec.name: _join(columns[spec.name]) for spec in specs})


def _join(parts: Sequence[Column]) -> Column:
    """Return the parts of one column after another; decimals stay decimals."""
    if all(isinstance(part, Decimals) for part in parts):
        decimals = [part for part in parts if isinstance(part, Decimals)]
        texts = [part.texts.combine_chunks() if isinstance(part.texts, pa.ChunkedArray) else part.texts for part in decimals]
        return Decimals(np.concatenate([part.values for part in decimals]), pa.concat_arrays(texts))
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])


def _name_numbers(table: Any, key: Sequence[str]) -> list[str]:
    """Return the columns of numbers but the key; a column of text counts if an early value is a number."""
    known = set(numeric_columns(table.schema))
    names = []
    for name in table.schema.names:
        if name in key:
            continue
        if name in known or (
            str(table.schema.field(name).type) == "string"
            and any(to_number(text) is not None for text in table.column(name).slice(0, 1000).to_pylist() if text is not None)
        ):
            names.append(name)
    return names
