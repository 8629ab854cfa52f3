"""The thin layer between the study and the package: profile, noise scales, sampling rules, certified ε, Lloyd iterations.

What a release would do differently: the sample is drawn with a seeded generator (reproducible, no guarantee), and the noise scales of
privacy-constrained sampling are searched on the data (as the paper does).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from accountant import derive_epsilon, optimal_weights, prove_convexity
from accountant.calibration import calibrate_noise, calibrate_noise_for_size, least_error_ratio, published_ratio
from accountant.guarantees.derive import DerivedEpsilon
from accountant.weights.fast import probabilities
from benchmarks.study.table1 import Facts
from profiles import InvalidArgument, Profile, decimal_text, declare
from profiles.mechanisms.clusters import open_passes
from profiles.mechanisms.datasets import WeightedData
from profiles.mechanisms.k_norm_sum import draw_directions, draw_k_norm

Array = NDArray[np.float64]
METHODS = ("uniform", "coreset", "constrained", "full")
LAMBDA = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Scales:
    """The noise scales of DP-Lloyd, as decimals: β_count (in weights) and β_sum (in the unit of the data)."""

    count: Fraction
    sum: Fraction


@dataclass(frozen=True, slots=True)
class Certified:
    """L ≤ sup ψ ≤ U; ``kernel``: the kernel accepted the certificate; ``at``: the record that gives L."""

    lower: float
    upper: float
    kernel: bool
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Probabilities and weights of all points under a rule, and the noise scales and certified ε that go with it."""

    probabilities: Array
    weights: Array
    scales: Scales
    certified: Certified


def _published(facts: Facts) -> Fraction:
    """Return (4 d ρ²)^(1/3), ρ = 0.225, as Section 5 sets it. It has no unit, β_sum has: the split depends on the unit."""
    return published_ratio(facts.dimension)


def _least_error(facts: Facts) -> Fraction:
    """Return the ratio with the least error of a centre of norm √x̃."""
    return least_error_ratio(facts.dimension, radius=facts.radius, centre_norm=Fraction(f"{math.sqrt(float(facts.mean_square)):.12g}"))


#: β_count/β_sum by the name of the split.
RATIOS: dict[str, Callable[[Facts], Fraction]] = {"published": _published, "least-error": _least_error}


def make_scales(ratio: Fraction, beta_sum: float) -> Scales:
    """Return β_sum and β_count = ratio·β_sum, both rounded to 15 significant digits."""
    return Scales(Fraction(f"{float(ratio) * beta_sum:.14e}"), Fraction(f"{beta_sum:.14e}"))


def declare_lloyd(facts: Facts, scales: Scales | None, iterations: int) -> Profile:
    """Return ε(w, x) = T w (1/β_count + z/β_sum), z in [0, r] (Proposition 13); without ``scales`` for all positive ones."""
    return declare(
        "weighted DP-Lloyd",
        "T*w*(1/beta_count + z/beta_sum)",
        record={"z": [0, facts.radius]},
        parameters={
            "T": iterations,
            "beta_count": "positive" if scales is None else scales.count,
            "beta_sum": "positive" if scales is None else scales.sum,
        },
        source="Fay et al. 2024, Proposition 13",
    )


def unsampled_loss(z: Array, scales: Scales, iterations: int) -> Array:
    """Return ε(1, x) in binary64 for the norms ``z``."""
    loss: Array = iterations * (1 / float(scales.count) + z / float(scales.sum))
    return loss


def coreset_probability(z: Array, facts: Facts, size: float, lam: float = float(LAMBDA)) -> Array:
    """Return q(x) = λ m/n + (1 − λ) m z²/(n x̃); ``lam`` = 1 is uniform sampling."""
    q: Array = size / facts.n * (lam + (1 - lam) * z**2 / float(facts.mean_square))
    return q


