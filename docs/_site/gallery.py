"""The pictures of docs/gallery.md: its commands are run when the site is built, and ``<!-- drawn: FILE: words -->`` shows what one drew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"^<!-- drawn: ([\w-]+\.svg): (.+) -->$", re.MULTILINE)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def insert(_app: Any, page: str, source: list[str]) -> None:
    """Put the pictures in place of the comments."""
    if page == "gallery":
        source[0] = _MARK.sub(r"```{image} _generated/\1\n:alt: \2\n:class: drawn\n```", source[0])


def draw_all(folder: Path) -> None:
    """Run the commands of the page on the examples, and keep the pictures that it shows. Raises ``RuntimeError`` for one that fails."""
    from accountant.cli.main import invoke  # noqa: PLC0415

    text = (_ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        shutil.copytree(_ROOT / "examples", Path(place) / "examples")
        os.chdir(place)
        try:
            for block in _SHELL.findall(text):
                for line in re.sub(r"\\\n\s*", "", block).splitlines():
                    words = shlex.split(line, comments=True)
                    if words and invoke(words[1:]):
                        raise RuntimeError(f"a command of the gallery failed: {line}")
            for name, _ in _MARK.findall(text):
                shutil.copy(name, folder)
        finally:
            os.chdir(before)
