"""ε of tables: the attained event, brute force over all events, post-processing, enclosures around the exact value."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber
from proofs_check.exact import Bounds, Enclosed, ExactEpsilon, epsilon_of_tables, log_ratio

mass = st.integers(0, 12)


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 6))
    rows = [draw(st.lists(mass, min_size=n, max_size=n).filter(any)) for _ in range(2)]
    return tuple({k: Fraction(w, sum(row)) for k, w in enumerate(row)} for row in rows)


delta = st.one_of(st.just(Fraction(0)), st.fractions(0, 1, max_denominator=20))


def by_brute_force(p, q, d):
    """max(1, max over all events S of (P(S) − δ)/Q(S)); None for infinity."""
    best = Fraction(1)
    for size in range(len(p) + 1):
        for event in itertools.combinations(p, size):
            top, bottom = sum(p[y] for y in event) - d, sum(q[y] for y in event)
            if bottom == 0:
                if top > 0:
                    return None
            else:
                best = max(best, Fraction(top) / bottom)
    return best


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(tables=pairs(), d=delta)
def test_all_events_agree(tables, d):
    p, q = tables
    exact = epsilon_of_tables(p, q, d)
    assert exact.removing.ratio == by_brute_force(p, q, d)
    assert exact.adding.ratio == by_brute_force(q, p, d)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(tables=pairs(), d=delta)
def test_the_event_attains_the_ratio(tables, d):
    p, q = tables
    for (left, right), found in (((p, q), epsilon_of_tables(p, q, d).removing), ((q, p), epsilon_of_tables(p, q, d).adding)):
        top, bottom = sum(left[y] for y in found.event), sum(right[y] for y in found.event)
        if found.ratio is None:
            assert bottom == 0
            assert top > d
            assert found.epsilon == Bounds(math.inf, math.inf)
        elif found.event:
            assert top - d == found.ratio * bottom
            assert found.ratio > 1
        else:
            assert found.ratio == 1
            assert found.epsilon == Bounds(0.0, 0.0)
        if d == 0:
            assert len(found.event) <= 1


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(tables=pairs(), d=delta, image=st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_post_processing_never_increases(tables, d, image):
    mapped = []
    for table in tables:
        merged = {}
        for outcome, p in table.items():
            merged[image[outcome]] = merged.get(image[outcome], 0) + p
        mapped.append(merged)
    before, after = epsilon_of_tables(*tables, d), epsilon_of_tables(*mapped, d)
    for one, other in ((before.removing, after.removing), (before.adding, after.adding)):
        assert one.ratio is None or (other.ratio is not None and other.ratio <= one.ratio)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(tables=pairs(), d=delta)
def test_bounds_contain_the_logarithm(tables, d):
    found = epsilon_of_tables(*tables, d).removing
    if found.ratio is None:
        return
    with mpmath.workdps(60):
        truth = mpmath.log(mpmath.mpf(found.ratio.numerator) / found.ratio.denominator)
        assert mpmath.mpf(found.epsilon.lower) <= truth <= mpmath.mpf(found.epsilon.upper)
    assert found.epsilon.upper <= math.nextafter(found.epsilon.lower, math.inf)


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(tables=pairs(), d=delta, slack=st.lists(st.fractions(0, Fraction(1, 20), max_denominator=1000), min_size=13, max_size=13))
def test_enclosures_contain_the_exact_value(tables, d, slack):
    amounts = itertools.cycle(slack)
    wide = [{y: Enclosed(p - next(amounts), p + next(amounts)) for y, p in table.items()} for table in tables]
    exact, found = epsilon_of_tables(*tables, d), epsilon_of_tables(*wide, d)
    for one, other in ((exact.removing, found.removing), (exact.adding, found.adding)):
        assert other.epsilon.lower <= one.epsilon.upper
        assert one.epsilon.lower <= other.epsilon.upper
        if one.ratio is None:
            assert other.epsilon.upper == math.inf


@settings(max_examples=100, deadline=None)
@given(tables=pairs(), deltas=st.tuples(delta, delta))
def test_more_delta_needs_no_more_epsilon(tables, deltas):
    less, more = (epsilon_of_tables(*tables, d).removing.ratio for d in sorted(deltas))
    assert less is None or (more is not None and more <= less)


def test_directions_differ():
    exact = epsilon_of_tables({"a": 1}, {"a": "1/2", "b": "1/2"})
    assert exact.removing.ratio == 2
    assert exact.adding.ratio is None
    assert exact.adding.event == ("b",)
    assert exact.symmetric == Bounds(math.inf, math.inf)
    assert isinstance(exact, ExactEpsilon)


def test_delta_pays_for_an_impossible_outcome():
    p, q = {"a": "0.9", "b": "0.1"}, {"a": 1}
    assert epsilon_of_tables(p, q, "0.1").removing.ratio == 1
    assert epsilon_of_tables(p, q, "0.0999").removing.ratio is None
    assert epsilon_of_tables(p, q, "0.1").adding.ratio == 1
    assert epsilon_of_tables(p, q, "0.01").adding.ratio == Fraction(99, 90)


@pytest.mark.parametrize(
    ("p", "q", "d", "error"),
    [
        ({"a": "0.9"}, {"a": 1}, 0, InvalidArgument),
        ({"a": 1}, {}, 0, InvalidArgument),
        ({"a": 2, "b": -1}, {"a": 1}, 0, InvalidArgument),
        ({"a": 1}, {"a": 1}, -1, InvalidArgument),
        ({"a": 1}, {"a": 1}, 2, InvalidArgument),
        ({"a": float("nan")}, {"a": 1}, 0, InvalidNumber),
        ([1], {"a": 1}, 0, InvalidArgument),
        ({"a": Enclosed(Fraction(0), Fraction(1, 2))}, {"a": 1}, 0, InvalidArgument),
        ({"a": 1}, {"a": 1}, "x", InvalidNumber),
    ],
)
def test_unusable_tables_are_named(p, q, d, error):
    with pytest.raises(error):
        epsilon_of_tables(p, q, d)


def test_log_ratios_of_tiny_and_missing_probabilities():
    tiny = Fraction(1, 10**500)
    assert log_ratio(3 * tiny, tiny) == log_ratio(3, 1)
    assert log_ratio(tiny, 0) == Bounds(math.inf, math.inf)
    assert log_ratio(0, tiny) == log_ratio(0, 0) == Bounds(-math.inf, -math.inf)
    assert log_ratio(Enclosed(Fraction(0), tiny), tiny) == Bounds(-math.inf, 0.0)
    assert log_ratio(1, Enclosed(Fraction(-1), Fraction(1))) == Bounds(0.0, math.inf)
    near = log_ratio(1 + tiny, 1)
    assert 0 <= near.lower <= near.upper <= 5e-324
    with pytest.raises(InvalidArgument):
        log_ratio(-1, 1)


def test_ends_must_be_in_order():
    with pytest.raises(InvalidNumber):
        Enclosed(Fraction(1), Fraction(0))
    with pytest.raises(InvalidNumber):
        Bounds(1.0, 0.0)
    with pytest.raises(InvalidNumber):
        Bounds(math.nan, 0.0)


def test_products_of_many_probabilities_are_accepted():
    p = Fraction(1, 3**20_000)
    exact = epsilon_of_tables({"a": p, "b": 1 - p}, {"a": p / 2, "b": 1 - p / 2})
    assert exact.removing.ratio == 2


def test_enclosures_are_printed_short():
    assert repr(Enclosed(Fraction(1, 3), Fraction(1, 2))) == "Enclosed(lower=Fraction(1, 3), upper=Fraction(1, 2))"
    tiny = Fraction(1, 3**20_000)
    assert repr(Enclosed(-tiny, tiny)) == "<Enclosed between -3.7575572547380306e-9543 and 3.7575572547380306e-9543>"


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(st.fractions())
def test_rounding_is_outward_and_tight(value):
    found = Enclosed.exactly(value).bounds()
    assert Fraction(found.lower) <= value <= Fraction(found.upper)
    assert found.upper <= math.nextafter(found.lower, math.inf)


@pytest.mark.parametrize("sign", [1, -1])
def test_rounding_beyond_the_range_of_floats(sign):
    huge, small = sign * Fraction(10) ** 400, sign * Fraction(1, 10**400)
    bounds, tiny = Enclosed(huge, huge).bounds(), Enclosed(small, small).bounds()
    assert (bounds.upper if sign > 0 else bounds.lower) == sign * math.inf
    assert math.isfinite(bounds.lower if sign > 0 else bounds.upper)
    assert tiny == (Bounds(0.0, 5e-324) if sign > 0 else Bounds(-5e-324, 0.0))
