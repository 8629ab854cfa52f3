"""Truths of the other cases: formulas in the parameters, finite tables and integrals of sums of exponentials."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from profiles.balls import ball, upper_fraction
from profiles.errors import InvalidArgument
from profiles.mechanisms import KNormSum, WeightedLloyd
from profiles.numbers import to_exact
from tests.targets.suite.amplification import TwoSampledSums
from tests.targets.suite.floating_point import SnappingLaplace
from tests.targets.suite.geometric import TruncatedGeometric
from tests.targets.suite.noisy_max import NoisyMax
from tests.targets.suite.one_sided import ExponentialCount
from tests.targets.suite.rappor import Rappor
from tests.targets.suite.sums import SmartSum
from tests.targets.suite.truths.exponentials import (
    exponential_below,
    exponential_density,
    laplace_below,
    laplace_density,
    product,
)
from tests.targets.suite.truths.sides import Directions, Side, largest, of_table

Answers = tuple[Fraction, ...]

#: What the rounding of doubles can change in a log ratio of probabilities that are not tiny: far more than it does.
ROUNDING = Fraction(1, 10**10)


def of_laplace(scale: Fraction, first: Answers, second: Answers, copies: int = 1) -> Directions:
    """Return copies·‖x − x′‖₁/scale in both directions."""
    return Directions.symmetric(Side.exactly(copies * _l1(first, second) / scale))


def _l1(first: Answers, second: Answers) -> Fraction:
    return sum((abs(x - y) for x, y in zip(first, second, strict=True)), Fraction(0))


def of_geometric(mechanism: TruncatedGeometric, first: int, second: int) -> Directions:
    """Return the directions of the two finite tables."""
    tables = [mechanism.cumulate(count) for count in (first, second)]
    masses = [[b - a for a, b in zip((0, *table), table, strict=False)] for table in tables]
    return of_table((arb(p), arb(q)) for p, q in zip(*masses, strict=True))


def of_noisy_max(mechanism: NoisyMax, first: Answers, second: Answers) -> Directions:
    """Return the directions of the index; of the value where its ε is known: n/scale for Laplace noise, ∞ for exponential noise.

    The value needs answers that all change in the same way (Laplace), or maxima that differ (exponential).
    """
    if not mechanism.value:
        pairs = ((_chance(mechanism, first, i), _chance(mechanism, second, i)) for i in range(len(first)))
        known, proved = of_table(pairs), 2 * max(abs(x - y) for x, y in zip(first, second, strict=True)) / mechanism.scale
        return Directions(*(Side(side.lower, min(side.upper, proved)) for side in (known.toward, known.away)))
    if mechanism.exponential:
        if max(first) == max(second):
            raise InvalidArgument("the value of noisy max with exponential noise is known for data sets with different maxima only")
        upward, downward = Side.exactly(math.inf), Side(Fraction(0), math.inf)
        return Directions(upward, downward) if max(first) < max(second) else Directions(downward, upward)
    changes = {y - x for x, y in zip(first, second, strict=True)}
    if len(set(first)) > 1 or len(changes) > 1:
        raise InvalidArgument("the value of noisy max with Laplace noise is known for equal answers that change together only")
    down, up = (Side.exactly(factor * abs(max(changes)) / mechanism.scale) for factor in (len(first), 1))
    return Directions(down, up) if max(changes) > 0 else Directions(up, down)


def _chance(mechanism: NoisyMax, answers: Answers, index: int) -> arb:
    """Return P(index) = ∫ f(y − x_i) Π_{j≠i} F(y − x_j) dy."""
    unit = 1 / mechanism.scale
    density, below = (exponential_density, exponential_below) if mechanism.exponential else (laplace_density, laplace_below)
    rest = (below(unit, 1, answer) for j, answer in enumerate(answers) if j != index)
    return product(unit, (density(unit, 1, answers[index]), *rest)).integrate()


def of_rappor(mechanism: Rappor, first: int, second: int) -> Directions:
    """Return the directions of independent bits: for each bit that differs the larger log ratio of its two values."""
    q_star, p_star = mechanism.chances()
    bits = mechanism.filter(first), mechanism.filter(second)
    only_first, only_second = len(bits[0] - bits[1]), len(bits[1] - bits[0])
    up, down = ((ball(q_star / p_star)).log(), (ball((1 - p_star) / (1 - q_star))).log())
    if q_star <= p_star:
        raise InvalidArgument("a bit must be likelier to be reported where it is set; exchange p and q")
    return Directions(
        Side.of_ball(only_first * up + only_second * down),
        Side.of_ball(only_second * up + only_first * down),
    )


def of_smart_sum(mechanism: SmartSum, first: Answers, second: Answers) -> Directions:
    """Return Σ |x − x′|/scale over answers that do not end a block plus Σ |total − total′|/total_scale over full blocks."""
    inside = Fraction(0)
    totals = Fraction(0)
    for start in range(0, len(first), mechanism.block):
        stop = start + mechanism.block
        full = stop <= len(first)
        last = stop - 1 if full else stop
        inside += _l1(first[start:last], second[start:last])
        if full:
            totals += abs(sum((x - y for x, y in zip(first[start:stop], second[start:stop], strict=True)), Fraction(0)))
    if mechanism.total_scale is None:
        return Directions.symmetric(Side.exactly(math.inf if totals else inside / mechanism.scale))
    return Directions.symmetric(Side.exactly(inside / mechanism.scale + totals / mechanism.total_scale))


def of_snapping(mechanism: SnappingLaplace, first: Fraction, second: Fraction) -> Directions:
    """Return [1/λ − ROUNDING, (1 + 2⁻⁴⁹B)/λ] per unit of the answers' distance.

    Upper: Mironov's Theorem 1. Lower: the event that outputs are at least Λ. An exact real computation would give e^{1/λ} for the
    ratio of its probabilities; in doubles, λ·LN(U), the sum and the quotient by Λ each move the threshold of U by a relative 2⁻⁵⁰ at
    most, and so each probability.
    """
    if (
        not mechanism.scale < mechanism.bound < 2**46 * mechanism.scale
        or abs(first - second) != 1
        or mechanism.step / 2 <= max(first, second)
    ):
        raise InvalidArgument(
            "the bounds of the snapping mechanism are known for answers that differ by 1, below half a step, and lambda < B"
        )
    lower = 1 / mechanism.scale - ROUNDING
    return Directions.symmetric(Side(lower, (1 + mechanism.bound / 2**49) / mechanism.scale))


def of_k_norm(mechanism: KNormSum, first: np.ndarray, second: np.ndarray) -> Directions:
    """Return ‖Σx − Σx′‖₂/β for sums that differ by an integer vector along one axis."""
    return Directions.symmetric(Side.exactly(_distance(first, second) / to_exact(mechanism.beta_sum)))


def _distance(first: np.ndarray, second: np.ndarray) -> Fraction:
    change = first.sum(axis=0) - second.sum(axis=0)
    if np.count_nonzero(change) > 1:
        raise InvalidArgument("truths of vector sums are known where the sum changes along one axis; rotate the data")
    return Fraction(float(np.abs(change).max()))


def of_exponential_radius(scale: Fraction, dimension: int, first: np.ndarray, second: np.ndarray) -> Directions:
    """Return ∞ for d ≥ 2, and the Laplace mechanism's ε for d = 1."""
    return Directions.symmetric(Side.exactly(_distance(first, second) / scale if dimension == 1 else math.inf))


