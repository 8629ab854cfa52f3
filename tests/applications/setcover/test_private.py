"""Guarantees, validation, and what a run releases."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from accountant.applications.setcover import (
    CoverageInstance,
    FreshSampleScaling,
    NoisyGreedy,
    OneSampleScaling,
    PrivateSetCover,
    bound_optimum,
    cover_cost,
    greedy_cover,
    gupta_cover,
    read_coverage,
)
from accountant.applications.setcover.program import add_groups, cover_once, make_group
from accountant.guarantees import render
from accountant.guarantees.measures import Notion
from profiles import InvalidArgument, InvalidData, InvalidTarget
from profiles.hypotheses import SECURE_BITS
from profiles.mechanisms.interface import EXACT_ARITHMETIC

ALGORITHMS = [NoisyGreedy(), OneSampleScaling(10**6), FreshSampleScaling(10**6)]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda item: type(item).__name__)
@pytest.mark.parametrize("calibration", ["optimal", "per-round", "corollary"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "7"])
def test_the_guarantee_is_at_most_epsilon(algorithm, calibration, epsilon):
    found = PrivateSetCover(epsilon, 50, algorithm, calibration).guarantee
    assert found.notion is Notion.ADD_REMOVE_DP
    assert found.bound.delta == 0
    assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= found.bound.epsilon <= Fraction(epsilon)
    assert EXACT_ARITHMETIC not in found.hypotheses


def test_the_budgets_of_fresh_samples():
    """The optimal calibration leaves the whole epsilon to each round in one direction; adding the rounds up would not allow it."""
    algorithm = FreshSampleScaling(10**6)
    budgets = {name: PrivateSetCover(1, 1000, algorithm, name).program for name in ("optimal", "per-round", "corollary")}
    shares = algorithm.shares(Fraction(1), 1000)
    assert sum(shares) == 1
    assert {tuple(group.p for group in program.groups) for program in budgets.values()} == {
        tuple(group.p for group in budgets["optimal"].groups)
    }
    last = {name: float(program.groups[-1].epsilon0) for name, program in budgets.items()}
    assert last["optimal"] > 1.7 > 1 > last["per-round"] > 0.9 > last["corollary"] > 0.69
    first = {name: float(program.groups[0].epsilon0) for name, program in budgets.items()}
    assert first["optimal"] > 7 > 0.7 > first["per-round"]
    assert cover_once(budgets["optimal"]).bound.epsilon <= 1 < add_groups(budgets["optimal"]).bound.epsilon
    assert cover_once(budgets["per-round"]).bound.remove < add_groups(budgets["per-round"]).bound.remove <= 1


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda item: type(item).__name__)
def test_a_run(algorithm):
    system = CoverageInstance.from_sets([[x % 7, 7 + x % 13] for x in range(3000)] + [[]], candidates=25)
    plan = PrivateSetCover(2, 25, algorithm)
    answer, again = (plan.run(system, np.random.default_rng(3), bits=4) for _ in range(2))
    assert np.array_equal(answer.permutation, again.permutation)
    assert cover_cost(answer.permutation, system) == 7
    assert [field.name for field in dataclasses.fields(answer)] == ["output", "guarantee", "utility", "choice", "charged"]
    assert not answer.permutation.flags.writeable
    secure = plan.run(system, np.random.default_rng(3))
    assert SECURE_BITS in secure.guarantee.hypotheses
    assert "epsilon <= 2" in render(secure.guarantee) or "epsilon <= 1.99999" in render(secure.guarantee)
    assert secure.guarantee.bound == plan.guarantee.bound  # it does not depend on the data


def test_empty_data_and_one_set():
    for algorithm in ALGORITHMS:
        for rows, sets in (([], 1), ([[]], 3), ([[0]], 1)):
            found = PrivateSetCover("0.3", sets, algorithm).run(
                CoverageInstance.from_sets(rows, candidates=sets), np.random.default_rng(1), bits=2
            )
            assert sorted(found.permutation.tolist()) == list(range(sets))


def test_more_rounds_than_needed_and_wrong_guesses_cost_no_privacy():
    for largest in (1, 10, 2**60):
        assert PrivateSetCover(1, 9, FreshSampleScaling(largest)).guarantee.bound.epsilon <= 1
        assert PrivateSetCover(1, 9, OneSampleScaling(largest)).guarantee.bound.epsilon <= 1


def test_the_bound_of_theorem_4():
    system = CoverageInstance.from_sets([[x % 20] for x in range(20_000)], candidates=40)
    algorithm = FreshSampleScaling(10**6)
    bound = algorithm.bound_cost(1, 40, system.users, 20)
    assert 20 * 10.2 < bound < 20 * 1000
    assert cover_cost(PrivateSetCover(1, 40, algorithm).run(system, np.random.default_rng(1), bits=2).permutation, system) <= bound
    assert algorithm.bound_cost(1, 40, 10**6, 1) < algorithm.bound_cost("0.1", 40, 10**6, 1)
    with pytest.raises(InvalidArgument, match=r"8\.25"):
        FreshSampleScaling(10**6, factor=2).bound_cost(1, 40, 10, 1)
    with pytest.raises(InvalidArgument, match="max_elements"):
        algorithm.bound_cost(1, 40, 10**7, 1)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"epsilon": 0}, InvalidTarget),
        ({"epsilon": 1000}, InvalidTarget),
        ({"sets": 0}, InvalidArgument),
        ({"sets": True}, InvalidArgument),
        ({"calibration": "best"}, InvalidArgument),
    ],
)
def test_what_is_refused(change, error):
    with pytest.raises(error):
        PrivateSetCover(**{"epsilon": 1, "sets": 3, **change})


def test_what_a_run_refuses():
    plan, system = PrivateSetCover(1, 3), CoverageInstance.from_sets([[0]], candidates=3)
    with pytest.raises(InvalidData, match="3 sets"):
        plan.run(CoverageInstance.from_sets([[0]], candidates=2), np.random.default_rng(1))
    with pytest.raises(InvalidArgument, match="Generator"):
        plan.run(system, "7")
    with pytest.raises(InvalidArgument, match="same seed"):
        plan.run(system, 7, bits=7)
    with pytest.raises(InvalidArgument, match="same seed"):
        plan.run(system, np.random.default_rng(7), bits=7)
    with pytest.raises(InvalidArgument, match="group needs"):
        make_group(1.0, Fraction(1), ())


def test_files(tmp_path):
    (tmp_path / "pairs.csv").write_text("element,set\nu1,a\nu2,b\nu1,c\nu1,a\n", encoding="utf-8")
    system = read_coverage(tmp_path / "pairs.csv", user="element", item="set", candidates=["c", "b", "a"])
    assert (system.starts.tolist(), system.items.tolist()) == ([0, 2, 3], [0, 2, 1])
    with pytest.raises(InvalidData, match="not a candidate"):
        read_coverage(tmp_path / "pairs.csv", user="element", item="set", candidates=["a"])
    with pytest.raises(InvalidData):
        cover_cost([0, 0, 1], system)


def test_options_are_refused_where_they_are_given():
    for wrong in ({"beta": 2}, {"beta": 1}, {"beta": 0}, {"max_elements": 0}, {"max_elements": True}, {"max_elements": 2.5}):
        for algorithm in (OneSampleScaling, FreshSampleScaling):
            with pytest.raises(InvalidArgument):
                algorithm(**wrong)
    with pytest.raises(InvalidArgument):
        FreshSampleScaling(factor=0)


def test_comparisons():
    rng = np.random.default_rng(5)
    system = CoverageInstance.from_sets([rng.choice(12, size=3, replace=False).tolist() for _ in range(400)], candidates=12)
    lower, upper = bound_optimum(system)
    assert lower == upper <= cover_cost(greedy_cover(system), system)
    assert cover_cost(gupta_cover(system, 0.9, 1e-3, rng), system) >= upper
    with pytest.raises(InvalidArgument):
        gupta_cover(system, 0.9, 0.5, rng)
