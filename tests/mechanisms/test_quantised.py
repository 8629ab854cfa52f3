"""Records as integers: the truncated exact product and exact sums, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profiles import InvalidData
from profiles.mechanisms import quantised
from profiles.mechanisms.datasets import WeightedData, find_reach
from profiles.mechanisms.quantised import MOST_RATIO, SumUnit, add_exactly, cut_rows, hold, prepare_units, quantise, total_units
from profiles.private import reveal
from profiles.randomness.rounded import Grid

WHOLE = 2.0**52


def truncate(w, x, exponent):
    """trunc(w x/2^exponent) in fractions, toward 0."""
    return math.trunc(Fraction(float(w)) * Fraction(float(x)) / Fraction(2) ** exponent)


def near_integers(rng, rows, exponent):
    """Pairs whose exact product is within one rounding of a multiple of 2^exponent, or is one."""
    wanted = np.ldexp(np.floor(2.0 ** (52 * rng.random(rows))), exponent)
    weights = 1 + rng.random(rows) * 2.0 ** rng.integers(0, 9, size=rows)
    weights[: rows // 8] = 2.0
    points = wanted / weights
    return np.where(rng.random(rows) < 0.25, np.nextafter(points, rng.choice([-np.inf, np.inf], rows)), points), weights


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([-1090, -1060, -1022, -600, -41, -39, 0, 30, 700, 960]), st.booleans())
def test_products_are_truncated_as_fractions_are(seed, exponent, signed):
    rng = np.random.default_rng(seed)
    points, weights = near_integers(rng, 40, max(exponent, -1050))
    points *= np.where(signed & (rng.random(40) < 0.5), -1, 1)
    units = quantise(points[:, np.newaxis], weights, SumUnit(exponent, WHOLE))[:, 0]
    for unit, x, w in zip(units.tolist(), points.tolist(), weights.tolist(), strict=True):
        exact = truncate(w, x, exponent)
        assert unit == exact if abs(exact) <= 2**52 else abs(unit) >= 2**52


def test_the_hard_cases_of_that_test_occur():
    """Computed products that are integers, with exact ones on both sides, and equal."""
    rng = np.random.default_rng(1)
    points, weights = near_integers(rng, 4000, -40)
    computed = points * (weights * 2.0**40)
    kinds = {"below": 0, "above": 0, "equal": 0}
    for product, x, w in zip(computed.tolist(), points.tolist(), weights.tolist(), strict=True):
        if product == math.trunc(product) and product < 2**52:
            exact = Fraction(x) * Fraction(w) * 2**40
            kinds["below" if exact < product else "above" if exact > product else "equal"] += 1
    assert min(kinds["below"], kinds["above"], kinds["equal"]) > 50
    units = quantise(points[:, np.newaxis], weights, SumUnit(-40, WHOLE))[:, 0]
    lowered = (units == computed - 1).sum()
    assert lowered == kinds["below"]


@settings(max_examples=200, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False), st.floats(1, allow_infinity=False, allow_nan=False),
    st.integers(-1094, 1003),
)  # fmt: skip
@example(5e-324, 1e300, -20)
@example(1e-310, 1.7976931348623157e308, -1030)
@example(1e300, 1.0, 980)
@example(-1e-320, 3.0, -1094)
@example(0.1, 10.0, 0)
@example(1 / 3, 3.0, 0)
@example(0.1, 3.0, -54)
def test_extreme_numbers(x, w, exponent):
    unit, exact = quantise(np.array([[x]]), np.array([w]), SumUnit(exponent, WHOLE))[0, 0], truncate(w, x, exponent)
    assert unit == exact if abs(exact) <= 2**52 else abs(unit) > 2**52 - 1
    plain, exact = quantise(np.array([[x]]), None, SumUnit(exponent, WHOLE))[0, 0], truncate(1, x, exponent)
    assert plain == exact if abs(exact) <= 2**53 else abs(plain) >= 2**53


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, math.inf]), st.fractions("0.001", 1000), st.integers(1, 5))
def test_units_cost_no_more_than_the_record_and_lose_less_than_one_each(seed, p, scale, dimension):
    rng = np.random.default_rng(seed)
    grid = Grid.of(scale)
    points = rng.normal(size=(20, dimension)) * float(scale) * 10.0 ** rng.integers(-12, 2, size=(20, 1))
    weights = 1 + 5 * rng.random(20)
    units = quantise(points, weights, SumUnit.of(grid))

    def power(values):  # ‖·‖_p^p, or the largest
        return max(map(abs, values)) if math.isinf(p) else sum(abs(value) ** p for value in values)

    for row, x, w in zip(units.tolist(), points.tolist(), weights.tolist(), strict=True):
        small, large = [int(u) * grid.h_f for u in row], [Fraction(w) * Fraction(value) for value in x]
        assert power(small) <= power(large)
        assert all(abs(a - b) < grid.h_f and a * b >= 0 for a, b in zip(small, large, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 52), st.integers(1, 300), st.integers(1, 4), st.booleans(), st.integers(1, 60))
def test_sums_are_those_of_fractions(seed, bits, rows, columns, weighted, block):
    rng = np.random.default_rng(seed)
    unit = SumUnit(-bits, WHOLE)
    points = rng.normal(size=(rows, columns)).clip(-1, 1) * rng.choice([1.0, 1.0, 0.5**20, 0.0], size=(rows, 1))
    weights = 1 + rng.random(rows) if weighted and bits < 52 else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantised, "_ENTRIES", block)
        found = total_units(points, weights, unit)
    exact = [sum(truncate(1 if weights is None else weights[i], points[i, j], -bits) for i in range(rows)) for j in range(columns)]
    assert found.tolist() == exact
    assert all(type(value) is int for value in found.tolist())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4000))
def test_the_largest_integers_add_up(seed, rows):
    rng = np.random.default_rng(seed)
    units = np.where(rng.random((rows, 2)) < 0.9, 2.0**52, -rng.integers(0, 2**52, size=(rows, 2)).astype(float))
    found = add_exactly(lambda part: part.sum(axis=0), units, rows, 2.0**52)
    assert found.tolist() == [sum(map(int, column)) for column in units.T.tolist()]
    assert found.dtype == hold(rows, 2.0**52)


def test_what_64_bits_do_not_hold_is_held_by_python():
    assert (hold(2**11 - 1, 2.0**52), hold(2**11, 2.0**52)) == (np.int64, object)
    units = np.full((2**12, 1), 2.0**52)
    total = add_exactly(lambda part: part.sum(axis=0), units, len(units), 2.0**52)
    assert total.tolist() == [2**64]
    assert total_units(units, None, SumUnit(0, 2.0**52)).tolist() == [2**64]


def test_wrong_sums_would_be_noticed():
    """The same numbers, added up in binary64 as they are, are off."""
    units = np.array([[2.0**52 - 1.0]] * 9)
    assert int(units.sum()) != 9 * (2**52 - 1)
    assert add_exactly(lambda part: part.sum(axis=0), units, 9, 2.0**52).tolist() == [9 * (2**52 - 1)]


def test_what_costs_more_than_2048_nats_is_refused_by_name():
    grid = Grid.of(Fraction(1, 3))
    unit = SumUnit.of(grid)
    limit = MOST_RATIO * float(grid.scale)
    assert unit.most <= 2.0**52
    points = np.zeros((9, 3))
    points[7, 1] = limit * (1 + 2.0**-30)
    with pytest.raises(InvalidData, match=r"at most 2048 times the noise scale .*, but row 7 has a larger one") as caught:
        total_units(points, None, unit)
    assert str(limit)[:6] not in str(caught.value)
    assert "row 7: 2048.00000" in reveal(caught.value)
    points[7, 1] = -limit * (1 - 2.0**-30)
    assert total_units(points, None, unit)[1] < 0
    with pytest.raises(InvalidData, match="row 7"):
        total_units(points, np.full(9, 1 + 2.0**-29), unit)
    points[7, 1] = 1e308
    with pytest.raises(InvalidData, match="row 7"):
        total_units(points, np.full(9, 1e300), unit)


@pytest.mark.parametrize("weighted", [False, True])
def test_prepared_units_are_those_of_each_record(weighted, monkeypatch):
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(500, 3)), 1 + rng.random(500) if weighted else np.ones(500)
    data = WeightedData(points, weights)
    sums, counts = SumUnit.of(Grid.of(Fraction(3))), SumUnit.of(Grid.of(Fraction(20)))
    expected = np.array([
        [*(truncate(w, value, sums.exponent) for value in x), truncate(w, 1, counts.exponent)]
        for x, w in zip(points.tolist(), weights.tolist(), strict=True)
    ])  # fmt: skip
    for most in (2**27, 0):  # kept, and made again in each pass
        monkeypatch.setattr(quantised, "_MOST_CACHED", most)
        found = prepare_units(data, find_reach(points), sums, counts)
        assert (found.kept is None) == (most == 0)
        found.keep(slice(100, 200))
        assert (found.read(slice(120, 140), np.empty((30, 4))) == expected[120:140]).all()
        assert (found.read_all() == expected).all()
        assert np.abs(expected).max() <= found.most <= max(sums.most, counts.most)


def test_prepared_units_refuse_what_total_units_refuses():
    sums, counts = SumUnit.of(Grid.of(Fraction(1))), SumUnit.of(Grid.of(Fraction(1)))
    points = np.zeros((5, 2))
    points[3, 0] = 3000.0
    with pytest.raises(InvalidData, match="row 3"):
        prepare_units(WeightedData(points, np.ones(5)), find_reach(points), sums, counts)
    with pytest.raises(InvalidData, match="row 2"):
        prepare_units(WeightedData(points * 0, np.array([1, 1, 3000.0, 1, 1])), 0.0, sums, counts)
    wide = prepare_units(WeightedData(points / 2, np.ones(5)), math.inf, sums, counts)  # a reach that shows nothing
    assert wide.most >= 1500 * 2**40


def test_blocks_cover_all_rows():
    for count, columns in ((0, 3), (1, 10**6), (100_000, 7)):
        assert [row for rows in cut_rows(count, columns) for row in range(count)[rows]] == list(range(count))
