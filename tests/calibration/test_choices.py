"""Noise for a target and a size, rule by rule: against closed forms, another maximiser, and the moments of real draws."""

import doctest
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accountant import calibrate, derive_epsilon
from accountant.calibration import choices
from accountant.calibration.choices import fill_profile
from accountant.calibration.sum_error import SumNoise, error_of_any
from accountant.rules import make_rule
from accountant.samples import draw_sample, plan_sample
from accountant.selection.explicit import round_rule
from profiles import InvalidArgument, InvalidData, InvalidNumber, InvalidSampling, InvalidTarget, NotPrivate, declare, files
from profiles.files import parse_file, write_toml
from profiles.hypotheses import DECLARED_PROFILE, NOISE_FROM_DATA

SUM = declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": "positive"})
LLOYD = declare("lloyd", "T*w*(1/c + z/s)", record={"z": [0, "1.5"]}, parameters={"T": 10, "c": "20.5", "s": 30})
POINTS = np.random.default_rng(0).uniform(0.2, 2, 500)


def certified(found, index=0):
    choice = found.choices[index]
    assert choice.verdict == "certified"
    assert choice.calibration.derived.bound.upper <= found.target
    assert choice.calibration.derived.bound.evidence.checked_by_kernel or choice.from_data
    return choice


def test_examples():
    assert doctest.testmod(choices).failed == 0
    assert doctest.testmod(files).failed == 0


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("target", ["1e-6", "0.5", "30"])
@pytest.mark.parametrize("how", [{"rate": "0.1"}, {"target_size": 10, "constants": {"n": 100}}, {"constants": {"rate": "1/10"}}])
def test_uniform_sampling_is_the_closed_form(target, how):
    choice = certified(calibrate(SUM, target, rules="uniform", **how))
    with mpmath.workdps(40):
        exact = 2 / (mpmath.log1p(mpmath.expm1(mpmath.mpf(target)) * 10) / 10)
        scale = mpmath.mpf(choice.calibration.scale.numerator) / choice.calibration.scale.denominator
        assert exact <= scale <= exact * (1 + mpmath.mpf(10) ** -6)
    assert choice.calibration.smallest
    assert choice.calibration.parameters == {"b": choice.calibration.scale}


@pytest.mark.thorough
def test_rules_are_compared_with_their_own_constants_and_in_order():
    constants = {
        "n": 1000,
        "lam": "0.5",
        "coreset-l1.mean": "1.1",
        "coreset-l2.mean": "1.5",
        "coreset.mean": "1.2",
        "coreset.exponent": "3/2",
    }
    names = ["coreset-l2", "uniform", "coreset-l1", "coreset"]
    found = calibrate(SUM, 2, rules=names, q="m/(2*n)", constants=constants, target_size=50)
    assert [choice.rule for choice in found.choices] == [*names, "expression"]
    for index, choice in enumerate(found.choices):
        certified(found, index)
        assert choice.size == 50
        again = derive_epsilon(choice.calibration.profile, rule=choice.calibration.derived.rule)
        assert again.bound.upper <= 2
        assert choice.error.basis == "any data set of n records in the declared range, z being the norm |x|"
    by = {choice.rule: choice for choice in found.choices}
    assert (
        by["coreset-l2"].calibration.derived.rule.constants
        == make_rule("coreset-l2", SUM, {"m": 50, "n": 1000, "lam": "0.5", "mean": "1.5"}).constants
    )
    assert any("mean" in item.sentence for item in by["coreset-l1"].public)


@pytest.mark.thorough
def test_constants_of_the_file_but_never_its_mean_are_shared(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        'name = "p"\nepsilon = "w*z/b"\n[record]\nz = [0, 2]\n[parameters]\nb = "positive"\n[sampling]\n'
        'q = "lam*m/n + (1-lam)*m*z/(n*mean)"\nm = 100\nn = 1000\nlam = 0.5\nmean = 1.5\n'
    )
    own = certified(calibrate(str(path), 1))
    assert own.rule == "the profile's own"
    assert own.size == 100
    smaller = certified(calibrate(str(path), 1, target_size=50))
    assert smaller.size == 50
    assert smaller.calibration.scale != own.calibration.scale
    assert certified(calibrate(str(path), 1, rules="uniform")).calibration.derived.rule.q == ("num", Fraction(1, 10))
    with pytest.raises(InvalidSampling, match="mean is missing"):
        calibrate(str(path), 1, rules="coreset-l2")


