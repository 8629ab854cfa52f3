"""The loop of examples/dp_sgd_torch.py runs where torch is installed, learns, and takes samples of the sizes of its plan."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[3] / "examples" / "dp_sgd_torch.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("dp_sgd_torch", EXAMPLE)
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


def test_gradients_are_those_of_each_record_alone(example):
    torch.manual_seed(1)
    model = torch.nn.Linear(3, 2).double()
    points, labels = torch.randn(5, 3, dtype=torch.float64), torch.tensor([0, 1, 1, 0, 1])
    rows = example.gradients(model, points, labels)
    for index in range(5):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(points[index : index + 1]), labels[index : index + 1]).backward()
        alone = torch.cat([parameter.grad.reshape(-1) for parameter in model.parameters()])
        assert torch.allclose(rows[index], alone)


def test_a_weighted_gradient_is_never_longer_than_the_plan_says(example):
    torch.manual_seed(2)
    model = torch.nn.Linear(3, 2).double()
    plan = example.plan_for_target(4, "1e-5", 1, "norm", rate="1/4", clip="1/2")
    rows = example.gradients(model, torch.randn(50, 3, dtype=torch.float64) * 10, torch.zeros(50, dtype=torch.int64))
    norms = rows.norm(dim=1).numpy() * (1 + 1e-12)
    weighted = torch.from_numpy(plan.factors(norms))[:, None] * rows
    for row in weighted.tolist():
        assert sum(Fraction(entry) ** 2 for entry in row) <= plan.sensitivity**2
