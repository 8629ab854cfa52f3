"""The loop of examples/dp_sgd_jax.py runs where jax is installed, learns, and takes samples of the sizes of its plan."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")

EXAMPLE = Path(__file__).parents[3] / "examples" / "dp_sgd_jax.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("dp_sgd_jax", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loop_learns_under_its_target(example, capsys):
    accuracy, sizes, plan = example.main()
    assert accuracy > 0.85
    assert plan.epsilon == 4
    assert plan.delta <= Fraction("1e-5")
    assert max(sizes) < 3000 * plan.rate * 1.5  # fewer than uniform sampling has
    assert "exact-reals" in {item.id for item in plan.guarantee.hypotheses}
    assert "epsilon <= 4" in capsys.readouterr().out


def test_gradients_are_those_of_each_record_alone_in_double_precision(example):
    rng = np.random.default_rng(1)
    layers = example.start([3, 4, 2])
    points, labels = rng.normal(size=(5, 3)), np.array([0, 1, 1, 0, 1])
    rows = example.gradients(layers, points, labels)
    assert rows.dtype == np.float64
    flat, restore = jax.flatten_util.ravel_pytree(layers)
    for index in range(5):
        ends = [[example.loss(restore(flat.at[k].add(h)), points[index], labels[index]) for h in (-1e-6, 1e-6)] for k in range(flat.size)]
        numeric = [(high - low) / 2e-6 for low, high in ends]
        assert np.allclose(rows[index], numeric, atol=1e-8)


def test_a_weighted_gradient_is_never_longer_than_the_plan_says(example):
    plan = example.plan_for_target(4, "1e-5", 1, "norm", rate="1/4", clip="1/2")
    points = np.random.default_rng(2).normal(size=(50, 3)) * 10
    rows = np.asarray(example.gradients(example.start([3, 2]), points, np.zeros(50, dtype=int)))
    norms = np.linalg.norm(rows, axis=1) * (1 + 1e-12)
    for row in (plan.factors(norms)[:, None] * rows).tolist():
        assert sum(Fraction(entry) ** 2 for entry in row) <= plan.sensitivity**2
