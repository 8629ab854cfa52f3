"""Calls the authors' functions in their own environment: a request as JSON on standard input, arrays in and out as NPZ, an answer as JSON.

Run with their repository on the module path. Nothing of it is changed; what is measured is what its experiment script does.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

Answer = dict[str, Any]
_NORM = 2


def calibrate(request: Answer, points: np.ndarray) -> Answer:
    """Noise scales for (ε, m) by their search, their ε for the coreset rule (grid, end points), their weights with times."""
    import optimal  # noqa: PLC0415
    import utils  # noqa: PLC0415

    n, d = points.shape
    norms = np.linalg.norm(points, ord=_NORM, axis=1)
    radius, mean = norms.max(), np.mean(norms**2)
    epsilon, size, rounds = request["epsilon"], request["m"], request["T"]
    found: Answer = {}
    arrays: dict[str, np.ndarray] = {}
    for name, lam in (("uniform", 1.0), ("coreset", 0.5)):
        b = utils.find_B_for_target_epsilon_on_subset_new(d, lam, size, n, _NORM, radius, rounds, epsilon, mean)
        sums, counts = utils.compute_noise_scales(b, d, radius, rounds)
        found[name] = {
            "beta_sum": sums, "beta_count": counts,
            "grid": utils.compute_subset_epsilon_new(b, d, lam, size, n, _NORM, radius, rounds, mean),
            "ends": utils.compute_subset_epsilon(b, d, lam, size, n, _NORM, radius, rounds, mean),
        }  # fmt: skip
    b = optimal.find_B_for_target_m(epsilon, d, size, _NORM, radius, rounds, norms)
    sums, counts = utils.compute_noise_scales(b, d, radius, rounds)
    times = []
    for _ in range(request["repeats"]):
        start = time.perf_counter()
        weights = np.array(optimal.pais_rs.all_optimal_weights(norms, counts, sums, rounds, epsilon))
        times.append(time.perf_counter() - start)
    found["constrained"] = {"beta_sum": sums, "beta_count": counts, "seconds": times}
    arrays["weights"] = weights
    np.savez(request["out"], **arrays)
    return found


def try_calibrating(request: Answer, points: np.ndarray) -> Answer:
    """The same, or what their search says where its fixed bracket has no solution."""
    try:
        return calibrate(request, points)
    except ValueError as error:
        return {"problem": str(error)[:200]}


def preprocess(request: Answer, points: np.ndarray) -> Answer:
    """Their preprocessing."""
    import utils  # noqa: PLC0415

    np.savez(request["out"], points=utils.preprocess_data(points, 97.5, _NORM))
    return {}


def noise(request: Answer, _: np.ndarray) -> Answer:
    """Their sum noise, seen from outside: one iteration on distinct points, each its own cluster, with next to no count noise."""
    import kmeans  # noqa: PLC0415

    draws, d = request["draws"], request["d"]
    np.random.seed(request["seed"])  # noqa: NPY002 - the generator that their code uses
    spots = np.zeros((draws, d))
    spots[:, 0] = np.arange(draws)
    centres, _, _ = kmeans.DP_k_means(spots, spots.copy(), request["beta_sum"], 1e-300, norm=_NORM, max_it=1)
    np.savez(request["out"], noise=centres[1] - spots)
    return {}


def lloyd(request: Answer, points: np.ndarray) -> Answer:
    """Their DP-Lloyd on given samples and first centres: final centres and seconds (their own clock) for each."""
    import kmeans  # noqa: PLC0415

    arrays = np.load(request["samples"])
    found, times = [], []
    for number in range(request["runs"]):
        np.random.seed(number)  # noqa: NPY002
        chosen = arrays[f"rows{number}"]
        centres, _, clock = kmeans.DP_k_means(
            points[chosen], arrays[f"centres{number}"], request["beta_sum"], request["beta_count"],
            w=arrays[f"weights{number}"], norm=_NORM, max_it=request["T"],
        )  # fmt: skip
        found.append(centres[-1])
        times.append(float(clock[-1]))
    np.savez(request["out"], centres=np.array(found))
    return {"seconds": times}


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    points = np.load(request["points"]) if request.get("points") else np.zeros((0, 1))
    work = {"calibrate": try_calibrating, "preprocess": preprocess, "noise": noise, "lloyd": lloyd}[request["ask"]]
    stdout, sys.stdout = sys.stdout, sys.stderr  # their functions print
    answer = work(request, points)
    json.dump(answer, stdout)


if __name__ == "__main__":
    main()
