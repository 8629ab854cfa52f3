"""The entry of reports: HTML files with certificates inside, which are checked; what the page says around them is not."""

from __future__ import annotations

import base64
from html.parser import HTMLParser

from profiles import UnreadableFile
from proofs_check.documents.entries import Document

_LINK = "data:application/json;base64,"


class _Reader(HTMLParser):
    """Collects every certificate of a page: that which is offered for download, and that which the page checks itself."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: dict[str, str] = {}
        self._editor: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        link, label = named.get("href") or "", named.get("aria-label") or ""
        if tag == "a" and link.startswith(_LINK):
            name = named.get("download") or f"certificate {len(self.documents)}"
            self.documents[name] = base64.b64decode(link.removeprefix(_LINK)).decode()
        elif tag == "textarea" and label.startswith("certificate "):
            self._editor = f"{label} as the page checks it"
            self.documents[self._editor] = ""

    def handle_data(self, data: str) -> None:
        if self._editor is not None:
            self.documents[self._editor] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._editor = None


def read_report(text: str) -> dict[str, str]:
    """Return the certificates inside of a report, by name; one text stands there once. Raises :class:`UnreadableFile` for a damaged one."""
    reader = _Reader()
    if not text.rstrip().endswith("</html>"):
        raise UnreadableFile("a report was expected, but its end is missing; get it anew")
    try:
        reader.feed(text)
        reader.close()
    except ValueError:
        raise UnreadableFile("a certificate of the report is not base64 of UTF-8; get the report anew") from None
    texts: dict[str, str] = {}
    for name, document in reader.documents.items():
        texts.setdefault(document.strip(), name)
    return {name: document for document, name in texts.items()}


REPORT = Document(
    "report",
    "each certificate inside was checked; nothing else on the page was checked",
    protection="in words",
    hypotheses="in words",
    read=read_report,
    largest=40_000_000,
    parts=lambda text: read_report(text).items(),
)
