"""The rows of a ledger of version 2: pages of hashes and of amounts, all of fixed width, each with its seal."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.ledger.log import Change, Segment
from accountant.ledger.paged.hashing import Hashing, PageHasher
from accountant.ledger.store import Store, seal_segment
from accountant.ledger.units import WIDTH, Hasher
from profiles.arrays import Integers
from profiles.errors import LedgerRejected

#: Hashes of a page, numbers of a page of amounts, and hashes of a segment: 250 pages.
IDS, NUMBERS, SEGMENT = 250, 500, 62_500
#: Tables of amounts, and that of units that came later, by their hashes.
ACCOUNTS, BUDGETS, LATE = "accounts", "budgets", "late"
#: Buckets of units that came later, and what a segment of them says of itself.
BUCKETS, LATER = 1_024, b"late"
_SEAL, _NUMBER = 16, struct.Struct("<q")
_STATE = struct.Struct("<qqqqqqq8s")
_LAST = np.dtype("<u4")
#: Pages that are asked for together.
_ASKED = 500


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its number in its table, the entry that wrote it, what it holds, and its seal."""

    number: int
    sequence: int
    data: bytes = field(repr=False)
    seal: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """What the accounts are as a whole, after the entry ``sequence``: how many ``slots`` there are, how many of them came ``late``, which
    budget all have (None where budgets are of pages), how ids are hashed, and of each table the last entry that wrote each page, as bytes.

    A page of an earlier entry that is put back has a seal that is right, and an entry that is not.
    """

    sequence: int
    slots: int
    late: int
    flat: tuple[int, ...] | None
    hashing: Hashing
    lasts: dict[str, bytes] = field(repr=False)

    def put(self, table: str, pages: Integers | slice, entry: int) -> State:
        """Return the state after ``entry`` wrote pages of a table, also new ones at its end."""
        last = pages.stop if isinstance(pages, slice) else int(pages.max(initial=-1)) + 1
        held = np.frombuffer(self.lasts[table], _LAST)
        made = np.zeros(max(held.size, last), _LAST)
        made[: held.size] = held
        made[pages] = entry
        return replace(self, lasts={**self.lasts, table: made.tobytes()})

    def require_last(self, table: str, pages: Sequence[Page]) -> None:
        """Refuse pages, one after another, that are not what was written last. Raises :class:`LedgerRejected`."""
        first = pages[0].number if pages else 0
        if np.frombuffer(self.lasts[table], _LAST)[first : first + len(pages)].tolist() != [page.sequence for page in pages]:
            raise LedgerRejected("accounts of the ledger are not what was written last: run pdp ledger verify --repair")


NEW = State(0, 0, 0, None, Hashing.AES, {ACCOUNTS: b"", BUDGETS: b"", LATE: b""})


@dataclass(frozen=True, slots=True)
class Enrolled:
    """Units that were enrolled together, in the order of their hashes: the first slot, the entry, and the first 64 bits of each page."""

    first: int
    sequence: int
    fences: NDArray[np.uint64] = field(repr=False)


