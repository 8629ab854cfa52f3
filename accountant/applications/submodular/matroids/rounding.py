"""Swap rounding: from T independent sets to one random set with the same marginals, without a look at the data (docs/submodular.md).

Continuous greedy returns y = (1/T) Σ 1_{B^t}, so the convex combination of bases that Chekuri, Vondrák and Zenklusen 2010 (Definition D.5
of Ghazi et al. 2024) start from is there already. All probabilities are rational, and drawn exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accountant.applications.submodular.matroids.matroid import Matroid, Members


def swap_round(matroid: Matroid, bases: Sequence[Members], rng: np.random.Generator) -> Members:
    """Return a random independent set S with P[u in S] = the share of ``bases`` that have u.

    If ``matroid`` is a matroid, ``bases`` are bases and F is submodular, E F(S) ≥ F^mult(y) for y = (1/T) Σ 1_{B^t}.
    """
    merged = bases[0]
    for weight, base in enumerate(bases[1:], start=1):
        merged = _merge(matroid, merged, base, weight, rng)
    return merged


def _merge(matroid: Matroid, first: Members, second: Members, weight: int, rng: np.random.Generator) -> Members:
    """Return the merger of ``first``, of weight ``weight``, and ``second``, of weight 1."""
    while first != second:
        second_follows = int(rng.integers(weight + 1)) < weight
        first, second = exchange_once(matroid, first, second, follow_first=second_follows)
    return first


def exchange_once(matroid: Matroid, first: Members, second: Members, *, follow_first: bool) -> tuple[Members, Members]:
    """Return the pair after one exchange: one set takes over an element of the other.

    Where no exchange is found, which two bases of a matroid exclude, one set is replaced by the other; both keep the marginals.
    """
    leaving = min(first - second, default=None)
    entering = None if leaving is None else matroid.exchange(first, second, leaving)
    if leaving is None or entering is None:
        return (first, first) if follow_first else (second, second)
    if follow_first:
        return first, (second - {entering}) | {leaving}
    return (first - {leaving}) | {entering}, second
