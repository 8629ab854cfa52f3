"""The rules that make guarantees. Each docstring is the statement that it applies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import sympy

from accountant.guarantees.theorem import (
    AnyGuarantee,
    ConditionalGuarantee,
    Derivation,
    Discharged,
    EpsilonDP,
    Guarantee,
    Notion,
    ProfileBound,
    SampledBound,
    Step,
    conclude,
    require_guarantee,
)
from accountant.sampling import SamplingRule, refuse_oracle
from accountant.worst_case import EpsilonBound, bound_epsilon, recheck_epsilon
from profiles import InvalidArgument, InvalidProfile, Parameter, Profile, Statistic, Undecided, exact_text, to_exact
from profiles.suggestions import suggest
from profiles.symbolic import to_sympy
from profiles.terms import Term, constant_value, to_text
from proofs_check.admission import well_defined_claim

EXACT_REALS = "The mechanism computes in exact real arithmetic"
DEFINED = "epsilon is defined and not negative on its domain"
PROBABILITY = "0 < q(x) <= 1 for every record"
_DEFINED = "claim well-defined, checked by the kernel"
INDEPENDENT = "the sampler selects each record independently with probability exactly q(x)"


def base_profile(profile: Profile, hypotheses: Sequence[str] = (EXACT_REALS,)) -> AnyGuarantee:
    """A mechanism satisfies its declared PDP profile: on all weighted data sets, (w, x) more or less is ε(w, x)-indistinguishable.

    The source is the profile's own; a profile without a source is a hypothesis. ``hypotheses`` are those of the implementation.
    Source: Fay et al. 2024, Definition 4 on weighted data sets.
    """
    if isinstance(hypotheses, str):
        raise InvalidArgument(f"the hypotheses of {profile.name!r} are a sequence of texts, but one text was found; put it in a list")
    open_source = () if profile.source else (f"the mechanism {profile.name!r} has the profile that is declared for it",)
    derivation = Derivation("declared profile", profile.source or "declared without a source", _profile_text(profile))
    step = Step("base_profile", (("profile", profile), ("hypotheses", tuple(hypotheses))))
    return conclude(profile.name, Notion.PDP, ProfileBound(profile), derivation, hypotheses=(*hypotheses, *open_source), step=step)


def adaptive_composition(profile: Profile, parts: Sequence[AnyGuarantee]) -> AnyGuarantee:
    """If M_i is ε_i-PDP and is run n_i times, each run seeing the outputs of the earlier ones, the whole is (Σ n_i ε_i)-PDP.

    ``profile`` is a composed one; ``parts`` are guarantees of the profiles it was composed from, in their order. That its ε is
    exactly Σ n_i ε_i is checked by simplifying the difference to 0, and that each ε_i is defined everywhere (1/z − 1/z simplifies to 0, but
    promises nothing at z = 0). Source: Ebadi et al. 2015; Fay et al. 2024, proof of Proposition 13.

    Raises :class:`InvalidArgument` where a guarantee is not about its part, :class:`InvalidProfile` where the sum differs.
    """
    require_guarantee(*parts)
    if not profile.parts:
        raise InvalidArgument(f"the profile {profile.name!r} was not composed from parts; use base_profile")
    if len(parts) != len(profile.parts):
        raise InvalidArgument(f"{profile.name!r} has {len(profile.parts)} parts, but {len(parts)} guarantees were given; give one for each")
    hypotheses: list[str] = []
    known: dict[str, Statistic | Parameter] = {item.name: item for item in profile.record}
    known.update({item.name: item for item in profile.parameters})
    for part, guarantee in zip(profile.parts, parts, strict=True):
        if not isinstance(guarantee.bound, ProfileBound) or guarantee.bound.profile != part.profile:
            raise InvalidArgument(f"the guarantee of {guarantee.subject!r} is not about the part {part.profile.name!r}; give them in order")
        items: tuple[Statistic | Parameter, ...] = (*part.profile.record, *part.profile.parameters)
        for item in items:
            if known.get(item.name) != item:
                raise InvalidProfile(
                    f"{item.name!r} means something else in {profile.name!r} than in its part {part.profile.name!r}; rename it"
                )
        hypotheses += [*_integer_times(profile, part.times), *_undecided_part(part.profile), *guarantee.hypotheses]
    _check_sum(profile)
    shown = " + ".join(f"{to_text(part.times)}*({part.profile.text})" for part in profile.parts)
    source = f"; {profile.source}" if profile.source else ""
    derivation = Derivation(
        "adaptive composition",
        f"Ebadi et al. 2015; Fay et al. 2024, proof of Proposition 13{source}",
        f"{_profile_text(profile)} = {shown}",
        ("sum of the parts: difference simplifies to 0",),
        tuple(guarantee.derivation for guarantee in parts),
    )
    discharged = [item for guarantee in parts for item in guarantee.discharged]
    step = Step("adaptive_composition", (("profile", profile),), tuple(guarantee.step for guarantee in parts))
    return conclude(profile.name, Notion.PDP, ProfileBound(profile), derivation, hypotheses=hypotheses, discharged=discharged, step=step)


def derive_profile(profile: Profile, hypotheses: Sequence[str] = (EXACT_REALS,)) -> AnyGuarantee:
    """Return the guarantee of a profile from the leaves up: by adaptive composition where it has parts, else as declared."""
    if not profile.parts:
        return base_profile(profile, hypotheses)
    return adaptive_composition(profile, [derive_profile(part.profile, hypotheses) for part in profile.parts])


def amplify_by_importance_sampling(guarantee: AnyGuarantee, rule: SamplingRule) -> AnyGuarantee:
    """If M is ε-PDP on weighted data sets, M after Poisson importance sampling with q is ψ-PDP, ψ(x) = log(1 + q(x)(e^ε(1/q(x), x) − 1)).

    Source: Fay et al. 2024, Theorem 6. Raises :class:`InvalidArgument` where the guarantee is not a profile of weighted records,
    :class:`NotPrivate` for variance-optimal probabilities, which are no public map.
    """
    refuse_oracle(rule)
    require_guarantee(guarantee)
    bound = guarantee.bound
    if not isinstance(bound, ProfileBound):
        raise InvalidArgument(
            f"amplification needs the PDP profile of a mechanism on weighted data sets, but the guarantee of {guarantee.subject!r} is "
            "about something else; sample before taking the worst case, and once"
        )
    derivation = Derivation(
        "amplification by importance sampling",
        f"Fay et al. 2024, Theorem 6; sampling rule: {rule.source}",
        f"psi(x) = log(1 + q(x)*(exp(epsilon(1/q(x), x)) - 1)), {_rule_text(rule)}",
        (),
        (guarantee.derivation,),
    )
    return conclude(
        f"{guarantee.subject} after {rule.name} sampling",
        Notion.PDP,
        SampledBound(bound.profile, rule),
        derivation,
        hypotheses=(*rule.hypotheses_for(bound.profile), PROBABILITY, DEFINED, INDEPENDENT, *guarantee.hypotheses),
        discharged=guarantee.discharged,
        step=Step("amplify_by_importance_sampling", (("rule", rule),), (guarantee.step,)),
    )


def worst_case(guarantee: AnyGuarantee, *, certificate: Mapping[str, Any] | None = None, **options: Any) -> AnyGuarantee:
    """If M is ψ-PDP and ψ ≤ U at every record, M is U-differentially private (add/remove).

    U is computed and proved here, by :func:`accountant.worst_case.bound_epsilon`, to which ``options`` go; with a ``certificate`` it is
    the bound that the kernel accepts there for this very profile and rule (:func:`accountant.worst_case.recheck_epsilon`).
    Source: Fay et al. 2024, Definitions 2 and 4; for privacy-constrained sampling Problem 7, and Theorem 10 where its conditions hold.
    Raises :class:`InvalidArgument` where the guarantee is not about a sampled mechanism, and what ``bound_epsilon`` raises.
    """
    require_guarantee(guarantee)
    bound = guarantee.bound
    if not isinstance(bound, SampledBound):
        raise InvalidArgument(
            f"a worst case over records needs a sampled profile, but the guarantee of {guarantee.subject!r} has none; amplify first "
            "(with the uniform rule of rate 1 for no sampling)"
        )
    if certificate is not None:
        evidence = recheck_epsilon(bound.profile, bound.rule, certificate)
    else:
        evidence = bound_epsilon(bound.profile, bound.rule, **options)
    derivation, found = _conclude_worst_case(guarantee.derivation, bound, evidence, options.get("premises") or {})
    closed = tuple(Discharged(hypothesis, reason, guarantee.subject) for hypothesis, reason in found.items())
    return conclude(
        guarantee.subject,
        Notion.ADD_REMOVE_DP,
        EpsilonDP(evidence.lower, evidence.upper, evidence),
        derivation,
        hypotheses=[item for item in (*guarantee.hypotheses, *evidence.hypotheses) if item not in found],
        discharged=(*guarantee.discharged, *closed),
        step=Step("worst_case", (("evidence", evidence), ("options", _plain(options))), (guarantee.step,)),
    )


def post_processing(guarantee: AnyGuarantee, description: str) -> AnyGuarantee:
    """Whatever is computed from the output of M alone, without the data, has the guarantee of M (Dwork et al. 2006)."""
    if not description.strip():
        raise InvalidArgument("post-processing needs a description of what is computed from the output; give one")
    require_guarantee(guarantee)
    derivation = Derivation("post-processing", "Dwork et al. 2006", description, (), (guarantee.derivation,))
    return conclude(
        f"{description} of {guarantee.subject}", guarantee.notion, guarantee.bound, derivation,
        hypotheses=(*guarantee.hypotheses, f"{description} uses the data only through the output of the mechanism"),
        discharged=guarantee.discharged, step=Step("post_processing", (("description", description),), (guarantee.step,)),
    )  # fmt: skip


def discharge(guarantee: AnyGuarantee, hypothesis: str, evidence: str) -> AnyGuarantee:
    """Return the guarantee with one hypothesis discharged by ``evidence``, which stays on record and in every print.

    Raises :class:`InvalidArgument` where the hypothesis is not open, or the evidence is empty.
    """
    require_guarantee(guarantee)
    if not isinstance(evidence, str) or not evidence.strip():
        raise InvalidArgument("discharging a hypothesis needs evidence in words; say why it holds")
    if isinstance(guarantee, Guarantee) or hypothesis not in guarantee.hypotheses:
        hint = suggest(str(hypothesis), guarantee.hypotheses)
        raise InvalidArgument(f"{str(hypothesis)[:100]!r} is not an open hypothesis of {guarantee.subject!r}{hint}; give it word for word")
    remaining = [item for item in guarantee.hypotheses if item != hypothesis]
    closed = (*guarantee.discharged, Discharged(hypothesis, evidence.strip(), guarantee.subject))
    step = Step("discharge", (("hypothesis", hypothesis), ("evidence_text", evidence)), (guarantee.step,))
    return conclude(
        guarantee.subject, guarantee.notion, guarantee.bound, guarantee.derivation, hypotheses=remaining, discharged=closed, step=step
    )  # fmt: skip


def _plain(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The options that decide which bound is found, as exact values; ``well_defined_claim`` is a proof, which is found again."""
    known: dict[str, Callable[[Any], Any]] = {
        "accept_wider": bool,
        "budget": int,
        "premises": lambda premises: tuple(sorted(premises.items())),
        "relative_gap": lambda gap: to_exact(gap, "the relative gap"),
    }
    return tuple((name, known[name](options[name])) for name in sorted(known) if options.get(name) is not None)


