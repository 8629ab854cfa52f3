"""Exact mode: what leaves is the floor formula of docs/exact-noise.md, of exact totals and of the words that the source gave."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from profiles import InvalidArgument, InvalidData
from profiles.mechanisms import Arithmetic, KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.nearest import label_by_definition
from profiles.randomness.bits import open_bits
from profiles.randomness.rounded import LAPLACE, Grid, draw_rounded, k_norm_law
from tests.mechanisms.data import ALARM, make_data, total


class Recorded:
    """A seeded source that remembers its words."""

    def __init__(self, seed):
        self.source, self.given = open_bits(seed), []
        self.name, self.hypothesis, self.seed = "recorded", "nobody knows them", None
        self.block, self.digit = self.source.block, self.source.digit

    def words(self, count):
        found = self.source.words(count)
        self.given += found.tolist()
        return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["1/3", "1", "7.5", "1e-30", "1e30"]), st.integers(1, 4))
def test_a_laplace_sum_is_the_formula_in_balls(seed, b, dimension):
    scale = Fraction(b)
    grid = Grid.of(scale)
    points, weights = make_data(seed, 8, dimension)
    points = points * float(scale)
    source = Recorded(seed)
    radius = 4 * scale
    output = LaplaceSum(b=b, dimension=dimension, radius=radius).run(points, weights, source)
    counted = total(points.tolist(), weights.tolist(), grid)
    assert len(source.given) == dimension  # none was left open
    before, ctx.prec = ctx.prec, 300
    try:
        for value, g, word in zip(output.tolist(), counted, source.given, strict=True):
            uniform = arb((2 * (word >> 12) + 1, -53), (1, -53))  # every continuation of its first 52 bits
            noise = uniform.log() if word & 1 else -uniform.log()
            ratio, place = grid.ratio, Fraction(g) * grid.h_f / grid.h + Fraction(1, 2)
            exact = arb(fmpq(ratio.numerator, ratio.denominator)) * noise + arb(fmpq(place.numerator, place.denominator))
            assert Fraction(value) == int(exact.floor().unique_fmpz()) * grid.h
    finally:
        ctx.prec = before


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, math.inf]), st.sampled_from(["1/3", "12.5"]), st.booleans())
def test_sums_and_counts_are_noisy_exact_totals(seed, p, scale, weighted):
    points, weights = make_data(seed)
    if not weighted:
        weights = np.ones(len(points))
    grid, size = Grid.of(Fraction(scale)), 3
    sums = KNormSum(beta_sum=scale, p=p, dimension=3)((points, weights), seed, size)
    expected = np.array([total(points.tolist(), weights.tolist(), grid)] * size)
    assert (sums == draw_rounded(expected, k_norm_law(p), grid, open_bits(seed))).all()
    counts = WeightedCount(beta_count=scale)((points, weights), seed, size)
    expected = np.array([total([[1.0]] * len(points), weights.tolist(), grid)] * size)
    assert (counts == draw_rounded(expected, LAPLACE, grid, open_bits(seed))[:, 0]).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, math.inf]), st.sampled_from([None, 1.0]), st.integers(1, 3), st.integers(0, 25))
def test_a_run_of_lloyd_is_algorithm_2_on_exact_totals(seed, p, min_count, iterations, rows):
    points, weights = make_data(seed, rows, 2)
    centres = np.random.default_rng(seed + 1).normal(size=(3, 2))
    mechanism = WeightedLloyd(
        initial_centres=centres, iterations=iterations, beta_count="0.7", beta_sum="1/3", p=p, min_count=min_count, radius=4
    )
    found = mechanism.run(points, weights, seed)
    bits, counting, summing = open_bits(seed), Grid.of(Fraction(7, 10)), Grid.of(Fraction(1, 3))
    for _ in range(iterations):
        labels = label_by_definition(points, centres)
        members = [labels == j for j in range(3)]
        counts = [total([[1.0]] * int(rows.sum()), weights[rows].tolist(), counting) or [0] for rows in members]
        noisy = draw_rounded(np.array(counts).T, LAPLACE, counting, bits)[0]
        sums = [total(points[rows].tolist(), weights[rows].tolist(), summing) or [0, 0] for rows in members]
        moved = draw_rounded(np.array(sums), k_norm_law(p), summing, bits)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = moved / noisy[:, np.newaxis]
        usable = np.isfinite(quotients).all(axis=1) & (True if min_count is None else noisy >= min_count)
        centres = np.where(usable[:, np.newaxis], quotients, centres)
    assert (found == centres).all()


@pytest.mark.parametrize("mechanism", [LaplaceSum(b=1), WeightedCount(beta_count=1), KNormSum(beta_sum=1, dimension=3)], ids=type)
def test_outputs_are_multiples_of_a_grid_that_data_do_not_change(mechanism):
    h = float(Grid.of(Fraction(1)).h)
    record = np.full((50, getattr(mechanism, "dimension", 1)), 0.1)
    multiples = np.concatenate([np.ravel(mechanism(data, 3, 2000)) for data in ([], record)]) / h
    assert (multiples == np.floor(multiples)).all()
    inexact = np.ravel(replace(mechanism, arithmetic="binary64")([], np.random.default_rng(3), 2000)) / h
    assert (inexact != np.floor(inexact)).mean() > 0.99


@pytest.mark.parametrize("p", [1, 2, math.inf])
def test_exact_and_binary64_centres_have_one_law(p):
    data = make_data(4, 40, 2)
    constants = {"initial_centres": [[0.5, 0.0], [-0.5, 0.1]], "iterations": 2, "beta_count": 4, "beta_sum": 3, "p": p, "confine": True}
    exact, plain = (
        WeightedLloyd(**constants, arithmetic=kind)(data, np.random.default_rng(seed), 6000).reshape(6000, -1)
        for kind, seed in ((Arithmetic.EXACT, 1), (Arithmetic.BINARY64, 2))
    )
    for one, other in zip(exact.T, plain.T, strict=True):
        assert stats.ks_2samp(one, other).pvalue > ALARM
    assert stats.ks_2samp(*(np.linalg.norm(found - plain.mean(axis=0), axis=1) for found in (exact, plain))).pvalue > ALARM
    wrong = WeightedLloyd(**{**constants, "beta_sum": "3.5"})(data, 3, 6000).reshape(6000, -1)
    assert min(stats.ks_2samp(one, other).pvalue for one, other in zip(wrong.T, plain.T, strict=True)) < ALARM


@pytest.mark.parametrize("p", [1, 2, math.inf])
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_moments_of_exact_noise(p, dimension):
    size = 40_000
    noise = KNormSum(beta_sum=2, p=p, dimension=dimension)(np.zeros((0, dimension)), 5, size)
    lengths = np.linalg.norm(noise, ord=p, axis=1)
    for power, mean in ((1, 2 * dimension), (2, 4 * dimension * (dimension + 1))):
        found = lengths**power
        assert abs(found.mean() - mean) < 5 * found.std() / math.sqrt(size)
    assert np.abs(noise.mean(axis=0)).max() < 5 * noise.std(axis=0).max() / math.sqrt(size)


def test_other_norms_are_declared_but_not_run_exactly():
    centres = np.zeros((2, 3))
    for mechanism in (
        KNormSum(beta_sum=1, p=3, dimension=3),
        WeightedLloyd(initial_centres=centres, iterations=1, beta_count=1, beta_sum=1, p=1.5),
    ):
        assert mechanism.profile.text
        with pytest.raises(InvalidArgument, match='arithmetic="binary64"') as caught:
            mechanism.run([["no", "data", "at all"]], None, 1)  # what is refused is refused for every data set
        assert len(str(caught.value)) < 300
        plain = replace(mechanism, arithmetic="binary64")
        assert np.isfinite(plain.run(np.zeros((0, 3)), None, np.random.default_rng(0))).all()


@pytest.mark.parametrize(
    "make", [lambda b: LaplaceSum(b=b), lambda b: WeightedCount(beta_count=b), lambda b: KNormSum(beta_sum=b, dimension=1)]
)
def test_scales_at_the_ends_of_the_floats(make):
    for scale in ("1e-300", Fraction(2) ** -1054, 2**1000):
        output = np.asarray(make(scale).run([], None, 1))
        assert np.isfinite(output).all()
        assert 0 < np.abs(output).max() / float(Fraction(scale)) < 100
    for scale in ("1e-4000", 2**1000 + 1):
        with pytest.raises(InvalidArgument):
            make(scale).run([], None, 1)


def test_a_record_too_heavy_for_the_noise_is_refused_before_anything_is_drawn():
    source = Recorded(1)
    for mechanism in (
        LaplaceSum(b="1/1000"),
        WeightedCount(beta_count="1/1000"),
        KNormSum(beta_sum="1/1000", dimension=1),
        WeightedLloyd(initial_centres=[0.0], iterations=3, beta_count="1/1000", beta_sum="1/1000"),
    ):
        with pytest.raises(InvalidData, match=r"2048 times the noise scale .* but row 1 "):
            mechanism.run([1.0, 3.0], [1.0, 3.0], source)
        assert not source.given
        assert np.isfinite(replace(mechanism, arithmetic="binary64").run([1.0, 3.0], [1.0, 3.0], np.random.default_rng(1))).all()


def test_many_runs_of_small_data_are_done_together():
    """Ten runs cost about as many calls as one: the words are asked for in few blocks."""

    class Counted(Recorded):
        def words(self, count):
            self.given.append(count)
            return self.source.words(count)

    calls = []
    for size in (1, 50):
        source = Counted(1)
        WeightedLloyd(initial_centres=[[0, 0], [1, 1]], iterations=4, beta_count=1, beta_sum=1)(make_data(1, 5, 2), source, size)
        calls.append(len(source.given))
    assert calls == [8, 8]
