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
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.distance import cdist

from accountant import derive_epsilon, optimal_weights, prove_premise
from accountant.weights.vectorised import ConvexityPremise, probabilities
from benchmarks.study.table1 import Facts
from profiles import Infeasible, InvalidArgument, Profile, decimal_text, declare
from profiles.mechanisms.datasets import WeightedData
from profiles.mechanisms.lloyd import assign_nearest, total_clusters
from profiles.mechanisms.noise import draw_directions, draw_k_norm

try:
    from profiles.mechanisms.clusters import open_passes
except ImportError:  # the fast passes are not in this version
    open_passes = None

Array = NDArray[np.float64]
METHODS = ("uniform", "coreset", "constrained", "full")
LAMBDA = Fraction(1, 2)
RHO = 0.225
_LARGEST_SCALE = 1e9


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


def published_ratio(facts: Facts) -> float:
    """Return β_count/β_sum = (4 d ρ²)^(1/3), ρ = 0.225, as Section 5 sets it. It has no unit, β_sum has: the split depends on the unit."""
    return math.cbrt(4 * facts.dimension * RHO**2)


def least_error_ratio(facts: Facts) -> float:
    """Return the β_count/β_sum with the least error of a centre of norm √x̃ at a given cost r/β_sum + 1/β_count.

    To first order a centre errs by (ζ − ξ c)/N with E‖ζ‖² = d(d + 1) β_sum² (Gamma(d) radius) and E ξ² = 2 β_count². The minimum of
    d(d + 1) β_sum² + 2 x̃ β_count² at fixed cost is at (β_count/β_sum)³ = d(d + 1)/(2 r x̃).
    """
    d = facts.dimension
    return math.cbrt(d * (d + 1) / (2 * float(facts.radius) * float(facts.mean_square)))


RATIOS: dict[str, Callable[[Facts], float]] = {"published": published_ratio, "least-error": least_error_ratio}


def make_scales(ratio: float, beta_sum: float) -> Scales:
    """Return β_sum and β_count = ratio·β_sum, both rounded to 15 significant digits."""
    return Scales(Fraction(f"{ratio * beta_sum:.14e}"), Fraction(f"{beta_sum:.14e}"))


