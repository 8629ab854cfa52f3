"""``pdp account``: ε at a δ, or δ at an ε, of a composition of mechanisms, from both sides, in both directions, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accountant.cli.files import check_files, print_written
from accountant.cli.options import BoundOptions
from accountant.cli.output import print_as_it_is, print_json, print_line
from accountant.cli.pictures import draw
from accountant.files import write_files
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.calibration.events import CalibratedEvents
    from accountant.compositions.matrix_events import MatrixRelease
    from accountant.curves import Account, DeclaredEvents, Event
    from profiles.protection import Protection

HELP = (
    "Bound epsilon at a delta, or delta at an epsilon, from above and below, for mechanisms that are run one after the other: Gaussian and "
    "Laplace noise (discrete, too), randomised response, Poisson samples, any number of steps. The kernel checks the upper bounds."
)
EXAMPLE = """\b
Examples:
  pdp account --gaussian 4 --count 100 --delta 1e-6
  pdp account --gaussian 1.1 --sampling 256/60000 --count 100 --delta 1e-5
  pdp account --gaussian 1.1 --records 60000 --batch-size 256 --epochs 60 \\
      --batches random-allocation --delta 1e-5
  pdp account --matrix examples/strategy.npy --steps 1000 --min-separation 100 \\
      --participations 10 --gaussian 20 --delta 1e-6
  pdp account examples/release.toml --epsilon 3 --json
  pdp account --count 16 --calibrate noise --epsilon 1 --delta 1e-6
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(BoundOptions):
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="a composition: TOML with name and [[event]] tables")] = None
    delta: Annotated[str | None, typer.Option("--delta", "-d", metavar="D", help="bound epsilon at this delta, such as 1e-5")] = None
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="E", help="bound delta at this epsilon, in nats")] = None
    gaussian: Annotated[
        str | None,
        typer.Option("--gaussian", metavar="S", help="without a file: Gaussian noise over the norm that a record is clipped to"),
    ] = None
    sampling: Annotated[
        str | None, typer.Option("--sampling", metavar="Q", help="with --gaussian: each record is in each sample with probability Q")
    ] = None
    count: Annotated[str | None, typer.Option("--count", metavar="T", help="with --gaussian: number of steps")] = None
    steps: Annotated[
        str | None,
        typer.Option("--steps", metavar="T", help="the same as --count; with random-allocation or shuffle a begun epoch counts in full"),
    ] = None
    batches: Annotated[
        str | None,
        typer.Option(
            "--batches",
            metavar="HOW",
            help="with --gaussian: none, poisson, random-allocation, fixed-size, with-replacement, truncated-poisson or shuffle",
        ),
    ] = None
    records: Annotated[str | None, typer.Option("--records", metavar="N", help="with --gaussian: number of records")] = None
    batch_size: Annotated[str | None, typer.Option("--batch-size", metavar="M", help="with --records: records in a batch")] = None
    epochs: Annotated[str | None, typer.Option("--epochs", metavar="E", help="in place of --count: passes over the records")] = None
    steps_per_epoch: Annotated[
        str | None,
        typer.Option("--steps-per-epoch", metavar="T", help="with random-allocation or shuffle, if it is not N/M rounded down"),
    ] = None
    limit: Annotated[str | None, typer.Option("--limit", metavar="B", help="with truncated-poisson: the largest batch")] = None
    group_size: Annotated[
        str | None, typer.Option("--group-size", metavar="K", help="with poisson and --unit user: most records of one user")
    ] = None
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix", metavar="C.npy", help="with --gaussian: noise of a matrix mechanism; t x t numbers, or coefficients with --steps"
        ),
    ] = None
    min_separation: Annotated[
        str | None,
        typer.Option("--min-separation", metavar="B", help="with --matrix: any two participations are at least B steps apart"),
    ] = None
    participations: Annotated[
        str | None,
        typer.Option(
            "--participations",
            metavar="K",
            help="with --matrix: the largest number of steps in which a record takes part; with random-allocation: of such steps in an "
            "epoch",
        ),
    ] = None
    fixed_order: Annotated[
        bool,
        typer.Option("--fixed-order", help="with --matrix: a record takes part only in every B-th step, because all epochs have one order"),
    ] = False
    unit: Annotated[str | None, typer.Option("--unit", metavar="U", help="with --gaussian: who is protected, record or user")] = None
    neighbors: Annotated[
        str | None,
        typer.Option("--neighbors", metavar="N", help="with --gaussian: add-remove, replace-one or zero-out"),
    ] = None
    calibrate: Annotated[
        str | None,
        typer.Option(
            "--calibrate", metavar="WHAT", help="find the least noise, or the largest count or sampling, for --epsilon and --delta"
        ),
    ] = None
    gap: Annotated[
        str | None, typer.Option("--gap", metavar="G", help="relative distance of the two ends: 1e-3, or 1e-2 with --calibrate")
    ] = None
    side: Annotated[
        str, typer.Option("--side", metavar="SIDE", help="both, or upper: the upper ends alone are computed and certified, which is faster")
    ] = "both"
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="draw delta against epsilon (.png, .svg, .pdf)")] = None
    plot_steps: Annotated[
        Path | None,
        typer.Option("--plot-steps", metavar="FILE", help="draw epsilon at --delta over the steps, from both sides (.png, .svg, .pdf)"),
    ] = None


