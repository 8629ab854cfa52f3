"""Plans: certified numbers, rules, what is refused, and files."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.dpsgd.noise import compose_steps, find_noise, find_rate, to_noise_target
from accountant.applications.dpsgd.plan import dp_sgd_plan, plan_for_target
from accountant.applications.dpsgd.rules import LEAST_SHARE, RULES, GradientRule, capped, to_rule
from accountant.compositions.queries import point_at_epsilon
from accountant.interop import read_guarantee, replay, write_guarantee
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidNumber, InvalidTarget, PDPError
from profiles.hypotheses import EXACT_REALS, FRESH_SAMPLES, INDEPENDENT, SENSITIVITY_ONE

GAP = Fraction(1, 100)


def make_plan(**changes: object):
    return dp_sgd_plan(**({"noise": 2, "steps": 1, "rule": "norm", "rate": "1/8", "delta": "1e-5"} | changes))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "target",
    [
        (1, "1e-5", 10, 1),
        (1, "1e-5", 20, "1/50"),
        (1, "1e-5", 300, "1/100"),
        ("1/5", "1e-7", 50, "1/10"),
        (6, "1e-5", 50, "1/100"),
        (2, "1e-6", 1, "1/3"),
    ],
)
def test_the_noise_that_is_found_is_enough_and_hardly_more(target):
    found = find_noise(to_noise_target(*target))
    epsilon, delta, steps, rate = (Fraction(value) for value in target)
    at = point_at_epsilon(compose_steps(found.noise, rate, int(steps)), epsilon, GAP)
    less = point_at_epsilon(compose_steps(found.noise * Fraction(98, 100), rate, int(steps)), epsilon, GAP)
    assert at.lower <= delta
    assert less.upper > delta
    assert [claim["claim"] for claim in found.claims] == ["delta-upper"] * 2
    assert all(Fraction(claim["bound"]) <= delta for claim in found.claims)
    plan = plan_for_target(*target[:3], rate=target[3])
    assert (plan.epsilon, plan.noise) == (epsilon, found.noise)
    assert plan.delta <= delta


@pytest.mark.thorough
def test_the_rate_for_a_noise_is_the_weight_of_the_longest_gradient():
    found = find_rate(20, 1, "1e-5", 20)
    assert found.noise == 20 * found.target.rate  # s = σ q₀/C
    at = point_at_epsilon(compose_steps(found.noise, found.target.rate, 20), Fraction(1), GAP)
    more = point_at_epsilon(compose_steps(20 * found.target.rate / 2, found.target.rate / 2, 20), Fraction(1), GAP)
    assert at.lower <= Fraction("1e-5") < more.upper
    with pytest.raises(Infeasible):
        find_rate(1, 1, "1e-5", 20)


@settings(max_examples=20)
@given(
    name=st.sampled_from([*RULES, "capped"]), factor=st.integers(1, 10**6), t=st.lists(st.floats(0, 1), min_size=1), rate=st.floats(1e-9, 1)
)
def test_a_rule_keeps_probabilities_below_the_rate_and_weighted_gradients_short(name, factor, t, rate):
    rule = capped(factor) if name == "capped" else RULES[name]
    shares = np.array(t)
    q = rule.probabilities(shares, rate)
    assert ((q >= 0) & (q <= rate)).all()
    seen = q > 0
    assert (seen == (shares >= LEAST_SHARE)).all()
    assert (shares[seen] / q[seen] * rate <= 1 + 1e-12).all()


@pytest.mark.thorough
@settings(max_examples=30)
@given(a=st.fractions(0, 2), b=st.fractions(0, 2), c=st.fractions(0, 2))
def test_a_rule_is_refused_exactly_where_some_share_is_too_small(a, b, c):
    grid = [Fraction(k, 40) for k in range(41)]
    if b < 1 and 0 < (1 - b) <= 2 * c:
        grid.append((1 - b) / (2 * c))
    right = all(min(Fraction(1), a + b * t + c * t * t) >= t for t in grid)
    try:
        GradientRule("own", a, b, c)
    except InvalidArgument:
        assert not right
    else:
        assert right


def test_probabilities_weights_and_factors():
    plan = make_plan(clip="1/2")
    norms = np.array([0.0, 0.1, 0.5, 7.0, math.inf])
    q, factors = plan.probabilities(norms), plan.factors(norms)
    assert q.tolist() == pytest.approx([0, 0.025, 0.125, 0.125, 0.125])
    assert plan.weights(norms)[1:].tolist() == pytest.approx([40, 8, 8, 8])
    assert math.isinf(plan.weights(norms)[0])
    lengths = factors[:4] * norms[:4]
    assert lengths[1:].tolist() == pytest.approx([4, 4, 4])  # all of the longest
    assert (lengths <= float(plan.sensitivity)).all()
    assert factors[4] == 0
    assert Fraction(plan.noise_std) >= plan.noise * plan.sensitivity
    by_bound = plan.factors([0.1, 0.4], bounds=[0.5, 0.5])
    assert (by_bound * [0.1, 0.4] <= float(plan.sensitivity)).all()
    too_small = plan.factors([5.0], bounds=[0.1])  # a bound that is none: still not longer
    assert too_small[0] * 5.0 <= float(plan.sensitivity)


def test_all_rules_have_the_same_certified_epsilon_and_open_hypotheses_for_the_loop():
    plans = [make_plan(rule=rule) for rule in (*RULES, capped(3))]
    assert len({plan.epsilon for plan in plans}) == 1
    assert {SENSITIVITY_ONE.id, EXACT_REALS.id, INDEPENDENT.id} <= {item.id for item in plans[0].guarantee.hypotheses}


@pytest.mark.thorough
def test_several_steps_of_a_loop_need_fresh_samples():
    many = make_plan(steps=2, noise=4, hypotheses=["the loss is a sum over records"])
    assert {FRESH_SAMPLES.id, "stated"} <= {item.id for item in many.guarantee.hypotheses}


@pytest.mark.thorough
def test_the_guarantee_of_a_plan_is_written_and_replayed():
    plan = plan_for_target(2, "1e-5", 10, rate="1/20")
    again = replay(read_guarantee(write_guarantee(plan.guarantee)))
    assert again.bound == plan.guarantee.bound


@pytest.mark.parametrize(
    "changes",
    [
        {"noise": 0},
        {"noise": "0.01"},
        {"noise": -1},
        {"noise": "nan"},
        {"noise": "x"},
        {"noise": 10**7},
        {"noise": None},
        {"noise": math.inf},
        {"steps": 0},
        {"steps": 1.5},
        {"steps": "many"},
        {"steps": 10**9},
        {"steps": True},
        {"rate": 0},
        {"rate": 2},
        {"rate": "1e-40"},
        {"rate": math.nan},
        {"rate": [1]},
        {"delta": 1},
        {"delta": -1},
        {"delta": "x"},
        {"clip": 0},
        {"clip": "1e-30"},
        {"clip": math.inf},
        {"rule": "norms"},
        {"rule": None},
        {"rule": lambda t: t},
        {"rule": 3},
        {"hypotheses": "one text"},
    ],
)
def test_what_is_no_plan_is_refused_in_one_sentence(changes):
    with pytest.raises(PDPError) as refused:
        make_plan(**changes)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("target", [(0, "1e-5"), (-1, "1e-5"), (1, 0), (1, 1), (1, "x"), ("nan", "1e-5"), (10**6, "1e-5")])
def test_what_is_no_target_is_refused(target):
    with pytest.raises((InvalidTarget, InvalidArgument, InvalidNumber)):
        plan_for_target(*target, 10, rate="1/10")


@pytest.mark.parametrize("norms", [[-1.0], [math.nan], [[1.0]], 1.0, ["x"], None])
def test_what_are_no_norms_is_refused(norms):
    with pytest.raises((InvalidData, ValueError, TypeError)):
        make_plan().probabilities(norms)
    with pytest.raises((InvalidData, ValueError, TypeError)):
        make_plan().factors(norms)


def test_other_objects_and_subclasses_are_no_rules():
    class Mine(GradientRule):
        """A rule that may look at the whole array."""

    with pytest.raises(InvalidArgument, match="a rule of"):
        to_rule(Mine("mine", Fraction(1)))
    for bad in ((1.0, 0, 0), (Fraction(-1), Fraction(2), Fraction(0)), (Fraction(0), Fraction(1, 2), Fraction(0))):
        with pytest.raises(InvalidArgument):
            GradientRule("bad", *bad)
    with pytest.raises(InvalidArgument):
        capped("1/2")
