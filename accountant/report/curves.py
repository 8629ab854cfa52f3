"""The numbers behind the plots: the loss of a record and its weight against each statistic, and the sample size against the target.

Statement: every number is an enclosure or has a side. Losses are enclosed in ball arithmetic; weights are feasible binary64 numbers within
1e-12 of the largest; expected sample sizes are rounded up. Between the points that are drawn nothing is claimed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb

from accountant.guarantees.derive import DerivedEpsilon
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import prepare_solver
from accountant.weights.fast.size import measure_size
from profiles import Profile, Statistic
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.terms import Term, number, substitute, symbol
from profiles.variables import WEIGHT
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.terms import sampled_term

POINTS = 128
TARGETS = 24
#: Statistics that get plots of their own, and those that a grid of records is laid over.
MOST_STATISTICS, MOST_GRID = 4, 5
_PER_STATISTIC = {0: 1, 1: 201, 2: 21, 3: 9, 4: 5, 5: 4}
_BITS = 128
_ONE = number(1)


class Plotted(Protocol):
    """What curves are drawn of: a profile, a target ε*, and what was derived for them, if anything."""

    @property
    def profile(self) -> Profile: ...
    @property
    def target(self) -> Fraction: ...
    @property
    def derived(self) -> DerivedEpsilon | None: ...


@dataclass(frozen=True, slots=True)
class EnclosedPoint:
    """A point of a curve: lower ≤ value ≤ upper at x."""

    x: Fraction
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True, slots=True)
class Curve:
    """A named curve. ``round_up``: the safe side of its numbers, on which they are printed."""

    name: str
    samples: tuple[EnclosedPoint, ...]
    round_up: bool = True


@dataclass(frozen=True, slots=True)
class Sizes:
    """The expected share of a sample against the target, for records spread evenly; and the rule's own share at its certified bound."""

    mean: Curve
    rule: EnclosedPoint | None
    records: int


def grid(statistic: Statistic, points: int = POINTS) -> list[Fraction]:
    """Return binary64 numbers from end to end of a statistic's range, so that all curves have the same records."""
    width = statistic.hi - statistic.lo
    return [Fraction(_inside(statistic, statistic.lo + width * k / points)) for k in range(points + 1)] if width else [statistic.lo]


def other_values(evidence: Plotted) -> dict[str, Fraction]:
    """Return where the statistics that are not on the axis are held: beside the worst record, or else beside the upper ends."""
    at = {} if evidence.derived is None else dict(evidence.derived.bound.evidence.at)
    return {item.name: Fraction(_inside(item, at.get(item.name, item.hi))) for item in evidence.profile.record}


def loss_curves(evidence: Plotted, statistic: Statistic) -> list[Curve]:
    """Return ε(1, x), the loss without sampling, against one statistic; no curve where no point of it can be enclosed."""
    at_one = substitute(evidence.profile.numeric_epsilon(), {WEIGHT: _ONE})
    curve = enclose_curve("without sampling: ε(1, x)", at_one, _records(evidence, statistic))
    return [curve] if curve.samples else []


def sampled_curves(evidence: Plotted, statistic: Statistic) -> list[Curve]:
    """Return ψ(x), the loss after sampling, against one statistic; no curve where no ε is certified.

    Raises :class:`profiles.PDPError` where the weights of privacy-constrained sampling cannot be certified.
    """
    if evidence.derived is None:
        return []
    profile, rule = evidence.profile, evidence.derived.rule
    if rule.q is not None:
        curve = enclose_curve("after sampling: ψ(x)", sampled_term(profile, rule.q), _records(evidence, statistic))
    else:
        weights = _optimal(evidence, statistic)
        psi = sampled_term(profile, ("div", _ONE, symbol(WEIGHT)))
        records = ({**record, WEIGHT: weight} for record, weight in weights if weight is not None)
        curve = enclose_curve("after sampling: ψ(x)", psi, ((record[statistic.name], record) for record in records))
    return [curve] if curve.samples else []


def weight_curves(evidence: Plotted, statistic: Statistic) -> list[Curve]:
    """Return the weights of the rule and the largest feasible ones for the target against one statistic.

    Raises :class:`profiles.PDPError` where the latter cannot be certified.
    """
    curves = []
    rule = None if evidence.derived is None else evidence.derived.rule
    if rule is not None and rule.q is not None:
        curves.append(enclose_curve("this report's rule: 1/q(x)", ("div", _ONE, rule.q), _records(evidence, statistic)))
    best = [EnclosedPoint(record[statistic.name], weight, weight) for record, weight in _optimal(evidence, statistic) if weight is not None]
    curves.append(Curve("largest feasible for the target: w*(x)", tuple(best), round_up=False))
    return [curve for curve in curves if curve.samples]


