"""The optimal weight of one record under Gaussian noise for a target (ε*, δ*), certified in both directions (docs/gaussian-weights.md).

Statement: with the weight ``lower`` and the selection probability 1/``lower``, the record's pair after T steps on fresh Poisson samples has
δ(ε*) ≤ δ*, when the record goes and when it comes. For T = 1 it is the optimum to all digits: the first crossing lies below ``upper``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import MOST_EPSILON, Composition, Direction
from accountant.weights.gaussian.many_steps import StepBound, compose_pair, find_weight
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from accountant.weights.gaussian.proved import require_gaussian, require_homogeneous
from accountant.weights.gaussian.target import MAX_STEPS, to_target_delta
from accountant.weights.precise import INFINITY, specialise
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.errors import InvalidArgument, Undecided
from profiles.notions import ProfileNotion
from profiles.numbers import decimal_text, exact_text, to_integer, to_target
from profiles.profile import Profile
from profiles.variables import WEIGHT
from proofs_check.certificates import check_text
from proofs_check.prover.pointwise import as_ball, value_at

#: Digits of a weight: with more, a certificate has numbers that are longer than events may have.
MAX_DIGITS = 40
#: Digits of a weight for several steps, which is within about a per cent of the optimum.
MOST_STEP_DIGITS = 6


@dataclass(frozen=True, slots=True)
class GaussianWeight:
    """The largest weight of one record that was certified for δ(``epsilon``) ≤ ``delta`` after ``steps`` steps.

    ``lower`` is feasible; for one step ``upper`` is an infeasible weight just above it, and the optimum lies between. An ``infinite``
    weight means that every w ≥ 1 is feasible: the record may be dropped (q = 0). ``zeta`` is at or above μ(1, x), ``reached`` the δ of the
    weight in each direction, rounded up, as the claims of :meth:`certificate` have it.
    """

    lower: Fraction
    upper: Fraction | None
    digits: int
    infinite: bool
    zeta: Fraction
    epsilon: Fraction
    delta: Fraction
    steps: int
    method: str
    evaluations: int
    reached: Mapping[Direction, Fraction] = field(default_factory=dict)
    claims: tuple[Mapping[str, object], ...] = field(default=(), repr=False, compare=False)
    name: str = ""

    def certificate(self) -> dict[str, object]:
        """Return the certificate that the kernel checks: the record's composition, and its δ in both directions at this weight.

        Raises :class:`InvalidArgument` for a record that loses nothing or may be dropped, of which there is nothing to certify.
        """
        if not self.claims:
            raise InvalidArgument("a certificate was asked for, but the weight is infinite, which no certificate can say; leave it out")
        return make_certificate(compose_record(self.lower, self.zeta, self.steps, self.name), self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form: decimal strings, the weight rounded down to the feasible side."""
        shown = INFINITY if self.infinite else decimal_text(self.lower, self.digits, round_up=False)
        top = None if self.upper is None else decimal_text(self.upper, self.digits, round_up=True)
        return {
            "weight": shown,
            "enclosure": [shown, INFINITY if self.infinite else top],
            "notion": ProfileNotion.GAUSSIAN.value,
            "target_epsilon": exact_text(self.epsilon),
            "target_delta": exact_text(self.delta),
            "steps": self.steps,
            "zeta": decimal_text(self.zeta, max(20, self.digits), round_up=True),
            "delta": {direction.value: decimal_text(value, 12, round_up=True) for direction, value in self.reached.items()},
            "checked_by_kernel": bool(self.claims),
            "method": self.method,
            "evaluations": self.evaluations,
        }


def gaussian_weight(
    profile: Profile, target_epsilon: object, target_delta: object, record: Mapping[str, object], *, steps: object = 1, digits: object = 30
) -> GaussianWeight:
    """Return the largest weight of a record with δ(ε*) ≤ δ* after ``steps`` steps on fresh samples, to ``digits`` significant digits.

    Raises :class:`profiles.Infeasible` (w = 1 exceeds the target already), :class:`profiles.InvalidTarget` (δ* outside (0, 1)),
    :class:`profiles.OtherNotion`, :class:`profiles.InvalidProfile` (not homogeneous in w, a parameter without a number),
    :class:`profiles.InvalidData` (record outside its range), :class:`profiles.Undecided`.

    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})
    >>> gaussian_weight(noisy_sum, 1, "1e-5", {"z": 3}, digits=8).to_json()["weight"]
    '6.9902404'
    """
    count = to_integer(digits, "digits", 1, MAX_DIGITS, hint="choose one in this range")
    times = to_integer(steps, "the number of steps", 1, MAX_STEPS, hint="choose one in this range")
    require_gaussian(profile)
    epsilon, delta = to_target(target_epsilon, f"[1e-300, {MOST_EPSILON}]"), to_target_delta(target_delta)
    require_homogeneous(profile)
    low, high = measure_record(profile, record, count)
    if not high:
        return GaussianWeight(
            Fraction(1), None, count, infinite=True, zeta=high, epsilon=epsilon, delta=delta, steps=times,
            method="the record loses nothing at any weight: mu(1, x) = 0", evaluations=0, name=profile.name,
        )  # fmt: skip
    step = OneStep(epsilon, delta)
    return _one_step(profile.name, step, (low, high), count) if times == 1 else _many_steps(profile.name, step, (low, high), times, count)


