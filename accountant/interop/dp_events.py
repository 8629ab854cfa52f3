"""Events of Google's ``dp_accounting``: ours among them, and trees of them as privacy curves. Extra ``dp-accounting``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from accountant.compositions.batches import Sampling, draw_batches
from accountant.compositions.events import TOLD, MechanismKind
from accountant.curves import Composition, DeclaredEvents, Event, PrivacyCurve, curve_of
from accountant.curves import make_event as declare_event
from accountant.guarantees import Guarantee
from accountant.guarantees.combining import is_on_sample
from accountant.guarantees.measures import Losses, as_one_use, group_composition, replace_losses
from accountant.interop.dominating import spend
from profiles import InvalidArgument, InvalidNumber, MissingExtra, PDPError, decimal_text, to_exact
from profiles.balls import ball, upper_fraction, working_precision
from profiles.hypotheses import FRESH_SAMPLES, HYPOTHESES_UNKNOWN, ONE_ANALYSIS, STATED, STEPS_APART, Hypothesis, as_hypotheses, recall
from profiles.numbers import round_up_finite, shorten, to_integer
from profiles.protection import Neighbors, Protection, Unit, read_protection

try:
    import attr
    from dp_accounting import dp_event
except ImportError as error:
    raise MissingExtra(
        "dp_accounting is needed to use its events, but it is not installed; install pdp-accountant[dp-accounting]"
    ) from error

_DEEPEST = 50
_BITS, _DIGITS = 320, 40


@attr.s(frozen=True, auto_attribs=True)
class CertifiedDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """One run of mechanisms with these losses, in nats; made by :func:`make_event`.

    For D = D' with one unit more: P[M(D) ∈ S] ≤ e^epsilon_remove P[M(D') ∈ S] + delta_remove, and with epsilon_add and
    delta_add where D and D' are exchanged. All four are binary64 numbers, rounded up; ``epsilon_add`` may be ∞. ``hypotheses``
    are the sentences of those that were open in the guarantee, and ``identifiers`` their ids; ``units`` and ``relations`` hold one name
    each: a text alone would not survive the library's own to_named_tuple. Events are data: one that was written by hand proves nothing.
    """

    epsilon_remove: float
    epsilon_add: float
    delta_remove: float = 0.0
    delta_add: float = 0.0
    subjects: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    units: tuple[str, ...] = ("record",)
    relations: tuple[str, ...] = ("add-remove",)
    identifiers: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        losses = all(isinstance(value, float) and value >= 0 for value in (self.epsilon_remove, self.epsilon_add))
        deltas = all(isinstance(value, float) and 0 <= value <= 1 for value in (self.delta_remove, self.delta_add))
        if not losses or not deltas or math.isinf(self.epsilon_remove):
            raise InvalidNumber("an event needs losses of at least 0 (epsilon_add may be inf) and deltas in [0, 1], as floats")
        listed = (self.subjects, self.hypotheses, self.units, self.relations, self.identifiers)
        alike = len(self.units) == len(self.relations) == 1 and len(self.identifiers) in (0, len(self.hypotheses))
        if not alike or not all(isinstance(texts, tuple) and all(isinstance(text, str) for text in texts) for texts in listed):
            raise InvalidArgument("the texts of an event must be tuples of texts, but others were found; use make_event")
        if not self.protection.neighbors.is_directed and not self.losses.is_symmetric:
            raise InvalidArgument(f"an event has a loss for each direction, but {self.protection.describe()}; give the larger one for both")

    @property
    def protection(self) -> Protection:
        """Whom it protects, and against what change."""
        return read_protection(self.units[0], self.relations[0], "an event")

    @property
    def unit(self) -> str:
        """Whom it protects: a record, a user or an event."""
        return self.units[0]

    @property
    def neighbors(self) -> str:
        """Between which data sets its losses hold."""
        return self.relations[0]

    @property
    def losses(self) -> Losses:
        """The losses as exact numbers."""
        add = None if math.isinf(self.epsilon_add) else Fraction(self.epsilon_add)
        return Losses(Fraction(self.epsilon_remove), add, Fraction(self.delta_remove), Fraction(self.delta_add))

    @property
    def open_hypotheses(self) -> tuple[Hypothesis, ...]:
        """The open hypotheses; where an event does not say what it was made from, that they are unknown is one."""
        identifiers = self.identifiers or (STATED.id,) * len(self.hypotheses)
        stated = tuple(recall(*item) for item in zip(identifiers, self.hypotheses, strict=True))
        if self.subjects and stated:
            return stated
        return (*stated, HYPOTHESES_UNKNOWN.about(name="an event", carrier="a CertifiedDpEvent without subjects or hypotheses"))


def make_event(guarantee: Guarantee, *, accept_hypotheses: bool = False) -> CertifiedDpEvent:
    """Return a guarantee as an event: its losses in both directions, each rounded up to binary64, its protection and its hypotheses.

    ``accept_hypotheses``: open hypotheses are accepted; they stay in the event, and in what is computed of it here.
    Raises :class:`OpenHypotheses`, :class:`InvalidArgument` (no ε: take a worst case first; not made by a rule), :class:`InvalidNumber`.
    """
    spent = spend(guarantee, "dp_accounting", accept_hypotheses=accept_hypotheses)
    told = dict.fromkeys(guarantee.hypotheses)
    if is_on_sample(guarantee) and ONE_ANALYSIS not in told:  # by words: an event may be composed with others on its sample
        told[FRESH_SAMPLES] = None
    return CertifiedDpEvent(
        round_up_finite(spent.remove),
        math.inf if spent.add is None else round_up_finite(spent.add),
        round_up_finite(spent.delta_remove),
        round_up_finite(spent.delta_add),
        (guarantee.subject,),
        tuple(item.sentence for item in told),
        (guarantee.unit.word,),
        (guarantee.protection.neighbors.value,),
        tuple(item.id for item in told),
    )


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a mechanism in a tree; ``event`` None: it promises nothing.

    ``unit`` and ``neighbors``: what the event itself says, None where it says nothing. ``losses``: those of a certified event, unsampled.
    ``drawn``: how its batches are drawn otherwise than by coins, the number of records and that of a batch; the event is on a batch.
    """

    event: Event | None
    unit: Unit | None = None
    neighbors: Neighbors | None = None
    losses: Losses | None = None
    brought: tuple[Hypothesis, ...] = ()
    drawn: tuple[Sampling, int, int] | None = None


