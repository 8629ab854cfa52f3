"""Bounds of ψ under a sampling rule: from the search of an explicit q, by construction without one, or from a certificate alone; and
which hypotheses of a guarantee such a bound discharges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from accountant.rules import SamplingRule, refuse_oracle
from profiles import Infeasible, InvalidSampling, NotReplayed, PDPError, Profile, Undecided, exact_text, to_exact
from profiles.hypotheses import CONDITION, DEFINED, FEASIBLE_WEIGHTS, PROBABILITY, Hypothesis
from profiles.structure import may_jump
from profiles.terms import to_text
from proofs_check.admission import admit
from proofs_check.certificates import check_text, profile_json
from proofs_check.conditions.assumption_9_nonzero import find_loss
from proofs_check.prover.points import candidates
from proofs_check.suprema.bound import DEFAULT_BUDGET, DEFAULT_GAP, EpsilonBound, bound_sampled, to_relative_gap

_MOST_RECORDS = 100
_CONSTRAINED = "the constraint of Problem 7 holds at every record"
_NO_CLAIM = "the kernel checks the conditions that this step rests on, and not the step itself"
_RECHECKED = "certificate, accepted by the kernel"
_CLAIMS = ["well-defined", "epsilon-upper", "epsilon-lower"]
_DEFINED = "claim well-defined, checked by the kernel"
#: What discharges a condition: its proof, which the verdicts show.
PROVED = "proved"


def bound_epsilon(
    profile: Profile,
    rule: SamplingRule,
    relative_gap: object = DEFAULT_GAP,
    *,
    budget: int = DEFAULT_BUDGET,
    accept_wider: bool = True,
    premises: Mapping[str, bool] | None = None,
    well_defined_claim: Mapping[str, Any] | None = None,
) -> EpsilonBound:
    """Return certified bounds of sup over records of ψ(x) = log(1 + q(x) (e^ε(1/q(x), x) − 1)) with 0 < q ≤ 1 proved on the whole domain.

    With an explicit q, :func:`proofs_check.suprema.bound.bound_sampled` searches and proves them. ``relative_gap``: (U − L) ≤ gap·U.
    ``budget``: most boxes. If the gap is not reached within it, the bounds proved so far are returned, with ``reached`` False, unless
    ``accept_wider`` is False. ``well_defined_claim``: the claim before all others, by default from the prover. For ``privacy-constrained``,
    which has no explicit q, they follow from ``premises``, verdicts (stored calls have that name).

    Source: Fay et al. 2024, Theorem 6; for ``privacy-constrained`` Problem 7, and Theorem 10 for the lower bound.
    Raises :class:`InvalidSampling` (q > 1 or q ≤ 0 at a record that it names, or a parameter of ψ without a finite range),
    :class:`Undecided` (no finite upper bound or 0 < q ≤ 1 not reached within the budget; the gap, where no wider one is accepted),
    :class:`Infeasible` (a condition is refuted), :class:`NotPrivate`, :class:`InvalidArgument`.
    """
    refuse_oracle(rule)
    if rule.q is not None:
        return bound_sampled(profile, rule.q, relative_gap, budget=budget, accept_wider=accept_wider, well_defined_claim=well_defined_claim)
    to_relative_gap(relative_gap, budget)
    if rule.target_epsilon is None:
        raise InvalidSampling(f"the rule {rule.name!r} has neither a q nor a target epsilon; make it with make_rule")
    return _bound_constrained(profile, rule.target_epsilon, premises or {})


def _bound_constrained(profile: Profile, target: Fraction, verdicts: Mapping[str, bool]) -> EpsilonBound:
    """Return bounds of sup ψ for the exact map w*(x) = the largest w ≥ 1 with ψ_w(x) ≤ ε*, from the verdicts of its conditions.

    Upper: every weight used satisfies (2b), so ψ ≤ ε* at every record (``feasibility`` for the weights; ``assumption-8``, so
    that there is one); a record whose weight is infinite, since ε = 0 there for all w, is never selected and loses nothing. Lower: at a
    record with some loss, where ``assumption-9-nonzero`` holds, w*(x) is finite, and weights w > w*(x) arbitrarily close to it have
    ψ_w(x) > ε*; ε is continuous in w (it has no Piecewise, floor or ceiling), hence ψ(x) = ε* at *every* such record. So sup ψ = ε*
    exactly where there is one. Without that condition, or such a record, the lower bound is 0. Neither is needed for the upper bound.

    ``verdicts`` maps ``assumption-8``, ``assumption-9-nonzero``, ``feasibility`` to True (proved) or False (refuted), or ``assumption-9``
    from which the second follows; ``assumption-8`` and ``feasibility`` stay hypotheses where they are missing.
    Raises :class:`Infeasible` where assumption 8 is refuted.
    """
    if verdicts.get("assumption-8") is False:
        raise Infeasible(
            f"assumption-8 is refuted for the target {exact_text(target)}: some record has epsilon(1, x) above it; raise the target epsilon"
        )
    if verdicts.get("feasibility") is False:
        raise Infeasible(
            f"feasibility is refuted for the target {exact_text(target)}: a returned weight breaks the constraint; do not use it"
        )
    open_conditions = tuple(CONDITION.about(name=name) for name in ("assumption-8", "feasibility") if name not in verdicts)
    bounded = verdicts.get("assumption-9") is True or verdicts.get("assumption-9-nonzero") is True
    record = find_loss_record(profile) if verdicts.get("assumption-8") is True and bounded else None
    lower = Fraction(0) if record is None else target
    return EpsilonBound(
        lower, target, record or {}, _CONSTRAINED, reached=lower == target, proved_by_balls=False,
        checked_by_kernel=False, kernel_reason=_NO_CLAIM, hypotheses=open_conditions,
    )  # fmt: skip


def find_loss_record(profile: Profile) -> Mapping[str, Fraction] | None:
    """Return a record at which ε, continuous in w, is certainly positive at some weight; None where none was found.

    Where Assumption 9 holds wherever ε is not zero for all weights, and weight 1 is feasible, ψ is exactly ε* there.
    """
    if may_jump(profile.epsilon):
        return None
    variables = profile.record_variables()
    largest = {variable.name: variable.hi if variable.hi is not None else Fraction(1) for variable in variables}
    return next((point for point in (largest, *candidates(variables, _MOST_RECORDS)) if find_loss(profile, point) is not None), None)


def recheck_epsilon(profile: Profile, rule: SamplingRule, certificate: Mapping[str, Any]) -> EpsilonBound:
    """Claim: lower ≤ sup over records of ψ ≤ upper, for the numbers of a ``certificate`` that the kernel accepts now.

    The certificate has to be about exactly this profile and this q, word for word, and has to make the claims well-defined,
    epsilon-upper and epsilon-lower, each once. Only those numbers are taken from it that the kernel's verdicts are about.
    Raises :class:`NotReplayed` for a rule without explicit q, a certificate about something else, and one that is rejected.
    """
    name = profile.name[:80]
    if rule.q is None:
        raise NotReplayed(
            f"a certificate of the bound of {name!r} was given, but the rule {rule.name!r} has no explicit q; verify it again"
        )
    text = json.dumps(certificate)
    certificate = json.loads(text)  # what the kernel reads is what is compared
    if certificate.get("profile") != profile_json(profile) or certificate.get("sampling") != {"q": to_text(rule.q)}:
        raise NotReplayed(f"a certificate for {name!r} and its sampling rule was expected, but it is about something else; take theirs")
    report = check_text(text)
    if not report.accepted:
        said = "".join(sign if sign.isprintable() else "?" for sign in f"{report.step}: {report.reason}")  # it quotes the file
        raise NotReplayed(f"the kernel rejects the certificate of the bound of {name!r} at {said}; make a new one")
    verdicts = [(claim.claim, claim.verdict) for claim in report.claims]
    if verdicts != [(claim, "proved") for claim in _CLAIMS]:
        raise NotReplayed(f"a certificate of {', '.join(_CLAIMS)} was expected for {name!r}, but it claims something else; take theirs")
    upper, lower = (to_exact(certificate["claims"][index]["bound"], "a bound") for index in (1, 2))
    try:
        at = {key: to_exact(value, key) for key, value in certificate["claims"][2]["at"].items()}
    except (PDPError, AttributeError, KeyError):
        raise NotReplayed(f"the certificate for {name!r} names no record at which its lower bound is reached; take another") from None
    return EpsilonBound(
        lower, upper, at, _RECHECKED, reached=True, proved_by_balls=False, checked_by_kernel=True, certificate=dict(certificate)
    )


def name_claims(evidence: EpsilonBound, *accepted: str) -> tuple[str, ...]:
    """Return the claims of a worst case that the kernel ``accepted``, or how it was found otherwise."""
    if evidence.checked_by_kernel:
        return accepted
    return (f"{evidence.method} (not checked by the kernel: {evidence.kernel_reason})",)


def discharged_by_conditions(profile: Profile, verdicts: Mapping[str, bool]) -> dict[Hypothesis, str]:
    """Return the hypotheses that the verdicts behind privacy-constrained sampling discharge, each with the reason."""
    proved = {CONDITION.about(name=name): PROVED for name, value in verdicts.items() if value}
    if verdicts.get("feasibility"):
        proved[FEASIBLE_WEIGHTS] = PROVED
    if verdicts.get("assumption-9"):
        proved[PROBABILITY] = "every weight is finite (assumption-9) and at least 1"
    elif verdicts.get("assumption-9-nonzero"):
        proved[PROBABILITY] = (
            "every weight is at least 1, and finite except where epsilon is 0 for all weights, if that is so anywhere: there q is 0, and a "
            "record that is never selected loses nothing (assumption-9-nonzero)"
        )
    try:
        admit(profile)
    except Undecided:
        return proved
    return {**proved, DEFINED: _DEFINED}


def discharged_by(evidence: EpsilonBound) -> dict[Hypothesis, str]:
    """Return the hypotheses that the evidence of a worst case with an explicit q discharges, each with the reason."""
    if evidence.checked_by_kernel:
        return {DEFINED: _DEFINED, PROBABILITY: "claim epsilon-upper, checked by the kernel"}
    return {PROBABILITY: "ball arithmetic"} if evidence.proved_by_balls else {}
