"""The accounts of a ledger as a table beside its log: each entry writes its files, whole, then names them (docs/ledger.md, L7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from accountant.ledger.accounts import Asked, Cost, Spent
from accountant.ledger.log import CHANGING, Change, Digest, Entry
from accountant.ledger.store import Store
from accountant.ledger.tables.earlier import check_earlier, iter_earlier, sort_earlier
from accountant.ledger.tables.engines import Engine
from accountant.ledger.tables.merging import CodesAt, Joined, iter_accounts, read_code, require_new
from accountant.ledger.tables.sums import Sums, weigh_units
from accountant.ledger.tables.units import Made, Make, SlotAccounts, TableTally, Units, charge_by, keep, numbers, raise_to, refuse_engine
from accountant.ledger.tables.versions import SCHEMA, SUMS, Codes, Folder, Version, VersionWriter, open_parquet, read_version
from accountant.ledger.units import Hasher
from profiles import InvalidData
from profiles.arrays import Booleans, Integers
from profiles.errors import LedgerRejected

_ROWS = pa.schema([("row", pa.int64()), ("high", pa.int64()), ("low", pa.int64()), ("steps", pa.int64()), ("budget", pa.int64())])
_HASHES = pa.schema([("high", pa.int64()), ("low", pa.int64())])
#: After so many files of codes the accounts are written anew: reading them all is as much as reading the accounts then.
_MOST_CODES = 16


@dataclass(slots=True)
class _Work:
    """An entry while it is written: the rows, how many there are and their sums; what is known of accounts, and what is made of them."""

    scratch: Path
    rows: Path
    size: int
    went: Sums
    writer: VersionWriter
    known: Version | None
    tally: TableTally = field(default_factory=TableTally)
    active: Path | None = None


class TableBook:
    """The accounts in the files of a table: :class:`~accountant.ledger.accounts.Accounts`."""

    __slots__ = ("_engine", "_folder", "_hasher", "_last", "_store")

    def __init__(self, store: Store, hasher: Hasher, folder: Folder, engine: Engine) -> None:
        self._store, self._hasher, self._folder, self._engine = store, hasher, folder, engine
        self._last: Entry | None = None

    def refresh(self, last: Entry | None = None) -> None:
        self._last = self._last if last is None else last

    def enroll(self, entry: int, asked: Asked, digest: Digest) -> None:
        with self._folder.scratch() as scratch:
            work = self._begin(entry, asked, scratch)
            self._finish(work, asked, keep, digest, anew=True)

    def lift(self, entry: int, asked: Asked, least: int, digest: Digest) -> None:
        """Raise budgets to those of the rows, or to ``least`` for units without one, where they are lower."""
        with self._folder.scratch() as scratch:
            work = self._begin(entry, asked, scratch)
            self._finish(work, asked, raise_to(least), digest, anew=True)

    def spend(self, entry: int, asked: Asked, cost: Cost, digest: Digest) -> Spent:
        """Open accounts, charge those with a row that have room, and return who takes part."""
        (worst,) = asked.worst
        with self._folder.scratch() as scratch:
            work = self._begin(entry, asked, scratch)
            anew = work.known is None or len(work.known.codes) + 1 >= _MOST_CODES
            active = self._finish(work, asked, charge_by(cost, worst), digest, anew=anew, worst=worst)
            return Spent(active, work.tally.left == 0)

    # what an entry writes

    def _begin(self, entry: int, asked: Asked, scratch: Path) -> _Work:
        """Stage the rows, and check the accounts that they are to be joined with; those of an earlier release are written anew first."""
        before = None if self._last is None else self._read(self._last)
        if before is not None:
            self._folder.require_written(before.files)
        rows, size, went = self._stage(scratch, asked)
        work = _Work(scratch, rows, size, went, VersionWriter(scratch, entry), before)
        if before is not None and not before.slotted:
            sums = sort_earlier(self._engine, self._folder.locate(before.parts), work.writer.write, scratch)
            if any(sums[name] != before.sums[name] for name in ("keys", "spent", "budget")):
                raise refuse_engine("other accounts")
            work.known = replace(before, parts=tuple(work.writer.end_part()), slotted=True)
        return work

    def _finish(self, work: _Work, asked: Asked, make: Make, digest: Digest, *, anew: bool, worst: int | None = None) -> Booleans:
        """Write what an entry makes of the accounts, whole and durably, name it in the store, and return which rows take part.

        ``anew``: write all accounts with what they have spent then; else those of new units alone, beside what the entry charges.
        """
        writer, tally, known = work.writer, work.tally, work.known
        parts, codes = ((), ()) if known is None else (known.parts, known.codes)
        already = len(writer.end_part())  # accounts of an earlier release
        charged, fresh = worst is not None, []
        hashes = open_parquet(work.scratch / "active.parquet", _HASHES)
        with hashes:
            for units, is_new in self._iter_units(work):
                made = make(units)
                tally.put(units, made)
                if is_new and known is not None:
                    fresh.append((units.accounts.high, units.accounts.low))
                if anew:
                    writer.write(units.accounts.to_batch(made.spent, made.budget))
                elif is_new:
                    writer.write(units.accounts.to_batch(units.accounts.spent, made.budget))
                if charged and made.codes is not None and made.active is not None:
                    writer.write_codes(made.codes)
                    hashes.write_batch(_list_hashes(units, made))
        tally.require_equal(work.went)
        if fresh:
            require_new(self._iter_known(work), *(np.concatenate(part) for part in zip(*fresh, strict=True)))
        asked.require_records(tally.most)
        written, own = tuple(writer.end_part()[already:]), None if worst is None else writer.end_codes(worst)
        active = self._match(work) if charged else np.zeros(0, np.bool_)
        version = Version(
            writer.name,
            written if anew else (*parts, *written),
            {name: tally.made[name] for name in SUMS},
            () if anew else (*codes, *((own,) if own is not None else ())),
            own,
        )
        writer.publish(self._folder)
        change = Change("table", 0, version.to_bytes())
        self._store.write_change(writer.entry, change)
        digest.add_change(change)
        return active

    def _iter_units(self, work: _Work) -> Iterator[tuple[Units, bool]]:
        """Yield all units with what is asked of them, and whether they are new."""
        known = [_write_nobody(work.scratch)] if work.known is None else self._locate_known(work)
        joined = Joined(self._engine.join(work.rows, known, work.scratch), work.tally)
        slots = 0
        for accounts in self._iter_known(work):
            yield joined.beside(accounts), False
            slots += accounts.high.size
        for units in joined.iter_new(slots):
            yield units, True

    def _iter_known(self, work: _Work) -> Iterator[SlotAccounts]:
        if work.known is not None:
            yield from iter_accounts(self._locate_known(work), self._locate_codes(work.known.codes))

    def _locate_known(self, work: _Work) -> list[Path]:
        """Return where the accounts are, also those that were just written."""
        parts = () if work.known is None else work.known.parts
        own = f"{work.writer.name}/"
        return [work.writer.locate(part) if part.name.startswith(own) else self._folder.path / part.name for part in parts]

    def _locate_codes(self, codes: Sequence[Codes]) -> list[CodesAt]:
        return [CodesAt(self._folder.path / item.file.name, item.file.units, item.worst) for item in codes]

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
        with open_parquet(path, _ROWS, alike=("steps", "budget"), sorted_by=("row",)) as writer:
            for batch in asked.rows:
                steps = np.zeros(batch.size, np.int64) if asked.shifts is None else asked.shifts(batch, size)
                high, low = _split(self._hasher.hashes(batch.ids))
                places = np.arange(size, size + batch.size)
                sums.add(weigh_units(high, low), rows=None, steps=steps, places=places)
                total += int(steps.sum(dtype=np.uint64))
                writer.write_batch(pa.record_batch([places, high, low, steps, asked.budgets(batch, size)], schema=_ROWS))
                size += batch.size
        if total >= 1 << 63:
            raise InvalidData("the rows have more shifts than can be added up together; charge a part of the units after the other")
        return path, size, sums

    def _match(self, work: _Work) -> Booleans:
        """Return which rows belong to units that are active in what was made."""
        tally, size = work.tally, work.size
        if not tally.left and tally.active == size:
            return np.ones(size, np.bool_)
        active, count, matched = np.zeros(size, np.bool_), 0, Sums()
        for batch in self._engine.match(work.rows, [work.scratch / "active.parquet"], work.scratch):
            place, high, low = (numbers(batch.column(name)) for name in ("row", "high", "low"))
            if place.size and not 0 <= int(place.min()) <= int(place.max()) < size:
                raise refuse_engine("rows that it was not given")
            active[place] = True
            count += place.size
            matched.add(weigh_units(high, low), active=None, places=place)
        wrong = any(matched[name] != tally.made[name] for name in ("active", "places"))
        if wrong or not count == tally.active == int(active.sum()):
            raise refuse_engine("other rows of the units that take part")
        return active

    # looking up, checking

    def hash_text(self, text: str) -> bytes:
        return self._hasher.hash_text(text)

    def look_up(self, hashed: bytes) -> tuple[tuple[int, int], ...] | None:
        if self._last is None:
            return None
        with self._folder.locked():
            version = self._read(self._last)
            self._folder.require_written(version.files)
            account = self._find(version, hashed)
        return None if account is None else (account[1:],)

    def _find(self, version: Version, hashed: bytes) -> tuple[int, int, int] | None:
        """Return the slot of a unit (−1 in a version of an earlier release), what it spent and its budget; None for one without an account.

        Raises :class:`LedgerRejected`.
        """
        high, low = (int(value[0]) for value in _split(hashed))
        wanted = (pc.field("high") == high) & (pc.field("low") == low)
        paths = [str(path) for path in self._folder.locate(version.parts)]
        columns = ["spent", "budget", *(["slot"] if version.slotted else [])]
        rows = pads.dataset(paths).to_table(columns=columns, filter=wanted).to_pylist()
        if len(rows) > 1:
            raise LedgerRejected("a unit of the ledger has several accounts; restore the table from a copy")
        if not rows:
            return None
        slot = int(rows[0].get("slot", -1))
        spent = rows[0]["spent"] + sum(read_code(item, slot) for item in self._locate_codes(version.codes))
        return slot, int(spent), int(rows[0]["budget"])

    def list_state(self, entries: Sequence[Entry]) -> Iterator[tuple[bytes, Integers, Integers]]:
        """Yield the accounts of the version that the last of ``entries`` wrote. Raises :class:`InvalidData` where it was removed."""
        entry = next(item for item in reversed(entries) if item.kind in CHANGING)
        with self._folder.locked():
            version = self._open(entry)
            paths = self._folder.locate(version.parts)
            listed = iter_accounts(paths, self._locate_codes(version.codes)) if version.slotted else iter_earlier(paths)
            for accounts in listed:
                yield (
                    np.stack([accounts.high, accounts.low], axis=1).astype("<i8").tobytes(),
                    accounts.spent[None],
                    accounts.budget[None],
                )

    def trace(self, hashed: bytes, entries: Sequence[Entry]) -> Iterator[tuple[Entry, tuple[int, ...], tuple[int, ...]]]:
        """Yield what each of ``entries`` did to one account, as versions say it. Raises :class:`InvalidData` where one was removed."""
        before = 0
        for entry in (item for item in entries if item.kind in CHANGING):
            with self._folder.locked():
                account = self._find(self._open(entry), hashed)
            if account is not None:
                _, spent, budget = account
                yield entry, (spent - before,), (budget,)
                before = spent

    def _open(self, entry: Entry) -> Version:
        version = self._read(entry)
        folders = {item.name.partition("/")[0] for item in version.files}
        if not all((self._folder.path / name).is_dir() for name in folders):
            raise InvalidData(
                f"the version {version.name} of the table of the ledger was asked for, but it was removed; put it back from a copy"
            )
        self._folder.require_written(version.files)
        return version

    def repair(self, entries: Sequence[Entry], *, write: bool) -> int:  # noqa: ARG002 - versions are never written anew
        """Check the files that are there, sums of each version against the one before it, and the last one unit by unit. Nothing is ever
        repaired: a file that is damaged is put back from a copy. Raises :class:`LedgerRejected`.
        """
        changing = [entry for entry in entries if entry.kind in CHANGING]
        before: Version | None = None
        with self._folder.locked():
            for entry in changing:
                version = self._read(entry)
                if self._folder.has(version):
                    self._folder.require_written(version.written)
                if not version.slotted and (entry is changing[-1] or self._folder.has(version)):
                    self._folder.require_written(version.parts)
                    check_earlier(self._folder.locate(version.parts), version)
                if entry is changing[-1]:
                    self._check_last(version)
                _check_step(entry, before, version)
                before = version
        return 0

    def _check_last(self, version: Version) -> None:
        """Refuse a version in which a unit is over its budget, has two accounts, or that has other units than its manifest."""
        self._folder.require_written(version.files)
        paths = self._folder.locate(version.parts)
        if version.slotted:
            sums, units = Sums(), 0
            for accounts in iter_accounts(paths, self._locate_codes(version.codes)):
                sums.add(weigh_units(accounts.high, accounts.low), keys=None, spent=accounts.spent, budget=accounts.budget)
                units += accounts.high.size
                if not bool(((accounts.spent >= 0) & (accounts.spent <= accounts.budget)).all()):
                    raise LedgerRejected(
                        f"a unit of the version {version.name} of the table of the ledger is over its budget; put back a copy of it"
                    )
            if units != version.units or any(sums[name] != version.sums[name] for name in ("keys", "spent", "budget")):
                raise LedgerRejected(
                    f"the version {version.name} of the table of the ledger has other units than the log says; put back a copy of it"
                )
        if self._engine.count_repeated(paths):
            raise LedgerRejected("a unit of the table of the ledger has several accounts; put back a copy of an older version")


def _list_hashes(units: Units, made: Made) -> pa.RecordBatch:
    """Return the hashes of the units that take part."""
    return pa.record_batch([units.accounts.high[made.active], units.accounts.low[made.active]], schema=_HASHES)


def _split(hashes: bytes) -> tuple[Integers, Integers]:
    """Return the two halves of hashes."""
    pairs = np.frombuffer(hashes, dtype="<i8").reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _write_nobody(scratch: Path) -> Path:
    path = scratch / "nobody.parquet"
    with open_parquet(path, SCHEMA) as writer:
        writer.write_batch(pa.record_batch([pa.array([], kind) for kind in SCHEMA.types], schema=SCHEMA))
    return path


def _check_step(entry: Entry, before: Version | None, version: Version) -> None:
    """Refuse a version whose spending is not that of the one before it and the costs of its entry. Raises :class:`LedgerRejected`."""
    spent = 0 if before is None else before.sums["spent"]
    fewer = before is not None and version.units < before.units
    if fewer or (spent + version.sums["cost"] - version.sums["spent"]) % (1 << 64):
        raise LedgerRejected(
            f"what entry {entry.sequence} of the ledger says of its table does not follow from the entries before; restore it from a backup"
        )
