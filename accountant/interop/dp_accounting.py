"""Guarantees as events of Google's ``dp_accounting``, and an accountant that composes them with its own events. Extra ``dp-accounting``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from accountant.guarantees import AnyGuarantee
from accountant.interop.dominating import BITS, AtomCurve, Atoms, Spending, compose, dominating_atoms, replacing_atoms, spend
from profiles import InvalidArgument, InvalidNumber, MissingExtra, to_exact
from profiles.hypotheses import FRESH_SAMPLES, ONE_ANALYSIS
from profiles.numbers import round_down, round_up_finite
from proofs_check.enclosures import ball, upper_fraction, working_precision

try:
    import attr
    from dp_accounting import dp_event, privacy_accountant
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
except ImportError as error:
    raise MissingExtra(
        "dp_accounting is needed to use its events, but it is not installed; install pdp-accountant[dp-accounting]"
    ) from error

NeighboringRelation = privacy_accountant.NeighboringRelation
_ADDED, _REPLACED = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
_COMPOUND = (dp_event.NoOpDpEvent, dp_event.ComposedDpEvent, dp_event.SelfComposedDpEvent)


@attr.s(frozen=True, auto_attribs=True)
class CertifiedDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """One run of mechanisms with these losses, in nats, for add/remove of one record; made by :func:`make_event`.

    For D = D' with one record more: P[M(D) ∈ S] ≤ e^epsilon_plus P[M(D') ∈ S] + delta_plus, and with epsilon_minus and
    delta_minus where D and D' are exchanged. All four are binary64 numbers, rounded up; ``epsilon_minus`` may be ∞. ``hypotheses``
    are those that were open in the guarantee and that somebody accepted. Events are data: one that was written by hand proves nothing.
    """

    epsilon_plus: float
    epsilon_minus: float
    delta_plus: float = 0.0
    delta_minus: float = 0.0
    subjects: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    units: tuple[str, ...] = ("record",)  # one; a text alone would not survive the library's own to_named_tuple

    def __attrs_post_init__(self) -> None:
        losses = all(isinstance(value, float) and value >= 0 for value in (self.epsilon_plus, self.epsilon_minus))
        deltas = all(isinstance(value, float) and 0 <= value <= 1 for value in (self.delta_plus, self.delta_minus))
        if not losses or not deltas or math.isinf(self.epsilon_plus):
            raise InvalidNumber("an event needs losses of at least 0 (epsilon_minus may be inf) and deltas in [0, 1], as floats")
        listed = (self.subjects, self.hypotheses, self.units)
        if not all(isinstance(texts, tuple) and all(isinstance(text, str) for text in texts) for texts in listed) or len(self.units) != 1:
            raise InvalidArgument(
                "subjects, hypotheses and unit of an event must be tuples of texts, but others were found; use make_event"
            )

    @property
    def unit(self) -> str:
        """Whom it protects: a record, a user or an event."""
        return self.units[0]

    @property
    def spending(self) -> Spending:
        """The losses as exact numbers."""
        minus = None if math.isinf(self.epsilon_minus) else Fraction(self.epsilon_minus)
        return Spending(Fraction(self.epsilon_plus), minus, Fraction(self.delta_plus), Fraction(self.delta_minus))


def make_event(guarantee: AnyGuarantee, *, accept_hypotheses: bool = False) -> CertifiedDpEvent:
    """Return a guarantee as an event: its losses in both directions, each rounded up to binary64.

    ``accept_hypotheses``: open hypotheses are accepted; they stay readable in the event and in :attr:`CertifiedAccountant.hypotheses`.
    Raises :class:`OpenHypotheses`, :class:`InvalidArgument` (no ε: take a worst case first; not made by a rule), :class:`InvalidNumber`.
    """
    spent = spend(guarantee, "dp_accounting", accept_hypotheses=accept_hypotheses)
    return CertifiedDpEvent(
        round_up_finite(spent.plus),
        math.inf if spent.minus is None else round_up_finite(spent.minus),
        round_up_finite(spent.delta_plus),
        round_up_finite(spent.delta_minus),
        (guarantee.subject,),
        tuple(item.sentence for item in guarantee.hypotheses),
        (guarantee.unit.name.lower(),),
    )


class CertifiedAccountant(PLDAccountant):  # type: ignore[misc]
    """A :class:`PLDAccountant` that also takes :class:`CertifiedDpEvent`, for one record that is added, removed or replaced by another.

    As long as it has composed certified events alone (and not too many different ones), ``get_epsilon`` and ``get_delta`` are upper bounds
    that are computed in ball arithmetic from the exact composition of the worst pairs: nothing with the same losses has less.
    As soon as other events come in, the worst pairs go into dp_accounting's own privacy loss distributions, one for each direction,
    with the split of every loss between its two grid points that dominates it; masses are rounded up, and the rest has the accuracy of
    that library (grid, fast Fourier transforms in binary64, truncation of tails).
    """

    def __init__(self, neighboring_relation: Any = _ADDED, value_discretization_interval: float = 1e-4) -> None:
        if neighboring_relation not in (_ADDED, _REPLACED):
            raise InvalidArgument(
                f"ADD_OR_REMOVE_ONE or REPLACE_ONE was expected as relation, but {str(neighboring_relation)[:60]} was found; give one"
            )
        interval = to_exact(value_discretization_interval, "value_discretization_interval")
        if interval <= 0:
            raise InvalidArgument(f"value_discretization_interval must be above 0, but {float(interval)} was found; give for example 1e-4")
        super().__init__(neighboring_relation, float(interval))
        self._certified: dict[Spending, int] = {}
        self._hypotheses: dict[str, None] = {}
        self._has_others = False
        self._units: set[str] = set()
        self._curves: tuple[AtomCurve, ...] | None = None
        self._mixture: Any = None

    @property
    def _replacing(self) -> bool:
        return self._neighboring_relation is _REPLACED

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The hypotheses of all guarantees that were composed: what the numbers of this accountant hold under."""
        return tuple(self._hypotheses)

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:  # noqa: FBT001 - the signature of dp_accounting
        if isinstance(event, dp_event.SelfComposedDpEvent) and not _counts(event.count):
            return self.CompositionErrorDetails(event, "The number of uses must be an integer of at least 1.")
        if do_compose and count > 0:
            self._curves = self._mixture = None
        if not isinstance(event, CertifiedDpEvent):
            self._has_others |= do_compose and count > 0 and not isinstance(event, _COMPOUND)
            if isinstance(event, dp_event.RandomizedResponseDpEvent) and do_compose and count > 1:
                return self._compose_each(event, count)
            return super()._maybe_compose(event, count, do_compose)
        if (self._units or {"record"} if self._has_others else self._units) - {event.unit}:
            return self.CompositionErrorDetails(event, f"It protects one {event.unit}, but what was composed before protects another unit.")
        if do_compose and count > 0:
            self._units.add(event.unit)
            again = bool(self._certified) or count > 1
            self._hypotheses.update(dict.fromkeys(event.hypotheses))
            if again and ONE_ANALYSIS.sentence in self._hypotheses:
                self._hypotheses[FRESH_SAMPLES.sentence] = None
            self._certified[event.spending] = self._certified.get(event.spending, 0) + count
        return None

    def _compose_each(self, event: Any, count: int) -> Any:
        """Compose an event ``count`` times by itself: dp_accounting 0.6.0 counts randomised response once, whatever its count."""
        before: Any = self._pld
        self._pld: Any = privacy_loss_distribution.identity(value_discretization_interval=self._value_discretization_interval)
        failed = super()._maybe_compose(event, 1, do_compose=True)
        self._pld = before.compose(self._pld.self_compose(count))
        return failed

    def get_epsilon(self, target_delta: float) -> float:
        """Return an ε for which everything composed so far is (ε, target_delta)-differentially private."""
        delta, curves = _read(target_delta, "delta"), self._find_curves()
        with working_precision(BITS):
            ends = [curve.epsilon(delta) for curve in curves]
        certified = max((math.inf if end is None else round_up_finite(end) for end in ends), default=0.0)
        if self._contains_non_dp_event:
            return math.inf
        if not self._needs_grid(curves):
            return certified
        mixture = self._mix()
        return math.inf if mixture is None else max(certified, float(mixture.get_epsilon_for_delta(round_down(delta))))

    def get_delta(self, target_epsilon: float) -> float:
        """Return a δ for which everything composed so far is (target_epsilon, δ)-differentially private."""
        epsilon, curves = _read(target_epsilon, "epsilon"), self._find_curves()
        with working_precision(BITS):
            certified = max((round_up_finite(curve.delta(epsilon)) for curve in curves), default=0.0)
        if self._contains_non_dp_event:
            return 1.0
        if not self._needs_grid(curves):
            return certified
        mixture = self._mix()
        return 1.0 if mixture is None else max(certified, float(mixture.get_delta_for_epsilon(round_down(epsilon))))

    def _find_curves(self) -> tuple[AtomCurve, ...]:
        """Return the exact curves of the certified events, which the whole is never below; none where they have too many terms."""
        if self._curves is None:
            self._curves = compose(self._certified.items(), replacing=self._replacing) or ()
        return self._curves

    def _needs_grid(self, curves: tuple[AtomCurve, ...]) -> bool:
        return self._has_others or not curves

    def _mix(self) -> Any:
        """Return the privacy loss distribution of everything: dp_accounting's of its own events, and the worst pairs.

        None where nearly all losses are infinite: dp_accounting takes the rest for a tail, and ends in an IndexError.
        """
        if self._mixture is None:
            try:
                found = self._pld
                for spent, count in self._certified.items():
                    pair = make_pld(spent, self._value_discretization_interval, replacing=self._replacing)
                    found = found.compose(pair.self_compose(count))
            except IndexError:
                found = None
            self._mixture = (found,)
        return self._mixture[0]


