"""The selections that an algorithm is made of, on a sample: counts of uncovered elements are kept up to date."""

from __future__ import annotations

import heapq

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from accountant.applications.submodular.coverage import CoverageInstance, gather
from profiles.randomness.bernoulli import PoissonSampler

Indices = NDArray[np.int64]


class Uncovered:
    """The sampled elements that are not covered yet, and how many of them each set has. Private: it never leaves a run.

    ``counts`` has shape (sets,); ``left`` is the number of elements that some set could still cover.
    """

    __slots__ = ("_columns", "_items", "_open", "_rows", "_starts", "counts", "left")

    def __init__(self, system: CoverageInstance, sampled: Indices, taken: NDArray[np.bool_]) -> None:
        starts, items = _select(system.starts, system.items, sampled)
        if taken.any() and items.size:
            hit = np.zeros(items.size + 1, dtype=np.int64)
            np.cumsum(taken[items], out=hit[1:])
            starts, items = _select(starts, items, np.flatnonzero(hit[starts[1:]] == hit[starts[:-1]]))
        self._starts, self._items = starts, items
        by_row = scipy.sparse.csr_array((np.ones(items.size, dtype=np.bool_), items, starts), shape=(starts.size - 1, system.candidates))
        by_set = by_row.tocsc()
        self._columns, self._rows = by_set.indptr, by_set.indices
        self._open = np.diff(starts) > 0
        self.left = int(self._open.sum())
        self.counts = np.bincount(items, minlength=system.candidates).astype(np.int64)

    def take(self, chosen: int) -> NDArray[np.integer]:
        """Cover the elements of a set; return the sets whose counts fell, once for each element."""
        rows = self._rows[self._columns[chosen] : self._columns[chosen + 1]]
        new = rows[self._open[rows]]
        if not new.size:
            return np.zeros(0, dtype=np.int64)
        self._open[new] = False
        self.left -= int(new.size)
        fallen = self._items[gather(self._starts, new)]
        np.subtract.at(self.counts, fallen, 1)
        return fallen


def _select(starts: Indices, items: NDArray[np.int32], rows: Indices) -> tuple[Indices, NDArray[np.int32]]:
    """Return some of compressed rows as compressed rows."""
    ends = np.zeros(rows.size + 1, dtype=np.int64)
    np.cumsum(starts[rows + 1] - starts[rows], out=ends[1:])
    return ends, items[gather(starts, rows)]


def draw_noise(decay: float, size: int, sampler: PoissonSampler) -> Indices:
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


__all__ = ["Uncovered", "draw_noise", "pass_once", "pick_greedily"]
