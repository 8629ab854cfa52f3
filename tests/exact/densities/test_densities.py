"""Probabilities and suprema of log ratios against values that are derived by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from proofs_check.exact import (
    Bounds,
    Density,
    Enclosed,
    LogQuadratic,
    Piece,
    clamp,
    density_suprema,
    epsilon_of_densities,
    epsilon_of_tables,
    expectation,
    exponential,
    gaussian,
    laplace,
    laplace_cdf,
    log_ratio,
    probability,
)

INF = math.inf
F = Fraction
fraction = st.fractions(-5, 5, max_denominator=50)
scale = st.fractions(F(1, 10), 10, max_denominator=50)
relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def uniform(low=0, high=1):
    return Density((Piece(F(low), F(high), LogQuadratic(F(1, high - low))),))


def tight(bounds, value):
    with mpmath.workdps(60):
        assert mpmath.mpf(bounds.lower) <= value <= mpmath.mpf(bounds.upper)
        assert bounds.upper - bounds.lower <= 1e-11 * max(1, abs(value))


@pytest.mark.thorough
@relaxed
@given(b=scale, s=fraction, ends=st.lists(fraction, min_size=2, max_size=2, unique=True).map(sorted))
def test_probabilities_of_intervals_and_of_their_complements(encloses, b, s, ends):
    density = laplace(b, s)
    inside, outside = probability(density, [ends]), probability(density, [(-INF, ends[0]), (ends[1], INF)])
    assert inside.lower + outside.lower <= 1 <= inside.upper + outside.upper
    with mpmath.workdps(60):
        low, high = ((mpf(end) - mpf(s)) / mpf(b) for end in ends)
        left = mpmath.exp(low) / 2 if low < 0 else 1 - mpmath.exp(-low) / 2
        right = mpmath.exp(-high) / 2 if high > 0 else 1 - mpmath.exp(high) / 2
        encloses(outside, left + right)


def test_probabilities_far_in_the_tail_keep_their_digits(encloses):
    with mpmath.workdps(60):
        encloses(probability(laplace(1), [(800, INF)]), mpmath.exp(-800) / 2)
        encloses(probability(laplace(1), [(-901, -900)]), (mpmath.exp(-900) - mpmath.exp(-901)) / 2)
        encloses(probability(gaussian(1), [(30, INF)]), mpmath.erfc(30 / mpmath.sqrt(2)) / 2)
        encloses(probability(gaussian(2, 1), [(-INF, -59)]), mpmath.erfc(30 / mpmath.sqrt(2)) / 2)
    ratio = log_ratio(probability(laplace(1), [(800, INF)]), probability(laplace(1, 1), [(800, INF)]))
    tight(ratio, mpmath.mpf(-1))


@pytest.mark.parametrize("shift", [F(10**6), F(-(10**9)), F(1, 3)])
@pytest.mark.parametrize("law", [laplace, gaussian, exponential])
def test_laws_far_from_zero(encloses, law, shift):
    for b in (F(1), F(1, 1000), F(10**6)):
        here, there = probability(law(b), [(b, 3 * b)]), probability(law(b, shift), [(shift + b, shift + 3 * b)])
        assert max(here.lower, there.lower) <= min(here.upper, there.upper)
        moved = epsilon_of_densities(law(b, shift), law(b, shift + b)).symmetric
        assert moved == (Bounds(1.0, 1.0) if law is laplace else Bounds(INF, INF))


def test_probabilities_of_gaussians_very_far_out():
    ratio = log_ratio(probability(gaussian(1), [(200, INF)]), probability(gaussian(1, 1), [(200, INF)]))
    tight(ratio, mpmath.log(mpmath.erfc(200 / mpmath.sqrt(2)) / mpmath.erfc(199 / mpmath.sqrt(2))))


@pytest.mark.thorough
def test_densities_inside_integrands(encloses):
    """The density of the sum of two independent Laplace(1) variables at c is e^(−|c|)(1 + |c|)/4; of Exponential(1), c e^(−c)."""
    for c in (F(0), F(3, 2), F(-7, 3)):
        found = expectation(laplace(1), lambda r, c=c: laplace(1).at(c - r))
        size = mpf(abs(c))
        encloses(found, mpmath.exp(-size) * (1 + size) / 4)
    law = exponential(1)
    encloses(expectation(law, lambda r: law.at(2 - r)), 2 * mpmath.exp(-2))


def test_events_are_unions(encloses):
    density = laplace(1)
    one = probability(density, [(-1, 1)])
    assert probability(density, [(0, 1), (-1, F(1, 2)), (-1, 0)]) == one
    assert probability(density, []) == Enclosed(F(0), F(0))
    assert probability(density, [(2, 2)]) == Enclosed(F(0), F(0))
    assert probability(exponential(1), [(-5, 0)]) == Enclosed(F(0), F(0))
    whole = probability(density, [(-INF, INF)])
    assert whole.upper == 1
    assert whole.lower > 1 - F(1, 10**12)


@pytest.mark.thorough
@relaxed
@given(b=scale, s=fraction, t=fraction)
def test_laplace_is_exactly_distance_over_scale(b, s, t):
    exact = epsilon_of_densities(laplace(b, s), laplace(b, t))
    truth = Enclosed.exactly(abs(s - t) / b).bounds()
    assert exact.removing.epsilon == exact.adding.epsilon == exact.symmetric == truth
    for direction in (exact.removing, exact.adding):
        assert len(direction.event) == (s != t)


def test_laplace_of_two_scales(encloses):
    exact = epsilon_of_densities(laplace(1), laplace(2))
    assert exact.removing.epsilon == log_ratio(2, 1)
    assert exact.removing.event == (0,)
    assert exact.adding.epsilon == Bounds(INF, INF)
    shifted = epsilon_of_densities(laplace(1), laplace(2, 3))
    tight(shifted.removing.epsilon, mpmath.log(2) + mpmath.mpf(3) / 2)


def test_exponential_noise_is_one_sided():
    exact = epsilon_of_densities(exponential(2, 1), exponential(2))
    assert exact.removing.epsilon == Bounds(0.5, 0.5)
    assert exact.adding.epsilon == Bounds(INF, INF)
    assert 0 < exact.adding.event[0] < 1


def test_gaussians():
    shifted = epsilon_of_densities(gaussian(1), gaussian(1, 1))
    assert shifted.removing.epsilon == shifted.adding.epsilon == Bounds(INF, INF)
    for s in (F(0), F(1), F(-7, 3)):
        scaled = epsilon_of_densities(gaussian(1, s), gaussian(2))
        with mpmath.workdps(60):
            tight(scaled.removing.epsilon, mpmath.log(2) + mpf(s * s) / 6)
        assert scaled.adding.epsilon == Bounds(INF, INF)
        assert scaled.removing.event == (4 * s / 3,)
    against_laplace = epsilon_of_densities(gaussian(1), laplace(1))
    # log(2/√(2π)) − y²/2 + |y| is largest at |y| = 1
    with mpmath.workdps(60):
        tight(against_laplace.removing.epsilon, mpmath.log(2 / mpmath.sqrt(2 * mpmath.pi)) + mpmath.mpf(1) / 2)
    assert against_laplace.adding.epsilon == Bounds(INF, INF)


def test_equal_laws_have_epsilon_zero():
    for law in (laplace(1), gaussian(3, 2), exponential(1, 5), uniform(), clamp(laplace(1), -1, 1)):
        exact = epsilon_of_densities(law, law).symmetric
        assert exact.lower == 0
        assert exact.upper < 1e-40


def test_clamping_is_post_processing():
    laws = [clamp(laplace(2, s), -1, 2) for s in (0, 1)]
    exact = epsilon_of_densities(*laws)
    tight(exact.symmetric, mpmath.mpf("0.5"))
    tight(exact.removing.epsilon, mpmath.mpf("0.5"))
    inner = [clamp(law, 0, 1) for law in laws]
    tight(epsilon_of_densities(*inner).symmetric, mpmath.mpf("0.5"))
    total = probability(laws[0], [(-INF, INF)])
    assert total.lower > 1 - F(1, 10**12)
    below = probability(laws[0], [(-9, -1)])
    with mpmath.workdps(60):
        assert abs(mpf(below.lower) - mpmath.exp(mpmath.mpf(-1) / 2) / 2) < mpmath.mpf(10) ** -13
    assert probability(laws[0], [(3, 4)]) == Enclosed(F(0), F(0))


def test_an_atom_on_one_side_only_is_infinite():
    exact = epsilon_of_densities(clamp(laplace(1), -1, 1), laplace(1))
    assert exact.removing.epsilon == Bounds(INF, INF)
    assert exact.removing.event[0] in (-1, 1)
    assert exact.adding.epsilon == Bounds(INF, INF)


def test_expectations_count_atoms(encloses):
    """E[F(Y)] for Y = min(max(R, −1), 1) is ½ by symmetry."""
    with mpmath.workdps(60):
        encloses(expectation(clamp(laplace(1), -1, 1), laplace_cdf), mpmath.mpf(1) / 2)


def analytic(function, low=0, high=1):
    return Density((Piece(F(low), F(high), function),))


def test_general_densities_by_branch_and_bound():
    p, q = analytic(lambda y: (1 + y) * 2 / 3), analytic(lambda y: (2 - y) * 2 / 3)
    exact = epsilon_of_densities(p, q)
    tight(exact.removing.epsilon, mpmath.log(2))
    tight(exact.adding.epsilon, mpmath.log(2))
    assert exact.removing.event[0] > F(99, 100)
    hill = analytic(lambda y: (1 + y * (1 - y)) * 6 / 7)
    found = epsilon_of_densities(hill, uniform())
    tight(found.removing.epsilon, mpmath.log(mpmath.mpf(15) / 14))
    tight(found.adding.epsilon, mpmath.log(mpmath.mpf(7) / 6))


def test_general_densities_agree_with_the_closed_form(monkeypatch):
    """The same Laplace law, once in closed form and once as a function that nothing is known about."""
    monkeypatch.setattr(density_suprema, "_MOST_BOXES", 500)
    b = arb(2)
    hidden = Density(
        (
            Piece(None, F(-3), LogQuadratic(F(1, 4), F(0), F(1, 2))),
            Piece(F(-3), F(0), lambda y: (y / b).exp() / 4),
            Piece(F(0), F(4), lambda y: (-y / b).exp() / 4),
            Piece(F(4), None, LogQuadratic(F(1, 4), F(0), F(-1, 2))),
        )
    )
    exact = epsilon_of_densities(hidden, laplace(2, 1))
    for direction in (exact.removing, exact.adding):
        assert direction.epsilon.lower <= 0.5 <= direction.epsilon.upper <= 0.51


def test_where_both_vanish_no_bound_is_claimed():
    hump = analytic(lambda y: 6 * y * (1 - y))
    exact = epsilon_of_densities(hump, uniform())
    tight(exact.removing.epsilon, mpmath.log(mpmath.mpf(3) / 2))
    assert exact.adding.epsilon.upper == INF
    assert exact.adding.epsilon.lower > 20


def test_rays_without_a_closed_form_have_no_upper_end():
    def logistic(s):
        return lambda y: (s - y).exp() / (1 + (s - y).exp()) ** 2

    laws = [
        Density(
            (
                Piece(None, F(0), logistic(s), tail=lambda t, s=s: (arb(t.numerator) / t.denominator - s).exp()),
                Piece(F(0), None, logistic(s), tail=lambda t, s=s: (s - arb(t.numerator) / t.denominator).exp()),
            )
        )
        for s in (0, 1)
    ]
    exact = epsilon_of_densities(*laws)
    assert exact.symmetric.upper == INF
    assert exact.symmetric.lower <= 1


@pytest.mark.thorough
@relaxed
@given(b=scale, s=fraction, cuts=st.lists(fraction, min_size=1, max_size=4, unique=True).map(sorted))
def test_binning_never_increases(b, s, cuts):
    ends = [-INF, *cuts, INF]
    tables = [
        {k: probability(law, [(low, high)]) for k, (low, high) in enumerate(itertools.pairwise(ends))}
        for law in (laplace(b), laplace(b, s))
    ]
    binned, whole = epsilon_of_tables(*tables), epsilon_of_densities(laplace(b), laplace(b, s))
    assert binned.symmetric.lower <= whole.symmetric.upper
    assert binned.symmetric.upper <= whole.symmetric.upper + 1e-9


@pytest.mark.parametrize(
    "call",
    [
        lambda: laplace(0),
        lambda: exponential(-1),
        lambda: gaussian(0),
        lambda: Density(()),
        lambda: uniform().pieces[0] and Density((Piece(F(0), F(1), LogQuadratic(F(2))),)),
        lambda: Density((*laplace(1).pieces, *laplace(1).pieces)),
        lambda: Density(tuple(reversed(laplace(1).pieces))),
        lambda: Density(laplace(1).pieces, {F(0): Enclosed(F(1, 2), F(1, 2))}),
        lambda: Density((), {F(0): Enclosed(F(2), F(2)), F(1): Enclosed(F(-1), F(-1))}),
        lambda: Density((), {0: 1}),
        lambda: Piece(F(1), F(0), LogQuadratic(F(1))),
        lambda: Piece(0, F(1), LogQuadratic(F(1))),
        lambda: Piece(F(0), None, lambda y: (-y).exp()),
        lambda: Piece(None, None, lambda y: (-y * y).exp(), tail=lambda t: arb(0)),
        lambda: LogQuadratic(F(0)),
        lambda: clamp(laplace(1), 1, 1),
        lambda: probability(laplace(1), [(1, 0)]),
    ],
)
def test_unusable_declarations_are_named(call):
    with pytest.raises(InvalidArgument):
        call()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("law", [LogQuadratic(F(1), F(0), F(1)), LogQuadratic(F(1)), LogQuadratic(F(1), F(0), F(-1), F(1))])
def test_a_density_without_a_finite_tail_is_refused(law):
    with pytest.raises(Undecided, match="tail"):
        Density((Piece(F(0), None, law),))


@pytest.mark.parametrize("event", [[(math.nan, 1)], [(INF, INF)], [("x", 1)]])
def test_unusable_events_are_named(event):
    with pytest.raises(InvalidNumber):
        probability(laplace(1), event)


def test_infinite_scales_are_named():
    with pytest.raises(InvalidNumber):
        laplace(INF)
