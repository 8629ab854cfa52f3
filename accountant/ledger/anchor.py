"""The anchor: a file outside of the ledger to which every entry's hash is appended, and from which nothing is ever removed.

A ledger that was restored from an old copy, or of which two copies were charged, does not agree with its anchor, and refuses charges.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from accountant.files import sync_folder
from accountant.ledger.inputs import require_regular
from accountant.ledger.locks import hold
from accountant.ledger.log import Entry
from profiles import InvalidArgument, UnreadableFile, UnwritableOutput
from profiles.errors import LedgerRejected

_TITLE = "pdp-ledger-anchor 1"
#: A link at the place of the lock is not followed, where the system knows how.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LINE = re.compile(r"(\d{1,15}) ([0-9a-f]{64}) ([0-9a-f]{64}) (.*)\Z")


@dataclass(frozen=True, slots=True)
class Anchor:
    """The anchor file at ``path`` of the ledger with the id ``ledger``."""

    path: Path
    ledger: str

    def create(self) -> None:
        """Write the first line. Raises :class:`UnwritableOutput`, also where the file is there already."""
        try:
            with self.path.open("x", encoding="utf-8") as stream:
                stream.write(f"{_TITLE} {self.ledger}\n")
                stream.flush()
                os.fsync(stream.fileno())
            sync_folder(self.path.parent)
        except FileExistsError:
            raise UnwritableOutput(
                f"the anchor {self.path} is there already, and may belong to another ledger; name another file"
            ) from None
        except OSError as error:
            raise UnwritableOutput(
                f"the anchor {self.path} could not be written ({error.strerror}); check folder, space and rights"
            ) from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all other processes that use this anchor out. Raises :class:`UnreadableFile`, :class:`UnwritableOutput`."""
        require_regular(self.path, "the anchor")
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError:
            raise UnreadableFile(f"the anchor {self.path} is not there; name it with --anchor, or get it from where it is kept") from None
        except OSError as error:
            raise UnwritableOutput(f"the anchor {self.path} cannot be appended to ({error.strerror}); check its rights") from None
        handle = self._open_lock()
        try:
            with hold(handle, self.lock, f"the anchor {self.path}"):
                yield
        finally:
            os.close(handle)

    @property
    def lock(self) -> Path:
        """The empty file beside the anchor that writers lock: for its owner's eyes, because whoever may read a file may hold its lock."""
        return self.path.with_name(f"{self.path.name}.lock")

    def _open_lock(self) -> int:
        """Return the open file to lock. Raises :class:`UnwritableOutput`."""
        try:
            try:
                return os.open(self.lock, os.O_RDWR | os.O_CLOEXEC | _NO_LINK)
            except FileNotFoundError:
                handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o600)
            if hasattr(os, "geteuid") and os.geteuid() == 0:  # made by the superuser, it is still for whoever keeps the anchor
                told = self.path.stat()
                os.fchown(handle, told.st_uid, told.st_gid)
        except OSError as error:
            raise UnwritableOutput(
                f"the file {self.lock} that the anchor is locked by cannot be opened ({error.strerror}); check its rights and its folder's"
            ) from None
        return handle

    def remove(self) -> None:
        """Remove the anchor of a ledger that was never opened."""
        self.path.unlink(missing_ok=True)
        self.lock.unlink(missing_ok=True)

    def compare(self, entries: Sequence[Entry]) -> int:
        """Return how many of ``entries`` the anchor does not have yet: 0, or 1 if a process died between the two writes.

        Raises :class:`LedgerRejected` if the ledger is an old copy, was continued in another copy, or the anchor is an old one.
        """
        lines, torn = self._read()
        for place, (line, entry) in enumerate(zip(lines, entries, strict=False)):
            if line != _write(entry):
                raise LedgerRejected(
                    f"the anchor {self.path.name} has another entry {place} than the ledger: two copies of it went on, or its history was "
                    "changed; use the copy that the anchor goes with"
                )
        if len(lines) > len(entries):
            raise LedgerRejected(
                f"the ledger is older than its anchor {self.path.name}, and what was spent since is not in it: it lacks "
                f"{name_lines(lines[len(entries) :])}; use the newest copy"
            )
        missing = len(entries) - len(lines)
        if missing > 1 or (torn and (not missing or not f"{_write(entries[-1])}\n".startswith(torn))):
            raise LedgerRejected(
                f"the anchor {self.path.name} lacks entries of the ledger, from {len(lines)} on, or its last line is damaged: it is an old "
                "copy; use the newest one"
            )
        return missing

    def read_hashes(self) -> list[str]:
        """Return the hashes of the entries that it has, as texts. Raises :class:`UnreadableFile`, :class:`LedgerRejected`."""
        return [line.split(" ")[1] for line in self._read()[0]]

    def append(self, entry: Entry) -> None:
        """Append the line of an entry, or what is missing of it, durably; nothing where it is there. Raises :class:`UnwritableOutput`."""
        lines, torn = self._read()
        if lines[entry.sequence : entry.sequence + 1] == [_write(entry)]:  # by another writer, who found the entry first and may be further
            return
        text = f"{_write(entry)}\n"
        try:
            with self.path.open("ab") as stream:
                stream.write(text.removeprefix(torn).encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise UnwritableOutput(
                f"the anchor {self.path} could not be appended to ({error.strerror}); the charge stays, and nothing was run"
            ) from None

    def read_lost(self, entries: Sequence[Entry]) -> str:
        """Return in words what the anchor has and ``entries`` do not, "" for nothing; of entries that agree as far as they go."""
        lines, _ = self._read()
        return name_lines(lines[len(entries) :])

    def _read(self) -> tuple[list[str], str]:
        """Return the whole lines, and what stands after the last of them."""
        try:
            text = self.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise UnreadableFile(f"the anchor {self.path} cannot be read ({reason}); name the anchor of this ledger") from None
        title, _, rest = text.partition("\n")
        if title != f"{_TITLE} {self.ledger}":
            what = "an anchor of another ledger, or of another version" if title.startswith("pdp-ledger-anchor ") else "another file"
            raise LedgerRejected(f"the anchor of this ledger was expected in {self.path.name}, but {what} was found; name the right one")
        *lines, torn = rest.split("\n")
        for place, line in enumerate(lines):
            match = _LINE.match(line)
            if match is None or int(match[1]) != place:
                raise LedgerRejected(f"line {place + 2} of the anchor {self.path.name} is damaged; use another copy of the anchor")
        return lines, torn


def name_lines(lines: Sequence[str]) -> str:
    """Return in words which entries lines of an anchor stand for.

    >>> name_lines(["3 " + "0" * 64 + " " + "0" * 64 + " charge 'centres'"])
    "entry 3 (charge 'centres')"
    """
    matches = [match for match in map(_LINE.match, lines) if match]
    shown = ", ".join(f"{item[1]} ({item[4]})" for item in matches[:5])
    return "" if not matches else f"{'entry' if len(matches) == 1 else 'entries'} {shown}" + (" and others" if len(matches) > 5 else "")


def _write(entry: Entry) -> str:
    return f"{entry.sequence} {entry.hash.hex()} {entry.seal.hex()} {entry.kind} {entry.name!r}"


def check_name(name: object) -> str:
    """Return the name of a release. Raises :class:`InvalidArgument` for what is no line of text of 1 to 100 letters."""
    if not isinstance(name, str) or not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidArgument("a release needs a name of 1 to 100 printable letters, but another one was found; give one")
    return name.strip()
