"""Weighted DP-Lloyd beside scikit-learn's Lloyd and beside Python loops over rows, on the same weighted data in one run.

    python -m benchmarks.lloyd [--threads 1 2] [--rows 1000000] [--repeats 5] [--authors FOLDER] [--skip-loops] [--processor-time]
    python -m benchmarks.lloyd --arithmetic [--clusters 8] [--rows 50000 1000000]

The goals, k = 25 and T = 10: at most 1.5 times the time of an iteration of ``KMeans(algorithm="lloyd", max_iter=10, tol=0, n_init=1)`` with
the same number of threads; at least 20 times faster than loops over rows; memory that does not grow with n·k. ``--arithmetic`` compares
whole runs with exact noise, the default, and with noise in binary64, on records with and without weights and with the noise of
β_count = 20.5, β_sum = 30; the goal is a ratio of at most 1.5 from n = 50,000 on. Two times of an iteration are
given: a whole run by its iterations (with checks of the input, noise and, for scikit-learn, inertia and a last labelling), and a further
iteration alone, from runs of T and 2T iterations. ``--authors`` names a folder with the authors' own ``kmeans.py`` to measure it as well;
``--processor-time`` is for one thread on a busy machine (idle threads of OpenMP spin).

Also: optimal weights as a share of DP-Lloyd on all data, peak memory, and what labels from a matrix product alone would do.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import prepare_solver
from profiles import exact_text
from profiles.mechanisms import WeightedLloyd

CLUSTERS, ROUNDS = 25, 10
BETA = "1"  # little noise, so that all centres stay among the data as scikit-learn's do: noise would make ours faster


def read_ijcnn1() -> np.ndarray | None:
    """Return ijcnn1 as section 5 of Fay et al. 2024 prepares it, or None where the file is not there."""
    folder = Path(os.environ.get("PDP_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not (folder / "ijcnn1.trn.bz2").exists():
        return None
    points = np.asarray(load_svmlight_file(str(folder / "ijcnn1.trn.bz2"))[0].todense())
    points = points - points.mean(axis=0)
    norms = np.linalg.norm(points, axis=1)
    points = points[norms <= np.quantile(norms, 0.975)]
    return np.ascontiguousarray(points - points.mean(axis=0))


def make_mixture(rows: int, columns: int = 22) -> np.ndarray:
    """Return rows around 30 means that overlap."""
    rng = np.random.default_rng(1)
    means = rng.normal(size=(30, columns)) / 5
    return means[rng.integers(0, 30, rows)] + rng.normal(size=(rows, columns)) / 5


def follow_loops(points: np.ndarray, weights: np.ndarray, centres: np.ndarray, rounds: int) -> np.ndarray:
    """Algorithm 2 without its noise in the plainest NumPy: a Python loop over the rows, one over the clusters."""
    weighted = points * weights[:, np.newaxis]
    for _ in range(rounds):
        labels = np.array([((row - centres) ** 2).sum(axis=1).argmin() for row in points])
        members = [labels == j for j in range(len(centres))]
        centres = np.array([weighted[rows].sum(axis=0) / max(1.0, weights[rows].sum()) for rows in members])
    return centres


clock = time.perf_counter


def best_times(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the shortest time of each in seconds, all taken by turns."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            start = clock()
            work()
            best[name] = min(best[name], clock() - start)
    return best


def make_lloyd(points: np.ndarray, centres: np.ndarray, rounds: int) -> WeightedLloyd:
    """Return DP-Lloyd with next to no noise."""
    radius = Fraction(int(np.ceil(np.linalg.norm(points, axis=1).max() * 1000)), 1000)
    return WeightedLloyd(initial_centres=centres, iterations=rounds, beta_count=BETA, beta_sum=BETA, p=2, radius=exact_text(radius))


def compare(label: str, points: np.ndarray, threads: int, repeats: int) -> float:
    """Print both times of an iteration beside scikit-learn's; return ours, of a whole run."""
    weights = 1 + 5 * np.random.default_rng(2).random(len(points))
    centres = points[np.random.default_rng(3).choice(len(points), CLUSTERS, replace=False)]
    works: dict[str, Callable[[], object]] = {}
    for rounds in (ROUNDS, 2 * ROUNDS):
        ours = make_lloyd(points, centres, rounds)
        theirs = KMeans(CLUSTERS, algorithm="lloyd", max_iter=rounds, tol=0, n_init=1, init=centres)
        works[f"ours {rounds}"] = lambda ours=ours: ours.run(points, weights, np.random.default_rng(4))
        works[f"sklearn {rounds}"] = lambda theirs=theirs: theirs.fit(points, sample_weight=weights)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if theirs.fit(points, sample_weight=weights).n_iter_ != 2 * ROUNDS:
            print(f"{label}: scikit-learn stopped early; its times are not comparable")
        best = best_times(works, repeats)
    whole = {name: best[f"{name} {ROUNDS}"] / ROUNDS for name in ("ours", "sklearn")}
    alone = {name: (best[f"{name} {2 * ROUNDS}"] - best[f"{name} {ROUNDS}"]) / ROUNDS for name in ("ours", "sklearn")}
    for kind, found in (("whole run", whole), ("one more", alone)):
        print(
            f"{label:16} threads {threads}  {kind:9}  ours {found['ours'] * 1e3:8.2f} ms  scikit-learn {found['sklearn'] * 1e3:8.2f} ms  "
            f"ratio {found['ours'] / found['sklearn']:.2f}"
        )
    return whole["ours"]


