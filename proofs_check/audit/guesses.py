"""Guessing rules: name D where a score is high, D′ where it is low, pass between; chosen by the bound that they would prove."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from proofs_check.audit.outputs import Outputs
from proofs_check.audit.runs import Batch
from proofs_check.audit.scores.interface import Floats, Score

#: Cuts tried from each end of a score, and the standard errors by which counts are doubted before a rule is chosen by them.
_CUTS, _DOUBT = 72, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class GuessingRule:
    """Guess D where ``score`` ≥ ``first_from``, D′ where it is ≤ ``second_to`` (which is smaller), pass elsewhere.

    ``width`` is the number of places that the score was learned on; ``promise`` the bound in nats that it was chosen for.
    """

    score: Score
    first_from: float
    second_to: float
    width: int
    promise: float

    def guess(self, outputs: Outputs) -> np.ndarray:
        """Return 1 for D, −1 for D′, 0 for a pass: shape (n,), int8."""
        scores = self.score.evaluate(outputs.fit(self.width))
        return (scores >= self.first_from).astype(np.int8) - (scores <= self.second_to).astype(np.int8)

    def describe(self, *, first: bool) -> str | None:
        """Return the set on which D (or D′) is guessed, in words; None where it never is."""
        threshold = self.first_from if first else self.second_to
        return None if math.isinf(threshold) else self.score.describe(threshold, first)


@dataclass(frozen=True, slots=True)
class Counts:
    """How guesses went: outputs looked at, and right and wrong guesses of D and of D′."""

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

    def add(self, guesses: np.ndarray, is_first: np.ndarray) -> Counts:
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


def choose_rule(scores: Sequence[Score], batch: Batch, *, planned: int, alpha: float, slack: float, one_sided: bool) -> GuessingRule:
    """Return the rule that promises most on ``planned`` fresh outputs at level ``alpha``.

    Counts on ``batch`` are doubted by a standard error, scaled to ``planned``, and put into Wilson's approximation of the binomial limit.
    Whatever comes out is sound: the bound is computed on other outputs. ``one_sided`` leaves guesses of D alone; ``slack`` is δ′.
    """
    best = GuessingRule(scores[0], math.inf, -math.inf, batch.outputs.width, -math.inf)
    factor = planned / max(1, len(batch.outputs))
    quantile = float(norm.isf(alpha))
    for score in scores:
        values = score.evaluate(batch.outputs)
        first = _cuts(values, batch.is_first)
        second = _cuts(-values, ~batch.is_first) if not one_sided else _NO_CUTS
        right = first.right[:, np.newaxis] + second.right
        wrong = first.wrong[:, np.newaxis] + second.wrong
        right = factor * np.maximum(right - _DOUBT * np.sqrt(right), 0.0) - slack * planned
        wrong = factor * (wrong + _DOUBT * np.sqrt(wrong) + _DOUBT**2 * ((wrong > 0) | (right > 0)))
        promises = _promise(np.maximum(right, 0.0), wrong, quantile)
        promises[first.threshold[:, np.newaxis] <= -second.threshold] = -math.inf
        i, j = np.unravel_index(int(np.argmax(promises)), promises.shape)
        if promises[i, j] > best.promise:
            best = GuessingRule(score, float(first.threshold[i]), -float(second.threshold[j]), batch.outputs.width, float(promises[i, j]))
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Cuts:
    """Thresholds t of {score ≥ t} with the numbers of right and wrong guesses there; the first one is never guessed."""

    threshold: Floats
    right: Floats
    wrong: Floats


_NO_CUTS = _Cuts(np.array([np.inf]), np.zeros(1), np.zeros(1))


def _cuts(values: Floats, is_right: np.ndarray) -> _Cuts:
    order = np.argsort(-values)
    ordered, right = values[order], np.cumsum(is_right[order])
    n = len(ordered)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if n else np.empty(0, dtype=np.int64)
    ends = ends[np.isfinite(ordered[ends])]
    if len(ends) > _CUTS:
        wanted = np.unique(np.concatenate((np.geomspace(1, n, _CUTS // 2), np.linspace(1, n, _CUTS // 2))).astype(np.int64)) - 1
        ends = np.unique(ends[np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)])
    counts = ends + 1.0
    hits = right[ends].astype(np.float64)
    return _Cuts(np.append(np.inf, ordered[ends]), np.append(0.0, hits), np.append(0.0, counts - hits))


def _promise(right: Floats, wrong: Floats, quantile: float) -> Floats:
    """Return Wilson's lower limit of the chance of a right guess, as log odds."""
    total = np.maximum(right + wrong, 1e-9)
    share = right / total
    centre = share + quantile**2 / (2 * total)
    spread = quantile * np.sqrt(share * (1 - share) / total + quantile**2 / (4 * total**2))
    chance = np.clip((centre - spread) / (1 + quantile**2 / total), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(chance / (1 - chance)))
