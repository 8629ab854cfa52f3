"""Every entry point says of every mistake that it names the broken assumption, refuses, or has no place for it: the matrix is executed."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import accountant
from accountant.cli.main import COMMANDS as ALL_COMMANDS
from profiles.hypotheses import REGISTRY
from tests.documentation.pages import DOCS, site_module
from tests.misuse.entries import COMMANDS, NAMES, RUNS, open_ids

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
misuse = site_module("misuse")
KINDS, MISTAKES = misuse.read_matrix()
#: Packages whose public names stand in __init__.py.
PLAIN = ("accountant.onesided", "accountant.interop", "accountant.ledger")
#: Packages that have no entry points of misuse: the calculus itself, whose rules are tested against their assumptions.
CALCULUS = ("accountant.guarantees",)
TESTED = ", which is tested"


def _stubs() -> dict[str, set[str]]:
    found = {}
    for top in ("profiles", "proofs_check", "accountant"):
        for path in sorted((ROOT / top).rglob("*.pyi")):
            name = ".".join(path.parent.relative_to(ROOT).parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[name] = {item.asname or item.name for node in tree.body if isinstance(node, ast.ImportFrom) for item in node.names}
    return found


def _modules_of_interop() -> dict[str, set[str]]:
    """The public names of the modules for other libraries, which are read and not imported: most need an extra."""
    found = {}
    for path in sorted((ROOT / "accountant" / "interop").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and [ast.unparse(item) for item in node.targets] == ["__all__"] and path.stem != "__init__":
                found[f"accountant.interop.{path.stem}"] = set(ast.literal_eval(node.value))
    return found


def _cases() -> set[str]:
    """The tests of misuse, by name."""
    found = set()
    for path in sorted(HERE.glob("test_*.py")):
        if path.name not in ("test_matrix.py", "test_page.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {item.name for item in tree.body if isinstance(item, ast.FunctionDef) and item.name.startswith("test_")}
    return found


def _slug(name: str) -> str:
    return "test_" + re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def test_every_public_name_has_a_kind():
    packages = (
        _stubs()
        | _modules_of_interop()
        | {name: set(import_module(name).__all__) for name in PLAIN if hasattr(import_module(name), "__all__")}
    )
    known = {package: set(" ".join(kind.get(package, "") for kind in NAMES.values()).split()) for package in packages}
    missing = {package: sorted(names - known[package]) for package, names in packages.items() if names - known[package]}
    assert not missing, "give each of them a kind in tests/misuse/entries.py: what does it say of the mistakes?"
    assert set(NAMES) == set(KINDS)


def test_every_command_has_a_kind():
    assert sorted(" ".join(COMMANDS.values()).split()) == sorted(ALL_COMMANDS)
    assert set(COMMANDS) <= set(KINDS)


def test_every_estimator_has_a_kind():
    for _, found in inspect.getmembers(accountant.applications, inspect.isclass):
        if issubclass(found, BaseEstimator):
            assert found.__name__ in NAMES["estimator"]["accountant.applications"].split()


def test_every_kind_says_something_of_every_mistake():
    assert len({item.name for item in MISTAKES}) == len(MISTAKES)
    for item in MISTAKES:
        assert set(item.says) == set(KINDS), item.name
        assert len(item.text.split()) > 5, item.name
        for cell in item.says.values():
            assert set(cell.hypotheses) <= set(REGISTRY), item.name


def test_every_mistake_is_executed_and_every_test_has_a_mistake():
    cases = _cases()
    named = {cell.test for item in MISTAKES for cell in item.says.values() if cell.test}
    assert named <= cases
    assert cases <= named | {_slug(item.name) for item in MISTAKES}
    for item in MISTAKES:
        run = any((cell.hypotheses and kind in RUNS) or cell.test for kind, cell in item.says.items())
        tested = any(cell.because.endswith(TESTED) for kind, cell in item.says.items() if kind != "carrier")
        assert run or _slug(item.name) in cases, f"nothing is run for the mistake {item.name!r}"
        assert not tested or run or _slug(item.name) in cases, item.name


PAIRS = sorted({(kind, name) for item in MISTAKES for kind, cell in item.says.items() for name in cell.hypotheses if not cell.test})


@pytest.mark.parametrize(("kind", "name"), PAIRS)
def test_a_hypothesis_that_is_named_is_open_wherever_the_kind_is_run(kind: str, name: str):
    assert RUNS[kind]
    for entry in RUNS[kind]:
        assert name in open_ids(kind, entry), f"{entry} does not name {name}"


def test_the_page_is_that_of_the_matrix():
    page = (DOCS / "what-can-go-wrong.md").read_text(encoding="utf-8")
    assert page == misuse.page_text(), "run: python docs/_site/misuse.py > docs/what-can-go-wrong.md"
