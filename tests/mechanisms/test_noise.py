"""The samplers against the laws that their docstrings state.

Every statistical test runs at the false-alarm level ALARM with a fixed seed, so that it either always passes or always fails.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from profiles.mechanisms.k_norm_sum import draw_directions, draw_k_norm
from tests.mechanisms.data import ALARM

DRAWS = 20_000
GEOMETRIES = [1.0, 2.0, 3.0, math.inf]
DIMENSIONS = [1, 2, 5]


def lengths(points: np.ndarray, p: float) -> np.ndarray:
    return np.linalg.norm(points, ord=p, axis=-1)


def radius_p_value(radii: np.ndarray, dimension: int, scale: float) -> float:
    return float(stats.kstest(radii, stats.gamma(a=dimension, scale=scale).cdf).pvalue)


@pytest.mark.parametrize("p", GEOMETRIES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_radius_is_gamma_of_the_dimension(p, dimension):
    points = draw_k_norm(np.random.default_rng(1), (DRAWS,), dimension, p, 2.5)
    assert points.shape == (DRAWS, dimension)
    assert radius_p_value(lengths(points, p), dimension, 2.5) > ALARM


@pytest.mark.parametrize("p", GEOMETRIES)
@pytest.mark.parametrize("dimension", [2, 5])
def test_an_exponential_radius_is_caught_by_the_same_test(p, dimension):
    rng = np.random.default_rng(2)
    wrong = draw_directions(rng, (DRAWS,), dimension, p) * rng.exponential(2.5, size=(DRAWS, 1))
    assert radius_p_value(lengths(wrong, p), dimension, 2.5) < ALARM


def test_in_one_dimension_the_noise_is_laplace():
    for p in GEOMETRIES:
        noise = draw_k_norm(np.random.default_rng(3), (DRAWS,), 1, p, 0.7)[:, 0]
        assert stats.kstest(noise, stats.laplace(scale=0.7).cdf).pvalue > ALARM


def test_for_p_1_the_coordinates_are_independent_laplace():
    noise = draw_k_norm(np.random.default_rng(4), (DRAWS,), 3, 1.0, 2.0)
    for column in noise.T:
        assert stats.kstest(column, stats.laplace(scale=2.0).cdf).pvalue > ALARM
    # for independent coordinates the sizes of two of them are uncorrelated
    assert stats.spearmanr(np.abs(noise[:, 0]), np.abs(noise[:, 1])).pvalue > ALARM


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("dimension", [2, 5])
def test_direction_has_the_marginals_of_the_cone_measure(p, dimension):
    directions = draw_directions(np.random.default_rng(5), (DRAWS,), dimension, p)
    assert lengths(directions, p) == pytest.approx(1.0)
    law = stats.beta(1 / p, (dimension - 1) / p)
    for column in directions.T:
        # |θ_i|^p is a share of independent Gamma(1/p) variates
        assert stats.kstest(np.abs(column), lambda t: law.cdf(t**p)).pvalue > ALARM
        assert stats.binomtest(int((column > 0).sum()), DRAWS).pvalue > ALARM


@pytest.mark.parametrize("p", [1.5, 50.0, 1000.0])
def test_ratio_of_two_coordinates_has_its_law_where_powers_underflow(p):
    # r = |θ_1|/|θ_2| has P(r ≤ t) = I_x(1/p, 1/p) with x = t^p/(1 + t^p), for small x equal to t/(B(1/p, 1/p)/p)
    first, second = np.abs(draw_directions(np.random.default_rng(12), (DRAWS,), 2, p)).T

    def law_below_one(t):
        with np.errstate(under="ignore"):
            x = t**p / (1 + t**p)
        return np.where(x < 1e-12, t * p / special.beta(1 / p, 1 / p), special.betainc(1 / p, 1 / p, x))

    smaller = np.minimum(first / second, second / first)
    assert stats.kstest(smaller, lambda t: 2 * law_below_one(t)).pvalue > ALARM


@pytest.mark.parametrize("dimension", [2, 5])
def test_direction_on_the_cube_is_a_uniform_face_and_uniform_coordinates(dimension):
    directions = draw_directions(np.random.default_rng(6), (DRAWS,), dimension, math.inf)
    assert np.abs(directions).max(axis=1) == pytest.approx(1.0, abs=0)
    face = np.abs(directions).argmax(axis=1)
    assert stats.chisquare(np.bincount(face, minlength=dimension)).pvalue > ALARM
    for axis in range(dimension):
        others = np.delete(directions[face == axis], axis, axis=1)
        for column in others.T:
            assert stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue > ALARM


def test_direction_on_the_circle_has_a_uniform_angle():
    directions = draw_directions(np.random.default_rng(7), (DRAWS,), 2, 2.0)
    angle = np.arctan2(directions[:, 1], directions[:, 0])
    assert stats.kstest(angle, stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > ALARM


@pytest.mark.parametrize("p", [1.5, 3.0])
def test_surface_measure_would_be_caught_where_it_differs_from_cone_measure(p):
    # the direction of a Gaussian vector, renormalised in l_p: right for p = 2 only
    gaussian = np.random.default_rng(8).normal(size=(DRAWS, 2))
    directions = gaussian / lengths(gaussian, p)[:, np.newaxis]
    assert stats.kstest(np.abs(directions[:, 0]), lambda t: stats.beta(1 / p, 1 / p).cdf(t**p)).pvalue < ALARM


def test_radius_and_direction_are_independent():
    noise = draw_k_norm(np.random.default_rng(9), (DRAWS,), 4, 3.0, 1.0)
    radii = lengths(noise, 3.0)
    assert stats.spearmanr(radii, np.abs(noise[:, 0]) / radii).pvalue > ALARM


@pytest.mark.parametrize(("p", "dimension"), [(1.0, 2), (2.0, 2), (2.0, 3), (3.0, 2), (math.inf, 3)])
def test_density_of_a_small_ball_matches_the_stated_density(p, dimension):
    # P(‖ζ‖_p ≤ t) from the density exp(−‖ζ‖/β)/(d! β^d vol B_p), integrated by its own formula: the regularised Gamma function
    noise = draw_k_norm(np.random.default_rng(10), (DRAWS,), dimension, p, 1.0)
    inside = int((lengths(noise, p) <= 0.5).sum())
    assert stats.binomtest(inside, DRAWS, float(special.gammainc(dimension, 0.5))).pvalue > ALARM


def test_exact_symmetries_and_no_zero_direction():
    for p in (1.0, 2.0, 1e6, math.inf):
        directions = draw_directions(np.random.default_rng(11), (1000,), 7, p)
        assert np.isfinite(directions).all()
        assert (np.abs(directions) > 0).all()
        assert lengths(directions, min(p, 1e300)) == pytest.approx(1.0, rel=1e-9)


def test_shapes():
    rng = np.random.default_rng(0)
    assert draw_k_norm(rng, (), 3, 2.0, 1.0).shape == (3,)
    assert draw_k_norm(rng, (0,), 3, 2.0, 1.0).shape == (0, 3)
    assert draw_k_norm(rng, (2, 4), 3, 2.0, 1.0).shape == (2, 4, 3)
