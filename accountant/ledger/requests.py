"""What a release was asked with: a name that was published is served to whoever asks the same, and refused to all others.

The mechanism and the options are public, and the entry of the charge says them. Which data were charged is private: a keyed hash of ids and
numbers, bound to the entry, stands beside it, sealed, is compared inside, and is never told.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accountant.guarantees import Guarantee
from accountant.ledger.charges import Charge
from accountant.ledger.journal import Journal
from accountant.ledger.log import CHARGE, Entry, body_text
from accountant.ledger.rows import Matrix
from accountant.ledger.store import Store
from accountant.ledger.units import Hasher
from profiles import InvalidNumber, Profile, exact_text, to_exact
from profiles.errors import LedgerRejected, ReleaseUsed

_WIDTH = 32
_DEEPEST = 20
#: What has a spelling of its own.
_LEAVES = (int, float, str, Fraction, np.integer, np.floating, np.ndarray, type, type(None), Profile)


@dataclass(frozen=True, slots=True)
class Request:
    """What one release was asked with. ``mechanism``: a public hash of what is run; ``data``: a private one of its rows and their units."""

    mechanism: str
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, mechanism: object, rows: Matrix, hasher: Hasher) -> Request:
        """Return the request for running a mechanism on rows, whatever table or array they came in."""
        lengths, letters = spell_ids(rows.ids.values)
        numbers = np.ascontiguousarray((rows.values if rows.values.ndim == 2 else rows.values[:, None]) + 0.0)  # one zero, one form
        told = (json.dumps(numbers.shape).encode(), numbers.view(np.uint8).data, lengths, letters)
        return cls(digest_mechanism(mechanism), hasher.seal(b"data", *told))

    def to_body(self) -> dict[str, str]:
        """Return what the entry of the charge says of it."""
        return {"mechanism": self.mechanism}

    def seal(self, sequence: int, hasher: Hasher) -> bytes | None:
        """Return what stands beside the entry with this number: two entries about the same data have nothing in common."""
        mark = hasher.seal(b"asked", sequence.to_bytes(8, "little"), self.data)
        return mark + _seal(mark, sequence, hasher)

    def require_same(self, journal: Journal, entry: Entry, charge: Charge) -> None:
        """Refuse a request that is not the one that was charged. Raises :class:`ReleaseUsed`, :class:`LedgerRejected`.

        Entries of earlier releases do not say which class the mechanism was, and not which data: they are compared by their profile.
        """
        told, body = charge.describe(), entry.body
        if body_text({"of": told["profile"]}) != body_text({"of": body["profile"]}):
            raise _refuse(entry.name, "another mechanism")
        if any(body_text({"of": told.get(key)}) != body_text({"of": body.get(key)}) for key in ("sampling", "rows", "clipped")):
            raise _refuse(entry.name, "other options")
        if to_exact(told["worst"]) > to_exact(body["worst"]):  # it is found from what was compared; earlier releases charged a little more
            raise _refuse(entry.name, "other options")
        if body.get("mechanism", self.mechanism) != self.mechanism:
            raise _refuse(entry.name, "another mechanism")
        self.require_data(journal, entry)

    def require_data(self, journal: Journal, entry: Entry) -> None:
        """Refuse data that are not those that were charged, where the entry says which. Raises :class:`ReleaseUsed`,
        :class:`LedgerRejected`.
        """
        mark = read_mark(journal.store, entry, journal.hasher)
        if mark is not None and mark != journal.hasher.seal(b"asked", entry.sequence.to_bytes(8, "little"), self.data):
            raise _refuse(entry.name, "other data")


def spell_ids(ids: Any) -> tuple[bytes, bytes]:
    """Return the lengths of ids as texts, and their letters one after another: bytes that tell them from any others."""
    texts = pc.cast(ids, pa.large_string())
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype("<i8")
    joined = pa.LargeListArray.from_arrays(pa.array([0, len(texts)], pa.int64()), texts)
    return lengths.tobytes(), pc.binary_join(joined, pa.scalar("", pa.large_string()))[0].as_py().encode()


def read_mark(store: Store, entry: Entry, hasher: Hasher) -> bytes | None:
    """Return what stands beside the entry of a charge about its data, None where nothing does. Raises :class:`LedgerRejected`."""
    mark = store.read_output(entry.sequence) if entry.kind == CHARGE else None
    if mark is None:
        return None
    if not is_mark(mark, entry, hasher):
        raise LedgerRejected(f"what entry {entry.sequence} of the ledger was charged for is damaged; restore it from a backup of its log")
    return mark[:_WIDTH]


def is_mark(mark: bytes, entry: Entry, hasher: Hasher) -> bool:
    """Tell whether bytes are what was written beside an entry by :meth:`Request.seal`."""
    return mark[_WIDTH:] == _seal(mark[:_WIDTH], entry.sequence, hasher)


def digest_arguments(arguments: object) -> str:
    """Return a hash of public arguments: equal numbers are equal however they were written."""
    return hashlib.sha256(json.dumps(_spell(arguments), sort_keys=True).encode()).hexdigest()


def digest_mechanism(mechanism: object) -> str:
    """Return a hash of what is run: its class and its public attributes; of a promise, what it states; of a profile, what it is.

    >>> from profiles.mechanisms import LaplaceSum
    >>> one, other = LaplaceSum(b=2, radius=1), LaplaceSum(b="2", radius=1.0)
    >>> digest_mechanism(one) == digest_mechanism(other) != digest_mechanism(LaplaceSum(b=2, radius=1, arithmetic="binary64"))
    True
    """
    said = [repr(mechanism.statement)] if isinstance(mechanism, Guarantee) else _spell_object(mechanism, 0)
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _seal(mark: bytes, sequence: int, hasher: Hasher) -> bytes:
    return hasher.seal(b"mark", sequence.to_bytes(8, "little"), mark)


def _refuse(name: str, what: str) -> ReleaseUsed:
    return ReleaseUsed(
        f"the release {name!r} was published before, with {what}; take another name for another release, or ask for what is stored, with "
        "ledger.output (pdp ledger release without --mechanism)"
    )


def _spell_object(value: object, depth: int) -> Any:
    """Return what tells a mechanism from others: its class, and the public attributes of it and of what it is made of."""
    if isinstance(value, Enum):
        return [_name(type(value)), value.name]
    if depth < _DEEPEST and not isinstance(value, _LEAVES):
        if isinstance(value, (list, tuple)):
            return [_spell_object(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return {str(name): _spell_object(item, depth + 1) for name, item in value.items()}
        attributes = dict(_attributes(value))
        if attributes:
            return [_name(type(value)), {name: _spell_object(item, depth + 1) for name, item in sorted(attributes.items())}]
    return _spell(value)


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    """Yield the public attributes of an object: the fields of a dataclass, or else those that it holds itself."""
    if is_dataclass(value):
        names = [item.name for item in fields(value) if item.init]
    else:
        slots = (part.__dict__.get("__slots__", ()) for part in type(value).__mro__)
        names = [*vars(value)] if hasattr(value, "__dict__") else []
        names += [name for part in slots for name in ((part,) if isinstance(part, str) else part)]
    for name in names:
        if not name.startswith("_") and hasattr(value, name):
            yield name, getattr(value, name)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_unsaid(item: Field[Any], value: object) -> bool:
    """Tell whether a field came later than what may be stored, and says what went without saying before."""
    return bool(item.metadata.get("later")) and getattr(value, item.name) == item.default


def _spell(value: object) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float, str, Fraction, np.integer, np.floating)):
        try:
            return exact_text(to_exact(value))
        except InvalidNumber:
            return str(value)
    if isinstance(value, np.ndarray):
        kept = np.ascontiguousarray(value)
        words = kept.tobytes() if kept.dtype.kind in "biuf" else json.dumps(_spell(kept.tolist())).encode()
        return [str(kept.dtype), list(kept.shape), hashlib.sha256(words).hexdigest()]
    if isinstance(value, Mapping):
        return {str(name): _spell(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spell(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_spell(item)) for item in value)
    if isinstance(value, range):
        return ["range", value.start, value.stop, value.step]
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if is_dataclass(value) and not isinstance(value, type):
        return [kind, {item.name: _spell(getattr(value, item.name)) for item in fields(value) if item.init and not _is_unsaid(item, value)}]
    name = getattr(value, "__qualname__", None)
    return [kind, f"{getattr(value, '__module__', '')}.{name}" if isinstance(name, str) else ""]
