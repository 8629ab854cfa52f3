"""Private metric k-median and k-means: Ghazi et al. 2024, Section 4.1.3 and Appendix G, repaired (docs/metric-clustering.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from accountant.amplification import MOST_EPSILON
from accountant.applications.charging import Promise, release_once
from accountant.applications.clustering.records import CostTally, Data, MetricRecords
from accountant.applications.clustering.selection import count_nearest, select_candidates
from accountant.applications.clustering.solver import solve_weighted
from accountant.applications.clustering.space import MetricSpace
from accountant.applications.clustering.stating import state_cost, suppose
from accountant.applications.quality import CostBound
from accountant.applications.running import Answer, Choice, Draw
from accountant.guarantees import ARITHMETIC, Guarantee, Losses, discharge, post_processing
from accountant.onesided import OneSidedCalibration, calibrate_one_sided, compose, prove_losses, subsample
from profiles import InvalidArgument, InvalidTarget, to_exact
from profiles.arrays import Booleans, Floats
from profiles.hypotheses import FEW_RECORDS, ONLY_THROUGH_OUTPUT, OWN_ENTRY, PUBLIC_CONSTANTS, WELL_FORMED
from profiles.numbers import ExactLike, to_integer, to_target
from profiles.randomness import BitSource, draw_discrete_laplace, draw_geometric

if TYPE_CHECKING:
    from accountant.ledger import Analysis

PAGE = "docs/metric-clustering.md"
PUBLIC = PUBLIC_CONSTANTS.about(
    names="the candidates, their distances, k, the power, the number of rounds or what it is made from, and the split are"
)
FORM = WELL_FORMED.about(what="the records have the declared form (candidate numbers, finite points, distances)")
FEW = FEW_RECORDS.about(most="2^38 records")
_SOLVER = "the solution of the weighted instance"

MOST_ROUNDS = 2**20
_LEAST_RATE = Fraction(1, 2**900)
_HISTOGRAMS = (None, "sampled", "full")
_METHODS = ("selection", "everything", "auto")
#: What noise may leave where everything is counted, as a share of the records: benchmarks/results/onesided.md, section 7.
_NOISY = 0.9


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """Losses in nats of the three parts, 0 for a part that is not run; ``plan`` says how the records of the one-sided ones are sampled.

    One-sided: ``size`` (noisy number of records), ``selection``, and ``histogram``; where ``full`` the latter is two-sided, on all records.
    """

    plan: OneSidedCalibration | None
    size: Fraction
    selection: Fraction
    histogram: Fraction
    full: bool


@dataclass(frozen=True, slots=True)
class MetricClustering(Answer[tuple[int, ...]]):
    """What is released, all of it under ``guarantee``.

    ``centres``, the output: k candidate numbers, sorted; ``selected``: the candidates of the repeated exponential mechanism, in their
    order; ``weights``: estimates of how many records are nearest to each of these, noisy, without bias but for being cut at 0.
    """

    selected: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def centres(self) -> tuple[int, ...]:
        """The k candidate numbers, sorted."""
        return self.output


@dataclass(frozen=True, slots=True)
class PrivateMetricClustering:
    """Claim: ``run`` is ``epsilon``-differentially private (add/remove of one record) under the hypotheses of ``guarantee``.

    Chooses k of m public candidates such that the sum over records of min_c d(x, c)^power is small. Proofs: docs/metric-clustering.md.

    ``space``: public candidates and distances. ``power``: 1 (k-median) or 2 (k-means). ``epsilon``: exact, in nats.
    ``method``: "selection" draws some candidates and counts records at these; "everything" counts records at all m with two-sided noise and
    the whole ε, and selects none; "auto" takes the second where ``n_bound`` is at least m, and the noise that it leaves, m·e^−ε/(1 − e^−2ε)
    records in expectation, at most 0.9 of it; else the first, with the histogram whose counts have the smaller standard deviation,
    √2/ε_h or √(1/(p·ε_h)² + (1 − p)n/(p·L)) for a full and a sampled one. ``choice`` says which and why.
    How many candidates a selection draws before the histogram, exactly one of:
    ``rounds`` (that many); ``n_bound`` N (⌈k ln N⌉, good for up to N records; privacy holds for more, too, but N must not be looked up in
    the data); ``size_share`` (⌈k ln ñ⌉ for a noisy number of records ñ, which costs this share of the budget).
    ``split``: share of what is left for the selection; the rest is for the histogram. ``histogram``: ``"sampled"`` counts the sample that
    the selection used, as the paper does; ``"full"`` counts all records with two-sided noise; None is "sampled", or what "auto" chooses.
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
    histogram: Literal["sampled", "full"] | None = None
    calibration: Literal["optimal", "corollary"] = "optimal"
    method: Literal["selection", "everything", "auto"] = "selection"
    budget: BudgetSplit = field(init=False, repr=False, compare=False)
    choice: Choice = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if type(self.space) is not MetricSpace:  # a subclass may make costs beyond one of a record
            raise InvalidArgument(
                f"a MetricSpace is needed, but {type(self.space).__name__} was found; make one with read_distances or measure_points"
            )
        to_integer(self.k, "k", 1, self.space.size, hint="give at most the number of candidates")
        to_integer(self.power, "the power", 1, 2)
        if self.method not in _METHODS:
            raise InvalidArgument(f"the method must be one of {', '.join(_METHODS)}, but {str(self.method)[:40]!r} was found; choose one")
        given = sum(item is not None for item in (self.rounds, self.n_bound, self.size_share))
        if self.method == "selection" and given != 1:
            raise InvalidArgument("exactly one of rounds, n_bound and size_share is needed; say how many candidates are to be selected")
        if self.method != "selection" and given - (self.n_bound is not None):
            raise InvalidArgument(f"the method {self.method!r} takes no rounds and no size_share, but one was given; leave it out")
        if self.method == "auto" and self.n_bound is None:
            raise InvalidArgument("the method 'auto' chooses by a public bound on the number of records; give n_bound, or choose a method")
        if self.rounds is not None:
            to_integer(self.rounds, "rounds", self.k, MOST_ROUNDS)
        if self.n_bound is not None:
            to_integer(self.n_bound, "n_bound", 1, 2**62)
        for what, value in (("split", self.split), ("size_share", self.size_share)):
            if value is not None and not 0 < to_exact(value, what) < 1:
                raise InvalidArgument(f"{what} must lie strictly between 0 and 1, but {str(value)[:40]} was found; give a share")
        if self.histogram not in _HISTOGRAMS:
            raise InvalidArgument(f"histogram must be 'sampled' or 'full', but {str(self.histogram)[:40]!r} was found; give one of the two")
        object.__setattr__(self, "choice", self._choose_method())
        full = self.histogram == "full" or self.choice.method == "everything"
        if self.method == "auto" and self.choice.method == "selection" and self.histogram is None:
            full = self._choose_histogram()
        budget = self._divide(full=full)
        object.__setattr__(self, "budget", budget)
        if any(0 < share < _LEAST_RATE for share in (budget.size, budget.selection, budget.histogram)):
            raise InvalidTarget(
                "a part of the budget is below 2^-900 nats, whose noise is not a binary64 number; raise epsilon or the share"
            )

    def _divide(self, *, full: bool) -> BudgetSplit:
        return divide_budget(
            to_target(self.epsilon, f"(0, {MOST_EPSILON}]"),
            split=to_exact(self.split, "split"),
            size_share=Fraction(0) if self.size_share is None else to_exact(self.size_share, "size_share"),
            everything=self.public_rounds == self.space.size,
            full=full,
            calibration=self.calibration,
        )

    def _choose_method(self) -> Choice:
        if self.method == "selection":
            return Choice("selection", "as asked")
        left = self.space.size * expect_left(float(to_target(self.epsilon, f"(0, {MOST_EPSILON}]")))
        if self.method == "everything":
            return Choice("everything", f"as asked; noise leaves weights of about {left:.4g} records where nobody is")
        bound = float(self.n_bound or 0)
        if bound < self.space.size:
            reason = f"there are more candidates than the {bound:.6g} records of the bound"
            return Choice("selection", reason, (("everything", left / bound),))
        taken, word = ("everything", "at most") if left <= _NOISY * bound else ("selection", "more than")
        reason = f"counting all candidates leaves noise of about {left:.4g} records, {word} 0.9 of the bound {bound:.6g}"
        return Choice(taken, reason, (("everything", left / bound),))

    def _choose_histogram(self) -> bool:
        """Choose the histogram with the smaller error of a count, for ``n_bound`` records; return whether it is the full one."""
        errors = expect_count_errors(self._divide(full=False), self._divide(full=True), self.n_bound or 0, self.public_rounds or 1)
        taken = min(errors, key=lambda name: errors[name])
        shown = ", ".join(f"{value:.4g} with the {name} one" for name, value in errors.items())
        reason = f"{self.choice.reason}; {taken} histogram: the standard deviation of a count is {shown} (records)"
        object.__setattr__(self, "choice", Choice("selection", reason, (*self.choice.errors, *errors.items())))
        return taken == "full"

    @property
    def public_rounds(self) -> int | None:
        """The number of selected candidates, if it is public; None if it depends on a noisy number of records."""
        if self.choice.method == "everything":
            return self.space.size
        if self.rounds is not None:
            return min(int(self.rounds), self.space.size)
        return None if self.n_bound is None else rounds_for(int(self.n_bound), int(self.k), self.space.size)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of :meth:`run`, without that of the source of random bits."""
        return derive_guarantee(self.budget, self, rounds=self.public_rounds)

    @property
    def utility(self) -> CostBound:
        """A bound on the cost of the centres for all data sets of at most ``n_bound`` records, or why none is proved."""
        return state_cost(self)

    def run(self, data: Data, rng: object = None, *, bits: object = None, ledger: Analysis | None = None) -> MetricClustering:
        """Return private centres for ``data``: candidate numbers (n,), points (n, d), :class:`Multiplicities` or :class:`DistanceRows`.

        ``rng`` makes the draws of selection and noise, ``bits`` those of the sample: each None (the operating system's secure source), a
        seed, or a :class:`numpy.random.Generator`. All draws are exact. ``ledger``: an analysis with the unit of each record,
        ``ledger.analysis(name, ids)``; it takes no multiplicities, which have no ids.
        Raises :class:`InvalidData`, :class:`InvalidArgument`, and what charging raises.
        """
        draw = Draw.open(rng, bits)
        promised = draw.conclude(self.guarantee, self, sampled=self.budget.plan is not None)
        records = MetricRecords(self.space, self.power, data)

        def cluster(active: Booleans | None) -> dict[str, Any]:
            return self._cluster(records if active is None else records.restrict(active), draw)

        size = None if ledger is None else records.size
        answer, guarantee, charged = release_once(ledger, Promise(promised), size, cluster, arguments=(self,))
        parts = (tuple(answer["centres"]), guarantee, tuple(answer["selected"]), tuple(answer["weights"]))
        utility = self.utility if self.utility.void else replace(self.utility, hypotheses=suppose(self.space, records))
        return MetricClustering(*parts, utility=utility, choice=self.choice, charged=charged)

    def _cluster(self, records: MetricRecords, draw: Draw) -> dict[str, Any]:
        """Return what is released: centres, selected candidates and their weights."""
        budget, everything = self.budget, tuple(range(self.space.size))
        sample = None if budget.plan is None else records.sample(budget.plan.p, draw.sampler)
        selected = everything if sample is None or not budget.selection else self._select(sample, draw.noise)
        counted = records.tally() if budget.full or sample is None else sample
        weights = self._weigh(counted, selected, draw.noise)
        costs = (self.space.distances[list(selected)] / self.space.diameter) ** self.power
        centres = solve_weighted(costs, weights, int(self.k))
        return {"centres": list(centres), "selected": list(selected), "weights": weights.tolist()}

    def _select(self, sample: CostTally, digits: BitSource) -> tuple[int, ...]:
        rounds = self.public_rounds
        if rounds is None:
            noisy = int(sample.counts.sum()) + draw_geometric(self.budget.size, digits)
            rounds = rounds_for(noisy, int(self.k), self.space.size)
        return select_candidates(sample, rounds, self.budget.selection, digits)

    def _weigh(self, tally: CostTally, selected: tuple[int, ...], digits: BitSource) -> Floats:
        """Return noisy counts without their bias, cut at 0, as estimates for all records."""
        exact = count_nearest(tally, selected).tolist()
        budget, rate = self.budget, self.budget.histogram
        if budget.full or budget.plan is None:
            return np.maximum(np.array([count + draw_discrete_laplace(rate, digits) for count in exact], dtype=np.float64), 0.0)
        bias = math.exp(-rate) / -math.expm1(-rate)  # 1/(e^rate − 1), which would overflow for large rates
        noisy = np.array([count + draw_geometric(rate, digits) for count in exact], dtype=np.float64)
        return np.maximum(noisy - bias, 0.0) / budget.plan.p


def expect_left(epsilon: float) -> float:
    """Return E max(0, z) = e^−ε/(1 − e^−2ε) for two-sided geometric noise z of rate ε: the weight that a place without records gets.

    >>> round(expect_left(1.0), 4), round(expect_left(0.1), 3)
    (0.4255, 4.992)
    """
    return math.exp(-epsilon) / -math.expm1(-2 * epsilon)


def expect_count_errors(sampled: BudgetSplit, full: BudgetSplit, records: int, rounds: int) -> dict[str, float]:
    """Return the standard deviations of a count of records/rounds records, for both kinds of histogram."""
    errors = {"full": math.sqrt(2) / float(full.histogram)}
    if sampled.plan is not None:
        p = sampled.plan.p
        errors["sampled"] = math.hypot(1 / (p * float(sampled.histogram)), math.sqrt((1 - p) / p * records / rounds))
    return errors


def rounds_for(records: int, k: int, candidates: int) -> int:
    """Return L = ⌈k ln n⌉, at least k and at most m: then (1 − 1/k)^L n ≤ 1 (docs/metric-clustering.md, Theorem 5).

    >>> rounds_for(1000, 5, 400), rounds_for(0, 5, 400), rounds_for(10**6, 5, 20)
    (35, 5, 20)
    """
    return min(candidates, max(k, math.ceil(k * math.log(max(records, 1)))))


def divide_budget(
    epsilon: Fraction, *, split: Fraction, size_share: Fraction, everything: bool, full: bool, calibration: str
) -> BudgetSplit:
    """Return the budget for a target of ``epsilon``.

    ``split`` of what the size leaves goes to the selection, the rest to the histogram; where ``everything`` is selected, publicly, all
    goes to the histogram. Sampled: the three share the ε₀ of the target's calibration. Full: the first two share the ε₀ of split·ε, and the
    histogram has (1 − split)·ε. Raises what :func:`accountant.onesided.calibrate_one_sided` raises.
    """
    if full:
        if everything:
            return BudgetSplit(None, Fraction(0), Fraction(0), epsilon, full)
        plan = calibrate_one_sided(split * epsilon, choice=calibration)
        size = size_share * plan.epsilon0
        return BudgetSplit(plan, size, plan.epsilon0 - size, (1 - split) * epsilon, full)
    plan = calibrate_one_sided(epsilon, choice=calibration)
    if everything:
        return BudgetSplit(plan, Fraction(0), Fraction(0), plan.epsilon0, full)
    size = size_share * plan.epsilon0
    rest = plan.epsilon0 - size
    return BudgetSplit(plan, size, split * rest, (1 - split) * rest, full)


def derive_guarantee(budget: BudgetSplit, algorithm: object, *, rounds: int | None = None) -> Guarantee:
    """Return the guarantee of selected candidates, weights and centres together, before it is known where the random numbers come from.

    ``algorithm`` is what runs, ``rounds`` how many candidates it selects, where that is public.
    Source: docs/metric-clustering.md, Theorems 1 to 4.
    """
    parts: list[Guarantee] = []
    if budget.size:
        parts.append(_prove(algorithm, "number of records with geometric noise", budget.size, f"{PAGE}, Theorem 3"))
    if budget.selection:
        theorem = f"Ghazi et al. 2024, Theorem 4.3; {PAGE}, Theorem 1"
        added = rounds * budget.selection if budget.full and rounds is not None else None
        add = added if added is None or added <= MOST_EPSILON else None
        parts.append(_prove(algorithm, "repeated exponential mechanism on cost reductions", budget.selection, theorem, add=add))
    if not budget.full:
        parts.append(_prove(algorithm, "histogram with geometric noise", budget.histogram, f"{PAGE}, Theorem 2"))
    proved: list[Guarantee] = []
    if parts and budget.plan is not None:
        proved.append(subsample(compose(*parts, subject="one-sided parts"), budget.plan.p))
    if budget.full:
        name = "histogram with two-sided geometric noise"
        proved.append(_prove(algorithm, name, budget.histogram, f"Ghosh et al. 2009; {PAGE}, Theorem 2", add=budget.histogram))
    whole = proved[0] if len(proved) == 1 else compose(*proved, subject="selection on a sample, histogram of all records")
    evidence = "the solver is given candidates and noisy weights only, and its random starts have a fixed seed"
    return discharge(post_processing(whole, _SOLVER), ONLY_THROUGH_OUTPUT.about(what=_SOLVER), evidence)


def _prove(algorithm: object, subject: str, epsilon: Fraction, theorem: str, *, add: Fraction | None = None) -> Guarantee:
    supposed = (PUBLIC, FORM, OWN_ENTRY, FEW, ARITHMETIC)
    return prove_losses(subject, Losses(epsilon, add), theorem=theorem, algorithm=algorithm, hypotheses=supposed)