def of_lloyd(mechanism: WeightedLloyd, first: np.ndarray, second: np.ndarray) -> Directions:
    """Return bounds for one record more (in ``first``) in a cluster of N ≥ 1 records of ``second``, with min_count = 1 and weights 1.

    Raises :class:`InvalidArgument` for other pairs.

    In general: at most T(1/β_count + ‖x‖/β_sum), at least T/β_count toward the smaller data set, by the event that no centre moves.

    One iteration: exactly 1/β_count + ‖x‖/β_sum. With n for the noisy count, y for the noisy sum and N ≥ 1, the centre is in C_R = {c : c
    in a thin cone around −x, ‖c‖ ≥ R} with probability ∫_{n ≥ 1} f(n − N) P(y ∈ n·C_R) dn. For R → ∞ and a cone that narrows, P(y ∈ n·C_R)
    has the ratio e^{‖x‖/β_sum} and decreases in n as e^{−nR/β_sum}, so that n concentrates at 1, where f(n − N)/f(n − N − 1) =
    e^{1/β_count}.

    One cluster: with p = e^{(1−N)/β_count}/2 and p′ = e^{−N/β_count}/2 for a noisy count below 1, an output is the start with probability
    p^T, and elsewhere has the density (1 + p + … + p^{T−1})·g(c), g that of one iteration. So ε is the larger one of T/β_count, the ratio
    of the p^T, and of log Σp^t/Σp′^t + 1/β_count + ‖x‖/β_sum; the start itself is a cell of the grid, to which the density adds less than
    10⁻¹².
    """
    _require_joining_record(mechanism, first, second)
    rounds, count, total = (to_exact(v) for v in (mechanism.iterations, mechanism.beta_count, mechanism.beta_sum))
    record = _distance(first, second)
    per_round = 1 / count + record / total
    stay = rounds / count
    if rounds == 1:
        return Directions(Side(Fraction(0), per_round), Side.exactly(per_round))
    if len(mechanism.centres) > 1:
        return Directions(Side(Fraction(0), rounds * per_round), Side(stay, rounds * per_round))
    chances = [ball(Fraction(1 - len(data)) / count).exp() / 2 for data in (second, first)]
    series = [sum((chance**t for t in range(int(rounds))), arb(0)) for chance in chances]
    moved = upper_fraction((series[0] / series[1]).log() + ball(per_round))
    slack = Fraction(1, 10**11)
    away = largest((Side(stay - slack, stay), Side(Fraction(0), math.inf if moved is None else moved)))
    return Directions(Side(Fraction(0), per_round), away)


