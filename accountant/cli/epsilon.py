"""``pdp epsilon``: certified bounds on the worst record's sampled privacy loss, with derivation and open hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from accountant.cli.options import (
    AllOption,
    CertificateOption,
    ConstantOption,
    JsonOption,
    ProfileArgument,
    QOption,
    RuleOption,
    parse_assignments,
)
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.cli.progress import show_progress
from accountant.cli.streams import load_quietly
from accountant.files import check_not_input, check_writable, write_whole
from profiles.errors import InvalidArgument

HELP = (
    "Bound sup over records of the sampled profile psi from above and below, prove 0 < q <= 1, and say what the bound rests on. "
    "Beside it stands epsilon without sampling, and which of the two is smaller."
)
EXAMPLE = """\b
Examples:
  pdp epsilon profiles.mechanisms.lloyd:default --q "1/10 + z/50"
  pdp epsilon examples/lloyd.toml --certificate epsilon.json
  pdp epsilon examples/lloyd.toml --rule coreset-l2 \\
    --constant m=2000,n=48740,lam=0.5,mean=1.26396
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    profile: ProfileArgument
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None
    target_epsilon: Annotated[str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="for privacy-constrained")] = None
    relative_gap: Annotated[str, typer.Option("--relative-gap", metavar="G", help="(upper - lower) / upper to reach")] = "1e-9"
    budget: Annotated[int, typer.Option("--budget", metavar="N", min=1, max=10_000_000, help="boxes that the search may use")] = 50_000
    certificate: CertificateOption = None
    guarantee: Annotated[Path | None, typer.Option("--guarantee", metavar="FILE", help="write the guarantee, for pdp compose")] = None
    everything: AllOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command."""
    from accountant.guarantees.derive import derive_epsilon
    from accountant.interop.files import write_guarantee
    from proofs_check.certificates import to_file_text

    for target in (options.certificate, options.guarantee):
        if target is not None:
            check_writable(target)
            check_not_input(target, options.profile, "profile")
    if options.certificate is not None and options.guarantee is not None and options.certificate.absolute() == options.guarantee.absolute():
        raise InvalidArgument(f"certificate and guarantee are both to be {options.certificate}; name two files")
    declaration = load_quietly(options.profile)
    with show_progress("enclosing the worst case"):
        found = derive_epsilon(
            declaration,
            rule=options.rule,
            q=options.q,
            constants=parse_assignments(options.constant, "--constant"),
            target_epsilon=options.target_epsilon,
            relative_gap=options.relative_gap,
            budget=options.budget,
        )
    if options.certificate is not None:
        write_whole(options.certificate, to_file_text(found.certificate()))
    if options.guarantee is not None:
        write_whole(options.guarantee, write_guarantee(found.guarantee))
    if options.json:
        print_json(found.to_json())
    else:
        print_as_it_is(found.render(everything=options.everything).rstrip())
        if options.certificate is not None:
            print_line(f"certificate written to {options.certificate}; check it with: pdp check {options.certificate}")
        if options.guarantee is not None:
            print_line(f"guarantee written to {options.guarantee}; add it to others with: pdp compose {options.guarantee} OTHER...")
    return 0
