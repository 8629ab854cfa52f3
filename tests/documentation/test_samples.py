"""The examples of ``pdp sample`` draw samples that are not empty: with all examples together, in all but one of a thousand runs."""

from __future__ import annotations

import csv
import math
import re
import shlex
import shutil
from pathlib import Path

import pytest
from sympy import sympify

from accountant.cli.main import invoke
from accountant.cli.sample import EXAMPLE
from tests.documentation.pages import PAGES, ROOT, blocks_of, commands_of


def examples() -> list[tuple[str, list[str], dict[str, str]]]:
    """Return the place, the words and the files of each example, of the pages and of the help."""
    lines = re.sub(r"\\\n\s*", "", EXAMPLE).splitlines()
    found = [("help", shlex.split(line), {}) for line in lines if line.strip().startswith("pdp sample")]
    for page in PAGES:
        files: dict[str, str] = {}
        for block in blocks_of(page):
            if block.file is not None:
                files[block.file] = block.content
            drawing = (
                [words for words, code in commands_of(block) if words[:2] == ["pdp", "sample"] and not code] if block.kind == "sh" else []
            )
            found += [(page.name, words, dict(files)) for words in drawing]
    return found


def probability_of_nothing(words: list[str], folder: Path) -> float:
    """Return the probability that no record is selected."""
    if "--q" in words:
        with (folder / words[words.index("--data") + 1]).open() as stream:
            norms = [math.hypot(*map(float, row.values())) for row in csv.DictReader(stream)]
        rule = sympify(words[words.index("--q") + 1])
        return math.prod(1 - float(rule.subs("z", norm)) for norm in norms)
    if "--private-statistics" in words:  # q >= m/(2 n~), and n~ is above 12 + 10 scales with probability e^-10/2
        size = float(words[words.index("--constant") + 1].removeprefix("m="))
        scale = 3 / float(words[words.index("--private-statistics") + 1])
        return (1 - min(1.0, size / 2 / (12 + 10 * scale))) ** 12 + math.exp(-10) / 2
    if "--seed" in words:  # the same sample in every run
        assert invoke(words[1:]) == 0
        with (folder / words[words.index("--out") + 1]).open() as stream:
            return 0.0 if list(csv.DictReader(stream)) else 1.0
    words = [*words[1:], "--out", "weights.csv"]
    assert invoke(["weights", *words[1:]]) == 0
    with (folder / "weights.csv").open() as stream:
        return math.prod(1 - float(row["q"]) for row in csv.DictReader(stream))


@pytest.mark.parametrize(("place", "words", "files"), examples(), ids=lambda item: item if isinstance(item, str) else "")
def test_the_sample_is_not_empty(
    place: str, words: list[str], files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert probability_of_nothing(words, tmp_path) < 3e-4, (place, words)


def test_there_are_examples() -> None:
    assert {place for place, _, _ in examples()} >= {"help", "command-line.md", "getting-started.md", "report.md", "howto-epsilon.md"}
