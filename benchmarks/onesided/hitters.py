"""Theorem 1.6 (5.6): shifting heavy hitters, on the hard instance of Appendix B and on a stream with bursts."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from accountant.applications.heavyhitters import (
    HeavyHitterMonitor,
    StreamBatch,
    ThresholdPlan,
    plan_threshold,
    theorem_level,
)
from benchmarks.onesided.laplace_monitor import plan_laplace
from benchmarks.study.store import Row, Task
from tests.targets.hard_streams import HardInstance, draw_hard_instance, least_error

BETA = "0.05"
#: Users of the hard instance, as shares of the planned error.
SHARES = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)


#: Calibration, and the fillers of Appendix B: 2, with a hypothesis at half of the error, or 0, with one at the level 0.
METHODS = {"optimal": ("optimal", 2), "corollary": ("corollary", 2), "nothing": ("optimal", 0)}

#: The (ε, 10⁻⁶)-DP predecessor, with its fillers.
LAPLACE = {"laplace": 2, "laplace-nothing": 0}


@lru_cache(maxsize=256)
def plan(k: int, epsilon: str, steps: int, items: int, calibration: str, level: int | None = None) -> ThresholdPlan:
    """Return the plan; its hypothesis holds at half of the error (None), or at ``level``."""
    return plan_threshold(k, epsilon, BETA, steps=steps, domain_size=items, calibration=calibration, level=level)


def run_hard(task: Task) -> list[Row]:
    """Whether the path is read right from the reports, for numbers of users up to the planned error; and the bounds.

    Method ``nothing``: users have no item at the times that the path does not visit.
    """
    key = task.key
    k, epsilon, steps, items = key["k"], key["epsilon"], key["steps"], key["items"]
    rows: list[Row] = []
    bounds: dict[str, float] = {}
    shape = {"steps": steps, "domain_size": items}
    for name, (calibration, fillers) in METHODS.items():
        planned = plan(k, epsilon, steps, items, calibration, None if fillers else 0)
        monitor = HeavyHitterMonitor(k, epsilon, planned.threshold, range(items), range(steps), calibration)
        for share in SHARES:
            users = math.ceil(share * planned.error)
            for seed in range(key["seeds"]):
                instance = draw_hard_instance(k, users=users, rng=np.random.default_rng([seed, users]), fillers=fillers, **shape)
                right = read_right(monitor, instance, seed)
                rows.append({"method": name, "seed": seed, "users": users, "value": float(right)})
        bounds[f"planned-{name}"] = planned.error
        bounds[f"limit-{name}"] = least_error(k, epsilon, BETA, fillers=fillers, **shape)
    for name, fillers in LAPLACE.items():
        approximate = plan_laplace(k, float(epsilon), steps, items, float(BETA), half=bool(fillers))
        for share in SHARES:
            users = math.ceil(share * approximate.error)
            for seed in range(key["seeds"]):
                rng = np.random.default_rng([seed, users])
                instance = draw_hard_instance(k, users=users, rng=rng, fillers=fillers, **shape)
                rows.append({"method": name, "seed": seed, "users": users, "value": float(approximate.reads_right(instance, rng))})
        bounds[f"planned-{name}"] = approximate.error
    bounds["paper"] = 2000 * k * math.log(steps * items / float(BETA)) / float(epsilon)
    bounds["each-step"] = each_step(float(epsilon), steps, items)
    if float(epsilon) <= 1:
        bounds["closed"] = 2 * theorem_level(k, epsilon, BETA, **shape)
    return rows + [{"method": name, "seed": 0, "users": 0, "value": float(value)} for name, value in bounds.items()]


def run_many(task: Task) -> list[Row]:
    """Proved errors for many reports a user: pure ε-DP grows with k, the (ε, 10⁻⁶)-DP predecessor with √k."""
    key = task.key
    k, epsilon, steps, items = key["k"], key["epsilon"], key["steps"], key["items"]
    found = {
        "planned-optimal": float(plan(k, epsilon, steps, items, "optimal").error),
        "planned-laplace": plan_laplace(k, float(epsilon), steps, items, float(BETA), half=True).error,
        "each-step": each_step(float(epsilon), steps, items),
        "limit-optimal": float(least_error(k, epsilon, BETA, steps=steps, domain_size=items)),
    }
    return [{"method": name, "seed": 0, "users": 0, "value": value} for name, value in found.items()]


def read_right(monitor: HeavyHitterMonitor, instance: HardInstance, seed: int) -> bool:
    """Return whether the reports show the path and nothing else of its items."""
    return instance.read_path(monitor.run(instance, bits=np.random.default_rng([seed, 7])).reports) == instance.path


def each_step(epsilon: float, steps: int, items: int) -> float:
    """Return the error of a Laplace histogram at each of T steps, without any bound on contributions, in the sense of ``plan``.

    A user has one item a step, so that noise of scale T/ε is ε-DP for the whole stream. All M = T|Y| noises are below
    x = (T/ε)·ln(M/β) in absolute value with probability 1 − β; a threshold between E/2 + x and E − x needs E = 4x.
    """
    return 4 * steps / epsilon * math.log(steps * items / float(BETA))


def relate_hard(rows: list[Row]) -> list[Row]:
    """Return, for each configuration, the least number of users from which on at least 95 % of the runs read the path, and the bounds."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in ("k", "epsilon", "steps", "items", "sweep", "method")), []).append(row)
    found: list[Row] = []
    for mine in groups.values():
        if mine[0]["users"] == 0:
            found.append({**mine[0], "error": mine[0]["value"]})
            continue
        least = math.inf
        for users in sorted({row["users"] for row in mine}, reverse=True):
            if np.mean([row["value"] for row in mine if row["users"] == users]) < 0.95:
                break
            least = users
        found.append({**mine[0], "error": float(least)})
    return found


