"""What every application takes for granted, whatever it computes: who prepared the data, and who sees a run."""

from __future__ import annotations

import numpy as np
import pytest

from accountant.applications.clustering import PrivateMetricClustering, read_distances
from accountant.applications.heavyhitters import HeavyHitterMonitor
from accountant.applications.setcover import FreshSampleScaling, PrivateSetCover
from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy
from accountant.applications.submodular.matroids import PrivateMatroidGreedy, UniformMatroid
from profiles.hypotheses import ONLY_OUTPUT, OWN_ENTRY

SPACE = read_distances([[0, 1], [1, 0]])
SYSTEM = CoverageInstance.from_sets([[0], [1]], candidates=2)
MONITOR = HeavyHitterMonitor(k=1, epsilon=1, threshold=2, domain=range(2), times=range(2))
DECLARED = {
    "greedy on all users": OneSidedGreedy(1, 1),
    "greedy": PrivateGreedy(1, 1),
    "matroid": PrivateMatroidGreedy(matroid=UniformMatroid(2, 1), epsilon=1),
    "set cover": PrivateSetCover(1, sets=2),
    "set cover on fresh samples": PrivateSetCover(1, sets=2, algorithm=FreshSampleScaling(max_elements=100), calibration="per-round"),
    "clustering": PrivateMetricClustering(SPACE, k=1, epsilon=1, rounds=1),
    "clustering with a full histogram": PrivateMetricClustering(SPACE, k=1, epsilon=1, size_share="1/4", histogram="full"),
    "hitters": MONITOR,
}
RAN = {
    "greedy": lambda: PrivateGreedy(1, 1).run(SYSTEM, 1, bits=2),
    "matroid": lambda: PrivateMatroidGreedy(matroid=UniformMatroid(2, 1), epsilon=1).run([[0], [1]], 1, bits=2),
    "set cover": lambda: PrivateSetCover(1, sets=2).run(SYSTEM, 1, bits=2),
    "clustering": lambda: PrivateMetricClustering(SPACE, k=1, epsilon=1, rounds=1).run(np.array([0, 1]), 1, bits=2),
    "hitters": lambda: MONITOR.run([(1, 0, 1)], bits=2),
}


@pytest.mark.parametrize("name", DECLARED)
def test_how_the_data_were_made_and_what_is_seen_are_open(name):
    assert {OWN_ENTRY, ONLY_OUTPUT} <= set(DECLARED[name].guarantee.hypotheses)


@pytest.mark.parametrize("name", RAN)
def test_no_run_discharges_them(name):
    assert {OWN_ENTRY, ONLY_OUTPUT} <= set(RAN[name]().guarantee.hypotheses)