class PageStore(Store):
    """The rows of a ledger of version 2 in an open database."""

    __slots__ = ()

    def read_state(self, hasher: PageHasher) -> State | None:
        """Return the state, None before there is one. Raises :class:`LedgerRejected` for one that is not what was written."""
        body = self._row("SELECT body FROM state WHERE one = 1", (), (bytes,), bytes)
        if body is None:
            return None
        told, seal = body[:-_SEAL], body[-_SEAL:]
        if len(body) < _STATE.size + _SEAL or hasher.seal(b"state", 1, told) != seal:
            raise LedgerRejected("the state of the accounts is not what was written: run pdp ledger verify --repair")
        sequence, slots, late, width, *sizes, name = _STATE.unpack_from(told)
        if len(told) != _STATE.size + 8 * width + sum(sizes):
            raise LedgerRejected("the state of the accounts is not what was written: run pdp ledger verify --repair")
        flat = tuple(np.frombuffer(told, "<i8", width, _STATE.size).tolist()) or None
        ends = [_STATE.size + 8 * width + sum(sizes[:number]) for number in range(4)]
        lasts = {table: told[ends[number] : ends[number + 1]] for number, table in enumerate((ACCOUNTS, BUDGETS, LATE))}
        return State(sequence, slots, late, flat, Hashing(name.rstrip(b"\0").decode()), lasts)

    def write_state(self, state: State, hasher: PageHasher) -> None:
        """Write the state in place of the one that was."""
        flat, lasts = state.flat or (), [state.lasts[table] for table in (ACCOUNTS, BUDGETS, LATE)]
        told = _STATE.pack(state.sequence, state.slots, state.late, len(flat), *map(len, lasts), state.hashing.value.encode())
        told += b"".join((np.array(flat, "<i8").tobytes(), *lasts))
        body = told + hasher.seal(b"state", 1, told)
        self.database.execute("INSERT INTO state VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET body = excluded.body", (body,))

    def read_last(self, state: State, table: str, first: int, last: int, hasher: PageHasher) -> list[Page]:
        """Return the same, as they were written last by the state. Raises :class:`LedgerRejected`."""
        pages = self.read_pages(table, first, last, hasher)
        state.require_last(table, pages)
        return pages

    def read_pages(self, table: str, first: int, last: int, hasher: PageHasher) -> list[Page]:
        """Return the pages of a table from ``first`` to before ``last``, checked. Raises :class:`LedgerRejected`."""
        statement = f"SELECT page, body FROM {table} WHERE page >= ? AND page < ? ORDER BY page"  # noqa: S608 - words of ours
        rows = self.database.read_rows(statement, (first, last))
        if len(rows) != last - first:
            raise LedgerRejected("accounts of the ledger are missing: run pdp ledger verify --repair")
        return [self._check(table, first + place, row, hasher) for place, row in enumerate(rows)]

    def read_few(self, state: State, table: str, numbers: Sequence[int], hasher: PageHasher) -> list[Page]:
        """Return the pages of a table with these numbers, in their order, as they were written last. Raises :class:`LedgerRejected`."""
        rows = self._list_rows(table, numbers)
        if rows is None:
            raise LedgerRejected("accounts of the ledger are missing: run pdp ledger verify --repair")
        pages = [self._check(table, number, row, hasher) for number, row in zip(numbers, rows, strict=True)]
        for page in pages:
            state.require_last(table, [page])
        return pages

    def _list_rows(self, table: str, numbers: Sequence[int]) -> list[tuple[object, ...]] | None:
        """Return the rows of these pages, which grow: some hundred with each question to the database. None where one is missing."""
        rows: list[tuple[object, ...]] = []
        for start in range(0, len(numbers), _ASKED):
            asked = numbers[start : start + _ASKED]
            statement = f"SELECT page, body FROM {table} WHERE page IN ({', '.join('?' * len(asked))}) ORDER BY page"  # noqa: S608
            rows += self.database.read_rows(statement, asked)
        return rows if len(rows) == len(numbers) else None

    @staticmethod
    def _check(table: str, number: int, row: tuple[object, ...], hasher: PageHasher) -> Page:
        page, body = row
        if page != number or not isinstance(body, bytes) or hasher.seal(table.encode(), number, body[_SEAL:]) != body[:_SEAL]:
            raise LedgerRejected("accounts of the ledger are not what was written: run pdp ledger verify --repair")
        return Page(number, _NUMBER.unpack_from(body, _SEAL)[0], body[_SEAL + _NUMBER.size :], body[:_SEAL])

    def write_pages(self, table: str, pages: Iterable[Page]) -> None:
        """Write pages, in place of those of their numbers."""
        self.database.execute_many(
            f"INSERT INTO {table} VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET body = excluded.body",  # noqa: S608 - words of ours
            ((page.number, b"".join((page.seal, _NUMBER.pack(page.sequence), page.data))) for page in pages),
        )

    def count_pages(self, table: str) -> int:
        """Return how many pages a table has."""
        return self._row(f"SELECT count(*) FROM {table}", (), (int,), int) or 0  # noqa: S608 - words of ours

    def next_page(self, table: str) -> int:
        """Return the number after that of the last page of a table."""
        return self._row(f"SELECT coalesce(max(page), -1) + 1 FROM {table}", (), (int,), int) or 0  # noqa: S608 - words of ours

    def list_runs(self, hasher: PageHasher) -> list[Enrolled]:
        """Return what was enrolled together, checked; in pieces of a segment each. Raises :class:`LedgerRejected`."""

        def make(first: int, seq: int, fences: bytes, seal: bytes) -> Enrolled:
            if hasher.seal(b"run", first, _NUMBER.pack(seq), fences) != seal:
                raise LedgerRejected("the ids of the ledger are not what was written; restore it from a backup of its log")
            return Enrolled(first, seq, np.frombuffer(fences, "<u8"))

        return list(self._rows("SELECT first, seq, fences, seal FROM runs ORDER BY first", (), (int, int, bytes, bytes), make))

    def read_hashes(self, first: int, last: int, hasher: PageHasher) -> bytes:
        """Return the hashes of the pages of ids from ``first`` to before ``last``. Raises :class:`LedgerRejected`."""
        rows = self.database.read_rows("SELECT page, body FROM ids WHERE page >= ? AND page < ? ORDER BY page", (first, last))
        return b"".join(self._check_hashes(range(first, last), rows if len(rows) == last - first else None, hasher))

    def read_few_hashes(self, numbers: Sequence[int], hasher: PageHasher) -> list[bytes]:
        """Return the hashes of each of some pages of ids, whose numbers grow. Raises :class:`LedgerRejected`."""
        return self._check_hashes(numbers, self._list_rows("ids", numbers), hasher)

    @staticmethod
    def _check_hashes(numbers: Sequence[int], rows: list[tuple[Any, ...]] | None, hasher: PageHasher) -> list[bytes]:
        if rows is None:
            raise LedgerRejected("ids of the ledger are missing; restore it from a backup of its log")
        for number, (page, body) in zip(numbers, rows, strict=True):
            if page != number or not isinstance(body, bytes) or hasher.seal(b"ids", page, body[_SEAL:]) != body[:_SEAL]:
                raise LedgerRejected("the ids of the ledger are not what was written; restore it from a backup of its log")
        return [body[_SEAL:] for _, body in rows]

    def write_segment(self, sequence: int, segment: Segment, hasher: Hasher) -> None:
        if segment.fingerprint == LATER:
            super().write_segment(sequence, segment, hasher)
            return
        seals, page = PageHasher.of(hasher), segment.first // IDS
        size = IDS * WIDTH
        parts = [segment.hashes[start : start + size] for start in range(0, len(segment.hashes), size)]
        if segment.fingerprint or segment.first % IDS or len(parts[-1]) != size:
            raise LedgerRejected("whole pages of new accounts were expected in the ledger, but others were found; restore it from a backup")
        fences = b"".join(part[:8] for part in parts)
        seal = seals.seal(b"run", segment.first, _NUMBER.pack(sequence), fences)
        self.database.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (segment.first, sequence, fences, seal))
        rows = ((page + place, seals.seal(b"ids", page + place, part) + part) for place, part in enumerate(parts))
        self.database.execute_many("INSERT INTO ids VALUES (?, ?)", rows)

    def iter_segments(self, hasher: Hasher, sequence: int | None = None) -> Iterator[Segment]:
        seals = PageHasher.of(hasher)
        where, values = ("", ()) if sequence is None else ("WHERE seq = ? ", (sequence,))
        runs = self.database.read_rows(f"SELECT first, length(fences) FROM runs {where}ORDER BY first", values)  # noqa: S608 - words of ours
        if runs:
            self.list_runs(seals)
        later = self._list_later(where, values, hasher)
        for first, size in runs:
            while later and later[0].first < first:
                yield later.pop(0)
            page = first // IDS
            yield Segment(first, self.read_hashes(page, page + size // 8, seals), b"")
        yield from later

    def _list_later(self, where: str, values: Sequence[object], hasher: Hasher) -> list[Segment]:
        def make(seq: int, first: int, hashes: bytes, fingerprint: bytes, seal: bytes) -> Segment:
            segment = Segment(first, hashes, fingerprint)
            if seal_segment(seq, segment, hasher) != seal or fingerprint != LATER:
                raise LedgerRejected(f"the accounts from {first} on of the ledger are damaged; restore it from a backup of its log")
            return segment

        statement = f"SELECT seq, first, hashes, fingerprint, seal FROM segments {where}ORDER BY first"  # noqa: S608 - words of ours
        return list(self._rows(statement, values, (int, int, bytes, bytes, bytes), make))

    def find_opening(self, slot: int) -> int:
        """Return the entry that opened the account of a slot."""
        openings = [
            self.database.find_row(f"SELECT first, seq FROM {table} WHERE first <= ? ORDER BY first DESC LIMIT 1", (slot,))  # noqa: S608
            for table in ("runs", "segments")
        ]
        _first, sequence = max(row for row in openings if row is not None)
        return int(sequence)

    def iter_changes_of(self, sequence: int, slot: int) -> Iterator[Change]:
        """Yield what an entry does to the account of a slot, and perhaps to others."""
        told = self.database.read_rows("SELECT kind, max(chunk) FROM changes WHERE seq = ? AND chunk <= ? GROUP BY kind", (sequence, slot))
        for kind, chunk in told:
            row = self.database.find_row(
                "SELECT kind, chunk, packed FROM changes WHERE seq = ? AND kind = ? AND chunk = ?", (sequence, kind, chunk)
            )
            yield Change(*self._require_types(row or (), (str, int, bytes)))  # type: ignore[arg-type]

    def count_strays(self) -> int:
        told = "seq NOT IN (SELECT seq FROM log)"
        wrong = {
            "segments": told,
            "runs": told,
            "changes": told,
            "outputs": "seq NOT IN (SELECT seq FROM log WHERE kind IN ('charge', 'output'))",
            "log": "seq < 0",
            "state": "one <> 1",
        }
        counts = (f"SELECT count(*) FROM {table} WHERE {where}" for table, where in wrong.items())  # noqa: S608 - words of ours
        strays = sum(self._row(statement, (), (int,), int) or 0 for statement in counts)
        pages: int = sum(size // 8 for (size,) in self.database.read_rows("SELECT length(fences) FROM runs", ()))
        return strays + abs(self.count_pages("ids") - pages)

    def find_hash(self, sequence: int) -> bytes | None:
        """Return the hash of an entry."""
        return self._row("SELECT hash FROM log WHERE seq = ?", (sequence,), (bytes,), bytes)


def make_pages(numbers: Sequence[int], sequence: int, table: str, amounts: Integers, hasher: PageHasher) -> list[Page]:
    """Return sealed pages with these numbers, of amounts of shape (k, n): n slots of whole pages, one after the other."""
    width, per = amounts.shape[0], per_page(amounts.shape[0])
    rows = np.ascontiguousarray(amounts.reshape(width, -1, per).transpose(1, 0, 2), dtype="<i8").reshape(-1, width * per)
    head, kind = _NUMBER.pack(sequence), table.encode()
    datas = (row.tobytes() for row in rows)
    return [Page(number, sequence, data, hasher.seal(kind, number, head, data)) for number, data in zip(numbers, datas, strict=True)]


def read_amounts(pages: Sequence[Page], width: int) -> Integers:
    """Return what pages hold, shape (k, n); not to be written."""
    per = per_page(width)
    amounts = np.frombuffer(b"".join(page.data for page in pages), "<i8")
    if amounts.size != len(pages) * width * per:
        raise LedgerRejected("accounts of the ledger are not what was written: run pdp ledger verify --repair")
    return np.ascontiguousarray(amounts.reshape(-1, width, per).transpose(1, 0, 2)).reshape(width, -1)


def per_page(width: int) -> int:
    """Return how many slots a page of amounts of k components has."""
    return NUMBERS // width
