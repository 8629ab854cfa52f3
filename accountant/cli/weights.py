"""``pdp weights``: optimal weights for a data set, for a target ε* or a target sample size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.files import check_files, print_told
from accountant.cli.options import (
    AllOption,
    JsonOption,
    OutOption,
    PrivateStatisticsOption,
    ProfileArgument,
    ShowValuesOption,
    StatisticOption,
    StepsOption,
    TargetDeltaOption,
    TargetSizeOption,
    parse_statistics,
    refuse_without_delta,
    require_delta,
)
from accountant.cli.output import print_as_it_is, print_line
from accountant.cli.pictures import draw_to, plot_option, refuse_plot
from accountant.cli.streams import load_quietly
from accountant.deltas import warn_of_records
from accountant.files import write_whole
from accountant.progress import show_progress
from profiles.errors import InvalidArgument
from profiles.notions import ProfileNotion
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.data import WeightsSummary
    from profiles import Declaration

HELP = (
    "Compute the optimal weight of every record of a data set (CSV, Parquet, NPY, svmlight), each guaranteed to satisfy psi <= "
    "target; or, for a profile in the notion gaussian, delta at epsilon <= target after some steps on fresh samples."
)
EXAMPLE = """\b
Examples:
  pdp weights examples/lloyd.toml -e 20 --data examples/points.csv \\
    --statistic z=l2 --out weights.csv
  pdp weights examples/lloyd.toml --target-size 3 --data examples/points.csv \\
    --statistic "z=l2(x,y)" --out weights.parquet
  pdp weights examples/lloyd.toml -e 20 --private-statistics 0.5 \\
    --data examples/points.csv --statistic z=l2 --out weights.csv
  pdp weights examples/gaussian.toml -e 1 --target-delta 1e-5 \\
    --data examples/points.csv --statistic z=l2 --out weights.csv
