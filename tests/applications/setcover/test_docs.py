"""The example of docs/set-cover.md runs, and the page names what is public."""

import re
from pathlib import Path

import accountant.applications.setcover as package

PAGE = (Path(__file__).parents[3] / "docs" / "set-cover.md").read_text(encoding="utf-8")


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
