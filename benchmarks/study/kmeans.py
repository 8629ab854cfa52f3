"""Figures 3, 4, 6 and 7: the cost of DP k-means against ε at fixed m, and against m at ε in {3, 100}. k = 25, T = 10.

Methods: ``uniform``, ``coreset`` (λ = 1/2, squared l2), ``constrained`` (optimal weights), ``full`` (all points, no sampling). The
cost is n⁻¹ Σ min_j ‖x − c_j‖² over all points, after T iterations on the weighted sample. The noise has the certified ε that is asked for
(uniform, coreset, full), or the expected size that is asked for (constrained).

A *protocol* says how a run is made; only the first two keep what the ε promises (benchmarks/results/study.md):

=================== ============== =========== =============== ===================================== ==========
protocol            first centres  radius law  β_count/β_sum   small noisy counts                    has its ε
=================== ============== =========== =============== ===================================== ==========
``private``         public         Gamma(d)    least error     below 1: centre kept; centres in the  yes
                                                               ball of radius r
``published-split`` public         Gamma(d)    published       same                                  yes
``paper``           points         Gamma(d)    published       divided                               no
``code``            points         Gamma(1)    published       divided                               no
``no-noise``        points         none        none            divided                               no (ε = ∞)
=================== ============== =========== =============== ===================================== ==========

Public centres: directions uniform on the sphere, norm √x̃. Points: k points of the sample, as Section 5 has it.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.study import adapters
from benchmarks.study.data import Data, load
from benchmarks.study.store import Row, Task
from benchmarks.study.table1 import ROWS
from profiles import InvalidTarget

Array = NDArray[np.float64]
CLUSTERS, ITERATIONS = 25, 10
EPSILONS = (0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
FIXED_EPSILONS = (3.0, 100.0)
SEED_BLOCK = 10


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a run is made; see the table above."""

    centres: str
    radius_law: str
    ratio: str
    least_count: float | None
    in_ball: bool


PROTOCOLS = {
    "private": Protocol("public", "gamma", "least-error", 1.0, in_ball=True),
    "published-split": Protocol("public", "gamma", "published", 1.0, in_ball=True),
    "paper": Protocol("points", "gamma", "published", None, in_ball=False),
    "code": Protocol("points", "exponential", "published", None, in_ball=False),
    "no-noise": Protocol("points", "none", "published", None, in_ball=False),
}

#: m of Figure 3 or 6 (three) for data that is not in Table 1.
SIZES = {"pixels": (5_000, 20_000, 50_000), "digits": (100, 200, 400)}
#: m of Figure 4 or 7.
MORE_SIZES = {
    "ijcnn1": (3_000, 5_000, 7_000, 10_000, 15_000, 20_000),
    "pixels": (5_000, 10_000, 20_000, 50_000, 75_000),
    "digits": (100, 200, 300, 400, 600),
}


