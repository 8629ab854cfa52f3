"""``pdp ledger charge`` and ``release``: what spends."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.completion import complete_mechanism
from accountant.cli.ledger_verbs.options import (
    ChargingOptions,
    FileArgument,
    NoteOptions,
    PlanOption,
    open_ledger,
)
from accountant.cli.ledger_verbs.spending import print_plan, say_spending
from accountant.cli.options import (
    ProfileArgument,
    StatisticOption,
    Verb,
    parse_statistics,
)
from accountant.cli.output import print_result
from accountant.cli.streams import load_quietly, quiet_output
from accountant.files import check_not_input, check_writable, write_whole
from profiles.errors import InvalidArgument, UnreadableFile
from profiles.private import EYES_ONLY

if TYPE_CHECKING:
    from accountant.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charge(ChargingOptions):
    file: FileArgument
    profile: ProfileArgument
    name: Annotated[str, typer.Option("--name", metavar="N", help="the name of the release")]
    statistic: StatisticOption = None
    active: Annotated[
        Path | None,
        typer.Option("--active", metavar="OUT", help="where to write the rows that take part (0600); by default FILE.N.active.csv"),
    ] = None
    plan: PlanOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release(ChargingOptions):
    file: FileArgument
    name: Annotated[str, typer.Argument(metavar="NAME", help="the name of the release")]
    out: Annotated[Path | None, typer.Option("--out", metavar="O", help="where to write the output (JSON); needed except with --plan")] = (
        None
    )
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            metavar="REF",
            help="package.module:object, a mechanism that can be run; without one, what is stored under NAME is written",
            autocompletion=complete_mechanism,
        ),
    ] = None
    plan: PlanOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Publish(NoteOptions):
    file: FileArgument
    name: Annotated[str, typer.Argument(metavar="NAME", help="the name of the release, which was charged before")]
    output: Annotated[Path, typer.Option("--output", metavar="O", help="the output: numbers, texts, lists and objects of them (JSON)")]
    keep: Annotated[bool, typer.Option("--keep", help="keep the file of the rows that took part, which is removed otherwise")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quota(NoteOptions):
    file: FileArgument
    most: Annotated[str, typer.Option("--most", metavar="E", help="nats that these releases may cost in all; in mixed epsilon=E, mu2=M")]


def _charge(options: _Charge) -> int:
    from accountant.ledger.writing import check_active, check_outputs, remember_active, write_active

    declaration = load_quietly(options.profile)
    with open_ledger(options) as ledger:
        if options.plan:
            room = ledger.look_ahead(declaration, **options.sampling())
            return print_plan(ledger, options.name, room, partial=options.partial, as_json=options.json)
        data = ledger.find_data(options.data)
        active = _find_active(options, ledger, data)
        if active is not None:
            check_active(active, data)
            check_outputs(ledger, active)
        charge = ledger.prepare(declaration, **options.sampling())
        room = ledger.look_ahead(charge)
        receipt = ledger.charge(
            options.name,
            charge,
            data,
            statistics=parse_statistics(options.statistic),
            partial=options.partial,
            clip=options.clip,
        )
        if active is not None:
            write_active(active, data, receipt)
            remember_active(ledger, receipt.name, active)
    told: dict[str, object] = {"name": receipt.name, "sequence": receipt.sequence, "hash": receipt.hash, **room.tell()}
    taken = f"rows that take part, {EYES_ONLY}: {active} (mode 0600); run it on these rows only, and do not reveal how many they are"
    return print_result(
        told if active == options.active else told | {"active": str(active)},
        f"charged {receipt.name!r}: entry {receipt.sequence}, {receipt.hash}",
        *say_spending(room),
        *([] if active is None else [taken]),
        as_json=options.json,
    )


def _find_active(options: _Charge, ledger: Ledger, data: Any) -> Path | None:
    """Return where the rows that take part are written: where it is said, and for an individual ledger, or of rows that are clipped, in a
    file else beside it.

    Raises :class:`InvalidArgument` where that one is there, or for a ledger on a server.
    """
    from accountant.ledger.receipts import require_unused
    from accountant.ledger.settings import ReleaseMode

    if options.active is not None or (ledger.settings.mode is not ReleaseMode.INDIVIDUAL and not options.clip):
        return options.active
    if not ledger.journal.store.database.files:
        raise InvalidArgument(
            f"a release may be run only on the rows that have room for it{', as they were clipped' if options.clip else ''}, but "
            "--active, the file for these rows, was not given; name a file"
        )
    require_unused(ledger, options.name)
    kind = ".parquet" if str(data).lower().endswith(".parquet") else ".csv"
    said = re.sub(r"[^A-Za-z0-9._]+", "-", options.name).strip("-.") or "release"
    beside = Path(f"{options.file}.{said}.active{kind}")
    if os.path.lexists(beside):
        raise InvalidArgument(f"the rows that take part were to be written to {beside}, which is there already; name a file with --active")
    return beside


def _release(options: _Release) -> int:
    from accountant.ledger.outputs import to_printable
    from accountant.ledger.room import MAY_MISS
    from accountant.ledger.writing import check_outputs

    mechanism = None if options.mechanism is None else _load_mechanism(options.mechanism)
    if options.plan:
        return _plan(options, mechanism)
    if options.out is None:
        raise InvalidArgument(
            "a release writes its output, but no file was named; name one with --out, or ask what it would cost with --plan"
        )
    check_writable(options.out)
    check_not_input(options.out, options.data, "data")
    with open_ledger(options) as ledger:
        check_outputs(ledger, options.out)
        room = None
        if mechanism is None:
            output = _find_stored(ledger, options)
        else:
            if ledger.journal.find("output", options.name.strip()) is None:
                room = ledger.look_ahead(mechanism, **options.sampling())
            with quiet_output():
                output = ledger.run(options.name, mechanism, options.data, partial=options.partial, clip=options.clip, **options.sampling())
        entry, charged = (ledger.journal.find(kind, options.name.strip()) for kind in ("output", "charge"))
    partial = charged is not None and bool(charged.body.get("partial", False))
    shown = to_printable(output)
    write_whole(options.out, _to_text({"units_may_be_missing": MAY_MISS, "output": shown} if partial else shown))
    told: dict[str, object] = {"name": options.name.strip(), "out": str(options.out), **({} if room is None else room.tell())}
    if entry is not None:
        told |= {"sequence": entry.sequence, "hash": entry.hash.hex()}
    return print_result(
        told,
        f"released {told['name']!r}: entry {told['sequence']}, {told['hash']}",
        *([] if room is None else say_spending(room)),
        f"output written to {options.out}; asking for it again gives the same output and costs nothing",
        as_json=options.json,
    )


def _plan(options: _Release, mechanism: Any) -> int:
    if mechanism is None:
        raise InvalidArgument("a plan needs the mechanism that would be run, but none was named; name one with --mechanism")
    with open_ledger(options) as ledger:
        room = ledger.look_ahead(mechanism, **options.sampling())
        return print_plan(ledger, options.name, room, partial=options.partial, as_json=options.json)


def _publish(options: _Publish) -> int:
    from accountant.ledger.writing import remove_active
    from profiles.strict_json import read_json

    try:
        output = read_json(options.output.read_text(encoding="utf-8"), floats=True)
    except OSError as error:
        raise UnreadableFile(f"the output {options.output} cannot be read ({error.strerror}); check the path and its rights") from None
    except ValueError:
        raise UnreadableFile(f"the output {options.output.name} is not JSON; write numbers, texts and lists of them") from None
    with open_ledger(options) as ledger:
        ledger.publish(options.name, output)
        entry = ledger.journal.entries[-1]
        removed = remove_active(ledger, options.name, keep=options.keep)
    told = {"name": entry.name, "sequence": entry.sequence, "hash": entry.hash.hex(), "sha256": entry.body["sha256"]}
    return print_result(
        told,
        f"published {entry.name!r}: entry {entry.sequence}, {told['hash']}",
        "it assumes that the release was run once, on the rows that were charged (run-on-active); later requests get the same output",
        *([] if removed is None else [f"removed {removed}, the rows that took part in it"]),
        as_json=options.json,
    )


def _quota(options: _Quota) -> int:
    if (options.analyst is None) == (options.purpose is None):
        raise InvalidArgument("a quota is of one analyst or of one purpose; name one of the two, with --analyst or --purpose")
    of, name = ("analyst", options.analyst) if options.purpose is None else ("purpose", options.purpose)
    with open_ledger(options) as ledger:
        entry = ledger.set_quota(of, str(name), options.most)
    return print_result(
        {"sequence": entry.sequence, "hash": entry.hash.hex(), "of": of, "name": entry.name},
        f"quota of the {of} {entry.name!r}: entry {entry.sequence}, {entry.hash.hex()}; charges beyond it are refused; no privacy "
        "guarantee depends on it",
        as_json=options.json,
    )


def _load_mechanism(reference: str) -> Any:
    declaration = load_quietly(reference)
    if declaration.mechanism is None:
        raise InvalidArgument(f"a mechanism that can be run was expected, but {reference[:60]!r} is a profile; charge it instead")
    return declaration.mechanism


def _find_stored(ledger: Ledger, options: _Release) -> Any:
    """Return what is stored under a name, without data. Raises :class:`InvalidArgument` where nothing is, or a sample was asked for."""
    name = options.name.strip()
    if ledger.journal.find("output", name) is None:
        raise InvalidArgument(
            f"nothing is stored under {name[:60]!r}, and no mechanism was named that could be run; name one with --mechanism"
        )
    if any(options.sampling().values()) or options.data is not None:
        raise InvalidArgument("data or a sample were asked for without a mechanism; name one with --mechanism, or leave them out")
    return ledger.output(name)


def _to_text(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


VERBS = {
    "publish": Verb(
        "Store the output of a release that was charged and that you ran yourself; later requests get this output.",
        _Publish,
        _publish,
        'pdp ledger publish people.ledger "income 2026" --output income.json',
    ),
    "quota": Verb(
        "Set what the releases of one analyst, or for one purpose, may cost in all. No privacy guarantee depends on it.",
        _Quota,
        _quota,
        "pdp ledger quota people.ledger --analyst ada --most 1/2",
    ),
    "charge": Verb(
        "Charge a release that you then run yourself. In individual mode it may be run on the rows that are written to OUT, and "
        "on no others.",
        _Charge,
        _charge,
        """pdp ledger charge people.ledger examples/income.toml \\
    --statistic z=income --name "income 2026" --active take-part.csv""",
    ),
    "release": Verb(
        "Charge a mechanism, run it, store its output and write it. Under a name that was released before, the stored output is "
        "written at no cost.",
        _Release,
        _release,
        """pdp ledger release people.ledger "count 2026" \\
    --mechanism profiles.mechanisms.weighted_count:default --out count.json""",
    ),
}
