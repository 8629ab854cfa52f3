"""The rules of one-sided and two-directional privacy. Each docstring is the statement that it applies; proofs: docs/one-sided.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from accountant.amplification import to_loss
from accountant.guarantees.bounds import bound_epsilon, discharged_by, name_claims, recheck_epsilon
from accountant.guarantees.calls import Signature
from accountant.guarantees.execution import ships
from accountant.guarantees.measures import Losses, describe_losses
from accountant.guarantees.rules import describe_sampling
from accountant.guarantees.stored import BOUND, HYPOTHESES, LOSS, NEIGHBORS, OPTIONS, PROOFS, SAMPLING_RULE, TEXT, UNIT
from accountant.guarantees.theorem import Derivation, Guarantee, Inference, conclude, require_guarantee, update_hypotheses
from accountant.rules import SamplingRule, refuse_oracle, rule_from_expression
from profiles import InvalidArgument, InvalidNumber, InvalidProfile, InvalidSampling, Profile, to_exact
from profiles.hypotheses import (
    DECLARED_LOSSES,
    DEFINED,
    EXACT_REALS,
    PROBABILITY,
    Hypothesis,
    as_hypotheses,
    attribute,
)
from profiles.numbers import to_number
from profiles.presenting.describing import describe_wholly
from profiles.protection import RECORDS, Neighbors, Unit, read_protection
from profiles.terms import Term, number, symbol, to_text
from profiles.variables import WEIGHT
from proofs_check.suprema.bound import EpsilonBound
from proofs_check.suprema.terms import weighted_epsilon

Certificate: TypeAlias = Mapping[str, Any]
_ONE = number(1)
_TEXT = "loss when a record comes"


def declare_add_dp(
    subject: str,
    epsilon0: object,
    *,
    source: str,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    delta: object = 0,
    unit: Unit | str = Unit.RECORD,
) -> Guarantee:
    """A mechanism is (ε₀, δ₀)-add-DP by a proof elsewhere: P[M(D) ∈ S] ≤ e^ε₀ P[M(D') ∈ S] + δ₀ for D = D' with one record more.

    ``source`` names the proof, as an attribution; that the mechanism has the losses stays an open hypothesis. ``hypotheses`` are its
    assumptions about the implementation and public inputs; D' lacks one ``unit``. Source: Ghazi et al. 2024, Definition 1.7. Raises
    :class:`InvalidNumber`, :class:`InvalidArgument`.
    """
    return declare_directions(subject, epsilon0, None, source=source, hypotheses=hypotheses, delta_remove=delta, unit=unit)


_DECLARED = Signature(
    "declare_directions",
    {"subject": TEXT, "bound": BOUND, "source": TEXT, "hypotheses": HYPOTHESES, "unit": UNIT, "neighbors": NEIGHBORS},
    premises=0,
    word=lambda made, _: f"the losses {made.derivation.conclusion} for {made.unit.value}, where {made.protection.describe()}",
    later={"unit": Unit.RECORD, "neighbors": Neighbors.ADD_REMOVE},
)


@_DECLARED.of
def declare_directions(
    subject: str,
    remove: object,
    add: object | None,
    *,
    source: str,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    delta_remove: object = 0,
    delta_add: object = 0,
    unit: Unit | str = Unit.RECORD,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
) -> Guarantee:
    """A mechanism has the losses ``remove`` (a unit is removed) and ``add`` (a unit is added; None: unbounded), by a proof elsewhere.

    That it has them is a hypothesis, whatever ``source`` is named. ``unit`` and ``neighbors``: whom it protects, and against what change;
    neighbors without a direction have the same numbers in both. Raises :class:`InvalidNumber` for losses outside [0, 10000] and deltas
    outside [0, 1], :class:`InvalidArgument` without a subject.
    """
    if not isinstance(subject, str) or not subject.strip():
        raise InvalidArgument("a guarantee needs the name of the mechanism that it is about, but none was found; give one")
    if not isinstance(source, str) or isinstance(hypotheses, str):
        raise InvalidArgument(f'the source of {subject!r} must be text and its hypotheses a sequence of texts; write hypotheses=("...",)')
    given, protection = as_hypotheses(hypotheses, repr(subject)), read_protection(unit, neighbors, f"the guarantee of {subject[:60]!r}")
    bound = Losses(
        to_loss(remove, "epsilon_remove"),
        None if add is None else to_loss(add, "epsilon_add"),
        _read_delta(delta_remove),
        _read_delta(delta_add),
    )
    return conclude(
        Inference(
            "declared losses",
            subject,
            source=source.strip() or "declared without a source",
            conclusion=describe_losses(bound),
            call=_DECLARED.record(
                subject=subject, bound=bound, source=source, hypotheses=given, unit=protection.unit, neighbors=protection.neighbors
            ),
            protection=protection,
        ),
        bound,
        supposes=(DECLARED_LOSSES.about(name=subject, source=attribute(source)), *given),
    )


def prove_losses(
    subject: str,
    losses: Losses,
    *,
    theorem: str,
    algorithm: object,
    hypotheses: Sequence[Hypothesis | str],
    unit: Unit | str = Unit.RECORD,
) -> Guarantee:
    """An algorithm of this project has these losses by ``theorem``, which is proved in the page that it names, for the code that runs it.

    For the applications of this package: the theorem closes the hypothesis that :func:`declare_directions` leaves open, if ``algorithm`` is
    exactly of a class of this project.
    """
    declared = declare_directions(
        subject,
        losses.remove,
        losses.add,
        source=theorem,
        hypotheses=hypotheses,
        delta_remove=losses.delta_remove,
        delta_add=losses.delta_add,
        unit=unit,
    )
    if not ships(algorithm):
        return declared
    return update_hypotheses(
        declared, {DECLARED_LOSSES.about(name=subject, source=attribute(theorem)): f"{theorem}, for the algorithm of this project"}
    )


_BOTH = Signature("both_directions")


@_BOTH.of
def both_directions(guarantee: Guarantee) -> Guarantee:
    """ε-differential privacy bounds both directions by ε, which :class:`Losses` states already. Files of earlier versions record the step.

    Source: docs/one-sided.md, section 1. Raises :class:`InvalidArgument` for a bound that is not an ε.
    """
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, Losses) or guarantee.bound.add is None:
        raise InvalidArgument(
            f"both directions follow from an epsilon, but the guarantee of {guarantee.subject!r} is another; take its worst case"
        )
    return conclude(
        Inference(
            "both directions",
            guarantee.subject,
            source="definition of add/remove privacy",
            conclusion=describe_losses(guarantee.bound),
            call=_BOTH.record(),
        ),
        guarantee.bound,
        parents=(guarantee,),
    )


def _losses_of(given: Mapping[str, Any]) -> str:
    add = "unbounded" if given["add"] is None else describe_wholly(given["add"])
    return f"(before sampling) the losses epsilon_remove(w, x) = {describe_wholly(given['remove'])}, epsilon_add(w, x) = {add}"


_WORST = Signature(
    "worst_case_directions",
    {"remove": LOSS, "add": LOSS, "rule": SAMPLING_RULE, "hypotheses": HYPOTHESES, "evidence": PROOFS, "options": OPTIONS},
    premises=0,
    word=lambda _, given: _losses_of(given),
)


@_WORST.of
def worst_case_directions(
    remove: Profile,
    add: Profile | None,
    rule: SamplingRule | str,
    *,
    relative_gap: object = "1e-9",
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    certificates: tuple[Certificate | None, Certificate | None] = (None, None),
) -> Guarantee:
    """Claim: a mechanism on weighted data sets with losses ε⁺(w, x), ε⁻(w, x), on a Poisson sample with q(x) and weights 1/q(x), has

        ψ⁺ ≤ sup over x of log(1 + q (e^ε⁺(1/q, x) − 1)),   ψ⁻ ≤ sup over x of −log(1 − q (1 − e^−ε⁻(1/q, x))),

    both certified. ``add`` None is ∞ at every record (add-DP for each weight): then ψ⁻ = sup −log(1 − q(x)), and q must stay below 1.
    ``remove`` and ``add`` declare the same statistics; ``rule`` is a sampling rule with an explicit q, or an expression. With a certificate
    for a direction, its bound is the one that the kernel accepts there for this very loss, instead of a new one.

    Source: docs/one-sided.md, Theorem 1 and Corollary 1. Raises :class:`InvalidProfile` (different statistics), :class:`InvalidSampling`
    (an implicit rule; q = 1 at a record where ε⁻ is ∞), and what :func:`accountant.guarantees.bound_epsilon` raises.

    >>> from profiles import declare
    >>> sum_ = declare("exponential noise", "w*z", record={"z": [0, 1]})
    >>> found = worst_case_directions(sum_, None, "1/4 + z/4").bound
    >>> round(float(found.remove), 6), round(float(found.add), 6)  # log(1 + (e^2 - 1)/2), log 2
    (1.433781, 0.693147)
    """
    for declared in (remove, remove if add is None else add):
        declared.require_pure()
    chosen = rule_from_expression(rule, remove) if isinstance(rule, str) else rule
    refuse_oracle(chosen)
    if chosen.q is None:
        raise InvalidSampling(f"both directions need an explicit q, but the rule {chosen.name!r} has none; give q as an expression")
    if add is not None and add.record != remove.record:
        raise InvalidProfile(f"{remove.name!r} and {add.name!r} declare different statistics; declare the same names and ranges in both")
    removed = _bound(remove, chosen, relative_gap, certificates[0])
    added = _bound_added(remove, add, chosen.q, relative_gap, certificates[1])
    bound = Losses(removed.upper, added.upper, proofs=(removed, added))
    losses = f"epsilon_remove(w, x) = {remove.text}, epsilon_add(w, x) = {'unbounded' if add is None else add.text}"
    leaf = Derivation("declared losses", remove.source or "declared without a source", losses)
    given = as_hypotheses(hypotheses, repr(remove.name))
    supposed, held = describe_sampling(chosen, remove)
    discharges = discharged_by(removed) if added.checked_by_kernel else {}
    return conclude(
        Inference(
            "Poisson importance sampling in each direction, worst case over records",
            f"{remove.name} after {chosen.name} sampling",
            source="docs/one-sided.md, Theorem 1 and Corollary 1",
            conclusion=f"q(x) = {to_text(chosen.q)}: epsilon_remove <= {removed.upper_text()}, epsilon_add <= {added.upper_text()}",
            below=(leaf,),
            claims=(*name_claims(removed, "epsilon-upper"), *name_claims(added, "epsilon-upper")),
            call=_WORST.record(
                remove=remove,
                add=add,
                rule=chosen,
                hypotheses=given,
                evidence=(removed, added),
                options=(("relative_gap", to_exact(relative_gap, "the relative gap")),),
            ),
            protection=RECORDS,
        ),
        bound,
        supposes=(
            *supposed,
            *given,
            *removed.hypotheses,
            *added.hypotheses,
            DECLARED_LOSSES.about(name=remove.name, source=attribute(remove.source)),
        ),
        discharges={**held, **{item: discharges[item] for item in (DEFINED, PROBABILITY) if item in discharges}},
    )


def _added_term(add: Profile | None, q: Term) -> Term:
    """Return ψ⁻(x) = −log(1 − q (1 − e^−ε⁻(1/q, x))) as a term in the statistics; −log(1 − q) for ε⁻ = ∞."""
    lost: Term = q
    if add is not None:
        lost = ("mul", q, ("add", _ONE, ("neg", ("exp", ("neg", weighted_epsilon(add, q))))))
    return ("neg", ("log", ("add", _ONE, ("neg", lost))))


def _bound(profile: Profile, rule: SamplingRule, gap: object, certificate: Certificate | None) -> EpsilonBound:
    return bound_epsilon(profile, rule, gap) if certificate is None else recheck_epsilon(profile, rule, certificate)


def _bound_added(remove: Profile, add: Profile | None, q: Term, gap: object, certificate: Certificate | None) -> EpsilonBound:
    """ψ⁻ is the sampled profile of the profile ψ⁻ + 0·w under the rule 1, so that the same search, certificate and kernel serve it."""
    ignored: Term = ("mul", number(0), symbol(WEIGHT))
    profile = replace(
        remove, name=f"{_TEXT}: {remove.name}"[:100], promise=("add", _added_term(add, q), ignored), parameters=(), parts=(), source=""
    )
    try:
        return _bound(profile, rule_from_expression("1", profile), gap, certificate)
    except InvalidProfile as error:
        raise InvalidSampling(
            f"the {_TEXT} is not bounded on the declared records ({error}); keep q below 1 where epsilon_add is"
        ) from None


def _read_delta(value: object) -> Fraction:
    return to_number(value, "delta", "[0, 1]", "give a probability", InvalidNumber)
