"""Soundness by test: on random profiles, sampled points at 60 digits never contradict a verdict, and witnesses do violate."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import InvalidProfile, Undecided, declare
from proofs_check.verify import verify

coefficient = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(-1, 5)])
TARGET = Fraction(3, 2)

# (text with c, the same function in mpmath)
TERMS = [
    ("({c})*w*z", lambda c, w, z: c * w * z),
    ("({c})*w", lambda c, w, z: c * w),
    ("({c})*sqrt(w)", lambda c, w, z: c * mpmath.sqrt(w)),
    ("({c})*w**2*z", lambda c, w, z: c * w**2 * z),
    ("({c})*log(1 + w)", lambda c, w, z: c * mpmath.log(1 + w)),
    ("({c})/(w + z)", lambda c, w, z: c / (w + z)),
    ("({c})*z**2", lambda c, w, z: c * z**2),
    ("({c})*sin(w)", lambda c, w, z: c * mpmath.sin(w)),
    ("({c})*w*log(w)", lambda c, w, z: c * w * mpmath.log(w)),
    ("({c})*Max(w, 3)", lambda c, w, z: c * max(w, mpmath.mpf(3))),
]

profiles = st.lists(st.tuples(st.integers(0, len(TERMS) - 1), coefficient), min_size=1, max_size=3)
ranges = st.sampled_from([("0", "1"), ("0.5", "2"), ("1", "1"), ("0", "0")])


def mpf(value):
    fraction = Fraction(value)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def truth(condition, f, w, z):
    """The sign that the condition needs at a point: ≥ 0 (assumption-11, proposition-16: > 0), None where a derivative is doubtful."""
    step = mpmath.mpf(10) ** -25
    first = (f(w + step, z) - f(w - step, z)) / (2 * step)
    second = (f(w + step, z) - 2 * f(w, z) + f(w - step, z)) / step**2
    if condition == "assumption-8":
        return mpf(TARGET) - f(mpmath.mpf(1), z)
    if condition == "assumption-11":
        return second + first**2
    if condition == "proposition-16":
        slope = (f(1 + step, z) - f(mpmath.mpf(1), z)) / step
        return 1 - mpmath.exp(-f(mpmath.mpf(1), z)) - slope
    return w * first - f(w, z)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(chosen=profiles, ends=ranges, data=st.data())
def test_points_never_contradict_a_verdict(chosen, ends, data):
    text = " + ".join(TERMS[index][0].format(c=c) for index, c in chosen) + " + 0*w"

    def f(w, z):
        return sum((TERMS[index][1](mpf(c), w, z) for index, c in chosen), mpmath.mpf(0))

    profile = declare("random", text, record={"z": list(ends)})
    try:
        found = verify(profile, TARGET)
    except (InvalidProfile, Undecided):
        return
    lo, hi = Fraction(ends[0]), Fraction(ends[1])
    with mpmath.workdps(90):
        tolerance = mpmath.mpf(10) ** -12
        points = [
            (
                1 + mpf(data.draw(st.fractions(0, 40, max_denominator=50))),
                mpf(lo + (hi - lo) * data.draw(st.fractions(0, 1, max_denominator=8))),
            )
            for _ in range(12)
        ]
        for condition, decision in found.decisions.items():
            if condition == "assumption-9-nonzero":  # where nothing is lost it holds, whatever the tail: tests/conditions/test_nonzero.py
                continue
            if condition == "assumption-9":
                _check_tail(decision, f, lo, hi)
                continue
            if decision.verdict.value == "proved":
                for w, z in points:
                    if abs(w - 3) > 1e-6:
                        assert truth(condition, f, w, z) >= -tolerance, (text, ends, condition, w, z)
            elif decision.verdict.value == "refuted":
                assert decision.checked
                if decision.method == "limit at one record":
                    z = mpf(decision.witness["z"])
                    assert truth(condition, f, mpmath.mpf(10) ** 9, z) <= truth(condition, f, mpmath.mpf(1), z) / 1000, (text, ends)
                elif decision.method != "kink":
                    w = mpf(decision.witness.get("w", Fraction(1)))
                    assert truth(condition, f, w, mpf(decision.witness["z"])) <= tolerance, (text, ends, condition)


def _check_tail(decision, f, lo, hi):
    growth = mpmath.expm1(mpf(TARGET))
    if decision.verdict.value == "proved":
        for z in (lo, hi, (lo + hi) / 2):
            w = mpmath.mpf(10) ** 400
            assert f(w, mpf(z)) > mpmath.log(1 + growth * w)
    elif decision.verdict.value == "refuted":
        w = mpmath.mpf(10) ** 400
        assert f(w, mpf(decision.witness["z"])) <= mpmath.log(1 + growth * w) + mpmath.mpf(10) ** -12


@pytest.mark.parametrize("target", ["1e-12", "5000", "0.001"])
def test_verdicts_at_extreme_targets(target):
    profile = declare("count", "w/b", parameters={"b": 2})
    found = verify(profile, target, ["assumption-8", "assumption-9"])
    assert found.decisions["assumption-8"].verdict.value == ("proved" if Fraction(target) >= Fraction(1, 2) else "refuted")
    assert found.decisions["assumption-9"].verdict.value == "proved"