def _profile_text(profile: Profile) -> str:
    return f"epsilon(w, x) = {profile.text}"


def _rule_text(rule: SamplingRule) -> str:
    if rule.q is None:
        target = "" if rule.target_epsilon is None else f" for the target {exact_text(rule.target_epsilon)}"
        return f"q(x) = 1/w*(x), the largest feasible weight{target}"
    return f"q(x) = {to_text(rule.q)}"


def _integer_times(profile: Profile, times: Term) -> tuple[str, ...]:
    value = constant_value(times)
    if value is None and times[0] == "sym":
        named = next((p for p in profile.parameters if p.name == times[1]), None)
        value = None if named is None else named.value
        if named is not None and value is None:
            return (f"{times[1]} is a positive integer, fixed in advance",)
    if value is None or value.denominator != 1 or value < 1:
        raise InvalidProfile(f"{to_text(times)} uses of a part were declared in {profile.name!r}; the number of uses is a positive integer")
    return ()


def _undecided_part(profile: Profile) -> tuple[str, ...]:
    """Return the hypothesis that ε of a part is defined, where that is undecided. Raises :class:`InvalidProfile` where it is not."""
    try:
        well_defined_claim(profile)
    except Undecided:
        return (f"epsilon of {profile.name!r} is defined and not negative on its domain",)
    return ()


