"""How commands print: one JSON object with ``--json``; lines and tables for people, as wide as the terminal, or 80 without one."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_NARROWEST = 40
_LABEL = re.compile(r"( *)(?:\S[^:]{0,22}? {2,}|\S[\w ]{0,15}: +)?")


def print_json(value: Any) -> None:
    """Print one JSON value on standard output and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def console() -> Console:
    """Return the console for people: as wide as the terminal or COLUMNS says, 80 where neither does; plain without a terminal."""
    made = Console(highlight=False, soft_wrap=False)
    return made if made.width >= _NARROWEST else Console(highlight=False, soft_wrap=False, width=_NARROWEST)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the first column is never folded."""
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False, box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=index == 0)
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    console().print(table)


def _plain(cell: str) -> str:
    return "\n".join(make_printable(line) for line in cell.split("\n")).replace("[", "\\[")


def make_printable(text: str) -> str:
    r"""Return the text with control characters written out, so that no file can send commands to a terminal.

    >>> make_printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_line(text: str = "") -> None:
    """Print a line for people. What does not fit stands below, under the text after a label; words (paths, say) are never cut."""
    label = _LABEL.match(text)
    indent = 0 if label is None else len(label[0]) if label[0].strip() else len(label[1]) + 4
    lines = textwrap.wrap(
        make_printable(text),
        console().width - 1,
        subsequent_indent=" " * min(indent, 24),
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    print_as_it_is("\n".join(lines))


def print_as_it_is(text: str) -> None:
    """Print lines that are folded already, or that another program reads, without folding or marking them."""
    sys.stdout.write(text + "\n")
