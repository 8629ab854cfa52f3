"""The rules of one-sided and two-directional privacy. Each docstring is the statement that it applies; proofs: docs/one-sided.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from accountant.amplification import amplify_minus, amplify_plus, to_loss, to_probability
from accountant.guarantees.bounds import bound_epsilon, discharged_by, name_claims, recheck_epsilon
from accountant.guarantees.calls import Signature
from accountant.guarantees.realised import ships
from accountant.guarantees.rules import describe_sampling
from accountant.guarantees.stored import BOUND, HYPOTHESES, LOSS, OPTIONS, PROOFS, RATE, SAMPLING_RULE, TEXT, UNIT
from accountant.guarantees.theorem import AnyGuarantee, Derivation, EpsilonDP, Notion, TwoSidedDP, Unit, conclude, require_guarantee, settle
from accountant.rules import SamplingRule, refuse_oracle, rule_from_expression
from profiles import InvalidArgument, InvalidNumber, InvalidProfile, InvalidSampling, Profile, decimal_text, to_exact
from profiles.hypotheses import (
    DECLARED_LOSSES,
    DEFINED,
    EXACT_REALS,
    FRESH_SAMPLES,
    ONE_ANALYSIS,
    PROBABILITY,
    Hypothesis,
    as_hypotheses,
    attribute,
)
from profiles.numbers import shorten
from profiles.presenting.describing import describe_wholly
from profiles.terms import Term, number, symbol, to_text
from profiles.variables import MAX_NAME, WEIGHT
from proofs_check.suprema.bound import EpsilonBound
from proofs_check.suprema.terms import weighted_epsilon

Certificate: TypeAlias = Mapping[str, Any]
_ONE = number(1)
_TEXT = "loss when a record comes"
_PAGE = "docs/one-sided.md"
_NO_SECOND = "no two parts have a sample that outlives its run"


def declare_add_dp(
    subject: str,
    epsilon0: object,
    *,
    source: str,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    delta: object = 0,
    unit: Unit = Unit.RECORD,
) -> AnyGuarantee:
    """A mechanism is (ε₀, δ₀)-add-DP by a proof elsewhere: P[M(D) ∈ S] ≤ e^ε₀ P[M(D') ∈ S] + δ₀ for D = D' with one record more.

    ``source`` names the proof, as an attribution; that the mechanism has the losses stays an open hypothesis. ``hypotheses`` are what it
    supposes of the implementation and of public inputs, ``unit`` what D' has less. Source: Ghazi et al. 2024, Definition 1.7.
    Raises :class:`InvalidNumber`, :class:`InvalidArgument`.
    """
    return declare_directions(subject, epsilon0, None, source=source, hypotheses=hypotheses, delta_plus=delta, unit=unit)


_DECLARED = Signature(
    "declare_directions",
    {"subject": TEXT, "bound": BOUND, "source": TEXT, "hypotheses": HYPOTHESES, "unit": UNIT},
    premises=0,
    word=lambda made, _: f"the losses {made.derivation.conclusion} for {made.unit.value}",
    later={"unit": Unit.RECORD},
)


@_DECLARED.of
def declare_directions(
    subject: str,
    plus: object,
    minus: object | None,
    *,
    source: str,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    delta_plus: object = 0,
    delta_minus: object = 0,
    unit: Unit = Unit.RECORD,
) -> AnyGuarantee:
    """A mechanism has the losses ``plus`` (a record goes) and ``minus`` (a record comes; None: unbounded), by a proof elsewhere.

    That it has them is a hypothesis, whatever ``source`` is named. Raises :class:`InvalidNumber` for losses outside [0, 10000] and deltas
    outside [0, 1], :class:`InvalidArgument` without a subject.
    """
    if not isinstance(subject, str) or not subject.strip():
        raise InvalidArgument("a guarantee needs the name of the mechanism that it is about, but none was found; give one")
    if not isinstance(source, str) or isinstance(hypotheses, str):
        raise InvalidArgument(f'the source of {subject!r} must be text and its hypotheses a sequence of texts; write hypotheses=("...",)')
    given = as_hypotheses(hypotheses, repr(subject))
    bound = TwoSidedDP(
        to_loss(plus, "epsilon_plus"),
        None if minus is None else to_loss(minus, "epsilon_minus"),
        _read_delta(delta_plus),
        _read_delta(delta_minus),
    )
    return conclude(
        "declared losses",
        subject,
        bound,
        source=source.strip() or "declared without a source",
        conclusion=describe_losses(bound),
        supposes=(DECLARED_LOSSES.about(name=subject, source=attribute(source)), *given),
        unit=unit,
        call=_DECLARED.record(subject=subject, bound=bound, source=source, hypotheses=given, unit=unit),
    )


def prove_losses(
    subject: str,
    plus: object,
    minus: object | None,
    *,
    theorem: str,
    algorithm: object,
    hypotheses: Sequence[Hypothesis | str],
    delta_minus: object = 0,
    unit: Unit = Unit.RECORD,
) -> AnyGuarantee:
    """An algorithm of this project has these losses by ``theorem``, which is proved in the page that it names, for the code that runs it.

    For the applications of this package: the theorem discharges what :func:`declare_directions` leaves open, where ``algorithm`` is
    exactly of a class of this project.
    """
    found = declare_directions(subject, plus, minus, source=theorem, hypotheses=hypotheses, delta_minus=delta_minus, unit=unit)
    if not ships(algorithm):
        return found
    return settle(found, {DECLARED_LOSSES.about(name=subject, source=attribute(theorem)): f"{theorem}, for the algorithm of this project"})


_BOTH = Signature("both_directions")


@_BOTH.of
def both_directions(guarantee: AnyGuarantee) -> AnyGuarantee:
    """ε-differential privacy with add/remove neighbors bounds both directions by ε. Source: docs/one-sided.md, section 1."""
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, EpsilonDP) or guarantee.notion is not Notion.ADD_REMOVE_DP:
        raise InvalidArgument(
            f"both directions follow from an add/remove epsilon, but the guarantee of {guarantee.subject!r} is another; take its worst case"
        )
    bound = TwoSidedDP(guarantee.bound.upper, guarantee.bound.upper, evidence=(guarantee.bound.evidence,))
    return conclude(
        "both directions",
        guarantee.subject,
        bound,
        source="definition of add/remove privacy",
        conclusion=describe_losses(bound),
        parents=(guarantee,),
        call=_BOTH.record(),
    )


def compose(*guarantees: AnyGuarantee, subject: str | None = None) -> AnyGuarantee:
    """If several releases are made from the same records, each with a guarantee of its own that was fixed in advance, all of them together
    have the sum of the losses, in each direction.

    What three fits in a row, a grid search or this year's and last year's release cost. All premises of all parts stay; two samples must
    be two draws (:data:`profiles.hypotheses.FRESH_SAMPLES`): mechanisms on **one** sample are composed first and amplified once
    (:func:`accountant.amplify_once`), which costs more. Source: docs/one-sided.md, Theorem 2 and section 8.

    Raises :class:`InvalidArgument` for no guarantee, for one without an ε (a profile: take its worst case first) and for different units.

    >>> from accountant import derive_epsilon
    >>> from profiles import declare
    >>> made = derive_epsilon(declare("answer", "w*log(3)/2"), q="1/2").guarantee
    >>> both = compose(made, made)
    >>> round(float(both.bound.epsilon), 6), [item.id for item in both.hypotheses if item.id == "fresh-samples"]  # log 4
    (1.386294, ['fresh-samples'])
    """
    require_guarantee(*guarantees)
    parts = [both_directions(item) if isinstance(item.bound, EpsilonDP) else item for item in guarantees]
    names = " and ".join(dict.fromkeys(item.subject for item in guarantees))
    short = names if len(guarantees) == 2 and len(names) <= MAX_NAME else f"{len(guarantees)} releases"
    return compose_directions(subject or short, parts)


_COMPOSED = Signature("compose_directions", {"subject": TEXT}, premises=None)


@_COMPOSED.of
def compose_directions(subject: str, parts: Sequence[AnyGuarantee]) -> AnyGuarantee:
    """If M_1, ..., M_k have losses (ε_i⁺, ε_i⁻), fixed in advance, and each may see the outputs before it, all together have the sums.

    The deltas of a direction add up as well. A direction that is unbounded in one part is unbounded in all. Parts that are run on a sample
    have a sample each, which is open where more than one part leaves its one analysis open.
    Source: docs/one-sided.md, Theorem 2. Formally: theorems ``chain_within`` and, with deltas, ``approx_composition``.
    Raises :class:`InvalidArgument` for no parts, or a part without two directions.
    """
    if not parts:
        raise InvalidArgument("a composition needs at least one part, but none was given; give the guarantees of the parts")
    bounds = [_two_sided(part) for part in parts]
    minus = [item.minus for item in bounds if item.minus is not None]
    bound = TwoSidedDP(
        sum((item.plus for item in bounds), Fraction(0)),
        None if len(minus) < len(bounds) else sum(minus, Fraction(0)),
        min(Fraction(1), sum((item.delta_plus for item in bounds), Fraction(0))),
        min(Fraction(1), sum((item.delta_minus for item in bounds), Fraction(0))),
        tuple(found for item in bounds for found in item.evidence),
    )
    return conclude(
        "adaptive composition in each direction",
        subject,
        bound,
        source=f"{_PAGE}, Theorem 2",
        conclusion=describe_losses(bound),
        parents=parts,
        supposes=(FRESH_SAMPLES,),
        discharges={} if share_samples(parts) else {FRESH_SAMPLES: _NO_SECOND},
        call=_COMPOSED.record(subject=subject),
    )


def share_samples(parts: Sequence[AnyGuarantee]) -> bool:
    """Whether two parts may have used one sample, or a part is itself a composition in which that is open."""
    alone = sum(ONE_ANALYSIS in part.hypotheses for part in parts)
    return alone > 1 or any(FRESH_SAMPLES in part.hypotheses for part in parts)


_SUBSAMPLED = Signature("subsample", {"p": RATE})


@_SUBSAMPLED.of
def subsample(guarantee: AnyGuarantee, p: object) -> AnyGuarantee:
    """If M has the losses (ε⁺, ε⁻), M on a fresh Poisson sample of rate p has ψ⁺ = log(1 + p (e^ε⁺ − 1)), ψ⁻ = −log(1 − p (1 − e^−ε⁻)).

    ε⁻ = ∞ (one-sided) gives ψ⁻ = −log(1 − p). With deltas: p·δ⁺ in the first direction; in the second p·δ⁻/((1 − p) e^ε⁻ + p), which
    is at most p·δ⁻. ``p`` is exact, in [0, 1]; both losses are rounded up. The sampler's draws and the single use of the
    sample are hypotheses; ``realise_draws`` discharges the first.

    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1. Formally: theorems ``amplification_plus``, ``amplification_minus``,
    and with deltas ``approx_amplification_plus``, ``approx_amplification_minus``. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.
    """
    before, rate = _two_sided(guarantee), to_probability(p)
    bound = TwoSidedDP(
        amplify_plus(before.plus, rate),
        amplify_minus(before.minus, rate),
        rate * before.delta_plus,
        rate * before.delta_minus,
    )
    return conclude(
        "Poisson sampling in each direction",
        f"{guarantee.subject} on a Poisson sample",
        bound,
        source=f"{_PAGE}, Theorem 1",
        conclusion=f"p = {decimal_text(rate, 17, round_up=True)}: {describe_losses(bound)}",
        parents=(guarantee,),
        call=_SUBSAMPLED.record(p=rate),
    )


def _losses_of(given: Mapping[str, Any]) -> str:
    minus = "unbounded" if given["minus"] is None else describe_wholly(given["minus"])
    return f"(before sampling) the losses epsilon_plus(w, x) = {describe_wholly(given['plus'])}, epsilon_minus(w, x) = {minus}"


_WORST = Signature(
    "worst_case_directions",
    {"plus": LOSS, "minus": LOSS, "rule": SAMPLING_RULE, "hypotheses": HYPOTHESES, "evidence": PROOFS, "options": OPTIONS},
    premises=0,
    word=lambda _, given: _losses_of(given),
)


@_WORST.of
def worst_case_directions(
    plus: Profile,
    minus: Profile | None,
    rule: SamplingRule | str,
    *,
    relative_gap: object = "1e-9",
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    certificates: tuple[Certificate | None, Certificate | None] = (None, None),
) -> AnyGuarantee:
    """Claim: a mechanism on weighted data sets with losses ε⁺(w, x), ε⁻(w, x), on a Poisson sample with q(x) and weights 1/q(x), has

        ψ⁺ ≤ sup over x of log(1 + q (e^ε⁺(1/q, x) − 1)),   ψ⁻ ≤ sup over x of −log(1 − q (1 − e^−ε⁻(1/q, x))),

    both certified. ``minus`` None is ∞ at every record (add-DP for each weight): then ψ⁻ = sup −log(1 − q(x)), and q must stay below 1.
    ``plus`` and ``minus`` declare the same statistics; ``rule`` is a sampling rule with an explicit q, or an expression. With a certificate
    for a direction, its bound is the one that the kernel accepts there for this very loss, instead of a new one.

    Source: docs/one-sided.md, Theorem 1 and Corollary 1. Raises :class:`InvalidProfile` (different statistics), :class:`InvalidSampling`
    (an implicit rule; q = 1 at a record where ε⁻ is ∞), and what :func:`accountant.guarantees.bound_epsilon` raises.

    >>> from profiles import declare
    >>> sum_ = declare("exponential noise", "w*z", record={"z": [0, 1]})
    >>> found = worst_case_directions(sum_, None, "1/4 + z/4").bound
    >>> round(float(found.plus), 6), round(float(found.minus), 6)  # log(1 + (e^2 - 1)/2), log 2
    (1.433781, 0.693147)
    """
    for declared in (plus, plus if minus is None else minus):
        declared.require_pure()
    chosen = rule_from_expression(rule, plus) if isinstance(rule, str) else rule
    refuse_oracle(chosen)
    if chosen.q is None:
        raise InvalidSampling(f"both directions need an explicit q, but the rule {chosen.name!r} has none; give q as an expression")
    if minus is not None and minus.record != plus.record:
        raise InvalidProfile(f"{plus.name!r} and {minus.name!r} declare different statistics; declare the same names and ranges in both")
    going = _bound(plus, chosen, relative_gap, certificates[0])
    coming = _bound_coming(plus, minus, chosen.q, relative_gap, certificates[1])
    bound = TwoSidedDP(going.upper, coming.upper, evidence=(going, coming))
    losses = f"epsilon_plus(w, x) = {plus.text}, epsilon_minus(w, x) = {'unbounded' if minus is None else minus.text}"
    leaf = Derivation("declared losses", plus.source or "declared without a source", losses)
    given = as_hypotheses(hypotheses, repr(plus.name))
    supposed, held = describe_sampling(chosen, plus)
    found = discharged_by(going) if coming.checked_by_kernel else {}
    return conclude(
        "Poisson importance sampling in each direction, worst case over records",
        f"{plus.name} after {chosen.name} sampling",
        bound,
        source="docs/one-sided.md, Theorem 1 and Corollary 1",
        conclusion=f"q(x) = {to_text(chosen.q)}: epsilon_plus <= {going.upper_text()}, epsilon_minus <= {coming.upper_text()}",
        stated=(leaf,),
        claims=(*name_claims(going, "epsilon-upper"), *name_claims(coming, "epsilon-upper")),
        supposes=(
            *supposed,
            *given,
            *going.hypotheses,
            *coming.hypotheses,
            DECLARED_LOSSES.about(name=plus.name, source=attribute(plus.source)),
        ),
        discharges={**held, **{item: found[item] for item in (DEFINED, PROBABILITY) if item in found}},
        call=_WORST.record(
            plus=plus,
            minus=minus,
            rule=chosen,
            hypotheses=given,
            evidence=(going, coming),
            options=(("relative_gap", to_exact(relative_gap, "the relative gap")),),
        ),
    )


def _coming_term(minus: Profile | None, q: Term) -> Term:
    """Return ψ⁻(x) = −log(1 − q (1 − e^−ε⁻(1/q, x))) as a term in the statistics; −log(1 − q) for ε⁻ = ∞."""
    lost: Term = q
    if minus is not None:
        lost = ("mul", q, ("add", _ONE, ("neg", ("exp", ("neg", weighted_epsilon(minus, q))))))
    return ("neg", ("log", ("add", _ONE, ("neg", lost))))


def _bound(profile: Profile, rule: SamplingRule, gap: object, certificate: Certificate | None) -> EpsilonBound:
    return bound_epsilon(profile, rule, gap) if certificate is None else recheck_epsilon(profile, rule, certificate)


def _bound_coming(plus: Profile, minus: Profile | None, q: Term, gap: object, certificate: Certificate | None) -> EpsilonBound:
    """ψ⁻ is the sampled profile of the profile ψ⁻ + 0·w under the rule 1, so that the same search, certificate and kernel serve it."""
    ignored: Term = ("mul", number(0), symbol(WEIGHT))
    profile = replace(
        plus, name=f"{_TEXT}: {plus.name}"[:100], promise=("add", _coming_term(minus, q), ignored), parameters=(), parts=(), source=""
    )
    try:
        return _bound(profile, rule_from_expression("1", profile), gap, certificate)
    except InvalidProfile as error:
        raise InvalidSampling(
            f"the {_TEXT} is not bounded on the declared records ({error}); keep q below 1 where epsilon_minus is"
        ) from None


def _two_sided(guarantee: AnyGuarantee) -> TwoSidedDP:
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, TwoSidedDP):
        raise InvalidArgument(
            f"a guarantee with two directions is needed, but that of {guarantee.subject!r} has none; make one with declare_add_dp, "
            "declare_directions or both_directions"
        )
    return guarantee.bound


def _read_delta(value: object) -> Fraction:
    exact = to_exact(value, "delta")
    if not 0 <= exact <= 1:
        raise InvalidNumber(f"delta must lie in [0, 1], but {shorten(exact)} was found; give a probability")
    return exact


def describe_losses(bound: TwoSidedDP) -> str:
    ends = {"epsilon_plus": bound.plus, "epsilon_minus": bound.minus}
    shown = [f"{name} {'unbounded' if value is None else '<= ' + decimal_text(value, 12, round_up=True)}" for name, value in ends.items()]
    deltas = {"delta_plus": bound.delta_plus, "delta_minus": bound.delta_minus}
    return ", ".join([*shown, *(f"{name} <= {decimal_text(value, 12, round_up=True)}" for name, value in deltas.items() if value)])


__all__ = [
    "both_directions", "compose", "compose_directions", "declare_add_dp", "declare_directions", "prove_losses", "subsample",
    "worst_case_directions",
]  # fmt: skip
