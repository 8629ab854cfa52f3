"""The rules that make guarantees. Each docstring is the statement that it applies; its hypotheses stand in ``statements.RULES``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from accountant.guarantees.bounds import bound_epsilon, discharged_by, discharged_by_conditions, name_claims, recheck_epsilon
from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import Losses, ProfileBound, SampledBound
from accountant.guarantees.statements import READS_NOTHING, WORLD, may_close
from accountant.guarantees.stored import HYPOTHESES, HYPOTHESIS, OPTIONS, PROFILE, PROOFS, SAMPLING_RULE, TEXT
from accountant.guarantees.theorem import Guarantee, Inference, conclude, require_guarantee, restate, update_hypotheses
from accountant.rules import SamplingRule, refuse_oracle
from profiles import InvalidArgument, InvalidProfile, Parameter, Profile, Statistic, Undecided, exact_text, to_exact
from profiles.evaluation import constant_value
from profiles.hypotheses import (
    DEFINED,
    EXACT_REALS,
    FEASIBLE_WEIGHTS,
    FRESH_SAMPLES,
    IN_RANGE,
    MOST_STEPS,
    ONLY_THROUGH_OUTPUT,
    PART_DEFINED,
    PARTS_RUN,
    PROBABILITY,
    RECORD_STATISTICS,
    WHOLE_TIMES,
    Hypothesis,
    as_hypotheses,
    as_hypothesis,
    name_declaration,
    name_statistics,
)
from profiles.presenting.describing import describe_wholly
from profiles.protection import RECORDS
from profiles.suggestions import suggest
from profiles.symbolic import to_sympy
from profiles.terms import Term, to_text
from proofs_check.admission import admit
from proofs_check.prover.algebra import vanishes
from proofs_check.suprema.bound import EpsilonBound

_DECLARED = Signature(
    "base_profile",
    {"profile": PROFILE, "hypotheses": HYPOTHESES},
    premises=0,
    word=lambda _, given: f"the profile epsilon(w, x) = {describe_wholly(given['profile'])}",
)


@_DECLARED.of
def base_profile(profile: Profile, hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,)) -> Guarantee:
    """A mechanism satisfies its declared PDP profile: on all weighted data sets, adding or removing (w, x) is ε(w, x)-indistinguishable.

    That it does is a hypothesis, whatever source the profile names: :func:`derive_mechanism` closes it for mechanisms of the catalogue.
    ``hypotheses`` are those of the implementation. Source: Fay et al. 2024, Definition 4 on weighted data sets.
    """
    given = as_hypotheses(hypotheses, repr(profile.name))
    return conclude(
        Inference(
            "declared profile",
            profile.name,
            source=profile.source or "declared without a source",
            conclusion=_profile_text(profile),
            call=_DECLARED.record(profile=profile, hypotheses=given),
            profile=profile,
            protection=RECORDS,
        ),
        ProfileBound(profile),
        supposes=(name_declaration(profile), *given),
    )


_COMPOSED = Signature("adaptive_composition", {"profile": PROFILE}, premises=None)


@_COMPOSED.of
def adaptive_composition(profile: Profile, parts: Sequence[Guarantee]) -> Guarantee:
    """If M_i is ε_i-PDP and is run n_i times, each run seeing the outputs of the earlier ones, the whole is (Σ n_i ε_i)-PDP.

    ``profile`` is a composed one; ``parts`` are guarantees of the profiles it was composed from, in their order. That its ε is
    exactly Σ n_i ε_i is checked by simplifying the difference to 0, and that each ε_i is defined everywhere (1/z − 1/z simplifies to 0, but
    promises nothing at z = 0). Source: Ebadi et al. 2015; Fay et al. 2024, proof of Proposition 13.
    Formally: theorems ``pdp_composition``, ``pdp_composition_n``.

    Raises :class:`InvalidArgument` where a guarantee is not about its part, :class:`InvalidProfile` where the sum differs.
    """
    require_guarantee(*parts)
    if not profile.parts:
        raise InvalidArgument(f"the profile {profile.name!r} was not composed from parts; use base_profile")
    if len(parts) != len(profile.parts):
        raise InvalidArgument(f"{profile.name!r} has {len(profile.parts)} parts, but {len(parts)} guarantees were given; give one for each")
    supposed: list[Hypothesis] = [PARTS_RUN.about(name=profile.name)]
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
        supposed += [*_integer_times(profile, part.times), *_undecided_part(part.profile)]
    _check_sum(profile)
    shown = " + ".join(f"{to_text(part.times)}*({part.profile.text})" for part in profile.parts)
    source = f"; {profile.source}" if profile.source else ""
    return conclude(
        Inference(
            "adaptive composition",
            profile.name,
            source=f"Ebadi et al. 2015; Fay et al. 2024, proof of Proposition 13{source}",
            conclusion=f"{_profile_text(profile)} = {shown}",
            claims=("sum of the parts: difference simplifies to 0",),
            call=_COMPOSED.record(profile=profile),
            profile=profile,
        ),
        ProfileBound(profile),
        parents=parts,
        supposes=supposed,
    )


def derive_profile(profile: Profile, hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,)) -> Guarantee:
    """Return the guarantee of a profile from the leaves up: by adaptive composition where it has parts, else as declared."""
    if not profile.parts:
        return base_profile(profile, hypotheses)
    return adaptive_composition(profile, [derive_profile(part.profile, hypotheses) for part in profile.parts])


def describe_sampling(rule: SamplingRule, profile: Profile, steps: int = 1) -> tuple[tuple[Hypothesis, ...], dict[Hypothesis, str]]:
    """Return what sampling by a rule in some steps assumes, of the records of ``profile`` and of the samples, and what of it holds because
    the profile reads no statistic.
    """
    several = (FRESH_SAMPLES, MOST_STEPS.about(steps=steps)) if steps > 1 else ()
    supposed = tuple(dict.fromkeys((*rule.hypotheses_for(profile), name_statistics(profile), *several)))
    if profile.record:
        return supposed, {}
    return supposed, {item: READS_NOTHING for item in supposed if item.id in (IN_RANGE.id, RECORD_STATISTICS.id)}


def gather_hypotheses(
    profile: Profile, rule: SamplingRule, hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,)
) -> tuple[Hypothesis, ...]:
    """Return what a bound of ψ for ``profile`` and ``rule`` rests on, where all that a kernel can check of it is checked."""
    checked = (DEFINED, PROBABILITY, FEASIBLE_WEIGHTS)
    hypotheses_ = amplify_by_importance_sampling(derive_profile(profile, hypotheses), rule).hypotheses
    return tuple(item for item in hypotheses_ if item not in checked)


_AMPLIFIED = Signature("amplify_by_importance_sampling", {"rule": SAMPLING_RULE})


@_AMPLIFIED.of
def amplify_by_importance_sampling(guarantee: Guarantee, rule: SamplingRule) -> Guarantee:
    """If M is ε-PDP on weighted data sets, M after Poisson importance sampling with q is ψ-PDP, ψ(x) = log(1 + q(x)(e^ε(1/q(x), x) − 1)).

    Source: Fay et al. 2024, Theorem 6. Formally: theorems ``importance_plus``, ``importance_minus``, ``psi_minus_le_plus`` and, for lists
    of records of any type, ``list_amplification``.
    Raises :class:`InvalidArgument` where the guarantee is not a profile of weighted records,
    :class:`NotPrivate` for variance-optimal probabilities, which are not a public map.
    """
    refuse_oracle(rule)
    require_guarantee(guarantee)
    bound = guarantee.bound
    if not isinstance(bound, ProfileBound):
        raise InvalidArgument(
            f"amplification needs the PDP profile of a mechanism on weighted data sets, but the guarantee of {guarantee.subject!r} is "
            "about something else; sample before taking the worst case, and once"
        )
    supposed, held = describe_sampling(rule, bound.profile)
    return conclude(
        Inference(
            "amplification by importance sampling",
            f"{guarantee.subject} after {rule.name} sampling",
            source=f"Fay et al. 2024, Theorem 6; sampling rule: {rule.source}",
            conclusion=f"psi(x) = log(1 + q(x)*(exp(epsilon(1/q(x), x)) - 1)), {_rule_text(rule)}",
            call=_AMPLIFIED.record(rule=rule),
        ),
        SampledBound(bound.profile, rule),
        parents=(guarantee,),
        supposes=supposed,
        discharges=held,
    )


_WORST = Signature("worst_case", {"evidence": PROOFS, "options": OPTIONS})


@_WORST.of
def worst_case(guarantee: Guarantee, *, certificate: Mapping[str, Any] | None = None, **options: Any) -> Guarantee:
    """If M is ψ-PDP and ψ ≤ U at every record, M is U-differentially private (add/remove).

    U is computed and proved here, by :func:`accountant.guarantees.bound_epsilon`, to which ``options`` go; with a ``certificate`` it is
    the bound that the kernel accepts there for this very profile and rule (:func:`accountant.guarantees.recheck_epsilon`).
    Source: Fay et al. 2024, Definitions 2 and 4; for privacy-constrained sampling Problem 7, and Theorem 10 where its conditions hold.
    Formally: theorems ``worst_case``, ``importance_worst_case``; for the weights that privacy-constrained sampling uses
    docs/sampling.md, Theorem 2, on paper.
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
    rule, source, discharges = _describe_worst_case(bound, evidence, options.get("premises") or {})
    return conclude(
        Inference(
            rule,
            guarantee.subject,
            source=source,
            conclusion=f"psi(x) <= {evidence.upper_text()} at every record",
            claims=name_claims(evidence, "well-defined", "epsilon-upper", "epsilon-lower"),
            call=_WORST.record(evidence=evidence, options=_plain(options)),
        ),
        Losses.proved(evidence),
        parents=(guarantee,),
        supposes=evidence.hypotheses,
        closes={item: reason for item, reason in discharges.items() if item in (*guarantee.hypotheses, *evidence.hypotheses)},
    )


