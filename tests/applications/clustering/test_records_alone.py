"""Costs of a record are a function of that record alone: every bit, whatever stands beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.clustering import PrivateMetricClustering, measure_points, measure_records, read_distances
from accountant.applications.clustering.records import MetricRecords
from profiles import InvalidData


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, math.inf]))
def test_rows_do_not_depend_on_the_others(seed, norm):
    rng = np.random.default_rng(seed)
    dimension, users = int(rng.integers(1, 30)), int(rng.integers(1, 40))
    space, points = measure_points(rng.normal(size=(int(rng.integers(2, 30)), dimension)), norm=norm), rng.normal(size=(users, dimension))
    whole = measure_records(space, points).rows
    chosen = rng.permutation(users)[: int(rng.integers(1, users + 1))]
    assert np.array_equal(measure_records(space, points[chosen]).rows, whole[chosen])
    assert np.array_equal(measure_records(space, np.asfortranarray(points)).rows, whole)
    exact = np.linalg.norm(points[:, None] - space.candidates, ord=norm, axis=2)
    assert np.allclose(whole, exact, rtol=1e-12, atol=0)
    for power in (1, 2):  # also what is made of rows, and the candidates that points are moved to
        costs = MetricRecords(space, power, measure_records(space, points)).tally().costs
        assert np.array_equal(MetricRecords(space, power, measure_records(space, points[chosen])).tally().costs, costs[chosen])
    assert np.array_equal(space.snap_points(points[chosen]), space.snap_points(points)[chosen])


def test_rows_are_what_the_mechanism_reads():
    space = measure_points([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    model = PrivateMetricClustering(space, k=1, epsilon=2, rounds=1)
    answer = model.run(measure_records(space, [[5.0, 4.5]] * 500), 1, bits=2)
    assert answer.centres == (2,)


@pytest.mark.parametrize("points", [[[1.0]], [[math.nan, 0.0]], "ab", [1.0, 2.0]])
def test_unusable_points_are_refused(points):
    with pytest.raises(InvalidData):
        measure_records(measure_points([[0.0, 0.0], [1.0, 1.0]]), points)
    with pytest.raises(InvalidData, match="from distances"):
        measure_records(read_distances([[0, 1], [1, 0]]), [[1.0, 1.0]])
