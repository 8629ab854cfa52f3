"""The example of set cover in docs/submodular.md runs, and the page names what is public."""

import re

import accountant.applications.setcover as package
from tests.documentation.pages import DOCS, split_page

_, PAGE = split_page(DOCS / "submodular.md", "Set cover")


def test_the_example_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "docs/submodular.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "\n5 5\n" in printed
    assert "epsilon <= 0.5" in printed or "epsilon <= 0.49999" in printed


def test_the_page_names_what_is_public():
    for name in package.__all__:
        assert name in PAGE or name in ("CoverAnswer", "SetSystem")
