"""Certified integrals contain values at 60 digits, with kinks that nobody declared and tails that nobody integrates."""

from __future__ import annotations

import math
import signal
import time
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import (
    Enclosed,
    expectation,
    expectation_over_laplace,
    exponential,
    exponential_cdf,
    exponential_pdf,
    exponential_sf,
    gaussian,
    gaussian_cdf,
    gaussian_pdf,
    gaussian_sf,
    integrate,
    laplace_cdf,
    laplace_pdf,
    laplace_sf,
    quadrature,
)

fraction = st.fractions(-5, 5, max_denominator=50)
scale = st.fractions(Fraction(1, 10), 10, max_denominator=50)
relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def cdf(x, b=1):
    return mpmath.exp(x / b) / 2 if x < 0 else 1 - mpmath.exp(-x / b) / 2


def pdf(x, b=1):
    return mpmath.exp(-abs(x) / b) / (2 * b)


def quad(f, points):
    return mpmath.quad(f, points)


@relaxed
@given(a=fraction, width=scale, s=fraction, b=scale)
def test_densities_integrate_to_differences_of_distribution_functions(encloses, a, width, s, b):
    with mpmath.workdps(60):
        ends = [mpf(a - s), mpf(a + width - s)]
        low, high = (cdf(-x, mpf(b)) if ends[0] > 0 else cdf(x, mpf(b)) for x in ends)
        encloses(integrate(lambda r: laplace_pdf(r - s, b), a, a + width), abs(high - low))
        low, high = (1 - mpmath.exp(-max(x, 0) / mpf(b)) for x in ends)
        found = integrate(lambda r: exponential_pdf(r - s, b), a, a + width)
        if ends[1] <= 0:
            assert found == Enclosed(Fraction(0), Fraction(0))
        else:
            encloses(found, high - low, error=mpmath.mpf(10) ** -25)
        low, high = (mpmath.erfc((-x if ends[0] < 0 else x) / mpf(b) / mpmath.sqrt(2)) / 2 for x in ends)
        encloses(integrate(lambda r: gaussian_pdf(r - s, b), a, a + width), abs(high - low), error=mpmath.mpf(10) ** -25)


@relaxed
@given(b=scale, c=fraction)
def test_distribution_functions_and_their_complements(encloses, b, c):
    """∫ over [0, 1] of F + (1 − F) is 1 for every law, and the values at 60 digits agree."""
    for law, complement in ((laplace_cdf, laplace_sf), (exponential_cdf, exponential_sf), (gaussian_cdf, gaussian_sf)):
        encloses(integrate(lambda r, f=law, g=complement: f(r - c, b) + g(r - c, b), 0, 1), 1)


def test_kinks_are_found_inside_compositions(encloses):
    def absolute(x):
        return (-x if x.is_negative() else x).value

    encloses(integrate(absolute, -1, 2), mpmath.mpf(5) / 2)
    encloses(integrate(lambda r: absolute(2 * r - Fraction(1, 3)), 0, 1), mpmath.mpf(13) / 18)
    encloses(integrate(lambda r: 1 if (1 - r).is_negative() else 0, 0, Fraction(3, 2)), mpmath.mpf(1) / 2)
    encloses(integrate(lambda r: absolute(r) if (r - 1).is_negative() else absolute(r - 2), -1, 3), 2)


def test_kinks_behind_other_branches_are_found(encloses):
    """The inner kink is met on a piece that the outer one makes."""

    def nested(r):
        if r.is_negative():
            return 0
        return 1 if (r - Fraction(1, 7)).is_negative() else 3 if (r - Fraction(6, 7)).is_negative() else 5

    encloses(integrate(nested, -10, 1), mpmath.mpf(1) / 7 + 3 * mpmath.mpf(5) / 7 + mpmath.mpf(5) / 7)


def test_kinks_that_are_met_late_are_found(encloses):
    """The law is asked for only after the first call, by which a piece is searched for kinks."""
    calls = []

    def late(r):
        calls.append(r)
        return 0 if len(calls) == 1 else laplace_pdf(r)

    encloses(integrate(late, -1, 1), 1 - mpmath.exp(-1))


def test_kinks_beyond_the_sample_point_of_a_ray_are_found(encloses):
    with mpmath.workdps(60):
        truth = mpmath.exp(-100) / 2
        found = expectation_over_laplace(1, lambda r: 0 if (r - 100).is_negative() else 1)
        encloses(found, truth)
        encloses(expectation_over_laplace(1, lambda r: 1 if (r + 200).is_negative() else 0), mpmath.exp(-200) / 2)


