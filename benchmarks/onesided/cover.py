"""Theorem 1.4: set cover."""

from __future__ import annotations

from typing import Literal

import numpy as np

from accountant.applications.setcover import (
    FreshSampleScaling,
    NoisyGreedy,
    OneSampleScaling,
    PrivateSetCover,
    cover_cost,
    greedy_cover,
    gupta_cover,
)
from accountant.applications.setcover.algorithms import Algorithm
from accountant.applications.submodular import PrivateGreedy
from benchmarks.onesided.instances import cover, least_cover
from benchmarks.study.store import Row, Task

GUESS = 2**20
DELTA = 1e-6
_FRESH = FreshSampleScaling(max_elements=GUESS)
METHODS: dict[str, tuple[Algorithm, str]] = {
    "noisy": (NoisyGreedy(), "optimal"),
    "one-sample": (OneSampleScaling(max_elements=GUESS), "optimal"),
    "fresh": (_FRESH, "optimal"),
    "fresh-corollary": (_FRESH, "corollary"),
}
#: Appendix F: the exponential mechanism on one sample until no set is left.
EXPONENTIAL: dict[str, Literal["optimal", "corollary"]] = {"exponential": "optimal", "exponential-corollary": "corollary"}


def run_cover(task: Task) -> list[Row]:
    """Costs (numbers of sets) of all methods, of greedy and the smallest cover known, and the bound of Theorem 1.4 as a number of sets."""
    key = task.key
    epsilon, shape = key["epsilon"], (key["instance"], key["n"], key["m"], key["k"])
    system = cover(*shape)
    rows: list[Row] = []
    for seed in range(key["seeds"]):
        for name, (algorithm, calibration) in METHODS.items():
            plan = PrivateSetCover(epsilon, system.candidates, algorithm, calibration)
            answer = plan.run(system, np.random.default_rng([seed, 1]), bits=np.random.default_rng([seed, 2]))
            rows.append({"method": name, "seed": seed, "value": cover_cost(answer.permutation, system)})
        for name, choice in EXPONENTIAL.items():
            mechanism = PrivateGreedy(system.candidates, epsilon, choice, "fresh")
            selected = mechanism.run(system, np.random.default_rng([seed, 4]), bits=np.random.default_rng([seed, 5])).selected
            rows.append({"method": name, "seed": seed, "value": cover_cost(selected, system)})
        rng = np.random.default_rng([seed, 3])
        rows.append({"method": "gupta", "seed": seed, "value": cover_cost(gupta_cover(system, float(epsilon), DELTA, rng), system)})
        rows.append(
            {"method": "random", "seed": seed, "value": cover_cost(np.random.default_rng([seed, 6]).permutation(system.candidates), system)}
        )
    lower, best = least_cover(*shape)
    rows.append({"method": "greedy", "seed": 0, "value": cover_cost(greedy_cover(system), system)})
    rows += [{"method": "best", "seed": 0, "value": best}, {"method": "lower", "seed": 0, "value": lower}]
    rows.append({"method": "bound", "seed": 0, "value": _FRESH.bound_cost(epsilon, system.candidates, system.users, best)})
    return [{**row, "value": float(row["value"]), "elements": system.users, "sets": system.candidates} for row in rows]
