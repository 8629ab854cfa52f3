"""Grids: functions of the scale, powers of two, and refused where no float is on them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument
from profiles.randomness.rounded import Grid
from profiles.randomness.rounded.grid import floor_log2


@settings(max_examples=40)
@given(st.fractions(min_value=Fraction(1, 2**900), max_value=2**900).filter(bool), st.integers(0, 30), st.integers(0, 50))
def test_the_ratio_of_scale_and_grid(scale, output, fine):
    grid = Grid.of(scale, output_bits=output, fine_bits=fine)
    assert 2**output <= grid.ratio < 2 ** (output + 1)
    assert grid.ratio * grid.h == grid.scale == scale
    assert grid.h == grid.h_f * 2**fine == Fraction(grid.step)


@pytest.mark.parametrize("power", [-1000, -1, 0, 1, 52, 1000])
def test_logarithms_at_powers_of_two(power):
    value = Fraction(2) ** power
    assert floor_log2(value) == power
    assert floor_log2(value * Fraction(2**80 - 1, 2**80)) == power - 1
    assert floor_log2(value * Fraction(2**80 + 1, 2**80)) == power


def test_scales_that_are_refused():
    for wrong in (Fraction(0), Fraction(-1)):
        with pytest.raises(InvalidArgument, match="positive"):
            Grid.of(wrong)
    for wrong in (Fraction(1, 2**1055), Fraction(2) ** 1044):
        with pytest.raises(InvalidArgument, match="unit of the data"):
            Grid.of(wrong)
    with pytest.raises(InvalidArgument, match="fine_bits"):
        Grid.of(Fraction(1), fine_bits=51)
    for wrong in (-1, 41, 2000):
        with pytest.raises(InvalidArgument, match=r"change them|unit of the data"):
            Grid.of(Fraction(1), output_bits=wrong)
    with pytest.raises(InvalidArgument, match="change them"):
        Grid(Fraction(-1), 0, 0)
    assert Grid.of(Fraction(1, 2**1054)).step == 2.0**-1074
    assert Grid.of(Fraction(2) ** 1043).step == 2.0**1023


@pytest.mark.parametrize("parts", [(1.5, -20, -40), (2, -20, -40), (Fraction(3, 2), -20.0, -40), (Fraction(3, 2), -20, "-40")])
def test_grids_of_other_types_are_refused_when_they_are_made(parts):
    with pytest.raises(InvalidArgument, match=r"Grid\.of"):
        Grid(*parts)
