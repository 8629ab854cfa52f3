"""What the commands of the one-sided algorithms share: their options, tables that they read, and how an answer is written and printed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.charging import ReleaseOptions, check_ledger, make_analysis, open_ledger, require_one_key
from accountant.cli.files import check_files, print_told
from accountant.cli.options import GuaranteeOption, SeedOption
from accountant.cli.output import print_as_it_is, print_line
from accountant.cli.pictures import draw_to
from accountant.files import check_public, replace_file, write_whole
from accountant.progress import show_progress
from profiles.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    import numpy as np

    from accountant.applications.running import Answer
    from accountant.guarantees import Guarantee
    from profiles.presenting.pictures import Picture

EpsilonOption = Annotated[str, typer.Option("--epsilon", "-e", metavar="E", help="epsilon to keep, in nats, an exact number such as 0.5")]
CandidatesOption = Annotated[
    str,
    typer.Option(
        "--candidates",
        metavar="M or FILE",
        help="the public list of candidates: a file with one per line (or a JSON list), or M for 0 to M-1",
    ),
]
UserOption = Annotated[str, typer.Option("--user", metavar="COLUMN", help="the column that identifies users")]
ItemOption = Annotated[str, typer.Option("--item", metavar="COLUMN", help="the column of the candidates")]
AnswerOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="write the answer to a CSV, Parquet or JSON file, atomically")
]

_LARGEST = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions(ReleaseOptions):
    """What the command line says of an answer."""

    out: AnswerOption = None
    guarantee: GuaranteeOption = None
    seed: SeedOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions(AnswerOptions):
    """What the command line says of an answer about rows that each pair somebody with a candidate."""

    data: Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or JSON file with one row per pair of the two columns")]
    drop_unknown: Annotated[bool, typer.Option("--drop-unknown", help="leave out rows whose candidate is not in the public list")] = False


#: What is written: the names of the columns, and the rows.
Columns = dict[str, list[Any]]


def prepare(options: ReleaseOptions, inputs: Mapping[str, object]) -> None:
    """Refuse outputs, inputs and what belongs to a ledger, before any work: as :func:`check_files`, :func:`check_public` and
    :func:`check_ledger` do. ``inputs``: the data as "input", and what must be public.
    """
    check_public(inputs["input"], {what: given for what, given in inputs.items() if what != "input"})
    check_files(options, inputs)
    check_ledger(options)


def run_on_rows(
    mechanism: Any, options: RowOptions, columns: Sequence[str], candidates: int | list[str], read: Callable[..., Any], doing: str
) -> Any:
    """Return the answer of a mechanism on what is ``read`` of the ``columns`` of the data: users, candidates, and values if any.

    With a ledger each user is charged first. Raises :class:`PDPError`.
    """
    from accountant.applications.submodular.readers import list_users

    rng, bits = open_seeds(options.seed)
    with show_progress(doing), open_ledger(options) as ledger:
        require_one_key(ledger, columns[0])
        rows = read_incidence(options.data, *columns, with_ids=ledger is not None)
        named: dict[str, Any] = {"user": columns[0], "item": columns[1], "candidates": candidates, "drop_unknown": options.drop_unknown}
        function = read(rows, **named)
        units = {} if ledger is None else {"ids": list_users(rows, **named)}
        return mechanism.run(function, rng, bits=bits, ledger=make_analysis(ledger, options, **units))


def open_seeds(seed: int | None) -> tuple[np.random.Generator | None, np.random.Generator | None]:
    """Return the sources of choices and sample: None for the secure one, or two generators of one seed."""
    if seed is None:
        return None, None
    import numpy as np

    if seed < 0:
        raise InvalidArgument(f"a seed must be an integer from 0 on, but {seed} was found; give another")
    return np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])


def read_candidates(given: str) -> int | list[str]:
    """Return the number of candidates, or the list that a file names, in its order. Raises :class:`PDPError`."""
    from profiles.files import read_text

    if given.isascii() and given.isdigit():
        return int(given)
    path = Path(given)
    text = read_text(path, _LARGEST)
    if path.suffix.lower() == ".json":
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidData(f"{path.name} is not JSON; correct it, or write one name per line") from None
        if not isinstance(listed, list) or not all(isinstance(item, str) or type(item) is int for item in listed):
            raise InvalidData(f'{path.name} must hold a list of names, but something else was found; write for example ["tea", "jam"]')
        return [str(item) for item in listed]
    return [line.strip() for line in text.lstrip("\ufeff").splitlines() if line.strip()]


def read_incidence(data: str, user: str, item: str, value: str | None = None, *, with_ids: bool = False) -> Any:
    """Return what the readers take: the path of a file, or a table made of it.

    JSON may also be a list with one list of items per user. ``with_ids``: a table in any case, read once, whose users have ids that a
    ledger can charge; a list of lists has none. Raises :class:`InvalidData`.
    """
    from accountant.data.loading import load_columns, load_json, read_rows

    path = Path(data)
    names = [name for name in (user, item, value) if name is not None]
    if path.suffix.lower() != ".json":
        return load_columns(data, names)[0] if with_ids else data
    rows = load_json(path)
    if isinstance(rows, list) and value is None and rows and all(isinstance(row, list) for row in rows):
        if with_ids:
            raise InvalidData(
                f"{path.name} has a list of items per user and no ids, but a ledger needs to know who the users are; write rows with ids"
            )
        rows = [{user: number, item: name} for number, row in enumerate(rows) for name in row]
    return read_rows(rows, names, path.name)


def label(candidates: int | Sequence[Any], chosen: Sequence[int]) -> list[Any]:
    """Return the names of chosen candidates: their numbers where they have no names."""
    return [int(number) if isinstance(candidates, int) else candidates[number] for number in chosen]


def write_answer(path: Path | None, columns: Columns) -> None:
    """Write a table in the format of the suffix: .json, .parquet, and CSV for any other. Raises :class:`UnwritableOutput`."""
    if path is None:
        return
    if path.suffix.lower() == ".json":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        write_whole(path, json.dumps(rows, indent=2) + "\n")
        return
    with replace_file(path) as stream:
        stream.write(table_bytes(columns, path))


def table_bytes(columns: Columns, path: Path) -> bytes:
    """Return a table as a file named like this has it: Parquet for .parquet, and CSV for any other suffix."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    buffer = io.BytesIO()
    write = pyarrow.parquet.write_table if path.suffix.lower() == ".parquet" else pyarrow.csv.write_csv
    write(pa.table(columns), buffer)
    return buffer.getvalue()


