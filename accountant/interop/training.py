"""What a training run says of itself as a privacy curve: the settings of Opacus (noise multiplier, sample rate, steps). Needs no extra.

A history of our accountant in Opacus has a fourth entry where batches are not Poisson samples: how they are drawn, in the words of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from accountant.compositions.batches import Sampling, read_batches
from accountant.compositions.events import MechanismKind
from accountant.curves import Composition, PrivacyCurve, curve_of, make_event
from profiles import InvalidArgument
from profiles.hypotheses import HYPOTHESES_UNKNOWN, WHOLE_EPOCHS, Hypothesis
from profiles.protection import Neighbors

_WANTED = "an accountant of Opacus, its state_dict, or its history of (noise multiplier, sample rate, steps)"


def curve_of_opacus(
    source: object, *, name: str = "training with Opacus", hypotheses: Iterable[Hypothesis | str] | None = None
) -> PrivacyCurve:
    """Return the privacy curve of the steps that an accountant of Opacus has counted.

    ``source``: the accountant (anything with ``history``), its ``state_dict()``, or its list of (noise multiplier, sample rate, steps).
    A float stands for its exact binary value, a text for the decimal that is written. That each step has a fresh Poisson sample with this
    rate (``poisson_sampling=True``) and that gradients are clipped to the norm by which the noise is scaled are hypotheses of the curve.
    A fourth entry says how else batches are drawn (``{"sampling": "shuffle", "steps_per_epoch": 235, "epochs": 3}``).
    Epochs of shuffled batches are counted by steps: that each was run to its end is a hypothesis then.
    ``hypotheses``: further assumptions; None leaves open that nobody stated it.

    Raises :class:`InvalidArgument` for another object, no steps and numbers outside their ranges, :class:`profiles.InvalidNumber`.

    >>> curve_of_opacus([(1.0, "0.01", 1000)]).composition.events[0].describe()
    'gaussian (noise_multiplier 1), Poisson sampling with q = 0.01, 1000 times'
    """
    history: Any = source.get("history") if isinstance(source, Mapping) else getattr(source, "history", source)
    if isinstance(history, (str, bytes)) or not isinstance(history, Iterable):
        raise InvalidArgument(f"{_WANTED} was expected, but an object of type {type(source).__name__} was found; give one of these")
    events, counted = [], tuple[Hypothesis, ...]()
    for place, entry in enumerate(history):
        if not isinstance(entry, (tuple, list)) or len(entry) not in (3, 4):
            raise InvalidArgument(f"{_WANTED} was expected, but entry {place} of the history is not a triple; give one of these")
        noise, rate, steps = entry[:3]
        said = {"sampling_probability": rate, "count": steps} if len(entry) == 3 else _read_said(entry[3], place)
        drawn = read_batches(said, Neighbors.ADD_REMOVE, f"entry {place} of the history")
        if said.get("sampling") == Sampling.SHUFFLE.value:
            counted = (WHOLE_EPOCHS,)
        noisy = {"noise_multiplier": noise}
        events.append(make_event(MechanismKind.GAUSSIAN, noisy, sampling_probability=drawn.rate, count=drawn.count, batches=drawn.batches))
    if not events:
        raise InvalidArgument("a training run with steps was expected, but its history has none; account after training")
    unknown = HYPOTHESES_UNKNOWN.about(name=name, carrier="an accountant of Opacus")
    return curve_of(Composition(name, tuple(events)), hypotheses=(*counted, *((unknown,) if hypotheses is None else hypotheses)))


def _read_said(said: object, place: int) -> Mapping[str, object]:
    if not isinstance(said, Mapping) or not ("count" in said or "epochs" in said):
        raise InvalidArgument(f"entry {place} of the history does not say how its batches were drawn, and how often; give what step wrote")
    return said
