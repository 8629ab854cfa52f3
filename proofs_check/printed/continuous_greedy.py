"""FAULTY. Algorithm 5 of Ghazi et al. 2024 (continuous greedy under a matroid) as it is printed, by its exact law.

T = ⌈1/η⌉ steps of size η add up to more than 1 where 1/η is not whole, and leave the matroid polytope. It costs no privacy.
What works: ``accountant.applications.submodular.matroids``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofs_check.printed.results import Found, Rerun

Point = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class ContinuousGreedy:
    """Algorithm 5 for rank 1 (one element of each base), s = 1 draw, F(S) = the number of users that S covers, and e^ε₀ = ``base``.

    ``step`` is η; the printed number of steps is ⌈1/η⌉.
    """

    step: Fraction
    base: int

    @property
    def steps(self) -> int:
        """T = ⌈1/η⌉."""
        return math.ceil(1 / self.step)

    def law(self, users: Sequence[frozenset[int]], elements: int) -> dict[Point, Fraction]:
        """Return P[y], by all cells of the draw z ∈ [0, 1]^m that steps of η can tell apart, and all choices."""
        edges = [min(Fraction(1), self.step * number) for number in range(self.steps + 1)]
        cells = [(upper - lower, number) for number, (lower, upper) in enumerate(itertools.pairwise(edges)) if upper > lower]
        probabilities: dict[Point, Fraction] = {}
        for drawn in itertools.product(cells, repeat=elements):
            mass = math.prod((share for share, _ in drawn), start=Fraction(1))
            for point, chance in self._given([number for _, number in drawn], users, elements).items():
                probabilities[point] = probabilities.get(point, Fraction(0)) + mass * chance
        return probabilities

    def _given(self, cells: Sequence[int], users: Sequence[frozenset[int]], elements: int) -> dict[Point, Fraction]:
        def value(steps: tuple[int, ...]) -> int:  # {u: z_u < y_u}, where y_u is a number of steps and z_u lies in a cell
            present = {u for u in range(elements) if steps[u] > cells[u]}
            return sum(bool(user & present) for user in users)

        law: dict[tuple[int, ...], Fraction] = {(0,) * elements: Fraction(1)}
        for _ in range(self.steps):
            following: dict[tuple[int, ...], Fraction] = {}
            for steps, chance in law.items():
                longer = [tuple(count + (u == chosen) for u, count in enumerate(steps)) for chosen in range(elements)]
                weights = [self.base ** (value(after) - value(steps)) for after in longer]
                for after, weight in zip(longer, weights, strict=True):
                    following[after] = following.get(after, Fraction(0)) + chance * Fraction(weight, sum(weights))
            law = following
        return {tuple(self.step * count for count in steps): chance for steps, chance in law.items()}


def extend_multilinear(users: Sequence[frozenset[int]], point: Point) -> Fraction:
    """Return the formula of Definition D.1 at ``point``, also where it is not a mean: Σ over users of 1 − Π (1 − y_u)."""
    return sum((1 - math.prod((1 - point[u] for u in user), start=Fraction(1)) for user in users), Fraction(0))


def run_steps() -> Rerun:
    """Two elements, three users."""
    algorithm = ContinuousGreedy(Fraction(2, 5), 2)
    users = [frozenset({0}), frozenset({0}), frozenset({1})]
    law = algorithm.law(users, 2)
    outside = sum((chance for point, chance in law.items() if sum(point) > 1), Fraction(0))
    beyond_one = sum((chance for point, chance in law.items() if max(point) > 1), Fraction(0))
    beyond = max(law, key=lambda point: extend_multilinear(users, point))
    without = algorithm.law(users[1:], 2)
    return Rerun(
        "ghazi-2024-algorithm-5-step",
        "Algorithm 5, T = ceil(1/eta) steps of size eta",
        "uniform matroid of rank 1 on two elements, which cover 2 users and 1; eta = 2/5, s = 1, e^eps0 = 2",
        "y lies in the matroid polytope: y_1 + y_2 <= 1",
        (
            Found("largest sum y_1 + y_2", max(sum(point, Fraction(0)) for point in law)),
            Found("probability that y lies outside of the polytope", outside),
            Found("probability that y_1 > 1 or y_2 > 1", beyond_one),
            Found(
                f"F^mult at y = ({', '.join(map(str, beyond))}); no set of the matroid has more than 2", extend_multilinear(users, beyond)
            ),
            Found(
                "e^loss of y, removal of a user (it costs no privacy: at most 2 is claimed)",
                max(chance / without[point] for point, chance in law.items()),
                loss=True,
            ),
        ),
    )
