"""Matrix mechanisms as events: one Gaussian release of Cx + z, or the sampled turns of the groups of a banded C (docs/batches.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from accountant.compositions.batches import Sampling, draw_batches
from accountant.compositions.events import MOST_BITS, Event, make_event
from accountant.compositions.matrices import StrategyMatrix
from accountant.compositions.sensitivity import Participation, Sensitivity, bound_sensitivity, square_columns
from profiles import InvalidArgument, decimal_text, exact_text
from profiles.hypotheses import (
    BANDS_GROUPED,
    FIXED_ORDER,
    MATRIX_BOUNDED,
    MATRIX_MECHANISM,
    PUBLIC_DIVISOR,
    RECORD_NORM,
    STEPS_APART,
    Hypothesis,
)
from profiles.numbers import decimal_above, decimal_below, exact_root, root_above, root_below, shorten, to_integer, to_number
from profiles.protection import Neighbors, Protection

#: Digits of σ/s, which is rounded down where it is no short number.
_DIGITS = 20
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class MatrixRelease:
    """A matrix mechanism as an event whose noise is counted in units of s, with what that rests on, and s² from both sides.

    ``noise``: σ, the deviation of z over the norm of a record. ``others``: what it rests on beside that it is this mechanism.
    """

    event: Event
    noise: Fraction
    sensitivity: Sensitivity
    matrix: StrategyMatrix
    others: tuple[Hypothesis, ...]

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What it rests on."""
        text, known = exact_text(self.sensitivity.upper), self.sensitivity.is_exact
        square = f"s^2 {'=' if known else '<='} {text}"
        about = {
            "event": "gaussian event" if self.event.sampling_probability == 1 else "gaussian event in all its uses",
            "ratio": exact_text(self.event["noise_multiplier"]),
            "square": square if len(text) <= 40 else f"s^2 <= {decimal_text(self.sensitivity.upper, 30, round_up=True)}",
            "noise": exact_text(self.noise),
            "matrix": self.matrix.describe(),
        }
        return ((MATRIX_MECHANISM if known else MATRIX_BOUNDED).about(**about), *self.others)

    @property
    def realised(self) -> Event | None:
        """Where s is bounded, not known, the event of its lower end, which some data realise."""
        if self.sensitivity.is_exact:
            return None
        return replace(self.event, parameters=(("noise_multiplier", _divide(self.noise, self.sensitivity.lower, up=True)),))

    def with_noise(self, noise: object) -> MatrixRelease:
        """Return the same with another σ. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`."""
        deviation = _to_noise(noise)
        ratio = _divide(deviation, self.sensitivity.upper)
        return replace(self, event=replace(self.event, parameters=(("noise_multiplier", ratio),)), noise=deviation)

    def to_json(self) -> dict[str, Any]:
        """Return the matrix and what is known of s² as JSON types, exactly."""
        ends = {"lower": exact_text(self.sensitivity.lower), "upper": exact_text(self.sensitivity.upper)}
        size = {"steps": self.matrix.steps, "bands": self.matrix.bands, "sha256": self.matrix.digest}
        return {**size, "sensitivity_squared": ends, "exact": self.sensitivity.is_exact, "worst_steps": [*self.sensitivity.steps]}

    def describe(self) -> str:
        """Return what is known of s, as one line."""
        low, high = self.sensitivity.lower, self.sensitivity.upper
        worst = [*self.sensitivity.steps]
        shown = ", ".join(map(str, worst if len(worst) <= 8 else [*worst[:5], "...", worst[-1]]))
        at, how = f"a unit in step{'s' if len(worst) > 1 else ''} {shown}", f"{self.sensitivity.how}; computed from C, not by the kernel"
        text = exact_text(high)
        if not self.sensitivity.is_exact:
            ends = f"{decimal_text(low, _SHOWN, round_up=False)} <= s^2 <= {decimal_text(high, _SHOWN, round_up=True)}"
            return f"sensitivity: {ends}; {at} has the lower end ({how})"
        known = text if len(text) <= 24 else f"{decimal_text(high, _SHOWN, round_up=True)}, known exactly and shown rounded up"
        return f"sensitivity: s^2 = {known}: that of {at} ({how})"


def release(
    matrix: StrategyMatrix, noise: object, participation: Participation, protection: Protection, rate: object | None
) -> MatrixRelease:
    """Return :func:`release_matrix`, or with a sampling probability ``rate`` :func:`release_bands` of ``participation.apart`` groups."""
    if rate is None:
        return release_matrix(matrix, noise, participation, protection)
    if participation.most is not None or participation.fixed_order:
        given = "a fixed order" if participation.fixed_order else "a number of participations"
        raise InvalidArgument(
            f"{given} was given with a sampling probability, but groups that are drawn from have as many turns as fit; leave it out"
        )
    return release_bands(matrix, noise, participation.apart, rate, protection)