def curve_of_dp_event(
    event: Any,
    *,
    name: str = "dp_accounting events",
    hypotheses: Iterable[Hypothesis | str] | None = None,
    unit: Unit | str | None = None,
    neighbors: Neighbors | str | None = None,
) -> PrivacyCurve:
    """Return the privacy curve of a ``DpEvent``, or of all that an accountant of dp_accounting has composed.

    Read are Gaussian, Laplace, discrete Laplace and discrete Gaussian noise (of sensitivity 1), tree aggregation (of zero-out neighbors),
    zCDP, (ε, δ), randomised response, our own events, compositions and Poisson samples of one use. A float stands for its exact binary
    value. ``hypotheses``: what it rests on; None leaves open that nobody said it. ``unit``: whom the library's events protect (a record),
    which ours must protect as well. ``neighbors``: as in dp_accounting noise is in units of the norm of a record, so that one in place of
    another counts twice; numbers (ε, δ, ρ) hold for these neighbors. None: those that ours and trees say, add/remove for noise, and an open
    hypothesis for numbers.

    Raises :class:`InvalidArgument`: events that are not private, of other kinds, different
    units or neighbors, nothing at all; :class:`profiles.InvalidNumber`.
    """
    if isinstance(getattr(event, "ledger", None), dp_event.DpEvent):
        relation = event.neighboring_relation.name
        if neighbors is None and relation not in RELATIONS:
            raise InvalidArgument(f"the relation {relation} of an accountant is not supported; use {' or '.join(RELATIONS)}")
        event, neighbors = event.ledger, RELATIONS[relation] if neighbors is None else neighbors
    uses: dict[Use, int] = {}
    for use, count in read_uses(event):
        uses[use] = uses.get(use, 0) + count
    given = None if hypotheses is None else as_hypotheses(hypotheses, repr(name))
    relation = None if neighbors is None else read_protection(Unit.RECORD, neighbors, "a curve").neighbors
    whose = None if unit is None else read_protection(unit, Neighbors.ADD_REMOVE, "a curve").unit
    return curve_of(declare_uses(uses, name, given, whose, relation))


