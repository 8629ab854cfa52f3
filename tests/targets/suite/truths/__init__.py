"""The truths of the suite, computed from the parameters of each mechanism and its pair of data sets.

``python -m tests.targets.suite.truths`` prints them beside those that are written in the cases; a test compares them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from profiles.balls import working_precision
from profiles.errors import InvalidArgument
from profiles.mechanisms import KNormSum, WeightedLloyd
from tests.targets.suite.amplification import TwoSampledSums
from tests.targets.suite.case import SuiteCase
from tests.targets.suite.floating_point import NaiveLaplace, SnappingLaplace
from tests.targets.suite.geometric import TruncatedGeometric
from tests.targets.suite.k_norm import ExponentialRadiusSum
from tests.targets.suite.laplace import NoisyAnswers, ParallelLaplace
from tests.targets.suite.lloyd import ExponentialRadiusLloyd
from tests.targets.suite.noise import Blocks
from tests.targets.suite.noisy_max import NoisyMax
from tests.targets.suite.numeric_svt import AdaptiveSVT, NumericalSVT
from tests.targets.suite.one_sided import ExponentialCount
from tests.targets.suite.rappor import Rappor
from tests.targets.suite.sparse_vector import Answer, SparseVector
from tests.targets.suite.sums import PartialSum, PrefixSum, SmartSum
from tests.targets.suite.svt import Parallel
from tests.targets.suite.truths import closed, sparse_vector
from tests.targets.suite.truths.gaussian import at_delta
from tests.targets.suite.truths.sides import Directions, Side, largest

__all__ = ["Directions", "Side", "compute_directions", "compute_epsilon"]

_BITS = 192


def compute_directions(case: SuiteCase) -> Directions:
    """Return bounds of ε in both directions for the mechanism and the pair of a case; what the case states is not looked at.

    Raises :class:`InvalidArgument` for a mechanism or a pair about which nothing is known.
    """
    with working_precision(_BITS):
        if case.delta:
            return at_delta(case.mechanism, _exact(case.dataset), _exact(case.neighbor), case.delta)
        return _directions(case.mechanism, case.dataset, case.neighbor)


def compute_epsilon(case: SuiteCase) -> Side:
    """Return the bounds of ε that the truth of a case is about: of both directions, or of adding the record where it is one-sided."""
    directions = compute_directions(case)
    return largest((directions.toward,)) if case.one_sided else directions.epsilon


@singledispatch
def _directions(mechanism: Any, dataset: Any, neighbor: Any) -> Directions:
    raise InvalidArgument(f"truths are known for the mechanisms of the suite, but {type(mechanism).__name__} was found; derive its truth")


def _exact(dataset: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in np.asarray(dataset, dtype=np.float64).ravel().tolist())


def _total(dataset: Any) -> tuple[Fraction]:
    return (sum(_exact(dataset), Fraction(0)),)


@_directions.register
def _(mechanism: Blocks, dataset: Any, neighbor: Any) -> Directions:
    return _directions(mechanism.inner, dataset, neighbor)


@_directions.register
def _(mechanism: NoisyAnswers, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_laplace(mechanism.scale, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: ParallelLaplace, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_laplace(mechanism.scale, _exact(dataset), _exact(neighbor), mechanism.copies)


@_directions.register
def _(mechanism: PrefixSum, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_laplace(mechanism.scale, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: PartialSum, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_laplace(mechanism.scale, _total(dataset), _total(neighbor))


@_directions.register
def _(mechanism: SmartSum, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_smart_sum(mechanism, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: TruncatedGeometric, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_geometric(mechanism, int(dataset), int(neighbor))


@_directions.register
def _(mechanism: NoisyMax, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_noisy_max(mechanism, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: SparseVector, dataset: Any, neighbor: Any) -> Directions:
    first, second = _exact(dataset), _exact(neighbor)
    if mechanism.refresh_scale is not None and mechanism.limit != 1:
        raise InvalidArgument("truths with a threshold that is drawn again are known for a limit of 1 only")
    if mechanism.query_scale is None:
        return _without_query_noise(first, second)
    return (sparse_vector.of_bits if mechanism.answer is Answer.BIT else sparse_vector.of_numbers)(mechanism, first, second)


def _without_query_noise(first: tuple[Fraction, ...], second: tuple[Fraction, ...]) -> Directions:
    """Return ∞ in a direction where the first law has possible patterns that the second has not.

    A pattern tells the order of answers: where x_i < x_j, "i below, j above" has positive probability, elsewhere it is impossible.
    """
    pairs = [(i, j) for i in range(len(first)) for j in range(len(first))]
    orders = [{(i, j) for i, j in pairs if x[i] < x[j]} for x in (first, second)]
    if orders[0] == orders[1]:
        raise InvalidArgument("without query noise the truth is known for data sets that order their answers differently only")
    return Directions(*(Side.exactly(math.inf) if a - b else Side(Fraction(0), math.inf) for a, b in (orders, orders[::-1])))


@_directions.register
def _(mechanism: NumericalSVT, dataset: Any, neighbor: Any) -> Directions:
    return sparse_vector.of_numerical(mechanism, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: AdaptiveSVT, dataset: Any, neighbor: Any) -> Directions:
    return sparse_vector.of_adaptive(mechanism, _exact(dataset), _exact(neighbor))


@_directions.register
def _(mechanism: Parallel, dataset: Any, neighbor: Any) -> Directions:
    parts = [_directions(part, dataset, neighbor) for part in mechanism.parts]
    return sum(parts[1:], parts[0])


@_directions.register
def _(mechanism: Rappor, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_rappor(mechanism, int(dataset), int(neighbor))


@_directions.register
def _(mechanism: NaiveLaplace, dataset: Any, neighbor: Any) -> Directions:
    if (float(dataset), float(neighbor)) != (0.0, 1.0):
        raise InvalidArgument("the truth of the Laplace mechanism in doubles is known for the answers 0 and 1 only")
    return Directions(Side.exactly(math.inf), Side(1 / mechanism.scale - closed.ROUNDING, math.inf))


@_directions.register
def _(mechanism: SnappingLaplace, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_snapping(mechanism, *_exact(dataset), *_exact(neighbor))


@_directions.register
def _(mechanism: KNormSum, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_k_norm(mechanism, dataset, neighbor)


@_directions.register
def _(mechanism: ExponentialRadiusSum, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_exponential_radius(mechanism.scale, mechanism.dimension, dataset, neighbor)


@_directions.register
def _(mechanism: WeightedLloyd, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_lloyd(mechanism, dataset, neighbor)


@_directions.register
def _(mechanism: ExponentialRadiusLloyd, dataset: Any, neighbor: Any) -> Directions:
    if len(dataset) != 1 or len(neighbor) != 0 or not np.any(dataset):
        raise InvalidArgument("the truth of DP-Lloyd with a wrong radius is known for one record, not 0, against none")
    return closed.of_exponential_radius(mechanism.sum_scale, mechanism.dimension, dataset, neighbor)


@_directions.register
def _(mechanism: TwoSampledSums, dataset: Any, neighbor: Any) -> Directions:
    first, second = _exact(dataset), _exact(neighbor)
    if first[:-1] != second:
        raise InvalidArgument("the truth of sampled sums is known for a data set with one record more than its neighbor, at the end")
    return closed.of_sampled(mechanism, abs(first[-1]))


@_directions.register
def _(mechanism: ExponentialCount, dataset: Any, neighbor: Any) -> Directions:
    return closed.of_exponential_count(mechanism, len(dataset), len(neighbor))
