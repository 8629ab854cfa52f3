"""The log as a file of lines: a backup, from which a ledger is restored as far as the backup is intact (docs/ledger.md, section 5)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accountant.files import replace_file
from accountant.guarantees.theorem import Carried
from accountant.ledger.anchor import Anchor
from accountant.ledger.database import NEWEST, VERSION
from accountant.ledger.inputs import require_regular
from accountant.ledger.journal import Journal, find_secret, read_secret
from accountant.ledger.ledger import Ledger
from accountant.ledger.log import CHARGE, END, OPEN, OUTPUT, Change, Digest, Entry, Segment, body_text, check_entry
from accountant.ledger.making import NewFiles, discard, open_accounts, remember
from accountant.ledger.opening import open_store
from accountant.ledger.paged.book import PageBook
from accountant.ledger.paged.changes import HASHING
from accountant.ledger.places import to_place
from accountant.ledger.promises import list_carried
from accountant.ledger.requests import is_mark
from accountant.ledger.settings import LedgerSettings, make_check, make_token, open_settings
from accountant.ledger.signing import public_key
from accountant.ledger.store import Store
from accountant.ledger.succession import BEFORE
from accountant.ledger.tables.versions import Folder
from accountant.ledger.units import SECRET_BYTES, WIDTH, Hasher
from profiles import InvalidArgument, InvalidData, MissingExtra, PDPError, UnreadableFile
from profiles.errors import LedgerRejected
from profiles.hypotheses import FORGOTTEN_STAY_AWAY
from profiles.strict_json import read_json

#: The version of a backup is that of the tables whose rows it has.
FORMAT = "pdp-ledger-log"
_LONGEST = 1 << 27


@dataclass(slots=True)
class _Batch:
    """An entry with all that it did."""

    segments: list[Segment] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    output: bytes | None = None


def back_up(ledger: Ledger, path: str | os.PathLike[str]) -> int:
    """Write the log of a ledger, with all changes of the accounts, to a file, atomically; return its entries.

    It is private like the ledger itself: it has what each account was charged, though no ids.
    """
    journal = ledger.journal
    with journal.reading(), replace_file(Path(path), private=True) as stream:
        for line in _write_lines(journal):
            stream.write(line.encode() + b"\n")
    return len(journal.entries)


def _write_lines(journal: Journal) -> Iterator[str]:
    yield json.dumps({"format": FORMAT, "version": journal.store.database.version})
    for entry in journal.entries:
        for segment in journal.store.iter_segments(journal.hasher, entry.sequence):
            yield json.dumps({"first": segment.first, "hashes": _text(segment.hashes), "fingerprint": _text(segment.fingerprint)})
        for change in journal.store.iter_changes(entry.sequence):
            yield json.dumps({"change": change.kind, "chunk": change.chunk, "packed": _text(change.packed)})
        value = journal.store.read_output(entry.sequence) if entry.kind in (CHARGE, OUTPUT) else None
        if value is not None:
            yield json.dumps({"output": _text(value)})
        told = {"entry": entry.sequence, "kind": entry.kind, "name": entry.name, "body": body_text(entry.body)}
        yield json.dumps(told | {"hash": entry.hash.hex(), "digest": entry.digest.hex(), "seal": entry.seal.hex()})


def restore(
    path: str | os.PathLike[str],
    log: str | os.PathLike[str],
    *,
    anchor: str | os.PathLike[str],
    secret: str | os.PathLike[str] | None = None,
    table: str | os.PathLike[str] | None = None,
) -> tuple[Ledger, str]:
    """Return the ledger of a backup, in a new file at ``path``, and in words the entries of its anchor that the backup lacks.

    ``table``: the folder of its table, where it has one; a backup has the hashes of its files. A torn or damaged backup gives its longest
    intact beginning. Further entries of the anchor are lost: the ledger is then older than its anchor, and is refused until it is restored
    from a newer backup. Raises :class:`UnreadableFile` if not even the first entry is intact, :class:`LedgerRejected` if the anchor is
    another ledger's.
    """
    where, anchored = to_place(path), Path(anchor).absolute()
    key = find_secret(where, secret)
    hidden = read_secret(key)
    hasher, entries, settings, store = Hasher.of(hidden), list[Entry](), None, None
    try:
        for entry, batch in _read_batches(Path(log)):
            try:
                settings = open_settings(entry, hidden) if settings is None else settings
                check_entry(entries[-1] if entries else None, entry, hasher, settings.previous)
            except LedgerRejected:
                break
            if _digest(batch) != entry.digest or not _has_output(entry, batch, hasher):
                break
            if store is None:
                store = open_store(where.create(NEWEST if any(change.kind == HASHING for change in batch.changes) else VERSION))
            _write_batch(store, entry, batch, hasher)
            entries.append(entry)
        if settings is None or store is None:
            raise UnreadableFile(
                f"a backup of a ledger was expected in {Path(log).name}, but not even its first entry is whole; use another one"
            )
        folder = _find_folder(settings, table)
        accounts = open_accounts(store, hasher, settings, key, folder)
        journal = Journal(store, Anchor(anchored, settings.ledger), hasher, settings.previous, accounts)
        return _finish(Ledger(journal, settings), entries, key, folder)
    except BaseException:
        if store is not None:
            store.database.discard()
        raise


def _find_folder(settings: LedgerSettings, table: str | os.PathLike[str] | None) -> Folder | None:
    """Return the folder of a ledger with a table. Raises :class:`InvalidArgument` where none is named, or for a ledger without one."""
    if settings.table != (table is not None):
        how = "needs the folder of its table, but none was named" if settings.table else "has no table, but a folder for one was named"
        raise InvalidArgument(f"the ledger in this backup {how}; name a table for a ledger that has one, and for no other")
    return None if table is None else Folder(Path(table).absolute(), settings.ledger)


def _finish(ledger: Ledger, entries: list[Entry], key: Path, folder: Folder | None) -> tuple[Ledger, str]:
    journal, anchor = ledger.journal, ledger.journal.anchor
    remember(journal, key, table=None if folder is None else folder.path)
    with journal.store.database.transaction():
        journal.accounts.repair(entries, write=True)
    with journal.turn():
        lost = anchor.read_lost(entries)
        if not lost and anchor.compare(entries):
            anchor.append(entries[-1])
    journal.adopt(entries)
    return ledger, lost


def _read_batches(path: Path) -> Iterator[tuple[Entry, _Batch]]:
    """Yield the entries of a backup with what they did, as far as its lines can be read."""
    require_regular(path, "the backup")
    try:
        stream = path.open("rb")
    except OSError as error:
        raise UnreadableFile(f"the backup {path} cannot be read ({error.strerror}); check the path and its rights") from None
    with stream:
        head = _read_line(stream.readline(_LONGEST))
        if head is None or head.get("format") != FORMAT:
            raise UnreadableFile(f"a backup of a ledger was expected in {path.name}, but another file was found; name the backup")
        if type(head.get("version")) is not int or head["version"] not in (VERSION, NEWEST):
            raise UnreadableFile(
                f"a backup of version {VERSION} or {NEWEST} was expected in {path.name}, but another one was found; use a newer release"
            )
        batch = _Batch()
        while line := stream.readline(_LONGEST):
            fields = _read_line(line)
            if fields is None:
                return
            try:
                entry = _take(fields, batch)
            except (KeyError, TypeError, ValueError, PDPError):
                return
            if entry is not None:
                yield entry, batch
                batch = _Batch()


def _read_line(line: bytes) -> Mapping[str, Any] | None:
    """Return the object of a whole line."""
    if not line.endswith(b"\n"):
        return None
    try:
        fields = read_json(line.decode())
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _take(fields: Mapping[str, Any], batch: _Batch) -> Entry | None:
    """Add what a line says to a batch; return the entry that ends it."""
    if "first" in fields:
        batch.segments.append(Segment(_number(fields["first"]), _bytes(fields["hashes"]), _bytes(fields["fingerprint"])))
    elif "change" in fields:
        batch.changes.append(Change(str(fields["change"]), _number(fields["chunk"]), _bytes(fields["packed"])))
    elif "output" in fields:
        batch.output = _bytes(fields["output"])
    else:
        body = read_json(fields["body"])
        hashes = (bytes.fromhex(fields[name]) for name in ("hash", "digest", "seal"))
        return Entry(_number(fields["entry"]), str(fields["kind"]), str(fields["name"]), body, *hashes)
    return None


def _digest(batch: _Batch) -> bytes | None:
    digest = Digest()
    for segment in batch.segments:
        digest.add_segment(segment)
    try:
        for change in sorted(batch.changes, key=lambda item: (item.kind, item.chunk)):
            digest.add_change(change)
    except LedgerRejected:
        return None
    return digest.finish()


def _has_output(entry: Entry, batch: _Batch, hasher: Hasher) -> bool:
    """Tell whether a batch has the output that its entry names, and no other; beside a charge there may be what it was asked with."""
    if entry.kind == CHARGE and batch.output is not None:
        return is_mark(batch.output, entry, hasher)
    if entry.kind != OUTPUT:
        return batch.output is None
    return batch.output is not None and hashlib.sha256(batch.output).hexdigest() == entry.body.get("sha256")


def _write_batch(store: Store, entry: Entry, batch: _Batch, hasher: Hasher) -> None:
    with store.database.transaction():
        for segment in batch.segments:
            store.write_segment(entry.sequence, segment, hasher)
        for change in batch.changes:
            store.write_change(entry.sequence, change)
        if batch.output is not None:
            store.write_output(entry.sequence, batch.output)
        store.write_entry(entry, body_text(entry.body))


def migrate(
    ledger: Ledger,
    path: str | os.PathLike[str],
    *,
    anchor: str | os.PathLike[str],
    secret: str | os.PathLike[str] | None = None,
    rotate: bool = False,
    forget: Sequence[object] = (),
) -> Ledger:
    """Return a new ledger that continues ``ledger``: its first hash is computed from the old head, and every account begins with its
    spending. Its accounts are in pages, also where those of the old one were in a table.

    An entry closes the old ledger, because two open ones would be two budgets. It still returns its outputs, and cannot be charged any
    more. After a death before that entry the old one stays in use, and the new one is refused: remove it, and migrate the old one again.
    After a death later the new one is in use.

    ``rotate``: the new ledger gets a new secret, under which it seals and signs, and hashes the old hashes of ids: with the old secret
    alone nobody can find accounts in it, or forge it. ``forget``: units (as ``Ledger.account`` takes them) whose ids it forgets: their
    accounts stay, and nobody can find them again, under any id. Raises :class:`InvalidData` for a unit without an account.
    """
    old = ledger.journal
    with old.turn():
        with old.store.database.reading():
            old.synchronise()
            old.require_open()
            made = _go_on(ledger, path, anchor, secret, _Renaming.of(ledger, rotate=rotate, forget=forget))
            told = {"to": made.settings.ledger, **_tell_key(made, rotate=rotate)}
        try:
            old.write(END, "", lambda _, __: {**told, **ledger.stamp()})
        except BaseException:
            made.close()
            raise
        with made.journal.store.database.turn(), made.journal.store.database.transaction():
            made.journal.store.forget_place(BEFORE)
    return made


@dataclass(frozen=True, slots=True)
class _Renaming:
    """How the accounts of a ledger are called in the one that goes on from it: under ``secrets``, and ``forgotten`` ones by nothing."""

    secrets: bytes = field(repr=False)
    rotated: bool
    forgotten: frozenset[bytes] = field(repr=False)

    @classmethod
    def of(cls, ledger: Ledger, *, rotate: bool, forget: Sequence[object]) -> _Renaming:
        """Return it. Raises :class:`InvalidData` for a unit without an account."""
        old = ledger.journal
        hashes = [ledger.hash_unit(key) for key in forget]
        if any(old.accounts.look_up(hashed) is None for hashed in hashes):
            raise InvalidData("a unit was to be forgotten, but this ledger has no account for it; check the id")
        fresh = secrets.token_bytes(SECRET_BYTES) if rotate else b""
        return cls(fresh + old.hasher.secrets, rotate, frozenset(hashes))

    def rename(self, hashes: bytes) -> bytes:
        """Return hashes as the new ledger has them: of forgotten units random ones."""
        parts = (hashes[start : start + WIDTH] for start in range(0, len(hashes), WIDTH))
        kept = b"".join(secrets.token_bytes(WIDTH) if part in self.forgotten else part for part in parts) if self.forgotten else hashes
        return Hasher.of(self.secrets).rename(kept) if self.rotated else kept


def _tell_key(made: Ledger, *, rotate: bool) -> dict[str, str]:
    """Return the public key of a ledger with a new secret, for the entry that ends the old one; nothing where none can be made."""
    if not rotate:
        return {}
    try:
        return {"key": public_key(made.journal.hasher)}
    except MissingExtra:
        return {}


def _go_on(
    ledger: Ledger,
    path: str | os.PathLike[str],
    anchor: str | os.PathLike[str],
    secret: str | os.PathLike[str] | None,
    renaming: _Renaming,
) -> Ledger:
    """Return a new ledger with the accounts of another one."""
    old = ledger.journal
    head, hidden = old.entries[-1], renaming.secrets
    spent = ledger.spent
    parts, whole = list_carried(old, ledger.settings), ledger.carry()
    forgetting = (FORGOTTEN_STAY_AWAY,) if renaming.forgotten else ()
    carried = Carried(
        whole.protection,  # what the filter closed is open again: the new ledger's own filter closes it, if it does
        tuple(dict.fromkeys((*(item for part in parts for item in part.hypotheses), *whole.hypotheses, *forgetting))),
        tuple(dict.fromkeys(item for part in parts for item in part.discharged)),
    )
    settings = LedgerSettings(
        make_token(), ledger.settings.notion, ledger.settings.mode, ledger.settings.key, ledger.budget, ledger.settings.records,
        make_check(hidden), ledger.settings.protection, head.hash.hex(), spent, carried,
        cap=ledger.settings.cap, first=ledger.settings.grid, menu=ledger.settings.menu,
    )  # fmt: skip
    made = Ledger(NewFiles(path, anchor, secret).begin(hidden, settings), settings, partial=ledger.partial)

    def work(entry: int, digest: Digest) -> Mapping[str, Any]:
        files = old.store.database.files
        made.journal.store.write_place(BEFORE, files[0].absolute() if files else old.store.database.name)
        accounts = made.journal.accounts
        if not isinstance(accounts, PageBook):
            raise InvalidArgument("a ledger goes on in pages, but accounts of another kind were made; name a new place")
        accounts.adopt(entry, old.accounts, old.entries, settings.budget.flat, digest, renaming.rename)
        return settings.to_body(ledger.tell_time()) | ledger.note

    try:
        made.journal.append(OPEN, "", work)
        with made.journal.store.database.transaction():
            made.journal.accounts.repair(made.journal.entries, write=True)
    except BaseException:
        discard(made.journal, settings)
        raise
    return made


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: object) -> bytes:
    return base64.b64decode(str(text), validate=True)


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value
