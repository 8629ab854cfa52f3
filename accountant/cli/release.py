"""``pdp release``: noisy answers from a table, each with its error, under one guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import prepare
from accountant.cli.charging import KeyOption, ReleaseOptions, make_analysis, open_ledger, refuse_alone
from accountant.cli.files import print_written
from accountant.cli.options import SeedOption
from accountant.cli.output import print_json, print_line
from accountant.cli.pictures import draw, plot_option
from accountant.cli.release_output import print_plan, print_released, release_bytes, tell_plan, tell_release
from accountant.files import check_public, write_files
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.answers import Released, ReleasePlan
    from accountant.applications.answers.requests import Request

HELP = (
    "Release counts, sums, means, variances, histograms and quantiles of a table (CSV, Parquet; one row per record) with noise: "
    "every answer "
    "with its error, and one epsilon for all of them. Clips, categories and grids are declared, never read from the data."
)
EXAMPLE = """\b
Examples:
  pdp release --count --sum income --clip income=0:100000 -e 1 --plan
  pdp release examples/people.csv --count --mean income \\
    --clip income=0:100 -e 1 --out answers.json
  pdp release examples/people.csv -e 1 --histogram id=ada,ben \\
    --where "income > 10" --out answers.csv --certificate c.json
  pdp check c.json
