"""``--plot FILE``, which draws the answer of a command: the option, and what is checked before any work is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accountant.files import replace_file
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture


def plot_option(what: str) -> typer.models.OptionInfo:
    """Return the option of a command whose picture shows ``what``."""
    option: typer.models.OptionInfo = typer.Option("--plot", metavar="FILE", help=f"draw {what} (.png, .svg, .pdf)")
    return option


PlotLossOption = Annotated[Path | None, plot_option("the loss of records against the first statistic, and the bound")]


def check_plot(path: Path | None) -> None:
    """Refuse a picture that cannot be written, or drawn, before any work is done. Raises :class:`profiles.PDPError`."""
    if path is not None:
        from profiles.presenting.pictures import find_format, load_figure

        find_format(path.name)
        load_figure()


def refuse_plot(path: Path | None, what: str) -> None:
    """Refuse a picture where there is none to draw. Raises :class:`InvalidArgument`."""
    if path is not None:
        raise InvalidArgument(f"--plot was given, but {what} has no picture; leave it out")


def draw(make: Callable[[], Picture], path: Path) -> bytes:
    """Return a picture as a file of the format of its name. Raises what the picture raises."""
    with show_progress("drawing"):
        return make().to_bytes(path.name)


def draw_to(make: Callable[[], Picture], path: Path | None, *, private: bool = False) -> None:
    """Write a picture atomically, if one was asked for; one of private numbers for its owner's eyes."""
    if path is not None:
        made = draw(make, path)
        with replace_file(path, private=private) as stream:
            stream.write(made)
