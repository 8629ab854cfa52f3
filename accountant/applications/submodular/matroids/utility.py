"""How good the private set is: Theorem 1.3 of Ghazi et al. 2024 with every constant, proved in docs/submodular.md (Theorems 12 to 14)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from accountant.applications.quality import UtilityBound
from accountant.applications.submodular.bounds import to_open
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids.facility import FacilityLocation
from accountant.applications.submodular.matroids.parameters import BITS, enclose_log, enclose_spread, end_above
from profiles import InvalidArgument, to_exact
from profiles.balls import ball, lower_fraction, working_precision
from profiles.hypotheses import Hypothesis
from profiles.numbers import ExactLike, round_down_finite, round_up_finite, to_integer, to_number

if TYPE_CHECKING:
    from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy


def bound_utility(mechanism: PrivateMatroidGreedy, *, beta: ExactLike, users: int, alpha: ExactLike = Fraction(1, 10)) -> UtilityBound:
    """Return ratio and error of ``mechanism`` on at most ``users`` users, except with probability β.

    With ρ = 1 − (1 + 1/T)^−T, b = β/6, N the number of sets of size k, p and ε₁ + ε₂ = ε₀ those of the mechanism, and
    γ = ln(mkT/b)/ε₁ + users·(kT + 1)/2^32, τ = b^(−1/h) − 1, λ as below,

        A = ρ(1 − 2kTλ) − τ                    E = ρkTγ + ln(h/b)/ε₂
        ratio = A(1 − α)/(1 + α)               error = (E + (2 + α)² ln(N/b)/(8α) + A ln(1/b)/(2α))/((1 + α)p).

    λ = 0 for the closed form; for s draws it is the positive root of sλ² = 2L(1/T + λ/3), L = ln(2mN'/b), where N' counts the points that
    greedy can pass. ``alpha`` in (0, 1] is a choice of the analysis: the algorithm does not know it. Where A ≤ 0 the bound is void, with
    the reason.
    Source: docs/submodular.md, Theorem 14. Raises :class:`InvalidArgument`.
    """
    failure, slack = to_open(beta, "beta"), to_number(alpha, "alpha", "(0, 1]", "give a small positive number")
    size, rank, rounds = mechanism.matroid.size, mechanism.matroid.rank, mechanism.rounds
    steps, h, part = rank * rounds, mechanism.roundings, failure / 6
    if not rank:
        return _trivial(mechanism, failure)
    with working_precision(BITS):
        greedy, selection = mechanism.budgets
        rho, log = _ratio(rounds), enclose_log(1 / part)
        gamma = (enclose_log(size * steps) + log) / ball(greedy) + _rounding(users, _drift(mechanism, steps))
        error = rho * steps * gamma
        if selection:
            error += (enclose_log(h) + log) / ball(selection) + _rounding(users, 0)
        tau = (log / h).expm1()
        spread = ball(Fraction(0)) if mechanism.draws is None else enclose_spread(mechanism.draws, size, rounds, steps, log)
        kept = rho * (1 - 2 * steps * spread) - tau
        if not kept > 0:
            return UtilityBound(0.0, math.inf, failure, _hypotheses(mechanism), _say_void(rho, tau, spread, h, log))
        width = ball(slack)
        error += (2 + width) ** 2 * (enclose_log(math.comb(size, rank)) + log) / (8 * width) + kept * log / (2 * width)
        error /= (1 + width) * ball(Fraction(mechanism.plan.p))
        return _bound(mechanism, kept * (1 - width) / (1 + width), error, failure)


def bound_expectation(mechanism: PrivateMatroidGreedy, *, users: int, rate: ExactLike = Fraction(1, 5)) -> UtilityBound:
    """Return ratio and error of the expected F_D(S), for the closed form of the multilinear extension.

    ratio = ρκ, κ = r/(e^r − 1); error = κ(ρkT(ln m/ε₁ + users·(kT + 1)/2^32) + ln h/ε₂ + ln N/r)/p. No τ is lost: the mean of the
    best of h roundings is at least that of one. ``rate`` r > 0 is a choice of the analysis.
    Source: docs/submodular.md, Theorem 13. Raises :class:`InvalidArgument` for a mechanism with draws.
    """
    tilt = to_exact(rate, "the rate")
    if mechanism.draws is not None or not 0 < tilt <= 10:
        raise InvalidArgument("the expectation is bounded for the closed form (draws=None) and a rate in (0, 10]; use bound_utility")
    rank, rounds = mechanism.matroid.rank, mechanism.rounds
    if not rank:
        return _trivial(mechanism, None)
    with working_precision(BITS):
        greedy, selection = mechanism.budgets
        rho, factor = _ratio(rounds), ball(tilt) / ball(tilt).expm1()
        steps = rank * rounds
        error = rho * steps * (enclose_log(mechanism.matroid.size) / ball(greedy) + _rounding(users, _drift(mechanism, steps)))
        if selection:
            error += enclose_log(mechanism.roundings) / ball(selection) + _rounding(users, 0)
        error += enclose_log(math.comb(mechanism.matroid.size, rank)) / ball(tilt)
        return _bound(mechanism, rho * factor, error * factor / ball(Fraction(mechanism.plan.p)), None)


def _say_void(rho: arb, tau: arb, spread: arb, roundings: int, log: arb) -> str:
    """Say why a bound says nothing."""
    if not tau < rho:
        least = math.ceil(end_above(log / rho.log1p()))
        return f"{roundings} roundings are too few for this beta; give at least {least}, and more for a good ratio"
    if spread > 0:
        return "the draws are too few for this rank and number of rounds; give more draws, or fewer rounds"
    return "the number of roundings is too small for this beta; give more"


def _ratio(rounds: int) -> arb:
    """Return ρ_T = 1 − (1 + 1/T)^−T."""
    return ball(1 - Fraction(rounds, rounds + 1) ** rounds)


def _rounding(users: int, steps: int) -> arb:
    return ball(Fraction(to_integer(users, "the number of users", 0) * (steps + 1), UNIT))


def _drift(mechanism: PrivateMatroidGreedy, steps: int) -> int:
    """Return by how many units a user's gain may be off, less one: kT, or 4m for facility location in closed form."""
    exact = type(mechanism.function) is FacilityLocation and mechanism.draws is None
    return max(steps, 4 * mechanism.matroid.size) if exact else steps


def _bound(mechanism: PrivateMatroidGreedy, ratio: arb, error: arb, failure: Fraction | None) -> UtilityBound:
    low = lower_fraction(ratio)
    return UtilityBound(
        round_down_finite(max(Fraction(0), low or Fraction(0))), round_up_finite(end_above(error)), failure, _hypotheses(mechanism)
    )


def _trivial(mechanism: PrivateMatroidGreedy, failure: Fraction | None) -> UtilityBound:
    """The empty set is the only independent one."""
    return UtilityBound(1.0, 0.0, failure, _hypotheses(mechanism))


def _hypotheses(mechanism: PrivateMatroidGreedy) -> tuple[Hypothesis, ...]:
    return (*mechanism.matroid.hypotheses, *mechanism.function.hypotheses, *mechanism.function.utility_hypotheses)
