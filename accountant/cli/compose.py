"""``pdp compose``: what several releases about the same records cost together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.options import ScreenOptions
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.files import check_outputs, write_whole
from accountant.progress import show_progress

HELP = (
    "Add up the epsilons of several releases about the same records, from their guarantee files or certificates, with all assumptions. "
    "A file that is named twice counts twice."
)
EXAMPLE = """\b
Examples:
  pdp epsilon examples/lloyd.toml --q 1/10 --certificate first.json
  pdp epsilon examples/lloyd.toml --q 1/100 --guarantee second.json
  pdp compose first.json second.json second.json --out all.json
"""
_LARGEST = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ScreenOptions):
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="guarantee files, or certificates of pdp epsilon or pdp sample")]
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the composed guarantee to a file")] = None


def run(options: Options) -> int:
    from accountant.guarantees import render, to_json
    from accountant.interop.carriers import read_release
    from accountant.interop.files import write_guarantee
    from accountant.onesided import compose
    from profiles.files import read_text

    for file in options.files:
        check_outputs({"release": file}, options.out)
    parts = []
    with show_progress("checking", "files") as tell:
        for done, file in enumerate(options.files):
            tell(done, len(options.files))
            parts.append(read_release(read_text(file, _LARGEST), repr(str(file))))
    made = compose(*parts)
    if options.out is not None:
        write_whole(options.out, write_guarantee(made))
    if options.json:
        print_json(to_json(made))
    else:
        print_as_it_is(render(made, everything=options.everything, explain=options.explain).rstrip())
        if options.out is not None:
            print_line(f"guarantee written to {options.out}")
    return 0
