"""The examples of the page on exact ε run, and it names what is public."""

from __future__ import annotations

import doctest
import pathlib

import proofs_check.exact

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "audit.md"


def test_examples_of_the_page():
    """Of ``"audit.md"``: those of one pair, and those of all neighbors."""
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_page_names_everything_that_is_public():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in proofs_check.exact.__all__ if name not in text] == []
