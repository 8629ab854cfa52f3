"""What an entry of a ledger of version 2 does to the accounts, as bytes; and the accounts as they follow from all of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from accountant.ledger.log import Change, Digest, Entry
from accountant.ledger.paged.codes import Codes, decode_all
from accountant.ledger.paged.finding import bucket_of, join_bucket
from accountant.ledger.paged.hashing import Hashing, PageHasher, Pairs
from accountant.ledger.paged.store import ACCOUNTS, BUCKETS, BUDGETS, LATE, LATER, NEW, PageStore, State, per_page
from profiles import UnreadableFile
from profiles.arrays import Integers
from profiles.errors import LedgerRejected

#: How ids are hashed; the budget that all have; budgets and amounts of consecutive slots; codes of all slots, and of some.
HASHING, FLAT, BUDGET, COST, DENSE, SPARSE = "hashing", "flat", "budget", "cost", "dense", "sparse"
#: Slots of a change of amounts, and of one of codes: a megabyte each.
PIECE, _CODES = 125_000, 500_000
_LEAST_ROOM, _NOWHERE = 64, 0xFFFFFFFF


def pack_dense(codes: Codes, worst: Integers) -> Iterator[tuple[int, bytes]]:
    """Yield the first slots of pieces of codes of shape (k, n), and the pieces with the public worst cost before them."""
    head = worst.astype("<i8").tobytes()
    for start in range(0, codes.shape[1], _CODES):
        yield start, head + codes[:, start : start + _CODES].astype("<u2").tobytes()


def room_for(rows: int) -> int:
    """Return how many places a change of some rows has: a power of two."""
    return max(_LEAST_ROOM, 1 << max(rows - 1, 0).bit_length())


def pack_sparse(slots: Integers, codes: Codes, worst: Integers, room: int) -> bytes:
    """Return the codes of some slots, shape (k, n), in a public number of places."""
    places, made = np.full(room, _NOWHERE, "<u4"), np.zeros((codes.shape[0], room), "<u2")
    places[: slots.size], made[:, : slots.size] = slots, codes
    return worst.astype("<i8").tobytes() + places.tobytes() + made.tobytes()


def unpack_dense(packed: bytes, width: int) -> tuple[Codes, list[int]]:
    """Return codes of consecutive slots, shape (k, n), and the worst cost. Raises :class:`UnreadableFile`."""
    _require_length(packed, 8 * width, 2 * width)
    return np.frombuffer(packed, "<u2", offset=8 * width).reshape(width, -1), np.frombuffer(packed, "<i8", width).tolist()


def unpack_sparse(packed: bytes, width: int) -> tuple[Integers, Codes, list[int]]:
    """Return some slots, their codes, and the worst cost. Raises :class:`UnreadableFile`."""
    _require_length(packed, 8 * width, 4 + 2 * width)
    room = (len(packed) - 8 * width) // (4 + 2 * width)
    slots = np.frombuffer(packed, "<u4", room, 8 * width).astype(np.int64)
    codes = np.frombuffer(packed, "<u2", offset=8 * width + 4 * room).reshape(width, room)
    real = slots != _NOWHERE
    return slots[real], codes[:, real], np.frombuffer(packed, "<i8", width).tolist()


def _require_length(packed: bytes, head: int, each: int) -> None:
    if len(packed) < head or (len(packed) - head) % each:
        raise UnreadableFile("what an entry of the ledger did has another length than was written; restore it from a backup")


def read_amounts_of(change: Change, slot: int, width: int) -> tuple[int, ...] | None:
    """Return the amounts of a change for one slot, by component; None where it says nothing of it. Raises :class:`UnreadableFile`."""
    at = slot - change.chunk
    match change.kind:
        case "flat":
            return tuple(np.frombuffer(change.packed, "<i8", width).tolist())
        case "budget" | "cost":
            amounts = np.frombuffer(change.packed, "<i8").reshape(width, -1)
            return tuple(amounts[:, at].tolist()) if at < amounts.shape[1] else None
        case "dense":
            codes, worst = unpack_dense(change.packed, width)
        case "sparse":
            slots, codes, worst = unpack_sparse(change.packed, width)
            at = int(np.flatnonzero(slots == slot)[0]) if slot in slots else codes.shape[1]
        case _:
            return None
    return tuple(decode_all(codes[:, at : at + 1], worst)[:, 0].tolist()) if at < codes.shape[1] else None


@dataclass(slots=True)
class Folded:
    """The accounts as they follow from a log: their state, spending and budgets of shape (k, n), n slots of whole pages, the last entry
    that wrote each page, and the buckets of units that came late, each with its last entry.
    """

    state: State
    spent: Integers = field(repr=False)
    spent_last: Integers = field(repr=False)
    budgets: Integers | None = field(repr=False)
    budgets_last: Integers = field(repr=False)
    late: list[tuple[int, bytes]] = field(repr=False)


def fold(store: PageStore, hasher: PageHasher, entries: Sequence[Entry], width: int) -> Folded:
    """Return the accounts that follow from ``entries``. Raises :class:`LedgerRejected` where what one did is not what was sealed."""
    per = per_page(width)
    empty = np.zeros(0, np.int64)
    made = Folded(NEW, np.zeros((width, 0), np.int64), empty, None, empty, [])
    late_hashes: list[Pairs] = []
    late_slots: list[Integers] = []
    last_of_bucket = np.zeros(BUCKETS, np.int64)
    begun = False
    for entry in entries:
        digest, slots = Digest(), made.state.slots
        late = 0
        for segment in store.iter_segments(hasher.hasher, entry.sequence):
            digest.add_segment(segment)
            pairs = np.frombuffer(segment.hashes, "<u8").reshape(-1, 2)
            slots = segment.first + len(pairs)
            if segment.fingerprint == LATER:
                late += len(pairs)
                late_hashes.append(pairs)
                late_slots.append(np.arange(segment.first, slots))
                last_of_bucket[bucket_of(pairs)] = entry.sequence
        made.state = replace(made.state, slots=slots, late=made.state.late + late)
        _extend(made, entry.sequence, -(-slots // per), per)
        changed = late > 0
        for change in store.iter_changes(entry.sequence):
            digest.add_change(change)
            _apply(made, entry.sequence, change.kind, change.chunk, change.packed, width)
            changed = True
        if changed and not begun:
            begun = True
            last_of_bucket[:] = entry.sequence
            if made.state.flat is None and made.budgets is None:
                made.budgets, made.budgets_last = np.zeros_like(made.spent), np.full(made.spent_last.size, entry.sequence)
        if changed:
            made.state = replace(made.state, sequence=entry.sequence)
        if digest.finish() != entry.digest:
            raise LedgerRejected(
                f"what entry {entry.sequence} of the ledger did to the accounts is not what was written; restore it from a backup"
            )
    hashes = np.concatenate(late_hashes) if late_hashes else np.zeros((0, 2), np.uint64)
    places = np.concatenate(late_slots) if late_slots else empty
    buckets = bucket_of(hashes)
    order = np.argsort(buckets, kind="stable")
    bounds = np.searchsorted(buckets[order], np.arange(BUCKETS + 1))
    for number in range(BUCKETS if begun else 0):
        rows = order[bounds[number] : bounds[number + 1]]
        made.late.append((int(last_of_bucket[number]), join_bucket(hashes[rows], places[rows])))
    made.state = replace(
        made.state,
        lasts={
            ACCOUNTS: made.spent_last.astype("<u4").tobytes(),
            BUDGETS: made.budgets_last.astype("<u4").tobytes(),
            LATE: np.array([sequence for sequence, _ in made.late], "<u4").tobytes(),
        },
    )
    return made


def _extend(made: Folded, sequence: int, pages: int, per: int) -> None:
    """Add empty pages, up to a number of them."""
    more = pages - made.spent_last.size
    if more > 0:
        fresh = np.zeros((made.spent.shape[0], more * per), np.int64)
        made.spent = np.concatenate([made.spent, fresh], axis=1)
        made.spent_last = np.concatenate([made.spent_last, np.full(more, sequence)])
        if made.budgets is not None:
            made.budgets = np.concatenate([made.budgets, fresh], axis=1)
            made.budgets_last = np.concatenate([made.budgets_last, np.full(more, sequence)])


def _apply(made: Folded, sequence: int, kind: str, first: int, packed: bytes, width: int) -> None:
    per = per_page(width)
    try:
        match kind:
            case "hashing":
                made.state = replace(made.state, hashing=Hashing(packed.decode()))
            case "flat":
                made.state = replace(made.state, flat=tuple(np.frombuffer(packed, "<i8", width).tolist()))
            case "dense":
                codes, worst = unpack_dense(packed, width)
                amounts = decode_all(codes, worst)
                made.spent[:, first : first + codes.shape[1]] += amounts
                made.spent_last[first // per : -(-(first + codes.shape[1]) // per)] = sequence
            case "sparse":
                slots, codes, worst = unpack_sparse(packed, width)
                made.spent[:, slots] += decode_all(codes, worst)
                made.spent_last[slots // per] = sequence
            case "cost" | "budget":
                amounts = np.frombuffer(packed, "<i8").reshape(width, -1)
                pages = slice(first // per, -(-(first + amounts.shape[1]) // per))
                if kind == "cost":
                    made.spent[:, first : first + amounts.shape[1]] += amounts
                    made.spent_last[pages] = sequence
                    return
                if made.budgets is None:
                    made.budgets, made.budgets_last = np.zeros_like(made.spent), np.full(made.spent_last.size, sequence)
                    made.state = replace(made.state, flat=None)
                made.budgets[:, first : first + amounts.shape[1]] = amounts
                made.budgets_last[pages] = sequence
    except (ValueError, IndexError):
        raise LedgerRejected(f"entry {sequence} of the ledger has amounts of no account; restore it from a backup") from None
