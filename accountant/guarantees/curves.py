"""The rules of privacy curves. Each docstring is the statement that it applies; proofs: docs/composition-bounds.md.

P is the law of an output with the record, Q the law without it. A pair (P, Q) dominates a mechanism where, in each direction, its δ(ε) is
at least that of the mechanism on all neighboring data sets, at every ε (negative ones as well).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from accountant.compositions.batches import Batches, Sampling
from accountant.compositions.events import TOLD, Composition, Direction, MechanismKind
from accountant.compositions.queries import (
    BOTH,
    DIGITS,
    find_point,
    recheck_point,
    require_bounded,
    to_delta,
    to_epsilon,
    to_gap,
)
from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import CurveBound, Losses, describe_events, describe_losses
from accountant.guarantees.stored import COMPOSITION, CURVE_CLAIMS, HYPOTHESES, NEIGHBORS, NUMBER, UNIT
from accountant.guarantees.theorem import Guarantee, Inference, conclude, require_guarantee
from profiles import InvalidArgument, decimal_text
from profiles.hypotheses import (
    ALL_CHARGED,
    AT_MOST_RECORDS,
    BATCHES_DRAWN,
    BATCHES_SECRET,
    DECLARED_EVENTS,
    EXACT_REALS,
    FRESH_SAMPLES,
    INDEPENDENT,
    NEIGHBORS_ASSUMED,
    NULL_RECORD,
    OF_FILES,
    OF_SAMPLES,
    PUBLIC_DIVISOR,
    RECORD_NORM,
    RECORDS_KNOWN,
    STEPS_PUBLIC,
    Hypothesis,
    as_hypotheses,
)
from profiles.protection import Neighbors, Protection, Unit, read_protection

_PAGE = "docs/composition-bounds.md"
#: What a unit of noise is added to, for the kinds that have one.
_ADDED_TO = {
    MechanismKind.GAUSSIAN: "a vector in the Euclidean norm (gaussian)",
    MechanismKind.LAPLACE: "one number (laplace)",
    MechanismKind.DISCRETE_GAUSSIAN: "one integer (discrete-gaussian)",
    MechanismKind.DISCRETE_LAPLACE: "one integer (discrete-laplace)",
}
_CONTINUOUS = {MechanismKind.GAUSSIAN, MechanismKind.LAPLACE}

_DECLARED = Signature(
    "declare_events",
    {"composition": COMPOSITION, "hypotheses": HYPOTHESES, "unit": UNIT, "neighbors": NEIGHBORS},
    premises=0,
    word=lambda _, given: f"the events {describe_events(given['composition'])}",
    later={"unit": Unit.RECORD, "neighbors": None},
)


@_DECLARED.of
def declare_events(
    composition: Composition,
    hypotheses: Sequence[Hypothesis | str] = (),
    *,
    unit: Unit | str = Unit.RECORD,
    neighbors: Neighbors | str | None = None,
) -> Guarantee:
    """Events that are run one after the other, each of which may see the outputs before it, are dominated by the product of their pairs.

    Hypotheses are that the mechanism is as declared, sensitivity 1 under the change of one ``unit``, exact reals for continuous noise, and
    fresh Poisson samples with exactly the named probability. ``hypotheses``: further ones. Events that say how their batches are drawn have
    this as a hypothesis instead, and that sums are divided by public numbers (docs/batches.md). ``neighbors``: which data sets are
    neighbors; None means adding or removing one unit, or the neighbors of the batches, and leaves open that a known ε, δ or ρ, and
    randomised response, are about these. Source: docs/composition-bounds.md. Raises :class:`InvalidArgument`, also for a loss in each
    direction under neighbors without one, for batches of other neighbors, and for samples that say none under neighbors other than one unit
    more or less; of noise on a sum, where a unit becomes empty, the pairs are the same (an empty one adds nothing, which is a hypothesis).
    """
    drawn = [event.batches for event in composition.events if event.batches is not None]
    implied = drawn[0].neighbors if drawn else Neighbors.ADD_REMOVE
    protection = read_protection(unit, implied if neighbors is None else neighbors, repr(composition.name[:60]))
    given = as_hypotheses(hypotheses, repr(composition.name))
    kinds = dict.fromkeys(event.mechanism for event in composition.events)
    plain = [event for event in composition.events if event.batches is None]
    sampled = [event for event in plain if event.sampling_probability != 1]
    _require_neighbors(composition, drawn, protection)
    undirected = MechanismKind.TWO_SIDED in kinds and not protection.neighbors.is_directed
    emptied = protection.neighbors is Neighbors.ZERO_OUT and all(event.mechanism in _ADDED_TO for event in sampled)
    if undirected or (sampled and protection.neighbors is not Neighbors.ADD_REMOVE and not emptied):
        raise InvalidArgument(
            f"{'losses in each direction' if undirected else 'Poisson samples'} are accounted for where one {protection.unit.word} is "
            f"added or removed, but in {composition.name[:60]!r} {protection.describe()}; declare what is known without "
            "them, or batches of gaussian noise that say their neighbors"
        )
    supposed: list[Hypothesis] = [DECLARED_EVENTS.about(name=composition.name, what=describe_events(composition))]
    if added := [_ADDED_TO[kind] for kind in dict.fromkeys(event.mechanism for event in plain) if kind in _ADDED_TO]:
        supposed.append(protection.name_sensitivity(", ".join(added)))
    if neighbors is None and (told := [kind.value for kind in kinds if kind in TOLD]):
        supposed.append(NEIGHBORS_ASSUMED.about(what=", ".join(told), unit=protection.unit.word))
    if _CONTINUOUS & kinds.keys():
        supposed.append(EXACT_REALS)
    if sampled:
        supposed += map(protection.state, OF_SAMPLES)
    if sampled and emptied:
        supposed.append(protection.state(NULL_RECORD))
    uses = sum(event.count for event in composition.events if event.sampling_probability != 1)
    supposed += (item for item in _suppose_drawn(composition, protection) if item not in supposed)
    if uses > 1:
        supposed.append(FRESH_SAMPLES)
    said = {item.id for item in given}
    if ALL_CHARGED.id in said:  # the promise of a ledger; compositions of earlier releases do not say what it supposes of its files
        supposed += (protection.state(item) for item in OF_FILES if item.id not in said)
    return conclude(
        Inference(
            "declared events",
            composition.name,
            source=_PAGE,
            conclusion=describe_events(composition),
            call=_DECLARED.record(
                composition=composition,
                hypotheses=given,
                unit=protection.unit,
                neighbors=None if neighbors is None else protection.neighbors,
            ),
            protection=protection,
        ),
        CurveBound(composition),
        supposes=(*supposed, *given),
    )


def _require_neighbors(composition: Composition, drawn: Sequence[Batches], protection: Protection) -> None:
    """Refuse batches for other neighbors than those of the composition. Raises :class:`InvalidArgument`."""
    for batches in drawn:
        if batches.neighbors is not protection.neighbors:
            raise InvalidArgument(
                f"{composition.name[:60]!r} is about {protection.neighbors.value} neighbors, but its batches are those of "
                f"{batches.neighbors.value} ones ({batches.describe()}); one composition has one kind of neighbors"
            )
        if dict(batches.sizes).get("group_size", 1) > 1 and protection.unit is Unit.RECORD:
            raise InvalidArgument(
                f'{composition.name[:60]!r} is about one record, but its batches are about {batches.describe()}; say unit = "user"'
            )


def _suppose_drawn(composition: Composition, protection: Protection) -> Iterator[Hypothesis]:
    """Yield what batches suppose that say how they are drawn."""
    drawn = {event.batches: event for event in composition.events if event.batches is not None}
    if not drawn:
        return
    unit, alone = protection.unit.word, all(dict(batches.sizes).get("group_size", 1) == 1 for batches in drawn)
    yield RECORD_NORM.about(unit=unit if alone else Unit.RECORD.word)
    yield PUBLIC_DIVISOR
    if not (drawn := {batches: event for batches, event in drawn.items() if batches.sampling is not Sampling.NONE}):
        return
    for batches, event in drawn.items():
        one = replace(event, count=1).describe().split(", ", 1)[1]
        what, sizes = one.removesuffix(", once").removesuffix(", 1 epoch").removesuffix(", 1 step"), dict(batches.sizes)
        if protection.unit is not Unit.RECORD and sizes.get("group_size", 1) == 1:  # else a user's many records are drawn more often
            what += f"; each record that is drawn, or not, is a whole {unit} with all of its records"
        yield BATCHES_DRAWN.about(what=what)
        if sizes.get("group_size", 1) > 1:
            yield AT_MOST_RECORDS.about(most=sizes["group_size"])
        if batches.sampling is Sampling.POISSON:
            yield INDEPENDENT if sizes["group_size"] > 1 else protection.name_draws()
        if batches.sampling.is_by_epochs:
            yield STEPS_PUBLIC
        if "records" in sizes:
            yield RECORDS_KNOWN.about(count=sizes["records"], unit=unit)
    yield BATCHES_SECRET.about(unit=unit)
    yield from (protection.state(item) for item in OF_SAMPLES if item != INDEPENDENT)


_OF_GUARANTEE = Signature("curve_of_guarantee")


@_OF_GUARANTEE.of
def curve_of_guarantee(guarantee: Guarantee) -> Guarantee:
    """A mechanism with losses (ε⁺, δ⁺) and (ε⁻, δ⁻) is dominated by the pair whose trade-off function is the largest that they allow.

    Numbers with more than 40 digits are rounded up. Source: docs/interoperability.md, "What is computed".
    Raises :class:`InvalidArgument` for a guarantee that is not an ε (a profile: take its worst case first).
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if isinstance(bound, CurveBound):
        return guarantee
    if not isinstance(bound, Losses):
        raise InvalidArgument(
            f"a privacy curve needs an epsilon, but the guarantee of {guarantee.subject!r} is a profile; take its worst case first"
        )
    event = bound.to_event()
    return conclude(
        Inference(
            "privacy curve of a guarantee",
            guarantee.subject,
            source="docs/interoperability.md, What is computed",
            conclusion=event.describe(),
            call=_OF_GUARANTEE.record(),
        ),
        CurveBound(Composition(shorten_subject(guarantee.subject), (event,))),
        parents=(guarantee,),
    )


