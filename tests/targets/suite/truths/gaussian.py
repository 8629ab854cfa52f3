"""Truths of Gaussian sums at a δ > 0: closed forms in ball arithmetic, inverted by bisection."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from profiles.balls import ball
from profiles.errors import InvalidArgument
from tests.targets.suite.gaussian import FixedSizeSum, GaussianSums
from tests.targets.suite.noise import STEP
from tests.targets.suite.truths.sides import Directions, Side

_WIDTH = Fraction(1, 10**12)
_LARGEST = Fraction(10**4)
#: Outputs further than so many standard deviations from all means have less than 1e-30 together, which no ε here feels.
_FAR = 12


def at_delta(mechanism: Any, first: tuple[Fraction, ...], second: tuple[Fraction, ...], delta: Fraction) -> Directions:
    """Return the smallest ε at ``delta`` in both directions. Raises :class:`InvalidArgument` for pairs without a derivation.

    Rounding to the grid of releases lowers an ε by at most twice the largest slope of a log density (within reach) times the step, for
    each release.
    """
    if isinstance(mechanism, GaussianSums) and len(first) == 1 and not second:
        shift, rate, count = abs(first[0]), mechanism.rate, mechanism.count
    elif isinstance(mechanism, FixedSizeSum) and first[:1] == (Fraction(1),) and first[1:] == second and set(second) == {Fraction(-1)}:
        shift, rate, count = Fraction(2), Fraction(1, len(first)), 1
    else:
        raise InvalidArgument(
            "a Gaussian truth is known for one more record beside no or equal ones, but another pair was found; derive it"
        )
    slope = (_FAR * mechanism.noise + 2 * shift) / mechanism.noise**2
    mu = ball(shift / mechanism.noise) * arb(count).sqrt()
    loss = 2 * slope * STEP * count
    going, coming = (_solve(partial(curve, mu, ball(rate)), delta).reduced(loss) for curve in (_going, _coming))
    return Directions(going, coming)


def _cdf(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def _going(mu: arb, rate: arb, epsilon: arb) -> arb:
    """δ of q N(μ, 1) + (1 − q) N(0, 1) against N(0, 1): q times that of N(μ, 1) against N(0, 1) at log(1 + (e^ε − 1)/q)."""
    e = 1 + epsilon.expm1() / rate
    loss = e.log()
    return rate * (_cdf(mu / 2 - loss / mu) - e * _cdf(-mu / 2 - loss / mu))


def _coming(mu: arb, rate: arb, epsilon: arb) -> arb:
    """δ of N(0, 1) against the mixture, by the event where the ratio of N(μ, 1) to N(0, 1) is below (1 − e^ε (1 − q))/(e^ε q)."""
    e = epsilon.exp()
    rest = 1 - e * (1 - rate)
    if rest <= 0:
        return arb(0)
    x = (rest / (e * rate)).log() / mu + mu / 2
    return rest * _cdf(x) - e * rate * _cdf(x - mu)


def _solve(curve: Callable[[arb], arb], delta: Fraction) -> Side:
    """Return bounds of the ε ≥ 0 at which a falling curve passes δ."""
    target = ball(delta)
    if curve(arb(0)) <= target:
        return Side.exactly(Fraction(0))
    low, high = Fraction(0), _LARGEST
    while high - low > _WIDTH:
        middle = (low + high) / 2
        value = curve(ball(middle))
        if value > target:
            low = middle
        elif value <= target:
            high = middle
        else:  # closer than the precision tells
            return Side(low, high)
    return Side(low, high)
