"""Theorem 1.5: k-median and k-means in a metric space."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from accountant.applications.clustering import Multiplicities, PrivateMetricClustering, bound_cost
from benchmarks.metric_clustering import run_approximate, run_exchanges
from benchmarks.onesided.instances import least_cost, points, prove_least, scaled_costs
from benchmarks.study.store import Row, Task

BETA = 0.05
METHODS: dict[str, dict[str, Any]] = {
    "optimal": {},
    "corollary": {"calibration": "corollary"},
    "full": {"histogram": "full"},
}
_PROVABLE = 130


def run_clusters(task: Task) -> list[Row]:
    """Costs of all methods, and the bound, as multiples of that of local search without privacy; ``anything``: the most there is."""
    key = task.key
    name, n, m, k, power, epsilon = (key[item] for item in ("instance", "n", "m", "k", "power", "epsilon"))
    space, counts = points(name, n, m)
    records, costs = int(counts.sum()), scaled_costs(space, power)
    best = least_cost(name, n, m, k, power)

    def relative(centres: object) -> float:
        return float(counts @ costs[:, list(centres)].min(axis=1)) / best  # type: ignore[call-overload]

    models = {
        method: PrivateMetricClustering(space, k, epsilon, power=power, n_bound=records, **options) for method, options in METHODS.items()
    }
    models["automatic"] = PrivateMetricClustering(space, k, epsilon, power=power, n_bound=records, method="auto")
    models["all"] = PrivateMetricClustering(space, k, epsilon, power=power, rounds=space.size, histogram="full")
    data, rows = Multiplicities(counts), list[Row]()
    for seed in range(key["seeds"]):
        for method, model in models.items():
            answer = model.run(data, np.random.default_rng([seed, 1]), bits=np.random.default_rng([seed, 2]))
            rows.append({"method": method, "seed": seed, "value": relative(answer.centres)})
        rng, spent = np.random.default_rng([seed, 3]), float(Fraction(epsilon))
        rows.append({"method": "approximate", "seed": seed, "value": relative(run_approximate(space, counts, k, power, spent, rng))})
        if key["exchanges"] and k > 1:
            rows.append({"method": "exchanges", "seed": seed, "value": relative(run_exchanges(space, counts, k, power, spent, rng))})
        rows.append(
            {"method": "random", "seed": seed, "value": relative(np.random.default_rng([seed, 6]).choice(space.size, k, replace=False))}
        )
    scale = space.diameter**power
    bound = bound_cost(models["optimal"], best * scale, records, BETA) / scale
    rows.append({"method": "bound", "seed": 0, "value": bound / best})
    rows.append({"method": "anything", "seed": 0, "value": records / best})
    if space.size <= _PROVABLE and key["prove"]:
        rows.append({"method": "proved", "seed": 0, "value": prove_least(name, n, m, k, power) / best})
    return [{**row, "records": records, "candidates": space.size, "best": best} for row in rows]
