"""The table of weights (docs/rounding.md, 3.4): its constants are proved with balls, its weights compared with the root at 60 digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, arb_series, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant.weights.fast import ProvedConvexity, prepare_solver, probabilities
from accountant.weights.fast.refine import Refiner
from accountant.weights.fast.rounding import make_target
from accountant.weights.fast.table import FOURTH, LEAST_Y, MOST_Y, make_table

#: How many Taylor coefficients of G_4 are used.
TERMS = 8


@pytest.fixture(autouse=True)
def long_series() -> Iterator[None]:
    cap, ctx.cap = ctx.cap, TERMS + 8
    yield
    ctx.cap = cap


def scaled_derivative(order: int, y: arb) -> arb_series:
    """Return the Taylor series at ``y`` of G_k, with a^k d^k w*/da^k = G_k(a w*) w*.

    With θ = a d/da, F = a w − log(1 + E w) = 0 gives θ log w = −φ and θ y = −ψ for φ = y/κ, ψ = y (1 − e^−y)/κ, κ = y − 1 + e^−y; and
    a^(k+1) D^(k+1) = (θ − k) a^k D^k.
    """
    length = TERMS + order + 1
    t = arb_series([y, 1], length)
    if ctx.cap < length:
        raise RuntimeError("series would be cut")
    fading = (-t).exp()
    kappa = t - 1 + fading
    phi, psi = t / kappa, t * (1 - fading) / kappa
    found = arb_series([1], length)
    for k in range(order):
        found = -psi * found.derivative() - (phi + k) * found
    return found


def test_the_bound_of_the_fourth_derivative_holds_on_the_whole_range() -> None:
    """Taylor's formula on pieces of [1, 64], with balls for the remainder, halved until they show |G_4| ≤ FOURTH."""
    pieces = int(8 * (MOST_Y - LEAST_Y))
    todo, done = [(LEAST_Y + k / 8, LEAST_Y + (k + 1) / 8) for k in range(pieces)], 0
    while todo:
        low, high = todo.pop()  # dyadic numbers: every middle and radius is exact
        middle, radius = (low + high) / 2, (high - low) / 2
        around, within = scaled_derivative(4, arb(middle)), scaled_derivative(4, arb(middle, radius))
        step = arb(0, radius)
        total = within[TERMS]
        for k in range(TERMS - 1, -1, -1):
            total = around[k] + total * step
        if abs(total) <= FOURTH:
            done += 1
            continue
        assert radius > 2**-8, f"not shown near y = {middle}"
        todo += [(low, middle), (middle, high)]
    assert done >= pieces


def test_the_formula_of_the_derivatives_is_right_and_the_first_is_at_most_e() -> None:
    """φ = y/(y − 1 + e^−y) falls in y (its derivative has the sign of (1 + y)e^−y − 1 < 0) and is e at y = 1."""
    with mpmath.workdps(50):
        mass = mpmath.expm1(3)
        a0 = mpmath.mpf("0.7")

        def root(a: mpmath.mpf) -> mpmath.mpf:
            return mpmath.findroot(lambda w: a * w - mpmath.log1p(mass * w), (mpmath.mpf(9), mpmath.mpf(11)))

        w = root(a0)
        for order in (1, 2, 4):
            formula = mpmath.mpf(scaled_derivative(order, arb(mpmath.nstr(a0 * w, 40)))[0].str(30, radius=False))
            assert mpmath.almosteq(formula, mpmath.diff(root, a0, order) * a0**order / w, rel_eps=mpmath.mpf(10) ** -10)
        assert mpmath.almosteq(1 / (1 - 1 + mpmath.exp(-1)), mpmath.e)
        nodes = [mpmath.cos(mpmath.pi * (2 * j + 1) / 8) for j in range(4)]
        ends = sum(abs(math.prod((1 - other) / (node - other) for other in nodes if other != node)) for node in nodes)
        assert ends < 1.848  # the Lebesgue constant of Chebyshev nodes is attained at the ends


