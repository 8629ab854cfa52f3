"""The sampled profile as a term equals its plain formula at 60 digits."""

from fractions import Fraction

import mpmath
import pytest

from profiles import declare, parse_expression
from profiles.symbolic import to_rational, to_sympy
from profiles.terms import free_symbols
from proofs_check.suprema.terms import odds_term, sampled_term

LLOYD = declare(
    "lloyd", "T*w*(1/beta_count + z/beta_sum)", record={"z": [0, 4]}, parameters={"T": 10, "beta_count": "20.5", "beta_sum": 30}
)
Q = parse_expression("1/20 + z**2/50")


@pytest.mark.parametrize("z", [Fraction(0), Fraction(1, 7), Fraction(3, 2), Fraction(4)])
def test_both_forms_equal_the_formula_of_theorem_6(z):
    with mpmath.workdps(60):
        x = mpmath.mpf(z.numerator) / z.denominator
        q = mpmath.mpf(1) / 20 + x**2 / 50
        e = 10 / q * (1 / mpmath.mpf("20.5") + x / 30)
        expected = mpmath.log(1 + q * (mpmath.exp(e) - 1))
        psi = mpmath.mpf(to_sympy(sampled_term(LLOYD, Q), {"z": to_rational(z)}).evalf(60))
        theta = mpmath.mpf(to_sympy(odds_term(LLOYD, Q), {"z": to_rational(z)}).evalf(60))
        assert abs(psi - expected) < mpmath.mpf(10) ** -55
        assert abs(mpmath.log(1 + theta) - expected) < mpmath.mpf(10) ** -55


def test_only_the_statistics_are_left():
    assert free_symbols(sampled_term(LLOYD, Q)) == {"z"}
