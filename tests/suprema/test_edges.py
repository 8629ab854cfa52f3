"""Suprema that are attained on an edge, a corner or a curve where a derivative vanishes: decided within few seconds, certified."""

import time
from fractions import Fraction

import mpmath
import pytest

from accountant.guarantees import bound_epsilon
from accountant.rules import rule_from_expression
from profiles import declare
from proofs_check.certificates import to_file_text
from proofs_check.kernel import check

UNIT = {"z1": [0, 1], "z2": [0, 1]}
#: ε, q, the ranges, and the largest ε(1/q, x) in closed form
EDGES = [
    ("w*(z1+z2)/(1+z1*z2)", "1/2", UNIT, 2),
    ("w*(z1+z2)/(1+z1*z2)", "1/10", UNIT, 10),
    ("w*(z1+z2)/(2*(1+z1*z2/4))", "1/3", {"z1": [0, 2], "z2": [0, 2]}, 3),
    ("w*z1*z2/(z1**2+z2**2)", "1/2", {"z1": [1, 2], "z2": [1, 2]}, 1),
    ("w*(z1+z2-z1*z2)", "1/2", UNIT, 2),
    ("w*(1-(1-z1)**2*(1-z2)**2)", "1/4", UNIT, 4),
    ("sqrt(w)*(z1+z2)/(1+z1*z2)", "1/4", UNIT, 2),
    ("w*(1 - (z1-z2)**2/4)", "1/2", UNIT, 2),
]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("epsilon", "q", "record", "largest"), EDGES)
def test_the_supremum_on_an_edge_is_decided(epsilon, q, record, largest):
    profile = declare("p", epsilon, record=record)
    start = time.process_time()
    bound = bound_epsilon(profile, rule_from_expression(q, profile))
    assert time.process_time() - start < 8
    assert bound.reached
    assert bound.checked_by_kernel, bound.kernel_reason
    assert check(to_file_text(bound.certificate)).accepted
    with mpmath.workdps(50):
        true = mpmath.log(1 + mpmath.mpf(Fraction(q).numerator) / Fraction(q).denominator * mpmath.expm1(largest))
        assert mpmath.mpf(bound.lower.numerator) / bound.lower.denominator <= true
        assert true <= mpmath.mpf(bound.upper.numerator) / bound.upper.denominator
