"""The sequential audit: bets on hidden labels at the odds of the claim, with classifiers trained on the past (docs/audit.md, Theorem 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proofs_check.audit.outputs import join
from proofs_check.audit.runs import Batch
from proofs_check.audit.scores import Learner, Score, learn_quick_scores
from proofs_check.audit.scores.interface import Floats
from proofs_check.audit.threads import one_thread

#: Scores are learned anew after every batch up to here, later when the number of outputs has doubled; and on so many outputs at most.
_ALWAYS_LEARN, _LEARN_ROWS = 2_000, 20_000
#: From here on only the best score is betted on.
_ONE_SCORE_FROM = 50_000
_GRID_POINTS, _LARGEST_EPSILON = 240, 30.0
#: Where the rank of a score among those learned on is cut, for bettors that look closer and closer. Symmetric: low ranks speak for D′.
_CUTS = (
    np.array([0.5]),
    np.array([0.1, 0.25, 0.5, 0.75, 0.9]),
    np.array([0.001, 0.004, 0.015, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.985, 0.996, 0.999]),
)
#: Right and wrong guesses that a bettor pretends to have seen in every cell.
_PRIOR = 0.5
#: No bettor is surer than this, so that one wrong guess does not cost everything.
_SUREST = 0.999
#: Logarithms of wealth are trusted up to this error.
_ROUNDING = 1e-6
#: Shares of the capital: a slot for each score, and in it a share for each level of detail.
_SLOTS, _LEVEL_SHARES = 5, (0.5, 0.3, 0.2)


def next_batch(seen: int, most: int) -> int:
    """Return how many outputs to take after ``seen``: a quarter more each time, at least 8, at most ``most``."""
    return max(1, min(most, max(8, seen // 4)))


def make_grid(claimed: float) -> Floats:
    """Return the grid of ε₀ in nats on which the e-process is inverted; it contains ``claimed`` and a point just above it."""
    points = np.concatenate((np.geomspace(1e-4, _LARGEST_EPSILON, _GRID_POINTS), claimed * np.linspace(0.05, 2, 40), [claimed]))
    above = np.nextafter(claimed * (1 + 1e-9), np.inf)
    return np.unique(np.append(points[points > 0], above))


class _Bettor:
    """One classifier's past: labels seen in each cell of its score, and its wealth (log) for every ε₀ of the grid."""

    __slots__ = ("first", "second", "wealth")

    def __init__(self, cells: int, points: int) -> None:
        self.first, self.second, self.wealth = np.zeros(cells), np.zeros(cells), np.zeros(points)

    def bet(self, cells: np.ndarray, is_first: np.ndarray, odds: Floats, slack: float, *, one_sided: bool) -> None:
        """Bet on a batch with what was known before it, then remember its labels. ``odds`` is p₀ for every ε₀."""
        count = len(self.first)
        first = np.bincount(cells[is_first], minlength=count).astype(np.float64)
        second = np.bincount(cells[~is_first], minlength=count).astype(np.float64)
        total = self.first + self.second + 2 * _PRIOR
        share = (self.first + _PRIOR) / total
        guess_first = share >= 0.5
        sure = np.minimum(np.where(guess_first, share, 1 - share), _SUREST)
        right = np.where(guess_first, first, second)
        wrong = np.where(guess_first, second, first)
        active = (sure > odds[:, np.newaxis]) & (guess_first | (not one_sided))
        gains = np.log(sure / odds[:, np.newaxis])
        losses = np.log((1 - sure) / (1 - odds[:, np.newaxis]))
        self.wealth += np.where(active, right * gains + wrong * losses, 0.0).sum(axis=1)
        if slack > 0:
            largest = np.where(active, sure / odds[:, np.newaxis] - 1, 0.0).max(axis=1)
            self.wealth -= len(cells) * np.log1p(slack * largest)
        self.first += first
        self.second += second


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the sequential audit knew after some labelled outputs: the bound in nats, and the log wealth against the claim."""

    outputs: int
    bound: float
    log_wealth: float


class SequentialAudit:
    """Takes labelled outputs batch by batch; its bound is valid at every time at once, so that one may stop whenever one likes.

    ``claimed`` in nats; ``alpha`` the error; ``slack`` δ′; ``one_sided`` bets on guesses of D alone. ``scores`` replaces learning.

    The capital is split between slots, one for each score and level of detail, before anything is seen; a slot without a score keeps its
    share as it is. The sum is a nonnegative supermartingale that starts at 1.
    """

    def __init__(
        self,
        claimed: float,
        alpha: Fraction,
        *,
        learner: Learner,
        slack: Fraction = Fraction(0),
        one_sided: bool = False,
        scores: list[Score] | None = None,
    ) -> None:
        self.grid = make_grid(claimed)
        self._odds = 1 / (1 + np.exp(-self.grid))
        self._claimed, self._threshold = claimed, -math.log(float(alpha)) + _ROUNDING
        self._learner = learner
        self._slack, self._one_sided = float(slack) * (1 + 1e-12), one_sided
        self._given = scores
        self._past: list[Batch] = []
        self._learned_at = 0
        self._width = 0
        self._scores: dict[str, _Learned] = {}
        self._bettors: dict[str, list[_Bettor]] = {}
        self._only: str | None = None
        self._best = np.full(len(self.grid), -math.inf)
        self.seen = 0
        self.checkpoints: list[Checkpoint] = []

    def update(self, batch: Batch) -> None:
        """Bet on a batch with what was learned before it, then learn from it."""
        with one_thread():
            self._update(batch)

    def _update(self, batch: Batch) -> None:
        if self._scores:
            outputs = batch.outputs.fit(self._width)
            for name, learned in self._scores.items():
                values = learned.score.evaluate(outputs)
                for bettor, thresholds in zip(self._bettors[name], learned.thresholds, strict=True):
                    cells = np.searchsorted(thresholds, values, side="right")
                    bettor.bet(cells, batch.is_first, self._odds, self._slack, one_sided=self._one_sided)
        self.seen += len(batch.is_first)
        self._best = np.maximum(self._best, self._log_wealth())
        against_claim = float(self._best[np.searchsorted(self.grid, self._claimed)])
        self.checkpoints.append(Checkpoint(self.seen, self.bound(), against_claim))
        self._learn(batch)

    def bound(self) -> float:
        """Return the largest ε₀ of the grid up to which every one has been rejected so far, in nats; 0 if none has."""
        rejected = self._best >= self._threshold
        count = len(rejected) if rejected.all() else int(np.argmin(rejected))
        return float(self.grid[count - 1]) if count else 0.0

    def _log_wealth(self) -> Floats:
        """Return the logarithm of the capital for every ε₀: slots in use, and the shares of the others untouched."""
        used = len(self._bettors) / _SLOTS
        terms = [np.full(len(self.grid), math.log(1 - used))] if used < 1 else []
        for bettors in self._bettors.values():
            terms += [bettor.wealth + math.log(share / _SLOTS) for bettor, share in zip(bettors, _LEVEL_SHARES, strict=True)]
        return np.asarray(np.logaddexp.reduce(np.stack(terms), axis=0))

    def _keep_best(self) -> None:
        """Bet with the most successful score alone from now on; what the others have won stays. This saves most of the time."""
        at = int(np.searchsorted(self.grid, self._claimed))
        best = max(self._bettors, key=lambda name: max(float(bettor.wealth[at]) for bettor in self._bettors[name]))
        self._only = best

    def _learn(self, batch: Batch) -> None:
        self._past.append(batch)
        while sum(len(part.is_first) for part in self._past[1:]) > _LEARN_ROWS:
            self._past.pop(0)
        if self.seen > _ALWAYS_LEARN and self.seen < 2 * self._learned_at:
            return
        if self.seen > _ONE_SCORE_FROM and self._scores:
            self._keep_best()
        past = Batch(join([part.outputs for part in self._past]), np.concatenate([part.is_first for part in self._past]))
        if not past.is_first.any() or past.is_first.all():
            return
        self._learned_at, self._width = self.seen, past.outputs.width
        scores = learn_quick_scores(past, self._learner) if self._given is None else self._given
        self._scores = {}
        for score in scores:
            if self._only not in (None, score.name):
                continue
            if score.name not in self._bettors and len(self._bettors) < _SLOTS:
                self._bettors[score.name] = [_Bettor(2 * len(cuts) + 1, len(self.grid)) for cuts in _CUTS]
            if score.name in self._bettors:
                self._scores[score.name] = _Learned.of(score, score.evaluate(past.outputs))


@dataclass(frozen=True, slots=True, eq=False)
class _Learned:
    """A score, and for each level of detail the thresholds at the ranks where it is cut, in what it was learned from."""

    score: Score
    thresholds: tuple[Floats, ...]

    @classmethod
    def of(cls, score: Score, values: Floats) -> _Learned:
        """Return the score with its thresholds; a value that returns often gets a cell of its own."""
        made = []
        for cuts in _CUTS:
            at = np.sort(values)[np.minimum((cuts * len(values)).astype(np.int64), len(values) - 1)]
            made.append(np.sort(np.concatenate((at, np.nextafter(at, np.inf)))))
        return cls(score, tuple(made))
