"""A Merkle tree over places 0, 1, ..., 2^32 − 1, few of which have a leaf: a path from a leaf to the root tells nothing of other leaves.

A subtree without a leaf has a hash that nobody tells from a random one (``fill``), and every path has 32 steps: neither how many leaves
there are nor whether a place beside one's own is taken can be read from a path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence

DEPTH = 32
#: The hash of the subtree of a height over a place, in which there is no leaf.
Fill = Callable[[int, int], bytes]


def build(leaves: Mapping[int, bytes], fill: Fill, wanted: Collection[int] = ()) -> tuple[bytes, dict[int, tuple[bytes, ...]]]:
    """Return the root over ``leaves``, hashes by place, and the path of each of the ``wanted`` places: the hashes beside it, from below."""
    paths: dict[int, list[bytes]] = {place: [] for place in wanted}
    row = dict(leaves)
    for height in range(DEPTH):
        for place, path in paths.items():
            other = (place >> height) ^ 1
            path.append(row[other] if other in row else fill(height, other))
        above: dict[int, bytes] = {}
        for place, hashed in row.items():
            if place >> 1 in above:
                continue
            beside = row.get(place ^ 1) or fill(height, place ^ 1)
            above[place >> 1] = _join(beside, hashed) if place & 1 else _join(hashed, beside)
        row = above
    root = row.get(0) or fill(DEPTH, 0)
    return root, {place: tuple(path) for place, path in paths.items()}


def climb(leaf: bytes, place: int, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf at a place has with a path.

    >>> leaves = {5: hash_leaf(b"a"), 9: hash_leaf(b"b")}
    >>> root, paths = build(leaves, lambda height, place: bytes(32), leaves)
    >>> climb(leaves[9], 9, paths[9]) == root != climb(leaves[9], 8, paths[9])
    True
    """
    found = leaf
    for height, beside in enumerate(path):
        found = _join(beside, found) if place >> height & 1 else _join(found, beside)
    return found


def hash_leaf(*parts: bytes) -> bytes:
    """Return the hash of a leaf, of parts each after its length; never that of a node above."""
    return hashlib.sha256(b"\0" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


def _join(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
