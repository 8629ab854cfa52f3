"""Functions with many parameters: what belongs together is an object; those that keep theirs apart are listed with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_PARAMETERS = 6

#: Keywords that a user types one by one: calls that are written keep working. A new function takes an object instead.
TYPED_BY_USERS = """
ClaimChecker.assert_add_dp ClaimChecker.assert_epsilon ClaimChecker.assert_satisfies Ledger.charge Ledger.create Ledger.open Ledger.release
Ledger.run audit bound_epsilon bound_utility calibrate calibrate_noise calibrate_noise_for_size choose_for compute_gaussian_weights_file
compute_weights_file declare declare_directions derive_delta derive_epsilon dp_sgd_plan draw_sample draw_within integrate make_analysis
open_stream plan_for_target plan_sample plan_threshold prepare_release read_weighted_coverage report sample_file sample_file_within
subsampled_exponential subsampled_threshold weigh_file_within
"""
#: scikit-learn reads and sets the parameters of an estimator by their names; the settings of a fit are checked by the same ones.
ESTIMATORS = "DPKMeans.__init__ DPLloyd.__init__ DPSGDClassifier.__init__ FitSettings.of"
#: A call of a rule is stored with its arguments by name, and a formula has the symbols that it has.
RULES_AND_FORMULAS = """
bound_by_cover by_statistic closed_form coreset_l1_epsilon filter_releases generalise not_assumption_9_nonzero to_integer
"""
#: What is left to be done: this list only becomes shorter.
LEFT = "Analysis.release Book._match_rows Store.read_entries.make _plan_curves charge_rows make_entry"


def count_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [item.arg for item in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if item is not None]
    return len([name for name in names if name not in ("self", "cls")])


def find_long(node: ast.AST, outer: str = "") -> Iterator[str]:
    """Yield the names of functions with more parameters, after those of the classes and functions that they stand in."""
    for child in ast.iter_child_nodes(node):
        name = outer
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{outer}.{child.name}" if outer else child.name
            if not isinstance(child, ast.ClassDef) and count_parameters(child) > MOST_PARAMETERS:
                yield name
        yield from find_long(child, name)


def test_functions_with_many_parameters_are_those_of_the_lists() -> None:
    found = {
        name
        for package in ("profiles", "proofs_check", "accountant")
        for path in (ROOT / package).rglob("*.py")
        for name in find_long(ast.parse(path.read_text(encoding="utf-8")))
    }
    kept, left = {*TYPED_BY_USERS.split(), *ESTIMATORS.split(), *RULES_AND_FORMULAS.split()}, set(LEFT.split())
    assert kept <= found, "listed, but gone, or with fewer parameters"
    assert found <= kept | left, "more than six parameters: make an object of those that belong together"


def test_parameters_are_counted() -> None:
    (function,) = ast.parse("def f(self, a, /, b, *rest, c=1, **more): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert count_parameters(function) == 5
    nested = "class A:\n    def f(self):\n        def g(a, b, c, d, e, f, g): ..."
    assert list(find_long(ast.parse(nested))) == ["A.f.g"]
