"""The rules of privacy curves. Each docstring is the statement that it applies; proofs: docs/composition-bounds.md.

P is the law of an output with the record, Q the law without it. A pair (P, Q) dominates a mechanism where, in each direction, its δ(ε) is
at least that of the mechanism on all neighboring data sets, at every ε (negative ones as well).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

from accountant.curves.events import Composition, Direction, Event, MechanismKind, make_event
from accountant.curves.points import (
    DIGITS,
    point_at_delta,
    point_at_epsilon,
    recheck_point,
    require_bounded,
    to_delta,
    to_epsilon,
    to_gap,
)
from accountant.guarantees.calls import Signature
from accountant.guarantees.directions import describe_losses, share_samples
from accountant.guarantees.stored import COMPOSITION, CURVE_CLAIMS, HYPOTHESES, NUMBER, RATE, TEXT, UNIT
from accountant.guarantees.theorem import AnyGuarantee, CurveBound, EpsilonDP, TwoSidedDP, Unit, conclude, require_guarantee
from profiles import InvalidArgument, decimal_text, exact_text, to_exact
from profiles.hypotheses import DECLARED_EVENTS, EXACT_REALS, FRESH_SAMPLES, OF_SAMPLES, SENSITIVITY_ONE, Hypothesis, as_hypotheses
from profiles.numbers import shorten

_PAGE = "docs/composition-bounds.md"
_NO_SECOND = "no two parts have a sample that outlives its run"
#: Digits of a guarantee's numbers when they become those of an event: rounded up, which is the safe side.
_DIGITS = 40
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
    {"composition": COMPOSITION, "hypotheses": HYPOTHESES, "unit": UNIT},
    premises=0,
    word=lambda _, given: f"the events {describe_events(given['composition'])}",
    later={"unit": Unit.RECORD},
)


@_DECLARED.of
def declare_events(composition: Composition, hypotheses: Sequence[Hypothesis | str] = (), *, unit: Unit = Unit.RECORD) -> AnyGuarantee:
    """Events that are run one after the other, each of which may see the outputs before it, are dominated by the product of their pairs.

    That the mechanism is what is declared is a hypothesis, as are sensitivity 1, exact reals for continuous noise, and fresh Poisson
    samples with exactly the probability that is named. ``hypotheses``: what else is supposed.
    Source: docs/composition-bounds.md. Raises :class:`InvalidArgument`, also for a ``unit`` other than the record where there are noise,
    whose sensitivity 1 is that of a record, or samples of records.
    """
    if any(event.sampling_probability != 1 or event.mechanism in _ADDED_TO for event in composition.events):
        _require_records(unit, repr(composition.name))
    given = as_hypotheses(hypotheses, repr(composition.name))
    kinds = dict.fromkeys(event.mechanism for event in composition.events)
    sampled = [event for event in composition.events if event.sampling_probability != 1]
    supposed: list[Hypothesis] = [DECLARED_EVENTS.about(name=composition.name, what=describe_events(composition))]
    if added := [_ADDED_TO[kind] for kind in kinds if kind in _ADDED_TO]:
        supposed.append(SENSITIVITY_ONE.about(what=", ".join(added)))
    if _CONTINUOUS & kinds.keys():
        supposed.append(EXACT_REALS)
    if sampled:
        supposed += OF_SAMPLES
    if sum(event.count for event in sampled) > 1:
        supposed.append(FRESH_SAMPLES)
    return conclude(
        "declared events",
        composition.name,
        CurveBound(composition),
        source=_PAGE,
        conclusion=describe_events(composition),
        supposes=(*supposed, *given),
        unit=unit,
        call=_DECLARED.record(composition=composition, hypotheses=given, unit=unit),
    )


_OF_GUARANTEE = Signature("curve_of_guarantee")


@_OF_GUARANTEE.of
def curve_of_guarantee(guarantee: AnyGuarantee) -> AnyGuarantee:
    """A mechanism with losses (ε⁺, δ⁺) and (ε⁻, δ⁻) is dominated by the pair whose trade-off function is the largest that they allow.

    Numbers with more than 40 digits are rounded up. Source: docs/interoperability.md, "What is computed".
    Raises :class:`InvalidArgument` for a guarantee that is no ε (a profile: take its worst case first).
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if isinstance(bound, CurveBound):
        return guarantee
    if isinstance(bound, EpsilonDP):
        event = make_event(MechanismKind.PURE, {"epsilon": _round_up(bound.upper)})
    elif isinstance(bound, TwoSidedDP):
        event = event_of_losses(bound)
    else:
        raise InvalidArgument(
            f"a privacy curve needs an epsilon, but the guarantee of {guarantee.subject!r} is a profile; take its worst case first"
        )
    return conclude(
        "privacy curve of a guarantee",
        guarantee.subject,
        CurveBound(Composition(shorten_subject(guarantee.subject), (event,))),
        source="docs/interoperability.md, What is computed",
        conclusion=event.describe(),
        parents=(guarantee,),
        call=_OF_GUARANTEE.record(),
    )


