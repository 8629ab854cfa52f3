"""Public places: points, distances or a network of roads from files, or the cells of a box; and where the records of a table are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from accountant.applications.clustering.space import MetricSpace, measure_grid, measure_points, read_distances
from accountant.data.loading import load_columns, load_json, read_numbers
from profiles import InvalidArgument, InvalidData, UnreadableFile

#: A matrix of distances of so many places takes 800 MB.
_MOST = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """A public space and how its candidates are called: coordinates, names, or numbers (no ``names`` and no coordinates)."""

    space: MetricSpace
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def locate(self, data: str, columns: list[str]) -> Any:
        """Return where the records of a table are, each found by itself: points, or numbers of candidates.

        Raises :class:`InvalidData` for missing values, numbers that are none, and places that are not public.
        """
        table, label = load_columns(data, columns)
        if self.columns:
            return np.column_stack([read_numbers(table.column(name), name, label) for name in columns])
        if self.names:
            matched = pc.fill_null(pc.index_in(_to_text(table.column(columns[0])), value_set=pa.array(self.names)), -1)
            places = np.asarray(matched.combine_chunks(), dtype=np.int64)
            if (places < 0).any():
                raise InvalidData(f"a record in column {columns[0]!r} of {label} is at no public place; correct it, or drop such records")
            return places
        numbers = read_numbers(table.column(columns[0]), columns[0], label)
        if not (np.floor(numbers) == numbers).all() or (numbers.size and not 0 <= numbers.min() <= numbers.max() < self.space.size):
            raise InvalidData(f"places in column {columns[0]!r} of {label} must be integers from 0 to {self.space.size - 1}; correct them")
        return numbers.astype(np.int64)

    def describe(self, chosen: tuple[int, ...]) -> dict[str, list[Any]]:
        """Return the columns that tell of chosen candidates: their coordinates, their names, or their numbers."""
        if self.columns and self.space.candidates is not None:
            rows = self.space.candidates[list(chosen)]
            return {name: rows[:, place].tolist() for place, name in enumerate(self.columns)}
        return {"place": [self.names[number] if self.names else number for number in chosen]}


def read_points(path: str, columns: list[str], diameter: float | None = None) -> Places:
    """Return the public candidates of a CSV, Parquet or JSON file, a row each, with Euclidean distances. Raises :class:`InvalidData`."""
    table, label = load_columns(path, columns)
    points = np.column_stack([read_numbers(table.column(name), name, label) for name in columns])
    _require_few(len(points), "candidates")
    return Places(measure_points(points, diameter=diameter), tuple(columns))


def parse_grid(box: str, cells: str, norm: str, columns: list[str], diameter: float | None = None) -> Places:
    """Return the cells of a public box, such as ``"0:7,0:3"``, with ``cells`` such as ``"20"`` or ``"20,10"``, under the l_p norm.

    Raises :class:`InvalidArgument`.
    """
    try:
        sides = [(float(low), float(high)) for low, high in (side.split(":") for side in box.split(","))]
        counts = [int(count) for count in cells.split(",")]
        exponent = float(norm)
    except ValueError:
        raise InvalidArgument(
            f"the box {box[:60]!r}, the grid {cells[:40]!r} and the norm {norm[:20]!r} must look like 0:7,0:3 and 20,10 and 3; correct"
        ) from None
    if len(sides) != len(columns) or len(counts) not in (1, len(sides)):
        raise InvalidArgument(
            f"{len(columns)} columns, {len(sides)} sides of the box and {len(counts)} counts of cells were given; give one of each per axis"
        )
    counts = counts if len(counts) > 1 else counts * len(sides)
    return Places(measure_grid(sides, counts, norm=exponent, diameter=diameter), tuple(columns))


def read_matrix(path: str, diameter: float | None = None, *, triangle: bool | None = None) -> Places:
    """Return the public candidates whose distances a square matrix has: an NPY file, CSV without a header, or a JSON list of rows.

    ``triangle`` as in :func:`~accountant.applications.clustering.space.read_distances`.
    Raises :class:`UnreadableFile`, :class:`InvalidData`.
    """
    file = Path(path)
    if not file.is_file():
        raise UnreadableFile(f"a matrix of distances is needed, but {path} is not a file; check the path")
    try:
        with file.open("rb") as stream:
            binary = stream.read(6) == b"\x93NUMPY"
        if file.suffix.lower() == ".json" and not binary:
            matrix = np.array(load_json(file), dtype=np.float64, ndmin=2)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a file without rows, which is refused below
                matrix = np.load(file, allow_pickle=False) if binary else np.loadtxt(file, delimiter=",", ndmin=2)
    except (ValueError, TypeError, OverflowError, OSError, EOFError, UnicodeDecodeError):
        raise UnreadableFile(f"{file.name} is not a square matrix of numbers; give NPY, or rows of numbers with commas") from None
    return Places(read_distances(matrix, diameter=diameter, triangle=triangle))


def read_graph(path: str, diameter: float | None = None) -> Places:
    """Return the places of a public network: the file has a row an edge, with columns from, to and length ≥ 0, good for both ways.

    The distance is the length of the shortest way. Places stand in the order in which the file names them first. Parts without a way
    between them need a ``diameter``. Raises :class:`InvalidData`, :class:`UnreadableFile`.
    """
    table, label = load_columns(path, ["from", "to", "length"])
    ends = [_to_text(table.column(name)).to_pylist() for name in ("from", "to")]
    lengths = read_numbers(table.column("length"), "length", label)
    if lengths.size and not float(lengths.min()) >= 0:
        raise InvalidData(f"lengths in {label} must be at least 0, but a negative one was found; correct it")
    names = tuple(dict.fromkeys(name for pair in zip(*ends, strict=True) for name in pair))
    if not names:
        raise InvalidData(f"{label} has no edges; give the roads of the network")
    _require_few(len(names), "places")
    number = {name: place for place, name in enumerate(names)}
    shortest: dict[tuple[int, int], float] = {}
    for one, other, length in zip(*ends, lengths.tolist(), strict=True):
        key = (min(number[one], number[other]), max(number[one], number[other]))
        shortest[key] = min(length, shortest.get(key, length))
    edges = np.array([key for key in shortest if key[0] != key[1]], dtype=np.int64).reshape(-1, 2)
    # a stored zero would be no edge of a sparse matrix: the least positive number stands for it, which sums of other lengths swallow
    weights = np.array([shortest[one, other] for one, other in edges.tolist()], dtype=np.float64)
    roads = sp.csr_array((np.maximum(weights, np.finfo(np.float64).tiny), (edges[:, 0], edges[:, 1])), shape=(len(names), len(names)))
    distances = dijkstra(roads, directed=False)
    space = read_distances(np.minimum(distances, distances.T), diameter=diameter, triangle=False)
    return Places(replace(space, triangle=True), (), names)  # shortest ways obey it


def _to_text(column: Any) -> Any:
    if column.null_count:
        raise InvalidData("a place is missing in a table of places; fill or drop these rows")
    return pc.cast(column, pa.string())


def _require_few(count: int, what: str) -> None:
    if count > _MOST:
        raise InvalidArgument(f"{count} {what} were found, but distances of at most {_MOST} are kept; choose fewer public {what}")
