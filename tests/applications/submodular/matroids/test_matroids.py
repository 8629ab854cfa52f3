import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular.matroids import (
    GraphicMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
    check_axioms,
    probe_axioms,
)
from accountant.applications.submodular.matroids.matroid import find_exchange
from profiles import InvalidArgument

from .instances import MATROIDS, bases, random_base, random_forest_pair, subsets


def is_matroid(size, independent):
    """The definition: (I1) to (I3)."""
    if frozenset() not in independent:
        return False
    if any(members - {u} not in independent for members in independent for u in members):
        return False
    return all(
        any(small | {u} in independent for u in large - small) for small in independent for large in independent if len(small) < len(large)
    )


@pytest.mark.parametrize("matroid", MATROIDS)
def test_the_axioms_and_the_rank(matroid):
    independent = {members for members in subsets(range(matroid.size)) if matroid.is_independent(members)}
    assert is_matroid(matroid.size, independent)
    assert matroid.rank == max(len(members) for members in independent)
    assert matroid.hypotheses == ()


@pytest.mark.parametrize("matroid", MATROIDS)
def test_growth_offers_exactly_what_keeps_independence(matroid):
    rng = np.random.default_rng(3)
    for _ in range(5):
        growth, chosen = matroid.start(), frozenset()
        while True:
            expected = [u for u in range(matroid.size) if u not in chosen and matroid.is_independent(chosen | {u})]
            assert growth.candidates().tolist() == expected
            if not expected:
                break
            element = int(rng.choice(expected))
            growth.add(element)
            chosen |= {element}
        assert len(chosen) == matroid.rank


@pytest.mark.parametrize("matroid", MATROIDS)
def test_symmetric_exchange_of_all_pairs_of_bases(matroid):
    for first in bases(matroid):
        for second in bases(matroid):
            for leaving in first - second:
                entering = matroid.exchange(first, second, leaving)
                assert entering in second - first
                assert matroid.is_independent((first - {leaving}) | {entering})
                assert matroid.is_independent((second - {entering}) | {leaving})
                assert find_exchange(matroid, first, second, leaving) is not None


def test_exchange_in_larger_forests():
    rng = np.random.default_rng(5)
    for _ in range(30):
        graph, first, second = random_forest_pair(rng, 12, 30)
        assert len(first) == len(second) == graph.rank
        for leaving in first - second:
            entering = graph.exchange(first, second, leaving)
            assert entering in second - first
            assert graph.is_independent((first - {leaving}) | {entering})
            assert graph.is_independent((second - {entering}) | {leaving})


def test_exchange_in_a_larger_partition():
    rng = np.random.default_rng(6)
    matroid = PartitionMatroid(rng.integers(5, size=40), [3, 1, 0, 9, 2])
    first, second = random_base(matroid, rng), random_base(matroid, rng)
    for leaving in first - second:
        entering = matroid.exchange(first, second, leaving)
        assert matroid.is_independent((first - {leaving}) | {entering})
        assert matroid.is_independent((second - {entering}) | {leaving})


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 4), st.randoms(use_true_random=False), st.booleans())
def test_the_check_of_axioms_agrees_with_the_definition(size, source, closed):
    every = subsets(range(size))
    family = {members for members in every if source.random() < 0.5} | {frozenset()}
    if closed:
        family = {members for members in every if any(members <= other for other in family)}
    try:
        check_axioms(size, lambda members: members in family)
        proved = True
    except InvalidArgument:
        proved = False
    assert proved == is_matroid(size, family)


def test_a_matching_oracle_is_refuted_by_both_checks():
    edges = [(0, 1), (1, 2), (2, 3)]  # matchings of a path: {1} and {0, 2} are both maximal

    def matching(members):
        ends = [end for u in members for end in edges[u % 3]]
        return len(ends) == len(set(ends)) and all(u < 3 for u in members)

    with pytest.raises(InvalidArgument, match="one size"):
        OracleMatroid(3, matching)
    with pytest.raises(InvalidArgument, match="one size"):
        OracleMatroid(13, matching)
    with pytest.raises(InvalidArgument, match="subsets"):
        probe_axioms(13, lambda members: len(members) != 1)
    with pytest.raises(InvalidArgument, match="subsets"):
        check_axioms(3, lambda members: len(members) != 1)
    assert OracleMatroid(3, matching, check="none").hypotheses != ()


def test_what_is_tested_only_stays_a_hypothesis_of_the_utility():
    small, large = OracleMatroid(5, lambda s: len(s) <= 2), OracleMatroid(13, lambda s: len(s) <= 2)
    assert small.hypotheses == ()
    assert "random" in large.hypotheses[0]
    assert (small.rank, large.rank) == (2, 2)


def test_a_loop_is_never_offered():
    graph = GraphicMatroid(2, [(0, 0), (0, 1)])
    assert graph.start().candidates().tolist() == [1]
    assert not graph.is_independent({0})


@pytest.mark.parametrize(
    "make",
    [
        lambda: UniformMatroid(0, 1),
        lambda: UniformMatroid(3, -1),
        lambda: UniformMatroid(True, 1),
        lambda: PartitionMatroid([0, 1], [1]),
        lambda: PartitionMatroid([0, -1], [1]),
        lambda: PartitionMatroid([0.5], [1]),
        lambda: PartitionMatroid([], [1]),
        lambda: GraphicMatroid(2, [(0, 2)]),
        lambda: GraphicMatroid(2, []),
        lambda: GraphicMatroid(0, [(0, 0)]),
        lambda: OracleMatroid(2, lambda _: False),
        lambda: OracleMatroid(2, lambda _: False, check="none"),
        lambda: OracleMatroid(2, lambda _: True, check="maybe"),
    ],
)
def test_unusable_matroids_are_refused(make):
    with pytest.raises(InvalidArgument):
        make()


def test_random_orders_of_a_transversal_matroid_pass():
    random.seed(1)
    near = {u: {u % 4, (u * 7) % 4} for u in range(14)}

    def matched(members):
        owner = {}

        def place(u, seen):
            for place_ in near[u]:
                if place_ not in seen:
                    seen.add(place_)
                    if place_ not in owner or place(owner[place_], seen):
                        owner[place_] = u
                        return True
            return False

        return all(place(u, set()) for u in sorted(members))

    assert OracleMatroid(14, matched).rank == 4


def test_an_oracle_that_raises_is_refused_by_name():
    def partly(members):
        if len(members) == 2:
            raise KeyError(members)
        return len(members) <= 2

    for oracle in (partly, lambda _: np.array([True, False]), None):
        for check in ("auto", "none"):
            with pytest.raises(InvalidArgument, match="oracle"):
                OracleMatroid(3, oracle, check=check)
