"""Functions with many parameters: what belongs together is an object, so that their number does not grow."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_PARAMETERS = 6
#: How many functions have more. Most are entry points, whose options a user names one by one.
MOST_FUNCTIONS = 68


def count_parameters(function):
    given = function.args
    names = [item.arg for item in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if item is not None]
    return len([name for name in names if name not in ("self", "cls")])


def find_long():
    for package in ("profiles", "proofs_check", "accountant"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and count_parameters(node) > MOST_PARAMETERS:
                    yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {count_parameters(node)}"


def test_no_more_functions_have_many_parameters():
    found = list(find_long())
    assert len(found) <= MOST_FUNCTIONS, "\n".join(found)


def test_parameters_are_counted():
    (function,) = ast.parse("def f(self, a, /, b, *rest, c=1, **more): ...").body
    assert count_parameters(function) == 5
