"""Comparisons with values at 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

DIGITS = 60


def as_mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)


@pytest.fixture(autouse=True)
def _sixty_digits():
    with mpmath.workdps(DIGITS):
        yield


@pytest.fixture
def encloses():
    """A check that an enclosure or bounds contain a number at 60 digits, up to the error of that number, and are narrow."""

    def check(found, truth, relative=2.0**-44, error=1e-30):
        with mpmath.workdps(DIGITS):
            lower, upper, value = as_mpf(found.lower), as_mpf(found.upper), mpmath.mpf(truth)
            slack = abs(value) * error
            assert lower - slack <= value <= upper + slack
            assert upper - lower <= abs(value) * relative

    return check
