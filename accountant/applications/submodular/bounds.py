"""How good a greedy selection is at least: Theorems 4.5 and 1.2 of Ghazi et al. 2024 with explicit constants, for noise that is
fresh in every round and for noise that each candidate keeps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
from flint import arb

from accountant.amplification import round_outward
from accountant.applications.quality import UtilityBound
from accountant.calibration.one_sided import CalibratedPair
from accountant.onesided import calibrate_one_sided
from profiles import InvalidArgument
from profiles.balls import ball, working_precision
from profiles.hypotheses import MONOTONE_BOUNDED, SUBMODULAR
from profiles.numbers import ExactLike, round_down_finite, round_up_finite, to_integer, to_number

#: ``fresh``: an exponential mechanism in every round; ``kept``: each candidate draws noise once and keeps it.
Noise = Literal["fresh", "kept"]

_BITS = 128
#: Sums of at most 10^7 binary64 numbers of one sign are off by less than this share.
_OUTWARD = 1 + 1e-8

#: What the bounds for a cardinality constraint take for granted of the function, which they do not see.
_SUPPOSED = (MONOTONE_BOUNDED, SUBMODULAR)


def bound_one_sided(candidates: int, k: int, epsilon0: ExactLike, beta: ExactLike, *, noise: Noise = "fresh") -> UtilityBound:
    """Return the bound of :class:`OneSidedGreedy` for monotone submodular functions f_x with values in [0, 1].

    ratio = c = 1 − (1 − 1/k)^k ≥ 1 − 1/e; error = the smaller of c·k·ln(mk/β)/ε₀ and (c·k·(ln m + 1) + √(2 v ln(1/β)) + ln(1/β))/ε₀ with
    v = Σ_{j<k} (1 − 1/k)^{2j}. The second removes the factor ln(k/β). With kept noise: the smaller of c·k·ln(m/β)/ε₀ and
    (M + √(2 V ln(1/β)) + ln(1/β))/ε₀ with M = Σ_{i≤k} A_i/i + A_k ln(m/k), V = Σ_{i≤k} (A_i/i)² + A_k²/k, A_i = k (1 − (1 − 1/k)^i).
    Source: docs/submodular.md, Theorems 5 and 9 (Ghazi et al. 2024, Theorem 4.5, without constants). ``epsilon0`` in nats, ``beta`` in
    (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> bound = bound_one_sided(1000, 10, "1", "0.01")
    >>> round(bound.ratio, 4), round(bound.error, 1), round(bound_one_sided(1000, 10, "1", "0.01", noise="kept").error, 1)
    (0.6513, 62.6, 52.7)
    """
    candidates, k = read_size(candidates, k)
    spent, risk = to_positive(epsilon0, "epsilon0"), to_open(beta, "beta")
    with working_precision(_BITS):
        share, error = _lose(candidates, k, spent, risk, noise)
        return UtilityBound(end_below(share), end_above(error), risk, _SUPPOSED)


def expect_loss(candidates: int, k: int, noise: Noise) -> float:
    """Return what k choices lose in expectation by their noise, in units of 1/ε₀ users and rounded up: c·k·(ln m + 1) or the M above."""
    candidates, k = read_size(candidates, k)
    with working_precision(_BITS):
        if noise == "kept":
            return end_above(_kept_sums(candidates, k)[0])
        return end_above((1 - ball(1 - Fraction(1, k)) ** k) * k * (arb(candidates).log() + 1))


def bound_utility(
    candidates: int, k: int, epsilon: ExactLike, *, beta: ExactLike, eta: ExactLike, calibration: str = "optimal", noise: Noise = "fresh"
) -> UtilityBound:
    """Return the bound of :class:`PrivateGreedy` with this calibration and noise; :func:`bound_plan` has the formula.

    ``PrivateGreedy(...).bound`` is that of a mechanism as it was made. 0 < ``eta`` < 1 − 1/e.
    Raises :class:`InvalidArgument`, :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> bound = bound_utility(1000, 10, "1", beta="0.01", eta="0.1")
    >>> round(bound.ratio, 4), round(bound.error), round(bound_utility(1000, 10, "1", beta="0.01", eta="0.1", noise="kept").error)
    (0.5321, 517, 507)
    """
    return bound_plan(candidates, k, calibrate_one_sided(epsilon, choice=calibration), beta=beta, eta=eta, noise=noise)


def bound_plan(candidates: int, k: int, plan: CalibratedPair, *, beta: ExactLike, eta: ExactLike, noise: Noise = "fresh") -> UtilityBound:
    """Return the bound of k choices with the ε₀ of a plan on a Poisson sample of its rate p, for monotone submodular f_x in [0, 1].

    ratio = 1 − 1/e − η; error = (s·E + ln C(m, k) + (1 + c) ln(3/β))/(p (e^s − 1)) with e^s = c/ratio, c = 1 − (1 − 1/k)^k, and E the
    error of :func:`bound_one_sided` at β/3 on the sample. Without a sample (p = 1) the bound is that of :func:`bound_one_sided`.
    Source: docs/submodular.md, Theorem 6; Ghazi et al. 2024, Theorem 1.2. Raises like :func:`bound_utility`.
    """
    candidates, k = read_size(candidates, k)
    risk, loss = to_open(beta, "beta"), to_positive(eta, "eta")
    with working_precision(_BITS):
        ratio = 1 - ball(Fraction(-1)).exp() - ball(loss)
        if not bool(ratio > 0):
            raise InvalidArgument(f"eta must be below 1 - 1/e = 0.632..., but {str(eta)[:40]} was found; give a smaller one")
        if plan.p == 1:
            return bound_one_sided(candidates, k, plan.epsilon0, risk, noise=noise)
        share, inner = _lose(candidates, k, plan.epsilon0, risk / 3, noise)
        growth = share / ratio - 1
        sets = (arb(candidates + 1)).lgamma() - arb(k + 1).lgamma() - arb(candidates - k + 1).lgamma()
        error = ((growth + 1).log() * inner + sets + (1 + share) * ball(3 / risk).log()) / (ball(Fraction(plan.p)) * growth)
        return UtilityBound(end_below(ratio), end_above(error), risk, _SUPPOSED)


def _lose(candidates: int, k: int, epsilon0: Fraction, beta: Fraction, noise: Noise) -> tuple[arb, arb]:
    """Return the ratio c and the error of a run without a sample."""
    decay = ball(1 - Fraction(1, k))
    share = 1 - decay**k
    risk = ball(1 / beta).log()
    if noise == "kept":
        every_round = share * k * (ball(candidates / beta)).log()
        mean, squares = _kept_sums(candidates, k)
        together = mean + (2 * squares * risk).sqrt() + risk
    else:
        squares = arb(1) if k == 1 else (1 - decay ** (2 * k)) / (1 - decay**2)
        every_round = share * k * (ball(candidates * k / beta)).log()
        together = share * k * (arb(candidates).log() + 1) + (2 * squares * risk).sqrt() + risk
    return share, every_round.min(together) / ball(epsilon0)


def _kept_sums(candidates: int, k: int) -> tuple[arb, arb]:
    """Return upper bounds of M and V: sums in binary64, moved outward by more than they can be off."""
    steps = np.arange(1, k + 1, dtype=np.float64)
    powers = -np.expm1(steps * np.log1p(-1.0 / k)) if k > 1 else np.ones(1)
    means = k * powers / steps
    last = ball(Fraction(float(k * powers[-1] * _OUTWARD)))
    mean = ball(Fraction(float(means.sum() * _OUTWARD))) + last * ball(Fraction(candidates, k)).log()
    return mean, ball(Fraction(float((means**2).sum() * _OUTWARD))) + last**2 / k


def read_size(candidates: int, k: int) -> tuple[int, int]:
    """Return m and k from 1 to m, of NumPy as well, as integers of Python. Raises :class:`InvalidArgument`."""
    size, chosen = to_integer(candidates, "the number of candidates", 1), to_integer(k, "k", 1)
    if chosen > size:
        raise InvalidArgument(f"{chosen} candidates were asked for, but there are {size}; lower k")
    return size, chosen


def to_positive(value: ExactLike, what: str) -> Fraction:
    """Return a positive exact number. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    return to_number(value, what, "(0, inf)", "give a positive number")


def to_open(value: ExactLike, what: str) -> Fraction:
    """Return an exact number in (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    return to_number(to_positive(value, what), what, "(0, 1)", "give a number between")


def end_above(value: arb) -> float:
    """Return a binary64 number that is not below any point of a ball."""
    return round_up_finite(round_outward(value))


def end_below(value: arb) -> float:
    """Return a binary64 number that is not above any point of a ball."""
    return round_down_finite(round_outward(value, up=False))
