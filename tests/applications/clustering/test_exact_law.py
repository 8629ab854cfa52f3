"""All add/remove neighbors of tiny universes, at 60 digits: the law of (selected candidates, noisy histogram), before and after sampling.

The histogram has infinitely many values, but finitely many matter: with a = e^−ε_h, P[h + noise = j + 1] = a·P[h + noise = j] for j ≥ h, so
that beyond all counts every law shrinks by the same factor and the ratio of two laws stays what it is. A cell is therefore cut at n.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accountant.applications.clustering import PrivateMetricClustering, read_distances
from accountant.applications.clustering.records import MetricRecords
from accountant.applications.clustering.selection import count_nearest
from accountant.applications.clustering.space import UNITS
from profiles.randomness import ExponentialChoice

MOST = 3  # records
SPACES = {
    "line": read_distances([[0, 1, 4], [1, 0, 3], [4, 3, 0]]),
    "equal": read_distances([[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    "star": read_distances([[0, 1, 1], [1, 0, 2], [1, 2, 0]]),
}


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def selection_law(space, data, power, rounds, epsilon) -> dict[tuple[int, ...], mpmath.mpf]:
    """From the definition: products of e^{ε q}/Σ e^{ε q}, q the reduction of the cost."""
    costs = space.scale_costs(space.distances, power).tolist()

    def cost(chosen):
        return sum(min([UNITS, *(costs[x][c] for c in chosen)]) for x in data)

    law = {}
    for chosen in itertools.permutations(range(space.size), rounds):
        chance = mpmath.mpf(1)
        for i, taken in enumerate(chosen):
            left = [c for c in range(space.size) if c not in chosen[:i]]
            weights = {c: mpmath.exp(real(epsilon) * (cost(chosen[:i]) - cost([*chosen[:i], c])) / UNITS) for c in left}
            chance *= weights[taken] / mpmath.fsum(weights.values())
        law[chosen] = chance
    return law


def histogram(space, data, power, chosen) -> tuple[int, ...]:
    costs = space.scale_costs(space.distances, power)
    counts = Counter(int(costs[x, list(chosen)].argmin()) for x in data)
    return tuple(counts[i] for i in range(len(chosen)))


def joint_law(space, data, power, rounds, selection, rate) -> dict[tuple, mpmath.mpf]:
    """The one-sided mechanism: selected candidates with every cell of the histogram at 0, ..., MOST (beyond it nothing changes)."""
    a = mpmath.exp(-real(rate))
    law = {}
    for chosen, chance in selection_law(space, data, power, rounds, selection).items():
        counts = histogram(space, data, power, chosen)
        for cells in itertools.product(range(MOST + 1), repeat=rounds):
            noise = [cell - count for cell, count in zip(cells, counts, strict=True)]
            law[chosen, cells] = chance * mpmath.fprod((1 - a) * a**z if z >= 0 else 0 for z in noise)
    return law


def sampled(law_of, data, p):
    """The law on a Poisson sample of rate p."""
    total: dict = {}
    for kept in itertools.product((0, 1), repeat=len(data)):
        chance = real(Fraction(p)) ** sum(kept) * (1 - real(Fraction(p))) ** (len(data) - sum(kept))
        for outcome, value in law_of(tuple(x for x, keep in zip(data, kept, strict=True) if keep)).items():
            total[outcome] = total.get(outcome, mpmath.mpf(0)) + chance * value
    return total


def losses(law_of, size):
    """Return (plus, minus) over all neighbors of at most MOST records at candidates 0, ..., size − 1."""
    remove = add = mpmath.ninf
    for n in range(MOST):
        for small in itertools.combinations_with_replacement(range(size), n):
            for record in range(size):
                first, second = law_of((*small, record)), law_of(small)
                for outcome in first.keys() | second.keys():
                    p, q = first.get(outcome, mpmath.mpf(0)), second.get(outcome, mpmath.mpf(0))
                    if p > 0:
                        remove = max(remove, mpmath.log(p / q) if q > 0 else mpmath.inf)
                    if q > 0:
                        add = max(add, mpmath.log(q / p) if p > 0 else mpmath.inf)
    return remove, add


def cached(law_of):
    """Remember laws by the multiset of records."""
    known: dict = {}

    def law(data):
        key = tuple(sorted(data))
        if key not in known:
            known[key] = law_of(key)
        return known[key]

    return law


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("name", "power"), [("line", 2), ("equal", 1), ("star", 1)])
def test_one_sided_parts_and_their_sample(name, power):
    space = SPACES[name]
    model = PrivateMetricClustering(space, k=1, epsilon="3/4", power=power, rounds=2, split="2/3")
    budget = model.budget
    one_sided = cached(lambda data: joint_law(space, data, power, 2, budget.selection, budget.histogram))
    remove, add = losses(one_sided, space.size)
    promised = real(budget.selection + budget.histogram)
    assert real(budget.histogram) < remove <= promised
    assert add == mpmath.inf
    after = cached(lambda data: sampled(one_sided, data, budget.plan.p))
    remove, add = losses(after, space.size)
    assert remove <= mpmath.mpf(3) / 4
    assert add <= mpmath.mpf(3) / 4
    assert add > 0.7499  # the direction that sampling alone protects is attained


@pytest.mark.parametrize("name", ["line", "equal"])
def test_a_full_histogram_keeps_the_target(name):
    """Selection on a sample, two-sided noise on all records: beyond the counts, on either side, ratios stay what they are."""
    space = SPACES[name]
    budget = PrivateMetricClustering(space, k=1, epsilon="3/4", rounds=2, histogram="full").budget
    a = mpmath.exp(-real(budget.histogram))
    selections = cached(lambda data: sampled(cached(lambda kept: selection_law(space, kept, 1, 2, budget.selection)), data, budget.plan.p))

    def law_of(data):
        law = {}
        for chosen, chance in selections(data).items():
            counts = histogram(space, data, 1, chosen)
            for cells in itertools.product(range(MOST + 1), repeat=2):
                law[chosen, cells] = chance * mpmath.fprod(a ** abs(cell - count) for cell, count in zip(cells, counts, strict=True))
        return law

    remove, add = losses(cached(law_of), space.size)
    assert 0.5 < remove <= 0.75
    assert 0.5 < add <= 0.75


def test_selection_alone_attains_its_epsilon_in_the_limit_and_fails_the_other_way():
    """D = {0}, D' = {}: with many candidates at distance 1, drawing 0 first has a ratio close to e^ε; the reverse grows with the rounds."""
    m, epsilon = 60, Fraction(1)
    space = read_distances(np.ones((m, m)) - np.eye(m))
    with mpmath.workdps(30):
        costs = space.scale_costs(space.distances, 1)
        assert costs[0, 0] == 0
        weight = mpmath.exp(real(epsilon))
        first = (weight / (weight + m - 1)) / (mpmath.mpf(1) / m)
        assert mpmath.log(first) > 0.97
        without = mpmath.fprod((m - 1 - i) / (weight + m - 1 - i) for i in range(20)) / mpmath.fprod(
            (mpmath.mpf(m) - 1 - i) / (m - i) for i in range(20)
        )  # 0 is not among 20 draws
        assert mpmath.log(without) < -0.5  # the other direction grows with the rounds


