"""``pdp monitor``: items that many users have, time step by time step, from a stream that is read as it comes."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import AnswerOptions, EpsilonOption, prepare, read_candidates, tell_answer
from accountant.cli.charging import make_analysis, open_ledger, require_one_key
from accountant.cli.files import check_files
from accountant.cli.output import make_printable, print_as_it_is
from accountant.cli.pictures import plot_option
from accountant.progress import show_progress
from profiles.errors import InvalidArgument, InvalidData
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.applications.heavyhitters import HeavyHitterMonitor, StepReport
    from accountant.applications.heavyhitters.streams import StreamFile
    from accountant.ledger import Charged

HELP = (
    "Report at every time step the items that many users have, with epsilon-differential privacy for each user over the whole "
    "stream. The stream, sorted by time, is a file, or lines on standard input with a header: user,time,item."
)
EXAMPLE = """\b
Examples:
  pdp monitor examples/lines.csv --domain 8 --times 0:8 -k 2 -e 1 \\
    --beta 0.05 --seed 1
  pdp monitor examples/lines.csv --domain 8 --times 0:8 -k 2 -e 1 \\
    --threshold 80 --out reports.csv
"""
_CHUNK = 1 << 22
#: A state is written, and reports leave, when so many times the time of the last write are over: writing takes a tenth of the time.
_WRITING = 9.0
_MOST_STEPS = 10**7
_LARGEST = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(AnswerOptions):
    domain: Annotated[
        str, typer.Option("--domain", metavar="M or FILE", help="the public list of items: a file with one per line (or a JSON list), or M")
    ]
    times: Annotated[str, typer.Option("--times", metavar="A:B", help="the public time steps: the integers from A to B - 1")]
    k: Annotated[int, typer.Option("--k", "-k", metavar="K", help="the largest number of reports that a user contributes to")]
    epsilon: EpsilonOption
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="CSV, Parquet or JSON file, sorted by time; standard input if none is named")
    ] = None
    threshold: Annotated[
        int | None, typer.Option("--threshold", metavar="T", help="a count of users in the sample; or --beta, to have it planned")
    ] = None
    beta: Annotated[
        str | None, typer.Option("--beta", metavar="B", help="plan a threshold whose error bound fails with probability B at most")
    ] = None
    user: Annotated[str, typer.Option("--user", metavar="COLUMN", help="the column that identifies users")] = "user"
    time: Annotated[str, typer.Option("--time", metavar="COLUMN", help="the column of the time steps, integers")] = "time"
    item: Annotated[str, typer.Option("--item", metavar="COLUMN", help="the column of the items")] = "item"
    integer_users: Annotated[bool, typer.Option("--integer-users", help="users are integers: faster, and 007 is 7")] = False
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="keep the pass in a file, and go on from it after a restart")
    ] = None
    units: Annotated[
        Path | None,
        typer.Option("--units", metavar="FILE", help="with --ledger: all who may be in the stream, charged ahead; others are left out"),
    ] = None
    plot: Annotated[Path | None, plot_option("which items were reported at which time step")] = None
    keep_open: Annotated[
        bool, typer.Option("--keep-open", help="with --state: more of the stream comes later, do not report the remaining steps")
    ] = False


def run(options: Options) -> int:
    prepare(options, {"input": options.data, "list of items": options.domain})
    check_files(options, {"file of units": options.units})
    if options.keep_open and options.state is None:
        raise InvalidArgument("--keep-open was given without --state, so that nothing could go on; add --state FILE")
    if options.state is not None and options.seed is not None:
        raise InvalidArgument("--seed was given with --state, and would make the same noise after a restart; leave one of them out")
    if options.units is not None and options.ledger is None:
        raise InvalidArgument("--units was given, but it belongs to a ledger; add --ledger and --name, or leave it out")
    if options.ledger is not None and options.state is not None:
        raise InvalidArgument(
            "a release of a ledger is run in one go: the stream has to be over when it is stored, but --state was given; leave it out"
        )
    if options.ledger is not None and options.data is None and options.units is None:
        raise InvalidArgument(
            "a ledger decides who takes part before the first report, so that the stream has to be over, but standard input was given; "
            "name a file, or all users who may come, with --units: they are charged ahead"
        )
    from accountant.applications.heavyhitters.picture import plot_reports
    from accountant.applications.heavyhitters.streams import StreamBatch

    monitor, plan = _make(options)
    live = options.data is None and not options.json
    reports: list[StepReport] = []

    def tell(steps: tuple[StepReport, ...]) -> None:
        reports.extend(steps)
        if live:
            _print(steps)

    charged: Charged | None = None
    with show_progress(f"stream, {EYES_ONLY}", "records") as progress, open_ledger(options) as ledger:
        require_one_key(ledger, options.user)
        if ledger is None:
            guarantee = _follow(monitor, options, tell, progress)
        elif options.units is not None:
            stream = (StreamBatch(*columns) for columns in _read(options, None))
            analysis = ledger.analysis(str(options.name), data=options.units)
            for step in monitor.watch(stream, bits=options.seed, ledger=analysis):
                tell((step,))
            guarantee, charged = ledger.guarantee(), analysis.tell()
        else:
            answer = monitor.run(_open_file(options), bits=options.seed, ledger=make_analysis(ledger, options))
            reports, guarantee, charged = list(answer.reports), answer.guarantee, answer.charged
    if options.data is not None and not options.json:
        _print(tuple(reports))
    from accountant.applications.running import Answer

    pairs = [(report.time, item) for report in reports for item in report.items]
    return tell_answer(
        Answer(tuple(reports), guarantee, utility=monitor.utility, choice=monitor.choice, charged=charged),
        {"time": [time for time, _ in pairs], "item": [item for _, item in pairs]},
        options,
        public={"steps": [report.time for report in reports], "threshold": monitor.threshold, **plan},
        headline=_describe(monitor, plan),
        picture=lambda: plot_reports(reports),
    )


def _make(options: Options) -> tuple[HeavyHitterMonitor, dict[str, Any]]:
    from accountant.applications.heavyhitters import HeavyHitterMonitor, plan_threshold

    start, colon, stop = options.times.partition(":")
    if (
        not colon
        or not all(part.lstrip("-").isdigit() and part.isascii() for part in (start, stop))
        or not -_LARGEST <= int(start) < int(stop) <= _LARGEST
    ):
        raise InvalidArgument(
            f"--times must be A:B with integers A < B of at most 62 bits, but {options.times[:40]!r} was found; write for example 0:24"
        )
    times = range(int(start), int(stop))
    if len(times) > _MOST_STEPS:
        raise InvalidArgument(f"--times has {len(times)} time steps, but each has a report; give at most {_MOST_STEPS}")
    items = read_candidates(options.domain)
    domain: Any = range(items) if isinstance(items, int) else items
    if (options.threshold is None) == (options.beta is None):
        raise InvalidArgument("either --threshold or --beta is needed, not both; give one of them")
    if options.beta is None:
        return HeavyHitterMonitor(options.k, options.epsilon, options.threshold, domain, times), {}  # type: ignore[arg-type]
    plan = plan_threshold(options.k, options.epsilon, options.beta, steps=len(times), domain_size=len(domain))
    public = {"level": plan.level, "error": plan.error, "failure": float(plan.failure)}
    return HeavyHitterMonitor.from_plan(plan, domain=domain, times=times), public


def _describe(monitor: HeavyHitterMonitor, plan: dict[str, Any]) -> str:
    said = f"threshold             {monitor.threshold} users in the sample"
    if not plan:
        return said
    return (
        f"{said}; except with probability {plan['failure']:.3g}, an item that {plan['error']} users have is reported and one that at "
        f"most {plan['level']} have is not, if each user has at most {monitor.k} items that more users have"
    )


def _follow(
    monitor: HeavyHitterMonitor, options: Options, tell: Callable[[tuple[StepReport, ...]], None], progress: Callable[[int, None], None]
) -> Any:
    """Run a pass, tell its reports, and return its guarantee."""
    from accountant.guarantees import discharge
    from profiles.hypotheses import UNSEEN_MOMENT

    with contextlib.ExitStack() as stack:
        kept = None if options.state is None else stack.enter_context(monitor.start_kept(options.state))
        running: Any = monitor.start(bits=options.seed) if kept is None else kept
        done = 0
        for users, times, items in _read(options, None if kept is None else lambda: _WRITING * kept.spent):
            done += len(users)
            progress(done, None)
            tell(running.push(times, users, items))
        if kept is not None and options.keep_open:
            kept.save()
        else:
            tell(running.finish())
        if kept is not None or (options.data is None and not options.json):
            return running.guarantee  # reports were seen as they came, or in several parts
        evidence = "all reports are printed together, after the last record"
        return discharge(running.guarantee, UNSEEN_MOMENT, evidence)


def _print(reports: tuple[StepReport, ...]) -> None:
    """Print a line for each time step with reported items."""
    for report in reports:
        if report.items:
            print_as_it_is(make_printable(f"time {report.time}: {', '.join(map(str, report.items))}"))
    sys.stdout.flush()


def _has_integer_items(options: Options) -> bool:
    return options.domain.isascii() and options.domain.isdigit()


def _open_file(options: Options) -> StreamFile:
    from accountant.applications.heavyhitters import open_stream
    from accountant.data.loading import load_columns

    data = str(options.data)
    if Path(data).suffix.lower() == ".json":  # a list of rows, read whole
        data = load_columns(data, [options.user, options.time, options.item])[0]
    return open_stream(
        data,
        user=options.user,
        time=options.time,
        item=options.item,
        users="integer" if options.integer_users else None,
        items="integer" if _has_integer_items(options) else None,
    )


def _read(options: Options, pause: Callable[[], float] | None) -> Iterator[tuple[Any, Any, Any]]:
    """Yield users, times and items of the stream, in parts; on standard input none before ``pause`` seconds are over or it is large."""
    if options.data is not None:
        for batch in _open_file(options):
            yield batch.users, batch.times, batch.items
        return
    import pyarrow as pa

    names_of: list[str] | None = None
    kinds_of = {
        options.user: pa.int64() if options.integer_users else pa.string(),
        options.time: pa.int64(),
        options.item: pa.int64() if _has_integer_items(options) else pa.string(),
    }
    for part in read_lines(sys.stdin.buffer.fileno(), pause):
        lines = part
        if names_of is None:
            if not part.strip():
                continue
            head, _, lines = part.lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")
            names_of = [name.strip().strip('"') for name in head.decode("utf-8", "replace").split(",")]
            for name in kinds_of:
                if names_of.count(name) != 1:
                    raise InvalidData(f"the first line of the stream must name one column {name!r}, but it does not; write user,time,item")
        if lines.strip():
            yield _parse(lines, names_of, kinds_of, options)


def _parse(lines: bytes, names: list[str], kinds: dict[str, Any], options: Options) -> tuple[Any, Any, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO(lines),
            read_options=pyarrow.csv.ReadOptions(column_names=names),
            convert_options=pyarrow.csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), strings_can_be_null=False),
        )
    except pa.ArrowInvalid:
        raise InvalidData(
            "a line of the stream does not have the columns of the first line, or a time is not an integer; correct it"
        ) from None
    columns = [table.column(name) for name in (options.user, options.time, options.item)]
    if any(column.null_count for column in columns) or (not options.integer_users and pc.any(pc.equal(columns[0], "")).as_py()):
        raise InvalidData("a line of the stream has a missing value; drop such lines")
    users, times, items = (column.to_numpy() for column in columns)
    return users, times, items


def read_lines(descriptor: int, pause: Callable[[], float] | None = None) -> Iterator[bytes]:
    """Yield whole lines as they come: all that are there, up to 4 MB at a time; the last one also without its end.

    ``pause``: how many seconds to wait for more after what was yielded last, while there are less than 4 MB.
    """
    rest = b""
    while True:
        parts, size = [rest], len(rest)
        until = time.monotonic() + (0.0 if pause is None else pause())
        while True:
            part = os.read(descriptor, _CHUNK)
            parts.append(part)
            size += len(part)
            if not part or size >= _CHUNK or not _has_more(descriptor, max(0.0, until - time.monotonic())):
                break
        whole = b"".join(parts)
        if not part:
            if whole:
                yield whole
            return
        end = whole.rfind(b"\n") + 1
        rest = whole[end:]
        if end:
            yield whole[:end]


def _has_more(descriptor: int, wait: float) -> bool:
    """Whether a read would give something, at the latest after ``wait`` seconds."""
    try:
        return bool(select.select([descriptor], [], [], wait)[0])
    except (OSError, ValueError):
        return False
