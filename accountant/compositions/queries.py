"""What is read off a privacy curve: ε at a δ, or δ at an ε, from both sides and in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from accountant.compositions.bounds import bound_delta, bound_epsilon, bound_epsilon_above
from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import MOST_BITS, MOST_EPSILON, Composition, Direction
from accountant.compositions.shapes import LEAST_EPSILON
from profiles import Infeasible, InvalidArgument, NotReplayed, Undecided, decimal_text, to_exact
from profiles.numbers import to_number
from proofs_check.certificates import check_text

DIGITS = 12
UNBOUNDED = "unbounded"
#: From where a number is bounded: from below and above, or from above alone, which is what holds for every mechanism.
BOTH, UPPER = "both", "upper"
DEFAULT_GAP = Fraction(1, 1000)
#: Points that were asked for last are kept: a guarantee is often told more than once.
_KEPT = 256


class OneDirection(Protocol):
    """lower ≤ the number ≤ upper in one direction; ``upper`` None: none was found, and with ``lower`` None, too, there is none.

    ``claims``: those of a certificate, each computed by the kernel from the events alone.
    """

    @property
    def lower(self) -> Fraction | None: ...
    @property
    def upper(self) -> Fraction | None: ...
    @property
    def claims(self) -> tuple[Mapping[str, Any], ...]: ...


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One number of a curve: ε at δ, or δ at ε. The number for both directions is the larger of the two.

    ``remove``: a record is removed; ``add``: one is added. ``reached``: the ends are as close as requested, in both directions.
    """

    remove: OneDirection
    add: OneDirection
    reached: bool

    @property
    def lower(self) -> Fraction | None:
        """The larger of the two lower ends, None where a direction is unbounded."""
        return _largest(side.lower for side in self.sides.values())

    @property
    def upper(self) -> Fraction | None:
        """The larger of the two upper ends, None where one is missing."""
        return _largest(side.upper for side in self.sides.values())

    @property
    def sides(self) -> dict[Direction, OneDirection]:
        return {Direction.REMOVE: self.remove, Direction.ADD: self.add}

    @property
    def claims(self) -> tuple[Mapping[str, Any], ...]:
        """The claims of both directions, for a certificate."""
        return (*self.remove.claims, *self.add.claims)

    @property
    def checked_by_kernel(self) -> bool:
        """Whether the kernel computed the upper end of each direction from the events alone."""
        return all(is_checked(side) for side in self.sides.values())

    def lower_text(self, digits: int = DIGITS) -> str:
        """Return the lower end, rounded down."""
        return lower_text(self, digits)

    def upper_text(self, digits: int = DIGITS) -> str:
        """Return the upper end with ``digits`` digits, rounded up."""
        return upper_text(self, digits)

    def __repr__(self) -> str:
        return f"CurvePoint(between {self.lower_text()} and {self.upper_text()})"


def is_checked(side: OneDirection) -> bool:
    """Tell whether the kernel computed the upper end of a direction: there is a claim of it."""
    return side.upper is None or any(claim.get("claim") == "delta-upper" for claim in side.claims)


def lower_text(ends: OneDirection | CurvePoint, digits: int = DIGITS) -> str:
    """Return a lower end as text, rounded down to ``digits`` digits."""
    return UNBOUNDED if ends.lower is None else decimal_text(ends.lower, digits, round_up=False)


def upper_text(ends: OneDirection | CurvePoint, digits: int = DIGITS) -> str:
    """Return an upper end as text, rounded up to ``digits`` digits."""
    return UNBOUNDED if ends.upper is None else decimal_text(ends.upper, digits, round_up=True)


@lru_cache(maxsize=_KEPT)
def point_at_delta(composition: Composition, delta: Fraction, gap: Fraction = DEFAULT_GAP) -> CurvePoint:
    """Return bounds of the least ε ≥ 0 with δ(ε) ≤ ``delta``, per direction, to reach: upper − lower ≤ ``gap``·max(upper, 1/1000).

    Raises :class:`Undecided` where some ε may be enough if a record goes, but none is proved to be, and as
    :func:`~accountant.compositions.bounds.bound_epsilon`.
    """
    removed, added = (bound_epsilon(composition, delta, direction, gap=gap) for direction in (Direction.REMOVE, Direction.ADD))
    _require_decided(removed, composition, delta)
    return CurvePoint(removed, added, all(_is_close(side, gap, LEAST_EPSILON) for side in (removed, added)))


def _require_decided(removed: OneDirection, composition: Composition, delta: Fraction) -> None:
    if removed.upper is None and removed.lower is not None:
        raise Undecided(
            f"epsilon of {composition.name[:80]!r} at delta = {decimal_text(delta, 6, round_up=False)} was asked for, but none is proved "
            f"to be enough, and none up to {lower_text(removed)} is; give a larger delta"
        )


@lru_cache(maxsize=_KEPT)
def upper_at_delta(composition: Composition, delta: Fraction, gap: Fraction = DEFAULT_GAP) -> CurvePoint:
    """Return upper ends alone of the least ε ≥ 0 with δ(ε) ≤ ``delta``, in about a third of the time of :func:`point_at_delta`.

    ``gap``: what the grid of the larger one is planned for; how close it comes is not measured. The other one may be coarse.
    """
    removed = bound_epsilon_above(composition, delta, Direction.REMOVE, gap=gap)
    _require_decided(removed, composition, delta)
    return CurvePoint(removed, bound_epsilon_above(composition, delta, Direction.ADD, gap=gap, enough=removed.upper), reached=False)


