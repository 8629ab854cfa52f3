"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.completion import complete_profile, complete_rule
from profiles.errors import InvalidArgument

ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="a profile file (.toml) or package.module:object", autocompletion=complete_profile)
]
TargetOption = Annotated[
    str, typer.Option("--target-epsilon", "-e", metavar="E", help="target epsilon* in nats, an exact number such as 3 or 0.1")
]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON object on standard output")]
AllOption = Annotated[bool, typer.Option("--all", help="list also the hypotheses that are discharged, each with the reason")]
ShowValuesOption = Annotated[
    bool, typer.Option("--show-values", help="in a refusal, show what was found in the data: for the eyes of who may see it")
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
    str | None, typer.Option("--target-size", metavar="M", help="expected sample size, in place of a target epsilon")
]
StatisticOption = Annotated[
    list[str] | None, typer.Option("--statistic", "-s", metavar="z=COLUMN", help="a column, or z=l1, l2, l2^2, linf (repeatable)")
]
CertificateOption = Annotated[Path | None, typer.Option("--certificate", metavar="FILE", help="write the proofs to a certificate file")]


def parse_assignments(items: Sequence[str], option: str) -> dict[str, str]:
    """Return ``name=value`` items as a dictionary. Raises :class:`InvalidArgument`."""
    found: dict[str, str] = {}
    for item in items:
        for part in item.split(","):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not name or not value:
                raise InvalidArgument(f"{option} needs name=value, but {item[:60]!r} was found; write for example {option} z=1.5")
            if name in found:
                raise InvalidArgument(f"{option} gives {name!r} twice; give it once")
            found[name] = value
    return found
