"""The sequential audit: bets on hidden labels at the odds of the claim, with classifiers trained on the past (docs/audit.md, Theorem 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit.bettors import CellBettor, SigmoidBettor, SlopeBettor, Terms
from proofs_check.audit.outputs import join
from proofs_check.audit.runs import LabelledBatch
from proofs_check.audit.scores import Learner, Score, learn_quick_scores
from proofs_check.audit.scores.interface import evaluate, quietly

#: Scores are learned anew after every batch up to here, later when the number of outputs has doubled; and on so many outputs at most.
_ALWAYS_LEARN, _LEARN_ROWS = 2_000, 20_000
#: From here on only the best score is betted on.
_ONE_SCORE_FROM = 50_000
#: No bettor is surer than 0.999, whose log odds are 6.9: larger ε₀ cannot be rejected by bets.
_GRID_POINTS, _LARGEST_EPSILON = 240, 7.0
#: Where the rank of a score among those learned on is cut. Symmetric: low ranks speak for D′.
_CUTS = (
    np.array([0.1, 0.25, 0.5, 0.75, 0.9]),
    np.array([0.001, 0.004, 0.015, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.985, 0.996, 0.999]),
)
Bettor = SlopeBettor | SigmoidBettor | CellBettor
#: Logarithms of wealth are trusted up to this error.
_ROUNDING = 1e-6
#: Multiples of a score that are believed from the start.
_SLOPES = np.array([1.0, 2.0, 5.0, 15.0, 50.0])
#: Shares of the capital: a slot for each score, and in it one for each bettor: multiples, sigmoid, few cells, many cells.
_SLOTS, _BETTOR_SHARES = (0.5, 0.3, 0.2), (0.4, 0.3, 0.15, 0.15)
#: The same where the score is given, as the exact log-likelihood ratio: one slot, and the multiple 1 alone.
_GIVEN_SLOPES, _GIVEN_SLOTS, _GIVEN_SHARES = np.array([1.0]), (1.0,), (0.7, 0.2, 0.05, 0.05)


def next_batch(seen: int, most: int) -> int:
    """Return how many outputs to take after ``seen``: an eighth more each time, a quarter later; at least 4, at most ``most``."""
    return max(1, min(most, max(4, seen // 8 if seen < _ALWAYS_LEARN else seen // 4)))


def make_grid(claimed: float) -> Floats:
    """Return the grid of ε₀ in nats on which the e-process is inverted; it contains ``claimed`` and a point just above it."""
    points = np.concatenate((np.geomspace(1e-4, _LARGEST_EPSILON, _GRID_POINTS), claimed * np.linspace(0.05, 2, 40), [claimed]))
    above = np.nextafter(claimed * (1 + 1e-9), np.inf)
    return np.unique(np.append(points[points > 0], above))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the sequential audit knew after some labelled outputs: the bound in nats, and the log wealth against the claim."""

    outputs: int
    bound: float
    log_wealth: float