"""


@dataclass(frozen=True, slots=True)
class Options:
    profile: ProfileArgument
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="CSV, Parquet, NPY or svmlight file, read in batches")]
    out: OutOption
    target_epsilon: Annotated[str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats")] = None
    target_size: TargetSizeOption = None
    target_delta: TargetDeltaOption = None
    steps: StepsOption = None
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="with --target-delta: write the table of weights to a certificate file"),
    ] = None
    private_statistics: PrivateStatisticsOption = None
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="with --private-statistics: a seeded generator in place of the secure source")
    ] = None
    statistic: StatisticOption = None
    plot: Annotated[Path | None, plot_option("the weight against each of the first three statistics")] = None
    everything: AllOption = False
    show_values: ShowValuesOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    from accountant.data import compute_weights_file
    from accountant.data.weighing import gather_weight_hypotheses
    from accountant.guarantees import hypotheses_json, render_hypotheses
    from accountant.weights.convexity import prove_convexity
    from profiles import exact_text, to_exact

    if options.private_statistics is not None:
        return _run_within(options)
    if options.seed is not None:
        raise InvalidArgument("--seed was given, but nothing is drawn; it belongs to --private-statistics")
    declaration = load_quietly(options.profile)
    declared = declaration.profile
    if options.target_delta is not None or declared.notion is ProfileNotion.GAUSSIAN:
        return _run_gaussian(declaration, options)
    refuse_without_delta(options.steps, options.certificate)
    check_files(options, {"profile": options.profile, "input": options.data})
    if (options.target_epsilon is None) == (options.target_size is None):
        raise InvalidArgument("either --target-epsilon or --target-size is needed, not both; give one of them")
    specs = parse_statistics(options.statistic)
    with show_progress("proving that exp(epsilon) is convex"):
        convexity = prove_convexity(declared, options.target_epsilon)
    with show_progress(f"weights, {EYES_ONLY}", "records") as report:
        summary = compute_weights_file(
            declared,
            options.data,
            options.out,
            convexity=convexity,
            target_epsilon=None if options.target_epsilon is None else to_exact(options.target_epsilon, "the target epsilon"),
            target_size=None if options.target_size is None else to_exact(options.target_size, "the target size"),
            specs=specs,
            progress=report,
        )
    target, sized = exact_text(summary.target_epsilon), options.target_size is not None
    hypotheses = gather_weight_hypotheses(declaration, specs, summary.target_epsilon, from_data=sized)
    if options.plot is not None:
        from accountant.presenting.charting import TargetWeights, plot_weights

        asked = TargetWeights(declared, summary.target_epsilon)
        draw_to(lambda: plot_weights(asked), options.plot, private=sized)
    told = {
        "profile": declared.name,
        "target_epsilon": None if sized else target,
        "proved": convexity.evidence,
        "hypotheses": [item.sentence for item in hypotheses],
        "premises": hypotheses_json(hypotheses),
        "out": str(options.out),
        "private": {**({"target_epsilon": target} if sized else {}), **_tell_private(summary)},
    }
    print_told(told, options, lambda: _print(told, render_hypotheses(hypotheses, everything=options.everything)))
    return 0


def _run_within(options: Options) -> int:
    """Weigh a data set, and release how many records it has."""
    from accountant.applications.statistics import weigh_file_within
    from accountant.cli.statistics import refuse_beside, tell_result

    refuse_beside(options, "target_size", "target_delta", "steps", "certificate", "plot")
    declaration = load_quietly(options.profile)
    with show_progress(f"weights, {EYES_ONLY}", "records") as report:
        summary = weigh_file_within(
            declaration,
            options.data,
            options.out,
            epsilon=options.target_epsilon,
            private_statistics=options.private_statistics,
            specs=parse_statistics(options.statistic),
            source=options.seed,
            progress=report,
        )
    lines = (f"weights written to {options.out}", "", f"{EYES_ONLY}    {summary.private.rows} records")
    return tell_result(summary, {"out": str(options.out)}, _tell_private(summary.private), lines, options=options)


def _run_gaussian(declaration: Declaration, options: Options) -> int:
    """Weigh a data set under Gaussian noise."""
    from accountant.data import compute_gaussian_weights_file
    from accountant.guarantees import hypotheses_json, render_hypotheses
    from profiles import exact_text

    require_delta(declaration.profile, options.target_delta)
    refuse_plot(options.plot, "a table of weights under Gaussian noise")
    if options.target_epsilon is None:
        raise InvalidArgument("a target delta was given without --target-epsilon, which it needs, even beside a target size; add it")
    check_files(options, {"profile": options.profile, "input": options.data})
    with show_progress(f"weights, {EYES_ONLY}", "records") as report:
        summary = compute_gaussian_weights_file(
            declaration,
            options.data,
            options.out,
            target_epsilon=options.target_epsilon,
            target_delta=options.target_delta,
            steps=1 if options.steps is None else options.steps,
            target_size=options.target_size,
            specs=parse_statistics(options.statistic),
            progress=report,
        )
    derived = summary.derived
    if options.certificate is not None:
        write_whole(options.certificate, derived.weights.to_text())
    scale = {} if derived.scale is None else {"scale": exact_text(derived.scale)}
    told = {
        "profile": declaration.profile.name,
        "notion": ProfileNotion.GAUSSIAN.value,
        "target_epsilon": exact_text(derived.target.epsilon),
        "target_delta": exact_text(derived.target.delta),
        "steps": derived.target.steps,
        "proved": f"mu(w, x) = w*mu(1, x) and mu(1, x) <= {exact_text(derived.weights.proved.reach)}, checked by the kernel",
        "rows_of_table": len(derived.weights.table.rows),
        "checked_by_kernel": True,
        "hypotheses": [item.sentence for item in summary.hypotheses],
        "premises": hypotheses_json(summary.hypotheses),
        "out": str(options.out),
        "private": warn_of_records({**scale, **_tell_private(summary.summary)}, derived.target.delta),
    }
    print_told(told, options, lambda: _print(told, render_hypotheses(summary.hypotheses, everything=options.everything)))
    return 0


def _tell_private(summary: WeightsSummary) -> dict[str, Any]:
    """Return the figures of a data set, which no guarantee covers."""
    from profiles import decimal_text, to_exact

    return {
        "records": summary.rows,
        "expected_sample_size": decimal_text(to_exact(summary.expected_size), 12, round_up=True),
        "weights": {"smallest": _finite(summary.min_weight), "largest": _finite(summary.max_weight), "infinite": summary.infinite_rows},
        "certified": {
            "by_rounding_bounds": summary.fast_rows,
            "by_ball_arithmetic": summary.refined_rows,
            "saturated": summary.saturated_rows,
        },
    }


def _print(told: dict[str, Any], lines: list[str]) -> None:
    from profiles.protection import Neighbors, Protection, Unit

    private = told["private"]
    print_line(f"weights for {'the target size' if told['target_epsilon'] is None else _target(told)} written to {told['out']}")
    print_line(_say_use(told))
    print_line(f"protects              {Unit.RECORD.value}; {Protection(Unit.RECORD, Neighbors.ADD_REMOVE).describe()}")
    checked = "yes" if told.get("checked_by_kernel") else "no; it is proved of the profile"
    print_line(f"checked by kernel     {checked}: {told['proved']}")
    if "rows_of_table" in told:
        print_line(f"table of weights      {told['rows_of_table']} rows, made without the data; each was checked by the kernel")
    print_as_it_is("\n".join(lines))
    print_line(f"{EYES_ONLY}, because it depends on this data set and no guarantee covers it:")
    if "target_epsilon" in private:
        print_line(f"    {_target(private)}")
    if "scale" in private:
        print_line(f"    scale {private['scale']}: weights are at most scale/mu(1, x)")
    print_line(f"    {private['records']} records, expected sample size {private['expected_sample_size']}")
    for text in private.get("warnings", ()):
        print_line(f"    warning: {text}")
    weights, certified = private["weights"], private["certified"]
    ends = " to ".join(_shorten(weights[name]) for name in ("smallest", "largest"))
    print_line(f"    weights {ends} (rounded down); infinite (never sampled): {weights['infinite']}")
    print_line(
        f"    certified feasible: {certified['by_rounding_bounds']} by rounding bounds, "
        f"{certified['by_ball_arithmetic']} by ball arithmetic"
    )


def _say_use(told: dict[str, Any]) -> str:
    """Return the line with the number, and its side: that of a target which is private is told with what is private."""
    bound = "the target below" if told["target_epsilon"] is None else f"{told['target_epsilon']} nats"
    if "target_delta" not in told:
        return f"epsilon               <= {bound}, of a sample drawn with these weights, q = 1/weight, and used once"
    samples = "of a sample" if told["steps"] == 1 else f"of {told['steps']} fresh samples together"
    bound = f"{bound}, delta <= {told['target_delta']}"
    return f"epsilon               <= {bound}, {samples}, drawn with the probabilities q and used once"


def _target(told: dict[str, Any]) -> str:
    if "target_delta" not in told:
        return f"target epsilon {told['target_epsilon']}"
    after = "" if told["steps"] == 1 else f", all {told['steps']} steps together"
    return f"target epsilon {told['target_epsilon']} at delta {told['target_delta']}{after}"


def _shorten(value: float | str) -> str:
    from profiles import decimal_text, to_exact

    return value if isinstance(value, str) else decimal_text(to_exact(value), 6, round_up=False)


def _finite(value: float) -> float | str:
    return value if value < float("inf") else "inf"
