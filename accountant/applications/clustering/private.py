"""Private metric k-median and k-means: Ghazi et al. 2024, Section 4.1.3 and Appendix G, repaired (docs/metric-clustering.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from accountant.applications.clustering.budget import Budget, derive_guarantee, divide_budget
from accountant.applications.clustering.records import Data, Records, Tally
from accountant.applications.clustering.selection import count_nearest, select_candidates
from accountant.applications.clustering.solver import solve_weighted
from accountant.applications.clustering.space import MetricSpace
from accountant.calibration.one_sided import read_target
from accountant.guarantees import AnyGuarantee, Run, conclude_run, ships
from profiles import InvalidArgument, InvalidTarget, to_exact
from profiles.arrays import Floats
from profiles.numbers import ExactLike
from profiles.randomness import BitSource, draw_discrete_laplace, draw_geometric
from profiles.randomness.bernoulli import open_sources

MOST_ROUNDS = 2**20
_LEAST_RATE = Fraction(1, 2**900)
_HISTOGRAMS = ("sampled", "full")


@dataclass(frozen=True, slots=True)
class MetricClustering:
    """What is released, all of it under ``guarantee``.

    ``centres``: k candidate numbers, sorted; ``selected``: the candidates of the repeated exponential mechanism, in their order;
    ``weights``: estimates of how many records are nearest to each of these, noisy, without bias but for being cut at 0.
    """

    centres: tuple[int, ...]
    selected: tuple[int, ...]
    weights: tuple[float, ...]
    guarantee: AnyGuarantee


@dataclass(frozen=True, slots=True)
class PrivateMetricClustering:
    """Claim: ``run`` is ``epsilon``-differentially private (add/remove of one record) under the hypotheses of ``guarantee``.

    Chooses k of m public candidates such that the sum over records of min_c d(x, c)^power is small. Proofs: docs/metric-clustering.md.

    ``space``: public candidates and distances. ``power``: 1 (k-median) or 2 (k-means). ``epsilon``: exact, in nats.
    How many candidates are selected before the histogram, exactly one of:
    ``rounds`` (that many); ``n_bound`` N (⌈k ln N⌉, good for up to N records; privacy holds for more, too, but N must not be looked up in
    the data); ``size_share`` (⌈k ln ñ⌉ for a noisy number of records ñ, which costs this share of the budget).
    ``split``: share of what is left for the selection; the rest is for the histogram. ``histogram``: ``"sampled"`` counts the sample that
    the selection used, as the paper does; ``"full"`` counts all records with two-sided noise.
    ``calibration``: ``"optimal"`` or ``"corollary"`` (the paper's ε₀ = ln 2).

    Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidTarget` when it is made.

    >>> from accountant.applications.clustering import read_distances
    >>> space = read_distances([[0, 1, 9], [1, 0, 8], [9, 8, 0]])
    >>> model = PrivateMetricClustering(space, k=2, epsilon=1, n_bound=1000)
    >>> answer = model.run([0, 1, 1, 2] * 200, np.random.default_rng(1))
    >>> len(answer.centres), answer.guarantee.bound.epsilon <= 1
    (2, True)
    """

    space: MetricSpace
    k: int
    epsilon: ExactLike
    power: int = 1
    rounds: int | None = None
    n_bound: int | None = None
    size_share: ExactLike | None = None
    split: ExactLike = "1/2"
    histogram: Literal["sampled", "full"] = "sampled"
    calibration: Literal["optimal", "corollary"] = "optimal"

    def __post_init__(self) -> None:
        if type(self.space) is not MetricSpace:  # a subclass may make costs beyond one of a record
            raise InvalidArgument(
                f"a MetricSpace is needed, but {type(self.space).__name__} was found; make one with read_distances or measure_points"
            )
        _require_integer(self.k, "k", 1, self.space.size, "the number of candidates")
        _require_integer(self.power, "the power", 1, 2, "k-means")
        if sum(item is not None for item in (self.rounds, self.n_bound, self.size_share)) != 1:
            raise InvalidArgument("exactly one of rounds, n_bound and size_share is needed; say how many candidates are to be selected")
        if self.rounds is not None:
            _require_integer(self.rounds, "rounds", self.k, MOST_ROUNDS, "rounds are cut to the number of candidates; k are needed")
        if self.n_bound is not None:
            _require_integer(self.n_bound, "n_bound", 1, 2**62, "a public bound on the number of records")
        for what, value in (("split", self.split), ("size_share", self.size_share)):
            if value is not None and not 0 < to_exact(value, what) < 1:
                raise InvalidArgument(f"{what} must lie strictly between 0 and 1, but {str(value)[:40]} was found; give a share")
        if self.histogram not in _HISTOGRAMS:
            raise InvalidArgument(f"histogram must be 'sampled' or 'full', but {str(self.histogram)[:40]!r} was found; give one of the two")
        if any(0 < share < _LEAST_RATE for share in (self.budget.size, self.budget.selection, self.budget.histogram)):
            raise InvalidTarget("a part of the budget is below 2^-900 nats, whose noise is no binary64 number; raise epsilon or the share")

    @property
    def public_rounds(self) -> int | None:
        """How many candidates are selected, where that is public; None where it comes from a noisy number of records."""
        if self.rounds is not None:
            return min(int(self.rounds), self.space.size)
        return None if self.n_bound is None else rounds_for(int(self.n_bound), int(self.k), self.space.size)

    @property
    def budget(self) -> Budget:
        """What each part may lose."""
        return divide_budget(
            read_target(self.epsilon),
            split=to_exact(self.split, "split"),
            size_share=Fraction(0) if self.size_share is None else to_exact(self.size_share, "size_share"),
            everything=self.public_rounds == self.space.size,
            full=self.histogram == "full",
            calibration=self.calibration,
        )

    @property
    def guarantee(self) -> AnyGuarantee:
        """The guarantee of :meth:`run` before it is known where the random bits come from."""
        return derive_guarantee(self.budget, self)

    def run(self, data: Data, rng: object = None, *, bits: object = None) -> MetricClustering:
        """Return private centres for ``data``: candidate numbers (n,), points (n, d), :class:`Multiplicities` or :class:`DistanceRows`.

        ``rng`` makes the draws of selection and noise, ``bits`` those of the sample: each None (the operating system's secure source), a
        seed, or a :class:`numpy.random.Generator`. All draws are exact. Raises :class:`InvalidData`, :class:`InvalidArgument`.
        """
        source, sampler = open_sources(rng, bits)
        budget = self.budget
        run = Run(noise=source.hypothesis, draws=None if budget.plan is None else sampler.source.hypothesis, known=ships(self))
        guarantee = conclude_run(derive_guarantee(budget, self), run)
        records = Records(self.space, self.power, data)
        everything = tuple(range(self.space.size))
        sample = None if budget.plan is None else records.sample(budget.plan.p, sampler)
        selected = everything if sample is None or not budget.selection else self._select(sample, budget, source)
        counted = records.tally() if budget.full or sample is None else sample
        weights = self._weigh(counted, selected, budget, source)
        costs = (self.space.distances[list(selected)] / self.space.diameter) ** self.power
        return MetricClustering(solve_weighted(costs, weights, int(self.k)), selected, tuple(weights.tolist()), guarantee)

    def _select(self, sample: Tally, budget: Budget, digits: BitSource) -> tuple[int, ...]:
        rounds = self.public_rounds
        if rounds is None:
            noisy = int(sample.counts.sum()) + draw_geometric(budget.size, digits)
            rounds = rounds_for(noisy, int(self.k), self.space.size)
        return select_candidates(sample, rounds, budget.selection, digits)

    def _weigh(self, tally: Tally, selected: tuple[int, ...], budget: Budget, digits: BitSource) -> Floats:
        """Return noisy counts without their bias, cut at 0, as estimates for all records."""
        exact = count_nearest(tally, selected).tolist()
        rate = budget.histogram
        if budget.full or budget.plan is None:
            return np.maximum(np.array([count + draw_discrete_laplace(rate, digits) for count in exact], dtype=np.float64), 0.0)
        bias = math.exp(-rate) / -math.expm1(-rate)  # 1/(e^rate − 1), which would overflow for large rates
        noisy = np.array([count + draw_geometric(rate, digits) for count in exact], dtype=np.float64)
        return np.maximum(noisy - bias, 0.0) / budget.plan.p


def rounds_for(records: int, k: int, candidates: int) -> int:
    """Return L = ⌈k ln n⌉, at least k and at most m: then (1 − 1/k)^L n ≤ 1 (docs/metric-clustering.md, Theorem 5).

    >>> rounds_for(1000, 5, 400), rounds_for(0, 5, 400), rounds_for(10**6, 5, 20)
    (35, 5, 20)
    """
    return min(candidates, max(k, math.ceil(k * math.log(max(records, 1)))))


def _require_integer(value: object, what: str, low: int, high: int, hint: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise InvalidArgument(f"{what} must be an integer from {low} to {high} ({hint}), but {str(value)[:40]!r} was found; give one")
