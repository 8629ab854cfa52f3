"""Signatures that are verified without a library: those of RFC 8032, those that OpenSSL makes, and all that a forger may try."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from accountant.ledger.ed25519 import verify

ORDER = 2**252 + 27742317777372353535851937790883648493
FIELD = 2**255 - 19
#: RFC 8032, section 7.1: public keys, messages, signatures.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]
#: Encodings of points of small order: 0, ±1 and the four of order 8.
SMALL = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


@pytest.mark.parametrize("vector", VECTORS)
def test_the_signatures_of_the_standard_are_right_and_none_with_another_bit(vector):
    key, message, signature = map(bytes.fromhex, vector)
    assert verify(key, signature, message)
    assert not verify(key, signature, message + b"\0")
    for place in range(0, 512, 17):
        changed = bytearray(signature)
        changed[place // 8] ^= 1 << place % 8
        assert not verify(key, bytes(changed), message)
    for place in range(0, 256, 17):
        changed = bytearray(key)
        changed[place // 8] ^= 1 << place % 8
        assert not verify(bytes(changed), signature, message)


def test_another_spelling_of_the_number_or_of_the_key_is_no_signature():
    key, message, signature = map(bytes.fromhex, VECTORS[1])
    number = int.from_bytes(signature[32:], "little")
    assert not verify(key, signature[:32] + (number + ORDER).to_bytes(32, "little"), message)
    for y in (1, 3, 4):  # these have a point, and their second spelling, y + p, has none
        assert not verify((FIELD + y).to_bytes(32, "little"), signature, message)
    for size in (0, 31, 33):
        assert not verify(key[:size].ljust(size, b"\0"), signature, message)
        assert not verify(key, signature[:size], message)
        assert not verify(key, signature + b"\0", message)


@pytest.mark.parametrize("key", SMALL)
def test_a_key_of_small_order_by_which_anybody_signs_has_no_signature(key):
    """R = 0 and S = 0 are accepted by the equation alone for the neutral key, and for the others for some messages."""
    for text in range(16):
        for first in SMALL:
            assert not verify(bytes.fromhex(key), bytes.fromhex(first) + bytes(32), bytes([text]))


def test_signatures_of_openssl_are_right_and_forgeries_are_judged_alike():
    made = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    exceptions = pytest.importorskip("cryptography.exceptions")
    rng = random.Random(8)
    for number in range(40):
        private, message = made.Ed25519PrivateKey.from_private_bytes(rng.randbytes(32)), rng.randbytes(rng.randrange(100))
        public, signature = private.public_key(), private.sign(message)
        assert verify(public.public_bytes_raw(), signature, message)
        changed = bytearray(signature if number % 2 else rng.randbytes(64))
        changed[rng.randrange(64)] ^= 1 << rng.randrange(8)
        try:
            public.verify(bytes(changed), message)
            expected = True
        except exceptions.InvalidSignature:
            expected = False
        assert verify(public.public_bytes_raw(), bytes(changed), message) == expected


def test_it_needs_the_standard_library_alone():
    program = "import sys; from accountant.ledger.ed25519 import verify; print(any('cryptography' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.split() == [b"False"]
