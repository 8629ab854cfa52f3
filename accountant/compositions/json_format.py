"""Compositions as JSON types and back, exactly: in guarantee files and in certificates. The keys are those of the TOML file."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from accountant.compositions.batches import Sampling, draw_batches, size_names, to_sampling
from accountant.compositions.events import Composition, Event, MechanismKind, make_event, parameter_names, to_kind
from profiles import InvalidArgument, InvalidNumber, UnreadableFile
from profiles.strict_json import read_count, read_exact, read_fields, read_list, read_string, write_exact


def composition_object(composition: Composition) -> dict[str, Any]:
    """Return a composition as an object of JSON types; numbers are exact texts.

    >>> from accountant.compositions.events import make_event
    >>> composition_object(Composition("one", (make_event("pure", {"epsilon": "0.5"}),)))["events"]
    [{'mechanism': 'pure', 'epsilon': '0.5', 'sampling_probability': '1', 'count': 1}]
    """
    return {"name": composition.name, "events": [_event_object(event) for event in composition.events]}


def composition_from_object(value: object, where: str = "a composition") -> Composition:
    """Return the composition of an object. Raises :class:`UnreadableFile`."""
    fields = read_fields(value, where, {"name", "events"})
    events = [_event_from_object(item, f"an event of {where}") for item in read_list(fields["events"], f"the events of {where}")]
    try:
        return Composition(read_string(fields["name"], f"the name of {where}"), tuple(events))
    except InvalidArgument as error:
        raise UnreadableFile(f"{where} cannot be read: {error}") from None


def _event_object(event: Event) -> dict[str, Any]:
    return event_object(event, write_exact)


def event_object(event: Event, write: Callable[[Fraction], str]) -> dict[str, Any]:
    """Return an event as an object of JSON types, in the words of a certificate; ``write``: how numbers are written."""
    if (batches := event.batches) is not None:
        poisson = batches.sampling is Sampling.POISSON
        return {
            "mechanism": event.mechanism.value,
            **{name: write(value) for name, value in event.parameters},
            "sampling": batches.sampling.value,
            "neighbors": batches.neighbors.value,
            **({"sampling_probability": write(event.sampling_probability)} if poisson else {}),
            **dict(batches.sizes),
            "epochs" if batches.sampling.is_by_epochs else "count": event.count,
        }
    return {
        "mechanism": event.mechanism.value,
        **{name: write(value) for name, value in event.parameters},
        "sampling_probability": write(event.sampling_probability),
        "count": event.count,
    }


def _event_from_object(value: object, where: str) -> Event:
    if not isinstance(value, dict) or "mechanism" not in value:
        raise UnreadableFile(f"{where} needs a mechanism, but none was found; correct the file")
    try:
        kind = to_kind(value["mechanism"])
        names = parameter_names(kind)
        if "sampling" in value:
            return _batches_from_object(value, kind, where)
        fields = read_fields(value, where, {"mechanism", "sampling_probability", "count"}, frozenset(names))
        numbers = {name: read_exact(fields[name], f"{name} of {where}") for name in names if name in fields}
        rate = read_exact(fields["sampling_probability"], f"sampling_probability of {where}")
        return make_event(kind, numbers, sampling_probability=rate, count=read_count(fields["count"], f"count of {where}"))
    except (InvalidArgument, InvalidNumber) as error:
        raise UnreadableFile(f"{where} cannot be read: {error}") from None


def _batches_from_object(value: dict[str, Any], kind: MechanismKind, where: str) -> Event:
    names = parameter_names(kind)
    sampling = to_sampling(value["sampling"])
    poisson, often = sampling is Sampling.POISSON, "epochs" if sampling.is_by_epochs else "count"
    sizes, needed = size_names(sampling), size_names(sampling, needed=True)
    rates = {"sampling_probability"} if poisson else set[str]()
    fields = read_fields(value, where, {"mechanism", "sampling", "neighbors", often, *names, *needed, *rates}, frozenset(sizes))
    numbers = {name: read_exact(fields[name], f"{name} of {where}") for name in names}
    whole = {name: read_count(fields[name], f"{name} of {where}") for name in sizes if name in fields}
    batches = draw_batches(sampling, read_string(fields["neighbors"], f"the neighbors of {where}"), **whole)
    rate = read_exact(fields["sampling_probability"], f"sampling_probability of {where}") if poisson else 1
    return make_event(kind, numbers, sampling_probability=rate, count=read_count(fields[often], f"{often} of {where}"), batches=batches)
