"""Swap rounding: from T independent sets to one random set with the same marginals, without a look at the data (docs/matroids.md).

Continuous greedy returns y = (1/T) Σ 1_{B^t}, so the convex combination of bases that Chekuri, Vondrák and Zenklusen 2010 (Definition D.5
of Ghazi et al. 2024) start from is there already. All probabilities are rational, and drawn exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from accountant.applications.submodular.matroids.matroid import Matroid, Members

SetLaw = dict[Members, Fraction]


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
        first, second = _step(matroid, first, second, follow_first=second_follows)
    return first


def _step(matroid: Matroid, first: Members, second: Members, *, follow_first: bool) -> tuple[Members, Members]:
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


def rounding_law(matroid: Matroid, bases: Sequence[Members]) -> SetLaw:
    """Return the exact law of :func:`swap_round`: set → probability. The number of sets grows like 2^rank.

    >>> from accountant.applications.submodular.matroids import UniformMatroid
    >>> law = rounding_law(UniformMatroid(3, 1), [frozenset({0}), frozenset({0}), frozenset({2})])
    >>> law[frozenset({0})], law[frozenset({2})]
    (Fraction(2, 3), Fraction(1, 3))
    """
    law: SetLaw = {bases[0]: Fraction(1)}
    for weight, base in enumerate(bases[1:], start=1):
        merged: SetLaw = {}
        for members, share in law.items():
            for result, probability in merge_law(matroid, members, base, weight).items():
                merged[result] = merged.get(result, Fraction(0)) + share * probability
        law = merged
    return law


def merge_law(matroid: Matroid, first: Members, second: Members, weight: int) -> SetLaw:
    """Return the exact law of the merger of ``first``, of weight ``weight``, and ``second``, of weight 1."""
    done: SetLaw = {}
    waiting: dict[tuple[Members, Members], Fraction] = {(first, second): Fraction(1)}
    while waiting:
        following: dict[tuple[Members, Members], Fraction] = {}
        for (one, other), share in waiting.items():
            if one == other:
                done[one] = done.get(one, Fraction(0)) + share
                continue
            for follow, probability in ((True, Fraction(weight, weight + 1)), (False, Fraction(1, weight + 1))):
                pair = _step(matroid, one, other, follow_first=follow)
                following[pair] = following.get(pair, Fraction(0)) + share * probability
        waiting = following
    return done


__all__ = ["SetLaw", "merge_law", "rounding_law", "swap_round"]
