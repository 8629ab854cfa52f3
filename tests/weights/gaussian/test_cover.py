"""The worst record of a sampling rule under Gaussian noise: both sides, against an independent search, and the certificate of both."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from accountant import check, read_guarantee, replay, write_guarantee
from accountant.guarantees import bound_by_cover, bound_by_table
from accountant.guarantees.derive_gaussian import derive_delta, derive_weights
from accountant.rules import rule_from_expression
from accountant.rules.gaussian import make_gaussian_rule
from accountant.weights.gaussian.cover_certificate import check_cover
from profiles import InvalidArgument, InvalidSampling, InvalidTarget, NotReplayed, OtherNotion, Undecided, declare, parse_expression
from profiles.evaluation import exact_value
from tests.weights.gaussian.survey import BITS, deltas, number

SUM = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": [0, 4]})
DELTA = Fraction(1, 10**5)


def largest_epsilon(q, delta, places=50):
    """ε at δ of the worst of many records, by bisection of the independent curve (one step)."""
    ctx.prec, before = BITS, ctx.prec
    worst = 0.0
    for z in np.linspace(0, 4, places + 1)[1:]:
        record = {"z": Fraction(float(z))}
        chance = exact_value(parse_expression(q), record)
        pair = chance, record["z"] / 30 / chance
        if worst and deltas(*pair, Fraction(worst))[0] <= number(delta):
            continue
        low, high = worst, 60.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if max(deltas(*pair, Fraction(middle)), key=float) > number(delta) else (low, middle)
        worst = high
    ctx.prec = before
    return worst


@pytest.mark.thorough
@pytest.mark.parametrize("q", ["1/4", "1/10 + z/50", "1/10 + z**2/20", "1/20 + z/6", "1", "1/2 - z/10", "1/5 + z*(4 - z)/8"])
def test_both_sides_enclose_the_worst_record_of_an_independent_search(q):
    found = derive_delta(SUM, "1e-5", q=q)
    worst = largest_epsilon(q, DELTA)
    assert float(found.lower) <= worst * (1 + 1e-3)
    assert worst <= float(found.upper) * (1 + 1e-12)
    assert found.evidence.cover.reached
    assert float(found.upper - found.lower) <= 0.0101 * max(1, float(found.upper))
    assert check(json.dumps(found.certificate())).accepted


@pytest.mark.thorough
def test_several_steps_and_two_statistics():
    found = derive_delta(SUM, "1e-5", q="1/4", steps=20)
    assert found.upper > derive_delta(SUM, "1e-5", q="1/4").upper
    assert check(json.dumps(found.certificate())).accepted
    both = declare("two", notion="gaussian", mu="w*(y + z)/30", record={"y": [0, 1], "z": [0, 2]})
    pair = derive_delta(both, "1e-5", q="1/10 + z/10 + y/20", gap="0.05")
    assert pair.evidence.cover.reached
    assert check(json.dumps(pair.certificate())).accepted


@pytest.mark.thorough
def test_the_certificate_is_rejected_where_anything_is_stated_that_is_not_proved():
    whole = json.loads(json.dumps(derive_delta(SUM, "1e-5", q="1/10 + z**2/20").certificate()))
    assert check_cover(whole).accepted

    def leaf(tree):
        return tree if "row" in tree else leaf(tree["below"])

    changes = {
        "epsilon": lambda v: v.update(epsilon="0.46"),
        "delta": lambda v: v.update(delta="9e-6"),
        "steps": lambda v: v.update(steps=2),
        "q": lambda v: v["sampling"].update(q="1/11 + z**2/20"),
        "mu": lambda v: v["profile"].update(mu="w*z/29"),
        "range": lambda v: v["profile"]["record"].update(z=["0", "5"]),
        "row": lambda v: v["rows"][0].update(q="1"),
        "place": lambda v: leaf(v["tree"]).update(row=len(v["rows"]) - 1 - leaf(v["tree"])["row"]),
        "far": lambda v: leaf(v["tree"]).update(row=10**6),
        "split": lambda v: v["tree"].update(at="4"),
        "name": lambda v: v["tree"].update(name="y"),
        "half": lambda v: v.update(tree=v["tree"]["above"]),
        "lower": lambda v: v["lower"].update(epsilon="0.6"),
        "place of the lower side": lambda v: v["lower"]["at"].update(z="1"),
        "outside": lambda v: v["lower"]["at"].update(z="5"),
        "pair": lambda v: v["lower"].update(mu="1"),
        "claims": lambda v: v["lower"].update(claims=[]),
        "promise": lambda v: v.update(promise={}),
    }
    for name, change in changes.items():
        value = json.loads(json.dumps(whole))
        change(value)
        assert not check_cover(value).accepted, name


@pytest.mark.thorough
def test_guarantees_come_back_and_others_are_not_replayed():
    rule = rule_from_expression("1/4", SUM)
    made = bound_by_cover(SUM, rule=rule, at_delta=DELTA)
    again = replay(read_guarantee(write_guarantee(made)))
    assert again.bound == made.bound
    evidence = dict(made.call.arguments)["weight_cover"]
    with pytest.raises(NotReplayed, match="another delta"):
        bound_by_cover(SUM, rule=rule, at_delta="2e-5", weight_cover=evidence)
    with pytest.raises(NotReplayed, match="rejects"):
        bound_by_cover(SUM, rule=rule, at_delta=DELTA, weight_cover={**evidence, "epsilon": "0.5"})
    narrow = declare("noisy sum", notion="gaussian", mu="w*z/30", record={"z": ["3.9", 4]})
    table = bound_by_table(narrow, rule=make_gaussian_rule(Fraction(1), DELTA, 1))
    stored = dict(table.call.arguments)["weight_table"]
    assert replay(read_guarantee(write_guarantee(table))).bound == table.bound
    with pytest.raises(NotReplayed, match="another target"):
        bound_by_table(narrow, rule=make_gaussian_rule(Fraction(1), DELTA / 2, 1), weight_table=stored)
    with pytest.raises(NotReplayed, match="rejects"):
        bound_by_table(narrow, rule=make_gaussian_rule(Fraction(1), DELTA, 1), weight_table={**stored, "reach": "0.13"})


@pytest.mark.thorough
def test_weights_of_a_table_reach_their_target_at_the_worst_record():
    found = derive_weights(SUM, 1, "1e-5")
    assert Fraction(999, 1000) < found.lower <= found.target.epsilon
    assert found.to_json()["epsilon"]["upper"] == "1"
    assert "this sampling reduces computation, not epsilon" in " ".join(found.render().split())


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"delta": 0}, InvalidTarget, "above 0"),
        ({"delta": 1}, InvalidTarget, r"must lie in \[1e-100, 1\)"),
        ({"delta": "2"}, InvalidTarget, r"must lie in \[1e-100, 1\)"),
        ({"q": None}, InvalidArgument, "a sampling rule is needed"),
        ({"q": "z/4"}, InvalidSampling, "q = 0"),
        ({"q": "2"}, InvalidSampling, "> 1"),
        ({"q": "exp(-1000*z)/2"}, Undecided, "raise delta, or the least q"),
        ({"steps": 0}, InvalidArgument, "steps"),
        ({"rule": "privacy-constrained", "q": None}, InvalidSampling, "target epsilon"),
        ({"reference": declare("p", "w*z", record={"z": [0, 4]})}, OtherNotion, "which needs none"),
        ({"reference": declare("p", notion="zcdp", rho="w**2*z", record={"z": [0, 4]})}, OtherNotion, 'need the notion "gaussian"'),
    ],
)
def test_bad_input_is_refused_in_one_sentence(given, error, words):
    options = {"reference": SUM, "delta": "1e-5", "q": "1/4", **given}
    with pytest.raises(error, match=words) as caught:
        derive_delta(options.pop("reference"), options.pop("delta"), **options)
    assert "\n" not in str(caught.value)
