"""The sensitivity of strategy matrices: by enumeration in fractions, closed forms, trees; and how fast it is."""

from __future__ import annotations

import itertools
import random
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.compositions import sensitivity
from accountant.compositions.matrices import make_matrix, read_matrix
from accountant.compositions.sensitivity import Participation, bound_sensitivity
from profiles import InvalidArgument

Rows = list[list[Fraction]]


def patterns(steps: int, most: int, apart: int) -> list[tuple[int, ...]]:
    """All sets of at most ``most`` steps, any two ``apart`` apart, by trying all subsets."""
    subsets = itertools.chain.from_iterable(itertools.combinations(range(steps), size) for size in range(1, most + 1))
    return [item for item in subsets if all(right - left >= apart for left, right in itertools.pairwise(item))]


def moved(rows: Rows, places: tuple[int, ...], signs: tuple[int, ...]) -> Fraction:
    """‖Σ ±C_i‖² from the definition."""
    return sum((sum(sign * row[place] for place, sign in zip(places, signs, strict=True)) ** 2 for row in rows), Fraction(0))


def by_signs(rows: Rows, most: int, apart: int) -> Fraction:
    """The largest ‖Σ u_i C_i‖² over all participations and u_i = ±1: s² where products are not negative, else a part of it."""
    return max(
        moved(rows, places, signs)
        for places in patterns(len(rows), most, apart)
        for signs in itertools.product((1, -1), repeat=len(places))
        if signs[0] == 1
    )


def by_sizes(rows: Rows, most: int, apart: int) -> Fraction:
    """The largest Σ|⟨C_i, C_j⟩|, which s² does not exceed."""
    size = len(rows)
    gram = [[abs(sum(row[i] * row[j] for row in rows)) for j in range(size)] for i in range(size)]
    return max(sum((gram[i][j] for i in places for j in places), Fraction(0)) for places in patterns(size, most, apart))


def toeplitz(coefficients: list[Fraction], steps: int) -> Rows:
    given = [*coefficients, *[Fraction(0)] * steps]
    return [[given[i - j] if i >= j else Fraction(0) for j in range(steps)] for i in range(steps)]


def tree(levels: int) -> np.ndarray:
    """The nodes of a binary tree over 2^levels steps that prefix sums need: step i gives out the largest sum that ends with it."""
    size = 2**levels
    return np.array([[float(i - (i & -i) < j <= i) for j in range(1, size + 1)] for i in range(1, size + 1)])


NUMBERS = st.fractions(-2, 2, max_denominator=8)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_a_matrix_against_all_participations(data: st.DataObject, steps: int, most: int, apart: int, positive: bool) -> None:
    flat = data.draw(st.lists(NUMBERS, min_size=steps**2, max_size=steps**2))
    rows = [
        [(abs(flat[i * steps + j]) if positive else flat[i * steps + j]) if i >= j else Fraction(0) for j in range(steps)]
        for i in range(steps)
    ]
    rows = [[Fraction(float(item)) for item in row] for row in rows]
    if not any(map(any, rows)):
        return
    bound = bound_sensitivity(make_matrix([[float(item) for item in row] for row in rows]), Participation(apart, most))
    low, high = by_signs(rows, most, apart), by_sizes(rows, most, apart)
    assert bound.lower <= low <= bound.upper <= high
    if positive:
        assert bound.is_exact
        assert bound.lower == low
    places = tuple(step - 1 for step in bound.steps)
    assert places in patterns(steps, most, apart)
    assert bound.lower in {moved(rows, places, (1, *signs)) for signs in itertools.product((1, -1), repeat=len(places) - 1)}


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 8), st.integers(1, 5), st.integers(1, 4))
def test_toeplitz_coefficients_against_all_participations(data: st.DataObject, steps: int, most: int, apart: int) -> None:
    coefficients = data.draw(st.lists(NUMBERS, min_size=1, max_size=steps).filter(any))
    if data.draw(st.booleans()):
        coefficients = sorted(map(abs, coefficients), reverse=True)
    rows, matrix = toeplitz(coefficients, steps), make_matrix([str(item) for item in coefficients], steps)
    low, high = by_signs(rows, most, apart), by_sizes(rows, most, apart)
    fit = Participation(apart, most).fit(steps)
    for bound in (
        bound_sensitivity(matrix, Participation(apart, most)),
        sensitivity._bound_by_falling(matrix, fit, apart),
        sensitivity._bound_pairs(matrix, fit, apart) if fit > 1 else None,
    ):
        assert bound is None or bound.lower <= high
        assert bound is None or low <= bound.upper
    if matrix.falls or matrix.bands <= apart:
        bound = bound_sensitivity(matrix, Participation(apart, most))
        assert bound.is_exact
        assert bound.upper == low


