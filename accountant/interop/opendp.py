"""Guarantees as measurements of OpenDP. Extra ``opendp``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.compositions.events import MechanismKind
from accountant.curves import Composition, make_event
from accountant.guarantees import Guarantee, Unit, declare_directions, declare_events
from accountant.interop.dominating import spend
from profiles import InvalidArgument, MissingExtra
from profiles.balls import ball, upper_fraction, working_precision
from profiles.hypotheses import HYPOTHESES_UNKNOWN, Hypothesis, as_hypotheses
from profiles.numbers import round_up_finite, to_exact, to_integer
from profiles.protection import Neighbors, Protection

try:
    import opendp.prelude as dp
except ImportError as error:
    raise MissingExtra("OpenDP is needed to make measurements, but it is not installed; install pdp-accountant[opendp]") from error

_BITS = 256
#: Domains whose members are no collections of records, which OpenDP pairs with distances of data sets all the same.
_NO_DATA_SETS = ("AtomDomain", "OptionDomain", "MapDomain", "BitVectorDomain")
#: The distances of OpenDP that count the records in which data sets differ, by how they differ; the first is taken where none is named.
_METRICS = {
    Neighbors.ADD_REMOVE: (dp.symmetric_distance, dp.insert_delete_distance),
    Neighbors.REPLACE_ONE: (dp.change_one_distance, dp.hamming_distance),
}


@dataclass(frozen=True, slots=True)
class PrivacyMap:
    """The privacy map d ↦ d·ε of group privacy, rounded up; with δ > 0 it is d ↦ (d·ε, δ (e^(dε) − 1)/(e^ε − 1)).

    ``d_in`` records are added, removed or replaced; ``epsilon`` in nats and ``delta`` are exact. Source: a chain of neighbors, Dwork and
    Roth 2014.
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if not all(isinstance(item, Fraction) for item in (self.epsilon, self.delta)) or self.epsilon < 0 or not 0 <= self.delta <= 1:
            raise InvalidArgument(
                f"epsilon of at least 0 and delta in [0, 1] were expected as fractions, but {str(self.epsilon)[:40]} and "
                f"{str(self.delta)[:40]} were found; make the map with plan_measurement"
            )

    def __call__(self, d_in: int) -> float | tuple[float, float]:
        """Return the privacy loss of data sets that differ in ``d_in`` records.

        Raises :class:`InvalidArgument` for what is no integer of at least 0.
        """
        d_in = to_integer(d_in, "d_in, a number of records,", 0)
        epsilon = round_up_finite(d_in * self.epsilon)
        return (epsilon, self._delta(d_in)) if self.delta else epsilon

    def _delta(self, d_in: int) -> float:
        if self.epsilon == 0 or d_in <= 1:
            return round_up_finite(min(Fraction(1), d_in * self.delta))
        with working_precision(_BITS):
            end = upper_fraction(ball(self.delta) * ball(d_in * self.epsilon).expm1() / ball(self.epsilon).expm1())
        return 1.0 if end is None else round_up_finite(min(Fraction(1), end))


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """The parts of an OpenDP measurement, as data: a plan can be pickled, unlike OpenDP's own objects with Python functions.

    ``function`` is ``package.module:name``, a module-level function from the data to the output: the mechanism that the guarantee of
    ``subject`` is about. You vouch that it is this mechanism, and for ``supposed``; OpenDP therefore requires the feature
    ``honest-but-curious``. ``protection``: whom the map protects. Make one with :func:`plan_measurement`.
    """

    subject: str
    privacy_map: PrivacyMap
    protection: Protection
    supposed: tuple[Hypothesis, ...]
    function: str

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The sentences of the hypotheses that were accepted."""
        return tuple(item.sentence for item in self.supposed)

    def make(self, input_domain: Any, input_metric: Any = None) -> Any:
        """Return the measurement: on ``input_domain`` with distances of its neighbors, in max divergence (approximate where δ > 0).

        ``input_metric``: ``symmetric_distance()`` (the default) or ``insert_delete_distance()`` where records are added or removed,
        ``change_one_distance()`` (the default) or ``hamming_distance()`` where one is replaced. The plan is its attribute ``pdp_plan``: the
        measurement knows nothing else of hypotheses, and what OpenDP makes of it has the distances alone.
        Raises :class:`InvalidArgument` for another metric and for a domain without records, and what OpenDP raises.
        """
        known = _METRICS[self.protection.neighbors]
        metric = known[0]() if input_metric is None else input_metric
        if metric not in [item() for item in known]:
            raise InvalidArgument(
                f"in the guarantee of {self.subject!r} {self.protection.describe()}, but the metric {metric} was given; use "
                f"{' or '.join(f'{item.__name__}()' for item in known)}"
            )
        if str(getattr(input_domain, "type", "")).removeprefix("opendp::domains::").startswith(_NO_DATA_SETS):
            raise InvalidArgument(
                f"the guarantee of {self.subject!r} is for data sets of records, but the domain {str(input_domain)[:80]} was given; use a "
                "vector_domain, a lazyframe_domain or a user_domain"
            )
        measure = dp.approximate(dp.max_divergence()) if self.privacy_map.delta else dp.max_divergence()
        measurement = dp.m.make_user_measurement(input_domain, metric, measure, _resolve(self.function), self.privacy_map)
        measurement.pdp_plan = self
        return measurement


def plan_measurement(guarantee: Guarantee, function: Callable[[Any], Any] | str, *, accept_hypotheses: bool = False) -> MeasurementPlan:
    """Return the plan of a measurement that runs ``function`` and has the ε of ``guarantee``, in both directions.

    ``function``: a module-level function, or its name ``package.module:name``. ``accept_hypotheses``: open hypotheses are accepted; they
    stay readable in the plan. Raises :class:`OpenHypotheses`; :class:`InvalidArgument` where there is no ε, the guarantee is one-sided (max
    divergence bounds both directions), or the function cannot be found again by its name.
    """
    spent = spend(guarantee, "OpenDP", accept_hypotheses=accept_hypotheses)
    if guarantee.unit is not Unit.RECORD:
        raise InvalidArgument(
            f"the guarantee of {guarantee.subject!r} is for {guarantee.unit.value}, but a measurement of OpenDP is for one row; merge the "
            "records of a user into one row, and account for that mechanism"
        )
    if spent.add is None:
        raise InvalidArgument(
            f"the guarantee of {guarantee.subject!r} is one-sided, but a measurement of OpenDP bounds both directions; sample first "
            "(accountant.onesided.subsample)"
        )
    if guarantee.protection.neighbors not in _METRICS:
        raise InvalidArgument(
            f"in the guarantee of {guarantee.subject!r} {guarantee.protection.describe()}, but OpenDP has no distance for that; bring it "
            "to other neighbors with change_neighbors"
        )
    return MeasurementPlan(
        guarantee.subject, PrivacyMap(spent.upper, spent.delta), guarantee.protection, guarantee.hypotheses, _name(function)
    )


def read_measurement(
    measurement: Any, *, name: str = "a measurement of OpenDP", hypotheses: Iterable[Hypothesis | str] | None = None
) -> Guarantee:
    """Return what a measurement promises for one record, as a declaration: ε, (ε, δ) or ρ of its privacy map at distance 1.

    The neighbors are those of its metric: records that are added or removed, or one that is replaced. One that was made from a plan of
    ours has its hypotheses; of all others, and of what OpenDP made of it, ``hypotheses`` says what they rest on, and None leaves open that
    nobody said it. Raises :class:`InvalidArgument` for other metrics and measures, by name.
    """
    plan = getattr(measurement, "pdp_plan", None)
    metric, measure = getattr(measurement, "input_metric", None), getattr(measurement, "output_measure", None)
    matching = [neighbors for neighbors, known in _METRICS.items() if metric in [item() for item in known]]
    if not matching:
        shown = f"the metric {str(metric)[:60]}" if metric is not None else f"an object of type {type(measurement).__name__}"
        listed = ", ".join(f"{item.__name__}()" for known in _METRICS.values() for item in known)
        raise InvalidArgument(
            f"a measurement whose metric counts records ({listed}) was expected, but {shown} was found; take one of data sets"
        )
    given = plan.supposed if isinstance(plan, MeasurementPlan) else ()
    if hypotheses is not None:
        given += as_hypotheses(hypotheses, repr(name[:60]))
    elif not isinstance(plan, MeasurementPlan):
        given = (HYPOTHESES_UNKNOWN.about(name=name, carrier="a measurement of OpenDP"),)
    (neighbors,) = matching
    if measure == dp.zero_concentrated_divergence():
        event = make_event(MechanismKind.ZCDP, {"rho": measurement.map(1)})
        return declare_events(Composition(name, (event,)), given, unit=Unit.RECORD, neighbors=neighbors)
    if measure not in (dp.max_divergence(), dp.approximate(dp.max_divergence())):
        raise InvalidArgument(
            f"a measurement in max divergence (approximate, too) or zero-concentrated divergence was expected, but {str(measure)[:60]} was "
            "found; bring it there with a combinator of OpenDP, such as make_fix_delta"
        )
    loss = measurement.map(1)
    epsilon, delta = (to_exact(item) for item in (loss if isinstance(loss, tuple) else (loss, 0)))
    return declare_directions(
        name, epsilon, epsilon, source="the privacy map of OpenDP at distance 1", hypotheses=given, delta_remove=delta, delta_add=delta,
        unit=Unit.RECORD, neighbors=neighbors,
    )  # fmt: skip


def _name(function: Callable[[Any], Any] | str) -> str:
    if isinstance(function, str):
        _resolve(function)
        return function
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    if "<" in name or _find(name) is not function:
        raise InvalidArgument(
            f"a module-level function was expected, but {name[:80]!r} cannot be found again by its name; define it in a module"
        )
    return name


def _resolve(name: str) -> Callable[[Any], Any]:
    function = _find(name)
    if not callable(function):
        raise InvalidArgument(f"a function package.module:name was expected, but {name[:80]!r} is not one; check module and name")
    return function  # type: ignore[no-any-return]


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        named: Any = importlib.import_module(module)
        for part in path.split("."):
            named = getattr(named, part)
    except (ImportError, AttributeError, ValueError):
        return None
    return named
