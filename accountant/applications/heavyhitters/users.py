"""Who is in the Poisson sample, and what is kept of users: how many more reports each may contribute to.

Membership is decided once per user, with probability exactly p, and is the same whenever the user comes again. 0 reports to come stand for
users outside the sample and for dropped ones alike.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from accountant.applications.heavyhitters.domain import to_integers
from profiles import InvalidArgument, InvalidData
from profiles.arrays import Booleans, Integers
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource

Membership = Literal["stored", "keyed"]
MEMBERSHIPS: tuple[Membership, ...] = ("stored", "keyed")

#: Records of users that are not in the sample and not on record.
NOBODY = -1
_RECENT = 4096
_DIGEST_BITS, _KEY_DIGITS = 512, 8


class SampleDecision(Protocol):
    """Decides for users that are not on record whether they are in the sample."""

    @property
    def remembers(self) -> bool:
        """Whether users outside the sample have to be kept on record, because another draw would decide anew."""

    def decide(self, users: Sequence[int] | Sequence[str]) -> Booleans:
        """Return which of the different ``users`` are in the sample."""


class DrawnDecision:
    """Exact Bernoulli draws (profiles.randomness): every user seen is kept on record. No hypothesis but that about the bits."""

    __slots__ = ("_p", "_sampler")

    remembers = True

    def __init__(self, p: float, source: BitSource) -> None:
        self._p, self._sampler = p, PoissonSampler(source)

    def decide(self, users: Sequence[int] | Sequence[str]) -> Booleans:
        """Draw for every user, in the order given."""
        return self._sampler.select(np.full(len(users), self._p))


class KeyedDecision:
    """A user is in the sample iff BLAKE2b of the id under a secret key, read as a number below 2^512, is below p·2^512.

    Nothing is kept for users outside the sample. The key is drawn once and never leaves this object.
    """

    __slots__ = ("_bound", "_keyed")

    remembers = False

    def __init__(self, p: float, source: BitSource) -> None:
        bound = Fraction(p) * 2**_DIGEST_BITS
        if bound.denominator != 1:
            raise InvalidArgument(f"a keyed sample needs a probability of at least 2^-459, but {p} was found; use membership='stored'")
        key = b"".join(source.digit().to_bytes(4, "little") for _ in range(_KEY_DIGITS))
        self._bound = int(bound)
        self._keyed = hashlib.blake2b(digest_size=_DIGEST_BITS // 8, key=key)

    def decide(self, users: Sequence[int] | Sequence[str]) -> Booleans:
        """Hash every user: 1 microsecond each."""
        return np.fromiter((self._number(user) < self._bound for user in users), dtype=np.bool_, count=len(users))

    def _number(self, user: int | str) -> int:
        digest = self._keyed.copy()
        digest.update(
            b"t" + user.encode("utf-8", "surrogatepass") if isinstance(user, str) else b"i" + user.to_bytes(8, "little", signed=True)
        )
        return int.from_bytes(digest.digest(), "little")


def open_decision(membership: Membership, p: float, source: BitSource) -> SampleDecision:
    """Return the decision of that name."""
    return DrawnDecision(p, source) if membership == "stored" else KeyedDecision(p, source)


class IntegerIndex:
    """A map from 64-bit integers to slots: two sorted arrays, a large one and one of recent keys, merged when that has grown."""

    __slots__ = ("_keys", "_recent", "_recent_slots", "_slots")

    def __init__(self) -> None:
        self._keys, self._slots = _no_integers(), _no_integers()
        self._recent, self._recent_slots = _no_integers(), _no_integers()

    def find(self, users: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the different users in ascending order, the place of each record among them, and their slots (NOBODY: not known)."""
        different, places = np.unique(users, return_inverse=True)
        slots = _search(self._keys, self._slots, different)
        missing = np.flatnonzero(slots == NOBODY)
        if missing.size:
            slots[missing] = _search(self._recent, self._recent_slots, different[missing])
        return different, places.astype(np.int64, copy=False), slots

    def add(self, users: Integers, slots: Integers) -> None:
        self._recent, self._recent_slots = _merge(self._recent, self._recent_slots, users, slots)
        if self._recent.size > max(_RECENT, 8 * math.isqrt(self._keys.size)):
            self._keys, self._slots = _merge(self._keys, self._slots, self._recent, self._recent_slots)
            self._recent, self._recent_slots = _no_integers(), _no_integers()

    def export(self) -> tuple[Integers, Integers]:
        """Return the users and the slot of each, to be written to a state."""
        return _merge(self._keys, self._slots, self._recent, self._recent_slots)

    def renumber(self, slots: Integers) -> None:
        """Give slot s the number ``slots[s]``; forget the users whose number is NOBODY."""
        self._keys, self._slots = _merge(self._keys, self._slots, self._recent, self._recent_slots)
        self._recent, self._recent_slots = _no_integers(), _no_integers()
        new = slots[self._slots]
        self._keys, self._slots = self._keys[new != NOBODY], new[new != NOBODY]

    def read(self, users: Any) -> Integers:
        """Return the users as an array. Raises :class:`InvalidData`."""
        return to_integers(users, "a user")


