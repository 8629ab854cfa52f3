"""Functions with many parameters: what belongs together is an object; those that keep theirs apart are listed with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_PARAMETERS = 6

#: Keywords that a user types one by one: calls that are written keep working. A new function takes an object instead.
TYPED_BY_USERS = {
    "accountant/applications/heavyhitters/planning.py": ["plan_threshold"],
    "accountant/applications/heavyhitters/streams.py": ["open_stream"],
    "accountant/applications/dpsgd/plan.py": ["dp_sgd_plan", "plan_for_target"],
    "accountant/applications/repeated.py": ["subsampled_exponential", "subsampled_threshold"],
    "accountant/applications/statistics/running.py": ["draw_within", "sample_file_within", "weigh_file_within"],
    "accountant/applications/submodular/bounds.py": ["bound_utility"],
    "accountant/applications/submodular/matroids/parameters.py": ["choose_for"],
    "accountant/applications/submodular/readers.py": ["read_weighted_coverage"],
    "accountant/calibration/choices.py": ["calibrate"],
    "accountant/calibration/noise.py": ["calibrate_noise"],
    "accountant/calibration/sizes.py": ["calibrate_noise_for_size"],
    "accountant/data/shifts.py": ["compute_gaussian_weights_file"],
    "accountant/data/weighing.py": ["compute_weights_file"],
    "accountant/guarantees/bounds.py": ["bound_epsilon"],
    "accountant/guarantees/derive.py": ["derive_epsilon"],
    "accountant/guarantees/derive_gaussian.py": ["derive_delta"],
    "accountant/guarantees/directions.py": ["declare_directions"],
    "accountant/ledger/analysis.py": ["make_analysis"],
    "accountant/ledger/ledger.py": ["Ledger.charge", "Ledger.create", "Ledger.open", "Ledger.release", "Ledger.run"],
    "accountant/ledger/release.py": ["prepare_release"],
    "accountant/report/writing.py": ["report"],
    "accountant/samples/drawing.py": ["draw_sample", "sample_file"],
    "accountant/samples/plan.py": ["plan_sample"],
    "accountant/testing/checking.py": ["ClaimChecker.assert_add_dp", "ClaimChecker.assert_epsilon", "ClaimChecker.assert_satisfies"],
    "profiles/declaring.py": ["declare"],
    "proofs_check/audit/api.py": ["audit"],
    "proofs_check/exact/quadrature.py": ["integrate"],
}
#: scikit-learn reads and sets the parameters of an estimator by their names; the settings of a fit are checked by the same ones.
ESTIMATORS = {
    "accountant/applications/dpsgd/estimator.py": ["DPSGDClassifier.__init__"],
    "accountant/applications/kmeans/estimator.py": ["DPLloyd.__init__"],
    "accountant/applications/kmeans/fitting.py": ["FitSettings.of"],
    "accountant/applications/kmeans/private.py": ["DPKMeans.__init__"],
}
#: A call of a rule is stored with its arguments by name, and a formula has the symbols that it has.
RULES_AND_FORMULAS = {
    "accountant/guarantees/filters.py": ["filter_releases"],
    "accountant/guarantees/gaussian_samples.py": ["bound_by_cover"],
    "accountant/rules/closed_form.py": ["coreset_l1_epsilon"],
    "profiles/numbers.py": ["to_integer"],
    "proofs_check/kernel/core/rules.py": ["generalise"],
    "proofs_check/kernel/theories/compositions/bounds.py": ["closed_form"],
    "proofs_check/kernel/theories/profiles/claims.py": ["by_statistic", "not_assumption_9_nonzero"],
}
#: What is left to be done: this list only becomes shorter.
LEFT = {
    "accountant/compositions/engine.py": ["_plan_curves"],
    "accountant/ledger/analysis.py": ["Analysis.release"],
    "accountant/ledger/book.py": ["Book._match_rows"],
    "accountant/ledger/log.py": ["make_entry"],
    "accountant/ledger/receipts.py": ["charge_rows"],
    "accountant/ledger/store.py": ["Store.read_entries.make"],
}


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


def find_all() -> dict[str, set[str]]:
    found = {}
    for package in ("profiles", "proofs_check", "accountant"):
        for path in sorted((ROOT / package).rglob("*.py")):
            names = set(find_long(ast.parse(path.read_text(encoding="utf-8"))))
            if names:
                found[str(path.relative_to(ROOT))] = names
    return found


def test_functions_with_many_parameters_are_those_of_the_lists() -> None:
    listed: dict[str, set[str]] = {}
    for group in (TYPED_BY_USERS, ESTIMATORS, RULES_AND_FORMULAS, LEFT):
        for place, names in group.items():
            assert not listed.setdefault(place, set()) & set(names), f"{place}: listed twice"
            listed[place] |= set(names)
    assert find_all() == listed


def test_parameters_are_counted() -> None:
    (function,) = ast.parse("def f(self, a, /, b, *rest, c=1, **more): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert count_parameters(function) == 5
    nested = "class A:\n    def f(self):\n        def g(a, b, c, d, e, f, g): ..."
    assert list(find_long(ast.parse(nested))) == ["A.f.g"]
