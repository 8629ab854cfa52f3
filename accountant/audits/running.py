"""Running a mechanism as the accountant's theorems assume it: after Poisson importance sampling, and several times on one data set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accountant.sampling import SamplingRule, exact_value
from accountant.weights.vectorised import WeightSolver, probabilities
from profiles.errors import InvalidArgument, InvalidSampling
from profiles.mechanisms import Mechanism
from profiles.mechanisms.datasets import read_points
from proofs_check.audit.suite import Sampler

Floats = NDArray[np.float64]

#: Largest data set that is sampled: outputs are grouped by the records that were selected.
MOST_RECORDS = 12
#: NumPy's uniform numbers are multiples of this: ``rng.random() < q`` has probability exactly q where q is one, too.
_UNIT = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """For each record its probability of being selected, a multiple of 2⁻⁵³, and the weight that it then gets; both of shape (n,)."""

    probabilities: Floats
    weights: Floats


#: A public map from records, shape (n, d), to their selection; it must look at each record by itself.
SelectionMap = Callable[[Floats], Selection]


def round_selection(q: Fraction) -> tuple[float, float]:
    """Return (q′, w′) with q′ ≤ q a multiple of 2⁻⁵³ and 1 ≤ w′ ≤ 1/q a binary64 number: what a sampler uses in place of (q, 1/q).

    Statement: a record that is selected with probability q′ and then weighs w′ has the sampled profile log(1 + q′(e^ε(w′, x) − 1)), which
    is at most ψ(x) where ε does not decrease in w. So ψ(x) for the exact q is an upper bound for the floats that are used; rounding
    either of them to nearest could break it in the last digit. Source: Fay et al. 2024, Theorem 6; docs/rounding.md, section 6.
    Raises :class:`InvalidSampling` unless 2⁻⁵³ ≤ q ≤ 1.

    >>> round_selection(Fraction(1, 4)), round_selection(Fraction(1, 3))[1]
    ((0.25, 4.0), 3.0)
    """
    if not Fraction(1, _UNIT) <= q <= 1:
        raise InvalidSampling(f"a selection probability must lie in [2**-53, 1] to be drawn, but {float(q):g} was found; change the rule")
    weight = float(1 / q)
    if Fraction(weight) > 1 / q:
        weight = math.nextafter(weight, 0.0)
    return (q.numerator * _UNIT // q.denominator) / _UNIT, weight


def exact_probability(rule: SamplingRule, statistics: dict[str, Fraction]) -> Fraction:
    """Return q(x) of an explicit rule as an exact number. Raises :class:`InvalidSampling` where q is implicit or not rational."""
    q = None if rule.q is None else exact_value(rule.q, statistics)
    if q is None:
        raise InvalidSampling(f"the rule {rule.name!r} gives no rational probability at this record; use a polynomial rule")
    return q


def exact_statistics(mechanism: Mechanism, points: Floats) -> list[dict[str, Fraction]]:
    """Return the record statistics of each row as the exact values of the binary64 numbers that the mechanism computes."""
    columns = {name: values.tolist() for name, values in mechanism.statistic(points).items()}
    return [{name: Fraction(values[row]) for name, values in columns.items()} for row in range(len(points))]


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The selection of an explicit sampling rule: q(x) in exact arithmetic, rounded by :func:`round_selection`."""

    mechanism: Mechanism
    rule: SamplingRule

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row."""
        pairs = [round_selection(exact_probability(self.rule, values)) for values in exact_statistics(self.mechanism, points)]
        return Selection(np.array([q for q, _ in pairs]), np.array([w for _, w in pairs]))


@dataclass(frozen=True, slots=True)
class ConstrainedSelection:
    """The selection of privacy-constrained sampling: certified weights w, and q = 1/w rounded down to a multiple of 2⁻⁵³.

    ``factor`` multiplies the weights; anything but 1 is a mistake, made on purpose in a broken twin.
    """

    mechanism: Mechanism
    solver: WeightSolver
    factor: float = 1.0

    def __call__(self, points: Floats) -> Selection:
        """Return the selection of each row; a record without any cost has an infinite weight and is never selected."""
        statistics = self.mechanism.statistic(points)
        weights = self.solver.solve(statistics).weights * self.factor if len(points) else np.ones(0)
        q = np.floor(probabilities(weights) * _UNIT) / _UNIT
        return Selection(q, np.where(np.isfinite(weights), weights, 1.0))


@dataclass(frozen=True, slots=True)
class PoissonSampled:
    """Claim: M after Poisson importance sampling, where M is ε-PDP, has the PDP profile ψ(x) = log(1 + q(x)(e^ε(1/q(x), x) − 1)).

    For every output each record is selected afresh, independently, with probability q(x), and gets the weight 1/q(x) (rounded so that the
    claim stays an upper bound: :func:`round_selection`); ``mechanism`` runs on the weighted subsample.

    A data set is an array of records without weights, shape (n, d), n ≤ 12. Outputs that selected the same records are drawn together, by
    one call of ``mechanism``. Source: Fay et al. 2024, Theorem 6. Raises :class:`InvalidArgument` for more records, and what
    ``selection`` and ``mechanism`` raise.
    """

    mechanism: Sampler
    selection: SelectionMap

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` independent outputs, each of a subsample of its own."""
        points = read_points(dataset, None)
        if len(points) > MOST_RECORDS:
            raise InvalidArgument(
                f"at most {MOST_RECORDS} records can be sampled in an audit, but {len(points)} were found; use a small data set"
            )
        chosen = self.selection(points)
        kept = rng.random((size, len(points))) < chosen.probabilities
        codes = kept @ (1 << np.arange(len(points), dtype=np.int64))
        outputs: Floats | None = None
        for code in np.unique(codes):
            rows = np.flatnonzero(codes == code)
            present = kept[rows[0]]
            drawn = self.mechanism((points[present], chosen.weights[present]), rng, len(rows))
            if outputs is None:
                outputs = np.empty((size, *drawn.shape[1:]))
            outputs[rows] = drawn
        if outputs is None:
            raise InvalidArgument("at least one output must be asked for, but none was; give a positive size")
        return outputs


@dataclass(frozen=True, slots=True)
class Together:
    """Claim: if M_i has the PDP profile ε_i, releasing the outputs of all of them on one data set has Σ ε_i.

    Every part draws its own randomness, subsamples included. Outputs are flattened and concatenated, shape (size, Σ d_i).
    Source: Ebadi et al. 2015 (adaptive composition); Fay et al. 2024, proof of Proposition 13.
    """

    parts: tuple[Sampler, ...]

    def __call__(self, dataset: object, rng: np.random.Generator, size: int, /) -> Floats:
        """Return ``size`` independent releases."""
        return np.concatenate([np.reshape(part(dataset, rng, size), (size, -1)) for part in self.parts], axis=1)


def repeat(mechanism: Sampler, times: int) -> Together:
    """Return the mechanism that releases ``times`` independent runs: ``times``·ε for an ε-PDP one. Raises :class:`InvalidArgument`."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise InvalidArgument(f"the number of runs must be a positive integer, but {times} was found; give one")
    return Together((mechanism,) * times)
