"""Privacy curves as values: what is declared, what rules proved, and what they make together, read at an ε or a δ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from accountant.compositions.events import Composition, Event
from accountant.compositions.queries import (
    BOTH,
    CurvePoint,
    point_at_delta,
    point_at_epsilon,
    require_bounded,
    to_delta,
    to_epsilon,
    to_gap,
    upper_at_delta,
)
from accountant.compositions.toml_format import DeclaredEvents, read_composition_file
from accountant.compositions.trajectories import Trajectory, bound_steps
from accountant.guarantees import CurveBound, Guarantee
from accountant.guarantees.combining import compose_parts
from accountant.guarantees.combining import subsample as subsample_measure
from accountant.guarantees.curves import curve_of_guarantee, declare_events, point_of_curve
from accountant.guarantees.theorem import require_guarantee
from profiles import InvalidArgument
from profiles.hypotheses import Hypothesis, count_assumptions
from profiles.protection import Neighbors, Unit

_GAP = "1e-3"


@dataclass(frozen=True, slots=True)
class PrivacyCurve:
    """A privacy curve δ(ε), in both directions, with its hypotheses. Make one with :func:`curve_of`.

    ``guarantee``: what the rules of :mod:`accountant.guarantees` concluded. Every number is an enclosure: the true value of the events'
    dominating pair lies between ``lower`` and ``upper``, and ``upper`` bounds every mechanism that is as declared.
    """

    guarantee: Guarantee

    def __post_init__(self) -> None:
        require_guarantee(self.guarantee)
        if not isinstance(self.guarantee.bound, CurveBound):
            raise InvalidArgument(
                f"a guarantee with a privacy curve was expected, but that of {self.guarantee.subject!r} has none; use curve_of"
            )

    @property
    def composition(self) -> Composition:
        """The events of the curve."""
        bound = self.guarantee.bound
        if not isinstance(bound, CurveBound):
            raise InvalidArgument("a privacy curve has lost its events; make it with curve_of")
        return bound.composition

    @property
    def declared(self) -> DeclaredEvents:
        """The events with their protection and all open hypotheses: what :func:`accountant.curves.write_composition` takes to a file."""
        whole = self.guarantee.protection
        return DeclaredEvents(self.composition, whole.unit, whole.neighbors, self.hypotheses)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The unverified assumptions of the curve."""
        return self.guarantee.hypotheses

    def epsilon(self, delta: object, *, gap: object = _GAP) -> CurvePoint:
        """Return bounds of the least ε ≥ 0 with δ(ε) ≤ ``delta``, in each direction; together the larger one.

        ``gap``: upper − lower to reach, over max(upper, 1/1000). Raises :class:`profiles.Infeasible` if no ε is enough when a record is
        removed, :class:`InvalidArgument`, :class:`profiles.InvalidNumber`, and what its bounds raise.

        >>> from accountant.curves import curve_of, make_event
        >>> found = curve_of(make_event("gaussian", {"noise_multiplier": 100}, count=10**4)).epsilon("1e-13", gap="1e-9")
        >>> found.lower_text(6), found.upper_text(6)
        ('7.56019', '7.5602')
        """
        exact = to_delta(delta)
        point = point_at_delta(self.composition, exact, to_gap(gap))
        require_bounded(point.remove.upper, self.composition, exact)
        return point

    def epsilon_above(self, delta: object, *, gap: object = _GAP) -> Fraction:
        """Return an ε that is enough at ``delta`` in both directions, without a lower end: for accountants in loops.

        ``gap``: what the grid is planned for; the time is about a third of that of :meth:`epsilon`. Raises as there.

        >>> from accountant.curves import curve_of, make_event
        >>> float(curve_of(make_event("gaussian", {"noise_multiplier": 100}, count=10**4)).epsilon_above("1e-13")) < 7.5605
        True
        """
        exact = to_delta(delta)
        return require_bounded(upper_at_delta(self.composition, exact, to_gap(gap)).upper, self.composition, exact)

    def delta(self, epsilon: object, *, gap: object = _GAP) -> CurvePoint:
        """Return bounds of δ(``epsilon``), the supremum over events S of P(S) − e^ε Q(S), in each direction; together the larger one."""
        return point_at_epsilon(self.composition, to_epsilon(epsilon), to_gap(gap))

    def at_delta(self, delta: object, *, gap: object = _GAP, side: str = BOTH) -> Guarantee:
        """Return the (ε, δ) guarantee at ``delta``, with all hypotheses of the curve. Raises as :meth:`epsilon`.

        ``side``: "upper" computes and claims upper ends alone.
        """
        return point_of_curve(self.guarantee, at_delta=delta, gap=gap, side=side)

    def at_epsilon(self, epsilon: object, *, gap: object = _GAP, side: str = BOTH) -> Guarantee:
        """Return the (ε, δ) guarantee at ``epsilon``, with all hypotheses of the curve. ``side``: as :meth:`at_delta`."""
        return point_of_curve(self.guarantee, at_epsilon=epsilon, gap=gap, side=side)

    def over_steps(self, delta: object) -> Trajectory:
        """Return bounds of ε at ``delta`` > 0 over the steps, at about 60 numbers of steps, from one composition for each side.

        >>> from accountant.curves import curve_of, make_event
        >>> found = curve_of(make_event("gaussian", {"noise_multiplier": 10}, count=100)).over_steps("1e-5")
        >>> len(found.steps), float(found.upper[-1]) < 4.3772
        (60, True)
        """
        return bound_steps(self.composition, to_delta(delta))

    def compose(self, *others: PrivacyCurve, name: str | None = None) -> PrivacyCurve:
        """Return the curve of this and other mechanisms on the same records, each of which may see the outputs of the earlier ones."""
        return compose(self, *others, name=name)

    def subsample(self, probability: object) -> PrivacyCurve:
        """Return the curve on a fresh Poisson sample that holds each record with exactly this probability.

        Raises :class:`InvalidArgument` for a composition that is not known to be one use of a mechanism: sample before composing.
        """
        return PrivacyCurve(subsample_measure(self.guarantee, probability))

    def __repr__(self) -> str:
        events = "; ".join(event.describe() for event in self.composition.events)
        return f"PrivacyCurve({events}; {count_assumptions(len(self.hypotheses))})"


