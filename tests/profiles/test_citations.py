"""Citations of earlier pages are read as those of now, and each leads to a theorem or a section that the page has."""

from __future__ import annotations

import re

import pytest

from profiles.citations import cite_now
from tests.documentation.pages import DOCS


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("docs/matroids.md, Theorem 1", "docs/submodular.md, Theorem 10"),
        ("docs/matroids.md, section 3", "docs/submodular.md, section 13"),
        ("docs/gaussian-mechanisms.md, Theorem 4; docs/exact-noise.md", "docs/gaussian-weights.md, Theorem 15; docs/exact-noise.md"),
        ("docs/dp-kmeans.md, Theorems 3 and 4", "docs/private-kmeans.md, Theorems 6 and 7"),
        ("docs/private-statistics.md, Theorem 2", "docs/sampling.md, Theorem 6"),
        ("docs/private-statistics.md, Lemma 1", "docs/sampling.md, Lemma 1"),
        ("docs/submodular.md, Theorem 8", "docs/submodular.md, Theorem 8"),
    ],
)
def test_a_citation_is_read_as_that_of_now(earlier: str, now: str) -> None:
    assert cite_now(earlier) == now
    assert cite_now(now) == now
    for page, kind, number in re.findall(r"docs/([\w-]+\.md), (Theorem|Lemma|section)s? (\d+)", now):
        text = (DOCS / page).read_text(encoding="utf-8")
        found = rf"^#+ {number}\. " if kind == "section" else rf"\*\*{kind} {number}\b"
        assert re.search(found, text, re.MULTILINE), now
