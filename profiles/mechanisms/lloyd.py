"""Weighted DP-Lloyd: k-means with noisy weighted counts and noisy weighted sums (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from profiles.arrays import Floats, Positions, ignore_flags
from profiles.composition import compose_adaptively
from profiles.errors import InvalidArgument, InvalidData
from profiles.hypotheses import PUBLIC_CENTRES, Hypothesis
from profiles.mechanisms.ball import project_records
from profiles.mechanisms.clusters import ClusterPasses, open_passes
from profiles.mechanisms.datasets import WeightedData, add_up, check_radius, find_reach, norms_within, to_dataset, to_points
from profiles.mechanisms.exact import Release, open_release
from profiles.mechanisms.interface import (
    POSITIVE,
    Arithmetic,
    check_call,
    is_exact,
    noise_scale,
    require_norm,
    require_positive,
    settle_arithmetic,
    settle_numbers,
    to_arithmetic,
    whole_number,
)
from profiles.mechanisms.k_norm_sum import KNormSum, draw_k_norm, suppose_k_norm
from profiles.mechanisms.quantised import Totals, Unit, add_exactly, prepare_units
from profiles.mechanisms.weighted_count import WeightedCount
from profiles.numbers import ExactLike, to_exact, to_integer
from profiles.profile import Profile
from profiles.randomness.rounded import LAPLACE, k_norm_law

#: What one run may ask for: more iterations help nobody, and their noise is drawn before the first of them.
MOST_ROUNDS, MOST_NUMBERS = 10**5, 10**8

_BLOCK = 2**20  # numbers in one temporary array: outputs are computed in blocks of this size
_LARGE = 2**18  # n·k·d from which on passes over the data, one run at a time, are faster than many runs at once


@dataclass(frozen=True, slots=True, eq=False)
class LloydNoise:
    """The noise of s independent runs: ``counts`` ξ of shape (s, T, k) and ``sums`` ζ of shape (s, T, k, d)."""

    counts: Floats
    sums: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LloydRelease:
    """What draws the noise of iterations exactly."""

    counts: Release
    sums: Release

    @property
    def units(self) -> tuple[Unit, Unit]:
        """The units of sums and of counts."""
        return self.sums.unit, self.counts.unit

    def draw(self, totals: Totals) -> tuple[Floats, Floats]:
        """Return noisy counts (..., k) and sums (..., k, d) of totals in units, (..., k, d + 1) with the counts in the last column."""
        return self.counts.draw(totals[..., -1]), self.sums.draw(totals[..., :-1])


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """How noisy counts and sums become centres, without the data; ``ball`` is (p, radius) where centres are confined to it."""

    min_count: float | None = 1.0
    ball: tuple[float, Fraction] | None = None

    def move(self, previous: Floats, counts: Floats, sums: Floats) -> Floats:
        """Return sums / counts where the noisy count is large enough and the quotient finite, else the previous centre: (..., k, d)."""
        with np.errstate(all="ignore"):
            quotients = sums / counts[..., np.newaxis]
        usable = np.isfinite(quotients).all(axis=-1, keepdims=True)
        if self.min_count is not None:
            usable = usable & (counts[..., np.newaxis] >= self.min_count)
        centres = np.where(usable, quotients, previous)
        if self.ball is None:
            return centres
        return project_records(centres.reshape(-1, centres.shape[-1]), *self.ball).reshape(centres.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedLloyd:
    """Claim: weighted DP-Lloyd has the PDP profile ε(w, x) = T·(w/β_count + w·z/β_sum), z = ‖x‖_p.

    In each of T iterations, every record goes to its nearest centre (Euclidean; the first one of a tie), and for each cluster C_j

        c_j = (ζ_j + Σ_{C_j} w x) / (ξ_j + Σ_{C_j} w),   ξ_j ~ Laplace(0, β_count),   ζ_j of density ∝ exp(−‖ζ‖_p/β_sum).

    Why an iteration costs one count and one sum, and not k of each: given the centres so far, which are public by then, the
    cluster of a record is a function of that record alone. Adding (w, x) therefore changes one of the k counts, by w, and one of
    the k sums, by w·x; the other 2(k − 1) quantities keep their distributions and cancel from the likelihood ratio (parallel
    composition over disjoint clusters). So the vector of counts is w/β_count-PDP and the vector of sums w·z/β_sum-PDP, like one
    weighted count and one K-norm weighted sum; adaptive composition adds up these 2T steps. The profile is composed from the two
    mechanisms' own profiles accordingly.

    Small counts: Algorithm 2 divides by any noisy count, also by one near 0 or below. Here a cluster whose noisy count is below
    ``min_count`` keeps its centre of the iteration before. That is post-processing: it looks at the noisy count, never at the
    true one, and at a centre that is already released or public. The default of 1 is the least weight that a cluster with a
    record can have; ``min_count=None`` divides always, as the paper does (a quotient that is not a finite float keeps the centre
    as well). The profile is the same for every choice.

    Centres outside the domain: noise can throw a centre far away from all records. With ``confine`` such a centre is moved onto the ball
    ‖x‖_p ≤ radius along its ray, in every iteration. That is post-processing as well. For p = 2 it is the nearest point of the ball, so
    that no record gets farther from the centre (projections onto convex sets do not lengthen distances to their points).

    Only the final centres are the output; the guarantee covers the centres of all iterations.

    In floating point, the cluster of a record is a function of that record and the centres alone as well, by the definition of
    :mod:`profiles.mechanisms.nearest`: parallel composition needs no hypothesis there. In exact mode records are truncated to integers,
    whose sums are exact, and what each iteration releases is correctly rounded (docs/exact-noise.md); p must be 1, 2 or ∞ to be run. In
    binary64 mode sums are rounded: that noise is added to exact sums is part of the hypothesis EXACT_ARITHMETIC. On large data a run needs
    memory for the data and a constant for each thread, and in exact mode for up to 2²⁷ truncated numbers (1 GiB), which are made once.

    ``initial_centres``: shape (k, d), or (k,) where d = 1; they must not be derived from the data. ``iterations`` is T, a positive
    integer; ``beta_count`` and ``beta_sum`` are positive numbers; each of the three may be ``"positive"`` for a profile that cannot be
    run. ``p`` ≥ 1 or ``math.inf``; ``radius`` bounds ‖x‖_p.
    ``arithmetic``: "exact" releases correctly rounded values; "binary64" draws the noise in binary64, which gives more away (for studies).

    Source: Fay et al. 2024, Proposition 13, Equation (3), Algorithm 2. Raises :class:`InvalidArgument`, :class:`InvalidNumber`,
    :class:`InvalidData` (the centres).

    >>> WeightedLloyd(initial_centres=[-1, 1], iterations=10, beta_count="20.5", beta_sum=30).profile.text
    'T*(w/beta_count + w*z/beta_sum)'
    """

    name: ClassVar[str] = "weighted DP-Lloyd"
    summary: ClassVar[str] = "k-means centres after T iterations with noisy weighted counts and sums"
    source: ClassVar[str] = "Fay et al. 2024, Proposition 13 and Algorithm 2"

    initial_centres: ArrayLike
    iterations: ExactLike = POSITIVE
    beta_count: ExactLike = POSITIVE
    beta_sum: ExactLike = POSITIVE
    p: float = 2
    radius: ExactLike = 4
    min_count: ExactLike | None = 1.0
    confine: bool = False
    arithmetic: Arithmetic | str = Arithmetic.EXACT

    def __post_init__(self) -> None:
        settle_arithmetic(self)
        settle_numbers(
            self,
            iterations="the number of iterations",
            beta_count="the noise scale beta_count",
            beta_sum="the noise scale beta_sum",
            radius="the radius",
            min_count="min_count",
        )
        object.__setattr__(self, "initial_centres", _freeze_centres(self.initial_centres))
        if self.iterations != POSITIVE:
            to_integer(self.iterations, "the number of iterations", 1, any_form=True)
        require_positive(self.beta_count, "the noise scale beta_count")
        require_positive(self.beta_sum, "the noise scale beta_sum")
        require_norm(self.p)
        check_radius(self.radius)
        if self.min_count is not None:
            require_positive(self.min_count, "min_count")
            noise_scale(self.min_count, "min_count")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the centres and of the arithmetic that draws the noise."""
        return (*suppose_k_norm(to_arithmetic(self.arithmetic), self.p), PUBLIC_CENTRES)

    @property
    def centres(self) -> Floats:
        """The initial centres as an array of shape (k, d)."""
        return np.array(self.initial_centres, dtype=np.float64)

    @property
    def post_processing(self) -> PostProcessing:
        """What makes the next centres of the noisy counts and sums."""
        least = None if self.min_count is None else noise_scale(self.min_count, "min_count")
        return PostProcessing(least, (self.p, to_exact(self.radius)) if self.confine else None)

    @property
    def count(self) -> WeightedCount:
        """The weighted count that an iteration runs, on disjoint clusters."""
        return WeightedCount(beta_count=self.beta_count, arithmetic=self.arithmetic)

    @property
    def sum(self) -> KNormSum:
        """The weighted sum that an iteration runs, on disjoint clusters."""
        dimension = self.centres.shape[1]
        return KNormSum(beta_sum=self.beta_sum, p=self.p, radius=self.radius, dimension=dimension, arithmetic=self.arithmetic)

    @property
    def profile(self) -> Profile:
        """ε(w, x) = T·(w/β_count + w·z/β_sum) for z = ‖x‖_p in [0, radius], composed from the two parts."""
        parts = (self.count.profile, self.sum.profile)
        return compose_adaptively(self.name, parts, times="T", times_value=self.iterations, source=self.source)

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖_p of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.centres.shape[1]), self.p, self.radius)}

    def run(self, data: object, weights: object, rng: object = None) -> Floats:
        """Return the final centres of one run, shape (k, d). Raises :class:`InvalidData`, :class:`InvalidArgument`."""
        output: Floats = self.sample((data, weights), rng, 1)[0]
        return output

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return the final centres of ``size`` independent runs, shape (size, k, d).

        Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        if is_exact(self):
            return self._sample_exactly(dataset, rng, size)
        generator = check_call(rng, size)
        centres, rounds = self.centres, self._count_rounds()
        data = to_dataset(dataset, centres.shape[1], self.radius, self.p)
        outputs = np.empty((size, *centres.shape))
        if len(data.points) * centres.size >= _LARGE:
            with open_passes(data) as passes:
                for index in range(size):
                    outputs[index] = follow_run(passes, centres, self.draw_noise(generator, 1), self.post_processing)
            return outputs
        block = max(1, _BLOCK // max(1, data.points.size, rounds * centres.size))
        for start in range(0, size, block):
            noise = self.draw_noise(generator, min(block, size - start))
            outputs[start : start + block] = move_centres(data, centres, noise, self.post_processing)
        return outputs

    def _sample_exactly(self, dataset: object, rng: object, size: int) -> Floats:
        release, centres, rounds = self.open_release(rng, size), self.centres, self._count_rounds()
        data = to_dataset(dataset, centres.shape[1], self.radius, self.p)
        outputs = np.empty((size, *centres.shape))
        if len(data.points) * centres.size >= _LARGE:
            with open_passes(data) as passes:
                quantised = prepare_units(data, passes.reach, *release.units)
                for index in range(size):
                    outputs[index] = follow_releases(
                        lambda current: release.draw(passes.total_units(current, quantised)), centres, rounds, self.post_processing
                    )
            return outputs
        quantised = prepare_units(data, find_reach(data.points), *release.units)
        units = quantised.read_all()
        block = max(1, _BLOCK // max(1, data.points.size, 4 * centres.size))
        for start in range(0, size, block):
            runs = min(block, size - start)

            def step(current: Floats, runs: int = runs) -> tuple[Floats, Floats]:
                totals = total_labelled(units, quantised.most, assign_nearest(data.points, current), len(centres))
                return release.draw(np.broadcast_to(totals, (runs, *totals.shape[1:])))

            # all runs start with the same centres: what is before their first noise is done once
            outputs[start : start + runs] = follow_releases(step, centres[np.newaxis], rounds, self.post_processing)
        return outputs

    def __call__(self, dataset: object, rng: object, size: int) -> Floats:
        """Same as :meth:`sample`: the interface that audits judge."""
        return self.sample(dataset, rng, size)

    def open_release(self, rng: object = None, size: object = 1) -> LloydRelease:
        """Return what draws the exact noise of an iteration. Raises :class:`InvalidArgument`, for a norm without exact noise, too."""
        law = k_norm_law(self.p)
        counts = open_release(self.beta_count, "the noise scale beta_count", LAPLACE, rng, size)
        return LloydRelease(counts, open_release(self.beta_sum, "the noise scale beta_sum", law, counts.bits, size))

    def draw_noise(self, rng: np.random.Generator, size: int) -> LloydNoise:
        """Return the noise of ``size`` runs in binary64; it does not depend on any data. Raises :class:`InvalidArgument`."""
        check_call(rng, size)
        rounds = self._count_rounds()
        clusters, dimension = self.centres.shape
        counts = rng.laplace(0.0, noise_scale(self.beta_count, "the noise scale beta_count"), size=(size, rounds, clusters))
        scale = noise_scale(self.beta_sum, "the noise scale beta_sum")
        return LloydNoise(counts, draw_k_norm(rng, (size, rounds, clusters), dimension, self.p, scale))

    def _count_rounds(self) -> int:
        """Return T. Raises :class:`InvalidArgument` where a run would take days, or its noise would not fit in memory."""
        rounds = whole_number(self.iterations, "the number of iterations")
        require_feasible_run(rounds, self.centres.size)
        return rounds


def require_feasible_run(rounds: int, entries: int) -> None:
    """Raise :class:`InvalidArgument` where ``rounds`` iterations with k·d = ``entries`` would take days, or their noise too much memory."""
    if rounds > MOST_ROUNDS or rounds * entries > MOST_NUMBERS:
        raise InvalidArgument(
            f"{rounds} iterations of {rounds * entries} noisy numbers in all were to be run, but at most {MOST_ROUNDS} iterations and "
            f"{MOST_NUMBERS} numbers can be; lower the number of iterations or of centres"
        )


def move_centres(data: WeightedData, centres: Floats, noise: LloydNoise, post_processing: PostProcessing) -> Floats:
    """Return the final centres, shape (s, k, d), of the s runs whose noise is given: the deterministic part of Algorithm 2."""
    runs, rounds, _ = noise.counts.shape
    current = np.broadcast_to(centres, (runs, *centres.shape)).copy()
    for t in range(rounds):
        counts, sums = total_clusters(data, assign_nearest(data.points, current), centres.shape[0])
        current = post_processing.move(current, counts + noise.counts[:, t], sums + noise.sums[:, t])
    return current


def follow_run(passes: ClusterPasses, centres: Floats, noise: LloydNoise, post_processing: PostProcessing) -> Floats:
    """Return the final centres, shape (k, d), of one run: those of :func:`move_centres` up to the rounding of sums, fast on large data."""
    current = centres
    for noisy_count, noisy_sum in zip(noise.counts[0], noise.sums[0], strict=True):
        counts, sums = passes.total(current)
        current = post_processing.move(current, counts + noisy_count, sums + noisy_sum)
    return current


def follow_releases(
    release: Callable[[Floats], tuple[Floats, Floats]], centres: Floats, rounds: int, post_processing: PostProcessing
) -> Floats:
    """Return the final centres where ``release`` gives the noisy counts and sums of the clusters of centres: (..., k, d)."""
    current = centres
    for _ in range(rounds):
        current = post_processing.move(current, *release(current))
    return current


def assign_nearest(points: Floats, centres: Floats) -> Positions:
    """Return the index of the nearest centre, the first one of a tie: (n, d) and (s, k, d) → (s, n).

    The label of a record is the one that :mod:`profiles.mechanisms.nearest` defines: a function of that record and the centres alone, also
    in floating point, as parallel composition needs it. Every operation is elementwise, in the order of the definition.
    """
    runs, clusters, dimension = centres.shape
    nearest = np.full((runs, len(points)), np.inf)
    labels = np.zeros((runs, len(points)), dtype=np.intp)
    with np.errstate(all="ignore"):
        for j in range(clusters):
            distances = np.zeros((runs, len(points)))
            for column in range(dimension):
                gaps = points[:, column] - centres[:, j, column, np.newaxis]
                gaps *= gaps
                distances += gaps
            labels[distances < nearest] = j
            np.minimum(nearest, distances, out=nearest)
    return labels


def total_clusters(data: WeightedData, labels: Positions, clusters: int) -> tuple[Floats, Floats]:
    """Return the weighted counts Σ w, shape (s, k), and the weighted sums Σ w x, shape (s, k, d), of labelled clusters, in binary64."""
    add = _sort(labels, clusters)
    with np.errstate(all="ignore"):
        weighted = data.points * data.weights[:, np.newaxis]
    counts = add_up(lambda: add(data.weights[:, np.newaxis]), "the sum of the weights")[..., 0]
    return counts, add_up(lambda: add(weighted), "the weighted sum")


def total_labelled(units: Floats, most: float, labels: Positions, clusters: int) -> Totals:
    """Return the exact totals of labelled clusters, shape (s, k, columns), of ``units`` of shape (n, columns) that ``most`` bounds."""
    return add_exactly(_sort(labels, clusters), units, max(1, len(units)), most)


def _sort(labels: Positions, clusters: int) -> Callable[[Floats], Floats]:
    """Return the function that adds up the rows of each cluster, one after the other: (n, columns) → (s, k, columns)."""
    runs, rows = labels.shape
    bins = (labels + clusters * np.arange(runs)[:, np.newaxis]).ravel()

    def total(values: Floats) -> Floats:
        repeated = np.broadcast_to(values, (runs, rows)).ravel()
        totals = np.bincount(bins, weights=repeated, minlength=runs * clusters)
        return np.asarray(totals, dtype=np.float64).reshape(runs, clusters)

    return lambda values: np.stack([total(column) for column in values.T], axis=-1)


def _freeze_centres(centres: object) -> tuple[tuple[float, ...], ...]:
    checked = to_points(centres, None, "the set of initial centres")
    if not len(checked):
        raise InvalidData("at least one initial centre is needed, but none was found; give an array of shape (k, d)")
    return tuple(tuple(map(float, row)) for row in checked)


_PLANE = ((-1.0, 0.0), (1.0, 0.0))

#: Two clusters in the plane, T = 10, β_count = 20.5, β_sum = 30, Euclidean records of norm at most 4.
default = WeightedLloyd(initial_centres=_PLANE, iterations=10, beta_count="20.5", beta_sum=30)
#: Any number of iterations and any noise scales: a profile to prove things about.
general = WeightedLloyd(initial_centres=_PLANE)
