"""Thresholds with explicit errors, the constants of the proofs, the lower bound and its hard instances."""

import dataclasses
from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import numpy as np
import pytest

from accountant.applications.heavyhitters import HeavyHitterMonitor, plan_threshold, theorem_level
from accountant.applications.heavyhitters.planning import _DecisionLaw
from accountant.onesided import calibrate_one_sided
from profiles import InvalidArgument, InvalidNumber, InvalidTarget
from tests.targets.hard_streams import count_paths, draw_hard_instance, least_error


@pytest.mark.parametrize(("k", "threshold", "users"), [(1, 5, 3), (2, 9, 20), (7, 12, 30)])
def test_probabilities_by_direct_summation(k, threshold, users):
    """E[min(1, e^(−λ(τ − H)))] over H ~ Bin(users, p) at 40 digits."""
    plan = calibrate_one_sided("0.7")
    law = _DecisionLaw(plan.epsilon0 / k, plan.p)
    with mpmath.workdps(40):
        rate, p = mpmath.mpf(law.rate.numerator) / law.rate.denominator, mpmath.mpf(law.p)
        total = mpmath.fsum(
            comb(users, count) * p**count * (1 - p) ** (users - count) * min(mpmath.mpf(1), mpmath.exp(-rate * (threshold - count)))
            for count in range(users + 1)
        )
        for certified, quick, wanted in (
            (law.certified_report(threshold, users), law.report(threshold, users), total),
            (law.certified_miss(threshold, users), law.miss(threshold, users), 1 - total),
        ):
            exact = mpmath.mpf(certified.numerator) / certified.denominator
            assert 0 <= exact - wanted < mpmath.mpf(10) ** -25
            assert quick == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("choice", ["optimal", "corollary"])
@pytest.mark.parametrize(("k", "epsilon", "level"), [(1, "1", None), (3, "0.1", None), (20, "0.5", 0), (2, "3", 50)])
def test_plans_keep_their_promise_and_are_nearly_least(k, epsilon, level, choice):
    chance = Fraction("0.01")
    found = plan_threshold(k, epsilon, chance, steps=50, domain_size=200, level=level, calibration=choice)
    assert found.failure <= chance
    assert level is not None or found.error == 2 * found.level
    if level is None and Fraction(epsilon) <= 1:
        assert found.level <= theorem_level(k, epsilon, chance, steps=50, domain_size=200)
    assert found.error >= least_error(k, epsilon, chance, steps=50, domain_size=200)
    plan = calibrate_one_sided(epsilon, choice=choice)
    law = _DecisionLaw(plan.epsilon0 / k, plan.p)
    smaller = 10_000 * (law.certified_report(found.threshold - 2, found.level) + law.certified_miss(found.threshold - 2, found.error))
    assert smaller > chance / 2


def test_a_plan_in_use():
    """Heavy hitters of ``error`` users are found, items of at most ``level`` users are not, and nobody is dropped too early."""
    chance = Fraction("0.0000001")
    plan = plan_threshold(2, 1, chance, steps=4, domain_size=10)
    monitor = HeavyHitterMonitor(k=2, epsilon=1, threshold=plan.threshold, domain=range(10), times=range(4))
    path = {0: 3, 2: 7}  # all of the first group are at two heavy items, k = 2
    stream = [(user, time, path.get(time, user % 2)) for time in range(4) for user in range(plan.error)]
    reports = monitor.run(stream, bits=9).reports
    assert [report.items for report in reports] == [(3,), (), (7,), ()]


def exponent(x, p, s):
    return x * s * p - mpmath.log(1 + p * mpmath.expm1(s))


