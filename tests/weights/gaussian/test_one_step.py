"""Weights of one Gaussian step: reference values, an independent evaluation at 50 digits, edges, and what the proofs rest on."""

from __future__ import annotations

import json
import random
import time
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb

from accountant.weights.gaussian import gaussian_weight
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from profiles import Infeasible, declare
from profiles.balls import ball, working_precision
from proofs_check.kernel import check

DIGITS = 50


def exact(value):
    return mpmath.mpf(value.numerator) / value.denominator


def deltas(w, zeta, epsilon):
    """δ in both directions from the definition: P and Q of the events where one law exceeds e^ε times the other, at 50 digits."""
    q, mu, growth = 1 / exact(w), exact(w) * exact(zeta), mpmath.exp(exact(epsilon))
    above = lambda x: mpmath.ncdf(-x)  # noqa: E731
    # removed: (1 - q) + q exp(mu x - mu^2/2) > e^eps for x > edge
    edge = mpmath.log((growth - 1 + q) / q) / mu + mu / 2
    removed = (1 - q) * above(edge) + q * above(edge - mu) - growth * above(edge)
    left = 1 / growth - (1 - q)
    if left <= 0:
        return removed, mpmath.mpf(0)
    edge = mpmath.log(left / q) / mu + mu / 2
    added = mpmath.ncdf(edge) - growth * ((1 - q) * mpmath.ncdf(edge) + q * mpmath.ncdf(edge - mu))
    return removed, added


def largest_unsampled(epsilon, delta):
    """The largest ζ that is feasible at w = 1."""
    low, high = mpmath.mpf(0), mpmath.mpf(100)
    for _ in range(200):
        middle = (low + high) / 2
        half = middle / 2
        value = mpmath.ncdf(half - epsilon / middle) - mpmath.exp(epsilon) * mpmath.ncdf(-half - epsilon / middle)
        low, high = (middle, high) if value <= delta else (low, middle)
    return low


REFERENCES = {
    "1e-5": {"0.9": "1.31", "0.5": "4.30", "0.1": "46.2", "0.01": "843", "0.001": "13866"},
    "1e-8": {"0.9": "1.31", "0.5": "4.26", "0.1": "44.7", "0.01": "769", "0.001": "11133"},
}


@pytest.mark.parametrize("delta", REFERENCES)
def test_reference_values_are_met(delta):
    largest = largest_unsampled(mpmath.mpf(1), mpmath.mpf(delta))
    for share, weight in REFERENCES[delta].items():
        zeta = Fraction(mpmath.nstr(largest * mpmath.mpf(share), 25))
        found = find_crossing(OneStep(Fraction(1), Fraction(delta)), (zeta, zeta), 20)
        assert abs(found.lower / Fraction(weight) - 1) < Fraction(1, 200)


def settings(count, seed=1):
    source = random.Random(seed)
    for _ in range(count):
        epsilon = Fraction(f"{10 ** source.uniform(-2, 1.3):.6g}")
        delta = Fraction(f"{10 ** source.uniform(-15, -1):.4g}")
        largest = largest_unsampled(exact(epsilon), exact(delta))
        yield epsilon, delta, Fraction(mpmath.nstr(largest * mpmath.mpf(10) ** source.uniform(-5, 0), source.randint(3, 20)))


def judge(epsilon, delta, zeta, digits):
    """Compare a weight with an independent evaluation; return whether it is finite."""
    with mpmath.workdps(DIGITS + 30):
        try:
            found = find_crossing(OneStep(epsilon, delta), (zeta, zeta), digits)
        except Infeasible:
            assert deltas(Fraction(1), zeta, epsilon)[0] > exact(delta)
            return False
        removed, added = deltas(found.lower, zeta, epsilon)
        assert added <= removed * (1 + mpmath.mpf(10) ** -20) + mpmath.mpf(10) ** -60
        assert removed <= exact(delta)
        if found.upper is None:
            assert all(deltas(Fraction(2) ** k, zeta, epsilon)[0] <= exact(delta) for k in range(0, 60, 3))
            return False
        assert found.lower < found.upper
        assert found.upper / found.lower - 1 < Fraction(4, 10 ** (digits - 1))
        assert deltas(found.upper, zeta, epsilon)[0] > exact(delta)
        for k in range(1, 20):  # no earlier crossing
            earlier = 1 + (found.lower - 1) * Fraction(k, 20)
            assert deltas(earlier, zeta, epsilon)[0] <= exact(delta)
        return True


def test_weights_are_feasible_and_just_below_the_first_crossing():
    with mpmath.workdps(30):
        made = list(settings(12))
    assert sum(judge(*setting, 12) for setting in made) > 5


@pytest.mark.slow
def test_weights_of_many_random_settings_are_feasible():
    with mpmath.workdps(30):
        made = list(settings(2_000, seed=2))
    assert sum(judge(*setting, random.Random(str(setting)).choice([4, 12, 25, 40])) for setting in made) > 1_000