_COMPOSED = Signature("compose_curves", {"subject": TEXT}, premises=None)


@_COMPOSED.of
def compose_curves(subject: str, parts: Sequence[AnyGuarantee]) -> AnyGuarantee:
    """If M_i is dominated by (P_i, Q_i), fixed in advance, and each may see the outputs before it, all are dominated by the products.

    Parts that are run on a sample have a sample each. Source: Zhu, Dong, Wang 2022, Theorem 10; docs/composition-bounds.md.
    Formally: theorem ``dominating_pairs_compose``.
    Raises :class:`InvalidArgument` for no parts, for one that is no curve, and for too many different events.
    """
    if not parts:
        raise InvalidArgument("a composition needs at least one part, but none was given; give the curves of the parts")
    events = [event for part in parts for event in _composition(part).events]
    composition = Composition(shorten_subject(subject), tuple(events))
    return conclude(
        "adaptive composition of privacy curves",
        subject,
        CurveBound(composition),
        source=f"Zhu, Dong, Wang 2022, Theorem 10; {_PAGE}",
        conclusion=describe_events(composition),
        parents=parts,
        supposes=(FRESH_SAMPLES,),
        discharges={} if share_samples(parts) else {FRESH_SAMPLES: _NO_SECOND},
        call=_COMPOSED.record(subject=subject),
    )


_SUBSAMPLED = Signature("subsample_curve", {"p": RATE})


@_SUBSAMPLED.of
def subsample_curve(guarantee: AnyGuarantee, p: object) -> AnyGuarantee:
    """If M is dominated by (P, Q), M on a fresh Poisson sample of rate p is dominated by (p P + (1 − p) Q, Q).

    Two samples after one another are one of rate p·q. Several uses on one sample are sampled as a whole, which is an event of this
    project only for unsampled Gaussians whose joint noise σ = (Σ 1/σᵢ²)^(−1/2) is rational; others are refused: sample before
    composing, where each use has a sample of its own. Source: Zhu, Dong, Wang 2022, Theorem 11; docs/composition-bounds.md.
    Formally: theorems ``dominates_sampled_plus``, ``dominates_sampled_minus``.
    Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.
    """
    _require_records(guarantee.unit, repr(guarantee.subject))
    composition, rate = _composition(guarantee), to_exact(p, "the probability")
    if not 0 < rate <= 1:
        raise InvalidArgument(f"a sampling probability must lie in (0, 1], but {shorten(rate)} was found; correct it")
    before = as_one_use(composition)
    after = Event(before.mechanism, before.parameters, before.sampling_probability * rate)
    return conclude(
        "Poisson sampling of a privacy curve",
        f"{guarantee.subject} on a Poisson sample",
        CurveBound(Composition(composition.name, (after,))),
        source=f"Zhu, Dong, Wang 2022, Theorem 11; {_PAGE}",
        conclusion=f"p = {exact_text(rate)}: {after.describe()}",
        parents=(guarantee,),
        call=_SUBSAMPLED.record(p=rate),
    )


_POINT = Signature("point_of_curve", {"at_delta": NUMBER, "at_epsilon": NUMBER, "gap": NUMBER, "curve_claims": CURVE_CLAIMS})


@_POINT.of
def point_of_curve(
    guarantee: AnyGuarantee,
    *,
    at_delta: object | None = None,
    at_epsilon: object | None = None,
    gap: object = "1e-3",
    curve_claims: Sequence[Mapping[str, Any]] = (),
) -> AnyGuarantee:
    """If M is dominated by (P, Q), M is (ε, δ)-differentially private in each direction at every point of their curve.

    ``at_delta``: the δ, and ε is computed, with a proof from above; or ``at_epsilon``, and δ is. ``gap``: how far the bound may be from the
    true value of the pair. With ``curve_claims`` the numbers are those of claims that the kernel accepts now for this very composition,
    instead of new ones. Source: docs/composition-bounds.md.

    Raises :class:`profiles.Infeasible` where no ε is enough at δ, :class:`InvalidArgument` (both or none of the two is given; no curve),
    :class:`profiles.NotReplayed` for claims that the kernel rejects, or that say something else, and what the engine raises.
    """
    composition = _composition(guarantee)
    if (at_delta is None) == (at_epsilon is None):
        raise InvalidArgument("a point of a privacy curve is asked for by its delta or by its epsilon; give one of the two")
    exact = to_gap(gap)
    delta, epsilon = None if at_delta is None else to_delta(at_delta), None if at_epsilon is None else to_epsilon(at_epsilon)
    claims = tuple(curve_claims)
    if claims:
        uppers = recheck_point(composition, claims, delta=delta, epsilon=epsilon)
    else:
        found = (
            point_at_delta(composition, delta, exact) if delta is not None else point_at_epsilon(composition, to_epsilon(epsilon), exact)
        )
        claims, uppers = found.claims, {direction: side.upper for direction, side in found.sides.items()}
    going, coming = uppers[Direction.REMOVE], uppers[Direction.ADD]
    if delta is not None:
        bound = TwoSidedDP(require_bounded(going, composition, delta), coming, delta, delta)
    else:
        at, one = to_epsilon(epsilon), Fraction(1)
        bound = TwoSidedDP(at, at, one if going is None else going, one if coming is None else coming)
    return conclude(
        "point of a privacy curve",
        guarantee.subject,
        bound,
        source=_PAGE,
        conclusion=describe_losses(bound),
        parents=(guarantee,),
        claims=tuple(_name_claim(item, direction) for direction, item in uppers.items()),
        call=_POINT.record(at_delta=delta, at_epsilon=epsilon, gap=exact, curve_claims=claims),
    )