_PROCESSED = Signature("post_processing", {"description": TEXT})


@_PROCESSED.of
def post_processing(guarantee: Guarantee, description: str) -> Guarantee:
    """Whatever is computed from the output of M alone, without the data, has the guarantee of M (Dwork et al. 2006).

    Formally: theorems ``pdp_post_processing``, ``approx_post_processing``.
    """
    require_guarantee(guarantee)
    if not description.strip():
        raise InvalidArgument("post-processing needs a description of what is computed from the output; give one")
    return conclude(
        Inference(
            "post-processing",
            f"{description} of {guarantee.subject}",
            source="Dwork et al. 2006",
            conclusion=description,
            call=_PROCESSED.record(description=description),
        ),
        guarantee.bound,
        parents=(guarantee,),
        supposes=(ONLY_THROUGH_OUTPUT.about(what=description),),
    )


def discharge(guarantee: Guarantee, hypothesis: Hypothesis | str, evidence: str) -> Guarantee:
    """Return the guarantee with one hypothesis closed by ``evidence``, which is recorded and printed.

    ``hypothesis``: the object, its sentence, or its id if only one hypothesis has it. Raises :class:`InvalidArgument` if the hypothesis is
    not open, or the evidence is empty or that of :func:`prove_run`, and for hypotheses about the world
    (:data:`accountant.guarantees.statements.WORLD`), which only steps of code make true.
    """
    require_guarantee(guarantee)
    if not isinstance(evidence, str) or not evidence.strip():
        raise InvalidArgument("discharging a hypothesis needs evidence in words; say why it holds")
    same = [item for item in guarantee.hypotheses if hypothesis in (item, item.sentence)]
    matching = same or [item for item in guarantee.hypotheses if item.id == hypothesis]
    if len(matching) != 1:
        hint = suggest(str(hypothesis), [item.sentence for item in guarantee.hypotheses])
        raise InvalidArgument(f"{str(hypothesis)[:100]!r} is not an open hypothesis of {guarantee.subject!r}{hint}; give it word for word")
    if matching[0].id in WORLD:
        raise InvalidArgument(
            f"the hypothesis {matching[0].id!r} is about the world and was to be discharged by words, which make nothing true; leave it "
            "open, or let a step of code see to it"
        )
    return update_hypotheses(guarantee, {matching[0]: evidence})


