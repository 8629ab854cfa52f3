"""What no ε-differentially private algorithm can do, and the streams that show it (Theorem 4: Theorem B.1 of Ghazi et al., repaired)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from accountant.applications.heavyhitters.streams import StreamBatch
from accountant.applications.heavyhitters.watching import StepReport
from profiles import InvalidArgument, InvalidNumber, Undecided, to_exact
from profiles.balls import ball, lower_fraction, working_precision
from profiles.numbers import to_integer

_BITS = 192
_MOST_TERMS = 100_000


def count_paths(k: int, steps: int, items: int) -> int:
    """Return N = Σ_{j ≤ k} C(T, j)·r^j: the paths that visit at most k times one of r items, and no item at the other times."""
    return sum(comb(steps, chosen) * items**chosen for chosen in range(min(k, steps) + 1))


def least_error(k: int, epsilon: object, beta: object, *, steps: int, domain_size: int, fillers: int = 2) -> int:
    """Return a number of users that the error E of every ε-differentially private algorithm reaches, rounded to the safe side (down).

    E ≥ log((N − 1)(1 − β)/β)/ε with N = Σ_{j ≤ k} C(T, j)·r^j, r = |Y| − fillers, for an algorithm with error E at every stream in which
    every user has at most k pairs (time, item) of more than ⌈E/fillers⌉ users, with probability at least 1 − β. ``fillers`` items are what
    users have at the other times; 0 where they may have nothing.

    Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> least_error(10, 1, "0.01", steps=100, domain_size=1002)
    105
    """
    _check(k, steps, domain_size, fillers)
    target, chance = to_exact(epsilon, "the target epsilon"), to_exact(beta, "beta")
    if target <= 0 or not 0 < chance < 1:
        raise InvalidNumber(f"epsilon must be positive and beta in (0, 1), but {target} and {chance} were found; correct them")
    odds = (count_paths(k, steps, domain_size - fillers) - 1) * (1 - chance) / chance
    if odds <= 1:
        return 0
    with working_precision(_BITS):
        found = lower_fraction(ball(Fraction(odds)).log() / ball(target))
    if found is None:
        raise Undecided("the bound could not be enclosed; give a larger target")
    return math.ceil(found)


@dataclass(frozen=True, slots=True)
class HardInstance:
    """A stream in which all ``users`` have the item of ``path`` at its times, and otherwise one of ``fillers`` items of their own group.

    ``path``: at most k pairs (time, item), of items below |Y| − fillers. The fillers are the last items of the domain, a public range.
    Iterating gives the batches of the stream. An algorithm with error ``users`` tells the path from the reports: :meth:`read_path`.
    """

    users: int
    steps: int
    domain_size: int
    fillers: int
    path: tuple[tuple[int, int], ...]

    def __iter__(self) -> Iterator[StreamBatch]:
        everyone = np.arange(self.users)
        visited = dict(self.path)
        for time in range(self.steps):
            if time in visited:
                yield StreamBatch(everyone, time, np.full(self.users, visited[time]))
            elif self.fillers:
                yield StreamBatch(everyone, time, self.domain_size - self.fillers + everyone * self.fillers // self.users)

    def read_path(self, reports: Sequence[StepReport]) -> tuple[tuple[int, int], ...]:
        """Return the reported pairs (time, item) but for the fillers."""
        bound = self.domain_size - self.fillers
        return tuple((report.time, int(item)) for report in reports for item in report.items if int(item) < bound)


def draw_hard_instance(k: int, *, users: int, steps: int, domain_size: int, rng: np.random.Generator, fillers: int = 2) -> HardInstance:
    """Return a hard instance with a path of exactly min(k, T) visits, uniform among those. Raises :class:`InvalidArgument`."""
    _check(k, steps, domain_size, fillers)
    to_integer(users, "the number of users", 1, 2**31)
    times = np.sort(rng.choice(steps, size=min(k, steps), replace=False))
    items = rng.integers(0, domain_size - fillers, size=times.size)
    return HardInstance(users, steps, domain_size, fillers, tuple(zip(times.tolist(), items.tolist(), strict=True)))


def _check(k: int, steps: int, domain_size: int, fillers: int) -> None:
    for value, what in ((k, "k"), (steps, "the number of time steps"), (domain_size, "the size of the domain")):
        to_integer(value, what, 1, 2**31)
    if isinstance(fillers, bool) or not isinstance(fillers, int) or not 0 <= fillers < domain_size:
        raise InvalidArgument(f"fillers must be an integer from 0 to |Y| - 1, but {fillers!r} was found; give a smaller number")
    if k > _MOST_TERMS:
        raise InvalidArgument(f"the number of paths is computed for k up to {_MOST_TERMS}, but {k} was found; give a smaller k")
