"""What is said to be proved formally is: the theorem exists, its hypotheses are met by the rule's hypotheses, and all others say where."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from accountant import derive_epsilon
from accountant.applications.submodular import CoverageInstance, PrivateGreedy
from accountant.guarantees import Unit, compose, declare_directions, derive_mechanism
from accountant.guarantees.render import render, to_json
from accountant.guarantees.statements import RULES
from profiles import declare
from profiles.mechanisms import KNormSum
from proofs_check.certificates import to_file_text
from proofs_check.explain.trust import FORMAL as FORMAL_RULES
from proofs_check.explain.trust import mark_rule
from proofs_check.kernel.procedures.normal import IDENTITIES
from proofs_check.kernel.procedures.rules import RULES as KERNEL_RULES
from proofs_check.verify import verify
from tests.formal.compile import FILES, FORMAL, theorems
from tests.formal.hypotheses import hypotheses_of, read_table
from tests.formal.reals import RULES as RULES_FILE
from tests.formal.reals import theorems_of

ROOT = FORMAL.parents[1]
TABLE = read_table()
PROVED = {name: basis for name, basis in RULES.items() if basis.theorems}
MET = {"law", "neighbors", "factor", "guarantee", "refused", "certificate"}
GUARANTEES = ROOT / "accountant" / "guarantees"


def test_the_hypotheses_of_each_theorem_are_met_by_something_that_is_named():
    named = {theorem for basis in RULES.values() for theorem in basis.theorems}
    assert TABLE["theorem"].keys() == named
    for name, entry in TABLE["theorem"].items():
        assert [hypothesis for hypothesis, _ in entry["hypotheses"]] == hypotheses_of(name), name
        for hypothesis, met in entry["hypotheses"]:
            assert met in MET or met.startswith("rule "), (name, hypothesis)


def test_the_hypotheses_of_each_rule_are_what_its_theorems_suppose():
    defined = set()
    for file in FILES:
        defined |= set(re.findall(r"^(?:Definition|Fixpoint) (\w+)", (FORMAL / f"{file}.v").read_text(encoding="utf-8"), re.MULTILINE))
    assert TABLE["rule"].keys() == PROVED.keys()
    for rule, basis in PROVED.items():
        stated = TABLE["rule"][rule]["hypotheses"]
        assert stated.keys() == {item.id for item in basis.hypotheses}, rule
        assert {said for said in stated.values() if said != "hypothesis"} <= defined, rule
        needed = {met for theorem in basis.theorems for _, met in TABLE["theorem"][theorem]["hypotheses"] if met.startswith("rule ")}
        assert needed == {f"rule {name}" for name, said in stated.items() if said == "hypothesis"}, rule


def test_a_hypothesis_that_a_theorem_gains_is_found(tmp_path, monkeypatch):
    source = (FORMAL / "basic.v").read_text(encoding="utf-8")
    changed = source.replace("Theorem worst_case M E B :", "Theorem worst_case M E B : 0 <= B ->")
    (tmp_path / "basic.v").write_text(changed, encoding="utf-8")
    for file in FILES:
        if file != "basic":
            (tmp_path / f"{file}.v").write_text((FORMAL / f"{file}.v").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr("tests.formal.compile.FORMAL", tmp_path)
    monkeypatch.setattr("tests.formal.hypotheses.FORMAL", tmp_path)
    assert hypotheses_of("worst_case")[0] == "0 <= B"


def test_hypotheses_of_sections_belong_to_the_theorems_in_them():
    assert hypotheses_of("filter")[1] == "forall u, 1 <= B u"
    assert not any("1 <= B u" in item for item in hypotheses_of("lloyd"))


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_marked(rule):
    basis = RULES[rule]
    if basis.theorems:
        assert basis.mark.startswith("proved formally (theorem")
        assert all(theorem in theorems() for theorem in basis.theorems)
    elif basis.page:
        assert basis.mark == f"proved on paper ({basis.page})"
    else:
        assert any(item.id.startswith("declared-") or item.id == "file-is-right" for item in basis.hypotheses), "nothing is proved"
        assert "proved formally" not in basis.mark
    if basis.page:
        page, _, place = basis.page.partition(", ")
        text = (ROOT / page).read_text(encoding="utf-8")
        numbers = [word for word in re.findall(r"\d+|L\d", place) if "Theorem" in place]
        assert all(re.search(rf"Theorem {number}\b", text) for number in numbers), basis.page
        assert place.split(" ")[0] in ("", "Theorem", "Theorems", "Corollary", "section", "sections", "after", "What")


#: Rules whose name another function chooses, or that are at home in another room, with the function that concludes by them.
ELSEWHERE = {
    "worst case over records": "accountant/guarantees/rules.py:worst_case",
    "worst case of privacy-constrained sampling": "accountant/guarantees/rules.py:worst_case",
    "an element is covered once": "accountant/applications/setcover/program.py:cover_once",
    "as a file states": "accountant/interop/files.py:suppose",
}


def functions_of_rules() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each rule with the function that concludes by it."""
    for path in sorted(GUARANTEES.glob("*.py")):
        for node in _functions(path):
            words = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)}
            yield from ((rule, node) for rule in RULES if rule in words and _concludes(node) and rule not in ELSEWHERE)
    for rule, place in ELSEWHERE.items():
        file, name = place.split(":")
        yield rule, next(node for node in _functions(ROOT / file) if node.name == name)


