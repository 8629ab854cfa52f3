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
        ("docs/set-cover.md, Theorems 1 and 2", "docs/submodular.md, Theorems 15 and 16"),
        ("docs/poisson-sampler.md, Theorems 1 and 3", "docs/sampling.md, Theorems 7 and 8"),
        ("docs/poisson-sampler.md, Theorem 2", "docs/sampling.md, Theorem 2"),
        ("docs/poisson-sampler.md, section 3", "docs/sampling.md, section 14"),
        ("docs/exact-epsilon.md, Theorem 3", "docs/audit.md, Theorem 9"),
        ("docs/exact-epsilon.md, section 4", "docs/audit.md, section 14"),
        (
            "docs/repeated-mechanisms.md, section 5; docs/repeated-mechanisms.md, Theorem C",
            "docs/one-sided.md, section 13; docs/one-sided.md, Theorem C",
        ),
        ("docs/protection.md, Theorem 3", "docs/concepts.md, Theorem 3"),
        ("docs/claims.md", "docs/errata.md"),
        ("docs/submodular.md, Theorem 8", "docs/submodular.md, Theorem 8"),
    ],
)
def test_a_citation_is_read_as_that_of_now(earlier: str, now: str) -> None:
    assert cite_now(earlier) == now
    assert cite_now(now) == now
    for page, kind, number in re.findall(r"docs/([\w-]+\.md), (Theorem|Lemma|section)s? (\d+|[A-E]\b)", now):
        text = (DOCS / page).read_text(encoding="utf-8")
        found = rf"^#+ {number}\. " if kind == "section" else rf"(\*\*|^#+ ){kind} {number}\b"
        assert re.search(found, text, re.MULTILINE), now
