"""DP-SGD with importance sampling in PyTorch: a small network, one (ε, δ) that is certified before training. Needs torch.

Gradients are taken record by record (torch.func), in double precision; probabilities, weights and noise are those of the plan. What the
guarantee leaves open, such as noise in floating point (exact-reals), is printed with it. Proofs: docs/dp-sgd.md.
"""

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from accountant import render
from accountant.applications.dpsgd import DPSGDPlan, plan_for_target
from profiles.randomness.bernoulli import PoissonSampler


def gradients(model: torch.nn.Module, points: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the gradient of each record as one row."""
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters, point, label):
        scores = functional_call(model, parameters, (point.unsqueeze(0),))
        return torch.nn.functional.cross_entropy(scores, label.unsqueeze(0))

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, points, labels)
    return torch.cat([found[name].reshape(len(points), -1) for name in parameters], dim=1)


def train(
    model: torch.nn.Module, points: torch.Tensor, labels: torch.Tensor, plan: DPSGDPlan, learning_rate: float, size: int
) -> list[int]:
    """Take the steps of the plan; return the sizes of the samples, which are private."""
    sampler, sizes = PoissonSampler(), []
    noise = torch.Generator().manual_seed(int.from_bytes(np.random.default_rng().bytes(7), "big"))
    for _ in range(plan.steps):
        rows = gradients(model, points, labels)
        norms = rows.norm(dim=1).numpy() * (1 + 1e-12)  # at least the norms over the reals
        chosen = torch.from_numpy(sampler.select(plan.probabilities(norms)))
        factors = torch.from_numpy(plan.factors(norms))[chosen]
        summed = (factors[:, None] * rows[chosen]).sum(dim=0)
        summed += plan.noise_std * torch.randn(summed.shape, generator=noise, dtype=torch.float64)
        move = -learning_rate / size * summed  # size: a public guess of the number of records, not the size of the sample
        with torch.no_grad():
            start = 0
            for parameter in model.parameters():
                parameter.add_(move[start : start + parameter.numel()].reshape(parameter.shape))
                start += parameter.numel()
        sizes.append(int(chosen.sum()))
    return sizes


def main() -> tuple[float, list[int], DPSGDPlan]:
    """Train on two interleaved half moons, and print the guarantee."""
    rng = np.random.default_rng(0)
    angles, labels = rng.uniform(0, np.pi, 3000), rng.integers(0, 2, 3000)
    moons = np.stack([np.cos(angles) + labels, np.where(labels == 1, 0.4 - np.sin(angles), np.sin(angles))], axis=1)
    points = torch.from_numpy(moons + rng.normal(0, 0.1, moons.shape))
    truth = torch.from_numpy(labels)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)).double()
    plan = plan_for_target(4, "1e-5", 60, "norm", rate="1/10", clip=1)
    sizes = train(model, points, truth, plan, learning_rate=4.0, size=3000)
    accuracy = float((model(points).argmax(dim=1) == truth).double().mean())
    print(render(plan.guarantee))
    print(f"right on the training records (not private): {accuracy:.3f}")
    return accuracy, sizes, plan


if __name__ == "__main__":
    main()