def test_constant_12():
    """The inequalities of Theorem 2 with x = 1/log 2: at least ε/(12 k) for both exponents, on a grid; the limit at 0 is 11.62."""
    x = 1 / mpmath.log(2)
    phi = x * mpmath.log(x) - x + 1
    assert mpmath.almosteq(1 / phi, mpmath.mpf("11.6183"), 1e-4)
    for epsilon in (mpmath.mpf(step) / 100 for step in range(1, 101)):
        p = -mpmath.expm1(-epsilon)
        assert exponent(x, p, mpmath.log(x)) >= epsilon / 12
        for k in (2, 3, 10, 1000):
            assert k * exponent(x, p, mpmath.log(2) / k) >= epsilon / 12
        half = x * p / 2
        assert 2 * (half * mpmath.log(half / p) + (1 - half) * mpmath.log((1 - half) / (1 - p))) >= 2 * epsilon * phi / 2


def test_the_constants_of_the_paper_do_not_fit_its_proof():
    """k = 1, ε = 1: zeta = 100 log(2M/β) ≤ 0.1 p τ* fails with 1000; the tail of Exp(log 2/k) at k log(2M/β) is above β/(2M)."""
    for pairs in (2, 10**6):
        beta = mpmath.mpf("0.1")
        p, log = 1 - mpmath.exp(-1), mpmath.log(2 * pairs / beta)
        assert 100 * log > mpmath.mpf("0.1") * p * 1000 * mpmath.log(pairs / beta)
        assert 100 * log <= mpmath.mpf("0.1") * p * 4000 * mpmath.log(pairs / beta)
        assert mpmath.exp(-mpmath.log(2) * log) > beta / (2 * pairs)
    epsilon = mpmath.mpf("0.03")  # noise up to 0.01 τ*, not 0.01 p τ*: a reported item may have fewer than τ* users
    p = -mpmath.expm1(-epsilon)
    assert (mpmath.mpf("1.5") * p - mpmath.mpf("0.1") * p - mpmath.mpf("0.01")) / (mpmath.mpf("1.1") * p) < 1


def test_paths_are_counted():
    for k, steps, items in ((2, 4, 2), (1, 3, 5), (3, 3, 2)):
        brute = sum(1 for path in product(range(items + 1), repeat=steps) if sum(map(bool, path)) <= k)
        assert count_paths(k, steps, items) == brute


def test_least_error_is_tight_within_constants_and_has_one_over_epsilon():
    """Theorem B.1 as printed has no 1/ε: at small ε the repaired bound exceeds it by any factor."""
    wide = least_error(5, "0.01", "0.5", steps=1000, domain_size=1000)
    narrow = least_error(5, "1", "0.5", steps=1000, domain_size=1000)
    assert abs(wide - 100 * narrow) <= 100
    assert wide > 0.001 * 5 * np.log(1000 * 1000 / 5) * 1e4
    assert least_error(1, 1, "0.999", steps=1, domain_size=3) == 0


def test_hard_instances():
    rng = np.random.default_rng(2)
    instance = draw_hard_instance(3, users=41, steps=9, domain_size=6, rng=rng)
    assert len(instance.path) == 3
    for batch in instance:
        counts = np.bincount(batch.items, minlength=6)
        assert counts.size == 6  # never outside the domain
        if batch.times in dict(instance.path):
            assert counts[dict(instance.path)[batch.times]] == 41
        else:
            assert counts[4:].max() <= 21
            assert counts[:4].sum() == 0
    assert sum(1 for _ in draw_hard_instance(3, users=5, steps=9, domain_size=6, rng=rng, fillers=0)) == 3


