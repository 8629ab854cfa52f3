"""What a sum of one function per user looks like to the private greedy algorithms, in which unit it is counted, and what may be looked up
about it where nothing is private: values, greedy without noise, counterexamples.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from accountant.applications.choosing import MarginalGains, read_gains
from profiles import InvalidArgument
from profiles.arrays import Booleans, Floats, Integers
from profiles.hypotheses import WELL_FORMED
from profiles.numbers import to_integer

TABLE = WELL_FORMED.about(what="the table of the users has the declared form")

#: Where the values of users are no whole numbers, they are rounded down, each by itself, to multiples of 1/UNIT: then sums over users are
#: integers, which depend neither on their order nor on how many there are. 2^32 is the largest power of two with which no sum can overflow:
#: an instance has fewer than 2^31 users, each worth one unit at most, and 2^31·2^32 = 2^63. (With s draws of a multilinear extension the
#: users have to be fewer than 2^62/(2^32·s): ten million for 100 draws, and that is a hypothesis.) Finer is not needed: k·T choices lose
#: n·(kT + 1)/2^32 users each, which even for n = 10^6 and kT = 100 is a thousandth of what the noise of one choice costs.
UNIT = 2**32

_EXHAUSTIVE, _SPLITS = 6, 4


@runtime_checkable
class DecomposableFunction(Protocol):
    """F(S) = Σ f_x(S) over the users x, for sets S of candidates 0, ..., m − 1; S ↦ f_x(S) in [0, 1] is monotone for each user.

    Bring your own by an object with these five members. For privacy each f_x must be monotone and vary by at most 1; the error bound also
    needs that it is submodular. ``find_violation`` looks for counterexamples.
    """

    @property
    def candidates(self) -> int:
        """m, the number of candidates: public."""

    @property
    def users(self) -> int:
        """n, the number of users: private."""

    @property
    def resolution(self) -> int:
        """The unit of ``gains`` is 1/resolution: 1 where they are gains themselves."""

    def restrict(self, kept: Booleans) -> DecomposableFunction:
        """Return the sum over the users with ``kept[x]``, a boolean array of shape (n,)."""

    def track(self) -> MarginalGains:
        """Return the gains at the empty set."""


def to_units(values: Floats) -> Integers:
    """Return numbers in [0, 1] as multiples of 1/UNIT, rounded down (multiplication by a power of two is exact)."""
    return np.floor(values * UNIT).astype(np.int64)


def check_kept(kept: Booleans, users: int) -> Booleans:
    """Return a selection of users. Raises :class:`InvalidArgument`."""
    chosen = np.asarray(kept)
    if chosen.dtype != np.bool_ or chosen.shape != (users,):
        raise InvalidArgument(
            "a selection of users must be one boolean per user, but another type or length was found; give a mask",
            private=f"{chosen.dtype} of shape {chosen.shape} for {users} users",
        )
    return chosen


def selection_value(function: DecomposableFunction, selected: Sequence[int]) -> Fraction:
    """Return F(S) − F(∅) of the selected candidates. NOT private: it depends on the users and no guarantee covers it."""
    chosen = [to_integer(candidate, "a candidate", 0) for candidate in selected]
    if len(set(chosen)) != len(chosen) or any(candidate >= function.candidates for candidate in chosen):
        raise InvalidArgument(f"a selection names candidates from 0 to {function.candidates - 1}, each once; correct it")
    tracker, total = function.track(), Fraction(0)
    for candidate in chosen:
        total += Fraction(tracker.gains[candidate].item())
        tracker.add(candidate)
    return total / function.resolution


def lazy_greedy(function: DecomposableFunction, k: int) -> tuple[int, ...]:
    """Return k candidates, each of the largest gain (the smallest number of equal ones): a (1 − 1/e)-approximation. NOT private.

    Lazy evaluation (Minoux 1978): the gain of a candidate is looked at again only when it comes to the top; submodularity is needed.
    """
    if to_integer(k, "k", 0) > function.candidates:
        raise InvalidArgument(f"{k} candidates were asked for, but there are {function.candidates}; lower k")
    tracker = function.track()
    heap = [(-gain, candidate) for candidate, gain in enumerate(tracker.gains.tolist())]
    heapq.heapify(heap)
    selected: list[int] = []
    while len(selected) < k:
        bound, candidate = heap[0]
        if not bound:  # nothing adds anything any more
            return (*selected, *(candidate for _, candidate in sorted(heap)[: k - len(selected)]))
        gain = tracker.gains[candidate].item()
        if gain < -bound:
            heapq.heapreplace(heap, (-gain, candidate))
            continue
        heapq.heappop(heap)
        tracker.add(candidate)
        selected.append(candidate)
    return tuple(selected)


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
            exact = Fraction(read_gains(joint, function.candidates)[candidate].item()) / function.resolution
            if exact != total:
                return (
                    f"the gain of {candidate} at {list(order[:step])} is {float(exact):.17g}, but its users add up to {float(total):.17g}"
                )
            joint.add(candidate)
    return _find_mixing(function, rng)


def _find_mixing(function: DecomposableFunction, rng: np.random.Generator) -> str | None:
    """Return a witness that the gains of all users are not the sum of those of two random halves: some user's value depends on others."""
    for _ in range(_SPLITS):
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
    if candidates <= _EXHAUSTIVE:
        yield from itertools.permutations(range(candidates))
        return
    for _ in range(chains):
        yield tuple(int(candidate) for candidate in rng.permutation(candidates))
