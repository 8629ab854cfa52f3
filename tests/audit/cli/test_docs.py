"""The user page: its files, commands and programs run, and the report that it shows is the one that is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from accountant.cli.main import invoke

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "audit-howto.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch, same_seed):
    """The files of the page, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("python") + blocks("toml"):
        name = re.match(r"# file: (\S+)\n", block)
        if name is not None:
            (tmp_path / name[1]).write_text(block, encoding="utf-8")
    return tmp_path


COMMANDS = [line.rpartition("# exit ") for block in blocks("sh") for line in block.splitlines()]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("command", "code"), [(command.strip(), int(code)) for command, _, code in COMMANDS])
def test_the_commands_exit_as_stated(folder, capsys, command, code):
    words = shlex.split(command)
    assert words[0] == "pdp"
    assert invoke(words[1:]) == code, capsys.readouterr().err


def masked(text):
    """Return the words of a report with every number replaced."""
    return re.sub(r"[+-]?\d[\d.]*", "#", " ".join(text.split()))


def test_the_report_is_the_one_that_is_printed(folder, capsys):
    invoke(shlex.split(COMMANDS[0][0])[1:])
    (shown,) = blocks("text")
    assert masked(shown) == masked(capsys.readouterr().out)


@pytest.mark.thorough
def test_the_program_runs(folder, capsys):
    (program,) = (block for block in blocks("python") if not block.startswith("# file"))
    exec(compile(program, "docs/audit-howto.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "consistent\n"


def test_every_option_is_on_the_page_of_the_command_line(capsys):
    invoke(["audit", "--help"])
    page = (DOCS / "command-line.md").read_text(encoding="utf-8") + PAGE
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    assert options
    assert not {option for option in options if option not in page}
