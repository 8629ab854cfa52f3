"""The exact law of the whole algorithm on a given sample, for tiny instances: what an exact check of its privacy needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from accountant.applications.submodular.matroids.matroid import Matroid, Members
from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy, mark
from accountant.applications.submodular.matroids.rounding import exchange_once
from profiles.arrays import Integers
from profiles.balls import ball, working_precision

BITS = 192
Bases = tuple[Members, ...]
Law = dict[tuple[int, ...], arb]
SetLaw = dict[Members, Fraction]


def enclose_greedy_law(mechanism: PrivateMatroidGreedy, sample: Any, bins: Integers | None = None) -> dict[Bases, arb]:
    """Return B^1, ..., B^T → its probability as a ball, for ``sample`` as the objective reads it and fixed ``bins`` of shape (s, m).

    Every sequence of choices is followed: (m k)^T of them or so.
    """
    law: dict[Bases, arb] = {}
    with working_precision(BITS):
        for path, probability in _follow(mechanism, sample, bins, (), arb(1)):
            law[path] = law.get(path, arb(0)) + probability
    return law


def enclose_law(mechanism: PrivateMatroidGreedy, sample: Any, bins: Integers | None = None) -> Law:
    """Return output → its probability on ``sample``, without the sampling of users, as a ball; rounding and the last choice included."""
    return finish_law(mechanism, sample, enclose_greedy_law(mechanism, sample, bins))


def finish_law(mechanism: PrivateMatroidGreedy, sample: Any, greedy: dict[Bases, arb]) -> Law:
    """Return the law of the output from that of the bases."""
    law: Law = {}
    with working_precision(BITS):
        for bases, probability in greedy.items():
            for members, share in _finish(mechanism, sample, bases).items():
                key = tuple(sorted(members))
                law[key] = law.get(key, arb(0)) + probability * share
    return law


def _follow(
    mechanism: PrivateMatroidGreedy, sample: Any, bins: Integers | None, chosen: tuple[tuple[int, ...], ...], weight: arb
) -> Iterator[tuple[Bases, arb]]:
    """Yield every completion of the choices ``chosen``, one tuple a round, the last of which may be unfinished."""
    scores, growth = mechanism.function.start(sample, mechanism.rounds, bins), mechanism.matroid.start()
    for number, base in enumerate(chosen):
        growth = mechanism.matroid.start()
        for element in base:
            scores.advance(element)
            if number == len(chosen) - 1:
                growth.add(element)
    last = chosen[-1] if chosen else ()
    candidates = growth.candidates() if len(last) < mechanism.matroid.rank else growth.candidates()[:0]
    if not candidates.size:
        if len(chosen) >= mechanism.rounds:
            yield tuple(frozenset(base) for base in chosen), weight
        else:
            yield from _follow(mechanism, sample, bins, (*chosen, ()), weight)
        return
    weights = _exponentials(scores.gains(candidates).tolist(), mechanism.budgets[0] / scores.unit)
    total = sum(weights, arb(0))
    for element, own in zip(candidates.tolist(), weights, strict=True):
        yield from _follow(mechanism, sample, bins, (*chosen[:-1], (*last, element)), weight * own / total)


def _finish(mechanism: PrivateMatroidGreedy, sample: Any, bases: Bases) -> dict[Members, arb]:
    """Return the law of the last choice among h independent roundings of ``bases``."""
    rounded = rounding_law(mechanism.matroid, bases)
    collections: dict[tuple[Members, ...], Fraction] = {}
    for drawn in product(rounded, repeat=mechanism.roundings):
        probability = Fraction(1)
        for members in drawn:
            probability *= rounded[members]
        found = tuple(sorted(set(drawn), key=sorted))
        collections[found] = collections.get(found, Fraction(0)) + probability
    law: dict[Members, arb] = {}
    for found, probability in collections.items():
        totals = mechanism.function.totals(sample, mark(found, mechanism.matroid.size)).tolist()
        weights = _exponentials(totals, mechanism.budgets[1] / mechanism.function.unit)
        total = sum(weights, arb(0))
        for members, own in zip(found, weights, strict=True):
            law[members] = law.get(members, arb(0)) + ball(probability) * own / total
    return law


def rounding_law(matroid: Matroid, bases: Sequence[Members]) -> SetLaw:
    """Return the exact law of ``swap_round``: set → probability. The number of sets grows like 2^rank.

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
                pair = exchange_once(matroid, one, other, follow_first=follow)
                following[pair] = following.get(pair, Fraction(0)) + share * probability
        waiting = following
    return done


def _exponentials(scores: list[int], rate: Fraction) -> list[arb]:
    return [ball(rate * (score - max(scores))).exp() for score in scores]
