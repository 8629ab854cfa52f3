"""Declared and composed profiles, and their SymPy side."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
import sympy

from profiles import InvalidExpression, InvalidNumber, InvalidProfile, compose_adaptively, declare, parse_expression

w, z, b, r = sympy.symbols("w z b r")


def test_text_and_sympy_declare_the_same():
    record, parameters = {"z": [0, 4]}, {"b": "positive"}
    text = declare("p", "w*z/b + exp(-w)*sqrt(z)", record=record, parameters=parameters)
    symbolic = declare("p", w * z / b + sympy.exp(-w) * sympy.sqrt(z), record=record, parameters=parameters)
    assert sympy.simplify(text.expression() - symbolic.expression()) == 0
    assert symbolic.record == text.record
    assert hash(text) is not None


@pytest.mark.parametrize(
    "keywords",
    [
        {"record": {"z": [1, 0]}},
        {"record": {"z": [0]}},
        {"record": {"z": 10**5000}},
        {"record": {"z": np.array([0, 1])}},
        {"record": [("z", [0, 1])]},
        {"record": {"w": [0, 1]}},
        {"record": {3: [0, 1]}},
        {"record": {"z": [0, 1]}, "parameters": {"z": 1}},
        {"record": {"z": [0, 1]}, "parameters": {"b": [0, 1]}},
        {"record": {"z": [0, 1]}, "parameters": 3},
        {"record": {"z": [0, 1]}, "parameters": {"lambda": 1}},
        {"record": {"z": [0, 1]}, "parameters": {"pi": 1}},
        {"record": {"zz": [0, 1]}},
        {},
    ],
    ids=lambda value: str(value.keys()) if isinstance(value, dict) else "",
)
def test_unusable_declarations_are_named(keywords):
    with pytest.raises(InvalidProfile) as caught:
        declare("p", "w*z", **keywords)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array(["positive"]), None, {}, "negative", float("nan"), True])
def test_unusable_parameters_are_named(value):
    with pytest.raises(InvalidNumber):
        declare("p", "w*b", parameters={"b": value})


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, None, 3, "\x00"])
def test_unusable_names_are_refused(name):
    with pytest.raises(InvalidProfile, match="printable name"):
        declare(name, "w")


def test_an_unknown_symbol_comes_with_a_hint():
    with pytest.raises(InvalidProfile, match="did you mean 'beta_sum'"):
        declare("p", "w/beta_summ", parameters={"beta_sum": 1})


def test_a_profile_without_the_weight_is_probably_a_mistake():
    with pytest.raises(InvalidProfile, match="weight"):
        declare("p", "z", record={"z": [0, 1]})
    declare("p", "z + 0*w", record={"z": [0, 1]})
    declare("p", "z", record={"z": [0, 1]}, ignores_weights=True)


@pytest.mark.parametrize(
    "expression",
    [
        sympy.gamma(w),
        sympy.Function("f")(w),
        sympy.oo,
        sympy.nan,
        sympy.zoo,
        sympy.I * w,
        w < z,
        sympy.true,
        sympy.Matrix([[w]]),
        sympy.Piecewise((w, w > 2)),
        sympy.Piecewise((w, (w > 2) & (w < 4)), (1, True)),
        sympy.Integral(w, w),
        reduce(lambda inner, _: sympy.exp(inner, evaluate=False), range(600), w),
        w**2000,
        w ** sympy.Rational(1, 10**10),
        w * 10**1500 + w / (10**1500 + 1),
        None,
        3j,
        object(),
        [w],
        {"w": 1},
        b"w",
    ],
    ids=lambda value: type(value).__name__,
)
def test_sympy_outside_the_grammar_is_named(expression):
    with pytest.raises(InvalidExpression) as caught:
        declare("p", expression, record={"z": [0, 1]})
    assert "\n" not in str(caught.value)


def test_sympy_floats_are_their_binary_value():
    profile = declare("p", 0.1 * w)
    assert profile.expression() == sympy.Rational(3602879701896397, 36028797018963968) * sympy.Symbol("w", positive=True)
    assert parse_expression(profile.text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "w*exp(1e9*log(2))",
        "w*exp(1e4000*log(2))",
        "w*exp(-1e9*log(3))",
        "w*3**(1e9*z/z)",
        "w*sqrt(1e4000 + 1)",
        "w*exp(log(2)*(1/1e-9))",
        "(1e3000*w)**1000",
        "Min(exp(exp(exp(1000))), 2)*w",
        "Piecewise((w, exp(exp(exp(1000))) < 2), (2*w, True))",
        "w*Max(" + ",".join(f"z + {i}*sin(z)" for i in range(300)) + ")",
        "w*log(0)",
        "w*sqrt(-1)",
        "w/0",
        "w + 1/(w - w)",
    ],
    ids=lambda text: text[:30],
)
def test_what_sympy_cannot_put_together_is_named_quickly(text):
    profile = declare("p", text, record={"z": [0, 1]})
    started = time.process_time()
    with pytest.raises(InvalidExpression):
        profile.expression()
    assert time.process_time() - started < 5


@pytest.mark.parametrize("text", ["w*(1 + z)**1000", "exp(500*log(w))", "w*sqrt(z/7)", "Min(w, z, 2) + w", "w*2**1000", "w*(z/3)**(1/3)"])
def test_ordinary_powers_stay_possible(text):
    assert declare("p", text, record={"z": [0, 1]}).expression() is not None


def test_ranges_and_parameters_can_be_changed():
    profile = declare("p", "w*z/b", record={"z": [0, 4]}, parameters={"b": "positive"})
    assert profile.with_parameters(b="0.1").parameters[0].value == Fraction(1, 10)
    assert profile.with_record(z=(1, 2)).record[0].lo == 1
    with pytest.raises(InvalidProfile, match="did you mean"):
        profile.with_parameters(bb=1)
    with pytest.raises(InvalidProfile):
        profile.with_record(y=(0, 1))
    with pytest.raises(InvalidProfile):
        profile.with_record(z=(2, 1))
    composed = compose_adaptively("c", [profile], times=3).with_parameters(b=2).with_record(z=(0, 1))
    assert composed.parts[0].profile.parameters[0].value == 2
    assert composed.parts[0].profile.record[0].hi == 1


def test_composition_adds_and_multiplies():
    count = declare("count", "w/a", parameters={"a": 2})
    total = declare("sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": 5})
    assert compose_adaptively("c", [count, total]).text == "w/a + w*z/b"
    assert compose_adaptively("c", [count, total], times="T").text == "T*(w/a + w*z/b)"
    assert compose_adaptively("c", [count, total], times="T", times_value=7).parameters[0].value == 7
    assert compose_adaptively("c", [count], times=2).text == "2*(w/a)" or compose_adaptively("c", [count], times=2).text == "2*w/a"
    value = compose_adaptively("c", [count, total], times=10).expression()
    symbols = {symbol.name: symbol for symbol in value.free_symbols}
    assert sympy.expand(value - 10 * symbols["w"] * (sympy.Rational(1, 2) + symbols["z"] / 5)) == 0


@pytest.mark.parametrize("times_value", ["0.5", 0, -1, "2.5"])
def test_a_number_of_rounds_is_a_positive_integer(times_value):
    part = declare("count", "w")
    with pytest.raises(InvalidProfile, match="must be an integer of at least 1"):
        compose_adaptively("c", [part], times="T", times_value=times_value)
    with pytest.raises(InvalidProfile, match="must be an integer of at least 1"):
        compose_adaptively("c", [part], times=times_value if not isinstance(times_value, str) else Fraction(times_value))


def test_parts_that_do_not_fit_together_are_refused():
    first = declare("a", "w*z", record={"z": [0, 1]})
    with pytest.raises(InvalidProfile, match="at least one"):
        compose_adaptively("c", [])
    with pytest.raises(InvalidProfile, match="different ranges"):
        compose_adaptively("c", [first, declare("b", "w*z", record={"z": [0, 2]})])
    with pytest.raises(InvalidProfile, match="different values"):
        compose_adaptively("c", [declare("a", "w*b", parameters={"b": 1}), declare("b", "w*b", parameters={"b": 2})])
    with pytest.raises(InvalidProfile, match="statistic of one part and a parameter of another"):
        compose_adaptively("c", [first, declare("b", "w*z", parameters={"z": 2})])
    for times in ("z", "w", "exp", "lambda"):
        with pytest.raises(InvalidProfile):
            compose_adaptively("c", [first], times=times)
