"""Theorems 1 to 4 of docs/dp-sgd.md as numbers: at 50 digits, with records and adversaries that try to leave the reference pair."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mpf

from accountant.applications.dpsgd.noise import compose_steps
from accountant.compositions.queries import point_at_epsilon
from accountant.weights.gaussian import gaussian_weight
from profiles import declare
from tests.applications.dpsgd.curves_by_hand import coming, going

TINY = mpf(10) ** -40
PLACES = [mpf(a) for a in ("0.01", "0.5", "0.9", "0.99", "1", "1.01", "1.2", "2", "5", "30", "1e3", "1e6")]
unit = st.floats(1e-4, 1.0)
sizes = st.floats(1e-3, 8.0)


@settings(max_examples=25)
@given(rate=unit, largest=sizes, less_often=unit, shorter=unit, a=st.floats(1e-6, 1e6))
def test_fewer_coins_and_shorter_vectors_stay_below_the_reference_pair(rate, largest, less_often, shorter, a):
    q, mu = mpf(rate) * mpf(less_often), mpf(largest) * mpf(shorter)
    for curve in (going, coming):
        for place in (mpf(a), mpf(1)):
            assert curve(q, mu, place) <= curve(mpf(rate), mpf(largest), place) + TINY


@settings(max_examples=25)
@given(rate=st.floats(1e-3, 0.9), largest=st.floats(0.1, 5.0), share=st.floats(1e-3, 1.0), excess=st.floats(1.01, 2.0))
def test_no_weight_above_the_quotient_is_dominated(rate, largest, share, excess):
    """w = 1.01 μ₀/ζ and more: the tail tells, at some a."""
    zeta = mpf(share) * mpf(rate) * mpf(largest)
    w = mpf(largest) / zeta * mpf(excess)
    s = 40 / ((w * zeta) - mpf(largest)) + 60
    # the best event of Q-mass Φ(−s) has more mass than under the reference: a at which that shows
    a = 1 - 1 / w + mpmath.exp(w * zeta * s - (w * zeta) ** 2 / 2) / w
    assert going(1 / w, w * zeta, a) > going(mpf(rate), mpf(largest), a)


@settings(max_examples=25)
@given(rate=st.floats(1e-3, 0.9), largest=st.floats(0.1, 5.0), excess=st.floats(1.0001, 1.5), w=st.floats(1.0, 100.0))
def test_a_record_longer_than_the_product_has_no_weight_at_all(rate, largest, excess, w):
    """ζ > q₀μ₀: whatever w is, either the total variation or the tail is above the reference."""
    zeta = mpf(rate) * mpf(largest) * mpf(excess)
    assume(w * zeta <= largest)  # else the tail tells
    assert going(1 / mpf(w), mpf(w) * zeta, mpf(1)) > going(mpf(rate), mpf(largest), mpf(1))


def test_clipping_where_the_weight_reaches_one_is_not_enough():
    rate, largest = mpf("0.01"), mpf(1)
    assert going(mpf(1), largest, mpf(1)) > 90 * going(rate, largest, mpf(1))


#: ζ/(q₀μ₀) of the record that an adversary may choose, and the probability as a multiple of its least one, t.
CHOICES = [(0.0, 0.0), (0.2, 0.2), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]


@pytest.mark.thorough
@pytest.mark.parametrize(("rate", "noise"), [("1/10", "1"), ("1/2", "2"), ("1/50", "1/2")])
@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "2"])
def test_two_adaptive_steps_stay_below_the_kernels_curve(rate, noise, epsilon):
    """The second gradient depends on the first output: all maps from three cells of outputs to the choices, by quadrature on a grid."""
    q0, mu0 = float(Fraction(rate)), 1 / float(Fraction(noise))
    bounds = point_at_epsilon(compose_steps(Fraction(noise), Fraction(rate), 2), Fraction(epsilon), Fraction(1, 1000))
    x = np.linspace(-9, 9 + mu0, 801)
    step = x[1] - x[0]
    base = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * step

    def density(choice: tuple[float, float]) -> np.ndarray:
        t, share = choice
        q = q0 * share
        mu = mu0 * t / share if share else 0.0
        return base * (1 - q + q * np.exp(mu * x - mu**2 / 2))

    cells = [x < 0, (x >= 0) & (x < mu0), x >= mu0]
    growth = np.exp(float(Fraction(epsilon)))
    second = [density(choice) for choice in CHOICES]
    for first in (1, 4):
        one = density(CHOICES[first])
        gains = {
            (cell, k): (
                np.maximum(one[cells[cell], None] * second[k] - growth * base[cells[cell], None] * base, 0).sum(),
                np.maximum(base[cells[cell], None] * base - growth * one[cells[cell], None] * second[k], 0).sum(),
            )
            for cell in range(3)
            for k in range(len(CHOICES))
        }
        for chosen in itertools.product(range(len(CHOICES)), repeat=3):
            going_delta, coming_delta = (sum(gains[cell, k][side] for cell, k in enumerate(chosen)) for side in (0, 1))
            assert going_delta <= float(bounds.remove.upper) * (1 + 1e-6) + 1e-12
            assert coming_delta <= float(bounds.add.upper) * (1 + 1e-6) + 1e-12
    # all steps as the reference: the curve itself
    whole = np.maximum(np.outer(second[-1], second[-1]) - growth * np.outer(base, base), 0).sum()
    assert whole == pytest.approx(float(bounds.remove.upper), rel=0.02)


def test_weights_that_are_normalised_over_the_data_break_the_claim():
    """q_i = m z_i/Σ z with m = 1: one record of z = 1 always counts 1, of two each counts 2 half of the time."""
    sigma = mpf(1) / 4
    claimed = going(mpf(1) / 2, 2 / sigma, mpf(1))

    def outside(mean: int) -> mpf:  # the probability of |Y − 1| > 1/2
        return mpmath.ncdf((mean - mpf(3) / 2) / sigma) + mpmath.ncdf((mpf(1) / 2 - mean) / sigma)

    told = (outside(0) + 2 * outside(2) + outside(4)) / 4 - outside(1)
    assert claimed < 0.5001
    assert told > 0.93


@pytest.mark.thorough
@pytest.mark.parametrize("share", ["1/2", "1/10"])
def test_bounds_that_stay_allow_larger_weights(share):
    """W_T(ζ) ≥ μ₀/ζ with μ₀ = ζ̄ W_T(ζ̄) (Theorem 4)."""
    longest = Fraction("0.02")
    profile = declare("steps", notion="gaussian", mu="w*z", record={"z": [0, 1]})
    first, other = (
        gaussian_weight(profile, 1, "1e-6", {"z": zeta}, steps=20, digits=5).lower for zeta in (longest, longest * Fraction(share))
    )
    assert other >= first * longest / (longest * Fraction(share))
