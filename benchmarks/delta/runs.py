"""Training runs of every rule, and the variance of one step's estimate of the gradient: from sampling and from noise."""

from __future__ import annotations

import numpy as np

from accountant.applications.dpsgd.losses import RecordColumns, lengths, residuals
from benchmarks.delta.data import Array, Problem, load
from benchmarks.delta.schemes import STEPS, Scheme, bound_shares, follow_pilot, gradient_shares
from benchmarks.study.store import Row, Task


def read_scheme(task: Task) -> Scheme:
    """Return the scheme that the key of a task names."""
    key = task.key
    return Scheme(key["scheme"], float(key["rate"]), float(key["sigma"]), tuple((float(a), float(b)) for a, b in key["table"]))


def find_probabilities(problem: Problem, scheme: Scheme, current: Array, bounded: Array | None) -> Array:
    """Return q of each record at some coefficients; ``bounded``: where they do not depend on them."""
    if bounded is not None:
        return bounded
    return scheme.probabilities(gradient_shares(problem, problem.train, current), problem.clip)


def fixed_probabilities(problem: Problem, scheme: Scheme) -> Array | None:
    """Return the probabilities that serve for all steps, where there are such."""
    return None if scheme.adaptive else scheme.probabilities(bound_shares(problem, problem.train), problem.clip)


def estimate_gradient(problem: Problem, part: RecordColumns, q: Array, current: Array) -> Array:
    """Return the sum over a sample of clipped gradients, each divided by its probability, shape (K, p)."""
    found = residuals(part, current)
    norms = lengths(found) * part.norms
    found *= np.minimum(1.0, problem.clip / np.maximum(norms, 1e-300)) / q
    return np.asarray(found @ part.values.T)


def measure(problem: Problem, records: RecordColumns, current: Array) -> tuple[float, float]:
    """Return the share of wrong predictions and the mean loss."""
    scores = current @ records.values
    if problem.classes == 2:
        sign = np.where(records.labels == 1, 1.0, -1.0)
        margins = sign * scores[0]
        return float((margins <= 0).mean()), float(np.logaddexp(0.0, -margins).mean())
    right = scores[records.labels, np.arange(len(records))]
    return float((scores.argmax(axis=0) != records.labels).mean()), float((np.logaddexp.reduce(scores, axis=0) - right).mean())


def run_training(task: Task) -> list[Row]:
    """Return test error, objective and mean sample size of some seeds: noise in binary64, the same law as in the exact mode."""
    problem, scheme = load(task.key["dataset"]), read_scheme(task)
    bounded, rows = fixed_probabilities(problem, scheme), []
    for seed in range(int(task.key["seeds"])):
        for learning_rate in problem.rates:
            rng = np.random.default_rng([2020, seed])
            current = np.zeros((1 if problem.classes == 2 else problem.classes, len(problem.train.values)))
            total, sizes = np.zeros_like(current), 0
            for step in range(STEPS):
                q = find_probabilities(problem, scheme, current, bounded)
                chosen = np.flatnonzero(rng.random(len(q)) < q)
                sizes += len(chosen)
                summed = estimate_gradient(problem, problem.train.take(chosen), q[chosen], current)
                summed += rng.normal(0.0, scheme.sigma, current.shape)
                current = current - learning_rate * summed / len(problem.train)
                if 2 * step >= STEPS:
                    total += current
            wrong, _ = measure(problem, problem.test, total / (STEPS // 2))
            _, objective = measure(problem, problem.train, total / (STEPS // 2))
            rows.append({"seed": seed, "learning_rate": learning_rate, "error": wrong, "objective": objective, "batch": sizes / STEPS})
    return rows


def run_variance(task: Task) -> list[Row]:
    """Return E‖estimate − sum of clipped gradients‖² over n², at the first coefficients and after all steps without noise, by its parts.

    Σ (1/q − 1) z² + K p σ²: exact, nothing is drawn.
    """
    problem, scheme = load(task.key["dataset"]), read_scheme(task)
    last, _ = follow_pilot(problem)
    bounded, rows, size = fixed_probabilities(problem, scheme), [], float(len(problem.train)) ** 2
    for where, current in (("start", np.zeros_like(last)), ("end", last)):
        q = find_probabilities(problem, scheme, current, bounded)
        z = problem.clip * gradient_shares(problem, problem.train, current)
        seen = q > 0
        sampling = float(((1 / q[seen] - 1) * z[seen] ** 2).sum())
        noise = last.size * scheme.sigma**2
        rows.append({"where": where, "sampling": sampling / size, "noise": noise / size, "batch_now": float(q.sum())})
    return rows


def run_reference(task: Task) -> list[Row]:
    """Return error and objective of the same steps without privacy, for each learning rate."""
    problem = load(task.key["dataset"])
    rows = []
    for learning_rate in problem.rates:
        current = np.zeros((1 if problem.classes == 2 else problem.classes, len(problem.train.values)))
        total = np.zeros_like(current)
        for step in range(STEPS):
            summed = estimate_gradient(problem, problem.train, np.ones(len(problem.train)), current)
            current = current - learning_rate * summed / len(problem.train)
            if 2 * step >= STEPS:
                total += current
        wrong, _ = measure(problem, problem.test, total / (STEPS // 2))
        _, objective = measure(problem, problem.train, total / (STEPS // 2))
        rows.append({"learning_rate": learning_rate, "error": wrong, "objective": objective})
    return rows
