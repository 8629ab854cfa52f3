"""The exact law of the reports on tiny streams, in rational numbers, for exact checks of the guarantee over all neighbors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import product

from profiles import InvalidArgument, to_exact
from profiles.numbers import to_integer

#: For each time step the indices of the items that a user has.
UserStream = Sequence[Collection[int]]
#: For each time step the indices of the reported items, in ascending order.
Outcome = tuple[tuple[int, ...], ...]

_MOST_DECISIONS, _MOST_USERS = 16, 12


def report_law(
    users: Sequence[UserStream], *, k: int, threshold: int, steps: int, domain_size: int, tail: object
) -> Mapping[Outcome, Fraction]:
    """Return the probability of every possible outcome of THRESHMONITOR on exactly these users (no sampling).

    ``tail`` is e^(−ε₀/k), an exact number in (0, 1): then ε₀ = k·log(1/tail), and the privacy claim reads P ≤ tail^(−k)·P' in rational
    numbers. Outcomes of probability 0 are left out. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> report_law([[{0}]], k=1, threshold=2, steps=1, domain_size=1, tail="1/2")
    {((),): Fraction(1, 2), ((0,),): Fraction(1, 2)}
    """
    chance = to_exact(tail, "the tail")
    for value, what in (
        (k, "k"),
        (threshold, "the threshold"),
        (steps, "the number of time steps"),
        (domain_size, "the size of the domain"),
    ):
        to_integer(value, what, 1, 2**31)
    if not 0 < chance < 1:
        raise InvalidArgument(f"the tail must lie between 0 and 1, but {chance} was found; give e^(-epsilon0/k)")
    if steps * domain_size > _MOST_DECISIONS or any(len(user) != steps for user in users):
        raise InvalidArgument(
            f"an exact law needs at most {_MOST_DECISIONS} pairs (time, item) and a set of items per user and time step; give a smaller one"
        )
    # decisions so far -> (probability, what is left to each user)
    reports: dict[tuple[int, ...], tuple[Fraction, tuple[int, ...]]] = {(): (Fraction(1), (k,) * len(users))}
    for time, item in product(range(steps), range(domain_size)):
        following: dict[tuple[int, ...], tuple[Fraction, tuple[int, ...]]] = {}
        for made, (probability, left) in reports.items():
            active = [number for number, user in enumerate(users) if left[number] and item in user[time]]
            passing = chance ** max(0, threshold - len(active))
            less = tuple(rest - (number in active) for number, rest in enumerate(left))
            following[*made, 1] = probability * passing, less
            if passing < 1:
                following[*made, 0] = probability * (1 - passing), left
        reports = following
    return {_outcome(made, steps, domain_size): probability for made, (probability, _) in sorted(reports.items())}


def sampled_report_law(
    users: Sequence[UserStream], *, p: object, k: int, threshold: int, steps: int, domain_size: int, tail: object
) -> Mapping[Outcome, Fraction]:
    """Return the law of THRESHMONITOR on a Poisson sample of the users with probability ``p``, exact. Raises like :func:`report_law`."""
    rate = to_exact(p, "the sampling probability")
    if len(users) > _MOST_USERS:
        raise InvalidArgument(
            f"an exact law needs at most {_MOST_USERS} users, but more were found; give fewer", private=f"{len(users)} users"
        )
    total: dict[Outcome, Fraction] = {}
    for kept in product((False, True), repeat=len(users)):
        chance = rate ** sum(kept) * (1 - rate) ** (len(users) - sum(kept))
        chosen = [user for user, inside in zip(users, kept, strict=True) if inside]
        for outcome, probability in report_law(chosen, k=k, threshold=threshold, steps=steps, domain_size=domain_size, tail=tail).items():
            total[outcome] = total.get(outcome, Fraction(0)) + chance * probability
    return {outcome: probability for outcome, probability in total.items() if probability}


def _outcome(made: Sequence[int], steps: int, domain_size: int) -> Outcome:
    return tuple(tuple(item for item in range(domain_size) if made[time * domain_size + item]) for time in range(steps))
