"""The release: equal to the rounded value in mpmath, in the fast path and in balls; words, sources and sizes at their ends."""

from __future__ import annotations

import math
import sys
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument
from profiles.randomness.bits import open_bits
from profiles.randomness.rounded import (
    EUCLIDEAN,
    EXPONENTIAL,
    LAPLACE,
    MAXIMUM,
    NORMAL,
    Grid,
    NoiseLaw,
    Precision,
    draw_rounded,
    draw_rounded_integers,
    rounding,
)
from tests.randomness.rounded.reference import Played, exact_row, structured_words, to_fraction

LAWS = [LAPLACE, EXPONENTIAL, NORMAL, EUCLIDEAN, MAXIMUM]
SCALES = [Fraction(3, 2), Fraction(1, 3) / 2**900, Fraction(10) ** 280]


def round_by_definition(totals, law, grid, words, later, known=52):
    """⌊(G h_f + b F)/h + ½⌋ of one row; ``later``: the further words, as many for each round as the row has."""
    k = [word >> (64 - known) for word in words]
    for start in range(0, len(later), len(words)):
        k = [number << 64 | word for number, word in zip(k, later[start : start + len(words)], strict=True)]
        known += 64
    with mpmath.workdps(60 + known // 2):
        u = [(mpmath.mpf(number) + 0.5) / mpmath.mpf(2) ** known for number in k]
        noise = [to_fraction(x) for x in exact_row(law.name, u, [word & 1 for word in words], len(totals))]
    exact = [(total * grid.h_f + grid.scale * y) / grid.h + Fraction(1, 2) for total, y in zip(totals, noise, strict=True)]
    return [math.floor(x) for x in exact]


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("scale", SCALES, ids=["3/2", "2^-900", "10^280"])
def test_every_row_is_the_rounded_real_number(law, scale):
    rng, grid = np.random.default_rng(int(scale * 7) % 1000), Grid.of(scale)
    for d in (1, 2, 3, 22):
        totals = rng.integers(-(2**45), 2**45, size=(12, d))
        for row in totals:
            units = -(-d // law.unit) if law.unit else 1
            words = structured_words(rng, (units * law.uniforms(law.unit or d),))
            played = Played(words)
            found = draw_rounded_integers(row[None], law, grid, played)[0].tolist()
            if law.unit is None:
                assert found == round_by_definition(row.tolist(), law, grid, words.tolist(), played.later)
                continue
            if played.later:
                continue  # of which unit they are is not known here; the next test has one unit
            padded = row.tolist() + [0] * (units * law.unit - d)
            expected = []
            for unit in range(units):
                part = words.reshape(units, -1)[unit].tolist()
                expected += round_by_definition(padded[unit * law.unit : (unit + 1) * law.unit], law, grid, part, [])
            assert found == expected[:d]


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("known", [52, 12])
def test_next_to_an_integer_further_bits_decide(law, known):
    """Totals that bring the number within 2^−50 units of an integer: neither the fast path nor balls of the known bits can decide."""
    rng, grid, further = np.random.default_rng(known), Grid.of(Fraction(17, 5), fine_bits=50), 0
    d = law.unit or 3
    for _ in range(25):
        words = structured_words(rng, (law.uniforms(d),), known, share=0.1)
        u = [(mpmath.mpf(word >> (64 - known)) + 0.5) / 2**known for word in words.tolist()]
        with mpmath.workdps(60):
            y = [to_fraction(x) * grid.ratio for x in exact_row(law.name, u, [word & 1 for word in words.tolist()], d)]
        totals = [round((math.floor(x) + Fraction(1, 2) - x) * 2**50) + int(rng.integers(-2, 3)) for x in y]
        played = Played(words, seed=int(words[0] % 1000))
        found = draw_rounded_integers(np.array([totals], dtype=object), law, grid, played, precision=Precision(known_bits=known))
        assert found[0].tolist() == round_by_definition(totals, law, grid, words.tolist(), played.later, known)
        further += bool(played.later)
    assert further >= 20


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("known", [52, 36])
def test_what_is_decided_at_the_last_moment_is_right_for_all_further_bits(law, known):
    """Totals that bring the estimate to between 0.98 and 1.04 times its error from an integer: right at the ends of all U, if decided."""
    rng, grid, d = np.random.default_rng(known), Grid.of(Fraction(31, 7), fine_bits=50), law.unit or 2
    ratio, open_rows, checked = float(grid.ratio), 0, 0
    words = structured_words(rng, (60, law.uniforms(d)), known, share=0.15)
    with np.errstate(all="ignore"):
        values, errors = law.estimate(words, known, d)
    for row in np.flatnonzero(errors.max(axis=1) * ratio < 0.1):
        margin = errors[row] * ratio + (np.abs(values[row]) * ratio + 3) * 2.0**-50
        margin *= rng.choice([0.98, 1.002, 1.01, 1.04])
        place = np.where(rng.random(d) < 0.5, margin, 1 - margin)
        totals = [
            round((Fraction(x) - Fraction(v) * grid.ratio - Fraction(1, 2)) * 2**50)
            for x, v in zip(place.tolist(), values[row].tolist(), strict=True)
        ]
        whole, fraction = rounding._split(np.array([totals], dtype=object), grid)
        floors, decided = rounding._decide(values[row : row + 1].copy(), errors[row : row + 1].copy(), fraction, ratio, 1.0)
        if not decided.all():
            open_rows += 1
            continue
        checked += 1
        k, signs = [word >> (64 - known) for word in words[row].tolist()], [word & 1 for word in words[row].tolist()]
        for _ in range(4):
            u = [mpmath.mpf(number + int(end)) / 2**known for number, end in zip(k, rng.integers(0, 2, len(k)), strict=True)]
            with mpmath.workdps(60):
                noise = [to_fraction(x) for x in exact_row(law.name, u, signs, d)] if min(u) > 0 else []
            for total, y, q, floor in zip(totals, noise, whole[0].tolist(), floors[0].tolist(), strict=False):
                exact = (total * grid.h_f + grid.scale * y) / grid.h + Fraction(1, 2)
                assert q + floor == math.floor(exact)
    assert min(open_rows, checked) >= 5


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize(("d", "rows"), [(1, 1500), (3, 300), (22, 30), (101, 4)])
def test_widening_the_bounds_changes_no_value_for_the_same_uniform_numbers(law, d, rows, monkeypatch):
    """Rows that the fast path decides may need further bits in balls. Here those are a function of the row's first ones."""
    decide, asked = rounding._decide_row, Counter()

    def decide_alone(totals, words, law, grid, _bits, known):
        asked[widen] += 1
        return decide(totals, words, law, grid, open_bits(np.random.default_rng(words)), known)

    monkeypatch.setattr(rounding, "_decide_row", decide_alone)
    rng = np.random.default_rng(d)
    totals = rng.integers(-(2**40), 2**40, size=(rows, d))
    units = (-(-rows * d // law.unit), law.unit) if law.unit else (rows, d)
    words = structured_words(rng, (units[0] * law.uniforms(units[1]),), share=0.01)
    grid, found = Grid.of(Fraction(3, 7)), {}
    for widen in (1.0, 2.0**12, 2.0**30):
        found[widen] = draw_rounded_integers(totals, law, grid, Played(words), precision=Precision(widen=widen)).tolist()
    assert found[1.0] == found[2.0**12] == found[2.0**30]
    assert asked[1.0] < asked[2.0**30]


def decided_in_turn(rows, words, law, grid, further, rounds):
    """What rows are by definition if each took its further words in ``rounds`` of as many words as it has, one row after the other."""
    found, size = [], len(words[0])
    for totals, first, count in zip(rows, words, rounds, strict=True):
        found.append(round_by_definition(totals, law, grid, first, further[: count * size]))
        further = further[count * size :]
    assert not further
    return found


def test_which_row_takes_a_further_word_depends_on_other_totals_and_every_row_is_right_for_the_words_it_took():
    """The lemma of docs/exact-noise.md, section 6, is about this: a row's further words are those that the open rows before it left."""
    grid, words = Grid.of(Fraction(1), fine_bits=50), [[1 << 63], [0]]
    with mpmath.workdps(60):
        noise = to_fraction(exact_row("laplace", [mpmath.mpf(2**52 + 1) / 2**53], [0], 1)[0]) * grid.ratio
    tie = math.floor((math.floor(noise) + Fraction(3, 2) - noise) * 2**50)
    taken = []
    for total, rounds in ((0, (0, 1)), (tie, (1, 1))):
        played = Played(np.array(words, dtype=np.uint64), seed=3)
        found = draw_rounded_integers(np.array([[total], [0]]), LAPLACE, grid, played).tolist()
        assert found == decided_in_turn([[total], [0]], words, LAPLACE, grid, played.later, rounds)
        taken.append(found[1])
    assert taken[0] != taken[1]


def test_a_wider_bound_may_give_further_words_to_other_rows_and_every_row_is_right_for_the_words_it_took():
    """The fast path decides this row, balls of the same bits do not: its dependencies are seen by one and not by the others."""
    grid = Grid.of(Fraction(598110953910, 269623831237), fine_bits=50)
    words = [[18446744073709551029, 6569086109252577], [0, 2**62 + 12345]]
    totals = [[504349599521119, 523832662404075], [0, 0]]
    for widen, rounds in ((1.0, (0, 1)), (2.0**30, (1, 1))):
        played = Played(np.array(words, dtype=np.uint64), seed=4)
        found = draw_rounded_integers(np.array(totals), NORMAL, grid, played, precision=Precision(widen=widen)).tolist()
        assert found == decided_in_turn(totals, words, NORMAL, grid, played.later, rounds)


def test_normal_numbers_of_rows_with_an_odd_number_share_pairs():
    grid, totals = Grid.of(Fraction(1)), np.arange(6).reshape(2, 3)
    words = np.random.default_rng(6).integers(0, 2**64, size=6, dtype=np.uint64)
    tall, flat = (draw_rounded_integers(totals.reshape(shape), NORMAL, grid, Played(words)) for shape in ((2, 3), (1, 6)))
    assert tall.tolist() == flat.reshape(2, 3).tolist()
    three = Played(words[:4])
    assert draw_rounded_integers(totals[:1], NORMAL, grid, three).shape == (1, 3)
    assert three.given.size == 0


def test_a_row_that_needs_further_words_changes_no_other_row():
    """Whatever bits the open rows take, the first words of all rows are the same ones."""
    words = np.random.default_rng(1).integers(0, 2**64, size=3000, dtype=np.uint64)
    open_words = words.copy()
    open_words[[0, 700, 2999]] = 0  # k = 0: every bound is infinite
    totals, grid = np.zeros((3000, 1), dtype=np.int64), Grid.of(Fraction(1))
    one, other = Played(words), Played(open_words)
    first, second = (draw_rounded_integers(totals, LAPLACE, grid, source)[:, 0] for source in (one, other))
    assert (len(one.later), len(other.later)) == (0, 3)
    assert np.flatnonzero(first != second).tolist() == [0, 700, 2999]
    assert (second[[0, 700, 2999]] > 52 * 0.69 * 2**20).all()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(-(2**200), 2**200),
    st.fractions(min_value=Fraction(1, 10**30), max_value=10**30, max_denominator=10**40),
    st.integers(0, 2**64 - 1),
    st.sampled_from([(20, 20), (0, 0), (1, 3), (20, 50), (5, 1)]),
)
def test_totals_of_any_size(total, scale, word, bits):
    if scale <= 0:
        return
    grid = Grid.of(scale, output_bits=bits[0], fine_bits=bits[1])
    played = Played(np.array([word], dtype=np.uint64))
    found = draw_rounded_integers(np.array([[total]], dtype=object), LAPLACE, grid, played)
    assert found[0].tolist() == round_by_definition([total], LAPLACE, grid, [word], played.later)
    if abs(total) < 2**62:
        again = Played(np.array([word], dtype=np.uint64))
        assert draw_rounded_integers(np.array([[total]]), LAPLACE, grid, again).tolist() == found.tolist()


def test_the_least_and_largest_int64_totals():
    grid = Grid.of(Fraction(1), fine_bits=1)
    ends = np.array([[-(2**63), 2**63 - 1]])
    found = draw_rounded_integers(ends, EXPONENTIAL, grid, open_bits(1))
    again = draw_rounded_integers(ends.astype(object) * 2**30, EXPONENTIAL, Grid.of(Fraction(1), fine_bits=31), open_bits(1))
    assert found.tolist() == again.tolist()
    assert draw_rounded_integers(ends.view(np.uint64), EXPONENTIAL, grid, open_bits(1))[0, 0] >= 2**62


LARGE = 2**70


def large_law(size):
    """A law whose fast path knows nothing and whose balls are far away."""

    def estimate(words, _known, _d):
        return np.zeros(words.shape), np.full(words.shape, np.inf)

    return NoiseLaw("large", lambda d: d, estimate, lambda balls, _words, _d: [ball + size for ball in balls], unit=1)


def test_the_type_of_the_integers_is_a_function_of_their_values():
    """Noise has no bound: where it is too large for 64 bits, Python's integers take their place. These become 64 bits where they fit."""
    grid, words = Grid.of(Fraction(1), output_bits=0), np.full(3, 1 << 62, dtype=np.uint64)
    totals = np.array([[1, -5, 2**20]])
    for asked in (totals, totals.astype(object), totals.astype(">i8")):
        far = draw_rounded_integers(asked, large_law(LARGE), grid, Played(words))
        assert (far.dtype, far.tolist()) == (object, [[LARGE, LARGE, LARGE + 1]])
        assert [type(integer) for integer in far.flat] == [int] * 3
        assert draw_rounded(asked, large_law(LARGE), grid, Played(words)).tolist() == [[2.0**70] * 3]
        near = draw_rounded_integers(asked, LAPLACE, grid, Played(words))
        assert near.dtype == np.int64
    assert draw_rounded_integers(np.zeros((0, 2), dtype=object), LAPLACE, grid, Played(words)).dtype == np.int64
    for least, dtype in ((-(2**63), np.int64), (-(2**63) - 1, object), (2**63 - 1, np.int64), (2**63, object)):
        assert draw_rounded_integers(np.array([[least << 20]], dtype=object), large_law(0), grid, Played(words)).dtype == dtype


@pytest.mark.thorough
def test_noise_of_many_dimensions_may_be_too_large_for_64_bits():
    d, grid = 120_000, Grid.of(Fraction(2) - Fraction(1, 2**50), output_bits=40)
    words = np.array([1 << 12] * (d + 1) + [2**64 - 1] * d, dtype=np.uint64)
    found = draw_rounded_integers(np.zeros((1, d), dtype=np.int64), MAXIMUM, grid, Played(words))
    assert found.dtype == object
    assert min(found.flat) > 2**63


def test_floats_are_the_grid_points_and_saturate():
    grid = Grid.of(Fraction(5, 3))
    totals = np.array([[0, 2**40, -(2**50)]])
    floats, integers = draw_rounded(totals, MAXIMUM, grid, open_bits(4)), draw_rounded_integers(totals, MAXIMUM, grid, open_bits(4))
    assert [Fraction(x) for x in floats[0].tolist()] == [integer * grid.h for integer in integers[0].tolist()]
    large = draw_rounded(np.array([[10**700, -(10**700), 2**1060]], dtype=object), LAPLACE, grid, open_bits(4))
    assert large[0, :2].tolist() == [sys.float_info.max, -sys.float_info.max]
    assert large[0, 2] == 2.0 ** (1060 + grid.fine)
    top = draw_rounded(np.array([[2**62, -(2**62), 0]]), LAPLACE, Grid.of(Fraction(2) ** 1023), open_bits(4))
    assert top[0, :2].tolist() == [sys.float_info.max, -sys.float_info.max]
    tiny = draw_rounded(np.zeros((100, 1), dtype=np.int64), LAPLACE, Grid.of(Fraction(1, 2**1054)), open_bits(4))
    assert 2.0**-1056 < np.abs(tiny).mean() < 2.0**-1053


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_shapes(law):
    grid = Grid.of(Fraction(1))
    for shape in ((0, 3), (3, 0), (0, 0), (1, 1), (2, 3), (700, 5), (2, 4000)):
        found = draw_rounded(np.broadcast_to(np.int64(0), shape), law, grid, open_bits(2))
        assert (found.shape, found.dtype) == (shape, np.float64)
    small = draw_rounded(np.zeros((4, 2), dtype=np.int8), law, grid, open_bits(2))
    assert small.tolist() == draw_rounded(np.zeros((4, 2), dtype=object), law, grid, open_bits(2)).tolist()


@pytest.mark.parametrize(
    "totals",
    [
        np.zeros(3, dtype=np.int64),
        np.zeros((2, 2)),
        np.array([[1.5]], dtype=object),
        np.array([[True]]),
        np.array([["1"]]),
        [[1, 2]],
        np.ma.array([[5 << 20, 7 << 20]], mask=[[False, True]]),
        np.ma.array([[5 << 20, 7 << 20]]),
        np.ma.array([[5 << 20, 7 << 20]], dtype=object),
    ],
    ids=["one dimension", "floats", "objects", "booleans", "texts", "list", "masked", "no mask set", "masked objects"],
)
def test_what_are_no_totals_is_refused(totals):
    with pytest.raises(InvalidArgument, match="totals"):
        draw_rounded(totals, LAPLACE, Grid.of(Fraction(1)), open_bits(1))


@pytest.mark.parametrize("kind", [">u8", "<u8", ">i8", "<i8", ">u4", ">i2"])
def test_bytes_of_totals_in_any_order(kind):
    ends = np.array([[0, 3, np.iinfo(kind).max, np.iinfo(kind).min]], dtype=kind)
    found = draw_rounded_integers(ends, EXPONENTIAL, Grid.of(Fraction(1), fine_bits=2), open_bits(1))
    again = draw_rounded_integers(ends.astype(object), EXPONENTIAL, Grid.of(Fraction(1), fine_bits=2), open_bits(1))
    assert found.tolist() == again.tolist()


def test_a_matrix_is_an_array_like_any_other():
    totals, grid = np.arange(6).reshape(2, 3) << 20, Grid.of(Fraction(1))
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(totals)
    for law in (LAPLACE, EUCLIDEAN):
        found = draw_rounded(matrix, law, grid, open_bits(1))
        assert type(found) is np.ndarray
        assert found.tolist() == draw_rounded(totals, law, grid, open_bits(1)).tolist()


def test_precisions_that_are_refused():
    for wrong in ({"known_bits": 53}, {"known_bits": 0}, {"widen": 0.5}, {"widen": math.nan}):
        with pytest.raises(InvalidArgument, match=r"known bits and a factor of at least 1, but .* were found;"):
            Precision(**wrong)


def test_settings_of_numpy_raise_nothing_that_depends_on_data():
    words = np.zeros(2, dtype=np.uint64)
    with np.errstate(all="raise"):
        found = draw_rounded(np.array([[10**400, 5]], dtype=object), LAPLACE, Grid.of(Fraction(10) ** 280), Played(words))
    assert found[0, 0] == sys.float_info.max