def curve_of(
    source: PrivacyCurve | DeclaredEvents | Composition | Event | Guarantee,
    *,
    hypotheses: Iterable[Hypothesis | str] = (),
    unit: Unit | str = Unit.RECORD,
    neighbors: Neighbors | str | None = None,
) -> PrivacyCurve:
    """Return the privacy curve of a composition, of an event, or of a guarantee of this project (an ε, one in each direction, with δ).

    For declared events: ``hypotheses`` are further assumptions, ``unit`` and ``neighbors`` say whom they protect, as for
    :func:`accountant.guarantees.declare_events`. All other arguments bring their own. Raises :class:`InvalidArgument`.

    >>> from accountant.curves import make_event
    >>> step = curve_of(make_event("laplace", {"scale": 2}))
    >>> step.compose(step).composition.events[0].count
    2
    """
    if not isinstance(hypotheses, Iterable):
        raise InvalidArgument(
            f"hypotheses were expected, but an object of type {type(hypotheses).__name__} was found; give texts in a list"
        )
    given = tuple(hypotheses) if not isinstance(hypotheses, str) else (hypotheses,)
    if isinstance(source, (Event, Composition)):
        composition = Composition(source.mechanism.value, (source,)) if isinstance(source, Event) else source
        return _declare(composition, given, unit, neighbors)
    if given or neighbors is not None or unit not in (Unit.RECORD, Unit.RECORD.word):
        raise InvalidArgument("hypotheses, unit or neighbors were given for what brings its own; add hypotheses with assume")
    if isinstance(source, PrivacyCurve):
        return source
    if isinstance(source, DeclaredEvents):
        return _declare(source.composition, source.hypotheses, source.unit, source.neighbors)
    return PrivacyCurve(curve_of_guarantee(source))


def _declare(
    composition: Composition, hypotheses: tuple[Hypothesis | str, ...], unit: Unit | str, neighbors: Neighbors | str | None
) -> PrivacyCurve:
    if composition.leaves_noise_open(neighbors):
        raise InvalidArgument(
            f"{composition.name[:60]!r} has gaussian noise where one record is replaced by another, which moves a sum by twice the norm "
            'of a record; say batches=draw_batches("none", "replace-one"), or how else they are drawn, with noise over norm'
        )
    return PrivacyCurve(declare_events(composition, hypotheses, unit=unit, neighbors=neighbors))


def curve_of_file(path: Path | str) -> PrivacyCurve:
    """Return the privacy curve of what a file declares. Raises as :func:`~accountant.curves.read_composition_file`, and as curve_of."""
    return curve_of(read_composition_file(path))


def compose(*curves: PrivacyCurve | DeclaredEvents | Composition | Event | Guarantee, name: str | None = None) -> PrivacyCurve:
    """Return the curve of several mechanisms on the same records, with the hypotheses of all of them. Raises :class:`InvalidArgument`."""
    if name is not None and not isinstance(name, str):
        raise InvalidArgument(f"a composition has a text as name, but an object of type {type(name).__name__} was found; reword it")
    parts = [curve_of(item).guarantee for item in curves]
    names = " and ".join(dict.fromkeys(part.subject for part in parts))
    short = names if names and len(names) <= 100 else f"{len(parts)} mechanisms"
    return PrivacyCurve(compose_parts(name or short, parts))


def subsample(curve: PrivacyCurve | DeclaredEvents | Composition | Event | Guarantee, probability: object) -> PrivacyCurve:
    """Return the curve on a fresh Poisson sample: :meth:`PrivacyCurve.subsample`."""
    return curve_of(curve).subsample(probability)
