"""The entries of proof certificates and of guarantees, in the registry of documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from accountant.compositions.json_format import composition_from_object
from accountant.guarantees import declare_events, hypotheses_json
from accountant.guarantees.render import describe_bound, list_details, to_json
from accountant.interop.files import FORMAT, VERSION, ReadGuarantee, read_guarantee, write_guarantee
from accountant.interop.releases import list_unchecked, read_told
from accountant.interop.replaying import find_unrepeatable, replay
from profiles import NothingToCheck, NotReplayed
from profiles.protection import Unit
from profiles.strict_json import MAX_CHARACTERS
from proofs_check import certificates
from proofs_check.documents.describing import describe_open, describe_profile
from proofs_check.documents.entries import Document, Outcome
from proofs_check.kernel import CheckedClaim, Report


def _check_certificate(text: str) -> Outcome:
    report = certificates.check_text(text)
    if not report.accepted:
        return Outcome(report)
    whole = json.loads(text)
    if "composition" in whole:
        return _tell_composition(report, whole)
    about = {name: whole.get(name) for name in ("profile", "sampling", "target_epsilon")}
    unverified = list_unchecked(text)
    if unverified:
        about |= {"hypotheses": [item.sentence for item in unverified], "premises": hypotheses_json(unverified)}
    return Outcome(report, about, tuple(describe_profile(about)))


def _tell_composition(report: Report, whole: Mapping[str, Any]) -> Outcome:
    """Return the events and the bounds of an accepted certificate of a composition, and what is not checked."""
    composition = composition_from_object(whole["composition"])
    groups = any(event.batches is not None and dict(event.batches.sizes).get("group_size", 1) > 1 for event in composition.events)
    said = whole.get("protection", {"unit": Unit.USER if groups else Unit.RECORD})  # batches of groups are about users
    declared = declare_events(composition, read_told(whole), **said)  # what a file leaves out of what its events suppose comes with them
    unverified = declared.hypotheses
    about = {
        "composition": whole["composition"],
        "bounds": [{name: claim[name] for name in ("claim", "direction", "epsilon", "bound")} for claim in whole["claims"]],
        "protection": declared.protection.to_object(),
        "hypotheses": [item.sentence for item in unverified],
        "premises": hypotheses_json(unverified),
    }
    lines = [f"about: {composition.name} ({declared.protection.describe()})"]
    for bound in about["bounds"]:
        if bound["claim"] == "delta-positive":
            lines.append(f"    {bound['direction']}: delta(e) > 0 for every e < {bound['epsilon']}")
            continue
        sign = "<=" if bound["claim"] == "delta-upper" else ">="
        lines.append(f"    {bound['direction']}: delta({bound['epsilon']}) {sign} {bound['bound']}")
    lines += (f"    {event.describe()}" for event in composition.events)
    return Outcome(report, about, (*lines, *describe_open(about)))


def _check_guarantee(read: ReadGuarantee) -> Outcome:
    """Make the calls of a guarantee again. Raises :class:`NothingToCheck` where one of them cannot be made from a file."""
    why = find_unrepeatable(read.call)
    if why is not None:
        raise NothingToCheck(f"states a bound for {read.stated.subject[:60]!r} on its own word, because {why}; pdp compose takes it so")
    try:
        made = replay(read)
    except NotReplayed as error:
        return Outcome(Report(accepted=False, step="guarantee", reason=str(error)))
    about, bounds = to_json(made), (f"    {line}" for line in (describe_bound(made), *list_details(made)))
    claim = CheckedClaim("guarantee", "made again from its calls", None, (), ())
    return Outcome(Report(accepted=True, claims=(claim,)), about, (f"about: {made.subject}", *bounds, *describe_open(about)))


def _list_proofs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the certificates behind the bounds of a guarantee that the kernel is said to have accepted."""
    for place, proof in enumerate(json.loads(text).get("proofs", ())):
        if isinstance(proof, dict) and isinstance(proof.get("certificate"), dict) and proof.get("checked_by_kernel"):
            yield f"proofs[{place}]", json.dumps(proof["certificate"])


CERTIFICATE: Document[str] = Document(
    certificates.FORMAT,
    "the kernel proved each claim below again, for the function in the file",
    (certificates.FIRST, certificates.VERSION),
    read=str,
    write=str,
    check=_check_certificate,
    largest=MAX_CHARACTERS,  # the kernel has a limit of its own
)
GUARANTEE = Document(
    FORMAT,
    "the calls of the rules that made it were made again, and the kernel checked their certificates",
    tuple(range(1, VERSION + 1)),
    protection="protection",
    hypotheses="hypotheses",
    read=read_guarantee,
    write=write_guarantee,
    check=_check_guarantee,
    parts=_list_proofs,
    largest=MAX_CHARACTERS,
)