#: The neighbors of the relations of dp_accounting; a special record is one that adds nothing to a sum.
RELATIONS = {
    "ADD_OR_REMOVE_ONE": Neighbors.ADD_REMOVE,
    "REPLACE_ONE": Neighbors.REPLACE_ONE,
    "REPLACE_SPECIAL": Neighbors.ZERO_OUT,
}


def read_uses(event: Any, depth: int = 0) -> Iterator[tuple[Use, int]]:
    """Yield each use of a mechanism in a tree with how often it happens. Raises as :func:`curve_of_dp_event`."""
    if depth > _DEEPEST:
        raise InvalidArgument(f"events nested at most {_DEEPEST} deep were expected, but these are deeper; flatten them")
    if not isinstance(event, dp_event.DpEvent):
        raise InvalidArgument(f"a DpEvent was expected, but an object of type {type(event).__name__} was found; give an event")
    if isinstance(event, dp_event.ComposedDpEvent):
        for item in event.events:
            yield from read_uses(item, depth + 1)
    elif isinstance(event, dp_event.SelfComposedDpEvent):
        times = to_integer(event.count, "the count of a SelfComposedDpEvent", 1)
        yield from ((use, count * times) for use, count in read_uses(event.event, depth + 1))
    elif isinstance(event, dp_event.PoissonSampledDpEvent):
        yield from _sampled(event, depth)
    elif isinstance(event, (dp_event.SampledWithoutReplacementDpEvent, dp_event.SampledWithReplacementDpEvent)):
        yield from _batched(event, depth)
    elif isinstance(event, CertifiedDpEvent):
        spent, whole = event.losses, event.protection
        yield Use(None if spent.delta == 1 else spent.to_event(), whole.unit, whole.neighbors, spent, event.open_hypotheses), 1
    elif isinstance(event, dp_event.NonPrivateDpEvent) or _is_without_noise(event):
        yield Use(None), 1
    elif _is_a(event, "SingleEpochTreeAggregationDpEvent"):
        yield _climb(event)
    elif _is_a(event, "RandomizedResponseDpEvent"):
        if event.num_buckets != 1:
            yield Use(_respond(event), neighbors=Neighbors.REPLACE_ONE), 1
    elif not isinstance(event, dp_event.NoOpDpEvent):
        yield Use(_single(event)), 1


def find_protection(uses: Iterable[Use], unit: Unit | None, neighbors: Neighbors | None) -> Protection:
    """Return the one protection of all uses. Raises :class:`InvalidArgument` where they have several, in whatever order they come.

    ``unit`` and ``neighbors`` are those of events that say none (a record, add/remove), and are asked of the others, where they are given;
    a bound for a unit that is added or removed, or that becomes empty, counts where one is replaced, too.
    """
    own, listed = unit or Unit.RECORD, tuple(uses)
    units = {use.unit or own for use in listed} | ({unit} if unit else set())
    if len(units) > 1:
        raise InvalidArgument(
            f"events that protect one unit were expected, but {' and '.join(sorted(item.word for item in units))} were found (one of "
            f"dp_accounting protects a {own.word}, unless unit says another); bring the guarantees to one unit first"
        )
    relations = {use.neighbors or neighbors or Neighbors.ADD_REMOVE for use in listed}
    if not listed:
        return Protection(own, neighbors or Neighbors.ADD_REMOVE)
    if neighbors is not None:
        relations = {item for item in relations if neighbors is not Neighbors.REPLACE_ONE or not item.is_directed} | {neighbors}
    if len(relations) > 1:
        raise InvalidArgument(
            f"events with one kind of neighbors were expected, but {' and '.join(sorted(item.value for item in relations))} were found (a "
            "RandomizedResponseDpEvent is about replace-one); bring guarantees to one first with change_neighbors, or use another relation"
        )
    return Protection(units.pop(), relations.pop())


