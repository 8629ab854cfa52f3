"""How good a private answer is at least: Theorems 4.5 and 1.2 of Ghazi et al. 2024 with explicit constants; and what the same algorithm
costs without sampling, by the approximate-DP analysis after Gupta et al. 2010, with constants derived here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from accountant.amplification import round_outward
from accountant.applications.submodular.greedy import OneSidedGreedy
from accountant.guarantees import AnyGuarantee
from accountant.onesided import calibrate_one_sided, prove_losses
from profiles import InvalidArgument, Undecided, to_exact
from profiles.hypotheses import MONOTONE_BOUNDED, SUBMODULAR, TWO_VALUES, Hypothesis
from profiles.numbers import ExactLike, bisect, round_down_finite, round_up_finite, to_integer
from proofs_check.enclosures import ball, working_precision

_BITS = 128


#: What the bounds for a cardinality constraint take for granted of the function, which they do not see.
_SUPPOSED = (MONOTONE_BOUNDED, SUBMODULAR)


@dataclass(frozen=True, slots=True)
class UtilityBound:
    """F(T) ≥ ``ratio``·OPT − ``error`` for the answer T, over all data sets, except with probability ``failure`` (None: in expectation).

    OPT is the largest F of a set that the constraint allows. ``ratio`` is rounded down, ``error`` (in users) up. ``hypotheses``: what is
    taken for granted of the constraint and the function.
    """

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]

    @property
    def beta(self) -> Fraction | None:
        """The probability of failure."""
        return self.failure

    def value(self, optimum: float) -> float:
        """Return the value that is guaranteed where OPT is at least ``optimum``; 0 where the bound is vacuous."""
        return max(0.0, self.ratio * optimum - self.error)


def bound_one_sided(candidates: int, k: int, epsilon0: ExactLike, beta: ExactLike) -> UtilityBound:
    """Return the bound of :class:`OneSidedGreedy` for monotone submodular functions f_x with values in [0, 1].

    ratio = c = 1 − (1 − 1/k)^k ≥ 1 − 1/e; error = the smaller of c·k·ln(mk/β)/ε₀ and (c·k·(ln m + 1) + √(2 v ln(1/β)) + ln(1/β))/ε₀ with
    v = Σ_{j<k} (1 − 1/k)^{2j}. The second removes the factor ln(k/β). Source: docs/submodular.md, Theorem 5 (Ghazi et al. 2024, Theorem
    4.5, without constants). ``epsilon0`` in nats, ``beta`` in (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> bound = bound_one_sided(1000, 10, "1", "0.01")
    >>> round(bound.ratio, 4), round(bound.error, 1)
    (0.6513, 62.6)
    """
    _check(candidates, k)
    spent, risk = to_positive(epsilon0, "epsilon0"), to_probability(beta, "beta")
    with working_precision(_BITS):
        share, error = _one_sided(candidates, k, spent, risk)
        return UtilityBound(end_below(share), end_above(error), risk, _SUPPOSED)


def bound_utility(
    candidates: int, k: int, epsilon: ExactLike, *, beta: ExactLike, eta: ExactLike, calibration: str = "optimal"
) -> UtilityBound:
    """Return the bound of :class:`PrivateGreedy` for monotone submodular functions f_x with values in [0, 1].

    ratio = 1 − 1/e − η; error = (s·E + ln C(m, k) + (1 + c) ln(3/β))/(p (e^s − 1)) with e^s = c/ratio, c = 1 − (1 − 1/k)^k, and E the
    error of :func:`bound_one_sided` at β/3 on the sample. Source: docs/submodular.md, Theorem 6; Ghazi et al. 2024, Theorem 1.2.
    0 < ``eta`` < 1 − 1/e. Raises :class:`InvalidArgument`, :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> bound = bound_utility(1000, 10, "1", beta="0.01", eta="0.1")
    >>> round(bound.ratio, 4), round(bound.error)
    (0.5321, 517)
    """
    _check(candidates, k)
    plan = calibrate_one_sided(epsilon, choice=calibration)
    risk, loss = to_probability(beta, "beta"), to_positive(eta, "eta")
    with working_precision(_BITS):
        ratio = 1 - ball(Fraction(-1)).exp() - ball(loss)
        if not bool(ratio > 0):
            raise InvalidArgument(f"eta must be below 1 - 1/e = 0.632..., but {str(eta)[:40]} was found; give a smaller one")
        share, inner = _one_sided(candidates, k, plan.epsilon0, risk / 3)
        growth = share / ratio - 1
        sets = (arb(candidates + 1)).lgamma() - arb(k + 1).lgamma() - arb(candidates - k + 1).lgamma()
        error = ((growth + 1).log() * inner + sets + (1 + share) * ball(3 / risk).log()) / (ball(Fraction(plan.p)) * growth)
        return UtilityBound(end_below(ratio), end_above(error), risk, _SUPPOSED)


def approximate_dp(epsilon0: ExactLike, delta: ExactLike, *, coverage: bool = False) -> float:
    """Return an ε, rounded up, such that :class:`OneSidedGreedy` with ``epsilon0`` is (ε, δ)-differentially private without sampling.

    Removing a user costs ε₀. Adding one costs, outside an event of probability δ,
    (e^ε₀ − 1)·ln(1/δ) for coverage (f_x in {0, 1}), and (e^ε₀ − 1)·t − ε₀ with t e^(1 − t) = δ, t ≥ 1, for every monotone f_x in [0, 1].
    ε is the larger of the two directions. Source: docs/submodular.md, Theorem 7; Gupta et al. 2010 have the order ε₀·log(1/δ).
    Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> approximate_dp("0.1", "1e-6", coverage=True), approximate_dp("0.1", "1e-6")
    (1.4529899290649055, 1.7603074538849712)
    """
    spent, risk = to_positive(epsilon0, "epsilon0"), to_probability(delta, "delta")
    with working_precision(_BITS):
        growth = ball(spent).expm1()
        if coverage:
            return end_above((growth * ball(1 / risk).log()).max(ball(spent)))
        return end_above((growth * ball(_root(risk)) - ball(spent)).max(ball(spent)))


def approximate_guarantee(mechanism: OneSidedGreedy, delta: ExactLike, *, coverage: bool = False) -> AnyGuarantee:
    """Return the guarantee of ``mechanism`` in both directions, with δ when a user comes. Source: docs/submodular.md, Theorem 7."""
    before = mechanism.guarantee
    minus = Fraction(approximate_dp(mechanism.epsilon0, delta, coverage=coverage))
    return prove_losses(
        before.subject,
        mechanism.epsilon0,
        minus,
        theorem="docs/submodular.md, Theorems 1 and 7, after Gupta et al. 2010",
        algorithm=mechanism,
        hypotheses=(*before.hypotheses, *((TWO_VALUES,) if coverage else ())),
        delta_minus=delta,
        unit=before.unit,
    )


def epsilon0_for(epsilon: ExactLike, delta: ExactLike, *, coverage: bool = False) -> float:
    """Return an ε₀, rounded down, with ``approximate_dp(epsilon0, delta) ≤ epsilon``: what the predecessor may spend.

    For coverage ε₀ = min(ε, ln(1 + ε/ln(1/δ))). Raises like :func:`approximate_dp`.
    """
    target, risk = to_positive(epsilon, "epsilon"), to_probability(delta, "delta")
    if coverage:
        with working_precision(_BITS):
            return end_below((ball(target) / ball(1 / risk).log()).log1p().min(ball(target)))
    most = min(float(target), 700.0)
    return bisect(lambda spent: Fraction(approximate_dp(spent, risk)) > target, 0.0, most, lambda lo, hi: hi - lo <= most * 2.0**-60)[0]


def _one_sided(candidates: int, k: int, epsilon0: Fraction, beta: Fraction) -> tuple[arb, arb]:
    decay = ball(1 - Fraction(1, k))
    share = 1 - decay**k
    squares = arb(1) if k == 1 else (1 - decay ** (2 * k)) / (1 - decay**2)
    risk = ball(1 / beta).log()
    every_round = share * k * (ball(candidates * k / beta)).log()
    together = share * k * (arb(candidates).log() + 1) + (2 * squares * risk).sqrt() + risk
    return share, every_round.min(together) / ball(epsilon0)


def _check(candidates: int, k: int) -> None:
    if to_integer(k, "k", 1) > to_integer(candidates, "the number of candidates", 1):
        raise InvalidArgument(f"{k} candidates were asked for, but there are {candidates}; lower k")


def to_positive(value: ExactLike, what: str) -> Fraction:
    """Return a positive exact number. Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = to_exact(value, what)
    if exact <= 0:
        raise InvalidArgument(f"{what} must be positive, but {str(value)[:40]} was found; give a positive number")
    return exact


def to_probability(value: ExactLike, what: str) -> Fraction:
    """Return an exact number in (0, 1). Raises :class:`InvalidArgument`, :class:`InvalidNumber`."""
    exact = to_positive(value, what)
    if exact >= 1:
        raise InvalidArgument(f"{what} must be below 1, but {str(value)[:40]} was found; give a probability")
    return exact


def end_above(value: arb) -> float:
    """Return a binary64 number that is not below any point of a ball."""
    return round_up_finite(round_outward(value))


def end_below(value: arb) -> float:
    """Return a binary64 number that is not above any point of a ball."""
    return round_down_finite(round_outward(value, up=False))


def _root(delta: Fraction) -> Fraction:
    """Return a t ≥ 1 with t e^(1 − t) ≤ δ, a little above the root."""
    aim = math.log(delta.denominator) - math.log(delta.numerator)
    t = 1 + aim + math.sqrt(2 * aim)
    for _ in range(50):  # t - 1 - log t = aim: the iteration falls to the root from above
        t = 1 + math.log(t) + aim
    for step in range(60):
        found = Fraction(t * (1 + 1e-12 * 2**step))
        if bool((ball(found) - 1 - ball(found).log()) >= ball(1 / delta).log()):
            return found
    raise Undecided(f"no bound was found for delta = {str(delta)[:40]}; give a smaller delta")