def gap(a: Fraction, weight: float, target: Fraction) -> tuple[bool, mpmath.mpf]:
    """Return whether ψ ≤ ε* (decided by balls), and w*/w − 1 at 60 digits."""
    epsilon = ("mul", ("sym", "w"), ("num", a))
    inside = Refiner(epsilon, target).decide(weight, {})
    with mpmath.workdps(60):
        rate, mass = mpmath.mpf(a.numerator) / a.denominator, mpmath.expm1(mpmath.mpf(target.numerator) / target.denominator)
        root = -(1 / mass * rate + mpmath.lambertw(-rate / mass * mpmath.exp(-rate / mass), -1).real) / rate
        return inside is True, max(root, mpmath.mpf(1)) / mpmath.mpf(weight) - 1


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_weights_of_the_table_are_feasible_and_within_the_tolerance(data: st.DataObject) -> None:
    """ε = w (c + d z): any target from 1 to 39, any c and d, records anywhere in the range, at the ends of pieces and one float off."""
    target = data.draw(st.fractions(1, 39, max_denominator=100))
    share = data.draw(st.fractions(Fraction(1, 100), 1, max_denominator=100))
    split = data.draw(st.fractions(0, 1, max_denominator=20))
    c, d = target * share * split, target * share * (1 - split) / 4
    if d == 0:
        return
    profile = profiles.declare("p", "w*(c + d*z)", record={"z": [0, 4]}, parameters={"c": c, "d": d})
    solver = prepare_solver(profile, target, convexity=ProvedConvexity(profile, Fraction(0), "by hand: for tests"))
    drawn = np.array(data.draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 4)), min_size=1, max_size=6)))
    bounds = (np.float64(2.0) ** np.arange(-3, 3) * data.draw(st.integers(1024, 2047)) / 1024 - float(c)) / float(d)
    near = np.concatenate([drawn, bounds, np.nextafter(bounds, 0), np.nextafter(bounds, 9)])
    z = near[(near >= 0) & (near <= 4)]
    result = solver.solve({"z": z})
    for value, weight in zip(z.tolist(), result.weights.tolist(), strict=True):
        feasible, excess = gap(c + d * Fraction(value), weight, target) if c + d * Fraction(value) else (True, mpmath.mpf(0))
        assert feasible, (target, c, d, value, weight)
        assert -1e-40 <= excess <= 1e-12, (target, c, d, value, weight, excess)


@pytest.mark.parametrize("target", ["1", "1.05", "1.5", "3", "12", "39.5"])
def test_nearly_all_pieces_are_in_the_table_and_every_one_keeps_its_promise(target: str) -> None:
    exact = Fraction(target)
    table = make_table(float(exact) / 30, float(exact), make_target(exact))
    assert table is not None
    missing = np.isnan(table.coefficients[0])[1:-1]
    assert missing.mean() < 0.001
    rng = np.random.default_rng(1)
    a = float(exact) * 30.0 ** -rng.random(60)
    weights = np.maximum(table.evaluate(a, np.empty_like(a)), 1.0)
    for value, weight in zip(a.tolist(), weights.tolist(), strict=True):
        if not math.isnan(weight):
            feasible, excess = gap(Fraction(value), weight, exact)
            assert feasible
            assert excess <= 9.81e-13


def test_where_there_is_no_table() -> None:
    assert make_table(0.1, 0.9, make_target(Fraction(99, 100))) is None  # y may be below 1
    assert make_table(1.0, 40.0, make_target(Fraction(40))) is None
    assert make_table(0.0, 0.0, make_target(Fraction(2))) is None
    table = make_table(0.5, 1.5, make_target(Fraction(2)))
    assert table is not None
    outside = np.array([0.0, -0.0, 5e-324, 0.1, 0.499, 1.5 + 1 / 256, 1.99999, 2.0, 3.0, 1e308])
    assert np.isnan(table.evaluate(outside, np.empty_like(outside))).all()
    assert not np.isnan(table.evaluate(np.array([0.5, 1.0, 1.25, 1.5]), np.empty(4))).any()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.floats(1, 10), st.floats(1, 1e308), st.integers(0, 1000).map(lambda k: 2.0**k)), min_size=1, max_size=20))
def test_a_probability_does_not_depend_on_the_other_weights_of_its_block(weights: list[float]) -> None:
    """Blocks of moderate weights take a shorter way to the same number."""
    alone = [float(probabilities(np.array([weight]))[0]) for weight in weights]
    assert probabilities(np.array([*weights, math.inf])).tolist() == [*alone, 0.0]
    assert probabilities(np.array(weights)).tolist() == alone
