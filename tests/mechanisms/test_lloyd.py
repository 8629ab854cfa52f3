"""Weighted DP-Lloyd against a slow reference written from Algorithm 2, line by line, on the same noise."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from profiles import InvalidArgument, InvalidData, load
from profiles.hypotheses import BALLS_ENCLOSE, IEEE_ROUNDING, PUBLIC_CENTRES
from profiles.mechanisms import Arithmetic, Mechanism, WeightedLloyd, lloyd, lloyd_runs
from profiles.mechanisms.datasets import to_dataset
from profiles.mechanisms.lloyd_runs import LloydNoise, PostProcessing, assign_nearest, move_centres, total_clusters
from tests.mechanisms.data import ALARM
from tests.mechanisms.reference import follow_algorithm_2


def make_case(seed, rows=40, dimension=3, clusters=4):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, dimension))
    data *= 4 * rng.random((rows, 1)) / np.linalg.norm(data, axis=1, keepdims=True)
    return data, 1 + 5 * rng.random(rows), rng.normal(size=(clusters, dimension))


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("min_count", [1.0, 0.25, None])
@pytest.mark.parametrize("beta", [0.01, 3.0])
def test_final_centres_equal_the_slow_reference_on_the_same_noise(min_count, beta):
    data, weights, centres = make_case(1)
    mechanism = WeightedLloyd(initial_centres=centres, iterations=5, beta_count=beta, beta_sum=beta, min_count=min_count)
    noise = mechanism.draw_noise(np.random.default_rng(2), 30)
    fast = move_centres(to_dataset((data, weights), 3), centres, noise, PostProcessing(min_count))
    for run in range(30):
        slow = follow_algorithm_2(data, weights, centres, noise.counts[run], noise.sums[run], min_count)
        assert fast[run] == pytest.approx(np.array(slow), rel=1e-9, abs=1e-9)


def test_some_of_those_runs_keep_a_centre():
    data, weights, centres = make_case(1)
    mechanism = WeightedLloyd(initial_centres=centres, iterations=1, beta_count=30, beta_sum=1)
    noise = mechanism.draw_noise(np.random.default_rng(3), 200)
    moved = move_centres(to_dataset((data, weights), 3), centres, noise, PostProcessing())
    kept = (moved == centres).all(axis=-1)
    labels = assign_nearest(data, np.broadcast_to(centres, (200, *centres.shape)))
    counts, _ = total_clusters(to_dataset((data, weights), 3), labels, len(centres))
    assert kept.any()
    assert (kept == (counts + noise.counts[:, 0] < 1.0)).all()


@pytest.mark.parametrize("arithmetic", Arithmetic)
def test_one_iteration_has_the_law_of_sum_over_count(arithmetic):
    # one cluster, one dimension: c = (ζ + Σ w x)/(ξ + Σ w), with negligible noise of one of the two
    mechanism = WeightedLloyd(initial_centres=[0.0], iterations=1, beta_count="1e-3", beta_sum=2, arithmetic=arithmetic)
    outputs = mechanism(([1.0, 3.0], [2.0, 1.0]), np.random.default_rng(4), 20_000)
    assert outputs.shape == (20_000, 1, 1)
    assert stats.kstest(outputs[:, 0, 0], stats.laplace(5 / 3, 2 / 3).cdf).pvalue > ALARM
    counted = WeightedLloyd(initial_centres=[0.0], iterations=1, beta_count=2, beta_sum="2e-3", min_count=None, arithmetic=arithmetic)
    outputs = counted(([1.0, 3.0], [2.0, 1.0]), np.random.default_rng(5), 20_000)
    assert stats.kstest(5 / outputs[:, 0, 0], stats.laplace(3, 2).cdf).pvalue > ALARM


def test_sampling_in_blocks_equals_the_whole_law(monkeypatch):
    data, weights, centres = make_case(6)
    mechanism = WeightedLloyd(initial_centres=centres, iterations=2, beta_count=1, beta_sum=1)
    monkeypatch.setattr(lloyd_runs, "_BLOCK", 1)
    one_by_one = mechanism((data, weights), np.random.default_rng(7), 6)
    rng = np.random.default_rng(7)
    runs = [mechanism.run(data, weights, rng) for _ in range(6)]
    assert (one_by_one == np.array(runs)).all()


def test_profile_is_equation_3_of_proposition_13_and_is_composed():
    profile = WeightedLloyd(initial_centres=[0.0]).profile
    names = {symbol.name: symbol for symbol in profile.expression(numeric=False).free_symbols}
    w, z, t, count, total = (names[name] for name in ("w", "z", "T", "beta_count", "beta_sum"))
    assert sympy.expand(profile.expression() - (1 / count + z / total) * t * w) == 0
    assert [part.profile.name for part in profile.parts] == ["weighted count", "K-norm weighted sum"]
    assert all(part.times == ("sym", "T") for part in profile.parts)
    assert [parameter.name for parameter in profile.free_parameters] == ["T", "beta_count", "beta_sum"]
    assert (profile.record[0].lo, profile.record[0].hi) == (0, 4)


def test_default_parameters():
    profile = load("profiles.mechanisms.lloyd:default").profile
    assert {parameter.name: str(parameter.value) for parameter in profile.parameters} == {"T": "10", "beta_count": "41/2", "beta_sum": "30"}
    w, z = sympy.Symbol("w", positive=True), sympy.Symbol("z", nonnegative=True)
    assert sympy.simplify(profile.expression() - 10 * w * (sympy.Rational(2, 41) + z / 30)) == 0
    assert isinstance(lloyd.default, Mechanism)
    assert pickle.loads(pickle.dumps(lloyd.default)) == lloyd.default
    assert lloyd.default.hypotheses == (IEEE_ROUNDING, BALLS_ENCLOSE, PUBLIC_CENTRES)
    assert lloyd.default([[1.0, 0.0]], np.random.default_rng(0), 3).shape == (3, 2, 2)


def test_a_record_changes_one_count_and_one_sum():
    data, weights, centres = make_case(8)
    batch = centres[np.newaxis]

    def totals(rows):
        return total_clusters(to_dataset((data[rows], weights[rows]), 3), assign_nearest(data[rows], batch), len(centres))

    everything = np.arange(len(data))
    counts, sums = totals(everything)
    for row in everything:
        fewer_counts, fewer_sums = totals(everything[everything != row])
        changed = np.flatnonzero(~np.isclose(counts[0], fewer_counts[0]))
        assert len(changed) == 1
        assert counts[0, changed] - fewer_counts[0, changed] == pytest.approx(weights[row])
        moved = np.abs(sums[0] - fewer_sums[0])
        assert moved[changed[0]] == pytest.approx(np.abs(weights[row] * data[row]))
        assert np.delete(moved, changed, axis=0).max() < 1e-9


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4), st.integers(1, 30))
def test_labels_depend_on_the_record_alone(seed, clusters, dimension, rows):
    rng = np.random.default_rng(seed)
    points, centres = rng.normal(size=(rows, dimension)), rng.normal(size=(1, clusters, dimension))
    together = assign_nearest(points, centres)[0]
    alone = [assign_nearest(point[np.newaxis], centres)[0, 0] for point in points]
    assert together.tolist() == alone


def test_a_tie_goes_to_the_first_centre():
    assert assign_nearest(np.array([[0.0]]), np.array([[[1.0], [-1.0]], [[-1.0], [1.0]]])).tolist() == [[0], [0]]


def test_literal_division_never_gives_infinite_centres():
    noise = LloydNoise(np.array([[[-2.0], [5e-324 - 2.0]]]), np.array([[[[1.0]], [[1.0]]]]))
    moved = move_centres(to_dataset([[1.0], [1.0]], 1), np.array([[0.5]]), noise, PostProcessing(None))
    assert moved.tolist() == [[[0.5]]]


@pytest.mark.parametrize("p", [1, 2, math.inf])
def test_confined_centres_stay_in_the_ball_and_never_farther_from_its_records(p):
    data, weights, centres = make_case(10)
    constants = {"initial_centres": centres, "iterations": 1, "beta_count": 20, "beta_sum": 20, "p": p, "radius": 12}
    free = WeightedLloyd(**constants)((data, weights), np.random.default_rng(11), 50)
    kept = WeightedLloyd(**constants, confine=True)((data, weights), np.random.default_rng(11), 50)
    lengths = np.linalg.norm(free, ord=p, axis=-1)
    assert (lengths > 12).any()
    assert (kept[lengths < 11.9] == free[lengths < 11.9]).all()
    assert np.linalg.norm(kept, ord=p, axis=-1).max() <= 12 * (1 + 1e-12)
    if p == 2:
        for record in data[:5]:
            assert (np.linalg.norm(kept - record, axis=-1) <= np.linalg.norm(free - record, axis=-1) * (1 + 1e-12)).all()
    assert WeightedLloyd(**constants, confine=True).profile == WeightedLloyd(**constants).profile


def test_an_empty_data_set_gives_centres_from_noise_alone():
    outputs = lloyd.default([], np.random.default_rng(9), 50)
    assert outputs.shape == (50, 2, 2)
    assert np.isfinite(outputs).all()
    assert lloyd.default.run(np.zeros((0, 2)), [], np.random.default_rng(9)).shape == (2, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"iterations": 0},
        {"iterations": "2.5"},
        {"iterations": -3},
        {"beta_count": 0},
        {"beta_sum": -1},
        {"p": 0.5},
        {"radius": 0},
        {"min_count": 0},
        {"min_count": -1.0},
    ],
)
def test_unusable_constants_are_refused(change):
    given_constants = {"initial_centres": [[0.0, 0.0]], "iterations": 2, "beta_count": 1, "beta_sum": 1} | change
    with pytest.raises(InvalidArgument):
        WeightedLloyd(**given_constants)


@pytest.mark.parametrize("centres", [[], [[]], [[math.nan]], [[math.inf]], [[1.0], [1.0, 2.0]], "abc", None, 3.0, [[[1.0]]]])
def test_unusable_centres_are_refused(centres):
    with pytest.raises(InvalidData):
        WeightedLloyd(initial_centres=centres)


@pytest.mark.parametrize("missing", ["iterations", "beta_count", "beta_sum"])
def test_running_needs_numbers(missing):
    constants = {"iterations": 2, "beta_count": 1, "beta_sum": 1}
    del constants[missing]
    with pytest.raises(InvalidArgument, match="needs a number"):
        WeightedLloyd(initial_centres=[0.0], **constants).run([1.0], None, np.random.default_rng(0))


def test_a_record_outside_the_domain_is_refused_not_clipped():
    with pytest.raises(InvalidData, match="norm of at most 4, but row 1"):
        lloyd.default.run([[0.0, 1.0], [3.0, 3.0]], None, np.random.default_rng(0))


@pytest.mark.parametrize(("iterations", "centres"), [(10**9, [0.0]), (10**5 + 1, [0.0]), (10**5, np.zeros((100, 11)))])
def test_absurd_numbers_of_iterations_have_a_profile_but_no_run(iterations, centres):
    mechanism = WeightedLloyd(initial_centres=centres, iterations=iterations, beta_count=20, beta_sum=30)
    assert "T" in mechanism.profile.text
    data = np.zeros((2, np.shape(mechanism.initial_centres)[1]))
    with pytest.raises(InvalidArgument, match=r"\d+ iterations of \d+ noisy numbers in all were to be run, but at most 100000 "):
        mechanism.run(data, None, np.random.default_rng(0))
    with pytest.raises(InvalidArgument, match="lower the number of iterations"):
        mechanism.draw_noise(np.random.default_rng(0), 1)
