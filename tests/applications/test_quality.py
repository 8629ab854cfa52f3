"""Every answer says what is proved of its quality, with its side, or why nothing is; and which way was gone and why."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from accountant.applications.clustering import (
    DistanceRows,
    Multiplicities,
    PrivateMetricClustering,
    bound_cost,
    measure_grid,
    measure_points,
    read_distances,
)
from accountant.applications.clustering.solver import ratio_of_solver
from accountant.applications.clustering.stating import bound_noise, state_cost
from accountant.applications.heavyhitters import HeavyHitterMonitor, plan_threshold
from accountant.applications.quality import CostBound, ReportBound, UtilityBound
from accountant.applications.setcover import FreshSampleScaling, NoisyGreedy, OneSampleScaling, PrivateSetCover, cover_cost
from accountant.applications.setcover.partial import PrivatePartialCover
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from profiles.hypotheses import AT_CANDIDATES, TRIANGLE

USERS = CoverageInstance.from_sets([[0, 1], [1], [2, 3]] * 400, candidates=4)
LINE = read_distances(np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
PLAN = plan_threshold(2, 1, "0.05", steps=3, domain_size=4)
ANSWERS = {
    "greedy": (lambda: PrivateGreedy(2, 1).run(USERS, 1, bits=2), UtilityBound, False),
    "one-sided greedy": (lambda: OneSidedGreedy(2, 1).run(USERS, 1), UtilityBound, False),
    "nothing chosen": (lambda: PrivateGreedy(0, 1).run(USERS, 1, bits=2), UtilityBound, False),
    "matroid": (lambda: PrivateMatroidGreedy(matroid=UniformMatroid(4, 2), epsilon=1).run(USERS, 1, bits=2), UtilityBound, False),
    "matroid, chosen": (
        lambda: PrivateMatroidGreedy.from_optimum(500, matroid=UniformMatroid(4, 2), epsilon=1).run(USERS, 1, bits=2), UtilityBound, False,
    ),
    "matroid, few roundings": (
        lambda: PrivateMatroidGreedy(matroid=UniformMatroid(4, 2), epsilon=1, roundings=8).run(USERS, 1, bits=2), UtilityBound, True,
    ),
    "cover": (lambda: PrivateSetCover(1, 4).run(USERS, 1, bits=2), CostBound, True),
    "cover, one sample": (lambda: PrivateSetCover(1, 4, OneSampleScaling()).run(USERS, 1, bits=2), CostBound, True),
    "cover, fresh": (lambda: PrivateSetCover(1, 4, FreshSampleScaling(2000)).run(USERS, 1, bits=2), CostBound, True),
    "part of a cover": (lambda: PrivatePartialCover(1, 4, "0.5").run(USERS, 1, bits=2), CostBound, True),
    "clusters": (lambda: PrivateMetricClustering(LINE, 2, 1, n_bound=10**6, method="auto").run([0, 4] * 50, 1, bits=2), CostBound, False),
    "clusters, no bound": (lambda: PrivateMetricClustering(LINE, 2, 1, rounds=3).run([0, 4] * 50, 1, bits=2), CostBound, True),
    "clusters, few": (lambda: PrivateMetricClustering(LINE, 2, "0.1", n_bound=90).run([0, 4], 1, bits=2), CostBound, True),
    "hitters": (lambda: HeavyHitterMonitor.from_plan(PLAN, domain=range(4), times=range(3)).run([(1, 0, 2)], bits=1), ReportBound, False),
    "hitters, not planned": (lambda: HeavyHitterMonitor(2, 1, 9, range(4), range(3)).run([(1, 0, 2)], bits=1), ReportBound, True),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_say_what_is_proved_and_which_way_was_gone(name):
    run, kind, void = ANSWERS[name]
    answer = run()
    found = answer.utility
    assert (type(found), found.void) == (kind, void)
    assert found.side == {UtilityBound: "lower", CostBound: "upper", ReportBound: "both"}[kind]
    assert str(found).startswith("none is proved: ") == void
    told = json.loads(json.dumps(found.to_json(), allow_nan=False)) if kind is not UtilityBound or not void else found.to_json()
    assert (told["void"], told["reason"], told["side"]) == (void, found.reason, found.side)
    text = answer.explain()
    assert f"method: {answer.choice.method} (" in text
    assert f"quality: {found}" in text


def test_noisy_greedy_states_theorem_3():
    sets = 10**6
    mechanism = PrivateSetCover(5, sets)
    p, epsilon0 = mechanism.program.groups[0].p, float(mechanism.program.groups[0].epsilon0)
    for k in (1, 7, 1000):
        rounds = math.ceil(2 * k * math.log(2**31 - 1))
        y = 2 * math.log(2 * sets / 0.05) / epsilon0 * k + 1
        spread = rounds * math.log(sets + 1) + math.log(2 / 0.05)
        assert mechanism.utility.value(k) >= rounds + max(4 * y, 2.5 * spread) / p
    assert mechanism.utility.value(1000) <= 1.1 * (rounds + max(4 * y, 2.5 * spread) / p)
    fresh = FreshSampleScaling(10**6)
    told = PrivateSetCover(1, sets, fresh).utility
    assert told.value(3) == pytest.approx(fresh.bound_cost(1, sets, 10**6, 3))
    assert "factor 8.25" in PrivateSetCover(1, sets, FreshSampleScaling(10**6, factor=4)).utility.reason
    system = CoverageInstance.from_sets([[0]] * 5, candidates=3)
    assert cover_cost(PrivateSetCover(1, 3, NoisyGreedy()).run(system, 1, bits=2).permutation, system) == 1


@pytest.mark.parametrize(("count", "rate"), [(1, 1.0), (5, 0.1), (300, 0.3), (40, 20.0)])
def test_the_sum_of_noise_above_0_exceeds_its_bound_rarely(count, rate):
    a, each = math.exp(-rate), math.log(100)
    reach = int(60 / rate) + 2
    law = np.array([1 / (1 + a), *((1 - a) / (1 + a) * a ** np.arange(1, reach))])
    size = 1 << math.ceil(math.log2(count * reach))
    total = np.fft.irfft(np.fft.rfft(law, size) ** count, size)  # the sum of count of them
    exceeds = total[math.floor(bound_noise(count, rate, each)) + 1 :].sum()
    assert exceeds <= 0.01 + 1e-9
    assert bound_noise(count, rate, each) >= count * a / (1 - a * a)  # the mean


@pytest.mark.parametrize("power", [1, 2])
def test_the_stated_cost_is_never_below_the_bound_of_theorem_7(power):
    model = PrivateMetricClustering(LINE, 2, 2, power=power, n_bound=10**5, rounds=None)
    stated = state_cost(model)
    scale = LINE.diameter**power
    for optimum in (0.0, 10.0, 1e3, 1e5):
        cap = 10**5 * scale
        assert min(stated.value(optimum), cap) >= bound_cost(model, optimum, 10**5, 0.05) * (1 - 1e-6)
    if power == 1:
        assert stated.value(1e3) <= 1.2 * bound_cost(model, 1e3, 10**5, 0.05)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("options", [{"method": "everything"}, {"method": "auto"}, {"histogram": "full"}, {}], ids=str)
def test_no_run_costs_more_than_is_stated(power, options):
    rng = np.random.default_rng(8)
    places = np.sort(rng.random(20))
    space = read_distances(np.abs(np.subtract.outer(places, places)))
    counts = rng.multinomial(200_000, rng.dirichlet(np.full(20, 0.2)))
    model = PrivateMetricClustering(space, 3, 2, power=power, n_bound=200_000, **options)
    stated = model.utility
    costs = space.distances**power
    best = min(
        float(counts @ costs[:, [i, j, l]].min(axis=1))
        for i in range(20)
        for j in range(i)
        for l in range(j)  # noqa: E741
    )
    assert power == 2 or not stated.void
    for seed in range(5):
        answer = model.run(Multiplicities(counts), seed, bits=seed + 100)
        assert float(counts @ costs[:, list(answer.centres)].min(axis=1)) <= stated.value(best)
    if power == 1 and options == {"method": "everything"}:
        alpha = ratio_of_solver(1)
        assert stated.ratio == pytest.approx(2 * alpha + 1)
        noise = bound_noise(20, 2.0, math.log(100))
        assert stated.error == pytest.approx(((alpha + 1) * noise + (alpha + 1) * 2 * 200_000 / 2**24) * space.diameter, rel=1e-3)
        rows = model.run(DistanceRows(space.distances[:3]), 1, bits=2)
        assert rows.utility == dataclasses.replace(stated, hypotheses=(TRIANGLE,))


@pytest.mark.thorough
def test_what_the_cost_is_of_and_what_distances_have_to_obey_is_supposed():
    """Theorem 9 needs the triangle inequality, and records at candidates: a point is moved to one, which may double what it costs."""
    points = np.array([[0.0, 0.0], [4.0, 0.0], [9.0, 1.0]])
    given = {"checked": read_distances(np.abs(np.subtract.outer(points[:, 0], points[:, 0]))), "points": measure_points(points)}
    given["grid"] = measure_grid([(0, 9), (0, 1)], 3)
    broken = read_distances([[0, 1, 9], [1, 0, 1], [9, 1, 0]], triangle=False)
    many = read_distances(np.ones((501, 501)) - np.eye(501))  # not checked by default
    for space in given.values():
        model = PrivateMetricClustering(space, 1, 2, n_bound=10**6, method="everything")
        assert model.utility.hypotheses == (AT_CANDIDATES,)
        counts = Multiplicities(np.ones(space.size, dtype=int))
        for records, supposed in (([0, 1], ()), (counts, ()), (DistanceRows(space.distances), (TRIANGLE,))):
            assert model.run(records, 1).utility.hypotheses == supposed
    for space in (given["points"], given["grid"]):
        answer = PrivateMetricClustering(space, 1, 2, n_bound=10**6).run(points, 1)
        assert answer.utility.hypotheses == (AT_CANDIDATES,)
        assert f"assumed: {AT_CANDIDATES}" in answer.explain()
        assert answer.utility.to_json()["hypotheses"] == [AT_CANDIDATES.sentence]
    for space in (broken, many):
        assert PrivateMetricClustering(space, 1, 2, n_bound=10**6).run([0, 1], 1).utility.hypotheses == (TRIANGLE,)
    assert "each cut to 9" in PrivateMetricClustering(broken, 1, 2, n_bound=10**6).utility.unit


@pytest.mark.parametrize(
    "options", [{"n_bound": 2**62}, {"n_bound": 1}, {"n_bound": 50, "histogram": "full"}, {"method": "everything"}], ids=str
)
def test_the_largest_and_the_least_budgets_have_a_statement(options):
    for epsilon in ("1e-200", "1e-9", 1000, 5000):
        told = PrivateMetricClustering(LINE, 2, epsilon, power=2, **options).utility
        assert json.loads(json.dumps(told.to_json(), allow_nan=False))["side"] == "upper"
        assert str(told)
