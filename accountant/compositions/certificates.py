"""Certificates of compositions: their events in the kernel's words, the events as the kernel reads them, and what a claim may cost it."""

from __future__ import annotations

from collections.abc import Mapping

from accountant.compositions.events import Composition
from accountant.compositions.json_format import event_object
from profiles import InvalidArgument, exact_text
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.theories.compositions.bounds import Event as KernelEvent
from proofs_check.kernel.theories.compositions.bounds import read_events
from proofs_check.kernel.untrusted.formats import OWN

#: A claim as it stands in a certificate.
ClaimObject = Mapping[str, object]
SHARES = 4  # claims of a certificate: two directions, two sides


def write_events(composition: Composition) -> list[dict[str, object]]:
    """Return the events in the words of a certificate."""
    return [event_object(event, exact_text) for event in composition.events]


def make_certificate(composition: Composition, claims: tuple[ClaimObject, ...]) -> dict[str, object]:
    """Return the certificate of some claims about one composition, as a JSON object."""
    about = {"name": composition.name, "events": write_events(composition)}
    return {"format": OWN, "version": 1, "composition": about, "claims": [dict(claim) for claim in claims]}


def share_work(shares: int = SHARES) -> Meter:
    """Return what one of the four claims of a certificate (two directions, two sides) may take of the kernel's work, so that all fit."""
    return Meter(Meter().left // shares)


def read_kernel_events(composition: Composition) -> list[KernelEvent]:
    """Return the events as the kernel reads them. Raises :class:`InvalidArgument` for mechanisms whose curve it does not compute."""
    try:
        return read_events(write_events(composition))
    except Rejected as problem:
        raise refuse(composition, problem) from problem


def refuse(composition: Composition, problem: Rejected) -> InvalidArgument:
    """Return the error for a composition that the kernel rejected."""
    return InvalidArgument(
        f"the privacy curve of {composition.name[:80]!r} was asked for, but the kernel does not compute it: {problem}; "
        "account for other numbers"
    )
