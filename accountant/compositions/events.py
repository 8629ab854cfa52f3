"""Events: one use of a mechanism in a composition, as exact numbers, and the limits that each of them has to keep.

Neighboring data sets differ in one record that is added or removed; P is the law of the output with the record, Q the one without it.
Every kind stands for a pair (P, Q) that dominates whatever mechanism is declared as it; docs/composition-bounds.md says which, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

from accountant.compositions.batches import Batches, Sampling
from profiles import InvalidArgument, exact_text, to_exact
from profiles.numbers import shorten, to_integer
from profiles.protection import Neighbors
from profiles.suggestions import suggest

#: Most tables of different mechanisms in one composition, and most uses of mechanisms in all.
MOST_EVENTS = 64
MOST_USES = 10**9
#: Numerators and denominators below 2^MOST_BITS: what fits holds every decimal of 90 digits and the binary64 numbers of these ranges.
MOST_BITS = 320
_SMALLEST, _LARGEST = Fraction(1, 10**12), Fraction(10**12)
_SMALLEST_RATE = Fraction(1, 10**15)
#: The largest ε, in nats, that is accounted with.
MOST_EPSILON = Fraction(10_000)


class Direction(Enum):
    """Which of the two laws is the first: δ(ε) is the supremum over all events S of first(S) − e^ε second(S)."""

    #: The record goes: P against Q.
    REMOVE = "remove"
    #: The record comes: Q against P.
    ADD = "add"


@dataclass(frozen=True, slots=True)
class _Range:
    """The values that a parameter may have: from ``least`` to ``most``, in words ``wanted``; ``most`` itself only where ``closed``."""

    least: Fraction
    most: Fraction
    wanted: str
    closed: bool = True

    def holds(self, value: Fraction) -> bool:
        return self.least <= value <= self.most and (self.closed or value < self.most)


_NOISE = _Range(_SMALLEST, _LARGEST, "above 0 (from 1e-12 to 1e12)")
_BATCH_NOISE = _Range(Fraction(1, 100), Fraction(10**6), "from 0.01 to 1000000")
_LOSS = _Range(Fraction(0), MOST_EPSILON, "from 0 to 10000")
_DELTA = _Range(Fraction(0), Fraction(1), "in [0, 1)", closed=False)
_RATE = _Range(_SMALLEST_RATE, Fraction(1), "in (0, 1] (and at least 1e-15)")


class MechanismKind(Enum):
    """The mechanisms that are accounted for, by their names in files. Sensitivity 1 throughout."""

    #: One number plus N(0, σ²), σ = ``noise_multiplier``; vectors too, by rotation.
    GAUSSIAN = "gaussian"
    #: One number plus Laplace noise with density e^(−|x|/b)/(2b), b = ``scale``.
    LAPLACE = "laplace"
    #: One integer plus an integer k of probability proportional to e^(−k²/(2σ²)), σ = ``noise_multiplier``.
    DISCRETE_GAUSSIAN = "discrete-gaussian"
    #: One integer plus an integer k of probability proportional to e^(−|k|/b), b = ``scale``.
    DISCRETE_LAPLACE = "discrete-laplace"
    #: One of two answers, the other one with odds e^−ε.
    RANDOMIZED_RESPONSE = "randomized-response"
    #: Any ε-differentially private mechanism.
    PURE = "pure"
    #: Any (ε, δ)-differentially private mechanism.
    APPROXIMATE = "approximate"
    #: Any mechanism with ρ-zCDP.
    ZCDP = "zcdp"
    #: Any mechanism with (ε, δ) of its own in each direction; a missing ``epsilon_add`` is unbounded.
    TWO_SIDED = "two-sided"


_NAMES: Mapping[MechanismKind, Mapping[str, _Range]] = MappingProxyType(
    {
        MechanismKind.GAUSSIAN: {"noise_multiplier": _NOISE},
        MechanismKind.LAPLACE: {"scale": _NOISE},
        MechanismKind.DISCRETE_GAUSSIAN: {"noise_multiplier": _NOISE},
        MechanismKind.DISCRETE_LAPLACE: {"scale": _NOISE},
        MechanismKind.RANDOMIZED_RESPONSE: {"epsilon": _LOSS},
        MechanismKind.PURE: {"epsilon": _LOSS},
        MechanismKind.APPROXIMATE: {"epsilon": _LOSS, "delta": _DELTA},
        MechanismKind.ZCDP: {"rho": _LOSS},
        MechanismKind.TWO_SIDED: {"epsilon_remove": _LOSS, "delta_remove": _DELTA, "epsilon_add": _LOSS, "delta_add": _DELTA},
    }
)
_OPTIONAL = frozenset({"epsilon_add"})
#: Of these only numbers are told, and not between which data sets they hold; randomised response is mostly told of a replaced answer.
TOLD = (MechanismKind.PURE, MechanismKind.APPROXIMATE, MechanismKind.ZCDP, MechanismKind.RANDOMIZED_RESPONSE)


@dataclass(frozen=True, slots=True)
class Event:
    """``count`` uses of a mechanism, each on a fresh Poisson sample that holds each record with ``sampling_probability``.

    With ``batches`` the samples are drawn as these say, and the pair is that of their neighbors; a use may then be an epoch.
    ``parameters``: pairs of name and exact value in the order of :func:`parameter_names`. Made by :func:`make_event`, or checked as there
    when it is made by hand. Raises :class:`InvalidArgument` for what is outside the ranges of the kind, :class:`profiles.InvalidNumber` for
    what is not a number.
    """

    mechanism: MechanismKind
    parameters: tuple[tuple[str, Fraction], ...]
    sampling_probability: Fraction = Fraction(1)
    count: int = 1
    batches: Batches | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, MechanismKind):
            raise InvalidArgument(f"a mechanism of MechanismKind was expected, but {str(self.mechanism)[:40]!r} was found; use make_event")
        names, kind = _NAMES[self.mechanism], self.mechanism.value
        if not isinstance(self.parameters, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.parameters):
            raise InvalidArgument(f"the mechanism {kind!r} has pairs of a name and a number, but others were found; use make_event")
        given = [name for name, _ in self.parameters]
        if [name for name in names if name in given or name not in _OPTIONAL] != given:
            raise InvalidArgument(f"the mechanism {kind!r} has the parameters {', '.join(names)}, in this order; give those")
        for name, value in self.parameters:
            _require(value, f"{name} of {kind!r}", names[name])
        _require(self.sampling_probability, f"sampling_probability of {kind!r}", _RATE)
        to_integer(self.count, f"count of {kind!r}", 1, MOST_USES, hint="give how often the mechanism is used")
        if self.mechanism is MechanismKind.ZCDP and self.sampling_probability != 1:
            raise InvalidArgument(
                "a sampled zcdp event was asked for, but rho alone says nothing useful of samples; declare the mechanism that has this "
                "rho, such as gaussian"
            )
        if self.batches is not None:
            _require_batches(self, self.batches)

    def __getitem__(self, name: str) -> Fraction:
        """The parameter of this name. Raises :class:`InvalidArgument` where the mechanism has none."""
        for key, value in self.parameters:
            if key == name:
                return value
        raise InvalidArgument(f"the mechanism {self.mechanism.value!r} has no parameter {name[:40]!r}; ask for one of {_list(self)}")

    @property
    def square(self) -> Fraction | None:
        """μ² of one use of Gaussian noise on all records, which is N(μ, 1) against N(0, 1); None for all other events.

        >>> make_event("gaussian", {"noise_multiplier": 2}).square
        Fraction(1, 4)
        """
        if self.mechanism is not MechanismKind.GAUSSIAN or self.sampling_probability != 1:
            return None
        moves = 2 if self.batches is not None and self.batches.neighbors is Neighbors.REPLACE_ONE else 1
        return (moves / self["noise_multiplier"]) ** 2

    def describe(self) -> str:
        """Return the event as one phrase.

        >>> make_event("gaussian", {"noise_multiplier": "1.1"}, sampling_probability="1/100", count=20).describe()
        'gaussian (noise_multiplier 1.1), Poisson sampling with q = 0.01, 20 times'
        """
        numbers = ", ".join(f"{name} {exact_text(value)}" for name, value in self.parameters)
        if self.batches is not None and self.batches.sampling is not Sampling.POISSON:
            if self.batches.sampling is Sampling.NONE:
                return f"{self.mechanism.value} ({numbers}), {self.batches.describe()}, " + _times(self.count)
            used = "epoch" if self.batches.sampling.is_by_epochs else "step"
            times = f"1 {used}" if self.count == 1 else f"{self.count} {used}s"
            return f"{self.mechanism.value} ({numbers}), {self.batches.describe()}, {times}"
        sampled = "" if self.sampling_probability == 1 else f", Poisson sampling with q = {exact_text(self.sampling_probability)}"
        if self.batches is not None:
            drawn = self.batches.describe()
            sampled += f" {drawn}" if drawn.startswith("(") else f", {drawn}"
        return f"{self.mechanism.value} ({numbers}){sampled}, " + _times(self.count)


@dataclass(frozen=True, slots=True)
class Composition:
    """Events one after the other, each of which may depend on the outputs of the earlier ones; equal ones are counted together.

    >>> step = make_event("laplace", {"scale": 2}, count=3)
    >>> Composition("twice", (step, step)).events[0].count
    6
    """

    name: str
    events: tuple[Event, ...] = field(default=())

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable() or len(self.name) > 200:
            raise InvalidArgument(f"a line of at most 200 letters was expected as name, but {str(self.name)[:40]!r} was found; reword it")
        object.__setattr__(self, "events", _merge(self.events))
        if not self.events:
            raise InvalidArgument(f"the composition {self.name[:80]!r} has no event; add at least one [[event]]")
        if len(self.events) > MOST_EVENTS:
            raise InvalidArgument(
                f"the composition {self.name[:80]!r} has {len(self.events)} different events, but at most {MOST_EVENTS} are accounted for "
                "together; give equal ones the same numbers"
            )
        if (uses := sum(event.count for event in self.events)) > MOST_USES:
            raise InvalidArgument(
                f"the composition {self.name[:80]!r} has {shorten(Fraction(uses))} uses in all, but at most {MOST_USES} are accounted for; "
                "lower the counts"
            )

    def leaves_noise_open(self, neighbors: Neighbors | str | None) -> bool:
        """Tell whether it is open if Gaussian noise is in units of the norm of a record, or of the change that a replaced record makes.

        ``neighbors``: those that the numbers are for, also by name; None: those of the batches, where an event says them. Only where one
        record is replaced by another do the two differ, by a factor of 2.

        >>> Composition("a sum", (make_event("gaussian", {"noise_multiplier": 2}),)).leaves_noise_open("replace-one")
        True
        """
        own = {event.batches.neighbors for event in self.events if event.batches is not None} if neighbors is None else {neighbors}
        plain = any(event.mechanism is MechanismKind.GAUSSIAN and event.batches is None for event in self.events)
        return plain and not own.isdisjoint((Neighbors.REPLACE_ONE, Neighbors.REPLACE_ONE.value))


def parameter_names(kind: MechanismKind) -> tuple[str, ...]:
    """Return the names of the parameters of a mechanism, in their order."""
    return tuple(_NAMES[kind])


def make_event(
    mechanism: object,
    parameters: Mapping[str, object],
    *,
    sampling_probability: object = 1,
    count: object = 1,
    batches: Batches | None = None,
) -> Event:
    """Return an event of numbers as a user gives them: each is exact, a text stands for the decimal or fraction that is written.

    ``mechanism``: a :class:`MechanismKind` or its name. ``batches``: how they are drawn (:func:`draw_batches`), where they are not Poisson
    samples under adding or removing a record; their rate is the sampling probability, and ``count`` counts steps, or epochs. Raises
    :class:`InvalidArgument` (unknown or missing names, numbers outside their ranges), :class:`profiles.InvalidNumber`.

    >>> make_event("gaussian", {"noise_multiplier": "1.1"}, sampling_probability="256/60000", count="1.4e4").count
    14000
    """
    kind = to_kind(mechanism)
    names = _NAMES[kind]
    if not isinstance(parameters, Mapping):
        raise InvalidArgument(f"the numbers of {kind.value!r} come by their names, but {_shown(parameters)} was found; give a dict")
    for name in parameters:
        if name not in names:
            raise InvalidArgument(
                f"the mechanism {kind.value!r} has no parameter {str(name)[:40]!r}; it takes {', '.join(names)}{suggest(name, names)}"
            )
    missing = [name for name in names if name not in parameters and name not in _OPTIONAL]
    if missing:
        raise InvalidArgument(f"the mechanism {kind.value!r} needs {missing[0]}, but nothing was found; add it")
    exact = tuple((name, to_exact(parameters[name], f"{name} of {kind.value!r}")) for name in names if name in parameters)
    rate = to_exact(sampling_probability, f"sampling_probability of {kind.value!r}")
    hint = "give how often the mechanism is used"
    uses = to_integer(count, f"count of {kind.value!r}", 1, MOST_USES, hint=hint, any_form=True)
    if isinstance(batches, Batches) and batches.rate is not None and rate == 1:
        rate = batches.rate
    return Event(kind, exact, rate, uses, batches)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def to_kind(mechanism: object) -> MechanismKind:
    """Return the mechanism of a name. Raises :class:`InvalidArgument` for others."""
    if isinstance(mechanism, MechanismKind):
        return mechanism
    known = {kind.value: kind for kind in MechanismKind}
    if not isinstance(mechanism, str) or mechanism not in known:
        shown = repr(mechanism[:40]) if isinstance(mechanism, str) else _shown(mechanism)
        raise InvalidArgument(f"a mechanism of {', '.join(known)} was expected, but {shown} was found; name one{suggest(mechanism, known)}")
    return known[mechanism]


def _merge(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events with equal ones counted together, in the order in which they come first."""
    counts: dict[tuple[MechanismKind, tuple[tuple[str, Fraction], ...], Fraction, Batches | None], int] = {}
    if not isinstance(events, (tuple, list)):
        raise InvalidArgument(f"events were expected, but {_shown(events)} was found; give them as a tuple")
    for event in events:
        if not isinstance(event, Event):
            raise InvalidArgument(f"events were expected, but {_shown(event)} was found; use make_event")
        key = (event.mechanism, event.parameters, event.sampling_probability, event.batches)
        counts[key] = counts.get(key, 0) + event.count
    for (kind, *_), count in counts.items():
        if count > MOST_USES:
            raise InvalidArgument(f"{kind.value!r} is used {count} times, but at most {MOST_USES} uses are accounted for; lower the counts")
    return tuple(Event(kind, numbers, rate, count, batches) for (kind, numbers, rate, batches), count in counts.items())


