"""The exact law of greedy selection, by definition: for tiny instances, tests and ``exact_epsilon``."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.applications.choosing import read_gains
from accountant.applications.submodular.functions import DecomposableFunction
from profiles import InvalidArgument
from tests.targets.laws.setcover import enumerate_noise

MOST_USERS = 16
MOST_OUTCOMES = 100_000


def greedy_law(function: DecomposableFunction, k: int, base: Any, p: Any = None) -> dict[tuple[int, ...], Any]:
    """Return the probability of every sequence of k candidates, in the arithmetic of ``base``.

    Each round selects a remaining candidate with probability proportional to base^gain, ``base`` = e^(ε₀/resolution) as a fraction (for the
    ε₀ = resolution·ln base), an mpmath number or any other that can be multiplied and divided; gains must be integers (int64). With ``p``
    every user is kept with that probability first. Exponential in the numbers of users and candidates: refused above 16 users with
    ``p``, and above 100,000 outcomes. Raises :class:`InvalidArgument`, :class:`InvalidData`.

    >>> from accountant.applications.submodular import CoverageInstance
    >>> from fractions import Fraction
    >>> greedy_law(CoverageInstance.from_sets([[0]], candidates=2), 1, Fraction(2), p=Fraction(1, 2))
    {(0,): Fraction(7, 12), (1,): Fraction(5, 12)}
    """
    if math.perm(function.candidates, k) > MOST_OUTCOMES or (p is not None and function.users > MOST_USERS):
        raise InvalidArgument(f"the exact law is for {MOST_OUTCOMES:,} outcomes and {MOST_USERS} users at most; take a smaller instance")
    if p is None:
        return _law(function, k, base)
    found: dict[tuple[int, ...], Any] = {}
    for kept in itertools.product((True, False), repeat=function.users):
        mass = math.prod((p if keep else 1 - p) for keep in kept)
        for outcome, inner in _law(function.restrict(np.array(kept, dtype=np.bool_)), k, base).items():
            found[outcome] = found.get(outcome, 0) + mass * inner
    return found


def kept_law(function: DecomposableFunction, k: int, decay: Fraction, p: Fraction | None = None) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every sequence of k candidates where each draws noise once, P[G ≥ j] = decay^j in units of the gains.

    By definition: all noise vectors that can be told apart, and a plain maximum in each round. For at most four candidates.

    >>> from accountant.applications.submodular import CoverageInstance
    >>> kept_law(CoverageInstance.from_sets([[0]], candidates=2), 1, Fraction(1, 2))
    {(0,): Fraction(5, 6), (1,): Fraction(1, 6)}
    """
    if p is None:
        return _kept(function, k, decay)
    found: dict[tuple[int, ...], Fraction] = {}
    for kept in itertools.product((True, False), repeat=function.users):
        mass = math.prod(p if keep else 1 - p for keep in kept)
        for outcome, inner in _kept(function.restrict(np.array(kept, dtype=np.bool_)), k, decay).items():
            found[outcome] = found.get(outcome, Fraction(0)) + mass * inner
    return {outcome: found[outcome] for outcome in sorted(found)}


def _kept(function: DecomposableFunction, k: int, decay: Fraction) -> dict[tuple[int, ...], Fraction]:
    everyone = range(function.candidates)
    gains = {chosen: _gains_after(function, chosen) for size in range(k) for chosen in itertools.permutations(everyone, size)}
    found: dict[tuple[int, ...], Fraction] = {}
    for noise, weight in enumerate_noise(everyone, max(gains[()]) + 1, decay):
        chosen: tuple[int, ...] = ()
        while len(chosen) < k:
            left = [item for item in everyone if item not in chosen]
            chosen = (*chosen, max(left, key=lambda item: (gains[chosen][item] + noise[item], -item)))
        found[chosen] = found.get(chosen, Fraction(0)) + weight
    return {outcome: found[outcome] for outcome in sorted(found)}


def _gains_after(function: DecomposableFunction, chosen: tuple[int, ...]) -> list[int]:
    tracker = function.track()
    for candidate in chosen:
        tracker.add(candidate)
    gains: list[int] = read_gains(tracker, function.candidates).tolist()
    return gains


def _law(function: DecomposableFunction, k: int, base: Any) -> dict[tuple[int, ...], Any]:
    law: dict[tuple[int, ...], Any] = {(): 1}
    for _ in range(k):
        following: dict[tuple[int, ...], Any] = {}
        for chosen, mass in law.items():
            tracker = function.track()
            for candidate in chosen:
                tracker.add(candidate)
            gains = read_gains(tracker, function.candidates)
            if gains.dtype != np.int64:
                raise InvalidArgument("the exact law needs integer gains, but float64 was found; count them in a resolution")
            weights = {c: base ** int(gains[c]) for c in range(function.candidates) if c not in chosen}
            total = sum(weights.values())
            following |= {(*chosen, c): mass * weight / total for c, weight in weights.items()}
        law = following
    return law