@Signature("discharge", {"hypothesis": HYPOTHESIS, "evidence_text": TEXT}).of
def _discharge_again(guarantee: Guarantee, hypothesis: Hypothesis, evidence: str) -> Guarantee:
    """Discharge as it was recorded, by the words of somebody or by a step of code that a file names.

    Calls of earlier releases that closed what no words close leave it open.
    """
    require_guarantee(guarantee)
    if hypothesis not in guarantee.hypotheses:
        raise InvalidArgument(f"{hypothesis.sentence[:100]!r} is not an open hypothesis of {guarantee.subject!r}; correct the file")
    return update_hypotheses(guarantee, {hypothesis: evidence}) if may_close(hypothesis, evidence) else guarantee


@Signature("assume", {"hypotheses": HYPOTHESES}).of
def assume(guarantee: Guarantee, hypotheses: Sequence[Hypothesis | str]) -> Guarantee:
    """A guarantee holds under more hypotheses than it needs: return it with ``hypotheses`` added."""
    require_guarantee(guarantee)
    if isinstance(hypotheses, str):
        raise InvalidArgument(f"hypotheses to assume are a sequence of texts, but the text {hypotheses[:60]!r} was found; put it in a list")
    return update_hypotheses(guarantee, supposes=[as_hypothesis(item) for item in hypotheses])