def test_a_parameter_with_a_number_is_found_anew_and_several_in_proportion():
    one = certified(calibrate(LLOYD, 20, rules="uniform", rate="1/2", parameters="s"))
    assert set(one.calibration.parameters) == {"s"}
    assert one.calibration.profile.with_parameters(s=30) == LLOYD
    both = certified(calibrate(LLOYD, 20, rules="uniform", rate="1/2", parameters={"s": 1, "c": "3/2"}))
    assert both.calibration.parameters["c"] == both.calibration.parameters["s"] * Fraction(3, 2)
    with pytest.raises(InvalidArgument, match=r"give their proportions, such as s=1, c=1"):
        calibrate(LLOYD, 20, rules="uniform", rate="1/2", parameters=["s", "c"])
    with pytest.raises(InvalidArgument, match="was to be found, but 'lloyd' has T, c, s"):
        calibrate(LLOYD, 20, rules="uniform", rate="1/2", parameters="it_no")
    with pytest.raises(InvalidArgument, match="no parameter is 'positive'"):
        calibrate(LLOYD, 20, rules="uniform", rate="1/2")
    two = declare("p", "w*(z/b + 1/c)", record={"z": [0, 1]}, parameters={"b": "positive", "c": "positive"})
    with pytest.raises(InvalidArgument, match="but c has no number either"):
        calibrate(two, 1, rules="uniform", rate=1, parameters="b")


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("epsilon", "parameters", "said"),
    [
        ("w*z*b", {"b": "positive"}, "more of it does not always cost less"),
        ("w*z*(b - 3)**2 + w*z/b", {"b": "positive"}, "more of it does not always cost less"),
        ("w*z*(2 + sin(b))", {"b": "positive"}, "more of it does not always cost less"),
        ("w*z", {"b": "positive"}, "does not depend on it"),
        ("w*z/b", {"b": [1, 2]}, "no parameter is 'positive'"),
        ("w*z/b/c", {"b": "positive", "c": [1, 2]}, "c has a range; give a number"),
    ],
)
def test_a_parameter_that_is_no_noise_is_refused_with_the_reason(epsilon, parameters, said):
    with pytest.raises(InvalidArgument, match=said):
        calibrate(declare("p", epsilon, record={"z": ["0.5", 1]}, parameters=parameters), 2, rules="uniform", rate=1)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("epsilon", "target", "verdict"),
    [
        ("w*(1 + z/b)", 1, "infeasible"),  # in the limit only
        ("w*(1 + z/b)", "0.5", "infeasible"),
        ("w*(1 + z/b)", "1.0001", "certified"),
        ("w*(1 + z/b)", "1.0000000000001", "certified"),
        ("w*z*(1 + 1/b)", 1, "infeasible"),
    ],
)
def test_a_target_that_is_reached_only_in_the_limit_is_infeasible(epsilon, target, verdict):
    profile = declare("p", epsilon, record={"z": [1, 1]}, parameters={"b": "positive"})
    found = calibrate(profile, target, rules="uniform", rate=1)
    assert found.choices[0].verdict == verdict
    assert (found.choices[0].calibration is None) == (verdict != "certified")
    assert verdict == "certified" or "reaches it" in found.choices[0].reason


