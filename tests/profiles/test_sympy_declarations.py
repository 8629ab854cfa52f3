"""A declaration in SymPy's own spelling: symbols as keys, sets as ranges, assumptions that have to fit what is declared."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
import sympy
from sympy import Dummy, FiniteSet, Float, Interval, Rational, Symbol, Wild, oo, symbols

from profiles import InvalidExpression, InvalidNumber, InvalidProfile, PDPError, declare

w, z, b, y = symbols("w z b y")


def refusal(*arguments, **keywords) -> str:
    with pytest.raises(PDPError) as caught:
        declare(*arguments, **keywords)
    message = str(caught.value)
    assert "\n" not in message
    assert ";" in message  # what to do stands behind it
    return message


def test_symbols_are_keys():
    symbolic = declare("s", w * z / b, record={z: (Rational(1, 2), 2)}, parameters={b: 3})
    assert symbolic == declare("s", "w*z/b", record={"z": ["1/2", 2]}, parameters={"b": 3})
    mixed = declare("s", w * z / b, record={"z": (Rational(1, 2), 2)}, parameters={b: sympy.Integer(3)})
    assert mixed == symbolic
    assert declare("s", "w*z/b", record={z: [Fraction(1, 2), 2]}, parameters={b: 3}) == symbolic  # text with keys that are symbols


@pytest.mark.parametrize(
    "given", [Interval(0, 2), (0, 2), [0, sympy.Integer(2)], (Float(0), Float(2)), sympy.Tuple(0, 2), Interval(Float(0), 2)]
)
def test_ranges_of_statistics(given):
    assert declare("s", w * z, record={z: given}).record == declare("s", "w*z", record={"z": [0, 2]}).record


def test_a_range_of_one_point():
    assert declare("s", w * z, record={z: Interval(2, 2)}).record == declare("s", "w*z", record={"z": [2, 2]}).record
    assert declare("s", w * z, record={z: FiniteSet(2)}).record[0].hi == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Interval.open(0, 2), "closed"),
        (Interval.Lopen(0, 2), "closed"),
        (Interval.Ropen(0, 2), "closed"),
        (Interval(0, oo), "finite"),
        (Interval(-oo, 2), "finite"),
        (sympy.S.Reals, "finite"),
        ((0, oo), "finite"),
        (Interval(2, 0), "empty"),
        (FiniteSet(0, 2), "Interval"),
        (sympy.Union(Interval(0, 1), Interval(2, 3)), "Interval"),
        (sympy.S.Naturals, "Interval"),
        (Interval(0, sympy.sqrt(2)), "rational"),
        ((0, sympy.pi), "rational"),
        ((0, sympy.I), "rational"),
        (z < 2, "pair"),
        (sympy.Range(0, 2), "Interval"),
        (sympy.Tuple(0, 1, 2), "pair"),
    ],
)
def test_other_ranges_are_refused_in_words(given, words):
    assert words in refusal("s", w * z, record={z: given})


def test_an_open_range_says_which_closed_one_serves():
    assert "Interval(0, 2)" in refusal("s", w * z, record={z: Interval.open(0, 2)})


def test_parameters():
    assert declare("s", w / b, parameters={b: "positive"}) == declare("s", "w/b", parameters={"b": "positive"})
    assert declare("s", w / b, parameters={b: Interval.open(0, oo)}) == declare("s", "w/b", parameters={"b": "positive"})
    assert declare("s", w / b, parameters={b: Interval(1, 5)}) == declare("s", "w/b", parameters={"b": [1, 5]})
    assert declare("s", w / b, parameters={b: Rational(1, 3)}).parameters[0].value == Fraction(1, 3)
    assert declare("s", w / b, parameters={b: FiniteSet(4)}).parameters[0].bounds == (4, 4)
    for given in (Interval(0, 5), Interval(1, oo), Interval.open(1, oo), Interval.open(1, 5), sympy.sqrt(2), sympy.pi, oo, z, w + 1):
        refusal("s", w / b, parameters={b: given})


def test_floats_are_their_exact_binary_value():
    tenth = Fraction(0.1)
    assert (
        declare("s", 0.1 * w * z, record={z: (0, 1)}).expression() == declare("s", w * z * Rational(0.1), record={z: (0, 1)}).expression()
    )
    assert declare("s", w * z, record={z: Interval(0.1, 1)}).record[0].lo == tenth
    assert declare("s", w * z, record={z: (Float(0.1), 1)}).record[0].lo == tenth
    long = Float("0.1", 40)
    exact = sympy.Rational(long)
    assert declare("s", w / b, parameters={b: long}).parameters[0].value == Fraction(int(exact.p), int(exact.q)) != tenth


@pytest.mark.parametrize("exponent", [10**6, -(10**6), 10**12])
def test_a_float_of_any_exponent_is_refused_at_once(exponent):
    huge = Float(2) ** exponent
    started = time.process_time()
    for call in (
        lambda: declare("s", w * huge),
        lambda: declare("s", w + huge**2),
        lambda: declare("s", w * b, parameters={b: huge}),
        lambda: declare("s", w * z, record={z: (0, huge)}),
    ):
        with pytest.raises((InvalidExpression, InvalidNumber)):
            call()
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("assumptions", "lo", "hi"),
    [
        ({}, 0, 4), ({"real": True}, -1, 4), ({"nonnegative": True}, 0, 4), ({"positive": True}, Rational(1, 2), 4),
        ({"nonzero": True}, 1, 4), ({"nonzero": True}, -2, -1), ({"negative": True}, -2, -1), ({"nonpositive": True}, -2, 0),
        ({"finite": True}, 0, 4), ({"complex": True}, 0, 4), ({"integer": True}, 2, 2), ({"zero": True}, 0, 0), ({"even": True}, 2, 2),
        ({"positive": False}, -2, 0), ({"negative": False}, 0, 2), ({"extended_positive": True}, 1, 2), ({"rational": True}, 1, 1),
        ({"extended_real": True}, 0, 1),
    ],
)  # fmt: skip
def test_assumptions_that_fit(assumptions, lo, hi):
    x = Symbol("x", **assumptions)
    assert declare("s", w * x**2, record={x: (lo, hi)}).record[0].name == "x"
    assert declare("s", w * x**2, record={"x": (lo, hi)}).record[0].name == "x"


@pytest.mark.parametrize(
    ("assumptions", "lo", "hi"),
    [
        ({"positive": True}, 0, 4), ({"positive": True}, -1, 4), ({"nonnegative": True}, -1, 4), ({"nonzero": True}, 0, 4),
        ({"nonzero": True}, -1, 1), ({"negative": True}, 0, 4), ({"nonpositive": True}, 0, 4), ({"integer": True}, 0, 4),
        ({"even": True}, 3, 3), ({"zero": True}, 0, 1), ({"real": False}, 0, 1), ({"imaginary": True}, 0, 0), ({"rational": True}, 0, 1),
        ({"irrational": True}, 0, 1), ({"prime": True}, 2, 3), ({"infinite": True}, 0, 1), ({"positive": False}, 0, 1),
        ({"negative": False}, -1, 0), ({"extended_negative": True}, 0, 1), ({"integer": False}, 0, 1), ({"commutative": False}, 0, 1),
        ({"noninteger": True}, 0, 1), ({"transcendental": True}, 0, 1), ({"algebraic": True}, 0, 1), ({"odd": True}, 0, 1),
    ],
)  # fmt: skip
def test_assumptions_that_contradict_the_range_are_refused(assumptions, lo, hi):
    """SymPy has simplified with them already: sqrt(x**2) is -x for a negative x."""
    x = Symbol("x", **assumptions)
    for key in (x, "x"):
        message = refusal("s", w * x**2 + w, record={key: (lo, hi)})
        assert "'x'" in message
        assert "assum" in message or "commutative" in message


def test_assumptions_of_parameters_and_of_the_weight():
    positive, negative, count = Symbol("b", positive=True), Symbol("b", negative=True), Symbol("T", integer=True, positive=True)
    assert declare("s", w / positive, parameters={positive: "positive"}).free_parameters
    assert declare("s", w / positive, parameters={positive: (1, 2)}).free_parameters
    assert declare("s", w * count, parameters={count: 10}).parameters[0].value == 10
    for value in ("positive", (1, 2), 3):
        refusal("s", -w / negative, parameters={negative: value})
    for value in ("positive", (1, 2), Rational(1, 2)):
        refusal("s", w * count, parameters={count: value})
    for assumptions in ({"positive": True}, {"real": True}, {"nonnegative": True}, {"nonzero": True}):
        assert declare("s", Symbol("w", **assumptions)).text == "w"
    for assumptions in ({"negative": True}, {"integer": True}, {"zero": True}, {"real": False}, {"commutative": False}):
        refusal("s", Symbol("w", **assumptions) + 1)


def test_a_positive_symbol_that_is_not_declared_is_refused():
    """Nobody said what it is: that it is a constant of the mechanism, and not a statistic of the record, is for the declaration to say."""
    assert "parameters={b: 'positive'}" in refusal("s", w * z / Symbol("b", positive=True), record={z: (0, 1)})


def test_two_symbols_of_one_name_are_refused():
    other = Symbol("z", positive=True)
    for expression, record in ((w * z + w * other, {z: (1, 2)}), (w * other, {z: (1, 2)}), (w * z, {z: (1, 2), other: (1, 2)})):
        assert "two different symbols" in refusal("s", expression, record=record)
    assert "two different symbols" in refusal("s", w + Symbol("w", positive=True))
    assert "twice" in refusal("s", w * z, record={z: (1, 2), "z": (1, 2)})


@pytest.mark.parametrize("made", [Dummy("z"), Wild("z")])
def test_symbols_that_are_not_their_name_are_refused(made):
    assert "Symbol('z')" in refusal("s", w * made, record={"z": (0, 1)})
    assert "Symbol('z')" in refusal("s", w * made, record={made: (0, 1)})


@pytest.mark.parametrize(
    "key", [w, Symbol("exp"), Symbol("z y"), Symbol("λ"), Symbol("lambda"), z + 1, sympy.Function("z"), Interval(0, 1), 3]
)
def test_other_keys_are_refused(key):
    with pytest.raises(InvalidProfile):
        declare("s", w, record={key: (0, 1)})


def test_functions_as_sympy_spells_them():
    expression = sympy.Max(w * z, sympy.Min(w, 2)) + sympy.Abs(z - 1) + sympy.Piecewise((w, z < 1), (2 * w, z >= 1)) + sympy.log(1 + w)
    made = declare("s", expression + sympy.exp(-w) + sympy.sqrt(w), record={z: Interval(0, 2)})
    assert made.text == declare("s", made.text, record={"z": [0, 2]}).text
    turned = sympy.Piecewise((w, sympy.Gt(2, z)), (2 * w, True))
    assert "Piecewise" in declare("s", turned, record={z: (0, 4)}).text
    for bad in (
        sympy.Piecewise((w, z < 1)),
        sympy.Piecewise((w, (z > 1) & (z < 2)), (1, True)),
        sympy.Piecewise((w, sympy.Eq(z, 1)), (1, True)),
    ):
        refusal("s", bad, record={z: (0, 4)})


def test_ranges_change_with_sympy_too():
    profile = declare("s", w * z / b, record={z: (0, 2)}, parameters={b: "positive"})
    assert profile.with_record(z=Interval(1, 2)).record[0].lo == 1
    assert profile.with_parameters(b=Rational(1, 2)).parameters[0].value == Fraction(1, 2)
    with pytest.raises(InvalidProfile):
        profile.with_record(z=Interval(0, oo))
