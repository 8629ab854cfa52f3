"""Definitions that nobody uses but tests: ``python -m tests.packaging.dead_code`` lists them.

Functions, classes, constants of modules, methods and properties of the three packages are looked at. A use is a name or an attribute in
code that is itself in use: in the packages, ``examples``, ``benchmarks``, ``tests/targets``, Python blocks and inline code of the pages; a
name in the stub of a public package; an entry point; a reference ``module:name`` in a string. What only a dead definition uses is dead as
well.

A function is found by its module, a method by its name alone, because no types are inferred: a dead method with the name of a living one is
not found. Not looked at are names with two underscores at both ends, hooks of pytest and of notebooks, methods of classes that extend a
class of another library, and functions under a decorator of ours, which registers them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("profiles", "proofs_check", "accountant")
#: Their names are for users alone: nothing here has to use them.
PUBLIC = (
    "accountant", "accountant/applications", "accountant/applications/dpsgd", "accountant/curves", "accountant/report",
    "accountant/testing", "profiles", "proofs_check/audit",
)  # fmt: skip
USERS = ("examples", "benchmarks", "tests/targets")
#: Decorators that leave a function what it is; under another one it is taken to be registered somewhere.
PLAIN = {
    "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "lru_cache", "overload", "property", "setter", "staticmethod",
    "wraps",
}  # fmt: skip
#: Bases of the standard library whose methods are called by no one else.
OWN_BASES = {"object", "Enum", "StrEnum", "IntEnum", "Exception", "ValueError", "ABC", "Generic", "SystemExit"}
_REFERENCE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_FENCED = re.compile(r"^```\{?(?:python|code-cell)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")

Definition = tuple[str, str]  # module and name; a method is called Class.name


@dataclass
class Source:
    """What the text of one module or script defines, imports and uses."""

    module: str
    package: str = ""
    lines: dict[Definition, tuple[str, int]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    #: Modules all of whose public names it has.
    stars: list[str] = field(default_factory=list)
    #: (dotted name, definitions around the use)
    names: list[tuple[str, tuple[Definition, ...]]] = field(default_factory=list)
    attributes: list[tuple[str, tuple[Definition, ...]]] = field(default_factory=list)


class _Reader(ast.NodeVisitor):
    def __init__(self, source: Source, path: str) -> None:
        self.source, self.path = source, path
        self.around: tuple[Definition, ...] = ()
        self.owner: ast.ClassDef | None = None

    def _define(self, name: str, line: int) -> Definition:
        found = (self.source.module, name if self.owner is None else f"{self.owner.name}.{name}")
        self.source.lines.setdefault(found, (self.path, line))
        return found

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            self.visit(part)
        looked_at = self._is_looked_at(node)
        before = self.around
        if looked_at:
            self.around = (*before, self._define(node.name, node.lineno))
        inner = _Inner(self)
        for part in node.body:
            inner.visit(part)
        self.around = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def _is_looked_at(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        if re.fullmatch(r"__\w+__|_repr_\w+_|pytest_\w+", node.name):
            return False
        if self.owner is not None and _extends_others(self.owner, self.source.aliases):
            return False
        return all(_last_name(item) in PLAIN for item in node.decorator_list)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        before, owner = self.around, self.owner
        self.around, self.owner = (*before, self._define(node.name, node.lineno)), node
        for part in node.body:
            self.visit(part)
        self.around, self.owner = before, owner

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]
        before = self.around
        if self.owner is None and not before:
            made = [self._define(name, node.lineno) for name in named if not re.fullmatch(r"__\w+__|_", name)]
            self.around = tuple(made) if len(made) == 1 else ()
        self.generic_visit(node)
        self.around = before

    visit_AnnAssign = visit_Assign

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname is not None:
                self.source.aliases[alias.asname] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        home = node.module or ""
        if node.level:
            parts = self.source.package.split(".")
            home = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
        for alias in node.names:
            if alias.name == "*":
                self.source.stars.append(home)
            else:
                self.source.aliases[alias.asname or alias.name] = f"{home}.{alias.name}"

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store):
            self.source.names.append((self._full(node.id), self.around))

    def _full(self, name: str) -> str:
        return self.source.aliases.get(name, f"{self.source.module}.{name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.source.attributes += [(item.attr, self.around) for item in ast.walk(node) if isinstance(item, ast.Attribute)]
        dotted = _dotted(node)
        if dotted is not None:
            first, _, rest = dotted.partition(".")
            self.source.names.append((f"{self._full(first)}.{rest}", self.around))
        else:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            if node.value.isidentifier():  # getattr, and names in tables
                self.source.attributes.append((node.value, self.around))
            self.source.names += [(f"{module}.{name}", self.around) for module, name in _REFERENCE.findall(node.value)]


class _Inner(_Reader):
    """Reads the body of a function: what is defined in it belongs to it."""

    def __init__(self, outer: _Reader) -> None:
        super().__init__(outer.source, outer.path)
        self.around = outer.around

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        self.generic_visit(node)

    visit_AnnAssign = visit_Assign


def _last_name(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return None if inner is None else f"{inner}.{node.attr}"  # type: ignore[attr-defined]


def _extends_others(owner: ast.ClassDef, aliases: dict[str, str]) -> bool:
    """Tell whether a base is no class of ours: its methods may be called by the library that it is from."""
    for base in owner.bases:
        base = base.value if isinstance(base, ast.Subscript) else base  # noqa: PLW2901
        name = _dotted(base) or ""
        first, _, rest = name.partition(".")
        full = aliases.get(first, first) + (f".{rest}" if rest else "")
        if full.rsplit(".", 1)[-1] not in OWN_BASES and "." in full and full.split(".")[0] not in PACKAGES:
            return True
    return False


def read_module(text: str, module: str, path: str) -> Source:
    """Return what a Python text defines and uses."""
    tree = ast.parse(text)
    source = Source(module, module if path.endswith("__init__.py") else module.rpartition(".")[0])
    reader = _Reader(source, path)
    for node in ast.walk(tree):  # imports first: they may stand below their uses, or in functions
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            reader.visit(node)
    reader.visit(tree)
    return source


def read_project(root: Path = ROOT) -> tuple[list[Source], list[Source], list[str]]:
    """Return the modules of the packages, those who use them, and dotted names that are public."""
    modules = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            stub = path.with_suffix(".pyi")
            text = path.read_text(encoding="utf-8") + (stub.read_text(encoding="utf-8") if stub.exists() else "")
            modules.append(read_module(text, name, str(path.relative_to(root))))
    users = [
        read_module(path.read_text(encoding="utf-8"), f"user:{path}", str(path))
        for folder in USERS
        for path in sorted((root / folder).rglob("*.py"))
    ]
    texts = [path.read_text(encoding="utf-8") for path in (*sorted((root / "docs").glob("*.md")), root / "README.md") if path.exists()]
    blocks = [block for text in texts for block in _FENCED.findall(text)]
    for path in sorted((root / "examples").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        blocks += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for number, block in enumerate(blocks):
        try:
            users.append(read_module(re.sub(r"^(>>>|\.\.\.|%.*$) ?", "", block, flags=re.MULTILINE), f"user:block {number}", ""))
        except SyntaxError:
            continue  # the print of a session, or a part of a command
    said = Source("user:pages")
    for words in (words for text in texts for words in _INLINE.findall(text)):
        for name in re.findall(r"[A-Za-z_][\w.]*", words):
            said.names.append((f"?.{name}" if "." not in name else name, ()))
            said.attributes.append((name.rsplit(".", 1)[-1], ()))
        said.names += [(f"{module}.{name}", ()) for module, name in _REFERENCE.findall(words)]
    return modules, [*users, said], list(_find_public(root))


def _find_public(root: Path) -> Iterator[str]:
    for package in PUBLIC:
        for node in ast.parse((root / package / "__init__.pyi").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for group in (project.get("scripts", {}), *project.get("entry-points", {}).values()):
        yield from (target.replace(":", ".") for target in group.values())


def find_dead(modules: Iterable[Source], users: Iterable[Source], public: Iterable[str]) -> dict[Definition, tuple[str, int]]:
    """Return the definitions that nothing in use uses, with path and line."""
    modules, users = list(modules), list(users)
    lines = {found: place for source in modules for found, place in source.lines.items()}
    by_module = {source.module: source for source in modules}
    for source in modules:
        for star in source.stars:
            named = (name for module, name in lines if module == star and "." not in name and not name.startswith("_"))
            source.aliases |= {name: f"{star}.{name}" for name in named}

    def resolve(dotted: str, seen: frozenset[str] = frozenset()) -> Definition | None:
        """Follow names that a module has from another one."""
        module, _, name = dotted.rpartition(".")
        if dotted in seen or not module:
            return None
        if (module, name) in lines:
            return module, name
        if module in by_module:
            alias = by_module[module].aliases.get(name)
            return None if alias is None else resolve(alias, seen | {dotted})
        return resolve(module, seen | {dotted})  # an attribute of something

    # a module that is a value, in a list of conditions, say: its names are used as attributes of whatever holds it
    passed = {name for source in modules for name, _ in source.names} & by_module.keys()
    anywhere: dict[str, list[Definition]] = {}
    for found in lines:
        anywhere.setdefault(found[1].rsplit(".", 1)[-1], []).append(found)
    used: list[tuple[Definition, tuple[Definition, ...]]] = [(found, ()) for name in public if (found := resolve(name)) is not None]
    for source in (*modules, *users):
        for name, around in source.names:
            if name.startswith("?."):
                used += [(found, around) for found in anywhere.get(name[2:], ())]
                continue
            found = resolve(name)
            if found is not None:
                used.append((found, around))
        for name, around in source.attributes:
            used += [(found, around) for found in anywhere.get(name, ()) if "." in found[1] or found[0] in passed]
    dead: set[Definition] = set()
    while True:
        alive = {found for found, around in used if not any(part in dead or part == found for part in around)}
        now = {found for found in lines if found not in alive or ("." in found[1] and (found[0], found[1].split(".")[0]) in dead)}
        if now == dead:
            return {found: lines[found] for found in sorted(dead)}
        dead = now


def main() -> int:
    """Print the dead definitions; the exit code is 1 where there are any."""
    found = find_dead(*read_project())
    for (_, name), (path, line) in found.items():
        print(f"{path}:{line}: {name}")  # noqa: T201
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