#: What a run rests on that computes the statistics of the rows which it is given: it does not see what they were made of.
GIVEN_ROW = RECORD_STATISTICS.about(names="each row that is given")
_READ = Signature("name_readings", {"hypotheses": HYPOTHESES})


@_READ.of
def name_readings(guarantee: Guarantee, hypotheses: Sequence[Hypothesis]) -> Guarantee:
    """If a run computes the statistics of a record from what is read of it, they are of the record alone where that is: return the
    guarantee with ``hypotheses``, open members of the family ``record-statistics`` that name what is read, in place of those by names.

    For what computes them; not exported. Raises :class:`InvalidArgument` for other hypotheses.
    """
    if any(item.id != RECORD_STATISTICS.id for item in hypotheses):
        raise InvalidArgument("how statistics are read was to be said by other hypotheses; give members of record-statistics")
    return restate(guarantee, hypotheses, _READ.record(hypotheses=tuple(hypotheses))) if hypotheses else guarantee


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


def _integer_times(profile: Profile, times: Term) -> tuple[Hypothesis, ...]:
    value = constant_value(times)
    if value is None and times[0] == "sym":
        named = next((p for p in profile.parameters if p.name == times[1]), None)
        value = None if named is None else named.value
        if named is not None and value is None:
            return (WHOLE_TIMES.about(name=times[1]),)
    if value is None or value.denominator != 1 or value < 1:
        raise InvalidProfile(f"{to_text(times)} uses of a part were declared in {profile.name!r}; the number of uses is a positive integer")
    return ()


def _undecided_part(profile: Profile) -> tuple[Hypothesis, ...]:
    """Return the hypothesis that ε of a part is defined, where that is undecided. Raises :class:`InvalidProfile` where it is not."""
    try:
        admit(profile)
    except Undecided:
        return (PART_DEFINED.about(name=profile.name),)
    return ()


def _check_sum(profile: Profile) -> None:
    symbols = profile.symbols()
    parts = (to_sympy(part.times, symbols) * to_sympy(part.profile.epsilon, symbols) for part in profile.parts)
    difference = to_sympy(profile.epsilon, symbols) - reduce(lambda left, right: left + right, parts)
    if not vanishes(difference):
        raise InvalidProfile(f"epsilon of {profile.name!r} is not the sum of its parts: the difference {difference} does not simplify to 0")


def _describe_worst_case(
    bound: SampledBound, evidence: EpsilonBound, verdicts: Mapping[str, bool]
) -> tuple[str, str, dict[Hypothesis, str]]:
    """Return rule and source of a worst case, and the hypotheses that its evidence discharges, each with the reason."""
    source = "Fay et al. 2024, Definitions 2 and 4"
    if bound.rule.q is not None:
        return "worst case over records", source, discharged_by(evidence)
    # the constraint bounds psi for whatever weights are returned; that the bound is reached, and a best weight exists, is Theorem 10
    source += ", Problem 7" + (", Theorem 10" if evidence.lower == evidence.upper else "")
    return "worst case of privacy-constrained sampling", source, discharged_by_conditions(bound.profile, verdicts)
