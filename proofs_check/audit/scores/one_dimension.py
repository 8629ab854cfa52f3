"""Scores of one number: the number itself, and the log ratio of counts in quantile bins with log-spaced tails and atoms of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from profiles.arrays import Booleans, Floats
from proofs_check.audit.outputs import Outputs
from proofs_check.audit.scores.interface import Score, at_threshold, log_ratios, number_text

_BINS = 96
_LEAST_IN_TAIL = 8

Feature = Callable[[Outputs], Floats]


def place(j: int) -> Feature:
    """Return the feature that is the number at place j, from 0."""
    return lambda outputs: np.asarray(outputs.values[:, j])


def monotone_scores(feature: Feature, name: str) -> list[Score]:
    """Return the feature and its negative as scores: events of the form {feature ≥ t} and {feature ≤ t}."""

    def down(threshold: float, above: bool) -> str:  # noqa: FBT001
        return f"{name} {'at most' if above else 'at least'} {number_text(-threshold)}"

    return [Score(name, feature, at_threshold(name)), Score(f"minus {name}", lambda outputs: -feature(outputs), down)]


def bin_score(feature: Feature, name: str, values: Floats, is_first: Booleans) -> Score:
    """Return the score that is the cautious log ratio of the counts in the bin of the feature.

    ``values`` are the feature's values on the learning part. Values that return often are bins of their own.
    """
    edges = make_edges(values)
    index = np.searchsorted(edges, values, side="right")
    first = np.bincount(index[is_first], minlength=len(edges) + 1).astype(np.float64)
    second = np.bincount(index[~is_first], minlength=len(edges) + 1).astype(np.float64)
    ratios = log_ratios(first * _balance(is_first), second)

    def evaluate(outputs: Outputs) -> Floats:
        return np.asarray(ratios[np.searchsorted(edges, feature(outputs), side="right")])

    def describe(threshold: float, above: bool) -> str:  # noqa: FBT001
        chosen = ratios >= threshold if above else ratios <= threshold
        return f"{name} in {_intervals(edges, chosen)}"

    return Score(f"bins of {name}", evaluate, describe)


def make_edges(values: Floats) -> Floats:
    """Return increasing bin edges; bin j is [edge j − 1, edge j). Atoms are bins [a, next float after a)."""
    ordered = np.sort(values)
    n = len(ordered)
    distinct, counts = np.unique(ordered, return_counts=True)
    if len(distinct) <= 2 * _BINS and len(distinct) <= n // 4 + 2:
        return distinct
    repeated = distinct[counts >= max(_LEAST_IN_TAIL, n // 1000)]
    tails = _LEAST_IN_TAIL * 2.0 ** np.arange(0, max(1.0, np.log2(n / _LEAST_IN_TAIL / _BINS)), 0.5)
    shares = np.concatenate((np.arange(1, _BINS) / _BINS, tails / n, 1 - tails / n))
    positions = np.unique(np.clip((shares * n).astype(np.int64), 0, n - 1))
    return np.unique(np.concatenate((ordered[positions], repeated, np.nextafter(repeated, np.inf))))


def _balance(is_first: Booleans) -> float:
    """Return the factor that makes counts on the two data sets comparable."""
    firsts = int(is_first.sum())
    return (len(is_first) - firsts) / firsts if 0 < firsts < len(is_first) else 1.0


def _intervals(edges: Floats, chosen: np.ndarray, most: int = 4) -> str:
    """Return a union of bins in words, neighbors joined; the rest is counted where there are many pieces."""
    padded = np.concatenate(([False], chosen, [False])).astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
    ends_at = np.concatenate(([-np.inf], edges, [np.inf]))
    pieces = []
    for start, end in zip(starts[:most], ends[:most], strict=True):
        low, high = ends_at[start], ends_at[end]
        if high == np.nextafter(low, np.inf):
            pieces.append("{" + number_text(low) + "}")
        else:
            pieces.append(f"{'(' if np.isinf(low) else '['}{number_text(low)}, {number_text(high)})")
    more = f" and {len(starts) - most} more intervals" if len(starts) > most else ""
    return " or ".join(pieces) + more if pieces else "no interval"
