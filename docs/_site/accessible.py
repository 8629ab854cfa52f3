"""What the theme and Sphinx leave out for readers with a keyboard or a screen reader, put into the pages once they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SIGNATURE = re.compile(r"<dl>\n((?:<dd><em class=\"sig-param\">.*?</dd>\n)+)</dl>", re.DOTALL)
_TERMS = re.compile(r"<(/?)dd>")

#: What is found, and what stands in its place.
_CHANGES: tuple[tuple[str, str], ...] = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    # What scrolls can be reached by the keyboard.
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">', '<math tabindex="0" display="block">'),
    # A table without a heading of its column has an empty cell there.
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
    # The results come with a heading of the second level, and the page has none above it.
    ('<div id="search-results"></div>', '<h1>Search</h1>\n<div id="search-results"></div>'),
)  # fmt: skip


def improve(app: Any, error: Exception | None) -> None:
    """Rewrite the pages of a build that went well."""
    if error is None and app.builder.name == "html":
        for page in Path(app.outdir).rglob("*.html"):
            page.write_text(improve_page(page.read_text(encoding="utf-8")), encoding="utf-8")


def improve_page(text: str) -> str:
    """Return a page with labels, levels, and places for the keyboard to go to.

    >>> improve_page('<aside class="toc-drawer"><pre>x</pre></aside>')
    '<aside class="toc-drawer" aria-label="On this page"><pre tabindex="0">x</pre></aside>'
    """
    for found, better in _CHANGES:
        text = text.replace(found, better)
    return _SIGNATURE.sub(_lines, text)


def _lines(found: re.Match[str]) -> str:
    """Return the parameters of a signature as plain lines: they are no definitions of terms."""
    lines = _TERMS.sub(r"<\1div>", found[1])
    return f'<div class="sig-lines">\n{lines}</div>'
