"""``pdp audit``: a lower confidence bound on ε from runs of an implementation on two neighboring data sets, against a claim."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.completion import complete_effort, complete_mechanism, complete_mode, complete_profile
from accountant.cli.options import JsonOption, ShowValuesOption, parse_assignments, repeat_words
from accountant.cli.output import print_as_it_is, print_json
from accountant.cli.streams import quiet_output
from accountant.progress import with_progress
from profiles.errors import InvalidArgument, PDPError, UnwritableOutput
from profiles.numbers import to_integer
from profiles.private import locate_failure, quote_failure

if TYPE_CHECKING:
    from proofs_check.audit.claims import Claim
    from proofs_check.audit.differences import Difference
    from proofs_check.audit.report import Circumstances
    from proofs_check.audit.results import AuditResult
    from proofs_check.exact import Bounds, ExactEpsilon

HELP = "Run an implementation on two neighboring data sets and compare a lower confidence bound on epsilon with what is claimed."
EXAMPLE = """\b
Examples:
  pdp audit profiles.mechanisms.laplace_sum:default \\
    --dataset "[1, 2.5]" --neighbor "[1]" --samples 2000
  pdp audit profiles.mechanisms.laplace_sum:default --claimed 3 \\
    --dataset "[1, 2.5]" --neighbor "[1]" --samples 2000 --seed 1
