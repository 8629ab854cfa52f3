"""From a profile and a sampling rule to a guarantee: what ``pdp epsilon`` computes.

Derivation: declared profile (or adaptive composition of its parts) → amplification by importance sampling (Theorem 6 of Fay et al. 2024)
→ worst case over the declared records. The guarantee carries the hypotheses that nobody has discharged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accountant.guarantees import (
    AnyGuarantee,
    EpsilonDP,
    amplify_by_importance_sampling,
    derive_profile,
    prove_run,
    render,
    to_json,
    worst_case,
)
from accountant.guarantees.showing import guarantee_html, guarantee_text
from accountant.sampling import SamplingRule, make_rule, refuse_oracle, rule_from_declaration, rule_from_expression
from profiles import Declaration, InvalidArgument, InvalidSampling, Profile, exact_text, load
from profiles.hypotheses import EXACT_REALS
from profiles.terms import free_symbols, number
from proofs_check.results import Verdict
from proofs_check.verify import Verification, verify

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture

CONSTRAINED = ("assumption-8", "assumption-9")


@dataclass(frozen=True, slots=True)
class DerivedEpsilon:
    """A worst-case guarantee with its evidence; ``conditions`` are the verdicts that privacy-constrained sampling rests on."""

    guarantee: AnyGuarantee
    bound: EpsilonDP
    rule: SamplingRule
    profile: Profile
    conditions: Verification | None = None

    def __repr__(self) -> str:
        return f"DerivedEpsilon({guarantee_text(self.guarantee)})"

    def _repr_html_(self) -> str:
        return guarantee_html(self.guarantee)

    def plot(self) -> Picture:
        """Return a picture of what records lose, with and without sampling, against the first statistic with a range, below the bound.

        Raises :class:`profiles.InvalidArgument` where there is no such statistic, :class:`profiles.MissingExtra` without Matplotlib.
        """
        from accountant.presenting.pictures import plot_derived  # noqa: PLC0415 - Matplotlib is an extra

        return plot_derived(self)

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of the bound; for privacy-constrained sampling that of its conditions.

        Raises :class:`InvalidArgument` where the kernel does not accept the proof: what it rejects is not handed out.
        """
        found = self.bound.evidence.certificate
        if found is not None and self.bound.evidence.checked_by_kernel:
            return found
        if self.conditions is None:
            raise InvalidArgument("this bound has no certificate, because the kernel does not accept its proof; omit --certificate")
        return self.conditions.certificate()

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp epsilon``."""
        evidence = self.bound.evidence
        return {
            **to_json(self.guarantee),
            "rule": self.rule.name,
            "at": {name: exact_text(value) for name, value in evidence.at.items()},
            "method": evidence.method,
            "checked_by_kernel": evidence.checked_by_kernel or self._conditions_checked(),
        }

    def _conditions_checked(self) -> bool:
        if self.conditions is None:
            return False
        decisions = self.conditions.decisions
        return all(name in decisions and decisions[name].checked for name in CONSTRAINED)

    def render(self, *, everything: bool = True) -> str:
        """Return the guarantee as text for people; what is discharged is counted only, where not ``everything`` is asked for."""
        return render(self.guarantee, everything=everything)


def derive_epsilon(
    reference: str | Profile | Declaration,
    *,
    rule: str | SamplingRule | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    target_epsilon: object | None = None,
    relative_gap: object = "1e-9",
    conditions: Verification | None = None,
) -> DerivedEpsilon:
    """Return the add/remove ε-DP guarantee of a profile after sampling by a ``rule`` (its name, or one that was made), an expression
    ``q`` or the file's own rule. ``conditions`` are verdicts on this profile for the target that are at hand already; privacy-constrained
    sampling rests on them then, and nothing is decided twice.

    Raises what loading, :func:`accountant.sampling.make_rule`, :func:`accountant.worst_case.bound_epsilon` raise, and
    :class:`profiles.InvalidArgument` if both or no rule is given.

    >>> from profiles import declare
    >>> found = derive_epsilon(declare("sum", "w*z/3", record={"z": ["1/2", 2]}), rule="uniform", constants={"rate": "0.1"})
    >>> found.to_json()["epsilon"]["upper"], "weight-as-given" in [item.id for item in found.guarantee.hypotheses]
    ('4.37547018475', True)
    """
    declaration = Declaration(reference) if isinstance(reference, Profile) else load(reference) if isinstance(reference, str) else reference
    profile = declaration.profile
    chosen = _choose_rule(declaration, rule, q, constants or {}, target_epsilon)
    hypotheses = dict.fromkeys((EXACT_REALS, *declaration.hypotheses))
    options: dict[str, Any] = {"relative_gap": relative_gap}
    used = None
    if chosen.q is None:
        used = verify(profile, chosen.target_epsilon, CONSTRAINED) if conditions is None else conditions
        if used.profile != profile or used.target != chosen.target_epsilon:
            raise InvalidArgument("the verdicts that were given are about another profile or target; verify this one, or give none")
        verdicts = {name: used.decisions[name].verdict for name in CONSTRAINED if name in used.decisions}
        known = {name: verdict is Verdict.PROVED for name, verdict in verdicts.items() if verdict is not Verdict.UNKNOWN}
        options["premises"] = {**known, "feasibility": True}
    declared = prove_run(derive_profile(profile, tuple(hypotheses)), declaration.mechanism)
    guarantee = worst_case(amplify_by_importance_sampling(declared, chosen), **options)
    if not isinstance(guarantee.bound, EpsilonDP):
        raise InvalidSampling("the worst case of the sampled profile is not a number; give all parameters of the profile numbers")
    return DerivedEpsilon(guarantee, guarantee.bound, chosen, profile, used)


def _choose_rule(
    declaration: Declaration, rule: str | SamplingRule | None, q: str | None, constants: Mapping[str, object], target: object | None
) -> SamplingRule:
    profile = declaration.profile
    if rule is not None and q is not None:
        raise InvalidArgument("both a named rule and an expression q were given; give one of the two")
    refuse_oracle(rule)
    if isinstance(rule, SamplingRule):
        if constants or target is not None:
            raise InvalidArgument("a sampling rule that was made has its constants and its target; give none beside it")
        unknown = free_symbols(rule.q or number(0)) - {statistic.name for statistic in profile.record}
        if unknown:
            raise InvalidSampling(
                f"the rule {rule.name!r} uses {', '.join(sorted(unknown))}, which {profile.name!r} does not have; make it for this profile"
            )
        return rule
    if rule is not None:
        return make_rule(rule, profile, constants, target)
    if target is not None:
        raise InvalidArgument("a target epsilon was given, but only the rule privacy-constrained takes one; add --rule privacy-constrained")
    if q is not None:
        return rule_from_expression(q, profile, constants)
    if declaration.sampling is not None:
        return rule_from_declaration(profile, declaration.sampling, constants)
    raise InvalidArgument(
        "a sampling rule is needed, but none was given and the profile file has no [sampling]; add --rule NAME or --q EXPR"
    )
