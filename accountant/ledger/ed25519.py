"""Ed25519 (RFC 8032): whether a signature is one of a public key, in integers of the standard library.

It verifies and signs nothing: all that it sees is public, so that how long it takes tells nothing.
"""

from __future__ import annotations

import hashlib

_FIELD = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ROOT = pow(2, (_FIELD - 1) // 4, _FIELD)
_WIDTH = 32
#: A point x/z, y/z with xy/z as its fourth coordinate.
_Point = tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def verify(key: bytes, signature: bytes, message: bytes) -> bool:
    """Tell whether the ``signature`` of 64 bytes is one of the ``message`` by the public ``key`` of 32 bytes.

    A key or a number in other than its one spelling, and a key of small order, by which anybody signs, have no signatures.

    >>> key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")  # RFC 8032, 7.1, test 1
    >>> half = bytes.fromhex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b")
    >>> signature = half + bytes.fromhex("d25bf5f0595bbe24655141438e7a100b")
    >>> verify(key, signature, b""), verify(key, signature, b"another message")
    (True, False)
    """
    signer = _read_point(key) if len(key) == _WIDTH and len(signature) == 2 * _WIDTH else None
    number = int.from_bytes(signature[_WIDTH:], "little")
    if signer is None or number >= _ORDER or _write_point(_multiply(8, signer)) == _write_point(_NEUTRAL):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:_WIDTH] + key + message).digest(), "little") % _ORDER
    x, y, z, xy = signer
    return _write_point(_add(_multiply(number, _BASE), _multiply(challenge, (-x, y, z, -xy)))) == signature[:_WIDTH]


def _read_point(text: bytes) -> _Point | None:
    """Return the point with this y and this lowest bit of x; None where there is none."""
    told = int.from_bytes(text, "little")
    y, odd = told & ((1 << 255) - 1), told >> 255
    if y >= _FIELD:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _FIELD) % _FIELD
    x = pow(square, (_FIELD + 3) // 8, _FIELD)
    if (x * x - square) % _FIELD:
        x = x * _ROOT % _FIELD
    if (x * x - square) % _FIELD or (x == 0 and odd):
        return None
    x = _FIELD - x if x & 1 != odd else x
    return x, y, 1, x * y % _FIELD


def _write_point(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, _FIELD)
    return ((y * inverse % _FIELD) | ((x * inverse % _FIELD & 1) << 255)).to_bytes(_WIDTH, "little")


def _add(left: _Point, right: _Point) -> _Point:
    """Return the sum of two points: RFC 8032, 5.1.4, which holds for all pairs of points."""
    a, b = (left[1] - left[0]) * (right[1] - right[0]) % _FIELD, (left[1] + left[0]) * (right[1] + right[0]) % _FIELD
    c, d = 2 * left[3] * right[3] * _D % _FIELD, 2 * left[2] * right[2] % _FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _FIELD, g * h % _FIELD, f * g % _FIELD, e * h % _FIELD


def _multiply(number: int, point: _Point) -> _Point:
    made = _NEUTRAL
    while number:
        if number & 1:
            made = _add(made, point)
        point, number = _add(point, point), number >> 1
    return made


_BASE = _read_point((4 * pow(5, -1, _FIELD) % _FIELD).to_bytes(_WIDTH, "little")) or _NEUTRAL