def declare_uses(
    uses: Mapping[Use, int], name: str, hypotheses: tuple[Hypothesis, ...] | None, unit: Unit | None, neighbors: Neighbors | None
) -> DeclaredEvents:
    """Return uses as one composition with its protection and hypotheses. Raises :class:`InvalidArgument` where there is none."""
    if not uses:
        raise InvalidArgument("a DpEvent with a mechanism was expected, but it does nothing; give one that has a cost")
    whole = find_protection(uses, unit, neighbors)
    events = []
    for use, count in uses.items():
        if use.event is None:
            raise InvalidArgument(
                "private events were expected, but one promises nothing (a NonPrivateDpEvent, or delta = 1); leave it out"
            )
        if use.drawn is not None:
            event = _draw(use.event, use.drawn, whole.neighbors)
        else:
            event = _replace(use, use.event) if whole.neighbors is Neighbors.REPLACE_ONE else use.event
        events.append(replace(event, count=event.count * count))
    brought = dict.fromkeys(item for use in uses for item in use.brought)
    if sum(uses.values()) > 1 and ONE_ANALYSIS in brought:
        brought[FRESH_SAMPLES] = None
    others = [use for use in uses if use.unit is None]
    if hypotheses is None:
        hypotheses = (HYPOTHESES_UNKNOWN.about(name=name, carrier="a DpEvent of dp_accounting"),) if others else ()
    told = neighbors is None and any(use.neighbors is None and use.event is not None and use.event.mechanism in TOLD for use in others)
    return DeclaredEvents(Composition(name, tuple(events)), whole.unit, None if told else whole.neighbors, (*brought, *hypotheses))


def _replace(use: Use, event: Event) -> Event:
    """Return one use where a record is replaced by another: a number that holds for that stays, all else counts both steps."""
    if use.neighbors is Neighbors.REPLACE_ONE or (use.neighbors is None and event.mechanism in TOLD and event.sampling_probability == 1):
        return event
    if event.mechanism is MechanismKind.GAUSSIAN and use.losses is None:
        return replace(event, batches=draw_batches("none" if event.sampling_probability == 1 else "poisson", Neighbors.REPLACE_ONE))
    if event.sampling_probability != 1:
        raise InvalidArgument(
            f"no rule is known for a record that is replaced by another in a Poisson sample ({event.describe()[:100]}); account for one "
            "that is added or removed"
        )
    if use.losses is not None:
        return replace_losses(use.losses, use.neighbors or Neighbors.ADD_REMOVE).to_event()
    (made,) = group_composition(Composition("one use", (event,)), 2).events
    return made


def _sampled(event: Any, depth: int) -> Iterator[tuple[Use, int]]:
    rate = to_exact(event.sampling_probability, "sampling_probability of a PoissonSampledDpEvent")
    if not 0 < rate <= 1:
        raise InvalidArgument(f"a PoissonSampledDpEvent has a probability in (0, 1], but {shorten(rate)} was found; correct it")
    for use in _join(event, depth):
        if use.event is None or use.drawn is None:
            sampled = None if use.event is None else replace(use.event, sampling_probability=use.event.sampling_probability * rate)
            yield replace(use, event=sampled), 1
            continue
        raise InvalidArgument("a PoissonSampledDpEvent of a batch of a fixed size was found, but no bound of it is known; draw once")


