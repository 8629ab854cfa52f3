"""The statement of one unit: each release with its date, purpose and cost, what is left, and a proof that it is under a root of the log.

Statements are private: they reveal what a person's own record cost and whether it took part. The root is public, and reveals nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from accountant.guarantees.stored import read_stated_protection
from accountant.ledger.amounts import MOST, Amounts, say_amounts
from accountant.ledger.budgets import read_budget
from accountant.ledger.ledger import Ledger
from accountant.ledger.log import CHANGING, CHARGE, ROOT, Entry
from accountant.ledger.merkle import DEPTH, climb
from accountant.ledger.notions import to_ledger_notion
from accountant.ledger.public import PublicEntry, PublicLog
from accountant.ledger.roots import Proof, RootedAccounts, make_leaf
from profiles import InvalidArgument, UnreadableFile
from profiles.errors import LedgerRejected
from profiles.strict_json import read_count, read_fields, read_list, read_string, write_document
from proofs_check.documents.entries import Document, Outcome
from proofs_check.documents.entries import read_object as read_document
from proofs_check.kernel import Report

FORMAT, VERSION = "pdp-ledger-statement", 1
_PRIVATE = "only for the person it is about, and for those who may see the data; it must not be published"


def make_statement(ledger: Ledger, key: object) -> dict[str, Any]:
    """Return the statement of a unit, private: see :data:`STATEMENT` for its fields.

    ``key``: as ``Ledger.account`` takes it. The proof is that of the last root, None where there is none that has the unit.
    Raises :class:`InvalidData` for an unknown unit, :class:`LedgerRejected` where the accounts do not have that root.
    """
    account = ledger.account(key)
    with ledger.journal.reading():
        journal, hashed = ledger.journal, ledger.hash_unit(key)
        lines, spent = list[dict[str, Any]](), Amounts((0,) * ledger.settings.width)
        for entry, cost, budget in journal.accounts.trace(hashed, journal.entries):
            spent += Amounts(cost)
            lines.append(_tell(entry, Amounts(cost), spent, Amounts(budget)))
        rooted = RootedAccounts.read(journal)
    proof = None if rooted is None else rooted.prove(hashed, journal.hasher)  # others do not wait for it
    return {
        "private": _PRIVATE,
        "ledger": ledger.settings.ledger,
        "notion": ledger.settings.notion.value,
        "unit": [str(part) for part in (key if isinstance(key, (tuple, list)) else (key,))],
        "protection": ledger.settings.protection.to_object(),
        **account,
        "entries": lines,
        "proof": None if proof is None else _tell_proof(proof, hashed),
    }


def _tell(entry: Entry, cost: Amounts, spent: Amounts, budget: Amounts) -> dict[str, Any]:
    told = {"sequence": entry.sequence, "kind": entry.kind, "time": entry.body["time"], "name": entry.name, "steps": cost.to_body()}
    told |= {"cost": cost.tell(up=True), "budget": budget.tell(up=False), "budget_steps": budget.to_body()}
    told |= {"left": budget.less(spent).tell(up=False)}
    return told | ({"purpose": str(entry.body.get("purpose", ""))} if entry.kind == CHARGE else {})


def _tell_proof(proof: Proof, hashed: bytes) -> dict[str, Any]:
    return {
        "entry": proof.entry.sequence,
        **({} if proof.of is None else {"of": proof.of}),
        "root": proof.entry.body["root"],
        "place": proof.place,
        "salt": proof.salt.hex(),
        "account": hashed.hex(),
        "spent": proof.spent.to_body(),
        "budget": proof.budget.to_body(),
        "path": [item.hex() for item in proof.path],
    }


def write_statement(told: Mapping[str, Any]) -> str:
    """Return a statement as the text of a file."""
    return write_document(FORMAT, VERSION, told)


def read_statement(text: str) -> dict[str, Any]:
    """Return the fields of a statement. Raises :class:`UnreadableFile`, :class:`LedgerRejected` where its proof does not fit it."""
    fields = read_document(text, FORMAT)
    keys = {"format", "version", "private", "ledger", "notion", "unit", "protection", "spent", "budget", "left", "entries", "proof"}
    read_fields(fields, "a statement", keys)
    entries = [
        read_fields(
            item,
            "an entry of a statement",
            {"sequence", "kind", "time", "name", "steps", "cost", "budget", "budget_steps", "left"},
            frozenset({"purpose"}),
        )
        for item in read_list(fields["entries"], "the entries of a statement")
    ]
    try:
        to_ledger_notion(fields["notion"])
    except InvalidArgument as error:
        raise UnreadableFile(f"the notion of a statement cannot be read: {error}") from None
    read_stated_protection(fields["protection"], "a statement")
    _check_sums(fields, entries)
    if fields["proof"] is not None:
        _check_proof(fields["proof"], entries)
    return fields


def _check_proof(value: object, entries: Sequence[Mapping[str, Any]]) -> None:
    keys = {"entry", "root", "place", "salt", "account", "spent", "budget", "path"}
    proof = read_fields(value, "the proof of a statement", keys, frozenset({"of"}))
    root, salt, account = (_to_bytes(proof[key]) for key in ("root", "salt", "account"))
    path = [_to_bytes(item) for item in read_list(proof["path"], "the path of a proof")]
    number, place = (read_count(proof[key], f"the {key} of a proof") for key in ("entry", "place"))
    spent, budget = (Amounts.read(proof[key], f"the {key} of a proof") for key in ("spent", "budget"))
    if max(*spent.values, *budget.values) > MOST:  # no account has more
        raise LedgerRejected("the amounts of the statement are larger than those of any account: it was changed")
    leaf = make_leaf(salt, account, spent.values, budget.values)
    if len(path) != DEPTH or place >> DEPTH or climb(leaf, place, path) != root:
        raise LedgerRejected("the amounts of the statement are not under the root that it names: one of them was changed")
    last = read_count(proof["of"], "the entry of a proof") if "of" in proof else number - 1
    if last >= number:
        raise LedgerRejected("the root of the statement names an entry that came after it: one of them was changed")
    before = [item for item in entries if read_count(item["sequence"], "an entry") <= last]
    if not before or _add(before) != spent or Amounts.read(before[-1]["budget_steps"], "a budget") != budget:
        raise LedgerRejected("the releases of the statement do not add up to the amounts under its root: one was changed or left out")


def _add(entries: Sequence[Mapping[str, Any]]) -> Amounts:
    """Return the sum of the costs of entries, at least one. Raises :class:`LedgerRejected` for costs of several kinds."""
    costs = [Amounts.read(item["steps"], "a cost") for item in entries]
    if len({len(cost.values) for cost in costs}) > 1:
        raise _refuse_sum()
    return sum(costs[1:], costs[0])


def _check_sums(told: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse amounts in words that are not those of the steps. Raises :class:`LedgerRejected`."""
    if not entries:
        raise LedgerRejected("a statement has at least the entry that opened the account, but none was found; it was cut off")
    numbers = [read_count(item["sequence"], "the number of an entry") for item in entries]
    if any(one >= another for one, another in pairwise(numbers)):
        raise LedgerRejected("an entry of the statement is there twice, or not in the order of the log: it was changed")
    for place, item in enumerate(entries):
        cost, budget = Amounts.read(item["steps"], "a cost"), Amounts.read(item["budget_steps"], "a budget")
        spent = _add(entries[: place + 1])
        if len(budget.values) != len(cost.values):
            raise _refuse_sum()
        made = cost.tell(up=True), budget.less(spent).tell(up=False), budget.tell(up=False)
        if (item["cost"], item["left"], item["budget"]) != made:
            raise _refuse_sum()
    if (told["spent"], told["left"], told["budget"]) != (_add(entries).tell(up=True), entries[-1]["left"], entries[-1]["budget"]):
        raise _refuse_sum()


