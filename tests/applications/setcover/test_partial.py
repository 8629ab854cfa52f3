"""Partial set cover: exact laws of tiny instances in both directions, draws, and what is promised."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from accountant.applications.setcover import CoverageInstance, PrivatePartialCover
from profiles import InvalidArgument, InvalidData
from profiles.randomness.bits import open_bits
from tests.targets.laws.setcover import enumerate_noise

SETS = 3
COUNT, ORDER, STOP = Fraction(1, 2), Fraction(1, 3), Fraction(2, 5)  # e^-rate of the three noises
LONGEST = 12


@cache
def order_law(rows):
    """The law of the whole order, by definition: all noise vectors that can be told apart."""
    found = Counter()
    for noise, weight in enumerate_noise(range(SETS), len(rows) + 1, ORDER):
        order, rest = [], list(range(SETS))
        while rest:
            fresh = [sum(item in row and not set(row) & set(order) for row in rows) + noise[item] for item in rest]
            order.append(rest.pop(max(range(len(rest)), key=lambda place, keys=fresh: (keys[place], -place))))
        found[tuple(order)] += weight
    return found


def law(rows, share, margin):
    """The law of ñ and the answer on a fixed sample, for ñ below LONGEST."""
    found, known, rows = Counter(), sum(bool(row) for row in rows), tuple(rows)
    for noisy in range(known, LONGEST):
        threshold = math.ceil(share * noisy) + margin
        for order, weight in order_law(rows).items():
            left = weight * (1 - COUNT) * COUNT ** (noisy - known)
            for length in range(1, SETS + 1):
                covered = sum(bool(set(row) & set(order[:length])) for row in rows)
                stop = STOP ** max(0, threshold - covered) if length < SETS else Fraction(1)
                found[noisy, order[:length]] += left * stop
                left *= 1 - stop
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10)])
def test_the_first_direction_on_all_neighbors(share):
    """P_D <= e^(eps_n + eps_g + eps_t) P_D' for the answer together with ñ, for all data sets of at most two elements."""
    rows = [row for size in range(3) for row in itertools.combinations(range(SETS), size)]
    bound = 1 / (COUNT * ORDER * STOP)
    worst = Fraction(0)
    for base in [[], *([row] for row in rows), *itertools.combinations(rows, 2)]:
        less = law(list(base), share, 1)
        for row in rows:
            more = law([*base, row], share, 1)
            ratios = [mass / less[outcome] for outcome, mass in more.items() if mass]
            assert max(ratios) <= bound
            worst = max(worst, *ratios)
    assert worst == bound  # attained, so that nothing is charged in vain


def test_sampled_laws_keep_both_directions():
    p, share = Fraction(2, 5), Fraction(1, 2)
    remove, add = 1 + p * (1 / (COUNT * ORDER * STOP) - 1), 1 / (1 - p)
    for rows in ([(0,)], [(0, 1), (2,)]):
        whole, less = (Counter() for _ in range(2))
        for mask in itertools.product((True, False), repeat=len(rows)):
            chance = math.prod(p if keep else 1 - p for keep in mask)
            for outcome, mass in law([row for row, keep in zip(rows, mask, strict=True) if keep], share, 1).items():
                whole[outcome] += chance * mass
        for mask in itertools.product((True, False), repeat=len(rows) - 1):
            chance = math.prod(p if keep else 1 - p for keep in mask)
            for outcome, mass in law([row for row, keep in zip(rows[1:], mask, strict=True) if keep], share, 1).items():
                less[outcome] += chance * mass
        for outcome, mass in whole.items():
            assert mass <= remove * less[outcome]
            assert less[outcome] <= add * mass


@pytest.mark.thorough
def test_draws_follow_the_law():
    mechanism = PrivatePartialCover(1, SETS, "0.5", beta="0.9")
    rows = [(0,), (0, 1), (2,), (0,)]
    found, runs = Counter(), 800
    bits = open_bits(3)
    for _ in range(runs):
        found[mechanism.choose(CoverageInstance.from_sets(rows, candidates=SETS), bits)] += 1
    rates = [float(value) for value in mechanism.budgets]
    rng, expected = np.random.default_rng(1), Counter()
    trials = 20_000
    for _ in range(trials):
        count, order, stop = (rng.geometric(1 - math.exp(-rate), size=SETS) - 1 for rate in rates)
        keys, taken = order.copy(), []
        while len(taken) < SETS:
            left = [c for c in range(SETS) if c not in taken]
            taken.append(max(left, key=lambda c: (sum(c in r and not set(r) & set(taken) for r in rows) + keys[c], -c)))
        enough = math.ceil((4 + count[0]) / 2) + mechanism.margin
        lengths = (i for i in (1, 2) if sum(bool(set(r) & set(taken[:i])) for r in rows) + stop[i - 1] >= enough)
        expected[tuple(taken[: next(lengths, SETS)])] += 1
    chi = sum((found[o] - runs * n / trials) ** 2 / (runs * n / trials) for o, n in expected.items() if n > 100)
    assert chi < 70  # at most 14 degrees of freedom


def test_enough_is_covered():
    rng = np.random.default_rng(4)
    rows = [[int(40 * rng.random() ** 3)] for _ in range(20_000)]
    system = CoverageInstance.from_sets(rows, candidates=40)
    for seed in range(20):
        chosen = PrivatePartialCover(1, 40, "0.7").run(system, seed, bits=seed + 100).chosen
        assert len(chosen) < 30
        assert sum(row[0] in chosen for row in rows) > 0.68 * len(rows)


def test_what_is_promised_and_refused():
    mechanism = PrivatePartialCover("0.5", 3, "0.5")
    assert mechanism.guarantee.bound.remove <= Fraction(1, 2)
    assert mechanism.guarantee.bound.epsilon <= Fraction(1, 2)
    assert sum(mechanism.budgets) == mechanism.plan.epsilon0
    answer = mechanism.run(CoverageInstance.from_sets([], candidates=3), 1, bits=2)
    assert set(answer.chosen) <= {0, 1, 2}
    assert "margin" in answer.explain()
    for share in (0, 1, "1.5"):
        with pytest.raises(InvalidArgument, match="share"):
            PrivatePartialCover(1, 3, share)
    with pytest.raises(InvalidData, match="3 sets"):
        mechanism.run(CoverageInstance.from_sets([], candidates=4))
