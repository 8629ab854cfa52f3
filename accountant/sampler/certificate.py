"""The certificate beside a sample: what is proved about one analysis of it, and nothing about the data. Format: docs/poisson-sampler.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.guarantees import ARITHMETIC, ONE_ANALYSIS, STATISTICS, AnyGuarantee, to_json
from accountant.sampler.plan import PAIRS, SamplingPlan
from accountant.sampling.rules import IN_RANGE
from profiles import PDPError, exact_text, to_exact
from profiles.terms import to_text
from proofs_check.certificates import profile_json
from proofs_check.kernel import Report, check

FORMAT, VERSION = "pdp-sample-certificate", 1
USES = (
    "Good for one analysis: one run of a mechanism with this profile on this sample. A second run, also of another mechanism, is not "
    "covered: compose the mechanisms first and amplify once, or draw a fresh sample. No program can prevent that a file is copied and used "
    "again."
)
SECRET = (
    "the sample itself (rows, weights, probabilities) and which rows were selected",
    "the number of rows of the data set and of the sample, and the expected sample size",
    "the seed, where there is one",
)
#: No program discharges these, so that a certificate without them says too much.
MANDATORY = (IN_RANGE, STATISTICS, ARITHMETIC, ONE_ANALYSIS)
PRIVATE = "These figures depend on the data set and are covered by no guarantee: do not publish this file."


@dataclass(frozen=True, slots=True)
class PrivateFigures:
    """What depends on the data set: its rows n, the realised sample size k, the expected one Σ q, and the seed."""

    records: int
    sample_size: int
    expected_sample_size: float
    seed: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "records": self.records,
            "sample_size": self.sample_size,
            "expected_sample_size": self.expected_sample_size,
            "seed": self.seed,
        }


def to_certificate(
    plan: SamplingPlan, guarantee: AnyGuarantee, source: str, *, private: PrivateFigures | None = None, publishable: bool = True
) -> dict[str, Any]:
    """Return the certificate of one analysis of a sample, as a JSON object."""
    rule, stated = plan.rule, to_json(guarantee)
    made: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "uses": USES,
        "publishable": publishable,
        "profile": profile_json(plan.profile),
        "runs": [profile.name for profile in plan.profiles],
        "rule": {
            "name": rule.name,
            "q": None if rule.q is None else to_text(rule.q),
            "constants": {name: exact_text(value) for name, value in rule.constants},
            "target_epsilon": None if rule.target_epsilon is None else exact_text(rule.target_epsilon),
        },
        **{key: stated[key] for key in ("notion", "epsilon", "conditional", "hypotheses", "discharged", "derivation")},
        "sampler": {"draws": "exact Bernoulli(q) for binary64 q", "pairs": PAIRS[plan.method], "randomness": source},
        "not_covered": list(SECRET),
        "checked_by_kernel": plan.checked,
        "proof": plan.proof,
    }
    if private is not None:
        made["private"] = {"warning": PRIVATE, **private.to_json()}
    return made


def to_certificate_text(*arguments: Any, **options: Any) -> str:
    """Return the text of the file that :func:`to_certificate` describes."""
    return json.dumps(to_certificate(*arguments, **options), indent=1, ensure_ascii=True) + "\n"


def read_certificate(text: str) -> Mapping[str, Any] | None:
    """Return the object of a sample certificate, None where the text is something else (which is the kernel's to judge)."""
    if FORMAT not in text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None


def check_certificate(certificate: Mapping[str, Any]) -> Report:
    """Put the proof inside a sample certificate to the kernel, and compare what it proves with what the certificate says.

    Accepted means: the kernel accepts the proof, it is about the stated profile and rule, its bound is at most the stated ε, and it has the
    claims that the stated way of choosing (q, w) rests on. Hypotheses stay hypotheses.
    """
    try:
        return _check(certificate)
    except (KeyError, TypeError, AttributeError, ValueError, PDPError) as problem:
        return Report(accepted=False, step="sample-certificate", reason=f"malformed ({type(problem).__name__}: {str(problem)[:100]})")


def _check(certificate: Mapping[str, Any]) -> Report:
    def reject(step: str, reason: str) -> Report:
        return Report(accepted=False, step=f"sample-certificate.{step}", reason=reason)

    proof = certificate["proof"]
    if certificate["version"] != VERSION:
        return reject("version", f"version {VERSION} was expected")
    if proof is None:
        return reject("proof", "there is no proof for the kernel: the bound rests on ball arithmetic alone")
    if proof["profile"] != certificate["profile"]:
        return reject("profile", "the proof is about another profile")
    report = check(json.dumps(proof))
    if not report.accepted:
        return Report(accepted=False, step=f"proof.{report.step}", reason=report.reason)
    proved = {claim.claim: claim for claim in report.claims if claim.verdict == "proved"}
    rule, stated = certificate["rule"], to_exact(certificate["epsilon"]["upper"])
    needed: tuple[str, ...]
    if rule["q"] is None:
        bound, needed = to_exact(proof["target_epsilon"]), ("well-defined", "assumption-8")
        if to_exact(rule["target_epsilon"]) != bound:
            return reject("rule", "the proof is about another target epsilon")
    else:
        if proof["sampling"]["q"] != rule["q"]:
            return reject("rule", "the proof is about another sampling rule")
        upper = proved.get("epsilon-upper")
        bound = Fraction(0) if upper is None or upper.bound is None else to_exact(upper.bound)
        monotone = certificate["sampler"]["pairs"] == PAIRS["directed-rounding"]
        needed = ("well-defined", "epsilon-upper", *(("proposition-17",) if monotone else ()))
    forgotten = [text for text in MANDATORY if text not in certificate["hypotheses"]]
    if forgotten:
        return reject("hypotheses", f"the hypothesis {forgotten[0][:60]!r} is missing, which no proof has discharged")
    missing = [name for name in needed if name not in proved]
    if missing:
        return reject("proof", f"the claim {missing[0]} is missing")
    if stated < bound:
        return reject("epsilon", f"{certificate['epsilon']['upper']} is stated, but only {exact_text(bound)} is proved")
    return report
