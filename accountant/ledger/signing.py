"""Signatures of the log for everybody: Ed25519, made by the package cryptography (extra ``signatures``), and checked without it."""

from __future__ import annotations

import re
from typing import Any

from accountant.ledger.ed25519 import verify
from accountant.ledger.units import Hasher
from profiles import MissingExtra, UnreadableFile

_WIDTH = 32


def public_key(hasher: Hasher) -> str:
    """Return the public key of a ledger, in hexadecimal digits: of the private key that follows from its secret; it reveals nothing about
    the secret.

    Raises :class:`MissingExtra`.
    """
    key: str = _private(hasher).public_key().public_bytes_raw().hex()
    return key


def sign(hasher: Hasher, text: str) -> str:
    """Return the signature of a text, in hexadecimal digits. Raises :class:`MissingExtra`."""
    signature: str = _private(hasher).sign(text.encode()).hex()
    return signature


def is_signed(key: str, signature: str, text: str) -> bool:
    """Tell whether a text has a signature of the public ``key``. Raises :class:`UnreadableFile` for what is no key or no signature."""
    for what, value, size in (("public key", key, _WIDTH), ("signature", signature, 2 * _WIDTH)):
        if not re.fullmatch(r"[0-9a-f]*", value) or len(value) != 2 * size:
            raise UnreadableFile(f"a {what} of {size} bytes was expected, but something else was found; get the file anew")
    return verify(bytes.fromhex(key), bytes.fromhex(signature), text.encode())


def _private(hasher: Hasher) -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(
            "cryptography is needed to sign the log of a ledger, but it is not installed; install pdp-accountant[signatures]"
        ) from error
    return ed25519.Ed25519PrivateKey.from_private_bytes(hasher.seal(b"signing key"))
