"""Files that a ledger writes: the rows that take part in a release, and its promise as an event of a composition."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from accountant.curves import curve_of
from accountant.curves import write_composition as declare
from accountant.data.opening import open_dataset
from accountant.files import check_not_input, check_writable, replace_file
from accountant.ledger.ledger import Ledger
from accountant.ledger.packing import CHUNK
from accountant.ledger.receipts import Receipt
from profiles import InvalidArgument, InvalidData


def check_outputs(ledger: Ledger, *outputs: Path | None) -> None:
    """Refuse outputs that are the data or a file of the ledger itself, which would be lost. Raises :class:`InvalidArgument`."""
    store = ledger.journal.store
    places = {what: store.read_place(what) for what in ("secret", "data", "table")}
    for path in (path for path in outputs if path is not None):
        for own in store.database.files:
            check_not_input(path, own, "ledger")
        check_not_input(path, ledger.journal.anchor.path, "anchor")
        check_not_input(path, ledger.journal.anchor.lock, "lock of the anchor")
        check_not_input(path, places["secret"], "secret")
        check_not_input(path, f"{places['secret']}-maps", "maps of the ledger")
        check_not_input(path, places["data"], "data")
        if places["table"] is not None and Path(places["table"]).resolve() in path.resolve().parents:
            raise InvalidArgument(f"the output {path} is inside of the table of the ledger; name another folder")


def check_active(path: Path, data: Any) -> None:
    """Refuse a file for rows that could not be written, before anything is charged. Raises :class:`InvalidArgument` or as writing does."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidArgument(f"the rows that take part are written as .csv or .parquet, but {path.name!r} was asked for; name such a file")
    check_writable(path)
    check_not_input(path, data, "data")


def write_active(path: Path, data: Any, receipt: Receipt) -> None:
    """Write the rows that a release may be run on, as they stand in the data, or as they were clipped, for their owner's eyes; atomically.

    Raises :class:`InvalidData`.
    """
    source = open_dataset(data if receipt.clipped is None else receipt.clipped, batch_rows=CHUNK)
    writer: Any = None
    with replace_file(path, private=True) as stream:
        start = 0
        for batch in source.batches([]):
            if batch.table is None or start + batch.size > receipt.active.size:
                break
            part = batch.table.filter(pa.array(receipt.active[start : start + batch.size]))
            start += batch.size
            if writer is None:
                csv = path.suffix.lower() == ".csv"
                writer = pyarrow.csv.CSVWriter(stream, part.schema) if csv else pq.ParquetWriter(stream, part.schema)
            writer.write_table(pa.Table.from_batches([part]))
        if start != receipt.active.size:
            raise InvalidData(f"{source.label} changed while it was charged; the charge stays, and nothing was written: take another name")
        receipt.require_same()
        if writer is not None:
            writer.close()


def remember_active(ledger: Ledger, name: str, path: Path) -> None:
    """Write down where the rows of a release are, until it is published."""
    store = ledger.journal.store
    with store.database.turn(), store.database.transaction():
        store.write_place(f"active {name}", f"{_identify(path)} {path.absolute()}")


def remove_active(ledger: Ledger, name: str, *, keep: bool) -> Path | None:
    """Remove the rows of a release that was published, if their file is the one that was written, and return where it was; None where it
    is not, or is to be kept.
    """
    store = ledger.journal.store
    with store.database.turn(), store.database.transaction():
        told = store.read_place(f"active {name}")
        store.forget_place(f"active {name}")
    if told is None or keep:
        return None
    mark, _, text = told.partition(" ")
    path = Path(text)
    if _identify(path) != mark:
        return None
    try:
        path.unlink()
    except OSError:
        return None
    return path


def _identify(path: Path) -> str:
    """Return what tells a file from another one at its place, and from itself after it was written to; nothing where there is none."""
    try:
        told = path.lstat()
    except OSError:
        return ""
    return f"{told.st_dev}:{told.st_ino}:{told.st_size}:{told.st_mtime_ns}" if stat.S_ISREG(told.st_mode) else ""


def write_composition(ledger: Ledger) -> str:
    """Return the promise of a ledger as a file for ``pdp account``: one event with its largest budget, whatever was charged, and the
    hypotheses of its guarantee. Raises :class:`InvalidArgument` where that is more than such a file holds.
    """
    try:
        return declare(curve_of(ledger.guarantee()).declared)
    except InvalidArgument as error:
        raise InvalidArgument(f"{error} (--guarantee writes all of it, for pdp compose)") from None
