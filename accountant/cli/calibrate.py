"""``pdp calibrate``: the least noise for a target epsilon and a sample size, under one or several sampling rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.completion import complete_rule
from accountant.cli.files import check_files, print_written
from accountant.cli.options import (
    CertificateOption,
    ConstantOption,
    ProfileArgument,
    QOption,
    ScreenOptions,
    ShowValuesOption,
    StatisticOption,
    TargetOption,
    parse_assignments,
)
from accountant.cli.output import print_as_it_is, print_json, print_line, print_table
from accountant.cli.pictures import draw_to, plot_option
from accountant.cli.streams import load_quietly, quiet_output
from accountant.files import write_whole
from accountant.progress import show_progress
from profiles.errors import InvalidArgument
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.calibration import Comparison, RuleResult

HELP = (
    "Find the least noise for a target epsilon and an expected sample size, certified, with the expected error of the weighted sum: for "
    "one sampling rule, or for several to choose from."
)
EXAMPLE = """\b
Examples:
  pdp calibrate examples/lloyd.toml -e 3 --target-size 2000 \\
    --parameter beta_sum=30,beta_count=20.5
  pdp calibrate examples/lloyd.toml -e 3 \\
    --parameter beta_sum=1,beta_count=1.6 --target-size 2000 \\
    --rule uniform --rule coreset-l2 --constant coreset-l2.mean=1.26396
  pdp calibrate examples/lloyd.toml -e 3 --parameter beta_sum --rate 0.1 \\
    --rule uniform --out calibrated.toml --certificate proof.json
