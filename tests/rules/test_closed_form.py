"""Proposition 6 of v1: the closed form, its conditions, and that it equals the certified supremum."""

import doctest
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.guarantees import bound_epsilon
from accountant.rules import closed_form, coreset_l1_epsilon, end_point_epsilon, make_rule, rule_from_expression
from profiles import InvalidNumber, InvalidSampling, declare


def lloyd(radius, beta_count=Fraction(41, 2), beta_sum=30, iterations=10, lo=0):
    return declare(
        "weighted DP-Lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [lo, radius]},
        parameters={"T": iterations, "beta_count": beta_count, "beta_sum": beta_sum},
    )  # fmt: skip


def printed(t, bc, bs, r, m, n, lam, mean):
    """Equation (5) of v1 with its A's, as printed, at 60 digits."""

    def theta(u, v):
        return mpmath.expm1(u / v) * v

    t, bc, bs, r, m, n, lam, mean = (mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (t, bc, bs, r, m, n, lam, mean))
    return mpmath.log(1 + max(theta((1 / bc + r / bs) * t, m / n * (lam + (1 - lam) * r / mean)), theta(t / bc, lam * m / n)))


def test_examples():
    assert doctest.testmod(closed_form).failed == 0


@pytest.mark.thorough
@settings(max_examples=5, deadline=None)
@given(
    m=st.integers(200, 30_000), lam=st.integers(2, 100), spread=st.integers(30, 100), bc=st.integers(2, 60), bs=st.integers(2, 60),
    t=st.integers(1, 10),
)  # fmt: skip
def test_the_closed_form_is_the_certified_supremum(m, lam, spread, bc, bs, t):
    lam, mean = Fraction(lam, 100), Fraction(spread, 100) * 4
    numbers = {"m": m, "n": 100_000, "lam": lam, "mean": mean}
    found = coreset_l1_epsilon(iterations=t, beta_count=bc, beta_sum=bs, radius=4, **numbers)
    assert found.upper - found.lower <= found.upper / 10**50
    with mpmath.workdps(60):
        value = printed(t, bc, bs, 4, m, 100_000, lam, mean)
        assert abs(mpmath.mpf(found.lower.numerator) / found.lower.denominator - value) < value * mpmath.mpf(10) ** -50
    profile = lloyd(4, bc, bs, t)
    rule = make_rule("coreset-l1", profile, numbers)
    bound = bound_epsilon(profile, rule)
    assert bound.checked_by_kernel, bound.kernel_reason
    assert bound.lower <= found.upper
    assert found.lower <= bound.upper
    general = end_point_epsilon(profile, rule)
    assert max(general.lower, found.lower) <= min(general.upper, found.upper)
    assert dict(general.at) == dict(found.at)


@pytest.mark.parametrize(("exponent", "lo"), [("1/4", 0), ("2/3", "0.5"), ("1", "0.5")])
def test_exponents_of_at_most_one_have_their_worst_record_at_an_end(exponent, lo):
    profile = lloyd(4, lo=lo)
    rule = make_rule("coreset", profile, {"m": 50, "n": 1000, "lam": "0.3", "mean": 2, "exponent": exponent})
    found, bound = end_point_epsilon(profile, rule), bound_epsilon(profile, rule)
    assert bound.lower <= found.upper
    assert found.lower <= bound.upper


def test_convex_loads_and_two_statistics():
    square = declare("square", "w*(1 + z**2)/9", record={"z": [0, 2]})
    rule = make_rule("coreset-l1", square, {"m": 100, "n": 1000, "lam": "0.4", "mean": 1})
    two = declare("two", "w*(z + y/2)", record={"z": [0, 2], "y": ["0.5", 1]})
    other = rule_from_expression("1/4 + y**(1/2)/4 + z/8", two)
    for profile, chosen in ((square, rule), (two, other)):
        found, bound = end_point_epsilon(profile, chosen), bound_epsilon(profile, chosen)
        assert bound.lower <= found.upper
        assert found.lower <= bound.upper


def test_the_end_points_are_wrong_for_the_squared_l2_rule_and_refused():
    """docs/epsilon-bounds.md: T = 10, beta_count = 20.5, beta_sum = 30, q = 1/20 + z^2/50 on [0, 4] has sup psi > 9.25 at 0.7546."""
    profile = lloyd(4)
    rule = rule_from_expression("1/20 + z**2/50", profile)
    with pytest.raises(InvalidSampling, match=r"q to be concave, but its term in z\*\*2"):
        end_point_epsilon(profile, rule)
    assert bound_epsilon(profile, rule).lower > 9
    with mpmath.workdps(30):
        ends = [mpmath.log(1 + q * mpmath.expm1(10 / q * (1 / mpmath.mpf("20.5") + mpmath.mpf(z) / 30))) for z, q in ((0, 0.05), (4, 0.37))]
        assert max(ends) < 7


@pytest.mark.parametrize("change", [{"lam": 0}, {"lam": "1.1"}, {"m": 900}, {"mean": 0}, {"radius": -1}, {"beta_sum": 0}])
def test_what_proposition_6_does_not_cover_is_refused(change):
    """lam = 0 is allowed in print, where A'_2 = 0 is a divisor."""
    good = {"iterations": 10, "beta_count": 25, "beta_sum": 50, "radius": 4, "m": 100, "n": 1000, "lam": "0.5", "mean": 2}
    coreset_l1_epsilon(**good)
    with pytest.raises((InvalidSampling, InvalidNumber)):
        coreset_l1_epsilon(**{**good, **change})


def test_the_published_condition_on_m_is_not_needed():
    """m <= n xbar/r = 500 is sufficient; q <= 1 holds up to m = 1000/(1/2 + 1/2*4/2) = 666.7."""
    good = {"iterations": 10, "beta_count": 25, "beta_sum": 50, "radius": 4, "n": 1000, "lam": "0.5", "mean": 2}
    assert coreset_l1_epsilon(m=600, **good).upper < coreset_l1_epsilon(m=500, **good).upper


@pytest.mark.parametrize(
    ("epsilon", "q", "message"),
    [
        ("w**2*z", "1/4", "linear in w"),
        ("w*exp(z)", "1/4", "epsilon/w as a sum of powers"),
        ("w*sqrt(z)", "1/4", "epsilon/w to be convex"),
        ("w*z", "1/4 + z*z/16", "q as a sum of powers"),
        ("w*z", "1 - z**2/8", None),
        ("w*z", "z/4", "q > 0"),
    ],
)
def test_conditions_are_checked(epsilon, q, message):
    profile = declare("p", epsilon, record={"z": [0 if message == "q > 0" else "0.01", 2]})
    term = rule_from_expression(q, profile) if message != "q > 0" else None
    if term is None:
        with pytest.raises(InvalidSampling):
            end_point_epsilon(profile, rule_from_expression(q, profile.with_record(z=("0.01", 2))))
    elif message is None:
        assert end_point_epsilon(profile, term).at == {"z": 2}
    else:
        with pytest.raises(InvalidSampling, match=message):
            end_point_epsilon(profile, term)


def test_a_privacy_constrained_rule_has_no_explicit_q():
    with pytest.raises(InvalidSampling, match="explicit q"):
        end_point_epsilon(lloyd(4), make_rule("privacy-constrained", lloyd(4), target_epsilon=3))
