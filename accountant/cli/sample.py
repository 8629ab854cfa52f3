"""``pdp sample``: draw a Poisson importance sample of a data set, with a certificate of what one analysis of it costs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.charging import ReleaseOptions, check_ledger, note_of, open_ledger
from accountant.cli.files import check_files, list_outputs, print_written
from accountant.cli.ledger_verbs.spending import say_spending
from accountant.cli.options import (
    ConstantOption,
    OutOption,
    PrivateStatisticsOption,
    ProfileArgument,
    QOption,
    RuleOption,
    SeedOption,
    StatisticOption,
    StepsOption,
    TargetDeltaOption,
    TargetSizeOption,
    parse_assignments,
    parse_statistics,
)
from accountant.cli.output import print_as_it_is, print_json, print_line, warn
from accountant.cli.pictures import draw_to, plot_option
from accountant.cli.streams import load_quietly, quiet_output
from accountant.deltas import warn_of_records
from accountant.progress import show_progress
from profiles.errors import InvalidArgument, InvalidData
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.ledger import Receipt

HELP = (
    "Draw a Poisson importance sample of a data set (CSV, Parquet, NPY): the selected rows with weight and q, written atomically, and a "
    "certificate of the epsilon of one analysis of it. The epsilon without sampling is printed beside it."
)
EXAMPLE = """\b
Examples:
  pdp sample examples/lloyd.toml -e 1.1 --data examples/points.csv \\
    --statistic z=l2 --out sample.csv
  pdp sample examples/lloyd.toml --q 1/2 --data examples/points.csv \\
    --statistic z=l2 --out sample.parquet
  pdp sample examples/lloyd.toml -e 5 --private-statistics 1 \\
    --rule coreset-l2 --constant m=50 --data examples/points.csv \\
    --statistic z=l2 --out second.csv
  pdp sample examples/gaussian.toml -e 1 --target-delta 1e-5 --target-size 10 \\
    --data examples/points.csv --statistic z=l2 --out third.csv
  pdp sample examples/gaussian.toml --q "1/2 + z/20" --delta 1e-5 \\
    --data examples/points.csv --statistic z=l2 --out fourth.csv