class Script:
    def __init__(self, words):
        self.words = iter(words)

    def digit(self):
        return next(self.words)


def test_the_code_draws_this_law():
    """Every draw of the code is the inverse of the distribution function of the law above."""
    space, data, epsilon = SPACES["line"], (0, 2, 2), Fraction(5, 4)
    law = selection_law(space, data, 2, 1, epsilon)
    tally = MetricRecords(space, 2, list(data)).tally()
    costs = tally.costs
    gains = np.array([int((tally.counts * (UNITS - costs[:, c])).sum()) for c in range(3)])
    end = mpmath.mpf(0)
    for candidate in range(3):
        tiny = mpmath.mpf(2) ** -100
        for at in (end * (1 + tiny), (end + law[(candidate,)]) * (1 - tiny)):  # both ends of its part of [0, 1)
            scaled = int(at * mpmath.mpf(2) ** 320)
            words = [(scaled >> (32 * (9 - i))) & (2**32 - 1) for i in range(10)]
            assert ExponentialChoice(gains, epsilon / UNITS).draw(Script(words)) == candidate
        end += law[(candidate,)]
    for chosen in itertools.permutations(range(3), 2):
        assert tuple(count_nearest(tally, chosen).tolist()) == histogram(space, data, 2, chosen)


@pytest.mark.parametrize("share", ["1/4"])
def test_a_noisy_number_of_records_keeps_the_target(share):
    """Outcome: the number of rounds (a function of the noisy size, cut where the laws are proportional) and what is selected."""
    space = SPACES["star"]
    model = PrivateMetricClustering(space, k=1, epsilon=1, size_share=share)
    budget = model.budget
    a = mpmath.exp(-real(budget.size))

    def one_sided(data):
        law = {}
        for noisy in range(len(data), MOST + 2):
            rounds = 1 + noisy % 3  # any map: here one under which every step changes the number of rounds
            chance = (1 - a) * a ** (noisy - len(data))
            for chosen, value in selection_law(space, data, 1, rounds, budget.selection).items():
                law[noisy, chosen] = chance * value
        return law

    one = cached(one_sided)
    remove, add = losses(one, space.size)
    assert remove <= real(budget.size + budget.selection)
    assert add == mpmath.inf
    after = cached(lambda data: sampled(one, data, budget.plan.p))
    assert max(losses(after, space.size)) <= 1
