"""An entry of the registry: one format, how it is read and written, and what of a file can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from profiles.errors import UnreadableFile
from profiles.strict_json import find_document
from proofs_check.certificates import to_file_text
from proofs_check.kernel import CheckedClaim, Report
from proofs_check.kernel.untrusted.formats import FORMATS

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the check of a file found. Of an accepted one: what it is about, as JSON (``about``), and in ``lines`` for people."""

    report: Report
    about: Mapping[str, Any] | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document(Generic[Content]):
    """A format. ``name`` is that of :data:`proofs_check.kernel.untrusted.formats.FORMATS`, which says what such a file is.

    ``check`` judges what ``read`` returned, and raises :class:`profiles.NothingToCheck` where this very file makes no claim that can be
    checked; None: no file of the format does. ``parts`` names the documents inside of a text, which are checked each by itself.
    ``told``: for an accepted file what was checked, else, after "which", why nothing can be checked and what to do.
    ``largest``: characters that are read. ``protection`` and ``hypotheses`` are the keys under which a file states them, "in words", or
    "" where it states none.
    """

    name: str
    told: str
    versions: tuple[int, ...] = ()
    protection: str = ""
    hypotheses: str = ""
    read: Callable[[str], Content] | None = None
    write: Callable[[Content], str] | None = None
    check: Callable[[Content], Outcome] | None = None
    parts: Callable[[str], Iterable[tuple[str, str]]] | None = None
    largest: int = 1_000_000

    @property
    def meaning(self) -> str:
        """What a file of the format is."""
        return FORMATS[self.name]


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A file with its format, what its check found, and the documents inside of it by name, each checked as well."""

    document: Document[Any]
    outcome: Outcome
    inside: tuple[tuple[str, CheckedDocument], ...] = ()

    @property
    def claims(self) -> tuple[CheckedClaim, ...]:
        """The claims of the file and of all documents inside of it."""
        return (*self.outcome.report.claims, *(claim for _, part in self.inside for claim in part.claims))


def of_objects(
    entry: Document[Mapping[str, Any]],
    check: Callable[[Mapping[str, Any]], Report],
    tell: Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], Iterable[str]]],
) -> Document[Mapping[str, Any]]:
    """Return the entry of a format of JSON objects: ``check`` judges them, and ``tell`` says of an accepted one what it is about."""

    def judge(fields: Mapping[str, Any]) -> Outcome:
        report = check(fields)
        if not report.accepted:
            return Outcome(report)
        about, lines = tell(fields)
        return Outcome(report, about, tuple(lines))

    return replace(entry, read=lambda text: read_object(text, entry.name), write=entry.write or to_file_text, check=judge)


def read_object(text: str, kind: str) -> dict[str, Any]:
    """Return the JSON object of a file of the format ``kind``. Raises :class:`UnreadableFile` for all else."""
    document = find_document(text, kind, floats=True)
    if document is None:
        raise UnreadableFile(f"a {kind} was expected, but the text is not a JSON object of that format, or has a key twice; get it anew")
    return document
