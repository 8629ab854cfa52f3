"""Labels found fast are those of the definition, whatever block, position, thread or other record is around."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.mechanisms import nearest
from profiles.mechanisms.datasets import find_reach
from profiles.mechanisms.lloyd_runs import assign_nearest
from profiles.mechanisms.nearest import Screen, find_nearest, label_by_definition, prepare_search


def define(record, centres):
    """The definition in plain Python floats."""
    best, label = float("inf"), 0
    for j, centre in enumerate(centres):
        distance = 0.0
        for a, b in zip(record, centre, strict=True):
            gap = a - b
            distance += gap * gap
        if distance < best:
            best, label = distance, j
    return label


@st.composite
def cases(draw):
    """Records and centres with what makes screening hard: ties, doubles, offsets, far centres, extreme and unequal scales."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dimension, clusters, rows = draw(st.integers(1, 30)), draw(st.integers(1, 12)), draw(st.integers(1, 80))
    points, centres = rng.normal(size=(rows, dimension)), rng.normal(size=(clusters, dimension))
    kind = draw(st.sampled_from(["plain", "grid", "doubles", "bisector", "offset", "far", "one coordinate"]))
    if kind == "grid":
        points, centres = np.round(points), np.round(centres)
    elif kind == "doubles":
        centres = centres[rng.integers(0, clusters, clusters)]
        points[::2] = centres[rng.integers(0, clusters, len(points[::2]))]
    elif kind == "bisector" and clusters > 1:
        across = centres[1] - centres[0]
        points -= np.outer(points @ across / (across @ across), across)
        points += (centres[0] + centres[1]) / 2
    elif kind == "offset":
        points, centres = points + 1e7, centres + 1e7
    elif kind == "far":
        centres *= 10.0 ** rng.integers(-2, 9, size=(clusters, 1))
    elif kind == "one coordinate":
        points[:, 1:], centres[:, 1:] = 0, 0
    scale = 2.0 ** draw(st.sampled_from([0, 0, 0, -30, 30, 70, -70, -200, 200, -450, -520, -530, 480, 511, 600, -1060]))
    return points * scale, centres * scale


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(cases())
def test_every_label_is_that_of_the_definition(case):
    points, centres = case
    expected = [define(point, centres.tolist()) for point in points.tolist()]
    assert label_by_definition(points, centres).tolist() == expected
    assert find_nearest(points, centres).tolist() == expected
    assert assign_nearest(points, centres[np.newaxis])[0].tolist() == expected


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(0, 2**32 - 1))
def test_one_more_record_or_another_order_changes_no_label(case, seed):
    points, centres = case
    labels = find_nearest(points, centres)
    order = np.random.default_rng(seed).permutation(len(points))
    assert find_nearest(points[order], centres).tolist() == labels[order].tolist()
    assert find_nearest(points[1:], centres).tolist() == labels[1:].tolist()
    assert find_nearest(np.asfortranarray(points), centres).tolist() == labels.tolist()


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([0, 1]))
def test_scores_are_within_half_the_slack(case, which):
    points, centres = case
    search = prepare_search(centres, find_reach(points))
    if which >= len(search.screens):
        return
    screen = search.screens[which]
    dtype = screen.matrix.dtype
    extended = np.column_stack([points, np.ones(len(points))]).astype(dtype)
    scores = screen.matrix @ extended.T
    for row, point in list(enumerate(points))[:2]:
        for j, centre in list(enumerate(search.centres))[:3]:
            exact = sum(Fraction(c) ** 2 - 2 * Fraction(c) * Fraction(x) for c, x in zip(centre.tolist(), point.tolist(), strict=True))
            assert abs(Fraction(float(scores[j, row])) - exact) <= Fraction(screen.slack) / 2


@pytest.mark.parametrize("clusters", [2, 255, 256, 257, 300])
def test_many_centres(clusters):
    rng = np.random.default_rng(1)
    points, centres = rng.normal(size=(200, 3)), rng.normal(size=(clusters, 3))
    assert find_nearest(points, centres).tolist() == label_by_definition(points, centres).tolist()
    copies = np.repeat(centres[:1], clusters, axis=0)  # all tied: a sum of near marks must not overflow
    assert find_nearest(points, copies).tolist() == [0] * 200


