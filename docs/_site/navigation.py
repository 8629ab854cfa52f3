"""The navigation of the site, made from the lists of docs/index.md, so that a reader of the file sees the same list of pages."""

from __future__ import annotations

import re
from typing import Any

_PART = re.compile(r"^## (.+)\n\n((?:\* .+\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^\* \[(.+?)\]\((?:([\w-]+)\.md|\.\./examples/(\w+)\.ipynb|\.\./(CONTRIBUTING)\.md)\)", re.MULTILINE)
#: Pages that are made when the site is built, below the part of the index where readers look for them.
GENERATED = {"Understand": (("Reference", "_generated/reference"),)}


def read_parts(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return the titles and pages of each part of the index, in its order: ``{"Start": [("One", "one"), ...], ...}``."""
    return {
        part: [
            (title, page or (f"_generated/notebooks/{notebook}" if notebook else f"_generated/{guide}"))
            for title, page, notebook, guide in _ENTRY.findall(entries)
        ]
        for part, entries in _PART.findall(text)
    }


def add(_app: Any, page: str, source: list[str]) -> None:
    """Add the hidden trees from which the theme makes its sidebar to the index."""
    if page != "index":
        return
    for part, entries in read_parts(source[0]).items():
        listed = [*entries, *GENERATED.get(part, ())]
        lines = "\n".join(f"{title} <{target}>" for title, target in listed)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{lines}\n```\n"
