"""How good the private set is: Theorem 1.3 of Ghazi et al. 2024 with every constant, proved in docs/matroids.md (Theorems 3 to 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz

from accountant.applications.running import UtilityBound
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.matroids.facility import FacilityLocation
from accountant.applications.submodular.matroids.matroid import Matroid
from accountant.applications.submodular.matroids.mechanism import PrivateMatroidGreedy
from accountant.applications.submodular.matroids.objective import Objective
from accountant.onesided import calibrate_one_sided
from profiles import InvalidArgument, to_exact
from profiles.hypotheses import Hypothesis
from profiles.numbers import ExactLike, exact_text, round_down_finite, round_up_finite, to_integer
from proofs_check.enclosures import ball, lower_fraction, upper_fraction, working_precision

_BITS = 192
_MOST_DRAWS = 4096


@dataclass(frozen=True, slots=True)
class Parameters:
    """Public constants for a ratio of at least 1 − 1/e − η before the error of draws, with failure β: see :func:`choose_parameters`.

    ``draws``: s, None where the closed form is used.
    """

    rounds: int
    roundings: int
    alpha: Fraction
    draws: int | None = None


def choose_for(
    matroid: Matroid,
    epsilon: ExactLike,
    optimum: float,
    *,
    beta: ExactLike = "0.05",
    objective: Objective | None = None,
    most_rounds: int = 8,
) -> Parameters:
    """Return T, h, α and s for a public guess of the optimum (in users).

    T is the one from 1 to ``most_rounds`` for which the bound in expectation (Theorem 4) is largest: a better ratio ρ_T against less noise,
    max ρ_T·(OPT − kT ln m/(p ε₁)), ε₁ = 0.9 ε₀; where noise wins for all of them (no bound is positive), T = 1, which has the least.
    h is the least number of roundings with τ = (6/β)^{1/h} − 1 ≤ ρ_T/4, so that :func:`bound_utility` is not void by them (at β = 0.05
    that takes 34 to 41; below 11 or 12 it always is). s, for a function without closed form, is the least power of 2 with 2kTλ ≤ 1/4, at
    most 4096. A wrong guess costs utility, one made from the data privacy. Raises :class:`InvalidArgument`, :class:`InvalidTarget`.

    >>> from accountant.applications.submodular.matroids import UniformMatroid
    >>> [choose_for(UniformMatroid(100, 5), epsilon, 1000).rounds for epsilon in ("0.05", "0.5", "5")]
    [1, 2, 7]
    """
    failure = _read_open(beta, "beta")
    to_integer(most_rounds, "the most rounds", 1, 1000)
    if not 0 <= optimum < math.inf:
        raise InvalidArgument(f"the guess of the optimum must be a number of users, but {str(optimum)[:40]} was found; give a public one")
    plan = calibrate_one_sided(epsilon)
    rank, size = max(1, matroid.rank), matroid.size
    noise = rank * math.log(size) / (plan.p * 0.9 * float(plan.epsilon0))

    def expect(rounds: int) -> float:
        return (1 - (1 + 1 / rounds) ** -rounds) * (optimum - rounds * noise)

    rounds = max(range(1, most_rounds + 1), key=expect)
    if expect(rounds) <= 0:
        rounds = 1
    rho = 1 - (1 + 1 / rounds) ** -rounds
    roundings = math.ceil(math.log(6 / float(failure)) / math.log1p(rho / 4))
    draws = None
    if objective is not None and not objective.closed_form:
        draws = 16
        with working_precision(_BITS):
            log = _log(6 / failure)
            while draws < _MOST_DRAWS and not 8 * rank * rounds * _spread(draws, size, rounds, rank * rounds, log) <= 1:
                draws *= 2
    return Parameters(rounds, roundings, Fraction(1, 10), draws)


def choose_parameters(eta: ExactLike, beta: ExactLike) -> Parameters:
    """Return T = ⌈1/η⌉, h = ⌈ln(6/β)/ln(1 + η/4)⌉ and α = η/6, for η and β in (0, 1); :func:`choose_for` looks at ε as well.

    Then ρ_T ≥ 1 − 1/e − 0.24η, τ ≤ η/4 and (1 − α)/(1 + α) ≥ 1 − η/3, hence :func:`bound_utility` has a ratio of at least 1 − 1/e − η
    for the closed form. Source: docs/matroids.md, Theorem 5. Raises :class:`InvalidArgument`.

    >>> choose_parameters("0.3", "0.05")
    Parameters(rounds=4, roundings=67, alpha=Fraction(1, 20), draws=None)
    """
    slack, failure = _read_open(eta, "eta"), _read_open(beta, "beta")
    with working_precision(_BITS):
        roundings = math.ceil(_upper((ball(6 / failure)).log() / ball(slack / 4).log1p()))
    return Parameters(math.ceil(1 / slack), roundings, slack / 6)


def bound_utility(mechanism: PrivateMatroidGreedy, *, beta: ExactLike, users: int, alpha: ExactLike = Fraction(1, 10)) -> UtilityBound:
    """Return ratio and error of ``mechanism`` on at most ``users`` users, except with probability β.

    With ρ = 1 − (1 + 1/T)^−T, b = β/6, N the number of sets of size k, p and ε₁ + ε₂ = ε₀ those of the mechanism, and
    γ = ln(mkT/b)/ε₁ + users·(kT + 1)/2^32, τ = b^(−1/h) − 1, λ as below,

        A = ρ(1 − 2kTλ) − τ                    E = ρkTγ + ln(h/b)/ε₂
        ratio = A(1 − α)/(1 + α)               error = (E + (2 + α)² ln(N/b)/(8α) + A ln(1/b)/(2α))/((1 + α)p).

    λ = 0 for the closed form; for s draws it is the positive root of sλ² = 2L(1/T + λ/3), L = ln(2mN'/b), where N' counts the points that
    greedy can pass. ``alpha`` in (0, 1] is a choice of the analysis: the algorithm does not know it. Where A ≤ 0 the bound is void, with
    the reason.
    Source: docs/matroids.md, Theorem 5. Raises :class:`InvalidArgument`.
    """
    failure, slack = _read_open(beta, "beta"), to_exact(alpha, "alpha")
    if not 0 < slack <= 1:
        raise InvalidArgument(f"alpha must lie in (0, 1], but {exact_text(slack)} was found; give a small positive number")
    size, rank, rounds = mechanism.matroid.size, mechanism.matroid.rank, mechanism.rounds
    steps, h, part = rank * rounds, mechanism.roundings, failure / 6
    if not rank:
        return _trivial(mechanism, failure)
    with working_precision(_BITS):
        greedy, selection = mechanism.budgets
        rho, log = _ratio(rounds), _log(1 / part)
        gamma = (_log(size * steps) + log) / ball(greedy) + _rounding(users, _drift(mechanism, steps))
        error = rho * steps * gamma
        if selection:
            error += (_log(h) + log) / ball(selection) + _rounding(users, 0)
        tau = (log / h).expm1()
        spread = ball(Fraction(0)) if mechanism.draws is None else _spread(mechanism.draws, size, rounds, steps, log)
        kept = rho * (1 - 2 * steps * spread) - tau
        if not kept > 0:
            return UtilityBound(0.0, math.inf, failure, _hypotheses(mechanism), _say_void(rho, tau, spread, h, log))
        width = ball(slack)
        error += (2 + width) ** 2 * (_log(math.comb(size, rank)) + log) / (8 * width) + kept * log / (2 * width)
        error /= (1 + width) * ball(Fraction(mechanism.plan.p))
        return _bound(mechanism, kept * (1 - width) / (1 + width), error, failure)


def bound_expectation(mechanism: PrivateMatroidGreedy, *, users: int, rate: ExactLike = Fraction(1, 5)) -> UtilityBound:
    """Return ratio and error of the expected F_D(S), for the closed form of the multilinear extension.

    ratio = ρκ, κ = r/(e^r − 1); error = κ(ρkT(ln m/ε₁ + users·(kT + 1)/2^32) + ln h/ε₂ + ln N/r)/p. No τ is lost: the mean of the
    best of h roundings is at least that of one. ``rate`` r > 0 is a choice of the analysis.
    Source: docs/matroids.md, Theorem 4. Raises :class:`InvalidArgument` for a mechanism with draws.
    """
    tilt = to_exact(rate, "the rate")
    if mechanism.draws is not None or not 0 < tilt <= 10:
        raise InvalidArgument("the expectation is bounded for the closed form (draws=None) and a rate in (0, 10]; use bound_utility")
    rank, rounds = mechanism.matroid.rank, mechanism.rounds
    if not rank:
        return _trivial(mechanism, None)
    with working_precision(_BITS):
        greedy, selection = mechanism.budgets
        rho, factor = _ratio(rounds), ball(tilt) / ball(tilt).expm1()
        steps = rank * rounds
        error = rho * steps * (_log(mechanism.matroid.size) / ball(greedy) + _rounding(users, _drift(mechanism, steps)))
        if selection:
            error += _log(mechanism.roundings) / ball(selection) + _rounding(users, 0)
        error += _log(math.comb(mechanism.matroid.size, rank)) / ball(tilt)
        return _bound(mechanism, rho * factor, error * factor / ball(Fraction(mechanism.plan.p)), None)


def _say_void(rho: arb, tau: arb, spread: arb, roundings: int, log: arb) -> str:
    """Say why a bound says nothing."""
    if not tau < rho:
        least = math.ceil(_upper(log / rho.log1p()))
        return f"{roundings} roundings are too few for this beta; give at least {least}, and more for a good ratio"
    if spread > 0:
        return "the draws are too few for this rank and number of rounds; give more draws, or fewer rounds"
    return "the number of roundings is too small for this beta; give more"


def _ratio(rounds: int) -> arb:
    """Return ρ_T = 1 − (1 + 1/T)^−T."""
    return ball(1 - Fraction(rounds, rounds + 1) ** rounds)


def _log(value: int | Fraction) -> arb:
    return arb(fmpz(value)).log() if isinstance(value, int) else ball(value).log()


def _rounding(users: int, steps: int) -> arb:
    return ball(Fraction(to_integer(users, "the number of users", 0) * (steps + 1), UNIT))


def _drift(mechanism: PrivateMatroidGreedy, steps: int) -> int:
    """Return by how many units a user's gain may be off, less one: kT, or 4m for facility location in closed form."""
    exact = type(mechanism.function) is FacilityLocation and mechanism.draws is None
    return max(steps, 4 * mechanism.matroid.size) if exact else steps


def _spread(draws: int, size: int, rounds: int, steps: int, log: arb) -> arb:
    """Return λ: by Bernstein, no gain of s draws is off by more than λ·OPT at any of C(m + kT − 1, kT − 1) points."""
    count = _log(2 * size * math.comb(size + steps - 1, steps - 1)) + log
    third = 2 * count / 3
    root: arb = (third + (third**2 + 8 * draws * count / rounds).sqrt()) / (2 * draws)
    return root


def _bound(mechanism: PrivateMatroidGreedy, ratio: arb, error: arb, failure: Fraction | None) -> UtilityBound:
    low = lower_fraction(ratio)
    return UtilityBound(
        round_down_finite(max(Fraction(0), low or Fraction(0))), round_up_finite(_upper(error)), failure, _hypotheses(mechanism)
    )


def _trivial(mechanism: PrivateMatroidGreedy, failure: Fraction | None) -> UtilityBound:
    """The empty set is the only independent one."""
    return UtilityBound(1.0, 0.0, failure, _hypotheses(mechanism))


def _hypotheses(mechanism: PrivateMatroidGreedy) -> tuple[Hypothesis, ...]:
    return (*mechanism.matroid.hypotheses, *mechanism.function.hypotheses, *mechanism.function.utility_hypotheses)


def _upper(value: arb) -> Fraction:
    found = upper_fraction(value)
    if found is None:
        raise InvalidArgument("the bound is too large for its constants; give fewer rounds or a larger epsilon")
    return found


def _read_open(value: ExactLike, what: str) -> Fraction:
    exact = to_exact(value, what)
    if not 0 < exact < 1:
        raise InvalidArgument(f"{what} must lie in (0, 1), but {exact_text(exact)} was found; give a number between")
    return exact


__all__ = ["Parameters", "bound_expectation", "bound_utility", "choose_for", "choose_parameters"]
