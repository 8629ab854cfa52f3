import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from accountant.applications.choosing import PlainScores
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, WeightedCoverage
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids import (
    Coverage,
    GraphicMatroid,
    OracleMatroid,
    PartitionMatroid,
    PerUser,
    PrivateMatroidGreedy,
    Tracked,
    UniformMatroid,
)
from accountant.applications.submodular.matroids import mechanism as module
from accountant.applications.submodular.matroids.mechanism import run_continuous_greedy
from accountant.applications.submodular.matroids.objective import MOST_UNITS
from accountant.guarantees import ARITHMETIC, INDEPENDENT, USERS, render
from profiles import InvalidArgument, InvalidData, InvalidNumber, InvalidTarget
from profiles.hypotheses import CONTRIBUTIONS, RECORDWISE
from profiles.randomness import ExponentialDraws
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import open_bits


def make(**given):
    return PrivateMatroidGreedy(**{"matroid": UniformMatroid(6, 2), "epsilon": 1, **given})


def test_the_guarantee_is_the_target_in_both_directions():
    mechanism = make(epsilon="0.3")
    bound = mechanism.guarantee.bound
    assert bound.remove <= Fraction(3, 10)
    assert bound.add <= Fraction(3, 10)
    assert bound.epsilon > Fraction(299, 1000)
    assert USERS.name_draws() in mechanism.guarantee.hypotheses
    with mp.workdps(60):
        assert abs(mpf(mechanism.plan.epsilon0.numerator) / mechanism.plan.epsilon0.denominator - mp.log(1 + mp.exp(mpf("0.3")))) < 1e-15
    greedy, selection = mechanism.budgets
    assert mechanism.add_dp.bound.add == mechanism.matroid.rank * mechanism.rounds * greedy + selection
    assert make(epsilon="5000").add_dp.bound.add is None  # beyond what the rules take
    assert mechanism.add_dp.bound.remove == mechanism.plan.epsilon0 == sum(mechanism.budgets)


def test_an_answer_has_the_set_and_the_guarantee_only():
    answer = make().run([[0, 1], [2], [5]], np.random.default_rng(0), bits=1)
    assert [field.name for field in dataclasses.fields(answer)] == ["output", "guarantee", "utility", "choice", "charged"]
    assert answer.output == answer.members
    assert INDEPENDENT.id not in [item.id for item in answer.guarantee.hypotheses]
    assert ARITHMETIC in answer.guarantee.hypotheses
    assert "private matroid greedy" in render(answer.guarantee)
    secure = make().run([[0]], np.random.default_rng(0))
    assert any("operating system" in text for text in secure.guarantee.hypotheses)
    assert secure.guarantee.bound == answer.guarantee.bound == make().guarantee.bound


def test_users_are_sampled_with_the_planned_probability():
    kept = []

    class Watching(Coverage):
        def keep(self, data, selected):
            kept.append(selected)
            return Coverage(self.size).keep(data, selected)

    mechanism = make(objective=Watching(6))
    mechanism.run([[0]] * 5000, np.random.default_rng(0), bits=1)
    assert kept[0].tolist() == PoissonSampler(1).select(np.full(5000, mechanism.plan.p)).tolist()
    assert abs(kept[0].mean() - (1 - np.exp(-1))) < 0.05
    assert mechanism.guarantee.derivation.conclusion.startswith("p = 0.632")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["counts", "max", "sum"]), st.integers(0, 4))
def test_one_round_under_a_cardinality_constraint_is_the_greedy_algorithm(seed, kind, k):
    """T = 1 and a uniform matroid: the same choices from the same digits as by ``OneSidedGreedy``, for each way to keep the scores."""
    rng = np.random.default_rng(seed)
    bins = np.zeros((1, 5), dtype=np.int64)
    if kind == "counts":
        function, users = (
            Coverage(5),
            CoverageInstance.from_sets([np.flatnonzero(rng.random(5) < 0.4).tolist() for _ in range(6)], candidates=5),
        )
        scores = [function.start(users, 1, bins), PlainScores(users.track(), 5, 1)]
    else:
        users = WeightedCoverage.from_matrix(rng.random((6, 5)), combine=kind)
        scores = [Tracked(5).start(users, 1, bins)]
    spent = Fraction(2)
    chosen = [run_continuous_greedy(UniformMatroid(5, k), one, 1, ExponentialDraws(spent / one.unit, open_bits(seed)))[0] for one in scores]
    if kind == "counts":
        assert chosen[0] == chosen[1]
    else:
        assert chosen == [frozenset(OneSidedGreedy(k, spent).run(users, seed).selected)]


@pytest.mark.parametrize("draws", [None, 3])
def test_each_choice_spends_its_share(draws, monkeypatch):
    """Rates times units are the budgets: kT choices of greedy, then the last one among different sets."""
    used = []

    class Watched(module.ExponentialDraws):
        def __init__(self, rate, digits):
            super().__init__(rate, digits)
            self.rate = rate

        def among(self, scores):
            used.append(self.rate)
            return super().among(scores)

    monkeypatch.setattr(module, "ExponentialDraws", Watched)
    mechanism = make(draws=draws, rounds=3, selection_share="1/4", roundings=20)
    mechanism.run([], 1, bits=2)
    greedy, selection = mechanism.plan.epsilon0 * Fraction(3, 4), mechanism.plan.epsilon0 / 4
    assert used == [greedy / mechanism.function.score_unit(draws)] * 6 + [selection]


