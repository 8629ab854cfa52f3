"""Pages that stand outside of docs, copied among those of the site: measurements, the guide for contributors, changelog and security."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_AT_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
#: The files, and the folder in which each stands, as its links see it.
SOURCES = dict.fromkeys(sorted((_ROOT / "benchmarks" / "results").glob("*.md")), "../../") | dict.fromkeys(
    (_ROOT / name for name in _AT_ROOT), ""
)
_TO_COPIES = re.compile(r"\]\(\.\./(?:benchmarks/results/)?([\w-]+\.md)")
_HEAD = "---\norphan: true\n---\n\n"


def copy(folder: Path) -> None:
    """Copy the files; their links to pages lead to those of the site. Only the guide is in the navigation."""
    for source, up in SOURCES.items():
        text = read_copy(source.read_text(encoding="utf-8"), up)
        (folder / source.name).write_text(text if source.name == "CONTRIBUTING.md" else _HEAD + text, encoding="utf-8")


def read_copy(text: str, up: str) -> str:
    """Return the text of a file whose links begin with ``up`` where they leave its folder for the root, with links from docs/_generated.

    >>> read_copy("[a](docs/a.md), [b](benchmarks/results/b.md), [c](c.md#d)", "")
    '[a](../a.md), [b](b.md), [c](../../c.md#d)'
    >>> read_copy("[a](../../docs/a.md), [b](b.md)", "../../")
    '[a](../a.md), [b](b.md)'
    """

    def change(found: re.Match[str]) -> str:
        target = found[1]
        if re.match(r"\w+:|#", target) or (up and not target.startswith(up)):
            return found[0]
        target = target.removeprefix(up)
        for prefix, instead in (("docs/", "../"), ("benchmarks/results/", "")):
            if target.startswith(prefix):
                return f"]({instead}{target.removeprefix(prefix)})"
        return f"]({'' if target.partition('#')[0] in _AT_ROOT else '../../'}{target})"

    return re.sub(r"\]\(([^()\s]+)\)", change, text)


def link(text: str) -> str:
    """Return a page whose links to those files lead to their copies.

    >>> link("[a](../benchmarks/results/a.md#b), [c](../CONTRIBUTING.md)")
    '[a](_generated/a.md#b), [c](_generated/CONTRIBUTING.md)'
    """
    return _TO_COPIES.sub(r"](_generated/\1", text)
