"""The pairs (q, w): q ≤ q*(x) ≤ 1/w exactly, ψ of the very numbers used below the bound, and a function of the record alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.sampled import numeric_epsilon
from accountant.sampler.pairs import map_rule, round_pair, round_pairs
from accountant.sampler.plan import plan_sample
from accountant.sampling import rule_from_expression
from profiles import InvalidData, InvalidProfile, Undecided, declare
from proofs_check.enclosures import Enclosure, ball, working_precision

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
    return (ball(Fraction(float(q))) * enclose(numeric_epsilon(profile), w=w, **record).expm1()).log1p()


@pytest.fixture(autouse=True)
def precision():
    with working_precision(400):
        yield


@pytest.mark.parametrize("expression", RULES.values(), ids=RULES.keys())
def test_directed_rounding(expression):
    rule = rule_from_expression(expression, LLOYD)
    pairs = map_rule(LLOYD, rule.q, Fraction(10**9), monotone=True)({"z": Z})
    for z, q, w in zip(Z, pairs.q, pairs.weights, strict=True):
        exact = enclose(rule.q, z=z)
        assert not ball(Fraction(float(q))) > exact  # equality is possible, and a ball has a radius
        assert not ball(1 / Fraction(float(w))) < exact
        assert 0 < q <= 1 or expression.startswith("10**")
        assert 1 <= w < np.inf
        if q > 1e-300:
            assert Fraction(float(q)) * Fraction(float(w)) >= 1 - Fraction(1, 10**9)
    if expression in ("1/3", "1/30 + z/70", "1/30 + z**2/70"):
        assert pairs.refined == 0
        assert (pairs.q * pairs.weights >= 1 - 1e-14).all()


def test_a_constant_is_rounded_once():
    pairs = map_rule(LLOYD, ("num", Fraction(1, 10)), Fraction(1), monotone=True)({"z": Z[:2]})
    assert Fraction(0.1) > Fraction(1, 10)  # so the nearest float would be too large
    assert pairs.q.tolist() == [np.nextafter(0.1, 0)] * 2
    assert pairs.weights.tolist() == [10.0] * 2


@given(st.floats(2.0**-500, 1), st.sampled_from([0, 2.0**-60, 2.0**-50, 2.0**-33, 0.1, 2]), st.floats(-1, 1))
@settings(deadline=None, max_examples=300)
def test_rounded_pairs_are_on_their_sides(value, error, place):
    """For a q* anywhere within the error, also at its very ends."""
    size = error * value
    (q,), (w,), (sure,) = (part.tolist() for part in round_pairs(np.array([value]), np.array([size])))
    for share in (Fraction(place), Fraction(-1), Fraction(1)):
        exact = Fraction(value) + share * Fraction(size)
        if sure and 0 < exact <= 1:
            assert Fraction(q) <= exact
            assert 1 <= Fraction(w) <= 1 / exact
    assert sure == (error <= 2.0**-32)


def test_the_ends_of_the_error_bound_are_covered_for_many_numbers():
    """The largest and the smallest q* within the error, where each of the three directed roundings matters now and then."""
    rng = np.random.default_rng(1)
    values = rng.uniform(0.1, 0.999, 4_000)
    errors = values * rng.choice([2.0**-54, 2.0**-53, 2.0**-52.5, 2.0**-40], values.size)
    q, weights, sure = round_pairs(values, errors)
    assert sure.all()
    for value, error, chance, weight in zip(values.tolist(), errors.tolist(), q.tolist(), weights.tolist(), strict=True):
        assert Fraction(chance) <= Fraction(value) - Fraction(error)
        assert Fraction(weight) * (Fraction(value) + Fraction(error)) <= 1


@given(st.fractions(min_value=Fraction(1, 10**330), max_value=1))
@settings(deadline=None, max_examples=100)
def test_exact_pairs(value):
    q, w = round_pair(value, value)
    assert Fraction(q) <= value
    assert Fraction(w) <= 1 / value
    assert q >= float(value) * (1 - 2**-50) or value < Fraction(1, 10**300)


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


@pytest.mark.parametrize(("text", "method"), PROFILES.values(), ids=PROFILES.keys())
def test_psi_of_the_numbers_used_is_below_the_certified_bound(text, method):
    profile = declare("p", text, record={"z": [0, 1]})
    plan = plan_sample(profile, q="1/10 + z**2/5" if "z" in text[:2] or "sqrt" in text else "1/5 + z/9", relative_gap="1e-6")
    assert plan.method == method
    z = np.concatenate([[0.0, 1.0, 0.5], np.random.default_rng(2).random(20)])
    pairs = plan.pairs({"z": z})
    for value, chance, w in zip(z, pairs.q, pairs.weights, strict=True):
        assert excess(profile, chance, w, z=value) <= ball(plan.epsilon)
    assert pairs.lowered == 0
    assert (pairs.q * pairs.weights > 1 - 1e-9).all()


@pytest.mark.parametrize("text", [text for text, method in PROFILES.values() if method == "checked"])
@pytest.mark.parametrize("share", [0, "1/2", "999999999/1000000000"])
def test_a_bound_that_is_too_small_is_kept_by_selecting_less(text, share):
    profile = declare("p", text, record={"z": [0, 1]})
    rule = rule_from_expression("1/5 + z/5", profile)
    z = np.concatenate([[0.0, 1.0], np.random.default_rng(3).random(15)])
    free = map_rule(profile, rule.q, Fraction(100), monotone=False)({"z": z})
    bound = Fraction(share) * max(
        Fraction(float(excess(profile, q, w, z=x).mid())) for x, q, w in zip(z, free.q, free.weights, strict=True)
    )
    bound = bound.limit_denominator(10**14)
    pairs = map_rule(profile, rule.q, bound, monotone=False)({"z": z})
    assert pairs.lowered >= 1
    for x, q, w in zip(z, pairs.q, pairs.weights, strict=True):
        assert excess(profile, q, w, z=x) <= ball(bound)
    assert (pairs.q <= free.q).all()
    assert (pairs.weights == free.weights).all()


def test_infinite_epsilon_bounds_select_nobody():
    """tan is not trusted in binary64, and here it may be anything: q = 0 is the safe answer, never an error."""
    profile = declare("p", "Abs(tan(w))*0 + w*z", record={"z": [0, 1]})
    pairs = map_rule(profile, ("num", Fraction(1, 5)), Fraction(2), monotone=False)({"z": np.array([0.0, 0.5, 1.0])})
    assert ((pairs.q == 0) | (pairs.q <= 0.2)).all()


@pytest.mark.parametrize("q", ["1/30 + z**2/70", "exp(-z)/3 + log(1 + z)/10", RULES["cancellation"]])
@pytest.mark.parametrize("monotone", [True, False])
def test_pairs_do_not_depend_on_the_other_records(q, monotone):
    rule = rule_from_expression(q, LLOYD)
    pairs = map_rule(LLOYD, rule.q, Fraction(20), monotone=monotone)
    size = 200 if "10**6" in q else 5_000
    z = np.random.default_rng(4).uniform(0, 1.5, size)
    whole, order = pairs({"z": z}), np.random.default_rng(5).permutation(size)
    shuffled = pairs({"z": z[order]})
    assert np.array_equal(shuffled.q, whole.q[order])
    assert np.array_equal(shuffled.weights, whole.weights[order])
    for start, stop in [(0, 1), (7, 30), (33, 133)]:
        part = pairs({"z": z[start:stop]})
        assert np.array_equal(part.q, whole.q[start:stop])
        assert np.array_equal(part.weights, whole.weights[start:stop])


def test_constrained_pairs_are_certified_weights():
    plan = plan_sample(LLOYD, target_epsilon=2)
    assert (plan.method, plan.checked, plan.epsilon) == ("certified-weights", True, 2)
    pairs = plan.pairs({"z": Z})
    for z, q, w in zip(Z, pairs.q, pairs.weights, strict=True):
        assert Fraction(float(q)) * Fraction(float(w)) <= 1
        assert q == 0 or excess(LLOYD, q, w, z=z) <= 2


def test_what_cannot_be_mapped_is_refused():
    with pytest.raises(InvalidData, match="outside the declared range"):
        plan_sample(LLOYD, rule="uniform", constants={"rate": "0.1"}).pairs({"z": np.array([1.0, 2.0])})
    falling = declare("p", "b*z/w", record={"z": [0, 1]}, parameters={"b": [1, 2]})
    with pytest.raises(InvalidProfile, match="needs numbers"):
        plan_sample(falling, q="1/2")
    with pytest.raises(Undecided, match="could not be computed"):
        map_rule(LLOYD, ("sqrt", ("neg", ("sym", "z"))), Fraction(1), monotone=True)({"z": np.array([1.0])})
