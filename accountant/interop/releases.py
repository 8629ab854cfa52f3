"""Guarantees out of files: of guarantees, and of certificates of an epsilon, a sample, k-means or statistics, each checked again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from accountant.applications.kmeans import certificate as kmeans
from accountant.applications.statistics import certificate as statistics
from accountant.guarantees import Guarantee, amplify_by_importance_sampling, derive_profile, update_hypotheses, worst_case
from accountant.guarantees.gaussian_samples import bound_by_cover
from accountant.guarantees.measures import Losses
from accountant.guarantees.rules import gather_hypotheses
from accountant.guarantees.stored import read_hypotheses
from accountant.guarantees.theorem import Inference, conclude
from accountant.interop.files import read_guarantee, suppose
from accountant.interop.replaying import find_unrepeatable, replay
from accountant.rules import rule_from_expression
from accountant.samples.certificate import FORMAT as SAMPLE
from accountant.samples.checking import check_certificate, declare_stated, name_unstated, read_certificate, read_stated_hypotheses
from accountant.weights.gaussian.cover_certificate import FORMAT as COVER
from accountant.weights.gaussian.cover_certificate import check_cover
from profiles import UnreadableFile, to_exact
from profiles.hypotheses import FILE_IS_RIGHT, PUBLIC_CONSTANTS, REGISTRY, Hypothesis, as_hypothesis, restore
from profiles.protection import RECORDS, read_protection
from profiles.strict_json import find_document, read_json
from proofs_check.kernel import Report, check

_NUMBERS = PUBLIC_CONSTANTS.about(names="the numbers in q are")


def list_unchecked(text: str) -> tuple[Hypothesis, ...]:
    """Return the hypotheses that an accepted certificate of an epsilon or of a sample rests on, and that no program checks.

    Empty for certificates of conditions alone, which have no epsilon. Raises what reading a profile raises.
    """
    sample = read_certificate(text)
    if sample is not None:
        return (*read_stated_hypotheses(sample), *map(as_hypothesis, name_unstated(sample)))
    whole = read_json(text)
    if not isinstance(whole.get("sampling"), dict) or not any(claim.get("claim") == "epsilon-upper" for claim in whole["claims"]):
        return ()
    profile = declare_stated(whole["profile"])
    hypotheses = (*gather_hypotheses(profile, rule_from_expression(whole["sampling"]["q"], profile)), _NUMBERS, *read_told(whole))
    return tuple(dict.fromkeys(hypotheses))


def read_stated(text: str) -> Guarantee:
    """Return the guarantee of a guarantee file: its calls are made again; where nobody can make them, what it states on its own word.

    Raises :class:`profiles.NotReplayed` where the calls make something else than the file states.
    """
    read = read_guarantee(text)
    return replay(read) if find_unrepeatable(read.call) is None else suppose(read)


def read_epsilon(text: str) -> Guarantee:
    """Return the guarantee of a certificate of an epsilon. Raises :class:`UnreadableFile` where the kernel accepts none there."""
    report = check(text)
    proved = {claim.claim for claim in report.claims if claim.verdict == "proved"}
    if not report.accepted or not {"well-defined", "epsilon-upper"} <= proved:
        why = report.reason if not report.accepted else "it has no claim epsilon-upper"
        raise UnreadableFile(f"a certificate of an epsilon was expected, but the kernel does not accept one there: {why}")
    whole = read_json(text)
    told = read_told(whole)
    if "protection" in whole and read_protection(**whole["protection"]) != RECORDS:
        raise UnreadableFile(
            "a certificate of an epsilon is about adding or removing one record, but it states another protection; make it anew"
        )
    proof = {name: value for name, value in whole.items() if name not in ("protection", "hypotheses")}
    profile = declare_stated(whole["profile"])
    rule = rule_from_expression(whole["sampling"]["q"], profile)
    sampled = amplify_by_importance_sampling(derive_profile(profile), rule)
    return update_hypotheses(worst_case(sampled, certificate=proof), supposes=(*told, _NUMBERS))


def read_told(whole: Mapping[str, Any]) -> tuple[Hypothesis, ...]:
    """Return the hypotheses that a certificate states beside its claims: those of the registry, and others as the user's own."""
    return tuple(
        restore(item["id"], item["sentence"], REGISTRY[item["id"]].head.value if item["id"] in REGISTRY else "")
        or as_hypothesis(item["sentence"])
        for item in whole.get("hypotheses", ())
    )


