"""Private metric k-median and k-means: cost against ε beside the bound, what is not private, and the predecessors; and the time it takes.

    python -m benchmarks.metric_clustering [--records 2000 20000 200000] [--candidates 400] [--clusters 8] [--runs 20] [--powers 1 2]
                                           [--epsilons 0.1 0.3 1 3] [--time]

Data: a mixture of discs in the unit square, moved to a random set of public candidates. Printed are medians over runs of cost divided by
the cost of local search without privacy:

    sampled, full      this package, optimal calibration, for two divisions of the budget
    corollary          the same as sampled, with the paper's ε₀ = ln 2
    n for a share      the number of rounds from a noisy number of records (a twentieth of the budget)
    approximate        the selection without sampling at the ε' = ε/(2 ln(e/δ)) of Gupta et al. 2010, on which Jones et al. 2021 build,
                       δ = 10^−6, ε/2 each, with a two-sided histogram: (ε, δ)-DP by their analysis, which we have not checked
    all                all candidates are counted with two-sided noise, none selected
    exchanges          the ε-DP k-median of Gupta et al. 2010: 6k ln n exchanges by the exponential mechanism, then one of the sets it saw
    random             k random candidates

``--time`` measures m = 2000 and n = 10^6 instead.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from accountant.applications.clustering import Multiplicities, PrivateMetricClustering, bound_cost, measure_points
from accountant.applications.clustering.private import rounds_for
from accountant.applications.clustering.records import MetricRecords
from accountant.applications.clustering.selection import count_nearest, select_candidates
from accountant.applications.clustering.solver import solve_weighted
from accountant.applications.clustering.space import UNITS, MetricSpace
from profiles.randomness import ExponentialDraws, draw_discrete_laplace
from profiles.randomness.bits import open_bits

DELTA = 1e-6


def make_data(records: int, candidates: int, clusters: int, seed: int) -> tuple[MetricSpace, np.ndarray]:
    """Return a space and how many records stand at each candidate."""
    rng = np.random.default_rng(seed)
    space = measure_points(rng.random((candidates, 2)))
    middles, shares = rng.random((clusters, 2)), rng.dirichlet(np.full(clusters, 2.0))
    points = middles[rng.choice(clusters, records, p=shares)] + 0.05 * rng.standard_normal((records, 2))
    return space, np.bincount(space.snap_points(points), minlength=candidates)


def run_approximate(
    space: MetricSpace, counts: np.ndarray, k: int, power: int, epsilon: float, rng: np.random.Generator
) -> tuple[int, ...]:
    """The selection on all records at ε' = (ε/2)/(2 ln(e/δ)), then a histogram at ε/2."""
    digits = open_bits(rng)
    tally = MetricRecords(space, power, Multiplicities(counts)).tally()
    rounds = rounds_for(int(counts.sum()), k, space.size)
    chosen = select_candidates(tally, rounds, Fraction(epsilon / 2 / (2 * np.log(np.e / DELTA))), digits)
    noise = np.array([draw_discrete_laplace(Fraction(epsilon / 2), digits) for _ in chosen])
    weights = np.maximum(count_nearest(tally, chosen) + noise, 0).astype(np.float64)
    return solve_weighted((space.distances[list(chosen)] / space.diameter) ** power, weights, k)