def _functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]


def _concludes(node: ast.FunctionDef) -> bool:
    return any(isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id == "conclude" for item in ast.walk(node))


def test_the_docstring_of_each_rule_names_its_theorems_or_its_page():
    found = dict(functions_of_rules())
    assert found.keys() | {"declared losses"} == RULES.keys()
    for rule, node in found.items():
        said, basis = ast.get_docstring(node) or "", RULES[rule]
        assert all(f"``{theorem}``" in said for theorem in basis.theorems), (node.name, basis.theorems)
        if basis.page and not basis.theorems:
            assert basis.page.split(", ")[0] in said, (node.name, basis.page)


def test_every_step_of_a_printed_derivation_is_marked(pdp, tmp_path):
    made = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), q="1/2").guarantee
    printed = " ".join(word for word in render(made).split() if word not in ("|", "+-"))
    stated = [to_json(made)["derivation"]]
    while stated:
        step = stated.pop()
        stated += step["premises"]
        assert step["proof_of_rule"] == RULES[step["rule"]].mark
        assert RULES[step["rule"]].mark in printed


@pytest.mark.thorough
def test_a_declaration_that_is_discharged_says_by_what_and_one_that_is_open_does_not():
    """The theorem of an application proves its losses, and the step says so; where the same words are open for another one, none does."""

    def marks(guarantee):
        found, waiting = [], [to_json(guarantee)["derivation"]]
        while waiting:
            step = waiting.pop()
            waiting += step["premises"]
            found.append((step["rule"], step["proof_of_rule"]))
        return found

    instance = CoverageInstance.from_sets([[0]] * 4, candidates=3)
    ours = PrivateGreedy(2, 1).run(instance, 1, bits=2).guarantee
    said = dict(marks(ours))["declared losses"]
    assert said == "an assumption says it, which is settled: docs/submodular.md, Theorem 8, for the algorithm of this project"
    assert said in " ".join(word for word in render(ours, everything=True).split() if word not in ("|", "+-"))
    assert said in ours._repr_html_()
    assert "settled" not in RULES["declared losses"].mark

    named = "greedy selection of 2 candidates"  # the same words of somebody else's mechanism, beside
    theirs = declare_directions(named, 1, 1, source="docs/submodular.md, Theorem 8", unit=Unit.USER)
    both = marks(compose(ours, theirs))
    assert [mark for rule, mark in both if rule == "declared losses"] == [RULES["declared losses"].mark] * 2
    catalogue = marks(derive_mechanism(KNormSum(beta_sum=1, p=1)))
    assert all("which is settled" in mark for rule, mark in catalogue if rule == "declared profile")


def test_the_axioms_of_a_certificate_are_marked(pdp, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(to_file_text(verify(declare("sum", "w*z", record={"z": [0, 1]}), 2, ["assumption-11"]).certificate()), encoding="utf-8")
    said = pdp("check", path, "--axioms").out
    assert "[proved on paper (docs/certificates.md" in " ".join(said.split())
    assert all(mark.startswith("proved ") for mark in json.loads(pdp("check", path, "--json").out)["proofs"].values())


def test_what_is_said_to_be_proved_of_the_kernels_rules_is_stated():
    stated = {*theorems_of(RULES_FILE), *theorems_of(RULES_FILE.with_name("factors.v"))}
    assert FORMAL_RULES.keys() <= KERNEL_RULES.keys() | IDENTITIES.keys()
    for theorems_, _ in FORMAL_RULES.values():
        assert set(theorems_) <= stated
    text = RULES_FILE.read_text(encoding="utf-8")
    assert not re.search(r"\b(Axioms?|Parameters?|Conjecture|Admitted|admit|Abort|bypass_check)\b", text)
    assert text.count("Proof.") == text.count("Qed.")
    assert {name: mark_rule(name) for name in KERNEL_RULES}["boxes"].startswith("proved on paper")
