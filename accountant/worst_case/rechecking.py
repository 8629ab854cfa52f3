"""A bound of the sampled profile from a certificate alone: nothing is searched again, the kernel decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from accountant.rules import SamplingRule
from accountant.worst_case.bound import EpsilonBound
from profiles import NotReplayed, PDPError, Profile, to_exact
from profiles.terms import to_text
from proofs_check.certificates import check_text, profile_json

METHOD = "certificate, accepted by the kernel"
_CLAIMS = ["well-defined", "epsilon-upper", "epsilon-lower"]


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
    found = [(claim.claim, claim.verdict) for claim in report.claims]
    if found != [(claim, "proved") for claim in _CLAIMS]:
        raise NotReplayed(f"a certificate of {', '.join(_CLAIMS)} was expected for {name!r}, but it claims something else; take theirs")
    upper, lower = (to_exact(certificate["claims"][index]["bound"], "a bound") for index in (1, 2))
    try:
        at = {key: to_exact(value, key) for key, value in certificate["claims"][2]["at"].items()}
    except (PDPError, AttributeError, KeyError):
        raise NotReplayed(f"the certificate for {name!r} names no record at which its lower bound is reached; take another") from None
    return EpsilonBound(
        lower, upper, at, METHOD, reached=True, proved_by_balls=False, checked_by_kernel=True, certificate=dict(certificate)
    )
