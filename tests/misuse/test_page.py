"""docs/what-can-go-wrong.md has one paragraph for each case, and docs/hypotheses.md lists every hypothesis."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from profiles.hypotheses import REGISTRY
from tests.documentation.pages import site_module

HERE, DOCS = Path(__file__).parent, Path(__file__).parents[2] / "docs"


def test_every_case_has_a_paragraph_and_every_paragraph_a_case():
    cases = set()
    for path in sorted(HERE.glob("test_*.py")):
        if path.name != Path(__file__).name:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found = [item.name.removeprefix("test_") for item in tree.body if getattr(item, "name", "").startswith("test_")]
            cases |= {name.replace("_", " ").capitalize() for name in found}
    page = (DOCS / "what-can-go-wrong.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (.+)$", page, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) == cases
    assert all(len(part.split()) > 5 for part in re.split(r"^###? .+$", page, flags=re.MULTILINE)[1:] if part.strip())


def test_the_page_of_hypotheses_is_that_of_the_code():
    assert (DOCS / "hypotheses.md").read_text(encoding="utf-8") == site_module("hypotheses").page_text(), (
        "run: python docs/_site/hypotheses.py > docs/hypotheses.md"
    )
    assert len({item.sentence for item in REGISTRY.values() if item.sentence != "{statement}"}) >= len(REGISTRY) - 6
