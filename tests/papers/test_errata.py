"""docs/errata.md says what the claims say."""

from pathlib import Path

from proofs_check.papers import Status, all_claims, judge
from proofs_check.papers.errata import render_errata

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == render_errata(), "make it again: python -m proofs_check.papers.errata > docs/errata.md"


def test_every_refuted_statement_is_on_the_page_and_no_other():
    text = PAGE.read_text(encoding="utf-8")
    for claim in all_claims():
        assert (f"**`{claim.id}`**" in text) == (judge(claim.id).status is Status.REFUTED)
