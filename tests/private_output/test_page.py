"""The page shows what is printed, and is the only place where the policy is told in full."""

from __future__ import annotations

from tests.documentation.pages import DOCS, ROOT, blocks_of, commands_of

PAGE = DOCS / "private-output.md"


def test_the_refusals_of_the_page_are_those_that_are_printed(pdp, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(PAGE)
    (data,), (commands,), (shown,) = ([block for block in blocks if block.kind == kind] for kind in ("text", "sh", ""))
    (tmp_path / data.file).write_text(data.content)
    printed = "".join(pdp(*words[1:]).err for words, _ in commands_of(commands))
    assert shown.text == printed


def test_every_command_with_the_option_is_named():
    text = PAGE.read_text(encoding="utf-8")
    assert "is an option of `pdp weights`, `sample`, `audit` and `report`" in text
    assert "and of `pdp calibrate`" in text
    assert "(private-output.md)" in (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert "private-output" in (DOCS / "index.md").read_text(encoding="utf-8")