def compare_arithmetic(label: str, points: np.ndarray, clusters: int, threads: int, repeats: int) -> None:
    """Print the time of a whole run with exact noise beside that with noise in binary64, by turns."""
    centres = points[np.random.default_rng(3).choice(len(points), clusters, replace=False)]
    radius = exact_text(Fraction(int(np.ceil(np.linalg.norm(points, axis=1).max() * 1000)), 1000))
    for kind, weights in (("weights 1", None), ("weights", 1 + 5 * np.random.default_rng(2).random(len(points)))):
        works: dict[str, Callable[[], object]] = {}
        for arithmetic in ("exact", "binary64"):
            own = WeightedLloyd(
                initial_centres=centres, iterations=ROUNDS, beta_count="20.5", beta_sum=30, radius=radius, arithmetic=arithmetic
            )
            works[arithmetic] = lambda own=own, weights=weights: own.run(points, weights, np.random.default_rng(4))
        with threadpool_limits(threads):
            best = best_times(works, repeats)
        print(
            f"{label:16} k {clusters}  threads {threads}  {kind:9}  exact {best['exact'] * 1e3:8.1f} ms  "
            f"binary64 {best['binary64'] * 1e3:8.1f} ms  ratio {best['exact'] / best['binary64']:.2f}"
        )


