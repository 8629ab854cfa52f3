"""Looking for counterexamples to what privacy supposes of a function of one's own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from accountant.applications.submodular.interface import DecomposableFunction, read_gains
from profiles import InvalidArgument

EXHAUSTIVE = 6
SPLITS = 4


def find_violation(function: DecomposableFunction, rng: np.random.Generator, *, users: int = 20, chains: int = 20) -> str | None:
    """Return a witness that a user's function falls somewhere, rises by more than 1, or is not what the sum adds up; None if none is found.

    Looks at up to ``users`` users, each alone, along all orders of the candidates where there are at most 6, else ``chains`` random ones,
    and at the sum of these users; and whether the gains of all users are those of a random half and of the rest.
    Finding nothing proves nothing unless all were looked at; the witness speaks of private data.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(f"a numpy.random.Generator was expected, but {type(rng).__name__} was found; pass numpy.random.default_rng()")
    chosen = rng.permutation(function.users)[:users]
    alone = [function.restrict(np.arange(function.users) == user) for user in chosen]
    together = function.restrict(np.isin(np.arange(function.users), chosen))
    for order in _orders(function.candidates, rng, chains):
        trackers, joint = [item.track() for item in alone], together.track()
        risen = [Fraction(0)] * len(alone)
        for step, candidate in enumerate(order):
            total = Fraction(0)
            for place, tracker in enumerate(trackers):
                gain = Fraction(read_gains(tracker, function.candidates)[candidate].item()) / function.resolution
                total += gain
                risen[place] += gain
                if gain < 0:
                    return f"the value of user {chosen[place]} falls by {float(-gain):.6g} when {candidate} joins {list(order[:step])}"
                if risen[place] > 1:
                    return f"the value of user {chosen[place]} rises by {float(risen[place]):.17g} in all, up to {list(order[: step + 1])}"
                tracker.add(candidate)
            found = Fraction(read_gains(joint, function.candidates)[candidate].item()) / function.resolution
            if found != total:
                return (
                    f"the gain of {candidate} at {list(order[:step])} is {float(found):.17g}, but its users add up to {float(total):.17g}"
                )
            joint.add(candidate)
    return _find_mixing(function, rng)


def _find_mixing(function: DecomposableFunction, rng: np.random.Generator) -> str | None:
    """Return a witness that the gains of all users are not the sum of those of two random halves: some user's value depends on others."""
    for _ in range(SPLITS):
        half = rng.permutation(function.users) < function.users // 2
        parts = [item.track() for item in (function, function.restrict(half), function.restrict(~half))]
        for step, candidate in enumerate(rng.permutation(function.candidates).tolist()):
            whole, one, other = (Fraction(read_gains(part, function.candidates)[candidate].item()) for part in parts)
            if whole != one + other:
                return f"the gain of {candidate} after {step} others is not the sum of those of two halves of the users"
            for part in parts:
                part.add(candidate)
    return None


def _orders(candidates: int, rng: np.random.Generator, chains: int) -> Iterator[tuple[int, ...]]:
    if candidates <= EXHAUSTIVE:
        yield from itertools.permutations(range(candidates))
        return
    for _ in range(chains):
        yield tuple(int(candidate) for candidate in rng.permutation(candidates))