def figure_3_sizes(dataset: str) -> tuple[int, ...]:
    """Return the three m of Figure 3 or 6, divided by the scale of a synthetic data set."""
    name, _, scale = dataset.removeprefix("like-").partition("/")
    return SIZES.get(name) or tuple(size // int(scale or 1) for size in ROWS[name].sizes)


def figure_4_sizes(dataset: str) -> tuple[int, ...]:
    """Return the m of Figure 4 or 7."""
    return MORE_SIZES.get(dataset) or figure_3_sizes(dataset)


def run_block(task: Task) -> list[Row]:
    """Return one row for each seed of the block: size of the sample, cost; with the noise scales and the certified ε. No row is
    returned where privacy-constrained sampling has no sample of this size at this ε.
    """
    key = task.key
    data, protocol, method = load(key["dataset"]), PROTOCOLS[key["protocol"]], key["method"]
    try:
        selection, scales = _prepare(data, protocol, method, key["m"], key["epsilon"])
    except InvalidTarget:
        return []
    identity = zlib.crc32("|".join(str(key[name]) for name in ("dataset", "protocol", "method", "m", "epsilon")).encode())
    return [_run_once(data, protocol, selection, scales, seed, identity) for seed in range(*key["seeds"])]


def _prepare(data: Data, protocol: Protocol, method: str, size: int, epsilon: float) -> tuple[adapters.Selection, adapters.Scales | None]:
    return _selection(data.name, protocol.ratio, method, size, epsilon, noiseless=protocol.radius_law == "none")


@lru_cache(maxsize=8)
def _selection(
    dataset: str, ratio: str, method: str, size: int, epsilon: float, *, noiseless: bool
) -> tuple[adapters.Selection, adapters.Scales | None]:
    data = load(dataset)
    if noiseless:
        q, weights = adapters.weigh(method, data.facts, data.norms, size, epsilon, None, ITERATIONS)
        none = adapters.Certified(math.inf, math.inf, kernel=False, at=0.0)
        return adapters.Selection(q, weights, adapters.make_scales(Fraction(1), 0.0), none), None
    factor = adapters.RATIOS[ratio](data.facts)
    found = adapters.select(method, data.facts, data.norms, size, epsilon, ratio=factor, iterations=ITERATIONS)
    return found, found.scales


def _run_once(
    data: Data, protocol: Protocol, selection: adapters.Selection, scales: adapters.Scales | None, seed: int, identity: int
) -> Row:
    rng = np.random.default_rng([seed, identity])
    chosen = rng.random(len(data.points)) < selection.probabilities
    points, weights = data.points[chosen], selection.weights[chosen]
    centres = _first_centres(data, protocol, points, rng)
    noise = adapters.draw_noise(rng, scales, (ITERATIONS, CLUSTERS, data.facts.dimension), protocol.radius_law)
    ball = float(data.facts.radius) if protocol.in_ball else None
    start = time.perf_counter()
    final = adapters.run_lloyd(points, weights, centres, noise, least_count=protocol.least_count, ball=ball)
    seconds = time.perf_counter() - start
    return {
        "seed": seed, "sampled": len(points), "expected_size": float(selection.probabilities.sum()),
        "cost": adapters.mean_cost(data.points, final), "seconds": seconds,
        "beta_sum": float(selection.scales.sum), "beta_count": float(selection.scales.count),
        "certified": selection.certified.upper, "kernel": selection.certified.kernel,
    }  # fmt: skip


def _first_centres(data: Data, protocol: Protocol, points: Array, rng: np.random.Generator) -> Array:
    if protocol.centres == "points":
        return points[rng.choice(len(points), CLUSTERS, replace=len(points) < CLUSTERS)]
    return public_centres(rng, data.facts.dimension, math.sqrt(float(data.facts.mean_square)))


def public_centres(rng: np.random.Generator, dimension: int, length: float) -> Array:
    """Return k centres of norm ``length``, uniform on the sphere: they depend on public numbers alone."""
    directions = rng.standard_normal((CLUSTERS, dimension))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * length


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run on a data set: protocols, ε and m of Figure 3, whether Figure 4 is made, and how many seeds."""

    dataset: str
    protocols: tuple[str, ...]
    seeds: int
    epsilons: tuple[float, ...] = EPSILONS
    middle_only: bool = False
    figure_4: bool = True

    @property
    def sizes(self) -> tuple[int, ...]:
        """The m of Figure 3."""
        return figure_3_sizes(self.dataset)[1:2] if self.middle_only else figure_3_sizes(self.dataset)


def make_tasks(plans: Iterable[Plan]) -> list[Task]:
    """Return the tasks of the plans; a configuration that both figures show is one task."""
    found: dict[str, Task] = {}
    for plan in plans:
        for protocol, method, size, epsilon in _configurations(plan):
            for first in range(0, plan.seeds, SEED_BLOCK):
                seeds = [first, min(first + SEED_BLOCK, plan.seeds)]
                key = {"dataset": plan.dataset, "protocol": protocol, "method": method, "m": size, "epsilon": epsilon, "seeds": seeds}
                task = Task("kmeans", key)
                found[task.text] = task
    return list(found.values())


def _configurations(plan: Plan) -> Iterable[tuple[str, str, int, float]]:
    for protocol in plan.protocols:
        pairs = [(size, epsilon) for size in plan.sizes for epsilon in plan.epsilons]
        if plan.figure_4:
            pairs += [(size, epsilon) for epsilon in FIXED_EPSILONS for size in figure_4_sizes(plan.dataset)]
        if protocol == "no-noise":
            for size in dict.fromkeys(size for size, _ in pairs):
                yield from ((protocol, method, size, 0.0) for method in ("uniform", "coreset"))
            yield (protocol, "full", 0, 0.0)
            continue
        for size, epsilon in dict.fromkeys(pairs):
            yield from ((protocol, method, size, epsilon) for method in ("uniform", "coreset", "constrained"))
        for epsilon in dict.fromkeys(epsilon for _, epsilon in pairs):
            yield (protocol, "full", 0, epsilon)
