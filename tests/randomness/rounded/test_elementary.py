"""Logarithms and turns of first bits: tables against 60 digits, and no error above its proved bound where errors are largest."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from profiles.randomness.rounded import elementary
from profiles.randomness.rounded.elementary import first_bits, log_error, log_table, negative_log, turn, turn_error, turn_tables

U = 2.0**-53


def words_at(known: int, seed: int = 0, random: int = 1500) -> np.ndarray:
    """Numbers k below 2^known: ends, powers of two and neighbors, borders and middles of the tables in several binades, random ones."""
    top = 2**known
    around = {0, 1, 2, 3, 5, top - 1, top - 2, top - 3, top // 2, top // 2 - 1}
    for power in range(known):
        around |= {2**power + shift for shift in (-2, -1, 0, 1)}
    for binade in (known - 1, known - 2, known // 2 + 6, 12):
        for part in (0, 1, 2, 511, 512, 700, 1022, 1023):
            edge = (1024 + part) << max(binade - 10, 0)
            around |= {edge + shift for shift in (-2, -1, 0, 1)} | {edge + (1 << max(binade - 11, 0)) + shift for shift in (-1, 0)}
    around |= {(part * top >> 8) + shift for part in range(257) for shift in (-1, 0, 1)}
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, top, size=random).tolist() + (2 ** (known * rng.random(random // 3))).astype(np.int64).tolist()
    return np.array(sorted(k for k in around | set(drawn) if 0 <= k < top), dtype=np.uint64)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


def nearest(value: mpmath.mpf) -> float:
    """The float nearest to a value of 60 digits: the neighbors that Python's conversion may have missed are compared."""
    guess = float(value)
    return min((np.nextafter(guess, -np.inf), guess, np.nextafter(guess, np.inf)), key=lambda x: abs(mpmath.mpf(float(x)) - value))


def test_tables_and_constants_are_the_nearest_floats():
    assert all(entry == nearest(-mpmath.log(mpmath.mpf(2049 + 2 * i) / 4096)) for i, entry in enumerate(log_table()))
    cosines, sines = turn_tables()
    for i in range(256):
        assert cosines[i] == nearest(mpmath.cospi(mpmath.mpf(2 * i + 1) / 256))
        assert sines[i] == nearest(mpmath.sinpi(mpmath.mpf(2 * i + 1) / 256))
    assert nearest(mpmath.log(2)) == elementary._LN2
    assert nearest(mpmath.pi / 128) == elementary._STEP
    assert mpmath.pi < elementary._ABOVE_TURN / 2 < mpmath.pi * (1 + 2 * U)
    parts = {3: elementary._THIRD, 6: elementary._SIXTH, 24: elementary._24TH, 120: elementary._120TH, 720: elementary._720TH}
    assert all(value == float(Fraction(1, part)) for part, value in parts.items())
    assert not any(table.flags.writeable for table in (log_table(), cosines, sines))


@pytest.mark.parametrize("known", [52, 30, 12, 1])
def test_first_bits_are_exact(known):
    k = np.array([0, 2**known - 1, 2**known // 3, 1], dtype=np.uint64)
    found = first_bits(k << np.uint64(64 - known) | np.uint64(1), known)
    assert [int(v * 2.0 ** (known + 1)) for v in found] == (2 * k + np.uint64(1)).tolist()


def test_logarithms_are_within_their_bound():
    """|L + ln V| ≤ u(4L + 1); the largest ratio is written in docs/exact-noise.md, section 3."""
    v = first_bits(words_at(52) << np.uint64(12))
    found = negative_log(v)
    ratios = [
        float(abs(mpmath.mpf(x) + mpmath.log(mpmath.mpf(y)))) / (U * (4 * x + 1)) for x, y in zip(found.tolist(), v.tolist(), strict=True)
    ]
    assert 0.4 < max(ratios) < 0.8
    assert found.min() >= 0.44 * U  # also at the largest V, 1 − u


def test_logarithms_are_positive():
    for known in range(1, 53):
        assert (negative_log(first_bits(words_at(known, random=0) << np.uint64(64 - known), known)) >= 0.44 * U).all()


@pytest.mark.parametrize("known", [52, 12])
def test_bounds_of_logarithms_hold_for_all_numbers_with_the_same_first_bits(known):
    k = words_at(known, random=600)
    v = first_bits(k << np.uint64(64 - known), known)
    found = negative_log(v)
    with np.errstate(divide="ignore"):
        bounds = log_error(v, found, known)
    assert np.isinf(bounds[k == 0]).all()
    worst = 0.0
    for number, value, bound in zip(k.tolist(), found.tolist(), bounds.tolist(), strict=True):
        if number > 0:
            for u in (mpmath.mpf(number) / 2**known, mpmath.mpf(number + 1) / 2**known):
                worst = max(worst, float(abs(value + mpmath.log(u)) / mpmath.mpf(bound)))
    assert 0.5 < worst < 1


@pytest.mark.parametrize(("known", "every"), [(52, 4), (12, 4), pytest.param(52, 1, marks=pytest.mark.thorough)])
def test_turns_are_within_their_bound(known, every):
    k = words_at(known, random=600)[::every]
    v = first_bits(k << np.uint64(64 - known), known)
    cosines, sines = turn(v)
    at_v = over_k = 0.0
    for number, place, c, s in zip(k.tolist(), v.tolist(), cosines.tolist(), sines.tolist(), strict=True):
        for u, middle in ((mpmath.mpf(place), True), (mpmath.mpf(number) / 2**known, False), (mpmath.mpf(number + 1) / 2**known, False)):
            error = float(max(abs(c - mpmath.cospi(2 * u)), abs(s - mpmath.sinpi(2 * u))))
            at_v, over_k = (max(at_v, error / (2 * U)), over_k) if middle else (at_v, max(over_k, error / turn_error(known)))
    assert 0.3 < at_v < 0.9
    assert 0.5 < over_k < 1