def _check_sum(profile: Profile) -> None:
    symbols = profile.symbols()
    parts = (to_sympy(part.times, symbols) * to_sympy(part.profile.epsilon, symbols) for part in profile.parts)
    difference = to_sympy(profile.epsilon, symbols) - reduce(lambda left, right: left + right, parts)
    if sympy.expand(difference) != 0 and sympy.simplify(difference) != 0:
        raise InvalidProfile(f"epsilon of {profile.name!r} is not the sum of its parts: the difference {difference} does not simplify to 0")


def _claims(evidence: EpsilonBound) -> tuple[str, ...]:
    if evidence.checked_by_kernel:
        return ("well-defined", "epsilon-upper", "epsilon-lower")
    return (f"{evidence.method} (not checked by the kernel: {evidence.kernel_reason})",)


def _conclude_worst_case(
    premise: Derivation, bound: SampledBound, evidence: EpsilonBound, premises: Mapping[str, bool]
) -> tuple[Derivation, dict[str, str]]:
    """Return the derivation of a worst case, and the hypotheses that its evidence discharges, each with the reason."""
    conclusion = f"psi(x) <= {evidence.upper_text()} at every record"
    source = "Fay et al. 2024, Definitions 2 and 4"
    if bound.rule.q is not None:
        return Derivation("worst case over records", source, conclusion, _claims(evidence), (premise,)), discharged_by(evidence)
    # the constraint bounds psi for whatever weights are returned; that the bound is reached, and a best weight exists, is Theorem 10
    source += ", Problem 7" + (", Theorem 10" if evidence.lower == evidence.upper else "")
    derivation = Derivation("worst case of privacy-constrained sampling", source, conclusion, _claims(evidence), (premise,))
    return derivation, _discharged_by_conditions(bound.profile, premises)


def _discharged_by_conditions(profile: Profile, premises: Mapping[str, bool]) -> dict[str, str]:
    proved = {f"{name} holds": "proved" for name, value in premises.items() if value}
    if premises.get("feasibility"):
        proved["every returned weight satisfies the constraint of Problem 7"] = "proved"
    if premises.get("assumption-9"):
        proved[PROBABILITY] = "every weight is finite (assumption-9) and at least 1"
    try:
        well_defined_claim(profile)
    except Undecided:
        return proved
    return {**proved, DEFINED: _DEFINED}


def discharged_by(evidence: EpsilonBound) -> dict[str, str]:
    """Return the hypotheses that the evidence of a worst case with an explicit q discharges, each with the reason."""
    if evidence.checked_by_kernel:
        return {DEFINED: _DEFINED, PROBABILITY: "claim epsilon-upper, checked by the kernel"}
    return {PROBABILITY: "ball arithmetic"} if evidence.proved_by_balls else {}


__all__ = [
    "ConditionalGuarantee", "adaptive_composition", "amplify_by_importance_sampling", "base_profile", "derive_profile", "discharge",
    "post_processing", "worst_case",
]  # fmt: skip
