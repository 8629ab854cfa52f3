"""Weights under Gaussian noise, from profiles and on the command line; several steps; what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import pytest

from accountant.cli.main import invoke
from accountant.compositions.bounds import bound_delta
from accountant.compositions.events import Direction
from accountant.weights.gaussian import gaussian_weight
from accountant.weights.gaussian.one_step import OneStep
from accountant.weights.gaussian.weight import compose_record, measure_record
from profiles import Infeasible, InvalidArgument, InvalidData, InvalidProfile, OtherNotion, PDPError, declare
from profiles.errors import InvalidTarget
from proofs_check.kernel import check

PROFILE = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})
ROOT = declare("vector sum", notion="gaussian", mu="w*sqrt(y**2 + z**2)/7", record={"y": [0, 1], "z": [0, 1]})
FILE = "examples/gaussian.toml"


def test_irrational_statistics_are_enclosed():
    low, high = measure_record(ROOT, {"y": 1, "z": 1}, 30)
    assert low < high < low + Fraction(1, 10**50)
    with mpmath.workdps(60):
        assert mpmath.mpf(low.numerator) / low.denominator < mpmath.sqrt(2) / 7 < mpmath.mpf(high.numerator) / high.denominator
    found = gaussian_weight(ROOT, 1, "1e-5", {"y": 1, "z": 1})
    assert found.zeta == high
    assert check(json.dumps(found.certificate())).accepted


def test_a_record_that_loses_nothing_may_be_dropped():
    found = gaussian_weight(PROFILE, 1, "1e-5", {"z": 0})
    assert (found.infinite, found.to_json()["weight"]) == (True, "inf")
    assert gaussian_weight(PROFILE, 1, "1e-5", {"z": 0}, steps=10).infinite
    assert gaussian_weight(PROFILE, 1, "0.3", {"z": 4}).infinite
    with pytest.raises(InvalidArgument, match="infinite"):
        found.certificate()


#: Issued with the problem, a few per cent conservative: ε = 1, δ = 1e-6, ζ = share · 0.2367/√T.
STEPS = {10: {"0.5": "19.0", "0.1": "170", "0.01": "2677"}, 100: {"0.5": "80", "0.1": "612", "0.01": "8928"}}
MANY = {1000: {"0.5": "305", "0.1": "2132", "0.01": "29555"}}


def of_steps(steps, share):
    zeta = Fraction(mpmath.nstr(mpmath.mpf("0.2367") / mpmath.sqrt(steps) * mpmath.mpf(share), 12))
    profile = declare("one record", notion="gaussian", mu=f"w*z*{zeta}", record={"z": [1, 1]})
    return gaussian_weight(profile, 1, "1e-6", {"z": 1}, steps=steps), zeta


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("steps", "share"), [(10, "0.5"), (10, "0.01"), (100, "0.1")])
def test_reference_values_of_several_steps_are_met(steps, share):
    found, _ = of_steps(steps, share)
    assert Fraction(99, 100) < found.lower / Fraction(STEPS[steps][share]) < Fraction(104, 100)
    assert set(found.reached) == set(Direction)
    assert all(bound <= found.delta for bound in found.reached.values())
    report = check(json.dumps(found.certificate()))
    assert report.accepted
    assert len(report.claims) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "share"), [(t, share) for t, row in (STEPS | MANY).items() for share in row])
def test_all_reference_values_of_several_steps_are_met(steps, share):
    found, _ = of_steps(steps, share)
    assert Fraction(99, 100) < found.lower / Fraction((STEPS | MANY)[steps][share]) < Fraction(104, 100)
    assert check(json.dumps(found.certificate())).accepted


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "share"), [(10, "0.5"), (10, "0.9"), (100, "0.9"), (1000, "0.5")])
def test_weights_of_several_steps_are_within_a_per_cent_of_the_optimum(steps, share):
    """At a weight that is a per cent larger, δ is proved to be above the target."""
    found, zeta = of_steps(steps, share)
    larger = compose_record(found.lower * Fraction(101, 100), zeta, steps, "larger")
    assert bound_delta(larger, Fraction(1), Direction.REMOVE).lower > found.delta


@pytest.mark.thorough
def test_more_steps_allow_smaller_weights():
    weights = [gaussian_weight(PROFILE, 1, "1e-6", {"z": "0.5"}, steps=steps).lower for steps in (1, 2, 8)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[1]


def test_a_record_at_the_edge_keeps_the_weight_one():
    """√T ζ just below the largest value: w = 1 is shown by the closed form."""
    profile = declare("one record", notion="gaussian", mu="w*z", record={"z": [0, 1]})
    step = OneStep(Fraction(1), Fraction(1, 10**6))
    low, high = Fraction(0), Fraction(1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if step.is_feasible(Fraction(1), middle, 200) else (low, middle)
    zeta = Fraction(int(low * 10**17), 10**17) / 2
    found = gaussian_weight(profile, 1, "1e-6", {"z": zeta}, steps=4)
    assert 1 <= found.lower < 2
    assert check(json.dumps(found.certificate())).accepted
    with pytest.raises(Infeasible, match="after 4 steps, but w = 1 already exceeds"):
        gaussian_weight(profile, 1, "1e-6", {"z": zeta * Fraction(1001, 1000)}, steps=4)


REFUSED = [
    ({"target_delta": 0}, InvalidTarget, "no Gaussian mechanism is purely epsilon-private"),
    ({"target_delta": 1}, InvalidTarget, "must lie in [1e-100, 1)"),
    ({"target_delta": "-1e-5"}, InvalidTarget, "must lie in [1e-100, 1)"),
    ({"target_delta": "1e-101"}, InvalidTarget, "must lie in [1e-100, 1)"),
    ({"target_delta": "nan"}, PDPError, "the target delta"),
    ({"target_epsilon": 0}, InvalidTarget, "the target epsilon must be positive"),
    ({"target_epsilon": 20_000}, InvalidTarget, "must lie in [1e-300, 10000]"),
    ({"steps": 0}, InvalidArgument, "the number of steps"),
    ({"steps": 10**9}, InvalidArgument, "the number of steps"),
    ({"digits": 41}, InvalidArgument, "digits"),
    ({"record": {"z": 5}}, InvalidData, "outside the declared range"),
    ({"record": {}}, InvalidData, "z is missing"),
    ({"profile": PROFILE.with_parameters(sigma="positive")}, InvalidProfile, "a weight needs numbers for all parameters"),
    ({"profile": declare("p", "w*z", record={"z": [0, 4]})}, OtherNotion, "pure epsilon-differential privacy, which needs none"),
    ({"profile": declare("p", notion="zcdp", rho="w**2*z", record={"z": [0, 4]})}, OtherNotion, 'need the notion "gaussian"'),
    ({"profile": declare("p", notion="gaussian", mu="w**2*z", record={"z": [0, 4]})}, InvalidProfile, "mu(w, x) = w*mu(1, x)"),
    ({"profile": PROFILE.with_parameters(sigma=1)}, Infeasible, "w = 1 already exceeds"),
]


@pytest.mark.parametrize(("change", "error", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_bad_input_is_refused_in_one_sentence(change, error, message):
    given = {"profile": PROFILE, "target_epsilon": 1, "target_delta": "1e-5", "record": {"z": 4}, "steps": 1, "digits": 10} | change
    with pytest.raises(error) as caught:
        gaussian_weight(given.pop("profile"), given.pop("target_epsilon"), given.pop("target_delta"), given.pop("record"), **given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_prints_the_weight_and_writes_a_certificate(tmp_path, capsys):
    out = tmp_path / "weight.json"
    words = ["weight", FILE, "-e", "1", "--target-delta", "1e-5", "--at", "z=1.5"]
    assert invoke([*words, "--json", "--digits", "12", "--certificate", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["weight"], told["checked_by_kernel"], told["notion"]) == ("19.6744995893", True, "gaussian")
    assert invoke(["check", str(out)]) == 0
    assert "19.6744995893" in capsys.readouterr().out or out.exists()
    assert invoke([*words, "--steps", "3"]) == 0
    assert "after 3 step(s)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([FILE, "-e", "1", "--at", "z=1"], 2),
        ([FILE, "-e", "1", "--target-delta", "0", "--at", "z=1"], 2),
        ([FILE, "-e", "1", "--target-delta", "1", "--at", "z=1"], 2),
        ([FILE, "-e", "0.01", "--target-delta", "1e-12", "--at", "z=4"], 1),
        ([FILE, "-e", "1", "--target-delta", "1e-5", "--at", "z=0", "--certificate", "{out}"], 2),
        (["examples/lloyd.toml", "-e", "20", "--at", "z=1", "--target-delta", "1e-5"], 2),
        (["examples/lloyd.toml", "-e", "20", "--at", "z=1", "--steps", "2"], 2),
        (["examples/lloyd.toml", "-e", "20", "--at", "z=1", "--certificate", "{out}"], 2),
    ],
)
def test_the_command_refuses_in_one_line(words, code, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert invoke(["weight", *(word.format(out=out) for word in words)]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert not out.exists()