def test_screens_settle_almost_all_rows_of_ordinary_data():
    rng = np.random.default_rng(2)
    points, centres = rng.normal(size=(20_000, 22)), rng.normal(size=(25, 22))
    single, double = prepare_search(centres, find_reach(points)).screens
    assert len(single.label(points)[1]) < 60
    assert len(double.label(points)[1]) == 0


def test_rows_that_single_precision_leaves_open_go_to_double_precision():
    rng = np.random.default_rng(3)
    points, centres = rng.normal(size=(500, 5)) + 1e4, rng.normal(size=(6, 5)) + 1e4
    single, double = prepare_search(centres, find_reach(points)).screens
    assert len(single.label(points)[1]) > 400
    assert len(double.label(points)[1]) == 0
    assert find_nearest(points, centres).tolist() == label_by_definition(points, centres).tolist()


def test_without_slack_labels_would_be_wrong():
    """The tests above can fail: with τ = 0 either format decides wrongly near a bisector."""
    rng = np.random.default_rng(4)
    points, centres = rng.normal(size=(500, 22)) / 10, rng.normal(size=(25, 22))
    across = centres[1] - centres[0]
    points += (centres[0] + centres[1]) / 2 - np.outer(points @ across / (across @ across), across)
    truth = label_by_definition(points, centres)
    for screen in prepare_search(centres, find_reach(points)).screens:
        for slack, wrong in ((0.0, True), (screen.slack, False)):
            labels, left = Screen(screen.matrix, slack).label(points)
            settled = np.delete(labels, left) != np.delete(truth, left)
            assert settled.any() == wrong


def test_centres_that_cannot_be_nearest_are_left_out():
    centres = np.array([[3.1, 0.0], [0.0, 0.5], [1e9, 0.0], [0.0, -2.4]])
    search = prepare_search(centres, 1.0)
    assert search.kept.tolist() == [1, 3]  # |c|² − 0.25 > 2 ‖c − (0, 0.5)‖ for the first and third
    assert prepare_search(centres, 10.0).kept.tolist() == [0, 1, 3]
    assert prepare_search(centres[[0]], 1.0).kept.tolist() == [0]
    on_the_circle = np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0, 6, 400)])
    assert search.kept[search.label(on_the_circle)].tolist() == label_by_definition(on_the_circle, centres).tolist()


def test_formats_are_used_only_where_they_neither_overflow_nor_underflow():
    centres = np.array([[1.0], [-1.0]])
    assert [screen.matrix.dtype for screen in prepare_search(centres, 1.0).screens] == [np.float32, np.float64]
    assert [screen.matrix.dtype for screen in prepare_search(centres * 2.0**70, 1.0).screens] == [np.float64]
    assert prepare_search(centres * 2.0**600, 2.0**600).screens == ()
    assert prepare_search(centres * 2.0**-600, 2.0**-600).screens == ()
    assert prepare_search(centres, float("inf")).screens == ()


def test_reach_is_an_upper_bound():
    rng = np.random.default_rng(5)
    for scale in (1.0, 1e-140, 1e140):
        points = rng.normal(size=(5000, 2)) * scale
        exact = max(sum(Fraction(x) ** 2 for x in point) for point in points.tolist())
        reach = Fraction(find_reach(points))
        assert exact <= reach**2 <= exact * (1 + Fraction(1, 2**18))
    assert find_reach(np.full((1, 2), 1e200)) == np.inf
    assert find_reach(np.zeros((0, 2))) < 1e-100


@pytest.mark.thorough
def test_extra_memory_does_not_grow_with_rows_times_centres():
    rng = np.random.default_rng(6)
    centres = rng.normal(size=(200, 2))
    peaks = []
    for rows in (50_000, 100_000):  # 80 and 160 MB of scores, if they were all kept
        points = rng.normal(size=(rows, 2))
        tracemalloc.start()
        find_nearest(points, centres)
        peaks.append(tracemalloc.get_traced_memory()[1] - 4 * rows)  # the labels themselves
        tracemalloc.stop()
    assert max(peaks) < 10e6
    assert peaks[1] < 1.1 * peaks[0]


def test_blocks_have_a_bounded_number_of_entries():
    for clusters, dimension in ((25, 22), (1000, 3), (3, 1000), (10**4, 2)):
        block = prepare_search(np.random.default_rng(0).normal(size=(clusters, dimension)), 1e3).block
        assert block * max(clusters, dimension) <= max(nearest._ENTRIES, nearest._LEAST_ROWS * max(clusters, dimension))
