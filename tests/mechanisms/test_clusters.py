"""Counts and sums of clusters in passes over the rows, and runs of DP-Lloyd made of them."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from profiles import InvalidData
from profiles.mechanisms import KNormSum, WeightedLloyd, clusters, lloyd_runs, quantised
from profiles.mechanisms.clusters import ClusterPasses, open_passes
from profiles.mechanisms.datasets import WeightedData, to_dataset
from profiles.mechanisms.lloyd_runs import PostProcessing, follow_run, move_centres, total_labelled
from profiles.mechanisms.nearest import label_by_definition
from profiles.mechanisms.quantised import SumUnit, prepare_units
from profiles.randomness.rounded import Grid
from tests.mechanisms.reference import follow_algorithm_2


def make_data(seed, rows, dimension):
    rng = np.random.default_rng(seed)
    return WeightedData(rng.normal(size=(rows, dimension)), 1 + 5 * rng.random(rows))


CASES = (st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 8), st.integers(1, 400), st.integers(1, 60), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(*CASES)
def test_totals_are_those_of_the_labels(seed, dimension, count, rows, span, threads):
    data, centres = make_data(seed, rows, dimension), np.random.default_rng(seed + 1).normal(size=(count, dimension))
    labels = label_by_definition(data.points, centres)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_LEAST_SPAN", span)
        with open_passes(data, threads) as passes:
            counts, sums = passes.total(centres)
    for j in range(count):
        members = labels == j
        assert counts[j] == pytest.approx(math.fsum(data.weights[members]), rel=1e-12)
        for column in range(dimension):
            terms = data.weights[members] * data.points[members, column]
            assert sums[j, column] == pytest.approx(math.fsum(terms), rel=0, abs=1e-13 * (1 + np.abs(terms).sum()))


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(*CASES, st.sampled_from([0, 2**27]), st.sampled_from([Fraction(3), Fraction(1, 20), Fraction(1, 40)]), st.sampled_from([0, 2**18]))
def test_exact_totals_are_those_of_fractions(seed, dimension, count, rows, span, threads, kept, scale, most):
    data, centres = make_data(seed, rows, dimension), np.random.default_rng(seed + 1).normal(size=(count, dimension))
    labels = label_by_definition(data.points, centres)
    sums, counts = SumUnit.of(Grid.of(scale)), SumUnit.of(Grid.of(2 * scale))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_LEAST_SPAN", span)
        patch.setattr(clusters, "_MOST_TOTALS", most)
        patch.setattr(quantised, "_MOST_CACHED", kept)
        with open_passes(data, threads) as passes:
            units = prepare_units(data, passes.reach, sums, counts)
            found = [passes.total_units(centres, units) for _ in range(2)]  # the second one reads what is kept
    batch = total_labelled(units.read_all(), units.most, labels[np.newaxis], count)[0]
    expected = [[0] * (dimension + 1) for _ in range(count)]
    for label, x, w in zip(labels.tolist(), data.points.tolist(), data.weights.tolist(), strict=True):
        for column, value in enumerate((*x, 1)):
            exponent = sums.exponent if column < dimension else counts.exponent
            expected[label][column] += math.trunc(Fraction(w) * Fraction(value) / Fraction(2) ** exponent)
    for totals in (*found, batch):
        assert totals.tolist() == expected


def test_totals_are_the_same_bits_for_every_number_of_threads():
    data, centres = make_data(1, 100_000, 5), np.random.default_rng(2).normal(size=(7, 5))
    found = []
    for threads in (1, 2, 3, 8):
        with open_passes(data, threads) as passes:
            assert passes.threads == threads
            found.append(passes.total(centres))
    for counts, sums in found[1:]:
        assert (counts == found[0][0]).all()
        assert (sums == found[0][1]).all()


def test_layout_of_the_data_does_not_matter():
    data, centres = make_data(3, 3000, 4), np.random.default_rng(4).normal(size=(5, 4))
    wide = np.zeros((3000, 9))
    wide[:, 1:9:2] = data.points
    layouts = [
        data,
        WeightedData(np.asfortranarray(data.points), np.repeat(data.weights, 2)[::2]),
        WeightedData(wide[:, 1:9:2], data.weights[::-1].copy()[::-1]),
    ]
    totals = []
    for layout in layouts:
        with open_passes(layout) as passes:
            totals.append(passes.total(centres))
    for counts, sums in totals[1:]:
        assert (counts == totals[0][0]).all()
        assert (sums == totals[0][1]).all()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(0, 60), st.sampled_from([1e-9, 0.3, 10.0]),
    st.sampled_from([None, 1.0]),
)  # fmt: skip
def test_a_run_equals_algorithm_2_on_the_same_noise(seed, dimension, count, rows, beta, min_count):
    data, centres = make_data(seed, rows, dimension), np.random.default_rng(seed + 1).normal(size=(count, dimension))
    mechanism = WeightedLloyd(initial_centres=centres, iterations=3, beta_count=beta, beta_sum=beta, radius=100)
    noise = mechanism.draw_noise(np.random.default_rng(seed), 1)
    with open_passes(data) as passes:
        found = follow_run(passes, centres, noise, PostProcessing(min_count))
    batch = move_centres(data, centres, noise, PostProcessing(min_count))[0]
    slow = np.array(follow_algorithm_2(data.points.tolist(), data.weights.tolist(), centres, noise.counts[0], noise.sums[0], min_count))
    spread = 1e-7 * (1 + np.abs(slow).max())  # a near-zero count magnifies the rounding of sums; a changed label would be far more
    assert np.abs(found - slow).max() < spread
    assert np.abs(found - batch).max() < spread


def test_large_data_take_the_fast_way_and_small_data_the_other(monkeypatch):
    used = []
    monkeypatch.setattr(lloyd_runs, "follow_run", lambda *arguments: used.append(1) or follow_run(*arguments))
    data = make_data(5, 4000, 3)
    constants = {"initial_centres": np.eye(25, 3), "iterations": 2, "beta_count": 1, "beta_sum": 1, "radius": 10}
    mechanism = WeightedLloyd(**constants, arithmetic="binary64")
    fast = mechanism((data.points, data.weights), np.random.default_rng(6), 3)
    assert used == [1, 1, 1]
    monkeypatch.setattr(lloyd_runs, "_LARGE", 10**9)
    monkeypatch.setattr(lloyd_runs, "_BLOCK", 1)  # noise is drawn run by run, as above
    slow = mechanism((data.points, data.weights), np.random.default_rng(6), 3)
    assert used == [1, 1, 1]
    assert fast == pytest.approx(slow, rel=1e-9)


def test_a_run_needs_no_memory_that_grows_with_rows_or_rows_times_clusters():
    peaks = {}
    for rows, count in ((50_000, 100), (100_000, 100), (100_000, 200)):  # 40, 80 and 160 MB of distances, if they were all kept
        data = make_data(7, rows, 2)
        centres = np.random.default_rng(8).normal(size=(count, 2))
        mechanism = WeightedLloyd(initial_centres=centres, iterations=2, beta_count=1, beta_sum=1, radius=10)
        tracemalloc.start()
        mechanism.run(data.points, data.weights, np.random.default_rng(9))
        peaks[rows, count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert max(peaks.values()) < 12e6
    more = 3e6  # a second thread's blocks, which a short run may do without: all distances would be 40 and 80 MB more
    assert peaks[100_000, 100] < 1.1 * peaks[50_000, 100] + more
    assert peaks[100_000, 200] < 1.1 * peaks[100_000, 100] + more


def test_sums_beyond_the_range_of_floats_are_refused_in_binary64():
    points = np.full((3000, 100), 1e307)
    mechanism = WeightedLloyd(
        initial_centres=np.zeros((1, 100)), iterations=1, beta_count=1, beta_sum=1, p=np.inf, radius="1e308", arithmetic="binary64"
    )
    with pytest.raises(InvalidData, match="weighted sum is beyond the range"):
        mechanism.run(points, None, np.random.default_rng(0))
    with pytest.raises(InvalidData, match="sum of the weights is beyond the range"):
        mechanism.run(points / 1e307, np.full(3000, 1e306), np.random.default_rng(0))


def test_sums_beyond_the_range_of_floats_saturate_in_exact_mode():
    points = np.full((20_000, 14), 2e304)
    constants = {"beta_count": 10, "beta_sum": 10**301, "p": np.inf, "radius": "1e305"}
    lloyds = WeightedLloyd(initial_centres=np.zeros((1, 14)), iterations=1, **constants)
    assert lloyds.run(points, None, 1) == pytest.approx(1.797e308 / 20_000, rel=1e-2)
    del constants["beta_count"]
    assert (KNormSum(dimension=14, **constants).run(-points, None, 1) == -np.finfo(float).max).all()


def test_large_and_small_data_have_one_law_in_exact_mode(monkeypatch):
    """One generator, once in passes and once in batches of one run: the same words for the same noise, and the same exact totals."""
    passed = []
    follow = ClusterPasses.total_units
    monkeypatch.setattr(ClusterPasses, "total_units", lambda *arguments: passed.append(1) or follow(*arguments))
    data = make_data(5, 4000, 3)
    mechanism = WeightedLloyd(initial_centres=np.eye(25, 3), iterations=2, beta_count=1, beta_sum=1, radius=10)
    fast = mechanism((data.points, data.weights), np.random.default_rng(6), 3)
    assert len(passed) == 6
    monkeypatch.setattr(lloyd_runs, "_LARGE", 10**9)
    monkeypatch.setattr(lloyd_runs, "_BLOCK", 1)
    slow = mechanism((data.points, data.weights), np.random.default_rng(6), 3)
    assert len(passed) == 6
    assert (fast == slow).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_has_the_same_bits_for_every_number_of_threads(threads):
    data = make_data(11, 30_000, 4)
    mechanism = WeightedLloyd(initial_centres=np.eye(5, 4), iterations=3, beta_count=20, beta_sum=20, radius=10)
    with threadpool_limits(threads, user_api="blas"):
        found = mechanism.run(data.points, data.weights, 3)
    with threadpool_limits(3 - threads, user_api="blas"):
        assert (mechanism.run(data.points, data.weights, 3) == found).all()


def test_errors_name_the_row_of_the_whole_data_set():
    points = np.zeros((10_000, 2))
    points[7777] = (3, 4)
    mechanism = WeightedLloyd(initial_centres=np.zeros((1, 2)), iterations=1, beta_count=1, beta_sum=1, radius="4.99")
    with pytest.raises(InvalidData, match=r"row 7777 has a larger one"):
        mechanism.run(points, None, np.random.default_rng(0))
    points[8888] = np.nan
    with pytest.raises(InvalidData, match="row 8888 has NaN"):
        mechanism.run(points, None, np.random.default_rng(0))
    assert (to_dataset(points[:7777], 2, 4).weights == 1).all()


def test_overlapping_runs_leave_the_blas_with_its_threads() -> None:
    """The first of two to start is the first to end; the second found a limit of 1, which is not to be restored."""

    def count() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    data = to_dataset(np.ones((10, 2)), None)
    with threadpool_limits(2, user_api="blas"):
        before = count()
        first, second = open_passes(data, 1), open_passes(data, 1)
        first.__enter__()
        assert count() == {1}
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert count() == before
        with open_passes(data, 1):
            assert count() == {1}