def test_the_paper_fills_with_an_item_outside_its_domain():
    """r + 1 + ⌈3(i − 1)/n⌉ is r + 4 for i = n = 4, and Y = [r + 3]."""
    n, i, r = 4, 4, 2
    assert r + 1 + -(-3 * (i - 1) // n) == r + 4


def test_the_monitor_reads_the_path():
    plan = plan_threshold(3, 1, "1e-6", steps=20, domain_size=50)
    instance = draw_hard_instance(3, users=plan.error, steps=20, domain_size=50, rng=np.random.default_rng(3))
    monitor = HeavyHitterMonitor(k=3, epsilon=1, threshold=plan.threshold, domain=range(50), times=range(20))
    assert instance.read_path(monitor.run(instance, bits=4).reports) == instance.path


def test_a_plan_belongs_to_its_parameters():
    shape = {"domain": range(3), "times": range(24)}
    plan = plan_threshold(2, 1, "0.01", steps=24, domain_size=3)
    made = HeavyHitterMonitor.from_plan(plan, **shape)
    assert made == HeavyHitterMonitor(2, 1, plan.threshold, **shape)
    assert made == HeavyHitterMonitor(2, 1, plan, **shape)
    assert HeavyHitterMonitor.from_plan(plan, domain=range(2), times=range(10)).threshold == plan.threshold  # less is covered
    for change, match in (
        ({"k": 5}, "plan is for k = 2, but 5"),
        ({"epsilon": "0.1"}, "plan is for epsilon = 1, but 1/10"),
        ({"calibration": "corollary"}, "plan is for calibration = optimal"),
        ({"times": range(25)}, "at most 24 time steps, but 25"),
        ({"domain": range(4)}, "at most 3 items, but 4"),
    ):
        with pytest.raises(InvalidArgument, match=match):
            HeavyHitterMonitor(**({"k": 2, "epsilon": 1, "threshold": plan, **shape} | change))
    with pytest.raises(InvalidArgument, match="a plan of plan_threshold was expected"):
        HeavyHitterMonitor.from_plan(59, **shape)


@pytest.mark.thorough
def test_a_plan_that_claims_more_than_is_proved_is_refused():
    """Its claim is printed with every answer: a plan is no place to write a number into."""
    plan = plan_threshold(2, 1, "0.01", steps=100, domain_size=1000)
    assert dataclasses.replace(plan) == plan
    monitor = HeavyHitterMonitor.from_plan(plan, domain=range(9), times=range(3))
    assert monitor.utility.to_json()["hypotheses"] == [
        f"Every user has at most 2 pairs (time, item) that more than {plan.level} users have"
    ]
    whole = plan_threshold(4, 1, "0.01", steps=2, domain_size=2)  # nobody has more pairs than there are
    assert HeavyHitterMonitor.from_plan(whole, domain=range(2), times=range(2)).utility.hypotheses == ()
    assert dataclasses.replace(plan, failure=2 * plan.failure, error=plan.error + 9).error == plan.error + 9
    for claimed in (
        {"error": plan.error - 1}, {"level": plan.level + 1}, {"threshold": plan.threshold - 2}, {"failure": plan.failure / 2}, {"k": 3},
        {"epsilon": Fraction(1, 2)}, {"steps": 200}, {"calibration": "corollary"}, {"failure": Fraction(0)}, {"level": -1},
    ):  # fmt: skip
        with pytest.raises((InvalidArgument, InvalidNumber)):
            dataclasses.replace(plan, **claimed)


def test_nobody_contributes_to_more_reports_than_there_are_pairs():
    few, many = (HeavyHitterMonitor(k, 1, 5, domain=range(2), times=range(3)) for k in (6, 1000))
    assert few.rate == many.rate == many.plan.epsilon0 / 6
    assert HeavyHitterMonitor(5, 1, 5, domain=range(2), times=range(3)).rate == few.plan.epsilon0 / 5
    shape = {"steps": 3, "domain_size": 2}
    plans = [plan_threshold(k, 1, "0.05", **shape) for k in (6, 1000)]
    assert plans[0].threshold == plans[1].threshold


def test_refusals():
    with pytest.raises(InvalidNumber, match="beta"):
        plan_threshold(1, 1, 1, steps=1, domain_size=1)
    with pytest.raises(InvalidArgument, match="level"):
        plan_threshold(1, 1, "0.1", steps=1, domain_size=1, level=-1)
    with pytest.raises(InvalidTarget, match="up to 100 nats"):
        plan_threshold(1, 5000, "0.1", steps=1, domain_size=1)
    with pytest.raises(InvalidTarget, match="closed form"):
        theorem_level(1, 2, "0.1", steps=1, domain_size=1)
    with pytest.raises(InvalidArgument, match="fillers"):
        least_error(1, 1, "0.1", steps=1, domain_size=2, fillers=2)
    with pytest.raises(InvalidNumber, match="positive"):
        least_error(1, 0, "0.1", steps=1, domain_size=5)