REFUSED = {
    "m > n": ({"target_size": 101, "constants": {"n": 100}}, InvalidSampling),
    "m = 0": ({"target_size": 0, "constants": {"n": 100}}, InvalidSampling),
    "m < 0": ({"target_size": -1, "constants": {"n": 100}}, InvalidSampling),
    "nan": ({"target_size": "nan", "constants": {"n": 100}}, InvalidNumber),
    "no n": ({"target_size": 10}, InvalidSampling),
    "rate 0": ({"rate": 0}, InvalidSampling),
    "rate above 1": ({"rate": "1.01"}, InvalidSampling),
    "both": ({"rate": "0.1", "target_size": 3}, InvalidArgument),
    "m twice": ({"target_size": 3, "constants": {"m": 3, "n": 10}}, InvalidArgument),
    "no such constant": ({"rate": "0.1", "constants": {"nn": 3}}, InvalidSampling),
    "for another rule": ({"rate": "0.1", "constants": {"coreset.mean": 3}}, InvalidArgument),
    "rule twice": ({"rate": "0.1", "rules": ["uniform", "uniform"]}, InvalidArgument),
    "oracle": ({"rate": "0.1", "rules": ["variance-optimal"]}, NotPrivate),
    "unknown rule": ({"rate": "0.1", "rules": ["uniforme"]}, InvalidSampling),
    "one mean for two": (
        {"rules": ["coreset-l1", "coreset-l2"], "target_size": 5, "constants": {"n": 100, "lam": 1, "mean": 1}},
        InvalidArgument,
    ),
    "norm": ({"rate": "0.1", "noise_norm": "l3"}, InvalidArgument),
    "dimension": ({"rate": "0.1", "dimension": 0}, InvalidArgument),
    "specs without data": ({"rate": "0.1", "specs": ["z=x"]}, InvalidArgument),
    "constrained without data": ({"rules": ["privacy-constrained"], "target_size": 5}, InvalidArgument),
    "constrained without size": ({"rules": ["privacy-constrained"], "data": POINTS.reshape(-1, 1), "specs": ["z=0"]}, InvalidArgument),
    "size that q ignores": ({"rules": [], "q": "1/2", "target_size": 5}, InvalidArgument),
    "no rule": ({"rules": [], "target_size": 5}, InvalidArgument),
    "data out of range": ({"rate": "0.1", "data": POINTS.reshape(-1, 1) + 9, "specs": ["z=0"]}, InvalidData),
    "tolerance": ({"rate": "0.1", "tolerance": 1}, InvalidArgument),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused(name):
    options, error = REFUSED[name]
    with pytest.raises(error):
        calibrate(SUM, 1, **{"rules": ["uniform"], **options})


@pytest.mark.parametrize("target", ["nan", "inf", 0, -1, "1e7", float("nan")])
def test_targets_that_are_none(target):
    with pytest.raises((InvalidTarget, InvalidNumber)):
        calibrate(SUM, target, rules="uniform", rate="0.1")


@pytest.mark.thorough
def test_the_noise_for_a_size_under_privacy_constrained_sampling_is_private():
    table = POINTS.reshape(-1, 1)
    found = calibrate(SUM, 2, rules=["privacy-constrained", "uniform"], target_size=100, constants={"n": 500}, data=table, specs=["z=0"])
    choice = certified(found)
    assert choice.from_data
    assert NOISE_FROM_DATA in choice.public
    assert 100 * (1 - 1e-5) <= choice.calibration.size <= 100
    told = choice.to_json()
    assert found.to_json()["private"]["privacy-constrained"]["noise"]["b"] == choices.exact_text(choice.calibration.scale)
    assert "noise" not in told
    assert "guarantee" not in told
    assert "b" in found.choices[1].to_json()["noise"]
    assert found.choices[1].to_json()["error"] is None
    with pytest.raises(InvalidArgument, match="would show them"):
        fill_profile(choice, parse_file(write_toml(parse_file('name="p"\nepsilon="w*z"\n[record]\nz=[0,1]\n'))))


@pytest.mark.thorough
def test_the_error_is_that_of_noisy_sums_of_samples():
    """The mean of (S^ - S)^2 over draws, with Laplace noise of the scale that was found."""
    table = POINTS.reshape(-1, 1)
    found = calibrate(
        SUM, 2, rules="coreset-l1", target_size=60, constants={"n": 500, "lam": "0.5", "mean": "1.1"}, data=table, specs=["z=0"]
    )
    choice = certified(found)
    plan = plan_sample(choice.calibration.profile, rule="coreset-l1", constants={"m": 60, "n": 500, "lam": "0.5", "mean": "1.1"})
    generator, scale, whole = np.random.default_rng(1), float(choice.calibration.scale), POINTS.sum()
    errors = []
    for seed in range(400):
        sample = draw_sample(
            plan, table, specs=[choices.parse_statistic("z=0")], source=seed,
        ).consume()  # fmt: skip
        total = float((sample.table.column("0").to_numpy() * sample.weights).sum())
        errors.append((total + generator.laplace(scale=scale) - whole) ** 2)
    expected = choice.error.sampling + choice.error.noise
    assert abs(np.mean(errors) - expected) < 5 * np.std(errors) / math.sqrt(len(errors))
    assert choice.error.private
    q = round_rule(choice.calibration.derived.rule.q, {"z": POINTS})[0]
    assert choice.error.sampling == pytest.approx(float(((1 / q - 1) * POINTS**2).sum()), rel=1e-9)
    assert choice.error.noise == pytest.approx(2 * scale**2)


@pytest.mark.parametrize(("norm", "dimension", "energy"), [("l1", 3, 6), ("l2", 3, 12), ("linf", 3, 20), ("l1", 1, 2)])
def test_noise_of_each_norm(norm, dimension, energy):
    assert SumNoise(norm, dimension).variance(Fraction(2)) == pytest.approx(4 * energy)


@pytest.mark.thorough
def test_the_norms_of_a_file_give_noise_and_coordinates():
    table = np.random.default_rng(2).uniform(0, 1, (50, 2))
    profile = declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": "positive"})
    for norm, energy in (("l1", 4), ("l2", 6), ("linf", 8)):
        found = calibrate(profile, 2, rules="uniform", rate="0.5", data=table, specs=[f"z={norm}(0,1)"])
        choice = certified(found)
        assert (found.noise.norm, found.noise.dimension) == (norm, 2)
        assert choice.error.noise == pytest.approx(energy * float(choice.calibration.scale) ** 2)
        assert choice.error.sampling == pytest.approx(float((table**2).sum()), rel=1e-9)  # (1/q - 1) = 1
    with pytest.raises(InvalidArgument, match="give --dimension"):
        calibrate(profile, 2, rules="uniform", rate="0.5", data=table, specs=["z=l2"])
    assert calibrate(profile, 2, rules="uniform", rate="0.5", data=table, specs=["z=l2"], dimension=2).noise.dimension == 2


@pytest.mark.parametrize("rule", ["uniform", "coreset-l1", "coreset-l2"])
@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_the_bound_for_any_data_set_holds_and_is_reached(rule, norm):
    constants = {"m": 50, "n": 500} | ({} if rule == "uniform" else {"lam": "0.5", "mean": "1.1"})
    profile = SUM.with_parameters(b=3)
    made = make_rule(rule, profile, constants)
    found = error_of_any(profile, made, Fraction(500), Fraction(3), SumNoise(norm, 2))
    z = np.linspace(0, 2, 20_001)
    worst = 500 * float(((1 / round_rule(made.q, {"z": z})[0] - 1) * z**2).max()) * (2 if norm == "linf" else 1)
    assert worst <= found.sampling * (1 + 1e-9)
    assert found.sampling <= worst * 1.0015


def test_every_record_in_the_sample_costs_no_sampling_error():
    choice = certified(calibrate(SUM, 2, rules="uniform", target_size=10, constants={"n": 10}))
    assert choice.error.sampling < 1e-9


def test_a_filled_profile_reads_back_and_meets_the_target():
    declaration = parse_file(
        'name = "p"\nepsilon = "w*z/b"\nsource = "a \\"book\\""\n[record]\nz = [0, "1/3"]\n[parameters]\nb = "positive"\n'
    )
    found = calibrate(declaration, 1, q="m/n", target_size=3, constants={"n": 7})
    text = write_toml(fill_profile(found.choices[0], declaration))
    again = parse_file(text)
    assert again.profile == found.choices[0].calibration.profile
    bound = derive_epsilon(again)
    assert bound.bound.upper <= 1
    assert DECLARED_PROFILE.id in {item.id for item in bound.guarantee.hypotheses}
    mine = {item.sentence for item in found.choices[0].calibration.hypotheses}
    constants = {"m, n are public"}
    assert {item.sentence for item in bound.guarantee.hypotheses} == mine - {text for text in mine if any(c in text for c in constants)}


def test_json_is_json():
    assert json.loads(json.dumps(calibrate(SUM, 1, rules="uniform", rate="0.5").to_json()))["choices"][0]["verdict"] == "certified"


def test_the_error_of_a_count_needs_no_data():
    """n records, each counted with probability 1/4 and weight 4: n (4 − 1) from sampling, and 2 b² of Laplace noise."""
    found = calibrate(declare("count", "w/b", parameters={"b": "positive"}), 1, rules=["uniform"], constants={"rate": "1/4", "n": 100})
    (choice,) = found.choices
    scale = choice.calibration.parameters["b"]
    assert choice.error.sampling == 300
    assert choice.error.noise == pytest.approx(2 * float(scale) ** 2, rel=1e-9)
    assert choice.error.basis == "any data set of n records, each counted once"
