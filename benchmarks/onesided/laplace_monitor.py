"""The approximate-DP predecessor for shifting heavy hitters, after Kaplan, Mansour and Stemmer 2021: Laplace noise on all users.

What is run: at each time every item's count of active users gets fresh Laplace noise of rate a and is reported above a threshold; a user
who was counted in k reported pairs is dropped. Kaplan et al. also add noise to the threshold and a third noise, which (says Ghazi et al.
2024, Appendix A) help their analysis and only enlarge the error; without them this is the algorithm of Cohen and Lyu 2023. The rate is the
largest that the theorem of docs/heavy-hitters.md, *The approximate-DP predecessor*, allows, up to the grids below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from profiles import InvalidArgument
from profiles.arrays import Floats
from tests.targets.hard_streams import HardInstance

DELTA = 1e-6
_ORDERS = np.geomspace(0.1, 1000, 60)


@dataclass(frozen=True, slots=True)
class LaplaceMonitor:
    """``rate`` of the noise, ``threshold`` τ, ``k`` reports before a user is dropped; ``error``: proved for probability 1 − β."""

    rate: float
    threshold: float
    k: int
    error: float

    def reads_right(self, instance: HardInstance, rng: np.random.Generator) -> bool:
        """Return whether the reports show the path and nothing else of its items. Users of one filler group stay alike."""
        groups = max(1, instance.fillers)
        users = np.bincount(np.arange(instance.users) * groups // instance.users, minlength=groups)
        left, visited = np.full(groups, self.k), dict(instance.path)
        idle = math.exp(-self.rate * self.threshold) / 2  # that an item without users is reported
        for time in range(instance.steps):
            active = np.where(left > 0, users, 0)
            empty = instance.domain_size - instance.fillers - (time in visited)
            if rng.random() < -math.expm1(empty * math.log1p(-idle)):
                return False
            if time in visited:
                if active.sum() + rng.laplace(scale=1 / self.rate) <= self.threshold:
                    return False
                left -= 1
            elif instance.fillers:
                left -= active + rng.laplace(scale=1 / self.rate, size=groups) > self.threshold
        return True


@lru_cache(maxsize=256)
def plan_laplace(k: int, epsilon: float, steps: int, items: int, beta: float, *, half: bool) -> LaplaceMonitor:
    """Return the monitor with the largest rate for (ε, 10⁻⁶)-DP; it supposes half of the error, or (not ``half``) the level 0.

    Each of M = T|Y| pairs errs on one side only, with probability e^(−a x)/2 for a gap x: x = ln(M/(2β))/a; E = 2x + level, τ = E − x.
    """
    low, high = epsilon / (100 * k), epsilon
    if max(bound_delta(k, low, epsilon)) > DELTA:
        raise InvalidArgument(f"no rate was found for k = {k} and epsilon = {epsilon}; choose others")
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if max(bound_delta(k, middle, epsilon)) <= DELTA else (low, middle)
    gap = math.log(steps * items / (2 * beta)) / low
    error = (4 if half else 2) * gap
    return LaplaceMonitor(low, error - gap, k, error)


def bound_delta(k: int, rate: float, epsilon: float) -> tuple[float, float]:
    """Return δ for removing and for adding a user: min over λ of e^(kθ(λ) − λε) λ^λ/(1 + λ)^(1 + λ), and 0 where k·rate ≤ ε (removal)."""
    found = []
    for going in (True, False):
        if going and k * rate <= epsilon:
            found.append(0.0)
            continue
        logs = [
            k * theta - order * epsilon + order * math.log(order) - (1 + order) * math.log1p(order)
            for order in _ORDERS.tolist()
            if math.isfinite(theta := find_theta(rate, order, going=going))
        ]
        found.append(math.exp(min(0.0, min(logs, default=0.0))))
    return found[0], found[1]


def find_theta(rate: float, order: float, *, going: bool) -> float:
    """Return θ(λ): the largest ln(p^(1 + λ) q^−λ / (1 − (1 − p)^(1 + λ) (1 − q)^−λ)) over gaps, p and q the chances of a report.

    ``going``: p with the user and q without; else the other way round. On a grid of gaps, with the limit of large ones.
    """
    if not going and order * math.expm1(rate) >= 1:
        return math.inf
    gaps = np.concatenate([np.linspace(-12, 12, 241) / rate, np.linspace(-1, 2, 31)])
    more, less = _log_tail(rate, gaps - 1), _log_tail(rate, gaps)
    more_not, less_not = _log_tail(rate, 1 - gaps), _log_tail(rate, -gaps)
    if not going:
        more, less, more_not, less_not = less, more, less_not, more_not
    with np.errstate(all="ignore"):
        rest = -np.expm1((1 + order) * more_not - order * less_not)
        values = np.where(rest > 0, (1 + order) * more - order * less - np.log(np.where(rest > 0, rest, 1.0)), math.inf)
    sign = 1 if going else -1
    slope = 1 - order * math.expm1(-sign * rate)  # limit of rest/p for large gaps: (1 + λ) − λ q/p
    limit = sign * rate * order - math.log(slope) if slope > 0 else math.inf
    return max(0.0, float(values.max()), limit)


def _log_tail(rate: float, gap: Floats) -> Floats:
    """Return the logarithm of P[Laplace of this rate > gap]."""
    scaled = rate * gap
    return np.where(scaled > 0, -scaled - math.log(2), np.log1p(-np.exp(np.minimum(scaled, 0.0)) / 2))
