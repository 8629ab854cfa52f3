"""Spaces are checked, and a record's costs are those of that record."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accountant.applications.clustering import DistanceRows, MetricSpace, Multiplicities, measure_points, read_distances
from accountant.applications.clustering.records import MetricRecords
from accountant.applications.clustering.space import UNITS
from profiles import InvalidArgument, InvalidData
from profiles.randomness.bernoulli import PoissonSampler

SPACE = read_distances([[0, 1, 4], [1, 0, 3], [4, 3, 0]])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, 1]], "square"),
        (np.zeros((0, 0)), "square"),
        ([[0, math.nan], [math.nan, 0]], "finite"),
        ([[0, -1], [-1, 0]], "finite and not negative"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[1, 1], [1, 0]], "diagonal"),
    ],
)
def test_what_is_no_metric_is_refused(matrix, words):
    with pytest.raises(InvalidData, match=words):
        read_distances(matrix)


def test_the_triangle_inequality_is_checked_up_to_a_size():
    matrix = [[0, 1, 3], [1, 0, 1], [3, 1, 0]]
    with pytest.raises(InvalidData, match=r"triangle inequality fails: d\(0, 2\) > d\(0, 1\) \+ d\(1, 2\)"):
        read_distances(matrix)
    assert read_distances(matrix, triangle=False).diameter > 0
    assert read_distances(SPACE.distances, triangle=True).diameter == 4
    assert read_distances([[0, 1e308], [1e308, 0]]).diameter == 1e308


def test_diameters():
    assert read_distances([[0.0]]).diameter == 1
    cut = read_distances(SPACE.distances, diameter=2, triangle=True)
    assert cut.distances.max() == 2
    assert cut.diameter == 2
    for wrong in (0, -1, math.inf, math.nan):
        with pytest.raises(InvalidArgument, match="diameter"):
            read_distances(SPACE.distances, diameter=wrong)


def test_points_in_three_norms_and_what_is_refused():
    points = [[0.0, 0.0], [3.0, 4.0]]
    assert [measure_points(points, norm=norm).diameter for norm in (1, 2, math.inf)] == [7, 5, 4]
    with pytest.raises(InvalidArgument, match="norm"):
        measure_points(points, norm=3)
    for wrong in ([], [1.0, 2.0], [[math.nan]]):
        with pytest.raises(InvalidData):
            measure_points(wrong)
    with pytest.raises(InvalidData, match="rescale"):
        measure_points([[1e308], [-1e308]])


def test_a_space_made_by_hand_is_checked():
    for matrix in (np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[math.nan]]), np.zeros((2, 3)), [[0]]):
        with pytest.raises(InvalidData):
            MetricSpace(matrix, 1.0)
    with pytest.raises(InvalidArgument):
        MetricSpace(np.zeros((1, 1)), 0.0)


def test_points_far_away_have_a_nearest_candidate():
    for norm in (1, 2, math.inf):
        plane = measure_points([[0.0, 0.0], [1e150, -1e150], [3.0, 1.0]], norm=norm)
        assert plane.snap_points(np.array([[1.7e308, -1.7e308], [-1.7e308, 1e308], [2.0, 2.0]])).tolist()[::2] == [1, 2]


def test_costs_are_integers_of_the_grid():
    assert SPACE.scale_costs(np.array([0.0, 1.0, 2.0, 4.0, 9.0]), 1).tolist() == [0, UNITS // 4, UNITS // 2, UNITS, UNITS]
    assert SPACE.scale_costs(np.array([0.0, 1.0, 2.0, 4.0, math.inf]), 2).tolist() == [0, UNITS // 16, UNITS // 4, UNITS, UNITS]


def test_every_form_of_the_records_gives_the_same_tally():
    indices = [0, 2, 2, 1, 2]
    by_index = MetricRecords(SPACE, 1, indices).tally()
    by_count = MetricRecords(SPACE, 1, Multiplicities([1, 1, 3])).tally()
    by_row = MetricRecords(SPACE, 1, DistanceRows(SPACE.distances[indices])).tally()
    assert by_index.counts.tolist() == by_count.counts.tolist() == [1, 1, 3]
    assert (by_index.costs == by_count.costs).all()
    assert sorted(map(tuple, by_row.costs.tolist())) == sorted(map(tuple, np.repeat(by_index.costs, by_index.counts, axis=0).tolist()))
    plane = measure_points([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    assert MetricRecords(plane, 1, [[0.2, 0.1], [0.1, 1.9], [0.9, 0.0]]).tally().counts.tolist() == [1, 1, 1]


def test_a_point_is_snapped_by_itself():
    rng = np.random.default_rng(0)
    plane, points = measure_points(rng.random((50, 3))), rng.random((300, 3))
    together = plane.snap_points(points)
    assert together.tolist() == [int(plane.snap_points(row[np.newaxis])[0]) for row in points]
    assert (together[::-1] == plane.snap_points(points[::-1])).all()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([0, 3], "candidate numbers must lie"),
        ([-1], "candidate numbers must lie"),
        ([0.5], "candidate numbers"),
        (["a"], "candidate numbers"),
        ([[0.0, 1.0]], "made from distances"),
        (Multiplicities([1, 2]), "multiplicities"),
        (Multiplicities([1, 2, -1]), "multiplicities"),
        (Multiplicities([1.0, 2.0, 3.0]), "multiplicities"),
        (Multiplicities([2**62, 2**62, 2**62]), "2\\*\\*38"),
        (DistanceRows([[0.0, 1.0]]), "distance rows"),
        (DistanceRows([[0.0, 1.0, math.nan]]), "negative or NaN"),
        (DistanceRows([[0.0, 1.0, -1.0]]), "negative or NaN"),
        (DistanceRows([["a", "b", "c"]]), "numbers"),
    ],
)
def test_unusable_records_are_refused(data, words):
    with pytest.raises(InvalidData, match=words):
        MetricRecords(SPACE, 1, data)


def test_unusable_points_are_refused():
    plane = measure_points([[0.0, 0.0], [1.0, 0.0]])
    for wrong in ([[0.0]], [[math.nan, 0.0]], [[math.inf, 0.0]]):
        with pytest.raises(InvalidData, match="finite points"):
            MetricRecords(plane, 1, wrong)


@pytest.mark.parametrize("data", [[], np.empty(0), Multiplicities([0, 0, 0]), DistanceRows(np.empty((0, 3)))])
def test_no_records(data):
    records = MetricRecords(SPACE, 1, data)
    assert records.tally().counts.size == 0
    assert records.sample(0.5, PoissonSampler(1)).counts.size == 0


def test_samples_of_counts_and_of_indices_have_the_same_law():
    sizes = [int(MetricRecords(SPACE, 1, Multiplicities([0, 0, 40])).sample(0.3, PoissonSampler(seed)).counts.sum()) for seed in range(300)]
    assert abs(np.mean(sizes) - 12) < 6 * math.sqrt(40 * 0.3 * 0.7 / 300)
    same = [int(MetricRecords(SPACE, 1, [2] * 40).sample(0.3, PoissonSampler(seed)).counts.sum()) for seed in range(300)]
    assert same == sizes  # the same bits for the same number of records


def test_what_is_no_array_of_numbers_is_refused():
    """Found as tracebacks of NumPy."""
    for wrong in ("x", [[0, "a"], [1, 0]], [[0, 1], [1]], None, [[0, 10**400], [10**400, 0]]):
        with pytest.raises(InvalidData):
            read_distances(wrong)
        with pytest.raises(InvalidData):
            measure_points(wrong)
    with pytest.raises(InvalidArgument, match="diameter must be a number"):
        read_distances([[0, 1], [1, 0]], diameter="x")


def test_parts_that_are_not_connected_are_a_diameter_apart():
    matrix = [[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]]
    with pytest.raises(InvalidData, match="not connected; give a public diameter"):
        read_distances(matrix)
    assert read_distances(matrix, diameter=7).distances[0].tolist() == [0, 1, 7]
    with pytest.raises(InvalidData, match="finite and not negative"):
        read_distances([[0, np.nan], [np.nan, 0]], diameter=7)
