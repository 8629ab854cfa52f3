"""Gradient enclosures against differences at exact points, kinks included."""

from fractions import Fraction

import pytest
from flint import arb

from accountant.worst_case.branch import Objective, prove_at_most
from accountant.worst_case.gradients import Dual
from accountant.worst_case.kinks import find_kinks
from profiles import parse_expression
from proofs_check.enclosures import Enclosure, ball, interval, working_precision

TERMS = [
    "z*y + z/y - y**2", "exp(z*y)/(1 + z**2)", "log(z + y)*sqrt(z)", "sin(z)*cos(y) + tan(z/4)", "z**1.5 + z**-2 + y**z", "Abs(z - y)",
    "Min(z, y, 1.2) + Max(z*y, 1)", "Piecewise((z, z < 5), (y, True))", "z**0 + 3*pi", "-z**3",
]  # fmt: skip


@pytest.mark.parametrize("text", TERMS)
def test_the_mean_value_form_contains_all_differences(text):
    term = parse_expression(text)
    with working_precision(128):
        box = {"z": interval(Fraction(1), Fraction(3, 2)), "y": interval(Fraction(4, 5), Fraction(2))}
        value, gradient = Dual(term, ("z", "y")).evaluate(box)
        plain = Enclosure(term)
        points = [{"z": 1 + Fraction(i, 8), "y": Fraction(4, 5) + Fraction(3 * j, 10)} for i in range(5) for j in range(5)]
        values = [plain.evaluate({name: ball(number) for name, number in point.items()}) for point in points]
        for here, at_here in zip(points, values, strict=True):
            assert value.overlaps(at_here)
            for there, at_there in zip(points, values, strict=True):
                form = arb(0)
                for name, slope in zip(("z", "y"), gradient, strict=True):
                    form += (slope if slope is not None else 0) * ball(there[name] - here[name])
                assert (at_there - at_here).overlaps(form)


def test_jumps_have_no_gradient():
    _, gradient = Dual(parse_expression("Piecewise((z, z < 1), (9, True))"), ("z",)).evaluate({"z": interval(Fraction(0), Fraction(2))})
    assert not gradient[0].is_finite()


def test_branch_and_bound_finds_the_record_above_the_target():
    objective = Objective(parse_expression("1 - (z - 1/3)**2"), ("z",))
    box = {"z": (Fraction(0), Fraction(1))}
    with working_precision(128):
        assert prove_at_most(objective, box, arb("1.0001"), 1_000).proved
        outcome = prove_at_most(objective, box, arb("0.9999"), 1_000)
        assert outcome.counterexample is not None
        exhausted = prove_at_most(objective, box, arb(1), 50)
        assert not exhausted.proved
        assert exhausted.bound >= 1


def test_an_exact_touch_at_an_end_is_decided_exactly():
    objective = Objective(parse_expression("z/3 + 1/3"), ("z",))
    box = {"z": (Fraction(0), Fraction(2))}
    assert prove_at_most(objective, box, arb(1), 10, exact=Fraction(1)).proved
    assert not prove_at_most(objective, box, arb(1), 10, exact=Fraction(1), strict=True).proved


def test_kinks_are_found_exactly_or_bracketed():
    box = {"z": (Fraction(0), Fraction(3))}
    (kink,) = find_kinks(parse_expression("Abs(z - 1/7)"), box)
    assert kink.lo == kink.hi == Fraction(1, 7)
    (kink,) = find_kinks(parse_expression("Min(z**2, 2)"), box)
    assert kink.lo < kink.hi
    assert kink.lo**2 < 2 < kink.hi**2
    assert find_kinks(parse_expression("Abs(z + 1)"), box) == []
