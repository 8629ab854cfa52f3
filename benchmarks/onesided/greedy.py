"""Theorem 1.2: coverage under a cardinality constraint; and what the calibrations leave of a budget."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from accountant.applications.submodular import (
    CoverageInstance,
    OneSidedGreedy,
    PrivateGreedy,
    bound_utility,
    epsilon0_for,
    selection_value,
)
from accountant.calibration.rounds import calibrate_rounds
from accountant.onesided import calibrate_one_sided
from benchmarks.onesided.instances import best_coverage, coverage, hide
from benchmarks.study.store import Row, Task
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import open_bits

DELTA, BETA = "1e-6", "0.05"
ETAS = ("0.02", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5")
HARD_ETA = "0.1"
ROUNDS = (1, 2, 3, 10)
#: Users of each hidden candidate, as multiples of ln(m)/ε.
GRID = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0, 45.0, 90.0)
Select = Callable[[CoverageInstance, int, str, int], tuple[int, ...]]


def sample_and_select(instance: CoverageInstance, k: int, p: float, epsilon0: object, seed: int) -> tuple[int, ...]:
    """Return what the greedy algorithm with ε₀ selects on a Poisson sample."""
    kept = PoissonSampler(np.random.default_rng([seed, 1])).select(np.full(instance.users, p))
    return OneSidedGreedy(k, epsilon0).select(instance.restrict(kept), open_bits(np.random.default_rng([seed, 2])))


def _private(calibration: str) -> Select:
    def select(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
        rng, bits = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])
        return PrivateGreedy(k, epsilon, calibration, "fresh").run(instance, rng, bits=bits).selected  # type: ignore[arg-type]

    return select


def _automatic(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
    rng, bits = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])
    return PrivateGreedy(k, epsilon).run(instance, rng, bits=bits).selected


def _balanced(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
    """The automatic choice with a public guess of the users of a candidate: the number of users over k, to a power of 10."""
    rng, bits = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])
    guess = 10 ** max(1, round(np.log10(max(10, instance.users / k))))
    return PrivateGreedy(k, epsilon, users=guess, candidates=instance.candidates).run(instance, rng, bits=bits).selected


def _known_rounds(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
    plan = calibrate_rounds(epsilon, k)
    return sample_and_select(instance, k, plan.p, plan.epsilon0, seed)


def _approximate(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
    return OneSidedGreedy(k, epsilon0_for(epsilon, DELTA, coverage=True)).run(instance, seed).selected


def _composed(instance: CoverageInstance, k: int, epsilon: str, seed: int) -> tuple[int, ...]:
    return OneSidedGreedy(k, Fraction(epsilon) / k).run(instance, seed).selected


#: *composed* is pure ε-DP without sampling: each of the k exponential mechanisms costs ε/k in either direction.
METHODS: dict[str, Select] = {
    "automatic": _automatic,
    "balanced": _balanced,
    "optimal": _private("optimal"),
    "corollary": _private("corollary"),
    "rounds": _known_rounds,
    "approximate": _approximate,
    "composed": _composed,
}


def best_bound(m: int, k: int, epsilon: str, optimum: float, calibration: str = "optimal") -> float:
    """Return what Theorem 1.2 guarantees with probability 1 − β, for the best η."""
    return max(bound_utility(m, k, epsilon, beta=BETA, eta=eta, calibration=calibration).value(optimum) for eta in ETAS)


def run_greedy(task: Task) -> list[Row]:
    """Values as shares of the best (HiGHS) or of plain greedy, of all methods; and the share that is guaranteed."""
    key = task.key
    n, m, k, epsilon = key["n"], key["m"], key["k"], key["epsilon"]
    instance = coverage(key["instance"], n, m)
    best, kind = best_coverage(key["instance"], n, m, k)
    size = instance.candidates
    rows: list[Row] = []
    for seed in range(key["seeds"]):
        for name, select in METHODS.items():
            rows.append(
                {"method": name, "seed": seed, "value": float(selection_value(instance, select(instance, k, epsilon, seed))) / best}
            )
        random = np.random.default_rng([seed, 5]).choice(size, size=k, replace=False).tolist()
        rows.append({"method": "random", "seed": seed, "value": float(selection_value(instance, random)) / best})
    rows.append({"method": "bound", "seed": 0, "value": best_bound(size, k, epsilon, best) / best})
    return [{**row, "best": best, "kind": kind, "users": instance.users, "candidates": size} for row in rows]


def run_hidden(task: Task) -> list[Row]:
    """The hard instance at growing numbers of users: shares of the optimum k·users that are found."""
    key = task.key
    m, k, epsilon = key["m"], key["k"], key["epsilon"]
    rows: list[Row] = []
    for users in hidden_sizes(m, float(epsilon)):
        shape = {"hidden": users}
        for seed in range(key["seeds"]):
            instance = hide(k, users, m, np.random.default_rng([seed, users]))
            for name in ("automatic", "optimal", "corollary", "approximate", "composed"):
                found = float(selection_value(instance, METHODS[name](instance, k, epsilon, seed)))
                rows.append({**shape, "method": name, "seed": seed, "value": found / (k * users)})
        rows.append({**shape, "method": "bound", "seed": 0, "value": best_bound(m, k, epsilon, k * users) / (k * users)})
        rows.append({**shape, "method": "limit", "seed": 0, "value": limit_share(m, k, float(epsilon), users)})
    return rows


def hidden_sizes(m: int, epsilon: float) -> list[int]:
    """Return the numbers of users of a hidden candidate."""
    return sorted({max(1, round(share * np.log(m) / epsilon)) for share in GRID})


def limit_share(m: int, k: int, epsilon: float, users: int) -> float:
    """Return what no ε-DP algorithm exceeds on the hard instance, as an expected share (benchmarks/results/onesided.md, section 2)."""
    return min(1.0, float(np.exp(min(700.0, epsilon * users))) * k / (m - k + 1))


def relate_hidden(rows: list[Row]) -> list[Row]:
    """Return the error of every run, max over the instances of (1 − 1/e − η)·OPT − value; those of bound and limit likewise."""
    ratio = 1 - np.exp(-1) - float(HARD_ETA)
    worst: dict[tuple[object, ...], Row] = {}
    for row in rows:
        error = max(0.0, (ratio - row["value"]) * row["k"] * row["hidden"])
        place = tuple(row[name] for name in ("sweep", "m", "k", "epsilon", "method", "seed"))
        if place not in worst or error > worst[place]["error"]:
            worst[place] = {**{name: value for name, value in row.items() if name != "hidden"}, "at": row["hidden"], "error": error}
    for row in worst.values():
        if row["method"] == "bound":
            row["error"] = bound_utility(row["m"], row["k"], row["epsilon"], beta=BETA, eta=HARD_ETA).error
    return [row for row in worst.values() if row["error"] > 0 or row["method"] != "limit"]


def run_budgets(task: Task) -> list[Row]:
    """p·ε₀ of the calibrations."""
    epsilon = task.key["epsilon"]
    plans = {name: calibrate_one_sided(epsilon, choice=name) for name in ("optimal", "corollary")}
    rows = [{"method": name, "rounds": 0, "p": plan.p, "epsilon0": float(plan.epsilon0)} for name, plan in plans.items()]
    for rounds in ROUNDS:
        plan = calibrate_rounds(epsilon, rounds)
        rows.append({"method": "rounds", "rounds": rounds, "p": plan.p, "epsilon0": float(plan.epsilon0)})
    rows.append({"method": "approximate", "rounds": 0, "p": 1.0, "epsilon0": epsilon0_for(epsilon, DELTA, coverage=True)})
    return rows
