"""Keyed hashes of ids, all of a batch at once: one block of AES where an id fits into it, so that no two ids meet."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from accountant.ledger.units import Hasher, Ids, spell_text
from profiles.arrays import Booleans
from profiles.errors import MissingExtra

#: Hashes of shape (n, 2): their first and last 64 bits.
Pairs = NDArray[np.uint64]
#: What stands in the last byte of a block: the length of a text, or one of these.
_LETTERS, _INTEGER, _NOBODY = 15, 0xFF, 0xEE
#: Integers whose texts have at most 18 digits; all others are hashed as texts, so that an integer and the text of its digits are one id.
_MOST = 10**18
_DIGITS = r"^(0|-?[1-9][0-9]{0,17})$"


class Hashing(Enum):
    """How ids are hashed: ``BLAKE2B`` in ledgers that go on from one of version 1, which has no ids that could be hashed anew."""

    AES = "aes256"
    BLAKE2B = "blake2b"


@dataclass(frozen=True, slots=True)
class PageHasher:
    """Hashes of ids, and seals of pages, under keys made from the secret of a ledger."""

    hasher: Hasher
    key: bytes = field(repr=False)
    blocks: Any = field(repr=False)

    @classmethod
    def of(cls, hasher: Hasher) -> PageHasher:
        """Return it for the secret of ``hasher``. Raises :class:`profiles.MissingExtra` without the package cryptography."""
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra(
                "cryptography is needed for the accounts of a ledger, but it is not installed; install pdp-accountant[signatures]"
            ) from error
        cipher = Cipher(algorithms.AES(hasher.seal(b"pages", b"ids")), modes.ECB())  # noqa: S305 - one block each: a keyed permutation
        return cls(hasher, hasher.seal(b"pages", b"seals"), cipher)

    def seal(self, kind: bytes, number: int, *parts: bytes) -> bytes:
        """Return a keyed hash of 16 bytes of what a page holds. ``kind`` has the length of no other kind with other parts."""
        return hmac.digest(self.key, b"".join((len(kind).to_bytes(1, "little"), kind, number.to_bytes(8, "little"), *parts)), "sha256")[:16]

    def hash_ids(self, ids: Ids, hashing: Hashing) -> Pairs:
        """Return the hashes of ids."""
        if hashing is Hashing.BLAKE2B:
            return np.frombuffer(self.hasher.hashes(ids), "<u8").reshape(-1, 2)
        if self.hasher.before is not None:  # ids are hashed under the first secret, and that under each later one
            return self._rename(PageHasher.of(self.hasher.before).hash_ids(ids, hashing))
        if pa.types.is_int64(ids.values.type):
            values = np.ascontiguousarray(ids.values.to_numpy(zero_copy_only=False))
            if not values.size or (int(values.min()) > -_MOST and int(values.max()) < _MOST):
                return self._integers(values)
        return self._texts(pc.cast(ids.values, pa.string()))

    def hash_text(self, text: str, hashing: Hashing) -> Pairs:
        """Return the hash of one id, shape (1, 2). Halves of surrogate pairs are no id of any data."""
        if hashing is Hashing.BLAKE2B:
            return np.frombuffer(self.hasher.hash_text(text), "<u8").reshape(1, 2)
        if self.hasher.before is not None:
            return self._rename(PageHasher.of(self.hasher.before).hash_text(text, hashing))
        try:
            return self._texts(pa.array([text], pa.string()))
        except (UnicodeEncodeError, pa.ArrowException):
            return np.frombuffer(self._long(spell_text(text)), "<u8").reshape(1, 2)

    def _rename(self, hashes: Pairs) -> Pairs:
        return np.frombuffer(self.hasher.rename(hashes.tobytes()), "<u8").reshape(-1, 2)

    def hash_nobody(self, first: int, size: int) -> Pairs:
        """Return hashes that are no id's, of the slots from ``first`` on."""
        raw = np.zeros((size, 2), "<u8")
        raw[:, 0] = np.arange(first, first + size)
        raw[:, 1] = _NOBODY << 56
        return self._encrypt(raw)

    def is_somebody(self, hashes: Pairs) -> Booleans:
        """Tell which hashes are of ids: all but those of :meth:`hash_nobody`."""
        somebody: Booleans = self._decrypt(hashes)[:, 1] != np.uint64(_NOBODY << 56)
        return somebody

    def _integers(self, values: NDArray[np.int64]) -> Pairs:
        raw = np.empty((values.size, 2), "<u8")
        raw[:, 0] = values.view(np.uint64)
        raw[:, 1] = _INTEGER << 56
        return self._encrypt(raw)

    def _texts(self, texts: Any) -> Pairs:
        numbers = pc.match_substring_regex(texts, _DIGITS).to_numpy(zero_copy_only=False)
        made = np.empty((len(texts), 2), "<u8")
        if numbers.any():
            made[numbers] = self._integers(pc.cast(texts.filter(pa.array(numbers)), pa.int64()).to_numpy(zero_copy_only=False))
        rest = texts.filter(pa.array(~numbers))
        if len(rest):
            _, offsets, letters = rest.buffers()
            ends = np.frombuffer(offsets, np.int32)[rest.offset : rest.offset + len(rest) + 1].astype(np.int64)
            lengths = np.diff(ends)
            body = np.concatenate([np.zeros(0, np.uint8) if letters is None else np.frombuffer(letters, np.uint8), np.zeros(16, np.uint8)])
            windows = np.lib.stride_tricks.sliding_window_view(body, 16)[ends[:-1]]
            raw = np.where(np.arange(16) < lengths[:, None], windows, np.uint8(0))
            raw[:, 15] = np.minimum(lengths, _LETTERS)
            hashed = self._encrypt(np.ascontiguousarray(raw).view("<u8"))
            for row in np.flatnonzero(lengths > _LETTERS).tolist():
                hashed[row] = np.frombuffer(self._long(body[ends[row] : ends[row + 1]].tobytes()), "<u8")
            made[~numbers] = hashed
        return made

    def _long(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, key=self.key, digest_size=16).digest()

    def _decrypt(self, hashes: Pairs) -> Pairs:
        made = np.empty(hashes.nbytes + 15, np.uint8)
        self.blocks.decryptor().update_into(np.ascontiguousarray(hashes).tobytes(), made)
        return made[: hashes.nbytes].view("<u8").reshape(-1, 2)

    def _encrypt(self, raw: Any) -> Pairs:
        made = np.empty(raw.nbytes + 15, np.uint8)
        self.blocks.encryptor().update_into(memoryview(raw).cast("B") if raw.size else b"", made)
        return made[: raw.nbytes].view("<u8").reshape(-1, 2)
