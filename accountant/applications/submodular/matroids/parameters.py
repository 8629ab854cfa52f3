"""The public constants of private greedy under a matroid: how many rounds, roundings and draws (docs/submodular.md, section 15)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz

from accountant.applications.submodular.bounds import to_open
from accountant.applications.submodular.matroids.matroid import Matroid
from accountant.applications.submodular.matroids.objective import Objective
from accountant.onesided import calibrate_one_sided
from profiles import InvalidArgument, to_exact
from profiles.balls import ball, upper_fraction, working_precision
from profiles.numbers import ExactLike, to_integer

BITS = 192
_MOST_DRAWS = 4096


@dataclass(frozen=True, slots=True)
class Parameters:
    """Public constants for a ratio of at least 1 − 1/e − η before the error of draws, with failure β: see :func:`choose_parameters`.

    ``draws``: s, None where the closed form is used. ``expected``: what each T was judged by, see :func:`choose_for`.
    """

    rounds: int
    roundings: int
    alpha: Fraction
    draws: int | None = None
    expected: tuple[tuple[int, float], ...] = ()


def choose_for(
    matroid: Matroid,
    epsilon: ExactLike,
    optimum: float,
    *,
    beta: ExactLike = "0.05",
    objective: Objective | None = None,
    most_rounds: int = 8,
    calibration: str = "optimal",
) -> Parameters:
    """Return T, h, α and s for a public guess of the optimum (in users).

    T is the one from 1 to ``most_rounds`` with the largest stated value ρ_T·s_T, ρ_T = 1 − (1 + 1/T)^−T, where

        s_T = k/(k + (m − k) e^−x),  x = p ε₁ OPT/(kT),  ε₁ = 0.9 ε₀,

    is the probability that a step picks one of k elements that serve OPT/k users each, of their own, where the m − k others serve nobody:
    more rounds have a better ratio, and smaller steps are lost in the noise. T = 1 where the guess is 0.
    h is the least number of roundings with τ = (6/β)^{1/h} − 1 ≤ ρ_T/4, so that :func:`bound_utility` is not void by them (at β = 0.05
    that takes 34 to 41; below 11 or 12 it always is). s, for a function without closed form, is the least power of 2 with 2kTλ ≤ 1/4, at
    most 4096. A wrong guess costs utility, one made from the data privacy. Raises :class:`InvalidArgument`, :class:`InvalidTarget`.

    >>> from accountant.applications.submodular.matroids import UniformMatroid
    >>> [choose_for(UniformMatroid(100, 5), epsilon, 1000).rounds for epsilon in ("0.02", "0.1", "5")]
    [1, 2, 8]
    """
    failure = to_open(beta, "beta")
    to_integer(most_rounds, "the most rounds", 1, 1000)
    if to_exact(optimum, "the guess of the optimum") < 0:
        raise InvalidArgument(f"the guess of the optimum must be a number of users, but {str(optimum)[:40]} was found; give a public one")
    optimum = float(to_exact(optimum))
    plan = calibrate_one_sided(epsilon, choice=calibration)
    rank, size = max(1, matroid.rank), matroid.size
    gain = plan.p * 0.9 * float(plan.epsilon0) * optimum / rank

    def expect(rounds: int) -> float:
        return _ratio(rounds) * rank / (rank + max(0, size - rank) * math.exp(-min(gain / rounds, 700.0)))

    expected = tuple((rounds, expect(rounds)) for rounds in range(1, most_rounds + 1))
    rounds = max(expected, key=lambda item: item[1])[0] if optimum else 1
    draws = None
    if objective is not None and not objective.closed_form:
        draws = 16
        with working_precision(BITS):
            log = enclose_log(6 / failure)
            while draws < _MOST_DRAWS and not 8 * rank * rounds * enclose_spread(draws, size, rounds, rank * rounds, log) <= 1:
                draws *= 2
    return Parameters(rounds, count_roundings(rounds, failure), Fraction(1, 10), draws, expected)


def count_roundings(rounds: int, failure: Fraction) -> int:
    """Return the least h with (6/β)^{1/h} − 1 ≤ ρ_T/4."""
    return math.ceil(math.log(6 / float(failure)) / math.log1p(_ratio(rounds) / 4))


def _ratio(rounds: int) -> float:
    return 1 - (1 + 1 / rounds) ** -rounds


def choose_parameters(eta: ExactLike, beta: ExactLike) -> Parameters:
    """Return T = ⌈1/η⌉, h = ⌈ln(6/β)/ln(1 + η/4)⌉ and α = η/6, for η and β in (0, 1); :func:`choose_for` looks at ε as well.

    Then ρ_T ≥ 1 − 1/e − 0.24η, τ ≤ η/4 and (1 − α)/(1 + α) ≥ 1 − η/3, hence :func:`bound_utility` has a ratio of at least 1 − 1/e − η
    for the closed form. Source: docs/submodular.md, Theorem 14. Raises :class:`InvalidArgument`.

    >>> chosen = choose_parameters("0.3", "0.05")
    >>> chosen.rounds, chosen.roundings, chosen.alpha
    (4, 67, Fraction(1, 20))
    """
    slack, failure = to_open(eta, "eta"), to_open(beta, "beta")
    with working_precision(BITS):
        roundings = math.ceil(end_above((ball(6 / failure)).log() / ball(slack / 4).log1p()))
    return Parameters(math.ceil(1 / slack), roundings, slack / 6)


def enclose_spread(draws: int, size: int, rounds: int, steps: int, log: arb) -> arb:
    """Return λ: by Bernstein, no gain of s draws is off by more than λ·OPT at any of C(m + kT − 1, kT − 1) points."""
    count = enclose_log(2 * size * math.comb(size + steps - 1, steps - 1)) + log
    third = 2 * count / 3
    root: arb = (third + (third**2 + 8 * draws * count / rounds).sqrt()) / (2 * draws)
    return root


def enclose_log(value: int | Fraction) -> arb:
    """Return a ball that contains log(value), of an integer or a fraction above 0."""
    return arb(fmpz(value)).log() if isinstance(value, int) else ball(value).log()


def end_above(value: arb) -> Fraction:
    """Return an upper end. Raises :class:`InvalidArgument` where there is none."""
    end = upper_fraction(value)
    if end is None:
        raise InvalidArgument("the bound is too large for its constants; give fewer rounds or a larger epsilon")
    return end