def sampled_loss(loss: Array, q: Array) -> Array:
    """Return ψ = log(1 + q(e^ε − 1)) for ε = ``loss``/q, in binary64, without overflow."""
    epsilon = loss / q
    small = epsilon < 30
    with np.errstate(over="ignore"):
        low = np.log1p(q * np.expm1(np.where(small, epsilon, 0.0)))
    found: Array = np.where(small, low, epsilon + np.log(q + (1 - q) * np.exp(-epsilon)))
    return found


def grid_supremum(facts: Facts, scales: Scales, size: float, iterations: int, *, points: int = 100, lam: float = float(LAMBDA)) -> float:
    """Return max ψ over ``points`` equally spaced z in [0, r], ends included: what Section 4 calls grid search. It is a lower bound."""
    z = np.linspace(0.0, float(facts.radius), points)
    return float(sampled_loss(unsampled_loss(z, scales, iterations), coreset_probability(z, facts, size, lam)).max())


def end_points(facts: Facts, scales: Scales, size: float, iterations: int, lam: float = float(LAMBDA)) -> float:
    """Return max(ψ(0), ψ(r)): right for the l1 rule (version 1, Proposition 6), not for the l2 rule."""
    return grid_supremum(facts, scales, size, iterations, points=2, lam=lam)


def certify_coreset(facts: Facts, scales: Scales, size: int, iterations: int, lam: Fraction = LAMBDA) -> Certified:
    """Return the certified bounds on sup ψ of the coreset rule for given noise."""
    constants = {"m": size, "n": facts.n, "lam": lam, "mean": facts.mean_square}
    return _certified(derive_epsilon(declare_lloyd(facts, scales, iterations), rule="coreset-l2", constants=constants))


def _certified(derived: DerivedEpsilon) -> Certified:
    bound = derived.bound
    at = float(bound.evidence.at.get("z", Fraction(0)))
    return Certified(_outward(bound.lower, up=False), _outward(bound.upper, up=True), bool(derived.to_json()["checked_by_kernel"]), at)


def _outward(value: Fraction, *, up: bool) -> float:
    number = float(value)
    if (Fraction(number) < value) if up else (Fraction(number) > value):
        return math.nextafter(number, math.inf if up else -math.inf)
    return number


def calibrate(
    method: str, facts: Facts, norms: Array, size: int, epsilon: float, *, ratio: Fraction, iterations: int
) -> tuple[Scales, Certified]:
    """Return the least noise, within 1e-6, with β_count = ``ratio``·β_sum and a certified ε of at most ``epsilon``, and its certificate.

    For ``constrained`` it is the noise for which the optimal weights of *these* points have Σ 1/w = m, as Section 5 has it.

    Raises :class:`InvalidTarget` where privacy-constrained sampling cannot have so large a sample at this ε.
    """
    template = declare_lloyd(facts, None, iterations)
    shares = {"beta_sum": 1, "beta_count": ratio}
    if method == "constrained":
        found = calibrate_noise_for_size(template, epsilon, size, lambda: [{"z": norms}], proportions=shares)
    elif method == "coreset":
        constants = {"m": size, "n": facts.n, "lam": LAMBDA, "mean": facts.mean_square}
        found = calibrate_noise(template, "coreset-l2", epsilon, constants=constants, proportions=shares)
    else:
        rate: dict[str, object] = {"rate": 1} if method == "full" else {"m": size, "n": facts.n}
        found = calibrate_noise(template, "uniform", epsilon, constants=rate, proportions=shares)
    return Scales(found.parameters["beta_count"], found.parameters["beta_sum"]), _certified(found.derived)


def select(method: str, facts: Facts, norms: Array, size: int, epsilon: float, *, ratio: Fraction, iterations: int) -> Selection:
    """Return probabilities, weights, noise scales and certified ε of a method. Raises :class:`InvalidTarget`."""
    scales, certified = calibrate(method, facts, norms, size, epsilon, ratio=ratio, iterations=iterations)
    q, weights = weigh(method, facts, norms, size, epsilon, scales, iterations)
    return Selection(q, weights, scales, certified)


