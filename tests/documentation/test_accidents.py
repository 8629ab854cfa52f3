"""No page shows a quote, a list or a heading that nobody meant, and no file carries the markers of a merge conflict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documentation.accidents import find_accidents, find_conflict_markers, list_files
from tests.documentation.pages import PAGES, ROOT

OURS, BASE, BETWEEN, THEIRS = ("<" * 7, "|" * 7, "=" * 7, ">" * 7)
MARKDOWN = sorted({*PAGES, *(path for path in list_files(ROOT) if path.suffix == ".md")})


def test_no_file_carries_conflict_markers() -> None:
    files = list_files(ROOT)
    assert {ROOT / "README.md", Path(__file__), ROOT / ".ci" / "run", *PAGES} <= set(files)
    found = {str(path.relative_to(ROOT)): lines for path in files if (lines := find_conflict_markers(path.read_bytes()))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"a\n{OURS} HEAD\nb\n{BETWEEN}\nc\n{THEIRS} branch\n", [2, 4, 6]),
        (f"a\r\n{OURS} HEAD\r\nb\r\n{BASE} base\r\n{BETWEEN}\r\n{THEIRS} branch\r\n", [2, 4, 5, 6]),
        (f"{OURS}\n{THEIRS}", [1, 2]),
        (f"left over\n{BETWEEN}\n", [2]),
        (f"  * item\n    {THEIRS} branch\n", [2]),
        (f"Title\n\nHeading\n{BETWEEN}\n", []),
        (f"table\n{BETWEEN}  {BETWEEN}\n", []),
        (f">>> print(1)\n{THEIRS}>\n{BETWEEN}=\nx {OURS} y\n", []),
    ],
)
def test_conflict_markers(text: str, lines: list[int]) -> None:
    assert find_conflict_markers(text.encode()) == lines


def test_files_of_a_folder_without_git(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    assert list_files(tmp_path) == [tmp_path / "b.md"]


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_shows_what_nobody_meant(page: Path) -> None:
    assert find_accidents(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("The factor is\n> 1, and below 2.\n", 2, "no empty line precedes"),
        ("As follows.\n\n> or ≥ makes no difference.\n", 3, "begins with no sentence"),
        ("> Quoted words\nthat go on\n", 2, "part of the quote"),
        ("The gain is at most γ\n+ 2λ·OPT_s.\n", 2, "no empty line precedes"),
        ("So it is\n\n+ 2λ·OPT_s.\n", 3, "plus sign"),
        ("The difference is x\n- y.\n", 2, "no empty line precedes"),
        ("The difference is\n\n- y.\n", 3, "lone item"),
        ("The product is x\n* y, and so on.\n", 2, "no empty line precedes"),
        ("It follows from Proposition\n1. Both hold.\n", 2, "no empty line precedes"),
        ("It follows.\n\n11. Both hold.\n", 3, "counts 11"),
        ("1. one\n2. two\n4. four\n", 1, "counts 1, 2, 4"),
        ("1. one\n2. two\nand no more\n", 3, "part of the item"),
        ("* one that\n  * 2 lies below\n", 2, "no empty line precedes"),
        ("The sum of x and\n===\n", 1, "heading by the line below"),
        ("The sum of x and\n---\n", 1, "heading by the line below"),
        ("Take record\n# 3 of them.\n", 2, "a heading that no empty line precedes"),
        ("So\n\n    x = y\n", 3, "four spaces"),
        ("* item\n\n      x = y\n", 3, "four spaces"),
        ("We have\n```sh\nls\n```\n", 2, "a code block that no empty line precedes"),
        ("We have\n| a | b |\n| - | - |\n| 1 | 2 |\n", 2, "a table that no empty line precedes"),
        ("| a | b |\n| - | - |\n| n/|S| | 2 |\n", 3, "number of cells"),
        ("| a | b |\n| - | - |\n| 1 | 2 |\nand so on\n", 4, "number of cells"),
        ("| a | b |\n| - | - |\n| 1 |\n", 3, "number of cells"),
        ("some 14\n% of all\n", 2, "does not show"),
        ("The profile is a*b*c.\n", 1, "emphasis that"),
        ("The weight <w> of x.\n", 1, "HTML: <w>"),
        ("The set\n\n<x in D>\n", 3, "HTML"),
        ("So q ∈ {x}`q`.\n", 1, "role"),
        ("[D]: neighbors\n", 1, "never used"),
    ],
)
def test_an_accident_is_noticed(text: str, line: int, word: str) -> None:
    found = find_accidents(f"# Page\n\n{text}")
    assert any(accident.line == line + 2 and word in accident.what for accident in found), found


@pytest.mark.parametrize(
    "text",
    [
        "* one\n* two\n\n  more of it\n* three\n",
        "* one:\n  * first\n  * second\n* two\n",
        "1. one\n2. two\n   goes on\n",
        "- all of it\n",
        "> Quoted words\n> that go on\n",
        "| a | b |\n| --- | ---: |\n| 1 \\| 2 | 2 |\n",
        "```text\n> 1\n+ 2\n% 3\n<<w>>\n```\n",
        "$$\\begin{aligned}\na &= b \\\\\n+ c &> d\n\\end{aligned}$$\n",
        "* so\n\n  $$a\n  = b$$\n\n  for all\n",
        "A *word*, a **strong one**, `a*b*c`, $a*b*c$, and ε* ≤ 2 < 3 > 1 for q ∈ {0, 1}.\n",
        "<!-- plot: a: b -->\n\nText\n",
        "<!-- needs: x -->\n```python\nx\n```\n",
        "See [this][a].\n\n[a]: b.md\n",
        "Seven = 3 + 4 - 0,\nand 14 % of it;\n2^−64 > 0.\n",
    ],
)
def test_what_is_meant_is_left_alone(text: str) -> None:
    assert find_accidents(f"# Page\n\n{text}") == []
