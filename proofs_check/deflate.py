"""DEFLATE (RFC 1951) with fixed codes: the same bytes on every machine, which zlib does not promise between its versions.

It serves only to write archives that have one hash; what reads them is zlib, and a text that came back changed would have another hash.
"""

from __future__ import annotations

_NEAREST, _LONGEST, _FARTHEST = 4, 258, 32_768


def _steps(start: int, extra: list[int]) -> list[tuple[int, int]]:
    # (first value, extra bits) of the codes of lengths or of distances
    found = list[tuple[int, int]]()
    for bits in extra:
        found.append((start, bits))
        start += 1 << bits
    return found


_LENGTHS = [*_steps(3, [0] * 8 + [k for k in range(1, 6) for _ in range(4)]), (_LONGEST, 0)]
_DISTANCES = _steps(1, [0, 0] + [k for k in range(14) for _ in range(2)])


class _Bits:
    """A stream of bits, the lowest one first."""

    def __init__(self) -> None:
        self.done, self.left, self.count = bytearray(), 0, 0

    def put(self, value: int, bits: int) -> None:
        self.left |= value << self.count
        self.count += bits
        while self.count >= 8:
            self.done.append(self.left & 255)
            self.left >>= 8
            self.count -= 8

    def put_code(self, code: int, bits: int) -> None:
        self.put(int(f"{code:0{bits}b}"[::-1], 2), bits)  # codes begin with their highest bit

    def put_symbol(self, symbol: int) -> None:
        ranges = ((144, 8, 48, 0), (256, 9, 400, 144), (280, 7, 0, 256), (288, 8, 192, 280))
        bits, first, start = next((bits, first, start) for end, bits, first, start in ranges if symbol < end)
        self.put_code(first + symbol - start, bits)

    def put_copy(self, length: int, distance: int) -> None:
        code = max(i for i, (first, _) in enumerate(_LENGTHS) if first <= length)
        self.put_symbol(257 + code)
        self.put(length - _LENGTHS[code][0], _LENGTHS[code][1])
        code = max(i for i, (first, _) in enumerate(_DISTANCES) if first <= distance)
        self.put_code(code, 5)
        self.put(distance - _DISTANCES[code][0], _DISTANCES[code][1])


def deflate(data: bytes) -> bytes:
    """Return the data compressed, each time to the same bytes: the longest copy of the last few that begin alike, else a letter.

    >>> import zlib
    >>> zlib.decompress(deflate(b"abcabcabcabc" * 90), wbits=-15) == b"abcabcabcabc" * 90
    True
    """
    out, seen, at = _Bits(), dict[bytes, list[int]](), 0
    out.put(1, 1)  # the last block
    out.put(1, 2)  # with fixed codes
    while at < len(data):
        best, where = 0, 0
        for before in reversed(seen.get(data[at : at + 4], [])):
            if at - before <= _FARTHEST and best < (length := _match(data, before, at)):
                best, where = length, before
        if best >= 4:
            out.put_copy(best, at - where)
        else:
            out.put_symbol(data[at])
        for k in range(at, at + max(best, 1)):
            places = seen.setdefault(data[k : k + 4], [])
            places.append(k)
            del places[:-_NEAREST]
        at += max(best, 1)
    out.put_symbol(256)
    out.put(0, 7)
    return bytes(out.done)


def _match(data: bytes, before: int, at: int) -> int:
    low, high = 0, min(_LONGEST, len(data) - at)
    while low < high:  # as far as the two agree
        middle = (low + high + 1) // 2
        low, high = (middle, high) if data[before : before + middle] == data[at : at + middle] else (low, middle - 1)
    return low