def run(options: Options) -> int:
    given = [name for name, value in _single(options).items() if value is not None]
    if options.file is not None and given:
        raise InvalidArgument(f"a file and {given[0]} were given, but a file says all of its events; give one of the two")
    _check_outputs(options)
    if options.side != "both" and options.calibrate is not None:
        raise InvalidArgument("--side upper and --calibrate were given, but what is calibrated is known from both sides; omit --side")
    matrix = None if options.matrix is None else _read_matrix(options)
    calibrated = None
    if options.calibrate is None:
        result = _account(options, matrix)
    elif matrix is None:
        result, calibrated = _calibrate(options)
    else:
        calibrated, matrix = _calibrate_matrix(options, matrix)
        result = calibrated.account
    least = None if matrix is None or matrix.realised is None else _account_realised(options, matrix.realised)
    pages: dict[Path, bytes] = {}
    if options.plot is not None:
        pages[options.plot] = draw(result.plot, options.plot)
    if options.plot_steps is not None:
        pages[options.plot_steps] = draw(lambda: result.plot_steps(options.delta), options.plot_steps)
    if options.certificate is not None:
        from proofs_check.certificates import to_file_text

        pages[options.certificate] = to_file_text(result.certificate()).encode()
    if options.guarantee is not None:
        from accountant.interop.files import write_guarantee

        pages[options.guarantee] = write_guarantee(result.guarantee).encode()
    write_files(pages)
    if options.json:
        more: dict[str, object] = {} if calibrated is None else {"calibrated": calibrated.to_json()}
        if matrix is not None:
            more["matrix"] = matrix.to_json() | ({} if least is None else {"realised": {result.asked: {"lower": least}}})
        print_json(result.to_json() | more)
    else:
        _print(options, result, calibrated)
        if matrix is not None:
            print_line(matrix.describe())
        if least is not None:
            low = f"that of the lower one, which some data have, is at least {least}; the worst is between the two"
            print_line(f"{result.asked} is that of the upper end of s^2; {low}")
    return 0


def _account(options: Options, matrix: MatrixRelease | None) -> Account:
    from accountant.curves.accounting import account

    if (options.delta is None) == (options.epsilon is None):
        given = "neither" if options.delta is None else "both"
        raise InvalidArgument(
            f"pdp account needs --delta D (bounds epsilon) or --epsilon E (bounds delta), but {given} was given; give one"
        )
    declared = _read(options) if matrix is None else _declare(options, matrix)
    side = options.side if matrix is None or matrix.sensitivity.is_exact else "upper"
    with show_progress("composing"):
        return account(declared, delta=options.delta, epsilon=options.epsilon, gap=options.gap or "1e-3", side=side)