def read_cover(text: str) -> Guarantee:
    """Return the guarantee of a weight cover. Raises :class:`UnreadableFile` where it is rejected."""
    whole = _accepted(text, COVER, "a certificate of an epsilon at a delta", check_cover)
    profile = declare_stated(whole["profile"])
    rule = rule_from_expression(whole["sampling"]["q"], profile)
    bounded = bound_by_cover(profile, rule=rule, at_delta=to_exact(whole["delta"]), steps=whole["steps"], weight_cover=whole)
    return update_hypotheses(bounded, supposes=(_NUMBERS,))


def read_sample(text: str) -> Guarantee:
    """Return the guarantee of a certificate of a sample. Raises :class:`UnreadableFile` where it is rejected."""
    certificate = _accepted(text, SAMPLE, "a certificate of a sample", check_certificate)
    stated = (*read_stated_hypotheses(certificate), *map(as_hypothesis, name_unstated(certificate)))
    return _state(text, certificate, f"one analysis of a sample for {certificate['profile']['name']}", "certificate of a sample", stated)


def read_kmeans(text: str) -> Guarantee:
    """Return the guarantee of a certificate of private k-means. Raises :class:`UnreadableFile` where it is rejected."""
    certificate = _accepted(text, kmeans.FORMAT, "a certificate of private k-means", kmeans.check_certificate)
    stated = read_hypotheses(certificate["premises"], "premises")
    return _state(text, certificate, certificate["profile"]["name"], "certificate of private k-means", stated)


def read_statistics(text: str) -> Guarantee:
    """Return the guarantee of a certificate of statistics and a sample. Raises :class:`UnreadableFile` where it is rejected."""
    certificate = _accepted(text, statistics.FORMAT, "a certificate of statistics and a sample", statistics.check_certificate)
    subject = f"statistics and one analysis of a sample for {certificate['sample']['profile']['name']}"
    stated = read_hypotheses(certificate["premises"], "premises")
    return _state(text, certificate, subject, "certificate of statistics and a sample", stated)


def _accepted(text: str, kind: str, what: str, judge: Callable[[Mapping[str, Any]], Report]) -> Mapping[str, Any]:
    certificate = find_document(text, kind, floats=True)
    if certificate is None:
        raise UnreadableFile(f"{what} was expected, but the text is not a JSON object of that format, or has a key twice; get it anew")
    report = judge(certificate)
    if not report.accepted:
        raise UnreadableFile(f"{what} was expected, but it is rejected at {report.step}: {report.reason}")
    return certificate


def _state(text: str, certificate: Mapping[str, Any], subject: str, what: str, hypotheses: Sequence[Hypothesis]) -> Guarantee:
    """Return what an accepted certificate states of a run: the bound for its protection, under the hypotheses that it lists."""
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    epsilon = certificate["epsilon"]
    upper, delta = to_exact(epsilon["upper"]), to_exact(epsilon.get("delta") or "0")
    right = FILE_IS_RIGHT.about(digest=digest)
    return conclude(
        Inference(
            "as a file states",
            subject,
            source=f"{what} with the SHA-256 {digest}",
            conclusion=f"epsilon <= {epsilon['upper']}" + (f", delta <= {epsilon['delta']}" if delta else ""),
            protection=read_protection(**certificate["protection"]) if "protection" in certificate else RECORDS,
        ),
        Losses(upper, upper, delta, delta),
        supposes=(right, *hypotheses),
        discharges={right: "pdp check accepts the certificate: the kernel its proof, and its checker all that it states"},
    )
