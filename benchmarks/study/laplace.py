"""Figure 2: uniform, privacy-constrained and variance-optimal sampling for the weighted Laplace sum (Section 3.3).

n = 1000 points, d = 10, each coordinate N(0, 1/10). M(S) = ζ + Σ_S w x, ζ with independent Laplace(b) entries, ε(w, x) = w ‖x‖₁/b. All
three rules have the same expected size m. Reported: max ψ over the data set, and the mean squared error E‖M − Σ x‖₂², of ``runs`` runs and
exactly: 2 d b² + Σ (1/q − 1) ‖x‖₂².

The paper leaves one thing open: the ε* of the privacy-constrained rule. *Left*, m = 19 is prescribed and the noise is standard (b = 1), so
that ε* follows from m (reading ``sized``). *Right*, every b has its own m, that of the privacy-constrained weights: they need an ε*, and
the only one that b gives is the loss without sampling, ε* = max ‖x‖₁/b, the least that Assumption 8 allows (reading ``free``). Both
readings are computed on both sides (``sized``: m = 19 for every b), and for the right one also twice the least ε* (``double``).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from accountant import optimal_weights, prove_convexity
from accountant.rules import variance_optimal
from accountant.weights.fast import epsilon_for_size, probabilities
from benchmarks.study.adapters import sampled_loss
from benchmarks.study.store import Row, Task
from profiles import InvalidTarget, Profile, declare

Array = NDArray[np.float64]
N, D, SIZE = 1_000, 10, 19
RULES = ("uniform", "constrained", "variance-optimal")
SCALES = (3, 10, 30, 100, 300, 1_000, 3_000)
READINGS = {"free": 1, "double": 2, "sized": 0}
_BLOCK = 50


def draw_points(seed: int) -> Array:
    """Return the data, shape (1000, 10)."""
    return np.random.default_rng([seed, 33]).standard_normal((N, D)) / np.sqrt(D)


def declare_sum(points: Array, scale: Fraction) -> Profile:
    """Return ε(w, x) = w z/b with z = ‖x‖₁ in [0, max ‖x‖₁]."""
    largest = float(np.abs(points).sum(axis=1).max())
    return declare(
        "weighted Laplace sum", "w*z/b", record={"z": [0, largest]}, parameters={"b": scale}, source="Fay et al. 2024, Section 3.3"
    )


def constrain(points: Array, scale: Fraction, target: Fraction) -> tuple[Array, Array]:
    """Return the certified (q, w) of privacy-constrained sampling."""
    profile = declare_sum(points, scale)
    norms = np.abs(points).sum(axis=1)
    weights = optimal_weights(profile, target, {"z": norms}, convexity=prove_convexity(profile, target)).weights
    return probabilities(weights), weights


def probabilities_of(points: Array, scale: Fraction, target: Fraction, size: float | None) -> tuple[dict[str, Array], float]:
    """Return the q of the three rules with one expected size: that of the constrained rule, or ``size`` for the other two."""
    q, _ = constrain(points, scale, target)
    wanted = float(q.sum()) if size is None else size
    lengths = np.linalg.norm(points, axis=1)
    return {
        "uniform": np.full(N, wanted / N),
        "constrained": q,
        "variance-optimal": variance_optimal(lengths, wanted).probabilities,
    }, wanted


def sized_target(points: Array, scale: Fraction) -> Fraction:
    """Return the ε* for which the constrained rule has the expected size 19."""
    norms = np.abs(points).sum(axis=1)
    profile = declare_sum(points, scale)
    return epsilon_for_size(profile, SIZE, lambda: [{"z": norms}], convexity=prove_convexity(profile)).epsilon


def left_target(points: Array, reading: str) -> tuple[Fraction, Fraction]:
    """Return (b, ε*) with an expected size of 19: b = 1 (``sized``), or ε* = max ‖x‖₁/b (``free``)."""
    norms = np.abs(points).sum(axis=1)
    if reading == "sized":
        return Fraction(1), sized_target(points, Fraction(1))

    def excess(log_scale: float) -> float:
        scale = Fraction(float(np.exp(log_scale)))
        return float(constrain(points, scale, Fraction(float(norms.max())) / scale)[0].sum()) - SIZE

    scale = Fraction(float(np.exp(brentq(excess, np.log(3), np.log(3000), xtol=1e-9))))
    return scale, Fraction(float(norms.max())) / scale


def run_left(task: Task) -> list[Row]:
    """Return one row for each point and rule: its norms and its weight."""
    points = draw_points(task.key["data_seed"])
    scale, target = left_target(points, task.key["reading"])
    found, _ = probabilities_of(points, scale, target, SIZE)
    l1, l2 = np.abs(points).sum(axis=1), np.linalg.norm(points, axis=1)
    numbers = {"b": float(scale), "target": float(target)}
    return [
        {"rule": rule, "l1": float(a), "l2": float(b), "weight": float(1 / p), **numbers}
        for rule, q in found.items()
        for a, b, p in zip(l1, l2, q, strict=True)
    ]


def run_right(task: Task) -> list[Row]:
    """Return one row for each rule: m, max ψ, mean squared error (measured, its standard error, exact)."""
    points = draw_points(task.key["data_seed"])
    b = task.key["b"]
    l1, l2 = np.abs(points).sum(axis=1), np.linalg.norm(points, axis=1)
    factor = READINGS[task.key["reading"]]
    target = factor * Fraction(float(l1.max())) / b if factor else _reachable(points, Fraction(b))
    if target is None:
        return []
    found, size = probabilities_of(points, Fraction(b), target, None)
    rows = []
    for number, (rule, q) in enumerate(found.items()):
        errors = simulate(points, q, b, task.key["runs"], np.random.default_rng([task.key["data_seed"], b, number]))
        exact = 2 * D * b**2 + float(np.sum((1 / q - 1) * l2**2))
        rows.append(
            {
                "rule": rule, "size": size, "worst_loss": float(sampled_loss(l1 / b, q).max()), "target": float(target),
                "mse": float(errors.mean()), "mse_error": float(errors.std(ddof=1) / np.sqrt(len(errors))), "mse_exact": exact,
            }
        )  # fmt: skip
    return rows


def _reachable(points: Array, scale: Fraction) -> Fraction | None:
    """Return the ε* for the size 19, or None where already the least ε* has fewer points."""
    try:
        return sized_target(points, scale)
    except InvalidTarget:
        return None


def simulate(points: Array, q: Array, b: float, runs: int, rng: np.random.Generator) -> Array:
    """Return the squared errors ‖M(S) − Σ x‖₂² of independent runs."""
    total, weighted = points.sum(axis=0), points / q[:, np.newaxis]
    blocks = []
    for start in range(0, runs, _BLOCK):
        size = min(_BLOCK, runs - start)
        chosen = rng.random((size, N)) < q
        sums = chosen @ weighted + rng.laplace(0.0, b, size=(size, D))
        blocks.append(((sums - total) ** 2).sum(axis=1))
    return np.concatenate(blocks)


def make_tasks(runs: int) -> list[Task]:
    """Return the tasks of Figure 2."""
    left = [Task("figure-2-left", {"reading": reading, "data_seed": 0}) for reading in ("sized", "free")]
    right = [Task("figure-2-right", {"reading": reading, "b": b, "runs": runs, "data_seed": 0}) for reading in READINGS for b in SCALES]
    return left + right
