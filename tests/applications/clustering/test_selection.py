"""Scores are exact, monotone, and add up to at most 1 for each record (Assumptions 4.1 and 4.2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.clustering import selection
from accountant.applications.clustering.records import CostTally
from accountant.applications.clustering.selection import CostReductions, count_nearest, select_candidates
from accountant.applications.clustering.space import UNITS
from profiles.randomness.bits import open_bits


def cost(tally: CostTally, chosen: list[int]) -> int:
    """The definition: a record costs 1 while nothing is selected."""
    total = 0
    for row, count in zip(tally.costs.tolist(), tally.counts.tolist(), strict=True):
        total += count * min([UNITS, *(row[c] for c in chosen)])
    return total


@st.composite
def tallies(draw):
    width, rows = draw(st.integers(1, 5)), draw(st.integers(0, 5))
    costs = draw(st.lists(st.lists(st.integers(0, UNITS), min_size=width, max_size=width), min_size=rows, max_size=rows))
    counts = draw(st.lists(st.integers(1, 2**35), min_size=rows, max_size=rows))
    return CostTally(np.array(costs, dtype=np.int32).reshape(rows, width), np.array(counts, dtype=np.int64))


@settings(max_examples=60, deadline=None)
@given(tallies(), st.randoms(use_true_random=False))
def test_gains_are_the_reductions_exactly(tally, random):
    width = tally.costs.shape[1]
    order = random.sample(range(width), width)
    greedy = CostReductions(tally)
    for i, candidate in enumerate(order):
        before = cost(tally, order[:i])
        assert greedy.gains.tolist() == [before - cost(tally, [*order[:i], c]) for c in range(width)]
        greedy.add(candidate)
    assert not greedy.gains.any()


@settings(max_examples=60, deadline=None)
@given(tallies(), st.lists(st.integers(0, UNITS), min_size=5, max_size=5), st.randoms(use_true_random=False))
def test_the_two_assumptions(tally, row, random):
    width = tally.costs.shape[1]
    more = CostTally(
        np.vstack([tally.costs, np.array([row[:width]], dtype=np.int32)]), np.append(tally.counts, 1)
    )  # one record more, anywhere: no triangle inequality is used
    order = random.sample(range(width), width)
    with_it, without, realised = CostReductions(more), CostReductions(tally), 0
    for candidate in order:
        differences = with_it.gains - without.gains
        assert (differences >= 0).all()
        realised += int(differences[candidate])
        with_it.add(candidate)
        without.add(candidate)
    assert realised == UNITS - min(row[:width])  # telescopes: at most 1, in units


def test_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    tally = CostTally(rng.integers(0, UNITS + 1, (40, 7)).astype(np.int32), rng.integers(1, 9, 40))
    expected = [select_candidates(tally, 7, Fraction(1), open_bits(seed)) for seed in range(5)]
    monkeypatch.setattr(selection, "_BLOCK", 10)
    monkeypatch.setattr(selection, "_EXACT", 0)  # integer products throughout
    assert [select_candidates(tally, 7, Fraction(1), open_bits(seed)) for seed in range(5)] == expected
    assert all(sorted(found) == list(range(7)) for found in expected)


def test_a_tie_goes_to_the_first_selected():
    tally = CostTally(np.array([[5, 5, 9], [9, 1, 1]], dtype=np.int32), np.array([3, 4]))
    assert count_nearest(tally, (1, 0, 2)).tolist() == [7, 0, 0]
    assert count_nearest(tally, (2, 0, 1)).tolist() == [4, 3, 0]
    assert count_nearest(CostTally(np.empty((0, 3), dtype=np.int32), np.empty(0, dtype=np.int64)), (2, 0)).tolist() == [0, 0]


@pytest.mark.parametrize("count", [1, 2**37])
def test_large_budgets_take_the_best(count):
    tally = CostTally(np.array([[UNITS, 0, UNITS // 2]], dtype=np.int32), np.array([count]))
    assert select_candidates(tally, 2, Fraction(500), open_bits(1))[0] == 1
