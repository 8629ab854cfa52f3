"""Coverage instances, and rounds that draw from groups of candidates: the same law as looking at every candidate."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular import CoverageInstance
from accountant.applications.submodular.coverage import CoverageRounds
from profiles import InvalidArgument, InvalidData
from profiles.randomness import ExponentialDraws
from profiles.randomness.bits import open_bits

SETS = st.integers(1, 6).flatmap(lambda m: st.tuples(st.just(m), st.lists(st.lists(st.integers(0, m - 1), max_size=4), max_size=8)))


def covered(sets, selected) -> int:
    return sum(bool(set(items) & set(selected)) for items in sets)


def plain_law(sets, m: int, k: int, base: Fraction) -> dict[tuple[int, ...], Fraction]:
    """The law of k rounds with weights base^gain, by definition."""
    law = {(): Fraction(1)}
    for _ in range(k):
        following: dict[tuple[int, ...], Fraction] = {}
        for chosen, mass in law.items():
            rest = [c for c in range(m) if c not in chosen]
            weights = [base ** (covered(sets, (*chosen, c)) - covered(sets, chosen)) for c in rest]
            following |= {(*chosen, c): mass * w / sum(weights) for c, w in zip(rest, weights, strict=True)}
        law = following
    return law


class Rejected(Exception):
    pass


class Undrawn(Exception):
    pass


class Branch:
    """Choices that follow a script: a group, then an entry of its list, round after round; remembers the probability of each."""

    def __init__(self, script, base: Fraction, reach: int) -> None:
        self.script, self.base, self.reach = list(script), base, reach
        self.open: int | None = None
        self.mass = Fraction(1)

    def levels(self, distances, counts, beyond, exact):
        exact = list(exact)
        near = list(zip(distances.tolist(), counts.tolist(), strict=True))
        assert exact[: len(near)] == near
        assert sum(count for _, count in exact[len(near) :]) == beyond
        assert all(distance > self.reach for distance, _ in exact[len(near) :])
        weights = [count * self.base**-distance for distance, count in exact]
        picked = self._next(len(exact))
        self.mass *= weights[picked] / sum(weights)
        self.drawn = False
        return picked

    def uniform(self, size):
        if self.drawn:
            raise Rejected
        self.drawn = True
        return self._next(size)

    def _next(self, size):
        if not self.script:
            self.open = size
            raise Undrawn
        return self.script.pop(0)


def grouped_law(instance, k: int, base: Fraction, reach: int) -> dict[tuple[int, ...], Fraction]:
    """The law of the rounds, by following all of their choices; a rejected entry is drawn again, so that kept ones share its mass."""
    law: Counter[tuple[int, ...]] = Counter()

    def follow(script, before) -> None:
        branch, rounds = Branch(script, base, reach), CoverageRounds(instance)
        try:
            selected = tuple(rounds.draw(branch) for _ in range(k))
        except Undrawn:
            size = branch.open
            assert size is not None
            if len(script) % 2 == 0:
                for picked in range(size):
                    follow([*script, picked], before)
            else:
                kept = [picked for picked in range(size) if accepts([*script, picked])]
                for picked in kept:
                    follow([*script, picked], before / len(kept))
        else:
            law[selected] += branch.mass * before

    def accepts(script) -> bool:
        try:
            branch, rounds = Branch(script, base, reach), CoverageRounds(instance)
            for _ in range(k):
                rounds.draw(branch)
        except Rejected:
            return False
        except Undrawn:
            return True
        return True

    follow([], Fraction(1))
    return dict(law)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 4).flatmap(lambda m: st.tuples(st.just(m), st.lists(st.lists(st.integers(0, m - 1), max_size=3), max_size=6))),
    st.integers(0, 4),
)
def test_groups_have_the_law_of_the_definition(drawn, reach):
    m, sets = drawn
    instance = CoverageInstance.from_sets(sets, candidates=m)
    k = min(m, 3)
    assert grouped_law(instance, k, Fraction(2), reach) == plain_law(sets, m, k, Fraction(2))


@settings(max_examples=60, deadline=None)
@given(SETS, st.randoms(use_true_random=False))
def test_gains_are_differences(drawn, random):
    m, sets = drawn
    tracker = CoverageInstance.from_sets(sets, candidates=m).track()
    order = random.sample(range(m), m)
    for step, candidate in enumerate(order):
        for other in order[step:]:
            assert tracker.gains[other] == covered(sets, [*order[:step], other]) - covered(sets, order[:step])
        tracker.add(candidate)


@settings(max_examples=40, deadline=None)
@given(SETS, st.data())
def test_restriction_keeps_the_chosen_users(drawn, data):
    m, sets = drawn
    instance = CoverageInstance.from_sets(sets, candidates=m)
    present = [set(items) for items in sets]  # also users without candidates
    assert instance.users == len(present)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(present), max_size=len(present))), dtype=bool)
    found = instance.restrict(kept)
    expected = [items for items, keep in zip(present, kept, strict=True) if keep]
    assert [set(found.items[a:b].tolist()) for a, b in itertools.pairwise(found.starts)] == expected


def test_groups_stay_true_over_many_rounds():
    rng = np.random.default_rng(5)
    users, items = rng.integers(0, 3000, 15_000), (300 * rng.random(15_000) ** 2).astype(int)
    instance = CoverageInstance.from_pairs(users, items, candidates=300)
    rounds, tracker = CoverageRounds(instance), instance.track()
    draws, live = ExponentialDraws(Fraction(1, 2), open_bits(3)), np.ones(300, dtype=bool)
    for _ in range(300):
        assert np.array_equal(rounds._gains[live], tracker.gains[live])
        assert np.array_equal(rounds._counts, np.bincount(tracker.gains[live], minlength=len(rounds._counts)))
        gain = int(tracker.gains[live].max())
        members = [c for c in rounds._members[gain] if rounds._gains[c] == gain]
        assert sorted(members) == np.flatnonzero(live & (tracker.gains == gain)).tolist()
        chosen = rounds.draw(draws)
        assert live[chosen]
        live[chosen] = False
        tracker.add(chosen)


def test_no_users_and_one_candidate():
    for sets in ([], [[], []]):
        instance = CoverageInstance.from_sets(sets, candidates=1)
        assert instance.users == len(sets)
        assert instance.track().gains.tolist() == [0]
        assert instance.track().left == 0
        assert instance.restrict(np.zeros(len(sets), dtype=bool)).users == 0


def test_repeated_pairs_count_once():
    instance = CoverageInstance.from_pairs([7, 7, 7, -2] * 200, [1, 1, 0, 1] * 200, candidates=2)
    assert instance.track().gains.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: CoverageInstance.from_sets([[3]], candidates=3), InvalidData, "candidates are 0 to 2"),
        (lambda: CoverageInstance.from_sets([[-1]], candidates=3), InvalidData, "pair 0 .* has another number"),
        (lambda: CoverageInstance.from_sets([[0.5]], candidates=3), InvalidData, "integers"),
        (lambda: CoverageInstance.from_sets([[True]], candidates=3), InvalidData, "integers"),
        (lambda: CoverageInstance.from_sets([["a"]], candidates=3), InvalidData, "integers"),
        (lambda: CoverageInstance.from_sets([], candidates=0), InvalidArgument, "at least 1"),
        (lambda: CoverageInstance.from_sets([], candidates=2.0), InvalidArgument, "integer"),
        (lambda: CoverageInstance.from_sets([], candidates=2**40), InvalidData, "at most"),
        (lambda: CoverageInstance.from_pairs([1, 2], [0], candidates=1), InvalidData, "as many users"),
        (lambda: CoverageInstance.from_pairs([np.nan], [0], candidates=1), InvalidData, "integers"),
        (lambda: CoverageInstance.from_pairs([[1]], [0], candidates=1), InvalidData, "2 dimensions"),
        (lambda: CoverageInstance(2, np.array([0, 2]), np.array([1, 0])), InvalidData, "strictly"),
        (lambda: CoverageInstance(2, np.array([0, 2]), np.array([1, 1])), InvalidData, "strictly"),
        (lambda: CoverageInstance(2, np.array([0, 3]), np.array([0, 1])), InvalidData, "rise from 0"),
        (lambda: CoverageInstance(2, np.array([0, 2, 1, 2]), np.array([0, 1])), InvalidData, "rise from 0"),
        (lambda: CoverageInstance(2, np.array([]), np.array([])), InvalidData, "integer arrays"),
        (lambda: CoverageInstance.from_sets([[0]], candidates=1).restrict([True]), None, None),
        (lambda: CoverageInstance.from_sets([[0]], candidates=1).restrict([1]), InvalidArgument, "one boolean"),
    ],
)
def test_unusable_instances(make, error, match):
    if error is None:
        assert make().users == 1
        return
    with pytest.raises(error, match=match):
        make()


def test_the_printed_form_tells_nothing_about_users():
    assert repr(CoverageInstance.from_sets([[0]] * 9, candidates=2)) == repr(CoverageInstance.from_sets([], candidates=2))


def test_sets_that_are_no_sets_of_candidates_are_refused():
    """Found as tracebacks of NumPy: what is no list of lists, and integers beyond 64 bits."""
    for sets in (None, 5, [3], [None], [[2**70]], [[-(2**70)]], [[2**31]], [[[0]]], ["ab"], [[True]], [[1.0]]):
        with pytest.raises(InvalidData):
            CoverageInstance.from_sets(sets, candidates=3)
    assert CoverageInstance.from_sets([], candidates=3).users == 0
    assert CoverageInstance.from_sets([[], np.array([0, 2])], candidates=3).items.tolist() == [0, 2]
