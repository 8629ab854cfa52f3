"""The user page lists what the catalogue lists, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

from profiles.hypotheses import EXACT_REALS
from profiles.mechanisms import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "mechanisms.md").read_text(encoding="utf-8")


def test_the_table_is_the_catalogue():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| ")][2:]
    listed = [(name, profile.strip("`"), reference.strip("`"), source) for name, profile, _, reference, source in rows]
    assert listed == [(entry.name, entry.promise, entry.reference, entry.source) for entry in catalogue()]


def test_every_hypothesis_is_explained():
    for hypothesis in (EXACT_REALS, *(item for entry in catalogue() for item in entry.hypotheses)):
        assert f"*{hypothesis}*" in " ".join(PAGE.split())


def test_the_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/mechanisms.md", "exec"), names)
    assert names["outputs"].shape == (500, 2, 2)
    assert names["centres"].shape == (2, 2)
