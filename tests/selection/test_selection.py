"""Probabilities and weights of arrays: exactly the rounded-down values, whatever else is in the batch; the guarantee holds for them."""

import doctest
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import derive_epsilon, make_rule, optimal_weight, prepare_selection
from accountant.rules import named, rule_from_expression
from accountant.selection.explicit import round_rule
from accountant.selection.floors import BITS, CONSTRAINED_BITS, floor_bits, floor_exact
from accountant.selection.select import Selection, prove_monotone
from accountant.weights.convexity import prove_convexity
from profiles import Infeasible, InvalidData, InvalidSampling, Undecided, declare, parse_expression
from profiles.evaluation import exact_value

LLOYD = declare(
    "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, 4]},
    parameters={"T": 10, "beta_count": 25, "beta_sum": 50},
)  # fmt: skip
FALLING = declare("falling", "z*w*exp(-w/10)", record={"z": [0, 1]})
CORESET = {"m": 100, "n": 1000, "lam": "0.5", "mean": 2}


def select_explicit(q, statistics):
    return Selection(*round_rule(q, statistics))


def test_examples():
    assert doctest.testmod(named).failed == 0


@given(st.floats(1e-250, 1e250), st.sampled_from([28, 36, 53]))
def test_both_ways_to_round_down_agree(value, bits):
    found = float(floor_bits(np.array([value]), bits)[0])
    assert found == floor_exact(Fraction(value), bits)
    assert value * (1 - 2.0 ** (1 - bits)) <= found <= value


@given(st.fractions(Fraction(1, 10**30), 10**30), st.sampled_from([28, 36]))
def test_rounding_down_is_exact(value, bits):
    found = Fraction(floor_exact(value, bits))
    assert found <= value < found * (1 + Fraction(1, 2 ** (bits - 1)))
    mantissa = found / Fraction(2) ** (found.numerator.bit_length() - found.denominator.bit_length() - bits)
    assert mantissa.denominator == 1


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["coreset-l1", "coreset-l2"]), st.fractions(Fraction(1, 100), 1, max_denominator=1000),
    st.lists(st.floats(0, 4), min_size=1, max_size=20),
)  # fmt: skip
def test_the_numbers_are_the_exact_ones_rounded_down(name, lam, zs):
    rule = make_rule(name, LLOYD, {**CORESET, "lam": lam})
    found = select_explicit(rule.q, {"z": zs})
    for z, chance, weight in zip(zs, found.probabilities, found.weights, strict=True):
        q = exact_value(rule.q, {"z": Fraction(z)})
        assert chance == floor_exact(q, BITS)
        assert weight == floor_exact(1 / q, BITS)
        assert 1 - Fraction(1, 2**34) <= Fraction(float(chance)) * Fraction(float(weight)) <= 1


@pytest.mark.parametrize(
    "q", ["1/20 + z**(4/3)/20", "1/3 + sqrt(z)/4", "1/(2 + z)", "Min(1, 1/20 + z**2/4)", "exp(-1 - z)", "1/8 + z**1.5/16"]
)
def test_irrational_rules_against_sixty_digits(q):
    term = parse_expression(q)
    zs = np.concatenate([np.linspace(0, 4, 257), [1e-300, 0.25, 1, 2.25]])
    found = select_explicit(term, {"z": zs})
    python = q.replace("exp", "mpmath.exp").replace("sqrt", "mpmath.sqrt").replace("Min", "min").replace("1.5", "(mpmath.mpf(3)/2)")
    python = python.replace("(4/3)", "(mpmath.mpf(4)/3)").replace("1/20", "mpmath.mpf(1)/20").replace("1/3", "mpmath.mpf(1)/3")
    with mpmath.workdps(60):
        for z, chance, weight in zip(zs, found.probabilities, found.weights, strict=True):
            exact = eval(python.replace("1/8", "mpmath.mpf(1)/8"), {"mpmath": mpmath, "min": min, "z": mpmath.mpf(float(z))})
            assert exact * (1 - mpmath.mpf(2) ** -35) <= mpmath.mpf(float(chance)) <= exact * (1 + mpmath.mpf(10) ** -55)
            assert (1 - mpmath.mpf(2) ** -35) <= mpmath.mpf(float(weight)) * exact <= 1 + mpmath.mpf(10) ** -55
    assert np.all((found.weights >= 1) & (found.probabilities <= 1))


def test_exact_steps_and_sure_records_are_kept():
    assert select_explicit(parse_expression("1/8 + z**(3/2)/64"), {"z": [4.0, 0.0]}).probabilities.tolist() == [0.25, 0.125]
    capped = select_explicit(parse_expression("Min(1, z)"), {"z": [0.5, 1.0, 3.0]})
    assert capped.probabilities.tolist() == [0.5, 1, 1]
    assert capped.weights.tolist() == [2, 1, 1]
    assert select_explicit(make_rule("uniform", LLOYD, {"rate": 1}).q, {"z": [0, 1]}).weights.tolist() == [1, 1]


@pytest.mark.parametrize("rule", ["coreset", "privacy-constrained"])
def test_a_record_gets_the_same_numbers_in_every_batch(rule):
    """Theorem 6 needs it: the probability and the weight are functions of the record alone."""
    z = np.random.default_rng(3).uniform(0, 4, 60_000)
    chosen = make_rule(rule, LLOYD, {**CORESET, "exponent": "4/3"} if rule == "coreset" else None, target_epsilon=20)
    selector = prepare_selection(LLOYD, chosen)
    whole = selector.select({"z": z})
    order = np.random.default_rng(4).permutation(z.size)
    mixed = selector.select({"z": z[order]})
    assert np.array_equal(mixed.probabilities, whole.probabilities[order])
    assert np.array_equal(mixed.weights, whole.weights[order])
    for part in (slice(1, 50), slice(17, 40_000, 7), slice(59_999, 60_000)):
        again = selector.select({"z": z[part]})
        assert np.array_equal(again.probabilities, whole.probabilities[part])
        assert np.array_equal(again.weights, whole.weights[part])


