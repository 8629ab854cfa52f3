"""Gradient enclosures against differences at exact points, kinks included."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from profiles import parse_expression
from profiles.balls import ball, interval, working_precision
from profiles.terms import number, symbol
from proofs_check.branch_and_bound import SearchedTerm, prove_at_most
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.certify import find_kinks

TERMS = [
    "z*y + z/y - y**2", "exp(z*y)/(1 + z**2)", "log(z + y)*sqrt(z)", "sin(z)*cos(y) + tan(z/4)", "z**1.5 + z**-2 + y**z", "Abs(z - y)",
    "Min(z, y, 1.2) + Max(z*y, 1)", "Piecewise((z, z < 5), (y, True))", "z**0 + 3*pi", "-z**3",
]  # fmt: skip


@pytest.mark.parametrize("text", TERMS)
def test_the_mean_value_form_contains_all_differences(text):
    term = parse_expression(text)
    with working_precision(128):
        box = {"z": interval(Fraction(1), Fraction(3, 2)), "y": interval(Fraction(4, 5), Fraction(2))}
        value, gradient = Enclosure(term).evaluate_with_gradient(box, ("z", "y"))
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
    jumping = Enclosure(parse_expression("Piecewise((z, z < 1), (9, True))"))
    _, gradient = jumping.evaluate_with_gradient({"z": interval(Fraction(0), Fraction(2))}, ("z",))
    assert not gradient[0].is_finite()


def test_branch_and_bound_finds_the_record_above_the_target():
    objective = SearchedTerm(parse_expression("1 - (z - 1/3)**2"), ("z",))
    box = {"z": (Fraction(0), Fraction(1))}
    with working_precision(128):
        assert prove_at_most(objective, box, arb("1.0001"), 1_000).proved
        outcome = prove_at_most(objective, box, arb("0.9999"), 1_000)
        assert outcome.counterexample is not None
        exhausted = prove_at_most(objective, box, arb(1), 50)
        assert not exhausted.proved
        assert exhausted.bound >= 1


def test_an_exact_touch_at_an_end_is_decided_exactly():
    objective = SearchedTerm(parse_expression("z/3 + 1/3"), ("z",))
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


_LEAVES = st.one_of(st.fractions(-3, 3, max_denominator=8).map(number), st.sampled_from([symbol("z"), symbol("y")]))
_POWERS = st.sampled_from([0, 1, 2, 3, -1, -2, Fraction(1, 2), Fraction(3, 2), Fraction(-1, 2)]).map(lambda value: number(Fraction(value)))


def _grow(inner):
    return st.one_of(
        st.tuples(st.sampled_from(["neg", "exp", "log", "sqrt", "sin", "cos", "tan", "abs", "floor"]), inner),
        st.tuples(st.sampled_from(["add", "mul", "div", "min", "max"]), inner, inner),
        st.tuples(st.sampled_from(["add", "mul", "min", "max"]), inner, inner, inner),
        st.tuples(st.just("pow"), inner, st.one_of(inner, _POWERS)),
        st.builds(lambda *p: ("piecewise", (p[0], (p[4], p[1], p[2])), (p[3], ("true",))), *[inner] * 4, st.sampled_from(["<", ">="])),
    )


_SIDES = st.tuples(st.fractions(-2, 3, max_denominator=16), st.sampled_from([Fraction(0), Fraction(1, 64), Fraction(1, 4), Fraction(1)]))


@pytest.mark.thorough
@given(st.recursive(_LEAVES, _grow, max_leaves=8), _SIDES, _SIDES, st.lists(st.fractions(0, 1, max_denominator=9), min_size=4, max_size=4))
def test_a_finite_gradient_contains_the_differences_of_any_term(term, first, second, shares):
    """A difference is known as well as 300 bits allow, so that it must lie in the mean-value form, up to rounding."""
    compiled, sides = Enclosure(term), {"z": first, "y": second}
    with working_precision(128):
        value, gradient = compiled.evaluate_with_gradient(
            {name: interval(lo, lo + width) for name, (lo, width) in sides.items()}, ("z", "y")
        )
    points = [
        {name: lo + share * width for (name, (lo, width)), share in zip(sides.items(), pair, strict=True)}
        for pair in (shares[:2], shares[2:])
    ]
    with working_precision(300):
        here, there = (compiled.evaluate({name: ball(number) for name, number in point.items()}) for point in points)
        if not (here.is_finite() and there.is_finite()):
            return
        assert value.overlaps(here)
        if all(slope is None or slope.is_finite() for slope in gradient):
            moves = [(slope, ball(points[1][name] - points[0][name])) for name, slope in zip("zy", gradient, strict=True)]
            assert (there - here).overlaps(sum((slope * move for slope, move in moves if slope is not None), arb(0)))