def test_branch_cuts_take_the_flag(encloses):
    encloses(integrate(lambda r: r.value.sqrt(analytic=r.analytic), 1, 4), mpmath.mpf(14) / 3)


@pytest.mark.thorough
@relaxed
@given(rho=scale, nu=scale, c=fraction)
def test_difference_of_two_laplace_variables(encloses, rho, nu, c):
    """P(R − Z > c) for independent Laplace(ρ), Laplace(ν): ½(ρ² e^(−c/ρ) − ν² e^(−c/ν))/(ρ² − ν²) for c ≥ 0, by partial fractions."""
    with mpmath.workdps(80):
        a, b, x = mpf(rho), mpf(nu), abs(mpf(c))
        if rho == nu:
            above = mpmath.exp(-x / a) * (2 * a + x) / (4 * a)
        else:
            above = (a**2 * mpmath.exp(-x / a) - b**2 * mpmath.exp(-x / b)) / (2 * (a**2 - b**2))
        encloses(expectation_over_laplace(rho, lambda r: laplace_cdf(r - c, nu)), above if c >= 0 else 1 - above)


ANSWERS = [Fraction(k, 3) for k in (0, 2, -4, 9, 1, 1, 5, -7, 3, 2)]


def svt(answers, pattern, threshold, rho, nu, **options):
    """P(the sparse vector technique with fresh noise answers ``pattern``): above if x + Z ≥ T + R."""
    return expectation_over_laplace(
        rho,
        lambda r: math.prod(
            laplace_sf(r + threshold - x, nu) if above else laplace_cdf(r + threshold - x, nu)
            for x, above in zip(answers, pattern, strict=True)
        ),
        **options,
    )


def svt_by_mpmath(answers, pattern, threshold, rho, nu):
    def f(r):
        product = pdf(r, mpf(rho))
        for x, above in zip(answers, pattern, strict=True):
            u = r + mpf(threshold - x)
            product *= cdf(-u, mpf(nu)) if above else cdf(u, mpf(nu))
        return product

    kinks = sorted({Fraction(0), *(x - threshold for x in answers)})
    far = [-400, -100, -30, *map(mpf, kinks), 30, 100, 400]
    return quad(f, far)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "threshold", "rho", "nu"),
    [
        ([False] * 9 + [True], Fraction(1), Fraction(2), Fraction(4)),
        ([True, False] * 5, Fraction(1, 2), Fraction(1), Fraction(1)),
        ([True] * 10, Fraction(7), Fraction(1, 2), Fraction(1, 3)),
        ([False] * 10, Fraction(-9), Fraction(1), Fraction(1)),
    ],
)
def test_patterns_of_the_sparse_vector_technique(encloses, pattern, threshold, rho, nu):
    with mpmath.workdps(60):
        truth = svt_by_mpmath(ANSWERS, pattern, threshold, rho, nu)
        begun = time.process_time()
        found = svt(ANSWERS, pattern, threshold, rho, nu)
        assert time.process_time() - begun < 1  # about 0.05 s on an idle core
        encloses(found, truth)
        encloses(svt(ANSWERS, pattern, threshold, rho, nu, relative=Fraction(1, 1000)), truth, relative=mpmath.mpf("0.001"))
        encloses(svt(ANSWERS, pattern, threshold, rho, nu, relative=Fraction(1, 10**30)), truth, relative=mpmath.mpf(10) ** -30)


def test_patterns_add_up_to_one():
    answers = ANSWERS[:3]
    parts = [svt(answers, [bool(n >> k & 1) for k in range(3)], Fraction(1), 1, 2) for n in range(8)]
    total = sum(part.lower for part in parts), sum(part.upper for part in parts)
    assert total[0] <= 1 <= total[1]
    assert total[1] - total[0] < Fraction(1, 10**12)


