"""Enclosures contain the values, and the slopes contain the difference quotients, at random points at 60 digits."""

from __future__ import annotations

import threading
from fractions import Fraction

import flint
import mpmath
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.balls import ball, interval, lower_fraction, upper_fraction, working_precision
from profiles.grammar import parse_expression
from proofs_check.enclosures import Enclosure
from proofs_check.prover.pointwise import as_ball, value_at

EXPRESSIONS = {
    "w*z + w**2/(1 + z)": lambda w, z: w * z + w**2 / (1 + z),
    "exp(-w*z) + log(1 + w)": lambda w, z: mpmath.exp(-w * z) + mpmath.log(1 + w),
    "sqrt(z)*w**(3/2)": lambda w, z: mpmath.sqrt(z) * w ** mpmath.mpf("1.5"),
    "Max(w, 2*z) + Min(w, z)": lambda w, z: max(w, 2 * z) + min(w, z),
    "Abs(w - 3) + sin(w)*cos(z)": lambda w, z: abs(w - 3) + mpmath.sin(w) * mpmath.cos(z),
    "Piecewise((w, w <= 2), (4 - w, True))": lambda w, z: w if w <= 2 else 4 - w,
    "w**z": lambda w, z: w**z,
    "tan(z/4) - w**(-2)": lambda w, z: mpmath.tan(z / 4) - w**-2,
}

number = st.fractions(min_value=1, max_value=6, max_denominator=1000)
share = st.fractions(min_value=0, max_value=1, max_denominator=100)


def mpf(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def contains(enclosure: arb, value: mpmath.mpf) -> bool:
    lower, upper = lower_fraction(enclosure), upper_fraction(enclosure)
    slack = mpmath.mpf(10) ** -50
    return (lower is None or mpf(lower) <= value + slack) and (upper is None or value - slack <= mpf(upper))


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(text=st.sampled_from(sorted(EXPRESSIONS)), ws=st.tuples(number, number), zs=st.tuples(number, number), where=st.tuples(share, share))
def test_values_lie_inside(text, ws, zs, where):
    box = {"w": sorted(ws), "z": sorted(zs)}
    point = {name: lo + part * (hi - lo) for (name, (lo, hi)), part in zip(box.items(), where, strict=True)}
    with mpmath.workdps(60), working_precision(64):
        found = Enclosure(parse_expression(text)).evaluate({name: interval(*ends) for name, ends in box.items()})
        assert contains(found, EXPRESSIONS[text](mpf(point["w"]), mpf(point["z"])))


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(text=st.sampled_from(sorted(EXPRESSIONS)), ws=st.tuples(number, number), z=number)
def test_difference_quotients_lie_inside_the_slope(text, ws, z):
    lo, hi = sorted(ws)
    if lo == hi:
        return
    with mpmath.workdps(60), working_precision(64):
        slope = Enclosure(parse_expression(text)).evaluate_with_slope({"w": interval(lo, hi), "z": ball(z)}, "w")[1]
        f = EXPRESSIONS[text]
        assert contains(slope, (f(mpf(hi), mpf(z)) - f(mpf(lo), mpf(z))) / mpf(hi - lo))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(1 - exp(2))**2", lambda: (1 - mpmath.exp(2)) ** 2),
        ("(1 - exp(2))**(-3)", lambda: (1 - mpmath.exp(2)) ** -3),
        ("(1 + 3*cos(9))**2", lambda: (1 + 3 * mpmath.cos(9)) ** 2),
    ],
)
def test_powers_of_negative_values_at_a_point(text, expected):
    with mpmath.workdps(60):
        assert contains(as_ball(value_at(parse_expression(text), {})), expected())


def test_a_thread_does_not_change_the_precision_of_another():
    before, seen = flint.ctx.prec, []

    def other():
        with working_precision(300):
            seen.append(flint.ctx.prec)

    thread = threading.Thread(target=other)
    with working_precision(100):
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert (flint.ctx.prec, seen) == (100, [])
        with working_precision(120):  # the same thread may go on
            assert flint.ctx.prec == 120
        assert flint.ctx.prec == 100
    thread.join(10)
    assert (flint.ctx.prec, seen) == (before, [300])
