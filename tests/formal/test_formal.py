"""The formal proofs: every theorem that a rule names is stated, nothing is assumed, and the page says what the table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accountant.guarantees.statements import RULES
from tests.formal import compile as formal
from tests.formal import evaluate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formal.md"


def test_each_rule_names_theorems_that_are_stated() -> None:
    stated = formal.theorems()
    named = {name for basis in RULES.values() for name in basis.theorems}
    assert named
    assert named <= stated.keys()


def test_nothing_is_assumed() -> None:
    for file in formal.FILES:
        text = formal.without_comments((formal.FORMAL / f"{file}.v").read_text(encoding="utf-8"))
        found = re.findall(r"\b(Axioms?|Parameters?|Conjecture|Admitted|admit|Abort|bypass_check)\b", text)
        assert not found, (file, found)
        assert text.count("Proof.") == text.count("Qed."), file


def test_every_file_is_compiled() -> None:
    assert sorted(formal.FILES) == sorted(path.stem for path in formal.FORMAL.glob("*.v"))
    project = (formal.FORMAL / "_CoqProject").read_text(encoding="utf-8").split()
    assert [item for item in project if item.endswith(".v")] == [f"{file}.v" for file in formal.FILES]


def test_the_page_says_what_the_table_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, basis in RULES.items():
        assert f"| {name} | {', '.join(f'`{item}`' for item in basis.theorems) or 'none'} |" in page
        assert all(item in basis.mark for item in basis.theorems)


def test_the_page_names_every_theorem() -> None:
    page = PAGE.read_text(encoding="utf-8")
    listed = page.split("## Every theorem")[1].split("##")[0]
    for file in formal.FILES:
        stated = [name for name, place in formal.theorems().items() if place == file]
        assert f"| `{file}.v` | {', '.join(f'`{name}`' for name in stated)} |" in listed


@pytest.mark.thorough
def test_the_pages_name_the_formal_theorems_beside_theirs() -> None:
    rows = re.findall(
        r"^\| \[([\w-]+\.md)\]\(\1(?:#[\w-]+)?\), (\w+ [\w′]+) \| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) >= 17
    for page, name, names, what in rows:
        text = (PAGE.parent / page).read_text(encoding="utf-8")
        (statement,) = re.findall(rf"\*\*{name}(?![\w′]).*?\*Proof", text, re.DOTALL)
        assert f"Formally, for {what}: {names}." in " ".join(statement.split()), (page, name)
        assert set(re.findall(r"`(\w+)`", names)) <= formal.theorems().keys()


def test_evaluated_instances_are_of_both_directions() -> None:
    names = [name for name, _, _ in evaluate.instances()]
    assert len(set(names)) == len(names)
    assert [name for name in names if "plus" in name] == [name.replace("minus", "plus") for name in names if "minus" in name]
    assert {name.split()[0] for name in names} == {"importance", "psi", "delta", "moment", "filter"}


def test_wrong_definitions_are_of_text_that_is_there() -> None:
    for file, old, new in formal.MUTANTS:
        assert old in (formal.FORMAL / f"{file}.v").read_text(encoding="utf-8")
        assert old != new


@pytest.mark.slow
def test_all_theorems_are_closed_and_wrong_definitions_fail() -> None:
    if not formal.has_coq("mathcomp"):
        pytest.skip("Coq with mathcomp is missing: docs/formal.md")
    assert formal.main() == 0
