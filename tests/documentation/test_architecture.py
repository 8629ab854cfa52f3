"""The map of docs/architecture.md is that of the code, and the script that draws it sees what it should."""

from __future__ import annotations

import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from tests.documentation.pages import DOCS, ROOT, site_module

SCRIPT = DOCS / "_site" / "architecture.py"


@pytest.mark.thorough
def test_picture_and_tables_are_current():
    found = subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False)
    assert found.returncode == 0, "run python docs/_site/architecture.py"


def test_every_file_that_the_page_names_exists():
    named = re.findall(r"`((?:accountant|profiles|proofs_check|tests)/[\w/.]+)`", (DOCS / "architecture.md").read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == []


@pytest.mark.parametrize("package", ["profiles", "proofs_check", "accountant"])
def test_no_modules_import_each_other_in_a_circle(package):
    script = site_module("architecture")
    modules = {name: path for name, path in script.read_modules().items() if name.startswith(f"{package}.")}
    TopologicalSorter({name: script.imports_of(name, path, modules) for name, path in modules.items()}).prepare()


@pytest.mark.parametrize("package", ["profiles", "proofs_check", "accountant"])
def test_the_page_has_the_order_of_the_contract(package):
    script = site_module("architecture")
    table = script.PAGE.read_text(encoding="utf-8").split(f"### {package}\n")[1].split("###")[0]
    assert [f"{package}.{name}" for name in re.findall(r"^\| `(\w+)`", table, re.MULTILINE)] == script.read_contracts()[package]


def test_what_a_room_offers_is_at_home_in_it_or_below():
    """Stubs say where names are loaded from, which no contract sees."""
    script = site_module("architecture")
    places = {name: place for rooms in script.read_contracts().values() for place, name in enumerate(rooms)}
    above = []
    for stub in sorted(ROOT.glob("accountant/*/**/__init__.pyi")):
        room = ".".join(stub.relative_to(ROOT).parts[:2])
        homes = {
            ".".join(home.split(".")[:2]) for home in re.findall(r"^from ([\w.]+) import", stub.read_text(encoding="utf-8"), re.MULTILINE)
        }
        above += [(room, home) for home in homes if home.startswith("accountant.") and places[home] > places[room]]
    assert places
    assert above == []


@pytest.fixture
def drawn(tmp_path):
    """The script, and three packages in which it is known who imports whom."""
    texts = {
        "profiles/__init__.py": "",
        "profiles/terms.py": '"""Terms.\n\nMore."""\n',
        "profiles/deep/__init__.py": '"""Deep\nthings."""\nfrom .one import f\n',
        "profiles/deep/one.py": "from profiles import terms\n",
        "proofs_check/__init__.py": "",
        "proofs_check/judge.py": "if TYPE_CHECKING:\n    from accountant.late import g\nimport profiles.terms\n",
        "accountant/__init__.py": "",
        "accountant/late.py": "def g():\n    from proofs_check.judge import h\n    from accountant.early import k\n",
        "accountant/early.py": "from accountant import late\nfrom accountant.third import m\n",
        "accountant/third.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    script = site_module("architecture")
    return script, script.read_modules(tmp_path)


def test_the_script_sees_imports_inside_functions_and_not_those_of_type_checkers(drawn):
    script, modules = drawn
    assert script.read_uses(modules) == {
        ("profiles.deep", "profiles.terms"), ("proofs_check.judge", "profiles.terms"), ("accountant.late", "proofs_check.judge"),
        ("accountant.late", "accountant.early"), ("accountant.early", "accountant.late"), ("accountant.early", "accountant.third"),
    }  # fmt: skip


def test_rooms_have_a_purpose_and_a_size_and_stand_below_what_they_import(drawn):
    script, modules = drawn
    rooms, uses = script.read_rooms(modules), script.read_uses(modules)
    assert (rooms["profiles.deep"].purpose, rooms["profiles.deep"].modules) == ("Deep things.", 2)
    assert rooms["profiles.terms"].purpose == "Terms."
    assert script.order(["profiles.deep", "profiles.terms"], uses) == ["profiles.terms", "profiles.deep"]
    assert script.order(["accountant.late", "accountant.early", "accountant.third"], uses)[0] == "accountant.third"
    picture = script.draw(rooms, uses)
    assert picture.count("<path") == 4
    assert picture.count(script._BACK) == 1
