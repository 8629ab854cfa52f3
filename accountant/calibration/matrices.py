"""The least noise of a matrix mechanism for a target (ε, δ): that of its event, times the sensitivity, certified as it is then used."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from accountant.calibration.events import CalibratedEvents, find_least_noise
from accountant.compositions.events import Composition
from accountant.compositions.matrix_events import MatrixRelease
from accountant.compositions.queries import BOTH, UPPER, point_at_epsilon, to_delta, to_epsilon, to_gap
from accountant.compositions.toml_format import DeclaredEvents
from accountant.curves.accounting import account
from profiles import Infeasible, InvalidArgument, Undecided
from profiles.numbers import decimal_above, decimal_below

_DIGITS, _GAP = 6, "1e-2"


def find_least_matrix_noise(
    made: MatrixRelease, declared: DeclaredEvents, epsilon: object, delta: object, *, gap: object = _GAP
) -> tuple[CalibratedEvents, MatrixRelease]:
    """Return the least noise of a matrix mechanism for the target, over the norm of a record and rounded up, and its release.

    ``made``: the mechanism with any noise, and ``declared``: the same as declared events. Where the sensitivity is bounded the noise is
    enough, and nothing is said of less. Raises as :func:`accountant.calibration.events.find_least_noise`.
    """
    ratio = find_least_noise(replace(declared, hypotheses=()), epsilon, delta, gap=gap)  # of the event alone, in units of s
    value = decimal_above(ratio.value / made.event["noise_multiplier"] * made.noise, _DIGITS)
    target, most, near = to_epsilon(epsilon), to_delta(delta), to_gap(gap)
    best = made.with_noise(value)
    name = declared.composition.name
    result = account(
        replace(declared, composition=Composition(name, (best.event,)), hypotheses=best.hypotheses),
        epsilon=target,
        gap=near,
        side=BOTH if best.sensitivity.is_exact else UPPER,
    )
    if result.point.upper is None or result.point.upper > most:
        raise Infeasible(f"noise of {name[:60]!r} was asked for, but what was found could not be certified; give a smaller gap")
    beyond = _find_beyond(best, target, most, near) if best.sensitivity.is_exact else None
    return CalibratedEvents("noise", value, beyond, result, target, most), best


def _find_beyond(best: MatrixRelease, epsilon: Fraction, delta: Fraction, gap: Fraction) -> Fraction | None:
    """Return noise a little below at which δ(ε) > δ is proved."""
    for less in (Fraction(1, 500), Fraction(1, 100), Fraction(1, 20)):
        value = decimal_below(best.noise * (1 - less), _DIGITS)
        with suppress(InvalidArgument, Undecided):
            point = point_at_epsilon(Composition("less noise", (best.with_noise(value).event,)), epsilon, gap)
            if point.lower is not None and point.lower > delta:
                return value
    return None


__all__ = ["find_least_matrix_noise"]
