"""A derived bracket of the optimal weight.

Statement. Let f = exp∘ε be μ-strongly convex on [1, ∞) and differentiable at 1, E = e^ε* − 1, D = e^ε* − f(1). With s = w − 1,
strong convexity gives f(w) ≥ f(1) + f′(1) s + (μ/2) s², so w violates f(w) ≤ 1 + E w as soon as

    (μ/2) s² − c s − D > 0,   c = E − f′(1).

Hence every feasible weight satisfies s ≤ s₊ = (c + √(c² + 2 μ D)) / μ whenever c² + 2 μ D ≥ 0, and there is no feasible weight at all
otherwise. The published Algorithm 1 uses 2(e^ε* − v̄)/μ + 1, one less than what its own proof derives (…/μ + 2); the bracket can then
exclude the root (see ``pdp claims``).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from profiles.balls import ball, upper_fraction, working_precision


def upper_bracket(epsilon_at_1: arb, slope_at_1: arb, mu: Fraction, target: Fraction, *, bits: int = 192) -> Fraction | None:
    """Return a rational b ≥ 1 + s₊: no weight above b is feasible. ``epsilon_at_1``, ``slope_at_1`` enclose ε(1), ε′(1); 0 < ``mu`` ≤ μ.

    None if the enclosures are too wide for a finite bound.
    """
    with working_precision(bits):
        first = epsilon_at_1.exp()
        constrained = ball(target).exp()
        slack = constrained - 1 - slope_at_1 * first
        discriminant = slack * slack + 2 * ball(mu) * (constrained - first)
        if not discriminant >= 0:
            discriminant = arb(0).union(abs(discriminant).upper())
        top = upper_fraction(1 + (slack + discriminant.sqrt()) / ball(mu))
    if top is None:
        return None
    return max(Fraction(1), _round_up(top))


def evaluation_bound(
    epsilon_at_1: arb, slope_at_1: arb, mu: Fraction, target: Fraction, accuracy: Fraction, *, bits: int = 192
) -> int | None:
    """Return how many evaluations of ε Proposition 12, corrected, allows a bisection that narrows the weight to ``accuracy`` α > 0.

    ceil(log2((v − 1)/α)) with v − 1 = 2(e^ε* − v̄)/μ + 1 and v̄ = min{e^ε(1) + μ/2, ε′(1) e^ε(1) + 1}; 0 where the bracket is not longer than
    α. The printed count, log2⌈(e^ε* − v̄)/(α μ)⌉, is too small and may not exist (``pdp claims --explain
    fay-2024-proposition-12-evaluations``). Source: Fay et al. 2024, Proposition 12. None if the enclosures are too wide.
    """
    with working_precision(bits):
        first = epsilon_at_1.exp()
        least = (first + ball(mu) / 2).min(slope_at_1 * first + 1)
        length = upper_fraction((2 * (ball(target).exp() - least) / ball(mu) + 1) / ball(accuracy))
    if length is None:
        return None
    return max(0, math.ceil(length) - 1).bit_length()  # the least k >= 0 with 2^k >= length


def _round_up(value: Fraction, bits: int = 64) -> Fraction:
    """Return a short dyadic number at or above ``value``, so that brackets stay readable and exact."""
    shift = max(0, value.denominator.bit_length() - 1 + bits - max(0, value.numerator.bit_length() - value.denominator.bit_length()))
    shift = min(shift, 4 * bits)
    return Fraction(-((-value.numerator << shift) // value.denominator), 1 << shift)
