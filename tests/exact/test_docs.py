"""The examples in docstrings and on the page run, and the page names what is public."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil

import pytest

import proofs_check.exact as package

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "exact-epsilon.md"


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(package.__path__)))
def test_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"{package.__name__}.{name}")).failed == 0


def test_examples_of_the_page():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_page_names_everything_that_is_public():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in package.__all__ if name not in text] == []
