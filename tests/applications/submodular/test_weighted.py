"""Weighted coverage: exact sums of rounded values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular import WeightedCoverage, find_violation
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.weighted import DenseGains, WeightedGains
from profiles import InvalidArgument, InvalidData

VALUES = st.sampled_from([0.0, 1.0, 0.5, 0.1, 1e-12, 2.0**-30, 1 - 2.0**-53]) | st.floats(0, 1)
MATRICES = st.integers(1, 5).flatmap(lambda m: st.lists(st.lists(VALUES, min_size=m, max_size=m), min_size=1, max_size=5))


def value(row, selected, combine) -> int:
    """f_x in units of 2^-30, by definition."""
    units = [int(Fraction(row[c]) * UNIT // 1) for c in selected]
    return max([0, *units]) if combine == "max" else min(UNIT, sum(units))


@settings(max_examples=60, deadline=None)
@given(MATRICES, st.sampled_from(["max", "sum"]), st.sampled_from([WeightedGains, DenseGains]), st.randoms(use_true_random=False))
def test_gains_are_differences(matrix, combine, tracking, random):
    function = WeightedCoverage.from_matrix(np.array(matrix), combine=combine)
    tracker, m = tracking(function), len(matrix[0])
    order = random.sample(range(m), m)
    for step, candidate in enumerate(order):
        for other in order[step:]:
            expected = sum(value(row, [*order[:step], other], combine) - value(row, order[:step], combine) for row in matrix)
            assert tracker.gains[other] == expected
        tracker.add(candidate)


@pytest.mark.parametrize(("filled", "tracking"), [(1.0, DenseGains), (0.7, DenseGains), (0.2, WeightedGains)])
def test_gains_agree_over_blocks_of_rows(monkeypatch, filled, tracking):
    monkeypatch.setattr("accountant.applications.submodular.weighted._BLOCK", 64)
    rng = np.random.default_rng(5)
    matrix = rng.random((500, 7)) * (rng.random((500, 7)) < filled)
    function = WeightedCoverage.from_matrix(matrix)
    shuffled = rng.permutation(matrix.size)
    rows, columns = (index.ravel()[shuffled] for index in np.indices(matrix.shape))
    pairs = WeightedCoverage.from_pairs(rows, columns, matrix.ravel()[shuffled], candidates=7)
    sorted_pairs = WeightedCoverage.from_pairs(3 * np.sort(rows), np.tile(np.arange(7), 500), matrix.ravel(), candidates=7)
    for other in (pairs, sorted_pairs):
        assert all(np.array_equal(getattr(function, name), getattr(other, name)) for name in ("starts", "items", "units"))
    for share in (0.01, 0.5, 1.0):
        part = function.restrict(rng.random(500) < share)
        trackers = [kind(part) for kind in (WeightedGains, DenseGains)]
        assert type(function.track()) is tracking
        for candidate in rng.permutation(7).tolist():
            assert np.array_equal(trackers[0].gains, trackers[1].gains)
            for tracker in trackers:
                tracker.add(candidate)


def test_what_the_caller_may_still_change_is_copied():
    starts, items, units = np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([UNIT, UNIT])
    read_only = units.view()
    read_only.setflags(write=False)
    function = WeightedCoverage(2, starts, items, read_only)
    starts[1], items[0], units[0] = 1, 1, 7
    assert (function.starts.tolist(), function.items.tolist(), function.units.tolist()) == ([0, 2], [0, 1], [UNIT, UNIT])


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("combine", ["max", "sum"])
def test_no_violation_is_found_and_forms_agree(combine):
    rng = np.random.default_rng(2)
    matrix = rng.random((12, 5)) * (rng.random((12, 5)) < 0.6)
    function = WeightedCoverage.from_matrix(matrix, combine=combine)
    assert find_violation(function, rng) is None
    sparse = WeightedCoverage.from_matrix(sp.csr_matrix(matrix), combine=combine)
    assert np.array_equal(sparse.items, function.items)
    assert np.array_equal(sparse.units, function.units)
    kept = rng.random(function.users) < 0.5
    alone = WeightedCoverage.from_matrix(matrix[kept], combine=combine)
    assert np.array_equal(function.restrict(kept).track().gains, alone.track().gains)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: WeightedCoverage.from_matrix([[1.5]]), InvalidData, r"\[0, 1\]"),
        (lambda: WeightedCoverage.from_matrix([[-0.5]]), InvalidData, r"\[0, 1\]"),
        (lambda: WeightedCoverage.from_matrix([[np.nan]]), InvalidData, "NaN"),
        (lambda: WeightedCoverage.from_matrix([["a"]]), InvalidData, "one value per pair"),
        (lambda: WeightedCoverage.from_matrix([0.5]), InvalidData, "one column per candidate"),
        (lambda: WeightedCoverage.from_matrix(np.zeros((2, 0))), InvalidData, "one column per candidate"),
        (lambda: WeightedCoverage.from_matrix([[0.5]], combine="min"), InvalidArgument, "one of max, sum"),
        (lambda: WeightedCoverage.from_pairs([1, 1], [0, 0], [0.5, 0.5], candidates=1), InvalidData, "more than one value"),
        (lambda: WeightedCoverage.from_pairs([1], [1], [0.5], candidates=1), InvalidData, "candidates are 0 to 0"),
        (lambda: WeightedCoverage.from_pairs([1], [0], [], candidates=1), InvalidData, "one value per pair"),
        (lambda: WeightedCoverage(1, np.array([0, 1]), np.array([0]), np.array([UNIT + 1])), InvalidData, "units"),
        (lambda: WeightedCoverage(1, np.array([0, 1]), np.array([0]), np.array([0])), InvalidData, "units"),
    ],
)
def test_unusable_values(make, error, match):
    with pytest.raises(error, match=match):
        make()
