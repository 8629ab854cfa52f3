"""Noise for a target ε*: against closed forms and independent suprema, certified on both sides, with its hypotheses."""

import doctest
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from accountant import calibrate_noise, calibrate_noise_for_size, derive_epsilon, make_rule, prepare_selection
from accountant.calibration import constrained_rule_for_size, lloyd, noise, published_ratio
from accountant.rules import rule_from_expression
from profiles import Infeasible, InvalidArgument, InvalidSampling, InvalidTarget, Undecided, declare
from profiles.hypotheses import NOISE_FROM_DATA, PUBLIC_CONSTANTS, TARGET_FROM_DATA
from profiles.mechanisms import lloyd as mechanism

LAPLACE = declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": "positive"})
LLOYD = mechanism.general.profile.with_parameters(T=10).with_record(z=(0, "1.5113"))
RATIO = {"beta_sum": 1, "beta_count": published_ratio(22)}
CORESET = {"m": 2000, "n": 48740, "lam": "0.5", "mean": "1.26396"}
POINTS = np.clip(np.abs(np.random.default_rng(0).normal(1.1, 0.15, 3_000)), 0, 1.5)


def batches():
    yield {"z": POINTS[:1_000]}
    yield {"z": POINTS[1_000:]}


def test_examples():
    assert doctest.testmod(noise).failed == 0
    assert doctest.testmod(lloyd).failed == 0


@pytest.mark.parametrize("target", ["0.01", 3, 500])
def test_laplace_noise_under_uniform_sampling_is_the_closed_form(target):
    """psi = log(1 + q (e^(2/(q b)) - 1)) = t gives b = 2/(q log(1 + (e^t - 1)/q)), q = 1/10."""
    found = calibrate_noise(LAPLACE, "uniform", target, constants={"rate": "0.1"})
    with mpmath.workdps(40):
        t = mpmath.mpf(str(target))
        exact = 2 / (mpmath.log1p(mpmath.expm1(t) * 10) / 10)
        scale = mpmath.mpf(found.scale.numerator) / found.scale.denominator
        assert exact <= scale <= exact * (1 + mpmath.mpf(10) ** -6)
        assert mpmath.mpf(found.too_small.numerator) / found.too_small.denominator < exact
    assert found.derived.bound.upper <= Fraction(target)
    assert found.smallest
    assert found.parameters == {"b": found.scale}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("rule", "extra"), [("coreset-l2", {}), ("coreset", {"exponent": "3/2"})])
def test_coreset_rules_are_certified_on_both_sides(rule, extra):
    constants = {**CORESET, **extra}
    found = calibrate_noise(LLOYD, rule, 3, constants=constants, proportions=RATIO, tolerance="1e-4")
    assert found.derived.bound.upper <= 3
    assert found.derived.bound.evidence.checked_by_kernel
    assert found.parameters["beta_count"] == found.parameters["beta_sum"] * published_ratio(22)
    assert found.profile == LLOYD.with_parameters(**found.parameters)
    assert PUBLIC_CONSTANTS.about(names="n, m and lam are") in found.hypotheses
    assert found.too_small == found.scale * (1 - Fraction(1, 10**4))
    smaller = LLOYD.with_parameters(**{name: factor * found.too_small for name, factor in RATIO.items()})
    assert derive_epsilon(smaller, rule=rule, constants=constants).bound.lower > 3
    assert "is too small" in found.render()


def test_a_rule_that_was_made_and_a_fixed_count_noise():
    """Only the noise of the sum is chosen: the counts alone cost log(1 + 1/4 (e^(4 T/20.5) - 1))."""
    fixed = LLOYD.with_parameters(beta_count="20.5")
    rule = rule_from_expression("1/4", fixed)
    with mpmath.workdps(30):
        floor = mpmath.log1p(mpmath.expm1(mpmath.mpf(40) / mpmath.mpf("20.5")) / 4)
    found = calibrate_noise(fixed, rule, "1.5", tolerance="1e-3")
    assert float(floor) < float(found.derived.bound.upper) <= 1.5
    assert set(found.parameters) == {"beta_sum"}
    with pytest.raises((Infeasible, Undecided)):
        calibrate_noise(fixed, rule, "0.9")


@pytest.mark.parametrize(
    ("epsilon", "target", "error"),
    [
        ("w*(1 + z/b)", "0.5", Infeasible),
        ("w*z/(1 + b)", 3, InvalidArgument),
        ("w*z*b", 3, InvalidArgument),
        ("w*(1 + z*b)", "0.5", Infeasible),
    ],
)
def test_targets_that_noise_does_not_decide(epsilon, target, error):
    profile = declare("p", epsilon, record={"z": [0, 1]}, parameters={"b": "positive"})
    with pytest.raises(error, match="noise for the target"):
        calibrate_noise(profile, "uniform", target, constants={"rate": 1})


