"""Who is in the Poisson sample: decided once per user, with probability exactly p, and the same whenever the user comes again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from profiles import InvalidArgument
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource

Membership = Literal["stored", "keyed"]
MEMBERSHIPS: tuple[Membership, ...] = ("stored", "keyed")

_DIGEST_BITS, _KEY_DIGITS = 512, 8


class Decision(Protocol):
    """Decides for users that are not on record whether they are in the sample."""

    @property
    def remembers(self) -> bool:
        """Whether users outside the sample have to be kept on record, because another draw would decide anew."""

    def decide(self, users: Sequence[int] | Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the different ``users`` are in the sample."""


class DrawnDecision:
    """Exact Bernoulli draws (accountant.samples): every user seen is kept on record. No hypothesis but that about the bits."""

    __slots__ = ("_p", "_sampler")

    remembers = True

    def __init__(self, p: float, source: BitSource) -> None:
        self._p, self._sampler = p, PoissonSampler(source)

    def decide(self, users: Sequence[int] | Sequence[str]) -> NDArray[np.bool_]:
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

    def decide(self, users: Sequence[int] | Sequence[str]) -> NDArray[np.bool_]:
        """Hash every user: 1 microsecond each."""
        return np.fromiter((self._number(user) < self._bound for user in users), dtype=np.bool_, count=len(users))

    def _number(self, user: int | str) -> int:
        digest = self._keyed.copy()
        digest.update(
            b"t" + user.encode("utf-8", "surrogatepass") if isinstance(user, str) else b"i" + user.to_bytes(8, "little", signed=True)
        )
        return int.from_bytes(digest.digest(), "little")


def open_decision(membership: Membership, p: float, source: BitSource) -> Decision:
    """Return the decision of that name."""
    return DrawnDecision(p, source) if membership == "stored" else KeyedDecision(p, source)