def run_exchanges(space: MetricSpace, counts: np.ndarray, k: int, power: int, epsilon: float, rng: np.random.Generator) -> tuple[int, ...]:
    """T = 6k ln n exchanges with e^{−ε' cost}, ε' = ε/(2(T + 1)), then one of the T + 1 sets with the same ε'."""
    present = np.flatnonzero(counts)
    costs = space.scale_costs(space.distances[present], power) / UNITS
    weights = counts[present].astype(np.float64)
    rounds = int(np.ceil(6 * k * np.log(counts.sum())))
    draws = ExponentialDraws(Fraction(epsilon / (2 * (rounds + 1))) / UNITS, open_bits(rng))
    chosen = rng.choice(space.size, k, replace=False)
    sets, totals = [], []
    for _ in range(rounds + 1):
        table = costs[:, chosen]
        order = np.argsort(table, axis=1)[:, :2]
        first, second = (np.take_along_axis(table, order[:, [i]], axis=1) for i in (0, 1))
        sets.append(chosen.copy())
        totals.append(float(weights @ first[:, 0]))
        shares = np.zeros((k, len(costs)))
        shares[order[:, 0], np.arange(len(costs))] = weights
        kept = np.minimum(costs, first)
        after = weights @ kept + shares @ (np.minimum(costs, second) - kept)
        allowed = np.setdiff1d(np.arange(space.size), chosen)
        picked = draws.among(-np.rint(after[:, allowed].ravel() * UNITS).astype(np.int64))
        chosen[picked // len(allowed)] = allowed[picked % len(allowed)]
    return tuple(sets[draws.among(-np.rint(np.array(totals) * UNITS).astype(np.int64))].tolist())


def compare(records: int, candidates: int, k: int, power: int, runs: int, epsilons: list[str]) -> None:
    """Print one table."""
    space, counts = make_data(records, candidates, k, 7)
    scaled = (space.distances / space.diameter) ** power

    def cost(centres: tuple[int, ...]) -> float:
        return float(counts @ scaled[:, list(centres)].min(axis=1))

    best = cost(solve_weighted(scaled, counts.astype(np.float64), k))
    print(f"\nn = {records}, m = {candidates}, k = {k}, power {power}: cost without privacy {best:.1f} (diameter 1)")
    names = (
        "sampled 1/2",
        "sampled 1/4",
        "full 1/2",
        "full 1/4",
        "corollary",
        "n for a share",
        "all",
        "approximate",
        "exchanges",
        "random",
    )
    print("| epsilon | " + " | ".join(names) + " | bound (95 %) |")
    print("| --- " * (len(names) + 2) + "|")
    for text in epsilons:
        plain = {"n_bound": records}
        models = [
            PrivateMetricClustering(space, k, text, power=power, **options)
            for options in (
                plain,
                {**plain, "split": "1/4"},
                {**plain, "histogram": "full"},
                {**plain, "histogram": "full", "split": "1/4"},
                {**plain, "calibration": "corollary"},
                {"size_share": "1/20"},
                {"rounds": candidates, "histogram": "full"},
            )
        ]
        rng = np.random.default_rng(1)
        rows = []
        for _ in range(runs):
            found = [cost(model.run(Multiplicities(counts), rng, bits=rng).centres) for model in models]
            found.append(cost(run_approximate(space, counts, k, power, float(Fraction(text)), rng)))
            found.append(cost(run_exchanges(space, counts, k, power, float(Fraction(text)), rng)) if k > 1 else np.nan)
            found.append(cost(tuple(rng.choice(candidates, k, replace=False))))
            rows.append(found)
        middle = np.median(np.array(rows), axis=0) / best
        bound = bound_cost(models[0], best * space.diameter**power, records, 0.05) / space.diameter**power / best
        shown = "vacuous" if bound > 0.999 * records / best else f"{bound:.1f}"
        print(f"| {text} | " + " | ".join(f"{value:.2f}" for value in middle) + f" | {shown} |", flush=True)


def measure_time() -> None:
    """Print the time of one run at m = 2000, n = 10^6."""
    space, counts = make_data(10**6, 2000, 10, 3)
    indices = np.repeat(np.arange(2000), counts)
    for histogram in ("sampled", "full"):
        for k, rounds in ((10, {"n_bound": 10**6}), (50, {"n_bound": 10**6}), (10, {"rounds": 1999})):
            model = PrivateMetricClustering(space, k, 1, histogram=histogram, **rounds)
            spent = []
            for seed in range(3):
                start = time.perf_counter()
                model.run(indices, np.random.default_rng(seed))
                spent.append(time.perf_counter() - start)
            print(f"m = 2000, n = 10^6, k = {k}, {model.public_rounds} rounds, {histogram}: {min(spent):.2f} s (best of 3)")


def main() -> None:
    """Read the options and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[2000, 20_000, 200_000])
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--powers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "0.3", "1", "3"])
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        measure_time()
        return
    for power in options.powers:
        for records in options.records:
            compare(records, options.candidates, options.clusters, power, options.runs, options.epsilons)


if __name__ == "__main__":
    main()