def _require_records(unit: Unit, subject: str) -> None:
    """Refuse sensitivities and samples of records where another unit is protected: k records of one user are drawn by k coins."""
    if unit is not Unit.RECORD:
        raise InvalidArgument(
            f"declared events and samples are about single records, but {subject} protects another unit ({unit.value}); sample records "
            "under a guarantee for records"
        )


def describe_events(composition: Composition) -> str:
    """Return the events of a composition in one line."""
    return "; ".join(event.describe() for event in composition.events)


def _name_claim(upper: Fraction | None, direction: Direction) -> str:
    if upper is None:
        return f"{direction.value}: unbounded"
    return f"{direction.value} <= {decimal_text(upper, DIGITS, round_up=True)}, computed by the kernel from the events alone"


def event_of_losses(bound: TwoSidedDP) -> Event:
    """Return the event of losses in both directions; numbers with more than 40 digits are rounded up. Raises :class:`InvalidArgument`."""
    plus, minus = _round_up(bound.plus), None if bound.minus is None else _round_up(bound.minus)
    going, coming = (_round_up(delta) for delta in (bound.delta_plus, bound.delta_minus))
    if max(going, coming) >= 1:
        raise InvalidArgument(
            "a privacy curve was asked for, but the delta of the guarantee is 1, which promises nothing; take a smaller one"
        )
    if (plus, going) == (minus, coming):
        if going == 0:
            return make_event(MechanismKind.PURE, {"epsilon": plus})
        return make_event(MechanismKind.APPROXIMATE, {"epsilon": plus, "delta": going})
    ends = {} if minus is None else {"epsilon_add": minus}
    return make_event(MechanismKind.TWO_SIDED, {"epsilon_remove": plus, "delta_remove": going, **ends, "delta_add": coming})


def as_one_use(composition: Composition) -> Event:
    """Return one use of one mechanism that is as private as the composition. Raises :class:`InvalidArgument` where none is known."""
    events = composition.events
    if len(events) == 1 and events[0].count == 1:
        return events[0]
    if all(event.mechanism is MechanismKind.GAUSSIAN and event.sampling_probability == 1 for event in events):
        noise = _root(1 / sum((event.count / event["noise_multiplier"] ** 2 for event in events), Fraction(0)))
        if noise is not None:
            return make_event(MechanismKind.GAUSSIAN, {"noise_multiplier": noise})
    raise InvalidArgument(
        f"a Poisson sample of the composition {composition.name[:80]!r} was asked for, but only one use of a mechanism is sampled "
        "here; sample before composing, where each use has a sample of its own; the same sample used several times costs more"
    )


def _root(value: Fraction) -> Fraction | None:
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root**2 == value else None


def _composition(guarantee: AnyGuarantee) -> Composition:
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, CurveBound):
        raise InvalidArgument(
            f"a privacy curve is needed, but the guarantee of {guarantee.subject!r} has none; make one with declare_events or "
            "curve_of_guarantee"
        )
    return guarantee.bound.composition


def _round_up(value: Fraction) -> Fraction:
    return Fraction(decimal_text(value, _DIGITS, round_up=True))


def shorten_subject(subject: str) -> str:
    """Return the name of a composition for a subject of any length."""
    return subject if len(subject) <= 200 else subject[:197] + "..."


__all__ = [
    "as_one_use", "compose_curves", "curve_of_guarantee", "declare_events", "describe_events", "event_of_losses", "point_of_curve",
    "shorten_subject", "subsample_curve",
]  # fmt: skip
