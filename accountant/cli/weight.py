"""``pdp weight``: the optimal weight of one record, to any number of digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from accountant.cli.options import JsonOption, ProfileArgument, TargetOption, parse_assignments
from accountant.cli.output import print_json, print_line
from accountant.cli.progress import show_progress
from accountant.cli.streams import load_quietly

HELP = "Compute the largest weight w with psi <= target for one record, rounded to the feasible side, with a certified enclosure."
EXAMPLE = """\b
Examples:
  pdp weight profiles.mechanisms.lloyd:default -e 10 --at z=1.5
  pdp weight examples/lloyd.toml -e 20 --at z=1.5 --digits 50
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    profile: ProfileArgument
    target_epsilon: TargetOption
    at: Annotated[list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="a statistic of the record (repeatable)")] = None
    digits: Annotated[int, typer.Option("--digits", min=1, help="significant digits")] = 30
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command."""
    from accountant.weights.precise import optimal_weight

    declared, record = load_quietly(options.profile).profile, parse_assignments(options.at, "--at")
    with show_progress("searching the optimal weight"):
        found = optimal_weight(declared, options.target_epsilon, record, options.digits).to_json()
    if options.json:
        print_json(found)
        return 0
    if found["weight"] == "inf":
        print_line("weight   infinite: the record may be dropped (q = 0)")
    else:
        print_line(f"weight   {found['weight']}   (feasible: rounded down)")
        print_line(f"optimum in [{found['enclosure'][0]}, {found['enclosure'][1]}]")
    if found["strong_convexity"] is not None:
        above = found["strong_convexity_above"]
        print_line(f"mu       >= {found['strong_convexity']}" + ("" if above is None else f"   (the best one is at most {above})"))
    if found["bracket"] is not None:
        print_line(f"bracket  [{found['bracket'][0]}, {found['bracket'][1]}]")
    bound = "" if found["evaluation_bound"] is None else f" (at most {found['evaluation_bound']} by Proposition 12, corrected)"
    print_line(f"method   {found['method']}; {found['evaluations']} evaluations of epsilon{bound}")
    return 0
