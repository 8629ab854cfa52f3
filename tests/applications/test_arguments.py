"""Numbers of NumPy are numbers; what is none, or no object of the kind that is needed, is refused by name before anything is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from accountant.applications.clustering import DistanceRows, PrivateMetricClustering, measure_points, read_distances
from accountant.applications.heavyhitters import HeavyHitterMonitor, plan_threshold
from accountant.applications.setcover import PrivateSetCover
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy, bound_one_sided, expect_loss
from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from profiles import PDPError

USERS = CoverageInstance.from_sets([[0], [1, 2], []], candidates=3)
SPACE = read_distances([[0, 1], [1, 0]])
MATROID = UniformMatroid(3, 2)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_integers_of_numpy_are_integers(kind):
    """The bound of an answer is computed after its noise was drawn and charged: a TypeError there would lose both."""
    two, one = kind(2), kind(1)
    assert PrivateGreedy(two, 1).run(USERS, 1, bits=2) == PrivateGreedy(2, 1).run(USERS, 1, bits=2)
    assert PrivateGreedy(two, 1, users=kind(9), candidates=kind(3)).plan == PrivateGreedy(2, 1, users=9, candidates=3).plan
    assert OneSidedGreedy(two, 1).run(USERS, 1).selected == OneSidedGreedy(2, 1).run(USERS, 1).selected
    assert bound_one_sided(kind(9), two, 1, "0.1") == bound_one_sided(9, 2, 1, "0.1")
    assert expect_loss(kind(9), two, "kept") == expect_loss(9, 2, "kept")
    models = [PrivateMatroidGreedy(matroid=MATROID, epsilon=1, rounds=n, roundings=n, draws=n) for n in (2, two)]
    assert models[0].run([{0}], 1, bits=2) == models[1].run([{0}], 1, bits=2)
    assert PrivateMatroidGreedy.from_optimum(kind(9), matroid=MATROID, epsilon=1) == PrivateMatroidGreedy.from_optimum(
        "9", matroid=MATROID, epsilon=1
    )
    assert PrivateMetricClustering(SPACE, one, 1, kind(2), n_bound=kind(9)).run([0, 1], 1, bits=2).centres
    assert PrivateSetCover(1, kind(3)).run(USERS, 1, bits=2).permutation.size == 3
    plan = plan_threshold(two, 1, "0.1", steps=two, domain_size=two)
    assert HeavyHitterMonitor.from_plan(plan, domain=range(2), times=range(2)).threshold == plan.threshold


@pytest.mark.thorough
@pytest.mark.parametrize("given", [None, 2.5, "x", b"1", [], {}, object(), 1j, np.array(1)], ids=lambda given: type(given).__name__)
def test_what_is_of_another_kind_is_refused_by_name(given):
    monitor = HeavyHitterMonitor(1, 1, 3, range(3), range(3))
    attempts = [
        lambda: PrivateGreedy(given, 1),
        lambda: PrivateGreedy(1, 1).run(given, 1),
        lambda: OneSidedGreedy(1, 1, given),
        lambda: PrivateMatroidGreedy(matroid=given, epsilon=1),
        lambda: PrivateMatroidGreedy(matroid=MATROID, epsilon=1, roundings=given),
        lambda: PrivateSetCover(1, 3, given),
        lambda: PrivateSetCover(1, 3).run(given, 1),
        lambda: PrivateMetricClustering(given, 1, 1, n_bound=3),
        lambda: monitor.run([(given, 1, 1), given], bits=1),
        lambda: HeavyHitterMonitor(1, 1, 3, given, range(3)),
    ]
    for place, attempt in enumerate(attempts):
        with pytest.raises(PDPError):
            pytest.fail(f"accepted: {place}, {attempt()}")


def test_other_objects_and_numbers_are_refused_by_name():
    for attempt in (
        lambda: PrivateMatroidGreedy(matroid=MATROID, epsilon=1, objective=3),
        lambda: PrivateMatroidGreedy(matroid=MATROID, epsilon=1, roundings=10**40),
        lambda: PrivateMatroidGreedy.from_optimum("many", matroid=MATROID, epsilon=1),
        lambda: HeavyHitterMonitor(1, 1, 3, range(3), range(3)).run(5, bits=1),
        lambda: HeavyHitterMonitor(1, 1, 3, range(3), range(3)).run([(1, 1, [])], bits=1),
        lambda: PrivateMetricClustering(SPACE, 1, 1, n_bound=3).run(DistanceRows(np.ones((1, 2)) * 1j), 1),
        lambda: measure_points(np.ones((2, 2)) * 1j),
    ):
        with pytest.raises(PDPError):
            attempt()
