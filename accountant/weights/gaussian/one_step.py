"""One sampled Gaussian step: δ(w) in closed form, and the first weight at which it crosses a target (docs/gaussian-weights.md).

The record's pair is (1 − 1/w) N(0, 1) + (1/w) N(wζ, 1) against N(0, 1). δ(w) rises and then falls (Theorem 5), so that a feasible weight
below an infeasible one has the first crossing between the two (Corollary 5.1): what is returned rests on two certified signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint
from flint import arb

from profiles.balls import ball, working_precision
from profiles.errors import Infeasible, Undecided
from profiles.numbers import decimal_text

#: Newton steps and doublings on the way to the crossing; about thirty are needed for the hardest targets.
_MOST_STEPS = 400
#: How often precision is doubled for a sign, and units of the last digit by which an end may be moved outward.
_DOUBLINGS, _UNITS = 4, 4


@dataclass(frozen=True, slots=True)
class OneStep:
    """δ at ``epsilon`` > 0 (nats) of one step, against the target ``delta`` in (0, 1), as functions of the weight w and of ζ > 0."""

    epsilon: Fraction
    delta: Fraction

    def delta_remove(self, w: arb, zeta: arb) -> arb:
        """Return δ where the record goes: (Φ(u) − a Φ(v))/w (Theorem 4); it is never below the one where it comes."""
        a, u, v = self._ends(w, zeta)
        return (_phi(u) - a * _phi(v)) / w

    def delta_add(self, w: arb, zeta: arb) -> arb:
        """Return δ where the record comes: e^ε (b Φ(s/μ + μ/2) − Φ(s/μ − μ/2))/w, or 0 where b ≤ 0 (Theorem 4)."""
        growth = ball(self.epsilon).exp()
        b = 1 + w * (-ball(self.epsilon)).expm1()
        if b <= 0:
            return arb(0)
        if not b > 0:
            return arb(0).union(1 / w)
        mu = w * zeta
        middle, half = b.log() / mu, mu / 2
        return growth * (b * _phi(middle + half) - _phi(middle - half)) / w

    def steepness(self, w: arb, zeta: arb) -> arb:
        """Return g with δ′(w) = g/w² (Theorem 5)."""
        _, u, v = self._ends(w, zeta)
        return w * zeta * (-u * u / 2).exp() / (2 * arb.pi()).sqrt() - (_phi(u) - _phi(v))

    def is_feasible(self, w: Fraction, zeta: Fraction, bits: int) -> bool | None:
        """Tell whether δ is certified to be at most the target in both directions (True), or to be above it (False)."""
        for doubling in range(_DOUBLINGS):
            with working_precision(bits << doubling):
                target, weight, size = ball(self.delta), ball(w), ball(zeta)
                removed = self.delta_remove(weight, size)
                if removed > target:
                    return False
                if removed <= target and self.delta_add(weight, size) <= target:
                    return True
        return None

    def _ends(self, w: arb, zeta: arb) -> tuple[arb, arb, arb]:
        growth, mu = w * ball(self.epsilon).expm1(), w * zeta
        middle, half = growth.log1p() / mu, mu / 2
        return 1 + growth, half - middle, -half - middle


def _phi(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


@dataclass(frozen=True, slots=True)
class Crossing:
    """``lower`` is a feasible weight, ``upper`` an infeasible one above it, None where every w ≥ 1 is feasible; found in so many steps."""

    lower: Fraction
    upper: Fraction | None
    evaluations: int


def find_crossing(step: OneStep, zeta: tuple[Fraction, Fraction], digits: int) -> Crossing:
    """Return decimals of ``digits`` significant digits around the first crossing, for a ζ between the two ends of ``zeta`` > 0.

    ``lower`` is feasible for the upper end of ζ, hence for both (Theorem 6); ``upper`` is infeasible for the lower end.

    Raises :class:`Infeasible` where w = 1 is certified to be infeasible, :class:`Undecided` where a sign could not be certified.

    >>> found = find_crossing(OneStep(Fraction(1), Fraction(1, 100000)), (Fraction("0.1"), Fraction("0.1")), 5)
    >>> float(found.lower), float(found.upper)
    (6.9902, 6.9903)
    """
    bits, one = 4 * digits + 96, Fraction(1)
    first = step.is_feasible(one, zeta[1], bits)
    if first is False:
        raise Infeasible(
            f"a weight of at least 1 was asked for at epsilon = {decimal_text(step.epsilon, 6, round_up=False)} and delta = "
            f"{decimal_text(step.delta, 6, round_up=False)}, but w = 1 already exceeds them; raise the target, or the noise"
        )
    if first is None:
        raise _undecided(one)
    with working_precision(bits):
        near, evaluations = _approach(step, ball(zeta[1]))
        guess = None if near is None else Fraction(int((near * 2**bits).mid().floor().unique_fmpz()), 2**bits)
    if guess is None:
        return Crossing(one, None, evaluations)
    unit = Fraction(10) ** (len(str(int(guess))) - digits)
    base = guess // unit
    below = (max(one, (base - k) * unit) for k in range(_UNITS))
    above = ((base + k) * unit for k in range(1, _UNITS))
    lower = next((w for w in below if step.is_feasible(w, zeta[1], bits)), None)
    upper = next((w for w in above if w > 1 and step.is_feasible(w, zeta[0], bits) is False), None)
    if lower is None or upper is None:
        raise _undecided(guess)
    return Crossing(lower, upper, evaluations)


def _undecided(near: Fraction) -> Undecided:
    return Undecided(
        f"the first crossing of delta was asked for, but no sign could be certified near w = {decimal_text(near, 12, round_up=False)}; "
        "change the target slightly, or ask for fewer digits"
    )


def _approach(step: OneStep, zeta: arb) -> tuple[arb | None, int]:
    """Return a weight near the crossing, by Newton's method for log δ in log w; None where δ is certified never to pass its target."""
    target, low, high, w = ball(step.delta), arb(1), None, arb(1)
    close = arb(2) ** (20 - flint.ctx.prec)
    for count in range(1, _MOST_STEPS):
        delta, steepness = step.delta_remove(w, zeta), step.steepness(w, zeta)
        jump = None if not steepness > 0 or not delta > 0 else (target / delta).log() * w * delta / steepness
        if jump is not None and abs(jump.mid()) <= close:
            return w, count
        if delta.mid() > target:
            high = w
        elif high is None and steepness <= 0:
            high = _find_excess(step, zeta, low, w)
            if high is None:
                return None, count
        else:
            low = w
        moved = None if jump is None else (w * jump.mid().exp()).mid()
        if high is None:
            w = moved if moved is not None and moved < 4 * w else 4 * w
        elif high - low <= close * low:
            return low, count
        else:
            w = moved if moved is not None and low < moved < high else (low * high).sqrt().mid()
    return low, _MOST_STEPS


def _find_excess(step: OneStep, zeta: arb, low: arb, high: arb) -> arb | None:
    """Return a weight between ``low`` and ``high``, around whose peak δ passes its target; None where it is certified not to.

    Between two weights δ is at most the curve at the ends that make it larger, (1/low) H_a(N(high ζ, 1) ‖ N(0, 1)) with a of ``low``
    (Theorem 6). Below ``low`` it rises, or is so bounded; above ``high`` it falls (Theorem 5).
    """
    target = ball(step.delta)
    for _ in range(_MOST_STEPS):
        risen = low <= 1 or step.steepness(low, zeta) >= 0 or step.delta_remove(arb(1), zeta * low) <= target
        if risen and step.steepness(high, zeta) <= 0 and step.delta_remove(low, zeta * high / low) <= target:
            return None
        middle = (low * high).sqrt().mid()
        if step.delta_remove(middle, zeta).mid() > target:
            return middle
        low, high = (middle, high) if step.steepness(middle, zeta).mid() > 0 else (low, middle)
    raise _undecided(Fraction(int(high.mid().floor().unique_fmpz() or 1)))
