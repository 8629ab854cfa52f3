"""One spelling, the field's words beside ours where a reader meets them first, and no sentence that was found to need two readings."""

from __future__ import annotations

import re

import pytest

from tests.documentation.accidents import list_files
from tests.documentation.pages import DOCS, PAGES, ROOT, blocks_of, commands_of, prose_of

#: An id that files and papers' entries name, and a sentence of earlier files, which are still read.
KEPT = ("fay-2024-proposition-12-case-1-neighb" + "ourhood", "the same for every neighb" + "ouring data set")
#: Sentences that readers stumbled over; each was written anew.
STUMBLED = (
    r"every number has a side",
    r"a number with a side",
    r"can be righter",
    r"different ones come again",
    r"keeps its books",
    r"are no weights",
    r"is no test case",
)


def test_neighbor_is_spelled_one_way() -> None:
    found = []
    for path in list_files(ROOT):
        text = path.read_bytes().decode("utf-8", "replace")
        for kept in KEPT:
            text = text.replace(kept, "")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in re.findall(r"(?i)\w*neighb" + r"our\w*", text)]
    assert found == []


def test_the_readme_is_short_and_has_the_idea_before_commands() -> None:
    """Was: 197 lines, and eleven commands before an idea."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 98
    assert len(text.encode()) <= 6800
    blocks = blocks_of(ROOT / "README.md")
    commands = [words[:2] for block in blocks if block.kind == "sh" for words, _ in commands_of(block)]
    assert commands == [["make", "run"], ["make", "test"], ["pdp", "epsilon"], ["pdp", "check"]]
    for needed in ("have a new mechanism", "## From profile to bound to certificate", "**What it means.**", "## What is not proved"):
        assert needed in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_a_sentence_that_readers_stumbled_over(page) -> None:
    text = " ".join(prose_of(page).split())
    assert [words for words in STUMBLED if re.search(words, text)] == []


@pytest.mark.parametrize("name", ["../README.md", "getting-started.md", "concepts.md", "howto-epsilon.md", "howto-check.md"])
def test_the_words_of_the_field_stand_beside_ours(name: str) -> None:
    text = " ".join((DOCS / name).read_text(encoding="utf-8").split())
    assert re.search(r"unverified assumption", text), name
    assert "proof checker" in text, name


@pytest.mark.parametrize("name", ["../README.md", "index.md"])
def test_what_is_certified_is_said_first(name: str) -> None:
    lines = (DOCS / name).read_text(encoding="utf-8").splitlines()
    where = next(number for number, line in enumerate(lines, 1) if "**pure ε-differential privacy**" in line)
    assert where <= 20, name
