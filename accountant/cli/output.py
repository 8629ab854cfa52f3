"""How commands print: one JSON object with ``--json``; lines and tables for people, as wide as the terminal, or 80 without one."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_NARROWEST = 40
_HEADING = 12  # a heading is folded to this width, if its column needs no more
_ROOM = 16  # what is left at least for a column of sentences
_LABEL = re.compile(r"( *)(?:\S[^:]{0,22}? {2,}|\S[\w ]{0,15}: +)?")


#: What is said beside the result: None where nothing is looked for.
_WARNINGS: ContextVar[tuple[str, ...] | None] = ContextVar("warnings", default=None)


@contextlib.contextmanager
def warn(texts: tuple[str, ...], *, as_json: bool) -> Iterator[None]:
    """Say what is to be said beside the result: on standard error for people, under ``warnings`` in JSON, where else they are none.

    What is said around it is said as well.
    """
    token = _WARNINGS.set((*(_WARNINGS.get() or ()), *texts))
    try:
        yield
    finally:
        _WARNINGS.reset(token)
    for text in () if as_json else texts:  # a command that is refused says one thing
        print(f"pdp: warning: {make_printable(text)}", file=sys.stderr)  # noqa: T201


def print_json(value: Any) -> None:
    """Print one JSON value on standard output and nothing else; with the ``warnings`` of the command, where it looks for any."""
    texts = _WARNINGS.get()
    if texts is not None and isinstance(value, dict):
        value = {**value, "warnings": [*value.get("warnings", ()), *texts]}
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def console() -> Console:
    """Return the console for people: as wide as the terminal or COLUMNS says, 80 where neither does; plain without a terminal."""
    from rich.console import Console

    made = Console(highlight=False, soft_wrap=False)
    return made if made.width >= _NARROWEST else Console(highlight=False, soft_wrap=False, width=_NARROWEST)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table. The first column is never folded, nor is a column of single words, such as numbers, where all of them fit."""
    from rich import box
    from rich.table import Table

    shown = [[_plain(cell) for cell in row] for row in rows]
    made = console()
    headings = _head_whole_columns(columns, shown, made.width)
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False, box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(headings.get(index, column), overflow="fold", no_wrap=index == 0 or index in headings)
    for row in shown:
        table.add_row(*row)
    made.print(table)


def _head_whole_columns(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> dict[int, str]:
    """Return the folded headings of the columns that need not be folded; none if they would not leave the others enough room."""
    headings: dict[int, str] = {}
    room = width - (3 * len(columns) - 1)
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        longest = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
        if index and cells and all(len(cell.split()) <= 1 for cell in cells):
            lines = textwrap.wrap(column, max(longest, _HEADING), break_long_words=False)
            headings[index] = "\n".join(lines)
            room -= max(longest, *(len(line) for line in lines))
        else:
            room -= longest if not index else min(longest, _ROOM)
    return headings if room >= 0 else {}


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


def print_result(told: Mapping[str, Any], *lines: str, as_json: bool) -> int:
    """Print a result, as one JSON object or as lines for people. Returns the exit code 0."""
    if as_json:
        print_json(told)
    for line in () if as_json else lines:
        print_line(line)
    return 0


def print_as_it_is(text: str) -> None:
    """Print lines that are folded already, or that another program reads, without folding or marking them."""
    sys.stdout.write(text + "\n")