def release_matrix(matrix: StrategyMatrix, noise: object, participation: Participation, protection: Protection) -> MatrixRelease:
    """Return the event of y = Cx + z for one unit that takes part as is said: N(s/σ, 1) against N(0, 1), 2s where a unit is replaced.

    ``noise``: σ, the deviation of z over the norm to which each unit is clipped in each step. Where s is bounded, not known, the event is
    that of the bound. Source: docs/batches.md, Theorem 10. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.
    """
    deviation = _to_noise(noise)
    bound = bound_sensitivity(matrix, participation)
    ratio = _divide(deviation, bound.upper)
    batches = draw_batches(Sampling.NONE, protection.neighbors) if protection.neighbors is Neighbors.REPLACE_ONE else None
    event = make_event("gaussian", {"noise_multiplier": ratio}, batches=batches)
    unit = protection.unit.word
    if participation.fixed_order:
        apart = FIXED_ORDER.about(unit=unit, steps=matrix.steps, apart=participation.apart)
    else:
        apart = STEPS_APART.about(unit=unit, most=participation.fit(matrix.steps), steps=matrix.steps, apart=participation.apart)
    of_sums = (RECORD_NORM.about(unit=unit), PUBLIC_DIVISOR) if batches is None else ()  # else the event supposes it
    return MatrixRelease(event, deviation, bound, matrix, (apart, *of_sums))


def release_bands(matrix: StrategyMatrix, noise: object, bands: object, rate: object, protection: Protection) -> MatrixRelease:
    """Return the event of a C of at most ``bands`` bands, each step of which draws from one of so many groups, in turn, with ``rate``.

    These are ⌈t/bands⌉ uses of a Poisson sampled Gaussian whose shift is the longest column over σ, each with a fresh coin. Source:
    docs/batches.md, Theorem 13. Raises :class:`InvalidArgument` (wider bands; a unit that is replaced, of which nothing is proved).
    """
    deviation, probability = _to_noise(noise), to_number(rate, "the sampling probability", "(0, 1]", "give a probability")
    groups = to_integer(bands, "the number of groups", 1, hint="give that of the bands", any_form=True)
    if protection.neighbors is Neighbors.REPLACE_ONE:
        raise InvalidArgument(
            "samples of the groups of a banded matrix were asked for where a unit is replaced by another, which may be in another group, "
            "but no bound is proved; ask for zero-out or add-remove, or account without samples"
        )
    if matrix.bands > groups:
        raise InvalidArgument(
            f"a matrix of {matrix.bands} bands was found for {groups} groups, whose turns share rows of it; give a min_separation of at "
            f"least {matrix.bands}, or leave out the sampling probability"
        )
    squares = square_columns(matrix)
    worst = squares.index(max(squares))
    longest = squares[worst] * matrix.unit**2
    bound = Sensitivity(longest, longest, (worst + 1,), "one column is the longest")
    ratio, turns = _divide(deviation, longest), -(-matrix.steps // groups)
    event = make_event("gaussian", {"noise_multiplier": ratio}, sampling_probability=probability, count=turns)
    unit = protection.unit.word
    grouped = BANDS_GROUPED.about(unit=unit, bands=groups, steps=matrix.steps)
    return MatrixRelease(event, deviation, bound, matrix, (grouped, RECORD_NORM.about(unit=unit), PUBLIC_DIVISOR))


def _to_noise(noise: object) -> Fraction:
    deviation = to_number(noise, "the noise of a matrix mechanism", "[1e-12, 1e12]", "give its deviation over the norm of a record")
    if max(deviation.numerator.bit_length(), deviation.denominator.bit_length()) > MOST_BITS:
        raise InvalidArgument("the noise of a matrix mechanism has more digits than are accounted with; give at most 90, rounded down")
    return deviation


def _divide(deviation: Fraction, square: Fraction, *, up: bool = False) -> Fraction:
    """Return σ/s, or the largest number of 20 digits below it, or with ``up`` the least one above."""
    ratio = deviation**2 / square
    root = exact_root(ratio)
    if root is not None and max(root.numerator.bit_length(), root.denominator.bit_length()) <= MOST_BITS:
        return root
    places = max(0, (ratio.denominator.bit_length() - ratio.numerator.bit_length()) // 2)  # bits between the root and 1, where it is small
    unit = 10**_DIGITS * 2 ** (places + 8)
    rounded = decimal_above(root_above(ratio, unit), _DIGITS) if up else decimal_below(root_below(ratio, unit), _DIGITS)
    if not Fraction(1, 10**12) <= rounded <= 10**12:
        raise InvalidArgument(
            f"noise of about {shorten(rounded)} times the sensitivity of the matrix was found, but from 1e-12 to 1e12 is accounted for; "
            "check the scale of the matrix and of the noise"
        )
    return rounded


__all__ = ["MatrixRelease", "release", "release_bands", "release_matrix"]