def _account_realised(options: Options, event: Event) -> str:
    """Return the lower end of the number of a matrix mechanism that some data have, which are not known to be the worst."""
    from accountant.compositions.queries import find_point, lower_text, to_delta, to_epsilon, to_gap
    from accountant.curves import Composition

    epsilon = None if options.epsilon is None else to_epsilon(options.epsilon)
    delta = to_delta(options.delta) if options.delta is not None and epsilon is None else None  # of a target delta is told at its epsilon
    return lower_text(find_point(Composition("realised", (event,)), delta=delta, epsilon=epsilon, gap=to_gap(options.gap or "1e-3")))


def _calibrate(options: Options) -> tuple[Account, CalibratedEvents]:
    from accountant.calibration.events import find_largest_rate, find_least_noise, find_most_uses

    ways = {"noise": find_least_noise, "count": find_most_uses, "sampling": find_largest_rate}
    if options.calibrate not in ways:
        raise InvalidArgument(f"--calibrate finds {', '.join(ways)}, but {str(options.calibrate)[:40]!r} was found; name one of them")
    epsilon, delta = _read_target(options)
    declared = _read(options)
    with show_progress("calibrating"):
        calibrated = ways[options.calibrate](declared, epsilon, delta, gap=options.gap or "1e-2")
    return calibrated.account, calibrated


def _calibrate_matrix(options: Options, matrix: MatrixRelease) -> tuple[CalibratedEvents, MatrixRelease]:
    from accountant.calibration.matrices import find_least_matrix_noise

    epsilon, delta = _read_target(options)
    with show_progress("calibrating"):
        return find_least_matrix_noise(matrix, _declare(options, matrix), epsilon, delta, gap=options.gap or "1e-2")


def _read_target(options: Options) -> tuple[str, str]:
    if options.delta is None or options.epsilon is None:
        raise InvalidArgument("a target has an epsilon and a delta, but one is missing; give --epsilon E and --delta D with --calibrate")
    return options.epsilon, options.delta


def _print(options: Options, result: Account, calibrated: CalibratedEvents | None) -> None:
    if calibrated is not None:
        print_line(calibrated.describe())
        print_line("")
    print_as_it_is(result.render(everything=options.everything, explain=options.explain).rstrip())
    print_written(certificate=options.certificate, guarantee=options.guarantee)
    if options.plot is not None:
        print_line(f"curve drawn in {options.plot}")
    if options.plot_steps is not None:
        print_line(f"epsilon over the steps drawn in {options.plot_steps}")


def _single(options: Options) -> dict[str, str | None]:
    """Return the options that stand for a file with one event."""
    events = {"--gaussian": options.gaussian, "--sampling": options.sampling, "--count": options.count, "--steps": options.steps}
    drawn = {"--batches": options.batches, "--records": options.records, "--batch-size": options.batch_size, "--epochs": options.epochs}
    sizes = {"--steps-per-epoch": options.steps_per_epoch, "--limit": options.limit, "--group-size": options.group_size}
    matrix = None if options.matrix is None else str(options.matrix)
    released = {"--matrix": matrix, "--min-separation": options.min_separation, "--participations": options.participations}
    released["--fixed-order"] = "yes" if options.fixed_order else None
    return {**events, **drawn, **sizes, **released, "--unit": options.unit, "--neighbors": options.neighbors}


