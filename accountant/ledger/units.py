"""Which account a row belongs to: keyed hashes of the ids of units, so that the file of a ledger holds no id.

Rows that come in the order of enrolment are recognised by one hash of 65,536 ids; all others are looked up one by one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from accountant.data.frames import missing_column
from accountant.data.ids import require_one_spelling
from profiles import InvalidData
from profiles.arrays import Integers, Positions

#: Bytes of a hash of an id: two of 10^8 ids collide with a chance below 1e-22.
WIDTH = 16
SECRET_BYTES = 32
Unsigned = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of some rows as an Arrow array of texts or integers, the first of which is row ``first_row``.

    An integer and the text of its digits are the same id.
    """

    values: Any = field(repr=False)
    first_row: int

    @property
    def size(self) -> int:
        return len(self.values)

    def part(self, rows: slice) -> Ids:
        """Return the ids of some rows."""
        return Ids(self.values[rows], self.first_row + rows.start)


def read_ids(table: Any, columns: Sequence[str], label: str, first_row: int) -> Ids:
    """Return the ids of the rows of an Arrow record batch: the values of the key ``columns``, as text.

    Several columns are joined with their lengths, so that no two keys become one. Raises :class:`InvalidData` for a missing column or
    value, for numbers with a fraction, which are no ids, and for ids that may be another spelling of one, who would get a second account.
    """
    if table is None:
        raise InvalidData(f"the ids of units are read from columns, but {label} has values that no table holds; convert it")
    parts = []
    for name in columns:
        if name not in table.schema.names:
            raise missing_column(name, label, table.schema.names)
        parts.append(_check(table.column(name), name, label, first_row))
    if len(parts) == 1:
        return Ids(parts[0], first_row)
    parts = [pc.cast(part, pa.string()) for part in parts]
    joined = [pc.binary_join_element_wise(pc.cast(pc.binary_length(part), pa.string()), part, ":") for part in parts]
    return Ids(pc.binary_join_element_wise(*joined, ";"), first_row)


def to_ids(values: Any, size: int) -> Ids:
    """Return ids that are given beside an array of ``size`` rows. Raises :class:`InvalidData`."""
    try:
        if isinstance(values, (str, bytes, Mapping, Set)):  # whose letters or names would be taken for ids, or in no order
            raise TypeError
        array = values if isinstance(values, pa.Array) else pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InvalidData("the ids of units are texts or integers, one for each row, but something else was found; give those") from None
    if not len(array) and pa.types.is_null(array.type):  # an empty list has no type
        array = pa.array([], pa.string())
    if len(array) != size:
        raise InvalidData("the ids of units are one for each row, but another number of them was found; give one for each row")
    return Ids(_check(array, "ids", "the ids", 0), 0)


def _check(array: Any, name: str, label: str, first_row: int) -> Any:
    if pa.types.is_dictionary(array.type):  # which may have null among its values, and says nothing of their type
        array = array.dictionary_decode()
    if array.null_count:
        raise _refuse_missing(array.is_null(), name, label, first_row)
    kind = array.type
    if pa.types.is_int64(kind):
        return array
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return pc.cast(array, pa.int64())
    text, other = pa.types.is_string(kind) or pa.types.is_large_string(kind), pa.types.is_uint64(kind) or pa.types.is_date(kind)
    if not (text or other):
        raise InvalidData(
            f"the key column {name!r} of {label} must hold texts, integers or dates, but its type is {str(kind).split('<')[0]}; convert it"
        )
    texts = array if pa.types.is_string(kind) else pc.cast(array, pa.string())
    if pc.min(pc.binary_length(texts)).as_py() == 0:
        raise _refuse_missing(pc.equal(texts, ""), name, label, first_row)
    if text:
        require_one_spelling(texts, name, label, first_row)
    return texts


def _refuse_missing(missing: Any, name: str, label: str, first_row: int) -> InvalidData:
    """Return the error for the first row without an id. An empty text is none, as in a CSV file, which has no nulls."""
    row = first_row + int(np.flatnonzero(missing.to_numpy(zero_copy_only=False))[0])
    return InvalidData(f"the key column {name!r} of {label} has no id in row {row} (rows count from 0); every row belongs to a unit")


