"""Checking a certificate from Python: what ``pdp check`` does. The kernel decides; here its text is found."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidArgument
from profiles.strict_json import find_document

if TYPE_CHECKING:
    from proofs_check.kernel import Report

#: What the text of a sample's certificate contains; a proof that only mentions it is still the kernel's to judge.
SAMPLE = "pdp-sample-certificate"
#: The same of a table of weights under Gaussian noise.
TABLE = "pdp-weight-table"
#: And of the worst record of a sampling rule.
COVER = "pdp-weight-cover"
#: And of a private fit of k-means.
KMEANS = "pdp-kmeans-certificate"
#: And of released statistics with the sample that is drawn by them, whose certificate is inside.
STATISTICS = "pdp-statistics-certificate"
LARGEST = 1_000_000


def check(certificate: str | PathLike[str] | Mapping[str, Any]) -> Report:
    """Check a certificate with the kernel, the proof checker that shares no code with the prover, and return its report.

    ``certificate`` is a file (a path), the text of one, or the object that :meth:`Verification.certificate` and
    :meth:`DerivedEpsilon.certificate` return; also that beside a sample. ``accepted`` of the report says whether every claim in it is now
    known to hold of the function ε that is written there; ``claims`` are these, else ``step`` and ``reason`` say what was rejected.
    Whether your mechanism has that ε is not checked.

    Raises :class:`profiles.UnreadableFile` where there is no such file. A text that is no certificate is rejected.

    >>> from accountant import check, declare, verify
    >>> made = verify(declare("sum", "w*z", record={"z": [0, 4]}), 5, ["assumption-8"]).certificate()
    >>> report = check(made)
    >>> report.accepted, [claim.claim for claim in report.claims]
    (True, ['well-defined', 'assumption-8'])
    >>> check({**made, "profile": {**made["profile"], "epsilon": "2*w*z"}}).accepted
    False
    """
    return check_text(_text(certificate))


def check_text(text: str) -> Report:
    """Return the report on the text of a certificate: of proofs, a sample, a table of weights, a cover of a sampling rule, or a fit."""
    if STATISTICS in text:
        from accountant.applications import statistics  # noqa: PLC0415

        together = statistics.read_certificate(text)
        if together is not None:
            return statistics.check_certificate(together)
    if SAMPLE in text:
        from accountant.samples.checking import check_certificate, read_certificate  # noqa: PLC0415 - slow to load, and rarely needed

        sample = read_certificate(text)
        if sample is not None:
            return check_certificate(sample)
    if TABLE in text:
        from accountant.weights.gaussian.stored import check_table  # noqa: PLC0415

        table = find_document(text, TABLE)
        if table is not None:
            return check_table(table)
    if COVER in text:
        from accountant.weights.gaussian.covers import check_cover  # noqa: PLC0415

        cover = find_document(text, COVER)
        if cover is not None:
            return check_cover(cover)
    if KMEANS in text:
        from accountant.applications.kmeans import certificate  # noqa: PLC0415

        fit = certificate.read_certificate(text)
        if fit is not None:
            return certificate.check_certificate(fit)
    from proofs_check import kernel  # noqa: PLC0415

    return kernel.check(text)


def _text(certificate: str | PathLike[str] | Mapping[str, Any]) -> str:
    if isinstance(certificate, Mapping):
        from proofs_check.certificates import to_file_text  # noqa: PLC0415

        try:
            return to_file_text(certificate)
        except (TypeError, ValueError, RecursionError):
            raise InvalidArgument(
                "a certificate was expected, but the mapping has values that are no JSON; give one that was made here"
            ) from None
    if isinstance(certificate, str) and certificate.lstrip()[:1] in ("{", "["):
        return certificate
    if not isinstance(certificate, (str, PathLike)):
        raise InvalidArgument(
            f"a certificate, its text or the path of its file was expected, but {type(certificate).__name__} was found; give one of these"
        )
    from profiles.files import read_text  # noqa: PLC0415

    return read_text(Path(certificate), LARGEST)


__all__ = ["COVER", "KMEANS", "LARGEST", "SAMPLE", "STATISTICS", "TABLE", "check", "check_text"]
