"""One composition accounted for at one δ or one ε: the guarantee, both sides of the number in each direction, and the certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.compositions.batches import Sampling
from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition, Direction
from accountant.compositions.json_format import composition_object
from accountant.compositions.queries import (
    BOTH,
    DIGITS,
    CurvePoint,
    OneDirection,
    find_point,
    is_checked,
    lower_text,
    to_delta,
    to_epsilon,
    to_gap,
    upper_text,
)
from accountant.compositions.toml_format import DeclaredEvents
from accountant.curves.curve import PrivacyCurve, curve_of
from accountant.guarantees import Guarantee, point_of_curve, render, to_json
from accountant.guarantees.stored import tell_beside
from profiles import InvalidArgument, decimal_text, exact_text, to_exact
from profiles.hypotheses import MATRIX_BOUNDED, Hypothesis
from profiles.protection import Neighbors
from profiles.views import show_picture

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture

#: What happens to a unit in each direction; neighbors without a direction have one number.
_HAPPENS = {
    Neighbors.ADD_REMOVE: {Direction.REMOVE: "goes", Direction.ADD: "comes"},
    Neighbors.ZERO_OUT: {Direction.REMOVE: "becomes empty", Direction.ADD: "comes in place of an empty one"},
}


@dataclass(frozen=True, slots=True)
class Account:
    """What ``pdp account`` tells: the (ε, δ) guarantee at a point of a curve; one of ``delta`` and ``epsilon`` was given.

    ``side``: "both", or "upper" where lower ends were not asked for.
    """

    curve: PrivacyCurve
    guarantee: Guarantee
    point: CurvePoint
    gap: Fraction
    delta: Fraction | None = None
    epsilon: Fraction | None = None
    side: str = BOTH

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of both ends in both directions, for ``pdp check``, with whom it protects and what it rests on.

        Raises :class:`InvalidArgument` without proofs.
        """
        if not self.point.checked_by_kernel:
            raise InvalidArgument("a certificate was asked for, but this number has no proof for the kernel; omit --certificate")
        return tell_beside(make_certificate(self.curve.composition, self.point.claims), self.guarantee)

    @property
    def asked(self) -> str:
        """The number that was asked for: epsilon or delta."""
        return "epsilon" if self.delta is not None else "delta"

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp account``; ends are rounded outward."""
        given = {"delta": _exactly(self.delta)} if self.delta is not None else {"epsilon": _exactly(self.epsilon)}
        told = to_json(self.guarantee)
        return {
            **told,
            **given,
            self.asked: self._ends(self.point),
            "directions": {
                direction.value: {**self._ends(side), "checked_by_kernel": is_checked(side)} for direction, side in self.point.sides.items()
            },
            "checked_by_kernel": self.point.checked_by_kernel,
            **({"gap_reached": self.point.reached} if self.side == BOTH else {"side": self.side}),
            "gap": _exactly(self.gap),
            "composition": composition_object(self.curve.composition),
        }

    def render(self, *, everything: bool = True, explain: bool = False) -> str:
        """Return the guarantee as text for people, with both sides of the number below it; with ``everything`` in each direction."""
        return render(
            self.guarantee,
            everything=everything,
            explain=explain,
            beside=self._describe(),
            screen=(self._describe_ends(), *self._describe_gap()),
            checked=self.point.checked_by_kernel,
        )

    def _describe_ends(self) -> str:
        at = f"delta = {_exactly(self.delta)}" if self.delta is not None else f"epsilon = {_exactly(self.epsilon)}"
        return f"at {at}: {self._between(self.point)}"

    def _describe(self) -> Iterable[str]:
        yield self._describe_ends()
        unit = self.guarantee.unit.word
        for direction, happens in _HAPPENS.get(self.guarantee.protection.neighbors, {}).items():
            yield f"{direction.value} (a {unit} {happens}): {self._between(self.point.sides[direction])}"
        yield f"checked by kernel: {'yes, computed from the events alone' if self.point.checked_by_kernel else 'no'}"
        below = ", the worst one above the lower" if self.side == BOTH else "; how far the worst one is was not computed"
        yield f"every mechanism with these events is below the upper end{below}"
        yield from self._describe_gap()

    def _describe_gap(self) -> Iterable[str]:
        yield from _say_batches(self.curve.composition, both=self.side == BOTH)
        if self.side == BOTH and any(item.id == MATRIX_BOUNDED.id for item in self.curve.hypotheses):
            yield "the lower end is that of noise in units of a bound on the sensitivity of a matrix: the worst data may lose less"
        if self.side == BOTH and not self.point.reached:
            yield f"gap: both ends are proved, but they are further apart than the {_exactly(self.gap)} that was asked for"

    def _ends(self, point: CurvePoint | OneDirection) -> dict[str, str | None]:
        low = {"lower": None if point.lower is None else lower_text(point)} if self.side == BOTH else {}
        return low | {"upper": None if point.upper is None else upper_text(point)}

    def _between(self, point: CurvePoint | OneDirection) -> str:
        if point.lower is None:
            return f"{self.asked} is unbounded"
        low = f"{lower_text(point)} <= " if self.side == BOTH else ""
        if point.upper is None:
            return f"{low}{self.asked}, and no upper end was found"
        return f"{low}{self.asked} <= {upper_text(point)}"

    def plot(self) -> Picture:
        """Return a picture of the curve around this point. Raises :class:`profiles.MissingExtra` without Matplotlib."""
        return show_picture(self)

    def plot_steps(self, delta: object = None) -> Picture:
        """Return a picture of ε over the steps at ``delta``, by default that of the account, from both sides.

        Raises :class:`profiles.MissingExtra` without Matplotlib, and as :meth:`PrivacyCurve.over_steps`.
        """
        return show_picture(self.curve.over_steps(self.delta if delta is None else delta))


def account(
    source: PrivacyCurve | DeclaredEvents | Composition,
    *,
    delta: object | None = None,
    epsilon: object | None = None,
    gap: object = "1e-3",
    hypotheses: Iterable[Hypothesis | str] = (),
    side: str = BOTH,
) -> Account:
    """Return ε at ``delta``, or δ at ``epsilon``, of a composition of events: a guarantee with both sides in each direction.

    ``gap``: (upper − lower) / upper to reach. ``side``: "both", or "upper" for only the upper ends, in less than half of the time. Raises
    :class:`InvalidArgument` (both or none of δ and ε), :class:`profiles.Infeasible` where no ε is enough at δ,
    :class:`profiles.InvalidNumber`, and what its bounds raise.

    >>> from accountant.curves import make_event
    >>> event = make_event("gaussian", {"noise_multiplier": 2}, count=16)
    >>> account(Composition("16 sums", (event,)), delta="1e-5", gap="1e-6").to_json()["delta"]
    '0.00001'
    """
    curve, exact = curve_of(source, hypotheses=hypotheses), to_gap(gap)
    at_delta, at_epsilon = (None if delta is None else to_delta(delta)), (None if epsilon is None else to_epsilon(epsilon))
    point = find_point(curve.composition, delta=at_delta, epsilon=at_epsilon, gap=exact, side=side)
    guarantee = point_of_curve(curve.guarantee, at_delta=delta, at_epsilon=epsilon, gap=exact, side=side)
    return Account(curve, guarantee, point, exact, at_delta, at_epsilon, side)


def _say_batches(composition: Composition, *, both: bool) -> Iterable[str]:
    """Yield what noise is counted in where that is not clear, what the ends are of where they need not meet, and what to do for less."""
    uses = sum(event.count for event in composition.events)
    drawn = [event.batches for event in composition.events if event.batches is not None]
    if any(batches.neighbors is Neighbors.REPLACE_ONE for batches in drawn):
        yield "noise is counted in the norm that a record is clipped to; one in place of another moves a sum by up to twice that norm"
    if both and (apart := [batches for batches in drawn if not batches.is_tight(uses)]):
        yield f"the lower end is attained by a pair of data sets; the worst loss of {apart[0].sampling.value} is between the ends"
    if any(batches.sampling is Sampling.SHUFFLE for batches in drawn):
        yield "nothing smaller is proved for shuffled batches; put each record into a uniform step of its own (--batches random-allocation)"


def _exactly(value: Fraction | None) -> str:
    """Return a number that was given, as it is: as a short decimal where it is one."""
    if value is None:
        return "none"
    short = decimal_text(value, DIGITS, round_up=False)
    return short if to_exact(short) == value else exact_text(value)
