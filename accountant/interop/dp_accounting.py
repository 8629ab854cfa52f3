"""An accountant for Google's ``dp_accounting`` that answers from certified privacy curves. Extra ``dp-accounting``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from accountant.compositions.events import MOST_EPSILON
from accountant.compositions.queries import to_delta, to_epsilon, to_gap
from accountant.curves import PrivacyCurve, curve_of
from accountant.interop.dominating import BITS, AtomCurve, compose_replaced
from accountant.interop.dp_events import RELATIONS, CertifiedDpEvent, Use, declare_uses, find_protection, make_event, read_uses
from profiles import Infeasible, InvalidArgument, MissingExtra, PDPError, to_exact
from profiles.balls import working_precision
from profiles.hypotheses import Hypothesis, as_hypotheses
from profiles.numbers import round_down, round_up_finite, to_integer
from profiles.protection import Neighbors, Unit, read_protection

try:
    from dp_accounting import dp_event, privacy_accountant
except ImportError as error:
    raise MissingExtra(
        "dp_accounting is needed to use its events, but it is not installed; install pdp-accountant[dp-accounting]"
    ) from error

NeighboringRelation = privacy_accountant.NeighboringRelation
_NAME = "dp_accounting events"


class UnsupportedEvent(InvalidArgument, privacy_accountant.UnsupportedEventError):  # type: ignore[misc]
    """The accountant refuses an event: an error of dp_accounting, and one of ours. It is as it was before."""


class CertifiedAccountant(privacy_accountant.PrivacyAccountant):  # type: ignore[misc]
    """An accountant of dp_accounting whose numbers are proved upper ends, computed by the kernel from the events alone.

    It takes the events that :func:`accountant.interop.dp_events.curve_of_dp_event` reads, ours among them, and refuses all others by name.
    ``unit``: whom the library's events protect; ``hypotheses``: what they rest on, where None leaves open that nobody said it. ``gap``: how
    far above the true value of the worst mechanisms an end may be, relatively. A tree is read as a whole before anything is composed: an
    event that is refused leaves the accountant as it was.

    >>> from dp_accounting import GaussianDpEvent
    >>> CertifiedAccountant().compose(GaussianDpEvent(4.0), 16).get_epsilon(1e-6) < 4.89
    True
    """

    def __init__(
        self,
        neighboring_relation: Any = NeighboringRelation.ADD_OR_REMOVE_ONE,
        *,
        unit: Unit | str | None = None,
        hypotheses: Iterable[Hypothesis | str] | None = None,
        gap: object = "1e-3",
    ) -> None:
        relation = getattr(neighboring_relation, "name", str(neighboring_relation)[:60])
        if not isinstance(neighboring_relation, NeighboringRelation) or relation not in RELATIONS:
            raise InvalidArgument(
                f"{' or '.join(RELATIONS)} was expected as relation, but {relation} was found, which is not supported; give one"
            )
        super().__init__(neighboring_relation)
        self._neighbors = RELATIONS[relation]
        self._unit = None if unit is None else read_protection(unit, self._neighbors, "an accountant").unit
        self._given = None if hypotheses is None else as_hypotheses(hypotheses, "an accountant")
        self._gap = to_gap(gap)
        self._uses: Mapping[Use, int] = {}

    @property
    def curve(self) -> PrivacyCurve:
        """The privacy curve of all that was composed, with its hypotheses. Raises :class:`InvalidArgument` where there is none."""
        return curve_of(declare_uses(self._uses, _NAME, self._given, self._unit, self._neighbors))

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What the numbers of this accountant hold under; none where they hold whatever the events are."""
        return () if self._is_constant else tuple(item.sentence for item in self.curve.hypotheses)

    @property
    def _is_constant(self) -> bool:
        """Whether nothing was composed, or something without any promise."""
        return not self._uses or any(use.event is None for use in self._uses)

    def supports(self, event: Any) -> bool:
        """Whether the event could be composed now."""
        return self._maybe_compose(event, 1, do_compose=False) is None

    def compose(self, event: Any, count: int = 1) -> Any:
        """Compose an event so many times, and return the accountant. Raises :class:`UnsupportedEvent`, and TypeError for no event."""
        if not isinstance(event, dp_event.DpEvent):
            raise TypeError(f"a DpEvent was expected, but an object of type {type(event).__name__} was found")
        try:
            uses = self._add(event, count)
        except PDPError as error:
            raise UnsupportedEvent(f"a {type(event).__name__} was not composed: {error}") from None
        self._ledger.compose(event, count)
        self._uses = uses
        return self

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:  # noqa: FBT001 - the signature of dp_accounting
        try:
            uses = self._add(event, count)
        except PDPError as error:
            return self.CompositionErrorDetails(event, str(error))
        if do_compose:
            self._uses = uses
        return None

    def _add(self, event: Any, count: object) -> Mapping[Use, int]:
        """Return all uses with those of another event, which is read as a whole, and compared with all that came before."""
        times, uses = to_integer(count, "count", 1), dict(self._uses)
        for use, number in read_uses(event):
            uses[use] = uses.get(use, 0) + number * times
        if uses:
            find_protection(uses, self._unit, self._neighbors)
        if uses and all(use.event is not None for use in uses):
            curve_of(declare_uses(uses, _NAME, self._given, self._unit, self._neighbors))
        return uses

    def get_epsilon(self, target_delta: float) -> float:
        """Return an ε for which all that was composed is (ε, target_delta)-differentially private; infinite where there is none."""
        delta = to_delta(target_delta)
        if self._is_constant:
            return math.inf if self._uses else 0.0
        exact = self._compose_replaced()
        if exact is not None:
            with working_precision(BITS):
                end = exact.epsilon(delta)
        else:
            try:
                end = self.curve.epsilon_above(delta, gap=self._gap)
            except Infeasible:
                end = None
        return math.inf if end is None else round_up_finite(end)

    def get_delta(self, target_epsilon: float) -> float:
        """Return a δ for which all that was composed is (target_epsilon, δ)-differentially private."""
        epsilon = to_epsilon(min(to_exact(target_epsilon, "epsilon"), MOST_EPSILON))
        if self._is_constant:
            return 1.0 if self._uses else 0.0
        exact = self._compose_replaced()
        if exact is not None:
            with working_precision(BITS):
                return round_up_finite(exact.delta(epsilon))
        end = self.curve.delta(epsilon, gap=self._gap).upper
        return 1.0 if end is None else round_up_finite(end)

    def enclosure(self, *, target_delta: float | None = None, target_epsilon: float | None = None) -> tuple[float, float]:
        """Return both sides of ε at ``target_delta``, or of δ at ``target_epsilon``, for the worst mechanisms with these events.

        Each is rounded outward to binary64; the lower one holds for the pairs of laws of the curve. Raises :class:`InvalidArgument` where
        not exactly one of the two is given.
        """
        if (target_delta is None) == (target_epsilon is None):
            raise InvalidArgument("both sides of one number were asked for; give target_delta or target_epsilon, and not both")
        upper = self.get_epsilon(target_delta) if target_delta is not None else self.get_delta(target_epsilon)  # type: ignore[arg-type]
        if self._is_constant:
            return upper, upper
        try:
            if target_delta is not None:
                ends = self.curve.epsilon(target_delta, gap=self._gap)
            else:
                ends = self.curve.delta(min(to_exact(target_epsilon, "epsilon"), MOST_EPSILON), gap=self._gap)
        except Infeasible:
            return upper, upper  # which is infinite, and proved to be
        if self._compose_replaced() is not None:  # an exact bound below the curve, of which no mechanism is known to be the worst
            return 0.0, upper
        return (upper if ends.lower is None else round_down(ends.lower)), min(upper, _above(ends.upper))

    def _compose_replaced(self) -> AtomCurve | None:
        """Return the curve of certified events alone where a record is replaced, which is below that of their sums of losses."""
        if self._neighbors is not Neighbors.REPLACE_ONE:
            return None
        spent = [
            (use.losses, count)
            for use, count in self._uses.items()
            if use.losses is not None and use.neighbors is not Neighbors.REPLACE_ONE
        ]
        return compose_replaced(spent) if len(spent) == len(self._uses) else None


def _above(upper: Fraction | None) -> float:
    return math.inf if upper is None else round_up_finite(upper)


__all__ = ["CertifiedAccountant", "CertifiedDpEvent", "UnsupportedEvent", "make_event"]
