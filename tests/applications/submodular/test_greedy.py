"""The private greedy algorithm: its law, its guarantee, and what it refuses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.setcover import cover_cost
from accountant.applications.submodular import (
    CoverageInstance,
    OneSidedGreedy,
    PrivateGreedy,
    WeightedCoverage,
    find_violation,
    lazy_greedy,
    selection_value,
)
from accountant.guarantees.measures import Notion
from profiles import InvalidArgument, InvalidData, InvalidTarget
from profiles.hypotheses import EXACT_GAINS, MONOTONE_BOUNDED, SUBMODULAR
from profiles.randomness.bernoulli import PoissonSampler
from profiles.randomness.bits import open_bits
from tests.applications.submodular.test_coverage import SETS, covered, plain_law
from tests.targets.laws.submodular import greedy_law


class Own:
    """A function of one's own: users' values of every set in a dictionary."""

    resolution = 1

    def __init__(self, candidates, values):
        self.candidates, self.values, self.users = candidates, values, len(values)

    def restrict(self, kept):
        return Own(self.candidates, [value for value, keep in zip(self.values, kept, strict=True) if keep])

    def track(self):
        return Track(self)


class Track:
    def __init__(self, function):
        self.function, self.chosen = function, frozenset()

    @property
    def gains(self):
        def gain(c):
            return sum(value(self.chosen | {c}) - value(self.chosen) for value in self.function.values)

        return np.array([float(gain(c)) for c in range(self.function.candidates)])

    def add(self, candidate):
        self.chosen |= {candidate}


def subsampled_law(sets, m, k, base, p):
    """The law of the greedy algorithm on a Poisson sample, by definition."""
    law: Counter[tuple[int, ...]] = Counter()
    for kept in itertools.product([False, True], repeat=len(sets)):
        mass = math.prod((p if keep else 1 - p) for keep in kept)
        inner = plain_law([items for items, keep in zip(sets, kept, strict=True) if keep], m, k, base)
        for outcome, inner_mass in inner.items():
            law[outcome] += mass * inner_mass
    return law


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=4), st.integers(1, 3), st.sampled_from(["0.3", "1", "2.5"]))
def test_the_law_keeps_epsilon_in_both_directions(sets, k, epsilon):
    plan = PrivateGreedy(k, epsilon).plan
    with mpmath.workdps(40):
        base = mpmath.exp(mpmath.mpf(plan.epsilon0.numerator) / plan.epsilon0.denominator)
        p, slack = mpmath.mpf(plan.p), mpmath.mpf(10) ** -25
        full, less = subsampled_law(sets, 3, k, base, p), subsampled_law(sets[1:], 3, k, base, p)
        bound = mpmath.exp(mpmath.mpf(epsilon)) + slack
        for outcome in full:
            assert full[outcome] <= bound * less[outcome]
            assert less[outcome] <= bound * full[outcome]
        one, without = plain_law(sets, 3, k, base), plain_law(sets[1:], 3, k, base)
        assert all(one[outcome] <= (base + slack) * without[outcome] for outcome in one)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("kind", ["coverage", "weighted", "own"])
def test_draws_follow_the_law(kind):
    # four users, three candidates, two rounds: 6 outcomes; expected counts are above 40; the statistic has at most 5 degrees of freedom,
    # so that it exceeds 45 with probability below 2e-8
    sets, m, k, runs = [[0], [0, 1], [2], [0, 2]], 3, 2, 1500
    function = {
        "coverage": CoverageInstance.from_sets(sets, candidates=m),
        "weighted": WeightedCoverage.from_matrix([[float(c in items) for c in range(m)] for items in sets]),
        "own": Own(m, [lambda chosen, items=items: bool(chosen & set(items)) for items in sets]),
    }[kind]
    mechanism = PrivateGreedy(k, 1, method="fresh")
    plan = mechanism.plan
    law = subsampled_law(sets, m, k, math.exp(plan.epsilon0), plan.p)
    rng, inner = np.random.default_rng(11), mechanism.inner
    draws, sampler = open_bits(rng), PoissonSampler(rng)
    q = np.full(len(sets), plan.p)
    seen = Counter(inner.select(function.restrict(sampler.select(q)), draws) for _ in range(runs))
    first = (mechanism.run(function, seed, bits=seed + 1).selected for seed in range(5))
    again = [inner.select(function.restrict(PoissonSampler(seed + 1).select(q)), open_bits(seed)) for seed in range(5)]
    assert list(first) == again
    assert set(seen) <= set(law)
    assert min(law.values()) * runs > 40
    assert sum((seen[outcome] - runs * mass) ** 2 / (runs * mass) for outcome, mass in law.items()) < 45


def test_k_from_none_to_all():
    sets, m = [[0, 1], [2], [2, 3], []], 5
    instance = CoverageInstance.from_sets(sets, candidates=m)
    assert PrivateGreedy(0, 1).run(instance).selected == ()
    answer = PrivateGreedy(m, 1).run(instance, 3, bits=4)
    assert sorted(answer.selected) == list(range(m))
    with pytest.raises(InvalidArgument, match="6 candidates were asked for, but there are 5"):
        PrivateGreedy(6, 1).run(instance)
    assert PrivateGreedy(1, 1).run(CoverageInstance.from_sets([], candidates=1)).selected == (0,)
    assert PrivateGreedy(2, "0.001").run(CoverageInstance.from_sets([], candidates=2)).guarantee.bound.epsilon <= Fraction(1, 1000)
    assert PrivateGreedy(2, 10_000).run(instance).guarantee.bound.epsilon <= 10_000


def test_a_large_epsilon_gives_the_greedy_selection():
    rng = np.random.default_rng(1)
    instance = CoverageInstance.from_pairs(rng.integers(0, 500, 2000), (30 * rng.random(2000) ** 3).astype(int), candidates=30)
    assert PrivateGreedy(1, 5000).run(instance, 1, bits=2).selected == lazy_greedy(instance, 1)
    values = (
        selection_value(instance, lazy_greedy(instance, 8)),
        selection_value(instance, PrivateGreedy(8, 5000).run(instance, 3, bits=4).selected),
    )
    assert values[0] == pytest.approx(float(values[1]), rel=0.03)


def test_guarantees_say_what_is_open():
    instance, own = CoverageInstance.from_sets([[0]], candidates=2), Own(2, [lambda chosen: 0 in chosen])
    mechanism = PrivateGreedy(1, "0.7", "corollary")
    assert float(mechanism.plan.epsilon0) == pytest.approx(math.log(2))
    proved, open_ = mechanism.run(instance).guarantee, mechanism.run(own).guarantee
    for guarantee in (proved, open_, mechanism.guarantee):
        assert guarantee.notion is Notion.ADD_REMOVE_DP
        assert guarantee.bound.epsilon <= Fraction(7, 10)
    for hypothesis in (MONOTONE_BOUNDED, EXACT_GAINS):
        assert hypothesis not in proved.hypotheses
        assert hypothesis in open_.hypotheses
        assert hypothesis in mechanism.guarantee.hypotheses
    assert not any("seed" in text for text in proved.hypotheses)
    assert sum("seed" in text for text in mechanism.run(instance, 1, bits=2).guarantee.hypotheses) == 1
    one = OneSidedGreedy(1, "0.5").run(instance)
    assert one.guarantee.notion is Notion.ADD_REMOVE_DP
    assert (one.guarantee.bound.remove, one.guarantee.bound.add) == (Fraction(1, 2), Fraction(1, 2))
    assert (SUBMODULAR in open_.hypotheses, SUBMODULAR in mechanism.run(own).guarantee.hypotheses) == (False, False)
    kept = PrivateGreedy(1, "0.7", method="kept")
    assert SUBMODULAR in kept.guarantee.hypotheses
    assert SUBMODULAR not in kept.run(instance).guarantee.hypotheses


def test_the_answer_holds_nothing_else_and_does_not_depend_on_how_many_users_there_are():
    few, many = (PrivateGreedy(1, 1).run(CoverageInstance.from_sets([[0]] * n, candidates=1)) for n in (0, 50))
    assert few == many


def test_a_subclass_of_an_instance_proves_nothing():
    class Worse(CoverageInstance):
        @property
        def resolution(self):
            return 1

    open_ = PrivateGreedy(1, 1).run(Worse(1, np.array([0, 1]), np.array([0]))).guarantee.hypotheses
    assert MONOTONE_BOUNDED in open_


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: PrivateGreedy(-1, 1), InvalidArgument, "k must be an integer"),
        (lambda: PrivateGreedy(1.5, 1), InvalidArgument, "k must be an integer"),
        (lambda: PrivateGreedy(True, 1), InvalidArgument, "k must be an integer"),
        (lambda: PrivateGreedy(1, 0), InvalidTarget, "target epsilon"),
        (lambda: PrivateGreedy(1, 1, "best"), InvalidArgument, "calibration"),
        (lambda: OneSidedGreedy(1, 0), InvalidArgument, "epsilon0 must be positive"),
        (lambda: PrivateGreedy(1, 1).run([[0]]), InvalidArgument, "decomposable function is needed"),
        (lambda: PrivateGreedy(1, 1).run(CoverageInstance.from_sets([], candidates=1), 5, bits=5), InvalidArgument, "same seed"),
        (lambda: PrivateGreedy(1, 1).run(CoverageInstance.from_sets([], candidates=1), "x"), InvalidArgument, "random bits"),
        (lambda: OneSidedGreedy(1, 1).run(Own(1, [lambda chosen: math.nan])), InvalidData, "finite"),
    ],
)
def test_what_is_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_violations_are_found():
    rng = np.random.default_rng(3)
    falling = Own(2, [lambda chosen: -len(chosen)])
    wide = Own(3, [lambda chosen: 0.4 * len(chosen)])
    assert "falls by 1" in find_violation(falling, rng)
    assert "rises by 1.2" in find_violation(wide, rng)
    assert find_violation(Own(2, [lambda chosen: 0.5 * len(chosen)] * 3), rng) is None
    mixed = Own(1, [len, len])
    mixed.restrict = lambda kept: Own(1, [lambda chosen: len(chosen) / kept.sum()] * int(kept.sum()))
    assert find_violation(mixed, rng) == "the gain of 0 at [] is 1, but its users add up to 2"


def test_a_function_that_mixes_many_users_is_found():
    """Twenty users add up; a hundred do not: a step behind a product of matrices does that."""

    class Crowded(CoverageInstance):
        def restrict(self, kept):
            return Crowded.from_sets([[0, 1]] * int(np.sum(kept)), candidates=self.candidates)

        def track(self):
            return CoverageInstance.from_sets([[0, 1]] * (self.users - (self.users > 60)), candidates=2).track()

    crowd = Crowded.from_sets([[0, 1]] * 100, candidates=2)
    assert "not the sum of those of two halves" in str(find_violation(crowd, np.random.default_rng(1)))


@settings(max_examples=40, deadline=None)
@given(SETS)
def test_evaluation(drawn):
    m, sets = drawn
    instance = CoverageInstance.from_sets(sets, candidates=m)
    selected = lazy_greedy(instance, m)
    for k in range(m + 1):
        best = max(covered(sets, chosen) for chosen in itertools.combinations(range(m), k))
        assert selection_value(instance, selected[:k]) == covered(sets, selected[:k]) >= (1 - (1 - 1 / max(k, 1)) ** k) * best - 1e-9
    used = {next(c for c in selected if c in items) for items in sets if items}
    assert cover_cost(selected, instance) == len(used)


def test_evaluation_refuses():
    instance = CoverageInstance.from_sets([[0]], candidates=2)
    with pytest.raises(InvalidArgument, match="each once"):
        selection_value(instance, [0, 0])
    with pytest.raises(InvalidArgument, match="each once"):
        selection_value(instance, [2])
    with pytest.raises(InvalidData, match="permutation of the sets"):
        cover_cost([0], instance)
    with pytest.raises(InvalidArgument, match="lower k"):
        lazy_greedy(instance, 3)


def test_the_law_of_the_package_is_the_definition():
    sets, base, p = [[0, 1], [1], [2]], Fraction(7, 2), Fraction(1, 3)
    instance = CoverageInstance.from_sets(sets, candidates=3)
    assert greedy_law(instance, 2, base) == plain_law(sets, 3, 2, base)
    assert greedy_law(instance, 3, base, p) == subsampled_law(sets, 3, 3, base, p)
    halves = WeightedCoverage(1, np.array([0, 1]), np.array([0]), np.array([1]))
    assert greedy_law(halves, 1, base) == {(0,): 1}
    with pytest.raises(InvalidArgument, match="integer gains"):
        greedy_law(Own(1, [len]), 1, base)
    with pytest.raises(InvalidArgument, match="16 users at most"):
        greedy_law(CoverageInstance.from_sets([[0]] * 17, candidates=1), 1, base, p)


def test_public_numbers_must_not_change_with_the_users():
    function = Own(2, [len])
    function.restrict = lambda kept: Own(3, [])
    with pytest.raises(InvalidArgument, match="public"):
        PrivateGreedy(2, 1).run(function)


def test_budgets_out_of_range_are_refused():
    for epsilon0 in ("1e-400", "1e400", 10_001, 0, -1):
        with pytest.raises(InvalidArgument):
            OneSidedGreedy(1, epsilon0)
