"""Verdicts that once took nearly all of the work that one may take are found with a part of it, counted, so the same on every machine."""

from fractions import Fraction

import pytest

from profiles import declare
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.conditions.tight_floor import enclose_infimum
from proofs_check.verify import decide_in_time, verify


@pytest.mark.parametrize(
    ("epsilon", "ranges", "target", "condition", "work"),
    [
        ("(log(w) - z)**2 + 1", {"record": {"z": [0, 1]}}, 2, "assumption-11", 1.5),
        ("1 - exp(-a*w)", {"parameters": {"a": "positive"}}, 1, "proposition-16", 1.5),
        ("1 - exp(-z*w)", {"record": {"z": ["1e-20", 1]}}, 1, "proposition-16", 1.0),
    ],
)
def test_a_part_of_the_work_is_enough(epsilon, ranges, target, condition, work):
    context = Context(admit(declare("p", epsilon, **ranges)), Fraction(target))
    decision, _ = decide_in_time(context, condition, work)
    assert decision.verdict.value == "proved"
    assert decision.checked


def test_the_constant_is_as_sharp_though_any_number_shows_the_condition():
    profile = declare("p", "(log(w) - z)**2 + 1", record={"z": [0, 1]})
    found = verify(profile, 2, ["assumption-11"])
    lower, upper = found.constant
    assert upper * (1 - Fraction(1, 10**6)) < lower < upper
    assert enclose_infimum(Context(admit(profile), Fraction(2)), 20).lower == lower


def test_neighboring_branches_of_one_value_stay_single_comparisons():
    # at w = 1 the first two are equal, and SymPy joins their conditions by "or"
    profile = declare("p", "Piecewise((w*z, z < 1/2), (w**2*z, z < 3/4), (w + z, True))", record={"z": ["1/4", 1]})
    decision = verify(profile, 2, ["assumption-8"]).decisions["assumption-8"]
    assert decision.verdict.value == "proved"
    assert decision.checked
    refuted = verify(profile, "1.9", ["assumption-8"]).decisions["assumption-8"]
    assert refuted.verdict.value == "refuted"
