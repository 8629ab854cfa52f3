"""docs/command-line.md and ``pdp --help`` tell of the same commands and options."""

from __future__ import annotations

import re

import pytest
import typer.main

from accountant.cli.main import COMMANDS as MAIN
from accountant.cli.main import make_app
from tests.documentation.pages import DOCS

COMMANDS = typer.main.get_command(make_app()).commands
PAGE = (DOCS / "command-line.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `pdp ([\w-]+)(.*?)` \|", PAGE, re.MULTILINE)


VERBS = COMMANDS["ledger"].commands
VERB_ROWS = re.findall(r"^\| `(\w+) ((?:FILE|NEW).*?)$", PAGE, re.MULTILINE)


def options_of(command: object) -> set[str]:
    own = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
    return own.union(*map(options_of, getattr(command, "commands", {}).values()))


def test_every_command_has_one_row():
    assert sorted(name for name, _ in ROWS) == sorted(COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_is_on_the_page_and_no_other_is_in_the_row(command):
    options = options_of(COMMANDS[command])
    assert "--json" in options  # as the page says of every command
    assert set(re.findall(r"--[a-z][a-z-]*", dict(ROWS)[command])) <= options
    unknown = {option for option in options if not re.search(rf"{option}(?![\w-])", PAGE)}
    assert unknown == set()


def test_every_verb_of_the_ledger_has_one_row_with_its_options():
    assert [name for name, _ in VERB_ROWS] == list(VERBS)
    everywhere = {"--json", "--secret", "--anchor", "--table", "--engine", "--show-values", "--analyst", "--purpose", "--approver"}
    for name, row in VERB_ROWS:
        options = options_of(VERBS[name])
        assert set(re.findall(r"--[a-z][a-z-]*", row)) <= options, name
        assert {option for option in options if f"{option}`" not in row and f"{option} " not in row} <= everywhere, name


def test_the_help_lists_every_command(pdp):
    listed = re.findall(r"^\W*([a-z]+) ", pdp("--help").out.partition("Commands")[2], re.MULTILINE)
    assert listed[: len(COMMANDS)] == list(MAIN)
    listed = re.findall(r"^  ([a-z]+) +[A-Z].*\.$", pdp("ledger", "--help").out.partition("Commands")[2], re.MULTILINE)
    assert listed == list(VERBS)  # each with a sentence, which is not cut
