"""Citations of pages that became part of another page: stored files cite them by their earlier names, which are read as those of now."""

from __future__ import annotations

import re

#: The earlier page: where it stands now, and what was added to its numbers of sections and of theorems, or each theorem's number of now.
_MOVED: dict[str, tuple[str, int, int | dict[int, int]]] = {
    "matroids": ("submodular", 10, 9),
    "set-cover": ("submodular", 0, 14),
    "gaussian-mechanisms": ("gaussian-weights", 13, 11),
    "dp-kmeans": ("private-kmeans", 8, 3),
    "private-statistics": ("sampling", 6, 4),
    "poisson-sampler": ("sampling", 11, {1: 7, 2: 2, 3: 8}),
    "exact-epsilon": ("audit", 10, 6),
    "repeated-mechanisms": ("one-sided", 8, 0),
    "protection": ("concepts", 0, 0),
    "claims": ("errata", 0, 0),
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
    moved = sections if match[2].startswith("section") else theorems
    return f"docs/{page}.md, {match[2]} " + re.sub(r"\d+", lambda number: _renumber(int(number[0]), moved), match[3])


def _renumber(number: int, moved: int | dict[int, int]) -> str:
    return str(moved.get(number, number) if isinstance(moved, dict) else number + moved)
