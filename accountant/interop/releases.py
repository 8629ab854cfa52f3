"""Releases from files of any kind that this project writes: guarantees, and certificates of an epsilon or of a sample."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from accountant.guarantees import AnyGuarantee, amplify_by_importance_sampling, derive_profile, settle, worst_case
from accountant.guarantees.gaussian_samples import bound_by_cover
from accountant.guarantees.rules import list_premises
from accountant.guarantees.theorem import TwoSidedDP, conclude
from accountant.interop.files import FORMAT, read_guarantee, suppose
from accountant.interop.replaying import replay
from accountant.rules import rule_from_expression
from accountant.samples.checking import check_certificate, declare_stated, name_unstated, read_certificate, read_premises
from accountant.weights.gaussian.covers import FORMAT as COVER
from accountant.weights.gaussian.covers import check_cover
from profiles import NotReplayed, UnreadableFile, to_exact
from profiles.hypotheses import FILE_IS_RIGHT, PUBLIC_CONSTANTS, Hypothesis, as_hypothesis
from profiles.strict_json import read_json
from proofs_check.kernel import check

_NUMBERS = PUBLIC_CONSTANTS.about(names="the numbers in q are")


def read_release(text: str, name: str = "the file") -> AnyGuarantee:
    """Return the guarantee that a file is about, with an epsilon that was checked here again as far as that can be done.

    * A guarantee file: its calls are made again; where they cannot be, what it states, with its word as an open hypothesis.
    * A certificate of ``pdp epsilon``, also of one at a delta: the kernel checks it, and the rules conclude from its profile and q.
    * A certificate of ``pdp sample``: checked as ``pdp check`` does; what it states, and the premises that it does not name.

    Raises :class:`UnreadableFile` for other files, and for certificates that are rejected or have no epsilon.
    """
    sample = read_certificate(text)
    if sample is not None:
        return _from_sample(sample, text, name)
    try:
        whole = read_json(text)
    except ValueError:  # it may be a file of data: what it says is not told
        whole = None
    if isinstance(whole, dict) and whole.get("format") == FORMAT:
        read = read_guarantee(text)
        try:
            return replay(read)
        except NotReplayed:
            return suppose(read)
    if isinstance(whole, dict) and whole.get("format") == COVER:
        return _from_cover(whole, name)
    if isinstance(whole, dict) and isinstance(whole.get("sampling"), dict) and isinstance(whole.get("profile"), dict):
        return _from_epsilon(whole, text, name)
    raise UnreadableFile(
        f"a guarantee file or a certificate of pdp epsilon or pdp sample was expected in {name}, but something else was found; "
        "write one with pdp epsilon --guarantee or --certificate, or with pdp sample"
    )


def list_unchecked(text: str) -> tuple[Hypothesis, ...]:
    """Return the premises that an accepted certificate of an epsilon or of a sample rests on, and that no program checks.

    Empty for certificates of conditions alone, which have no epsilon. Raises what reading a profile raises.
    """
    sample = read_certificate(text)
    if sample is not None:
        return (*read_premises(sample), *map(as_hypothesis, name_unstated(sample)))
    whole = read_json(text)
    if not isinstance(whole.get("sampling"), dict) or not any(claim.get("claim") == "epsilon-upper" for claim in whole["claims"]):
        return ()
    profile = declare_stated(whole["profile"])
    return (*list_premises(profile, rule_from_expression(whole["sampling"]["q"], profile)), _NUMBERS)


def _from_epsilon(whole: Mapping[str, Any], text: str, name: str) -> AnyGuarantee:
    report = check(text)
    proved = {claim.claim for claim in report.claims if claim.verdict == "proved"}
    if not report.accepted or not {"well-defined", "epsilon-upper"} <= proved:
        why = report.reason if not report.accepted else "it has no claim epsilon-upper"
        raise UnreadableFile(f"a certificate of an epsilon was expected in {name}, but the kernel does not accept one there: {why}")
    profile = declare_stated(whole["profile"])
    rule = rule_from_expression(whole["sampling"]["q"], profile)
    found = amplify_by_importance_sampling(derive_profile(profile), rule)
    return settle(worst_case(found, certificate=whole), supposes=(_NUMBERS,))


def _from_cover(whole: Mapping[str, Any], name: str) -> AnyGuarantee:
    report = check_cover(whole)
    if not report.accepted:
        raise UnreadableFile(f"a certificate of an epsilon at a delta was expected in {name}, but it is rejected at {report.step}")
    profile = declare_stated(whole["profile"])
    rule = rule_from_expression(whole["sampling"]["q"], profile)
    found = bound_by_cover(profile, rule=rule, at_delta=to_exact(whole["delta"]), steps=whole["steps"], weight_cover=whole)
    return settle(found, supposes=(_NUMBERS,))


def _from_sample(sample: Mapping[str, Any], text: str, name: str) -> AnyGuarantee:
    report = check_certificate(sample)
    if not report.accepted:
        raise UnreadableFile(f"a certificate of a sample was expected in {name}, but it is rejected at {report.step}: {report.reason}")
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    upper, delta = to_exact(sample["epsilon"]["upper"]), to_exact(sample["epsilon"].get("delta", "0"))
    stated = f"epsilon <= {sample['epsilon']['upper']}" + ("" if not delta else f", delta <= {sample['epsilon']['delta']}")
    right = FILE_IS_RIGHT.about(digest=digest)
    return conclude(
        "as a file states",
        f"one analysis of a sample for {sample['profile']['name']}",
        TwoSidedDP(upper, upper, delta, delta),
        source=f"certificate of a sample with the SHA-256 {digest}",
        conclusion=stated,
        supposes=(right, *read_premises(sample), *map(as_hypothesis, name_unstated(sample))),
        discharges={right: "pdp check accepts the certificate: the kernel its proof, and its checker all that it states"},
    )
