"""Ghazi et al. 2024 by exact enumeration: Appendix C, Algorithms 1 and 2, Lemma 3.1, and the certified bounds of the accountant."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.onesided import amplify_add, amplify_remove, calibrate_one_sided, declare_add_dp, subsample
from proofs_check.exact import (
    Log,
    delta_of_tables,
    epsilon_of_tables,
    exact_delta,
    exact_epsilon,
    exp,
    extremal_law,
    repeated_above_threshold_law,
    repeated_exponential_law,
    sample_first,
)
from tests.exact.instances import RandomInstance, appendix_c, coverage

HALF, ONE = Fraction(1, 2), Fraction(1)


def exponential(select, epsilon0, sensitivity=1):
    return lambda data: repeated_exponential_law(select, data, epsilon0, sensitivity)


def above(select, epsilon0, sensitivity=1):
    return lambda data: repeated_above_threshold_law(select, data, epsilon0, sensitivity)


def rounds_ratio(m, rounds, e, copies=0):
    """Π over rounds of P'(dummy)/P(dummy), where D' holds ``copies`` copies of x and D one more; e = e^ε₀."""
    total = ONE
    for left in range(1, rounds + 1):
        total *= (e ** (copies + 1) * (m - rounds) + left) / (e**copies * (m - rounds) + left)
    return total


# Appendix C


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("e", [Fraction(3, 2), Fraction(2)])
def test_appendix_c_exactly(rounds, e):
    for m in (rounds + 1, rounds + 2):
        for copies in (1, 2):
            worst = exact_epsilon(exponential(appendix_c(m, rounds), Log(e)), ["x"], max_size=copies)
            assert worst.remove.ratio <= e
            assert worst.add.ratio == rounds_ratio(m, rounds, e, copies - 1) < e**rounds
            assert set(worst.add.event[0]) == set(range(m - rounds, m))
            assert worst.add.smaller == ("x",) * (copies - 1)


def test_appendix_c_with_a_rational_epsilon():
    worst = exact_epsilon(exponential(appendix_c(4, 2), "1/2"), ["x"], max_size=2)
    assert worst.remove.ratio <= exp("1/2")
    assert worst.add.ratio == rounds_ratio(4, 2, exp("1/2"), 1) < exp(1)


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize(("rounds", "epsilon"), [(1, "1"), (2, "1/2"), (5, "1"), (20, "1/10")])
def test_the_number_of_candidates_of_lemma_c_1(rounds, epsilon, share):
    """m = ⌈1 + (e^ε − 1)L/(e^ε − e^(ε'/L))⌉ gives a ratio above e^ε', and so does every m above the quotient."""
    e, part = exp(epsilon), exp(Fraction(epsilon) * share)
    quotient = (e - 1) * rounds / (e - part)
    m = math.ceil(1 + quotient.enclose().upper)
    assert m >= rounds + 1
    assert rounds_ratio(m, rounds, e) > part**rounds
    assert rounds_ratio(math.floor(quotient.enclose().lower) + 1, rounds, e) > part**rounds
    # the ratio of each round is what the proof needs: the first round has the smallest
    first = (e * (m - rounds) + rounds) / Fraction(m)
    assert first == e - (e - 1) * rounds / Fraction(m) > part


def test_the_lemma_needs_m_for_each_epsilon_or_larger_data_sets():
    """On D' = ∅ no single m reaches Lε. With copies of x in D', m = L + 1 candidates come as close as one likes."""
    e, rounds = Fraction(2), 3
    assert all(rounds_ratio(m, rounds, e) < e**rounds for m in (4, 10, 100, 10**6))
    worst = exact_epsilon(exponential(appendix_c(4, rounds), Log(e)), ["x"], max_size=12)
    assert Fraction(798, 100) < worst.add.ratio < 8
    assert worst.remove.ratio <= e


def test_composition_gives_l_epsilon_and_not_twice_as_much():
    """Monotone scores: each round is ε₀-DP in both directions, so that ε⁻ ≤ Lε₀ (the paper says 2Lε)."""
    worst = exact_epsilon(exponential(appendix_c(5, 3), Log(2)), ["x"], max_size=3)
    assert worst.add.ratio < 2**3 < 4**3


@pytest.mark.parametrize(("rounds", "m"), [(2, 3), (2, 5), (3, 4)])
def test_appendix_c_on_a_sample_is_private(rounds, m):
    for target in (Fraction(3, 2), Fraction(2), Fraction(3)):
        p, e0 = 1 - 1 / target, 1 + target
        law = exponential(appendix_c(m, rounds), Log(e0))
        whole, sampled = exact_epsilon(law, ["x"], max_size=3), exact_epsilon(sample_first(law, p), ["x"], max_size=3)
        assert whole.add.ratio > target
        assert max(sampled.remove.ratio, sampled.add.ratio) <= target


def test_appendix_c_with_the_calibration_of_a_rational_epsilon():
    for epsilon, e0 in (("1/2", 1 + exp("1/2")), ("1/2", Fraction(2))):
        law = sample_first(exponential(appendix_c(3, 2), Log(e0)), 1 - exp("-1/2"))
        worst = exact_epsilon(law, ["x"], max_size=2)
        assert worst.remove.ratio <= exp(epsilon)
        assert worst.add.ratio <= exp(epsilon)


# Algorithm 2


def until_above(rounds, threshold):
    """h counts records as long as no answer was ⊤: realised sensitivity 1."""

    def select(answers):
        if len(answers) == rounds:
            return None
        return (lambda data: 0 if any(answers) else len(data)), threshold

    return select


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_above_threshold_in_one_direction_only(rounds):
    e = Fraction(2)
    law = above(until_above(rounds, 2), Log(e))
    below = exact_epsilon(law, ["x"], max_size=1)
    assert below.remove.ratio == e
    assert below.add.ratio == (1 + 1 / e) ** rounds  # (1 − e^(−2ε₀))/(1 − e^(−ε₀)) in each round
    assert below.add.event == ((False,) * rounds,)
    reached = exact_epsilon(law, ["x"], max_size=3)
    assert reached.remove.ratio == e
    assert reached.add.ratio is None
    assert reached.add.epsilon.lower == math.inf
    assert (reached.add.larger, reached.add.event[0][0]) == (("x", "x"), False)  # from h = 1 to the threshold


@pytest.mark.parametrize("rounds", [1, 3])
def test_above_threshold_on_a_sample_attains_both_bounds(rounds):
    target = Fraction(2)
    law = sample_first(above(until_above(rounds, 1), Log(1 + target)), 1 - 1 / target)
    worst = exact_epsilon(law, ["x"], max_size=3)
    assert worst.remove.ratio == target
    assert worst.add.ratio == target


# the two-sided theorem


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(
    b=st.fractions(Fraction(8, 7), 5, max_denominator=7),
    a=st.none() | st.fractions(Fraction(8, 7), 5, max_denominator=7),
    q=st.fractions(0, Fraction(19, 20), max_denominator=20),
)
def test_the_two_sided_theorem_is_attained_by_rational_mechanisms(b, a, q):
    law = extremal_law(Log(b), None if a is None else Log(a))
    whole, sampled = exact_epsilon(law, ["x"], max_size=2), exact_epsilon(sample_first(law, q), ["x"], max_size=1)
    assert (whole.remove.ratio, whole.add.ratio) == (b, a)
    assert sampled.remove.ratio == 1 + q * (b - 1)
    assert sampled.add.ratio == 1 / (1 - q * (1 - (0 if a is None else 1 / a)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_two_sided_theorem_with_delta(data):
    """P₁ ≤ b P₀ + δ⁺ and P₀ ≤ a P₁ + δ⁻ give δ⁺' = qδ⁺ and δ⁻' = qδ⁻/((1 − q)a + q) at ψ⁺, ψ⁻."""
    weights = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
    with_x, without = [{y: Fraction(w, sum(ws)) for y, w in enumerate(ws)} for ws in (data.draw(weights), data.draw(weights))]
    b, a = data.draw(st.fractions(1, 4, max_denominator=5)), data.draw(st.fractions(1, 4, max_denominator=5))
    q = data.draw(st.fractions(0, 1, max_denominator=10))
    remove, _ = delta_of_tables(with_x, without, Log(b))
    _, add = delta_of_tables(with_x, without, Log(a))
    mixed = {y: (1 - q) * value + q * with_x[y] for y, value in without.items()}
    after_plus, _ = delta_of_tables(mixed, without, Log(1 + q * (b - 1)))
    _, after_minus = delta_of_tables(mixed, without, Log(1 / (1 - q * (1 - 1 / a))))
    assert after_plus == q * remove
    assert after_minus == q * add / ((1 - q) * a + q)


def test_personal_probabilities():
    """Every record has its own p(x), and its own ψ."""
    sets = {"A": {1, 2}, "B": {2}, "C": {1}}
    rates = {1: Fraction(1, 3), 2: Fraction(3, 4)}
    worst = exact_epsilon(sample_first(exponential(coverage(sets, 2), Log(3)), rates.__getitem__), [1, 2], max_size=3)
    for x, (remove, add) in worst.records.items():
        assert 1 < remove.ratio <= 1 + rates[x] * 2
        assert 1 < add.ratio <= 1 / (1 - rates[x])


# random instances: no exact worst case exceeds its bound

#: ``make exact-instances`` takes many times as many.
TIMES = int(os.environ.get("INSTANCES", "1"))
EM, AT, COVERAGE = 250 * TIMES, 400 * TIMES, 100 * TIMES


def check(law, records, e, p, rounds, *, max_size=2):
    whole, sampled = (exact_epsilon(found, records, max_size=max_size) for found in (law, sample_first(law, p)))
    assert whole.remove.ratio <= e
    assert sampled.remove.ratio <= 1 + p * (e - 1)
    assert sampled.add.ratio <= (1 / (1 - p) if rounds is None else 1 / (1 - p * (1 - e**-rounds)))
    if rounds is not None:
        assert whole.add.ratio <= e**rounds
    if p == 1 - 1 / (e - 1):
        assert max(sampled.remove.ratio, sampled.add.ratio) <= e - 1
    return whole, sampled


def calibrated(instance, seed):
    """Every second seed has the calibration ε₀ = ln(1 + e^ε), p = 1 − e^−ε; the others any p."""
    e, epsilon0 = instance.epsilon0()
    return e, epsilon0, 1 - 1 / (e - 1) if seed % 2 else instance.probability()


@pytest.mark.thorough
def test_random_repeated_exponential_mechanisms():
    for seed in range(EM):
        instance = RandomInstance(seed, rounds=2, budget=1 + seed % 3)
        e, epsilon0, p = calibrated(instance, seed)
        check(exponential(instance.select, epsilon0, instance.budget), "ab", e, p, 2)


@pytest.mark.thorough
def test_random_repeated_above_threshold_mechanisms():
    attained = 0
    for seed in range(AT):
        instance = RandomInstance(seed, rounds=3, budget=1 + seed % 3)
        e, epsilon0, p = calibrated(instance, seed)
        _, sampled = check(above(instance.query, epsilon0, instance.budget), "a", e, p, None)
        attained += sampled.remove.ratio == 1 + p * (e - 1)
    assert attained > AT / 10


@pytest.mark.thorough
def test_random_coverage():
    for seed in range(COVERAGE):
        rng = RandomInstance(seed, rounds=0, budget=1)
        e, epsilon0, p = calibrated(rng, seed)
        sets = {c: {x for x in range(2) if rng._rng.random() < 0.5} for c in range(3)}
        check(exponential(coverage(sets, 2), epsilon0), range(2), e, p, 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 3), st.fractions(Fraction(1, 4), 2, max_denominator=4))
def test_rational_epsilons(seed, rounds, budget, epsilon):
    instance = RandomInstance(seed, rounds=rounds, budget=budget, candidates=2)
    law, p = above(instance.query, epsilon, budget), 1 - exp(-epsilon)
    check(law, "a", exp(epsilon), p, None, max_size=2)


def test_a_sensitivity_that_is_too_small_is_found_out():
    """Broken twins: half the budget is claimed. The exact ε⁺ must exceed ε₀ for some of them, and the sampled one ψ."""
    broken = 0
    for seed in range(30):
        instance = RandomInstance(seed, rounds=2, budget=2)
        worst = exact_epsilon(above(instance.query, Log(3), 1), "a", max_size=2)
        broken += worst.remove.ratio > 3
    assert broken > 5
    scores_that_fall = exponential(lambda outputs: None if outputs else ("ab", lambda c, data: -len(data) * (c == "a")), Log(2))
    assert exact_epsilon(scores_that_fall, ["x"], max_size=1).remove.ratio == Fraction(4, 3)


# the accountant's certified numbers


@pytest.mark.parametrize("choice", ["optimal", "corollary"])
@pytest.mark.parametrize("target", ["1/10", "1", "3"])
def test_certified_plans_hold_for_their_very_numbers(target, choice):
    """p is a binary64 number and ε₀ a long fraction: the laws are exact in Q(e^ε₀)."""
    plan = calibrate_one_sided(target, choice=choice)
    bound = subsample(declare_add_dp("repeated above-threshold", plan.epsilon0, source="Ghazi et al. 2024, Theorem 5.3"), plan.p).bound
    for law in (above(until_above(2, 1), plan.epsilon0), exponential(appendix_c(3, 2), plan.epsilon0)):
        worst = exact_epsilon(sample_first(law, Fraction(plan.p)), ["x"], max_size=2)
        assert worst.remove.epsilon.upper <= float(bound.remove) * (1 + 1e-12)
        assert Fraction(worst.remove.epsilon.lower) <= bound.remove
        assert Fraction(worst.add.epsilon.lower) <= bound.add
        assert worst.symmetric.lower <= float(Fraction(target))


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(Fraction(1, 10), 3, max_denominator=10),
    st.none() | st.fractions(Fraction(1, 10), 3, max_denominator=10),
    st.floats(0.01, 0.99),
)
def test_certified_directions_enclose_the_exact_ones(remove, add, q):
    sampled = exact_epsilon(sample_first(extremal_law(remove, add), Fraction(q)), ["x"], max_size=1)
    for bound, found in ((amplify_remove(remove, q), sampled.remove.epsilon), (amplify_add(add, q), sampled.add.epsilon)):
        assert found.lower <= bound
        assert float(bound) - found.upper <= 1e-12 * max(1, found.upper)


def test_delta_of_a_sample_is_that_of_the_mechanism_times_p():
    law = above(until_above(3, 2), Log(3), 1)
    wrong = Log(Fraction(3, 2))
    remove, _ = exact_delta(law, ["x"], wrong, max_size=2)
    p = Fraction(1, 4)
    sampled, _ = exact_delta(sample_first(law, p), ["x"], Log(1 + p * HALF), max_size=2)
    assert 0 < sampled.value <= p * remove.value
    assert epsilon_of_tables(law(("x",)), law(()), 1).removing.ratio == 1
