"""The methods of private k-means: what they spend, what they look at, and what comes out, for every plan."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.kmeans.method import LloydPlan, TreePlan, choose_method, find_centres, measure_signal, run_method
from accountant.applications.kmeans.method.plan import TREE_DIMENSIONS
from profiles import InvalidArgument
from profiles.mechanisms.nearest import find_nearest
from tests.applications.kmeans.method.doubles import Blind, Loose

SIGNALS = (0.01, 1.0, 3.9, 5.0, 12.0, 60.0, 150.0, 1e4)


def draw(seed=0):
    return np.random.default_rng([11, seed])


def make_blobs(n=3000, d=5, k=4, seed=1):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(k, d))
    return means[rng.integers(0, k, n)] + rng.normal(size=(n, d)) / 20


def cost(points, centres):
    return float(np.square(points - centres[find_nearest(points, np.ascontiguousarray(centres))]).sum(axis=1).mean())


def cost_of_mean(points):
    return cost(points, points.mean(axis=0, keepdims=True))


@pytest.mark.thorough
@given(signal=st.floats(0, 1e9), clusters=st.integers(1, 60), dimension=st.integers(1, 100), normal=st.booleans())
def test_a_plan_spends_exactly_the_budget_and_nothing_twice(signal, clusters, dimension, normal):
    plan = choose_method(signal, clusters=clusters, dimension=dimension, normal=normal)
    assert plan.clusters == clusters
    assert plan.clip > 0
    if isinstance(plan, TreePlan):
        assert dimension <= TREE_DIMENSIONS
        parts = (plan.share_counts, plan.share_leaves, 1 - plan.share_counts - plan.share_leaves)
        assert all(part >= 0 for part in parts)
        assert (parts[2] > 0) == (plan.rounds_after > 0)
    else:
        assert 1 <= plan.active <= clusters
        assert plan.cells == plan.multiple * plan.active
        assert plan.rounds_before >= 1
        assert (plan.share_before == 1) == (plan.rounds_after == 0)
        assert 0 < plan.share_before <= 1


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("bad", [0, -1, 2.5, "8"])
def test_other_numbers_of_clusters_are_refused(bad):
    with pytest.raises(InvalidArgument):
        choose_method(10.0, clusters=bad, dimension=3)


def test_normal_noise_makes_more_rounds():
    pure, normal = (choose_method(12.0, clusters=8, dimension=22, normal=normal) for normal in (False, True))
    assert (pure.rounds_before, pure.rounds_after) == (2, 0)
    assert (normal.rounds_before, normal.rounds_after) == (2, 1)
    for signal, dimension in ((1.0, 22), (3.0, 8), (30.0, 22), (300.0, 8), (50.0, 3)):
        plans = {choose_method(signal, clusters=8, dimension=dimension, normal=normal) for normal in (False, True)}
        assert len(plans) == 1


def test_signal_is_that_of_one_centre_with_the_whole_budget():
    access = Blind(0, dimension=22, count=50_000.0, rms=0.5, radius=3.0)
    # n ε rms/(d r k) with r at most 2 rms
    assert measure_signal(access.statistics, clusters=8, radius=3.0, sum_noise=22 / 0.5) == pytest.approx(50_000 * 0.5 / (22 * 2 * 8))
    assert measure_signal(access.statistics, clusters=8, radius=0.6, sum_noise=22.0) == pytest.approx(50_000 * 0.5 / (22 * 0.6 * 8))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("clusters", [1, 2, 7])
def test_every_plan_spends_all_and_returns_finite_centres_in_its_ball(signal, dimension, clusters):
    access = Loose(make_blobs(300, dimension), noise=0.3)
    plan = choose_method(signal, clusters=clusters, dimension=dimension)
    found = run_method(access, plan, draw())
    assert access.left == 0
    assert len(access.calls) <= 20
    assert found.centres.shape == (clusters, dimension)
    assert found.counts.shape == (clusters,)
    assert np.isfinite(found.centres).all()
    assert np.linalg.norm(found.centres, axis=1).max() <= access.radius * (1 + 1e-12)
    assert access.radius <= plan.clip * access.statistics.rms * (1 + 1e-12)


@pytest.mark.thorough
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), signal=st.sampled_from(SIGNALS), dimension=st.sampled_from([1, 3, 6, 18]))
def test_choices_come_from_outputs_alone(seed, signal, dimension):
    """Nothing but what was released is looked at: the same outputs lead to the same cells, shares and centres with no record there."""
    plan = choose_method(signal, clusters=3, dimension=dimension)
    runs = []
    for _ in range(2):
        access = Blind(seed, dimension=dimension)
        found = run_method(access, plan, draw())
        runs.append((access.calls, access.asked, found))
        assert access.left >= 0
    (calls, asked, found), (again, answers, other) = runs
    assert calls == again
    assert all(np.array_equal(one, two) for one, two in zip(asked, answers, strict=True))
    assert np.array_equal(found.centres, other.centres)
    assert np.array_equal(found.counts, other.counts)


@pytest.mark.thorough
@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("dimension", [2, 6])
def test_method_gives_no_more_passes_to_larger_data(signal, dimension):
    """The number of releases and of cells is bounded by the plan, whatever the records are."""
    plan = choose_method(signal, clusters=4, dimension=dimension)
    for points in (make_blobs(2000, dimension), np.zeros((2000, dimension)), np.zeros((0, dimension))):
        access = Loose(points)
        run_method(access, plan, draw())
        if isinstance(plan, LloydPlan):
            assert len(access.calls) <= plan.rounds_before + plan.rounds_after
            assert [call[1] for call in access.calls[: plan.rounds_before]] == [plan.cells] * plan.rounds_before
        else:
            assert len(access.calls) <= plan.looks + 1 + plan.rounds_after
            assert all(call[1] <= 2**plan.depth for call in access.calls)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("dimension", [2, 6, 20])
@pytest.mark.parametrize("signal", [1.0, 12.0, 60.0, 1e4])
def test_a_generator_fixes_everything_and_moving_the_data_moves_the_centres(signal, dimension):
    """Equivariance: the method works about the mean, so that a translation of all records changes nothing there, and a scaling by a power
    of two, which rounds nothing, scales all.
    """
    points = make_blobs(1000, dimension)
    plan = choose_method(signal, clusters=4, dimension=dimension)
    base = run_method(Loose(points, 0.1), plan, draw()).centres
    assert np.array_equal(base, run_method(Loose(points, 0.1), plan, draw()).centres)
    assert not np.array_equal(base, run_method(Loose(points, 0.1, seed=1), plan, draw()).centres)
    doubled = run_method(Loose(4 * points, 0.1), plan, draw()).centres
    assert np.allclose(doubled, 4 * base, rtol=1e-9, atol=1e-12)


@pytest.mark.thorough
def test_rotations_rotate_the_law_of_the_centres():
    """Directions, noise and shrinkage know no axes: costs have the same distribution after a rotation."""
    points = make_blobs(2000, 6)
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))
    plan = choose_method(12.0, clusters=4, dimension=6)

    def run(rows):
        return [cost(rows - rows.mean(axis=0), run_method(Loose(rows, 3.0, seed=s), plan, draw(s)).centres) for s in range(40)]

    plain, turned = np.log(run(points)), np.log(run(points @ turn))
    assert abs(plain.mean() - turned.mean()) < 5 * np.sqrt((plain.var() + turned.var()) / 40)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("points", "clusters"),
    [
        (np.zeros((0, 3)), 4),
        (np.zeros((0, 20)), 4),
        (np.ones((50, 3)), 4),
        (np.ones((50, 20)), 4),
        (np.eye(3), 10),
        (np.arange(6.0).reshape(6, 1), 10),
        (np.full((1, 1), 5.0), 1),
        (np.full((4, 2), 1e-300), 2),
        (np.full((4, 2), 1e150) * np.arange(4)[:, np.newaxis], 2),
    ],
    ids=["none", "none-wide", "equal", "equal-wide", "few", "few-line", "one", "tiny", "huge"],
)
@pytest.mark.parametrize("noise", [1e-9, 1.0, 1e6])
def test_odd_data(points, clusters, noise):
    access = Loose(points, noise)
    found = find_centres(access, clusters, draw())
    assert found.centres.shape == (clusters, points.shape[1])
    assert np.isfinite(found.centres).all()
    assert access.left == 0 or not found.counts.any()  # where nothing was found there is nothing to refine


def test_statistics_that_are_none_are_refused():
    for changes in ({"rms": 0.0}, {"rms": np.nan}, {"rms": np.inf}, {"count": 0.0}, {"count": np.nan}):
        access = Loose(make_blobs(10, 2), **changes)
        with pytest.raises(InvalidArgument, match="positive rms"):
            run_method(access, choose_method(50.0, clusters=2, dimension=2), draw())
        assert not access.calls


@pytest.mark.thorough
@pytest.mark.parametrize("dimension", [2, 6, 20])
def test_clusters_are_found_where_noise_is_small(dimension):
    points = make_blobs(4000, dimension, k=5)
    ratios = []
    for seed in range(5):
        found = find_centres(Loose(points, 0.01, seed), 5, draw(seed))
        ratios.append(cost(points - points.mean(axis=0), found.centres) / cost_of_mean(points))
        assert not found.warnings
        assert found.counts.sum() == pytest.approx(4000, rel=0.05)
    assert np.median(ratios) < 0.05


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("dimension", [3, 6, 20, 64])
def test_no_worse_than_the_mean_where_noise_hides_all(dimension):
    """Where Q promises nothing, shrinkage leaves about the mean; and a warning says so."""
    points = make_blobs(500, dimension)
    ratios = []
    for seed in range(9):
        found = find_centres(Loose(points, 300.0, seed), 4, draw(seed))
        ratios.append(cost(points - points.mean(axis=0), found.centres) / cost_of_mean(points))
        assert "promises nothing" in found.warnings[0]
    assert np.median(ratios) < 1.05


def test_one_cluster_is_the_mean():
    points = make_blobs(2000, 4)
    found = find_centres(Loose(points, 0.01), 1, draw())
    assert np.linalg.norm(found.centres) < 0.01 * np.sqrt(cost_of_mean(points))


def test_a_tree_that_stops_early_leaves_nothing_unspent():
    plan = replace(choose_method(1e3, clusters=3, dimension=2), step=1)
    access = Loose(make_blobs(40, 2), noise=0.05)
    run_method(access, plan, draw())
    assert access.left == 0
    counted = [call for call in access.calls if not call[2]]
    assert 0 < len(counted) < plan.looks
    shares = [call[0] for call in access.calls if call[2]]
    spent = len(counted) * plan.share_counts / plan.looks
    assert shares[0] * (1 - spent) == plan.share_counts + plan.share_leaves - spent
    assert shares[-1] == Fraction(1)
