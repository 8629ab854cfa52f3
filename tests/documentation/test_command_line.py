"""docs/command-line.md and ``pdp --help`` tell of the same commands and options."""

from __future__ import annotations

import re

import pytest
import typer.main

from accountant.cli.main import make_app
from tests.documentation.pages import DOCS

COMMANDS = typer.main.get_command(make_app()).commands
PAGE = (DOCS / "command-line.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `pdp ([\w-]+)(.*?)` \|", PAGE, re.MULTILINE)


def options_of(command: str) -> set[str]:
    return {option for parameter in COMMANDS[command].params for option in parameter.opts if option.startswith("--")}


def test_every_command_has_one_row():
    assert sorted(name for name, _ in ROWS) == sorted(COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_is_on_the_page_and_no_other_is_in_the_row(command):
    options = options_of(command)
    assert "--json" in options  # as the page says of every command
    assert set(re.findall(r"--[a-z][a-z-]*", dict(ROWS)[command])) <= options
    unknown = {option for option in options if not re.search(rf"{option}(?![\w-])", PAGE)}
    assert unknown == set()


def test_the_help_lists_every_command(pdp):
    listed = re.findall(r"^\W*([a-z]+) ", pdp("--help").out.partition("Commands")[2], re.MULTILINE)
    assert set(COMMANDS) <= set(listed)
