"""What is packaged says the same everywhere: version, licence, extras, typed packages. `make dist` builds, installs and uses it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SEMANTIC = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?"


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_semantic_and_the_same_everywhere() -> None:
    version = PROJECT["version"]
    assert re.fullmatch(SEMANTIC, version)
    assert f"\nversion: {version}\n" in _read("CITATION.cff")
    heading = re.search(r"^## \[(.+?)\]", _read("CHANGELOG.md"), re.MULTILINE)
    assert heading is not None
    assert heading[1] in ("Unreleased", version)
    assert f"This will be {version}" in _read("CHANGELOG.md") or f"## [{version}]" in _read("CHANGELOG.md")


def test_the_licence_is_the_same_everywhere() -> None:
    assert f"\nlicense: {PROJECT['license']}\n" in _read("CITATION.cff")
    assert "Apache License" in _read("LICENSE")


@pytest.mark.parametrize("package", ["accountant", "profiles", "proofs_check"])
def test_packages_are_typed_and_have_no_folder_without_init(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
    for module in (ROOT / package).rglob("*.py"):
        assert (module.parent / "__init__.py").is_file(), module


def test_python_versions_agree() -> None:
    named = [item.rpartition(" ")[2] for item in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", item)]
    assert named[0] == PROJECT["requires-python"].removeprefix(">=")
    assert all(f"python{version}" in _read("Makefile") for version in named)


def test_errors_name_extras_that_exist() -> None:
    used = {
        extra for package in ("accountant", "profiles", "proofs_check") for module in (ROOT / package).rglob("*.py")
        for extra in re.findall(r"pdp-accountant\[([a-z-]+)\]", module.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert used
    assert used <= set(PROJECT["optional-dependencies"])


def test_the_page_of_dependencies_names_every_dependency_and_extra() -> None:
    page = _read("CONTRIBUTING.md").lower()
    names = {"pytest-xdist": "xdist", "z3-solver": "z3"}
    wanted = [
        *PROJECT["dependencies"],
        *(item for items in PROJECT["optional-dependencies"].values() for item in items if not item.startswith(PROJECT["name"])),
    ]
    for requirement in wanted:
        name = re.split(r"[<>=\[; ]", requirement)[0].lower()
        assert names.get(name, name) in page, name
    for extra in PROJECT["optional-dependencies"]:
        assert f"`{extra}`" in page, extra


def test_the_changelog_names_every_command_and_the_extras_that_users_install() -> None:
    from accountant.cli.main import COMMANDS  # noqa: PLC0415

    text = " ".join(_read("CHANGELOG.md").split())  # a line may end within a command
    for command in COMMANDS:
        assert f"`pdp {command}`" in text or command == "mechanisms", command
    for extra in ("testing", "scikit-learn", "duckdb", "polars", "spark", "opendp", "dp-accounting"):
        assert f"`{extra}`" in text, extra


def test_all_is_every_extra_of_users_but_what_is_large() -> None:
    extras = dict(PROJECT["optional-dependencies"])
    (listed,) = extras.pop("all")
    large, ours = {"torch", "jax", "spark"}, {"dev", "docs", "peers", "browser"}
    found = re.fullmatch(r"pdp-accountant\[([a-z,-]+)\]", listed)
    assert found is not None
    assert found[1].split(",") == sorted(set(extras) - large - ours)


def test_make_run_ends_with_what_puts_the_command_into_the_shell() -> None:
    recipe = _read("Makefile").partition("\nrun:")[2].partition("\n\n")[0]
    printed = subprocess.run(
        ["sh", "-c", recipe.splitlines()[-1].strip().removeprefix("@").replace("$(BIN)", ".venv/bin")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.splitlines()[-2:] == [". .venv/bin/activate", "pdp --help"]
