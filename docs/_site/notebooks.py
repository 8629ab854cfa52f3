"""The notebooks of examples/, put among the pages: Sphinx executes them, and a cell that fails fails the build."""

from __future__ import annotations

import re
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "examples"
_TO_PAGES = re.compile(r"\]\(\.\./docs/([\w-]+\.md)")
_TO_NOTEBOOKS = re.compile(r"\]\(\.\./examples/(\w+\.ipynb)\)")


def copy(folder: Path) -> None:
    """Copy the notebooks; their links to pages lead to those of the site."""
    folder.mkdir(exist_ok=True)
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        text = _TO_PAGES.sub(r"](../../\1", notebook.read_text(encoding="utf-8"))
        (folder / notebook.name).write_text(text, encoding="utf-8")


def link(text: str) -> str:
    """Return a page whose links to notebooks lead to those of the site.

    >>> link("[a](../examples/a.ipynb)")
    '[a](_generated/notebooks/a.ipynb)'
    """
    return _TO_NOTEBOOKS.sub(r"](_generated/notebooks/\1)", text)
