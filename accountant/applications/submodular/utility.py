"""How good the private greedy algorithm's answer is at least: Theorems 4.5 and 1.2 of Ghazi et al. 2024 with explicit constants."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from accountant.amplification import round_outward
from accountant.applications.submodular.interface import check_count
from accountant.onesided import calibrate_one_sided
from profiles import InvalidArgument, to_exact
from profiles.numbers import ExactLike, round_down_finite, round_up_finite
from proofs_check.enclosures import ball, working_precision

_BITS = 128


@dataclass(frozen=True, slots=True)
class UtilityBound:
    """With probability at least 1 − ``beta``: F(T) ≥ ``ratio``·OPT − ``error`` for the answer T, over all data sets.

    OPT is the largest F of k candidates. ``ratio`` is rounded down, ``error`` (in users) up.
    """

    ratio: float
    error: float
    beta: Fraction

    def value(self, optimum: float) -> float:
        """Return the value that is guaranteed where OPT is at least ``optimum``; 0 where the bound is vacuous."""
        return max(0.0, self.ratio * optimum - self.error)


def one_sided_bound(candidates: int, k: int, epsilon0: ExactLike, beta: ExactLike) -> UtilityBound:
    """Return the bound of :class:`OneSidedGreedy` for monotone submodular functions f_x with values in [0, 1].

    ratio = c = 1 − (1 − 1/k)^k ≥ 1 − 1/e; error = the smaller of c·k·ln(mk/β)/ε₀ and (c·k·(ln m + 1) + √(2 v ln(1/β)) + ln(1/β))/ε₀ with
    v = Σ_{j<k} (1 − 1/k)^{2j}. The second removes the factor ln(k/β). Source: docs/submodular.md, Theorem 5 (Ghazi et al. 2024, Theorem
    4.5, without constants). ``epsilon0`` in nats, ``beta`` in (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> bound = one_sided_bound(1000, 10, "1", "0.01")
    >>> round(bound.ratio, 4), round(bound.error, 1)
    (0.6513, 62.6)
    """
    _check(candidates, k)
    spent, risk = read_positive(epsilon0, "epsilon0"), read_probability(beta, "beta")
    with working_precision(_BITS):
        share, error = _one_sided(candidates, k, spent, risk)
        return UtilityBound(end_below(share), end_above(error), risk)


def utility_bound(
    candidates: int, k: int, epsilon: ExactLike, *, beta: ExactLike, eta: ExactLike, calibration: str = "optimal"
) -> UtilityBound:
    """Return the bound of :class:`PrivateGreedy` for monotone submodular functions f_x with values in [0, 1].

    ratio = 1 − 1/e − η; error = (s·E + ln C(m, k) + (1 + c) ln(3/β))/(p (e^s − 1)) with e^s = c/ratio, c = 1 − (1 − 1/k)^k, and E the
    error of :func:`one_sided_bound` at β/3 on the sample. Source: docs/submodular.md, Theorem 6; Ghazi et al. 2024, Theorem 1.2.
    0 < ``eta`` < 1 − 1/e. Raises :class:`InvalidArgument`, :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> bound = utility_bound(1000, 10, "1", beta="0.01", eta="0.1")
    >>> round(bound.ratio, 4), round(bound.error)
    (0.5321, 517)
    """
    _check(candidates, k)
    plan = calibrate_one_sided(epsilon, choice=calibration)
    risk, loss = read_probability(beta, "beta"), read_positive(eta, "eta")
    with working_precision(_BITS):
        ratio = 1 - ball(Fraction(-1)).exp() - ball(loss)
        if not bool(ratio > 0):
            raise InvalidArgument(f"eta must be below 1 - 1/e = 0.632..., but {str(eta)[:40]} was found; give a smaller one")
        share, inner = _one_sided(candidates, k, plan.epsilon0, risk / 3)
        growth = share / ratio - 1
        sets = (arb(candidates + 1)).lgamma() - arb(k + 1).lgamma() - arb(candidates - k + 1).lgamma()
        error = ((growth + 1).log() * inner + sets + (1 + share) * ball(3 / risk).log()) / (ball(Fraction(plan.p)) * growth)
        return UtilityBound(end_below(ratio), end_above(error), risk)


def _one_sided(candidates: int, k: int, epsilon0: Fraction, beta: Fraction) -> tuple[arb, arb]:
    decay = ball(1 - Fraction(1, k))
    share = 1 - decay**k
    squares = arb(1) if k == 1 else (1 - decay ** (2 * k)) / (1 - decay**2)
    risk = ball(1 / beta).log()
    every_round = share * k * (ball(candidates * k / beta)).log()
    together = share * k * (arb(candidates).log() + 1) + (2 * squares * risk).sqrt() + risk
    return share, every_round.min(together) / ball(epsilon0)


def _check(candidates: int, k: int) -> None:
    if check_count(k, "k", 1) > check_count(candidates, "the number of candidates", 1):
        raise InvalidArgument(f"{k} candidates were asked for, but there are {candidates}; lower k")


def read_positive(value: ExactLike, what: str) -> Fraction:
    """Return a positive exact number. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = to_exact(value, what)
    if exact <= 0:
        raise InvalidArgument(f"{what} must be positive, but {str(value)[:40]} was found; give a positive number")
    return exact


def read_probability(value: ExactLike, what: str) -> Fraction:
    """Return an exact number in (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = read_positive(value, what)
    if exact >= 1:
        raise InvalidArgument(f"{what} must be below 1, but {str(value)[:40]} was found; give a probability")
    return exact


def end_above(value: arb) -> float:
    """Return a binary64 number that is not below any point of a ball."""
    return round_up_finite(round_outward(value))


def end_below(value: arb) -> float:
    """Return a binary64 number that is not above any point of a ball."""
    return round_down_finite(round_outward(value, up=False))
