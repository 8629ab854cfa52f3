"""NOT private: the value of a selection, the greedy algorithm without noise, the cost of an order of sets. For studies and public data."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.interface import DecomposableFunction, check_count
from profiles import InvalidArgument


def selection_value(function: DecomposableFunction, selected: Sequence[int]) -> Fraction:
    """Return F(S) − F(∅) of the selected candidates. It depends on the users and no guarantee covers it."""
    chosen = [check_count(candidate, "a candidate", 0) for candidate in selected]
    if len(set(chosen)) != len(chosen) or any(candidate >= function.candidates for candidate in chosen):
        raise InvalidArgument(f"a selection names candidates from 0 to {function.candidates - 1}, each once; correct it")
    tracker, total = function.track(), Fraction(0)
    for candidate in chosen:
        total += Fraction(tracker.gains[candidate].item())
        tracker.add(candidate)
    return total / function.resolution


def lazy_greedy(function: DecomposableFunction, k: int) -> tuple[int, ...]:
    """Return k candidates, each of the largest gain (the smallest number of equal ones): a (1 − 1/e)-approximation. Not private.

    Lazy evaluation (Minoux 1978): the gain of a candidate is looked at again only when it comes to the top; submodularity is needed.
    """
    if check_count(k, "k", 0) > function.candidates:
        raise InvalidArgument(f"{k} candidates were asked for, but there are {function.candidates}; lower k")
    tracker = function.track()
    heap = [(-gain, candidate) for candidate, gain in enumerate(tracker.gains.tolist())]
    heapq.heapify(heap)
    selected: list[int] = []
    while len(selected) < k:
        bound, candidate = heap[0]
        gain = tracker.gains[candidate].item()
        if gain < -bound:
            heapq.heapreplace(heap, (-gain, candidate))
            continue
        heapq.heappop(heap)
        tracker.add(candidate)
        selected.append(candidate)
    return tuple(selected)


def set_cover_cost(instance: CoverageInstance, order: Sequence[int]) -> int:
    """Return how many sets are used when every user takes its first candidate in ``order``, which must name every candidate. Not private.

    Source: Ghazi et al. 2024, Section 1 (open set cover, after Gupta et al. 2010). Users without candidates take none.
    """
    if sorted(order) != list(range(instance.candidates)):
        raise InvalidArgument(f"an order of all {instance.candidates} candidates is needed; run the private greedy with k = m")
    rank = np.empty(instance.candidates, dtype=np.int64)
    rank[np.asarray(order, dtype=np.int64)] = np.arange(instance.candidates)
    filled = np.diff(instance.starts) > 0
    first = np.minimum.reduceat(rank[instance.items], instance.starts[:-1][filled]) if filled.any() else np.empty(0, dtype=np.int64)
    return len(np.unique(first))