def declare_lloyd(facts: Facts, scales: Scales, iterations: int) -> Profile:
    """Return ε(w, x) = T w (1/β_count + z/β_sum), z in [0, r] (Proposition 13)."""
    return declare(
        "weighted DP-Lloyd",
        "T*w*(1/beta_count + z/beta_sum)",
        record={"z": [0, facts.radius]},
        parameters={"T": iterations, "beta_count": scales.count, "beta_sum": scales.sum},
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


def search_supremum(facts: Facts, scales: Scales, size: float, iterations: int, lam: float = float(LAMBDA)) -> float:
    """Return max ψ over z in [0, r] as a search in binary64 finds it: a good guess, which proves nothing."""

    def psi(z: Array) -> Array:
        return sampled_loss(unsampled_loss(z, scales, iterations), coreset_probability(z, facts, size, lam))

    grid = np.linspace(0.0, float(facts.radius), 2001)
    values = psi(grid)
    best = int(values.argmax())
    ends = (float(grid[max(0, best - 1)]), float(grid[min(2000, best + 1)]))
    inner = minimize_scalar(lambda z: -float(psi(np.array([z]))[0]), bounds=ends, method="bounded", options={"xatol": 1e-12 * ends[1]})
    return max(float(values[best]), -float(inner.fun))


def grid_supremum(facts: Facts, scales: Scales, size: float, iterations: int, *, points: int = 100, lam: float = float(LAMBDA)) -> float:
    """Return max ψ over ``points`` equally spaced z in [0, r], ends included: what Section 4 calls grid search. It is a lower bound."""
    z = np.linspace(0.0, float(facts.radius), points)
    return float(sampled_loss(unsampled_loss(z, scales, iterations), coreset_probability(z, facts, size, lam)).max())


def end_points(facts: Facts, scales: Scales, size: float, iterations: int, lam: float = float(LAMBDA)) -> float:
    """Return max(ψ(0), ψ(r)): right for the l1 rule (version 1, Proposition 6), not for the l2 rule."""
    return grid_supremum(facts, scales, size, iterations, points=2, lam=lam)


def certify(
    method: str, facts: Facts, scales: Scales, size: int, iterations: int, epsilon: object = None, lam: Fraction = LAMBDA
) -> Certified:
    """Return the certified bounds on sup ψ of a method; ``epsilon`` is the target of privacy-constrained sampling."""
    profile = declare_lloyd(facts, scales, iterations)
    if method == "full":
        derived = derive_epsilon(profile, rule="uniform", constants={"rate": 1})
    elif method == "uniform":
        derived = derive_epsilon(profile, rule="uniform", constants={"m": size, "n": facts.n})
    elif method == "coreset":
        constants = {"m": size, "n": facts.n, "lam": lam, "mean": facts.mean_square}
        derived = derive_epsilon(profile, rule="coreset-l2", constants=constants)
    else:
        derived = derive_epsilon(profile, rule="privacy-constrained", target_epsilon=epsilon)
    found = derived.to_json()
    at = float(derived.bound.evidence.at.get("z", Fraction(0)))
    lower, upper = (_outward(value, up=up) for value, up in ((derived.bound.lower, False), (derived.bound.upper, True)))
    return Certified(lower, upper, bool(found["checked_by_kernel"]), at)


def _outward(value: Fraction, *, up: bool) -> float:
    number = float(value)
    if (Fraction(number) < value) if up else (Fraction(number) > value):
        return math.nextafter(number, math.inf if up else -math.inf)
    return number


def calibrate(method: str, facts: Facts, norms: Array, size: int, epsilon: float, *, ratio: float, iterations: int) -> Scales:
    """Return the least noise (β_count = ``ratio``·β_sum) with ε at most ``epsilon`` for a sample of expected size ``size``.

    Uniform and full: closed form at z = r. Coreset: search, then certified, with a little more noise until the certified bound is at
    most ε. Constrained: the noise for which the optimal weights of *these* points have Σ 1/w = m, as Section 5 has it.

    Raises :class:`Infeasible` where privacy-constrained sampling cannot have so large a sample at this ε.
    """
    cost = iterations * (1 / ratio + float(facts.radius))  # times 1/β_sum: ε(1, x) at z = r
    if method == "full":
        return make_scales(ratio, cost / epsilon * (1 + 1e-12))
    if method == "uniform":
        q = size / facts.n
        return make_scales(ratio, cost / (q * _unsampled(epsilon, q)) * (1 + 1e-12))
    if method == "coreset":
        return _calibrate_coreset(facts, size, epsilon, ratio, iterations)
    return _calibrate_constrained(facts, norms, size, epsilon, ratio, iterations)


def _unsampled(epsilon: float, q: float) -> float:
    """Return the ε₀ with log(1 + q(e^ε₀ − 1)) = ε."""
    return float(np.log1p(np.expm1(epsilon) / q)) if epsilon < 30 else epsilon - math.log(q) + math.log1p((q - 1) * math.exp(-epsilon))


def _calibrate_coreset(facts: Facts, size: int, epsilon: float, ratio: float, iterations: int) -> Scales:
    def excess(log_scale: float) -> float:
        return math.log(search_supremum(facts, make_scales(ratio, math.exp(log_scale)), size, iterations) / epsilon)

    low = math.log(float(facts.radius) * 1e-6)
    scale = math.exp(brentq(excess, low, math.log(float(facts.radius) * _LARGEST_SCALE), xtol=1e-13, rtol=1e-13))
    for _ in range(60):
        scales = make_scales(ratio, scale)
        upper = certify("coreset", facts, scales, size, iterations).upper
        if upper <= epsilon:
            return scales
        scale *= 1 + max(1e-10, 2 * (upper / epsilon - 1))
    raise InvalidArgument(f"no noise scale was certified for ε = {epsilon} and m = {size}; the search is at fault")


def _calibrate_constrained(facts: Facts, norms: Array, size: int, epsilon: float, ratio: float, iterations: int) -> Scales:
    least = iterations * (1 / ratio + float(facts.radius)) / epsilon * (1 + 1e-12)

    def excess(log_scale: float) -> float:
        profile = declare_lloyd(facts, make_scales(ratio, math.exp(log_scale)), iterations)
        premise = ConvexityPremise(profile, Fraction(0), "by hand, for the search only: ε is linear in w")
        weights = optimal_weights(profile, epsilon, {"z": norms}, premise=premise).weights
        return math.log(float(np.sum(1 / weights)) / size)

    if excess(math.log(least)) < 0:
        raise Infeasible(f"privacy-constrained sampling has no sample of {size} at ε = {epsilon}; take a smaller one")
    high = math.log(least) + 1.0
    while excess(high) > 0:
        high += 1.0
    return make_scales(ratio, math.exp(brentq(excess, math.log(least), high, xtol=1e-10, rtol=1e-12)))


def select(method: str, facts: Facts, norms: Array, size: int, epsilon: float, *, ratio: float, iterations: int) -> Selection:
    """Return probabilities, weights, noise scales and certified ε of a method. Raises :class:`Infeasible`."""
    scales = calibrate(method, facts, norms, size, epsilon, ratio=ratio, iterations=iterations)
    certified = certify(method, facts, scales, size, iterations, epsilon)
    q, weights = weigh(method, facts, norms, size, epsilon, scales, iterations)
    return Selection(q, weights, scales, certified)


def weigh(
    method: str, facts: Facts, norms: Array, size: int, epsilon: float, scales: Scales | None, iterations: int
) -> tuple[Array, Array]:
    """Return (q, w) of all points. Constrained: certified weights, for a proved premise."""
    if method == "full":
        return np.ones(len(norms)), np.ones(len(norms))
    if method == "constrained":
        if scales is None:
            raise InvalidArgument("privacy-constrained weights need noise scales; give them")
        profile = declare_lloyd(facts, scales, iterations)
        weights = optimal_weights(profile, epsilon, {"z": norms}, premise=prove_premise(profile, epsilon)).weights
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
    if open_passes is None:
        return _iterate(lambda current: _slow_totals(data, current), centres, noise, least_count, ball)
    with open_passes(data, 1) as passes:
        return _iterate(passes.total, centres, noise, least_count, ball)


def _slow_totals(data: WeightedData, centres: Array) -> tuple[Array, Array]:
    counts, sums = total_clusters(data, assign_nearest(data.points, centres[np.newaxis]), len(centres))
    return counts[0], sums[0]


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