@pytest.mark.thorough
@pytest.mark.parametrize("noise", ["laplace", "exponential", "gaussian"])
def test_report_noisy_max(encloses, noise):
    answers = [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(1, 3)]
    total = Fraction(0)
    for winner, best in enumerate(answers):
        gaps = [best - x for index, x in enumerate(answers) if index != winner]
        with mpmath.workdps(50):
            kinks = sorted({mpmath.mpf(0), *(mpf(-gap) for gap in gaps)})
            if noise == "laplace":
                found = expectation_over_laplace(2, lambda r, g=gaps: math.prod(laplace_cdf(r + gap, 2) for gap in g))
                truth = quad(lambda r, g=gaps: pdf(r, 2) * mpmath.fprod(cdf(r + mpf(x), 2) for x in g), [-300, -30, *kinks, 30, 300])
            elif noise == "exponential":
                found = expectation(exponential(2), lambda r, g=gaps: math.prod(exponential_cdf(r + gap, 2) for gap in g))
                f = lambda r, g=gaps: (  # noqa: E731
                    mpmath.exp(-r / 2) / 2 * mpmath.fprod(1 - mpmath.exp(-max(r + mpf(x), 0) / 2) for x in g)
                )
                truth = quad(f, [*(kink for kink in kinks if kink >= 0), 30, 300])
            else:
                found = expectation(gaussian(2), lambda r, g=gaps: math.prod(gaussian_cdf(r + gap, 2) for gap in g))
                truth = quad(
                    lambda r, g=gaps: mpmath.npdf(r, 0, 2) * mpmath.fprod(mpmath.ncdf((r + mpf(x)) / 2) for x in g), [-40, -4, 0, 4, 40]
                )
            encloses(found, truth, error=mpmath.mpf(10) ** -20)
        total += found.lower
    assert abs(total - 1) < Fraction(1, 10**12)


@pytest.mark.parametrize("sigma", [Fraction(1, 10**9), Fraction(1), Fraction(10**9)])
def test_scales_far_from_one(encloses, sigma):
    with mpmath.workdps(60):
        truth = mpmath.erfc(3 / mpmath.sqrt(2)) / 2
        for shift in (Fraction(0), 5 * sigma, -5 * sigma):
            found = expectation(gaussian(sigma, shift), lambda r, s=shift: 0 if (r - s - 3 * sigma).is_negative() else 1)
            encloses(found, truth, error=mpmath.mpf(10) ** -40)
        encloses(expectation_over_laplace(sigma, lambda r: laplace_cdf(r - sigma, sigma)), mpmath.mpf(3) / 4 / mpmath.e)


def test_scales_far_from_each_other(encloses):
    """A peak of width 10⁻¹² in a piece of length 1, and a law that is flat on it: F(−10⁻⁹) up to 10⁻³⁰, as r² averages to 2·10⁻²⁴."""
    found = expectation_over_laplace(Fraction(1, 10**12), lambda r: laplace_cdf(r - 1, 10**9))
    encloses(found, mpmath.exp(-(mpmath.mpf(10) ** -9)) / 2, error=1e-25)


def test_probabilities_beyond_the_range_of_floats_keep_their_digits(encloses):
    encloses(expectation_over_laplace(1, lambda r: 0 if (r - 20_000).is_negative() else 1), mpmath.exp(-20_000) / 2)
    least = expectation_over_laplace(1, lambda r: 0 if (r - 10**6).is_negative() else 1)
    assert least.lower < 0 < least.upper
    assert -Fraction(1, 2**50_000) <= least.lower <= least.upper <= Fraction(1, 2**50_000)


def test_lines_of_any_form_agree():
    forms = [lambda r: laplace_cdf(2 * r - 3), lambda r: laplace_cdf((r - Fraction(3, 2)) * 2), lambda r: laplace_cdf(-(3 - r - r))]
    forms += [lambda r: laplace_cdf(r / Fraction(1, 2) - 3), lambda r: laplace_sf(3 + r - 3 * r)]
    forms += [lambda r: laplace_cdf(r - "1.5", "0.5"), lambda r: laplace_cdf(r + r - r * 2 - 3 + 2 * r)]
    found = [integrate(form, 0, 5) for form in forms]
    assert max(each.lower for each in found) <= min(each.upper for each in found)


def test_equal_ends_and_constants():
    assert integrate(lambda r: 1, 3, 3) == Enclosed(Fraction(0), Fraction(0))
    assert integrate(lambda r: Fraction(1, 2), 0, 4) == Enclosed(Fraction(2), Fraction(2))
    assert integrate(lambda r: 0, 0, 4) == Enclosed(Fraction(0), Fraction(0))


def test_the_claimed_tail_is_added():
    """The bound is what the caller claims: here e^(−t), so that at a width of 1/10 the ray must not be cut without it."""
    found = integrate(
        lambda r: (-r).value.exp(), 0, math.inf, right_tail=lambda t: (-arb(t.numerator) / t.denominator).exp(), relative="0.1"
    )
    assert found.lower <= 1 <= found.upper


