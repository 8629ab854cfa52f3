"""``pdp weight``: the optimal weight of one record, to any number of digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.files import check_files, print_told
from accountant.cli.options import (
    JsonOption,
    ProfileArgument,
    StepsOption,
    TargetDeltaOption,
    TargetOption,
    parse_assignments,
    refuse_without_delta,
    require_delta,
)
from accountant.cli.output import print_line
from accountant.cli.pictures import draw_to, plot_option, refuse_plot
from accountant.cli.streams import load_quietly
from accountant.files import write_whole
from accountant.progress import show_progress
from profiles.notions import ProfileNotion

if TYPE_CHECKING:
    from accountant.weights.gaussian.weight import GaussianWeight
    from profiles.profile import Profile

HELP = (
    "Compute the largest weight w with psi <= target for one record, rounded to the feasible side, with a certified enclosure; or, "
    "for a profile in the notion gaussian, with delta at epsilon <= target after some steps on fresh samples."
)
EXAMPLE = """\b
Examples:
  pdp weight profiles.mechanisms.lloyd:default -e 10 --at z=1.5
  pdp weight examples/lloyd.toml -e 20 --at z=1.5 --digits 50
  pdp weight examples/gaussian.toml -e 1 --target-delta 1e-5 --at z=1.5 --steps 10
"""


@dataclass(frozen=True, slots=True)
class Options:
    profile: ProfileArgument
    target_epsilon: TargetOption
    at: Annotated[list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="a statistic of the record (repeatable)")] = None
    digits: Annotated[int, typer.Option("--digits", min=1, help="significant digits")] = 30
    target_delta: TargetDeltaOption = None
    steps: StepsOption = None
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="with --target-delta: write the bounds on delta to a certificate file"),
    ] = None
    plot: Annotated[Path | None, plot_option("the loss of the record against its weight, and the target")] = None
    json: JsonOption = False


def run(options: Options) -> int:
    from accountant.weights.precise import optimal_weight

    declared, record = load_quietly(options.profile).profile, parse_assignments(options.at, "--at")
    if options.target_delta is not None or declared.notion is ProfileNotion.GAUSSIAN:
        return _run_gaussian(declared, record, options)
    refuse_without_delta(options.steps, options.certificate)
    check_files(options, {"profile": options.profile})
    with show_progress("searching for the optimal weight"):
        weight = optimal_weight(declared, options.target_epsilon, record, options.digits)
    draw_to(weight.plot, options.plot)
    told = weight.to_json()
    print_told(told, options, lambda: _print(told))
    return 0


def _print(told: Mapping[str, Any]) -> None:
    if told["weight"] == "inf":
        print_line("weight   infinite: the record may be dropped (q = 0)")
    else:
        print_line(f"weight   {told['weight']}   (feasible: rounded down)")
        print_line(f"optimum in [{told['enclosure'][0]}, {told['enclosure'][1]}]")
    if told["strong_convexity"] is not None:
        above = told["strong_convexity_above"]
        print_line(f"mu       >= {told['strong_convexity']}" + ("" if above is None else f"   (the best one is at most {above})"))
    if told["bracket"] is not None:
        print_line(f"bracket  [{told['bracket'][0]}, {told['bracket'][1]}]")
    bound = "" if told["evaluation_bound"] is None else f" (at most {told['evaluation_bound']} by Proposition 12, corrected)"
    print_line(f"method   {told['method']}; {told['evaluations']} evaluations of epsilon{bound}")


def _run_gaussian(declared: Profile, record: Mapping[str, str], options: Options) -> int:
    """Print the weight of a record under Gaussian noise."""
    from accountant.weights.gaussian import gaussian_weight
    from proofs_check.certificates import to_file_text

    require_delta(declared, options.target_delta)
    refuse_plot(options.plot, "a weight under Gaussian noise")
    check_files(options, {"profile": options.profile})
    with show_progress("searching the weight"):
        steps = 1 if options.steps is None else options.steps
        weight = gaussian_weight(declared, options.target_epsilon, options.target_delta, record, steps=steps, digits=options.digits)
    if options.certificate is not None:
        write_whole(options.certificate, to_file_text(weight.certificate()))
    print_told(weight.to_json(), options, lambda: _print_gaussian(weight))
    return 0


def _print_gaussian(weight: GaussianWeight) -> None:
    told = weight.to_json()
    if weight.infinite:
        print_line("weight   infinite: the record may be dropped (q = 0)")
    else:
        print_line(f"weight   {told['weight']}   (feasible: rounded down)")
    if weight.upper is not None:
        print_line(f"optimum in [{told['enclosure'][0]}, {told['enclosure'][1]}]")
    print_line(f"target   delta({told['target_epsilon']}) <= {told['target_delta']} after {told['steps']} step(s), each on a fresh sample")
    for direction, delta in told["delta"].items():
        print_line(f"{direction:8} delta <= {delta}")
    print_line(f"zeta     <= {told['zeta']}   (mu at w = 1)")
    print_line(f"method   {told['method']}; {told['evaluations']} evaluations of delta")