def _batched(event: Any, depth: int) -> Iterator[tuple[Use, int]]:
    """A batch of a fixed size, of which all records may be: Gaussian noise on it is accounted for (docs/batches.md, section 3)."""
    kind = type(event).__name__
    with_replacement = isinstance(event, dp_event.SampledWithReplacementDpEvent)
    records = to_integer(event.source_dataset_size, f"source_dataset_size of a {kind}", 1)
    size = to_integer(event.sample_size, f"sample_size of a {kind}", 1)
    if size > records:
        raise InvalidArgument(f"a {kind} takes {size} of {records} records, which are not as many; correct it")
    for use in _join(event, depth):
        plain = use.event is None or (use.event.mechanism is MechanismKind.GAUSSIAN and use.event.sampling_probability == 1)
        if use.drawn is not None or not plain:
            raise InvalidArgument(
                f"a {kind} of Gaussian noise alone is accounted for, but another event was found in it; declare its bound"
            )
        if use.event is None or (size == records and not with_replacement):
            yield use, 1
        else:
            yield replace(use, drawn=(Sampling.WITH_REPLACEMENT if with_replacement else Sampling.FIXED_SIZE, records, size)), 1


def _draw(event: Event, drawn: tuple[Sampling, int, int], neighbors: Neighbors) -> Event:
    sampling, records, size = drawn
    batches = draw_batches(sampling, neighbors, records=records, batch_size=size)
    return replace(event, sampling_probability=batches.rate or Fraction(1), batches=batches)


def _join(event: Any, depth: int) -> Iterator[Use]:
    """Yield what is run on one sample as one use, which says all that its parts say; nothing where it does nothing."""
    inside = list(read_uses(event.event, depth + 1))
    if any(use.event is None for use, _ in inside):
        yield Use(None)
        return
    events = tuple(replace(use.event, count=count) for use, count in inside if use.event is not None)
    if not events:
        return
    if len(inside) == 1 and inside[0][1] == 1:
        yield replace(inside[0][0], losses=None)
        return
    units, said = {use.unit for use, _ in inside}, {use.neighbors for use, _ in inside} - {None}
    if len(units) > 1 or len(said) > 1 or any(use.drawn is not None for use, _ in inside):
        raise InvalidArgument(
            f"one sample of a {type(event).__name__} with events about one unit and one kind of neighbors was expected, but several were "
            "found; account for them apart"
        )
    one = as_one_use(Composition("what is run on a sample", events))
    brought = tuple(dict.fromkeys(item for use, _ in inside for item in use.brought))
    yield Use(one, units.pop(), next(iter(said), None), None, brought)


def _climb(event: Any) -> tuple[Use, int]:
    """Return the nodes of binary trees in which a unit is that takes part in one step of all: one on each level of the largest tree.

    These are matrix mechanisms with s² = ⌊log₂ t⌋ + 1 (docs/batches.md, section 8.1), for which the library has zero-out neighbors alone.
    """
    given = event.step_counts if isinstance(event.step_counts, (list, tuple)) else [event.step_counts]
    if not given:
        raise InvalidArgument("a SingleEpochTreeAggregationDpEvent has trees of some steps, but none was found; correct it")
    sizes = [to_integer(size, "the steps of a tree of a SingleEpochTreeAggregationDpEvent", 1) for size in given]
    try:
        node = declare_event(MechanismKind.GAUSSIAN, {"noise_multiplier": _plain(event.noise_multiplier)})
    except PDPError as error:
        raise type(error)(f"a SingleEpochTreeAggregationDpEvent is none: {error}") from None
    once = STEPS_APART.about(unit="unit", most=1, steps=sum(sizes), apart=sum(sizes))
    return Use(node, neighbors=Neighbors.ZERO_OUT, brought=(once,)), max(sizes).bit_length()


