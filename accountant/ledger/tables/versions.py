"""What each entry does to a table of accounts: a folder of files that are written atomically, once, and never changed.

An entry of the log names them, with the hash of each: *accounts*, Parquet files in which the rows stand in the order of their slots, and
*codes*, two bytes for each slot, of what a release charged it (``accountant/ledger/paged/codes.py``). What an account has spent is what the
accounts say and what the codes since then add. Columns of accounts: ``slot``, ``high`` and ``low`` (the keyed hash of the unit's id),
``spent`` and ``budget`` (amounts). Versions of earlier releases had no slots and no codes: each was all accounts, with ``cost`` (what the
entry charged) and ``active`` (whether the unit took part).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from accountant.files import sync_folder
from accountant.ledger.locks import hold
from profiles import UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected
from profiles.strict_json import read_count, read_fields, read_json, read_list, read_string

SCHEMA = pa.schema([("slot", pa.int64()), ("high", pa.int64()), ("low", pa.int64()), ("spent", pa.int64()), ("budget", pa.int64())])
#: That of versions of earlier releases.
EARLIER = pa.schema(
    [("high", pa.int64()), ("low", pa.int64()), ("spent", pa.int64()), ("budget", pa.int64()), ("cost", pa.int64()), ("active", pa.bool_())]
)
#: Units a file, so that files can be hashed side by side.
_UNITS = 1 << 24
_BLOCK = 1 << 20
_MARK, _TITLE, _SCRATCH = "pdp-ledger-table", "pdp-ledger-table 1", ".work-"
#: The sums that a manifest tells, in their order.
SUMS = ("keys", "spent", "budget", "cost")
_NAME = re.compile(r"[a-z0-9-]{1,60}(/[a-z0-9-]{1,60}\.(parquet|codes))?")
_PART = re.compile(r"[a-z0-9-]{1,60}\.parquet")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file: its name in the folder of the table, its size and SHA-256, and how many units it has."""

    name: str
    size: int
    sha256: str
    units: int

    def to_list(self) -> list[str | int]:
        """Return it as a manifest has it."""
        return [self.name, self.size, self.sha256, self.units]


@dataclass(frozen=True, slots=True)
class Codes:
    """A file of codes of the slots from 0 on, of a release that costs a unit ``worst`` at most."""

    file: TableFile
    worst: int

    def to_list(self) -> list[str | int]:
        """Return it as a manifest has it."""
        return [*self.file.to_list(), self.worst]


@dataclass(frozen=True, slots=True)
class Version:
    """The manifest of an entry: what is to be read for the accounts after it. ``parts``: the files of accounts; ``codes``: what was charged
    since these were written; ``own``: what this entry charged, None where it did not; ``sums``: those of
    :mod:`~accountant.ledger.tables.sums` over all units. ``slotted``: False for one of an earlier release.
    """

    name: str
    parts: tuple[TableFile, ...]
    sums: dict[str, int]
    codes: tuple[Codes, ...] = ()
    own: Codes | None = None
    slotted: bool = True

    @property
    def units(self) -> int:
        return sum(part.units for part in self.parts)

    @property
    def files(self) -> tuple[TableFile, ...]:
        """All files that are read for the accounts after this entry."""
        return (*self.parts, *(item.file for item in self.codes))

    @property
    def written(self) -> tuple[TableFile, ...]:
        """The files that this entry wrote."""
        own = () if self.own is None or self.own in self.codes else (self.own.file,)
        return tuple(item for item in (*self.files, *own) if item.name.startswith(f"{self.name}/"))

    def to_bytes(self) -> bytes:
        """Return the manifest as the log has it."""
        told = {
            "version": self.name,
            "accounts": [part.to_list() for part in self.parts],
            "codes": [item.to_list() for item in self.codes],
            "own": None if self.own is None else self.own.to_list(),
            "sums": [self.sums.get(name, 0) for name in SUMS],
        }
        return json.dumps(told, separators=(",", ":")).encode()


_WHAT = "a version of the table of accounts"


