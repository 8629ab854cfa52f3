"""The statement of one unit: each release with its date, purpose and cost, what is left, and a proof that it is under a root of the log.

Statements are private: they tell what a person's own record cost and whether it took part. The root is public, and tells nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from accountant.ledger.amounts import amount_text, floor_text
from accountant.ledger.ledger import Ledger
from accountant.ledger.log import CHARGE, ROOT, Digest, Entry
from accountant.ledger.merkle import DEPTH, Fill, build, climb, hash_leaf
from accountant.ledger.public import PublicLog
from accountant.ledger.units import WIDTH, Hasher
from profiles import InvalidArgument
from profiles.errors import LedgerRejected
from profiles.strict_json import read_count, read_fields, read_list, read_string, write_document
from proofs_check.documents.entries import Document, Outcome
from proofs_check.documents.entries import read_object as read_document
from proofs_check.kernel import Report

FORMAT, VERSION = "pdp-ledger-statement", 1
_PRIVATE = "for the eyes of the person it is about, and of whoever may see the data; it must not be published"


def append_root(ledger: Ledger) -> Entry:
    """Append the root of a Merkle tree over all accounts as they stand, and return its entry: public, and it tells nothing of them.

    Everybody else waits meanwhile: some 20 µs a unit.
    """

    def work(entry: int, _: Digest) -> Mapping[str, Any]:
        root, _paths = _Seeded(ledger.journal.hasher, entry).build(ledger, ledger.journal.entries)
        return {"root": root.hex(), "depth": DEPTH, "time": ledger.tell_time()}

    return ledger.journal.append(ROOT, "", work)


class _Seeded:
    """What the tree of one root is made with: all of it follows from the secret and the number of its entry."""

    def __init__(self, hasher: Hasher, entry: int) -> None:
        self._seed = hasher.seal(b"root", entry.to_bytes(8, "little"))

    def fill(self, height: int, place: int) -> bytes:
        return self._hash(b"fill", height.to_bytes(1, "little") + place.to_bytes(8, "little"))

    def salt(self, hashed: bytes) -> bytes:
        return self._hash(b"salt", hashed)

    def _hash(self, what: bytes, value: bytes) -> bytes:
        return hashlib.blake2b(value, key=self._seed, digest_size=32, person=what).digest()

    def build(
        self, ledger: Ledger, entries: Sequence[Entry], wanted: bytes | None = None
    ) -> tuple[bytes, tuple[int, int, int, tuple[bytes, ...]] | None]:
        """Return the root over the accounts as they follow from ``entries``, and of the unit with the hash ``wanted`` its place, spending,
        budget and path; None where it has no account.
        """
        leaves: dict[int, bytes] = {}
        found: tuple[int, int, int] | None = None
        for hashes, spent, budgets in ledger.journal.accounts.list_state(entries):
            for number, (amount, budget) in enumerate(zip(spent.tolist(), budgets.tolist(), strict=True)):
                hashed = hashes[WIDTH * number : WIDTH * (number + 1)]
                place = int.from_bytes(self._hash(b"place", hashed)[: DEPTH // 8], "little")
                while place in leaves:
                    place = (place + 1) % (1 << DEPTH)
                leaves[place] = make_leaf(self.salt(hashed), hashed, amount, budget)
                if hashed == wanted:
                    found = place, amount, budget
        fill: Fill = self.fill
        root, paths = build(leaves, fill, () if found is None else (found[0],))
        return root, None if found is None else (*found, paths[found[0]])


def make_leaf(salt: bytes, hashed: bytes, spent: int, budget: int) -> bytes:
    """Return the leaf of an account: nobody finds out what is in it without its salt."""
    return hash_leaf(salt, hashed, spent.to_bytes(8, "little"), budget.to_bytes(8, "little"))


def make_statement(ledger: Ledger, key: object) -> dict[str, Any]:
    """Return the statement of a unit, private: see :data:`STATEMENT` for its fields.

    ``key``: as ``Ledger.account`` takes it. The proof is that of the last root, None where there is none that has the unit.
    Raises :class:`InvalidData` for an unknown unit, :class:`LedgerRejected` where the accounts do not have that root.
    """
    account = ledger.account(key)
    with ledger.journal.reading():
        journal, hashed = ledger.journal, ledger.hash_unit(key)
        lines, left, spent = [], 0, 0
        for entry, cost, budget in journal.accounts.trace(hashed, journal.entries):
            spent += cost
            left = left if budget is None else budget
            lines.append(_tell(entry, cost, spent, left))
        proof = _prove(ledger, hashed)
    return {
        "private": _PRIVATE,
        "ledger": ledger.settings.ledger,
        "notion": ledger.settings.notion.value,
        "unit": [str(part) for part in (key if isinstance(key, (tuple, list)) else (key,))],
        "protection": ledger.settings.protection.to_object(),
        **account,
        "entries": lines,
        "proof": proof,
    }


def _tell(entry: Entry, cost: int, spent: int, budget: int) -> dict[str, Any]:
    told = {"sequence": entry.sequence, "kind": entry.kind, "time": entry.body["time"], "name": entry.name, "steps": cost}
    told |= {"cost": amount_text(cost), "budget": floor_text(budget), "budget_steps": budget, "left": floor_text(max(budget - spent, 0))}
    return told | ({"purpose": str(entry.body.get("purpose", ""))} if entry.kind == CHARGE else {})


def _prove(ledger: Ledger, hashed: bytes) -> dict[str, Any] | None:
    entries = ledger.journal.entries
    last = next((entry for entry in reversed(entries) if entry.kind == ROOT), None)
    if last is None:
        return None
    seeded = _Seeded(ledger.journal.hasher, last.sequence)
    root, found = seeded.build(ledger, entries[: last.sequence], hashed)
    if root.hex() != last.body["root"]:
        raise LedgerRejected("the accounts do not have the root that the log says; run pdp ledger verify")
    if found is None:
        return None
    place, spent, budget, path = found
    return {
        "entry": last.sequence,
        "root": root.hex(),
        "place": place,
        "salt": seeded.salt(hashed).hex(),
        "account": hashed.hex(),
        "spent": spent,
        "budget": budget,
        "path": [item.hex() for item in path],
    }


def write_statement(told: Mapping[str, Any]) -> str:
    """Return a statement as the text of a file."""
    return write_document(FORMAT, VERSION, told)


def read_statement(text: str) -> dict[str, Any]:
    """Return the fields of a statement. Raises :class:`UnreadableFile`, :class:`LedgerRejected` where its proof does not fit it."""
    found = read_document(text, FORMAT)
    keys = {"format", "version", "private", "ledger", "notion", "unit", "protection", "spent", "budget", "left", "entries", "proof"}
    read_fields(found, "a statement", keys)
    entries = [
        read_fields(
            item,
            "an entry of a statement",
            {"sequence", "kind", "time", "name", "steps", "cost", "budget", "budget_steps", "left"},
            frozenset({"purpose"}),
        )
        for item in read_list(found["entries"], "the entries of a statement")
    ]
    _check_sums(found, entries)
    if found["proof"] is not None:
        _check_proof(found["proof"], entries)
    return found


def _check_proof(value: object, entries: Sequence[Mapping[str, Any]]) -> None:
    keys = {"entry", "root", "place", "salt", "account", "spent", "budget", "path"}
    proof = read_fields(value, "the proof of a statement", keys)
    root, salt, account = (_to_bytes(proof[key]) for key in ("root", "salt", "account"))
    path = [_to_bytes(item) for item in read_list(proof["path"], "the path of a proof")]
    numbers = {key: read_count(proof[key], f"the {key} of a proof") for key in ("entry", "place", "spent", "budget")}
    leaf = make_leaf(salt, account, numbers["spent"], numbers["budget"])
    if len(path) != DEPTH or numbers["place"] >> DEPTH or climb(leaf, numbers["place"], path) != root:
        raise LedgerRejected("the amounts of the statement are not under the root that it names: one of them was changed")
    before = [item for item in entries if read_count(item["sequence"], "an entry") < numbers["entry"]]
    spent = sum(read_count(item["steps"], "a cost") for item in before)
    budget = read_count(before[-1]["budget_steps"], "a budget") if before else -1
    if spent != numbers["spent"] or budget != numbers["budget"]:
        raise LedgerRejected("the releases of the statement do not add up to the amounts under its root: one was changed or left out")


def _check_sums(told: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
    total = 0
    for item in entries:
        total += read_count(item["steps"], "a cost")
        left = floor_text(max(read_count(item["budget_steps"], "a budget") - total, 0))
        if (item["cost"], item["left"], item["budget"]) != (amount_text(item["steps"]), left, floor_text(item["budget_steps"])):
            raise _refuse_sum()
    last = entries[-1]["left"] if entries else told["left"]
    if told["spent"] != amount_text(total) or told["left"] != last:
        raise _refuse_sum()


def _refuse_sum() -> LedgerRejected:
    return LedgerRejected("an amount of the statement is not the one that its releases add up to: it was changed")


def _to_bytes(value: object) -> bytes:
    try:
        return bytes.fromhex(read_string(value, "a hash"))
    except ValueError:
        raise LedgerRejected("a hash was expected in the proof of a statement, but something else was found") from None


def require_root(told: Mapping[str, Any], log: PublicLog) -> None:
    """Refuse a statement whose root the log for everybody does not have. Raises :class:`LedgerRejected`, :class:`InvalidArgument`."""
    proof = told["proof"]
    if proof is None:
        raise InvalidArgument("the statement has no proof that could be looked up; ask for one after the next root")
    found = next((entry for entry in log.entries if entry.sequence == proof["entry"] and entry.kind == ROOT), None)
    if log.ledger != told["ledger"] or found is None or found.body.get("root") != proof["root"]:
        raise LedgerRejected("the root of the statement is not in the log: it is of another ledger, or another history was told")
    public = {entry.sequence: entry for entry in log.entries}
    for item in told["entries"]:
        entry = public.get(item["sequence"])
        if entry is None:
            raise InvalidArgument("the log is older than the statement; get one that has all of its entries")
        if (entry.kind, entry.name, entry.body.get("time")) != (item["kind"], item["name"], item["time"]):
            raise LedgerRejected(f"entry {item['sequence']} of the statement is another one in the log")


def _judge(found: Mapping[str, Any]) -> Outcome:
    proof = found["proof"]
    said = [f"ledger {found['ledger']}: {found['spent']} of {found['budget']} nats spent, {found['left']} left"]
    if proof is None:
        said.append("nothing proves it: no root was made since the unit has an account")
    else:
        said.append(f"up to entry {proof['entry']} it is under the root {proof['root']}; look that up with --log")
    about = {"ledger": found["ledger"], "proof": None if proof is None else {"entry": proof["entry"], "root": proof["root"]}}
    return Outcome(Report(accepted=True), about, tuple(said))


#: Fields: those of ``Ledger.account``, and of each entry that changed the account its cost and the budget (also in steps of 2^-40 nat).
STATEMENT = Document(
    FORMAT,
    "that the amounts add up and are under the root that the statement names; with --log, that the log for everybody has that root",
    (VERSION,),
    protection="protection",
    read=read_statement,
    write=lambda found: write_statement({key: value for key, value in found.items() if key not in ("format", "version")}),
    check=_judge,
    largest=4_000_000,
)
