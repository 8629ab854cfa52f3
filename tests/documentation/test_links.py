"""Every link between pages leads somewhere, and every page is in the navigation of the site."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.documentation.pages import DOCS, PAGES, ROOT, Block, anchors_of, blocks_of, links_of, site_module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_anchors_exist(page: Path) -> None:
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = page if not path else page.parent / path
        assert target.exists(), f"{page.name} links to {link}, which does not exist"
        if anchor:
            assert anchor in anchors_of(target), f"{page.name} links to {link}, but {target.name} has no such heading"


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = site_module("navigation")
    parts = navigation.read_parts((DOCS / "index.md").read_text(encoding="utf-8"))
    assert list(parts) == ["Use", "Understand", "Believe", "Carry on"]
    listed = [page for entries in parts.values() for _, page in entries]
    assert len(listed) == len(set(listed))
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert pages - set(listed) == set(), "docs/index.md does not list these pages: add each to the list where readers look for it"
    notebooks = {f"_generated/notebooks/{path.stem}" for path in (ROOT / "examples").glob("*.ipynb")}
    assert len(notebooks) == 3
    assert set(listed) - pages == {*notebooks, "_generated/CONTRIBUTING"}
    source = ["# Home\n\n## Understand\n\n* [One](a-b.md): words.\n"]
    navigation.add(None, "other", source)
    assert "toctree" not in source[0]
    navigation.add(None, "index", source)
    assert source[0].endswith(":caption: Understand\n\nOne <a-b>\nReference <_generated/reference>\n```\n")


def test_earlier_addresses_lead_to_pages_and_headings_that_exist() -> None:
    redirects = site_module("redirects")
    generated = {path.stem: path for path in site_module("elsewhere").SOURCES}
    for earlier, place in redirects.REDIRECTS.items():
        assert not (DOCS / f"{earlier}.md").exists()
        name, _, anchor = place.partition("#")
        file = generated[name.removeprefix("_generated/")] if name.startswith("_generated/") else DOCS / f"{name}.md"
        assert file.is_file(), earlier
        assert not anchor or anchor in anchors_of(file), earlier
    page = redirects.make_page("a#b")
    assert 'content="0; url=a.html#b"' in page
    assert '<a href="a.html#b">' in page


def test_pages_outside_of_docs_keep_their_links_on_the_site() -> None:
    elsewhere = site_module("elsewhere")
    for path, up in elsewhere.SOURCES.items():
        for link in re.findall(r"\]\(([^()\s]+)\)", elsewhere.read_copy(path.read_text(encoding="utf-8"), up)):
            if not re.match(r"\w+:|#", link):
                target = (DOCS / "_generated" / link.partition("#")[0]).resolve()
                assert target.is_file() or target.stem in {source.stem for source in elsewhere.SOURCES}, (path.name, link)


def test_every_package_that_a_page_imports_is_in_the_reference() -> None:
    listed = set(site_module("reference").PACKAGES)
    used = {
        name
        for page in PAGES
        for block in blocks_of(page)
        for name in re.findall(r"^\s*from ((?:accountant|profiles|proofs_check)[\w.]*) import", block.text, re.MULTILINE)
    }
    packages = {name for name in used if (ROOT / name.replace(".", "/") / "__init__.py").is_file()}
    assert "accountant.interop" in packages
    assert packages - listed == set(), "docs/_site/reference.py leaves these packages out"


def test_the_reference_has_each_package_once_and_each_name_of_accountant_in_one_part() -> None:
    reference = site_module("reference")
    assert len(reference.PACKAGES) == len(set(reference.PACKAGES))
    parts = [name for names in reference.NAMES.values() for name in names]
    assert sorted(parts) == sorted(importlib.import_module("accountant").__all__)
    assert (
        parts.index("declare") < parts.index("verify") < parts.index("derive_epsilon") < parts.index("sample_file") < parts.index("audit")
    )


def test_the_reference_finds_every_name_that_it_lists() -> None:
    for name in site_module("reference").PACKAGES:
        package = importlib.import_module(name)
        assert [public for public in package.__all__ if not hasattr(package, public)] == []


def test_the_plots_that_pages_ask_for_are_drawn() -> None:
    plots = site_module("plots")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    asked = [name for text in texts for name in re.findall(r"^<!-- plot: ([\w-]+):", text, re.MULTILINE)]
    assert sorted(asked) == sorted(plots.PLOTS)
    source = ["Before\n\n<!-- plot: weights-hurt: what it costs -->\n"]
    plots.insert(None, "", source)
    assert source[0].count("{image}") == 2
    assert source[0].count(":alt: what it costs. the loss of one record") == 2
    assert set(plots.CAPTIONS) == {name for name in asked if name.startswith("mechanism-")}


def test_formulas_of_docstrings_are_no_quotes() -> None:
    escape = site_module("docstrings").escape
    lines = ["It is", "", "    a* = |b|,", "    c = d.", "", "for *all* x.", "", "* item", "", "    of it", "", "Note::", "", "    code"]
    escape(None, "class", "x", object(), None, lines)
    assert lines[:8] == ["It is", "", ".. code-block:: text", "", "    a* = |b|,", "    c = d.", "", r"for \*all\* x."]
    assert lines[8:] == ["", "* item", "", "    of it", "", "Note::", "", "    code"]


def test_pages_get_what_readers_with_a_keyboard_need() -> None:
    improve = site_module("accessible").improve_page
    page = '<p class="caption" role="heading">x</p><pre>a</pre><div class="table-wrapper docutils">'
    assert improve(page) == (
        '<p class="caption" role="heading" aria-level="2">x</p><pre tabindex="0">a</pre><div tabindex="0" class="table-wrapper docutils">'
    )
    signature = '(<dl>\n<dd><em class="sig-param">a</em>,</dd>\n</dl>\n)<dl>\n<dt>b</dt><dd>c</dd></dl>'
    shown = '(<div class="sig-lines">\n<div><em class="sig-param">a</em>,</div>\n</div>\n)<dl>\n<dt>b</dt><dd>c</dd></dl>'
    assert improve(signature) == shown


def test_the_reading_of_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b`: c's [d](x.md#e)\n\n## Two\n\n## Two\n\n```sh\npdp x # exit 3\n# [no](link.md)\n```\n`[no](y.md)` [f](http://g)\n"
    )
    assert links_of(page) == ["x.md#e"]
    assert anchors_of(page) == {"a-b-cs-d", "two", "two-1"}
    assert blocks_of(page) == [Block("sh", "pdp x # exit 3\n# [no](link.md)\n")]
