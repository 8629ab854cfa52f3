"""FAULTY. Algorithm 1 of Fay et al. 2024 (bisection for the largest weight) as it is printed, in exact fractions.

For the profile ε(w) = log(1 + w²), so that e^ψ = 1 + w and the optimal weight is e^ε* − 1. What works: ``accountant.weights``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proofs_check.printed.results import Found, Rerun

_PROFILE = "profile eps(w) = log(1 + w^2)"


@dataclass(frozen=True, slots=True)
class Bisection:
    """The printed lines for f = 1 + w²: the bracket [1, b], b = 2(e^ε* − v̄)/μ + 1, v̄ = min(f(1) + μ/2, f'(1) + 1), μ ≤ 2.

    ``target``: e^ε*; ``convexity``: μ; ``accuracy``: the length of the last bracket.
    """

    target: Fraction
    convexity: Fraction
    accuracy: Fraction

    @property
    def end(self) -> Fraction:
        """The end b of the bracket."""
        return 2 * (self.target - min(2 + self.convexity / 2, Fraction(3))) / self.convexity + 1

    def run(self) -> Fraction:
        """Return the midpoint of the last bracket, as printed."""
        low, high = Fraction(1), self.end
        while high - low > self.accuracy:
            middle = (low + high) / 2
            low, high = (low, middle) if middle > self.target - 1 else (middle, high)
        return (low + high) / 2


def run_bracket() -> Rerun:
    """ε* = log 4 and the exact μ: the bracket ends below the optimum."""
    algorithm = Bisection(Fraction(4), Fraction(2), Fraction(1, 1000))
    return Rerun(
        "fay-2024-algorithm-1-bracket",
        "Algorithm 1, b = 2(e^eps* - v-bar)/mu + 1",
        f"{_PROFILE} with its exact mu = 2, e^eps* = 4, accuracy 1/1000",
        "the bracket [1, b] contains the optimal weight, which is e^eps* - 1 = 3",
        (Found("b, the end of the bracket", algorithm.end), Found("the weight that is returned", algorithm.run())),
    )


def run_midpoint() -> Rerun:
    """A bracket that contains the optimum, and the printed midpoint."""
    algorithm = Bisection(Fraction(9, 2), Fraction(1), Fraction(1, 100))
    weight = algorithm.run()
    return Rerun(
        "fay-2024-proposition-12-feasible-output",
        "Algorithm 1, which returns the midpoint of its last bracket",
        f"{_PROFILE} with mu = 1 (2 is the largest), e^eps* = 9/2, accuracy 1/100; the weight 7/2 is optimal",
        "the weight satisfies (2b): e^psi is at most e^eps* = 9/2",
        (
            Found("b, the end of the bracket", algorithm.end),
            Found("the weight that is returned", weight),
            Found("e^psi of this weight", 1 + weight, loss=True),
        ),
    )
