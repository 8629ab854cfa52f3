"""The accounts of a ledger as a table beside its log: each entry writes a new version of it, whole, then names it (docs/ledger.md, L7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from accountant.ledger.accounts import Asked, Cost, Spent
from accountant.ledger.log import CHANGING, Change, Digest, Entry
from accountant.ledger.store import Store
from accountant.ledger.tables.engines import Engine, read_files
from accountant.ledger.tables.sums import Sums, weigh_units, weighted_sum
from accountant.ledger.tables.units import Make, TableTally, charge_by, keep, numbers, raise_to, refuse_engine
from accountant.ledger.tables.versions import SCHEMA, SUMS, Folder, Version, VersionWriter, open_parquet, read_version
from accountant.ledger.units import Hasher
from profiles import InvalidData
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

_ROWS = pa.schema([("row", pa.int64()), ("high", pa.int64()), ("low", pa.int64()), ("steps", pa.int64()), ("budget", pa.int64())])


@dataclass(frozen=True, slots=True)
class _Written:
    """A version that was written, and where the rows are that it was made by."""

    version: Version
    rows: Path
    size: int
    tally: TableTally


class TableBook:
    """The accounts in the versions of a table: :class:`~accountant.ledger.accounts.Accounts`."""

    __slots__ = ("_engine", "_folder", "_hasher", "_last", "_store")

    def __init__(self, store: Store, hasher: Hasher, folder: Folder, engine: Engine) -> None:
        self._store, self._hasher, self._folder, self._engine = store, hasher, folder, engine
        self._last: Entry | None = None

    def refresh(self, last: Entry | None = None) -> None:
        self._last = self._last if last is None else last

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        self._write(entry, asked, digest, keep)

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts, charge those with a row that have room, and return who takes part."""
        with self._folder.scratch() as scratch:
            written = self._build(entry, asked, digest, charge_by(cost), scratch)
            try:
                return Spent(self._match(written, scratch), written.tally.left == 0)
            except BaseException:
                self._folder.withdraw(written.version)
                raise

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, or to ``least`` for units without one, where they are lower."""
        self._write(entry, asked, digest, raise_to(least))

    def _write(self, entry: int, asked: Asked, digest: Digest, make: Make) -> None:
        with self._folder.scratch() as scratch:
            self._build(entry, asked, digest, make, scratch)

    def _build(self, entry: int, asked: Asked, digest: Digest, make: Make, scratch: Path) -> _Written:
        """Write the next version, whole and durably, and name it in the store."""
        before = None if self._last is None else self._read(self._last)
        known = [_write_nobody(scratch)] if before is None else self._folder.open_version(before)
        rows, size, went = self._stage(scratch, asked)
        writer, tally = VersionWriter(scratch, entry), TableTally()

        def batches() -> Iterator[Any]:
            for batch in self._engine.join(rows, known, scratch):
                units, weights = tally.take(batch)
                made = make(units, weights, tally)
                tally.put(made, weights)
                yield made

        writer.write(batches())
        tally.require_equal(went, {} if before is None else before.sums)
        asked.require_records(tally.most)
        version = writer.finish(tally.made.values, self._folder)
        change = Change("table", 0, version.to_bytes())
        self._store.write_change(entry, change)
        digest.add_change(change)
        return _Written(version, rows, size, tally)

    def _read(self, entry: Entry) -> Version:
        changes, digest = list(self._store.iter_changes(entry.sequence)), Digest()
        for change in changes:
            digest.add_change(change)
        if digest.finish() != entry.digest or [change.kind for change in changes] != ["table"]:
            raise LedgerRejected(
                f"what entry {entry.sequence} of the ledger did to the accounts is not what was written; restore it from a backup"
            )
        return read_version(changes[0].packed)

    def _stage(self, scratch: Path, asked: Asked) -> tuple[Path, int, Sums]:
        """Write the rows with the hashes of their ids, their shifts and budgets; return where, how many there are, and their sums."""
        path, size, total, sums = scratch / "rows.parquet", 0, 0, Sums()
        with open_parquet(path, _ROWS, ("steps", "budget")) as writer:
            for batch in asked.rows:
                steps = np.zeros(batch.size, np.int64) if asked.shifts is None else asked.shifts(batch, size)
                high, low = _split(self._hasher.hashes(batch.ids))
                weights = weigh_units(high, low)
                sums.add("rows", weighted_sum(weights))
                sums.add("steps", weighted_sum(weights, steps))
                total += int(steps.sum(dtype=np.uint64))
                places = np.arange(size, size + batch.size)
                sums.add("places", weighted_sum(weights, places))
                writer.write_batch(pa.record_batch([places, high, low, steps, asked.budgets(batch, size)], schema=_ROWS))
                size += batch.size
        if total >= 1 << 63:
            raise InvalidData("the rows have more shifts than can be added up together; charge a part of the units after the other")
        return path, size, sums

    def _match(self, written: _Written, scratch: Path) -> Booleans:
        """Return which rows belong to units that are active in the version that was written."""
        active, count, found = np.zeros(written.size, np.bool_), 0, Sums()
        for batch in self._engine.match(written.rows, self._folder.list_parts(written.version), scratch):
            place, high, low = (numbers(batch.column(name)) for name in ("row", "high", "low"))
            if place.size and not 0 <= int(place.min()) <= int(place.max()) < written.size:
                raise refuse_engine("rows that it was not given")
            active[place] = True
            count += place.size
            weights = weigh_units(high, low)
            found.add("active", weighted_sum(weights))
            found.add("places", weighted_sum(weights, place))
        wrong = any(found[name] != written.tally.made[name] for name in ("active", "places"))
        if wrong or not count == written.tally.active == int(active.sum()):
            raise refuse_engine("other rows of the units that take part")
        return active

    def hash_text(self, text: str) -> bytes:
        return self._hasher.hash_text(text)

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        if self._last is None:
            return None
        with self._folder.locked():
            paths = self._folder.open_version(self._read(self._last))
            high, low = (int(value[0]) for value in _split(hashed))
            wanted = (pc.field("high") == high) & (pc.field("low") == low)
            found = pads.dataset([str(path) for path in paths], schema=SCHEMA).to_table(columns=["spent", "budget"], filter=wanted)
        if found.num_rows > 1:
            raise LedgerRejected("a unit of the ledger has several accounts; restore the table from a copy")
        return ((found["spent"][0].as_py(), found["budget"][0].as_py()),) if found.num_rows else None

    def list_state(self, entries: Sequence[Entry]) -> Iterator[tuple[bytes, Integers, Integers]]:
        """Yield the accounts of the version that the last of ``entries`` wrote. Raises :class:`InvalidData` where it was removed."""
        entry = next(item for item in reversed(entries) if item.kind in CHANGING)
        with self._folder.locked():
            for batch in read_files(self._open(entry)):
                high, low, spent, budgets = (numbers(batch.column(name)) for name in ("high", "low", "spent", "budget"))
                yield np.stack([high, low], axis=1).astype("<i8").tobytes(), spent[None], budgets[None]

    def trace(self, hashed: bytes, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[int, ...], tuple[int, ...]]]:
        """Yield what each of ``entries`` did to one account, as versions say it. Raises :class:`InvalidData` where one was removed."""
        high, low = (int(value[0]) for value in _split(hashed))
        wanted = (pc.field("high") == high) & (pc.field("low") == low)
        for entry in (item for item in entries if item.kind in CHANGING):
            with self._folder.locked():
                paths = [str(path) for path in self._open(entry)]
                found = pads.dataset(paths, schema=SCHEMA).to_table(columns=["cost", "budget"], filter=wanted)
            if found.num_rows:
                yield entry, (int(found["cost"][0].as_py()),), (int(found["budget"][0].as_py()),)

    def _open(self, entry: Entry) -> list[Path]:
        version = self._read(entry)
        if not self._folder.has(version):
            raise InvalidData(
                f"the version {version.name} of the table of the ledger was asked for, but it was removed; put it back from a copy"
            )
        return list(self._folder.open_version(version))

    def repair(self, entries: Sequence[Entry], *, write: bool) -> int:  # noqa: ARG002 - versions are never written anew
        """Check the versions that are there, each against the one before it, and the last one unit by unit. Nothing is ever repaired: a
        version that is damaged is put back from a copy. Raises :class:`LedgerRejected`.
        """
        changing = [entry for entry in entries if entry.kind in CHANGING]
        before: Version | None = None
        with self._folder.locked():
            for entry in changing:
                version = self._read(entry)
                last = entry is changing[-1]
                if last or self._folder.has(version):
                    paths = self._folder.open_version(version)
                    _check_units(paths, version)
                    if last and self._engine.count_repeated(paths):
                        raise LedgerRejected("a unit of the table of the ledger has several accounts; put back a copy of an older version")
                _check_step(entry, before, version)
                before = version
        return 0


def _split(hashes: bytes) -> tuple[Integers, Integers]:
    """Return the two halves of hashes."""
    pairs = np.frombuffer(hashes, dtype="<i8").reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _write_nobody(scratch: Path) -> Path:
    path = scratch / "nobody.parquet"
    with open_parquet(path, SCHEMA, ()) as writer:
        writer.write_batch(pa.record_batch([pa.array([], kind) for kind in SCHEMA.types], schema=SCHEMA))
    return path


def _check_units(paths: Sequence[Path], version: Version) -> None:
    """Refuse a version whose units are not those of its manifest, or one of them over its budget. Raises :class:`LedgerRejected`."""
    tally, units = TableTally(), 0
    for batch in read_files(paths):
        high, low, spent, budget, cost = (numbers(batch.column(name)) for name in ("high", "low", "spent", "budget", "cost"))
        tally.put(batch, weigh_units(high, low))
        units += batch.num_rows
        if not bool(((cost >= 0) & (cost <= spent) & (spent <= budget)).all()):
            raise LedgerRejected(
                f"a unit of the version {version.name} of the table of the ledger is over its budget; put back a copy of it"
            )
    if units != version.units or any(tally.made[name] != version.sums[name] for name in SUMS):
        raise LedgerRejected(
            f"the version {version.name} of the table of the ledger has other units than the log says; put back a copy of it"
        )


def _check_step(entry: Entry, before: Version | None, version: Version) -> None:
    """Refuse a version whose spending is not that of the one before it and the costs of its entry. Raises :class:`LedgerRejected`."""
    spent = 0 if before is None else before.sums["spent"]
    fewer = before is not None and version.units < before.units
    if fewer or (spent + version.sums["cost"] - version.sums["spent"]) % (1 << 64):
        raise LedgerRejected(
            f"what entry {entry.sequence} of the ledger says of its table does not follow from the entries before; restore it from a backup"
        )
