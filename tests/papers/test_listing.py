"""The page docs/claims.md has every claim, as it stands."""

from pathlib import Path

import pytest

from proofs_check.papers.registry import all_claims
from tests.documentation.pages import site_module

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"


@pytest.mark.thorough
def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == site_module("claims").render_claims(), (
        "make it again: python docs/_site/claims.py > docs/claims.md"
    )


def test_every_claim_has_one_row():
    text = PAGE.read_text(encoding="utf-8")
    for claim in all_claims():
        assert text.count(f" | `{claim.id}` |\n") == 1
