"""What a training step computes: gradients record by record to the last bit, no weighted gradient too long, unbiased sums, exact noise."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accountant.applications.dpsgd.losses import RecordColumns, exponential, lengths, residuals, steepness
from accountant.applications.dpsgd.plan import DPSGDPlan, dp_sgd_plan
from accountant.applications.dpsgd.rules import RULES, capped
from accountant.applications.dpsgd.training import BinaryNoise, ExactNoise, Schedule, Trainer
from profiles.mechanisms.quantised import total_units
from profiles.randomness.bernoulli import PoissonSampler

wild = st.floats(-1e300, 1e300) | st.floats(-5, 5) | st.sampled_from([0.0, 1e-320, -1e-160, 1e308])


def make_plan(rule: object = "norm", rate: object = "1/4", clip: object = "1/2", noise: object = 2, steps: object = 1) -> DPSGDPlan:
    return dp_sgd_plan(noise, steps, rule, rate=rate, clip=clip, delta="1e-5")


def make_trainer(plan: DPSGDPlan, classes: int = 2, **changes: object) -> Trainer:
    return Trainer(plan, Schedule(1.0, 0.0, 10.0), classes, **changes)


def squared_norm(row: np.ndarray) -> Fraction:
    return sum((Fraction(float(entry)) ** 2 for entry in row), Fraction(0))


def test_the_exponential_is_accurate():
    x = np.concatenate([np.linspace(-700, 700, 4001), [0.0, -1e-300, 1e-17]])
    for value, found in zip(x.tolist(), exponential(x).tolist(), strict=True):
        assert abs(found / mpmath.exp(value) - 1) < 4e-16 * 8


@settings(max_examples=8)
@given(
    points=arrays(float, (5, 3), elements=wild),
    coefficients=arrays(float, (3, 4), elements=wild),
    labels=st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_a_gradient_depends_on_its_record_alone_to_the_last_bit(points, coefficients, labels):
    """Alone, among others, and among many: the same bits; whatever the numbers are, they are finite and not too long."""
    for theta, classes in ((coefficients, 3), (coefficients[:1], 2)):
        codes = np.minimum(np.array(labels), classes - 1)
        many = RecordColumns.of(np.tile(points, (40, 1)), np.tile(codes, 40), intercept=True)
        together = residuals(many, theta)
        for index in range(5):
            alone = RecordColumns.of(points[index : index + 1], codes[index : index + 1], intercept=True)
            assert (residuals(alone, theta)[:, 0] == together[:, index + 155]).all()
            assert (alone.units[:, 0] == many.units[:, index + 60]).all()
        assert np.isfinite(together).all()
        assert (lengths(together) <= steepness(classes) * (1 + 1e-15)).all()


@settings(max_examples=8)
@given(
    points=arrays(float, (4, 2), elements=wild),
    theta=arrays(float, (3, 3), elements=wild),
    q=arrays(float, 4, elements=st.floats(1e-300, 0.25)),
    rule=st.sampled_from([*RULES.values(), capped(5)]),
)
def test_no_weighted_gradient_is_longer_than_promised_over_the_reals(points, theta, q, rule):
    """Also for probabilities that are too small for their gradients, which no rule gives."""
    trainer = make_trainer(make_plan(rule), 3)
    records = RecordColumns.of(points, np.array([0, 1, 2, 0]), intercept=True)
    for chances in (q, np.full(4, 0.25)):
        for block in trainer.weigh(records, residuals(records, theta), chances):
            assert np.isfinite(block).all()
            assert all(squared_norm(row) <= trainer.plan.sensitivity**2 for row in block)


def test_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(3)
    points, labels = rng.normal(size=(6, 3)), np.array([0, 1, 2, 2, 1, 0])
    for classes in (2, 3):
        codes = np.minimum(labels, classes - 1)
        theta = rng.normal(size=(1 if classes == 2 else 3, 4))
        records = RecordColumns.of(points, codes, intercept=True)
        found = residuals(records, theta)

        def loss(theta: np.ndarray, index: int, records: RecordColumns = records, codes: np.ndarray = codes) -> float:
            scores = theta @ records.values[:, index]
            scores = np.array([0.0, scores[0]]) if len(scores) == 1 else scores
            return float(np.logaddexp.reduce(scores) - scores[codes[index]])

        for index, cell in itertools.product(range(6), np.ndindex(theta.shape)):
            moved = theta.copy()
            moved[cell] += 1e-6
            slope = (loss(moved, index) - loss(theta, index)) / 1e-6
            assert found[cell[0], index] * records.values[cell[1], index] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("rule", [*RULES, "bound"])
def test_the_sum_is_unbiased_by_enumeration_of_all_samples(rule):
    """Σ over all samples of their probability times their sum is the sum of the clipped gradients, to rounding."""
    rng = np.random.default_rng(4)
    plan = make_plan("norm" if rule == "bound" else rule)
    trainer = make_trainer(plan, by_bound=rule == "bound")
    records = RecordColumns.of(rng.normal(size=(5, 2)) * [[0.1], [0.3], [1], [2], [9]], np.array([0, 1, 0, 1, 1]), intercept=False)
    theta = np.array([[0.3, -0.2]])
    found = residuals(records, theta)
    q = trainer.bound_probabilities(records) if rule == "bound" else trainer._probabilities(records, found)
    clipped = found * records.values * np.minimum(1, 0.5 / (lengths(found) * records.norms))
    mean = np.zeros(2)
    for chosen in itertools.product([False, True], repeat=5):
        rows = np.flatnonzero(chosen)
        chance = np.prod(np.where(chosen, q, 1 - q))
        mean += chance * sum((block.sum(axis=0) for block in trainer.weigh(records.take(rows), found[:, rows], q[rows])), np.zeros(2))
    assert mean == pytest.approx(clipped.sum(axis=1), abs=1e-12)


def test_a_release_is_the_exact_sum_plus_the_noise_of_its_bits():
    """The same bits with and without records: the releases differ by the truncated sum, to one step of the grid."""
    plan, rows = make_plan(), np.array([[1.0, -0.3], [0.5, 0.25]])
    first, second = ExactNoise.open(plan, 5), ExactNoise.open(plan, 5)
    grid = first.release.grid
    with_records, without = first(iter([rows]), 2), second(iter([]), 2)
    exact = total_units(rows, None, first.release.unit) * float(grid.h_f)
    assert np.abs(with_records - without - exact).max() <= 2 * grid.step
    assert grid.scale == plan.noise * plan.sensitivity


@pytest.mark.parametrize("seed", range(3))
def test_both_modes_have_the_declared_noise(seed):
    """4,000 draws of an empty step: the mean square is σ² to 6 standard errors; half or twice the noise is far outside."""
    plan = make_plan(steps=1)
    sigma2 = float(plan.noise * plan.sensitivity) ** 2
    draws = 2000
    for noise in (ExactNoise.open(plan, seed), BinaryNoise(plan.noise_std, np.random.default_rng(seed))):
        found = np.concatenate([noise(iter([]), draws) for _ in range(2)])
        assert abs(float((found**2).mean()) / sigma2 - 1) < 6 * (2 / len(found)) ** 0.5
        assert abs(float(found.mean())) < 6 * (sigma2 / len(found)) ** 0.5


@pytest.mark.thorough
def test_samples_of_a_step_have_the_probabilities_of_the_rule():
    """Releases without noise count who was selected: each within 6 standard errors of q."""
    rng = np.random.default_rng(6)
    records = RecordColumns.of(np.diag([0.2, 0.4, 1.0, 8.0]), np.array([0, 1, 0, 1]), intercept=False)
    theta, runs = np.zeros((1, 4)), 3000
    silent = BinaryNoise(0.0, rng)
    for trainer in (make_trainer(make_plan("norm")), make_trainer(make_plan("uniform")), make_trainer(make_plan("coreset"), by_bound=True)):
        sampler = PoissonSampler(7)
        bounded = trainer.bound_probabilities(records) if trainer.by_bound else None
        found = np.array([trainer.step(records, theta, sampler, silent, bounded)[0] != 0 for _ in range(runs)]).mean(axis=0)
        q = trainer._probabilities(records, residuals(records, theta)) if bounded is None else bounded
        assert (np.abs(found - q) <= 6 * np.sqrt(q * (1 - q) / runs)).all()


def test_the_result_is_the_mean_of_the_second_half_and_stays_finite():
    plan = make_plan(steps=5, noise=4)
    trainer = Trainer(plan, Schedule(1e300, 0.0, 1e-10), 3)
    records = RecordColumns.of(np.ones((3, 2)), np.array([0, 1, 2]), intercept=True)
    told: list[tuple[int, int | None]] = []
    found = trainer.run(records, PoissonSampler(1), ExactNoise.open(plan, 2), lambda done, total: told.append((done, total)))
    assert np.isfinite(found).all()
    assert told == [(k, 5) for k in range(1, 6)]
    still = Trainer(plan, Schedule(1.0, 0.0, 1.0), 2)
    constant = still.run(
        RecordColumns.of(np.ones((0, 2)), np.zeros(0, dtype=np.intp), intercept=False),
        PoissonSampler(1),
        lambda _rows, size: np.full(size, -1.0),
    )
    assert constant.tolist() == [[4.0, 4.0]]  # after steps 3, 4, 5