class TextIndex:
    """A map from texts to slots."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}

    def find(self, users: list[str]) -> tuple[list[str], Integers, Integers]:
        """Return the users of the records and behind them those who are not known, each once; the place of each record among them; and
        their slots.
        """
        slots = np.fromiter(map(self._slots.get, users, itertools.repeat(NOBODY)), dtype=np.int64, count=len(users))
        places = np.arange(len(users))
        missing = np.flatnonzero(slots == NOBODY).tolist()
        if not missing:
            return users, places, slots
        new = {user: place for place, user in enumerate(dict.fromkeys(users[record] for record in missing), start=len(users))}
        places[missing] = [new[users[record]] for record in missing]
        slots[missing] = 0  # nobody is referred to them
        return [*users, *new], places, np.concatenate([slots, np.full(len(new), NOBODY)])

    def add(self, users: list[str], slots: Integers) -> None:
        self._slots.update(zip(users, slots.tolist(), strict=True))

    def export(self) -> tuple[list[str], Integers]:
        """Return the users and the slot of each, to be written to a state."""
        return list(self._slots), np.fromiter(self._slots.values(), dtype=np.int64, count=len(self._slots))

    def renumber(self, slots: Integers) -> None:
        """Give slot s the number ``slots[s]``; forget the users whose number is NOBODY."""
        new = slots.tolist()
        self._slots = {user: new[slot] for user, slot in self._slots.items() if new[slot] != NOBODY}

    def read(self, users: Any) -> list[str]:
        """Return the users as a list. Raises :class:`InvalidData`."""
        values = users.tolist() if isinstance(users, np.ndarray) else list(users)
        if set(map(type, values)) == {str}:
            return values
        wrong = next((value for value in values if not isinstance(value, str)), None)
        if wrong is not None or any(value is None for value in values):
            raise InvalidData(
                f"a user was expected to be a text, as the first one is, but {type(wrong).__name__} was found; convert the ids or drop "
                "those records"
            )
        return values


class UserTable:
    """Slots of the users on record and what is left to each. Memory: 17 to 24 bytes a user with integer ids, about 150 with texts.

    ``k`` is what a user of the sample may contribute to; ``decision`` says who is in the sample.
    """

    __slots__ = ("_count", "_decision", "_index", "_k", "_settled", "left")

    def __init__(self, k: int, decision: SampleDecision) -> None:
        self._k, self._decision = k, decision
        self._index: IntegerIndex | TextIndex | None = None
        self._count, self._settled = 0, 1024
        self.left: NDArray[Any] = np.zeros(1024, dtype=np.min_scalar_type(k))

    def __len__(self) -> int:
        return self._count

    def slots(self, users: Any) -> Integers:
        """Return the slot of each record's user, NOBODY for some that are outside the sample. Decides about users who are new.

        Raises :class:`InvalidData`.
        """
        if not len(users):
            return _no_integers()
        if self._index is None:
            first = users[0]
            self._index = TextIndex() if isinstance(first, str) else IntegerIndex()
        index: Any = self._index
        different, places, slots = index.find(index.read(users))
        unknown = np.flatnonzero(slots == NOBODY)
        if unknown.size:
            slots[unknown] = self._admit(index, different, unknown)
        taken: Integers = slots[places]
        return taken

    def export(self) -> tuple[Integers | list[str], Integers, NDArray[Any]]:
        """Return the users on record, their slots, and what is left to each slot: all that a pass knows of users. Private.

        Raises :class:`InvalidArgument` for a decision that has a key, which must not leave the process.
        """
        if not self._decision.remembers:
            raise InvalidArgument("the state of a pass is kept for membership='stored' only, but a keyed one was found; use stored")
        users, slots = (_no_integers(), _no_integers()) if self._index is None else self._index.export()
        return users, slots, self.left[: self._count].copy()

    def restore(self, users: Integers | list[str], slots: Integers, left: NDArray[Any]) -> None:
        """Take up what :meth:`export` gave, in place of what is on record."""
        self._count = len(left)
        self.left = np.zeros(max(1024, 2 * self._count), dtype=self.left.dtype)
        self.left[: self._count] = left
        self._index = None
        if self._count:
            index: Any = TextIndex() if isinstance(users, list) else IntegerIndex()
            index.add(users, slots)
            self._index = index

    @property
    def has_doubled(self) -> bool:
        """Whether it is time to :meth:`forget`: the decision finds users again, and there are twice as many as after the last time."""
        return not self._decision.remembers and self._count >= 2 * self._settled

    def forget(self, pending: Integers) -> Integers:
        """Forget users who have contributed to nothing, but for the slots in ``pending``. Returns the new numbers of the slots."""
        keep = self.left[: self._count] < self._k
        keep[pending] = True
        new = np.where(keep, np.cumsum(keep) - 1, NOBODY)
        if self._index is not None:
            self._index.renumber(new)
        kept = int(keep.sum())
        self.left[:kept] = self.left[: self._count][keep]
        self._count, self._settled = kept, max(1024, kept)
        return new

    def _admit(self, index: Any, different: Any, unknown: Integers) -> Integers:
        chosen = different[unknown] if isinstance(different, np.ndarray) else [different[place] for place in unknown]
        sampled = self._decision.decide(chosen.tolist() if isinstance(chosen, np.ndarray) else chosen)
        kept = np.flatnonzero(sampled) if not self._decision.remembers else np.arange(sampled.size)
        slots = np.full(sampled.size, NOBODY, dtype=np.int64)
        slots[kept] = np.arange(self._count, self._count + kept.size)
        if self._count + kept.size > self.left.size:
            grown = np.zeros(max(2 * self.left.size, self._count + kept.size), dtype=self.left.dtype)
            grown[: self._count] = self.left[: self._count]
            self.left = grown
        self.left[slots[kept]] = np.where(sampled[kept], self._k, 0)
        self._count += kept.size
        index.add(chosen[kept] if isinstance(chosen, np.ndarray) else [chosen[place] for place in kept], slots[kept])
        return slots


def _no_integers() -> Integers:
    return np.empty(0, dtype=np.int64)


def _search(keys: Integers, slots: Integers, wanted: Integers) -> Integers:
    places = np.full(wanted.size, NOBODY, dtype=np.int64)
    if keys.size:
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        hit = keys[at] == wanted
        places[hit] = slots[at[hit]]
    return places


def _merge(keys: Integers, slots: Integers, more: Integers, more_slots: Integers) -> tuple[Integers, Integers]:
    if not more.size:
        return keys, slots
    if not keys.size:
        return more, more_slots
    at = np.searchsorted(keys, more)
    return np.insert(keys, at, more), np.insert(slots, at, more_slots)