def psi(epsilon, q):
    return mpmath.log(1 + q * mpmath.expm1(epsilon))


@pytest.mark.parametrize("name", ["uniform", "coreset-l2", "privacy-constrained"])
def test_the_guarantee_holds_for_the_very_floats(name):
    constants = {"uniform": {"m": 100, "n": 1000}, "coreset-l2": CORESET}.get(name)
    target = 20 if name == "privacy-constrained" else None
    rule = make_rule(name, LLOYD, constants, target)
    upper = derive_epsilon(LLOYD, rule=rule).bound.upper
    zs = np.linspace(0, 4, 129)
    found = prepare_selection(LLOYD, rule).select({"z": zs})
    with mpmath.workdps(50):
        limit = mpmath.mpf(upper.numerator) / upper.denominator
        for z, q, w in zip(zs, found.probabilities, found.weights, strict=True):
            epsilon = 10 * mpmath.mpf(float(w)) * (mpmath.mpf(1) / 25 + mpmath.mpf(float(z)) / 50)
            assert psi(epsilon, mpmath.mpf(float(q))) <= limit


def test_constrained_weights_are_the_optimal_ones_rounded_down():
    rule = make_rule("privacy-constrained", LLOYD, target_epsilon=20)
    zs = [0.0, 0.3, 1.5, 4.0]
    found = prepare_selection(LLOYD, rule, convexity=prove_convexity(LLOYD, 20)).select({"z": zs})
    for z, weight, q in zip(zs, found.weights, found.probabilities, strict=True):
        exact = Fraction(optimal_weight(LLOYD, 20, {"z": z}, digits=25).to_json()["weight"])
        assert weight == floor_exact(exact, CONSTRAINED_BITS)
        assert 1 - Fraction(1, 2**52) <= Fraction(float(weight)) * Fraction(float(q)) <= 1


def test_records_that_cost_nothing_are_never_selected():
    silent = declare("silent", "w*z", record={"z": [0, 1]})
    found = prepare_selection(silent, make_rule("privacy-constrained", silent, target_epsilon=2)).select({"z": [0.0, 1.0]})
    assert found.probabilities[0] == 0
    assert math.isinf(found.weights[0])


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(
    ("epsilon", "proved"),
    [
        ("w*z", True), ("w**2*z", True), ("exp(w*z) - 1", True), ("Piecewise((w*z, z < 1/2), (w**2*z, True))", True),
        ("sqrt(w*z)", False), ("z/w", False), ("Piecewise((z*w, w < 3), (z*w/2, True))", False),
    ],
)  # fmt: skip
def test_profiles_that_do_not_fall_are_proved_by_a_claim_of_the_kernel(epsilon, proved):
    claim = prove_monotone(declare("p", epsilon, record={"z": [0, 2]}))
    assert (claim is not None) == proved
    assert claim is None or (claim["claim"], claim["verdict"]) == ("proposition-17", "proved")


def test_a_profile_that_may_fall_with_w_needs_the_bound_which_is_kept_for_every_record():
    rule = rule_from_expression("1/40 + z**2/2", FALLING)
    with pytest.raises(Undecided, match="give the certified bound"):
        prepare_selection(FALLING, rule)
    zs = np.linspace(0, 1, 65)
    for bound, lowers in ((derive_epsilon(FALLING, rule=rule).bound.upper, False), (Fraction(1, 3), True)):
        found = prepare_selection(FALLING, rule, bound=bound).select({"z": zs})
        assert bool(found.lowered) == lowers
        with mpmath.workdps(40):
            for z, q, w in zip(zs, found.probabilities, found.weights, strict=True):
                epsilon = mpmath.mpf(float(z)) * mpmath.mpf(float(w)) * mpmath.exp(-mpmath.mpf(float(w)) / 10)
                assert psi(epsilon, mpmath.mpf(float(q))) <= mpmath.mpf(bound.numerator) / bound.denominator


def test_profiles_without_statistics_and_empty_batches():
    count = declare("count", "w/4", parameters={})
    selector = prepare_selection(count, make_rule("uniform", count, {"rate": "1/4"}))
    assert selector.select({"row": [0, 0]}).weights.tolist() == [4, 4]
    with pytest.raises(InvalidData, match="number of records"):
        selector.select({})
    for name, target in (("coreset-l2", None), ("privacy-constrained", 20)):
        rule = make_rule(name, LLOYD, CORESET if target is None else None, target)
        assert prepare_selection(LLOYD, rule).select({"z": []}).weights.size == 0


def test_improper_data_and_rules_are_refused():
    rule = make_rule("coreset-l2", LLOYD, CORESET)
    selector = prepare_selection(LLOYD, rule)
    with pytest.raises(InvalidData, match="outside the declared range"):
        selector.select({"z": [5.0]})
    with pytest.raises(InvalidData):
        selector.select({"z": [math.nan]})
    with pytest.raises(InvalidData, match="but y was given"):
        selector.select({"y": [1.0]})
    with pytest.raises(InvalidSampling, match="a q above 1 was found in row 1"):
        select_explicit(parse_expression("1/20 + z"), {"z": [0.25, 5.0]})
    with pytest.raises(InvalidSampling, match="a q of at most 0 was found in row 0"):
        select_explicit(parse_expression("z - 1"), {"z": [0.5]})
    with pytest.raises(Infeasible):
        prepare_selection(LLOYD, make_rule("privacy-constrained", LLOYD, target_epsilon="0.1"))
