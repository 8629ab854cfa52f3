"""``pdp select``: k candidates that serve many users, privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import (
    AnswerOption,
    CandidatesOption,
    EpsilonOption,
    GuaranteeOption,
    ItemOption,
    SeedOption,
    UserOption,
    check_outputs,
    label,
    open_seeds,
    read_candidates,
    read_incidence,
    tell_answer,
)
from accountant.cli.charging import AnchorOption, LedgerOption, NameOption, check_ledger, make_analysis, open_ledger, require_one_key
from accountant.cli.options import AllOption, JsonOption, ShowValuesOption
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.submodular import CoverageInstance, WeightedCoverage

HELP = (
    "Choose k candidates that serve many users, with epsilon-differential privacy for each user with all rows: a row says that a user "
    "has a candidate, or gives it a value in [0, 1]."
)
EXAMPLE = """\b
Examples:
  pdp select examples/pixels.csv --user image --item pixel \\
    --candidates 64 -k 5 -e 1 --seed 1
  pdp select examples/pixels.csv --user image --item pixel --value ink \\
    --candidates 64 -k 5 -e 1 --users 100 --out chosen.csv
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    data: Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or JSON file with one row a (user, candidate) pair")]
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
    drop_unknown: Annotated[bool, typer.Option("--drop-unknown", help="leave out rows whose item is no candidate")] = False
    out: AnswerOption = None
    guarantee: GuaranteeOption = None
    seed: SeedOption = None
    ledger: LedgerOption = None
    name: NameOption = None
    anchor: AnchorOption = None
    everything: AllOption = False
    show_values: ShowValuesOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command."""
    from accountant.applications.submodular import PrivateGreedy, read_coverage, read_weighted_coverage
    from accountant.applications.submodular.readers import list_users

    if options.value is None and options.combine != "max":
        raise InvalidArgument("--combine was given, but it belongs to values; add --value, or leave it out")
    check_outputs(((options.data, "input"), (options.candidates, "list of candidates")), options.out, options.guarantee)
    check_ledger(options, options.out, options.guarantee)
    rng, bits = open_seeds(options.seed)
    candidates = read_candidates(options.candidates)
    mechanism = PrivateGreedy(
        options.k,
        options.epsilon,
        options.calibration,  # type: ignore[arg-type]
        options.method,  # type: ignore[arg-type]
        options.users,
        None if options.users is None else candidates if isinstance(candidates, int) else len(candidates),
    )
    with show_progress("selecting"), open_ledger(options) as ledger:
        require_one_key(ledger, options.user)
        rows = read_incidence(options.data, options.user, options.item, options.value, with_ids=ledger is not None)
        named: dict[str, Any] = {"user": options.user, "item": options.item, "candidates": candidates}
        named["drop_unknown"] = options.drop_unknown
        function: CoverageInstance | WeightedCoverage
        if options.value is None:
            function = read_coverage(rows, **named)
        else:
            function = read_weighted_coverage(rows, value=options.value, combine=options.combine, **named)  # type: ignore[arg-type]
        units = {} if ledger is None else {"ids": list_users(rows, **named)}
        answer = mechanism.run(function, rng, bits=bits, ledger=make_analysis(ledger, options, **units))
    chosen = label(candidates, answer.selected)
    return tell_answer(
        answer,
        {"rank": list(range(1, len(chosen) + 1)), "candidate": chosen},
        options,
        public={"k": options.k, "sampling_rate": mechanism.plan.p},
        headline=(f"selected              {', '.join(map(str, chosen))}",),
    )
