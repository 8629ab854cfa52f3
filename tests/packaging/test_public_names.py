"""The public names: listed once for each package, found by completion, loaded when first used, and described."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Packages whose names are loaded when first used.
LAZY = sorted(
    ".".join(stub.relative_to(ROOT).parts[:-1])
    for package in ("accountant", "profiles", "proofs_check")
    for stub in (ROOT / package).rglob("__init__.pyi")
)
#: Each has a function with the name of a module, which is loaded at once, so that the function is found.
NAMED_ALIKE = {"accountant.guarantees", "accountant.testing.strategies", "profiles.mechanisms"}
#: What somebody looks for first.
FIRST = (
    "Claim", "audit", "calibrate", "check", "compose", "declare", "derive_epsilon", "load", "optimal_weight", "optimal_weights", "report",
    "verify",
)  # fmt: skip


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("name", LAZY)
def test_completion_finds_every_name_before_its_first_use(name: str) -> None:
    shown = run(f"import importlib; package = importlib.import_module('{name}'); print(*dir(package)); print(*package.__all__)")
    listed, public = (set(line.split()) for line in shown.splitlines())
    assert public
    assert public <= listed
    package = importlib.import_module(name)
    assert public == set(package.__all__)
    assert package.__all__ == sorted(package.__all__)
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", LAZY)
def test_every_name_can_be_used(name: str) -> None:
    package = importlib.import_module(name)
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize("name", LAZY)
def test_names_are_listed_in_one_place(name: str) -> None:
    """The stub is that place: type checkers read it, and the package makes its names of it."""
    folder = ROOT / name.replace(".", "/")
    stub = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    assert all(isinstance(node, (ast.ImportFrom, ast.Expr)) for node in stub.body)
    source = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    quoted = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not quoted & set(importlib.import_module(name).__all__)
    assert set(importlib.import_module(name).__all__) == {
        alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


@pytest.mark.thorough
def test_the_names_that_people_look_for_are_at_the_top() -> None:
    accountant = importlib.import_module("accountant")
    assert set(FIRST) <= set(accountant.__all__) & set(dir(accountant))
    names = "declare, load, verify, check, audit, report, compose, calibrate"
    program = f"from accountant import {names}\nprint(*(callable(found) for found in ({names})))"
    assert run(program).split() == ["True"] * 8


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("name", FIRST)
def test_each_has_a_docstring_with_an_example_that_runs(name: str) -> None:
    found = getattr(importlib.import_module("accountant"), name)
    (test,) = doctest.DocTestFinder(recurse=False).find(found, name)
    assert test.examples
    assert len((inspect.getdoc(found) or "").partition("\n")[0]) > 20
    assert doctest.DocTestRunner().run(test).failed == 0


def test_importing_is_light() -> None:
    """Neither SymPy nor NumPy is loaded before a name is used."""
    for name in {*LAZY, "proofs_check"} - NAMED_ALIKE:
        loaded = run(f"import {name}, sys; print(*sys.modules)").split()
        assert not {"sympy", "numpy", "scipy", "flint", "mpmath", "pyarrow", "matplotlib", "typer"} & set(loaded), name


@pytest.mark.thorough
def test_scipy_is_loaded_by_what_runs_a_mechanism_or_an_audit() -> None:
    loaded = run(
        "import accountant.report.evidence, profiles.mechanisms.lloyd, accountant.interop.releases, sys; print(*sys.modules)"
    ).split()
    assert not {"scipy", "sklearn"} & set(loaded)


@pytest.mark.thorough
def test_the_packages_of_proofs_check_complete_too() -> None:
    shown = run(
        "import proofs_check; print(*dir(proofs_check)); print(proofs_check.audit.audit.__name__, proofs_check.verify.verify.__name__)"
    )
    listed, used = shown.splitlines()
    assert {"audit", "exact", "explain", "kernel", "papers", "verify"} <= set(listed.split())
    assert used == "audit verify"
    loaded = run("import proofs_check.kernel, sys; print(*sys.modules)").split()
    assert not {"profiles", "accountant"} & set(loaded)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "before",
    [
        "",
        "import accountant.report",
        "import accountant.report.page",
        "from accountant.report import gather",
        "import accountant.cli.report",
    ],
)
def test_report_is_the_function_whatever_was_imported_before(before: str) -> None:
    """The package of the report and the function have one name; ``accountant.report`` is the function always."""
    lines = [
        before,
        "import accountant",
        "from accountant import report",
        "from accountant.report import gather, render_page",
        "import accountant.report.charts",
        "print(type(report).__name__, type(accountant.report).__name__, gather.__name__, callable(report))",
    ]
    assert run("\n".join(lines)).split() == ["function", "function", "gather", "True"]
