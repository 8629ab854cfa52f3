"""One composition accounted for at one δ or one ε: the guarantee, both sides of the number in each direction, and the certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.compositions.engine import make_certificate
from accountant.compositions.events import Composition, Direction
from accountant.compositions.json_format import composition_object
from accountant.compositions.queries import DIGITS, CurvePoint, OneDirection, is_checked, lower_text, to_gap, upper_text
from accountant.compositions.toml_format import DeclaredEvents
from accountant.curves.curve import PrivacyCurve, curve_of
from accountant.guarantees import Guarantee, render, to_json
from profiles import InvalidArgument, decimal_text, exact_text, to_exact
from profiles.hypotheses import Hypothesis
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
    """What ``pdp account`` tells: the (ε, δ) guarantee at a point of a curve; one of ``delta`` and ``epsilon`` was given."""

    curve: PrivacyCurve
    guarantee: Guarantee
    point: CurvePoint
    gap: Fraction
    delta: Fraction | None = None
    epsilon: Fraction | None = None

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of both ends in both directions, for ``pdp check``. Raises :class:`InvalidArgument` without proofs."""
        if not self.point.checked_by_kernel:
            raise InvalidArgument("a certificate was asked for, but this number has no proof for the kernel; omit --certificate")
        return make_certificate(self.curve.composition, self.point.claims)

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
            self.asked: _ends(self.point),
            "directions": {
                direction.value: {**_ends(side), "checked_by_kernel": is_checked(side)} for direction, side in self.point.sides.items()
            },
            "checked_by_kernel": self.point.checked_by_kernel,
            "gap_reached": self.point.reached,
            "gap": _exactly(self.gap),
            "composition": composition_object(self.curve.composition),
        }

    def render(self, *, everything: bool = True, explain: bool = False) -> str:
        """Return the guarantee as text for people, with both sides of the number below it; in each direction where ``everything`` is."""
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
        return f"at {at}: {_between(self.asked, self.point)}"

    def _describe(self) -> Iterable[str]:
        point, asked = self.point, self.asked
        yield self._describe_ends()
        unit = self.guarantee.unit.word
        for direction, happens in _HAPPENS.get(self.guarantee.protection.neighbors, {}).items():
            yield f"{direction.value} (a {unit} {happens}): {_between(asked, point.sides[direction])}"
        yield f"checked by kernel: {'yes, computed from the events alone' if point.checked_by_kernel else 'no'}"
        yield "every mechanism with these events is below the upper end, the worst one above the lower"
        yield from self._describe_gap()

    def _describe_gap(self) -> Iterable[str]:
        if not self.point.reached:
            yield f"gap: both ends are proved, but they are further apart than the {_exactly(self.gap)} that was asked for"

    def plot(self) -> Picture:
        """Return a picture of the curve around this point. Raises :class:`profiles.MissingExtra` without Matplotlib."""
        return show_picture(self)


def account(
    source: PrivacyCurve | DeclaredEvents | Composition,
    *,
    delta: object | None = None,
    epsilon: object | None = None,
    gap: object = "1e-3",
    hypotheses: Iterable[Hypothesis | str] = (),
) -> Account:
    """Return ε at ``delta``, or δ at ``epsilon``, of a composition of events: a guarantee with both sides in each direction.

    ``gap``: (upper − lower) / upper to reach. Raises :class:`InvalidArgument` (both or none of δ and ε),
    :class:`profiles.Infeasible` where no ε is enough at δ, :class:`profiles.InvalidNumber`, and what the engine raises.

    >>> from accountant.curves import make_event
    >>> event = make_event("gaussian", {"noise_multiplier": 2}, count=16)
    >>> account(Composition("16 sums", (event,)), delta="1e-5", gap="1e-6").to_json()["delta"]
    '0.00001'
    """
    curve, exact = curve_of(source, hypotheses=hypotheses), to_gap(gap)
    if delta is not None and epsilon is None:
        guarantee = curve.at_delta(delta, gap=exact)
        return Account(curve, guarantee, curve.epsilon(delta, gap=exact), exact, delta=to_exact(delta))
    if epsilon is not None and delta is None:
        guarantee = curve.at_epsilon(epsilon, gap=exact)
        return Account(curve, guarantee, curve.delta(epsilon, gap=exact), exact, epsilon=to_exact(epsilon))
    given = "none" if delta is None else "both"
    raise InvalidArgument(f"epsilon at a delta, or delta at an epsilon, is accounted for, but {given} was given; give delta or epsilon")


def _ends(point: CurvePoint | OneDirection) -> dict[str, str | None]:
    return {
        "lower": None if point.lower is None else lower_text(point),
        "upper": None if point.upper is None else upper_text(point),
    }


def _between(name: str, point: CurvePoint | OneDirection) -> str:
    if point.lower is None:
        return f"{name} is unbounded"
    if point.upper is None:
        return f"{lower_text(point)} <= {name}, and no upper end was found"
    return f"{lower_text(point)} <= {name} <= {upper_text(point)}"


def _exactly(value: Fraction | None) -> str:
    """Return a number that was given, as it is: as a short decimal where it is one."""
    if value is None:
        return "none"
    short = decimal_text(value, DIGITS, round_up=False)
    return short if to_exact(short) == value else exact_text(value)
