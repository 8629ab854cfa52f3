"""A public method says what it does, or has its sentence from where its name is described: a protocol or base class of ours (D102).

Properties are excepted where a linter can see that (``ignore-decorators``); it cannot see who implements a protocol.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("profiles", "proofs_check", "accountant")


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    yield str(path.relative_to(ROOT)), node


def bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef))


def test_a_class_name_has_one_meaning() -> None:
    """But for ``Options``, which every command has, and for the kernel, which has names of its own."""
    places: dict[str, set[str]] = {}
    for path, node in classes():
        if not node.name.startswith("_") and node.name != "Options" and not path.startswith("proofs_check/kernel/"):
            places.setdefault(node.name, set()).add(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_method_without_a_docstring_is_described_by_a_protocol_or_base_class() -> None:
    found = list(classes())
    extended = {base for _, node in found for base in bases(node)}
    shared = [node for _, node in found if node.name in extended or bases(node) & {"Protocol", "ABC"}]
    described = {method.name for node in shared for method in methods(node) if ast.get_docstring(method)}
    bare = [
        f"{path}:{method.lineno} {node.name}.{method.name}"
        for path, node in found
        if not node.name.startswith("_")
        for method in methods(node)
        if not method.name.startswith("_") and not ast.get_docstring(method) and method.name not in described
        if not any(ast.unparse(item).endswith(("property", ".setter", "overload")) for item in method.decorator_list)
    ]
    assert len(described) > 100
    assert bare == []
