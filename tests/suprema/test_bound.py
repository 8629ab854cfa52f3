"""Certified suprema: outside at random records at 60 digits, gap as promised, certificates accepted, nudged ones rejected."""

import copy
import json
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.guarantees import bound_epsilon
from accountant.rules import make_rule, rule_from_expression
from profiles import InvalidArgument, InvalidSampling, Undecided, declare
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check

GAP = Fraction(1, 10**9)
LLOYD = declare(
    "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, 4]},
    parameters={"T": 10, "beta_count": "20.5", "beta_sum": 30},
)  # fmt: skip


def lloyd_psi(z, q):
    """ψ of LLOYD as mpmath, at the working precision, by the plain formula of Theorem 6."""
    e = 10 / q * (1 / mpmath.mpf("20.5") + z / 30)
    return mpmath.log(1 + q * mpmath.expm1(e))


def to_mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def assert_sound(bound, gap=GAP):
    assert bound.lower <= bound.upper
    assert bound.relative_gap <= gap
    assert bound.reached
    assert bound.checked_by_kernel, bound.kernel_reason
    assert check(to_file_text(bound.certificate)).accepted


def bound_of(epsilon, q, record, parameters=None, **options):
    profile = declare("p", epsilon, record=record, parameters=parameters)
    return bound_epsilon(profile, rule_from_expression(q, profile), **options)


def test_the_l2_coreset_rule_takes_less_than_a_second():
    rule = rule_from_expression("1/20 + z**2/50", LLOYD)
    bound_epsilon(LLOYD, rule)
    start = time.process_time()
    bound = bound_epsilon(LLOYD, rule)
    assert time.process_time() - start < 1
    assert_sound(bound)
    assert bound.proved_by_balls
    assert bound.upper_text(10) == "9.253165668"


def test_an_interior_maximum_is_above_both_ends_and_above_a_grid():
    """The end-point formula, valid for the l1 rule, is wrong for the l2 rule: witness z near 0.7546."""
    bound = bound_epsilon(LLOYD, rule_from_expression("1/20 + z**2/50", LLOYD))
    with mpmath.workdps(60):
        q = [lambda z: mpmath.mpf(1) / 20 + z**2 / 50][0]
        ends = max(lloyd_psi(mpmath.mpf(z), q(mpmath.mpf(z))) for z in (0, 4))
        grid = max(lloyd_psi(z, q(z)) for z in (mpmath.mpf(4) * k / 99 for k in range(100)))
        assert to_mpf(bound.lower) > ends + mpmath.mpf("2.2")
        assert grid < to_mpf(bound.lower)
        assert abs(to_mpf(bound.at["z"]) - mpmath.mpf("0.7546")) < mpmath.mpf("1e-3")


@pytest.mark.parametrize(("slope", "end"), [("1/20 + z/20", 0), ("1/5 + z/100", 4)])
def test_the_l1_rule_has_its_maximum_at_an_end(slope, end):
    """Proposition 6 of version 1."""
    bound = bound_epsilon(LLOYD, rule_from_expression(slope, LLOYD))
    assert_sound(bound)
    assert bound.at["z"] == end
    with mpmath.workdps(60):
        a, b = (mpmath.mpf(1) / 20, mpmath.mpf(1) / 20) if end == 0 else (mpmath.mpf(1) / 5, mpmath.mpf(1) / 100)
        formula = max(lloyd_psi(mpmath.mpf(z), a + b * z) for z in (0, 4))
        assert to_mpf(bound.lower) <= formula <= to_mpf(bound.upper)


