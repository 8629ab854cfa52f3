"""``pdp compose``: what several releases about the same records cost together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.options import AllOption, JsonOption
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.files import check_not_input, check_writable, write_whole

NAME = "compose"
HELP = (
    "Add up the epsilons of several releases about the same records, from their guarantee files or certificates, with all premises. A file "
    "that is named twice counts twice."
)
EXAMPLE = """\b
Examples:
  pdp epsilon examples/lloyd.toml --q 1/10 --certificate first.json
  pdp epsilon examples/lloyd.toml --q 1/100 --guarantee second.json
  pdp compose first.json second.json second.json --out all.json
"""
_LARGEST = 20_000_000


def main(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="guarantee files, or certificates of pdp epsilon or pdp sample")],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the composed guarantee to a file")] = None,
    everything: AllOption = False,  # noqa: FBT002
    json: JsonOption = False,  # noqa: FBT002
) -> int:
    """Run the command."""
    from accountant.cli.progress import show_progress  # noqa: PLC0415
    from accountant.guarantees import render, to_json  # noqa: PLC0415
    from accountant.interop.files import write_guarantee  # noqa: PLC0415
    from accountant.interop.releases import read_release  # noqa: PLC0415
    from accountant.onesided import compose  # noqa: PLC0415
    from profiles.files import read_text  # noqa: PLC0415

    if out is not None:
        check_writable(out)
        for file in files:
            check_not_input(out, str(file), "release")
    parts = []
    with show_progress("checking", "files") as tell:
        for done, file in enumerate(files):
            tell(done, len(files))
            parts.append(read_release(read_text(file, _LARGEST), repr(str(file))))
    made = compose(*parts)
    if out is not None:
        write_whole(out, write_guarantee(made))
    if json:
        print_json(to_json(made))
    else:
        print_as_it_is(render(made, everything=everything).rstrip())
        if out is not None:
            print_line(f"guarantee written to {out}")
    return 0
