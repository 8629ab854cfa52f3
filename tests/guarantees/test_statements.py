"""Each rule of the accountant is tied to the claims it rests on, and every one of them is proved."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import accountant
from accountant import derive_epsilon
from accountant.guarantees import Derivation, render, to_json
from accountant.guarantees.statements import RULES, Basis
from profiles import InvalidArgument, declare
from proofs_check.papers import Status, find_claim, judge

#: Functions outside the guarantees whose numbers rest on statements of the papers.
FUNCTIONS: dict[str, Basis] = {
    "accountant.weights.bracket:upper_bracket": Basis(
        ("fay-2024-algorithm-1-bracket-tight", "fay-2024-algorithm-1-bracket-corrected", "fay-2024-proposition-12-summary")
    ),
    "accountant.weights.bracket:evaluation_bound": Basis(("fay-2024-proposition-12-evaluations-corrected",)),
    "accountant.weights.precise:optimal_weight": Basis(
        (
            "fay-2024-proposition-12-root-equation",
            "fay-2024-proposition-12-case-2-below",
            "fay-2024-proposition-12-feasible-output-corrected",
            "fay-2024-algorithm-1-if-condition-corrected",
            "fay-2024-theorem-10-existence-corrected",
        )
    ),
    "accountant.rules.closed_form:end_point_epsilon": Basis(
        ("fay-2023-proposition-6-convex", "fay-2023-proposition-6-end-points"), "docs/sampling.md, Theorem 1"
    ),
    "accountant.rules.closed_form:coreset_l1_epsilon": Basis(
        (
            "fay-2023-proposition-6-second-derivative",
            "fay-2023-proposition-6-convex",
            "fay-2023-proposition-6-end-points",
            "fay-2023-proposition-6-probabilities",
            "fay-2023-proposition-6-any-lambda-corrected",
            "fay-2023-proposition-6-bounded-corrected",
        )
    ),
    "accountant.rules.coreset:coreset_term": Basis(
        (
            "fay-2024-section-4-expected-size",
            "fay-2024-section-4-proper-probabilities-sufficient",
            "fay-2024-equation-5-positive-constants-corrected",
        )
    ),
    "accountant.calibration.lloyd:least_error_ratio": Basis(("fay-2023-section-2-noise-split-corrected",)),
    "accountant.calibration.one_sided:calibrate_one_sided": Basis(
        ("ghazi-2024-corollary-3.2", "ghazi-2024-corollary-3.2-largest", "ghazi-2024-corollary-3.2-best-rate"),
        "docs/one-sided.md, Theorem 3",
    ),
    "accountant.calibration.rounds:calibrate_rounds": Basis(
        ("ghazi-2024-calibration-for-rounds", "ghazi-2024-corollary-3.2-best-rate"), "docs/one-sided.md, Theorem C"
    ),
    "accountant.applications.repeated:declare_repeated": Basis(
        ("ghazi-2024-theorem-4.3", "ghazi-2024-theorem-4.3-other-direction", "ghazi-2024-theorem-5.3-rounds"),
        "docs/one-sided.md, Theorems A, A' and B",
    ),
}
SOURCES = sorted(Path(accountant.__file__).parent.rglob("*.py"))
CLAIMS = sorted({claim for basis in (*RULES.values(), *FUNCTIONS.values()) for claim in basis.claims})


def _texts(node: ast.AST) -> set[str]:
    return {leaf.value for leaf in ast.walk(node) if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)}


def _rules_in_code() -> set[str]:
    """The first argument of every call that makes a derivation, also where it is chosen by an if, or by a function that returns it."""
    found: set[str] = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Derivation", "conclude")):
                continue
            if path.name == "theorem.py" and node.func.id == "Derivation":
                continue  # conclude itself, the one place where derivations are made: every call of it is looked at
            first = node.args[0]
            if isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "Inference":
                first = first.args[0]
            texts = _texts(first)
            if isinstance(first, ast.Name) and path.name == "rules.py":
                (chooser,) = [item for item in tree.body if isinstance(item, ast.FunctionDef) and item.name == "_describe_worst_case"]
                returned = [item.value for item in ast.walk(chooser) if isinstance(item, ast.Return)]
                texts = {text for item in returned if isinstance(item, ast.Tuple) for text in _texts(item.elts[0])}
            if isinstance(first, ast.Name) and path.name == "combining.py":  # chosen by the measure or the neighbors
                texts = {text for text in _texts(tree) if text in RULES}
            assert texts, f"{path}: a rule without a literal name"
            found.update(texts)
    return found


@pytest.mark.thorough
def test_every_rule_is_in_the_table_and_no_other() -> None:
    assert _rules_in_code() == set(RULES)


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize("claim", CLAIMS)
def test_only_proved_statements_are_used(claim: str) -> None:
    assert judge(find_claim(claim).id).status is Status.PROVED


def test_every_entry_says_something() -> None:
    for name, basis in {**RULES, **FUNCTIONS}.items():
        assert basis.claims or basis.besides, name


@pytest.mark.parametrize("place", sorted(FUNCTIONS))
def test_functions_exist(place: str) -> None:
    module, name = place.split(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_derivations_print_their_claims() -> None:
    guarantee = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), rule="uniform", constants={"rate": "1/2"}).guarantee
    assert "fay-2024-theorem-6-upper-display-corrected" in render(guarantee)
    derivation = to_json(guarantee)["derivation"]
    assert derivation["rests_on"] == []
    assert derivation["premises"][0]["rests_on"] == list(RULES["amplification by importance sampling"].claims)


def test_a_rule_without_a_basis_makes_no_derivation() -> None:
    with pytest.raises(InvalidArgument, match="no rule 'wishful thinking'"):
        Derivation("wishful thinking", "nowhere", "epsilon = 0")
