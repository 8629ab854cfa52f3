"""``pdp weights``: optimal weights for a data set, for a target ε* or a target sample size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from accountant.cli.options import JsonOption, OutOption, ProfileArgument, ShowValuesOption, StatisticOption, TargetSizeOption
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.cli.progress import show_progress
from accountant.cli.streams import load_quietly
from profiles.errors import InvalidArgument
from profiles.private import EYES_ONLY

HELP = "Compute the optimal weight of every record of a data set (CSV, Parquet, NPY, svmlight), each guaranteed to satisfy psi <= target."
EXAMPLE = """\b
Examples:
  pdp weights examples/lloyd.toml -e 20 --data examples/points.csv \\
    --statistic z=l2 --out weights.csv
  pdp weights examples/lloyd.toml --target-size 3 --data examples/points.csv \\
    --statistic "z=l2(x,y)" --out weights.parquet
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    profile: ProfileArgument
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="CSV, Parquet, NPY or svmlight file, read in batches")]
    out: OutOption
    target_epsilon: Annotated[str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats")] = None
    target_size: TargetSizeOption = None
    statistic: StatisticOption = None
    show_values: ShowValuesOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command."""
    from accountant.data import compute_weights_file, parse_statistic
    from accountant.data.weighing import list_weight_premises
    from accountant.guarantees import premises_json, render_hypotheses
    from accountant.weights.premise import prove_premise
    from profiles import decimal_text, exact_text, to_exact

    if (options.target_epsilon is None) == (options.target_size is None):
        raise InvalidArgument("either --target-epsilon or --target-size is needed, not both; give one of them")
    declaration = load_quietly(options.profile)
    declared = declaration.profile
    specs = [parse_statistic(text) for text in options.statistic or []]
    with show_progress("proving the premise"):
        premise = prove_premise(declared, options.target_epsilon)
    with show_progress(f"weights, {EYES_ONLY}", "records") as report:
        summary = compute_weights_file(
            declared,
            options.data,
            options.out,
            premise=premise,
            target_epsilon=None if options.target_epsilon is None else to_exact(options.target_epsilon, "the target epsilon"),
            target_size=None if options.target_size is None else to_exact(options.target_size, "the target size"),
            specs=specs,
            progress=report,
        )
    target, sized = exact_text(summary.target_epsilon), options.target_size is not None
    hypotheses = list_weight_premises(declaration, specs, summary.target_epsilon, from_data=sized)
    found = {
        "profile": declared.name,
        "target_epsilon": None if sized else target,
        "premise": premise.evidence,
        "hypotheses": [item.sentence for item in hypotheses],
        "premises": premises_json(hypotheses),
        "out": str(options.out),
        "private": {
            **({"target_epsilon": target} if sized else {}),
            "records": summary.rows,
            "expected_sample_size": decimal_text(to_exact(summary.expected_size), 12, round_up=True),
            "weights": {"smallest": _finite(summary.min_weight), "largest": _finite(summary.max_weight), "infinite": summary.infinite_rows},
            "certified": {
                "by_rounding_bounds": summary.fast_rows,
                "by_ball_arithmetic": summary.refined_rows,
                "saturated": summary.saturated_rows,
            },
        },
    }
    if options.json:
        print_json(found)
    else:
        _print(found, render_hypotheses(hypotheses))
    return 0


def _print(found: dict[str, Any], lines: list[str]) -> None:
    private = found["private"]
    print_line(f"weights for {'the target size' if found['target_epsilon'] is None else _target(found)} written to {found['out']}")
    print_line(f"premise               {found['premise']}")
    print_line("A sample that is drawn with these weights, q = 1/weight, and used once is private with the target epsilon.")
    print_as_it_is("\n".join(lines))
    print_line(f"{EYES_ONLY}, because it depends on this data set and no guarantee covers it:")
    if "target_epsilon" in private:
        print_line(f"    {_target(private)}")
    print_line(f"    {private['records']} records, expected sample size {private['expected_sample_size']}")
    weights, certified = private["weights"], private["certified"]
    ends = " to ".join(_shorten(weights[name]) for name in ("smallest", "largest"))
    print_line(f"    weights {ends} (rounded down); infinite (never sampled): {weights['infinite']}")
    print_line(
        f"    certified feasible: {certified['by_rounding_bounds']} by rounding bounds, "
        f"{certified['by_ball_arithmetic']} by ball arithmetic"
    )


def _target(found: dict[str, Any]) -> str:
    return f"target epsilon {found['target_epsilon']}"


def _shorten(value: float | str) -> str:
    from profiles import decimal_text, to_exact

    return value if isinstance(value, str) else decimal_text(to_exact(value), 6, round_up=False)


def _finite(value: float) -> float | str:
    return value if value < float("inf") else "inf"
