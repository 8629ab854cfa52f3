"""The repeated exponential mechanism: rounds of it, each choosing candidates and scores by what came out before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from profiles.arrays import Positions
from profiles.hypotheses import IEEE_ROUNDING, Hypothesis
from profiles.mechanisms.repeated.interface import read_candidate, to_candidates, to_function, to_scores
from profiles.mechanisms.repeated.rounds import Ends, Repeated
from profiles.numbers import round_down
from profiles.randomness import BitSource, ExponentialChoice, enclose_exp, measure_gaps

Score = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedExponential(Repeated):
    """Claim (Theorem A of docs/one-sided.md): the output (c_1, ..., c_L) is ε₀-add-DP, that is, P(M(D) ∈ S) ≤ e^ε₀ P(M(D′) ∈ S)
    where D is D′ and one record more, if for every such pair

        Assumption 4.1   q_i(c; D) ≥ q_i(c; D′) for every round and every candidate that is offered in it;
        Assumption 4.2   Σ_i (q_i(c_i; D) − q_i(c_i; D′)) ≤ Δ for every sequence of outputs.

    In round i, ``select((c_1, ..., c_{i−1}))`` returns the candidates and a score function, or None to stop; candidate c is chosen with
    probability proportional to exp(ε₀/Δ · q_i(c; D)). Candidates are a sequence, or an integer n for 0, ..., n − 1; ``score(data)``
    returns one number for each, as an array. Scores are taken as the exact numbers that they are: integers, binary64 numbers or fractions.

    ``rounds`` is the largest number of rounds L, ``epsilon0`` ε₀ (nats), ``sensitivity`` Δ (unit of the scores): exact positive numbers.
    ``arithmetic``: "exact" has the law of the claim for the scores as computed; "binary64" adds Gumbel noise in binary64.

    Source: Ghazi et al. 2024, Algorithm 1 and Theorem 4.3. Raises :class:`InvalidArgument`, :class:`InvalidNumber`; :meth:`run` and the
    others also :class:`InvalidData` for scores that are not finite numbers.

    >>> def select(chosen):
    ...     left = [word for word in ("a", "b", "c") if word not in chosen]
    ...     return left, lambda data: [sum(word in row for row in data) if not chosen else 0 for word in left]
    >>> mechanism = RepeatedExponential(select=select, rounds=2, epsilon0=1, sensitivity=1)
    >>> mechanism.run(["ab", "b", "bc"], np.random.default_rng(4))
    ('b', 'c')
    """

    name: ClassVar[str] = "repeated exponential mechanism"
    source: ClassVar[str] = "Ghazi et al. 2024, Theorem 4.3"
    offers: ClassVar[str] = "candidates and a score function"
    machine: ClassVar[tuple[Hypothesis, ...]] = (IEEE_ROUNDING,)  # Theorem D has bounds of rounding errors

    def assume(self, most: str) -> tuple[str, str]:
        """Return Assumptions 4.1 and 4.2."""
        first = "Assumption 4.1: adding a record lowers no score of any candidate that select offers (for the scores as they are computed)"
        second = (
            f"Assumption 4.2: adding a record raises the scores of the chosen candidates by at most {most} in total over the rounds, "
            "whatever is chosen (for the scores as they are computed)"
        )
        return first, second

    def offer(self, previous: tuple[Any, ...]) -> tuple[Any, Score] | None:
        """Return candidates and score function of the round after ``previous``, None where the mechanism stops."""
        offered = self.ask(previous)
        if offered is None:
            return None
        score = to_function(offered[1], "a score function")
        return to_candidates(offered[0]), score

    def draw(self, offered: tuple[Any, Score], data: Any, rng: Any, digits: BitSource | None, count: int) -> Positions:
        """Return the positions of ``count`` chosen candidates, shape (count,)."""
        candidates, score = offered
        scores = to_scores(score(data), len(candidates))
        if digits is None:
            return draw_gumbel(scores, self.rate, rng, count)
        choice = ExponentialChoice(scores, self.rate)
        return np.array([choice.draw(digits) for _ in range(count)])

    def weigh(self, offered: tuple[Any, Score], data: Any, bits: int) -> Iterator[tuple[int, Ends]]:
        """Return every position with the probability that its candidate is chosen."""
        candidates, score = offered
        choice = ExponentialChoice(to_scores(score(data), len(candidates)), self.rate)
        ends = [enclose_exp(choice.exponent(index), bits) for index in range(len(candidates))]
        below, above = sum(lo for lo, _ in ends), sum(hi for _, hi in ends)
        for index, (lo, hi) in enumerate(ends):
            # lo/(lo + the others' upper ends) is a lower end, as w/(w + v) grows in w and falls in v.
            yield index, (Fraction(lo, lo + above - hi) if lo else Fraction(0), Fraction(hi, hi + below - lo))

    def name_answer(self, offered: tuple[Any, Score], number: int) -> Any:
        return read_candidate(offered[0], number)


def draw_gumbel(scores: np.ndarray[Any, Any], rate: Fraction, rng: np.random.Generator, size: int) -> Positions:
    """Return ``size`` indices, each the largest entry of λ(q − max q) + Gumbel noise, shape (size,), in binary64.

    In exact real arithmetic the index c has probability e^(λq_c) / Σ e^(λq_b): P(argmax = c) = ∫ e^−(g − x_c) e^(−Σ_b e^−(g − x_b)) dg.
    Subtracting the largest score first leaves the law alone and prevents overflow: exponents are at most 0, and −∞ is never chosen. In
    binary64 it is another law: Gumbel noise made of 53 bits lies in (−4, 37), so that a candidate which is further behind is never chosen,
    and then no finite ε holds. λ is rounded down. Source: Gumbel 1954; Mironov 2012 for what floating point gives away.
    """
    exponents = measure_gaps(scores) * -round_down(rate)
    block = max(1, min(size, 2**20 // len(exponents)))
    places = np.empty(size, dtype=np.intp)
    for start in range(0, size, block):
        stop = min(size, start + block)
        places[start:stop] = (rng.gumbel(size=(stop - start, len(exponents))) + exponents).argmax(axis=1)
    return places
