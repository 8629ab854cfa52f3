"""Facility location in closed form: gains against the multilinear extension by definition, and the law in both directions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular import WeightedCoverage
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids import (
    FacilityLocation,
    PartitionMatroid,
    PrivateMatroidGreedy,
    Tracked,
    UniformMatroid,
    bound_utility,
    choose_for,
)
from profiles import InvalidArgument, InvalidData
from profiles.hypotheses import MONOTONE_BOUNDED

VALUES = st.lists(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]), min_size=3, max_size=3), min_size=1, max_size=4)


def extension(rows, y):
    """E max of the values of a random set, by all sets; values as they are stored."""
    total = Fraction(0)
    for chosen in itertools.product((False, True), repeat=len(y)):
        chance = Fraction(1)
        for picked, share in zip(chosen, y, strict=True):
            chance *= share if picked else 1 - share
        total += chance * sum(max((row[c] for c in range(len(y)) if chosen[c]), default=0) for row in rows)
    return total


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(1, 4), st.lists(st.integers(0, 2), max_size=6))
def test_gains_are_those_of_the_extension_rounded_down(rows, rounds, steps):
    scores = FacilityLocation(3).start(WeightedCoverage.from_matrix(rows), rounds, None)
    units = [[int(np.floor(value * UNIT)) for value in row] for row in rows]
    y, added = [Fraction(0)] * 3, 0
    for element in steps:
        if y[element] == 1:
            continue
        found = scores.gains(np.arange(3)).tolist()
        for c in range(3):
            if y[c] < 1:
                moved = [share + Fraction(c == place, rounds) for place, share in enumerate(y)]
                truth = extension(units, moved) - extension(units, y)
                assert 0 <= truth - found[c] <= len(rows) * 13
        added += found[element]
        scores.advance(element)
        y[element] += Fraction(1, rounds)
    assert added <= extension(units, y) <= len(rows) * UNIT


def law(rows, rounds, rate, draws):
    """The law of the choices of two rounds in a uniform matroid of rank 1, by definition, at 50 digits."""
    found = {(): mpmath.mpf(1)}
    for _ in range(draws):
        following = {}
        for chosen, mass in found.items():
            scores = FacilityLocation(3).start(WeightedCoverage.from_matrix(np.array(rows).reshape(-1, 3)), rounds, None)
            for element in chosen:
                scores.advance(element)
            offered = [c for c in range(3) if chosen.count(c) < rounds]
            weights = [mpmath.exp(rate * int(gain) / UNIT) for gain in scores.gains(np.array(offered))]
            following |= {(*chosen, c): mass * weight / sum(weights) for c, weight in zip(offered, weights, strict=True)}
        found = following
    return found


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("row", [(1.0, 0.5, 0.0), (0.2, 0.7, 0.7), (1.0, 1.0, 1.0), (0.0, 0.0, 1.0)])
def test_the_law_in_both_directions(row):
    with mpmath.workdps(50):
        rate = mpmath.log(3)
        for base in ([], [(0.5, 0.2, 1.0)], [(0.7, 0.7, 0.2), (1.0, 0.0, 0.5)]):
            more, less = law([*base, row], 2, rate, 2), law(base, 2, rate, 2)
            slack = mpmath.mpf(10) ** -40
            assert max(more[o] / less[o] for o in more) <= 3 + slack
            assert max(less[o] / more[o] for o in more) <= 9 + slack


def test_the_mechanism_runs_without_draws_and_supposes_nothing_of_the_function():
    rng = np.random.default_rng(1)
    values = rng.random((500, 6)) ** 3
    mechanism = PrivateMatroidGreedy(matroid=PartitionMatroid([0, 0, 0, 1, 1, 1], [1, 1]), epsilon=5, objective=FacilityLocation(6))
    users = WeightedCoverage.from_matrix(values)
    answer = mechanism.run(users, 1, bits=2)
    best = max(values[:, [a, b]].max(axis=1).sum() for a in range(3) for b in range(3, 6))
    assert values[:, list(answer.members)].max(axis=1).sum() > 0.95 * best
    assert MONOTONE_BOUNDED not in answer.guarantee.hypotheses
    assert answer.guarantee.bound.epsilon <= 5
    drawn = PrivateMatroidGreedy(matroid=UniformMatroid(6, 2), epsilon=5, objective=FacilityLocation(6), draws=20)
    assert len(drawn.run(users, 1, bits=2).members) == 2
    empty = WeightedCoverage.from_matrix(np.zeros((3, 6)))
    assert len(mechanism.run(empty, 1, bits=2).members) == 2
    for wrong in (WeightedCoverage.from_matrix(values, combine="sum"), WeightedCoverage.from_matrix(values[:, :5]), [[1]]):
        with pytest.raises(InvalidData, match="combine='max'"):
            mechanism.run(wrong)


def test_parameters_for_a_public_optimum():
    few, many = (choose_for(UniformMatroid(100, 5), "0.05", optimum) for optimum in (0, 10**6))
    assert (few.rounds, many.rounds) == (1, 8)
    assert choose_for(UniformMatroid(20, 2), 1, 10**4, objective=Tracked(20)).draws >= 16
    assert few.draws is None
    for parameters in (few, many):
        made = PrivateMatroidGreedy(matroid=UniformMatroid(100, 5), epsilon=1, rounds=parameters.rounds, roundings=parameters.roundings)
        assert not bound_utility(made, beta="0.05", users=1000).void
    with pytest.raises(InvalidArgument, match="guess of the optimum"):
        choose_for(UniformMatroid(20, 2), 1, -1)


def test_a_bound_that_says_nothing_says_so():
    for rounds, least in ((1, 12), (8, 11)):
        made = PrivateMatroidGreedy(matroid=UniformMatroid(10, 2), epsilon=1, rounds=rounds, roundings=8)
        bound = bound_utility(made, beta="0.05", users=100)
        assert bound.void
        assert bound.value(10**9) == 0
        assert str(bound) == f"none is proved: 8 roundings are too few for this beta; give at least {least}, and more for a good ratio"
        better = PrivateMatroidGreedy(matroid=UniformMatroid(10, 2), epsilon=1, rounds=rounds, roundings=least)
        assert not bound_utility(better, beta="0.05", users=100).void
    drawn = PrivateMatroidGreedy(matroid=UniformMatroid(10, 2), epsilon=1, roundings=50, objective=Tracked(10), draws=2)
    assert "the draws are too few" in str(bound_utility(drawn, beta="0.05", users=100))
