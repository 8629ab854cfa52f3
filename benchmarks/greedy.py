"""Private greedy coverage: cost growth in n, m and k, and the ratio to greedy selection without privacy.

    python -m benchmarks.greedy [--repeats 3] [--limit 5] [--skip-apricot]

Instances are drawn with a fixed seed: every user names 7 candidates, candidate c with a density that falls like c^(-1/2). Processor
time of one process, the least of the repeats. "lazy" is ``lazy_greedy`` of this package on all users; it shares the incremental gains
of the private one, so that the ratio is that of the draws. apricot-select is timed on a small instance where it is installed (it is in
no extra: last release 2021, and it imports scikit-learn without declaring it). Exit code 1 where a ratio exceeds the limit.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from accountant.applications.choosing import PlainScores, choose_greedily, count_up_to
from accountant.applications.submodular import CoverageInstance, PrivateGreedy, bound_utility, epsilon0_for, lazy_greedy, selection_value
from accountant.applications.submodular.greedy import OneSidedGreedy
from profiles.randomness import ExponentialDraws
from profiles.randomness.bits import open_bits

DEGREE = 7
SIZES = [
    (250_000, 100_000, 1_000),
    (500_000, 100_000, 1_000),
    (1_000_000, 100_000, 1_000),
    (1_000_000, 10_000, 1_000),
    (1_000_000, 30_000, 1_000),
    (1_000_000, 100_000, 3_000),
    (1_000_000, 100_000, 10_000),
    (1_000_000, 100_000, 100_000),
]
SMALL = (20_000, 2_000, 200)


def pairs(users: int, candidates: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the pairs of an instance."""
    rng = np.random.default_rng(1)
    return np.repeat(np.arange(users), DEGREE), (candidates * rng.random(users * DEGREE) ** 2).astype(np.int64)


def least(work: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of some runs, in seconds."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def growth(repeats: int) -> Iterator[float]:
    """Print a row for each size and yield its ratios."""
    print(
        f"{'n':>9} {'m':>7} {'k':>7} {'build':>7} {'private':>8} {'no sample':>9} {'lazy':>7} {'private/lazy':>13} {'no sample/lazy':>15}"
    )
    for users, candidates, k in SIZES:
        rows, items = pairs(users, candidates)
        build = least(lambda: CoverageInstance.from_pairs(rows, items, candidates=candidates), 1)  # noqa: B023
        instance = CoverageInstance.from_pairs(rows, items, candidates=candidates)
        private, whole = PrivateGreedy(k, 1), OneSidedGreedy(k, 1)
        times = [
            least(work, repeats)
            for work in (
                lambda: private.run(instance),  # noqa: B023
                lambda: whole.run(instance),  # noqa: B023
                lambda: lazy_greedy(instance, k),  # noqa: B023
            )
        ]
        ratios = times[0] / times[2], times[1] / times[2]
        print(f"{users:9} {candidates:7} {k:7}" + "".join(f"{value:15.2f}" for value in (build, *times, *ratios)), flush=True)
        yield from ratios


def plain(repeats: int) -> None:
    """Print the time with a pass over all candidates in each round."""
    users, candidates, k = SIZES[2]
    instance = CoverageInstance.from_pairs(*pairs(users, candidates), candidates=candidates)

    def run() -> None:
        draws = ExponentialDraws(PrivateGreedy(k, 1).plan.epsilon0, open_bits(1))
        choose_greedily(count_up_to(candidates, k), PlainScores(instance.track(), candidates, 1), k, draws)

    print(f"a pass over all candidates in each round, n = {users}, m = {candidates}, k = {k}: {least(run, repeats):.2f} s")


def values() -> None:
    """Print the value of private selections as a share of that of greedy without privacy; seeds are fixed."""
    users, candidates, _ = SIZES[2]
    instance = CoverageInstance.from_pairs(*pairs(users, candidates), candidates=candidates)
    spent = epsilon0_for(1, "1e-6", coverage=True)
    print("value / value of lazy: epsilon = 0.01, 0.1, 1; (1, 1e-6)-DP without sampling; proved for epsilon = 1, beta = 0.01, eta = 0.1")
    for k in (10, 100, 1_000, 10_000):
        best = selection_value(instance, lazy_greedy(instance, k))
        chosen = [PrivateGreedy(k, epsilon).run(instance, 1, bits=2) for epsilon in ("0.01", "0.1", "1")]
        found = [selection_value(instance, answer.selected) for answer in (*chosen, OneSidedGreedy(k, spent).run(instance, 1))]
        proved = bound_utility(candidates, k, 1, beta="0.01", eta="0.1").value(float(best))
        print(f"  k = {k:6}", *(f"{float(value / best):8.4f}" for value in found), f"{proved / float(best):8.4f}", flush=True)


def apricot(repeats: int) -> None:
    """Print the times beside those of apricot-select, where it is installed."""
    try:
        selection = importlib.import_module("apricot").MaxCoverageSelection
    except ImportError:
        print("apricot-select is not installed: pip install apricot-select scikit-learn")
        return
    users, candidates, k = SMALL
    rows, items = pairs(users, candidates)
    instance = CoverageInstance.from_pairs(rows, items, candidates=candidates)
    matrix = sp.csr_matrix((np.ones(len(instance.items)), instance.items, instance.starts), shape=(instance.users, candidates)).T.tocsr()
    selection(2, optimizer="lazy").fit(sp.csr_matrix(np.eye(5)))  # compiles
    work = {
        "apricot, lazy": lambda: selection(k, optimizer="lazy").fit(matrix),
        "lazy_greedy": lambda: lazy_greedy(instance, k),
        "private": lambda: PrivateGreedy(k, 1).run(instance),
    }
    print(f"n = {users}, m = {candidates}, k = {k}")
    for name, item in work.items():
        print(f"  {name:14} {least(item, repeats):8.3f} s")
    found = selection(k, optimizer="lazy").fit(matrix).ranking.tolist()
    print("  value: apricot", selection_value(instance, found), "lazy_greedy", selection_value(instance, lazy_greedy(instance, k)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=5)
    parser.add_argument("--skip-apricot", action="store_true")
    options = parser.parse_args()
    worst = max(growth(options.repeats))
    plain(options.repeats)
    values()
    if not options.skip_apricot:
        apricot(options.repeats)
    print(f"largest ratio {worst:.2f}, limit {options.limit:g}")
    sys.exit(0 if worst <= options.limit else 1)