"""
_LARGEST_LIST = 1 << 28


def _repeat(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=f"{text} (repeatable)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ReleaseOptions):
    data: Annotated[Path | None, typer.Argument(metavar="DATA", help="CSV or Parquet file; --plan needs none")] = None
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", metavar="E", help="epsilon in nats, of everything that is released together")]
    delta: Annotated[str | None, typer.Option("--delta", metavar="D", help="a delta in (0, 1): the noise is then normal")] = None
    notion: Annotated[str | None, typer.Option("--notion", metavar="N", help="pure, or gaussian with a --delta")] = None
    count: Annotated[bool, typer.Option("--count", help="how many rows there are")] = False
    sum: Annotated[list[str] | None, _repeat("--sum", "COLUMN", "the sum of a column")] = None
    mean: Annotated[list[str] | None, _repeat("--mean", "COLUMN", "the mean of a column")] = None
    variance: Annotated[list[str] | None, _repeat("--variance", "COLUMN", "the variance of a column")] = None
    histogram: Annotated[
        list[str] | None,
        _repeat("--histogram", "COLUMN=a,b,c", "the number of rows of each declared category; COLUMN=@FILE has one per line"),
    ] = None
    quantile: Annotated[list[str] | None, _repeat("--quantile", "COLUMN=0.5", "a quantile of a column: one point of its --grid")] = None
    clip: Annotated[
        list[str] | None, _repeat("--clip", "COLUMN=low:high", "the declared range into which the numbers of a column are moved")
    ] = None
    grid: Annotated[list[str] | None, _repeat("--grid", "COLUMN=low:high:step", "the declared points of a quantile")] = None
    integer: Annotated[
        str | None, typer.Option("--integer", metavar="a,b", help="columns of whole numbers, where the file does not say so (CSV)")
    ] = None
    where: Annotated[
        str | None, typer.Option("--where", metavar="TEXT", help='which rows: a filter of single rows, such as "year = 2025"')
    ] = None
    by: Annotated[list[str] | None, _repeat("--by", "COLUMN=a,b,c", "every answer for each of these declared groups")] = None
    share: Annotated[
        list[str] | None, _repeat("--share", '"ANSWER=S"', 'the share of epsilon of an answer, such as "sum income=2"; others have 1')
    ] = None
    expect: Annotated[
        list[str] | None,
        _repeat(
            "--expect",
            '"ANSWER=X"',
            "about how large each answer is, from public knowledge: epsilon is divided for the least relative errors",
        ),
    ] = None
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="N", help="with --plan: about how many rows there are, for the error of means")
    ] = None
    plan: Annotated[bool, typer.Option("--plan", help="say how much noise each answer will have; needs no data, and spends nothing")] = (
        False
    )
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="JSON, CSV or Parquet file to write, atomically")] = None
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="write the certificate of the events, for pdp check")
    ] = None
    guarantee: Annotated[Path | None, typer.Option("--guarantee", metavar="FILE", help="write the guarantee, for pdp compose")] = None
    report: Annotated[Path | None, typer.Option("--report", metavar="FILE", help="write the release as one HTML page")] = None
    plot: Annotated[Path | None, plot_option("each answer with the 95% interval of its noise")] = None
    seed: SeedOption = None
    key: KeyOption = None


def run(options: Options) -> int:
    from accountant.applications.answers import plan_release
    from accountant.applications.answers.releasing import run_plan
    from accountant.applications.answers.rows import open_table

    given: dict[str, Any] = {
        "delta": options.delta,
        "where": options.where,
        "by": [_read_group(text, options) for text in options.by or ()],
    }
    _check_notion(options)
    requests = list(_read_requests(options))
    if options.plan:
        return _plan(plan_release(requests, options.epsilon, **given), options)
    if options.data is None:
        raise InvalidArgument("a release needs a table, but none was named; name a file, or add --plan to see the noise without one")
    if options.rows is not None:
        raise InvalidArgument("--rows says about how many rows there are, which only --plan needs; leave it out")
    _check_outputs(options)
    table = open_table(options.data)
    plan = plan_release(requests, options.epsilon, integers=table.integers, **given)
    with open_ledger(options) as ledger, show_progress("release"):
        analysis = make_analysis(ledger, options, data=options.data, key=options.key)
        refuse_alone(options, ledger)
        released = run_plan(table, plan, ledger=analysis, bits=options.seed)
    told = tell_release(released)
    _write(released, told, options)
    if options.json:
        print_json(told | {name: _path(getattr(options, name)) for name in ("out", "certificate", "guarantee", "report", "plot")})
    else:
        _print(released, options)
    return 0


def _check_notion(options: Options) -> None:
    """Refuse a notion that does not go with the delta. Raises :class:`InvalidArgument`."""
    from profiles.suggestions import suggest

    known = ("pure", "gaussian")
    if options.notion is None:
        return
    if options.notion not in known:
        raise InvalidArgument(
            f"the notion of a release is pure or gaussian, but {options.notion[:40]!r} was found{suggest(options.notion, known)}"
        )
    if (options.notion == "gaussian") != (options.delta is not None):
        raise InvalidArgument("--notion gaussian and --delta go together: normal noise has no pure epsilon; give both, or neither")


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _read_requests(options: Options) -> Iterator[Request]:
    """Yield what is asked for, in the order of the options. Raises :class:`InvalidArgument`."""
    from accountant.applications.answers import Count, Histogram, Mean, Quantile, Sum, Variance

    clips = dict(_split(text, "--clip") for text in options.clip or ())
    grids = dict(_split(text, "--grid") for text in options.grid or ())
    shares = dict(_split(text, "--share") for text in options.share or ())
    whole = set(_list(options.integer or ""))
    sizes = dict(_split(text, "--expect") for text in options.expect or ())
    used = {"clip": set[str](), "grid": set[str](), "share": set[str](), "expect": set[str]()}

    def share(name: str) -> Any:
        used["share"].add(name)
        return shares.get(name, 1)

    def weigh(name: str) -> dict[str, Any]:
        used["expect"].add(name)
        return {"share": share(name), "expected": sizes.get(name)}

    def clip(column: str) -> Any:
        used["clip"].add(column)
        return None if column not in clips else _read_range(clips[column], 2, f"--clip {column}=0:100")

    if options.count:
        yield Count(**weigh("count"))
    for column in _columns(options.sum):
        yield Sum(column, clip(column), integer=column in whole, **weigh(f"sum {column}"))
    for column in _columns(options.mean):
        yield Mean(column, clip(column), integer=column in whole, **weigh(f"mean {column}"))
    for column in _columns(options.variance):
        yield Variance(column, clip(column), share=share(f"variance {column}"))
    for text in options.histogram or ():
        column, categories = _read_categories(text, "--histogram", options)
        yield Histogram(column, categories or (), **weigh(f"histogram {column}"))
    for text in options.quantile or ():
        column, at = _split(text, "--quantile")
        used["grid"].add(column)
        points = None if column not in grids else _read_range(grids[column], 3, f"--grid {column}=0:100:1")
        yield Quantile(column, at, points, share=share(f"quantile {at} {column}"))
    for option, known in (("clip", clips), ("grid", grids), ("share", shares), ("expect", sizes)):
        for name in known:
            if name not in used[option]:
                raise InvalidArgument(f"--{option} names {name[:60]!r}, which is not asked for; correct the name, or leave it out")


def _columns(given: Sequence[str] | None) -> list[str]:
    return [name for text in given or () for name in _list(text)]


def _list(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    if not all(names):
        raise InvalidArgument(f"a list of names has commas between them, but {text[:60]!r} was found; correct it")
    return names


def _split(text: str, option: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or not value:
        raise InvalidArgument(f"{option} needs NAME=VALUE, which are declared and never read from the data, but {text[:60]!r} was found")
    return name, value


def _read_range(text: str, size: int, example: str) -> tuple[str, ...]:
    ends = tuple(part.strip() for part in text.split(":"))
    if len(ends) != size or not all(any(letter.isdigit() for letter in part) for part in ends):
        raise InvalidArgument(
            f"{size} numbers with colons between them were expected, which are declared and never computed from the data, but "
            f"{text[:60]!r} was found; write for example {example}"
        )
    return ends


def _read_categories(text: str, option: str, options: Options) -> tuple[str, list[str]]:
    """Return a column with the categories that are listed, or that a public file lists, one a line; none where none are declared."""
    from profiles.files import read_text

    column, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        return column, []
    if not value.startswith("@"):
        return column, _list(value)
    path = Path(value[1:])
    check_public(options.data, {f"list of categories of {option}": path})
    lines = read_text(path, _LARGEST_LIST).lstrip("\ufeff").splitlines()
    return column, [line.strip() for line in lines if line.strip()]


def _read_group(text: str, options: Options) -> Any:
    from accountant.applications.answers import By

    column, categories = _read_categories(text, "--by", options)
    return By(column, categories or ())


def _check_outputs(options: Options) -> None:
    prepare(options, {"input": options.data})
    if options.out is not None and options.out.suffix.lower() not in (".json", ".csv", ".parquet"):
        raise InvalidArgument(f"answers are written to JSON, CSV or Parquet, but {options.out.name} was named; give one of these suffixes")


def _write(released: Released, told: dict[str, Any], options: Options) -> None:
    """Write all files, or none."""
    from accountant.interop.files import write_guarantee

    pages: dict[Path, bytes] = {}
    if options.out is not None:
        pages[options.out] = release_bytes(released, told, options.out)
    if options.certificate is not None:
        pages[options.certificate] = _certify(released.plan, options.seed).encode()
    if options.guarantee is not None:
        pages[options.guarantee] = write_guarantee(released.guarantee).encode()
    if options.report is not None:
        from accountant.applications.answers.page import render_release

        pages[options.report] = render_release(released).encode()
    if options.plot is not None:
        pages[options.plot] = draw(released.plot, options.plot)
    write_files(pages)


def _certify(plan: ReleasePlan, seed: int | None) -> str:
    """Return the certificate of the events with whom it protects and what this release rests on, by itself."""
    from accountant.guarantees import Run
    from accountant.guarantees.stored import tell_beside
    from profiles.randomness.bits import open_bits
    from proofs_check.certificates import to_file_text

    promised, _ = plan.promise(Run(open_bits(seed).hypothesis))
    return to_file_text(tell_beside(plan.certificate(), promised))


def _print(released: Released, options: Options) -> None:
    print_released(released, options, options.out)
    if options.out is not None:
        print_line(f"answers written to {options.out}; all of it may be published")
    print_written(certificate=options.certificate, guarantee=options.guarantee, picture=options.plot)
    if options.report is not None:
        print_line(f"report                {options.report}")


def _plan(plan: ReleasePlan, options: Options) -> int:
    from profiles.numbers import to_number

    written = [name for name in ("out", "certificate", "guarantee", "report", "plot", "ledger") if getattr(options, name) is not None]
    if written:
        raise InvalidArgument(f"--{written[0]} was given, but --plan releases nothing; leave it out, or leave out --plan")
    rows = None if options.rows is None else float(to_number(options.rows, "--rows", "[1, inf)"))
    if options.json:
        print_json(tell_plan(plan, rows))
    else:
        print_plan(plan, rows)
    return 0
