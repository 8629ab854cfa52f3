"""The parts of the methods against their definitions: merging, shrinkage, the spectrum, trees, shares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans

from accountant.applications.budget.protocols import Cells
from accountant.applications.kmeans.method.merging import merge_points
from accountant.applications.kmeans.method.rounds import assign_nearest, divide_left
from accountant.applications.kmeans.method.shrinking import CellTotals, compute_means, confine, denoise_sums, read_totals, shrink_means
from accountant.applications.kmeans.method.tree import plant_tree
from profiles.mechanisms.nearest import label_by_definition

FLOATS = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-6 else 0.0)


def make_totals(counts, sums, energy=0.0, cells=None, variance=0.0):
    counts = np.asarray(counts, dtype=float)
    return CellTotals(
        counts, np.asarray(sums, dtype=float), np.ones(len(counts)) if cells is None else np.asarray(cells, float), variance, energy
    )


@given(parts=st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_shares_of_what_is_left_are_the_parts_of_the_whole(parts):
    whole = [Fraction(part, sum(parts)) for part in parts]
    left = Fraction(1)
    for share, part in zip(divide_left(whole), whole, strict=True):
        assert 0 < share <= 1
        assert share * left == part
        left -= part
    assert left == 0
    assert divide_left(whole)[-1] == 1


@pytest.mark.thorough
@settings(max_examples=40)
@given(
    points=arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=FLOATS),
    clusters=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
)
def test_merging_labels_every_point(points, clusters, seed):
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=len(points))
    labels = merge_points(points, weights, clusters, np.random.default_rng(seed))
    assert labels.shape == (len(points),)
    assert 0 <= labels.min() <= labels.max() < min(clusters, len(points))


@pytest.mark.thorough
def test_merging_is_as_good_as_that_of_scikit_learn():
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(200, 3)), rng.uniform(0.1, 5, 200)

    def cost(labels):
        total = 0.0
        for label in np.unique(labels):
            own, mass = points[labels == label], weights[labels == label]
            total += float(mass @ np.square(own - np.average(own, axis=0, weights=mass)).sum(axis=1))
        return total

    ours = cost(merge_points(points, weights, 8, rng))
    theirs = KMeans(8, n_init=10, random_state=0).fit(points, sample_weight=weights).inertia_
    assert ours <= 1.03 * theirs


def test_merging_weighs():
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    weights = np.array([1e6, 1e6, 1.0, 1.0])
    labels = merge_points(points, weights, 2, np.random.default_rng(0))
    # splitting 0 from 1 saves half a million, splitting {0, 1} from {10, 11} 200
    assert labels[0] != labels[1]


def test_merging_copies_of_one_point():
    assert set(merge_points(np.ones((7, 2)), np.ones(7), 3, np.random.default_rng(0)).tolist()) <= {0, 1, 2}


@pytest.mark.thorough
@given(
    mean=arrays(np.float64, (3,), elements=st.floats(-10, 10)),
    count=st.floats(1, 1e6),
    energy=st.floats(0, 1e9),
    cells=st.integers(1, 9),
)
def test_james_stein_by_its_formula(mean, count, energy, cells):
    found = shrink_means(make_totals([count], [mean * count], energy, [cells]), 1e9)[0]
    square, noise = float(mean @ mean), cells * energy / count**2
    factor = max(0.0, 1 - noise / square) if square > 0 else 0.0
    assert np.allclose(found, factor * mean, rtol=1e-6, atol=1e-9)
    assert np.linalg.norm(found) <= np.linalg.norm(mean) * (1 + 1e-12)


def test_shrinkage_lowers_the_error_of_noisy_means():
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(4000, 5)) / 3
    noisy = truth + rng.normal(size=truth.shape)
    totals = make_totals(np.ones(len(truth)), noisy, 5.0)
    assert np.square(shrink_means(totals, np.inf) - truth).sum() < 0.5 * np.square(noisy - truth).sum()


@pytest.mark.parametrize("shape", [(30, 60), (60, 30), (5, 40)])
def test_the_spectrum_finds_directions_that_rows_do_not_show(shape):
    """Rank one below the noise of each row: denoising beats both the rows and 0."""
    rng = np.random.default_rng(7)
    signal = 3 * np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1])) / np.sqrt(sum(shape)) ** 0.5
    sums = signal + rng.normal(size=shape)
    found = denoise_sums(make_totals(np.ones(shape[0]), sums, float(shape[1]))).sums
    error = np.square(found - signal).sum()
    assert error < 0.6 * min(np.square(sums - signal).sum(), np.square(signal).sum())


@pytest.mark.parametrize("shape", [(40, 80), (80, 40), (60, 60)])
def test_pure_noise_nearly_vanishes(shape):
    sums = np.random.default_rng(8).normal(size=shape) * 5
    found = denoise_sums(make_totals(np.ones(shape[0]), sums, 25.0 * shape[1])).sums
    assert np.square(found).sum() < 0.1 * np.square(sums).sum()


def test_spectral_shrinkage_by_its_formula():
    """One singular value, put together by hand: y = 3, β = 1/4."""
    rng = np.random.default_rng(9)
    left, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    right, _ = np.linalg.qr(rng.normal(size=(16, 16)))
    value, deviation = 3 * 2.0 * 4, 2.0
    sums = value * np.outer(left[:, 0], right[:, 0])
    found = denoise_sums(make_totals(np.ones(4), sums, deviation**2 * 16)).sums
    expected = np.sqrt((9 - 0.25 - 1) ** 2 - 1) / 3 * deviation * 4
    assert np.allclose(found, expected * np.outer(left[:, 0], right[:, 0]), atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("louder", [1.0, 4.0])
def test_sums_about_the_same_directions_make_them_better_known(louder):
    """Two cells of 40 dimensions about two directions, and earlier cells about the same ones, with noise of their own size."""
    rng = np.random.default_rng(10)
    directions = rng.normal(size=(2, 40))
    alone = joint = 0.0
    for _ in range(20):
        truth, before = (rng.normal(size=(count, 2)) @ directions for count in (8, 64))
        now = make_totals(np.ones(8), truth + rng.normal(size=truth.shape), 40.0)
        earlier = make_totals(np.ones(64), louder * (before + rng.normal(size=before.shape)), 40.0 * louder**2)
        alone += np.square(denoise_sums(now).sums - truth).sum()
        joint += np.square(denoise_sums(now, earlier).sums - truth).sum()
    assert joint < 0.6 * alone


def test_no_cells_or_no_noise_are_left_as_they_are():
    noisy, quiet = make_totals([4.0], [[3.0, 4.0]], 2.0), make_totals([4.0], [[3.0, 4.0]], 0.0)
    for now, earlier in ((noisy, quiet), (quiet, noisy), (quiet, None), (noisy.pick(np.array([False])), noisy)):
        assert denoise_sums(now, earlier) is now


def test_unions_have_the_noise_of_their_cells():
    totals = make_totals([1, 2, 3], [[1, 0], [0, 1], [5, 5]], 4.0, variance=9.0)
    merged = totals.merge(np.array([1, 0, 1]))
    assert merged.counts.tolist() == [2, 4]
    assert merged.sums.tolist() == [[0, 1], [6, 5]]
    assert merged.cells.tolist() == [1, 2]
    # 2 √(2·9) > 4: a union is judged by its own noise
    assert merged.usable.tolist() == [False, False]
    assert make_totals([7, 9], np.zeros((2, 2)), cells=[1, 2], variance=9.0).usable.tolist() == [True, True]
    assert totals.merge(np.zeros(3, dtype=np.intp)).counts.tolist() == [6]


def test_counts_without_sums_have_no_means():
    assert read_totals(Cells(np.ones(3), None, 1.0, 0.0)).sums.shape == (3, 0)


@pytest.mark.thorough
@given(arrays(np.float64, (6, 3), elements=FLOATS), st.floats(1e-3, 1e3))
def test_confined_points_are_in_the_ball_on_their_ray(points, radius):
    found = confine(points, radius)
    assert np.linalg.norm(found, axis=1).max() <= radius * (1 + 1e-12)
    inside = np.linalg.norm(points, axis=1) <= radius
    assert np.array_equal(found[inside], points[inside])
    assert np.allclose(np.cross(found, points), 0, atol=1e-9 * np.square(points).max(initial=1))


def test_small_counts_divide_by_one_at_least():
    assert compute_means(make_totals([0.25, -3.0], [[0.5], [0.5]]), 2.0).tolist() == [[0.5], [0.5]]


@pytest.mark.thorough
@settings(max_examples=25)
@given(arrays(np.float64, (20, 3), elements=st.floats(-1, 1)), st.integers(1, 9), st.integers(0, 99))
def test_cells_of_centres_are_those_of_the_definition(rows, cells, seed):
    rows = confine(rows, 1.0)
    centres = np.random.default_rng(seed).normal(size=(cells, 3))
    labels = assign_nearest(centres, 1.0)(rows)
    assert labels.tolist() == label_by_definition(rows, centres).tolist()


@pytest.mark.thorough
@settings(max_examples=25)
@given(
    rows=arrays(np.float64, st.tuples(st.integers(0, 40), st.just(2)), elements=st.floats(-3, 3)),
    choices=st.lists(st.integers(0, 2**12 - 1), min_size=0, max_size=6),
)
def test_boxes_of_a_tree_cover_the_plane_once(rows, choices):
    tree = plant_tree(2, 1.0)
    for choice in choices:
        which = np.array([(choice >> (number % 12)) & 1 for number in range(len(tree.leaves))], dtype=bool)
        kept, volume = tree.leaves[~which], np.prod(tree.high[tree.leaves] - tree.low[tree.leaves], axis=1)
        grown = tree.cut(which)
        assert grown.leaves[: len(kept)].tolist() == kept.tolist()
        assert np.prod(grown.high[grown.leaves] - grown.low[grown.leaves], axis=1).sum() == pytest.approx(volume.sum())
        tree = grown
    labels = tree.assign(rows)
    assert labels.shape == (len(rows),)
    for row, label in zip(rows, labels, strict=True):
        box = tree.leaves[label]
        low, high = tree.low[box], tree.high[box]
        # outside of the cube a row belongs to a box at the boundary
        assert ((row >= low) | (low == -1)).all()
        assert ((row < high) | (high == 1)).all()


def test_a_tree_cuts_the_longest_side_in_the_middle():
    tree = plant_tree(2, 1.0).cut(np.array([True])).cut(np.array([True, False]))
    assert tree.axes[0] == 0
    assert tree.axes[1] == 1
    assert tree.low[tree.leaves].tolist() == [[0, -1], [-1, -1], [-1, 0]]
    assert tree.high[tree.leaves].tolist() == [[1, 1], [0, 0], [0, 1]]
