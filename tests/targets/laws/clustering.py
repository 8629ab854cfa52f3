"""The exact law of what is released, for tiny instances: to be compared over all neighbors (docs/metric-clustering.md, section 2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from accountant.applications.clustering.private import PrivateMetricClustering, rounds_for
from accountant.applications.clustering.records import CostTally, MetricRecords
from accountant.applications.clustering.selection import CostReductions, count_nearest
from accountant.applications.clustering.space import UNITS
from profiles import InvalidArgument
from profiles.balls import ball, working_precision

_BITS = 256
_MOST_OUTCOMES = 10**6
#: (ñ or −1 where it is not drawn, selected candidates, noisy cells before the bias is subtracted)
Outcome = tuple[int, tuple[int, ...], tuple[int, ...]]
Law = dict[Outcome, arb]


def release_law(model: PrivateMetricClustering, data: Sequence[int], *, most: int, sampling: bool = True) -> Law:
    """Return the probability of every release for records at the candidates ``data``, as balls of 256 bits whose sum contains 1.

    A noisy number is cut at ``most`` (and a two-sided one at 0 as well): for data sets of at most ``most`` records the ratio of two laws is
    the same at all values beyond, because P[v + 1] = e^−ε P[v] there for every data set; what is lumped loses nothing. A noisy number of
    records is cut where all candidates are selected, at ``most`` or later. ``sampling`` False: the one-sided parts without the
    sample. Centres and weights are functions of the outcome. Raises :class:`InvalidArgument` for more records or 10^6 outcomes.

    >>> from accountant.applications.clustering import read_distances
    >>> model = PrivateMetricClustering(read_distances([[0, 1], [1, 0]]), k=1, epsilon=1, rounds=1, split="1/2")
    >>> law = release_law(model, [0], most=1)
    >>> len(law), bool(sum(law.values()).contains(arb(1)))
    (4, True)
    """
    if len(data) > most:
        raise InvalidArgument(f"the law is cut at {most} records, but more were found; raise most", private=f"{len(data)} records")
    rounds = model.public_rounds or model.space.size
    if math.perm(model.space.size, rounds) * (most + 2) ** rounds > _MOST_OUTCOMES:
        raise InvalidArgument("the law has about 10^6 outcomes or more; give fewer candidates, rounds or records")
    whole = MetricRecords(model.space, model.power, list(data)).tally()
    plan = model.budget.plan
    with working_precision(_BITS):
        total: Law = {}
        for size in range(len(data) + 1) if sampling and plan is not None else (len(data),):
            for kept in itertools.combinations(range(len(data)), size):
                chance = arb(1)
                if sampling and plan is not None:
                    p = ball(Fraction(plan.p))
                    chance = p**size * (1 - p) ** (len(data) - size)
                sample = MetricRecords(model.space, model.power, [data[i] for i in kept]).tally()
                for outcome, value in _one_sided(model, sample, whole, most):
                    total[outcome] = total.get(outcome, arb(0)) + chance * value
        return total


def _one_sided(model: PrivateMetricClustering, sample: CostTally, whole: CostTally, most: int) -> Iterator[tuple[Outcome, arb]]:
    budget, everything = model.budget, tuple(range(model.space.size))
    for noisy, rounds, chance in _rounds(model, int(sample.counts.sum()), most):
        if budget.selection:
            found = _selections(sample, model.space.size, rounds, budget.selection / UNITS)
        else:
            found = iter([(everything, arb(1))])
        for chosen, value in found:
            counts = count_nearest(whole if budget.full else sample, chosen).tolist()
            choices = [list(_cells(count, budget.histogram, most, two_sided=budget.full)) for count in counts]
            for cells in itertools.product(*choices):
                weight = chance * value * math.prod((item[1] for item in cells), start=arb(1))
                yield (noisy, chosen, tuple(item[0] for item in cells)), weight


def _rounds(model: PrivateMetricClustering, size: int, most: int) -> Iterator[tuple[int, int, arb]]:
    if model.public_rounds is not None:
        yield -1, model.public_rounds, arb(1)
        return
    k, candidates = int(model.k), model.space.size
    last = most
    while rounds_for(last, k, candidates) < candidates:
        last += 1
    for noisy, chance in _cells(size, model.budget.size, last, two_sided=False):
        yield noisy, rounds_for(noisy, k, candidates), chance


def _cells(count: int, rate: Fraction, most: int, *, two_sided: bool) -> Iterator[tuple[int, arb]]:
    """Yield the values of a noisy count and their probabilities, cut at ``most``."""
    a = (-ball(rate)).exp()
    if not two_sided:
        for value in range(count, most):
            yield value, (1 - a) * a ** (value - count)
        yield most, a ** (most - count)
        return
    yield 0, a**count / (1 + a)
    for value in range(1, most):
        yield value, (1 - a) / (1 + a) * a ** abs(value - count)
    if most:
        yield most, a ** (most - count) / (1 + a)
    else:
        yield 1, a / (1 + a)


def _selections(sample: CostTally, size: int, rounds: int, rate: Fraction) -> Iterator[tuple[tuple[int, ...], arb]]:
    for chosen in itertools.permutations(range(size), rounds):
        greedy, chance = CostReductions(sample), arb(1)
        left = np.ones(size, dtype=np.bool_)
        for candidate in chosen:
            weights = [(ball(rate) * int(gain)).exp() for gain in greedy.gains[left]]
            chance = chance * (ball(rate) * int(greedy.gains[candidate])).exp() / sum(weights, arb(0))
            left[candidate] = False
            greedy.add(candidate)
        yield chosen, chance
