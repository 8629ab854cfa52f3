"""The example of docs/set-cover.md and those of the docstrings run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import accountant.applications.setcover as package

PAGE = (Path(__file__).parents[3] / "docs" / "set-cover.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(module.name for module in pkgutil.iter_modules(package.__path__)))
def test_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"{package.__name__}.{name}")).failed == 0


def test_the_example_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "docs/set-cover.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "\n5 5\n" in printed
    assert "epsilon <= 0.5" in printed or "epsilon <= 0.49999" in printed


def test_the_page_names_what_is_public():
    for name in package.__all__:
        assert name in PAGE or name in ("CoverAnswer", "SetSystem")
