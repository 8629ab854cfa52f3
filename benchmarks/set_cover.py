"""Private set cover beside greedy without privacy: cost, and processor seconds with `scale`: `python -m benchmarks.set_cover [scale]`."""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from typing import Literal

import numpy as np

from accountant.applications.setcover import (
    CoverageInstance,
    FreshSampleScaling,
    NoisyGreedy,
    OneSampleScaling,
    PrivateSetCover,
    cover_cost,
    greedy_cover,
    gupta_cover,
)
from accountant.applications.submodular import PrivateGreedy

ALGORITHMS = {
    "noisy greedy": NoisyGreedy(),
    "scaling, one sample": OneSampleScaling(),
    "scaling, fresh samples": FreshSampleScaling(),
    "scaling, fresh, factor 1.5": FreshSampleScaling(factor="1.5"),
}


def plant(n: int, m: int, k: int, rng: np.random.Generator) -> CoverageInstance:
    """Let k sets cover everything, with sizes that fall by a factor of 100; each element is in 3 of the other sets as well."""
    sizes = np.geomspace(100, 1, k)
    own = rng.choice(k, size=n, p=sizes / sizes.sum())
    others = rng.integers(k, m, size=(n, 3))
    names = rng.permutation(m)
    return CoverageInstance.from_pairs(np.repeat(np.arange(n), 4), names[np.column_stack([own, others]).ravel()], candidates=m)


def spread(n: int, m: int, degree: int, rng: np.random.Generator) -> CoverageInstance:
    """Each element is in ``degree`` sets, popular ones more often (Zipf, exponent 0.8)."""
    weights = 1 / np.arange(1, m + 1) ** 0.8
    items = rng.permutation(m)[rng.choice(m, size=n * degree, p=weights / weights.sum())]
    return CoverageInstance.from_pairs(np.repeat(np.arange(n), degree), items, candidates=m)


def order_exponentially(epsilon: object, system: CoverageInstance, calibration: str, rng: np.random.Generator) -> tuple[int, ...]:
    """Run the exponential mechanism again and again on one sample: Appendix F of the paper."""
    choice: Literal["optimal", "corollary"] = "corollary" if calibration == "corollary" else "optimal"
    return PrivateGreedy(system.candidates, Fraction(str(epsilon)), choice, "fresh").run(system, rng, bits=rng).selected


def compare(name: str, system: CoverageInstance, repeats: int, rng: np.random.Generator) -> None:
    """Print mean costs for three epsilons and three calibrations."""
    anyhow = np.mean([cover_cost(rng.permutation(system.candidates), system) for _ in range(repeats)])
    print(
        f"\n{name}: n = {system.users}, m = {system.candidates}; greedy {cover_cost(greedy_cover(system), system)}, any order {anyhow:.1f}"
    )
    for epsilon in ("0.1", "0.5", "1"):
        for label, algorithm in ALGORITHMS.items():
            costs = []
            for calibration in ("optimal", "per-round", "corollary"):
                plan = PrivateSetCover(epsilon, system.candidates, algorithm, calibration)
                costs.append(np.mean([cover_cost(plan.run(system, rng, bits=rng).permutation, system) for _ in range(repeats)]))
            print(f"  epsilon {epsilon:4} {label:28}" + "".join(f"{cost:9.1f}" for cost in costs))
        costs = [
            np.mean([cover_cost(order_exponentially(epsilon, system, choice, rng), system) for _ in range(repeats)])
            for choice in ("optimal", "per-round", "corollary")
        ]
        print(f"  epsilon {epsilon:4} {'repeated exponential':28}" + "".join(f"{cost:9.1f}" for cost in costs))
        others = [np.mean([cover_cost(gupta_cover(system, float(epsilon), d, rng), system) for _ in range(repeats)]) for d in (1e-3, 1e-6)]
        print(f"  epsilon {epsilon:4} Gupta et al., delta 1e-3 and 1e-6 {others[0]:9.1f}{others[1]:9.1f}")


def measure(n: int, m: int, rng: np.random.Generator) -> None:
    """Print processor seconds of one run each, and of greedy without privacy."""
    system = spread(n, m, 5, rng)
    start = time.process_time()
    cost = cover_cost(greedy_cover(system), system)
    plain = time.process_time() - start
    print(f"\nn = {n}, m = {m}, degree 5: greedy {plain:.2f} s, cost {cost}")
    for label, algorithm in ALGORITHMS.items():
        start = time.process_time()
        found = PrivateSetCover(1, m, algorithm).run(system, rng)
        seconds = time.process_time() - start
        print(f"  {label:28}{seconds:7.2f} s  ({seconds / plain:4.1f} times greedy)  cost {cover_cost(found.permutation, system)}")
    start = time.process_time()
    order = order_exponentially(1, system, "optimal", rng)
    seconds = time.process_time() - start
    print(f"  {'repeated exponential':28}{seconds:7.2f} s  ({seconds / plain:4.1f} times greedy)  cost {cover_cost(order, system)}")


if __name__ == "__main__":
    generator = np.random.default_rng(20_240)
    if sys.argv[1:] == ["scale"]:
        for elements, sets in ((10_000, 1_000), (100_000, 10_000), (1_000_000, 100_000)):
            measure(elements, sets, generator)
    else:
        compare("planted cover of 20 sets", plant(20_000, 500, 20, generator), 20, generator)
        compare("planted cover of 20 sets, many elements", plant(1_000_000, 500, 20, generator), 2, generator)
        compare("spread", spread(100_000, 1_000, 5, generator), 5, generator)