"""

EXIT = {"consistent": 0, "violated": 1}

_DELTA, _NEIGHBORING = "0", "add-remove"  # unless said otherwise
_SWAPPED = "D' has the record more, so the data sets were swapped: for a one-sided claim D is the larger one"


@dataclass(frozen=True, slots=True)
class Options:
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:MECHANISM", help="package.module:object or path/to/file.py:object", autocompletion=complete_mechanism
        ),
    ]
    dataset: Annotated[str, typer.Option("--dataset", metavar="D", help="a JSON array, or a CSV, Parquet, NPY or JSON file")]
    neighbor: Annotated[str, typer.Option("--neighbor", metavar="D2", help="the neighboring data set, in the same form")]
    claimed: Annotated[str | None, typer.Option("--claimed", metavar="E", help="the claimed epsilon in nats")] = None
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="PROFILE",
            help="claim epsilon(w, x) of the record that is added or removed",
            autocompletion=complete_profile,
        ),
    ] = None
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="NAME=VALUE", help="a statistic of that record, or l1, l2, l2^2, linf (repeatable)")
    ] = None
    delta: Annotated[str, typer.Option("--delta", metavar="DELTA", help="the claimed delta, with --claimed")] = _DELTA
    samples: Annotated[str, typer.Option("--samples", metavar="N", help="outputs for each data set")] = "100000"
    confidence: Annotated[str, typer.Option("--confidence", metavar="C", help="in (0, 1)")] = "0.99"
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="repeats a run; fresh if it is not given")] = None
    one_sided: Annotated[bool, typer.Option("--one-sided", help="the claim is add-DP: about adding the record only")] = False
    neighboring: Annotated[
        str, typer.Option("--neighboring", metavar="KIND", help="the neighbors of the claim: add-remove, replace-one or stated")
    ] = _NEIGHBORING
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="both, fixed or sequential", autocompletion=complete_mode)] = "both"
    stop_when_refuted: Annotated[
        bool, typer.Option("--stop-when-refuted", help="do not draw all samples to see how wrong a refuted claim is")
    ] = False
    effort: Annotated[str, typer.Option("--effort", metavar="EFFORT", help="fast, normal or thorough", autocompletion=complete_effort)] = (
        "normal"
    )
    statistic: Annotated[
        str | None, typer.Option("--statistic", metavar="MODULE:FUNCTION", help="audit this function of the outputs instead")
    ] = None
    log_ratio: Annotated[
        str | None, typer.Option("--log-ratio", metavar="MODULE:FUNCTION", help="the exact log-likelihood ratio of the outputs")
    ] = None
    exact: Annotated[
        str | None, typer.Option("--exact", metavar="MODULE:FUNCTION", help="the exact epsilon of D and D2, to show beside the bound")
    ] = None
    bits: Annotated[bool, typer.Option("--bits", help="also look for leaks of floating-point arithmetic")] = False
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", metavar="SECONDS", help="kill a call that takes longer (runs in a process of its own)")
    ] = None
    processes: Annotated[int, typer.Option("--processes", metavar="N", min=0, help="run in N worker processes; 0: in this one")] = 0
    one_at_a_time: Annotated[
        bool, typer.Option("--one-at-a-time", help="the mechanism is a function of data set and generator, for one output")
    ] = False
    own_randomness: Annotated[bool, typer.Option("--own-randomness", help="accept a mechanism that does not draw from its generator")] = (
        False
    )
    columns: Annotated[str | None, typer.Option("--columns", metavar="A,B", help="columns of a data file that make the records")] = None
    weight_column: Annotated[str | None, typer.Option("--weight-column", metavar="NAME", help="column of a data file with weights")] = None
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="draw outputs, event and bound (.png, .svg, .pdf)")] = None
    show_values: ShowValuesOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command; the exit code is 0 (consistent), 1 (violated) or 3 (not neighbors)."""
    import numpy as np

    from accountant.cli.audit_inputs import make_pair, parse_samples, read_table
    from proofs_check.audit import audit
    from proofs_check.audit.differences import find_difference
    from proofs_check.audit.neighbors import judge_neighbors
    from proofs_check.audit.report import Circumstances, render

    count = parse_samples(options.samples)
    seed = secrets.randbits(53) if options.seed is None else to_integer(options.seed, "the seed", 0)
    drawing = None if options.plot is None else _Drawing.prepare(options.plot)
    columns = [name.strip() for name in options.columns.split(",")] if options.columns is not None else []
    pair = make_pair(
        read_table(options.dataset, "--dataset", columns, options.weight_column),
        read_table(options.neighbor, "--neighbor", columns, options.weight_column),
    )
    difference = find_difference(*pair)
    swapped = options.one_sided and options.neighboring == _NEIGHBORING and (len(difference.first), len(difference.second)) == (0, 1)
    if swapped:
        pair, difference = (pair[1], pair[0]), find_difference(pair[1], pair[0])
    judge_neighbors(*pair, options.neighboring, one_sided=options.one_sided)
    with quiet_output():
        target = _load_function(options.mechanism, "a mechanism")
        claim, taken = _make_claim(target, difference, options)
        of_statistic = None if options.statistic is None else _load_function(options.statistic, "a function for --statistic")
        of_ratio = None if options.log_ratio is None else _load_function(options.log_ratio, "a function for --log-ratio")
        known = None if options.exact is None else _compute_exact(_load_function(options.exact, "a function for --exact"), pair)
        with _open_runner(target, options) as running:
            with with_progress(2 * count) as progress:
                result = audit(
                    running,
                    *pair,
                    claim,
                    rng=np.random.default_rng(seed),
                    samples=count,
                    confidence=options.confidence,
                    mode=options.mode,
                    effort=options.effort,
                    own_randomness=options.own_randomness,
                    bits=options.bits,
                    statistic=of_statistic,
                    log_ratio=of_ratio,
                    exact=known,
                    neighboring=options.neighboring,
                    stop_when_refuted=options.stop_when_refuted,
                    progress=progress,
                )
            picture = None if drawing is None else drawing.draw(result, running, pair, of_statistic or of_ratio)
    same = repeat_words("audit", dataclasses.replace(options, seed=seed, samples=str(count)), leave_out=("plot", "show_values", "json"))
    circumstances = Circumstances(
        options.mechanism,
        difference.text(),
        tuple(map(shlex.quote, same)),
        (_SWAPPED,) if swapped else (),
        options.bits,
        options.own_randomness,
        taken,
        record=difference.private_text(),
        private=True,
    )
    if options.json:
        print_json(_to_json(result, circumstances, swapped=swapped))
    else:
        print_as_it_is(render(result, circumstances))
    if drawing is not None:
        drawing.write(picture)
    return EXIT[result.finding.value]


