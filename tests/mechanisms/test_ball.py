"""Projection of records: inside the declared ball over the reals, and a function of each record alone, to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.mechanisms.ball import measure_records, project_records, record_norms, widen

NORMS = [1, 2, 3, math.inf]


def within(record, p, radius):
    """Decide ‖x‖_p ≤ r exactly."""
    values = [abs(Fraction(value)) for value in record]
    return max(values) <= radius if math.isinf(p) else sum(value**p for value in values) <= radius**p


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, dimension, p = draw(st.integers(1, 40)), draw(st.integers(1, 12)), draw(st.sampled_from(NORMS))
    points = rng.normal(size=(rows, dimension)) * draw(st.sampled_from([1, 1, 1, 1e-3, 1e160, 1e-160, 1e300, 1e-320]))
    points[:: draw(st.integers(1, 5))] *= draw(st.sampled_from([0, 1, 1e6]))
    if draw(st.booleans()):  # records on the boundary, up to rounding
        norms = record_norms(points, p)
        points = points / np.where((norms > 0) & np.isfinite(norms), norms, 1.0)[:, np.newaxis]
        return points, p, Fraction(draw(st.sampled_from(["1", "0.9999999", "0.5"])))
    return points, p, Fraction(draw(st.sampled_from(["1", "1/3", "0.001", "1e200"])))


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(cases())
def test_projected_records_are_inside_over_the_reals(case):
    points, p, radius = case
    moved = project_records(points, p, radius)
    assert all(within(record, p, widen(radius)) for record in moved.tolist())
    for record, before in zip(moved, points, strict=True):
        if within(before.tolist(), p, radius * (1 - Fraction(1, 10**12))):
            assert (record == before).all()
        if not within(before.tolist(), p, widen(radius)):
            largest = np.abs(before).argmax()
            assert record / record[largest] == pytest.approx(before / before[largest], rel=1e-9, abs=1e-300)
            assert not within(record.tolist(), p, radius * (1 - Fraction(1, 10**12)))


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 2**32 - 1))
def test_projection_is_a_function_of_the_record_alone(case, seed):
    points, p, radius = case
    together = project_records(points, p, radius)
    alone = np.concatenate([project_records(point[np.newaxis], p, radius) for point in points])
    order = np.random.default_rng(seed).permutation(len(points))
    assert (together == alone).all()
    assert (project_records(points[order], p, radius) == together[order]).all()
    assert (project_records(np.asfortranarray(points), p, radius) == together).all()


def test_records_in_many_blocks():
    points = np.random.default_rng(1).normal(size=(10_000, 3))
    moved = project_records(points, 2, Fraction(1))
    assert np.abs(np.linalg.norm(moved, axis=1).max() - 1) < 1e-12
    assert (points == np.random.default_rng(1).normal(size=(10_000, 3))).all()  # the caller's array is left alone
    assert project_records(points, 2, Fraction(100)) is points
    assert record_norms(points, 2) == pytest.approx(np.linalg.norm(points, axis=1), rel=1e-14)


def test_other_exponents():
    points = np.random.default_rng(2).normal(size=(50, 4))
    for p in (1.5, 2.5, 7.0, 100.0):
        assert record_norms(points, p) == pytest.approx(
            np.linalg.norm(points, ord=p, axis=1) if p < 100 else np.abs(points).max(axis=1), rel=2e-3
        )
        assert (record_norms(project_records(points, p, Fraction(1)), p) <= 1 + 1e-14).all()


def test_parts_of_the_norm():
    ratios, lengths, largest = measure_records(np.array([[0.0, 0.0], [1e200, -1e200]]), 2)
    assert ratios.T.tolist() == [[0, 0], [1, -1]]
    assert lengths.tolist() == [1, math.sqrt(2)]
    assert largest.tolist() == [0, 1e200]