def in_phase(steps: int, apart: int) -> list[tuple[int, ...]]:
    """All sets of steps whose differences are multiples of ``apart``."""
    subsets = itertools.chain.from_iterable(itertools.combinations(range(steps), size) for size in range(1, steps + 1))
    return [item for item in subsets if len({place % apart for place in item}) == 1]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(1, 4), st.booleans(), st.booleans())
def test_a_fixed_order_against_all_participations(data: st.DataObject, steps: int, apart: int, positive: bool, circulant: bool) -> None:
    numbers = st.sampled_from([0.0, 1.0, 0.3, -0.7, 2.0**-20, 3.0])
    flat = data.draw(st.lists(numbers.map(abs) if positive else numbers, min_size=steps**2, max_size=steps**2))
    dense = [[flat[i - j] if circulant else flat[i * steps + j] if i >= j else 0.0 for j in range(steps)] for i in range(steps)]
    dense = [[item if i >= j else 0.0 for j, item in enumerate(row)] for i, row in enumerate(dense)]
    rows = [[Fraction(item) for item in row] for row in dense]
    if not any(map(any, rows)):
        return
    truth = max(
        moved(rows, places, (1, *signs))
        for places in in_phase(steps, apart)
        for signs in itertools.product((1, -1), repeat=len(places) - 1)
    )
    matrix = make_matrix(dense)
    bound = bound_sensitivity(matrix, Participation(apart, fixed_order=True))
    assert bound.lower <= truth <= bound.upper
    assert tuple(step - 1 for step in bound.steps) in in_phase(steps, apart)
    if positive or matrix.bands <= apart:
        assert bound.lower == truth == bound.upper
    assert bound.upper <= bound_sensitivity(matrix, Participation(apart)).upper