"""
_REDRAWN = "the sample that was there is replaced: one that is drawn again because of the first has no guarantee"
_USE = "use it as it is       even if it is empty or small: a sample that is drawn again has no guarantee"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ReleaseOptions):
    profile: ProfileArgument
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="CSV, Parquet or NPY file, read in batches")]
    out: OutOption
    target_epsilon: Annotated[
        str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats: privacy-constrained weights")
    ] = None
    target_delta: TargetDeltaOption = None
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="D", help="the delta at which epsilon is bounded, with --rule or --q under Gaussian noise"),
    ] = None
    steps: StepsOption = None
    target_size: TargetSizeOption = None
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None
    private_statistics: PrivateStatisticsOption = None
    statistic: StatisticOption = None
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="where to write the certificate, by default beside --out")
    ] = None
    plot: Annotated[Path | None, plot_option("the probability of selection against each of the first three statistics")] = None
    seed: SeedOption = None
    force: Annotated[
        bool,
        typer.Option("--force", help="overwrite an existing sample; a sample that is drawn again has no guarantee"),
    ] = False
    include_private: Annotated[
        bool, typer.Option("--include-private", help="put figures of this data set into the certificate, which must then not be published")
    ] = False


def run(options: Options) -> int:
    from accountant.presenting.samples import require_statistics
    from accountant.samples.drawing import name_certificate

    certificate = options.certificate or name_certificate(options.out)
    options = replace(options, certificate=certificate)
    check_ledger(options)
    check_files(options, {"profile": options.profile, "input": options.data})
    if options.plot is not None:
        require_statistics(load_quietly(options.profile).profile)
    if os.path.exists(options.out) and os.path.exists(certificate):
        if not options.force:
            raise InvalidArgument(
                f"there is a sample at {options.out} with its certificate, and one that is drawn again because of it has no "
                f"guarantee: use it as it is, even if it is empty or small; name another --out for another release, or write over "
                f"it with --force"
            )
        with warn((_REDRAWN,), as_json=options.json):
            return _run(options)
    return _run(options)


def _run(options: Options) -> int:
    from accountant.guarantees import render_basis
    from accountant.samples import sample_file, to_certificate

    if options.private_statistics is not None:
        return _run_within(options)
    with quiet_output(), show_progress(f"sample, {EYES_ONLY}", "records") as report:
        planned, chosen, receipt = _charge(options)
        summary = sample_file(
            planned,
            options.data,
            options.out,
            certificate=options.certificate,
            source=options.seed,
            target_size=options.target_size,
            include_private=options.include_private,
            progress=lambda done: report(done, None),
            **chosen,
        )
        if receipt is not None:
            _require_same(receipt, summary.out, summary.certificate)
    draw_to(summary.plan.plot, options.plot, private=options.target_size is not None)
    certificate = to_certificate(
        summary.plan,
        summary.guarantee,
        summary.source,
        private=summary.private,
        publishable=options.target_size is None and not options.include_private,
    )
    certificate = {
        **{name: value for name, value in certificate.items() if name != "proof"},
        "out": str(summary.out),
        "certificate": str(summary.certificate),
        "steps": summary.plan.steps,
        **summary.plan.derived.compare_with_unsampled(),
    }
    certificate["private"] = warn_of_records(certificate["private"], options.delta, options.target_delta)
    basis = render_basis(summary.guarantee, everything=options.everything, explain=options.explain)
    if options.json:
        print_json(certificate)
    else:
        _print(certificate, summary.plan.derived.describe_unsampled(), basis)
        print_written(picture=options.plot)
    return 0


def _run_within(options: Options) -> int:
    """Draw a sample by a rule that is made of released statistics."""
    from accountant.applications.statistics import sample_file_within
    from accountant.cli.statistics import refuse_beside, tell_result

    refuse_beside(options, "q", "target_size", "target_delta", "delta", "steps", "include_private", "plot")
    with quiet_output(), show_progress(f"sample, {EYES_ONLY}", "records") as report, open_ledger(options) as ledger:
        summary = sample_file_within(
            options.profile,
            options.data,
            options.out,
            epsilon=options.target_epsilon,
            private_statistics=options.private_statistics,
            rule=options.rule,
            constants=parse_assignments(options.constant, "--constant") or None,
            certificate=options.certificate,
            specs=parse_statistics(options.statistic),
            source=options.seed,
            ledger=ledger,
            name=options.name,
            progress=lambda done: report(done, None),
        )
    private = summary.private.to_json()
    counted = f"{private['records']} records, {private['sample_size']} selected"
    lines = (
        f"sample for one analysis written to {summary.out}",
        _USE,
        f"certificate           {summary.certificate} (may be published); check it with: pdp check {summary.certificate}",
        f"{EYES_ONLY}    {counted}" + ("" if private["seed"] is None else f", seed {private['seed']}"),
    )
    return tell_result(summary, {"out": str(summary.out), "certificate": str(summary.certificate)}, private, lines, options=options)


def _require_same(receipt: Receipt, *written: Path) -> None:
    """Take back a sample of a file that is not the one that was charged any more. Raises :class:`profiles.InvalidData`."""
    try:
        receipt.require_same()
    except InvalidData:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _charge(options: Options) -> tuple[Any, dict[str, Any], Receipt | None]:
    """Return what is sampled, and how; with a ledger after it was charged, of which there is the receipt, from the units that have room."""
    specs = parse_statistics(options.statistic)
    rule: dict[str, Any] = {
        "rule": options.rule,
        "q": options.q,
        "constants": parse_assignments(options.constant, "--constant") or None,
        "target_epsilon": options.target_epsilon,
        "target_delta": options.target_delta,
        "delta": options.delta,
        "steps": options.steps,
    }
    if options.ledger is None:
        return options.profile, {"specs": specs, **rule}, None
    if options.target_size is not None:
        raise InvalidArgument("a target size depends on the data, and no ledger charges it; give --target-epsilon in its place")
    from accountant.data import complete_specs
    from accountant.data.writers import output_format
    from accountant.ledger import Ledger, writing
    from accountant.ledger.rows import leave_out
    from accountant.samples import plan_sample

    output_format(options.out)
    plan = plan_sample(options.profile, **rule)
    with Ledger.open(options.ledger, anchor=options.anchor, partial=options.partial, note=note_of(options)) as ledger:
        writing.check_outputs(ledger, *list_outputs(options))
        room = ledger.look_ahead(plan)
        receipt = ledger.charge(str(options.name), plan, options.data, statistics=specs)
        for line in () if options.json else say_spending(room):
            print_line(line)
        complete = complete_specs(plan.profile, specs)
        chosen = {"specs": [leave_out(spec, ledger.settings.key) for spec in complete], "active": receipt.active}
        return plan, chosen, receipt


def _print(told: dict[str, Any], beside: Sequence[str], lines: list[str]) -> None:
    from profiles import decimal_text, to_exact

    private = told["private"]
    expected = decimal_text(to_exact(private["expected_sample_size"]), 6, round_up=True)
    runs = ", then ".join(told["runs"])
    print_line(f"sample for one analysis ({runs}) written to {told['out']}")
    print_line(f"epsilon               <= {told['epsilon']['upper']} nats, add/remove of one record; checked by kernel: {_yes(told)}")
    if "delta" in told["epsilon"]:
        print_line(f"delta                 {told['epsilon']['delta']}, {_say_steps(told)}")
    for line in beside:
        print_line(line)
    print_line(f"rule                  {told['rule']['name']}" + ("" if told["rule"]["q"] is None else f", q = {told['rule']['q']}"))
    print_line(f"draws                 {told['sampler']['draws']}, {told['sampler']['randomness']}")
    print_line(_USE)
    print_as_it_is("\n".join(lines))
    share = "may be published" if told["publishable"] else "must not be published: it depends on this data set"
    print_line(f"certificate           {told['certificate']} ({share}); check it with: pdp check {told['certificate']}")
    for text in private.get("warnings", ()):
        print_line(f"{EYES_ONLY}    warning: {text}")
    counted = f"{private['records']} records, {private['sample_size']} selected, at most {expected} expected"
    print_line(f"{EYES_ONLY}    {counted}" + ("" if private["seed"] is None else f", seed {private['seed']}"))


def _say_steps(told: dict[str, Any]) -> str:
    steps = told["steps"]
    return "for one sample and its analysis" if steps == 1 else f"for {steps} fresh samples by this plan, with an analysis each, together"


def _yes(told: dict[str, Any]) -> str:
    return "yes" if told["checked_by_kernel"] else "no"
