"""Theorem 1.3: coverage under a matroid constraint."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from accountant.applications.submodular import CoverageInstance, epsilon0_for
from accountant.applications.submodular.matroids import Coverage, Matroid, PartitionMatroid, PrivateMatroidGreedy, swap_round
from accountant.applications.submodular.matroids.mechanism import run_continuous_greedy
from accountant.applications.submodular.matroids.parameters import choose_parameters
from accountant.applications.submodular.matroids.utility import bound_expectation, bound_utility
from benchmarks.matroids import make_decoys, mark, plain_greedy, value_of
from benchmarks.onesided.instances import coverage, maximise
from benchmarks.study.store import Row, Task
from profiles import InvalidArgument
from profiles.randomness import ExponentialDraws
from profiles.randomness.bits import open_bits

DELTA, BETA = "1e-6", "0.05"
ETAS = ("0.1", "0.2", "0.3", "0.4", "0.5")
ALPHAS = ("1/50", "1/20", "1/10", "1/5", "2/5")
RATES = ("1/50", "1/20", "1/10", "1/5", "2/5", "4/5")
SHARE = Fraction(1, 10)
METHODS: dict[str, dict[str, object]] = {
    "four-rounds": {"rounds": 4},
    "one-round": {"rounds": 1},
    "paper": {"rounds": 4, "selection_share": "1/2", "calibration": "corollary"},
}


def load(name: str, n: int, m: int, k: int) -> tuple[Matroid, CoverageInstance, int]:
    """Return the constraint, the users, and the optimum (HiGHS; known for ``decoys``) or, for ``skewed``, the value of plain greedy.

    ``digits``: at most one pixel in each of the 8 rows of the image. ``decoys``: ``make_decoys`` of ``benchmarks.matroids`` with k/2
    pairs and groups of n users. ``skewed``: k/2 classes of equal size, at most two of each. Raises :class:`InvalidArgument`.
    """
    if name == "decoys":
        return make_decoys(k // 2, n)
    users = coverage(name, n, m)
    if name == "digits":
        rows = np.arange(64) // 8
        best = maximise(users, np.equal.outer(np.arange(8), rows).astype(np.float64), np.ones(8, dtype=np.int64))
        return PartitionMatroid(rows, [1] * 8), users, best
    if name == "skewed":
        matroid = PartitionMatroid(np.arange(m) % (k // 2), [2] * (k // 2))
        return matroid, users, plain_greedy(matroid, users)
    raise InvalidArgument(f"the instance {name!r} is unknown; known are digits, decoys and skewed")


def run_approximate(matroid: Matroid, users: CoverageInstance, epsilon: str, seed: int) -> frozenset[int]:
    """Return the set of the same algorithm on all users, (ε, δ)-DP by Theorem 7 (b) of docs/submodular.md: what Chaturvedi et al. do.

    The proof of (b) needs contributions of at least 0 that add up to at most 1 only, which is what greedy has here.
    """
    target, rounds = Fraction(epsilon), 4
    spent, public = Fraction(epsilon0_for(target * (1 - SHARE), DELTA)), np.random.default_rng([seed, 1])
    bits, function = open_bits(np.random.default_rng([seed, 2])), Coverage(matroid.size)
    scores = function.start(users, rounds, None)
    bases = run_continuous_greedy(matroid, scores, rounds, ExponentialDraws(spent / scores.unit, bits))
    found = sorted({swap_round(matroid, bases, public) for _ in range(8)}, key=sorted)
    return found[ExponentialDraws(target * SHARE / function.unit, bits).among(function.totals(users, mark(found, matroid.size)))]


def run_matroid(task: Task) -> list[Row]:
    """Values as shares of the best known, and the shares that Theorem 1.3 guarantees (best η and α) and has in expectation."""
    key = task.key
    epsilon = key["epsilon"]
    matroid, users, best = load(key["instance"], key["n"], key["m"], key["k"])
    rows: list[Row] = []
    for seed in range(key["seeds"]):
        for name, options in METHODS.items():
            mechanism = PrivateMatroidGreedy(matroid=matroid, epsilon=epsilon, **options)  # type: ignore[arg-type]
            answer = mechanism.run(users, np.random.default_rng([seed, 3]), bits=np.random.default_rng([seed, 4]))
            rows.append({"method": name, "seed": seed, "value": value_of(matroid, users, answer.members) / best})
        guess = 10 ** round(np.log10(users.users))  # public: the users, to a power of 10
        mechanism = PrivateMatroidGreedy.from_optimum(guess, matroid=matroid, epsilon=epsilon)
        answer = mechanism.run(users, np.random.default_rng([seed, 3]), bits=np.random.default_rng([seed, 4]))
        rows.append({"method": "automatic", "seed": seed, "value": value_of(matroid, users, answer.members) / best})
        found = run_approximate(matroid, users, epsilon, seed)
        rows.append({"method": "approximate", "seed": seed, "value": value_of(matroid, users, found) / best})
        rows.append({"method": "random", "seed": seed, "value": value_of(matroid, users, draw_base(matroid, seed)) / best})
    rows.append({"method": "greedy", "seed": 0, "value": plain_greedy(matroid, users) / best})
    high, mean = best_bounds(matroid, epsilon, users.users, best)
    rows += [{"method": "bound", "seed": 0, "value": high / best}, {"method": "expected", "seed": 0, "value": mean / best}]
    return [{**row, "best": best, "users": users.users, "candidates": matroid.size, "rank": matroid.rank} for row in rows]


def draw_base(matroid: Matroid, seed: int) -> list[int]:
    """Return a random base."""
    rng, growth, chosen = np.random.default_rng([seed, 5]), matroid.start(), list[int]()
    while (free := growth.candidates()).size:
        chosen.append(int(rng.choice(free)))
        growth.add(chosen[-1])
    return chosen


def best_bounds(matroid: Matroid, epsilon: str, users: int, best: float) -> tuple[float, float]:
    """Return what is guaranteed with probability 1 − β, and in expectation, each for its best constants."""
    high = mean = 0.0
    for eta in ETAS:
        chosen = choose_parameters(eta, BETA)
        mechanism = PrivateMatroidGreedy(matroid=matroid, epsilon=epsilon, rounds=chosen.rounds, roundings=chosen.roundings)
        for alpha in ALPHAS:
            bound = bound_utility(mechanism, beta=BETA, users=users, alpha=alpha)
            high = max(high, bound.ratio * best - bound.error)
    for rounds in (1, 2, 4):
        mechanism = PrivateMatroidGreedy(matroid=matroid, epsilon=epsilon, rounds=rounds)
        for rate in RATES:
            bound = bound_expectation(mechanism, users=users, rate=rate)
            mean = max(mean, bound.ratio * best - bound.error)
    return high, mean
