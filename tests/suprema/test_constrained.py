"""The worst case of privacy-constrained sampling follows from its conditions."""

from fractions import Fraction

import mpmath
import pytest

from accountant.guarantees import bound_epsilon
from accountant.rules import make_rule
from profiles import Infeasible, declare
from profiles.hypotheses import CONDITION

SUM = declare("sum", "w*z", record={"z": [1, 2]})
PROVED = {"assumption-8": True, "assumption-9": True, "feasibility": True}


def bound(premises, profile=SUM):
    return bound_epsilon(profile, make_rule("privacy-constrained", profile, target_epsilon=3), premises=premises)


def test_with_all_hypotheses_the_supremum_is_the_target():
    found = bound(PROVED)
    assert (found.lower, found.upper, found.hypotheses) == (3, 3, ())
    assert found.reached


def test_without_assumption_9_only_the_upper_bound_holds():
    found = bound({"assumption-8": True, "feasibility": True})
    assert (found.lower, found.upper, found.hypotheses) == (0, 3, ())
    jump = declare("jump", "w*Piecewise((z, z < 1.5), (z/2, True))", record={"z": [1, 2]})
    assert bound(PROVED, jump).lower == 0


def test_missing_hypotheses_stay_open():
    assert bound({}).hypotheses == (CONDITION.about(name="assumption-8"), CONDITION.about(name="feasibility"))


@pytest.mark.parametrize("name", ["assumption-8", "feasibility"])
def test_refuted_hypotheses_are_infeasible(name):
    with pytest.raises(Infeasible, match=name):
        bound({**PROVED, name: False})


def test_the_supremum_is_attained_at_every_record():
    """Witness for the lower bound: w = z-dependent root of w z = log(1 + w (e^3 − 1)) at z = 1."""
    with mpmath.workdps(40):
        w = mpmath.findroot(lambda w: w - mpmath.log(1 + w * (mpmath.exp(3) - 1)), 4.7)
        assert w > 1
        psi = mpmath.log(1 + (mpmath.exp(w) - 1) / w)
        assert abs(psi - 3) < mpmath.mpf(10) ** -30
    assert bound(PROVED).lower == Fraction(3)
