"""One spelling, a README that has the idea first, and the notion that is certified said first."""

from __future__ import annotations

import re

import pytest

from tests.documentation.accidents import list_files
from tests.documentation.pages import DOCS, ROOT, blocks_of, commands_of

#: An id that files and papers' entries name, and a sentence of earlier files, which are still read.
KEPT = ("fay-2024-proposition-12-case-1-neighb" + "ourhood", "the same for every neighb" + "ouring data set")


def test_neighbor_is_spelled_one_way() -> None:
    found = []
    for path in list_files(ROOT):
        text = path.read_bytes().decode("utf-8", "replace")
        for kept in KEPT:
            text = text.replace(kept, "")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in re.findall(r"(?i)\w*neighb" + r"our\w*", text)]
    assert found == []


def test_the_readme_is_short_and_has_the_idea_before_commands() -> None:
    """Was: 197 lines, and eleven commands before an idea; then no way to install anything but a checkout."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 125
    assert len(text.encode()) <= 6800
    blocks = blocks_of(ROOT / "README.md")
    commands = [words[:2] for block in blocks if block.kind == "sh" for words, _ in commands_of(block)]
    recipes = ("account", "ledger", "release", "epsilon", "check", "audit")
    assert commands == [["python", "-m"]] * 2 + [["pdp", name] for name in recipes]


@pytest.mark.parametrize("name", ["../README.md", "index.md"])
def test_what_is_certified_is_said_first(name: str) -> None:
    lines = (DOCS / name).read_text(encoding="utf-8").splitlines()
    where = next(number for number, line in enumerate(lines, 1) if "**pure ε-differential privacy**" in line)
    assert where <= 20, name
