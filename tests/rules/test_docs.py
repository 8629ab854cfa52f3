"""The page docs/sampling.md: its examples run, and it lists every rule."""

import contextlib
import io
import re

import pytest

from accountant.rules import RULES
from tests.documentation.pages import DOCS, split_page

PAGE, STATISTICS, *_ = split_page(
    DOCS / "sampling.md", "Samples by private statistics", "From a Parquet file to centres", "The Poisson sampler"
)


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
