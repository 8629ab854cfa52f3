"""A Merkle tree over places 0, 1, ..., 2^32 − 1, few of which have a leaf: a path from a leaf to the root tells nothing of other leaves.

A subtree without a leaf has a hash that nobody tells from a random one (``fill``), and every path has 32 steps: neither how many leaves
there are nor whether a place beside one's own is taken can be read from a path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

DEPTH = 32
#: The hash of the subtree of a height over a place, in which there is no leaf.
Fill = Callable[[int, int], bytes]


def build(
    places: Sequence[int], leaves: Iterable[bytes], fill: Fill, wanted: Collection[int] = ()
) -> tuple[bytes, dict[int, tuple[bytes, ...]]]:
    """Return the root over ``leaves``, hashes at ``places`` that rise, and the path of each of the ``wanted`` ones among them: the hashes
    beside it, from below. Leaves are taken one by one, and none is kept.
    """
    paths: dict[int, list[bytes]] = {place: [] for place in wanted}
    waiting: list[tuple[int, bytes]] = []  # left halves of what comes next, by height, the lowest last
    followers = chain(places[1:], (None,) * bool(places))
    hashed, height = b"", 0
    for place, leaf, following in zip(places, leaves, followers, strict=True):
        hashed, height = leaf, 0
        meets = DEPTH if following is None else (place ^ following).bit_length() - 1
        while height < meets:
            own = place >> height
            beside = waiting.pop()[1] if waiting and waiting[-1][0] == height else fill(height, own ^ 1)
            for other in paths or ():
                if other >> height in (own, own ^ 1):
                    paths[other].append(beside if other >> height == own else hashed)
            hashed = _join(beside, hashed) if own & 1 else _join(hashed, beside)
            height += 1
        waiting.append((height, hashed))
    root = waiting[-1][1] if waiting else fill(DEPTH, 0)
    return root, {place: tuple(path) for place, path in paths.items()}


def find_places(drawn: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return a place for each of some leaves: the one that was drawn for it, or where an earlier leaf has that, the next that is free.

    >>> find_places(np.array([7, 5, 5, 9, 5], np.uint32)).tolist()
    [7, 5, 6, 9, 8]
    """
    order = np.argsort(drawn, kind="stable")
    rising = drawn[order]
    places = drawn.copy()
    done = 0
    for again in (np.flatnonzero(rising[1:] == rising[:-1]) + 1).tolist():
        if again < done:
            continue
        first = done = again - 1
        end = int(rising[first])
        while done < rising.size and rising[done] <= end:  # whatever was drawn among the places that these take, moves with them
            done, end = done + 1, end + 1
        _settle(places, sorted(order[first:done].tolist()))
        if end > 1 << DEPTH:  # the next place after the last is the first
            places = drawn.copy()
            _settle(places, range(drawn.size))
            break
    return places


def _settle(places: NDArray[np.uint32], leaves: Iterable[int]) -> None:
    """Give each of some leaves the place that it has, or the next that none of them took before."""
    taken: set[int] = set()
    for leaf in leaves:
        place = int(places[leaf])
        while place in taken:
            place = (place + 1) % (1 << DEPTH)
        taken.add(place)
        places[leaf] = place


def climb(leaf: bytes, place: int, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf at a place has with a path.

    >>> leaf = hash_leaf(b"b")
    >>> root, paths = build([5, 9], [hash_leaf(b"a"), leaf], lambda height, place: bytes(32), [9])
    >>> climb(leaf, 9, paths[9]) == root != climb(leaf, 8, paths[9])
    True
    """
    hashed = leaf
    for height, beside in enumerate(path):
        hashed = _join(beside, hashed) if place >> height & 1 else _join(hashed, beside)
    return hashed


def hash_leaf(*parts: bytes) -> bytes:
    """Return the hash of a leaf, of parts each after its length; never that of a node above."""
    return hashlib.sha256(b"\0" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


def _join(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