def make_bursts(k: int, users: int, steps: int, items: int, seed: int) -> tuple[list[StreamBatch], dict[tuple[int, int], int]]:
    """Return a stream, and how many users have each pair (time, item).

    Every user has a random item at each step, some users/|Y| each. At every second step a burst gives one item to between 20 users and a
    quarter of all, a number drawn log-uniformly, among users who were in fewer than k bursts; nobody else has it then.
    """
    rng = np.random.default_rng([seed, 11])
    left, batches, counts = np.full(users, k), list[StreamBatch](), dict[tuple[int, int], int]()
    for time in range(steps):
        have = rng.integers(0, items - 1, size=users)
        if time % 2:
            size = int(np.exp(rng.uniform(np.log(20), np.log(users / 4))))
            free = rng.permutation(np.flatnonzero(left))[:size]
            burst = int(rng.integers(0, items))
            have += have >= burst  # the others have other items
            have[free] = burst
            left[free] -= 1
        batches.append(StreamBatch(np.arange(users), time, have))
        counts |= {(time, item): int(count) for item, count in enumerate(np.bincount(have, minlength=items)) if count}
    return batches, counts


def run_bursts(task: Task) -> list[Row]:
    """The least number of users of a reported pair, and the largest of one that is missed."""
    key = task.key
    k, epsilon, steps, items, users = key["k"], key["epsilon"], key["steps"], key["items"], key["users"]
    rows: list[Row] = []
    for calibration in ("optimal", "corollary"):
        planned = plan(k, epsilon, steps, items, calibration)
        monitor = HeavyHitterMonitor(k, epsilon, planned.threshold, range(items), range(steps), calibration)
        for seed in range(key["seeds"]):
            batches, counts = make_bursts(k, users, steps, items, seed)
            answer = monitor.run(batches, bits=np.random.default_rng([seed, 8]))
            reported = {(report.time, int(item)) for report in answer.reports for item in report.items}
            missed = max((count for pair, count in counts.items() if pair not in reported), default=0)
            least = min((counts.get(pair, 0) for pair in reported), default=0)
            rows.append({"method": f"missed-{calibration}", "seed": seed, "value": missed, "reported": len(reported)})
            rows.append({"method": f"reported-{calibration}", "seed": seed, "value": least, "reported": len(reported)})
        suffix = "" if calibration == "optimal" else "-corollary"
        rows.append({"method": f"planned{suffix}", "seed": 0, "value": planned.error, "reported": 0})
        rows.append({"method": f"level{suffix}", "seed": 0, "value": planned.level, "reported": 0})
    return rows
