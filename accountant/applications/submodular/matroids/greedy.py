"""Continuous greedy with exponential mechanisms (Ghazi et al. 2024, Algorithm 5), with the step 1/T in place of η."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from accountant.applications.submodular.matroids.matroid import Integers, Matroid, Members
from accountant.applications.submodular.matroids.objective import Scores
from profiles.randomness import BitSource, ExponentialChoice

#: (scores, rate) → index i with probability proportional to exp(rate·scores[i])
Choose = Callable[[Integers, Fraction], int]


def draw_bins(rng: np.random.Generator, draws: int, size: int, rounds: int) -> Integers:
    """Return s independent draws of ⌊T z⌋ for z uniform on [0, 1)^m, shape (s, m): all that the steps of 1/T see of z."""
    return rng.integers(rounds, size=(draws, size), dtype=np.min_scalar_type(rounds))


def run_continuous_greedy(matroid: Matroid, scores: Scores, rounds: int, epsilon0: Fraction, choose: Choose) -> tuple[Members, ...]:
    """Return the T independent sets B^1, ..., B^T; y = (1/T) Σ 1_{B^t} lies in the matroid polytope, as a mean of its points.

    Each element is chosen among those that keep the set independent, with probability proportional to exp(ε₀·q(u; D)). If a user
    adds numbers ≥ 0 to every q and at most 1 in all along every run, the law is ε₀-add-DP (Theorem 4.3 with Δ = 1).
    """
    rate = epsilon0 / scores.unit
    bases = []
    for _ in range(rounds):
        growth, chosen = matroid.start(), set[int]()
        for _ in range(matroid.rank):
            candidates = growth.candidates()
            if not candidates.size:
                break
            element = int(candidates[choose(scores.gains(candidates), rate)])
            scores.advance(element)
            growth.add(element)
            chosen.add(element)
        bases.append(frozenset(chosen))
    return tuple(bases)


def open_choose(digits: BitSource) -> Choose:
    """Return the exponential mechanism, drawn exactly from uniform digits (docs/repeated-mechanisms.md, section 5)."""
    return lambda scores, rate: ExponentialChoice(scores, rate).draw(digits)