def measure_record(profile: Profile, record: Mapping[str, object], digits: int) -> tuple[Fraction, Fraction]:
    """Return numbers at or below and at or above ζ = μ(1, x), equal where it is rational and short."""
    alone = specialise(profile.stand_in(), record)
    bits, size = 4 * digits + 160, 10 ** (digits + 25)
    value = value_at(alone.numeric_epsilon(), {WEIGHT: Fraction(1)}, bits)
    if isinstance(value, Fraction):
        low = high = value
    else:
        with working_precision(bits):
            ends = lower_fraction(as_ball(value)), upper_fraction(as_ball(value))
        if ends[0] is None or ends[1] is None:
            raise Undecided(f"mu(1, x) of {profile.name[:60]!r} could not be enclosed at this record; write mu more simply")
        low, high = max(ends[0], Fraction(0)), ends[1]
    if high.denominator <= size and high.numerator <= size:
        return low, high
    unit = Fraction(1, size) * max(1, 10 ** (len(str(int(high))) - 1))
    return low // unit * unit, -(-high // unit) * unit


def compose_record(weight: Fraction, zeta: Fraction, steps: int, name: str) -> Composition:
    """Return the composition of a record that is selected with probability 1/w and then counts w times, in each of some steps."""
    return compose_pair(weight * zeta, 1 / weight, steps, name)


def state_claims(epsilon: Fraction, reached: Mapping[Direction, Fraction]) -> tuple[dict[str, object], ...]:
    """Return the claims of a certificate that δ at ε is at most these numbers, of one step."""
    return tuple(StepBound(direction, bound, None).claim(epsilon, bound) for direction, bound in reached.items())


def _one_step(name: str, step: OneStep, zeta: tuple[Fraction, Fraction], digits: int) -> GaussianWeight:
    method = "first crossing of the closed form, by two certified signs (docs/gaussian-weights.md, Theorem 5)"
    crossing = find_crossing(step, zeta, digits)
    made = GaussianWeight(
        crossing.lower, crossing.upper, digits, infinite=crossing.upper is None,
        zeta=zeta[1], epsilon=step.epsilon, delta=step.delta, steps=1, method=method, evaluations=crossing.evaluations, name=name,
    )  # fmt: skip
    return made if made.infinite else certify(made, _round_up(step, crossing.lower, zeta[1], digits))


def _round_up(step: OneStep, weight: Fraction, zeta: Fraction, digits: int) -> dict[Direction, Fraction]:
    """Return decimals above δ in both directions, close enough to stay at or below the target."""
    made = {}
    with working_precision(4 * digits + 160):
        for direction, curve in ((Direction.REMOVE, step.delta_remove), (Direction.ADD, step.delta_add)):
            above = upper_fraction(curve(ball(weight), ball(zeta)))
            if above is None:
                raise Undecided("delta could not be enclosed at the weight that was found; ask for fewer digits")
            unit = step.delta / 10 ** (digits + 12)
            made[direction] = min(step.delta, (above // unit + 2) * unit)
    return made


def _many_steps(name: str, step: OneStep, zeta: tuple[Fraction, Fraction], steps: int, digits: int) -> GaussianWeight:
    """Return the weight after several steps; its bounds on δ are those that the kernel computed, so it need not be asked again."""
    shown = min(digits, MOST_STEP_DIGITS)
    weight = find_weight(step, zeta, steps, shown, name)
    reached = {bound.direction: bound.shown(step.delta) for bound in weight.bounds}
    return GaussianWeight(
        weight.weight, None, shown, infinite=False, zeta=zeta[1], epsilon=step.epsilon, delta=step.delta, steps=steps,
        method="search below the first crossing of one step, certified by upper bounds of the kernel on both directions", reached=reached,
        evaluations=weight.evaluations, name=name,
        claims=tuple(bound.claim(step.epsilon, reached[bound.direction]) for bound in weight.bounds),
    )  # fmt: skip


def certify(weight: GaussianWeight, reached: Mapping[Direction, Fraction], claims: tuple[Mapping[str, object], ...] = ()) -> GaussianWeight:
    """Return the weight with the claims of its certificate, which the kernel has accepted. Raises :class:`Undecided` where it did not."""
    made = replace(weight, reached=reached, claims=claims or state_claims(weight.epsilon, reached))
    if any(bound > weight.delta for bound in reached.values()) or not check_text(json.dumps(made.certificate())).accepted:
        raise Undecided("the weight that was found was not accepted by the kernel; ask for fewer digits, or change the target slightly")
    return made