def test_a_fixed_order_of_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 4,096 steps only Toeplitz matrices are read; where products are too many, those of sizes bound them."""
    falling = make_matrix([1, "0.5", "0.25"], 9000)
    assert bound_sensitivity(falling, Participation(2, fixed_order=True)) == bound_sensitivity(falling, Participation(2))
    rising = make_matrix(["0.25", "0.5"], 9000)
    bound = bound_sensitivity(rising, Participation(1, fixed_order=True))
    assert bound.lower == 8999 * Fraction(9, 16) + Fraction(1, 16)
    assert bound.upper == 8999 + Fraction(1, 4)
    assert bound_sensitivity(rising, Participation(2, fixed_order=True)).is_exact
    rng = np.random.default_rng(4)
    signed = make_matrix(np.tril(rng.uniform(-1, 1, (40, 40))))
    near = bound_sensitivity(signed, Participation(5, fixed_order=True))
    monkeypatch.setattr(sensitivity, "_MOST_WORK", 0)
    far = bound_sensitivity(signed, Participation(5, fixed_order=True))
    assert near.lower <= near.upper <= far.upper
    assert far.lower <= near.upper
    with pytest.raises(InvalidArgument, match="as many as fit"):
        Participation(5, 3, fixed_order=True)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(3, 7), st.integers(2, 4), st.integers(1, 3))
def test_the_bound_of_pairs_is_above_all_participations(data: st.DataObject, steps: int, most: int, apart: int) -> None:
    """What is used where participations are too many to be enumerated; entries of very different sizes are rounded up, too."""
    sizes = st.sampled_from([0.0, 1.0, 0.3, 2.0**-30, 1e-45, -0.7, 5e20, 3.0])
    flat = data.draw(st.lists(sizes, min_size=steps**2, max_size=steps**2))
    rows = [[Fraction(flat[i * steps + j]) if i >= j else Fraction(0) for j in range(steps)] for i in range(steps)]
    if not any(map(any, rows)) or (fit := Participation(apart, most).fit(steps)) < 2:
        return
    bound = sensitivity._bound_pairs(make_matrix([[float(item) for item in row] for row in rows]), fit, apart)
    assert bound.lower <= by_signs(rows, most, apart) <= bound.upper
    assert bound.upper >= by_sizes(rows, most, apart)


def test_any_number_of_earlier_participations_counts_no_less_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        matrix = make_matrix(np.tril(rng.random((9, 9))))
        counted = sensitivity._bound_pairs(matrix, 5, 1).upper
        with monkeypatch.context() as patch:
            patch.setattr(sensitivity, "_COUNTED", 2)
            assert sensitivity._bound_pairs(matrix, 5, 1).upper >= counted


def test_the_bound_of_pairs_is_that_of_falling_coefficients() -> None:
    """There the earliest participation is the worst, whatever comes after it."""
    matrix = make_matrix([float(item) for item in 1 / np.sqrt(np.arange(1, 41))], 40)
    exact = bound_sensitivity(matrix, Participation(4, 6))
    assert exact.is_exact
    pairs = sensitivity._bound_pairs(matrix, 6, 4)
    assert exact.upper <= pairs.upper <= exact.upper * (1 + Fraction(1, 10**9))
    assert pairs.lower == exact.lower


@pytest.mark.parametrize("levels", [1, 2, 3, 5, 7])
def test_a_step_is_in_a_node_of_each_level_of_a_tree(levels: int) -> None:
    """DP-FTRL: s² = log2(t) + 1 for one participation (Kairouz et al. 2021), and by enumeration for two."""
    matrix = make_matrix(tree(levels))
    once = bound_sensitivity(matrix, Participation(2**levels))
    assert (once.lower, once.upper, once.steps) == (levels + 1, levels + 1, (1,))
    if levels < 4:
        rows = [[Fraction(item) for item in row] for row in tree(levels).tolist()]
        for apart in (1, 2, 3):
            assert bound_sensitivity(matrix, Participation(apart, 2)).upper == by_signs(rows, 2, apart)


def test_prefix_sums_without_correlation_and_independent_steps() -> None:
    """C = I: s² = k. C of ones: steps 1, 1 + b, … are in t, t − b, … rows."""
    assert bound_sensitivity(make_matrix(["1"], 1000), Participation(1, 10)).upper == 10
    bound = bound_sensitivity(make_matrix([1] * 12, 12), Participation(4, 3))
    assert bound.upper == 4 * 1 + 4 * 4 + 4 * 9  # rows 1-4 have one of them, 5-8 two, 9-12 three
    assert bound.is_exact


def test_a_banded_strategy_counts_each_participation() -> None:
    """jax_privacy #238: s² of b falling bands for b steps is that of one participation; for n = k b it is k times as much."""
    bands, participations = 8, 5
    coefficients = [Fraction(1)]
    for number in range(1, bands):  # of the square root of the matrix of prefix sums
        coefficients.append(coefficients[-1] * Fraction(2 * number - 1, 2 * number))
    square = sum(item**2 for item in coefficients)
    given = [str(item) for item in coefficients]
    whole = bound_sensitivity(make_matrix(given, bands * participations), Participation(bands, participations))
    assert whole.is_exact
    assert whole.upper == participations * square
    assert whole.steps == (1, 9, 17, 25, 33)
    assert bound_sensitivity(make_matrix(given, bands), Participation(bands, participations)).upper == square
    with pytest.raises(InvalidArgument, match="not for how many steps"):
        make_matrix(given)
    dense = make_matrix([[float(item) for item in row] for row in toeplitz(coefficients, 40)])  # as their float64 numbers
    assert abs(bound_sensitivity(dense, Participation(bands, participations)).upper - participations * square) < Fraction(1, 10**13)