def test_a_loss_that_is_not_proved_to_fall_is_still_certified():
    odd = declare("odd", "w*z*(2 + sin(b))/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    found = calibrate_noise(odd, "uniform", 1, constants={"rate": "1/2"}, tolerance="1e-3")
    assert not found.smallest
    assert found.derived.bound.upper <= 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: calibrate_noise(LLOYD, "uniform", 3, constants={"rate": 1}),
        lambda: calibrate_noise(LLOYD, "uniform", 3, constants={"rate": 1}, proportions={"beta_sum": 1}),
        lambda: calibrate_noise(LLOYD, "uniform", 3, constants={"rate": 1}, proportions={"beta_sum": 1, "beta_count": 0}),
        lambda: calibrate_noise(LLOYD.with_parameters(beta_sum=1, beta_count=1), "uniform", 3, constants={"rate": 1}),
        lambda: calibrate_noise(LAPLACE, "privacy-constrained", 3),
        lambda: calibrate_noise(LAPLACE, "uniform", 0, constants={"rate": 1}),
        lambda: calibrate_noise(LAPLACE, "uniform", 1, constants={"rate": 1}, tolerance=1),
        lambda: calibrate_noise(LAPLACE, rule_from_expression("1/2", LAPLACE), 1, constants={"rate": 1}),
    ],
)
def test_unusable_requests_are_refused(ask):
    with pytest.raises((InvalidArgument, InvalidTarget)):
        ask()


def test_sizes_that_are_not_feasible_are_refused():
    with pytest.raises(InvalidSampling, match="needs m <= "):
        calibrate_noise(LLOYD, "coreset-l2", 3, constants={**CORESET, "m": 48_000}, proportions=RATIO)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("target", "size"), [(3, 200), (100, 1000)])
def test_noise_for_a_target_and_a_size(target, size):
    found = calibrate_noise_for_size(LLOYD, target, size, batches, proportions=RATIO, tolerance="1e-4")
    assert size * (1 - 1e-4) <= found.size <= size
    assert found.derived.bound.upper == target
    assert NOISE_FROM_DATA in found.hypotheses
    rule = make_rule("privacy-constrained", found.profile, target_epsilon=target)
    chosen = prepare_selection(found.profile, rule).select({"z": POINTS})
    assert abs(chosen.probabilities.sum() - found.size) < 1e-6
    assert found.too_small < found.scale
    assert found.falling is not None


def test_sizes_that_no_noise_reaches():
    with pytest.raises(InvalidTarget, match="already has a smaller expected size"):
        calibrate_noise_for_size(LLOYD, 3, 2_990, batches, proportions=RATIO)
    with pytest.raises(InvalidTarget, match="above the number of records;"):
        calibrate_noise_for_size(LLOYD, 3, 3_001, batches, proportions=RATIO)
    with pytest.raises(InvalidTarget, match="positive"):
        calibrate_noise_for_size(LLOYD, 3, 0, batches, proportions=RATIO)


def test_a_rule_for_a_size_says_that_its_target_is_from_the_data():
    profile = LLOYD.with_parameters(beta_sum=20, beta_count="33")
    rule = constrained_rule_for_size(profile, 300, batches)
    found = derive_epsilon(profile, rule=rule)
    assert TARGET_FROM_DATA in found.guarantee.hypotheses
    assert 0 < 300 - prepare_selection(profile, rule).select({"z": POINTS}).probabilities.sum() + 1e-4 < 1e-3
    with pytest.raises(InvalidArgument, match="give none beside"):
        derive_epsilon(profile, rule=rule, target_epsilon=3)


def test_a_size_that_no_target_reaches():
    with pytest.raises(InvalidTarget, match="not reachable"):
        constrained_rule_for_size(LLOYD.with_parameters(beta_sum=20, beta_count=33), 2_999, batches)


@pytest.mark.thorough
def test_a_parameter_with_a_range_stays_one():
    """psi <= 1 for every c in [1, 2], with q = 1: 2/b <= 1 at the worst c = 2."""
    ranged = declare("ranged", "w*z*c/b", record={"z": [0, 1]}, parameters={"b": "positive", "c": [1, 2]})
    found = calibrate_noise(ranged, "uniform", 1, constants={"rate": 1})
    assert 2 <= found.scale <= Fraction(2_000_002, 10**6)


def test_a_rule_of_another_profile_is_refused():
    rule = rule_from_expression("1/4 + y/8", declare("other", "w*y", record={"y": [0, 1]}))
    with pytest.raises(InvalidSampling, match="make it for this profile"):
        derive_epsilon(LAPLACE.with_parameters(b=1), rule=rule)