def _require_joining_record(mechanism: WeightedLloyd, first: np.ndarray, second: np.ndarray) -> None:
    if mechanism.min_count != 1 or mechanism.p != 2 or len(first) != len(second) + 1 or not np.array_equal(first[:-1], second):
        raise InvalidArgument("the truth of DP-Lloyd is known for one record more at the end of the data set, min_count = 1 and p = 2")
    gaps = first[:, np.newaxis, :] - mechanism.centres
    nearest = (gaps * gaps).sum(axis=2).argmin(axis=1)
    if nearest[-1] not in nearest[:-1]:
        raise InvalidArgument("the truth of DP-Lloyd is known where the record joins a cluster that is not empty; add a record to it")


def of_sampled(mechanism: TwoSampledSums, record: Fraction) -> Directions:
    """Return the directions for adding one record: log(1 ± q(e^{±kε} − 1)) with k = 1 twice, or k = 2 once."""
    times, releases = (1, 2) if mechanism.fresh else (2, 1)
    loss = ball(times * record / (mechanism.q * mechanism.scale))
    q = ball(mechanism.q)
    toward = releases * (1 + q * (loss.exp() - 1)).log()
    away = -releases * (1 - q + q * (-loss).exp()).log()
    return Directions(Side.of_ball(toward), Side.of_ball(away))


def of_exponential_count(mechanism: ExponentialCount, first: int, second: int) -> Directions:
    """Return the directions of one record against none: 1/scale and ∞, the latter against the sign of the noise; or after sampling."""
    if (first, second) != (1, 0):
        raise InvalidArgument("the truth of a count with exponential noise is known for one record against none only")
    if mechanism.rate == 1:
        # Without the record the support is the larger one where noise is added; where it is subtracted, the other way round.
        finite, infinite = Side.exactly(1 / mechanism.scale), Side.exactly(math.inf)
        return Directions(finite, infinite) if mechanism.sign > 0 else Directions(infinite, finite)
    if mechanism.sign < 0:
        raise InvalidArgument("the truth of a sampled count is known for noise that is added only")
    q = ball(mechanism.rate)
    return Directions(Side.of_ball((1 + q * ball(1 / mechanism.scale).expm1()).log()), Side.of_ball(-(1 - q).log()))
