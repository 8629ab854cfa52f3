"""Two levels of tests: the quick one has tests of every file, so that it touches every claim; CONTRIBUTING.md names every part once."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
FILES = sorted(TESTS.rglob("test_*.py"))

#: Marks of tests that ``make test`` leaves out, or that need what a fresh machine may not have.
LATER = {"thorough", "slow", "browser"}


def marks(nodes):
    """Return the marks that decorators, or values of ``pytestmark``, name."""
    return {
        node.attr
        for decorator in nodes
        for node in ast.walk(decorator)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "mark"
    }


def quick_tests(tree, outer=frozenset()):
    """Return the names of the tests in a module or class that carry no mark of later."""
    own = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]
    outer = outer | marks(own)
    found = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found += quick_tests(node, outer | marks(node.decorator_list))
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            # a mark inside of pytest.param is that of one case only
            whole = [d for d in node.decorator_list if ".parametrize(" not in ast.unparse(d) and "thorough(quick=" not in ast.unparse(d)]
            found += [] if (outer | marks(whole)) & LATER else [node.name]
    return found


def test_marks_are_seen_on_functions_classes_and_modules():
    text = """
@pytest.mark.thorough
def test_a(): ...
@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_b(x): ...
@pytest.mark.slow
class TestC:
    def test_c(self): ...
class TestD:
    def test_d(self): ...
"""
    assert quick_tests(ast.parse(text)) == ["test_b", "test_d"]
    assert quick_tests(ast.parse("pytestmark = [pytest.mark.browser]\n" + text)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_the_quick_level_touches_every_file(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if "browser" in file.name:
        return
    assert quick_tests(tree), f"{file.relative_to(ROOT)} has no quick test: mark fewer of its tests as thorough, or write a smaller one"


def test_the_page_names_every_part_once():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("| part of `tests/` |")[1].split("\n## ")[0]
    named = [name for line in table.splitlines()[2:] if line.startswith("|") for name in re.findall(r"`([^`]+)`", line.split("|")[1])]
    parts = {str(file.parent.relative_to(TESTS)) for file in FILES if file.parent != TESTS}
    assert sorted(named) == sorted(parts)


def test_the_levels_leave_out_what_the_page_says():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert "not slow and not thorough" in options["addopts"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert {"test", "test-all"} <= set(script.split("make ")[1].split("#")[0].split())
