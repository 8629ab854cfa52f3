"""Options that several commands share, and what a command is made of: a dataclass, each field of which is declared once as an option."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from accountant.cli.completion import complete_profile, complete_rule
from accountant.cli.output import warn
from accountant.deltas import warn_of_delta
from profiles.errors import InvalidArgument, InvalidTarget
from profiles.notions import ProfileNotion

if TYPE_CHECKING:
    from accountant.data import StatisticSpec
    from profiles.profile import Profile

ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="a profile file (.toml) or package.module:object", autocompletion=complete_profile)
]
TargetOption = Annotated[
    str, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats, an exact number such as 3 or 0.1")
]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON object on standard output")]
AllOption = Annotated[
    bool, typer.Option("--all", help="print everything: every assumption in full, what settled the settled ones, and the derivation")
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="print also how the bound was derived")]
ShowValuesOption = Annotated[  # read where refusals are printed
    bool, typer.Option("--show-values", help="show in error messages what was found in the data, for authorized eyes only")
]
RuleOption = Annotated[
    str | None,
    typer.Option(
        "--rule", metavar="NAME", help="uniform, coreset-l1, coreset-l2, coreset or privacy-constrained", autocompletion=complete_rule
    ),
]
QOption = Annotated[str | None, typer.Option("--q", metavar="EXPR", help="selection probability as an expression of the statistics")]
ConstantOption = Annotated[
    list[str] | None, typer.Option("--constant", metavar="NAME=VALUE", help="a public constant of the rule (repeatable)")
]
TargetSizeOption = Annotated[
    str | None,
    typer.Option("--target-size", metavar="M", help="expected sample size, in place of a target epsilon (with a target delta: beside it)"),
]
TargetDeltaOption = Annotated[
    str | None, typer.Option("--target-delta", metavar="D", help="target delta* in (0, 1), for a profile in the notion gaussian")
]
PrivateStatisticsOption = Annotated[
    str | None,
    typer.Option(
        "--private-statistics",
        metavar="EPS",
        help="release what the rule needs from the data (the number of records, the mean of a power of the norm) with noise, for "
        "this part of the target epsilon, which then covers everything together",
    ),
]
StepsOption = Annotated[int | None, typer.Option("--steps", metavar="T", help="with a delta: steps, each on a fresh sample; 1 by default")]
StatisticOption = Annotated[
    list[str] | None, typer.Option("--statistic", "-s", metavar="z=COLUMN", help="a column, or z=l1, l2, l2^2, linf (repeatable)")
]
CertificateOption = Annotated[Path | None, typer.Option("--certificate", metavar="FILE", help="write the proofs to a certificate file")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="S", help="draw with a seeded generator in place of the system's secure source")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="FILE", help="CSV, Parquet or NPY file to write, atomically")]


GuaranteeOption = Annotated[Path | None, typer.Option("--guarantee", metavar="FILE", help="write the guarantee, for pdp compose")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """What the command line says of how a guarantee is printed."""

    everything: AllOption = False
    explain: ExplainOption = False
    json: JsonOption = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BoundOptions(ScreenOptions):
    """What the command line says of a bound: where its certificate and its guarantee are written, and how it is printed."""

    certificate: CertificateOption = None
    guarantee: GuaranteeOption = None


class Verb(NamedTuple):
    """A command below a command: its help, a dataclass as it is taken by :func:`to_callback`, what it does, and a command that runs."""

    help: str
    options: type[Any]
    run: Callable[[Any], int]
    example: str


def say_examples(*commands: str) -> str:
    """Return what stands at the end of a help: commands that can be run as they are."""
    return "\n".join(("\b\nExamples:", *(f"  {command}" for command in commands))) + "\n"


def to_callback(options: type[Any], run: Callable[[Any], int]) -> Callable[..., int]:
    """Return a command as the command line library takes it: a function with a parameter for each field of the dataclass ``options``.

    Its help lists what the class itself declares before what it has from another one. A large δ is warned of, whatever it is for.
    """

    def call(**given: Any) -> int:
        made = options(**given)
        asked = [given[name] for name in ("delta", "target_delta") if name in declared and given[name] != declared[name].default]
        if not asked:
            return run(made)
        with warn(tuple(text for delta in asked for text in warn_of_delta(delta)), as_json=made.json):
            return run(made)

    declared, types = inspect.signature(options).parameters, get_type_hints(options, include_extras=True)
    order = dict.fromkeys(name for part in options.__mro__ for name in vars(part).get("__annotations__", ()))
    made = [declared[name].replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=types[name]) for name in order]
    call.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    call.__annotations__ = types
    return call


def repeat_words(command: str, options: Any, leave_out: Collection[str]) -> tuple[str, ...]:
    """Return the words of the command that was given ``options``, without the fields ``leave_out`` and what has its default value."""
    declared = get_type_hints(type(options), include_extras=True)
    words = ["pdp", command]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.name not in leave_out and value != field.default:
            words += _spell(declared[field.name].__metadata__[0], value)
    return tuple(words)


def _spell(declared: Any, value: Any) -> Iterator[str]:
    """Yield the words that give a value to an option, or to an argument, which has no name."""
    name = declared.default if isinstance(declared.default, str) else None
    for item in value if isinstance(value, list) else [value]:
        yield from () if name is None else (name,)
        yield from () if item is True else (str(item),)


def require_delta(profile: Profile, delta: str | None) -> None:
    """Refuse a pure target for a profile in the notion ``gaussian``. Raises :class:`InvalidTarget`."""
    if profile.notion is ProfileNotion.GAUSSIAN and delta is None:
        raise InvalidTarget(
            f'{profile.name[:60]!r} declares mu in the notion "gaussian", and weights of it need --target-delta beside --target-epsilon: '
            "no Gaussian mechanism is purely epsilon-private; add for example --target-delta 1e-6"
        )


def refuse_without_delta(steps: object, certificate: object) -> None:
    """Refuse what belongs to a target delta where there is none. Raises :class:`InvalidArgument`."""
    for name, given in (("--steps", steps), ("--certificate", certificate)):
        if given is not None:
            raise InvalidArgument(f"{name} was given, but it belongs to a target delta; add --target-delta, or leave it out")


def parse_assignments(items: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return ``name=value`` items as a dictionary. Raises :class:`InvalidArgument`."""
    values: dict[str, str] = {}
    for item in items or ():
        for part in item.split(","):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not name or not value:
                raise InvalidArgument(f"{option} needs name=value, but {item[:60]!r} was found; write for example {option} z=1.5")
            if name in values:
                raise InvalidArgument(f"{option} gives {name!r} twice; give it once")
            values[name] = value
    return values


def parse_statistics(texts: Sequence[str] | None) -> list[StatisticSpec]:
    """Return how statistics are read, of the words of ``--statistic``. Raises :class:`InvalidArgument`."""
    from accountant.data import parse_statistic

    return [parse_statistic(text) for text in texts or ()]