@pytest.mark.parametrize(
    ("epsilon", "delta", "zeta"),
    [
        ("1", "1e-15", "1e-6"), ("1", "1e-15", "0.1"), ("1", "1e-5", "1e-30"), ("1", "1e-100", "1e-3"), ("1e-6", "1e-5", "1e-6"),
        ("100", "1e-5", "5"), ("1000", "1e-15", "1"), ("1", "0.99", "3"), ("1", "0.0006", "0.001"), ("0.001", "0.3", "0.3"),
        ("1", "1e-5", "0.268"),
        ("1", "1e-5", "0.26799"), ("1", "1e-5", "4"), ("10", "1e-10", "1/3"),
    ],
)  # fmt: skip
def test_edges(epsilon, delta, zeta):
    judge(Fraction(epsilon), Fraction(delta), Fraction(zeta), 25)


def test_a_record_at_the_largest_statistic_has_the_weight_one():
    with mpmath.workdps(60):
        largest = Fraction(mpmath.nstr(largest_unsampled(mpmath.mpf(1), mpmath.mpf("1e-5")), 40))
    step = OneStep(Fraction(1), Fraction(1, 100_000))
    below, above = largest * (1 - Fraction(1, 10**30)), largest * (1 + Fraction(1, 10**30))
    found = find_crossing(step, (below, below), 10)
    assert (found.lower, found.upper) == (1, Fraction(1_000_000_001, 10**9))
    with pytest.raises(Infeasible, match="w = 1 already exceeds"):
        find_crossing(step, (above, above), 10)


def test_an_enclosed_statistic_is_read_at_its_unsafe_end():
    step = OneStep(Fraction(1), Fraction(1, 100_000))
    low, high = Fraction("0.1"), Fraction("0.1") + Fraction(1, 10**13)
    found = find_crossing(step, (low, high), 12)
    assert found.lower <= find_crossing(step, (high, high), 12).lower
    assert found.upper is not None
    assert step.is_feasible(found.upper, low, 200) is False


def test_the_weight_does_not_grow_with_the_statistic():
    step = OneStep(Fraction(1), Fraction(1, 10**6))
    weights = [find_crossing(step, (zeta, zeta), 12).lower for zeta in (Fraction(k, 1000) for k in range(10, 230, 7))]
    assert weights == sorted(weights, reverse=True)


def test_delta_rises_and_then_falls():
    """Theorem 5, at random settings: the sign of g changes once, and is that of the differences of δ."""
    source = random.Random(5)
    for _ in range(15):
        step = OneStep(Fraction(f"{10 ** source.uniform(-2, 1):.4g}"), Fraction(1, 2))
        with working_precision(256):
            zeta = ball(Fraction(f"{10 ** source.uniform(-3, 1):.4g}"))
            points = [arb(2) ** (arb(k) / 4) for k in range(-40, 160)]
            steep = [step.steepness(w, zeta) for w in points]
            values = [step.delta_remove(w, zeta) for w in points]
        signs = [1 if g > 0 else -1 if g < 0 else 0 for g in steep]
        certain = [sign for sign in signs if sign]
        assert certain == sorted(certain, reverse=True)
        assert len(certain) > 40
        for before, after, sign, next_sign in zip(values, values[1:], signs, signs[1:], strict=False):
            if sign and sign == next_sign:
                assert not (after < before if sign > 0 else after > before)


def test_the_integral_in_the_proof_is_below_one():
    """A(1, 4), the integral of exp(r - 2 r^2) over [0, 1], is 0.8871...: enclosed in ball arithmetic."""
    with working_precision(128):
        found = acb.integral(lambda r, _: (r - 2 * r * r).exp(), 0, 1).real
        assert arb("0.8871") < found < arb("0.8872")


def test_a_weight_takes_milliseconds():
    zeta = Fraction("0.05")
    step = OneStep(Fraction(1), Fraction(1, 10**5))
    start = time.process_time()
    for _ in range(20):
        find_crossing(step, (zeta, zeta), 15)
    assert (time.process_time() - start) / 20 < 0.05


PROFILE = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})


@pytest.mark.parametrize(("z", "digits"), [("1", 8), ("0.01", 30), ("4", 40), ("1/3", 15)])
def test_the_kernel_accepts_the_certificate_of_a_weight_and_of_no_larger_one(z, digits):
    found = gaussian_weight(PROFILE, 1, "1e-5", {"z": z}, digits=digits)
    certificate = found.certificate()
    report = check(json.dumps(certificate))
    assert report.accepted
    assert [claim.claim for claim in report.claims] == ["delta-upper"] * 2
    assert {claim["direction"] for claim in certificate["claims"]} == {"add", "remove"}
    assert all(Fraction(claim["bound"]) <= found.delta for claim in certificate["claims"])
    event = certificate["composition"]["events"][0]
    assert 1 / Fraction(event["sampling_probability"]) == found.lower
    assert 1 / Fraction(event["noise_multiplier"]) == found.lower * Fraction(z) / 30
    larger = found.lower * (1 + Fraction(10) ** (3 - digits))
    event["sampling_probability"], event["noise_multiplier"] = str(1 / larger), str(1 / (larger * Fraction(z) / 30))
    assert not check(json.dumps(certificate)).accepted
