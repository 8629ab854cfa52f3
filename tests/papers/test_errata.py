"""docs/errata.md says what the claims say."""

from pathlib import Path

import pytest

from proofs_check.papers import Status, all_claims, judge
from tests.documentation.pages import site_module

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"


@pytest.mark.thorough
def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == site_module("errata").render_errata(), (
        "make it again: python docs/_site/errata.py > docs/errata.md"
    )


def test_every_refuted_statement_is_on_the_page_and_no_other():
    text = PAGE.read_text(encoding="utf-8")
    for claim in all_claims():
        assert (f"**`{claim.id}`**" in text) == (judge(claim.id).status is Status.REFUTED)