def sizes(evidence: Plotted) -> Sizes:
    """Return the expected share of records in the sample against ε*, for optimal weights of a grid of records.

    Raises :class:`profiles.PDPError` where the weights cannot be certified.
    """
    profile = evidence.profile
    convexity = prove_convexity(profile)
    columns = _grid_columns(profile)
    rows = len(next(iter(columns.values())))
    least = max(convexity.least_target, Fraction(1, 10**6))
    most = max(3 * least, 2 * evidence.target)
    samples = []
    for k in range(TARGETS + 1):
        target = Fraction(f"{float(least) * float(most / least) ** (k / TARGETS):.6g}")
        if target >= convexity.least_target:
            share = Fraction(measure_size(profile, target, lambda: [columns], convexity)[0]) / rows
            samples.append(EnclosedPoint(target, share, min(share, Fraction(1))))
    return Sizes(Curve("largest feasible weights", tuple(samples)), _rule_share(evidence, columns), rows)


def _rule_share(evidence: Plotted, columns: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> EnclosedPoint | None:
    """Return the certified bound of an explicit rule, and the share that it selects of the same records, rounded up."""
    derived = evidence.derived
    if derived is None or derived.rule.q is None:
        return None
    enclosure, total, rows = Enclosure(derived.rule.q), Fraction(0), len(next(iter(columns.values())))
    with working_precision(_BITS):
        for row in range(rows):
            end = upper_fraction(enclosure.evaluate({name: arb(float(column[row])) for name, column in columns.items()}))
            if end is None:
                return None
            total += end
    return EnclosedPoint(derived.bound.upper, total / rows, total / rows)


def _grid_columns(profile: Profile) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    points = _PER_STATISTIC[len(profile.record)]
    axes = [[float(item.lo + (item.hi - item.lo) * Fraction(2 * k + 1, 2 * points)) for k in range(points)] for item in profile.record]
    rows = np.array(list(itertools.product(*axes)))
    limits = [(float(item.lo), float(item.hi)) for item in profile.record]
    return {item.name: np.clip(rows[:, j], *limits[j]) for j, item in enumerate(profile.record)}


def _records(evidence: Plotted, statistic: Statistic) -> Iterator[tuple[Fraction, dict[str, Fraction]]]:
    others = other_values(evidence)
    for value in grid(statistic):
        yield value, {**others, statistic.name: value}


def _optimal(evidence: Plotted, statistic: Statistic) -> list[tuple[dict[str, Fraction], Fraction | None]]:
    """Return records along a statistic, as binary64 numbers, with their largest feasible weights; None where that is infinite."""
    profile = evidence.profile
    convexity = prove_convexity(profile, evidence.target)
    records = [record for _, record in _records(evidence, statistic)]
    columns = {item.name: np.array([float(record[item.name]) for record in records]) for item in profile.record}
    weights = prepare_solver(profile, evidence.target, convexity=convexity).solve(columns).weights
    return [(record, Fraction(float(weight)) if math.isfinite(weight) else None) for record, weight in zip(records, weights, strict=True)]


def _inside(item: Statistic, value: Fraction) -> float:
    """Return a binary64 number beside ``value`` that lies in the declared range."""
    nearest = float(value)
    if Fraction(nearest) > item.hi:
        return math.nextafter(nearest, -math.inf)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < item.lo else nearest


def enclose_curve(name: str, term: Term, records: Iterator[tuple[Fraction, dict[str, Fraction]]]) -> Curve:
    """Return enclosures of a term along a curve; points at which there is no finite one are left out."""
    enclosure, samples = Enclosure(term), []
    with working_precision(_BITS):
        for x, record in records:
            value = enclosure.evaluate({key: ball(number_) for key, number_ in record.items()})
            lower, upper = lower_fraction(value), upper_fraction(value)
            if lower is not None and upper is not None and upper - lower <= abs(upper) / 1000 + Fraction(1, 10**9):
                samples.append(EnclosedPoint(x, lower, upper))
    return Curve(name, tuple(samples))


def shown_statistics(profile: Profile) -> Sequence[Statistic]:
    """Return the statistics that have a plot: those with more than one value, at most four."""
    return [statistic for statistic in profile.record if statistic.lo < statistic.hi][:MOST_STATISTICS]
