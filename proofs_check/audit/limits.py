"""Exact binomial (Clopper–Pearson) limits, and the lower bound on ε that right and wrong guesses prove. SciPy proposes, Arb decides."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb
from scipy.stats import beta, binom

from profiles.balls import ball, working_precision
from profiles.errors import InvalidArgument, Undecided
from profiles.numbers import to_number

_BITS = 128
_STEPS = 200


def lower_limit(successes: int, trials: int, alpha: Fraction) -> float:
    """Return a binary64 number r ≤ the Clopper–Pearson lower limit: P(Bin(trials, r) ≥ successes) ≤ ``alpha``, certified.

    With P(Bin(K, r) ≥ X) = I_r(X, K − X + 1), the regularised incomplete beta function. 0 for no successes. SciPy's quantile is taken where
    Arb confirms it, and moved down otherwise. Source: Clopper and Pearson 1934. Raises :class:`InvalidArgument`, :class:`Undecided`.

    >>> lower_limit(20, 20, Fraction(1, 100))  # 0.01 ** (1 / 20) = 0.79432823472428...
    0.7943282347242815
    """
    _check(successes, trials, alpha)
    if successes == 0:
        return 0.0
    proposed = float(beta.ppf(float(alpha), successes, trials - successes + 1))
    gap = 2.0**-52
    with working_precision(_BITS):
        level = ball(alpha)
        for _ in range(_STEPS):
            tail = arb(proposed).beta_lower(arb(successes), arb(trials - successes + 1), regularized=1) if 0 < proposed < 1 else None
            if proposed <= 0:
                return 0.0
            if tail is not None and tail <= level:
                return proposed
            proposed, gap = min(proposed, 1 - 2.0**-53) * (1 - gap), 2 * gap
    raise Undecided(f"the binomial limit for {successes} of {trials} could not be certified; use fewer samples or a larger error")


def upper_limit(successes: int, trials: int, alpha: Fraction) -> float:
    """Return a binary64 number r ≥ the Clopper–Pearson upper limit: P(Bin(trials, r) ≤ successes) ≤ ``alpha``, certified. 1 for all.

    Raises :class:`InvalidArgument`, :class:`Undecided`.
    """
    _check(successes, trials, alpha)
    if successes == trials:
        return 1.0
    proposed = float(beta.isf(float(alpha), successes + 1, trials - successes))
    gap = 2.0**-52
    with working_precision(_BITS):
        level = ball(alpha)
        for _ in range(_STEPS):
            if proposed >= 1:
                return 1.0
            if proposed > 0 and (1 - arb(proposed)).beta_lower(arb(trials - successes), arb(successes + 1), regularized=1) <= level:
                return proposed
            proposed, gap = max(proposed, 5e-324) * (1 + gap), 2 * gap
    raise Undecided(f"the binomial limit for {successes} of {trials} could not be certified; use fewer samples or a larger error")


def quantile_above(trials: int, probability: Fraction, alpha: Fraction) -> int:
    """Return a number g with P(Bin(trials, probability) > g) ≤ ``alpha``, certified, and as small as SciPy finds. 0 where probability is 0.

    Raises :class:`InvalidArgument`, :class:`Undecided`.
    """
    _check(0, trials, alpha)
    if probability == 0:
        return 0
    g = max(0, int(binom.isf(float(alpha), trials, float(probability))) - 1)
    with working_precision(_BITS):
        level, chance = ball(alpha), ball(probability)
        for _ in range(_STEPS):
            if g >= trials or chance.beta_lower(arb(g + 1), arb(trials - g), regularized=1) <= level:
                return min(g, trials)
            g += 1
    raise Undecided(f"the quantile of {trials} trials could not be certified; use fewer samples or a larger error")


def epsilon_of_chance(chance: float) -> float:
    """Return a binary64 number ≤ log(r/(1 − r)), and at least 0: the ε below which nobody is right with probability r (Lemma 1).

    >>> epsilon_of_chance(0.5), epsilon_of_chance(0.75) <= math.log(3)
    (0.0, True)
    """
    if chance <= 0.5:
        return 0.0
    with working_precision(_BITS):
        value = (arb(chance) / (1 - arb(chance))).log()
        return max(0.0, math.nextafter(float((value.mid() - value.rad()).mid()), -math.inf))


def epsilon_of_guesses(right: int, wrong: int, alpha: Fraction, *, outputs: int = 0, slack: Fraction = Fraction(0)) -> float:
    """Return a lower confidence bound on ε in nats at level ``alpha`` from right and wrong guesses of the hidden label.

    Theorem 1 of docs/audit.md, and Theorem 2 where ``slack`` (δ′) is not 0: then a tenth of the error pays for the number of guesses that
    δ can have given away among ``outputs`` (all outputs looked at, passes included). Raises :class:`InvalidArgument`, :class:`Undecided`.
    """
    if slack == 0:
        return epsilon_of_chance(lower_limit(right, right + wrong, alpha))
    if outputs < right + wrong:
        raise InvalidArgument(f"the number of outputs must be at least that of guesses, but {outputs} was found; count passes as well")
    given = quantile_above(outputs, slack, alpha / 10)
    kept = max(0, right - given)
    return epsilon_of_chance(lower_limit(kept, kept + wrong, alpha * Fraction(9, 10)))


def _check(successes: int, trials: int, alpha: Fraction) -> None:
    if not 0 <= successes <= trials:
        raise InvalidArgument(f"successes must lie between 0 and {trials}, but {successes} was found; count them again")
    to_number(alpha, "the error", "(0, 1)", "give a confidence between 0 and 1")
