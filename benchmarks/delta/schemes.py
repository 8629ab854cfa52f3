"""How each rule spends the same (ε, δ), steps and expected batch: its probabilities and its noise, certified.

uniform, coreset-gradient, norm-gradient, norm-bound: one reference pair (docs/dp-sgd.md, Theorem 2), q₀ for the expected batch, and the
least noise. weights-T: each record has the largest weight W_T of its bound ζ = z/σ (Theorem 3), read off a table at ζ rounded up, for the
σ at which the expected batch is as asked for. What is computed from the records here (Σ t, the batch on the way) a user would need a
public guess for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from accountant.applications.dpsgd.losses import RecordColumns, lengths, residuals, steepness
from accountant.applications.dpsgd.noise import find_noise, to_noise_target
from accountant.applications.dpsgd.rules import RULES
from accountant.weights.gaussian.many_steps import find_weight
from accountant.weights.gaussian.one_step import OneStep
from benchmarks.delta.data import Array, Problem, load
from benchmarks.study.store import Row, Task
from profiles import Infeasible

STEPS, DELTA = 100, "1e-5"
SCHEMES = ("uniform", "coreset-gradient", "norm-gradient", "norm-bound", "weights-T")
_RULE = {"uniform": "uniform", "coreset-gradient": "coreset", "norm-gradient": "norm", "norm-bound": "norm"}
_DIGITS = 4
#: ζ of the table: from the largest feasible one, about, down to a thousandth of it, 8 % apart.
_RATIO, _POINTS = 1.08, 96


@dataclass(frozen=True, slots=True)
class Scheme:
    """Probabilities and noise of a rule: ``rate`` is q₀ (0 for weights-T), ``sigma`` the noise of the sum, ``table`` pairs (ζ, W_T(ζ))."""

    name: str
    rate: float
    sigma: float
    table: tuple[tuple[float, float], ...] = ()

    @property
    def adaptive(self) -> bool:
        """Whether probabilities follow the gradients."""
        return self.name.endswith("gradient")

    def probabilities(self, shares: Array, clip: float) -> Array:
        """Return q of each record, for its share t of the clipping norm."""
        if self.name == "weights-T":
            return read_table(self.table, shares * clip / self.sigma)
        return RULES[_RULE[self.name]].probabilities(shares, self.rate)


def read_table(table: Sequence[tuple[float, float]], zeta: Array) -> Array:
    """Return 1/W at ζ rounded up to a point of the table, 1 above the last one that is feasible."""
    places, weights = np.array([at for at, _ in table]), np.array([weight for _, weight in table])
    found = np.searchsorted(places, zeta)
    return np.where(found < len(places), 1.0 / weights[np.minimum(found, len(places) - 1)], np.inf)


def bound_shares(problem: Problem, records: RecordColumns) -> Array:
    """Return t of the bound by the norm of the record alone."""
    return np.minimum(records.norms * steepness(problem.classes) / problem.clip, 1.0)


def gradient_shares(problem: Problem, records: RecordColumns, coefficients: Array) -> Array:
    """Return t of the gradients at some coefficients."""
    return np.minimum(lengths(residuals(records, coefficients)) * records.norms / problem.clip, 1.0)


def sum_gradients(problem: Problem, records: RecordColumns, coefficients: Array) -> Array:
    """Return the sum of the clipped gradients, shape (K, p)."""
    found = residuals(records, coefficients)
    norms = lengths(found) * records.norms
    found *= np.minimum(1.0, problem.clip / np.maximum(norms, 1e-300))
    return np.asarray(found @ records.values.T)


def follow_pilot(problem: Problem, rule: str = "norm") -> tuple[Array, float]:
    """Return the coefficients after all steps without noise and sampling, and the mean of Σ f(t) on the way: not private, for the study."""
    current = np.zeros((1 if problem.classes <= 2 else problem.classes, len(problem.train.values)))
    total = 0.0
    for _ in range(STEPS):
        total += float(RULES[rule].share(gradient_shares(problem, problem.train, current)).sum())
        current = current - problem.rates[-1] * sum_gradients(problem, problem.train, current) / len(problem.train)
    return current, total / STEPS


def make_table_tasks(epsilons: Sequence[str], points: int = _POINTS) -> list[Task]:
    """Return a task for each place of the tables."""
    return [Task("tables", {"epsilon": epsilon, "delta": DELTA, "steps": STEPS, "place": k}) for epsilon in epsilons for k in range(points)]


def run_table(task: Task) -> list[Row]:
    """Return W_T at one ζ, certified in both directions; no row where even w = 1 is too much."""
    step = OneStep(Fraction(task.key["epsilon"]), Fraction(task.key["delta"]))
    steps = int(task.key["steps"])
    zeta = Fraction(f"{0.6 * float(step.epsilon) / steps**0.5 * _RATIO ** -int(task.key['place']):.6g}")
    try:
        found = find_weight(step, (zeta, zeta), steps, 6, "table")
    except Infeasible:
        return [{"zeta": float(zeta), "weight": 0.0}]
    return [{"zeta": float(zeta), "weight": float(found.weight)}]


def make_tasks(names: Sequence[str], batches: Sequence[int], tables: dict[str, list[list[float]]]) -> list[Task]:
    """Return a task for each data set, rule and expected batch; ``tables``: of each ε."""
    return [
        Task("schemes", {"dataset": name, "scheme": scheme, "m": m, "steps": STEPS, "table": tables[load(name).epsilon] * (scheme ==
        "weights-T")}) for name in names
        for m in batches
        for scheme in SCHEMES
    ]  # fmt: skip


def run_scheme(task: Task) -> list[Row]:
    """Return q₀ and the noise of a rule for an expected batch; no row where there is none, or where the rule is uniform sampling."""
    problem, name, m = load(task.key["dataset"]), task.key["scheme"], float(task.key["m"])
    shares = bound_shares(problem, problem.train)
    if name in ("norm-bound", "weights-T") and shares.min() == 1:
        return []  # all bounds are C: both are uniform sampling
    if name == "weights-T":
        return _fit_table(problem, shares, m, task)
    rule = _RULE[name]
    total = follow_pilot(problem, rule)[1] if name.endswith("gradient") else float(RULES[rule].share(shares).sum())
    rate = Fraction(f"{m / total:.{_DIGITS}g}")
    if rate >= 1:
        return []
    found = find_noise(to_noise_target(problem.epsilon, DELTA, STEPS, rate))
    multiplier = float(found.noise)
    return [{"rate": float(rate), "multiplier": multiplier, "sigma": multiplier * problem.clip / float(rate)}]


def _fit_table(problem: Problem, shares: Array, m: float, task: Task) -> list[Row]:
    table = [(float(at), float(weight)) for at, weight in task.key["table"]]
    low, high = problem.clip / table[-1][0], problem.clip / table[0][0]
    if not _batch(table, shares, problem.clip, low) >= m >= _batch(table, shares, problem.clip, high):
        return []
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _batch(table, shares, problem.clip, middle) <= m else (middle, high)
    return [{"rate": 0.0, "multiplier": 0.0, "sigma": high}]


def _batch(table: Sequence[tuple[float, float]], shares: Array, clip: float, sigma: float) -> float:
    return float(read_table(table, shares * clip / sigma).sum())
