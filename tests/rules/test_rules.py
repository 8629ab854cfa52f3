"""Sampling rules by name, from expressions and from profile files; what is refused, and with which witness."""

from fractions import Fraction

import pytest

from accountant.rules import RULES, describe_rules, make_rule, rule_from_declaration, rule_from_expression
from profiles import InvalidNumber, InvalidSampling, InvalidTarget, declare, parse_expression, parse_file
from profiles.evaluation import exact_value
from profiles.hypotheses import name_range
from tests.hypotheses import say

SUM = declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": 3})
TWO = declare("two", "w*(z + y)", record={"z": [0, 2], "y": [0, 1]})
CORESET = {"m": 100, "n": 1000, "lam": "0.5", "mean": "1.25"}


def value(rule, **record):
    return exact_value(rule.q, {name: Fraction(number) for name, number in record.items()})


def test_uniform_is_the_same_from_sizes_and_from_a_rate():
    assert make_rule("uniform", SUM, {"m": 100, "n": 1000}).q == make_rule("uniform", SUM, {"rate": "0.1"}).q


@pytest.mark.parametrize(
    ("name", "expected"), [("coreset-l1", Fraction(17, 100)), ("coreset-l2", Fraction(14, 100) + Fraction(1, 200) * 10)]
)
def test_coreset_rules_have_the_formula_of_the_papers(name, expected):
    rule = make_rule(name, SUM, CORESET)
    lam, m, n, mean, z = Fraction(1, 2), 100, 1000, Fraction(5, 4), Fraction(3, 2)
    power = 1 if name == "coreset-l1" else 2
    assert value(rule, z=z) == lam * m / n + (1 - lam) * m * z**power / (n * mean)


def test_the_expected_sample_size_is_m():
    zs = [Fraction(k, 7) for k in range(15)]
    mean = sum(z**2 for z in zs) / len(zs)
    rule = make_rule("coreset-l2", SUM, {"m": 2, "n": len(zs), "lam": "0.3", "xbar": mean})
    assert sum(value(rule, z=z) for z in zs) == 2


def test_coreset_rules_carry_their_hypotheses():
    hypotheses = say(make_rule("coreset-l2", SUM, CORESET).hypotheses_for(SUM))
    assert "n, m and lam are public" in hypotheses
    assert "the mean squared norm is public" in hypotheses
    assert "the data are centred by a public centre" in hypotheses
    assert name_range(SUM).sentence in hypotheses
    assert "the statistic is the l2 norm" in hypotheses
    assert "n and m (or the rate) are public" in say(make_rule("uniform", SUM, {"rate": 1}).hypotheses)


def test_a_profile_with_two_statistics_says_which_one_is_the_norm():
    with pytest.raises(InvalidSampling, match="statistic"):
        make_rule("coreset-l2", TWO, CORESET)
    assert value(make_rule("coreset-l2", TWO, {**CORESET, "statistic": "z"}), z=1) == Fraction(9, 100)
    with pytest.raises(InvalidSampling, match="name one of them"):
        make_rule("coreset-l2", TWO, {**CORESET, "statistic": "x"})


def test_unknown_names_get_a_suggestion():
    with pytest.raises(InvalidSampling, match="did you mean 'coreset-l2'"):
        make_rule("coreset-l3x2", SUM, CORESET)
    with pytest.raises(InvalidSampling, match="did you mean 'mean'"):
        make_rule("coreset-l2", SUM, {**CORESET, "meen": 1})


def test_missing_constants_are_named():
    with pytest.raises(InvalidSampling, match="lam, mean is missing"):
        make_rule("coreset-l2", SUM, {"m": 1, "n": 10})
    with pytest.raises(InvalidSampling, match="rate is missing"):
        make_rule("uniform", SUM)
    with pytest.raises(InvalidSampling, match="one of the two"):
        make_rule("uniform", SUM, {"m": 1, "n": 2, "rate": 1})
    with pytest.raises(InvalidSampling, match="given twice"):
        make_rule("coreset-l2", SUM, {**CORESET, "xbar": 1})


