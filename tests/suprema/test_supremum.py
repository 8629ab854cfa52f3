"""Enclosures of suprema: they contain the value at every point, and close in on what is known otherwise."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import parse_expression
from profiles.balls import lower_fraction, upper_fraction, working_precision
from profiles.terms import number, symbol
from profiles.variables import Variable
from proofs_check.branch_and_bound import SearchedTerm, enclose_supremum, minimum_enclosure
from proofs_check.prover.minimize import smallest_value

GAP, LEAST = Fraction(1, 10**9), Fraction(1)


def _grow(inner):
    positive = inner.map(lambda term: ("add", number(Fraction(1, 2)), ("mul", term, term)))
    return st.one_of(
        st.tuples(st.sampled_from(["neg", "exp", "sin", "cos", "abs"]), inner),
        st.tuples(st.sampled_from(["add", "mul", "min", "max"]), inner, inner),
        st.tuples(st.just("div"), inner, positive),
        st.tuples(st.sampled_from(["log", "sqrt"]), positive),
    )


TERMS = st.recursive(
    st.one_of(st.fractions(-3, 3, max_denominator=8).map(number), st.sampled_from([symbol("z"), symbol("y")])), _grow, max_leaves=6
)
SIDES = st.tuples(st.fractions(-2, 3, max_denominator=16), st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(3)]))


@pytest.mark.thorough
@settings(max_examples=60)
@given(TERMS, SIDES, SIDES, st.lists(st.tuples(st.fractions(0, 1, max_denominator=9), st.fractions(0, 1, max_denominator=9)), max_size=4))
def test_no_value_is_above_the_upper_end(term, first, second, shares):
    box = {name: (lo, lo + width) for name, (lo, width) in zip("zy", (first, second), strict=True)}
    objective = SearchedTerm(term, ("z", "y"))
    with working_precision(96):
        found = enclose_supremum(objective, box, GAP, 300, least=LEAST)
        assert found.lower <= objective.at(found.at).upper()
        for pair in shares:
            value = objective.at({name: lo + share * (hi - lo) for (name, (lo, hi)), share in zip(box.items(), pair, strict=True)})
            assert not value > found.upper


def _peak():
    z = mpmath.findroot(lambda z: mpmath.sin(3 * z) + 3 * z * mpmath.cos(3 * z), 2.65)
    return z * mpmath.sin(3 * z)


@pytest.mark.parametrize(
    ("text", "lo", "hi", "true"),
    [
        ("z*sin(3*z)", 0, 3, _peak),
        ("exp(-(z - 1/3)**2)", 0, 2, lambda: mpmath.mpf(1)),
        ("Min(z, 2 - z**2)", 0, 2, lambda: mpmath.mpf(1)),
        ("sqrt(z) - z", 0, 2, lambda: mpmath.mpf(1) / 4),
    ],
)  # fmt: skip
def test_the_ends_are_as_near_as_was_asked(text, lo, hi, true):
    with mpmath.workdps(50):
        value = true()
        value = Fraction(int(value * 10**40), 10**40)
    with working_precision(128):
        found = enclose_supremum(SearchedTerm(parse_expression(text), ("z",)), {"z": (Fraction(lo), Fraction(hi))}, GAP, 4_000, least=LEAST)
        lower, upper = lower_fraction(found.lower), upper_fraction(found.upper)
    assert lower - Fraction(1, 10**35) <= value <= upper + Fraction(1, 10**35)
    assert upper - lower <= GAP * max(abs(lower), 1) * 2
    least, above = minimum_enclosure(("neg", parse_expression(text)), [Variable("z", Fraction(lo), Fraction(hi))])
    assert least - Fraction(1, 10**28) <= -value <= above + Fraction(1, 10**28)


def test_where_the_term_has_no_finite_bound_there_is_no_upper_end():
    objective, box = SearchedTerm(parse_expression("1/z"), ("z",)), {"z": (Fraction(0), Fraction(1))}
    with working_precision(96):
        found = enclose_supremum(objective, box, GAP, 200, least=LEAST)
    assert found.lower >= 1
    assert found.exact() is None
    assert minimum_enclosure(parse_expression("-1/z"), [Variable("z", Fraction(0), Fraction(1))], 200) is None


def test_the_smallest_of_some_values_is_not_below_the_minimum():
    term, box = parse_expression("(z - 1/3)**2 + 1"), [Variable("z", Fraction(0), Fraction(1))]
    assert minimum_enclosure(term, box)[0] <= 1 <= smallest_value(term, box) < Fraction(11, 10)
