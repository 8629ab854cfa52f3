"""Versions of a table of accounts: folders of Parquet files that are written atomically, once, and never changed.

A version is named by the log alone: an entry holds its manifest, with the hash of each file. Columns: ``high`` and ``low`` (the keyed hash
of the unit's id), ``spent`` and ``budget`` (amounts), ``cost`` (what the entry charged) and ``active`` (whether the unit took part).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from accountant.files import sync_folder
from accountant.ledger.locks import hold
from profiles import UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected
from profiles.strict_json import read_count, read_fields, read_json, read_list, read_string

SCHEMA = pa.schema(
    [("high", pa.int64()), ("low", pa.int64()), ("spent", pa.int64()), ("budget", pa.int64()), ("cost", pa.int64()), ("active", pa.bool_())]
)
#: Units a file, so that files can be hashed side by side.
_UNITS = 1 << 24
_BLOCK = 1 << 20
_MARK, _TITLE, _SCRATCH = "pdp-ledger-table", "pdp-ledger-table 1", ".work-"
#: The sums that a manifest tells, in their order.
SUMS = ("keys", "spent", "budget", "cost")
_NAME = re.compile(r"[a-z0-9-]{1,60}(\.parquet)?")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a version: its name, size and SHA-256, and how many units it has."""

    name: str
    size: int
    sha256: str
    units: int


@dataclass(frozen=True, slots=True)
class Version:
    """The manifest of a version; ``sums`` are those of :mod:`~accountant.ledger.tables.sums` over all of its units."""

    name: str
    parts: tuple[TableFile, ...]
    sums: dict[str, int]

    @property
    def units(self) -> int:
        return sum(part.units for part in self.parts)

    def to_bytes(self) -> bytes:
        """Return the manifest as the log has it."""
        parts = [[part.name, part.size, part.sha256, part.units] for part in self.parts]
        told = {"version": self.name, "parts": parts, "sums": [self.sums.get(name, 0) for name in SUMS]}
        return json.dumps(told, separators=(",", ":")).encode()


def read_version(text: bytes) -> Version:
    """Return a manifest from the log. Raises :class:`UnreadableFile`."""
    what = "a version of the table of accounts"
    try:
        told = read_json(text.decode())
    except ValueError:
        raise UnreadableFile(
            f"{what} was expected in the log of the ledger, but other bytes were found; restore it from a backup"
        ) from None
    found = read_fields(told, what, {"version", "parts", "sums"})
    parts = []
    for item in read_list(found["parts"], what):
        name, size, digest, units = read_list(item, what)
        parts.append(TableFile(_read_name(name), read_count(size, what), read_string(digest, what), read_count(units, what)))
    sums = [read_count(value, what) for value in read_list(found["sums"], what)]
    if len(sums) != len(SUMS):
        raise UnreadableFile(f"{what} has other sums than a ledger of this release writes; use another release")
    return Version(_read_name(found["version"]), tuple(parts), dict(zip(SUMS, sums, strict=True)))


def _read_name(value: object) -> str:
    name = read_string(value, "a file of the table of accounts")
    if not _NAME.fullmatch(name):
        raise UnreadableFile("a file of the table of accounts has no name of ours; restore the ledger from a backup of its log")
    return name


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

    def withdraw(self, version: Version) -> None:
        """Remove a version that was just written, and that no entry will name."""
        shutil.rmtree(self.path / version.name, ignore_errors=True)

    def list_parts(self, version: Version) -> list[Path]:
        """Return where the files of a version are."""
        return [self.path / version.name / part.name for part in version.parts]

    def has(self, version: Version) -> bool:
        """Tell whether there is anything of a version."""
        return (self.path / version.name).is_dir()

    def open_version(self, version: Version) -> list[Path]:
        """Return the files of a version, each of which is the one that was written. Raises :class:`LedgerRejected`."""
        paths = self.list_parts(version)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # hashing large blocks leaves other threads alone
            for part, found in zip(version.parts, pool.map(_hash_file, paths), strict=True):
                if found != (part.size, part.sha256):
                    what = "is missing" if found is None else "is not what was written"
                    raise LedgerRejected(f"the file {version.name}/{part.name} of the table of the ledger {what}; put back a copy of it")
        return paths


def _hash_file(path: Path) -> tuple[int, str] | None:
    try:
        with path.open("rb") as stream:
            made = hashlib.file_digest(stream, "sha256").hexdigest()
            return stream.tell(), made
    except OSError:
        return None


class _Hashing:
    """A file that is hashed while it is written."""

    __slots__ = ("_stream", "made", "size")

    def __init__(self, stream: Any) -> None:
        self._stream, self.made, self.size = stream, hashlib.sha256(), 0

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


class VersionWriter:
    """A version while it is written into a scratch folder."""

    __slots__ = ("_folder", "_parts", "_place", "_waiting", "name")

    def __init__(self, folder: Path, entry: int) -> None:
        self.name = f"v{entry:08d}-{secrets.token_hex(6)}"
        self._place = folder / self.name
        self._place.mkdir(mode=0o700)
        self._parts: list[TableFile] = []

    def write(self, batches: Iterator[Any]) -> None:
        """Write batches of :data:`SCHEMA`, in files of some million units."""
        batch = next(batches, None)
        while batch is not None or not self._parts:
            name = f"part-{len(self._parts):05d}.parquet"
            with (self._place / name).open("xb") as stream:
                hashing, units = _Hashing(stream), 0
                with open_parquet(hashing, SCHEMA, ("spent", "budget", "cost")) as writer:
                    while batch is not None and units < _UNITS:
                        writer.write_batch(batch, row_group_size=_BLOCK)
                        units += batch.num_rows
                        batch = next(batches, None)
                stream.flush()
                os.fsync(stream.fileno())
            self._parts.append(TableFile(name, hashing.size, hashing.made.hexdigest(), units))

    def finish(self, sums: dict[str, int], folder: Folder) -> Version:
        """Put the version into the folder of the table, durably, and return its manifest."""
        sync_folder(self._place)
        folder.publish(self._place, self.name)
        return Version(self.name, tuple(self._parts), {name: sums.get(name, 0) for name in SUMS})


def open_parquet(where: Any, schema: Any, alike: Sequence[str]) -> Any:
    """Return a writer of a Parquet file; ``alike`` are the columns whose values repeat."""
    return pq.ParquetWriter(where, schema, compression="lz4", use_dictionary=list(alike), write_statistics=False)
