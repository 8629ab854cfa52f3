"""The page shows what is printed, and is the only place where the policy is told in full."""

from __future__ import annotations

import re

from tests.documentation.pages import DOCS, ROOT, blocks_of, commands_of, split_page

_, PAGE = split_page(DOCS / "command-line.md", "What is shown of your data")


def test_the_refusals_of_the_page_are_those_that_are_printed(pdp, tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(tmp_path / "page.md")
    (data,), (commands,), (shown,) = ([block for block in blocks if block.kind == kind] for kind in ("text", "sh", ""))
    (tmp_path / data.file).write_text(data.content)
    printed = "".join(pdp(*words[1:]).err for words, _ in commands_of(commands))
    assert shown.text == printed


def test_every_command_with_the_option_is_named():
    (told,) = re.findall(r"`--show-values` is an option of (.*?)\. ", PAGE)
    assert {name.removeprefix("pdp ") for name in re.findall(r"`([a-z ]+)`", told)} == {"weights", "sample", "audit", "report", "calibrate"}
    assert "command-line.md#what-is-shown-of-your-data" in (DOCS / "index.md").read_text(encoding="utf-8")
