"""How commands print: one JSON object with ``--json``, tables for people otherwise; files appear whole or not at all."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from profiles.errors import UnwritableOutput


def print_json(value: Any) -> None:
    """Print one JSON value on standard output and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


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


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` so that the file appears whole or not at all. Raises :class:`UnwritableOutput`."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except (OSError, ValueError) as error:
        raise UnwritableOutput(
            f"{str(path)!r} cannot be written ({getattr(error, 'strerror', None) or error}); choose a writable place"
        ) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UnwritableOutput(f"{str(path)!r} cannot be written ({error.strerror or error}); choose a writable place") from None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
