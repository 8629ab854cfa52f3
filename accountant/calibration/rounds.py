"""Calibration of the repeated exponential mechanism for a known number of rounds: its loss when a record comes is finite."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath

from accountant.amplification import BITS, MOST_EPSILON, round_outward
from accountant.calibration.one_sided import CalibratedPair, largest_epsilon0, largest_probability
from profiles import InvalidArgument, InvalidTarget, Undecided
from profiles.balls import ball, working_precision
from profiles.mechanisms.repeated.interface import to_rounds
from profiles.numbers import round_down_finite, to_target


@dataclass(frozen=True, slots=True)
class RoundsCalibration(CalibratedPair):
    """Claim: a mechanism with ε⁺ = ``epsilon0`` and ε⁻ = ``rounds``·``epsilon0`` is ``target``-DP on a fresh sample of rate ``p``."""

    rounds: int

    @property
    def added(self) -> Fraction | None:
        return _minus(self.rounds, self.epsilon0)


def calibrate_rounds(target: object, rounds: object, *, p: float | None = None) -> RoundsCalibration:
    """Return p and ε₀ for L rounds of the exponential mechanism, whose losses are ε₀ and L·ε₀ (docs/one-sided.md, Theorem C).

        ε₀ = log y for the root y > 1 of y = 1 + e^ε (1 − y^−L),   p = (e^ε − 1)/(y − 1).

    Both directions are then exactly ε, and no pair (p, ε₀) that these losses allow has a larger p·ε₀. One round gives p = 1 and ε₀ = ε;
    many rounds give the pair of :func:`calibrate_one_sided`. Both numbers are rounded down to binary64.
    Proved formally: `rounds_calibrated_is_private`, `rounds_calibration_is_needed`, `best_rounds_calibration` (docs/formal.md).

    ``p``, a public probability above 0, is taken in place of the best one: a larger one has less noise of sampling and a smaller p·ε₀. Then
    ε₀ is the largest that it allows, min(log(1 + (e^ε − 1)/p), −log(1 − (1 − e^−ε)/p)/L).

    ``target`` ε in nats, exact, 0 < ε ≤ 10000. Raises :class:`InvalidTarget`, :class:`InvalidArgument`.

    >>> plan = calibrate_rounds(1, 2)
    >>> round(plan.p, 4), round(float(plan.epsilon0), 4), plan.remove <= 1 and plan.add <= 1
    (0.6885, 1.2516, True)
    """
    epsilon, count = to_target(target, f"(0, {MOST_EPSILON}]"), to_rounds(rounds)
    if p is not None:
        return _calibrate_at(epsilon, count, p)
    guess = largest_epsilon0(epsilon, 1) if count == 1 else _guess(epsilon, count)
    p = largest_probability(epsilon, _minus(count, guess))
    if p == 0:
        raise InvalidTarget("this target needs a sampling probability below every binary64 number; raise it")
    return _certify(RoundsCalibration(epsilon, p, min(guess, largest_epsilon0(epsilon, p)), count))


def _certify(plan: RoundsCalibration) -> RoundsCalibration:
    if not plan.keeps_target():
        raise Undecided("the pair for this target could not be certified; give a target with fewer digits")
    return plan


def _calibrate_at(epsilon: Fraction, rounds: int, p: float) -> RoundsCalibration:
    """Return the plan with a given p. Raises :class:`InvalidArgument` unless 0 < p ≤ 1."""
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p <= 1:
        raise InvalidArgument(f"a sampling probability must lie in (0, 1], but {str(p)[:40]} was found; give a public one")
    most = largest_epsilon0(epsilon, Fraction(p))
    with working_precision(BITS):
        share = -(-ball(epsilon)).expm1() / ball(Fraction(p))
        if bool(share < 1):
            loss = -((-share).log1p()) / rounds
            most = min(most, Fraction(round_down_finite(max(Fraction(0), round_outward(loss, up=False)))))
    return _certify(RoundsCalibration(epsilon, float(p), most, rounds))


def _minus(rounds: int, epsilon0: Fraction) -> Fraction | None:
    """Return L·ε₀, or None (unbounded) where it is beyond what the rules take."""
    return rounds * epsilon0 if rounds * epsilon0 <= MOST_EPSILON else None


def _guess(epsilon: Fraction, rounds: int) -> Fraction:
    """Return a binary64 number near log y. Nothing rests on it: p and ε₀ are certified for whatever it is.

    In t = log y: t = log1p(e^ε·(1 − e^(−Lt))), whose right side is concave and increasing, so that the iteration from above falls to the
    root; Newton's method on the difference, which is convex there, does too, and quadratically.
    """
    with mpmath.workdps(60):
        scale = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        t = mpmath.log1p(scale)
        for _ in range(200):
            decay = mpmath.exp(-rounds * t)
            gap = t - mpmath.log1p(scale * (1 - decay))
            slope = 1 - scale * rounds * decay / (1 + scale * (1 - decay))
            step = gap / slope if slope > 0 else mpmath.mpf(0)
            t -= step
            if abs(step) < t * mpmath.mpf(10) ** -40:
                break
        return Fraction(float(t))
