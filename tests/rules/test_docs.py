"""The page docs/sampling.md: its examples run, and it lists every rule."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from accountant.rules import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "sampling.md").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_the_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        for block in blocks:
            exec(compile(block, "docs/sampling.md", "exec"), names)
    text = shown.getvalue()
    assert "21.004 13.41" in text
    assert "True" in text.splitlines()[0]
    assert "depend on the whole data set" in text
    assert "['noise-from-data']" in text
    assert names["core"].derived.bound.upper <= 3


def test_every_rule_is_listed():
    for name in RULES:
        assert f"`{name}`" in PAGE
