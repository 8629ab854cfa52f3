"""``pdp select``: k candidates that serve many users, privately."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from accountant.cli.answers import (
    CandidatesOption,
    EpsilonOption,
    ItemOption,
    RowOptions,
    UserOption,
    label,
    prepare,
    read_candidates,
    run_on_rows,
    tell_answer,
)  # fmt: skip
from profiles.errors import InvalidArgument

HELP = (
    "Choose k candidates that serve many users, with epsilon-differential privacy for each user with all of their rows: a row "
    "says that a user has a candidate, or gives it a value in [0, 1]."
)
EXAMPLE = """\b
Examples:
  pdp select examples/pixels.csv --user image --item pixel \\
    --candidates 64 -k 5 -e 1 --seed 1
  pdp select examples/pixels.csv --user image --item pixel --value ink \\
    --candidates 64 -k 5 -e 1 --users 100 --out chosen.csv
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(RowOptions):
    candidates: CandidatesOption
    k: Annotated[int, typer.Option("--k", "-k", metavar="K", help="how many candidates to choose; all of them for an order")]
    epsilon: EpsilonOption
    user: UserOption = "user"
    item: ItemOption = "item"
    value: Annotated[
        str | None, typer.Option("--value", metavar="COLUMN", help="a value in [0, 1] of the candidate for the user: facility location")
    ] = None
    combine: Annotated[
        str, typer.Option("--combine", metavar="HOW", help="with --value: max (one candidate serves) or sum (values add up to at most 1)")
    ] = "max"
    method: Annotated[str, typer.Option("--method", metavar="NAME", help="auto, kept or fresh noise")] = "auto"
    calibration: Annotated[str, typer.Option("--calibration", metavar="NAME", help="rounds, optimal or corollary")] = "rounds"
    users: Annotated[int | None, typer.Option("--users", metavar="N", help="a public guess of how many users a good candidate serves")] = (
        None
    )


def run(options: Options) -> int:
    from accountant.applications.submodular import PrivateGreedy, read_coverage, read_weighted_coverage

    if options.value is None and options.combine != "max":
        raise InvalidArgument("--combine was given, but it belongs to values; add --value, or leave it out")
    prepare(options, {"input": options.data, "list of candidates": options.candidates})
    candidates = read_candidates(options.candidates)
    mechanism = PrivateGreedy(
        options.k,
        options.epsilon,
        options.calibration,  # type: ignore[arg-type]
        options.method,  # type: ignore[arg-type]
        options.users,
        None if options.users is None else candidates if isinstance(candidates, int) else len(candidates),
    )
    columns = [options.user, options.item, *([] if options.value is None else [options.value])]
    read = read_coverage if options.value is None else partial(read_weighted_coverage, value=options.value, combine=options.combine)  # type: ignore[arg-type]
    answer = run_on_rows(mechanism, options, columns, candidates, read, "selecting")
    chosen = label(candidates, answer.selected)
    return tell_answer(
        answer,
        {"rank": list(range(1, len(chosen) + 1)), "candidate": chosen},
        options,
        public={"k": options.k, "sampling_rate": mechanism.plan.p},
        headline=f"selected              {', '.join(map(str, chosen))}",
    )
