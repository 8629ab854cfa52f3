"""The files that commands write: which options name them, what is refused of them before any work, and how a result is told with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from accountant.cli.output import print_json, print_line
from accountant.cli.pictures import check_plot
from accountant.files import check_outputs

_PICTURES = ("plot", "plot_steps")
#: The options of all commands that name a file to write.
OUTPUTS = ("out", "certificate", "guarantee", "report", "state", *_PICTURES)


def list_outputs(options: Any) -> tuple[Path, ...]:
    """Return the files that a command is to write, of all its options that name one."""
    given = (getattr(options, name, None) for name in OUTPUTS)
    return tuple(path for path in given if path is not None)


def check_files(options: Any, inputs: Mapping[str, object]) -> None:
    """Refuse outputs that cannot be written, that are one of the ``inputs``, or of which two are one file; pictures that cannot be drawn.

    For commands before they do any work. Raises :class:`profiles.InvalidArgument`, :class:`profiles.UnwritableOutput`,
    :class:`profiles.MissingExtra`.
    """
    check_outputs(inputs, *list_outputs(options))
    for name in _PICTURES:
        check_plot(getattr(options, name, None))


def print_told(told: Mapping[str, Any], options: Any, say: Callable[[], None]) -> None:
    """Print a result: as one JSON object, or for people, as ``say`` does, and then which files were written."""
    if options.json:
        print_json(told)
        return
    say()
    certificate, guarantee, picture = (getattr(options, name, None) for name in ("certificate", "guarantee", "plot"))
    print_written(certificate=certificate, guarantee=guarantee, picture=picture)


def print_written(*, certificate: Path | None = None, guarantee: Path | None = None, picture: Path | None = None) -> None:
    """Print where files were written that were asked for, and what to do with them."""
    if certificate is not None:
        print_line(f"certificate written to {certificate}; check it with: pdp check {certificate}")
    if guarantee is not None:
        print_line(f"guarantee written to {guarantee}; add it to others with: pdp compose {guarantee} OTHER...")
    if picture is not None:
        print_line(f"picture drawn in {picture}")
