"""The log of a ledger for everybody: entries as they were hashed, and a signed head, checked without the secret (docs/ledger.md).

What is private stays out: seals, digests of what was done to accounts, outputs and accounts. Whoever keeps one such file sees of a later
one that nothing of the earlier was changed, left out or put in between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accountant.ledger.ledger import Ledger
from accountant.ledger.log import CHANGING, CHARGE, END, KINDS, OPEN, ROOT, ROTATED, START, Entry, body_text, hash_entry
from accountant.ledger.roots import append_monthly_root
from accountant.ledger.settings import tell_time
from accountant.ledger.signing import is_signed, public_key, sign
from profiles import UnreadableFile
from profiles.errors import LedgerRejected
from profiles.strict_json import read_json
from proofs_check.documents.entries import Document, Outcome
from proofs_check.kernel import Report

TITLE = "pdp-ledger-public 1"
_FIELDS = {"sequence", "kind", "name", "body"}


@dataclass(frozen=True, slots=True)
class PublicEntry:
    """An entry without what is private in it. ``hash`` covers all entries up to it."""

    sequence: int
    kind: str
    name: str
    body: Mapping[str, Any]
    hash: str


@dataclass(frozen=True, slots=True)
class PublicLog:
    """A log that was checked: hashes follow each other, and ``key`` signed the last of them. Made by :func:`read_public`."""

    ledger: str
    key: str
    time: str
    entries: tuple[PublicEntry, ...]

    @property
    def head(self) -> str:
        return self.entries[-1].hash

    @property
    def root(self) -> PublicEntry | None:
        """The newest root of accounts."""
        return next((entry for entry in reversed(self.entries) if entry.kind == ROOT), None)

    def require_growth(self, before: PublicLog) -> None:
        """Refuse a log that does not go on from an earlier one of the same ledger, or of the one that it goes on from.

        Raises :class:`LedgerRejected`.
        """
        if self.ledger != before.ledger:
            self._require_continuation(before)
            return
        if self.entries[: len(before.entries)] != before.entries:
            raise LedgerRejected(
                f"the log has not only grown since the earlier one, which ends with entry {len(before.entries) - 1}, {before.head}: "
                "history was changed, or one of the two is of a copy"
            )
        if self.key != before.key and not self._hands_over(before):
            raise LedgerRejected("the log is signed with another key than the earlier one, which did not hand over to it; ask why")

    def _require_continuation(self, before: PublicLog) -> None:
        """Refuse a log of another ledger than the one that an earlier log says it ended in, with the key that this names."""
        end = next((entry for entry in before.entries if entry.kind == END), None)
        if (
            end is None
            or end.body.get("to") != self.ledger
            or self.entries[0].body.get("continues") != before.entries[end.sequence - 1].hash
        ):
            raise LedgerRejected(
                "the earlier log is of another ledger, which did not end in this one; name one of the same, or, where it was "
                "migrated, its log after its end, which you check --since the earlier one"
            )
        if self.key != end.body.get("key", before.key):
            raise LedgerRejected("the log is signed with another key than the one that the ledger before handed over to; ask why")

    def _hands_over(self, before: PublicLog) -> bool:
        """Tell whether keys were handed on, each signed with the one before, from that of an earlier log to this one's."""
        key = before.key
        for entry in self.entries[len(before.entries) :]:
            fresh, signature = (str(entry.body.get(name)) for name in ("key", "signature"))
            if entry.kind == ROTATED and is_signed(key, signature, hand_over_text(self.ledger, fresh)):
                key = fresh
        return key == self.key


def hand_over_text(ledger: str, key: str) -> str:
    """Return what an old key signs when it hands over to a new one."""
    return f"{TITLE}\n{ledger} goes on with the key {key}"


def write_public(ledger: Ledger, *, root: bool = True) -> str:
    """Return the log of a ledger for everybody, signed, after appending this month's root of accounts where it is due.

    ``root``: False for the log as it is. The time of the signature is that at which this began, or that of the last entry: how long a root
    took, which depends on the number of accounts, is told nowhere. Raises :class:`profiles.MissingExtra`, and as reading and appending do.
    """
    hasher, began = ledger.journal.hasher, tell_time()
    key = public_key(hasher)
    if root:
        append_monthly_root(ledger)
    ledger.journal.catch_up()
    entries = ledger.journal.entries
    lines = [TITLE, json.dumps({"ledger": ledger.settings.ledger, "key": key})]
    lines += [json.dumps(_tell(item), sort_keys=True) for item in entries]
    signed = max(began, str(entries[-1].body["time"]))
    tail = {"ledger": ledger.settings.ledger, "entries": len(entries), "head": entries[-1].hash.hex(), "time": signed}
    lines.append(json.dumps(tail, sort_keys=True))
    lines.append(sign(hasher, _signed_text(lines[-1])))
    return "\n".join(lines) + "\n"


def _tell(entry: Entry) -> dict[str, Any]:
    return {"sequence": entry.sequence, "kind": entry.kind, "name": entry.name, "body": dict(entry.body)}


