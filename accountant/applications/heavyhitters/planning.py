"""Thresholds with an explicit error: what is reported surely, what is never reported, and with which probability (Theorem 2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb
from scipy.stats import binom

from accountant.applications.quality import ReportBound
from accountant.onesided import OneSidedCalibration, calibrate_one_sided
from profiles import InvalidArgument, InvalidNumber, InvalidTarget, Undecided, to_exact
from profiles.balls import ball, upper_fraction, working_precision
from profiles.hypotheses import FEW_FREQUENT
from profiles.numbers import bisect, to_integer, to_number

_BITS, _MOST_BITS = 192, 1536
_TINY, _TIGHT = Fraction(1, 10**30), Fraction(1, 2**40)
_TRIES = 64
_LARGEST = 2**40
_MOST_EPSILON = 100


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """Claim: if every user has at most k pairs (time, item) that more than ``level`` users have, then, with probability at least 1 − beta,
    at all T time steps every reported item has more than ``level`` users, and every item that at least ``error`` users have is reported.

    ``threshold`` is what :class:`HeavyHitterMonitor` takes, ``failure`` a certified upper bound of the probability that the claim fails, at
    most beta. All are functions of public numbers. Proof: docs/heavy-hitters.md, Theorem 2. The privacy does not depend on this hypothesis.
    ``k``, ``epsilon``, ``calibration``, ``steps`` T and ``domain_size`` |Y| are what it was made for: it says nothing about others.
    :func:`plan_threshold` makes it. Numbers for which the claim is not proved are refused: :class:`InvalidArgument`.
    """

    threshold: int
    level: int
    error: int
    failure: Fraction
    k: int
    epsilon: Fraction
    calibration: str
    steps: int
    domain_size: int

    def __post_init__(self) -> None:
        for value, what in ((self.threshold, "the threshold"), (self.error, "the error")):
            to_integer(value, what, 1, 4 * _LARGEST)
        to_integer(self.level, "the level", 0, 4 * _LARGEST)
        _check(self.k, to_exact(self.failure, "the failure probability"), self.steps, self.domain_size)
        law = _DecisionLaw.of(self.k, calibrate_one_sided(self.epsilon, choice=self.calibration), self.steps * self.domain_size)
        proved = self.steps * self.domain_size * sum(law.certified_ends(self.threshold, self.level, self.error))
        if self.failure < proved:
            raise InvalidArgument(
                f"a plan claims to fail with a probability of {float(self.failure):.3g} at most, but {float(proved):.3g} is proved of its "
                "threshold and errors; make plans with plan_threshold"
            )

    def require(self, *, k: int, epsilon: object, calibration: str, steps: int, domain_size: int) -> None:
        """Refuse other parameters than those of the plan; fewer time steps or items are covered by it. Raises :class:`InvalidArgument`."""
        asked = (("k", self.k, k), ("epsilon", self.epsilon, to_exact(epsilon, "epsilon")), ("calibration", self.calibration, calibration))
        for name, planned, given in asked:
            if planned != given:
                raise InvalidArgument(
                    f"the plan is for {name} = {planned}, but {str(given)[:40]} was found; plan the threshold for the numbers that are used"
                )
        for name, planned, given in (("time steps", self.steps, steps), ("items", self.domain_size, domain_size)):
            if given > planned:
                raise InvalidArgument(
                    f"the plan is for at most {planned} {name}, but {given} were found; plan the threshold for all of them"
                )


def state_reports(plan: ThresholdPlan | None, k: int) -> ReportBound:
    """Return what a plan proves of the reports; void where the threshold was given without one."""
    if plan is None:
        return ReportBound(0, 0, k, None, (), "the threshold was given, not planned; plan_threshold proves an error")
    supposed = () if k >= plan.steps * plan.domain_size else (FEW_FREQUENT.about(k=k, level=plan.level),)
    return ReportBound(plan.level, plan.error, k, plan.failure, supposed)


def share_budget(epsilon0: Fraction, k: int, pairs: int) -> Fraction:
    """Return the rate λ = ε₀/min(k, T·|Y|) of the noise: nobody can contribute to more reports than there are pairs (time, item)."""
    return epsilon0 / min(k, pairs)


@dataclass(frozen=True, slots=True)
class _DecisionLaw:
    """The law of one decision: λ, p."""

    rate: Fraction
    p: float

    @classmethod
    def of(cls, k: int, plan: OneSidedCalibration, pairs: int) -> _DecisionLaw:
        return cls(share_budget(plan.epsilon0, k, pairs), plan.p)

    def certified_ends(self, threshold: int, level: int, error: int) -> tuple[Fraction, Fraction]:
        """Return upper bounds of the probabilities that an item of ``level`` users is reported, and one of ``error`` users missed."""
        return self.certified_report(threshold, level), self.certified_miss(threshold, error)

    def report(self, threshold: int, users: int) -> float:
        """Return about P[an item of ``users`` active users is reported]."""
        tilt, rest = self._tilt()
        low = float(binom.logcdf(threshold - 1, users, tilt))
        return float(binom.sf(threshold - 1, users, self.p)) + math.exp(min(0.0, low + users * rest - float(self.rate) * threshold))

    def miss(self, threshold: int, users: int) -> float:
        """Return about P[an item of ``users`` active users is not reported]."""
        tilt, rest = self._tilt()
        low = float(binom.logcdf(threshold - 1, users, tilt))
        return float(binom.cdf(threshold - 1, users, self.p)) - math.exp(min(0.0, low + users * rest - float(self.rate) * threshold))

    def _tilt(self) -> tuple[float, float]:
        mean = 1 + self.p * math.expm1(float(self.rate))
        return self.p * math.exp(float(self.rate)) / mean, math.log(mean)

    def certified_report(self, threshold: int, users: int) -> Fraction:
        """Return an upper bound of E[min(1, e^(−λ(τ − H)))], H ~ Bin(users, p): P[H ≥ τ] + e^(−λτ) m^users P[H' < τ], where
        m = 1 − p + p e^λ and H' ~ Bin(users, p e^λ/m).
        """
        return _enclose(lambda: _at_least(users, ball(Fraction(self.p)), threshold) + self._noise(threshold, users))

    def certified_miss(self, threshold: int, users: int) -> Fraction:
        """Return an upper bound of E[max(0, 1 − e^(−λ(τ − H)))]: P[H < τ] less the second term of :meth:`certified_report`."""
        return _enclose(lambda: _below(users, ball(Fraction(self.p)), threshold) - self._noise(threshold, users))

    def _noise(self, threshold: int, users: int) -> arb:
        p, rate = ball(Fraction(self.p)), ball(self.rate)
        mean = 1 + p * rate.expm1()
        return (users * mean.log() - rate * threshold).exp() * _below(users, p * rate.exp() / mean, threshold)


def _enclose(probability: Callable[[], arb]) -> Fraction:
    """Return an upper bound of a probability, at a precision that makes it tight, or at the largest; 1 where nothing better is known."""
    best, bits = Fraction(1), _BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            value = probability()
            end, width = upper_fraction(value), upper_fraction(value.rad())
        if end is not None:
            best = min(best, max(end, Fraction(0)))
        if end is not None and width is not None and width <= max(end, _TINY) * _TIGHT:
            return best
        bits *= 2
    return best


def plan_threshold(
    k: int,
    epsilon: object,
    beta: object,
    *,
    steps: int,
    domain_size: int,
    level: int | None = None,
    calibration: str = "optimal",
) -> ThresholdPlan:
    """Return a threshold and an error, about the least ones, that are proved for at most ``beta`` (exact, in (0, 1)) of failure.

    ``level`` None: the hypothesis holds at half of the error, as in the paper; else it holds at that level (0: every
    user has at most k items in all). ``steps`` T and ``domain_size`` |Y| are public.
    Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`InvalidTarget`, :class:`Undecided`.

    >>> plan = plan_threshold(2, 1, "0.01", steps=100, domain_size=1000)
    >>> plan.threshold, plan.level, plan.error, plan.failure <= Fraction("0.01")
    (108, 117, 234, True)
    """
    chance = to_exact(beta, "beta")
    _check(k, chance, steps, domain_size)
    if level is not None:
        level = to_integer(level, "the level", 0, _LARGEST, hint="give a number of users")
    plan = calibrate_one_sided(epsilon, choice=calibration)
    if plan.epsilon0 > _MOST_EPSILON:
        raise InvalidTarget(
            f"thresholds are planned for targets of up to {_MOST_EPSILON} nats, but more was asked for; give a smaller target"
        )
    pairs = steps * domain_size
    law = _DecisionLaw.of(k, plan, pairs)
    share = float(chance) / (2 * pairs)
    base = _least(lambda users: law.miss(_threshold(law, users, share), 2 * users) <= share) if level is None else level
    for extra in range(_TRIES):  # floating point proposes, ball arithmetic decides
        used = base + extra if level is None else base
        threshold = _threshold(law, used, share) + (0 if level is None else extra)
        error = 2 * used if level is None else _error(law, threshold, share) + extra
        ends = law.certified_ends(threshold, used, error)
        if pairs * sum(ends) <= chance:
            failure = pairs * sum(ends, Fraction(0))
            return ThresholdPlan(threshold, used, error, failure, k, plan.target, calibration, steps, domain_size)
    raise Undecided("no threshold could be certified for these numbers; give a larger beta or a smaller target")


def theorem_level(k: int, epsilon: object, beta: object, *, steps: int, domain_size: int) -> int:
    """Return τ* = ⌈12 k log(2T|Y|/β)/ε⌉, rounded up: for 0 < ε ≤ 1 the error is at most 2τ* if the hypothesis holds at τ*.

    The paper has 1000 (or 4000) where 12 is proved. Source: docs/heavy-hitters.md, Theorem 2. Raises like :func:`plan_threshold`.

    >>> theorem_level(1, 1, "0.1", steps=100, domain_size=1000)
    175
    """
    target, chance = to_exact(epsilon, "the target epsilon"), to_exact(beta, "beta")
    if not 0 < target <= 1:
        raise InvalidTarget(f"the closed form holds for targets in (0, 1], but {str(target)[:40]} was found; use plan_threshold")
    _check(k, chance, steps, domain_size)
    with working_precision(_BITS):
        level = upper_fraction(12 * k * ball(2 * steps * domain_size / chance).log() / ball(target))
    if level is None:
        raise Undecided("the level is too large to be enclosed; give a larger target")
    return math.ceil(level)


def _check(k: int, chance: Fraction, steps: int, domain_size: int) -> None:
    for value, what in ((k, "k"), (steps, "the number of time steps"), (domain_size, "the size of the domain")):
        to_integer(value, what, 1, _LARGEST)
    to_number(chance, "beta", "(0, 1)", "give a probability", InvalidNumber)


def _threshold(law: _DecisionLaw, level: int, share: float) -> int:
    return _least(lambda threshold: law.report(threshold, level) <= share)


def _error(law: _DecisionLaw, threshold: int, share: float) -> int:
    return _least(lambda users: law.miss(threshold, users) <= share)


def _least(holds: Callable[[int], bool]) -> int:
    """Return the least integer from 1 on at which an increasing condition holds. Raises :class:`Undecided`."""
    high = 1
    while not holds(high):
        high *= 2
        if high > _LARGEST:
            raise Undecided("no threshold below 2^40 users has so small a failure probability; give a larger beta or target")
    return bisect(holds, high // 2, high)[1]


def _at_least(users: int, p: arb, count: int) -> arb:
    """Return P[Bin(users, p) ≥ count] for count ≥ 1, an incomplete beta function."""
    return p.beta_lower(arb(count), arb(users - count + 1), regularized=True) if count <= users else arb(0)


def _below(users: int, p: arb, count: int) -> arb:
    """Return P[Bin(users, p) < count] for count ≥ 1."""
    return (1 - p).beta_lower(arb(users - count + 1), arb(count), regularized=True) if count <= users else arb(1)