def _read(options: Options) -> DeclaredEvents:
    """Return what the file declares, or the options without one."""
    from accountant.compositions.batches import read_batches
    from accountant.curves import Composition, DeclaredEvents, make_event, read_composition_file

    given = [name for name, value in _single(options).items() if value is not None]
    if options.file is not None:
        return read_composition_file(options.file)
    for name in ("--min-separation", "--fixed-order"):
        if name in given:
            raise InvalidArgument(f"{name} was given, but it is about a matrix mechanism; give --matrix C.npy as well")
    noise = options.gaussian or ("1" if options.calibrate == "noise" else None)
    if noise is None:
        said = f"only {given[0]} was found" if given else "nothing was found"
        raise InvalidArgument(f"a composition is needed, but {said}; give a file, or --gaussian S with --sampling Q and --count T")
    protection = _protection(options)
    drawn = read_batches(_batches(options), protection.neighbors, "the command line", of_records=True)
    event = make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=drawn.rate, count=drawn.count, batches=drawn.batches)
    name = "sampled Gaussian sums" if event.sampling_probability != 1 else "Gaussian sums"
    return DeclaredEvents(Composition(name, (event,)), protection.unit, protection.neighbors, ())


def _protection(options: Options) -> Protection:
    from profiles.protection import read_protection

    unit, neighbors = options.unit, options.neighbors
    return read_protection("record" if unit is None else unit, "add-remove" if neighbors is None else neighbors, "the command line")


#: What says how batches are drawn of a mechanism whose noise has no matrix.
_OTHER_BATCHES = ("--count", "--batches", "--records", "--batch-size", "--epochs", "--steps-per-epoch", "--limit", "--group-size")


def _read_matrix(options: Options) -> MatrixRelease:
    """Return the matrix mechanism that the options stand for, as an event."""
    from accountant.compositions.matrices import read_matrix
    from accountant.compositions.matrix_events import release
    from accountant.compositions.sensitivity import Participation

    given = _single(options)
    if (other := [name for name in _OTHER_BATCHES if given[name] is not None]) or options.matrix is None:
        raise InvalidArgument(
            f"--matrix and {other[0]} were given, but a matrix says how many steps there are, and --min-separation and --participations "
            "who takes part; leave out the other"
        )
    if options.calibrate not in (None, "noise"):
        raise InvalidArgument(
            f"--matrix and --calibrate {str(options.calibrate)[:40]} were given, but of a matrix mechanism the noise is found; give "
            "--calibrate noise"
        )
    noise = options.gaussian or (None if options.calibrate is None else "1")
    if options.plot_steps is not None:
        raise InvalidArgument("--matrix and --plot-steps were given, but a matrix mechanism is one release; leave out --plot-steps")
    if noise is None or options.min_separation is None:
        missing = "--gaussian S" if noise is None else "--min-separation B"
        raise InvalidArgument(
            f"a matrix mechanism needs its noise and the steps in which a record takes part, but {missing} is missing; give it"
        )
    matrix = read_matrix(options.matrix, options.steps)
    names = "--min-separation", "--participations"
    when = Participation.read(options.min_separation, options.participations, fixed_order=options.fixed_order, names=names)
    with show_progress("finding the sensitivity"):
        return release(matrix, noise, when, _protection(options), options.sampling)


def _declare(options: Options, matrix: MatrixRelease) -> DeclaredEvents:
    from accountant.curves.matrices import declare_release

    return declare_release(matrix, _protection(options))


def _batches(options: Options) -> dict[str, object]:
    """Return what the options say of the batches, in the words of a file."""
    if options.count is not None and options.steps is not None:
        raise InvalidArgument("--count and --steps were given, but they are the same number; give one of the two")
    said = {
        "sampling": options.batches,
        "sampling_probability": options.sampling,
        "steps": options.count or options.steps,
        "records": options.records,
        "batch_size": options.batch_size,
        "epochs": options.epochs,
        "steps_per_epoch": options.steps_per_epoch,
        "limit": options.limit,
        "group_size": options.group_size,
        "participations": options.participations,
    }
    return {name: value for name, value in said.items() if value is not None}


def _check_outputs(options: Options) -> None:
    """Refuse outputs that cannot be written, that are the input, or of which two are one file, before any work is done."""
    check_files(options, {"composition": options.file, "matrix": options.matrix})
    if options.plot_steps is not None and options.delta is None:
        raise InvalidArgument("--plot-steps draws epsilon at a delta, but no delta was given; give --delta D as well")