def _respond(event: Any) -> Event:
    """Randomised response over k buckets gives its input the odds 1 + k (1 − p)/p over each other one: e^ε, rounded up."""
    noise, buckets = to_exact(event.noise_parameter, "noise_parameter"), to_integer(event.num_buckets, "num_buckets", 1)
    if not 0 < noise <= 1:
        raise InvalidArgument(f"a RandomizedResponseDpEvent is private for noise in (0, 1], but {shorten(noise)} was found; correct it")
    with working_precision(_BITS):
        end = upper_fraction(ball(1 + buckets * (1 - noise) / noise).log())
    if end is None:
        raise InvalidNumber("the epsilon of a RandomizedResponseDpEvent could not be enclosed; give a larger noise_parameter")
    kind = MechanismKind.RANDOMIZED_RESPONSE if buckets == 2 else MechanismKind.PURE
    return declare_event(kind, {"epsilon": decimal_text(max(end, Fraction(0)), _DIGITS, round_up=True)})


_NOISE = ("GaussianDpEvent", "LaplaceDpEvent", "DiscreteGaussianDpEvent", "SingleEpochTreeAggregationDpEvent")
#: Events of one mechanism by their class, some of which only newer releases have: what they are as an event of ours, None where nothing.
_READ: Mapping[str, Callable[[Any], tuple[MechanismKind, Mapping[str, object]] | None]] = {
    "GaussianDpEvent": lambda item: (MechanismKind.GAUSSIAN, {"noise_multiplier": _plain(item.noise_multiplier)}),
    "LaplaceDpEvent": lambda item: (MechanismKind.LAPLACE, {"scale": _plain(item.noise_multiplier)}),
    "DiscreteLaplaceDpEvent": lambda item: (
        (MechanismKind.DISCRETE_LAPLACE, {"scale": 1 / to_exact(item.noise_parameter)})
        if item.sensitivity == 1 and to_exact(item.noise_parameter) > 0
        else None
    ),
    "DiscreteGaussianDpEvent": lambda item: (
        (MechanismKind.DISCRETE_GAUSSIAN, {"noise_multiplier": item.sigma}) if item.sensitivity == 1 and item.dimension == 1 else None
    ),
    "ZCDpEvent": lambda item: (MechanismKind.ZCDP, {"rho": item.rho}) if item.xi == 0 else None,
    "EpsilonDeltaDpEvent": lambda item: (MechanismKind.APPROXIMATE, {"epsilon": item.epsilon, "delta": item.delta}),
}


def _is_without_noise(event: Any) -> bool:
    """Tell whether noise has the scale 0, where searches for the least noise begin: it promises nothing."""
    noise = _plain(getattr(event, "noise_multiplier", getattr(event, "sigma", None)))
    return any(_is_a(event, name) for name in _NOISE) and noise == 0


def _is_a(event: Any, name: str) -> bool:
    """Tell whether an event is of a class that not every release has: TensorFlow Privacy 0.9.0 brings one of 2023."""
    kind = getattr(dp_event, name, None)
    return kind is not None and isinstance(event, kind)


def _plain(number: Any) -> Any:
    """Return the number of a tensor without dimensions, which events of TensorFlow Privacy have; others as they are."""
    read = getattr(number, "numpy", None)
    return read() if callable(read) and getattr(number, "shape", None) == () else number


def _single(event: Any) -> Event:
    for name, read in _READ.items():
        try:
            said = read(event) if _is_a(event, name) else None
            if said is not None:
                return declare_event(*said)
        except PDPError as error:
            raise type(error)(f"a {name} is none: {error}") from None
    raise InvalidArgument(
        f"Gaussian, Laplace, discrete Laplace and discrete Gaussian (of sensitivity 1, in one dimension) and zCDP events, composed and "
        f"sampled, are accounted for, but {type(event).__name__} was found; declare what it is as an event of accountant.curves"
    )


__all__ = ["RELATIONS", "CertifiedDpEvent", "Use", "curve_of_dp_event", "declare_uses", "find_protection", "make_event", "read_uses"]
