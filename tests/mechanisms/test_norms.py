"""Norms of records: within the stated rounding of the exact norm, and functions of the row alone, to the last bit."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.mechanisms.datasets import compute_norms

ENTRIES = st.one_of(
    st.floats(-4, 4), st.floats(-1e308, 1e308), st.sampled_from([0.0, -0.0, 5e-324, 1e-200, 1e-140, 2.0**-450, 2.0**500, 1e308])
)


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_norm_is_that_of_its_row_in_any_place_layout_and_block(data: st.DataObject) -> None:
    columns, rows = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 9))
    points = np.array(data.draw(st.lists(st.lists(ENTRIES, min_size=columns, max_size=columns), min_size=rows, max_size=rows)))
    whole = compute_norms(points, 2)
    order = np.array(data.draw(st.permutations(range(rows))))
    assert compute_norms(points[order], 2).tobytes() == whole[order].tobytes()
    assert compute_norms(np.asfortranarray(points), 2).tobytes() == whole.tobytes()
    shift = data.draw(st.integers(0, 7))
    moved = np.zeros(points.size + 8)[shift : shift + points.size].reshape(points.shape)  # another alignment
    moved[...] = points
    assert compute_norms(moved, 2).tobytes() == whole.tobytes()
    assert np.concatenate([compute_norms(row[np.newaxis], 2) for row in points]).tobytes() == whole.tobytes()


def test_long_arrays_give_the_norms_of_short_ones() -> None:
    points = np.random.default_rng(1).normal(size=(9_001, 23))
    whole = compute_norms(points, 2)
    assert compute_norms(points[8_999:], 2).tobytes() == whole[8_999:].tobytes()
    assert np.concatenate([compute_norms(points[row : row + 1], 2) for row in range(0, 9_001, 50)]).tobytes() == whole[::50].tobytes()


def move_by_a_byte(points: np.ndarray) -> np.ndarray:
    """Return the same numbers at addresses that no processor likes."""
    return np.ndarray(points.shape, np.float64, buffer=bytearray(b"\0" + points.tobytes()), offset=1)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("columns", [1, 3, 100, 8_193, 20_000])
def test_rows_of_any_length_and_layout_have_norms_of_their_own(columns: int, p: float) -> None:
    """NumPy cuts sums of more than 8,192 products in pieces, at places that depend on the number of rows and on the alignment."""
    points = np.random.default_rng(1).normal(size=(5, columns))
    whole = compute_norms(points, p)
    assert np.concatenate([compute_norms(row[np.newaxis], p) for row in points]).tobytes() == whole.tobytes()
    for other in (np.asfortranarray(points), move_by_a_byte(points), np.repeat(points, 2, axis=1)[:, ::2]):
        assert compute_norms(other, p).tobytes() == whole.tobytes()
        assert np.concatenate([compute_norms(other[row : row + 1], p) for row in range(5)]).tobytes() == whole.tobytes()


@settings(max_examples=100, deadline=None)
@given(row=st.lists(ENTRIES, min_size=1, max_size=30))
def test_norms_are_within_the_stated_rounding(row: list[float]) -> None:
    """|norm − ‖x‖₂| ≤ (d + 32)·2⁻⁵³ ‖x‖₂, compared with an integer square root of the exact sum of squares."""
    squares = sum((Fraction(entry) ** 2 for entry in row), Fraction(0))
    if squares > Fraction(1e300) ** 2:
        return
    found = Fraction(float(compute_norms(np.array([row]), 2)[0]))
    scaled = 2**2400 * squares
    assert scaled.denominator == 1
    exact = Fraction(isqrt(int(scaled)), 2**1200)
    slack = Fraction(len(row) + 32, 2**53) * exact + Fraction(1, 2**1073)  # and half a subnormal number
    assert abs(found - exact) <= slack


@pytest.mark.parametrize("scale", [2.0**-1060, 1e-160, 1.0, 1e160, 1e307])
def test_neither_small_nor_large_norms_are_lost(scale: float) -> None:
    assert compute_norms(np.array([[3.0, -4.0, 0.0]]) * scale, 2) == pytest.approx(5 * scale, rel=1e-15)
