"""The page docs/claims.md has every claim, as it stands."""

from pathlib import Path

from proofs_check.papers.listing import render_claims
from proofs_check.papers.registry import all_claims

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == render_claims(), "make it again: python -m proofs_check.papers.listing > docs/claims.md"


def test_every_claim_has_one_row():
    text = render_claims()
    for claim in all_claims():
        assert text.count(f" | `{claim.id}` |\n") == 1
