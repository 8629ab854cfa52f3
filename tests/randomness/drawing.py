"""Every place in what ships that draws random numbers, found by reading the code: what the survey of docs/exact-noise.md is held against.

A *place* is a function (or method, or the top of a module) that

* takes words of a bit source: ``.digit``, ``.block``, ``.words``;
* uses a method of :class:`numpy.random.Generator` or of the old ``RandomState``, or makes a generator or a seed;
* reads ``os.urandom``, or uses ``secrets``, ``random`` or ``uuid``;
* gives another library a ``random_state`` or ``rng`` that is not None;
* calls a function of ours named ``draw`` or ``draw_...`` (or so with an underscore before it) that is such a place.

Names alone are looked at, so that a source under another name is found as well; what only looks the same is listed in ``INNOCENT`` with the
reason. ``proofs_check/audit`` and ``accountant/testing`` are left out: they draw data sets and guesses about mechanisms, and release
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("profiles", "proofs_check", "accountant")
LEFT_OUT = ("proofs_check/audit", "accountant/testing")

_WORDS = frozenset({"digit", "block", "words"})
_METHODS = frozenset(name for kind in (np.random.Generator, np.random.RandomState) for name in dir(kind) if not name.startswith("_"))
#: What gives or makes random numbers wherever its name is used, and the classes that do where they are called.
_SOURCES = frozenset({"urandom", "getrandom", "default_rng", "check_random_state", "read_block", "read_words"})
_KINDS = frozenset({"Generator", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937", "rvs"})
_MODULES = frozenset({"secrets", "random", "uuid", "np.random"})
_KEYWORDS = frozenset({"random_state"})
#: Names under which our code holds generators: their methods count also where they are only passed on.
_GENERATORS = frozenset({"rng", "generator", "public", "self.rng", "self._rng", "source", "self.source", "digits", "self._digits", "bits"})
#: Modules with functions that only share a name with a method of a generator.
_OTHER_MODULES = frozenset({"itertools", "math", "np", "operator"})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where numbers are drawn: ``file`` below the root, ``name`` of the function with its class, and what it uses, sorted."""

    file: str
    name: str
    uses: tuple[str, ...]


@cache
def find_places(root: Path = ROOT) -> dict[tuple[str, str], Place]:
    """Return all places by (file, name)."""
    found: dict[tuple[str, str], set[str]] = {}
    calls: dict[tuple[str, str], set[str]] = {}
    for path in _files(root):
        for name, nodes in _functions(ast.parse(path.read_text(encoding="utf-8"))):
            key = str(path.relative_to(root)), name
            calls[key] = set(_called(nodes))
            if uses := set(_direct_uses(nodes)):
                found[key] = uses
    while True:  # callers of functions that draw, until there are no more
        names = {name.rpartition(".")[2] for _, name in found}
        drawing = {name for name in names if name.lstrip("_") == "draw" or name.lstrip("_").startswith("draw_")}
        new = {key: used for key, called in calls.items() if (used := called & drawing) - found.get(key, set())}
        if not new:
            return {key: Place(*key, tuple(sorted(uses))) for key, uses in sorted(found.items())}
        for key, used in new.items():
            found.setdefault(key, set()).update(used)


def _files(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if not str(path.relative_to(root)).startswith(LEFT_OUT):
                yield path


def _functions(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Yield each function with the nodes of its own, and what stands outside of functions as ``<module>``; a function inside of another
    one belongs to that one.
    """
    outside: list[ast.AST] = []
    waiting: list[tuple[str, ast.AST]] = [("", node) for node in tree.body]
    while waiting:
        prefix, node = waiting.pop(0)
        if isinstance(node, ast.ClassDef):
            waiting += [(f"{prefix}{node.name}.", child) for child in node.body]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{prefix}{node.name}", list(ast.walk(node))
        else:
            outside += ast.walk(node)
    yield "<module>", outside


def _direct_uses(nodes: list[ast.AST]) -> Iterator[str]:
    named = {id(part) for node in nodes for part in _annotations(node)}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if id(node) in named:
            continue
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
            name, base = (node.attr, ast.unparse(node.value)) if isinstance(node, ast.Attribute) else (node.id, "")
            alone = id(node) in called or base in _GENERATORS
            if name in _SOURCES or base in _MODULES or (alone and (name in _KINDS or (base and _may_draw(name, base)))):
                yield name
        elif isinstance(node, ast.keyword) and node.arg in _KEYWORDS and not _is_none(node.value):
            yield node.arg
        elif isinstance(node, ast.ImportFrom) and node.module in _MODULES:
            yield node.module


def _may_draw(name: str, base: str) -> bool:
    return name in _WORDS or (name in _METHODS and base not in _OTHER_MODULES)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of annotations, and of type tests, where a generator is named and not used."""
    for field in ("annotation", "returns"):
        inner = getattr(node, field, None)
        if isinstance(inner, ast.AST):
            yield from ast.walk(inner)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        yield from ast.walk(node)


def _called(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            yield function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
