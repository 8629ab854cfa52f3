"""The selections that an algorithm is made of, on a sample: counts of uncovered elements are kept up to date."""

from __future__ import annotations

import heapq
import math

import numpy as np
import scipy.sparse

from accountant.applications.setcover.system import Indices, SetSystem, gather
from accountant.sampler.bernoulli import PoissonSampler


class Uncovered:
    """The sampled elements that are not covered yet, and how many of them each set has. Private: it never leaves a run.

    ``counts`` has shape (sets,); ``left`` is the number of elements that some set could still cover.
    """

    __slots__ = ("_columns", "_items", "_offsets", "_open", "_rows", "counts", "left")

    def __init__(self, system: SetSystem, sampled: Indices, taken: np.typing.NDArray[np.bool_]) -> None:
        offsets, items = gather(system.offsets, system.items, sampled)
        if taken.any() and items.size:
            hit = np.zeros(items.size + 1, dtype=np.int64)
            np.cumsum(taken[items], out=hit[1:])
            kept = np.flatnonzero(hit[offsets[1:]] == hit[offsets[:-1]])
            offsets, items = gather(offsets, items, kept)
        self._offsets, self._items = offsets, items
        by_row = scipy.sparse.csr_array((np.ones(items.size, dtype=np.bool_), items, offsets), shape=(offsets.size - 1, system.sets))
        by_set = by_row.tocsc()
        self._columns, self._rows = by_set.indptr, by_set.indices
        self._open = np.diff(offsets) > 0
        self.left = int(self._open.sum())
        self.counts = np.bincount(items, minlength=system.sets).astype(np.int64)

    def take(self, chosen: int) -> Indices:
        """Cover the elements of a set; return the sets whose counts fell, once for each element."""
        rows = self._rows[self._columns[chosen] : self._columns[chosen + 1]]
        new = rows[self._open[rows]]
        if not new.size:
            return np.zeros(0, dtype=np.int64)
        self._open[new] = False
        self.left -= int(new.size)
        _, fallen = gather(self._offsets, self._items, new)
        np.subtract.at(self.counts, fallen, 1)
        return fallen


def draw_geometric(decay: float, size: int, sampler: PoissonSampler) -> Indices:
    """Return ``size`` independent integers G ≥ 0 with P[G ≥ j] = decay^j exactly, by exact coins. ``decay`` is a float in (0, 1)."""
    found = np.zeros(size, dtype=np.int64)
    alive = np.arange(size, dtype=np.int64)
    while alive.size:
        alive = alive[sampler.select(np.full(alive.size, decay))]
        found[alive] += 1
    return found


def pass_once(state: Uncovered, remaining: Indices, noise: Indices, threshold: int) -> list[int]:
    """Go through the sets once, in the order given: take each whose count and noise reach the threshold. Return those taken, in order.

    Counts only fall, so that a set which starts below the threshold needs no second look.
    """
    taken: list[int] = []
    for position in np.flatnonzero(state.counts[remaining] + noise >= threshold).tolist():
        chosen = int(remaining[position])
        if int(state.counts[chosen]) + int(noise[position]) >= threshold:
            taken.append(chosen)
            state.take(chosen)
    return taken


def pick_greedily(state: Uncovered, remaining: Indices, noise: Indices, floor: int = 0) -> list[int]:
    """Take the set with the largest count plus noise, again and again, while that is at least ``floor``; return those taken, in order.

    ``noise`` has shape (len(remaining),) and is drawn once: it stays with its set. Ties go to the set that comes first in ``remaining``.
    Lazy: a key on the heap is never below the true one, because counts only fall; so a key on top that is up to date is the largest.
    """
    taken: list[int] = []
    offered, noises, counts = remaining.tolist(), noise.tolist(), state.counts
    heap = [(-key, position) for position, key in enumerate((counts[remaining] + noise).tolist())]
    heapq.heapify(heap)
    while heap and state.left:
        key, position = heap[0]
        chosen = offered[position]
        current = -(int(counts[chosen]) + noises[position])
        if current != key:
            heapq.heapreplace(heap, (current, position))
            continue
        if -key < floor:
            return taken
        heapq.heappop(heap)
        taken.append(chosen)
        state.take(chosen)
    # nothing is left to cover: all counts are zero and the keys stay what they are
    rest = np.array(sorted(position for _, position in heap), dtype=np.int64)
    rest = rest[noise[rest] >= floor]
    taken += remaining[rest[np.argsort(-noise[rest], kind="stable")]].tolist()
    return taken


def pick_exponentially(state: Uncovered, remaining: Indices, rate: float, rng: np.random.Generator) -> list[int]:
    """Repeat the exponential mechanism, P[set] ∝ exp(rate · count), without replacement until every set is taken; return them in order.

    One bucket for each count: a bucket is drawn with the weight (its size)·exp(rate·count), then one of its sets evenly. A set that
    has left its bucket is found when it is drawn, and dropped. In binary64: weights below e^−745 of the largest count as zero.
    """
    counts, taken = state.counts, []
    gone = np.ones(counts.size, dtype=np.bool_)
    gone[remaining] = False
    top = int(counts[remaining].max(initial=0))
    buckets: list[list[int]] = [[] for _ in range(top + 1)]
    for chosen in remaining.tolist():
        buckets[int(counts[chosen])].append(chosen)
    sizes = np.array([len(bucket) for bucket in buckets], dtype=np.int64)
    width = math.ceil(745.0 / rate)
    while state.left:
        while top and not sizes[top]:
            top -= 1
        low = max(0, top - width)
        weights = np.cumsum(sizes[low : top + 1] * np.exp(rate * np.arange(low - top, 1)))
        height = low + int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
        chosen = _draw_member(buckets[min(height, top)], min(height, top), counts, gone, rng)
        taken.append(chosen)
        gone[chosen] = True
        sizes[counts[chosen]] -= 1
        fallen = state.take(chosen)
        changed, drops = np.unique(fallen, return_counts=True)
        drops, changed = drops[~gone[changed]], changed[~gone[changed]]
        now = counts[changed]
        np.subtract.at(sizes, now + drops, 1)
        np.add.at(sizes, now, 1)
        for item, height in zip(changed.tolist(), now.tolist(), strict=True):
            buckets[height].append(item)
    rest = remaining[~gone[remaining]]  # all counts are zero: an even order
    return [*taken, *rng.permutation(rest).tolist()]


def _draw_member(bucket: list[int], height: int, counts: Indices, gone: np.typing.NDArray[np.bool_], rng: np.random.Generator) -> int:
    while True:
        place = int(rng.integers(len(bucket)))
        chosen = bucket[place]
        bucket[place] = bucket[-1]
        bucket.pop()
        if not gone[chosen] and counts[chosen] == height:
            return chosen


__all__ = ["Uncovered", "draw_geometric", "pass_once", "pick_exponentially", "pick_greedily"]
