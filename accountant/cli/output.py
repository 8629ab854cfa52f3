"""How commands print: one JSON object with ``--json``, tables for people otherwise."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_json(value: Any) -> None:
    """Print one JSON value on standard output and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def console() -> Console:
    """Return the console for people: plain without a terminal, never wider than the terminal."""
    return Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    for index, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=index == 0)
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    console().print(table)


def _plain(cell: str) -> str:
    return cell.replace("[", "\\[")


def print_line(text: str = "") -> None:
    """Print a line for people."""
    console().print(_plain(text))


def print_as_it_is(text: str) -> None:
    """Print lines that are folded already, or that another program reads, without folding or marking them."""
    sys.stdout.write(text + "\n")
