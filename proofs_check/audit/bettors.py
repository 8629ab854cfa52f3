"""Bettors turn past values of a score into bets on hidden labels at the odds of a claim (Theorem 3 of docs/audit.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from profiles.arrays import Booleans, Floats

#: Labels of either kind that a bettor pretends to have seen in every cell.
_PRIOR = 0.5
#: No bettor is surer than this, so that one wrong guess does not cost everything.
_SUREST = 0.999
#: Log odds at which the sigmoid bettor's beliefs are cut into cells; the belief of a cell is its end next to 0.
_LOG_ODDS = np.concatenate((np.arange(0.1, 2, 0.1), np.arange(2, 7.1, 0.5)))
_LEVELS = np.concatenate((-_LOG_ODDS[::-1], [0.0], _LOG_ODDS))
_BELIEFS = 1 / (1 + np.exp(-_LEVELS))
_REMEMBERED, _NEWTON_STEPS = 4_096, 8


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The odds of bets: p₀ for every ε₀ of a grid, δ′, and whether only guesses of D count."""

    odds: Floats
    slack: float
    one_sided: bool


def settle(beliefs: Floats, first: Floats, second: Floats, terms: Terms, outputs: int) -> Floats:
    """Return the change of log wealth, for every ε₀, of bets on a batch of ``outputs``.

    ``beliefs`` are the chances of D in each cell, ``first`` and ``second`` how many outputs of D and D′ fell into it; outputs in no cell
    are not betted on, but δ is paid for all of them, since it can have moved any of them into a cell. If the belief in the likelier label
    is above p₀, each output of the cell multiplies the wealth by ŝ/p₀ or (1 − ŝ)/(1 − p₀).
    """
    guess_first = beliefs >= 0.5
    allowed = guess_first | (not terms.one_sided)
    sure = np.minimum(np.where(guess_first, beliefs, 1 - beliefs), _SUREST)
    change = np.zeros(len(terms.odds))
    used = np.flatnonzero(allowed & (first + second > 0))
    if len(used):
        right = np.where(guess_first, first, second)[used]
        wrong = np.where(guess_first, second, first)[used]
        active = (sure[used] > terms.odds[:, np.newaxis]).astype(np.float64)
        gained = right * np.log(sure[used]) + wrong * np.log1p(-sure[used])
        sums = active @ np.stack((gained, right, wrong), axis=1)
        change = sums[:, 0] - sums[:, 1] * np.log(terms.odds) - sums[:, 2] * np.log1p(-terms.odds)
    if terms.slack > 0 and allowed.any():
        largest = np.maximum(sure[allowed].max() / terms.odds - 1, 0.0)
        change = change - outputs * np.log1p(terms.slack * largest)
    return np.asarray(change)


class CellBettor:
    """Believes the shares of labels seen so far in each cell of the rank of a score; ``cuts`` are the ranks between cells."""

    __slots__ = ("_cuts", "_first", "_second", "_thresholds", "wealth")

    def __init__(self, cuts: Floats, points: int) -> None:
        self._cuts = cuts
        self._thresholds = np.empty(0)
        self._first, self._second = np.zeros(2 * len(cuts) + 1), np.zeros(2 * len(cuts) + 1)
        self.wealth = np.zeros(points)

    def calibrate(self, values: Floats) -> None:
        """Cut at the ranks among these values of the newly learned score; a value that returns often gets a cell of its own."""
        at = np.sort(values)[np.minimum((self._cuts * len(values)).astype(np.int64), len(values) - 1)]
        self._thresholds = np.sort(np.concatenate((at, np.nextafter(at, np.inf))))

    def bet(self, values: Floats, is_first: Booleans, terms: Terms) -> None:
        """Bet on a batch with what was known before it, then remember its labels."""
        cells = np.searchsorted(self._thresholds, values, side="right")
        first, second = _count(cells, is_first, len(self._first))
        beliefs = (self._first + _PRIOR) / (self._first + self._second + 2 * _PRIOR)
        self.wealth += settle(beliefs, first, second, terms, len(values))
        self._first += first
        self._second += second


