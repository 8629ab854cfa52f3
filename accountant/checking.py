"""Checking a file from Python: what ``pdp check`` does. The entry of its format in the registry of documents decides what is checked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from profiles.errors import InvalidArgument, NothingToCheck, PDPError, UnreadableFile
from profiles.files import read_text
from profiles.strict_json import MAX_CHARACTERS
from proofs_check.documents.entries import CheckedDocument, Document, Outcome
from proofs_check.kernel import Report
from proofs_check.kernel.untrusted.formats import read_heading

#: Bytes of a file; most are the Python runtime of a report that checks itself.
LARGEST = 40_000_000
_SQLITE, _ZIP = b"SQLite format 3\0", b"PK\3\4"
#: What a file is whose content does not say it.
_SUFFIXES = {
    **dict.fromkeys((".csv", ".npy", ".parquet"), "data"),
    **dict.fromkeys((".pdf", ".png", ".svg"), "picture"),
    ".key": "ledger secret",
    ".pyz": "checker",
    ".v": "Coq file",
}


def check(certificate: str | PathLike[str] | Mapping[str, Any]) -> Report:
    """Check a file that this project wrote: its certificates with the kernel, the proof checker that shares no code with the prover.

    ``certificate`` is a file (a path), the text of one, or the object that :meth:`Verification.certificate` and
    :meth:`DerivedEpsilon.certificate` return; also the certificate beside a sample, a guarantee, a report. ``accepted`` of the report says
    whether every claim in it is now known to hold of the function ε that is written there; ``claims`` are these, else ``step`` and
    ``reason`` say what was rejected. Whether your mechanism has that ε is not checked.

    Raises :class:`profiles.UnreadableFile` where there is no such file, or it is of no known format and version, and
    :class:`profiles.NothingToCheck` for a file that claims nothing, such as a profile. A damaged file of a known format is rejected.

    >>> from accountant import check, declare, verify
    >>> made = verify(declare("sum", "w*z", record={"z": [0, 4]}), 5, ["assumption-8"]).certificate()
    >>> report = check(made)
    >>> report.accepted, [claim.claim for claim in report.claims]
    (True, ['well-defined', 'assumption-8'])
    >>> check({**made, "profile": {**made["profile"], "epsilon": "2*w*z"}}).accepted
    False
    """
    if isinstance(certificate, Mapping):
        from proofs_check.certificates import to_file_text

        try:
            return check_text(to_file_text(certificate))
        except (TypeError, ValueError, RecursionError):
            raise InvalidArgument(
                "a certificate was expected, but the mapping has values that are not JSON; give one that was made here"
            ) from None
    if isinstance(certificate, str) and certificate.lstrip()[:1] in ("{", "["):
        return check_text(certificate)
    if not isinstance(certificate, (str, PathLike)):
        raise InvalidArgument(
            f"a certificate, its text or the path of its file was expected, but {type(certificate).__name__} was found; give one of these"
        )
    return check_document(read_file(Path(certificate)), Path(certificate)).outcome.report


def check_text(text: str) -> Report:
    """Return the report on the text of a file. Raises as :func:`check` does."""
    return check_document(text).outcome.report


def load_document(name: str) -> Document[Any]:
    """Return the entry of a format: the one table of the registry. Each stands in the room that writes such files, and is loaded here."""
    match name:
        case "pdp-certificate":
            from accountant.interop.documents import CERTIFICATE

            return CERTIFICATE
        case "pdp-guarantee":
            from accountant.interop.documents import GUARANTEE

            return GUARANTEE
        case "pdp-kmeans-certificate":
            from accountant.applications.kmeans.documents import KMEANS

            return KMEANS
        case "pdp-sample-certificate":
            from accountant.samples.documents import SAMPLE

            return SAMPLE
        case "pdp-statistics-certificate":
            from accountant.applications.statistics.documents import STATISTICS

            return STATISTICS
        case "pdp-weight-cover":
            from accountant.weights.gaussian.documents import COVER

            return COVER
        case "pdp-weight-table":
            from accountant.weights.gaussian.documents import TABLE

            return TABLE
        case "report":
            from accountant.report.documents import REPORT

            return REPORT
        case "composition file":
            from accountant.compositions.toml_format import COMPOSITION

            return COMPOSITION
        case "pass state":
            from accountant.applications.heavyhitters.state import PASS_STATE

            return PASS_STATE
        case "ledger" | "ledger secret" | "pdp-ledger-anchor" | "pdp-ledger-log" | "pdp-ledger-table":
            from accountant.ledger.documents import LEDGER

            return LEDGER[name]
        case "pdp-ledger-public":
            from accountant.ledger.public import PUBLIC

            return PUBLIC
        case "pdp-ledger-statement":
            from accountant.ledger.statements import STATEMENT

            return STATEMENT
        case _:
            from proofs_check.documents.plain import PLAIN

            return PLAIN[name]


def read_file(path: Path) -> str:
    """Return the text of a file. Raises :class:`UnreadableFile`, :class:`NothingToCheck` for what its first bytes or its name tell."""
    name = _find_by_bytes(path)
    try:
        if name is None:
            return read_text(path, LARGEST)
    except UnreadableFile:
        name = _SUFFIXES.get(path.suffix.lower())
        if name is None or not os.path.isfile(path):  # also of a name that no file can have
            raise
    raise _refuse(load_document(name), path)


def _find_by_bytes(path: Path) -> str | None:
    """Name the format of a file that is no text, or may be too long for one."""
    try:
        with path.open("rb") as stream:
            head = stream.read(100)
    except (OSError, ValueError):
        return None  # whoever reads it says why
    if head.startswith(_SQLITE):
        from accountant.ledger.database import APPLICATION

        return "ledger" if int.from_bytes(head[68:72], "big") == APPLICATION else None
    if head.startswith(_ZIP) and b"header.npy" in head:
        return "pass state"
    return "pdp-ledger-log" if b'"pdp-ledger-log"' in head else None


def check_document(text: str, path: Path | None = None) -> CheckedDocument:
    """Check a text, the file at ``path``, and all documents inside of it, each as its entry says. Raises as :func:`check` does."""
    if len(text) > MAX_CHARACTERS and text.lstrip()[:1] in ("{", "["):
        raise UnreadableFile(f"a text of at most {MAX_CHARACTERS} characters was expected, but it has {len(text)}; check which file it is")
    format_name, version = read_heading(text)
    name = format_name or (None if path is None else _SUFFIXES.get(path.suffix.lower()))
    if name is None:
        raise UnreadableFile(
            f"{_name(path)} is of no known format: answers and data that a command wrote carry no claim; else check which file it is"
        )
    document = load_document(name)
    if len(text) > document.largest:
        raise UnreadableFile(f"{_name(path)} has {len(text)} characters, but at most {document.largest} are read of a {name}; take another")
    if type(version) is int and version not in document.versions:
        known = ", ".join(map(str, document.versions))
        raise UnreadableFile(
            f"{_name(path)} is a {name} of version {str(version)[:20]}, but {known} can be read; use the release that wrote it"
        )
    try:
        return _check(document, text)
    except NothingToCheck as error:
        raise _refuse(document, path, str(error)) from None
    except PDPError as error:
        return CheckedDocument(document, Outcome(Report(accepted=False, step=name, reason=str(error))))


def _check(document: Document[Any], text: str) -> CheckedDocument:
    content = None if document.check is None or document.read is None else document.read(text)
    listed = list[tuple[str, CheckedDocument]]()
    for name, part in () if document.parts is None else document.parts(text):
        with contextlib.suppress(NothingToCheck):  # what claims nothing is no part of what is checked
            listed.append((name, check_document(part)))
    inside = tuple(listed)
    for name, checked in inside:
        report = checked.outcome.report
        if not report.accepted:
            return CheckedDocument(document, Outcome(replace(report, step=f"{name}, {report.step}")), inside)
    if document.check is not None:
        return CheckedDocument(document, document.check(content), inside)
    if not inside:
        raise NothingToCheck(document.told if document.parts is None else "has no certificate inside")
    return CheckedDocument(document, Outcome(Report(accepted=True)), inside)


def _refuse(document: Document[Any], path: Path | None, why: str = "") -> NothingToCheck:
    return NothingToCheck(f"{_name(path)} is {document.meaning}, which {why or document.told}")


def _name(path: Path | None) -> str:
    return "the text" if path is None else repr(str(path)[:200])