def _require_batches(event: Event, batches: object) -> None:
    """Refuse batches of what is no Gaussian noise, and a sampling probability that is not theirs. Raises :class:`InvalidArgument`."""
    if not isinstance(batches, Batches):
        raise InvalidArgument(f"batches were expected, but {_shown(batches)} was found; use draw_batches")
    if event.mechanism is not MechanismKind.GAUSSIAN:
        raise InvalidArgument(
            f"{batches.sampling.value!r} batches were found for {event.mechanism.value!r}, but they are accounted for with gaussian noise; "
            "use Poisson samples of add-remove neighbors for other mechanisms"
        )
    if batches.sampling is Sampling.NONE:
        if event.sampling_probability != 1:
            raise InvalidArgument("all records were said to be in each step, but a sampling probability was found; leave it out")
        return
    _require(event["noise_multiplier"], f"noise_multiplier with {batches.sampling.value!r} batches", _BATCH_NOISE)
    if event.sampling_probability == 1 or (batches.rate is not None and event.sampling_probability != batches.rate):
        raise InvalidArgument(
            f"a sampling probability of {shorten(event.sampling_probability)} was found, but that of {batches.describe()} follows from "
            "the batches; change these"
        )


def _require(value: object, what: str, allowed: _Range) -> None:
    if not isinstance(value, Fraction):
        raise InvalidArgument(f"{what} must be a Fraction, but {_shown(value)} was found; use make_event")
    if not allowed.holds(value):
        raise InvalidArgument(f"{what} must lie {allowed.wanted}, but {shorten(value)} was found; correct it")
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise InvalidArgument(f"{what} has more digits than are accounted with; round it to at most 90 digits, to the safe side")


def _shown(value: object) -> str:
    return f"an object of type {type(value).__name__}"


def _list(event: Event) -> str:
    return ", ".join(name for name, _ in event.parameters)
