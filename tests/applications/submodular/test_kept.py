"""Noise that each candidate keeps: exact laws in both directions, the draws, and how the choice is made."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.submodular import CoverageInstance, OneSidedGreedy, PrivateGreedy, WeightedCoverage, expect_loss
from accountant.applications.submodular.bounds import bound_one_sided, bound_plan
from accountant.applications.submodular.greedy import balance_sampling
from accountant.calibration.rounds import calibrate_rounds
from profiles import InvalidArgument
from profiles.hypotheses import MONOTONE_BOUNDED, SUBMODULAR
from profiles.randomness.bits import open_bits
from proofs_check.exact import exact_epsilon
from tests.applications.submodular.test_coverage import covered
from tests.targets.laws.submodular import greedy_law, kept_law

A = Fraction(1, 2)
SETS = [items for size in range(4) for items in itertools.combinations(range(3), size)]


class Halves:
    """Facility location with values 0, 1/2 and 1, counted in halves."""

    resolution = 2

    def __init__(self, rows, candidates=3):
        self.rows, self.candidates, self.users = [tuple(row) for row in rows], candidates, len(rows)

    def restrict(self, kept):
        return Halves([row for row, keep in zip(self.rows, kept, strict=True) if keep], self.candidates)

    def track(self):
        return Filling(self)


class Filling:
    def __init__(self, function):
        self.function, self.held = function, [0] * function.users

    @property
    def gains(self):
        rows = zip(self.function.rows, self.held, strict=True)
        rises = [[max(0, value - held) for value in row] for row, held in rows]
        return np.array([sum(rise[c] for rise in rises) for c in range(self.function.candidates)], dtype=np.int64)

    def add(self, candidate):
        self.held = [max(held, row[candidate]) for row, held in zip(self.function.rows, self.held, strict=True)]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_coverage_in_both_directions(k):
    """All data sets of at most two users with any of 8 sets: e^epsilon0 = 2, and 2^k where a user comes."""
    worst = exact_epsilon(lambda sets: kept_law(CoverageInstance.from_sets(sets, candidates=3), k, A), SETS, max_size=2)
    assert worst.remove.ratio == 2  # attained
    assert worst.add.ratio <= 2 ** min(k, 2)
    assert worst.add.ratio > (1 if k > 1 else Fraction(3, 2))


@pytest.mark.thorough
@pytest.mark.parametrize("k", [2, 1, 3])
def test_facility_location_in_both_directions(k):
    """Values in halves: a unit of the gains costs e^(epsilon0/2) = 2, so that e^epsilon0 = 4."""
    rows = list(itertools.product((0, 1, 2), repeat=3))
    for base in ([], [(1, 2, 0)], [(2, 1, 1)], [(0, 1, 2), (1, 1, 0)]):
        less = kept_law(Halves(base), k, A)
        assert sum(less.values()) == 1
        for row in rows:
            more = kept_law(Halves([*base, row]), k, A)
            assert max(more[o] / less[o] for o in more) <= 4
            assert max(less[o] / more[o] for o in more) <= 4 ** min(k, 2)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("k", "epsilon"), [(1, "0.1"), (2, "1/2"), (3, "1")])
def test_the_private_law_keeps_epsilon(k, epsilon):
    """With a rational decay at least e^-epsilon0 and the plan's p: ratios stay below e^epsilon in both directions."""
    mechanism = PrivateGreedy(k, epsilon)
    plan = mechanism.plan
    decay = 1 / (1 + plan.epsilon0 + plan.epsilon0**2 / 2)  # e^x is at least this denominator, hence decay >= e^-epsilon0
    law = lambda sets: kept_law(CoverageInstance.from_sets(sets, candidates=3), k, decay, Fraction(plan.p))  # noqa: E731
    worst = exact_epsilon(law, SETS, max_size=2)
    p = Fraction(plan.p)
    assert worst.remove.ratio <= 1 + p * (1 / decay - 1)
    assert worst.add.ratio <= 1 / (1 - p * (1 - decay**k))
    assert mechanism.guarantee.bound.epsilon <= Fraction(epsilon)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", ["coverage", "weighted"])