@pytest.mark.parametrize("bad", [{"n": 0}, {"m": -1}, {"lam": 2}, {"mean": 0}])
def test_constants_out_of_range_are_refused(bad):
    with pytest.raises(InvalidSampling):
        make_rule("coreset-l2", SUM, {**CORESET, **bad})


def test_malformed_constants_are_refused():
    with pytest.raises(InvalidNumber):
        make_rule("uniform", SUM, {"rate": "x"})
    with pytest.raises(InvalidSampling):
        make_rule("coreset-l2", SUM, {**CORESET, "statistic": 3})


def test_a_probability_above_one_has_its_witness():
    with pytest.raises(InvalidSampling, match=r"q = 1\.85 > 1 at the record z = 2"):
        make_rule("coreset-l2", SUM, {**CORESET, "m": 1000, "mean": "20/13.5"})


def test_a_probability_zero_has_its_witness():
    with pytest.raises(InvalidSampling, match=r"q = 0 at the record z = 0"):
        make_rule("coreset-l2", SUM, {**CORESET, "lam": 0})
    with pytest.raises(InvalidSampling, match=r"q = -0\.25 < 0 at the record z = 0"):
        rule_from_expression("z/4 - 1/4", SUM)


def test_privacy_constrained_is_implicit_and_needs_a_target():
    rule = make_rule("privacy-constrained", SUM, target_epsilon="0.7")
    assert rule.q is None
    assert rule.target_epsilon == Fraction(7, 10)
    with pytest.raises(InvalidSampling, match="target"):
        make_rule("privacy-constrained", SUM)
    with pytest.raises(InvalidTarget):
        make_rule("privacy-constrained", SUM, target_epsilon=0)


def test_expressions_use_statistics_numeric_parameters_and_constants():
    rule = rule_from_expression("c/b + z/8", SUM, {"c": "0.3"})
    assert value(rule, z=1) == Fraction(1, 10) + Fraction(1, 8)
    assert dict(rule.constants) == {"b": 3, "c": Fraction(3, 10)}
    assert "b, c are public" in say(rule.hypotheses)


def test_unusable_expressions_are_refused():
    with pytest.raises(InvalidSampling, match="symbol 'zz'"):
        rule_from_expression("zz/8", SUM)
    with pytest.raises(InvalidSampling, match="symbol 'w'"):
        rule_from_expression("1/w", SUM)
    with pytest.raises(InvalidSampling, match="no number"):
        rule_from_expression("1/b", declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": "positive"}))
    with pytest.raises(InvalidSampling, match="already a name"):
        rule_from_expression("c/2", SUM, {"b": 1})


def test_a_profile_file_declares_a_rule():
    declaration = parse_file(
        'name = "s"\nepsilon = "w*z"\n[record]\nz = [0, 1.5]\n[sampling]\nq = "lam*m/n + (1-lam)*m*z**2/(n*xbar)"\n'
        'm = 100\nn = 1000\nlam = 0.5\nxbar = "1.25"\n'
    )
    rule = rule_from_declaration(declaration.profile, declaration.sampling)
    assert value(rule, z=1) == Fraction(9, 100)
    assert value(rule_from_declaration(declaration.profile, declaration.sampling, {"m": 200}), z=1) == Fraction(18, 100)


def test_every_rule_is_described():
    assert {name for name, _, _ in describe_rules()} == set(RULES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Min(z, 1) + Max(z, 3) + Abs(-z)", 6),
        ("Piecewise((1, z < 2), (z**3, True))", 8),
        ("z**-1", Fraction(1, 2)),
        ("exp(z)", None),
        ("1/(z-2)", None),
    ],
)
def test_exact_values(text, expected):
    assert exact_value(parse_expression(text), {"z": Fraction(2)}) == expected
