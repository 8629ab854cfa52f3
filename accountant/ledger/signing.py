"""Signatures of what a ledger says to everybody: Ed25519, by the package cryptography (extra ``signatures``)."""

from __future__ import annotations

import re
from typing import Any

from accountant.ledger.units import Hasher
from profiles import MissingExtra, UnreadableFile

_WIDTH = 32


def public_key(hasher: Hasher) -> str:
    """Return the public key of a ledger, in hexadecimal digits: of the private key that follows from its secret, and tells nothing of it.

    Raises :class:`MissingExtra`.
    """
    found: str = _private(hasher).public_key().public_bytes_raw().hex()
    return found


def sign(hasher: Hasher, text: str) -> str:
    """Return the signature of a text, in hexadecimal digits. Raises :class:`MissingExtra`."""
    found: str = _private(hasher).sign(text.encode()).hex()
    return found


def is_signed(key: str, signature: str, text: str) -> bool:
    """Tell whether a text has a signature of the public ``key``. Raises :class:`UnreadableFile` for what is no key or no signature."""
    exceptions, ed25519 = _load()
    for what, value, size in (("public key", key, _WIDTH), ("signature", signature, 2 * _WIDTH)):
        if not re.fullmatch(r"[0-9a-f]*", value) or len(value) != 2 * size:
            raise UnreadableFile(f"a {what} of {size} bytes was expected, but something else was found; get the file anew")
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), text.encode())
    except (exceptions.InvalidSignature, ValueError):
        return False
    return True


def _private(hasher: Hasher) -> Any:
    return _load()[1].Ed25519PrivateKey.from_private_bytes(hasher.seal(b"signing key"))


def _load() -> tuple[Any, Any]:
    try:
        from cryptography import exceptions  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(
            "cryptography is needed to sign and to check signatures, but it is not installed; install pdp-accountant[signatures]"
        ) from error
    return exceptions, ed25519
