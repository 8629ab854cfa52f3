"""Coreset rules of any exponent: the formula, the largest m, the hypotheses, and certified suprema that the kernel checks."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import derive_epsilon
from accountant.guarantees import bound_epsilon
from accountant.rules import make_rule
from accountant.rules.coreset import largest_size
from profiles import InvalidSampling, declare
from profiles.evaluation import exact_value
from profiles.terms import to_text
from tests.hypotheses import say

LLOYD = declare(
    "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, 4]},
    parameters={"T": 10, "beta_count": "20.5", "beta_sum": 30},
)  # fmt: skip
SUM = declare("sum", "w*z/3", record={"z": [0, 2]})
CORESET = {"m": 100, "n": 1000, "lam": "0.5", "mean": "1.25"}


@pytest.mark.parametrize(("name", "exponent"), [("coreset-l1", 1), ("coreset-l2", 2)])
def test_the_named_rules_are_instances(name, exponent):
    assert make_rule(name, SUM, CORESET).q == make_rule("coreset", SUM, {**CORESET, "exponent": exponent}).q


def test_the_formula_with_a_fractional_exponent():
    rule = make_rule("coreset", SUM, {**CORESET, "exponent": "3/2"})
    assert to_text(rule.q) == "0.05 + 0.04*z**1.5"
    assert exact_value(rule.q, {"z": Fraction(4)}) == Fraction(1, 20) + Fraction(1, 25) * 8
    assert dict(rule.constants)["exponent"] == Fraction(3, 2)
    assert "the mean of the norm to the power exponent is public" in say(rule.hypotheses)


@pytest.mark.parametrize("exponent", [0, -1, 1001, "1/1000001"])
def test_unusable_exponents_are_refused(exponent):
    with pytest.raises(InvalidSampling, match="exponent"):
        make_rule("coreset", SUM, {**CORESET, "exponent": exponent})


@settings(max_examples=12, deadline=None)
@given(
    exponent=st.fractions(Fraction(1, 4), 4, max_denominator=6), lam=st.fractions(0, 1, max_denominator=10),
    mean=st.fractions(Fraction(1, 10), 5, max_denominator=20), hi=st.fractions(Fraction(1, 4), 9, max_denominator=4),
)  # fmt: skip
def test_the_largest_size_is_where_q_reaches_one(exponent, lam, mean, hi):
    profile = declare("p", "w*z", record={"z": [hi / 8, hi]})
    constants = {"n": Fraction(1000), "lam": lam, "mean": mean}
    most = largest_size(constants, exponent, profile.record[0])
    with mpmath.workdps(60):
        power = mpmath.mpf(hi.numerator) / hi.denominator
        power **= mpmath.mpf(exponent.numerator) / exponent.denominator
        exact = 1000 / (
            mpmath.mpf(lam.numerator) / lam.denominator
            + (1 - mpmath.mpf(lam.numerator) / lam.denominator) * power * mean.denominator / mean.numerator
        )
        assert abs(mpmath.mpf(most.numerator) / most.denominator / exact - 1) < mpmath.mpf(10) ** -50
    fitting = {**constants, "m": most * Fraction(999_999, 10**6), "exponent": exponent}
    assert make_rule("coreset", profile, fitting).q is not None
    with pytest.raises(InvalidSampling, match="q <= 1 on the declared range needs m <= "):
        make_rule("coreset", profile, {**fitting, "m": most * Fraction(1_000_001, 10**6)})


def test_the_largest_size_itself_is_accepted_and_proved():
    """m = n/(lam + (1-lam)*hi^2/mean) = 1000/(1/2 + 1/2*4/2) = 2000/3: q(hi) = 1 exactly."""
    constants = {"m": "2000/3", "n": 1000, "lam": "0.5", "mean": 2}
    bound = bound_epsilon(SUM, make_rule("coreset-l2", SUM, constants))
    assert bound.proved_by_balls
    assert bound.checked_by_kernel
    published = Fraction(1000) * 2 / 4
    assert published < Fraction(2000, 3)


def test_more_than_n_uniform_records_are_refused():
    with pytest.raises(InvalidSampling, match="n = 4 records"):
        make_rule("uniform", SUM, {"m": 5, "n": 4})


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("exponent", ["1/3", "1/2", "3/2", "5/2"])
def test_suprema_of_any_exponent_are_certified_and_kernel_checked(exponent):
    constants = {"m": 100, "n": 1000, "lam": "0.5", "mean": 2, "exponent": exponent}
    rule = make_rule("coreset", LLOYD, {**constants, "m": 30})
    bound = bound_epsilon(LLOYD, rule)
    assert bound.checked_by_kernel, bound.kernel_reason
    assert bound.relative_gap <= Fraction(1, 10**9)
    with mpmath.workdps(40):
        e = mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator
        upper = mpmath.mpf(bound.upper.numerator) / bound.upper.denominator
        for k in range(0, 401, 5):
            z = mpmath.mpf(k) / 100
            q = mpmath.mpf(3) / 200 * (1 + z**e / 2)
            assert mpmath.log(1 + q * mpmath.expm1(10 / q * (1 / mpmath.mpf("20.5") + z / 30))) <= upper


@pytest.mark.thorough
def test_two_norms_are_bounded_on_their_box_and_closer_by_their_relation():
    """Profile in z = ||x||_1, rule in y = ||x||_2^2: the box allows z = 4 with y = 0. In R^4, z^2/4 <= y <= z^2: y = t z^2."""
    constants = {"m": 100, "n": 1000, "lam": "0.5", "mean": 8, "exponent": 1, "statistic": "y"}
    box = declare("l1 Lloyd", "10*w*(1/25 + z/50)", record={"z": [0, 4], "y": [0, 16]})
    loose = derive_epsilon(box, rule="coreset", constants=constants).bound
    assert loose.evidence.checked_by_kernel
    assert loose.evidence.at == {"z": 4, "y": 0}
    related = declare("l1 Lloyd", "10*w*(1/25 + z/50)", record={"z": [0, 4], "t": ["1/4", 1]})
    close = derive_epsilon(related, q="1/20 + t*z**2/160").bound
    assert close.evidence.checked_by_kernel
    assert close.evidence.at["t"] == Fraction(1, 4)
    assert close.upper < loose.upper * Fraction(7, 10)
