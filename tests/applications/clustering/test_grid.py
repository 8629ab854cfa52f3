"""Clustering in ℝ^d under an l_p norm: the law over all neighbors, cells against a search, and each inequality of Theorem 8."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.clustering import (
    PrivateMetricClustering,
    bound_cost,
    bound_free_cost,
    measure_grid,
    measure_points,
    measure_records,
)
from accountant.applications.clustering.grid import measure_norm
from accountant.applications.clustering.records import MetricRecords
from accountant.cli.main import invoke
from profiles import InvalidArgument, InvalidData
from profiles.balls import ball, working_precision
from tests.applications.clustering.test_law import losses
from tests.targets.laws.clustering import release_law

NORMS = [1, 1.5, 3, math.inf]
#: In the box, on its corner, and outside of it on two sides.
POINTS = np.array([[0.1, 0.2], [1.0, 1.0], [-3.0, 0.6], [0.7, 9.0]])


def norm_of(gap, p):
    gap = [abs(mpmath.mpf(float(value))) for value in gap]
    return max(gap) if math.isinf(p) else mpmath.fsum(value**p for value in gap) ** (1 / mpmath.mpf(p))


@pytest.mark.parametrize("p", NORMS)
def test_distances_are_those_of_the_norm(p):
    space = measure_grid([(0, 1), (-2, 2)], [3, 2], norm=p)
    with mpmath.workdps(40):
        for i, j in itertools.product(range(space.size), repeat=2):
            truth = norm_of(space.candidates[i] - space.candidates[j], p)
            assert abs(mpmath.mpf(float(space.distances[i, j])) - truth) <= 1e-14 * truth
    assert (space.distances == space.distances.T).all()
    assert not np.diagonal(space.distances).any()


@given(
    st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(st.floats(-3, 3), min_size=d, max_size=d), min_size=1, max_size=5)),
    st.sampled_from([1.0, 1.25, 2.0, 3.5, 40.0, math.inf]),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_a_cell_is_nearest_in_every_norm_and_within_the_radius(rows, p, cells):
    points = np.array(rows)
    space = measure_grid([(-1, 2)] * points.shape[1], cells, norm=p)
    found = space.snap_points(points)
    moved = np.clip(points, -1, 2)
    for row, number in zip(moved, found.tolist(), strict=True):
        gaps = [np.abs(column) for column in (space.candidates - row).T]
        away = measure_norm(gaps, p)
        assert away[number] <= away.min() * (1 + 1e-12) + 1e-12
        assert away[number] <= space.grid.radius
        # projecting a centre onto the box brings it no farther from a point of the box
    for outside, inside in itertools.product(points, moved):
        before, after = (float(measure_norm(np.abs(c - inside)[:, np.newaxis], p)[0]) for c in (outside, np.clip(outside, -1, 2)))
        assert after <= before * (1 + 1e-12)


def test_each_point_is_moved_by_itself():
    space = measure_grid([(0, 1), (0, 1)], 7, norm=3)
    points = np.random.default_rng(1).random((1000, 2)) * 3 - 1
    whole = space.snap_points(points)
    assert all(space.snap_points(points[i : i + 1])[0] == whole[i] for i in range(1000))
    assert space.snap_points(np.empty((0, 2))).shape == (0,)
    assert space.snap_points(np.array([[1e300, -1e300]])).tolist() == [42]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("p", "options"),
    [(3, {"rounds": 1}), (1, {"rounds": 2, "power": 2}), (1.5, {"rounds": 2, "split": "1/4"}),
     (math.inf, {"rounds": 2, "histogram": "full"}),
     (3, {"method": "everything"}), (1.5, {"size_share": "1/3"})],
)  # fmt: skip
def test_the_law_over_all_neighbors(p, options):
    """Data sets of up to 3 of 4 points, two of them outside of the box: both directions, after the sample and (one-sided) before it."""
    space = measure_grid([(0, 1), (0, 1)], [2, 2] if options.get("rounds") == 1 else [3, 1], norm=p)
    model = PrivateMetricClustering(space, 1, "3/4", **options)
    cells = space.snap_points(POINTS)
    most = 3 if options.get("rounds") == 1 else 2

    def law_of(data):
        return release_law(model, [int(cells[i]) for i in data], most=most)

    remove, add = losses(law_of, len(POINTS), most)
    target = model.guarantee.bound.epsilon
    with working_precision(256):
        reached = arb(target.numerator) / target.denominator + arb(10) ** -60  # balls of equal numbers overlap
        assert remove <= reached
        assert add <= reached
        assert remove.max(add) > 0.4
        if not model.budget.full:

            def one_sided(data):
                return release_law(model, [int(cells[i]) for i in data], most=most, sampling=False)

            before, without = losses(one_sided, len(POINTS), most)
            assert before <= ball(model.budget.plan.epsilon0) + arb(10) ** -60
            assert not without.is_finite()  # one-sided: the other direction has no loss


def test_what_runs_reads_points_as_these_cells():
    space = measure_grid([(0, 1), (0, 1)], [3, 2], norm=3)
    by_points = MetricRecords(space, 1, POINTS).tally()
    by_cells = MetricRecords(space, 1, space.snap_points(POINTS)).tally()
    assert (by_points.costs == by_cells.costs).all()
    assert (by_points.counts == by_cells.counts).all()


@pytest.mark.parametrize(("p", "power"), [(1, 1), (3, 1), (1.5, 2), (math.inf, 2)])
def test_the_inequalities_of_theorem_8(p, power):
    """On random points: OPT of the moved records on candidates, and costs of the records themselves, against any centres of the plane."""
    rng = np.random.default_rng(int(10 * power + 3))
    space = measure_grid([(0, 1), (0, 1)], 5, norm=p)
    for _ in range(20):
        n, k = 30, 2
        points, centres = rng.random((n, 2)), rng.random((k, 2)) * 2 - 0.5

        def cost(records, chosen):
            away = np.stack([measure_norm(np.abs(records - c).T, p) for c in chosen])
            return float((away.min(axis=0) ** power).sum())

        free = cost(points, centres)
        cells = space.snap_points(points)
        near = space.candidates[space.snap_points(centres)]
        shift = space.grid.radius * n ** (1 / power)
        assert cost(space.candidates[cells], near) ** (1 / power) <= free ** (1 / power) + 2 * shift + 1e-9
        assert cost(points, near) ** (1 / power) <= cost(space.candidates[cells], near) ** (1 / power) + shift + 1e-9


def test_the_bound_holds_and_says_something():
    rng = np.random.default_rng(5)
    people = np.vstack([rng.normal(middle, 0.02, size=(200_000, 2)) for middle in (0.25, 0.75)]).clip(0, 1)
    space = measure_grid([(0, 1), (0, 1)], 20, norm=3)
    model = PrivateMetricClustering(space, 2, 1, n_bound=10**6)
    free = sum(
        float(measure_norm(np.abs(part - middle).T, 3).sum()) for part, middle in ((people[:200_000], 0.25), (people[200_000:], 0.75))
    )
    bound = bound_free_cost(model, free, len(people), 0.05)
    answer = model.run(people, 1, bits=2)
    away = np.stack([measure_norm(np.abs(people - space.candidates[c]).T, 3) for c in answer.centres]).min(axis=0).sum()
    assert away <= bound
    assert away < 1.5 * (free + space.grid.radius * len(people))
    assert bound_cost(model, free, len(people), 0.05) < bound <= len(people) * space.diameter


def test_what_is_refused():
    for arguments in (
        ([(0, 1)], 2, 0.5), ([(0, 1)], 2, math.nan), ([(1, 0)], 2, 2), ([(0, math.inf)], 2, 2), ([], 2, 2), ([(0, 1), (0, 1)], [2], 2),
        ([(0, 1)], 0, 2), ([(0, 1)], 10_001, 2), ([(0, 1)] * 3, 22, 2), ([(0, 1e-322)], 100, 2), ([(0,)], 2, 2), ([(0, 1)], 1.5, 2),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument):
            measure_grid(arguments[0], arguments[1], norm=arguments[2])
    with pytest.raises(InvalidData):
        measure_grid([(0, 1)], 3).snap_points(np.array([[math.nan]]))
    with pytest.raises(InvalidArgument, match="powers"):
        measure_records(measure_grid([(0, 1)], 3, norm=3), [[0.5]])
    assert measure_records(measure_grid([(0, 1)], 2, norm=1), [[0.5]]).rows.tolist() == [[0.25, 0.25]]
    with pytest.raises(InvalidArgument, match="measure_grid"):
        bound_free_cost(PrivateMetricClustering(measure_points([[0.0], [1.0]]), 1, 1, rounds=1), 1, 1, 0.5)
    for optimum in (-1, math.nan):
        with pytest.raises(InvalidArgument):
            bound_free_cost(PrivateMetricClustering(measure_grid([(0, 1)], 2), 1, 1, rounds=1), optimum, 1, 0.5)


@pytest.mark.parametrize(
    "options",
    [["--box", "0:8,0:3", "--norm", "0.5"], ["--box", "8:0,0:3"], ["--box", "a"], ["--box", "0:8"], ["--box", "0:8,0:3", "--grid", "200"],
     ["--points", "examples/grid.csv", "--norm", "3"], ["--box", "0:8,0:3", "--points", "examples/grid.csv"]],
)  # fmt: skip
def test_the_command_refuses_in_one_line(options, capsys):
    assert invoke(["cluster", "examples/petals.csv", *options, "--columns", "length,width", "-k", "2", "-e", "1", "--n-bound", "1000"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