@pytest.mark.parametrize(
    "call",
    [
        lambda: integrate(lambda r: 1, 1, 0),
        lambda: integrate(lambda r: 1, 0, math.inf),
        lambda: integrate(lambda r: 1, -math.inf, 0, right_tail=lambda t: arb(0)),
        lambda: integrate(lambda r: 1, 0, 1, relative=0),
        lambda: integrate(lambda r: 1, 0, 1, relative=1),
        lambda: integrate(lambda r: 1, 0, 1, absolute=-1),
        lambda: integrate(lambda r: r / 0, 0, 1),
        lambda: integrate(lambda r: laplace_cdf(r, 0), 0, 1),
        lambda: integrate(lambda r: laplace_cdf(r, -1), 0, 1),
        lambda: integrate(lambda r: laplace_cdf(r.value), 0, 1),
        lambda: expectation_over_laplace(0, lambda r: 1),
        lambda: expectation_over_laplace(1, lambda r: 1, bound=-1),
    ],
)
def test_unusable_arguments_are_named(call):
    with pytest.raises(InvalidArgument):
        call()


@pytest.mark.parametrize(("low", "high"), [(math.inf, 1), (0, -math.inf), (math.nan, 1), (0, math.nan), ("x", 1), (True, 1)])
def test_unusable_ends_are_named(low, high):
    with pytest.raises(InvalidNumber):
        integrate(lambda r: 1, low, high, left_tail=lambda t: arb(0), right_tail=lambda t: arb(0))


@pytest.mark.parametrize("value", [None, "x", [1], math.nan])
def test_unusable_values_of_integrands_are_named(value):
    with pytest.raises(InvalidNumber):
        integrate(lambda r: value, 0, 1)


def test_lines_of_two_integrals_do_not_mix():
    kept = []
    integrate(lambda r: kept.append(r) or 1, 0, 1)
    with pytest.raises(InvalidArgument, match="two integrals"):
        integrate(lambda r: (r + kept[0]).value, 0, 1)


def test_what_is_not_integrable_stays_undecided():
    with pytest.raises(Undecided):
        integrate(lambda r: 1 / r.value, -1, 1)
    with pytest.raises(Undecided):
        integrate(lambda r: r.value, -1, 1)
    assert integrate(lambda r: r.value, -1, 1, absolute=Fraction(1, 10**20)).upper < Fraction(1, 10**20)
    with pytest.raises(Undecided):
        integrate(lambda r: r.value * 0 + arb.nan(), 0, 1)
    with pytest.raises(Undecided):
        integrate(lambda r: 1, 0, math.inf, right_tail=lambda t: arb(1))
    with pytest.raises(Undecided):
        integrate(lambda r: 1, 0, math.inf, right_tail=lambda t: arb.nan())


def test_a_staircase_without_end_stops(monkeypatch):
    monkeypatch.setattr(quadrature, "_MOST_PIECES", 50)

    def stairs(r):
        k = 0
        while k < 200 and (k - r).is_negative():
            k += 1
        return k

    with pytest.raises(Undecided, match="pieces"):
        integrate(stairs, 0, 200)


@pytest.mark.parametrize("error", [ZeroDivisionError, TypeError, ValueError, KeyboardInterrupt, InvalidNumber])
@pytest.mark.parametrize("analytic", [False, True])
def test_errors_of_the_integrand_pass_through(error, analytic):
    """Left to python-flint they are lost, and the value of the call before is taken."""
    calls = []

    def broken(r):
        calls.append(r)
        if len(calls) > 1 and r.analytic == analytic:
            raise error
        return r.value.exp()

    with pytest.raises(error):
        integrate(broken, 0, 1)


def test_a_call_that_was_begun_and_not_ended_is_noticed(monkeypatch):
    """As where a signal handler raises on entry to the integrand, and the error is lost."""

    class Counted:
        def __init__(self, function):
            self.function, self.misses = function, 0

        def __call__(self, t, analytic):
            self.misses += 1
            return acb(0) if self.misses == 4 else self.function(t, analytic)

        def cache_info(self):
            return self

    monkeypatch.setattr(quadrature, "lru_cache", lambda maxsize: Counted)
    with pytest.raises(Undecided, match="interrupted"):
        integrate(laplace_pdf, 0, 1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_interruptions_never_give_a_wrong_result():
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    truth = (1 - mpmath.exp(-1)) / 2
    before = signal.signal(signal.SIGALRM, interrupt)
    outcomes = []
    try:
        for k in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + k % 50))
                found = integrate(laplace_pdf, 0, 1)
                signal.setitimer(signal.ITIMER_REAL, 0)
                outcomes.append(mpf(found.lower) <= truth <= mpf(found.upper))
            except (Interrupted, Undecided):
                outcomes.append(True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(outcomes) == 200
    assert all(outcomes)
