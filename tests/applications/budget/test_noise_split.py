"""How noise is divided between counts and sums: the energy of the noise, the optimum, and that units do not matter."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.applications.budget.shares import MARGIN, TYPICAL_NORM, count_share
from accountant.applications.kmeans.planning import choose_scales, pack_centres
from accountant.calibration.lloyd import noise_energy
from profiles.mechanisms.datasets import compute_norms
from profiles.mechanisms.k_norm_sum import draw_k_norm

NORMS = [1, 1.5, 2, 3, 50, math.inf]


def error(a, b, dimension, p):
    """The first-order error of a centre, in units of r²/N², for the budget shares a = 1/β_count and b = r/β_sum."""
    return noise_energy(dimension, p) / b**2 + 2 * TYPICAL_NORM**2 / a**2


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_energy_is_that_of_the_sampler(p, dimension):
    squares = (draw_k_norm(np.random.default_rng(1), (100_000,), dimension, p, 1.0) ** 2).sum(axis=1)
    deviation = squares.std() / math.sqrt(len(squares))
    assert abs(squares.mean() - noise_energy(dimension, p)) < 6 * deviation  # two-sided 2e-9 each


def test_energy_by_hand():
    for dimension in (1, 2, 10, 500):
        assert noise_energy(dimension, 1) == pytest.approx(2 * dimension)  # independent Laplace coordinates
        assert noise_energy(dimension, 2) == dimension * (dimension + 1)
        assert noise_energy(dimension, 2 + 1e-9) == pytest.approx(dimension * (dimension + 1))
        assert noise_energy(dimension, 1e5) == pytest.approx(noise_energy(dimension, math.inf), rel=1e-3)
    assert all(noise_energy(1, p) == pytest.approx(2) for p in NORMS)  # in one dimension every norm is the same


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dimension", [1, 2, 22, 500])
def test_no_other_division_has_a_smaller_error(p, dimension):
    share = float(count_share(dimension, p))
    least = error(share, 1 - share, dimension, p)
    grid = np.concatenate([np.linspace(0.0005, 0.9995, 2000), share * np.linspace(0.9, 1.1, 101)])
    assert error(grid, 1 - grid, dimension, p).min() >= least * (1 - 1e-6)
    assert least == pytest.approx((noise_energy(dimension, p) ** (1 / 3) + (2 * TYPICAL_NORM**2) ** (1 / 3)) ** 3, rel=1e-6)


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
    st.integers(1, 100), st.integers(1, 1000), st.sampled_from(NORMS),
)  # fmt: skip
def test_the_budget_is_kept_exactly(epsilon, radius, iterations, dimension, p):
    if radius <= 0:
        return
    scales = choose_scales(epsilon, radius=radius, iterations=iterations, dimension=dimension, p=p)
    assert iterations * (1 / scales.beta_count + radius / scales.beta_sum) == epsilon * (1 - MARGIN)
    assert scales.beta_count > 0
    assert scales.beta_sum > 0


def test_the_unit_of_the_data_does_not_matter_here_but_does_in_the_paper():
    metres = choose_scales(Fraction(1), radius=Fraction(3), iterations=10, dimension=22, p=2)
    millimetres = choose_scales(Fraction(1), radius=Fraction(3000), iterations=10, dimension=22, p=2)
    assert millimetres.beta_count == metres.beta_count
    assert millimetres.beta_sum == 1000 * metres.beta_sum

    def errors_of_the_paper(radius, dimension, rho=0.225):
        a, b = 1 / np.cbrt(4 * dimension * rho**2), radius  # proportional to 1/β_count and r/β_sum
        return error(a / (a + b), b / (a + b), dimension, 2)

    share = float(count_share(22, 2))
    ours = error(share, 1 - share, 22, 2)
    assert errors_of_the_paper(1.51, 22) / ours == pytest.approx(1.50, abs=0.02)  # ijcnn1
    assert errors_of_the_paper(1510, 22) / ours > 500  # ijcnn1 in another unit


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("p", [1, 2, math.inf])
def test_initial_centres_are_inside_and_apart(p):
    for clusters, dimension in ((1, 1), (5, 1), (25, 2), (25, 22), (600, 3)):
        centres = pack_centres(clusters, dimension, p, 2.5, np.random.default_rng(1))
        assert centres.shape == (clusters, dimension)
        assert compute_norms(centres, p).max() < 2.5
        assert len(np.unique(centres, axis=0)) == clusters
    centres = pack_centres(20, 2, p, 1.0, np.random.default_rng(2))
    apart = [np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]]
    assert min(apart) > 0.15  # 20 uniform points come closer than 0.05 almost always