class SequentialAudit:
    """Takes labelled outputs batch by batch; its bound is valid at every time at once, so that one may stop whenever one likes.

    ``claimed`` in nats; ``alpha`` the error; ``delta`` δ; ``one_sided`` bets on guesses of D alone. ``scores`` replaces learning.

    The capital is split between slots, one for each score and level of detail, before anything is seen; a slot without a score keeps its
    share as it is. The sum is a nonnegative supermartingale that starts at 1.
    """

    def __init__(
        self,
        claimed: float,
        alpha: Fraction,
        *,
        learner: Learner,
        delta: Fraction = Fraction(0),
        one_sided: bool = False,
        scores: list[Score] | None = None,
    ) -> None:
        claimed = min(claimed, _LARGEST_EPSILON)
        self.grid = make_grid(claimed)
        slack = float(delta / 2 if one_sided else delta) * (1 + 1e-12)
        self._terms = Terms(1 / (1 + np.exp(-self.grid)), slack, one_sided)
        self._claimed, self._threshold = claimed, -math.log(float(alpha)) + _ROUNDING
        self._learner = learner
        self._given = scores
        self._slopes = _SLOPES if scores is None else _GIVEN_SLOPES
        self._slots: tuple[float, ...] = _SLOTS if scores is None else _GIVEN_SLOTS
        self._shares = _BETTOR_SHARES if scores is None else _GIVEN_SHARES
        self._past: list[LabelledBatch] = []
        self._learned_at = 0
        self._width = 0
        self._scores: dict[str, Score] = {}
        self._bettors: dict[str, list[Bettor]] = {}
        self._only: str | None = None
        self._best = np.full(len(self.grid), -math.inf)
        self.seen = 0
        self.checkpoints: list[Checkpoint] = []

    def update(self, batch: LabelledBatch) -> None:
        """Bet on a batch with what was learned before it, then learn from it."""
        with quietly():
            self._update(batch)

    def _update(self, batch: LabelledBatch) -> None:
        if self._scores:
            outputs = batch.outputs.fit(self._width)
            for name, score in self._scores.items():
                values = evaluate(score, outputs)
                for bettor in self._bettors[name]:
                    bettor.bet(values, batch.is_first, self._terms)
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

    def best_score(self) -> str | None:
        """Return the name of the score that won most against the claim; None where nothing was won."""
        at = int(np.searchsorted(self.grid, self._claimed))
        won = {name: max(float(bettor.wealth[at]) for bettor in bettors) for name, bettors in self._bettors.items()}
        best = max(won, key=lambda name: won[name], default=None)
        return best if best is not None and won[best] > 0 else None

    def past(self) -> LabelledBatch | None:
        """Return the outputs that the scores were last learned from, and some since; None before there are scores."""
        if not self._scores:
            return None
        past = LabelledBatch(join([part.outputs for part in self._past]), np.concatenate([part.is_first for part in self._past]))
        return LabelledBatch(past.outputs.fit(self._width), past.is_first)

    def winner(self) -> Score | None:
        """Return the score that won most against the claim, as it was last learned."""
        return self._scores.get(self.best_score() or "")

    def _log_wealth(self) -> Floats:
        """Return the logarithm of the capital for every ε₀: slots in use, and the shares of the others untouched."""
        unused = sum(self._slots[len(self._bettors) :])
        terms = [np.full(len(self.grid), math.log(unused))] if unused > 0 else []
        for slot, bettors in zip(self._slots, self._bettors.values(), strict=False):
            terms += [bettor.wealth + math.log(share * slot) for bettor, share in zip(bettors, self._shares, strict=True)]
        return np.asarray(np.logaddexp.reduce(np.stack(terms), axis=0))

    def _keep_best(self) -> None:
        """Bet with the most successful score alone from now on; what the others have won stays. This saves most of the time."""
        self._only = self.best_score() or next(iter(self._bettors))

    def _learn(self, batch: LabelledBatch) -> None:
        self._past.append(batch)
        while sum(len(part.is_first) for part in self._past[1:]) > _LEARN_ROWS:
            self._past.pop(0)
        if self.seen > _ALWAYS_LEARN and self.seen < 2 * self._learned_at:
            return
        if self.seen > _ONE_SCORE_FROM and self._scores:
            self._keep_best()
        past = LabelledBatch(join([part.outputs for part in self._past]), np.concatenate([part.is_first for part in self._past]))
        if not past.is_first.any() or past.is_first.all():
            return
        self._learned_at, self._width = self.seen, past.outputs.width
        scores = learn_quick_scores(past, self._learner) if self._given is None else self._given
        self._scores = {}
        for score in scores:
            if self._only not in (None, score.name):
                continue
            if score.name not in self._bettors and len(self._bettors) < len(self._slots):
                points = len(self.grid)
                cells: list[Bettor] = [CellBettor(cuts, points) for cuts in _CUTS]
                self._bettors[score.name] = [SlopeBettor(self._slopes, points), SigmoidBettor(points), *cells]
            if score.name in self._bettors:
                self._scores[score.name] = score
                values = evaluate(score, past.outputs)
                for bettor in self._bettors[score.name]:
                    bettor.calibrate(values)
