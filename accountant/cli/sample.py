"""``pdp sample``: draw a Poisson importance sample of a data set, with a certificate of what one analysis of it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from accountant.cli.options import (
    AllOption,
    ConstantOption,
    JsonOption,
    ProfileArgument,
    QOption,
    RuleOption,
    ShowValuesOption,
    StatisticOption,
    TargetSizeOption,
    parse_assignments,
)
from accountant.cli.output import print_as_it_is, print_json, print_line
from profiles.private import EYES_ONLY

NAME = "sample"
HELP = (
    "Draw a Poisson importance sample of a data set (CSV, Parquet, NPY): the selected rows with weight and q, whole or not at all, and a "
    "certificate of the epsilon of one analysis of it. Beside that epsilon stands the one without sampling."
)
EXAMPLE = """\b
Examples:
  pdp sample examples/lloyd.toml -e 1.1 --data examples/points.csv \\
    --statistic z=l2 --out sample.csv
  pdp sample examples/lloyd.toml --q 1/2 --data examples/points.csv \\
    --statistic z=l2 --out sample.parquet
"""
IncludePrivateOption = Annotated[
    bool, typer.Option("--include-private", help="put figures of this data set into the certificate, which must then not be published")
]


def main(
    profile: ProfileArgument,
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="CSV, Parquet or NPY file, read in batches")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="CSV, Parquet or NPY file to write, whole or not at all")],
    target_epsilon: Annotated[
        str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats: privacy-constrained weights")
    ] = None,
    target_size: TargetSizeOption = None,
    rule: RuleOption = None,
    q: QOption = None,
    constant: ConstantOption = None,
    statistic: StatisticOption = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="where to write the certificate, by default beside --out")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="draw with a seeded generator in place of the system's secure source")
    ] = None,
    include_private: IncludePrivateOption = False,  # noqa: FBT002
    everything: AllOption = False,  # noqa: FBT002
    show_values: ShowValuesOption = False,  # noqa: ARG001, FBT002 - read where refusals are printed
    json: JsonOption = False,  # noqa: FBT002
) -> int:
    """Run the command."""
    from accountant.cli.foreign import quiet_output  # noqa: PLC0415
    from accountant.cli.progress import show_progress  # noqa: PLC0415
    from accountant.data import parse_statistic  # noqa: PLC0415
    from accountant.guarantees import render_premises  # noqa: PLC0415
    from accountant.samples import sample_file, to_certificate  # noqa: PLC0415

    with quiet_output(), show_progress(f"sample, {EYES_ONLY}", "records") as report:
        summary = sample_file(
            profile,
            data,
            out,
            certificate=certificate,
            specs=[parse_statistic(text) for text in statistic or []],
            source=seed,
            target_size=target_size,
            include_private=include_private,
            progress=lambda done: report(done, None),
            rule=rule,
            q=q,
            constants=parse_assignments(constant or [], "--constant") or None,
            target_epsilon=target_epsilon,
        )
    found = to_certificate(
        summary.plan, summary.guarantee, summary.source, private=summary.private, publishable=target_size is None and not include_private
    )
    found = {
        **{name: value for name, value in found.items() if name != "proof"},
        "out": str(summary.out),
        "certificate": str(summary.certificate),
        **summary.plan.derived.compare_with_unsampled(),
    }
    if json:
        print_json(found)
    else:
        _print(found, summary.plan.derived.describe_unsampled(), render_premises(summary.guarantee, everything=everything))
    return 0


def _print(found: dict[str, Any], beside: Sequence[str], lines: list[str]) -> None:
    from profiles import decimal_text, to_exact  # noqa: PLC0415

    private = found["private"]
    expected = decimal_text(to_exact(private["expected_sample_size"]), 6, round_up=True)
    runs = ", then ".join(found["runs"])
    print_line(f"sample for one analysis ({runs}) written to {found['out']}")
    print_line(f"epsilon               {found['epsilon']['upper']} nats, add/remove of one record; checked by kernel: {_yes(found)}")
    for line in beside:
        print_line(line)
    print_line(f"rule                  {found['rule']['name']}" + ("" if found["rule"]["q"] is None else f", q = {found['rule']['q']}"))
    print_line(f"draws                 {found['sampler']['draws']}, {found['sampler']['randomness']}")
    print_line("use it as it is       also if it is empty or small: a sample that is drawn again has no guarantee")
    print_as_it_is("\n".join(lines))
    share = "may be published" if found["publishable"] else "must not be published: it depends on this data set"
    print_line(f"certificate           {found['certificate']} ({share}); check it with: pdp check {found['certificate']}")
    counted = f"{private['records']} records, {private['sample_size']} selected, at most {expected} expected"
    print_line(f"{EYES_ONLY}    {counted}" + ("" if private["seed"] is None else f", seed {private['seed']}"))


def _yes(found: dict[str, Any]) -> str:
    return "yes" if found["checked_by_kernel"] else "no"