def write_promise(path: Path | None, guarantee: Guarantee) -> None:
    """Write a guarantee file at ``path``, atomically; nothing without a path."""
    from accountant.interop.files import write_guarantee

    if path is not None:
        write_whole(path, write_guarantee(guarantee))


def tell_answer(
    answer: Answer[Any],
    columns: Columns,
    options: AnswerOptions,
    *,
    public: dict[str, Any],
    headline: str,
    picture: Callable[[], Picture] | None = None,
) -> int:
    """Write, draw and print an answer; nothing of it depends on the data but by way of the answer. Returns the exit code."""
    from accountant.guarantees import render, to_json

    write_answer(options.out, columns)
    write_promise(options.guarantee, answer.guarantee)
    if picture is not None:
        draw_to(picture, getattr(options, "plot", None))
    choice, utility = answer.choice, answer.utility
    told = {
        "answer": columns,
        **public,
        "choice": None if choice is None else {"method": choice.method, "reason": choice.reason, "errors": dict(choice.errors)},
        "utility": None if utility is None else utility.to_json(),
        "guarantee": to_json(answer.guarantee),
        **({} if answer.charged is None else {"ledger": answer.charged.to_json()}),
        "out": None if options.out is None else str(options.out),
    }

    def say() -> None:
        print_line(headline)
        if choice is not None:
            print_line(f"method                {choice.method}: {choice.reason}")
        if utility is not None:
            print_line(f"quality               {utility}")
            for item in utility.hypotheses:
                print_line(f"  assumed             {item}")
        if answer.charged is not None:
            print_line(f"ledger                {answer.charged}; all that is in it together has this guarantee:")
        print_as_it_is(render(answer.guarantee, everything=options.everything, explain=options.explain).rstrip())
        if options.out is not None:
            print_line(f"answer written to {options.out}")

    print_told(told, options, say)
    return 0
