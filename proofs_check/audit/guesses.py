"""Guessing rules: name D where a score is high, D′ where it is low, pass between; chosen by the bound that they would prove."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles.arrays import Booleans, Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.runs import LabelledBatch
from proofs_check.audit.scores.interface import Score, evaluate, evaluate_all

#: Cuts tried along a score.
_CUTS = 64
#: Outputs that all scores are compared on, before the best few are compared on all.
_GLANCE, _SHORT = 40_000, 3
#: Bins of the curve of :func:`_smooth`, and steps of its fit.
_CURVE_BINS, _NEWTON_STEPS = 256, 8


@dataclass(frozen=True, slots=True)
class ThresholdPolicy:
    """How a rule is chosen: by counts that are moved by ``doubt`` standard errors against it; ``share`` is its part of the error.

    Much doubt finds frequent events whose ratio is sure, little doubt finds rare events with large ratios. ``smooth`` puts a logistic
    curve, its slope moved by one standard error, in the place of the counts: thresholds are then not chosen by the noise of single
    counts. Rules of several policies are tested together, at levels that add up.
    """

    doubt: float
    share: Fraction
    smooth: bool = False


#: For few different outputs, where few rules are compared; and for all others. See docs/audit.md, section 2.
POLICIES_FOR_FEW = tuple(
    ThresholdPolicy(doubt, share) for doubt, share in ((2.5, Fraction(4, 10)), (1.2, Fraction(3, 10)), (0.5, Fraction(3, 10)))
)
POLICIES = (
    ThresholdPolicy(3.0, Fraction(3, 10)),
    ThresholdPolicy(1.0, Fraction(4, 10), smooth=True),
    ThresholdPolicy(1.0, Fraction(3, 10)),
)


@dataclass(frozen=True, slots=True, eq=False)
class GuessingRule:
    """Guess D where ``score`` ≥ ``first_from``, D′ where it is ≤ ``second_to`` (which is smaller), pass elsewhere.

    ``width`` is the number of places that the score was learned on; ``promise`` the bound in nats that it was chosen for; ``share`` its
    part of the error.
    """

    score: Score
    first_from: float
    second_to: float
    width: int
    promise: float
    share: Fraction

    def same(self, other: GuessingRule) -> bool:
        """Tell whether two rules make the same guesses, having the same score and thresholds."""
        mine, theirs = (self.first_from, self.second_to), (other.first_from, other.second_to)
        return self.score is other.score and mine == theirs

    @property
    def sides(self) -> int:
        """On how many of the two data sets it ever guesses: δ/2 can be gained on each (Lemma 2)."""
        return int(math.isfinite(self.first_from)) + int(math.isfinite(self.second_to))

    def guess(self, outputs: Outputs) -> np.ndarray:
        """Return 1 for D, −1 for D′, 0 for a pass: shape (n,), int8."""
        scores = evaluate(self.score, outputs.fit(self.width))
        names_first = (scores >= self.first_from) & math.isfinite(self.first_from)
        names_second = (scores <= self.second_to) & math.isfinite(self.second_to)
        return names_first.astype(np.int8) - names_second.astype(np.int8)

    def describe(self, *, first: bool) -> str | None:
        """Return the set on which D (or D′) is guessed, in words; None where it never is."""
        threshold = self.first_from if first else self.second_to
        return None if math.isinf(threshold) else self.score.describe(threshold, first)


@dataclass(frozen=True, slots=True)
class Counts:
    """Results of guesses: the number of outputs, and right and wrong guesses of D and of D′."""

    outputs: int = 0
    right_first: int = 0
    wrong_first: int = 0
    right_second: int = 0
    wrong_second: int = 0
    of_first: int = 0

    @property
    def right(self) -> int:
        """Right guesses of either kind."""
        return self.right_first + self.right_second

    @property
    def wrong(self) -> int:
        """Wrong guesses of either kind."""
        return self.wrong_first + self.wrong_second

    def add(self, guesses: np.ndarray, is_first: Booleans) -> Counts:
        """Return the counts with some more outputs."""
        first, second = guesses == 1, guesses == -1
        return Counts(
            self.outputs + len(guesses),
            self.right_first + int((first & is_first).sum()),
            self.wrong_first + int((first & ~is_first).sum()),
            self.right_second + int((second & ~is_first).sum()),
            self.wrong_second + int((second & is_first).sum()),
            self.of_first + int(is_first.sum()),
        )


def choose_rules(scores: Sequence[Score], batch: LabelledBatch, plan: Plan) -> list[GuessingRule]:
    """Return one rule for each policy, without duplicates: the rules that promise most on ``plan.outputs`` fresh outputs.

    Counts on ``batch`` are doubted, scaled, and put into Wilson's approximation of the binomial limit. Whatever comes out is sound: bounds
    are computed on other outputs. Guesses of D alone, of D′ alone, and of both equally often are compared.
    """
    scores = _shortlist(scores, batch, plan)
    cuts = _all_pairs(scores, batch, plan)
    made: list[GuessingRule] = []
    for policy in plan.policies:
        best = -math.inf
        rule: GuessingRule | None = None
        for score, own in zip(scores, cuts, strict=True):
            promises = _promises(own, policy, plan, len(batch.is_first))
            k = int(np.argmax(promises))
            if promises[k] > best:
                best = float(promises[k])
                rule = GuessingRule(score, float(own.first_from[k]), float(own.second_to[k]), batch.outputs.width, best, policy.share)
        if rule is not None and not any(rule.same(other) for other in made):
            made.append(rule)
    return made


def _shortlist(scores: Sequence[Score], batch: LabelledBatch, plan: Plan) -> list[Score]:
    """Return the few scores that promise most, for any policy, on the first outputs: the others need not be computed for all."""
    if len(batch.is_first) <= 2 * _GLANCE or len(scores) <= _SHORT:
        return list(scores)
    part = batch.take(slice(0, _GLANCE))
    cuts = _all_pairs(scores, part, plan)
    kept: set[int] = set()
    for policy in plan.policies:
        promises = [float(_promises(own, policy, plan, _GLANCE).max()) for own in cuts]
        kept.update(sorted(range(len(scores)), key=lambda k: -promises[k])[:_SHORT])
    return [scores[k] for k in sorted(kept)]


@dataclass(frozen=True, slots=True)
class Plan:
    """The setting in which rules are chosen: fresh ``outputs``, the error ``alpha``, δ, and whether only guesses of D count."""

    outputs: int
    alpha: Fraction
    delta: Fraction
    one_sided: bool
    policies: tuple[ThresholdPolicy, ...] = POLICIES


@dataclass(frozen=True, slots=True, eq=False)
class _Cuts:
    """Pairs of thresholds, with the numbers of right guesses that they make and that a curve through all labels gives, and of guesses."""

    first_from: Floats
    second_to: Floats
    right: Floats
    smooth: Floats
    guesses: Floats


def _all_pairs(scores: Sequence[Score], batch: LabelledBatch, plan: Plan) -> list[_Cuts]:
    return [_pairs(values, batch.is_first, one_sided=plan.one_sided) for values in evaluate_all(scores, batch.outputs)]


def _pairs(values: Floats, is_first: Booleans, *, one_sided: bool) -> _Cuts:
    """Return the thresholds that are compared for a score: guesses of D alone, of D′ alone, and as many of each."""
    known = ~np.isnan(values)
    values, is_first = values[known], is_first[known]
    if not len(values):
        return _Cuts(np.array([math.inf]), np.array([-math.inf]), np.zeros(1), np.zeros(1), np.zeros(1))
    order = np.argsort(-values)
    ordered, n = values[order], len(values)
    hits = np.concatenate(([0], np.cumsum(is_first[order])))
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], [True])) + 1  # how many score at least so much
    starts = np.concatenate(([0], ends))
    wanted = np.unique(np.concatenate((np.geomspace(1, n, _CUTS // 2), np.linspace(1, n, _CUTS // 2))).astype(np.int64))
    few = len(ends) <= _CUTS
    above = ends if few else np.unique(ends[np.searchsorted(ends, wanted)])
    below = np.unique(n - (starts if few else starts[np.searchsorted(ends, n - wanted, side="right")]))  # how many score at most so much
    below = below[below > 0]
    upper = [(k, 0) for k in above]
    lower = [(0, k) for k in below]
    both = [(k, below[min(np.searchsorted(below, k), len(below) - 1)]) for k in above]
    chosen = upper if one_sided else upper + lower + [(k, m) for k, m in both if k + m <= n]
    k, m = np.array(chosen, dtype=np.int64).T
    curve = _smooth(ordered, is_first[order])
    right, smooth = (counted[k] + (m - (counted[n] - counted[n - m])) for counted in (hits, curve))
    first_from = np.where(k > 0, ordered[np.maximum(k - 1, 0)], math.inf)
    second_to = np.where(m > 0, ordered[np.minimum(n - m, n - 1)], -math.inf)
    usable = np.isfinite(first_from) | np.isfinite(second_to)
    counts = (np.asarray(counted[usable], dtype=np.float64) for counted in (right, smooth, k + m))
    return _Cuts(first_from[usable], second_to[usable], *counts)


def _smooth(ordered: Floats, is_first: Booleans) -> Floats:
    """Return how many of the highest j outputs are of D by a logistic curve of the score, for j = 0, …, n.

    The curve is fitted to the labels in bins of equally many outputs; its slope is taken one standard error closer to 0.
    """
    n = len(ordered)
    ends = np.unique(np.linspace(0, n, min(n, _CURVE_BINS) + 1).astype(np.int64))
    sizes = np.diff(ends).astype(np.float64)
    spread = float(np.mean(np.abs(ordered - ordered[n // 2]))) or 1.0
    scores = np.clip(np.add.reduceat(np.clip((ordered - ordered[n // 2]) / spread, -10, 10), ends[:-1]) / sizes, -10, 10)
    firsts = np.add.reduceat(is_first.astype(np.float64), ends[:-1])
    design, weights, hessian = np.stack((scores, np.ones(len(scores)))), np.zeros(2), np.eye(2)
    for _ in range(_NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(weights @ design, -30, 30)))
        hessian = (design * (sizes * chances * (1 - chances))) @ design.T + np.eye(2)
        weights = weights + np.linalg.solve(hessian, design @ (firsts - sizes * chances) - weights)
    error = math.sqrt(float(np.linalg.inv(hessian)[0, 0]))
    weights[0] = math.copysign(max(abs(float(weights[0])) - error, 0.0), weights[0])
    chances = 1 / (1 + np.exp(-np.clip(weights @ design, -30, 30)))
    return np.asarray(np.interp(np.arange(n + 1), ends, np.concatenate(([0.0], np.cumsum(sizes * chances)))))


def _promises(cuts: _Cuts, policy: ThresholdPolicy, plan: Plan, seen: int) -> Floats:
    """Return the bound in nats that each pair of thresholds promises: Wilson's lower limit of the chance of a right guess, as log odds."""
    factor = plan.outputs / max(1, seen)
    from scipy.stats import norm  # noqa: PLC0415 - what reads a result alone makes no guesses

    quantile = float(norm.isf(float(plan.alpha * policy.share)))
    slack = float(plan.delta) / 2 * (np.isfinite(cuts.first_from).astype(np.float64) + np.isfinite(cuts.second_to))
    right, wrong = (cuts.smooth, cuts.guesses - cuts.smooth) if policy.smooth else (cuts.right, cuts.guesses - cuts.right)
    doubt = 0.0 if policy.smooth else policy.doubt
    right = factor * np.maximum(right - doubt * np.sqrt(right), 0.0) - slack * plan.outputs
    wrong = factor * (wrong + doubt * np.sqrt(wrong) + doubt**2)
    total = np.maximum(np.maximum(right, 0.0) + wrong, 1e-9)
    share = np.maximum(right, 0.0) / total
    centre = share + quantile**2 / (2 * total)
    spread = quantile * np.sqrt(share * (1 - share) / total + quantile**2 / (4 * total**2))
    chance = np.clip((centre - spread) / (1 + quantile**2 / total), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(chance / (1 - chance)))