def test_one_rounding_leaves_all_of_the_budget_to_greedy():
    mechanism = make(roundings=1, selection_share="1/2")
    assert mechanism.budgets == (mechanism.plan.epsilon0, 0)
    assert make(selection_share="1/2").budgets == (mechanism.plan.epsilon0 / 2, mechanism.plan.epsilon0 / 2)
    assert mechanism.run([[0]] * 9, np.random.default_rng(1), bits=3).guarantee.bound.epsilon <= 1


@pytest.mark.parametrize(
    "matroid",
    [
        UniformMatroid(4, 0),
        UniformMatroid(3, 7),
        PartitionMatroid([0, 1, 1, 0], [1, 1]),
        GraphicMatroid(3, [(0, 1), (1, 2), (0, 2), (1, 1)]),
        OracleMatroid(3, lambda s: s <= {0, 2} or s == {1}, check="none"),
    ],
)
@pytest.mark.parametrize("users", [[], [[0], [0, 1], [2], [2]] * 5])
@pytest.mark.parametrize("draws", [None, 3])
def test_sets_are_independent_for_every_matroid_and_data(matroid, users, draws):
    rng = np.random.default_rng(2)
    for seed in range(10, 14):
        answer = PrivateMatroidGreedy(matroid=matroid, epsilon=1, draws=draws, rounds=2, roundings=3).run(users, rng, bits=seed)
        assert matroid.is_independent(answer.members)
        assert list(answer.members) == sorted(answer.members)


def test_a_clear_optimum_is_found():
    """1,000 users with item 4, 800 with 0: at ε = 2 another set has a probability of about e^−500."""
    users = [[4]] * 1000 + [[0]] * 800 + [[1, 2]] * 10
    for draws in (None, 50):
        for seed in range(3):
            answer = make(epsilon=2, draws=draws).run(users, np.random.default_rng(seed + 5), bits=seed)
            assert answer.members == (0, 4)


def test_a_function_by_its_values():
    function = PerUser(6, lambda data, sets: 1 - 0.5 ** (sets[None] * (np.asarray(data)[:, None, None] == np.arange(6))).sum(axis=2))
    mechanism = make(objective=function, draws=4, rounds=2, epsilon=3)
    assert RECORDWISE in mechanism.guarantee.hypotheses
    users = np.array([3] * 300 + [1] * 200 + [0] * 5)
    assert mechanism.run(users, np.random.default_rng(1), bits=2).members == (1, 3)


@pytest.mark.parametrize("function", [Coverage(6), PerUser(6, lambda data, sets: None), Tracked(6)])
def test_sums_cannot_overflow(function):
    """The unit that refuses too many users is the one of the scores, or larger."""
    users = WeightedCoverage.from_matrix(np.ones((1, 6))) if isinstance(function, Tracked) else function.read([])
    for draws in (7,) if not function.closed_form else (7, None):
        bins = None if draws is None else np.zeros((draws, 6), dtype=np.int64)
        assert function.start(users, 2, bins).unit == function.score_unit(draws)
        assert MOST_UNITS // function.score_unit(draws) * function.score_unit(draws) < 2**63


def test_facility_location():
    table = np.zeros((600, 6))
    table[:400, 3], table[:, 5], table[400:, 1] = 1.0, 0.3, 0.9
    mechanism = make(objective=Tracked(6), draws=5, rounds=2, epsilon=2)
    answer = mechanism.run(WeightedCoverage.from_matrix(table), 1, bits=2)
    assert answer.members == (1, 3)
    assert CONTRIBUTIONS not in answer.guarantee.hypotheses


def test_an_objective_of_ones_own_leaves_the_assumptions_open():
    class Own(Coverage):
        """May do anything."""

    assert CONTRIBUTIONS in make(objective=Own(6)).guarantee.hypotheses
    assert CONTRIBUTIONS not in make().guarantee.hypotheses


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"rounds": 0}, InvalidArgument),
        ({"rounds": 2.0}, InvalidArgument),
        ({"roundings": 0}, InvalidArgument),
        ({"draws": 0}, InvalidArgument),
        ({"selection_share": 0}, InvalidArgument),
        ({"selection_share": 1}, InvalidArgument),
        ({"selection_share": "x"}, InvalidNumber),
        ({"epsilon": 0}, InvalidTarget),
        ({"epsilon": -1}, InvalidTarget),
        ({"calibration": "best"}, InvalidArgument),
        ({"objective": Coverage(5)}, InvalidArgument),
        ({"objective": PerUser(6, lambda data, sets: None)}, InvalidArgument),
    ],
)
def test_unusable_constants_are_refused(given, error):
    with pytest.raises(error):
        make(**given)


def test_unusable_calls_are_refused():
    with pytest.raises(InvalidArgument):
        make().run([[0]], "3")
    for same in (3, np.random.default_rng(3)):
        with pytest.raises(InvalidArgument, match="seed"):
            make().run([[0]], same, bits=3)
    with pytest.raises(InvalidData):
        make().run([[6]], np.random.default_rng(3))
    with pytest.raises(InvalidData, match="users"):
        make(objective=PerUser(6, lambda data, sets: None), draws=1).run(np.zeros((MOST_UNITS // UNIT + 1, 0)), np.random.default_rng(3))


def test_subclasses_of_the_data_are_refused_and_the_number_of_users_is_a_hypothesis():
    class Other(CoverageInstance):
        pass

    mechanism = PrivateMatroidGreedy(matroid=UniformMatroid(3, 1), epsilon=1)
    with pytest.raises(InvalidData):
        mechanism.run(Other.from_sets([[0]], candidates=3))
    assert mechanism.most_users == 2**30
    assert any("at most 1073741824 users" in text for text in mechanism.guarantee.hypotheses)