def _refuse_sum() -> LedgerRejected:
    return LedgerRejected("an amount of the statement is not the one that its releases add up to: it was changed")


def _to_bytes(value: object) -> bytes:
    try:
        return bytes.fromhex(read_string(value, "a hash"))
    except ValueError:
        raise LedgerRejected("a hash was expected in the proof of a statement, but something else was found") from None


def require_root(told: Mapping[str, Any], log: PublicLog) -> None:
    """Refuse a statement whose root the log for everybody does not have, that lacks an entry which the log has, or that says something else
    of one. Raises :class:`LedgerRejected`, :class:`InvalidArgument`.
    """
    proof = told["proof"]
    if proof is None:
        raise InvalidArgument("the statement has no proof that could be looked up; ask for one after the next root")
    root = next((entry for entry in log.entries if entry.sequence == proof["entry"] and entry.kind == ROOT), None)
    if log.ledger != told["ledger"] or root is None or any(root.body.get(name) != proof.get(name) for name in ("root", "of")):
        raise LedgerRejected("the root of the statement is not in the log: it is of another ledger, or another history was shown")
    opened = log.entries[0].body
    if (told["notion"], told["protection"]) != (opened.get("notion"), opened.get("protection", told["protection"])):
        raise LedgerRejected("the statement says another notion or protection than the log of the ledger: it was changed")
    public = {entry.sequence: entry for entry in log.entries}
    for item in told["entries"]:
        entry = public.get(item["sequence"])
        if entry is None:
            raise InvalidArgument("the log is older than the statement; get one that has all of its entries")
        if (entry.kind, entry.name, entry.body.get("time")) != (item["kind"], item["name"], item["time"]):
            raise LedgerRejected(f"entry {item['sequence']} of the statement is another one in the log")
        if item.get("purpose", "") != (entry.body.get("purpose", "") if entry.kind == CHARGE else ""):
            raise LedgerRejected(f"entry {item['sequence']} of the statement has another purpose in the log")
        _require_possible(item, entry, log.entries[0].body)
    _require_whole(told, log)


