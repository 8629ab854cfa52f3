"""Losses that depend on the record and its weight, in two directions: the worst case over records after importance sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from accountant.guarantees import DEFINED, EXACT_REALS, PROBABILITY, AnyGuarantee, Derivation, Hypothesis, TwoSidedDP
from accountant.guarantees.bounds import bound_epsilon, recheck_epsilon
from accountant.guarantees.rules import describe_sampling, discharged_by
from accountant.guarantees.theorem import Step, conclude
from accountant.rules import SamplingRule, refuse_oracle, rule_from_expression
from profiles import InvalidProfile, InvalidSampling, Profile, to_exact
from profiles.hypotheses import DECLARED_LOSSES, as_hypotheses, attribute
from profiles.profile import WEIGHT
from profiles.terms import Term, number, symbol, to_text
from proofs_check.suprema.bound import EpsilonBound
from proofs_check.suprema.terms import weighted_epsilon

Certificate: TypeAlias = Mapping[str, Any]
_ONE = number(1)
_TEXT = "loss when a record comes"


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
        claims=(*_checked(going), *_checked(coming)),
        supposes=(
            *supposed,
            *given,
            *going.hypotheses,
            *coming.hypotheses,
            DECLARED_LOSSES.about(name=plus.name, source=attribute(plus.source)),
        ),
        discharges={**held, **{item: found[item] for item in (DEFINED, PROBABILITY) if item in found}},
        step=Step(
            "worst_case_directions",
            (
                ("plus", plus),
                ("minus", minus),
                ("rule", chosen),
                ("hypotheses", given),
                ("evidence", (going, coming)),
                ("options", (("relative_gap", to_exact(relative_gap, "the relative gap")),)),
            ),
        ),
    )


def coming_term(minus: Profile | None, q: Term) -> Term:
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
        plus, name=f"{_TEXT}: {plus.name}"[:100], epsilon=("add", coming_term(minus, q), ignored), parameters=(), parts=(), source=""
    )
    try:
        return _bound(profile, rule_from_expression("1", profile), gap, certificate)
    except InvalidProfile as error:
        raise InvalidSampling(
            f"the {_TEXT} is not bounded on the declared records ({error}); keep q below 1 where epsilon_minus is"
        ) from None


def _checked(evidence: EpsilonBound) -> tuple[str, ...]:
    if evidence.checked_by_kernel:
        return ("epsilon-upper",)
    return (f"{evidence.method} (not checked by the kernel: {evidence.kernel_reason})",)


__all__ = ["coming_term", "worst_case_directions"]
