"""A public method says what it does, or has its sentence from where its name is described: a protocol or base class of ours (D102).

Properties are excepted where a linter can see that (``ignore-decorators``); it cannot see who implements a protocol.
"""

from __future__ import annotations

import ast
import re
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


#: Words that say nothing by themselves.
SMALL = """
a all an and as at be by for from get gets how in is it its of on one or return some that the their them this to was were what which who
whose with
"""
#: In rooms that were left as they are; this list only becomes shorter.
REPEATING = {
    "CheckedClaim.line",
    "PageHasher.hash_ids",
    "AccountChunk.sealed",
    "Store.write_entry",
    "Store.write_output",
    "Ids.part",
    "join_bucket",
}


def stems(text: str) -> set[str]:
    """The beginnings of the words of a text or of a name."""
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    return {re.sub(r"(ies|es|s|ed|ing)$", "", word)[:6] for word in re.findall(r"[^\W\d_]+", parted) if word not in SMALL.split()}


def repeats(node: ast.FunctionDef | ast.ClassDef, inside: str) -> bool:
    """Whether each word of a docstring is one of the name, of the class around it or of the parameters: it says nothing. A formula does."""
    said = ast.get_docstring(node) or ""
    if not said.isascii() or "=" in said:
        return False
    given = [item.arg for item in (*node.args.args, *node.args.kwonlyargs)] if isinstance(node, ast.FunctionDef) else []
    return bool(said) and stems(said) <= stems(" ".join((node.name, inside, *given)))


def named(node: ast.AST, inside: str = "") -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, str]]:
    """Functions and classes, each with the name of the class that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield child, inside
        yield from named(child, child.name if isinstance(child, ast.ClassDef) else inside)


def test_a_docstring_says_more_than_the_name() -> None:
    found = {
        f"{inside}.{node.name}".lstrip(".")
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for node, inside in named(ast.parse(path.read_text(encoding="utf-8")))
        if repeats(node, inside)
    }
    assert found <= REPEATING


def test_what_repeats_a_name_is_noticed() -> None:
    def judge(text: str) -> bool:
        return repeats(next(node for node, _ in named(ast.parse(text))), "Store")

    assert judge('def write_entries(self, entry):\n    """Write an entry of the store."""')
    assert not judge('def write_entries(self, entry):\n    """Write an entry before its accounts."""')
    assert not judge('def share(self):\n    """Share = 1/2."""')