@dataclass(frozen=True, slots=True)
class Hasher:
    """The keyed hash of ids under a secret of 32 bytes: HMAC-SHA-256, and BLAKE2b for single ids.

    ``before``: the hasher under the secret that this one took the place of. Ids are hashed under the first secret, and what that gives
    under each later one: accounts keep their units without the ids, and nobody finds them with the earlier secrets alone. All else is
    sealed under the last secret.
    """

    secret: bytes = field(repr=False)
    before: Hasher | None = field(default=None, repr=False)

    @classmethod
    def of(cls, secrets: bytes) -> Hasher:
        """Return the hasher of one secret or several, the last one first: what :attr:`secrets` gives."""
        hasher: Hasher | None = None
        for start in reversed(range(0, len(secrets), SECRET_BYTES)):
            hasher = cls(secrets[start : start + SECRET_BYTES], hasher)
        return cls(secrets) if hasher is None else hasher

    @property
    def secrets(self) -> bytes:
        """All secrets, the last one first."""
        return self.secret + (b"" if self.before is None else self.before.secrets)

    def rename(self, hashes: bytes) -> bytes:
        """Return what hashes of ids under the secrets before become under the last one."""
        fresh = hashlib.blake2b(key=self.secret, digest_size=WIDTH, person=b"renamed")
        made = bytearray()
        for start in range(0, len(hashes), WIDTH):
            one = fresh.copy()
            one.update(hashes[start : start + WIDTH])
            made += one.digest()
        return bytes(made)

    def rename_fingerprint(self, fingerprint: bytes) -> bytes:
        """Return what a hash of the ids of rows becomes under the last secret; none stays none."""
        return self.seal(b"renamed", fingerprint) if fingerprint else b""

    def seal(self, *parts: bytes | memoryview) -> bytes:
        """Return a keyed hash of parts, each with its length."""
        made = hmac.new(self.secret, digestmod="sha256")
        for part in parts:
            made.update(len(part).to_bytes(8, "little"))
            made.update(part)
        return made.digest()

    def fingerprint(self, ids: Ids) -> bytes:
        """Return one hash of the ids of consecutive rows, in their order."""
        if self.before is not None:
            return self.rename_fingerprint(self.before.fingerprint(ids))
        if pa.types.is_int64(ids.values.type):
            return self.seal(b"integers", np.ascontiguousarray(ids.values.to_numpy(zero_copy_only=False)).view(np.uint8).data)
        return self.seal(b"texts", *_canonical(ids.values))

    def hashes(self, ids: Ids) -> bytes:
        """Return the hashes of ids, WIDTH bytes each."""
        if self.before is not None:
            return self.rename(self.before.hashes(ids))
        offsets, letters = _canonical(pc.cast(ids.values, pa.string()))
        ends = np.frombuffer(offsets, dtype="<i8")
        view, start, made = memoryview(letters), 0, bytearray()
        fresh = hashlib.blake2b(key=self.secret, digest_size=WIDTH)
        for end in ends.tolist():
            one = fresh.copy()
            one.update(view[start:end])
            made += one.digest()
            start = end
        return bytes(made)

    def hash_text(self, text: str) -> bytes:
        """Return the hash of one id."""
        if self.before is not None:
            return self.rename(self.before.hash_text(text))
        return hashlib.blake2b(spell_text(text), key=self.secret, digest_size=WIDTH).digest()


def spell_text(text: str) -> bytes:
    """Return a text in UTF-8; also one with halves of surrogate pairs, which is no id of any data, and is then not found."""
    return text.encode(errors="surrogatepass")


def _canonical(texts: Any) -> tuple[bytes, bytes]:
    """Return the ends of the texts of an Arrow array of strings, and their letters, whatever slice of which buffers it is."""
    _, offsets, letters = texts.buffers()
    if offsets is None or not len(texts):
        return b"", b""
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1].astype("<i8")
    body = b"" if letters is None else bytes(memoryview(letters)[int(ends[0]) : int(ends[-1])])
    return (ends[1:] - ends[0]).tobytes(), body


def _split(hashes: bytes) -> tuple[Unsigned, Unsigned]:
    """Return the first and the last 64 bits of hashes."""
    pairs = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """All hashes of a ledger in order, for looking up ids that do not come in the order of enrolment."""

    high: Unsigned
    low: Unsigned
    order: Positions

    @classmethod
    def of(cls, hashes: bytes) -> Index:
        """Return the index of hashes, WIDTH bytes each, of the accounts 0, 1, ..."""
        high, low = _split(hashes)
        order = np.lexsort((low, high))
        return cls(high[order], low[order], order)

    def find(self, hashes: bytes) -> Integers:
        """Return the account of each hash, −1 for one that has none."""
        high, low = _split(hashes)
        numbers = np.full(high.size, -1, dtype=np.int64)
        if not self.high.size:
            return numbers
        at = np.searchsorted(self.high, high, side="left")
        rows = np.arange(high.size)
        while rows.size:  # hashes with the same first 64 bits stand side by side
            place = at[rows]
            inside = place < self.high.size
            place = np.where(inside, place, 0)
            alike = inside & (self.high[place] == high[rows])
            same = alike & (self.low[place] == low[rows])
            numbers[rows[same]] = self.order[place[same]]
            rows = rows[alike & ~same]
            at[rows] += 1
        return numbers


def all_differ(parts: Sequence[bytes]) -> bool:
    """Tell that no two of some hashes begin with the same 64 bits. False says nothing of them; it is rare where they differ.

    >>> all_differ([bytes(32)]), all_differ([bytes(16), bytes(7) + bytes([1]) + bytes(8)])
    (False, True)
    """
    high = np.empty(sum(map(len, parts)) // WIDTH, dtype=np.uint64)
    start = 0
    for part in parts:
        pairs = np.frombuffer(part, dtype="<u8").reshape(-1, 2)
        high[start : start + len(pairs)] = pairs[:, 0]
        start += len(pairs)
    high.sort()
    return not bool((high[1:] == high[:-1]).any())


def group(hashes: bytes) -> tuple[Positions, Positions]:
    """Return the first row of each distinct hash, in the order of the rows, and for each row the place of its hash among them."""
    high, low = _split(hashes)
    order = np.lexsort((np.arange(high.size), low, high))
    fresh = np.ones(high.size, dtype=np.bool_)
    fresh[1:] = (high[order][1:] != high[order][:-1]) | (low[order][1:] != low[order][:-1])
    firsts = order[fresh]  # by hash; the first row of each, since equal hashes stand in the order of the rows
    groups = np.empty(high.size, dtype=np.intp)
    groups[order] = np.cumsum(fresh) - 1
    by_row = np.argsort(firsts, kind="stable")
    place = np.empty(by_row.size, dtype=np.intp)
    place[by_row] = np.arange(by_row.size)
    return firsts[by_row], place[groups]
