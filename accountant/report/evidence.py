"""What a report is about, gathered once: profile, verdicts, guarantee, certificates with the kernel's verdict, audit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from profiles import Declaration, Infeasible, Profile, Undecided, parse_expression
from profiles.files import to_declaration
from profiles.hypotheses import CONDITION
from profiles.terms import Term
from proofs_check.audit.results import AuditResult, Finding
from proofs_check.certificates import to_file_text
from proofs_check.explain import Explanation, explain_all
from proofs_check.kernel import Report as KernelReport
from proofs_check.kernel import check
from proofs_check.results import Verdict
from proofs_check.verify import Verification, verify

CONSTRAINED = "privacy-constrained"
#: Names of the certificates that a report carries.
BOUNDS, CONDITIONS = "bounds", "conditions"


@dataclass(frozen=True, slots=True)
class EmbeddedCertificate:
    """A certificate file as it is embedded, and the kernel's verdict on exactly this text when the report was made."""

    name: str
    about: str
    text: str
    report: KernelReport

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class AuditEvidence:
    """An audit of the implementation: its result, the pair in words, its assumptions, and the mechanism's reference.

    ``private``: the data sets are somebody's data, and the report, which is meant for others, shows neither the record nor the events.
    """

    result: AuditResult
    mechanism: str
    pair: str
    assumptions: tuple[str, ...]
    private: bool = False

    @property
    def hides_claim(self) -> bool:
        """Whether the claim is ε(w, x) of a record of somebody's data, which could be computed from it."""
        return self.private and bool(self.result.claim.private)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The content of a report. ``derived`` is None if no ε could be certified, and ``obstacle`` then says why; ``written`` is the
    expression of q with the names of its constants, ``source_name`` and ``source_text`` the profile file, where they are known.
    """

    declaration: Declaration
    target: Fraction
    verification: Verification
    explanations: Mapping[str, Explanation]
    derived: DerivedEpsilon | None
    obstacle: str
    refuted: bool
    certificates: tuple[EmbeddedCertificate, ...]
    written: Term | None = None
    audit: AuditEvidence | None = None
    source_name: str = ""
    source_text: str | None = None

    @property
    def profile(self) -> Profile:
        return self.declaration.profile

    def accepts(self, name: str) -> bool:
        """Tell whether there is a certificate of that name, and the kernel accepted it when the report was made."""
        return any(item.name == name and item.report.accepted for item in self.certificates)

    def informs(self, condition: str) -> bool:
        """Tell whether a condition is decided for information only: Theorem 10, which the report asks for, does not need it."""
        return condition in self.verification.decisions and condition not in self.verification.needed

    @property
    def rests_on_undecided(self) -> bool:
        """Whether the bound holds only if assumption-8 is true, which could be neither proved nor refuted."""
        return self.derived is not None and CONDITION.about(name="assumption-8") in self.derived.guarantee.hypotheses

    @property
    def exit_code(self) -> int:
        """0: an ε is certified; 1: refuted, rejected by the kernel, or violated; 3: undecided. See docs/report.md."""
        rejected = not all(certificate.report.accepted for certificate in self.certificates)
        violated = self.audit is not None and self.audit.result.finding is Finding.VIOLATED
        if rejected or violated or self.refuted:
            return 1
        return 3 if self.derived is None or self.rests_on_undecided else 0


def gather(
    reference: str | Profile | Declaration,
    target_epsilon: object,
    *,
    rule: str | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    audit: AuditEvidence | None = None,
) -> Evidence:
    """Return the evidence for a profile, the target ε* (nats) and a sampling rule.

    The rule is ``rule``, ``q``, the declaration's own, or else privacy-constrained sampling for the target. That an ε is infeasible or
    undecided is evidence as well. Raises what loading, verification and :func:`accountant.derive_epsilon` raise for unusable input.
    """
    declaration = to_declaration(reference)
    verification = verify(declaration.profile, target_epsilon)
    chosen = rule if rule is not None or q is not None or declaration.sampling is not None else CONSTRAINED
    derived, obstacle, refuted = None, "", False
    try:
        derived = derive_epsilon(
            declaration,
            rule=chosen,
            q=q,
            constants=constants,
            target_epsilon=target_epsilon if chosen == CONSTRAINED else None,
            conditions=verification,
        )
    except (Infeasible, Undecided) as error:
        obstacle, refuted = str(error), isinstance(error, Infeasible)
    return Evidence(
        declaration,
        verification.target,
        verification,
        explain_all(verification),
        derived,
        obstacle,
        refuted,
        _certificates(verification, derived),
        _written(declaration, rule, q),
        audit,
    )


def _written(declaration: Declaration, rule: str | None, q: str | None) -> Term | None:
    if q is not None:
        return parse_expression(q, "q")
    return declaration.sampling.q if rule is None and declaration.sampling is not None else None


def _certificates(verification: Verification, derived: DerivedEpsilon | None) -> tuple[EmbeddedCertificate, ...]:
    made = []
    if derived is not None and derived.bound.evidence.certificate is not None and derived.bound.evidence.checked_by_kernel:
        made.append(_embed(BOUNDS, "the certified bounds of ψ over all records", to_file_text(derived.certificate())))
    decided = [name for name, decision in verification.decisions.items() if decision.verdict is not Verdict.UNKNOWN]
    about = "the claim that ε is defined and not negative" + (", and the verdicts on " + ", ".join(decided) if decided else "")
    made.append(_embed(CONDITIONS, about, to_file_text(verification.certificate())))
    return tuple(made)


def _embed(name: str, about: str, text: str) -> EmbeddedCertificate:
    return EmbeddedCertificate(name, about, text, check(text))