def test_draws_follow_the_law(kind):
    # 6 outcomes of 600 draws: chi2 with 5 degrees of freedom is above 45 with probability below 2e-8
    sets, k, runs = [[0], [0, 1], [2], [0, 2]], 2, 600
    function = CoverageInstance.from_sets(sets, candidates=3)
    law = kept_law(function, k, A)
    if kind == "weighted":  # the same gains in other units: noise of 2^-32 has the law of Exp noise, close to that of whole counts
        law = None
        function = WeightedCoverage.from_matrix([[float(c in items) for c in range(3)] for items in sets])
    bits = open_bits(5)
    seen = Counter(OneSidedGreedy(k, Fraction(6931471805599453, 10**16), "kept").select(function, bits) for _ in range(runs))
    if law is None:
        law = exponential_law(sets, k, np.log(2))
    assert set(seen) <= set(law)
    assert sum((seen[o] - runs * float(mass)) ** 2 / (runs * float(mass)) for o, mass in law.items()) < 45


def exponential_law(sets, k, rate, draws=400_000):
    """The law with Exp noise, by simulation apart from what runs; its own error is small beside that of 600 draws."""
    rng = np.random.default_rng(3)
    noise = rng.exponential(1 / rate, size=(draws, 3))
    found = Counter()
    first = np.array([covered(sets, (c,)) for c in range(3)])
    second = np.array([[covered(sets, (c, d)) - first[c] for d in range(3)] for c in range(3)], dtype=float)
    np.fill_diagonal(second, -np.inf)
    one = (first + noise).argmax(axis=1)
    two = (second[one] + noise).argmax(axis=1)
    for pair in zip(one.tolist(), two.tolist(), strict=True):
        found[pair] += 1
    return {outcome: count / draws for outcome, count in found.items()}


def test_one_choice_needs_no_sample_and_beats_the_exponential_mechanism():
    """Two candidates with 500 and 520 users, epsilon = 0.1: .574 by rounds on a sample, .881 by one exponential mechanism, .93 here."""
    instance = CoverageInstance.from_sets([[0]] * 500 + [[1]] * 520, candidates=2)
    mechanism = PrivateGreedy(1, "0.1")
    assert mechanism.plan.p == 1
    assert 0.0999 < float(mechanism.plan.epsilon0) <= 0.1
    found = Counter(mechanism.run(instance, seed, bits=seed + 10_000).selected for seed in range(600))
    fresh = greedy_law(CoverageInstance.from_sets([[0]] * 0 + [[1]] * 20, candidates=2), 1, np.exp(0.1))
    assert fresh[(1,)] == pytest.approx(0.881, abs=1e-3)
    share = found[(1,)] / 600
    assert abs(share - 0.93) < 6 * np.sqrt(0.93 * 0.07 / 600)
    answer = mechanism.run(instance, 1, bits=2)
    assert answer.guarantee.bound.epsilon <= Fraction(1, 10)
    assert not any("sample" in str(item).lower() and "poisson" in str(item).lower() for item in answer.guarantee.hypotheses)


