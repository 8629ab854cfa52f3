"""Take each guard out of a copy of the kernel, and see whether the tests notice.

Run: ``make guards`` (or ``python -m tests.mutants.remove_guards [FILE[:LINE] ...]``).

A guard is a call of ``require``, a ``raise`` under an ``if``, a hypothesis that a rule yields for its own sake, or one condition of a
conjunction that guards. What survives is printed: it is not tested, or another guard rejects the same documents.

In the copy each guard asks whether it is the one that is out. One run of all tests says in which of them a guard rejects something (or a
hypothesis is yielded): the others cannot notice that it is out. What would make a guard stricter can be noticed wherever it is asked. Then
each guard has a process of its own, for these tests alone.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = (
    "reading",
    "core/documents",
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
    "theories/compositions/allocations",
    "theories/compositions/batches",
    "theories/compositions/bounds",
)
SUITE = ("tests/kernel", "tests/mutants/test_guards.py", "tests/mutants/test_compositions.py", "tests/compositions/test_batches.py")
#: Seconds that the tests may take without a guard.
_LIMIT = 600
#: What a guard calls in the copy: the ways are the condition as it is, and each thing that it can be instead.
SWITCH = """
import builtins, os

_seen = set()


def guard_(first, fires, *ways):
    out = int(os.environ.get("GUARD_OUT", "-1")) - first
    if 0 <= out < len(ways) - 1:
        return ways[out + 1]()
    try:
        value = ways[0]()
    except BaseException:
        _note(first, len(ways) - 1, 1)
        raise
    _note(first, len(ways) - 1, int(bool(value) is fires))
    return value


def _note(first, many, fired):
    test = os.environ.get("PYTEST_CURRENT_TEST")
    if test and "GUARD_NOTES" in os.environ and (first, fired, test) not in _seen:
        _seen.add((first, fired, test))
        with open(os.environ["GUARD_NOTES"], "a", encoding="utf-8") as file:
            file.write(f"{first} {many} {fired} {test}\\n")


builtins.guard_ = guard_
"""


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
        rest = ast.Compare(test.comparators[0], test.ops[1:], test.comparators[1:])
        yield test, ast.unparse(rest)  # a < b <= c without its first half
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from ((value, neutral) for value, neutral in _alternatives(test.operand))


class _Put(ast.NodeTransformer):
    """Puts a text in the place of one node."""

    def __init__(self, node: ast.AST, new: str) -> None:
        self.node, self.new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.parse(self.new, mode="eval").body if node is self.node else self.generic_visit(node)

    def put(self, whole: ast.expr) -> ast.expr:
        """Return an expression with the text in the place of the node."""
        changed = self.visit(whole)
        return changed if isinstance(changed, ast.expr) else whole


def without(test: ast.expr, node: ast.expr, new: str) -> ast.expr:
    """Return a condition in which a text is in the place of a part."""
    paths = {id(part): place for place, part in enumerate(ast.walk(test))}
    whole = copy.deepcopy(test)
    return _Put(list(ast.walk(whole))[paths[id(node)]], new).put(whole)


@dataclass
class Guards(ast.NodeTransformer):
    """Gives each guard of a module its switch; ``found`` says where each is, and what it becomes."""

    name: str
    lines: Sequence[str]
    number: str = ""
    found: list[str] = field(default_factory=list)
    stricter: list[int] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    first: int = 0

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A hypothesis that is yielded, or a call of ``require``."""
        value = node.value
        if isinstance(value, ast.Yield | ast.YieldFrom):
            test = self._switch(node, ast.Constant(True), fires=True, whole="False")
            return ast.If(test, [node], []) if test else node
        if isinstance(value, ast.Call) and _name(value.func) == "require":
            value.args[0] = self._switch(node, value.args[0], fires=False, whole="True") or value.args[0]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """A ``raise`` under an ``if``."""
        if any(isinstance(inner, ast.Raise) for inner in node.body):
            node.test = self._switch(node, node.test, fires=True, whole="False") or node.test
        return self.generic_visit(node)

    def _switch(self, node: ast.stmt, test: ast.expr, *, fires: bool, whole: str) -> ast.expr | None:
        if self.number not in ("", str(node.lineno)):
            return None
        if any(isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom) for part in ast.walk(test)):
            self.left.append(f"{self.name}:{node.lineno}")  # it cannot stand in a function of its own
            return None
        ways, first = [test, ast.parse(whole, mode="eval").body], self.first + len(self.found)
        shown = self.lines[node.lineno - 1].strip()
        self.found.append(f"{self.name}:{node.lineno}: [{shown[:140]}]")
        for part, new in _alternatives(test):
            self.stricter += [self.first + len(self.found)] if new == ("True" if fires else "False") else []
            ways.append(without(test, part, new))
            self.found.append(f"{self.name}:{node.lineno}: {ast.unparse(part)[:90]} -> {new[:40]} [{shown[:110]}]")
        nothing = ast.parse("lambda: 0", mode="eval").body.args  # type: ignore[attr-defined]
        thunks = [ast.Lambda(nothing, way) for way in ways]
        return ast.Call(ast.Name("guard_", ast.Load()), [ast.Constant(first), ast.Constant(fires), *thunks], [])