def read_public(text: str) -> PublicLog:
    """Return a log after checking it. Raises :class:`LedgerRejected` where hashes or signature are others, :class:`UnreadableFile`."""
    title, *lines = text.split("\n")
    if title != TITLE:
        raise UnreadableFile(f"a log that begins with {TITLE!r} was expected, but another file or version was found; check which it is")
    if len(lines) < 5 or lines[-1]:
        raise LedgerRejected("the log is cut off; get it anew")
    first, *middle, tail, signature, _ = lines
    head = _read_line(first, {"ledger", "key"})
    entries = _follow([_read_line(line, _FIELDS) for line in middle])
    told = _read_line(tail, {"ledger", "entries", "head", "time"})
    key = str(head["key"])
    if not is_signed(key, signature, _signed_text(tail)):
        raise LedgerRejected("the signature is not one of the key that the log names; get it anew, from the office that keeps the ledger")
    if told["ledger"] != head["ledger"] or told["entries"] != len(entries) or told["head"] != entries[-1].hash:
        raise LedgerRejected("the entries are not those that were signed: one was changed, left out or added")
    if entries[0].body.get("ledger") != head["ledger"] or not isinstance(head["ledger"], str):
        raise LedgerRejected("the first entry is not the opening of the ledger that the log names")
    _require_order(entries)
    _require_course(entries)
    return PublicLog(str(head["ledger"]), key, str(told["time"]), entries)


def _require_order(entries: Sequence[PublicEntry]) -> None:
    """Refuse roots that are in no order: each has the accounts after an entry that changed them, and none older than the one before it."""
    newest = 0
    for entry in entries:
        if entry.kind != ROOT or "of" not in entry.body:  # roots of earlier releases have the accounts at their own place
            continue
        of = entry.body["of"]
        if type(of) is not int or not newest <= of < entry.sequence or entries[of].kind not in CHANGING:
            raise LedgerRejected(
                f"the root of entry {entry.sequence} has no accounts that could follow those of the root before; ask the office why"
            )
        newest = of


def _follow(lines: Sequence[Mapping[str, Any]]) -> tuple[PublicEntry, ...]:
    """Return the entries with their hashes, each of all before it."""
    entries: list[PublicEntry] = []
    before = lines[0]["body"].get("continues") if isinstance(lines[0]["body"], dict) else None
    last = START if before is None else _to_hash(before)
    for place, item in enumerate(lines):
        sequence, kind, name, body = (item[key] for key in ("sequence", "kind", "name", "body"))
        if type(sequence) is not int or sequence != place or kind not in KINDS or not _is_text(name) or not isinstance(body, dict):
            raise LedgerRejected(f"entry {place} of the log was expected, but something else was found: one was changed or left out")
        last = hash_entry(last, sequence, kind, name, body_text(body))
        entries.append(PublicEntry(sequence, kind, name, body, last.hex()))
    return tuple(entries)


def _require_course(entries: Sequence[PublicEntry]) -> None:
    """Refuse a log that no ledger has: one that is opened once, charges a name once, and changes no account after its end."""
    ended, names = False, set[str]()
    for entry in entries:
        if (entry.kind == OPEN) != (entry.sequence == 0):
            raise LedgerRejected(f"entry {entry.sequence} of the log opens a ledger, or does not: the first entry does, and no other one")
        if ended and entry.kind in CHANGING:
            raise LedgerRejected(f"entry {entry.sequence} of the log changes accounts after its end: it went on beside the ledger after it")
        if entry.kind == CHARGE:
            if entry.name in names:
                raise LedgerRejected(f"entry {entry.sequence} of the log charges a name that was charged before: each is charged once")
            names.add(entry.name)
        ended = ended or entry.kind == END


def _is_text(value: object) -> bool:
    """Tell whether a value is a text that may be hashed, as one with half a pair of surrogates may not."""
    return isinstance(value, str) and value.encode(errors="ignore").decode() == value


def _to_hash(value: object) -> bytes:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{64}", value):
        raise LedgerRejected("the hash of the ledger before was expected in the first entry, but something else was found")
    return bytes.fromhex(value)


def _read_line(line: str, keys: set[str]) -> dict[str, Any]:
    try:
        fields = read_json(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or fields.keys() != keys:
        raise LedgerRejected(f"a line with {', '.join(sorted(keys))} was expected in the log, but another one was found; get it anew")
    return fields


def _signed_text(tail: str) -> str:
    return f"{TITLE}\n{tail}"


def _judge(log: PublicLog) -> Outcome:
    about = {"ledger": log.ledger, "entries": len(log.entries), "head": log.head, "key": log.key, "time": log.time}
    root = log.root
    if root is None:
        rooted = "no root of accounts: no statement can be proved under it yet"
    else:
        after = f" after entry {root.body['of']}" if "of" in root.body else ""
        rooted = f"newest root, of the accounts{after}: entry {root.sequence}, {root.body.get('root')}"
        about["root"] = {"entry": root.sequence, **{name: root.body[name] for name in ("of", "root") if name in root.body}}
    lines = (
        f"ledger {log.ledger}, up to entry {len(log.entries) - 1}, {log.head}, signed at {log.time}",
        f"signed with the key {log.key}; compare it with the one that the office publishes",
        rooted,
    )
    return Outcome(Report(accepted=True), about, lines)


PUBLIC = Document(
    "pdp-ledger-public",
    "hashes of all entries and the signature of the last one; with --since, that it only grew; not that the accounts behind it are right",
    read=read_public,
    check=_judge,
    largest=40_000_000,
)
