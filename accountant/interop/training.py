"""What a training run says of itself as a privacy curve: the settings of Opacus (noise multiplier, sample rate, steps). Needs no extra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from accountant.compositions.events import MechanismKind
from accountant.curves import Composition, PrivacyCurve, curve_of, make_event
from profiles import InvalidArgument
from profiles.hypotheses import HYPOTHESES_UNKNOWN, Hypothesis

_WANTED = "an accountant of Opacus, its state_dict, or its history of (noise multiplier, sample rate, steps)"


def curve_of_opacus(
    source: object, *, name: str = "training with Opacus", hypotheses: Iterable[Hypothesis | str] | None = None
) -> PrivacyCurve:
    """Return the privacy curve of the steps that an accountant of Opacus has counted.

    ``source``: the accountant (anything with ``history``), its ``state_dict()``, or its list of (noise multiplier, sample rate, steps).
    A float stands for its exact binary value, a text for the decimal that is written. That each step has a fresh Poisson sample with this
    rate (``poisson_sampling=True``) and that gradients are clipped to the norm by which the noise is scaled are hypotheses of the curve.
    ``hypotheses``: what else the numbers rest on; None leaves open that nobody said it.

    Raises :class:`InvalidArgument` for another object, no steps and numbers outside their ranges, :class:`profiles.InvalidNumber`.

    >>> curve_of_opacus([(1.0, "0.01", 1000)]).composition.events[0].describe()
    'gaussian (noise_multiplier 1), Poisson sampling with q = 0.01, 1000 times'
    """
    history: Any = source.get("history") if isinstance(source, Mapping) else getattr(source, "history", source)
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise InvalidArgument(f"{_WANTED} was expected, but an object of type {type(source).__name__} was found; give one of these")
    events = []
    for place, entry in enumerate(history):
        if not isinstance(entry, (tuple, list)) or len(entry) != 3:
            raise InvalidArgument(f"{_WANTED} was expected, but entry {place} of the history is no triple; give one of these")
        noise, rate, steps = entry
        events.append(make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": noise}, sampling_probability=rate, count=steps))
    if not events:
        raise InvalidArgument("a training run with steps was expected, but its history has none; account after training")
    unknown = HYPOTHESES_UNKNOWN.about(name=name, carrier="an accountant of Opacus")
    return curve_of(Composition(name, tuple(events)), hypotheses=(unknown,) if hypotheses is None else hypotheses)
