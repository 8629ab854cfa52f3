"""Private maximisation under a matroid: time against n, m and kT, and value against T, the share of the last choice and the calibration.

    OMP_NUM_THREADS=1 python -m benchmarks.matroids [--quick]

Users have five items each, drawn with probabilities that fall like rank^-0.8. Values are means over ten runs, beside plain greedy without
privacy under the same constraint.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

from accountant.applications.submodular.coverage import CoverageInstance
from accountant.applications.submodular.matroids import (
    Coverage,
    GraphicMatroid,
    Matroid,
    PartitionMatroid,
    PrivateMatroidGreedy,
    UniformMatroid,
)
from accountant.applications.submodular.matroids.mechanism import mark

DEGREE = 5


def make_users(users: int, items: int) -> CoverageInstance:
    """Return skewed incidence lists."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, items + 1) ** 0.8
    columns = rng.permutation(items)[rng.choice(items, size=users * DEGREE, p=weights / weights.sum())]
    matrix = sparse.csr_matrix((np.ones(users * DEGREE), (np.repeat(np.arange(users), DEGREE), columns)), shape=(users, items))
    return Coverage(items).read(matrix)


def make_matroid(kind: str, items: int, rank: int) -> Matroid:
    """Return a matroid of (about) the rank that is asked for."""
    if kind == "uniform":
        return UniformMatroid(items, rank)
    if kind == "partition":
        return PartitionMatroid(np.arange(items) % (rank // 2), [2] * (rank // 2))
    return GraphicMatroid(rank + 1, np.random.default_rng(1).integers(rank + 1, size=(items, 2)))


def plain_greedy(matroid: Matroid, users: CoverageInstance) -> int:
    """Return the value of greedy without noise."""
    scores, growth, chosen = Coverage(matroid.size).start(users, 1, None), matroid.start(), []
    while (free := growth.candidates()).size:
        best = int(free[np.argmax(scores.gains(free))])
        scores.advance(best)
        growth.add(best)
        chosen.append(best)
    return value_of(matroid, users, chosen)


def value_of(matroid: Matroid, users: CoverageInstance, members: Any) -> int:
    """Return how many users a set covers."""
    return int(Coverage(matroid.size).totals(users, mark([frozenset(members)], matroid.size))[0])


def time_run(kind: str, users: int, items: int, rank: int, rounds: int, draws: int | None) -> None:
    """Print the processor time of one private run, sampling included."""
    data, matroid = make_users(users, items), make_matroid(kind, items, rank)
    mechanism = PrivateMatroidGreedy(matroid=matroid, epsilon=1, rounds=rounds, draws=draws)
    start = time.process_time()
    mechanism.run(data, np.random.default_rng(1), bits=2)
    shown = "closed form" if draws is None else f"{draws} draws"
    print(f"{kind:10} n = {users:9,} m = {items:7,} k = {rank:4} T = {rounds:2} {shown:12} {time.process_time() - start:7.2f} s")


def make_decoys(pairs: int, size: int) -> tuple[Matroid, CoverageInstance, int]:
    """Return an instance on which greedy gets about half, and its optimum.

    Of a_i and a'_i one can be taken, and b_i. ``size`` users want a_i or b_i, as many want a'_i, and 5 % more want a_i only: greedy takes
    a_i first, and then b_i is of no use.
    """
    labels = np.concatenate([np.arange(pairs), np.arange(pairs), np.arange(pairs) + pairs])
    more = size // 20
    lists = [user for i in range(pairs) for user in [(i, i + 2 * pairs)] * size + [(i + pairs,)] * size + [(i,)] * more]
    return PartitionMatroid(labels, [1] * (2 * pairs)), Coverage(3 * pairs).read(lists), 2 * size * pairs


def compare_values(title: str, matroid: Matroid, data: CoverageInstance, best: int | None, runs: int) -> None:
    """Print mean values for rounds, shares and calibrations, as shares of ``best``, by default what plain greedy covers."""
    plain = plain_greedy(matroid, data)
    best = plain if best is None else best
    print(f"\n{title}, n = {data.users:,}, m = {matroid.size:,}, k = {matroid.rank}: plain greedy {plain / best:.3f}, private:")
    for epsilon in ("0.1", "0.3", "1"):
        for rounds in (1, 2, 4, 8):
            found = []
            for share, calibration in (("1/2", "corollary"), ("1/2", "optimal"), ("1/10", "optimal")):
                mechanism = PrivateMatroidGreedy(
                    matroid=matroid, epsilon=epsilon, rounds=rounds, selection_share=share, calibration=calibration
                )
                values = [
                    value_of(matroid, data, mechanism.run(data, np.random.default_rng(run), bits=run + 1000).members) for run in range(runs)
                ]
                found.append(f"{calibration} c = {share}: {np.mean(values) / best:.3f}")
            print(f"  epsilon = {epsilon:4} T = {rounds}   " + "   ".join(found))


def main() -> None:
    """Print all tables."""
    quick = "--quick" in sys.argv[1:]
    large = 100_000 if quick else 1_000_000
    for users, items, rank, rounds in (
        (large // 4, large // 10, 50, 4),
        (large // 2, large // 10, 50, 4),
        (large, large // 10, 50, 4),
        (large, large // 40, 50, 4),
        (large, large // 10, 100, 4),
        (large, large // 10, 50, 8),
    ):
        time_run("partition", users, items, rank, rounds, None)
    for kind in ("uniform", "graphic"):
        time_run(kind, large, large // 10, 50, 4, None)
    for draws in (25, 100):
        time_run("partition", large // 10, large // 100, 50, 4, draws)
    runs = 3 if quick else 20
    compare_values("skewed items, as a share of plain greedy", make_matroid("partition", 500, 10), make_users(3_000, 500), None, runs)
    compare_values("decoys, as a share of the optimum", *make_decoys(10, 1_000), runs)


if __name__ == "__main__":
    main()