def compare_loops(label: str, points: np.ndarray, ours: float, authors: Path | None) -> dict[str, float]:
    """Print how many times slower loops are; return seconds of T iterations of each."""
    weights = 1 + 5 * np.random.default_rng(2).random(len(points))
    centres = points[np.random.default_rng(3).choice(len(points), CLUSTERS, replace=False)]
    works: dict[str, Callable[[], object]] = {"loops": lambda: follow_loops(points, weights, centres, 1)}
    rounds = {"loops": 1}
    if authors is not None:
        spec = importlib.util.spec_from_file_location("authors_kmeans", authors / "kmeans.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        works["the authors' code"] = lambda: module.DP_k_means(points, centres, 1e-3, 1e-3, w=weights, norm=2, max_it=ROUNDS)
        rounds["the authors' code"] = ROUNDS
    found = {}
    with threadpool_limits(1):
        for name, work in works.items():
            spent = best_times({name: work}, 1)[name] / rounds[name]
            print(f"{label:16} threads 1  {name:17} {spent * 1e3:9.1f} ms an iteration, {spent / ours:6.0f} times ours")
            found[name] = spent * ROUNDS
    return found


def compare_weights(label: str, points: np.ndarray, spent: dict[str, float], repeats: int) -> None:
    """Print the time of optimal weights as a share of T iterations of DP-Lloyd on all data."""
    mechanism = make_lloyd(points, points[:1], ROUNDS)
    profile = WeightedLloyd(
        initial_centres=points[:1], iterations=ROUNDS, beta_count="20.5", beta_sum=30, p=2, radius=mechanism.radius
    ).profile
    target = Fraction(3)
    solver = prepare_solver(profile, target, convexity=prove_convexity(profile, target))
    norms = mechanism.statistic(points)["z"]
    works = {"weights": lambda: solver.solve({"z": norms}), "norms and weights": lambda: solver.solve(mechanism.statistic(points))}
    for name, time_of in best_times(works, repeats).items():
        shares = ", ".join(f"{100 * time_of / whole:.3f} % of {of}" for of, whole in spent.items())
        print(f"{label:16} {name:17} {time_of * 1e3:8.2f} ms: {shares}")


def show_memory(columns: int = 22) -> None:
    """Print the peak of extra memory of a run against n and n·k."""
    for rows, clusters in ((10**5, 25), (10**6, 25), (10**6, 100)):
        points = make_mixture(rows, columns)
        mechanism = make_lloyd(points, points[:clusters], 1)
        tracemalloc.start()
        mechanism.run(points, None, np.random.default_rng(0))
        peak = tracemalloc.get_traced_memory()[1] - 8 * rows  # weights of 1 are made here
        tracemalloc.stop()
        print(f"extra memory, n = {rows}, k = {clusters}: {peak / 1e6:.1f} MB; n·k doubles are {rows * clusters * 8 / 1e6:.0f} MB")


def show_hazard(columns: int = 50, rows: int = 49, trials: int = 100) -> None:
    """Print how many labels from a matrix product alone change when one record is removed, for records near a bisector."""
    rng = np.random.default_rng(0)
    changed = total = 0
    for _ in range(trials):
        centres = rng.normal(size=(CLUSTERS, columns))
        across = centres[1] - centres[0]
        points = rng.normal(size=(rows, columns)) / 10
        points += (centres[0] + centres[1]) / 2 - np.outer(points @ across / (across @ across), across)
        squares = (centres * centres).sum(axis=1)
        with threadpool_limits(1):
            labels = (squares - 2 * points @ centres.T).argmin(axis=1)
            fewer = (squares - 2 * points[:-1] @ centres.T).argmin(axis=1)
        changed, total = changed + int((labels[:-1] != fewer).sum()), total + rows - 1
    print(f"labels by a matrix product alone: removing record {rows} of {rows} changed {changed} of {total} labels of the others (ours: 0)")


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6])
    parser.add_argument("--clusters", type=int, default=CLUSTERS, help="of --arithmetic")
    parser.add_argument("--arithmetic", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--authors", type=Path, default=None)
    parser.add_argument("--skip-loops", action="store_true")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    global clock  # noqa: PLW0603
    clock = time.process_time if options.processor_time else time.perf_counter
    ijcnn1 = read_ijcnn1()
    sets = {} if ijcnn1 is None else {"ijcnn1": ijcnn1}
    sets |= {f"mixture {rows}": make_mixture(rows) for rows in options.rows}
    if options.arithmetic:
        for label, points in sets.items():
            for threads in options.threads:
                compare_arithmetic(
                    label, points, options.clusters, threads, options.repeats if len(points) > 10**5 else 4 * options.repeats
                )
        return
    for label, points in sets.items():
        print(f"{label}: n = {len(points)}, d = {points.shape[1]}, k = {CLUSTERS}, T = {ROUNDS}")
        ours = [
            compare(label, points, threads, options.repeats if len(points) > 10**5 else 4 * options.repeats) for threads in options.threads
        ]
        spent = {"our DP-Lloyd": ours[0] * ROUNDS}
        if not options.skip_loops and len(points) < 10**5:
            spent |= compare_loops(label, points, ours[0], options.authors)
        compare_weights(label, points, spent, options.repeats)
    show_memory()
    show_hazard()


if __name__ == "__main__":
    main()