"""
_EXIT = {"infeasible": 1, "unknown": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ScreenOptions):
    profile: ProfileArgument
    target_epsilon: TargetOption
    target_size: Annotated[str | None, typer.Option("--target-size", metavar="M", help="expected sample size: the constant m")] = None
    rate: Annotated[str | None, typer.Option("--rate", metavar="R", help="expected share of the records, m/n, in place of M")] = None
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="NAME", help="a sampling rule (repeatable, to compare)", autocompletion=complete_rule),
    ] = None
    q: QOption = None
    constant: ConstantOption = None
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter", metavar="NAME", help="the noise to find; several with proportions, as b=1,c=2; else the 'positive' one"
        ),
    ] = None
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="a data set to compute the error for, and the size of privacy-constrained")
    ] = None
    statistic: StatisticOption = None
    noise_norm: Annotated[
        str | None, typer.Option("--noise-norm", metavar="NORM", help="l1 (Laplace), l2 or linf: density proportional to exp(-norm/scale)")
    ] = None
    dimension: Annotated[int | None, typer.Option("--dimension", metavar="D", help="coordinates of the sum")] = None
    tolerance: Annotated[str, typer.Option("--tolerance", metavar="T", help="relative distance to a noise that is too small")] = "1e-6"
    certificate: CertificateOption = None
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="write the profile with the noise put in (.toml)")] = None
    plot: Annotated[Path | None, plot_option("the certified epsilon against the noise, a line a rule")] = None
    show_values: ShowValuesOption = False


def run(options: Options) -> int:
    from accountant.calibration import calibrate
    from accountant.presenting.noise import can_draw

    _check_outputs(options)
    declaration = load_quietly(options.profile)
    with quiet_output(), show_progress("searching for the least noise"):
        comparison = calibrate(
            declaration,
            options.target_epsilon,
            rules=options.rule or [],
            q=options.q,
            target_size=options.target_size,
            rate=options.rate,
            constants=parse_assignments(options.constant, "--constant"),
            parameters=_read_parameters(options.parameter or []),
            data=options.data,
            specs=options.statistic or [],
            noise_norm=options.noise_norm,
            dimension=options.dimension,
            tolerance=options.tolerance,
        )
    written = _write(comparison, declaration, options.certificate, options.out)
    drawn = options.plot if any(can_draw(choice) for choice in comparison.choices) else None
    draw_to(comparison.plot, drawn)
    if options.json:
        print_json({**comparison.to_json(), "certificate": _name(options.certificate, written), "out": _name(options.out, written)})
    else:
        _print(comparison, everything=options.everything, explain=options.explain)
        print_written(certificate=options.certificate if written else None, picture=drawn)
        if options.plot is not None and drawn is None:
            print_line("no picture is drawn: it shows noise that is certified and public, and there is none")
        if written and options.out is not None:
            print_line(f"profile written to {options.out}; bound it with: pdp epsilon {options.out}")
        _print_private(comparison)
    verdicts = {choice.verdict for choice in comparison.choices}
    return next((code for verdict, code in _EXIT.items() if verdict in verdicts), 0)


def _check_outputs(options: Options) -> None:
    rules = len(options.rule or ()) + (options.q is not None)
    for option, path in (("--certificate", options.certificate), ("--out", options.out)):
        if path is not None and rules > 1:
            raise InvalidArgument(f"{option} was given for {rules} rules, but a file holds the result of one; give one rule")
    check_files(options, {"profile": options.profile, "input": options.data})
    out = options.out
    if out is not None and out.suffix != ".toml":
        raise InvalidArgument(f"the profile was to be written to {out}, but profile files end in .toml; rename it")


def _read_parameters(items: list[str]) -> list[str] | dict[str, object]:
    """Return names, or names with proportions."""
    parts = [part.strip() for item in items for part in item.split(",")]
    if not any("=" in part for part in parts):
        return parts
    return dict(parse_assignments(parts, "--parameter"))


def _write(comparison: Comparison, declaration: Any, certificate: Path | None, out: Path | None) -> bool:
    """Write what was asked for, where there is noise; return whether it was."""
    from accountant.calibration.choices import fill_profile
    from profiles.files import write_toml
    from proofs_check.certificates import to_file_text

    choice = comparison.choices[0]
    if (certificate is None and out is None) or choice.calibration is None:
        return False
    filled = fill_profile(choice, declaration)
    texts = {path: text for path, text in ((out, write_toml(filled)),) if path is not None}
    if certificate is not None:
        texts[certificate] = to_file_text(choice.calibration.derived.certificate())
    for path, text in texts.items():
        write_whole(path, text)
    return True


def _name(path: Path | None, written: bool) -> str | None:  # noqa: FBT001
    return str(path) if written and path is not None else None


def _print(comparison: Comparison, *, everything: bool, explain: bool) -> None:
    from profiles import exact_text

    names = comparison.parameters
    columns = ["rule", *names, "epsilon at most", "sample size", "error of the sum"]
    rows = [_row(choice, names) for choice in comparison.choices]
    print_table(f"noise for epsilon <= {exact_text(comparison.target)}: {comparison.profile.name}", columns, rows)
    one = comparison.noise.dimension == 1
    print_line(
        "error: root mean square of one noisy sum, sqrt(sum over records of (1/q - 1)*|x|^2 + variance of the noise), in "
        f"{'one coordinate' if one else f'{comparison.noise.dimension} coordinates'}, noise of density proportional to "
        f"exp(-{comparison.noise.norm} norm/{names[0]})"
    )
    for choice in comparison.choices:
        _print_choice(choice, everything=everything, explain=explain)


def _row(choice: RuleResult, names: tuple[str, ...]) -> list[str]:
    from profiles import decimal_text, exact_text

    calibration = choice.calibration
    if calibration is None:
        return [choice.rule, *(["-"] * len(names)), choice.verdict, "-", "-"]
    hidden = "private: below"
    noise = [hidden if choice.from_data else decimal_text(calibration.parameters[name], 12, round_up=True) for name in names]
    upper = decimal_text(calibration.derived.bound.upper, 8, round_up=True)
    error = "not known" if choice.error is None else hidden if choice.error.private else f"<= {_shown(choice.error.root_mean_square)}"
    return [choice.rule, *noise, upper, "not known" if choice.size is None else exact_text(choice.size), error]


def _print_choice(choice: RuleResult, *, everything: bool, explain: bool) -> None:
    from accountant.guarantees import render_basis
    from profiles import decimal_text, exact_text

    print_line("")
    print_line(f"{choice.rule}: {choice.verdict}")
    calibration = choice.calibration
    if calibration is None:
        print_line(f"    {choice.reason}")
        return
    if choice.from_data:
        print_line("    the noise is a function of the data: no guarantee covers it; publish neither it nor a file with it")
    elif calibration.smallest:
        print_line(
            f"    least noise: with {exact_text(calibration.too_small or calibration.scale)} in place of "
            f"{exact_text(calibration.scale)} epsilon is above the target"
        )
    else:
        print_line("    this noise is enough; it is not proved that less is not")
    if choice.error is not None and not choice.error.private:
        print_line(f"    error: for {choice.error.basis}; {_split(choice)}")
    if choice.error_reason is not None:
        print_line(f"    error: not known; {choice.error_reason}")
    if choice.from_data:
        print_as_it_is("\n".join(render_basis(calibration.derived.guarantee, everything=everything, explain=explain)))
        print_line(f"epsilon <= {decimal_text(calibration.derived.bound.upper, 12, round_up=True)}")
    else:
        print_as_it_is(calibration.derived.render(everything=everything, explain=explain).rstrip())


def _print_private(comparison: Comparison) -> None:
    """Print what depends on the data set, last."""
    from profiles import exact_text

    lines = []
    for choice in comparison.choices:
        if choice.calibration is not None and choice.from_data:
            noise = ", ".join(f"{name} = {exact_text(value)}" for name, value in choice.calibration.parameters.items())
            size = "" if choice.calibration.size is None else f", expected sample size {_shown(choice.calibration.size)}"
            lines.append(f"{choice.rule}: {noise}{size}")
        if choice.error is not None and choice.error.private:
            lines.append(f"{choice.rule}: error of the sum {_shown(choice.error.root_mean_square)}; {_split(choice)}")
    if lines:
        print_line("")
        print_line(f"{EYES_ONLY}, because it depends on this data set and no guarantee covers it:")
        for line in lines:
            print_line(f"    {line}")


def _split(choice: RuleResult) -> str:
    error = choice.error
    return "" if error is None else f"variance {_shown(error.sampling)} from sampling, {_shown(error.noise)} from noise"


def _shown(value: float) -> str:
    from accountant.calibration.sum_error import shown

    return shown(value)
