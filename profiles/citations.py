"""Citations of pages: stored files cite a page that became a part of another one by its earlier name; it is read by that of now."""

from __future__ import annotations

import re

#: The earlier page: where it stands now, and what its numbers of sections and of theorems became more by.
_MOVED = {
    "matroids": ("submodular", 10, 9),
    "gaussian-mechanisms": ("gaussian-weights", 13, 11),
    "dp-kmeans": ("private-kmeans", 8, 3),
    "private-statistics": ("sampling", 6, 4),
}
_NUMBERS = r"\d+(?:(?:, | and | to )\d+)*"
_CITED = re.compile(rf"docs/({'|'.join(_MOVED)})\.md(?:, (sections?|Theorems?) ({_NUMBERS}))?")


def cite_now(text: str) -> str:
    """Return a text in which every citation names the page and the number of now; all else stays as it is.

    >>> cite_now("docs/matroids.md, Theorems 1 and 2; docs/submodular.md, Theorem 3")
    'docs/submodular.md, Theorems 10 and 11; docs/submodular.md, Theorem 3'
    """
    return _CITED.sub(_cite, text)


def _cite(match: re.Match[str]) -> str:
    page, sections, theorems = _MOVED[match[1]]
    if match[2] is None:
        return f"docs/{page}.md"
    more = sections if match[2].startswith("section") else theorems
    return f"docs/{page}.md, {match[2]} " + re.sub(r"\d+", lambda number: str(int(number[0]) + more), match[3])
