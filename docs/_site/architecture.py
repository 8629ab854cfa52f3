"""The map of docs/architecture.md, read off the code: rooms, what each is for, which imports which.

``python docs/_site/architecture.py`` writes the picture docs/architecture.svg and the tables of the page; with ``--check`` it writes
nothing and exits 1 where they are not current. A room is a package below one of the three, or a module that stands beside those packages.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
PACKAGES = ("profiles", "proofs_check", "accountant")
BEGIN, END = "<!-- tables: made by docs/_site/architecture.py -->", "<!-- end of tables -->"

_ROW, _TOP, _LEFT, _BOX, _COLUMN = 25, 84, 96, 190, 330
_COLOURS = {"profiles": "#1b7837", "proofs_check": "#2166ac", "accountant": "#8c510a"}
_BACK = "#c2185b"


@dataclass(frozen=True, slots=True)
class Room:
    """One room: its dotted name, the first paragraph of its docstring, and how many modules it has."""

    name: str
    purpose: str
    modules: int

    @property
    def package(self) -> str:
        """The package of the three that it belongs to."""
        return self.name.split(".")[0]

    @property
    def shown(self) -> str:
        """Its name inside the package."""
        return self.name.split(".")[1]


def read_modules(root: Path = ROOT) -> dict[str, Path]:
    """Return every module of the three packages by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """Return the modules of ours that a module imports anywhere in its text, also inside of functions; not for type checkers alone."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {name if (name := f"{base}.{alias.name}") in modules else base for alias in node.names}
        waiting += ast.iter_child_nodes(node)
    return (found & modules.keys()) - {module}


def room_of(module: str) -> str:
    """Return the room of a module: the first two parts of its name."""
    return ".".join(module.split(".")[:2])


def read_rooms(modules: dict[str, Path]) -> dict[str, Room]:
    """Return the rooms by name."""
    members: dict[str, list[str]] = {}
    for module in modules:
        if "." in module:
            members.setdefault(room_of(module), []).append(module)
    return {name: Room(name, _purpose(modules[name]), len(inside)) for name, inside in members.items()}


def _purpose(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def read_uses(modules: dict[str, Path]) -> set[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second."""
    pairs = {(room_of(module), room_of(other)) for module, path in modules.items() for other in imports_of(module, path, modules)}
    return {(a, b) for a, b in pairs if a != b and "." in a and "." in b}


def order(rooms: list[str], uses: set[tuple[str, str]]) -> list[str]:
    """Return rooms so that each stands below those that it imports; of rooms that import each other, that with fewest imports is first."""
    left, placed = sorted(rooms), list[str]()
    while left:
        best = min(left, key=lambda room: (sum((room, other) in uses for other in left), left.index(room)))
        left.remove(best)
        placed.append(best)
    return placed


def read_contracts(root: Path = ROOT) -> dict[str, list[str]]:
    """Return for each package whose rooms have a contract of layers in pyproject.toml its rooms, the lowest first."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        package: [f"{package}.{room}" for room in reversed(contract["layers"])]
        for contract in contracts
        for package in contract.get("containers", ())
    }


def arrange(rooms: list[str], uses: set[tuple[str, str]]) -> list[str]:
    """Return the rooms of one package in the order of its contract; what has none is ordered by :func:`order`."""
    stated = read_contracts().get(rooms[0].split(".")[0], [])
    return sorted(rooms, key=stated.index) if set(rooms) <= set(stated) else order(rooms, uses)


def draw(rooms: dict[str, Room], uses: set[tuple[str, str]]) -> str:
    """Return the picture as SVG: a column a package, a box a room, an arc from each room to those above that it imports."""
    columns = {package: arrange([name for name in rooms if rooms[name].package == package], uses) for package in PACKAGES}
    height = _TOP + _ROW * max(map(len, columns.values())) + 30
    width = _COLUMN * len(PACKAGES) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        "<title>The rooms of pdp-accountant, and which imports which</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for column, (package, names) in enumerate(columns.items()):
        x, colour = column * _COLUMN + _LEFT, _COLOURS[package]
        parts.append(f'<text x="{x}" y="30" font-size="18" font-weight="bold" fill="{colour}">{package}</text>')
        to = sorted({b.split(".")[0] for a, b in uses if a.startswith(package + ".")} - {package}, key=PACKAGES.index)
        parts.append(
            f'<text x="{x}" y="50" fill="#555555">{"imports " + " and ".join(to) if to else "imports neither of the others"}</text>'
        )
        place = {name: index for index, name in enumerate(names)}
        for a, b in sorted(uses):
            if a in place and b in place:
                parts.append(_arc(x, place[a], place[b], f"{a} imports {b}", colour))
        for name, index in place.items():
            room, y = rooms[name], _TOP + index * _ROW
            size = f"{room.modules} modules" if room.modules > 1 else "1 module"
            parts.append(
                f'<g><title>{escape(room.purpose)}</title><rect x="{x}" y="{y}" width="{_BOX}" height="{_ROW - 5}" rx="4" fill="#ffffff" '
                f'stroke="{colour}"/><text x="{x + 7}" y="{y + 14}" fill="#222222">{room.shown}</text>'
                f'<text x="{x + _BOX - 7}" y="{y + 14}" text-anchor="end" font-size="10" fill="#666666">{size}</text></g>'
            )
    note = "An arc on the left goes from a room up to one that it imports; one on the right goes down to a room that imports it back."
    parts.append(f'<text x="{_LEFT}" y="{height - 10}" font-size="11" fill="#555555">{note}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arc(x: int, low: int, high: int, title: str, colour: str) -> str:
    back = low < high
    start, end = (_TOP + index * _ROW + (_ROW - 5) // 2 for index in (low, high))
    side = x + _BOX if back else x
    out = side + (1 if back else -1) * min(_LEFT - 6, 14 + 7 * abs(low - high)) * (0.4 if back else 1)
    return (
        f'<path d="M {side} {start} C {out:.0f} {start}, {out:.0f} {end}, {side} {end}" fill="none" '
        f'stroke="{_BACK if back else colour}" stroke-opacity="0.45"><title>{escape(title)}</title></path>'
    )


def make_tables(rooms: dict[str, Room], uses: set[tuple[str, str]]) -> str:
    """Return the tables of the page: what each room is for, and how many modules it has."""
    parts = []
    for package in PACKAGES:
        parts += [f"### {package}", "", "| room | what it is for | modules |", "| --- | --- | --- |"]
        for name in arrange([room for room in rooms if rooms[room].package == package], uses):
            room = rooms[name]
            purpose = room.purpose.rstrip(".").replace("|", "\\|").replace("``", "`")
            parts.append(f"| `{room.shown}` | {purpose} | {room.modules} |")
        parts.append("")
    return "\n".join(parts)


def render() -> dict[Path, str]:
    """Return the texts of the files that this script writes."""
    modules = read_modules()
    rooms, uses = read_rooms(modules), read_uses(modules)
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    return {PICTURE: draw(rooms, uses), PAGE: f"{before}{BEGIN}\n\n{make_tables(rooms, uses)}\n{END}{after}"}


def main(arguments: list[str]) -> int:
    """Write the picture and the tables, or check them."""
    current = True
    for path, text in render().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            current = False
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    return 0 if current or "--check" not in arguments else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