def test_the_choice_is_public_and_explained():
    few = PrivateGreedy(3, 1).run(CoverageInstance.from_sets([], candidates=9), 1, bits=2)
    many = PrivateGreedy(3, 1).run(CoverageInstance.from_sets([[0, 1]] * 300, candidates=9), 3, bits=4)
    assert few.choice == many.choice
    assert few.utility == many.utility
    assert few.choice.method == "kept"
    assert dict(few.choice.errors)["kept"] <= dict(few.choice.errors)["fresh"]
    text = many.explain()
    assert "method: kept (the smaller bound; expected loss" in text
    assert "quality: value >= 0.5321 of the optimum" in text
    assert "epsilon" in text
    own = PrivateGreedy(1, 1).run(Halves([(1, 2, 0)]))
    assert own.choice.method == "fresh"
    assert own.utility.hypotheses == (MONOTONE_BOUNDED, SUBMODULAR)
    assert "assumed: Each user's function is monotone and submodular" in own.explain()
    assert many.utility.hypotheses == ()
    assert PrivateGreedy(1, 1, method="kept").run(Halves([(1, 2, 0)])).choice.method == "kept"


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2000), st.integers(0, 10**6))
def test_kept_noise_never_has_the_larger_bound(k, more):
    assert expect_loss(k + more, k, "kept") <= expect_loss(k + more, k, "fresh") * (1 + 1e-7)  # equal for k = m = 1, and rounded up
    assert bound_one_sided(k + more, k, 1, "0.05", noise="kept").ratio == bound_one_sided(k + more, k, 1, "0.05").ratio


@pytest.mark.parametrize(("k", "epsilon0", "beta"), [(1, 1, "0.1"), (2, "0.7", "0.05"), (3, 2, "0.2")])
def test_the_bound_holds_for_the_exact_law(k, epsilon0, beta):
    decay = 1 / (1 + Fraction(epsilon0) + Fraction(epsilon0) ** 2 / 2)  # more noise than e^-epsilon0 has
    for sets in ([[0], [1], [1, 2]] * 2, [[0, 1, 2]] * 3, [[2]] * 6):
        law = kept_law(CoverageInstance.from_sets(sets, candidates=3), k, decay)
        best = max(covered(sets, chosen) for chosen in itertools.combinations(range(3), k))
        bound = bound_one_sided(3, k, float(-np.log(float(decay))), beta, noise="kept")
        assert sum(mass for chosen, mass in law.items() if covered(sets, chosen) < bound.value(best)) <= Fraction(beta)


def test_sampling_is_balanced_for_a_public_number_of_users():
    best = calibrate_rounds("0.1", 2)
    plan = PrivateGreedy(2, "0.1", users=500, candidates=64).plan
    assert plan.p > best.p
    assert plan.remove <= Fraction(1, 10) >= plan.add
    error = lambda found, n: np.sqrt(n * (1 - found.p) / found.p) + (np.log(32) + 1) / (found.p * float(found.epsilon0))  # noqa: E731
    assert error(plan, 500) < 0.8 * error(best, 500)
    assert balance_sampling(best, 1, 64).p == pytest.approx(best.p, rel=0.5)
    assert balance_sampling(calibrate_rounds("0.3", 10), 100, 1000).p < 0.5  # the noise of ten shares of epsilon would be larger
    assert PrivateGreedy(2, 200, users=500, candidates=64).plan == calibrate_rounds(200, 2)
    with pytest.raises(InvalidArgument, match="64 candidates were declared, but the function has 3"):
        PrivateGreedy(2, 1, users=5, candidates=64).run(CoverageInstance.from_sets([], candidates=3))
    assert bound_plan(10, 2, calibrate_rounds(1, 1), beta="0.1", eta="0.1") == bound_one_sided(10, 2, 1, "0.1")


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: PrivateGreedy(1, 1, method="best"), "method must be one of auto, kept, fresh"),
        (lambda: PrivateGreedy(1, 1, users=0, candidates=5), "guess of users"),
        (lambda: PrivateGreedy(1, 1, users=5), "go together"),
        (lambda: PrivateGreedy(3, 1, users=5, candidates=2), "number of candidates"),
        (lambda: OneSidedGreedy(1, 1, "none"), "noise must be 'fresh' or 'kept'"),
        (lambda: calibrate_rounds(1, 2, p=0.0), "sampling probability must lie in"),
        (lambda: calibrate_rounds(1, 2, p=float("nan")), "sampling probability must lie in"),
    ],
)
def test_what_is_refused(make, match):
    with pytest.raises(InvalidArgument, match=match):
        make()
