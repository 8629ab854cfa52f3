"""The loops of examples/dp_sgd_torch.py and examples/dp_sgd_jax.py run where their libraries are installed, and keep to their plans."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


class Loop(NamedTuple):
    """An example, with the library that it uses."""

    example: Any
    library: Any


def load(library):
    spec = importlib.util.spec_from_file_location(f"dp_sgd_{library}", EXAMPLES / f"dp_sgd_{library}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["jax", "torch"])
def loop(request):
    library = pytest.importorskip(request.param)
    return Loop(load(request.param), library)


@pytest.fixture(scope="module")
def jax():
    library = pytest.importorskip("jax")
    return Loop(load("jax"), library)


@pytest.fixture(scope="module")
def torch():
    library = pytest.importorskip("torch")
    return Loop(load("torch"), library)


def test_a_loop_learns_under_its_target(loop, capsys):
    accuracy, sizes, plan = loop.example.main()
    assert accuracy > 0.85
    assert plan.epsilon == 4
    assert plan.delta <= Fraction("1e-5")
    assert max(sizes) < 3000 * plan.rate * 1.5  # fewer than uniform sampling has
    assert "exact-reals" in {item.id for item in plan.guarantee.hypotheses}
    assert "epsilon <= 4" in capsys.readouterr().out


def plan_one_step(example):
    return example.plan_for_target(4, "1e-5", 1, "norm", rate="1/4", clip="1/2")


def assert_never_longer(plan, rows):
    norms = np.linalg.norm(rows, axis=1) * (1 + 1e-12)
    for row in (plan.factors(norms)[:, None] * rows).tolist():
        assert sum(Fraction(entry) ** 2 for entry in row) <= plan.sensitivity**2


def test_gradients_of_jax_are_those_of_each_record_alone_in_double_precision(jax):
    example = jax.example
    rng = np.random.default_rng(1)
    layers = example.start([3, 4, 2])
    points, labels = rng.normal(size=(5, 3)), np.array([0, 1, 1, 0, 1])
    rows = example.gradients(layers, points, labels)
    assert rows.dtype == np.float64
    flat, restore = jax.library.flatten_util.ravel_pytree(layers)
    for index in range(5):
        ends = [[example.loss(restore(flat.at[k].add(h)), points[index], labels[index]) for h in (-1e-6, 1e-6)] for k in range(flat.size)]
        numeric = [(high - low) / 2e-6 for low, high in ends]
        assert np.allclose(rows[index], numeric, atol=1e-8)


def test_a_weighted_gradient_of_jax_is_never_longer_than_the_plan_says(jax):
    points = np.random.default_rng(2).normal(size=(50, 3)) * 10
    rows = np.asarray(jax.example.gradients(jax.example.start([3, 2]), points, np.zeros(50, dtype=int)))
    assert_never_longer(plan_one_step(jax.example), rows)


def test_gradients_of_torch_are_those_of_each_record_alone(torch):
    example, torch = torch
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 2).double()
    points, labels = torch.randn(5, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1])
    rows = example.gradients(model, points, labels)
    for index in range(5):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(points[index : index + 1]), labels[index : index + 1]).backward()
        alone = torch.cat([parameter.grad.reshape(-1) for parameter in model.parameters()])
        assert torch.allclose(rows[index], alone)


def test_a_weighted_gradient_of_torch_is_never_longer_than_the_plan_says(torch):
    example, torch = torch
    torch.manual_seed(2)
    model = torch.nn.Linear(3, 2).double()
    rows = example.gradients(model, torch.randn(50, 3, dtype=torch.float64) * 10, torch.zeros(50, dtype=torch.int64))
    assert_never_longer(plan_one_step(example), rows.detach().numpy())
