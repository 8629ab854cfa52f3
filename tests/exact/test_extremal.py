"""The extremal pair: its losses, that it dominates all pairs also after sampling, and closed forms at 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument
from proofs_check.exact import (
    Bounds,
    Log,
    delta_of_tables,
    epsilon_of_tables,
    exact_epsilon,
    exp,
    extremal_law,
    extremal_pair,
    renyi_divergence,
    sample_first,
    sampled_renyi_bound,
)
from proofs_check.exact.exponentials import read_exact

ratios = st.fractions(Fraction(6, 5), 6, max_denominator=5)
orders = st.sampled_from(["1/2", "1", "3/2", "2", "3", "16"])


def as_mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def mix(p, q, rate):
    return {y: (1 - rate) * q[y] + rate * p[y] for y in q}


@given(ratios, st.none() | ratios)
@settings(max_examples=40, deadline=None)
def test_the_pair_has_the_losses_it_is_made_for(b, a):
    p, q = extremal_pair(Log(b), None if a is None else Log(a))
    assert sum(p.values()) == sum(q.values()) == 1
    found = epsilon_of_tables(p, q)
    assert (found.removing.ratio, found.adding.ratio) == (b, a)


def test_rational_epsilons_and_limits():
    p, q = extremal_pair("1/2", "1/3")
    found = epsilon_of_tables(p, q)
    assert (found.removing.ratio, found.adding.ratio) == (exp("1/2"), exp("1/3"))
    assert extremal_pair(0, 1) == extremal_pair(1, 0) == ({"high": 1, "low": 0}, {"high": 1, "low": 0})
    with pytest.raises(InvalidArgument, match="at least 0"):
        extremal_pair(-1, 1)
    with pytest.raises(InvalidArgument, match=r"\[0, 1\]"):
        sampled_renyi_bound(1, None, 2, 2)
    with pytest.raises(InvalidArgument, match="positive"):
        renyi_divergence(p, q, 0)


@st.composite
def pairs(draw):
    """A pair with full support on 2 to 4 outputs."""
    size = draw(st.integers(2, 4))
    tables = []
    for _ in range(2):
        parts = [draw(st.integers(1, 6)) for _ in range(size)]
        tables.append({y: Fraction(part, sum(parts)) for y, part in enumerate(parts)})
    return tables


@given(pairs(), st.fractions(0, Fraction(9, 10), max_denominator=10), orders, st.fractions(1, 3, max_denominator=4))
@settings(max_examples=60, deadline=None)
def test_no_pair_diverges_more(tables, rate, order, threshold):
    p, q = tables
    found = epsilon_of_tables(p, q)
    remove, add = Log(found.removing.ratio), Log(found.adding.ratio)
    mixed = mix(p, q, rate)
    bounds = sampled_renyi_bound(remove, add, rate, order)
    for own, bound in zip((renyi_divergence(mixed, q, order), renyi_divergence(q, mixed, order)), bounds, strict=True):
        assert own.lower <= bound.upper
    one_sided = sampled_renyi_bound(remove, None, rate, order)
    assert all(two.lower <= one.upper for two, one in zip(bounds, one_sided, strict=True))
    extreme_p, extreme_q = extremal_pair(remove, add)
    extreme = delta_of_tables(mix(extreme_p, extreme_q, rate), extreme_q, Log(threshold))
    assert all(own <= most for own, most in zip(delta_of_tables(mixed, q, Log(threshold)), extreme, strict=True))


@given(ratios, st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20), st.sampled_from(["1/2", "3/2", "2", "7"]))
@settings(max_examples=40, deadline=None)
def test_the_closed_forms_of_one_sided_mechanisms(b, p, order):
    removing, adding = sampled_renyi_bound(Log(b), None, p, order)
    with mpmath.workdps(60):
        alpha, t, low, high = as_mpf(Fraction(order)), as_mpf(1 / b), as_mpf(1 - p), as_mpf(1 - p + p * b)
        for found, power in ((removing, alpha), (adding, 1 - alpha)):
            value = mpmath.log((1 - t) * low**power + t * high**power) / (alpha - 1)
            assert found.lower <= value <= found.upper
            assert found.upper - found.lower <= 1e-14 * max(1, found.upper)


def test_the_bound_is_attained_by_a_mechanism_on_samples():
    law = sample_first(extremal_law(Log(3), Log(2)), "1/4")
    for order in (1, 2, 5):
        attained = renyi_divergence(law(("x",)), law(()), order), renyi_divergence(law(()), law(("x",)), order)
        assert attained == sampled_renyi_bound(Log(3), Log(2), "1/4", order)


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "2"])
def test_with_the_best_calibration_the_extremal_pair_is_randomised_response(epsilon):
    """ε₀ = ln(1 + e^ε), p = 1 − e^−ε: ratios e^ε and e^−ε, so that D_α is that of any ε-DP pair, and KL = ε·tanh(ε/2), far below ε."""
    e = read_exact(exp(epsilon), "e")
    p, q = extremal_pair(Log(1 + e), None)
    mixed = mix(p, q, 1 - 1 / e)
    assert mixed == {"high": e / (1 + e), "low": 1 / (1 + e)}
    assert q == {"high": 1 / (1 + e), "low": e / (1 + e)}
    removing, adding = sampled_renyi_bound(Log(1 + e), None, 1 - 1 / e, 1)
    assert removing == adding
    with mpmath.workdps(60):
        x = as_mpf(Fraction(epsilon))
        assert removing.lower <= x * mpmath.tanh(x / 2) <= removing.upper
    large, _ = sampled_renyi_bound(Log(1 + e), None, 1 - 1 / e, 10_000)
    assert float(Fraction(epsilon)) * 0.9 < large.upper <= float(Fraction(epsilon)) * (1 + 1e-12)


def test_infinite_and_vanishing_divergences():
    one, other = {"x": "1/2", "y": "1/2"}, {"x": 1}
    assert renyi_divergence(one, other, 2) == renyi_divergence(one, other, 1) == Bounds(math.inf, math.inf)
    assert renyi_divergence(one, other, "1/2").upper == pytest.approx(math.log(2), abs=1e-12)
    assert renyi_divergence({"x": 1}, {"y": 1}, "1/2") == Bounds(math.inf, math.inf)
    assert renyi_divergence(one, one, 3) == Bounds(0.0, 0.0)
    assert exact_epsilon(extremal_law(1, None), ["x"], max_size=1).add.ratio is None
