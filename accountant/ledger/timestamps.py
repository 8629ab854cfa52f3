"""Replies of a time-stamping authority (RFC 3161) about a file: that a digest of it existed at a time, by somebody who is not the office.

A reply is DER: TimeStampResp { status, ContentInfo { SignedData { TSTInfo, certificates, SignerInfo } } }. What is needed of it is read
here, strictly; keys and certificates are those of the package cryptography (extra ``signatures``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from profiles import MissingExtra, UnreadableFile
from profiles.errors import LedgerRejected

_SEQUENCE, _SET, _INTEGER, _OCTETS, _OID, _TIME, _FIRST = 0x30, 0x31, 0x02, 0x04, 0x06, 0x18, 0xA0
_SIGNED_DATA, _TST_INFO = bytes.fromhex("2a864886f70d010702"), bytes.fromhex("2a864886f70d0109100104")
_CONTENT_TYPE, _MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010903"), bytes.fromhex("2a864886f70d010904")
_DIGESTS = {
    bytes.fromhex("608648016503040201"): "sha256",
    bytes.fromhex("608648016503040202"): "sha384",
    bytes.fromhex("608648016503040203"): "sha512",
}
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class _Part:
    """One element: its tag, its content, and all of its bytes."""

    tag: int
    content: bytes = field(repr=False)
    whole: bytes = field(repr=False)

    def __iter__(self) -> Iterator[_Part]:
        at = 0
        while at < len(self.content):
            part = _read(self.content[at:])
            at += len(part.whole)
            yield part

    def take(self, *tags: int) -> list[_Part]:
        """Return the first parts, which have these tags."""
        parts = list(self)[: len(tags)]
        if [part.tag for part in parts] != list(tags):
            raise ValueError(self.tag)
        return parts

    @property
    def only(self) -> _Part:
        (part,) = self
        return part


def _read(data: bytes) -> _Part:
    tag, size, start = data[0], data[1], 2
    if tag & 0x1F == 0x1F:
        raise ValueError(tag)
    if size & 0x80:
        count = size & 0x7F
        if not 1 <= count <= 4 or not data[2]:
            raise ValueError(size)
        size, start = int.from_bytes(data[2 : 2 + count], "big"), 2 + count
        if size < 0x80:
            raise ValueError(size)
    if start + size > len(data):
        raise ValueError(size)
    return _Part(tag, data[start : start + size], data[: start + size])


@dataclass(frozen=True, slots=True)
class TimestampReply:
    """What a reply says: the ``time`` at which the authority saw a digest (``algorithm``, ``digest``). Made by :func:`read_reply`."""

    time: datetime
    algorithm: str
    digest: bytes
    _said: bytes = field(repr=False)
    _certificates: tuple[bytes, ...] = field(repr=False)
    _signer: _Part = field(repr=False)

    def require_file(self, data: bytes) -> None:
        """Refuse a file of another digest. Raises :class:`LedgerRejected`."""
        if hashlib.new(self.algorithm, data).digest() != self.digest:
            raise LedgerRejected("the timestamp is of another file: the digest in it is not that of this one")

    def require_signed(self, authority: bytes) -> str:
        """Refuse a reply that was not signed by the certificate ``authority`` (PEM), or by one that it issued for time stamps; return the
        name of the signer.

        Revocation is not looked up. Raises :class:`LedgerRejected`, :class:`UnreadableFile` for what is no certificate,
        :class:`MissingExtra`.
        """
        x509, crypto = _load()
        try:
            trusted = x509.load_pem_x509_certificate(authority)
        except ValueError:
            raise UnreadableFile("a certificate (PEM) of a time-stamping authority was expected, but something else was found") from None
        try:
            parts = list(self._signer)
            issuer, serial = parts[1].take(_SEQUENCE, _INTEGER)
            known = [trusted, *(x509.load_der_x509_certificate(item) for item in self._certificates)]
            number = int.from_bytes(serial.content, "big", signed=True)
            signer = next(item for item in known if item.serial_number == number and item.issuer.public_bytes() == issuer.whole)
            if signer != trusted:
                signer.verify_directly_issued_by(trusted)
            usage = signer.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
            if list(usage) != [x509.oid.ExtendedKeyUsageOID.TIME_STAMPING]:
                raise ValueError("usage")
            if not signer.not_valid_before_utc <= self.time <= signer.not_valid_after_utc:
                raise ValueError("validity")
            self._verify(parts, signer.public_key(), crypto)
        except (ValueError, TypeError, IndexError, StopIteration, KeyError, *crypto.refusals):
            raise LedgerRejected(
                "the timestamp was not signed by this authority, or by a certificate that it issued for time stamps and that was valid then"
            ) from None
        return str(signer.subject.rfc4514_string())

    def _verify(self, parts: list[_Part], key: Any, crypto: Any) -> None:
        """Raise where the signature of the signer is not one of what is said."""
        algorithm, attributes, signature = _DIGESTS[parts[2].take(_OID)[0].content], parts[3], parts[5]
        if attributes.tag != _FIRST or signature.tag != _OCTETS:
            raise ValueError("signer")
        said = {name.content: values.only for item in attributes for name, values in (item.take(_OID, _SET),)}
        if len(said) < len(list(attributes)):
            raise ValueError("attributes")
        if said[_CONTENT_TYPE].content != _TST_INFO or said[_MESSAGE_DIGEST].content != hashlib.new(algorithm, self._said).digest():
            raise ValueError("content")
        signed, hashed = bytes([_SET]) + attributes.whole[1:], getattr(crypto.hashes, algorithm.upper())()
        if isinstance(key, crypto.rsa.RSAPublicKey):
            key.verify(signature.content, signed, crypto.padding.PKCS1v15(), hashed)
        elif isinstance(key, crypto.ec.EllipticCurvePublicKey):
            key.verify(signature.content, signed, crypto.ec.ECDSA(hashed))
        else:
            raise TypeError("key")


def read_reply(data: bytes) -> TimestampReply:
    """Return what a reply of a time-stamping authority says. Its signature is not checked here.

    Raises :class:`UnreadableFile` for what is no reply, or one that refuses.
    """
    try:
        if len(data) > _LARGEST:
            raise ValueError(len(data))
        whole = _read(data)
        status, content = whole.take(_SEQUENCE, _SEQUENCE)
        granted = status.take(_INTEGER)[0].content in (b"\0", b"\1") and whole.tag == _SEQUENCE and whole.whole == data
        name, signed = content.take(_OID, _FIRST)
        parts = list(signed.only)
        _, _, inside = signed.only.take(_INTEGER, _SET, _SEQUENCE)
        kind, octets = inside.take(_OID, _FIRST)
        said = octets.only
        if not granted or (name.content, kind.content, said.tag) != (_SIGNED_DATA, _TST_INFO, _OCTETS):
            raise ValueError(name.tag)
        certificates = tuple(item.whole for part in parts[3:] if part.tag == _FIRST for item in part)
        signer = next(part for part in parts[3:] if part.tag == _SET).only
        _, _, imprint, _, time = _read(said.content).take(_INTEGER, _OID, _SEQUENCE, _INTEGER, _TIME)
        algorithm, digest = imprint.take(_SEQUENCE, _OCTETS)
        told = time.content.decode("ascii")
        when = datetime.strptime(told[:14] + told[-1], "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
        known = _DIGESTS[algorithm.take(_OID)[0].content]
        return TimestampReply(when, known, digest.content, said.content, certificates, signer)
    except (ValueError, IndexError, StopIteration, KeyError, RecursionError):
        raise UnreadableFile(
            "a reply of a time-stamping authority (RFC 3161, with SHA-2) that grants a timestamp was expected, but something else was found"
        ) from None


def _load() -> tuple[Any, Any]:
    """Return certificates, and keys with what verifies them."""
    try:
        from types import SimpleNamespace  # noqa: PLC0415 - with an extra

        from cryptography import x509  # noqa: PLC0415 - an extra
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra(
            "cryptography is needed to check the signature of a timestamp, but it is not installed; install pdp-accountant[signatures]"
        ) from error
    refusals = (InvalidSignature, UnsupportedAlgorithm, x509.InvalidVersion, x509.ExtensionNotFound, x509.DuplicateExtension)
    return x509, SimpleNamespace(refusals=refusals, hashes=hashes, ec=ec, padding=padding, rsa=rsa)