@pytest.mark.thorough
@settings(max_examples=12, deadline=None)
@given(
    m=st.integers(1_000, 20_000), lam=st.integers(5, 100), power=st.sampled_from([1, 2]), spread=st.integers(20, 100),
    records=st.lists(st.fractions(0, 1), min_size=3, max_size=6),
)  # fmt: skip
def test_bounds_are_outside_at_random_records(m, lam, power, spread, records):
    lam, mean = Fraction(lam, 100), Fraction(spread, 100) * 4**power
    name = "coreset-l1" if power == 1 else "coreset-l2"
    constants = {"m": m, "n": 100_000, "lam": lam, "mean": mean}
    bound = bound_epsilon(LLOYD, make_rule(name, LLOYD, constants))
    assert_sound(bound)
    with mpmath.workdps(60):
        for z in [*(4 * to_mpf(x) for x in records), to_mpf(bound.at["z"])]:
            q = to_mpf(lam * Fraction(m, 100_000)) + to_mpf((1 - lam) * Fraction(m, 100_000) / mean) * z**power
            assert lloyd_psi(z, q) <= to_mpf(bound.upper) * (1 + mpmath.mpf(10) ** -55)
        assert to_mpf(bound.lower) <= lloyd_psi(z, q) * (1 + mpmath.mpf(10) ** -55)


