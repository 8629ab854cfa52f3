"""``pdp weights``: optimal weights for a data set, for a target ε* or a target sample size."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.options import JsonOption, ProfileArgument, StatisticOption, TargetSizeOption
from accountant.cli.output import print_as_it_is, print_json, print_line
from profiles.errors import InvalidArgument

NAME = "weights"
HELP = "Compute the optimal weight of every record of a data set (CSV, Parquet, NPY, svmlight), each guaranteed to satisfy psi <= target."
EXAMPLE = """\b
Examples:
  pdp weights examples/lloyd.toml -e 20 --data examples/points.csv \\
    --statistic z=l2 --out weights.csv
  pdp weights examples/lloyd.toml --target-size 3 --data examples/points.csv \\
    --statistic "z=l2(x,y)" --out weights.parquet
"""


def main(
    profile: ProfileArgument,
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="CSV, Parquet, NPY or svmlight file, read in batches")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="CSV, Parquet or NPY file to write, whole or not at all")],
    target_epsilon: Annotated[str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats")] = None,
    target_size: TargetSizeOption = None,
    statistic: StatisticOption = None,
    json: JsonOption = False,  # noqa: FBT002
) -> int:
    """Run the command."""
    from accountant.cli.foreign import load_quietly  # noqa: PLC0415
    from accountant.cli.progress import show_progress  # noqa: PLC0415
    from accountant.dataset import compute_weights_file, parse_statistic  # noqa: PLC0415
    from accountant.dataset.premises import list_weight_premises  # noqa: PLC0415
    from accountant.guarantees import premises_json, render_hypotheses  # noqa: PLC0415
    from accountant.weights.premise import prove_premise  # noqa: PLC0415
    from profiles import decimal_text, exact_text, to_exact  # noqa: PLC0415

    if (target_epsilon is None) == (target_size is None):
        raise InvalidArgument("either --target-epsilon or --target-size is needed, not both; give one of them")
    declaration = load_quietly(profile)
    declared = declaration.profile
    specs = [parse_statistic(text) for text in statistic or []]
    with show_progress("proving the premise"):
        premise = prove_premise(declared, target_epsilon)
    with show_progress("weights", "records") as report:
        summary = compute_weights_file(
            declared,
            data,
            out,
            premise=premise,
            target_epsilon=None if target_epsilon is None else to_exact(target_epsilon, "the target epsilon"),
            target_size=None if target_size is None else to_exact(target_size, "the target size"),
            specs=specs,
            progress=report,
        )
    hypotheses = list_weight_premises(declaration, specs, summary.target_epsilon, from_data=target_size is not None)
    found = {
        "profile": declared.name,
        "target_epsilon": exact_text(summary.target_epsilon),
        "records": summary.rows,
        "expected_sample_size": decimal_text(to_exact(summary.expected_size), 12, round_up=True),
        "weights": {"smallest": summary.min_weight, "largest": _finite(summary.max_weight), "infinite": summary.infinite_rows},
        "certified": {
            "by_rounding_bounds": summary.fast_rows,
            "by_ball_arithmetic": summary.refined_rows,
            "saturated": summary.saturated_rows,
        },
        "premise": premise.evidence,
        "hypotheses": [item.sentence for item in hypotheses],
        "premises": premises_json(hypotheses),
        "out": str(out),
    }
    if json:
        print_json(found)
        return 0
    print_line(f"{summary.rows} weights for target epsilon {found['target_epsilon']} written to {out}")
    print_line(f"expected sample size  {found['expected_sample_size']}")
    ends = [
        decimal_text(to_exact(end), 6, round_up=False) if math.isfinite(end) else "inf" for end in (summary.min_weight, summary.max_weight)
    ]
    print_line(f"weights               {' to '.join(ends)} (rounded down); infinite (never sampled): {summary.infinite_rows}")
    print_line(f"certified feasible    {summary.fast_rows} by rounding bounds, {summary.refined_rows} by ball arithmetic")
    print_line(f"premise               {premise.evidence}")
    print_line("A sample that is drawn with these weights, q = 1/weight, and used once is private with the target epsilon.")
    print_as_it_is("\n".join(render_hypotheses(hypotheses)))
    return 0


def _finite(value: float) -> float | str:
    return value if value < float("inf") else "inf"