class SlopeBettor:
    """Believes the sigmoid of a multiple of the score, for several fixed multiples among which its capital is split: nothing to learn.

    A score that is a log-likelihood ratio, as the exact one of a user, is right with multiple 1; distances and others need larger ones.
    """

    __slots__ = ("_slopes", "_wealth", "wealth")

    def __init__(self, slopes: Floats, points: int) -> None:
        self._slopes = slopes
        self._wealth = np.zeros((len(slopes), points))
        self.wealth = np.zeros(points)

    def calibrate(self, values: Floats) -> None:
        """Nothing to do: the multiples are fixed."""

    def bet(self, values: Floats, is_first: Booleans, terms: Terms) -> None:
        """Bet on a batch; the past decides only which multiple has most capital."""
        usable = ~np.isnan(values)
        for k, slope in enumerate(self._slopes):
            self._wealth[k] += bet_on_log_odds(slope * values[usable], is_first[usable], terms, len(values))
        self.wealth = np.asarray(np.logaddexp.reduce(self._wealth, axis=0)) - math.log(len(self._slopes))


class SigmoidBettor:
    """Believes a sigmoid of the score, fitted to the scores and labels of past bets: two numbers to learn, so that few outputs suffice."""

    __slots__ = ("_labels", "_values", "wealth")

    def __init__(self, points: int) -> None:
        self._values: Floats = np.empty(0)
        self._labels = np.empty(0, dtype=bool)
        self.wealth = np.zeros(points)

    def calibrate(self, values: Floats) -> None:
        """Nothing to do: the sigmoid is fitted to past bets."""

    def bet(self, values: Floats, is_first: Booleans, terms: Terms) -> None:
        """Bet on a batch with what was known before it, then remember its labels."""
        usable = np.isfinite(values)
        if len(self._values):
            slope, offset = _fit(self._values, self._labels)
            self.wealth += bet_on_log_odds(slope * values[usable] + offset, is_first[usable], terms, len(values))
        self._values = np.concatenate((self._values, values[usable]))[-_REMEMBERED:]
        self._labels = np.concatenate((self._labels, is_first[usable]))[-_REMEMBERED:]


def bet_on_log_odds(log_odds: Floats, is_first: Booleans, terms: Terms, outputs: int) -> Floats:
    """Return the change of log wealth of bets on a batch of ``outputs``, of which those with the given ``log_odds`` of D are betted on.

    Beliefs are rounded towards 1/2, to the cells of ``_LOG_ODDS``.
    """
    bounded = np.nan_to_num(np.clip(log_odds, -50, 50))
    cells = np.sign(bounded).astype(np.int64) * np.searchsorted(_LOG_ODDS, np.abs(bounded), side="right") + len(_LOG_ODDS)
    first, second = _count(cells, is_first, len(_BELIEFS))
    return settle(_BELIEFS, first, second, terms, outputs)


def _count(cells: np.ndarray, is_first: Booleans, length: int) -> tuple[Floats, Floats]:
    first = np.bincount(cells[is_first], minlength=length).astype(np.float64)
    second = np.bincount(cells[~is_first], minlength=length).astype(np.float64)
    return first, second


def _fit(values: Floats, labels: Booleans) -> tuple[float, float]:
    """Return slope and offset of a logistic regression on one number with a standard normal prior on both, values scaled to spread 1."""
    centre = float(np.median(values))
    spread = float(np.mean(np.abs(values - centre))) or 1.0
    design = np.stack(((values - centre) / spread, np.ones(len(values))))
    design[0] = np.clip(design[0], -10, 10)
    weights = np.zeros(2)
    for _ in range(_NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(weights @ design, -30, 30)))
        gradient = design @ (labels - chances) - weights
        hessian = (design * (chances * (1 - chances))) @ design.T + np.eye(2)
        weights = weights + np.linalg.solve(hessian, gradient)
    slope = float(weights[0]) / spread
    return slope, float(weights[1]) - slope * centre