_POINT = Signature("point_of_curve", {"at_delta": NUMBER, "at_epsilon": NUMBER, "gap": NUMBER, "curve_claims": CURVE_CLAIMS})


@_POINT.of
def point_of_curve(
    guarantee: Guarantee,
    *,
    at_delta: object | None = None,
    at_epsilon: object | None = None,
    gap: object = "1e-3",
    curve_claims: Sequence[Mapping[str, Any]] = (),
    side: str = BOTH,
) -> Guarantee:
    """If M is dominated by (P, Q), M is (ε, δ)-differentially private in each direction at every point of their curve.

    ``at_delta``: the δ, and ε is computed, with a proof from above; or ``at_epsilon``, and δ is. ``gap``: how far the bound may be from the
    true value of the pair. With ``curve_claims`` the numbers are those of claims that the kernel accepts now for exactly this composition,
    instead of new ones. ``side``: "upper" computes only upper ends, in less time. Source: docs/composition-bounds.md.

    Raises :class:`profiles.Infeasible` where no ε is enough at δ, :class:`InvalidArgument` (both or none of the two is given; no curve),
    :class:`profiles.NotReplayed` for claims that the kernel rejects, or that say something else, and what its bounds raise.
    """
    composition = _composition(guarantee)
    if (at_delta is None) == (at_epsilon is None):
        raise InvalidArgument("a point of a privacy curve is given by its delta or by its epsilon; give one of the two")
    exact = to_gap(gap)
    delta, epsilon = None if at_delta is None else to_delta(at_delta), None if at_epsilon is None else to_epsilon(at_epsilon)
    claims = tuple(curve_claims)
    if claims:
        uppers = recheck_point(composition, claims, delta=delta, epsilon=epsilon)
    else:
        point = find_point(composition, delta=delta, epsilon=epsilon, gap=exact, side=side)
        claims, uppers = point.claims, {direction: side.upper for direction, side in point.sides.items()}
    removed, added = uppers[Direction.REMOVE], uppers[Direction.ADD]
    directed = guarantee.protection.neighbors.is_directed
    if delta is not None:
        bound = Losses(require_bounded(removed, composition, delta), added, delta, delta)
        if not directed and bound.add is not None:
            bound = Losses(bound.upper, bound.upper, delta, delta)
    else:
        at, one = to_epsilon(epsilon), Fraction(1)
        ends = (one if removed is None else removed, one if added is None else added)
        bound = Losses(at, at, *ends) if directed else Losses(at, at, max(ends), max(ends))
    return conclude(
        Inference(
            "point of a privacy curve",
            guarantee.subject,
            source=_PAGE,
            conclusion=describe_losses(bound),
            claims=tuple(_name_claim(item, direction) for direction, item in uppers.items()),
            call=_POINT.record(at_delta=delta, at_epsilon=epsilon, gap=exact, curve_claims=claims),
        ),
        bound,
        parents=(guarantee,),
    )


def _name_claim(upper: Fraction | None, direction: Direction) -> str:
    if upper is None:
        return f"{direction.value}: unbounded"
    return f"{direction.value} <= {decimal_text(upper, DIGITS, round_up=True)}, computed by the kernel from the events alone"


def _composition(guarantee: Guarantee) -> Composition:
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, CurveBound):
        raise InvalidArgument(
            f"a privacy curve is needed, but the guarantee of {guarantee.subject!r} has none; make one with declare_events or "
            "curve_of_guarantee"
        )
    return guarantee.bound.composition


def shorten_subject(subject: str) -> str:
    """Return the name of a composition for a subject of any length."""
    return subject if len(subject) <= 200 else subject[:197] + "..."
