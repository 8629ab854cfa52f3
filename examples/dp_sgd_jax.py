"""DP-SGD with importance sampling in JAX: a small network, one (ε, δ) that is certified before training. Needs jax.

The loop of dp_sgd_torch.py with another library: ``jax.vmap(jax.grad(...))`` takes gradients record by record, in double precision;
probabilities, factors and noise are those of the plan. What its guarantee leaves open is printed with it. Proofs: docs/dp-sgd.md.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from accountant import render
from accountant.applications.dpsgd import DPSGDPlan, plan_for_target
from profiles.randomness.bernoulli import PoissonSampler

jax.config.update("jax_enable_x64", val=True)  # a weighted gradient in single precision may be longer than the plan says

Layers = list[tuple[jax.Array, jax.Array]]


def start(widths: list[int], seed: int = 0) -> Layers:
    """Return the layers of a network, drawn without the records."""
    rng = np.random.default_rng(seed)
    return [(jnp.asarray(rng.normal(size=(a, b)) / a**0.5), jnp.zeros(b)) for a, b in pairwise(widths)]


def score(layers: Layers, point: jax.Array) -> jax.Array:
    """Return the scores of the classes for one record."""
    for matrix, shift in layers[:-1]:
        point = jnp.tanh(point @ matrix + shift)
    matrix, shift = layers[-1]
    return point @ matrix + shift


def loss(layers: Layers, point: jax.Array, label: jax.Array) -> jax.Array:
    """Return the cross entropy of one record."""
    return -jax.nn.log_softmax(score(layers, point))[label]


@jax.jit
def gradients(layers: Layers, points: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the gradient of each record as one row."""
    found = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(layers, points, labels)
    return jax.vmap(lambda tree: ravel_pytree(tree)[0])(found)


def train(
    layers: Layers, points: jax.Array, labels: jax.Array, plan: DPSGDPlan, learning_rate: float, size: int
) -> tuple[Layers, list[int]]:
    """Take the steps of the plan; return the layers, and the sizes of the samples, which are private."""
    sampler, sizes, noise = PoissonSampler(), [], np.random.default_rng()
    current, restore = ravel_pytree(layers)
    for _ in range(plan.steps):
        rows = np.asarray(gradients(restore(current), points, labels))
        norms = np.linalg.norm(rows, axis=1) * (1 + 1e-12)  # at least the norms over the reals
        chosen = sampler.select(plan.probabilities(norms))
        summed = plan.factors(norms)[chosen] @ rows[chosen] + noise.normal(0.0, plan.noise_std, rows.shape[1])
        current = current - learning_rate / size * summed  # size: a public guess of the number of records, not the size of the sample
        sizes.append(int(chosen.sum()))
    return restore(current), sizes


def main() -> tuple[float, list[int], DPSGDPlan]:
    """Train on two interleaved half moons, and print the guarantee."""
    rng = np.random.default_rng(0)
    angles, labels = rng.uniform(0, np.pi, 3000), rng.integers(0, 2, 3000)
    moons = np.stack([np.cos(angles) + labels, np.where(labels == 1, 0.4 - np.sin(angles), np.sin(angles))], axis=1)
    points, truth = jnp.asarray(moons + rng.normal(0, 0.1, moons.shape)), jnp.asarray(labels)
    plan = plan_for_target(4, "1e-5", 60, "norm", rate="1/10", clip=1)
    layers, sizes = train(start([2, 16, 2]), points, truth, plan, learning_rate=4.0, size=3000)
    accuracy = float((jax.vmap(score, in_axes=(None, 0))(layers, points).argmax(axis=1) == truth).mean())
    print(render(plan.guarantee))
    print(f"right on the training records (not private): {accuracy:.3f}")
    return accuracy, sizes, plan


if __name__ == "__main__":
    main()
