"""Private k-means on one importance sample, which is drawn by released numbers and paid for out of what they left of the budget.

Statement (docs/private-kmeans.md, Theorem 3). Let E be what is left of ε when the statistics s are out. Let t be the share of the clipped
ball that a row takes, q(t) a rule made of s, and A + B a cost per unit of weight with

    ψ(t) = log(1 + q(t) (e^{w (A + B t)} − 1)) ≤ E  for all t in [0, 1],  w = 1/q(t).

Then the statistics, and all releases about one Poisson sample with weights w whose counts cost at most A together and whose sums at most B,
are ε-differentially private. ψ ≤ E is certified for the s that was released; for every other s the same code finds other A and B.

The rules: ``uniform`` q = m/ñ; ``coreset`` q = min(1, λ m/ñ + (1 − λ) m t²/(ñ τ)) with τ = min(1, max(2⁻²⁰, rms²/R²)), so that 0 < q ≤ 1
whatever was released; ``privacy-constrained`` gives every row the largest weight with ψ ≤ E, under noise for A + B = E/2, which are
numbers of the budget and not of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountant.applications.budget.concluding import prove_released
from accountant.applications.budget.protocols import Assign, Cells, Statistics
from accountant.applications.budget.records import PrivateRecords, check_labels
from accountant.applications.budget.spending import Payment, Purpose, require_cost, round_cost, to_share
from accountant.guarantees import Guarantee, Run, conclude_run, realise_pairs, update_hypotheses
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.rules import SamplingRule, make_rule
from accountant.selection.select import METHODS, Selector, prepare_selection
from profiles import Declaration, InvalidArgument, Profile, Undecided, declare
from profiles.arrays import Floats, ignore_flags
from profiles.hypotheses import EXACT_REALS, PUBLIC_CONSTANTS, STATISTICS, TARGET_FIXED, Hypothesis
from profiles.mechanisms.ball import SLACK, record_norms, widen
from profiles.mechanisms.exact import OpenedRelease
from profiles.mechanisms.lloyd_runs import total_labelled
from profiles.mechanisms.quantised import quantise, require_within
from profiles.numbers import ExactLike, to_number
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import BitSource

_PAGE = "docs/private-kmeans.md"
#: The part λ of a coreset that is drawn uniformly, and the least τ.
LAMBDA, _LEAST_SPREAD = Fraction(1, 2), Fraction(1, 2**20)
#: The part of what is left for which privacy-constrained noise is made.
_FULL = Fraction(1, 2)
_PLACES = 10**12
_NARROWER, _ATTEMPTS = Fraction(999, 1000), 40
_GRID = np.linspace(0.0, 1.0, 2001)
RULES = ("uniform", "coreset", "privacy-constrained")


@dataclass(frozen=True, slots=True)
class SampleChoice:
    """What a user asks for: a ``rule`` of :data:`RULES`, and its expected ``size`` m (None for privacy-constrained, where it follows)."""

    rule: str
    size: Fraction | None

    @classmethod
    def of(cls, rule: object, size: ExactLike | None) -> SampleChoice:
        """Return a checked choice. Raises :class:`InvalidArgument`."""
        if rule is None:
            raise InvalidArgument(f"sample_size was given without a sample; name one of {', '.join(RULES)}, or leave it out")
        if not isinstance(rule, str) or rule not in RULES:
            raise InvalidArgument(f"sample must be one of {', '.join(RULES)}, or None, but {str(rule)[:40]!r} was found; give one of these")
        if (size is None) != (rule == "privacy-constrained"):
            raise InvalidArgument(
                "a sample needs its expected size, but for privacy-constrained ones, whose size the budget decides; give sample_size, or "
                "leave it out"
            )
        return cls(rule, None if size is None else to_number(size, "sample_size", "[1, 1e15]"))


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """A rule with the costs per unit of weight: ``counts`` A, ``sums`` B, certified to keep ψ ≤ ``budget``. ``radius``: that of the ball
    of which t is a share; ``constants``: those of the rule, of released numbers. ``expected``: a guess of the size of the sample.
    """

    choice: SampleChoice
    radius: float
    budget: Fraction
    constants: Mapping[str, Fraction]
    counts: Fraction
    sums: Fraction
    derived: DerivedEpsilon
    selector: Selector
    expected: float


def plan_sample(choice: SampleChoice, statistics: Statistics, *, radius: float, budget: Fraction, share: Fraction) -> SamplePlan:
    """Return how a sample is drawn for the ``budget`` E, with A : B = ``share`` : 1 − ``share``; a function of released numbers alone.

    Raises :class:`Undecided` where no bound within the budget is proved.
    """
    constants = make_constants(choice, count=statistics.count, rms=statistics.rms, radius=radius)
    chances = _chances(choice.rule, constants)
    whole = budget * _FULL if choice.rule == "privacy-constrained" else _largest_cost(chances, float(share), float(budget))
    for _ in range(_ATTEMPTS):
        counts, sums = round_cost(share * whole), round_cost((1 - share) * whole)
        profile = describe_sample(counts, sums)
        rule = make_sample_rule(choice.rule, profile, constants, budget)
        derived = derive_epsilon(Declaration(profile, hypotheses=(EXACT_REALS,)), rule=rule)
        if derived.bound.upper <= budget and (derived.bound.evidence.checked_by_kernel or rule.q is None):
            selector = prepare_selection(profile, rule)
            q = _chances(choice.rule, constants) if rule.q is not None else selector.select({"t": _GRID}).probabilities
            typical = float(np.interp(min(1.0, statistics.rms / radius), _GRID, q))
            return SamplePlan(choice, radius, budget, constants, counts, sums, derived, selector, statistics.count * typical)
        whole *= _NARROWER
    raise Undecided("a sample was to be drawn, but no bound within the budget could be proved; take another rule or size")


def make_constants(choice: SampleChoice, *, count: float, rms: float, radius: float) -> dict[str, Fraction]:
    """Return the constants of a rule, positive, from ñ, rms and the radius R of the ball: ``rate``, or ``base`` and ``slope``, or none.

    >>> {name: str(value) for name, value in make_constants(SampleChoice("coreset", Fraction(10)), count=100, rms=1, radius=2).items()}
    {'base': '1/20', 'slope': '1/5'}
    """
    if choice.size is None:
        return {}
    rate = _decimal(min(1.0, float(choice.size) / count))
    if choice.rule == "uniform":
        return {"rate": rate}
    spread = min(Fraction(1), max(_LEAST_SPREAD, Fraction(round(_PLACES * min(1.0, (rms / radius) ** 2)), _PLACES)))
    return {"base": LAMBDA * rate, "slope": _decimal(float((1 - LAMBDA) * rate / spread))}


def _decimal(value: float) -> Fraction:
    return Fraction(max(1, math.floor(value * _PLACES)), _PLACES)


def _chances(rule: str, constants: Mapping[str, Fraction]) -> Floats:
    """Return q on the grid, for the search alone."""
    if rule == "uniform":
        return np.full(len(_GRID), float(constants["rate"]))
    if rule == "coreset":
        return np.minimum(1.0, float(constants["base"]) + float(constants["slope"]) * _GRID**2)
    return np.ones(len(_GRID))


def _largest_cost(chances: Floats, share: float, budget: float) -> Fraction:
    """Return about the largest A + B with ψ ≤ E: from ψ = E, A + B t = q log(1 + (e^E − 1)/q), least of all t."""
    allowed = chances * (np.logaddexp(np.log(chances), budget + np.log1p(-math.exp(-budget))) - np.log(chances))
    return Fraction(float((allowed / (share + (1 - share) * _GRID)).min())) * (1 - Fraction(1, 10**6))


def describe_sample(counts: Fraction, sums: Fraction) -> Profile:
    """Return the profile of all releases about one sample, with the costs A and B per unit of weight."""
    return declare(
        "private k-means on its sample",
        "w*(a + b*t)",
        record={"t": (0, 1)},
        parameters={"a": counts, "b": sums},
        source=f"{_PAGE}, Theorem 3",
    )


def make_sample_rule(rule: str, profile: Profile, constants: Mapping[str, Fraction], budget: Fraction) -> SamplingRule:
    """Return the rule with these constants; ``budget`` is the target of a privacy-constrained one."""
    if rule == "privacy-constrained":
        return make_rule(rule, profile, None, budget)
    if rule == "uniform":
        return make_rule(rule, profile, {"rate": constants["rate"]})
    from accountant.rules import rule_from_expression  # noqa: PLC0415

    clipped = constants["base"] + constants["slope"] > 1
    return rule_from_expression("Min(1, base + slope*t**2)" if clipped else "base + slope*t**2", profile, constants)


def certify_sample(plan: SamplePlan, run: Run) -> Guarantee:
    """Return the guarantee of all releases about the one sample of ``run``, a worst case over rows."""
    guarantee = prove_released(plan.derived.guarantee, f"{_PAGE}, Theorem 3, of the run on the sample")
    guarantee = realise_pairs(guarantee, pairs=METHODS[plan.selector.method], claims=())
    said = {
        STATISTICS.id: "t is the number that is computed, and at least the share of the ball that the row takes",
        PUBLIC_CONSTANTS.id: "they are arguments of the run, or were released and paid for before",
        TARGET_FIXED.id: "it is what the budget leaves, which arguments and released numbers decide",
    }
    reasons: dict[Hypothesis, str] = {item: said[item.id] for item in guarantee.hypotheses if item.id in said}
    return conclude_run(update_hypotheses(guarantee, reasons), run)


class SampledRecords:
    """Access to one Poisson sample of the records, which is drawn when the first cells are released (:class:`DataAccess`)."""

    def __init__(self, records: PrivateRecords, choice: SampleChoice, bits: BitSource, sampler: PoissonSampler) -> None:
        self._records, self._choice, self._bits, self._sampler = records, choice, bits, sampler
        self._budget = round_cost(records.unspent)
        self._share = records.count_share
        self._plan: SamplePlan | None = None
        self._sample: tuple[Floats, Floats] | None = None
        self._charges: list[Payment] = []

    @property
    def statistics(self) -> Statistics:
        return self._records.statistics

    @property
    def radius(self) -> float:
        return self._records.radius

    @property
    def plan(self) -> SamplePlan:
        """How the sample is drawn; made when it is first asked for, of released numbers."""
        if self._plan is None:
            self._plan = plan_sample(self._choice, self.statistics, radius=self.radius, budget=self._budget, share=self._share)
        return self._plan

    @property
    def charges(self) -> tuple[Payment, ...]:
        """The releases about the sample, with their costs per unit of weight."""
        return tuple(self._charges)

    def _left(self) -> tuple[Fraction, Fraction]:
        spent = {
            part: sum((item.cost for item in self._charges if item.part is part), Fraction(0))
            for part in (Purpose.CELL_COUNTS, Purpose.CELL_SUMS)
        }
        return self.plan.counts - spent[Purpose.CELL_COUNTS], self.plan.sums - spent[Purpose.CELL_SUMS]

    @property
    def left(self) -> Fraction:
        before = self._budget / self._records.budget
        if self._plan is None:
            return before
        return before * sum(self._left()) / (self._plan.counts + self._plan.sums)

    @property
    def sum_noise(self) -> float:
        """As without a sample, for the noise per unit of weight that a uniform sample of this size allows."""
        rate = 1.0 if self._choice.size is None else min(1.0, float(self._choice.size) / self.statistics.count)
        budget = float(self._budget)
        allowed = rate * math.log1p(math.expm1(min(budget, 700.0)) / rate)
        half = float(_FULL) if self._choice.size is None else 1.0
        return self._records.sum_noise * budget / (allowed * half)

    @property
    def normal(self) -> bool:
        return self._records.normal

    def clip(self, radius: float) -> None:
        """Move rows into the ball of ``radius`` from now on. Raises :class:`InvalidArgument` after the sample was drawn by another one."""
        if self._sample is not None and radius != self.radius:
            raise InvalidArgument("records were to be clipped anew, but their sample is drawn; clip before the first release")
        self._records.clip(radius)
        if self._sample is None:
            self._plan = None

    def release(self, assign: Assign, share: Fraction | float, cells: int, *, sums: bool = True, count_share: float | None = None) -> Cells:
        """Return noisy weighted counts and sums of cells of the sample; ``count_share`` is that of the sample, and is not read."""
        del count_share
        part = to_share(share)
        points, weights = self._draw()
        counts, rest = self._left()
        law, dimension = self._records.law, points.shape[1]
        count = self._charge(Purpose.CELL_COUNTS, part * counts, Fraction(1))
        counted = law.open(count, self._bits)
        summed: OpenedRelease | None = None
        if sums:
            total = self._charge(Purpose.CELL_SUMS, part * rest, widen(Fraction(self.radius)))
            summed = law.open(total, self._bits)
        totals = _total(points, weights, check_labels(assign(points), len(points), cells), cells, counted, summed)
        noisy = counted.draw(totals[:, -1:])[:, 0]
        if summed is None:
            return Cells(noisy, None, law.energy(count, 1), 0.0)
        return Cells(noisy, summed.draw(totals[:, :-1]), law.energy(count, 1), law.energy(total, dimension))

    def _charge(self, part: Purpose, cost: Fraction, reach: Fraction) -> Payment:
        counts, sums = self._left()
        made = Payment(part, require_cost(cost, counts if part is Purpose.CELL_COUNTS else sums, "the sample"), reach)
        self._charges.append(made)
        return made

    @ignore_flags
    def _draw(self) -> tuple[Floats, Floats]:
        """Return the rows of the sample and their weights: drawn once, and used by this run alone."""
        if self._sample is None:
            selector, radius = self.plan.selector, self.radius
            rows: list[Floats] = []
            weights: list[Floats] = []
            for block in self._records.centred():
                # above the share of the ball over the reals, whatever is rounded: R (1 + 2⁻³⁰) is what it is a share of
                shares = np.minimum(1.0, record_norms(block, 2) * (1 + float(SLACK) / 2) / radius)
                selected = selector.select({"t": shares})
                kept = self._sampler.select(selected.probabilities)
                rows.append(block[kept])
                weights.append(selected.weights[kept])
            dimension = self._records.dimension
            self._sample = (
                np.concatenate(rows) if rows else np.empty((0, dimension)),
                np.concatenate(weights) if weights else np.empty(0),
            )
        return self._sample


def _total(
    points: Floats, weights: Floats, labels: NDArray[Any], cells: int, counted: OpenedRelease, summed: OpenedRelease | None
) -> NDArray[Any]:
    """Return the exact weighted totals of cells in units: sums in the first columns, counts in the last."""
    columns = 1 if summed is None else points.shape[1] + 1
    totals = np.zeros((cells, columns), dtype=object)
    for rows in _cut(len(points)):
        units = np.empty((len(points[rows]), columns))
        units[:, -1:] = quantise(weights[rows, np.newaxis], None, counted.unit)
        most = require_within(units[:, -1:], counted.unit, rows.start)
        if summed is not None:
            units[:, :-1] = quantise(points[rows], weights[rows], summed.unit)
            most = max(most, require_within(units[:, :-1], summed.unit, rows.start))
        totals += total_labelled(units, most, labels[rows][np.newaxis], cells)[0].astype(object)
    return totals


def _cut(rows: int) -> Iterator[slice]:
    for start in range(0, rows, 2**14):
        yield slice(start, min(start + 2**14, rows))
