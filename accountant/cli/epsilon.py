"""``pdp epsilon``: certified bounds on the worst record's sampled privacy loss, with derivation and open hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from accountant.cli.files import check_files, print_told
from accountant.cli.options import (
    BoundOptions,
    ConstantOption,
    ProfileArgument,
    QOption,
    RuleOption,
    StepsOption,
    parse_assignments,
)
from accountant.cli.output import print_as_it_is
from accountant.cli.pictures import PlotLossOption, draw_to, refuse_plot
from accountant.cli.streams import load_quietly
from accountant.files import write_files
from accountant.progress import show_progress
from profiles.errors import InvalidArgument
from profiles.notions import ProfileNotion

if TYPE_CHECKING:
    from pathlib import Path

    from accountant.guarantees.derive import DerivedEpsilon
    from accountant.guarantees.derive_gaussian import DerivedDelta
    from profiles import Declaration

HELP = (
    "Bound sup over records of the sampled profile psi from above and below, prove 0 < q <= 1, and list the assumptions of the bound. "
    "Epsilon without sampling is printed beside it, and which one is smaller. For a profile in the notion gaussian: epsilon at a "
    "delta, after some steps on fresh samples."
)
EXAMPLE = """\b
Examples:
  pdp epsilon profiles.mechanisms.lloyd:default --q "1/10 + z/50"
  pdp epsilon examples/lloyd.toml --certificate epsilon.json
  pdp epsilon examples/lloyd.toml --rule coreset-l2 \\
    --constant m=2000,n=48740,lam=0.5,mean=1.26396
  pdp epsilon examples/gaussian.toml --q "1/10 + z/50" --delta 1e-5
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(BoundOptions):
    profile: ProfileArgument
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None
    target_epsilon: Annotated[str | None, typer.Option("--target-epsilon", "-e", metavar="E", help="for privacy-constrained")] = None
    delta: Annotated[str | None, typer.Option("--delta", metavar="D", help="in (0, 1), for a profile in the notion gaussian")] = None
    steps: StepsOption = None
    relative_gap: Annotated[
        str | None, typer.Option("--relative-gap", metavar="G", help="(upper - lower) / upper to reach; by default 1e-9, with --delta 1e-2")
    ] = None
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="N", min=1, max=10_000_000, help="boxes that the search may use; 50000, with --delta 400"),
    ] = None
    plot: PlotLossOption = None


def run(options: Options) -> int:
    from accountant.guarantees.derive import derive_epsilon
    from accountant.guarantees.stored import tell_beside
    from accountant.interop.files import write_guarantee
    from proofs_check.certificates import FORMAT, to_file_text

    check_files(options, {"profile": options.profile})
    declaration = load_quietly(options.profile)
    derived: DerivedEpsilon | DerivedDelta
    with show_progress("enclosing the worst case"):
        if options.delta is not None or declaration.profile.notion is ProfileNotion.GAUSSIAN:
            refuse_plot(options.plot, "an epsilon at a delta")
            derived = _derive_at_delta(declaration, options)
        else:
            if options.steps is not None:
                raise InvalidArgument("--steps was given, but it belongs to a delta; add --delta, or leave it out")
            derived = derive_epsilon(
                declaration,
                rule=options.rule,
                q=options.q,
                constants=parse_assignments(options.constant, "--constant"),
                target_epsilon=options.target_epsilon,
                relative_gap="1e-9" if options.relative_gap is None else options.relative_gap,
                budget=50_000 if options.budget is None else options.budget,
            )
            draw_to(derived.plot, options.plot)
    pages: dict[Path, bytes] = {}
    if options.certificate is not None:
        made = derived.certificate()
        told = tell_beside(made, derived.guarantee) if made["format"] == FORMAT and "sampling" in made else made
        pages[options.certificate] = to_file_text(told).encode()
    if options.guarantee is not None:
        pages[options.guarantee] = write_guarantee(derived.guarantee).encode()
    write_files(pages)
    text = derived.render(everything=options.everything, explain=options.explain).rstrip()
    print_told(derived.to_json(), options, lambda: print_as_it_is(text))
    return 0


def _derive_at_delta(declaration: Declaration, options: Options) -> DerivedDelta:
    """Return ε at a δ under Gaussian noise: of a rule, or of the weights of a table."""
    from accountant.guarantees.derive_gaussian import derive_delta, derive_weights
    from accountant.guarantees.gaussian_samples import DEFAULT_CELLS, DEFAULT_COVER_GAP
    from accountant.rules.gaussian import NAME

    if options.delta is None:
        raise InvalidArgument(
            f'{declaration.profile.name[:60]!r} declares mu in the notion "gaussian", and an epsilon of it is one at a delta: no Gaussian '
            "mechanism is purely epsilon-private; add for example --delta 1e-6"
        )
    steps = 1 if options.steps is None else options.steps
    constants = parse_assignments(options.constant, "--constant")
    if options.target_epsilon is not None:
        if options.rule not in (None, NAME) or options.q is not None or constants:
            raise InvalidArgument("a target epsilon was given together with a rule or its constants; give one of them")
        return derive_weights(declaration, options.target_epsilon, options.delta, steps=steps)
    return derive_delta(
        declaration,
        options.delta,
        rule=options.rule,
        q=options.q,
        constants=constants,
        steps=steps,
        gap=DEFAULT_COVER_GAP if options.relative_gap is None else options.relative_gap,
        budget=DEFAULT_CELLS if options.budget is None else options.budget,
    )
