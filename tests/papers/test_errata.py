"""docs/errata.md says what the claims say, and lists each of them once."""

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


@pytest.mark.thorough(quick=30)
@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_refuted_statements_are_on_the_page_and_no_others(claim):
    assert (f"**`{claim.id}`**" in PAGE.read_text(encoding="utf-8")) == (judge(claim.id).status is Status.REFUTED)


def test_every_claim_has_one_row():
    text = PAGE.read_text(encoding="utf-8")
    for claim in all_claims():
        assert text.count(f" | `{claim.id}` |\n") == 1
