"""The draws of the greedy algorithm for any decomposable function: one pass over all candidates in each round."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.interface import DecomposableFunction, read_gains
from profiles.randomness import ExponentialDraws


class Rounds(Protocol):
    """What remains to be selected."""

    def draw(self, draws: ExponentialDraws) -> int:
        """Return a remaining candidate c with probability proportional to exp(λ·gain(c)), and select it."""


class PlainRounds:
    """Looks at every remaining candidate in every round."""

    __slots__ = ("_candidates", "_live", "_tracker")

    def __init__(self, function: DecomposableFunction) -> None:
        self._tracker, self._candidates = function.track(), function.candidates
        self._live = np.ones(self._candidates, dtype=np.bool_)

    def draw(self, draws: ExponentialDraws) -> int:
        """Return a remaining candidate and select it."""
        rows = np.flatnonzero(self._live)
        chosen = int(rows[draws.among(read_gains(self._tracker, self._candidates)[rows])])
        self._tracker.add(chosen)
        self._live[chosen] = False
        return chosen


def start_rounds(function: DecomposableFunction) -> Rounds:
    """Return the fastest rounds for a function; their distribution is the same (docs/submodular.md, section 5)."""
    return function.rounds() if type(function) is CoverageInstance else PlainRounds(function)
