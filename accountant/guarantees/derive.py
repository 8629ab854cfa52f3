"""From a profile and a sampling rule to a guarantee: what ``pdp epsilon`` computes.

Derivation: declared profile (or adaptive composition of its parts) → amplification by importance sampling (Theorem 6 of Fay et al. 2024)
→ worst case over the declared records. The guarantee carries the assumptions that nothing has verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from accountant.guarantees import (
    Guarantee,
    Losses,
    amplify_by_importance_sampling,
    derive_profile,
    prove_run,
    render,
    to_json,
    worst_case,
)
from accountant.guarantees.bounds import bound_epsilon
from accountant.rules import SamplingRule, make_rule, refuse_oracle, rule_from_declaration, rule_from_expression
from profiles import Declaration, InvalidArgument, InvalidSampling, Profile, Undecided, decimal_text, exact_text, to_exact
from profiles.files import to_declaration
from profiles.hypotheses import EXACT_REALS
from profiles.terms import free_symbols, number
from profiles.views import show_html, show_picture, show_text
from proofs_check.conditions.consequences import NEEDS, THEOREM_10
from proofs_check.results import Verdict
from proofs_check.suprema.bound import DEFAULT_BUDGET, DEFAULT_GAP, EpsilonBound
from proofs_check.verify import Verification, verify

if TYPE_CHECKING:
    from profiles.mechanisms import Mechanism
    from profiles.presenting.pictures import Picture

CONSTRAINED = NEEDS[THEOREM_10]
#: Either bounds the weights of all records that lose anything; the second follows from the first.
BOUNDING = ("assumption-9", "assumption-9-nonzero")
#: What is said of which of two is smaller.
SMALLER = {
    "with sampling": "sampling lowers epsilon",
    "without sampling": "without sampling epsilon is smaller: this sampling reduces computation, not epsilon",
    "neither": "neither is shown to be smaller",
}
#: Bounds that were asked for last are kept: a guarantee is often told more than once.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class DerivedEpsilon:
    """A worst-case guarantee with its evidence; ``conditions`` are the verdicts that privacy-constrained sampling rests on."""

    guarantee: Guarantee
    bound: Losses
    rule: SamplingRule
    profile: Profile
    conditions: Verification | None = None
    relative_gap: Fraction = DEFAULT_GAP

    @property
    def gap_reached(self) -> bool:
        """Whether the two bounds are as close as was asked for; they are proved in any case."""
        return self.bound.evidence.reached or self.rule.q is None

    @property
    def unsampled(self) -> EpsilonBound | None:
        """Certified bounds of ε without sampling, sup over records of ε(1, x); None where that is not a number, or none was found."""
        return bound_without_sampling(self.profile, self.relative_gap)

    @property
    def smaller(self) -> str | None:
        """Which of the two is smaller: ``with sampling``, ``without sampling``, or ``neither`` is shown to be; None without the second."""
        before, after = self.unsampled, self.bound
        if before is None:
            return None
        return "with sampling" if after.upper < before.lower else "without sampling" if before.upper < after.evidence.lower else "neither"

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_html_(self) -> str:
        return show_html(self)

    def plot(self) -> Picture:
        """Return a picture of what records lose, with and without sampling, against the first statistic with a range, below the bound.

        Raises :class:`profiles.InvalidArgument` where there is no such statistic, :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of the bound; for privacy-constrained sampling that of its conditions.

        Raises :class:`InvalidArgument` where the kernel does not accept the proof: what it rejects is not handed out.
        """
        text = self.bound.evidence.certificate
        if text is not None and self.bound.evidence.checked_by_kernel:
            return text
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
            "gap_reached": self.gap_reached,
            "relative_gap": decimal_text(evidence.relative_gap, 3, round_up=True),
            **self.compare_with_unsampled(),
        }

    def compare_with_unsampled(self) -> dict[str, Any]:
        """Return ε without sampling and which of the two is smaller as JSON: the keys ``without_sampling`` and ``smaller``."""
        return {"without_sampling": self._unsampled_json(), "smaller": self.smaller}

    def _unsampled_json(self) -> dict[str, Any] | None:
        unsampled = self.unsampled
        if unsampled is None:
            return None
        return {
            "epsilon": {"lower": unsampled.lower_text(), "upper": unsampled.upper_text()},
            "at": {name: exact_text(value) for name, value in unsampled.at.items()},
            "checked_by_kernel": unsampled.checked_by_kernel,
        }

    def _conditions_checked(self) -> bool:
        if self.conditions is None:
            return False
        checked = {name for name, decision in self.conditions.decisions.items() if decision.checked}
        return "assumption-8" in checked and any(name in checked for name in BOUNDING)

    def render(self, *, everything: bool = True, explain: bool = False) -> str:
        """Return the guarantee as text for people, with ε without sampling beside it; a first screen where not ``everything`` is asked
        for, with the derivation below it to ``explain``.
        """
        return render(self.guarantee, everything=everything, explain=explain, beside=(*self.describe_unsampled(), *self.describe_gap()))

    def describe_unsampled(self) -> tuple[str, ...]:
        """Return ε without sampling in words, and which of the two is smaller."""
        label, bounds, which = self.tell_unsampled()
        return (f"{label}: {bounds}", *which)

    def tell_unsampled(self) -> tuple[str, str, tuple[str, ...]]:
        """Return the same in parts: what is told, the bounds, and which of the two is smaller, if that is known."""
        unsampled = self.unsampled
        if unsampled is None:
            return "without sampling", "no bound was found, because epsilon(1, x) has none or needs numbers for all parameters", ()
        checked = "checked by the kernel" if unsampled.checked_by_kernel else "not checked by the kernel"
        bounds = f"epsilon <= {unsampled.upper_text()} (and at least {unsampled.lower_text()}), {checked}"
        return "without sampling, every record with weight 1", bounds, (SMALLER[str(self.smaller)],)

    def describe_gap(self) -> tuple[str, ...]:
        """Return, where the bounds are further apart than was asked for, how far, and how to go on."""
        return tuple(f"gap: {words}" for words in self.tell_gap())

    def tell_gap(self) -> tuple[str, ...]:
        """Return the same without the word that says what it is about."""
        if self.gap_reached:
            return ()
        evidence = self.bound.evidence
        wide, asked = (decimal_text(gap, 2, round_up=True) for gap in (evidence.relative_gap, self.relative_gap))
        said = f"both bounds, {evidence.lower_text()} and {evidence.upper_text()}, are proved, but their relative gap {wide} is wider than "
        how = "to narrow it, raise --budget, narrow the ranges and clip each record to them, or simplify epsilon and q"
        return (f"{said}the {asked} that was asked for; {how}",)


def derive_epsilon(
    reference: str | Profile | Declaration | Mechanism,
    *,
    rule: str | SamplingRule | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    target_epsilon: object | None = None,
    relative_gap: object = "1e-9",
    budget: int = DEFAULT_BUDGET,
    conditions: Verification | None = None,
) -> DerivedEpsilon:
    """Return the add/remove ε-DP guarantee of a profile after sampling by a ``rule`` (its name, or one that was made), an expression ``q``
    or the file's own rule. ``conditions`` are earlier verdicts on this profile for the target; privacy-constrained sampling then uses them,
    and nothing is decided twice.

    Raises what loading, :func:`accountant.rules.make_rule`, :func:`accountant.guarantees.bound_epsilon` raise, and
    :class:`profiles.InvalidArgument` if both or no rule is given.

    >>> from profiles import declare
    >>> found = derive_epsilon(declare("sum", "w*z/3", record={"z": ["1/2", 2]}), rule="uniform", constants={"rate": "0.1"})
    >>> found.to_json()["epsilon"]["upper"], "weight-as-given" in [item.id for item in found.guarantee.hypotheses]
    ('4.37547018475', True)
    """
    declaration = to_declaration(reference)
    declaration.profile.require_pure()
    profile = declaration.profile
    chosen = choose_rule(declaration, rule, q, constants or {}, target_epsilon)
    hypotheses = dict.fromkeys((EXACT_REALS, *declaration.hypotheses))
    options: dict[str, Any] = {"relative_gap": relative_gap} | ({} if budget == DEFAULT_BUDGET else {"budget": budget})
    used = None
    if chosen.q is None:
        used = verify(profile, chosen.target_epsilon, CONSTRAINED) if conditions is None else conditions
        if used.profile != profile or used.target != chosen.target_epsilon:
            raise InvalidArgument("the verdicts that were given are about another profile or target; verify this one, or give none")
        verdicts = {name: used.decisions[name].verdict for name in ("assumption-8", *BOUNDING) if name in used.decisions}
        known = {name: verdict is Verdict.PROVED for name, verdict in verdicts.items() if verdict is not Verdict.UNKNOWN}
        options["premises"] = {**known, "feasibility": True}
    declared = prove_run(derive_profile(profile, tuple(hypotheses)), declaration.mechanism)
    guarantee = worst_case(amplify_by_importance_sampling(declared, chosen), **options)
    if not isinstance(guarantee.bound, Losses):
        raise InvalidSampling("the worst case of the sampled profile is not a number; give all parameters of the profile numbers")
    return DerivedEpsilon(guarantee, guarantee.bound, chosen, profile, used, to_exact(relative_gap, "the relative gap"))


@lru_cache(maxsize=_KEPT)
def bound_without_sampling(profile: Profile, relative_gap: Fraction = DEFAULT_GAP) -> EpsilonBound | None:
    """Return certified bounds of sup over records of ε(1, x), the loss where every record is used once, with weight 1.

    Statement: with q = 1 the sampled profile is ε(1, x) itself. None where a parameter has no number, or nothing is proved.
    """
    try:
        return bound_epsilon(profile, make_rule("uniform", profile, {"rate": 1}), relative_gap)
    except (InvalidSampling, Undecided):
        return None


def choose_rule(
    declaration: Declaration, rule: str | SamplingRule | None, q: str | None, constants: Mapping[str, object], target: object | None
) -> SamplingRule:
    """Return the rule that was asked for: by name, as an expression, as it was made, or the one of the file. Raises as making it does."""
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
