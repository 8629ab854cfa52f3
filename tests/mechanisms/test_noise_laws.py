"""The K-norm sampler against its stated density, by routes that do not use the sampler's construction.

The radius is tested in dimensions up to 1000. Directions are tested in the plane and in space against the definition of the cone
measure: the share of the unit ball below a piece of its surface, which has the density ∝ 1/‖ω‖_p^d in Euclidean angles ω.

Seeds are fixed. A correct sampler fails one of these tests with probability below 1e-6 for a random seed, all of them together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from profiles.mechanisms import KNormSum, LaplaceSum, WeightedCount
from profiles.mechanisms.k_norm_sum import draw_directions, draw_k_norm

ALARM = 1e-9  # about a hundred tests
GEOMETRIES = [1.0, 1.5, 2.0, 3.0, math.inf]
DRAWS = 20_000


def keeps_law(values, cdf):
    return stats.kstest(values, cdf).pvalue > ALARM


def as_cdf(grid, density):
    """The distribution function of a density given at the midpoints of a grid, as a function."""
    total = np.concatenate([[0.0], np.cumsum(density)])
    return lambda t: np.interp(t, grid, total / total[-1])


@pytest.mark.thorough(quick=14)
@pytest.mark.parametrize("p", GEOMETRIES)
@pytest.mark.parametrize(("dimension", "draws"), [(1, DRAWS), (2, DRAWS), (3, DRAWS), (50, 5000), (1000, 500)])
def test_radius_is_gamma_of_the_dimension(p, dimension, draws):
    radii = np.linalg.norm(draw_k_norm(np.random.default_rng(1), (draws,), dimension, p, 2.5), ord=p, axis=1)
    assert keeps_law(radii, stats.gamma(a=dimension, scale=2.5).cdf)
    assert not keeps_law(radii, stats.gamma(a=dimension, scale=2.5 * 1.3).cdf)  # the test has power


def fold(x, y):
    """The angle up to the symmetries of the ball, in [0, π/4]: there a wrong law cannot hide behind them."""
    return np.arctan2(np.minimum(np.abs(x), np.abs(y)), np.maximum(np.abs(x), np.abs(y)))


def share_of_area(p, end):
    """The distribution function of the angle in [−end, end] or, folded, in [0, end]."""
    grid = np.linspace(-end if end == math.pi else 0.0, end, 2**14 + 1)
    middle = (grid[1:] + grid[:-1]) / 2
    return as_cdf(grid, np.linalg.norm([np.cos(middle), np.sin(middle)], ord=p, axis=0) ** -2.0)


def share_of_volume(p):
    """The distribution functions of the height and of the folded angle around the axis."""
    heights, angles = np.linspace(0, 1, 601), np.linspace(0, math.pi / 4, 601)
    h, a = np.meshgrid((heights[1:] + heights[:-1]) / 2, (angles[1:] + angles[:-1]) / 2, indexing="ij")
    across = np.sqrt(1 - h * h)
    volume = np.linalg.norm([across * np.cos(a), across * np.sin(a), h], ord=p, axis=0) ** -3.0
    return as_cdf(heights, volume.sum(axis=1)), as_cdf(angles, volume.sum(axis=0))


@pytest.mark.parametrize("p", GEOMETRIES)
def test_direction_in_the_plane_covers_the_areas_of_the_unit_ball(p):
    x, y = draw_directions(np.random.default_rng(2), (DRAWS,), 2, p).T
    assert keeps_law(np.arctan2(y, x), share_of_area(p, math.pi))
    assert keeps_law(fold(x, y), share_of_area(p, math.pi / 4))


@pytest.mark.parametrize("p", GEOMETRIES)
def test_direction_in_space_covers_the_volumes_of_the_unit_ball(p):
    directions = draw_directions(np.random.default_rng(3), (DRAWS,), 3, p)
    height, around = share_of_volume(p)
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert keeps_law(np.abs(unit[:, 2]), height)
    assert keeps_law(fold(unit[:, 0], unit[:, 1]), around)
    octants = (directions > 0) @ np.array([1, 2, 4])
    assert stats.chisquare(np.bincount(octants, minlength=8)).pvalue > ALARM


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, math.inf])
def test_the_uniform_direction_of_the_euclidean_sphere_would_be_caught(p):
    x, y, z = np.random.default_rng(4).normal(size=(3, DRAWS))
    assert not keeps_law(fold(x, y), share_of_area(p, math.pi / 4))
    assert not keeps_law(np.abs(z) / np.sqrt(x * x + y * y + z * z), share_of_volume(p)[0])


@pytest.mark.parametrize("p", GEOMETRIES)
def test_radius_and_direction_fill_their_joint_cells_equally(p):
    noise = draw_k_norm(np.random.default_rng(5), (DRAWS,), 2, p, 0.25)
    radii = np.linalg.norm(noise, ord=p, axis=1)
    share = share_of_area(p, math.pi)(np.arctan2(noise[:, 1], noise[:, 0]))
    cells = 8 * np.minimum((8 * special.gammainc(2, radii / 0.25)).astype(int), 7) + np.minimum((8 * share).astype(int), 7)
    assert stats.chisquare(np.bincount(cells, minlength=64)).pvalue > ALARM


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("p", GEOMETRIES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_one_coordinate_has_the_marginal_of_the_stated_density(p, dimension):
    """∫ exp(−‖(t, y)‖_p) dy, by the trapezoidal rule over the other coordinates."""
    noise = draw_k_norm(np.random.default_rng(6), (DRAWS,), dimension, p, 1.0)[:, 0]
    half = np.linspace(0, 25, 151)  # the density is even in each coordinate
    middle = (half[1:] + half[:-1]) / 2
    others = np.meshgrid(middle, *[np.linspace(0, 25, 501 if dimension == 2 else 101)] * (dimension - 1), indexing="ij")
    weight = np.prod([np.where(axis == 0, 0.5, 1.0) for axis in others[1:]], axis=0)
    lengths = np.linalg.norm(np.stack(others), ord=p, axis=0)
    density = (np.exp(-lengths) * weight).sum(axis=tuple(range(1, dimension)))
    assert keeps_law(np.abs(noise), as_cdf(half, density))


@pytest.mark.parametrize("p", [*GEOMETRIES, 1.0001, 50.0, 1e6])
@pytest.mark.parametrize("dimension", [1, 3, 1000])
def test_directions_have_norm_1_and_scales_only_scale(p, dimension):
    directions = draw_directions(np.random.default_rng(7), (50,), dimension, p)
    largest = np.abs(directions).max(axis=1)
    with np.errstate(under="ignore"):
        norms = largest if math.isinf(p) else largest * ((np.abs(directions) / largest[:, np.newaxis]) ** p).sum(axis=1) ** (1 / p)
    assert np.abs(norms - 1).max() < 1e-12
    unit = draw_k_norm(np.random.default_rng(8), (50,), dimension, p, 1.0)
    for exponent in (-1000, -300, 300, 1000):
        scaled = draw_k_norm(np.random.default_rng(8), (50,), dimension, p, 2.0**exponent)
        assert np.isfinite(scaled).all()
        assert np.allclose(scaled * 2.0**-exponent, unit, rtol=1e-9, atol=2.0**-60)


@pytest.mark.parametrize("scale", [2**1000, "1e-250"])
def test_mechanisms_run_at_huge_and_tiny_scales(scale):
    factor = float(scale)
    empty = np.zeros((0, 2))
    noise = KNormSum(beta_sum=scale, p=2)(empty, np.random.default_rng(9), 2000) / factor
    assert keeps_law(np.linalg.norm(noise, axis=1), stats.gamma(a=2).cdf)
    noise = LaplaceSum(b=scale, dimension=2)(empty, np.random.default_rng(10), 1000) / factor
    assert keeps_law(noise.ravel(), stats.laplace().cdf)
    assert keeps_law(WeightedCount(beta_count=scale)([], np.random.default_rng(11), 2000) / factor, stats.laplace().cdf)
