"""The split of noise between counts and sums: the published one, and the one of least error."""

import math

import mpmath
import numpy as np
import pytest
import scipy.optimize

from accountant.calibration import least_error_ratio, published_ratio
from profiles import InvalidArgument, InvalidNumber
from profiles.mechanisms.k_norm_sum import draw_k_norm


@pytest.mark.parametrize("dimension", [8, 22, 518])
def test_the_published_numbers(dimension):
    with mpmath.workdps(40):
        rho = mpmath.mpf("0.225")
        ratio = mpmath.cbrt(4 * dimension * rho**2)
        assert abs(float(published_ratio(dimension)) - float(ratio)) < 2e-12


def test_the_published_ratio_is_the_inverse_of_the_one_of_su_et_al():
    """Records in [-1, 1]^d with Laplace noise: r = d in l1, ||c||^2 = d (2 rho)^2. Su et al.: eps_count/eps_sum = (4 d rho^2)^(1/3)."""
    d, rho = 22, 0.225
    best = least_error_ratio(d, p=1, radius=d, centre_norm=math.sqrt(d) * 2 * rho)
    assert math.isclose(float(best) * float(published_ratio(d)), 1, rel_tol=1e-9)


@pytest.mark.parametrize(("p", "radius"), [(1, 5), (2, 1.5), (math.inf, 1), (3, 2)])
def test_the_ratio_minimises_the_error_at_a_given_cost(p, radius):
    d, norm = 6, 0.8
    noise = draw_k_norm(np.random.default_rng(1), (100_000,), d, p, 1.0)
    spread = float(np.mean(np.sum(noise**2, axis=-1)))

    def error(ratio):
        beta_sum = radius + 1 / ratio  # cost radius/beta_sum + 1/(ratio*beta_sum) = 1
        return spread * beta_sum**2 + 2 * norm**2 * (ratio * beta_sum) ** 2

    found = scipy.optimize.minimize_scalar(error, bounds=(0.01, 100), method="bounded", options={"xatol": 1e-6})
    assert math.isclose(float(least_error_ratio(d, p=p, radius=radius, centre_norm=norm)), found.x, rel_tol=0.01)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: published_ratio(0),
        lambda: published_ratio(True),
        lambda: published_ratio(3, rho=0),
        lambda: least_error_ratio(3, radius=0, centre_norm=1),
        lambda: least_error_ratio(3, radius=1, centre_norm=1, p=0.5),
    ],
)
def test_unusable_constants_are_refused(ask):
    with pytest.raises((InvalidArgument, InvalidNumber)):
        ask()