@pytest.mark.thorough
def test_thousands_of_steps_take_seconds() -> None:
    """Bands of 64 among 4,096 steps of different columns; 10^6 steps of 100 coefficients; a whole matrix of 2,000 steps."""
    rng, draw = np.random.default_rng(2), random.Random(2)
    banded = np.tril(rng.random((4096, 4096)))
    banded[np.subtract.outer(np.arange(4096), np.arange(4096)) >= 64] = 0
    start = time.process_time()
    bound = bound_sensitivity(make_matrix(banded), Participation(64, 40))
    assert bound.is_exact
    assert time.process_time() - start < 15
    start = time.process_time()
    fell = sorted((Fraction(draw.randrange(1, 10**6), 10**6) for _ in range(100)), reverse=True)
    assert bound_sensitivity(make_matrix(fell, 10**6), Participation(10, 500)).is_exact
    assert time.process_time() - start < 15
    start = time.process_time()
    dense = make_matrix(np.tril(rng.random((2000, 2000)) / np.sqrt(1 + np.abs(np.subtract.outer(np.arange(2000), np.arange(2000))))))
    bound = bound_sensitivity(dense, Participation(100, 20))
    assert bound.lower < bound.upper < bound.lower * Fraction(3, 2)
    assert time.process_time() - start < 40


def test_floats_stand_for_their_binary_values(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.array([[0.1, 0], [0.3, 0.7]]))
    bound = bound_sensitivity(read_matrix(tmp_path / "c.npy"), Participation(1, 1))
    assert bound.upper == max(Fraction(0.1) ** 2 + Fraction(0.3) ** 2, Fraction(0.7) ** 2)
    np.save(tmp_path / "f.npy", np.array([[0.1, 0], [0.3, 0.7]], dtype=np.float32))
    assert bound_sensitivity(read_matrix(tmp_path / "f.npy"), Participation(1, 1)).upper == Fraction(float(np.float32(0.7))) ** 2
    np.save(tmp_path / "i.npy", np.asfortranarray(np.tril(np.ones((3, 3), dtype=">i4"))))
    assert bound_sensitivity(read_matrix(tmp_path / "i.npy"), Participation(1, 3)).upper == 1 + 4 + 9


def test_flags_of_the_caller_do_not_come_into_it() -> None:
    """What underflows when entries are scaled is rounded up all the same."""
    tiny = np.array([[1e20, 0, 0], [-3e-310, 5e-324, 0], [7.0, 1e-200, 2.0]])
    with np.errstate(all="raise"):
        matrix = make_matrix(tiny)
        bound = bound_sensitivity(matrix, Participation(1, 3))
        pairs = sensitivity._bound_pairs(matrix, 3, 1)
    truth = by_signs([[Fraction(item) for item in row] for row in tiny.tolist()], 3, 1)
    assert bound.lower <= truth <= bound.upper
    assert pairs.lower <= truth <= pairs.upper


@pytest.mark.parametrize("given", [(0, 1), (1, 0), (1.5, 1), (True, 1), (1, "2"), (10**9, 1)])
def test_participations_are_whole_numbers(given: tuple[object, object]) -> None:
    with pytest.raises(InvalidArgument):
        Participation(*given)  # type: ignore[arg-type]
