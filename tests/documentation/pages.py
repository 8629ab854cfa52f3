"""What the tests of the pages share: the pages, their blocks, links and anchors."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted((ROOT / "benchmarks" / "results").glob("*.md")),
)

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# file: (\S+)\n")
#: Before a block whose format has no comments, such as CSV.
_NAMED = re.compile(r"^File `(\S+)`:\n\n\Z", re.MULTILINE)
#: Before a block that needs a library which is not there in every environment.
_NEEDS = re.compile(r"^<!-- needs: (\w+) -->\n\Z", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^()\s]+)\)")
_EXIT = re.compile(r" # .*?\bexit (\d)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, the file that it shows (named in it or before it), and the library that it needs."""

    kind: str
    text: str
    file: str | None = None
    needs: str | None = None

    @property
    def content(self) -> str:
        """What the file holds."""
        return self.text.partition("\n")[2] if _FILE.match(self.text) else self.text


def split_page(page: Path, *titles: str) -> tuple[str, ...]:
    """Return a page without the parts with these titles, and then each part alone: from its heading to the next one of the same level."""
    text, parts = page.read_text(encoding="utf-8"), list[str]()
    for title in titles:
        before, heading, rest = text.partition(f"\n## {title}\n")
        if not heading:
            raise LookupError(f"{page.name} has no part {title!r}")
        part, mark, after = rest.partition("\n## ")
        text = before + mark + after
        parts.append(part)
    return (text, *parts)


def blocks_of(page: Path) -> list[Block]:
    page_text, found = page.read_text(encoding="utf-8"), list[Block]()
    for fence in _FENCE.finditer(page_text):
        before = page_text[: fence.start()]
        named, needs = _FILE.match(fence[3]) or _NAMED.search(before), _NEEDS.search(before)
        found.append(Block(fence[2], fence[3], None if named is None else named[1], None if needs is None else needs[1]))
    return found


def prose_of(page: Path) -> str:
    """Return the page without fenced blocks and code spans, where brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "``", _FENCE.sub("", page.read_text(encoding="utf-8")))


def links_of(page: Path) -> list[str]:
    return [link for link in _LINK.findall(prose_of(page)) if not re.match(r"\w+:", link)]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that code hosts and the site make for the headings of a page."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = 0
        while (name := slug if not count else f"{slug}-{count}") in found:
            count += 1
        found.add(name)
    return found


def commands_of(block: Block) -> list[tuple[list[str], int | None]]:
    """Return the commands of a shell block as words, each with the exit code that its comment states, such as ``# exit 1``."""
    found: list[tuple[list[str], int | None]] = []
    for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
        if line.strip() and not line.startswith("#"):
            stated = _EXIT.search(line)
            found.append((shlex.split(line, comments=True), int(stated[1]) if stated else None))
    return found


def site_module(name: str) -> Any:
    """Return a module of the site's extension, which is no package of ours."""
    spec = importlib.util.spec_from_file_location(f"_site_{name}", DOCS / "_site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
