"""Numbers: exact on the way in, rounded to the stated side on the way out."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from profiles import InvalidArgument, InvalidData, InvalidNumber, decimal_text, exact_text, to_exact
from profiles.numbers import (
    MAX_FLOAT,
    bisect,
    decimal_above,
    decimal_below,
    exact_root,
    integer_text,
    root_above,
    root_below,
    round_down,
    round_down_finite,
    round_up,
    round_up_finite,
    shorten,
    to_integer,
    to_number,
)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (-7, Fraction(-7)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int64(4), Fraction(4)),
        (np.array(2.5), Fraction(5, 2)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 3), Fraction(2, 3)),
        (sympy.Rational(2, 3), Fraction(2, 3)),
        (sympy.Integer(5), Fraction(5)),
        (mpmath.mpf("0.5"), Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        (" +1.50 ", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-2e-3", Fraction(-1, 500)),
        ("1E2", Fraction(100)),
        ("3/4", Fraction(3, 4)),
        ("-1.5 / 0.5", Fraction(-3)),
        ("1_000", Fraction(1000)),
    ],
)
def test_exact_values(value, exact):
    assert to_exact(value) == exact


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(True),
        None,
        [],
        {},
        "",
        " ",
        "abc",
        "nan",
        "inf",
        "-inf",
        "1e",
        ".",
        "-",
        "1_",
        "_1",
        "1__0",
        "0x10",
        "1,5",
        "1 000",
        "1/0",
        "1/",
        "/2",
        "1/2/3",
        "1" + "/1" * 100_000,
        "1" * 1001,
        "1" * 1_000_000,
        "1e4001",
        "1e-4001",
        "1e999999",
        "1e9999999999",
        "0." + "0" * 900 + "1e-3999",
        "١",
        "１",
        "1\x00",
        math.nan,
        math.inf,
        -math.inf,
        np.float64("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e5000"),
        10**5000,
        1j,
        np.complex128(1),
        np.timedelta64(1, "s"),
        np.datetime64(1, "s"),
        np.array([0.1]),
        np.array([1.0, 2.0]),
        object(),
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else "integer",
)
def test_unusable_numbers_are_named(value):
    with pytest.raises(InvalidNumber) as caught:
        to_exact(value, "the scale")
    assert "the scale" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "value", [sympy.pi, sympy.Float("0.1", 50), mpmath.mpf(1) / 3 + mpmath.mpf(2) ** -60, np.longdouble("0.1")], ids=str
)
def test_what_would_have_to_be_rounded_is_refused(value):
    if isinstance(value, np.longdouble) and value == float(value):
        pytest.skip("long doubles are doubles here")
    if isinstance(value, mpmath.mpf):
        with mpmath.workdps(40):
            value = mpmath.mpf(1) / 3
    with pytest.raises(InvalidNumber, match="rounded"):
        to_exact(value)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_their_binary_value(value):
    assert to_exact(value) == Fraction(value)


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_decimals_are_what_is_written(value):
    assert to_exact(value) == to_exact(str(value)) == Fraction(value)


@settings(deadline=None)
@given(st.fractions())
def test_exact_text_reads_back(value):
    assert to_exact(exact_text(value)) == value == Fraction(exact_text(value))


@settings(deadline=None)
@given(st.integers(-(10**30), 10**30), st.integers(-3900, 3900))
def test_exact_text_of_long_decimals_reads_back(mantissa, exponent):
    value = Fraction(mantissa) * Fraction(10) ** exponent
    text = exact_text(value)
    assert to_exact(text) == value
    assert max(map(len, text.split("/"))) <= 1000


@pytest.mark.parametrize(
    "text", ["1e4000", "-1e-4000", "9" * 990 + "e4000", "1" + "0" * 900 + "e4000", "0." + "0" * 900 + "1e-3000", "7e-1500/3"]
)
def test_exact_text_of_extreme_literals_reads_back(text):
    assert to_exact(exact_text(to_exact(text))) == to_exact(text)


@settings(deadline=None)
@given(st.integers(0, 2**200), st.integers(9_000, 40_000))
def test_integers_beyond_the_limit_of_str_are_written(low, bits):
    value = (1 << bits) + low
    text, back = integer_text(value), 0
    for start in range(0, len(text), 4000):
        piece = text[start : start + 4000]
        back = back * 10 ** len(piece) + int(piece)
    assert back == value
    assert integer_text(-value) == "-" + text


def read_back(text: str) -> Fraction:
    mantissa, _, exponent = text.partition("e")
    return Fraction(mantissa) * Fraction(10) ** int(exponent or 0)


def significant(text: str) -> int:
    return len(text.partition("e")[0].replace("-", "").replace(".", "").strip("0"))


numbers = st.one_of(
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.builds(lambda m, e: Fraction(m) * Fraction(10) ** e, st.integers(-(10**25), 10**25), st.integers(-60, 60)),
    st.builds(lambda e, s, d: s * (Fraction(10) ** e + d), st.integers(-40, 40), st.sampled_from([-1, 1]), st.fractions(-1, 1)),
)


@settings(deadline=None)
@given(numbers, st.integers(1, 40), st.booleans())
def test_decimal_text_is_on_its_side_and_tight(value, digits, up):
    text = decimal_text(value, digits, round_up=up)
    shown = read_back(text)
    assert shown >= value if up else shown <= value
    assert significant(text) <= digits
    if value:
        magnitude = abs(value)
        ulp = Fraction(10) ** (math.floor(mpmath.log10(mpmath.mpf(magnitude.numerator) / magnitude.denominator)) - digits + 2)
        assert abs(shown - value) < ulp


@settings(deadline=None)
@given(numbers, st.integers(1, 30))
def test_decimal_text_sides_mirror_and_meet_at_exact_numbers(value, digits):
    assume(value != 0)
    below, above = decimal_text(value, digits, round_up=False), decimal_text(value, digits, round_up=True)
    assert read_back(decimal_text(-value, digits, round_up=True)) == -read_back(below)
    assert (below == above) == (read_back(below) == value)
    assert read_back(decimal_text(read_back(above), digits, round_up=True)) == read_back(above)


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (Fraction(999, 1000), 2, "0.99", "1"),
        (Fraction(-999, 1000), 2, "-1", "-0.99"),
        (Fraction(1, 3), 3, "0.333", "0.334"),
        (Fraction(0), 5, "0", "0"),
        (Fraction(12345), 2, "12000", "13000"),
        (Fraction(10) ** 25, 5, "1e25", "1e25"),
        (Fraction(1, 10**9), 5, "1e-9", "1e-9"),
        (Fraction(99999), 4, "99990", "100000"),
        (Fraction(1, 2**20000), 3, "2.51e-6021", "2.52e-6021"),
        (Fraction(2) ** 20000, 3, "3.98e6020", "3.99e6020"),
    ],
)
def test_decimal_text_examples(value, digits, down, up):
    assert decimal_text(value, digits, round_up=False) == down
    assert decimal_text(value, digits, round_up=True) == up


def test_decimal_text_prints_any_number_of_digits():
    text = decimal_text(Fraction(1, 3), 6000, round_up=False)
    assert text == "0." + "3" * 6000


@pytest.mark.parametrize("digits", [0, -1])
def test_no_digits_is_an_error(digits):
    with pytest.raises(InvalidNumber):
        decimal_text(Fraction(1, 3), digits, round_up=True)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.fractions(), st.builds(lambda n, e: n * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-1200, 1200))))
def test_binary64_with_a_side_is_the_next_number(value):
    down, up = round_down(value), round_up(value)
    assert down == -math.inf or Fraction(down) <= value
    assert up == math.inf or value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))
    assert (up == down) == (abs(value) <= MAX_FLOAT and Fraction(down) == value)


def test_binary64_with_a_side_at_the_borders():
    tiny, huge = Fraction(1, 10**400), Fraction(10**400)
    assert (round_down(tiny), round_up(tiny)) == (0.0, 5e-324)
    assert math.copysign(1, round_up(Fraction(0))) == math.copysign(1, round_up(-tiny)) == 1
    assert (round_down(huge), round_up(huge), round_down(-huge), round_up(-huge)) == (MAX_FLOAT, math.inf, -math.inf, -MAX_FLOAT)
    assert round_up_finite(Fraction(MAX_FLOAT)) == round_down_finite(Fraction(MAX_FLOAT)) == MAX_FLOAT
    for rounded in (round_down_finite, round_up_finite):
        with pytest.raises(InvalidNumber, match="above the largest binary64 number"):
            rounded(Fraction(MAX_FLOAT) + tiny)


def test_a_fraction_in_a_message_is_short():
    assert shorten(Fraction(-2, 3)) == "-2/3"
    assert shorten(Fraction(7)) == "7"
    assert shorten(Fraction("1e5000")) == "1" + "0" * 36 + "..."  # longer than str accepts


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), sympy.Integer(3)])
def test_integers_of_all_libraries(value):
    found = to_integer(value, "k", 1, 3)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [True, np.bool_(True), 1.0, np.float64(2.0), math.nan, Fraction(2), "2", None, 0, 4, -(10**100), 10**100])
def test_what_is_no_integer_in_the_range_is_refused(value):
    with pytest.raises(InvalidData, match=r"^k must be an integer from 1 to 3, but '.{1,40}' was found; count them$"):
        to_integer(value, "k", 1, 3, hint="count them", error=InvalidData)


def test_a_refused_integer_may_be_longer_than_python_prints():
    with pytest.raises(InvalidArgument, match=r"^k must be an integer from 1 to 3, but '10{39}' was found; give one$"):
        to_integer(10**5000, "k", 1, 3)


def test_whole_numbers_in_any_form():
    assert [to_integer(value, "k", any_form=True) for value in (2.0, "3e2", Fraction(4), -5, np.float32(6))] == [2, 300, 4, -5, 6]
    for value in (2.5, "1/3"):
        with pytest.raises(InvalidArgument, match=r"^k must be an integer of at least 0, but "):
            to_integer(value, "k", 0, any_form=True)
    with pytest.raises(InvalidNumber):
        to_integer(math.nan, "k", any_form=True)
    with pytest.raises(InvalidNumber):
        to_integer(True, "k", any_form=True)


@given(st.integers(-1000, 1000), st.integers(1, 2000), st.data())
def test_bisection_ends_at_neighbors(low, width, data):
    """Of integers and of binary64 numbers the place where an increasing condition begins is found, of fractions what is enough."""
    first = data.draw(st.integers(low + 1, low + width))
    assert bisect(lambda n: n >= first, low, low + width) == (first - 1, first)
    border = data.draw(st.floats(low, low + width, exclude_min=True))
    left, right = bisect(lambda x: x >= border, float(low), float(low + width))
    assert left < border <= right == math.nextafter(left, math.inf)
    below, above = bisect(
        lambda x: x * x * x >= first**3, Fraction(low), Fraction(low + width), lambda lo, hi: hi - lo < Fraction(1, 10**6)
    )
    assert below < first <= above < below + Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("value", "within", "message"),
    [
        (0, "(0, 1]", "the share must lie in (0, 1], but 0 was found; correct it"),
        (1, "[0, 1)", "the share must lie in [0, 1), but 1 was found; correct it"),
        ("1.5", "[0, 1]", "the share must lie in [0, 1], but 1.5 was found; correct it"),
        (-1, "(0, inf)", "the share must be positive, but -1 was found; correct it"),
        ("0.5", "[1, inf)", "the share must be at least 1, but 0.5 was found; correct it"),
        (1, "(1, inf)", "the share must be above 1, but 1 was found; correct it"),
    ],
)
def test_a_number_outside_its_interval_is_refused_with_the_interval(value: object, within: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        to_number(value, "the share", within)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "within"), [(0, "[0, 1)"), (1, "(0, 1]"), ("1/2", "(0, 1)"), (10**9, "[1, inf)"), ("1e-13", "[1e-13, 1)")]
)
def test_the_ends_of_an_interval_belong_to_it_where_it_is_closed(value: object, within: str) -> None:
    assert to_number(value, "the share", within) == to_exact(value)


@pytest.mark.parametrize("value", [Fraction(0), Fraction(2), Fraction(9, 4), Fraction(1, 10**40), Fraction(10**40, 3)])
def test_roots_are_the_nearest_multiples_on_their_side(value: Fraction) -> None:
    step = Fraction(1, 10**6)
    low, high = root_below(value, 10**6), root_above(value, 10**6)
    assert low**2 <= value < (low + step) ** 2
    assert high**2 >= value
    assert high == 0 or (high - step) ** 2 < value


def test_exact_roots_are_found_where_they_are_rational() -> None:
    assert exact_root(Fraction(9, 4)) == Fraction(3, 2)
    assert exact_root(Fraction(8, 27), 3) == Fraction(2, 3)
    assert exact_root(Fraction(2)) is None


def test_decimals_are_rounded_to_their_side() -> None:
    assert decimal_below(Fraction(2, 3), 3) == Fraction(666, 1000)
    assert decimal_above(Fraction(2, 3), 3) == Fraction(667, 1000)
