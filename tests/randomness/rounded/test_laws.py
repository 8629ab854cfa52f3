"""The laws: estimates within their bounds of mpmath's values, balls around them, and the laws themselves against theory."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy import stats

from profiles.balls import working_precision
from profiles.errors import InvalidArgument
from profiles.randomness.bits import open_bits
from profiles.randomness.rounded import EUCLIDEAN, EXPONENTIAL, LAPLACE, MAXIMUM, NORMAL, Grid, draw_rounded, k_norm_law
from profiles.randomness.rounded.laws import sum_rows
from tests.randomness.rounded.reference import exact_row, structured_words

LAWS = [LAPLACE, EXPONENTIAL, NORMAL, EUCLIDEAN, MAXIMUM]
#: Statistical tests: fixed seeds; with others one of them would be red once in 10⁷ times.
ALARM = 1e-7


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(60):
        yield


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("known", [52, 12])
def test_no_number_with_the_known_bits_is_further_away_than_its_bound(law, known):
    """At the ends of all U, where errors are largest, and between them."""
    rng, worst, finite = np.random.default_rng(known), 0.0, 0
    for d, rows in ((1, 60), (2, 40), (3, 25), (22, 6), (101, 2)):
        words = structured_words(rng, (rows, law.uniforms(d)), known, share=0.5 if d < 5 else 0.05)
        with np.errstate(all="ignore"):
            values, bounds = law.estimate(words, known, d)
        assert values.shape == bounds.shape == (rows, d)
        for row in np.flatnonzero(np.isfinite(bounds).all(axis=1)):
            finite += 1
            k = [word >> (64 - known) for word in words[row].tolist()]
            signs = [word & 1 for word in words[row].tolist()]
            for part in (rng.integers(0, 2, len(k)), rng.integers(0, 2, len(k)), rng.random(len(k))):
                u = [(mpmath.mpf(number) + float(rest)) / 2**known for number, rest in zip(k, part, strict=True)]
                if min(u) > 0:
                    exact = exact_row(law.name, u, signs, d)
                    ratios = [
                        float(abs(x - v) / mpmath.mpf(b)) for x, v, b in zip(exact, values[row].tolist(), bounds[row].tolist(), strict=True)
                    ]
                    worst = max(worst, *ratios)
    assert finite > 40
    assert 0.2 < worst < 1


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_balls_contain_the_numbers(law, d):
    rng = np.random.default_rng(d)
    for words in structured_words(rng, (25, law.uniforms(d)), 40).tolist():
        k, signs = [word >> 24 for word in words], [word & 1 for word in words]
        u = [(mpmath.mpf(number) + float(part)) / 2**40 for number, part in zip(k, rng.random(len(k)), strict=True)]
        with working_precision(200):
            balls = law.enclose([arb((2 * number + 1, -41), (1, -41)) for number in k], words, d)
            assert len(balls) == d
            for ball, x in zip(balls, exact_row(law.name, u, signs, d), strict=True):
                assert not ball.is_finite() or (ball.lower() <= arb(mpmath.nstr(x, 50)) <= ball.upper())


def test_sums_of_rows():
    for width in range(1, 40):
        values = np.arange(3 * width, dtype=np.float64).reshape(3, width) ** 2
        assert sum_rows(values).tolist() == values.sum(axis=1).tolist()


def draw(law, rows, d):
    return draw_rounded(np.zeros((rows, d), dtype=np.int64), law, Grid.of(Fraction(1)), open_bits(d))


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_norms_have_gamma_laws_and_directions_are_uniform(d):
    """‖Y‖_p/b has the law Gamma(d) for density ∝ exp(−‖y‖_p/b): r^(d−1)e^−r; the direction is that of the norm's cone measure."""
    for p in (1, 2, math.inf):
        y = draw(k_norm_law(p), 4000, d)
        size = np.linalg.norm(y, ord=p, axis=1)
        assert stats.kstest(size, stats.gamma(d).cdf).pvalue > ALARM
        assert abs((y[:, 0] > 0).mean() - 0.5) < 0.05
        if d > 1:
            share = np.abs(y[:, -1]) / size
            law = {1: stats.beta(1, d - 1).cdf, 2: lambda x: stats.beta(0.5, (d - 1) / 2).cdf(x**2)}.get(
                p, lambda x: np.where(x < 1, x * (d - 1) / d, 1.0)
            )
            if p != math.inf:  # at the maximum the share has an atom
                assert stats.kstest(share, law).pvalue > ALARM
            else:
                assert abs((share == 1).mean() - 1 / d) < 0.05
                assert stats.kstest(share[share < 1], stats.uniform.cdf).pvalue > ALARM


def test_normal_and_exponential_numbers():
    normal, exponential = draw(NORMAL, 4000, 3), draw(EXPONENTIAL, 4000, 2)
    for column in normal.T:
        assert stats.kstest(column, stats.norm.cdf).pvalue > ALARM
    assert np.abs(np.corrcoef(normal.T) - np.eye(3)).max() < 0.1
    for column in exponential.T:
        assert stats.kstest(column, stats.expon.cdf).pvalue > ALARM


def test_norms_that_are_offered():
    assert [k_norm_law(p) for p in (1, 2.0, Fraction(2), math.inf)] == [LAPLACE, EUCLIDEAN, EUCLIDEAN, MAXIMUM]
    for p in (1.5, 3, math.nan):
        with pytest.raises(InvalidArgument, match="binary64"):
            k_norm_law(p)
