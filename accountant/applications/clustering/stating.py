"""The bound of a clustering over all data sets, as a share of the least cost and an error: docs/metric-clustering.md, Theorem 9."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from accountant.applications.clustering.records import MetricRecords
from accountant.applications.clustering.solver import ratio_of_solver
from accountant.applications.clustering.space import UNITS, MetricSpace
from accountant.applications.quality import CostBound, void_cost
from accountant.guarantees import Hypothesis
from profiles.hypotheses import AT_CANDIDATES, TRIANGLE

if TYPE_CHECKING:
    from accountant.applications.clustering.private import PrivateMetricClustering

BETA = Fraction(1, 20)
_SHARES = np.linspace(0.02, 0.9, 45)
_TILTS = np.linspace(0.01, 0.99, 99)
_OUTWARD = 1 + 1e-9
#: The least cost at which the shares of the analysis are chosen, as a share of the largest possible one.
_TYPICAL = 0.01


@dataclass(frozen=True, slots=True)
class _Line:
    """slope·OPT + height, where the largest cost of a record is 1."""

    slope: float
    height: float

    def __add__(self, other: _Line) -> _Line:
        return _Line(self.slope + other.slope, self.height + other.height)

    def times(self, factor: float) -> _Line:
        return _Line(factor * self.slope, factor * self.height)


def state_cost(model: PrivateMetricClustering) -> CostBound:
    """Return ratio and error with cost(centres; D) ≤ ratio·OPT_k(D) + error for all D of at most ``n_bound`` records, but for 1/20.

    Costs in the unit of the distances, to the power; what is supposed of distances and records are hypotheses of the bound. Void where
    no bound on the records is public, or the error exceeds what any centres cost. Source: docs/metric-clustering.md, Theorems 7 and 9.
    """
    power = "" if model.power == 1 else " squared"
    unit = f"record-distances{power} (each cut to {model.space.diameter:.6g})"
    if model.n_bound is None:
        return void_cost("no public bound on the number of records was given; give n_bound", unit)
    records, rounds = int(model.n_bound), model.public_rounds
    if rounds is None:
        return void_cost("the number of selected candidates is not public", unit)
    shares = (0.5,) if model.budget.plan is None else _SHARES
    best = min(
        (_bound(model, rounds, records, float(share)) for share in shares), key=lambda line: line.slope * _TYPICAL * records + line.height
    )
    if best.height >= records:
        return void_cost("the proved error exceeds what any centres cost; more records or a larger epsilon would help", unit)
    scale = model.space.diameter**model.power
    return CostBound(best.slope * _OUTWARD, best.height * scale * _OUTWARD, BETA, suppose(model.space), unit, f"up to {records} records")


def suppose(space: MetricSpace, records: MetricRecords | None = None) -> tuple[Hypothesis, ...]:
    """Return what the bound takes for granted of the distances and, where they are not known, of the records."""
    far = () if space.triangle and not (records is not None and records.measured) else (TRIANGLE,)
    return (*far, AT_CANDIDATES) if records is None or records.moved else far


def _bound(model: PrivateMetricClustering, rounds: int, records: int, share: float) -> _Line:
    """The bound of Theorem 9 for one a = ``share``; five events of probability β/5 at most."""
    budget, k, candidates = model.budget, int(model.k), model.space.size
    each, rate = math.log(5 / float(BETA)), float(budget.histogram)
    rounding = _Line(0.0, 2 * records / UNITS)
    if budget.full:
        above = below = bound_noise(rounds, rate, each)
    else:
        above = (rounds + math.sqrt(2 * rounds * each) + each) / rate
        below = rounds * math.exp(-rate) / -math.expm1(-rate)  # rounds/(e^rate − 1), which would overflow for large rates
    if budget.plan is None:
        best = _Line(1.0, 0.0)
        return _solve(best, best + rounding, above, below, model.power)
    p = budget.plan.p
    ours = _Line((1 + share) * p, each / (1.125 * share))
    lost = 0.0
    if budget.selection:
        rest = records * (1 - 1 / k) ** rounds if rounds < candidates else 0.0
        lost = rest + k * (math.log(candidates * rounds) + each) / float(budget.selection)
    many = ours + _Line(0.0, lost) + rounding
    if budget.full:  # the selected candidates on all records; a union over all sets that could be selected
        spread = _Line(0.0, (_count_sets(candidates, rounds) + each) / (2 * share))
        return _solve(_Line(1.0, 0.0), (many + spread).times(1 / ((1 - share) * p)) + rounding, above, below, model.power)
    spread = _Line(0.0, (_count_sets(candidates, k) + each) / (2 * share))
    return (_solve(ours, many, above, below, model.power) + spread).times(1 / ((1 - share) * p))


def _solve(ours: _Line, many: _Line, above: float, below: float, power: int) -> _Line:
    """Return a bound of the cost of the solution of the noisy instance, where the optimum costs ``ours`` and the places cost ``many``."""
    alpha = ratio_of_solver(power)
    solved = (_join(ours, many, 1.0, power) + _Line(0.0, above)).times(alpha) + _Line(0.0, below)
    return _join(solved, many, 1 / math.sqrt(4 * alpha), power)


def _join(one: _Line, other: _Line, tilt: float, power: int) -> _Line:
    """Return a bound of (one^(1/q) + other^(1/q))^q: for q = 2, (1 + t)·one + (1 + 1/t)·other for any t > 0."""
    return one + other if power == 1 else one.times(1 + tilt) + other.times(1 + 1 / tilt)


def bound_noise(count: int, rate: float, each: float) -> float:
    """Return what Σ max(0, z_i) of two-sided geometric noises of this rate exceeds with probability e^−``each`` at most.

    min over t < rate of (count·ln E e^(t max(0, z)) + each)/t, with E e^(t max(0, z)) = (1 + (1 − a) a e^t/(1 − a e^t))/(1 + a) and
    a = e^−rate. Source: Markov's inequality for e^(t Σ); docs/metric-clustering.md, Theorem 9.
    """
    a = math.exp(-rate)
    tilts = rate * _TILTS
    grown = np.exp(tilts - rate)
    means = (1 + -math.expm1(-rate) * grown / -np.expm1(tilts - rate)) / (1 + a)
    return float(((count * np.log(means) + each) / tilts).min()) * _OUTWARD


def _count_sets(candidates: int, chosen: int) -> float:
    return math.lgamma(candidates + 1) - math.lgamma(chosen + 1) - math.lgamma(candidates - chosen + 1)