@lru_cache(maxsize=_KEPT)
def point_at_epsilon(composition: Composition, epsilon: Fraction, gap: Fraction = DEFAULT_GAP) -> CurvePoint:
    """Return bounds of δ(``epsilon``), per direction, to reach: upper − lower ≤ ``gap``·upper."""
    removed, added = (bound_delta(composition, epsilon, direction, gap=gap) for direction in (Direction.REMOVE, Direction.ADD))
    return CurvePoint(removed, added, all(_is_close(side, gap, Fraction(0)) for side in (removed, added)))


@lru_cache(maxsize=_KEPT)
def upper_at_epsilon(composition: Composition, epsilon: Fraction, gap: Fraction = DEFAULT_GAP) -> CurvePoint:
    """Return upper ends alone of δ(``epsilon``), in about half the time of :func:`point_at_epsilon`; lower ends are 0."""
    removed, added = (bound_delta(composition, epsilon, direction, gap=gap, above_only=True) for direction in Direction)
    return CurvePoint(removed, added, reached=False)


def find_point(
    composition: Composition, *, delta: Fraction | None = None, epsilon: Fraction | None = None, gap: Fraction, side: str = BOTH
) -> CurvePoint:
    """Return ε at ``delta`` or δ at ``epsilon``, one of which is given, from both sides or by its upper ends alone (``side``).

    Raises :class:`InvalidArgument` (both or none of the two; another side), and as :func:`~accountant.compositions.bounds.bound_epsilon`.
    """
    if side not in (BOTH, UPPER):
        raise InvalidArgument(f"a side is {BOTH} or {UPPER}, but {str(side)[:40]!r} was found; name one of them")
    if delta is not None and epsilon is None:
        return (point_at_delta if side == BOTH else upper_at_delta)(composition, delta, gap)
    if epsilon is not None and delta is None:
        return (point_at_epsilon if side == BOTH else upper_at_epsilon)(composition, epsilon, gap)
    given = "none" if delta is None else "both"
    raise InvalidArgument(f"epsilon at a delta, or delta at an epsilon, is accounted for, but {given} was given; give delta or epsilon")


def recheck_point(
    composition: Composition, claims: Sequence[Mapping[str, Any]], *, delta: Fraction | None, epsilon: Fraction | None
) -> dict[Direction, Fraction | None]:
    """Return the upper end of each direction from ``claims`` that the kernel accepts now: of ε at ``delta``, or of δ at ``epsilon``.

    Claims about another δ or ε, and lower ends, are checked as well and tell nothing here. None where no claim says anything.
    Raises :class:`NotReplayed` for a claim that the kernel rejects.
    """
    text = json.dumps(make_certificate(composition, tuple(claims)))
    report = check_text(text)
    if not report.accepted:
        said = "".join(sign if sign.isprintable() else "?" for sign in f"{report.step}: {report.reason}")[:100]
        raise NotReplayed(
            f"claims about the privacy curve of {composition.name[:80]!r} were to be checked again, but the kernel rejects them at {said}; "
            "make them anew"
        )
    rechecked: dict[Direction, Fraction | None] = dict.fromkeys(Direction)
    for claim in json.loads(text)["claims"]:  # what the kernel reads is what is used
        if claim["claim"] != "delta-upper":
            continue
        direction, place, bound = Direction(claim["direction"]), to_exact(claim["epsilon"]), to_exact(claim["bound"])
        if delta is not None and bound <= delta:
            rechecked[direction] = _smaller(rechecked[direction], place)
        elif epsilon is not None and place <= epsilon:
            rechecked[direction] = _smaller(rechecked[direction], bound)
    return rechecked


def require_bounded(upper: Fraction | None, composition: Composition, delta: Fraction) -> Fraction:
    """Return the upper end of ε where a record goes. Raises :class:`Infeasible` where no ε is enough at δ."""
    if upper is None:
        raise Infeasible(
            f"an epsilon of {composition.name[:80]!r} at delta = {decimal_text(delta, 6, round_up=False)} was asked for, but it is "
            "infinite: these events have a larger delta at every epsilon; give a larger delta"
        )
    return upper


def to_delta(value: object) -> Fraction:
    """Return δ as an exact number in [0, 1). Raises :class:`profiles.InvalidNumber`, :class:`InvalidArgument`."""
    return _require_short(to_number(value, "delta", "[0, 1)", "give a probability such as 1e-5"), "delta")


def to_epsilon(value: object) -> Fraction:
    """Return ε as an exact number from 0 to 10000. Raises :class:`profiles.InvalidNumber`, :class:`InvalidArgument`."""
    return _require_short(to_number(value, "epsilon", f"[0, {MOST_EPSILON}]", "give a number of nats such as 1"), "epsilon")


def to_gap(value: object) -> Fraction:
    """Return a gap as an exact number in [1e-13, 1). Raises :class:`profiles.InvalidNumber`, :class:`InvalidArgument`."""
    return _require_short(to_number(value, "the gap", "[1e-13, 1)", "give for example 1e-3"), "the gap")


def _smaller(left: Fraction | None, right: Fraction) -> Fraction:
    return right if left is None else min(left, right)


def _largest(ends: Iterable[Fraction | None]) -> Fraction | None:
    known = list(ends)
    return None if None in known else max(end for end in known if end is not None)


def _is_close(side: OneDirection, gap: Fraction, least: Fraction) -> bool:
    if side.lower is None or side.upper is None:
        return side.lower is None and side.upper is None
    return side.upper - side.lower <= gap * max(least, side.upper)


def _require_short(value: Fraction, what: str) -> Fraction:
    if value.denominator.bit_length() > MOST_BITS:
        raise InvalidArgument(f"{what} has more digits than are accounted with; round it to at most 90 digits, to the safe side")
    return value
