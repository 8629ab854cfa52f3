"""What the site adds to Sphinx: mathematics as MathML, the reference pages, the plots, and docstrings with formulas in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from _site import accessible, docstrings, elsewhere, gallery, mathml, navigation, notebooks, plots, redirects, reference


def setup(app: Any) -> dict[str, bool]:
    """Tie the parts to the events of a build."""
    app.add_html_math_renderer("mathml", (mathml.visit_inline, None), (mathml.visit_block, None))
    app.connect("builder-inited", _write_pages)
    app.connect("build-finished", accessible.improve)
    app.connect("build-finished", redirects.write)
    app.connect("source-read", navigation.add)
    app.connect("source-read", plots.insert)
    app.connect("source-read", gallery.insert)
    app.connect("source-read", _show_titles)
    app.connect("source-read", _link_notebooks)
    app.connect("autodoc-process-docstring", docstrings.escape)
    app.connect("autodoc-process-signature", docstrings.shorten_types)
    app.connect("missing-reference", docstrings.find_target)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _show_titles(_app: Any, _page: str, source: list[str]) -> None:
    """Show the title of a page in place of its file's name, which only readers of the files need."""
    source[0] = re.sub(r"\[([\w-]+\.md)\](?=\(\1\))", "[]", source[0])


def _link_notebooks(_app: Any, page: str, source: list[str]) -> None:
    if not page.startswith("_generated/"):
        source[0] = elsewhere.link(notebooks.link(source[0]))


def _write_pages(app: Any) -> None:
    folder = Path(app.srcdir) / "_generated"
    folder.mkdir(exist_ok=True)
    reference.write(folder)
    notebooks.copy(folder / "notebooks")
    elsewhere.copy(folder)
    plots.draw_all(folder)
    gallery.draw_all(folder)