CASES = {
    "small": ("w*z/1e12", "1/20+z**2/10", {"z": [0, "1.5"]}, None),
    "tiny": ("w*z*1e-15", "1e-3", {"z": [1, 1]}, None),
    "large": ("w*z", "1/5000+z**2/3000", {"z": [0, 2]}, None),
    "five thousand": ("w*z", "1", {"z": [0, 5000]}, None),
    "q reaches 1 at an end": ("w*z", "1/10+9*z/20", {"z": [0, 2]}, None),
    "two statistics": ("w*(1+z/3+y/2)", "1/20+z**2/10+y**2/8", {"z": [0, 2], "y": [0, 1]}, None),
    "a parameter with a range": ("w*z/b", "1/10+z**2/8", {"z": [0, 2]}, {"b": [1, 3]}),
    "an infinite derivative": ("w*sqrt(z)", "1/10+z/4", {"z": [0, 2]}, None),
    "sublinear": ("sqrt(w*z)", "1/10+z/4", {"z": [0, 2]}, None),
    "a kink": ("w*Abs(z-1)", "1/10+z/4", {"z": [0, 3]}, None),
    "a kink at the maximum": ("w*Min(z, 1)", "1/10 + z**2/100", {"z": [0, 3]}, None),
    "an irrational kink": ("w*(2 - Abs(z**2-2))", "1/2", {"z": ["0.5", "1.5"]}, None),
    "no statistic": ("w*2", "1/10", {}, None),
    "many maxima": ("w*(1+sin(5*z))", "1/2", {"z": [0, 20]}, None),
    "huge odds": ("w*z", "1e-9+z**2/8", {"z": [0, 2]}, None),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_profiles_and_rules_of_many_kinds(name):
    epsilon, q, record, parameters = CASES[name]
    assert_sound(bound_of(epsilon, q, record, parameters))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("q", ["1-(z-1)**2/2", "Min(1, 1/20 + z**2/2)"])
def test_a_probability_that_touches_one_inside_the_range_is_left_to_the_kernel(q):
    bound = bound_of("w*z", q, {"z": [0, 2]})
    assert_sound(bound)


def test_a_sure_sample_costs_what_the_mechanism_costs():
    bound = bound_epsilon(LLOYD, make_rule("uniform", LLOYD, {"rate": 1}))
    exact = 10 * (1 / Fraction("20.5") + Fraction(4, 30))
    assert bound.lower <= exact <= bound.upper
    assert_sound(bound)


def test_a_profile_that_is_zero_has_the_bound_zero():
    bound = bound_of("0*w*z", "1/2 + z/8", {"z": [0, 2]})
    assert (bound.lower, bound.upper, bound.relative_gap) == (0, 0, 0)
    assert bound.checked_by_kernel


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("gap", ["1e-3", "1e-6", "1e-12", "1e-20"])
def test_the_gap_is_as_promised(gap):
    assert_sound(bound_epsilon(LLOYD, rule_from_expression("1/20 + z**2/50", LLOYD), gap), Fraction(gap))


def test_the_kernel_rejects_a_bound_nudged_to_the_wrong_side():
    bound = bound_epsilon(LLOYD, rule_from_expression("1/20 + z**2/50", LLOYD))
    below, above = bound.lower * (1 - Fraction(1, 10**9)), bound.upper * (1 + Fraction(1, 10**9))
    for index, value in ((1, below), (2, above)):
        certificate = copy.deepcopy(dict(bound.certificate))
        certificate["claims"][index]["bound"] = str(value)
        report = check(json.dumps(certificate))
        assert not report.accepted
        assert report.step.startswith(f"claims[{index}]")


@pytest.mark.thorough
def test_the_kernel_rejects_another_rule_or_profile():
    bound = bound_epsilon(LLOYD, rule_from_expression("1/20 + z**2/50", LLOYD))
    for change in (lambda c: c["sampling"].update(q="1/20 + z**2/60"), lambda c: c["profile"]["parameters"].update(T="11")):
        certificate = copy.deepcopy(dict(bound.certificate))
        change(certificate)
        assert not check(json.dumps(certificate)).accepted


def test_printed_numbers_are_rounded_outward():
    bound = bound_epsilon(LLOYD, rule_from_expression("1/20 + z**2/50", LLOYD))
    for digits in (3, 8, 15):
        assert Fraction(bound.lower_text(digits)) <= bound.lower
        assert Fraction(bound.upper_text(digits)) >= bound.upper


def test_an_improper_probability_is_refused_with_its_witness_even_between_grid_points():
    with pytest.raises(InvalidSampling, match="> 1 at the record z"):
        bound_of("w*z", "1 - 1000*(z-0.99)*(z-1)/3", {"z": ["0.99", "1"]})
    with pytest.raises(InvalidSampling, match="at the record z"):
        bound_of("w*z", "1/2 - Max(0, 1/2 + 1/100 - 1000*Abs(z-77/300))", {"z": [0, 1]})


def test_a_probability_that_is_undefined_somewhere_is_refused():
    with pytest.raises(InvalidSampling, match="undefined at the record z = "):
        bound_of("w*z", "1/2 + sqrt(z-1)/10", {"z": [0, 2]})
    with pytest.raises((InvalidSampling, Undecided)):
        bound_of("w*z", "1/2 + sqrt((z-77/300)**2 - 1/10**6)/10", {"z": [0, 1]})
    assert_sound(bound_of("w*z", "1/2 + sqrt(z)/10", {"z": [0, 2]}))
    assert_sound(bound_of("w*z", "1/2 + (z+1)**0.3/10", {"z": [0, 2]}))


def test_a_parameter_without_a_number_has_no_numeric_supremum():
    with pytest.raises(InvalidSampling, match="any positive number"):
        bound_of("w*z*b", "1/2", {"z": [0, 1]}, {"b": "positive"})


@pytest.mark.thorough
def test_an_exhausted_budget_is_undecided_or_an_honest_wider_bound():
    with pytest.raises(Undecided, match="only"):
        bound_of("w*(z/3+y/2)", "1/20+z**2/10+y**2/8", {"z": [0, 2], "y": [0, 1]}, budget=200, accept_wider=False)
    wider = bound_of("w*(z/3+y/2)", "1/20+z**2/10+y**2/8", {"z": [0, 2], "y": [0, 1]}, budget=200)
    assert not wider.reached
    assert wider.checked_by_kernel
    assert GAP < wider.relative_gap < 1
    assert wider.lower <= Fraction("1.95105503449") <= wider.upper


@pytest.mark.parametrize("options", [{"relative_gap": 0}, {"relative_gap": 2}, {"budget": 0}])
def test_unusable_options_are_refused(options):
    with pytest.raises(InvalidArgument):
        bound_of("w*z", "1/2", {"z": [0, 1]}, **options)
