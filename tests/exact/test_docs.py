"""The examples of the two pages on exact ε run, and each page names what is public."""

from __future__ import annotations

import doctest
import pathlib

import pytest

import proofs_check.exact

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGES = ("exact-epsilon.md", "audit.md")


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_the_page(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_pages_name_everything_that_is_public():
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    assert [name for name in proofs_check.exact.__all__ if name not in text] == []
