"""Repeated above-threshold: in each round, whether a value and exponential noise exceed a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from profiles.arrays import Booleans
from profiles.errors import InvalidData
from profiles.mechanisms.repeated.interface import to_function
from profiles.mechanisms.repeated.rounds import Ends, Repeated
from profiles.numbers import to_exact
from profiles.randomness import BitSource, draw_exp, enclose_exp

Value = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedThreshold(Repeated):
    """Claim (Theorem B of docs/one-sided.md): the answers (o_1, ..., o_L) are ε₀-add-DP, that is, P(M(D) ∈ S) ≤ e^ε₀ P(M(D′) ∈ S)
    where D is D′ and one record more, if for every such pair

        Assumption 5.1   h_i(D) ≥ h_i(D′) for every round;
        Assumption 5.2   Σ over rounds with o_i = ⊤ of (h_i(D) − h_i(D′)) ≤ Δ for every sequence of answers.

    In round i, ``select((o_1, ..., o_{i−1}))`` returns a function h_i of the data and a threshold τ_i, or None to stop; the answer is
    ⊤ (True) where h_i(D) + θ_i > τ_i with θ_i ~ Exp(ε₀/Δ), that is with probability min(1, e^(−ε₀/Δ·(τ_i − h_i(D)))), independently.
    Nothing else of the noise is released, so that exact arithmetic draws the answer by this probability.
    Removing a record has no finite ε: ⊥ can have probability 0 with the record only. Subsample before use.

    ``rounds`` is the largest number of rounds L, ``epsilon0`` ε₀ (nats), ``sensitivity`` Δ (unit of the values): exact positive numbers.
    ``arithmetic``: "exact" has the law of the claim for the values as computed; "binary64" adds noise in binary64.

    Source: Ghazi et al. 2024, Algorithm 2 and Theorem 5.3. Raises :class:`InvalidArgument`, :class:`InvalidNumber`; :meth:`run` and the
    others also :class:`InvalidData` for values that are not finite numbers.

    >>> def select(answers):
    ...     return (lambda data: sum(row == len(answers) for row in data)), 2
    >>> RepeatedThreshold(select=select, rounds=2, epsilon0=8, sensitivity=1).run([0, 0, 0, 1], np.random.default_rng(4))
    (True, False)
    """

    name: ClassVar[str] = "repeated above-threshold"
    source: ClassVar[str] = "Ghazi et al. 2024, Theorem 5.3"
    offers: ClassVar[str] = "a function of the data set and a threshold"

    def assume(self, most: str) -> tuple[str, str]:
        """Return Assumptions 5.1 and 5.2."""
        first = "Assumption 5.1: adding a record lowers no value that select asks for (for the values as they are computed)"
        second = (
            f"Assumption 5.2: adding a record raises the values whose answer is above by at most {most} in total over the rounds, "
            "whatever the answers (for the values as they are computed)"
        )
        return first, second

    def offer(self, previous: tuple[bool, ...]) -> tuple[Value, Fraction] | None:
        """Return value function and threshold of the round after ``previous``, None where the mechanism stops."""
        offered = self.ask(previous)
        if offered is None:
            return None
        return to_function(offered[0], "a function"), to_exact(offered[1], "a threshold")

    def exponent(self, value: object, threshold: Fraction) -> Fraction:
        """Return γ = ε₀/Δ·(τ − h)⁺ with P(⊤) = e^−γ. Raises :class:`InvalidData` where h is not a finite real number."""
        return compute_exponent(value, threshold, self.rate)

    def draw(self, offered: tuple[Value, Fraction], data: Any, rng: Any, digits: BitSource | None, count: int) -> Booleans:
        """Return ``count`` answers: True for ⊤, False for ⊥, shape (count,)."""
        gamma = self.exponent(offered[0](data), offered[1])
        return _draw_noisy(gamma, rng, count) if digits is None else np.array([draw_exp(gamma, digits) for _ in range(count)])

    def weigh(self, offered: tuple[Value, Fraction], data: Any, bits: int) -> tuple[tuple[int, Ends], ...]:
        """Return 1 for ⊤ and 0 for ⊥ with their probabilities."""
        lo, hi = (Fraction(end, 1 << bits) for end in enclose_exp(self.exponent(offered[0](data), offered[1]), bits))
        return (1, (lo, hi)), (0, (1 - hi, 1 - lo))

    def name_answer(self, offered: object, number: int) -> bool:  # noqa: ARG002
        return bool(number)


def compute_exponent(value: object, threshold: Fraction, rate: Fraction) -> Fraction:
    """Return λ·(τ − h)⁺ as an exact number. Raises :class:`InvalidData` where h is not a finite real number."""
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise InvalidData("a value that is compared with a threshold must be finite, but NaN or an infinite one was found; correct it")
    return rate * max(threshold - to_exact(value, "a value"), Fraction(0))


def _draw_noisy(gamma: Fraction, rng: Any, size: int) -> Booleans:
    """Return whether standard exponential noise exceeds γ, shape (size,), in binary64; γ = 0 is exceeded always."""
    try:
        least = float(gamma)
    except OverflowError:
        least = math.inf
    return np.asarray(rng.standard_exponential(size) >= least) if least else np.ones(size, dtype=np.bool_)
