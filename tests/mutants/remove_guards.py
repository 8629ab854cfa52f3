"""Take each guard out of a copy of the kernel, and see whether the tests notice.

Run: ``make guards`` (or ``python -m tests.mutants.remove_guards [FILE[:LINE] ...]``).

A guard is a call of ``require``, a ``raise`` under an ``if``, a hypothesis that a rule yields for its own sake, or one condition of a
conjunction that guards. What survives is printed: it is not tested, or another guard rejects the same documents.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "proofs_check" / "kernel"
FILES = (
    "reading",
    "core/terms",
    "core/intervals",
    "core/theorems",
    "core/rules",
    "procedures/boxes",
    "procedures/normal",
    "procedures/rules",
    "theories/profiles/pieces",
    "theories/profiles/statements",
    "theories/profiles/claims",
    "checker",
    "theories/compositions/curves",
    "theories/compositions/lattices",
    "theories/compositions/bounds",
)
SUITE = ["-m", "not slow", "tests/kernel", "tests/mutants/test_guards.py"]
#: The suite of modules that profiles have nothing to do with.
COMPOSED = ["-m", "not slow", "tests/kernel/test_compositions.py", "tests/kernel/test_curves.py", "tests/mutants/test_compositions.py"]
#: Seconds that the tests may take without a guard.
_LIMIT = 600


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _alternatives(test: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    # conditions each of which may be left out
    if isinstance(test, ast.BoolOp):
        neutral = "True" if isinstance(test.op, ast.And) else "False"
        for value in test.values:
            yield value, neutral
            yield from _alternatives(value)
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        yield test.left, ast.unparse(test.comparators[0])  # a <= b <= c without its first half
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from ((value, neutral) for value, neutral in _alternatives(test.operand))


def guards(source: str) -> Iterator[tuple[ast.AST, str]]:
    """Return the nodes to be replaced, and by what."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom):
            yield node, "yield from ()"  # which keeps the function a generator
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) == "require":
            yield node, "None"
            yield from _alternatives(node.value.args[0])
        if isinstance(node, ast.If) and any(isinstance(inner, ast.Raise) for inner in node.body):
            yield node.test, "False"
            yield from _alternatives(node.test)


def without(source: str, node: ast.AST, new: str) -> str:
    """Return the source with a node's text replaced."""
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
    encoded = [line.encode() for line in lines]
    head, tail = encoded[first][: node.col_offset], encoded[last][node.end_col_offset :]  # type: ignore[attr-defined]
    return b"".join([*encoded[:first], head, f"({new})".encode(), tail, *encoded[last + 1 :]]).decode()


def is_noticed(folder: Path, name: str) -> bool:
    """Whether the tests of a module fail on the kernel in a copy of the project."""
    suite = COMPOSED if name.startswith("theories/compositions") else SUITE
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--deselect",
        "tests/kernel/test_checker.py::test_the_kernel_does_not_grow",
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run([*command, *suite], cwd=folder, env=environment, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        sys.stdout.write(f"{name}: no answer in {_LIMIT} s, which counts as noticed: look at it on a quiet machine\n")
        return True
    return done.returncode != 0


def main(names: list[str]) -> int:
    """Try every guard of the named files; return how many survive."""
    survivors = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "project"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "__pycache__", ".venv", "out", ".*_cache"))
        if is_noticed(folder, "core/rules") or is_noticed(folder, "theories/compositions"):
            sys.stderr.write("the tests fail before any guard is taken out\n")
            return 1
        for name, _, number in (word.partition(":") for word in names or FILES):
            path = folder / "proofs_check" / "kernel" / f"{name}.py"
            source = path.read_text(encoding="utf-8")
            found = [(node, new) for node, new in guards(source) if number in ("", str(node.lineno))]  # type: ignore[attr-defined]
            for node, new in found:
                path.write_text(without(source, node, new), encoding="utf-8")
                if not is_noticed(folder, name):
                    survivors += 1
                    line = source.splitlines()[node.lineno - 1].strip()  # type: ignore[attr-defined]
                    sys.stdout.write(f"{name}:{node.lineno}: {ast.unparse(node)[:90]} -> {new[:40]} [{line[:110]}]\n")  # type: ignore[attr-defined]
                    sys.stdout.flush()
            path.write_text(source, encoding="utf-8")
            sys.stdout.write(f"{name}: {len(found)} guards taken out\n")
            sys.stdout.flush()
    return survivors


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
