"""Variance-optimal sampling: an oracle that sees the whole data set. It is NOT private, and no guarantee can be made from it.

Its probabilities depend on the norms of all records through one threshold, so that one record changes the weights of all the others: it
is not a public map, and Theorem 6 says nothing about it. It is a yardstick for the rules that are private (docs/sampling.md, section 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from profiles import InvalidData, InvalidSampling, NotPrivate, exact_text, to_exact
from profiles.arrays import Floats

NAME = "variance-optimal"


@dataclass(frozen=True, slots=True, eq=False)
class VarianceOptimal:
    """Selection probabilities with the least variance for an expected size. NOT PRIVATE: they depend on the whole data set.

    ``probabilities``: float64, shape (n,), q_i = min(1, a_i/``threshold``); ``capped``: how many are 1; ``norms``: the a_i.
    """

    norms: Floats = field(repr=False)
    probabilities: Floats = field(repr=False)
    threshold: float = field(repr=False)
    capped: int = field(repr=False)

    @property
    def weights(self) -> Floats:
        """1/q, shape (n,); inf for records that are never selected."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.probabilities, dtype=np.float64)

    @property
    def expected_size(self) -> float:
        return math.fsum(self.probabilities.tolist())

    @property
    def sampling_variance(self) -> float:
        """Σ (1/q_i − 1) a_i², the part of the summed variance that sampling adds; records with a_i = 0 add nothing."""
        return sampling_variance(self.norms, self.probabilities)


def variance_optimal(norms: ArrayLike, size: object) -> VarianceOptimal:
    """Return the q that minimises Σ (1/q_i − 1) a_i² subject to Σ q_i = m and 0 ≤ q_i ≤ 1. NOT PRIVATE.

    Claim: with τ such that Σ min(1, a_i/τ) = m the minimiser is q_i = min(1, a_i/τ), the only one where a_i > 0. Where m is at least the
    number of records with a_i > 0 those get q = 1, and the others share what is left of m equally (any share is optimal).

    ``norms``: a_i ≥ 0, shape (n,). For the summed variance of a weighted sum in d dimensions a_i = ‖x_i‖₂, whatever the noise; for a
    sum and a count together a_i² = ‖x_i‖₂² + 1. ``size``: 0 < m ≤ n. O(n log n); Σ q_i is within 1e-12·n of m.

    Source: Fay et al. 2024, Section 3.3; the caps and the proof: docs/sampling.md, Theorem 3.
    Raises :class:`InvalidData` (norms that are not finite or negative, none at all), :class:`InvalidSampling` (m ≤ 0 or m > n).

    >>> variance_optimal([3, 1, 1, 0], 2).probabilities.tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    a = _checked(norms)
    goal = to_exact(size, "the expected sample size")
    if not 0 < goal <= a.size:
        raise InvalidSampling(
            f"an expected sample size in (0, n] was expected, but {exact_text(goal)[:40]} was found, where n is the number of norms; give "
            "one that the data can have",
            private=f"n = {a.size}",
        )
    m, positive = float(goal), int(np.count_nonzero(a))
    if m >= positive:
        rest = (m - positive) / (a.size - positive) if a.size > positive else 0.0
        return VarianceOptimal(a, np.where(a > 0, 1.0, min(1.0, rest)), 0.0, positive + (0 if rest < 1 else a.size - positive))
    scale = float(a.max())
    threshold = _threshold(a / scale, m)
    q = np.minimum(1.0, a / scale / threshold)
    return VarianceOptimal(a, q, threshold * scale, int(np.count_nonzero(q == 1.0)))


def _threshold(a: Floats, m: float) -> float:
    """Return τ with Σ min(1, a_i/τ) = m for m below the number of positive a_i, which are at most 1.

    With a_(1) ≥ a_(2) ≥ ... and R_k the sum of all but the k largest, τ = R_k/(m − k) for the least k with (m − k) a_(k+1) ≤ R_k: then
    the k largest are above τ (k is the least) and the others are not. Once the condition holds for k it holds for k + 1.
    """
    rising = np.sort(a)
    tails = np.cumsum(rising)  # tails[j]: the sum of the j + 1 smallest
    most = min(math.ceil(m), a.size)
    largest = rising[::-1][:most]
    holds = (m - np.arange(most)) * largest <= tails[::-1][:most]
    k = int(np.argmax(holds)) if holds.any() else most - 1
    return math.fsum(rising[: a.size - k].tolist()) / (m - k)


def sampling_variance(norms: ArrayLike, probabilities: ArrayLike) -> float:
    """Return Σ (1/q_i − 1) a_i², inf where a record with a_i > 0 is never selected. Raises :class:`InvalidData`."""
    a, q = _checked(norms), np.asarray(probabilities, dtype=np.float64)
    if q.shape != a.shape or not bool(np.all((q >= 0) & (q <= 1))):
        raise InvalidData("probabilities in [0, 1], one for each norm, were expected, but others were found; correct the array")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        terms = np.where(a > 0, (1.0 / q - 1.0) * a * a, 0.0)
    return math.fsum(terms.tolist()) if bool(np.all(np.isfinite(terms))) else math.inf


def refuse_oracle(value: object) -> None:
    """Raise :class:`NotPrivate` for variance-optimal probabilities, or their name, wherever a guarantee is requested."""
    if isinstance(value, VarianceOptimal) or (isinstance(value, str) and value == NAME):
        raise NotPrivate(
            f"a guarantee was asked for {NAME!r} sampling, but its probabilities depend on the whole data set, so there is none; use "
            "'uniform', 'coreset' or 'privacy-constrained'"
        )


def _checked(norms: ArrayLike) -> Floats:
    a = np.ascontiguousarray(norms, dtype=np.float64)
    if a.ndim != 1 or a.size == 0 or not bool(np.all(np.isfinite(a) & (a >= 0))):
        raise InvalidData("a one-dimensional array of finite norms of at least 0 was expected, but something else was found; correct it")
    return a
