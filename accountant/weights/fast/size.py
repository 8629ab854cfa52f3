"""The target ε* for an expected sample size: the size falls when ε* rises, so it is found by bisection over the whole data set.

Statement: for fixed records, each optimal weight does not fall when ε* rises (E = exp(ε*) − 1 rises, so the feasible set grows). Hence the
expected size Σ 1/w_i falls from its value at the least target (assumption-8: ε* ≥ sup ε(1, x)) towards 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from accountant.columns.values import Column
from accountant.weights.fast.results import ProvedConvexity, probabilities
from accountant.weights.fast.solver import prepare_solver
from profiles import InvalidTarget, Profile, decimal_text, exact_text
from profiles.numbers import to_number

Batches = Callable[[], Iterable[Mapping[str, ArrayLike | Column]]]

_LARGEST = 1e6
_MOST_STEPS = 80


@dataclass(frozen=True, slots=True)
class SizedTarget:
    """A target ε* (exactly this binary64 number) whose optimal weights have the expected size ``size`` ≤ the size asked for."""

    epsilon: Fraction = field(repr=False)
    size: float = field(repr=False)
    rows: int = field(repr=False)


def measure_size(profile: Profile, epsilon: Fraction, batches: Batches, convexity: ProvedConvexity) -> tuple[float, int]:
    """Return an upper bound (within 2^-50 relatively) on Σ 1/w_i over the weights that :func:`optimal_weights` returns, and n."""
    solver, sums, rows = prepare_solver(profile, epsilon, convexity=convexity), list[float](), 0
    for batch in batches():
        result = solver.solve(batch, first_row=rows)
        rows += result.weights.size
        sums.append(math.fsum(probabilities(result.weights).tolist()))
    return math.fsum(sums) * (1 + 2.0**-51), rows


def epsilon_for_size(
    profile: Profile, size: object, batches: Batches, *, convexity: ProvedConvexity, tolerance: float = 1e-9
) -> SizedTarget:
    """Claim: the returned ε* has expected size M(1 − tolerance) ≤ Σ 1/w_i ≤ M over the records of ``batches``, where M is ``size``.

    ``batches`` is called once per step (some 10 to 20 times) and yields the statistics of all records in batches. M must be positive and at
    most the size at the least target of what is proved: a smaller ε* than ``convexity.least_target`` is not covered by assumption-8.

    The result is a function of the data set. It is not a private number unless the records are public: publish ε* from public or
    representative data, or choose ε* directly.

    Raises :class:`InvalidTarget` for M ≤ 0, M > n, and M that no target reaches.
    """
    goal = to_number(size, "the target size", "(0, inf)", "give a positive number", InvalidTarget)
    low = convexity.least_target if convexity.least_target > 0 else Fraction(1, 10**12)

    def measure(epsilon: Fraction) -> tuple[float, int]:
        return measure_size(profile, epsilon, batches, convexity)

    low_size, rows = measure(low)
    if goal > rows:
        raise InvalidTarget(
            f"the target size {exact_text(goal)} is above the number of records; give at most that", private=f"there are {rows} records"
        )
    if Fraction(low_size) < goal * (1 - Fraction(tolerance)):
        raise InvalidTarget(
            f"the target size {exact_text(goal)} is not reachable: the least ε* = {decimal_text(low, 9, round_up=True)} (assumption-8) "
            "already has a smaller expected size; use that target, which samples less for the same privacy",
            private=f"the expected size is at most {decimal_text(Fraction(low_size), 9, round_up=True)}",
        )
    if Fraction(low_size) <= goal:
        return SizedTarget(low, low_size, rows)
    return _bisect(measure, goal, low, low_size, tolerance)


def _bisect(
    measure: Callable[[Fraction], tuple[float, int]], goal: Fraction, low: Fraction, low_size: float, tolerance: float
) -> SizedTarget:
    wanted = float(goal)
    high, high_size, rows = low, low_size, 0
    step = 2.0
    while Fraction(high_size) > goal:
        low, low_size = high, high_size
        high = Fraction(min(_LARGEST, float(low) * step))
        step = min(step * step, 1e3)
        if high <= low:
            raise InvalidTarget(f"the target size {exact_text(goal)} needs ε* above {_LARGEST:g}; give a larger size")
        high_size, rows = measure(high)
    left, right = _height(low_size, wanted), _height(high_size, wanted)
    for number in range(_MOST_STEPS):
        if high_size >= wanted * (1 - tolerance) or math.nextafter(float(low), math.inf) >= float(high):
            break
        a, b = math.log(float(low)), math.log(float(high))
        share = left / (left - right) if number % 3 != 2 and left > right else 0.5
        middle = Fraction(math.exp(a + (b - a) * min(max(share, 1e-6), 1 - 1e-6)))
        if not low < middle < high:
            middle = (low + high) / 2
        size, rows = measure(middle)
        height = _height(size, wanted)
        if Fraction(size) > goal:
            low, left, right = middle, height, right / 2
        else:
            high, high_size, right, left = middle, size, height, left / 2
    return SizedTarget(high, high_size, rows)


def _height(size: float, wanted: float) -> float:
    """Return log(size/M) with M lowered a little, so that the secant aims inside the tolerance rather than at its end."""
    return float(np.log(max(size, 1e-300) / wanted)) + 3e-10