def _require_possible(item: Mapping[str, Any], entry: PublicEntry, opened: Mapping[str, Any]) -> None:
    """Refuse a cost that no unit can have had: the root holds sums, so that what one release did not cost could be put on another one.

    A release costs at most its worst cost, where it is known how many records a unit has; what costs nothing is no release, but for the
    spending that came with the first entry from another ledger.
    """
    cost, most = Amounts.read(item["steps"], "a cost"), entry.body.get("cost") if entry.kind == CHARGE else None
    if entry.sequence == 0:
        most = opened.get("spent")
    if not any(cost.values) or (most is not None and opened.get("records") is None):
        return
    limit = None if most is None else Amounts.read(most, "a cost")
    if limit is None or len(cost.values) != len(limit.values) or not cost.within(limit):
        raise LedgerRejected(f"entry {entry.sequence} of the statement costs more than the log says that it can have cost: it was changed")


def _require_whole(told: Mapping[str, Any], log: PublicLog) -> None:
    """Refuse a statement without some of the entries, from its first to its last and to the root, that change accounts, or with a budget
    that the rule in force does not give.
    """
    listed = {item["sequence"]: item for item in told["entries"]}
    first, last = min(listed), max(*listed, told["proof"]["entry"])
    least, most = Amounts((0,)), Amounts((0,))
    cap = log.entries[0].body.get("cap")
    for entry in (entry for entry in log.entries if entry.kind in CHANGING and entry.sequence <= last):
        if entry.kind != CHARGE:
            rule = read_budget(entry.body.get("budget"))
            least, most = rule.floor, rule.ceiling
            if cap is not None:
                limit = Amounts.read(cap, "a cap")
                if len(limit.values) != len(least.values):
                    raise UnreadableFile("the cap in the log has other components than its budgets; get the log anew")
                least, most = least.least(limit), most.least(limit)
        if entry.sequence < first:
            continue
        if entry.sequence not in listed:
            raise LedgerRejected(f"entry {entry.sequence} of the log was left out of the statement, though it changed accounts")
        budget = Amounts.read(listed[entry.sequence]["budget_steps"], "a budget")
        if len(budget.values) != len(least.values) or not (least.within(budget) and budget.within(most)):
            raise LedgerRejected(f"entry {entry.sequence} of the statement has a budget that the rule in the log does not give")


def _judge(statement: Mapping[str, Any]) -> Outcome:
    proof = statement["proof"]
    spent, budget, left = (say_amounts(statement[key], statement["notion"]) for key in ("spent", "budget", "left"))
    said = [f"ledger {statement['ledger']}: spent {spent} of {budget}, left {left}"]
    if proof is None:
        said.append("nothing proves it yet: no root was made since the account was opened")
    else:
        last = proof.get("of", proof["entry"])
        said.append(f"up to entry {last} it is under the root of entry {proof['entry']}, {proof['root']}; look that up with --log")
    about = {"ledger": statement["ledger"], "proof": None if proof is None else {"entry": proof["entry"], "root": proof["root"]}}
    return Outcome(Report(accepted=True), about, tuple(said))


#: Fields: those of ``Ledger.account``, and of each entry that changed the account its cost and the budget (also in steps of 2^-40 nat).
STATEMENT = Document(
    FORMAT,
    "the amounts add up and are under the root that the statement names; with --log, the log for everybody has that root",
    (VERSION,),
    protection="protection",
    read=read_statement,
    write=lambda fields: write_statement({key: value for key, value in fields.items() if key not in ("format", "version")}),
    check=_judge,
    largest=4_000_000,
)