def weigh(
    method: str, facts: Facts, norms: Array, size: int, epsilon: float, scales: Scales | None, iterations: int
) -> tuple[Array, Array]:
    """Return (q, w) of all points. Constrained: certified weights, for a proved convexity."""
    if method == "full":
        return np.ones(len(norms)), np.ones(len(norms))
    if method == "constrained":
        if scales is None:
            raise InvalidArgument("privacy-constrained weights need noise scales; give them")
        profile = declare_lloyd(facts, scales, iterations)
        weights = optimal_weights(profile, epsilon, {"z": norms}, convexity=prove_convexity(profile, epsilon)).weights
        return probabilities(weights), weights
    q = coreset_probability(norms, facts, size, 1.0 if method == "uniform" else float(LAMBDA))
    return q, 1 / q


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """The noise of one run: ``counts`` of shape (T, k), ``sums`` of shape (T, k, d)."""

    counts: Array
    sums: Array


def draw_noise(rng: np.random.Generator, scales: Scales | None, shape: tuple[int, int, int], radius_law: str) -> Noise:
    """Return the noise of T iterations, k clusters, d dimensions: ``shape``; none where ``scales`` is None.

    ``radius_law``: ``gamma`` gives the density ∝ exp(−‖ζ‖₂/β_sum) of Algorithm 2; ``exponential`` is what the authors' code draws, whose
    density ‖ζ‖^(1−d) exp(−‖ζ‖/β_sum) has a pole at the true sum, so that it has no ε.
    """
    iterations, clusters, dimension = shape
    if scales is None:
        return Noise(np.zeros((iterations, clusters)), np.zeros(shape))
    counts = rng.laplace(0.0, float(scales.count), size=(iterations, clusters))
    if radius_law == "gamma":
        return Noise(counts, draw_k_norm(rng, (iterations, clusters), dimension, 2, float(scales.sum)))
    radii = rng.exponential(float(scales.sum), size=(iterations, clusters, 1))
    return Noise(counts, draw_directions(rng, (iterations, clusters), dimension, 2) * radii)


def run_lloyd(points: Array, weights: Array, centres: Array, noise: Noise, *, least_count: float | None, ball: float | None) -> Array:
    """Return the centres after the iterations of ``noise``, shape (k, d).

    ``least_count``: a cluster whose noisy count is below it keeps its centre; None: the quotient is always taken, as in Algorithm 2 (a
    quotient that is not finite keeps the centre). ``ball``: centres are moved to the ball of this radius; both are post-processing.
    """
    data = WeightedData(np.ascontiguousarray(points), np.ascontiguousarray(weights))
    with open_passes(data, 1) as passes:
        return _iterate(passes.total, centres, noise, least_count, ball)


def _iterate(
    totals: Callable[[Array], tuple[Array, Array]], centres: Array, noise: Noise, least_count: float | None, ball: float | None
) -> Array:
    current = centres
    for count_noise, sum_noise in zip(noise.counts, noise.sums, strict=True):
        counts, sums = totals(current)
        noisy = counts + count_noise
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            moved = (sums + sum_noise) / noisy[:, np.newaxis]
        usable = np.isfinite(moved).all(axis=1) & (True if least_count is None else noisy >= least_count)
        current = np.where(usable[:, np.newaxis], moved, current)
        if ball is not None:
            lengths = np.linalg.norm(current, axis=1, keepdims=True)
            current = current * (ball / np.maximum(lengths, ball))
    return current


def mean_cost(points: Array, centres: Array) -> float:
    """Return the cost n⁻¹ Σ min_j ‖x − c_j‖² on all points."""
    total = 0.0
    for start in range(0, len(points), 65_536):
        total += float(cdist(points[start : start + 65_536], centres, "sqeuclidean").min(axis=1).sum())
    return total / len(points)


def show_upper(value: float, digits: int = 6) -> str:
    """Return a float as a decimal that is not below it."""
    return decimal_text(Fraction(value), digits, round_up=True)
