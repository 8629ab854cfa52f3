"""Reading set systems from files of (element, set) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from accountant.applications.setcover.system import SetSystem
from profiles import InvalidData, UnreadableFile


def read_pairs(path: str | Path, sets: int | Sequence[Any], *, element: str = "element", set_column: str = "set") -> SetSystem:
    """Return the set system of a CSV or Parquet file with one row for each pair (element, set); repeated pairs count once.

    ``sets`` is the PUBLIC list of sets: their number, where the file numbers them from 0, or their names; set i of the system is
    ``sets[i]``. It is never read off the file, because which sets occur there depends on the elements. Elements may be called anything;
    what they are called is not kept. In a CSV file names are texts as written: "07" and "7" are two elements.

    Raises :class:`UnreadableFile`, and :class:`InvalidData` for missing columns or values, and for sets that are not in the list.
    """
    place = Path(path)
    table = _read(place, [element, set_column])
    for name in (element, set_column):
        if table.column(name).null_count:
            raise InvalidData(f"the column {name!r} of {place.name} has missing values; fill or drop them")
    codes = pc.dictionary_encode(table.column(element).combine_chunks())
    rows = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    names = table.column(set_column).combine_chunks()
    total, columns = (sets, _numbers(names, place.name)) if isinstance(sets, int) else (len(sets), _find(names, sets, place.name))
    return SetSystem.from_pairs(rows, columns, total, count=len(codes.dictionary))


def _read(place: Path, columns: list[str]) -> Any:
    try:
        if place.suffix.lower() == ".parquet":
            schema = pq.read_schema(place)
            _require(schema.names, columns, place.name)
            return pq.read_table(place, columns=columns)
        with pyarrow.csv.open_csv(place) as reader:
            text = dict.fromkeys(reader.schema.names, pa.string())
        # a type that is guessed from all rows would make what one element is called depend on the others
        converting = pyarrow.csv.ConvertOptions(column_types=text, strings_can_be_null=True, null_values=[""])
        table = pyarrow.csv.read_csv(place, convert_options=converting)
    except (OSError, pa.ArrowInvalid) as error:
        raise UnreadableFile(f"{place.name} could not be read as {place.suffix or 'CSV'}: {str(error).splitlines()[0][:120]}") from None
    _require(table.column_names, columns, place.name)
    return table


def _require(found: Sequence[str], columns: Sequence[str], label: str) -> None:
    for name in columns:
        if name not in found:
            raise InvalidData(f"{label} needs a column {name!r}, but it has {', '.join(found)[:120]}; name both columns")


def _numbers(names: Any, label: str) -> Any:
    if _is_text(names.type):
        try:
            names = pc.cast(pc.utf8_trim_whitespace(names), pa.int64())
        except pa.ArrowInvalid:
            raise InvalidData(
                f"the sets of {label} must be integers if only their number is given, but others were found; name them"
            ) from None
    if not pa.types.is_integer(names.type):
        raise InvalidData(f"the sets of {label} must be integers if only their number is given, but {names.type} was found; name them")
    return pc.cast(names, pa.int64()).to_numpy(zero_copy_only=False)


def _find(names: Any, sets: Sequence[Any], label: str) -> Any:
    if len({str(name) for name in sets}) != len(sets):
        raise InvalidData("the public list of sets has a name twice; name each set once")
    try:
        known = [str(name) for name in sets] if _is_text(names.type) else list(sets)
        found = pc.index_in(names, value_set=pa.array(known, type=names.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidData(f"the public names of the sets are not of the type {names.type} of {label}; give names of that type") from None
    if found.null_count:
        raise InvalidData(f"{label} has sets that are not in the public list of {len(sets)} sets; complete the list, or drop these rows")
    return found.to_numpy(zero_copy_only=False).astype(np.int64)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


__all__ = ["read_pairs"]
