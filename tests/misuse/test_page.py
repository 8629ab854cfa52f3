"""docs/hypotheses.md lists every hypothesis; docs/what-can-go-wrong.md is held by the matrix (test_matrix.py)."""

from __future__ import annotations

from profiles.hypotheses import REGISTRY
from tests.documentation.pages import DOCS, site_module


def test_the_page_of_hypotheses_is_that_of_the_code():
    assert (DOCS / "hypotheses.md").read_text(encoding="utf-8") == site_module("hypotheses").page_text(), (
        "run: python docs/_site/hypotheses.py > docs/hypotheses.md"
    )
    assert len({item.sentence for item in REGISTRY.values() if item.sentence != "{statement}"}) >= len(REGISTRY) - 6