@contextlib.contextmanager
def _open_runner(target: Callable[..., Any], options: Options) -> Iterator[Callable[..., Any]]:
    """Yield the mechanism as it is run: in this process, or in others, which a time limit needs."""
    from proofs_check.audit.adapters import in_processes, one_at_a_time

    workers = max(options.processes, int(options.time_limit is not None))
    if not workers:
        yield one_at_a_time(target) if options.one_at_a_time else target
        return
    with in_processes(
        options.mechanism,
        workers=workers,
        time_limit=options.time_limit,
        one_at_a_time=options.one_at_a_time,
        own_randomness=options.own_randomness,
    ) as pool:
        yield pool


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The plot: what is needed for it is looked at before the audit runs."""

    path: Path
    format: str

    @classmethod
    def prepare(cls, path: Path) -> _Drawing:
        from accountant.files import check_writable
        from profiles.presenting.pictures import find_format, load_figure

        kind = find_format(path.name)
        load_figure()
        check_writable(path)
        return cls(path, kind)

    def draw(
        self, result: AuditResult, running: Callable[..., Any], pair: tuple[Any, Any], change: Callable[[Any], Any] | None
    ) -> bytes | PDPError:
        """Return the picture; or what went wrong, which must not keep the result from being printed."""
        from proofs_check.audit.plots import draw_samples, plot_audit, to_bytes

        try:
            return to_bytes(plot_audit(result, draw_samples(running, pair, result, change=change)), self.format)
        except PDPError as error:
            return error
        except (ArithmeticError, ValueError, TypeError, RuntimeError) as error:
            return UnwritableOutput(
                f"the plot could not be drawn ({type(error).__name__}); leave out --plot, or judge a statistic",
                private=quote_failure(error),
            )

    def write(self, picture: bytes | PDPError | None) -> None:
        from accountant.files import replace_file

        if isinstance(picture, PDPError):
            raise picture
        with replace_file(self.path, private=True) as stream:  # outputs on both data sets, as many as were drawn
            stream.write(picture or b"")


def _load_function(reference: str, what: str) -> Callable[..., Any]:
    from proofs_check.references import load_object

    function = load_object(reference, what)
    if isinstance(function, type) or not callable(function):
        kind = f"the class {function.__name__}" if isinstance(function, type) else f"an object of type {type(function).__name__}"
        raise InvalidArgument(f"{what} was expected behind {reference[:80]!r}, but {kind} was found; name a function or a callable object")
    made: Callable[..., Any] = function
    return made


def _compute_exact(function: Callable[..., Any], pair: tuple[Any, Any]) -> Bounds | ExactEpsilon:
    from proofs_check.exact import Bounds, ExactEpsilon

    try:
        number = function(*pair)
    except PDPError:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidArgument(
            f"the function for --exact raised {locate_failure(error)}; correct it", private=quote_failure(error)
        ) from None
    if not isinstance(number, (Bounds, ExactEpsilon)):
        kind = type(number).__name__
        raise InvalidArgument(f"the function for --exact must return Bounds or an ExactEpsilon, but an object of type {kind} was found")
    return number


def _make_claim(target: Any, difference: Difference, options: Options) -> tuple[Claim, tuple[str, ...]]:
    """Return the claim, and sentences about what of it nobody checked."""
    from accountant.cli.audit_inputs import claim_of_pair
    from profiles import Profile, load
    from proofs_check.audit.claims import Claim

    if options.claimed is not None:
        if options.profile is not None or options.at:
            raise InvalidArgument("--claimed was given together with --profile or --at, which make a claim of their own; give one of them")
        return Claim(options.claimed, options.delta, one_sided=options.one_sided, source="given by --claimed"), ()
    own = getattr(target, "profile", None)
    declared = own if options.profile is None else load(options.profile).profile
    if not isinstance(declared, Profile):
        raise InvalidArgument("a claim is needed, but the mechanism has no profile of its own; give --claimed E or --profile PROFILE")
    if options.delta != _DELTA:
        raise InvalidArgument("--delta was given without --claimed, but a PDP profile has no delta; give both, or neither")
    if options.neighboring != _NEIGHBORING:
        raise InvalidArgument(
            f"--neighboring {options.neighboring} was given, but a PDP profile only makes a claim about adding or removing one record; "
            "give --claimed E as well, or leave it out"
        )
    claim, taken = claim_of_pair(declared, difference.added_record(), target, parse_assignments(options.at, "--at"))
    return Claim(claim.epsilon, one_sided=options.one_sided, source=claim.source, private=claim.private), taken


def _to_json(result: AuditResult, circumstances: Circumstances, *, swapped: bool) -> dict[str, Any]:
    told = result.to_json()
    return {
        **told,
        "mechanism": circumstances.mechanism,
        "pair": circumstances.pair,
        "swapped": swapped,
        "source": result.claim.source,
        "assumptions": list(circumstances.assumptions(result)),
        "private": {"record": circumstances.record, **told["private"], "repeat": " ".join(circumstances.repeat)},
    }