def switch(source: str, name: str, number: str = "", first: int = 0) -> tuple[str, list[str], list[int]]:
    """Return a module in which each guard, or those of a line, can be taken out; what can be, from this number on; and what is stricter."""
    made = Guards(name, source.splitlines(), number, first=first)
    text = ast.unparse(ast.fix_missing_locations(made.visit(ast.parse(source))))
    sys.stdout.write("".join(f"not taken out, do it by hand: {place}\n" for place in made.left))
    return text, made.found, made.stricter


def _run_apart(session: pytest.Session, items: Sequence[pytest.Item], *, at_first: bool) -> tuple[int, list[str]]:
    """Run tests in a process of its own, up to the first failure or all; return its status, and which of them failed."""
    results = Path(os.environ["GUARDS"]).with_name("failed")
    results.write_text("", encoding="utf-8")
    child = os.fork()
    if not child:
        signal.alarm(_LIMIT * (1 if at_first else 10))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        for item, following in zip(items, [*items[1:], None], strict=True):
            before = session.testsfailed
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed > before:
                with results.open("a", encoding="utf-8") as file:
                    file.write(f"{item.nodeid}\n")
                if at_first:
                    break
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return status, results.read_text(encoding="utf-8").splitlines()


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests once, then those of each guard without it. (This module is a plugin of the run in the copy.)"""
    (found, stricter), notes = json.loads(Path(os.environ["GUARDS"]).read_text(encoding="utf-8")), Path(os.environ["GUARD_NOTES"])
    notes.write_text("", encoding="utf-8")
    status, failed = _run_apart(session, session.items, at_first=False)
    if status:
        raise pytest.UsageError(f"the tests ended by {status} before any guard is taken out")
    sys.stdout.write(f"{len(session.items)} tests, {len(found)} guards; without them, in a copy, these look at the source:\n")
    sys.stdout.write("".join(f"    {name}\n" for name in failed))
    where, fine = defaultdict[int, set[str]](set), [item for item in session.items if item.nodeid not in failed]
    for line in notes.read_text(encoding="utf-8").splitlines():
        first, many, fired, test = line.split(" ", 3)
        for guard in range(int(first), int(first) + int(many)):
            if guard not in stricter and fired == "0":
                continue
            where[guard].add(test.rpartition(" (")[0])
    del os.environ["GUARD_NOTES"]
    fine.sort(key=lambda item: sum(item.nodeid in tests for tests in where.values()))  # those that are about few guards first
    survivors = 0
    for guard, about in enumerate(found):
        os.environ["GUARD_OUT"] = str(guard)
        items = [item for item in fine if item.nodeid in where[guard]]
        status, failed = _run_apart(session, items, at_first=True) if items else (0, [])
        if status:
            sys.stdout.write(f"{about}: ended by {status}, which counts as noticed: look at it on a quiet machine\n")
        elif not failed:
            survivors += 1
            sys.stdout.write(f"not noticed by {len(items)} tests: {about}\n")
        if guard % 10 == 9 or guard == len(found) - 1:
            sys.stdout.write(f"{guard + 1} guards taken out, {survivors} not noticed\n")
        sys.stdout.flush()
    Path(os.environ["GUARDS"]).write_text(str(survivors), encoding="utf-8")
    return True


def main(names: list[str]) -> int:
    """Try every guard of the named files; return how many survive."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, guards, found, stricter = Path(temporary) / "project", Path(temporary) / "guards.json", list[str](), list[int]()
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "__pycache__", ".venv", "out", ".*_cache"))
        for name, _, number in (word.partition(":") for word in names or FILES):
            path = folder / "proofs_check" / "kernel" / f"{name}.py"
            text, more, those = switch(path.read_text(encoding="utf-8"), name, number, len(found))
            path.write_text(text, encoding="utf-8")
            found, stricter = found + more, stricter + those
        (folder / "sitecustomize.py").write_text(SWITCH, encoding="utf-8")
        guards.write_text(json.dumps([found, stricter]), encoding="utf-8")
        about = {"GUARDS": str(guards), "GUARD_NOTES": str(Path(temporary) / "notes"), "PYTHONPATH": str(folder)}
        options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "tests.mutants.remove_guards", "-m", "not slow"]
        command = [sys.executable, "-m", "pytest", *options, *SUITE]
        subprocess.run(command, cwd=folder, env={**os.environ, **about, "PYTHONDONTWRITEBYTECODE": "1"}, check=False)
        said = guards.read_text(encoding="utf-8")
    return int(said) if said.isdecimal() else 1


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 100))