def read_version(text: bytes) -> Version:
    """Return a manifest from the log, also one of an earlier release. Raises :class:`UnreadableFile`."""
    try:
        told = read_json(text.decode())
    except ValueError:
        raise UnreadableFile(
            f"{_WHAT} was expected in the log of the ledger, but other bytes were found; restore it from a backup"
        ) from None
    slotted = isinstance(told, dict) and "accounts" in told
    fields = read_fields(told, _WHAT, {"version", "accounts", "codes", "own", "sums"} if slotted else {"version", "parts", "sums"})
    sums = [read_count(value, _WHAT) for value in read_list(fields["sums"], _WHAT)]
    if len(sums) != len(SUMS):
        raise UnreadableFile(f"{_WHAT} has other sums than a ledger of this release writes; use another release")
    name, told_sums = _read_name(fields["version"]), dict(zip(SUMS, sums, strict=True))
    if not slotted:
        listed = [read_list(item, _WHAT) for item in read_list(fields["parts"], _WHAT)]
        if not all(part and isinstance(part[0], str) and _PART.fullmatch(part[0]) for part in listed):
            raise _refuse_name()
        return Version(name, tuple(_read_file([f"{name}/{part[0]}", *part[1:]]) for part in listed), told_sums, slotted=False)
    own = None if fields["own"] is None else _read_codes(fields["own"])
    parts = tuple(_read_file(read_list(item, _WHAT)) for item in read_list(fields["accounts"], _WHAT))
    return Version(name, parts, told_sums, tuple(map(_read_codes, read_list(fields["codes"], _WHAT))), own)


def _read_file(told: Sequence[object]) -> TableFile:
    if len(told) != 4:
        raise UnreadableFile(f"{_WHAT} names a file in another way than a ledger of this release writes; use another release")
    name, size, digest, units = told
    return TableFile(_read_name(name), read_count(size, _WHAT), read_string(digest, _WHAT), read_count(units, _WHAT))


def _read_codes(told: object) -> Codes:
    *file, worst = read_list(told, _WHAT)
    return Codes(_read_file(file), read_count(worst, _WHAT))


def _read_name(value: object) -> str:
    name = read_string(value, "a file of the table of accounts")
    if not _NAME.fullmatch(name):
        raise _refuse_name()
    return name


def _refuse_name() -> UnreadableFile:
    return UnreadableFile("a file of the table of accounts has no name of ours; restore the ledger from a backup of its log")


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a table of the ledger with the id ``ledger``."""

    path: Path
    ledger: str

    def create(self) -> None:
        """Make the folder. Raises :class:`UnwritableOutput`, also where there is one already."""
        try:
            self.path.mkdir(mode=0o700)
            with (self.path / _MARK).open("x", encoding="utf-8") as stream:
                stream.write(f"{_TITLE} {self.ledger}\n")
                stream.flush()
                os.fsync(stream.fileno())
            sync_folder(self.path)
            sync_folder(self.path.absolute().parent)
        except FileExistsError:
            raise UnwritableOutput(f"the table {self.path} is there already, and may be another ledger's; name another folder") from None
        except OSError as error:
            raise UnwritableOutput(f"the table {self.path} could not be made ({error.strerror}); check folder, space and rights") from None

    def discard(self) -> None:
        """Remove the folder of a ledger in which nothing was charged."""
        shutil.rmtree(self.path, ignore_errors=True)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield a folder for work, which is removed after it; and what deaths left of earlier ones. One process at a time has one.

        Raises :class:`UnreadableFile`, :class:`LedgerRejected` for a folder of another ledger, :class:`UnwritableOutput`.
        """
        with self.locked():
            try:
                for old in self.path.glob(f"{_SCRATCH}*"):
                    shutil.rmtree(old)
                made = self.path / f"{_SCRATCH}{secrets.token_hex(8)}"
                made.mkdir(mode=0o700)
            except OSError as error:
                raise self._refuse_writing(error) from None
            try:
                yield made
            except (pa.ArrowException, OSError) as error:
                raise self._refuse_writing(error) from None
            finally:
                shutil.rmtree(made, ignore_errors=True)

    def _refuse_writing(self, error: Exception) -> UnwritableOutput:
        reason = getattr(error, "strerror", None) or "the disk is full or failed"
        return UnwritableOutput(f"the table {self.path.name} of the ledger could not be written ({reason}); nothing was charged: make room")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from changing what is in the folder. Raises as :meth:`scratch` does."""
        try:
            handle = os.open(self.path / _MARK, os.O_RDONLY)
        except OSError as error:
            raise UnreadableFile(
                f"the table {self.path} of the ledger cannot be read ({error.strerror}); name its folder with --table, if it was moved"
            ) from None
        try:
            with hold(handle, self.path / _MARK, f"the table {self.path}"):
                if os.read(handle, 200) != f"{_TITLE} {self.ledger}\n".encode():
                    raise LedgerRejected(
                        f"the table of this ledger was expected in {self.path.name}, but another one was found; name the right one"
                    )
                yield
        finally:
            os.close(handle)

    def publish(self, built: Path, name: str) -> None:
        """Give a version that was built in the scratch folder its place, durably: after it, before the log names it."""
        os.rename(built, self.path / name)
        sync_folder(self.path)

    def locate(self, files: Iterable[TableFile]) -> list[Path]:
        """Return where files are."""
        return [self.path / file.name for file in files]

    def has(self, version: Version) -> bool:
        """Tell whether there is anything of what an entry wrote."""
        return (self.path / version.name).is_dir()

    def require_written(self, files: Sequence[TableFile]) -> None:
        """Refuse files that are not those that were written. Raises :class:`LedgerRejected`."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # hashing large blocks leaves other threads alone
            for file, written in zip(files, pool.map(_hash_file, self.locate(files)), strict=True):
                if written != (file.size, file.sha256):
                    what = "is missing" if written is None else "is not what was written"
                    raise LedgerRejected(f"the file {file.name} of the table of the ledger {what}; put back a copy of it")