def make_pld(spent: Spending, interval: float, *, replacing: bool = False) -> Any:
    """Return the privacy loss distribution of the worst pair of what was spent, on the grid of ``interval``, from above in both directions.

    ``replacing``: the pair is that of a record which is replaced by another.

    A mass m at the loss l between grid points a < l < b is split so that neither law's mass changes: m(e^−a − e^−l)/(e^−a − e^−b) goes to b
    and the rest to a. Merging the two again is post-processing, so the split pair dominates; and it is never above the
    pair whose losses are moved up to the next grid point.
    """
    with working_precision(BITS):
        if replacing:
            return privacy_loss_distribution.PrivacyLossDistribution(_to_pmf(replacing_atoms(spent), interval))
        going, coming = (_to_pmf(atoms, interval) for atoms in dominating_atoms(spent))
    same = spent.plus == spent.minus and spent.delta_plus == spent.delta_minus
    return privacy_loss_distribution.PrivacyLossDistribution(going, None if same else coming)


def _to_pmf(atoms: Atoms, interval: float) -> Any:
    made: dict[int, float] = {}
    for place, mass in _split(atoms, Fraction(interval)):
        end = upper_fraction(mass)
        if end is None:
            raise InvalidNumber("a loss is too large for the grid of the accountant; use a larger value_discretization_interval")
        if end > 0:
            made[place] = min(math.nextafter(made.get(place, 0.0) + round_up_finite(end), math.inf), 1.0)
    return pld_pmf.create_pmf(made or {0: 0.0}, interval, min(1.0, round_up_finite(atoms.infinite)), True)  # noqa: FBT003


def _split(atoms: Atoms, step: Fraction) -> Iterator[tuple[int, Any]]:
    for loss, mass in atoms.finite.items():
        place = math.floor(loss / step)
        if place * step == loss:
            yield place, mass
            continue
        inside, whole = ball(loss - place * step), ball(step)
        share = (-inside).expm1() / (-whole).expm1()
        yield place, mass * (1 - share)
        yield place + 1, mass * share


def _counts(value: object) -> bool:
    return isinstance(value, int) and value >= 1


def _read(value: object, what: str) -> Fraction:
    exact = to_exact(value, what)
    if exact < 0:
        raise InvalidArgument(f"{what} must be at least 0, but {float(exact)} was found; give a number that is not negative")
    return exact


__all__ = ["CertifiedAccountant", "CertifiedDpEvent", "make_event", "make_pld"]
