"""What every map over Arrow record batches does: read the statistics, add the columns ``weight`` and ``q``, stream (docs/engines.md)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from accountant.columns.values import Column
from accountant.data.frames import compute_statistics
from accountant.data.specs import StatisticSpec
from accountant.data.tables import ArrowFrame, check_names, numeric_columns
from accountant.data.writers import join_columns
from profiles import InvalidArgument
from profiles.arrays import Floats

LABEL = "the record batch"


class BatchMap(ABC):
    """A callable from a record batch to the same batch with the float64 columns ``weight`` and ``q``."""

    __slots__ = ()

    @abstractmethod
    def read_specs(self) -> tuple[StatisticSpec, ...]:
        """Return from which columns each statistic of the profile is read."""

    @abstractmethod
    def weigh(self, statistics: Mapping[str, Column]) -> tuple[Floats, Floats]:
        """Return (w, q) of one or more records, each of shape (n,)."""

    def __call__(self, batch: Any) -> Any:
        """Return the record batch with ``weight`` and ``q``. A batch without rows is returned with the two columns, without rows.

        Raises :class:`InvalidData` (a column missing or of a wrong type, nulls, NaN, infinities, a value outside the declared range, a
        column that is called ``weight`` or ``q`` already), :class:`Undecided`, :class:`InvalidArgument` (no record batch). Row numbers in
        messages count from the start of the batch.
        """
        if not isinstance(batch, pa.RecordBatch):
            raise InvalidArgument(
                f"the map takes an Arrow record batch, but {type(batch).__name__} was found; call it on each of its batches"
            )
        check_names(LABEL, batch.schema.names)
        frame = ArrowFrame(LABEL, batch, 0, numeric_columns(batch.schema))
        statistics = compute_statistics(frame, self.read_specs())
        if not batch.num_rows:
            empty: Floats = np.empty(0)
            return join_columns(batch, empty, empty)
        return join_columns(batch, *self.weigh(statistics))

    def schema(self, schema: Any) -> Any:
        """Return the schema of the batches that the map returns for batches of ``schema``."""
        return self(pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], names=schema.names)).schema

    def stream(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the map's result for each record batch of a reader, a list, an engine's iterator; one batch is held at a time."""
        return map(self, batches)

    def reader(self, reader: Any) -> Any:
        """Return a record batch reader of the results for those of another reader, one at a time."""
        return pa.RecordBatchReader.from_batches(self.schema(reader.schema), self.stream(reader))