def _hash_file(path: Path) -> tuple[int, str] | None:
    try:
        with path.open("rb") as stream:
            made = hashlib.file_digest(stream, "sha256").hexdigest()
            return stream.tell(), made
    except OSError:
        return None


class _Hashing:
    """A new file that is hashed while it is written."""

    __slots__ = ("_path", "_stream", "made", "size")

    def __init__(self, path: Path) -> None:
        self._path, self.made, self.size = path, hashlib.sha256(), 0
        self._stream = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")

    closed = False

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self.made.update(view)
        self._stream.write(view)
        self.size += view.nbytes
        return view.nbytes

    def flush(self) -> None:
        self._stream.flush()

    def tell(self) -> int:
        return self.size

    def close(self) -> None:
        self._stream.close()

    def finish(self, version: str, units: int) -> TableFile:
        """Make it durable, and return what a manifest says of it."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        return TableFile(f"{version}/{self._path.name}", self.size, self.made.hexdigest(), units)


class VersionWriter:
    """What an entry does to a table, while it is written into a scratch folder."""

    __slots__ = ("_accounts", "_codes", "_folder", "_parts", "_place", "_units", "entry", "name")

    def __init__(self, folder: Path, entry: int) -> None:
        self.entry = entry
        self.name = f"v{entry:08d}-{secrets.token_hex(6)}"
        self._place = folder / self.name
        self._place.mkdir(mode=0o700)
        self._parts: list[TableFile] = []
        self._accounts: tuple[_Hashing, Any] | None = None
        self._codes: _Hashing | None = None
        self._units = 0

    def write(self, batch: Any) -> None:
        """Write accounts, rows of :data:`SCHEMA` in the order of their slots, in files of some million units."""
        if self._accounts is None:
            hashing = _Hashing(self._place / f"part-{len(self._parts):05d}.parquet")
            self._accounts, self._units = (hashing, open_parquet(hashing, SCHEMA, sorted_by=("slot",), searched=("high", "low"))), 0
        self._accounts[1].write_batch(batch, row_group_size=_BLOCK)
        self._units += batch.num_rows
        if self._units >= _UNITS:
            self.end_part()

    def end_part(self) -> list[TableFile]:
        """Make durable what was written of accounts, and return all files of them so far."""
        if self._accounts is not None:
            hashing, writer = self._accounts
            writer.close()
            self._parts.append(hashing.finish(self.name, self._units))
            self._accounts = None
        return self._parts

    def write_codes(self, codes: NDArray[np.uint16]) -> None:
        """Write the codes of the next slots."""
        if self._codes is None:
            self._codes = _Hashing(self._place / "charged.codes")
        self._codes.write(np.ascontiguousarray(codes, "<u2").view(np.uint8))

    def end_codes(self, worst: int) -> Codes | None:
        """Make durable what was written of codes, and return its file; None where nothing was."""
        return None if self._codes is None else Codes(self._codes.finish(self.name, self._codes.size // 2), worst)

    def locate(self, file: TableFile) -> Path:
        """Return where a file that was written is until it is published."""
        return self._place / file.name.rpartition("/")[2]

    def publish(self, folder: Folder) -> None:
        """Put everything into the folder of the table, durably."""
        sync_folder(self._place)
        folder.publish(self._place, self.name)

    def close(self) -> None:
        """Close what is open, where writing ended before its end."""
        for hashing in (self._accounts[0] if self._accounts else None, self._codes):
            if hashing is not None:
                hashing.close()


def open_parquet(where: Any, schema: Any, *, alike: Sequence[str] = (), sorted_by: Sequence[str] = (), searched: Sequence[str] = ()) -> Any:
    """Return a writer of a Parquet file. ``alike``: columns whose values repeat; ``sorted_by``: numbers that grow; ``searched``: columns
    that rows are found by. Without ``alike`` nothing is compressed, so that the size of the file is that of its rows.
    """
    plain = {name: "DELTA_BINARY_PACKED" if name in sorted_by else "PLAIN" for name in schema.names if name not in alike}
    compression = "lz4" if alike else "none"
    return pq.ParquetWriter(
        where, schema, compression=compression, use_dictionary=list(alike), write_statistics=list(searched), column_encoding=plain
    )
