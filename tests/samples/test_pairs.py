"""The numbers (q, w) of plans: q ≤ q*(x) ≤ 1/w exactly, ψ of the very numbers below the bound, a function of the record alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from accountant.rules import rule_from_expression
from accountant.samples.plan import plan_sample
from accountant.selection.excess import make_check
from accountant.selection.explicit import round_rule
from accountant.selection.select import CHECKED, Selection, Selector, prepare_selection
from profiles import InvalidData, InvalidProfile, InvalidSampling, declare
from profiles.balls import ball, working_precision
from proofs_check.enclosures import Enclosure

LLOYD = declare(
    "lloyd", "T*w*(1/a + z/b)", record={"z": [0, "1.5"]}, parameters={"T": 10, "a": "20.5", "b": 30}, source="Proposition 13"
)  # fmt: skip
RULES = {
    "one third": "1/3",
    "irrational": "sqrt(2)/3",
    "l1": "1/30 + z/70",
    "l2": "1/30 + z**2/70",
    "root": "1/30 + sqrt(z)/7",
    "exp and log": "exp(-z)/3 + log(1 + z)/10",
    "branches": "Piecewise((1/3, z < 1/2), (1/7, z < 1), (1, True))",
    "clipped": "Min(1, 1/2 + z/2)",
    "cancellation": "(z + 10**6)**2 - z**2 - 2*10**6*z - 10**12 + 1/9",
    "nearly never": "10**(-320)*(1 + z)",
}
Z = np.concatenate(
    [[0.0, 0.5, 1.0, 1.5, -0.0, 5e-324, np.nextafter(0.5, 0), np.nextafter(1, 0)], np.random.default_rng(1).uniform(0, 1.5, 60)]
)


def enclose(term, **values):
    return Enclosure(term).evaluate({name: ball(Fraction(float(value))) for name, value in values.items()})


def excess(profile, q, w, **record):
    """ψ of the numbers used, as a ball; to be called and compared at a working precision."""
    return (ball(Fraction(float(q))) * enclose(profile.numeric_epsilon(), w=w, **record).expm1()).log1p()


def keeping(profile, rule, bound):
    """A selector that keeps a bound record by record, whatever is proved about the profile."""
    return Selector(profile, rule, CHECKED, "", check=make_check(profile, Fraction(bound)))


@pytest.fixture(autouse=True)
def precision():
    with working_precision(400):
        yield


@pytest.mark.parametrize("expression", RULES.values(), ids=RULES.keys())
def test_both_numbers_are_rounded_down(expression):
    rule = rule_from_expression(expression, LLOYD)
    found = Selection(*round_rule(rule.q, {"z": Z}))
    for z, q, w in zip(Z, found.probabilities, found.weights, strict=True):
        exact = enclose(rule.q, z=z)
        assert not ball(Fraction(float(q))) > exact  # equality is possible, and a ball has a radius
        assert not ball(1 / Fraction(float(w))) < exact
        assert 1 <= w < np.inf
        if expression.startswith("10**"):
            assert (q, w) == (0, 2.0**900)
        else:
            assert Fraction(float(q)) * Fraction(float(w)) >= 1 - Fraction(1, 2**34)


PROFILES = {
    "linear": ("w*(1/2 + z)", "directed-rounding"),
    "convex": ("w**2*z/20 + w/10", "directed-rounding"),
    "concave": ("log(1 + w*z)", "checked"),
    "root": ("sqrt(w)*z", "checked"),
    "falls": ("z/w", "checked"),
    "waves": ("1 + z*cos(w)/2", "checked"),
    "ignores weights": ("z + 0*w", "checked"),
    "steps": ("Piecewise((z, w < 3), (2*z, True))", "checked"),
}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("text", "method"), PROFILES.values(), ids=PROFILES.keys())
def test_psi_of_the_numbers_used_is_below_the_certified_bound(text, method):
    profile = declare("p", text, record={"z": [0, 1]})
    plan = plan_sample(profile, q="1/10 + z**2/5" if "z" in text[:2] or "sqrt" in text else "1/5 + z/9", relative_gap="1e-6")
    assert plan.method == method
    z = np.concatenate([[0.0, 1.0, 0.5], np.random.default_rng(2).random(20)])
    pairs = plan.selector.select({"z": z})
    for value, chance, w in zip(z, pairs.probabilities, pairs.weights, strict=True):
        assert excess(profile, chance, w, z=value) <= ball(plan.epsilon)
    assert pairs.lowered == 0
    assert (pairs.probabilities * pairs.weights > 1 - 1e-9).all()


@pytest.mark.parametrize("text", [text for text, method in PROFILES.values() if method == "checked"])
@pytest.mark.parametrize("share", [0, "1/2", "999999999/1000000000"])
def test_a_bound_that_is_too_small_is_kept_by_selecting_less(text, share):
    profile = declare("p", text, record={"z": [0, 1]})
    rule = rule_from_expression("1/5 + z/5", profile)
    z = np.concatenate([[0.0, 1.0], np.random.default_rng(3).random(15)])
    free = keeping(profile, rule, Fraction(100)).select({"z": z})
    bound = Fraction(share) * max(
        Fraction(float(excess(profile, q, w, z=x).mid())) for x, q, w in zip(z, free.probabilities, free.weights, strict=True)
    )
    bound = bound.limit_denominator(10**14)
    pairs = keeping(profile, rule, bound).select({"z": z})
    assert pairs.lowered >= 1
    for x, q, w in zip(z, pairs.probabilities, pairs.weights, strict=True):
        assert excess(profile, q, w, z=x) <= ball(bound)
    assert (pairs.probabilities <= free.probabilities).all()
    assert (pairs.weights == free.weights).all()


def test_infinite_epsilon_bounds_select_nobody():
    """tan is not trusted in binary64, and here it may be anything: q = 0 is the safe answer, never an error."""
    profile = declare("p", "Abs(tan(w))*0 + w*z", record={"z": [0, 1]})
    pairs = keeping(profile, rule_from_expression("1/5", profile), Fraction(2)).select({"z": np.array([0.0, 0.5, 1.0])})
    assert ((pairs.probabilities == 0) | (pairs.probabilities <= 0.2)).all()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("q", ["1/30 + z**2/70", "exp(-z)/3 + log(1 + z)/10", RULES["cancellation"]])
@pytest.mark.parametrize("bound", [None, 20, "1/2"])
def test_pairs_do_not_depend_on_the_other_records(q, bound):
    rule = rule_from_expression(q, LLOYD)
    selector = prepare_selection(LLOYD, rule) if bound is None else keeping(LLOYD, rule, bound)
    size = 200 if "10**6" in q else 5_000
    z = np.random.default_rng(4).uniform(0, 1.5, size)
    whole, order = selector.select({"z": z}), np.random.default_rng(5).permutation(size)
    shuffled = selector.select({"z": z[order]})
    assert np.array_equal(shuffled.probabilities, whole.probabilities[order])
    assert np.array_equal(shuffled.weights, whole.weights[order])
    for start, stop in [(0, 1), (7, 30), (33, 133)]:
        part = selector.select({"z": z[start:stop]})
        assert np.array_equal(part.probabilities, whole.probabilities[start:stop])
        assert np.array_equal(part.weights, whole.weights[start:stop])


def test_constrained_pairs_are_certified_weights():
    plan = plan_sample(LLOYD, target_epsilon=2)
    assert (plan.method, plan.checked, plan.epsilon) == ("certified-weights", True, 2)
    pairs = plan.selector.select({"z": Z})
    for z, q, w in zip(Z, pairs.probabilities, pairs.weights, strict=True):
        assert Fraction(float(q)) * Fraction(float(w)) <= 1
        assert q == 0 or excess(LLOYD, q, w, z=z) <= 2


def test_what_cannot_be_mapped_is_refused():
    with pytest.raises(InvalidData, match="outside the declared range"):
        plan_sample(LLOYD, rule="uniform", constants={"rate": "0.1"}).selector.select({"z": np.array([1.0, 2.0])})
    falling = declare("p", "b*z/w", record={"z": [0, 1]}, parameters={"b": [1, 2]})
    with pytest.raises(InvalidProfile, match="needs numbers"):
        plan_sample(falling, q="1/2")
    with pytest.raises(InvalidSampling, match="a q of at most 0 was found"):
        round_rule(("sqrt", ("neg", ("sym", "z"))), {"z": np.array([1.0])})
