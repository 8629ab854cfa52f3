"""Event trees of Google's ``dp_accounting`` as privacy curves, with both sides certified here. Extra ``dp-accounting``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from accountant.curves import Composition, Event, PrivacyCurve, curve_of, make_event
from accountant.curves.events import MechanismKind
from accountant.guarantees.curves import as_one_use, event_of_losses
from accountant.guarantees.theorem import TwoSidedDP
from accountant.interop.dp_accounting import CertifiedDpEvent
from profiles import InvalidArgument, MissingExtra, to_exact
from profiles.hypotheses import Hypothesis
from profiles.numbers import shorten, to_integer

try:
    from dp_accounting import dp_event
except ImportError as error:
    raise MissingExtra(
        "dp_accounting is needed to read its events, but it is not installed; install pdp-accountant[dp-accounting]"
    ) from error

_DEEPEST = 50


def curve_of_dp_event(event: Any, *, name: str = "dp_accounting events", hypotheses: Iterable[Hypothesis | str] = ()) -> PrivacyCurve:
    """Return the privacy curve of a ``DpEvent``: Gaussian, Laplace, discrete Laplace, zCDP, ours, composed and Poisson-sampled ones.

    A float stands for its exact binary value. The hypotheses of our :class:`accountant.interop.dp_accounting.CertifiedDpEvent` stay. A
    sample is taken of one use of a mechanism: steps that share a sample are refused where nothing is proved of them.

    Raises :class:`InvalidArgument`: events that are not private, of other kinds (fixed-size samples are no Poisson samples; a randomised
    response replaces a record), units other than a record, nothing at all; :class:`profiles.InvalidNumber`.
    """
    if not isinstance(event, dp_event.DpEvent):
        raise InvalidArgument(f"a DpEvent was expected, but an object of type {type(event).__name__} was found; give an event")
    found = tuple(_events(event, 0))
    if not found:
        raise InvalidArgument("a DpEvent with a mechanism was expected, but it does nothing; give one that has a cost")
    certified = dict.fromkeys(sentence for item in _walk(event) if isinstance(item, CertifiedDpEvent) for sentence in item.hypotheses)
    return curve_of(Composition(name, found), hypotheses=(*certified, *hypotheses))


def _events(event: Any, depth: int) -> Iterator[Event]:
    if depth > _DEEPEST:
        raise InvalidArgument(f"events nested at most {_DEEPEST} deep were expected, but these are deeper; flatten them")
    if isinstance(event, dp_event.NoOpDpEvent):
        return
    if isinstance(event, dp_event.ComposedDpEvent):
        for item in event.events:
            yield from _events(item, depth + 1)
    elif isinstance(event, dp_event.SelfComposedDpEvent):
        count = to_integer(event.count, "the count of a SelfComposedDpEvent", 1)
        for item in _events(event.event, depth + 1):
            yield Event(item.mechanism, item.parameters, item.sampling_probability, item.count * count)
    elif isinstance(event, dp_event.PoissonSampledDpEvent):
        yield from _sampled(event, depth)
    else:
        yield _single(event)


def _sampled(event: Any, depth: int) -> Iterator[Event]:
    inside = tuple(_events(event.event, depth + 1))
    if inside:
        one = as_one_use(Composition("what is run on a Poisson sample", inside))
        rate = to_exact(event.sampling_probability, "sampling_probability of a PoissonSampledDpEvent")
        if not 0 < rate <= 1:
            raise InvalidArgument(f"a PoissonSampledDpEvent has a probability in (0, 1], but {shorten(rate)} was found; correct it")
        yield Event(one.mechanism, one.parameters, one.sampling_probability * rate)


def _single(event: Any) -> Event:
    if isinstance(event, CertifiedDpEvent):
        if event.unit != "record":
            raise InvalidArgument(
                f"events that protect one record were expected, but one protects one {event.unit}; bring them to one unit"
            )
        spent = event.spending
        return event_of_losses(TwoSidedDP(spent.plus, spent.minus, spent.delta_plus, spent.delta_minus))
    if isinstance(event, dp_event.GaussianDpEvent):
        return make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": event.noise_multiplier})
    if isinstance(event, dp_event.LaplaceDpEvent):
        return make_event(MechanismKind.LAPLACE, {"scale": event.noise_multiplier})
    if isinstance(event, dp_event.DiscreteLaplaceDpEvent) and event.sensitivity == 1 and to_exact(event.noise_parameter) > 0:
        return make_event(MechanismKind.DISCRETE_LAPLACE, {"scale": 1 / to_exact(event.noise_parameter)})
    if isinstance(event, dp_event.ZCDpEvent) and event.xi == 0:
        return make_event(MechanismKind.ZCDP, {"rho": event.rho})
    raise InvalidArgument(
        f"Gaussian, Laplace, discrete Laplace (of sensitivity 1) and zCDP events, composed and Poisson-sampled, are accounted for, but "
        f"{type(event).__name__} was found; declare what it is as an event of accountant.curves"
    )


def _walk(event: Any) -> Iterator[Any]:
    yield event
    inside = getattr(event, "events", None) or ([event.event] if hasattr(event, "event") else [])
    for item in inside:
        yield from _walk(item)


__all__ = ["curve_of_dp_event"]
