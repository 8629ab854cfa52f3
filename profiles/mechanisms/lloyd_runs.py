"""The iterations of DP-Lloyd, whatever the law of their noise: labels, totals of clusters, noisy totals, the next centres.

A mechanism says what draws the noise: laws for a :class:`LloydRelease` in exact mode, and :class:`LloydNoise` in binary64.
All that is here is a function of the data, the public centres and that noise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from profiles.arrays import Floats, Positions, ignore_flags
from profiles.errors import InvalidArgument, InvalidData
from profiles.hypotheses import PUBLIC_CENTRES, Hypothesis
from profiles.mechanisms.ball import project_records
from profiles.mechanisms.clusters import ClusterPasses, open_passes
from profiles.mechanisms.datasets import WeightedData, add_up, check_radius, find_reach, norms_within, to_dataset, to_points
from profiles.mechanisms.exact import OpenedRelease, open_release
from profiles.mechanisms.interface import (
    POSITIVE,
    NoisyMechanism,
    check_call,
    is_exact,
    noise_scale,
    require_positive,
    settle_arithmetic,
    settle_numbers,
    suppose_noise,
    to_arithmetic,
    whole_number,
)
from profiles.mechanisms.quantised import SumUnit, Totals, add_exactly, prepare_units
from profiles.numbers import ExactLike, to_exact, to_integer
from profiles.randomness.rounded import NoiseLaw

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

    counts: OpenedRelease
    sums: OpenedRelease

    @property
    def units(self) -> tuple[SumUnit, SumUnit]:
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


@dataclass(frozen=True, slots=True, eq=False)
class LloydRuns:
    """Independent runs of ``rounds`` iterations from public ``centres``, shape (k, d), on records with ‖x‖_p ≤ ``radius``."""

    centres: Floats
    rounds: int
    post_processing: PostProcessing
    p: float
    radius: ExactLike

    def _read(self, dataset: object) -> WeightedData:
        return to_dataset(dataset, self.centres.shape[1], self.radius, self.p)

    def follow_exactly(self, dataset: object, release: LloydRelease, size: int) -> Floats:
        """Return the final centres of ``size`` runs, shape (size, k, d), of noisy totals that ``release`` draws.

        Raises :class:`InvalidData`, also for a record or weight that is too large for the noise.
        """
        data = self._read(dataset)
        outputs = np.empty((size, *self.centres.shape))
        if len(data.points) * self.centres.size >= _LARGE:
            with open_passes(data) as passes:
                quantised = prepare_units(data, passes.reach, *release.units)
                for index in range(size):
                    outputs[index] = follow_releases(
                        lambda current: release.draw(passes.total_units(current, quantised)),
                        self.centres,
                        self.rounds,
                        self.post_processing,
                    )
            return outputs
        quantised = prepare_units(data, find_reach(data.points), *release.units)
        units = quantised.read_all()
        block = max(1, _BLOCK // max(1, data.points.size, 4 * self.centres.size))
        for start in range(0, size, block):
            runs = min(block, size - start)

            def step(current: Floats, runs: int = runs) -> tuple[Floats, Floats]:
                totals = total_labelled(units, quantised.most, assign_nearest(data.points, current), len(self.centres))
                return release.draw(np.broadcast_to(totals, (runs, *totals.shape[1:])))

            # all runs start with the same centres: what is before their first noise is done once
            outputs[start : start + runs] = follow_releases(step, self.centres[np.newaxis], self.rounds, self.post_processing)
        return outputs

    def follow_rounded(self, dataset: object, draw_noise: Callable[[int], LloydNoise], size: int) -> Floats:
        """Return the same in binary64, with the noise that ``draw_noise`` returns for a number of runs."""
        data = self._read(dataset)
        outputs = np.empty((size, *self.centres.shape))
        if len(data.points) * self.centres.size >= _LARGE:
            with open_passes(data) as passes:
                for index in range(size):
                    outputs[index] = follow_run(passes, self.centres, draw_noise(1), self.post_processing)
            return outputs
        block = max(1, _BLOCK // max(1, data.points.size, self.rounds * self.centres.size))
        for start in range(0, size, block):
            noise = draw_noise(min(block, size - start))
            outputs[start : start + block] = move_centres(data, self.centres, noise, self.post_processing)
        return outputs


class LloydMechanism(NoisyMechanism):
    """DP-Lloyd with noise of some law: a frozen dataclass with these fields and the scales of its noise, for counts and for sums."""

    __slots__ = ()

    #: The fields that have the scales, and what messages call them.
    count_field: ClassVar[tuple[str, str]]
    sum_field: ClassVar[tuple[str, str]]

    initial_centres: ArrayLike
    iterations: ExactLike
    radius: ExactLike
    min_count: ExactLike | None
    confine: bool

    @property
    @abstractmethod
    def norm(self) -> float:
        """The p of the norm in which records are measured."""

    @abstractmethod
    def laws(self) -> tuple[NoiseLaw, NoiseLaw]:
        """Return the laws of the noise of counts and of sums, in exact mode. Raises :class:`InvalidArgument` where there is none."""

    @abstractmethod
    def draw_scaled(self, rng: np.random.Generator, shape: tuple[int, ...], count_scale: float, sum_scale: float) -> LloydNoise:
        """Return noise of these scales in binary64: ``shape`` is (s, T, k)."""

    def __post_init__(self) -> None:
        settle_arithmetic(self)
        scales = dict((self.count_field, self.sum_field))
        settle_numbers(self, iterations="the number of iterations", **scales, radius="the radius", min_count="min_count")
        object.__setattr__(self, "initial_centres", _freeze_centres(self.initial_centres))
        if self.iterations != POSITIVE:
            to_integer(self.iterations, "the number of iterations", 1, any_form=True)
        for name, what in scales.items():
            require_positive(getattr(self, name), what)
        check_radius(self.radius)
        if self.min_count is not None:
            require_positive(self.min_count, "min_count")
            noise_scale(self.min_count, "min_count")

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the profile takes for granted of the centres and of the arithmetic that draws the noise."""
        return (*suppose_noise(to_arithmetic(self.arithmetic)), PUBLIC_CENTRES)

    @property
    def centres(self) -> Floats:
        """The initial centres as an array of shape (k, d)."""
        return np.array(self.initial_centres, dtype=np.float64)

    @ignore_flags
    def statistic(self, data: object) -> dict[str, Floats]:
        """Return z = ‖x‖_p of each record. Raises :class:`InvalidData`."""
        return {"z": norms_within(to_points(data, self.centres.shape[1]), self.norm, self.radius)}

    @ignore_flags
    def sample(self, dataset: object, rng: object, size: int) -> Floats:
        """Return the final centres of ``size`` independent runs, shape (size, k, d), in the arithmetic that it has when it is used.

        Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        if is_exact(self):
            release = self.open_release(rng, size)
            return self._plan().follow_exactly(dataset, release, size)
        generator = check_call(rng, size)
        return self._plan().follow_rounded(dataset, lambda count: self.draw_noise(generator, count), size)

    def open_release(self, rng: object = None, size: object = 1) -> LloydRelease:
        """Return what draws the exact noise of an iteration. Raises :class:`InvalidArgument`, for a norm without exact noise, too."""
        of_counts, of_sums = self.laws()
        (count, count_name), (total, sum_name) = self.count_field, self.sum_field
        counts = open_release(getattr(self, count), count_name, of_counts, rng, size)
        return LloydRelease(counts, open_release(getattr(self, total), sum_name, of_sums, counts.bits, size))

    def draw_noise(self, rng: np.random.Generator, size: int) -> LloydNoise:
        """Return the noise of ``size`` runs in binary64; it does not depend on any data. Raises :class:`InvalidArgument`."""
        check_call(rng, size)
        shape = (size, self._plan().rounds, len(self.centres))
        return self.draw_scaled(rng, shape, *(noise_scale(getattr(self, name), what) for name, what in (self.count_field, self.sum_field)))

    def _plan(self) -> LloydRuns:
        """Return the runs without their noise. Raises :class:`InvalidArgument` where they would take days, or too much memory."""
        rounds = whole_number(self.iterations, "the number of iterations")
        require_feasible_run(rounds, self.centres.size)
        least = None if self.min_count is None else noise_scale(self.min_count, "min_count")
        processing = PostProcessing(least, (self.norm, to_exact(self.radius)) if self.confine else None)
        return LloydRuns(self.centres, rounds, processing, self.norm, self.radius)


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
        repeated = values if runs == 1 else np.broadcast_to(values, (runs, rows)).ravel()
        totals = np.bincount(bins, weights=repeated, minlength=runs * clusters)
        return np.asarray(totals, dtype=np.float64).reshape(runs, clusters)

    return lambda values: np.stack([total(column) for column in values.T], axis=-1)


def _freeze_centres(centres: object) -> tuple[tuple[float, ...], ...]:
    """Return given initial centres as tuples of numbers. Raises :class:`InvalidData`."""
    checked = to_points(centres, None, "the set of initial centres")
    if not len(checked):
        raise InvalidData("at least one initial centre is needed, but none was found; give an array of shape (k, d)")
    return tuple(tuple(map(float, row)) for row in checked)
