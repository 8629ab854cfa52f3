"""``pdp kmeans``: private k-means from a data file to centres, with a certificate of all that was released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import prepare
from accountant.cli.charging import KeyOption, ReleaseOptions, make_analysis, open_ledger, refuse_alone
from accountant.cli.files import print_written
from accountant.cli.options import OutOption, SeedOption
from accountant.cli.output import print_as_it_is, print_json, print_line, print_table
from accountant.cli.pictures import draw, plot_option
from accountant.files import replace_files
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.kmeans.charging import ReleasedFit
    from accountant.applications.kmeans.fitting import Fit, FitSettings
    from accountant.guarantees import Guarantee
    from accountant.ledger import Charged, Ledger

HELP = (
    "Cluster the records of a data file (CSV, Parquet, NPY; read in passes, and may be larger than memory) privately: the centres, and "
    "a certificate of the epsilon of all that was released. Only bounds of each column, or a ball, have to be public; records are "
    "moved into them."
)
#: So many counts are printed one by one.
_FEW = 12
EXAMPLE = """\b
Examples:
  pdp kmeans examples/points.csv --clusters 2 --epsilon 1 --radius 4 \\
    --out centres.csv --certificate c.json
  pdp kmeans examples/petals.csv --clusters 3 --epsilon 1 --out centres.csv \\
    --bounds length=0:10 --bounds width=0:4
  pdp kmeans examples/points.csv -k 2 -e 1 --delta 1e-6 --radius 4 \\
    --columns x,y --out centres.npy --report r.html
  pdp kmeans examples/points.csv -k 2 -e 1 --radius 4 --out centres.csv \\
    --sample coreset --sample-size 500 --certificate c.json
  pdp check c.json
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ReleaseOptions):
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, Parquet or NPY file; each column a coordinate, each row a record")]
    clusters: Annotated[int, typer.Option("--clusters", "-k", metavar="K", help="number of centres")]
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", metavar="E", help="epsilon in nats, of everything that is released together")]
    out: OutOption
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            "--bounds",
            metavar="COLUMN=LO:HI",
            help="public bounds of a column in its own unit, for each column in place of a radius (repeatable)",
        ),
    ] = None
    radius: Annotated[
        str | None,
        typer.Option("--radius", "-r", metavar="R", help="radius of a ball that is known without looking at the data; may be generous"),
    ] = None
    center: Annotated[
        Path | None, typer.Option("--center", metavar="FILE", help="a file with one record: the public center of the ball; 0 by default")
    ] = None
    delta: Annotated[str | None, typer.Option("--delta", metavar="D", help="a delta in (0, 1): the noise is then normal")] = None
    certificate: Annotated[Path | None, typer.Option("--certificate", metavar="FILE", help="write the certificate of the release")] = None
    report: Annotated[Path | None, typer.Option("--report", metavar="FILE", help="write the release as one HTML page for an auditor")] = (
        None
    )
    plot: Annotated[Path | None, plot_option("the released centres in their first two columns")] = None
    columns: Annotated[str | None, typer.Option("--columns", metavar="a,b", help="the columns that are used; all by default")] = None
    without: Annotated[str | None, typer.Option("--without", metavar="a,b", help="columns that are not used, such as a label")] = None
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="RULE",
            help="run on one Poisson sample, drawn by the released statistics: uniform, coreset or privacy-constrained",
        ),
    ] = None
    sample_size: Annotated[
        str | None, typer.Option("--sample-size", metavar="M", help="about how many records to sample; for uniform and coreset")
    ] = None
    method: Annotated[str, typer.Option("--method", metavar="NAME", help="how centres are found: auto or lloyd")] = "auto"
    public: Annotated[
        list[str] | None,
        typer.Option("--public", metavar="NAME", help="treat n, mean or rms as public, which is an unverified assumption (repeatable)"),
    ] = None
    seed: SeedOption = None
    key: KeyOption = None


def run(options: Options) -> int:
    import json

    import numpy as np

    from accountant.applications.budget.rows import open_rows, read_center
    from accountant.applications.kmeans.centres import write_centres
    from accountant.applications.kmeans.certificate import to_certificate
    from accountant.applications.kmeans.charging import ReleasedFit, charge_fit
    from accountant.applications.kmeans.fitting import FitDraws, FitPlan, FitSettings, fit_rows
    from accountant.applications.kmeans.methods import find_method
    from accountant.data.writers import output_format
    from profiles.randomness.bits import open_bits
    from proofs_check.certificates import to_file_text

    output_format(options.out)
    prepare(options, {"input": options.data, "center": options.center})
    bounds, columns = _read_bounds(options), _names(options.columns)
    if bounds is not None:
        columns = columns or tuple(bounds)
    settings = FitSettings.of(
        options.clusters,
        options.epsilon,
        delta=options.delta,
        radius=options.radius,
        public=tuple(options.public or ()),
        sample=options.sample,
        sample_size=options.sample_size,
        bounds=bounds,
    )
    method = find_method(options.method)
    bits = open_bits(options.seed)
    with open_ledger(options) as ledger, show_progress("k-means", "records") as report:
        key = _read_key(options, columns, ledger)
        analysis = make_analysis(ledger, options, data=options.data, key=options.key)
        rows = open_rows(options.data, only=columns, without=(*_names(options.without), *key), report=lambda done: report(done, None))
        settings = settings.for_columns(rows.names, rows.dimension)
        if options.center is not None:
            settings = settings.around(read_center(options.center, rows.names))
        # what need not be secret has random numbers of its own
        rng = np.random.default_rng(None if options.seed is None else [options.seed, 1])
        plan = FitPlan(settings, method, FitDraws(bits, bits.hypothesis, rng))

        def certify(fit: Fit) -> dict[str, str]:
            return {"certificate": to_file_text(to_certificate(fit, settings, columns=rows.names, method=options.method))}

        fit: Fit | None = None
        if analysis is None:
            fit = fit_rows(rows, plan)
            texts, released, guarantee, charged = certify(fit), ReleasedFit.of(fit), fit.certified.guarantee, None
        else:
            arguments = ("pdp kmeans", settings, options.method, rows.names)
            stored, charged = charge_fit(rows, plan, analysis, arguments=arguments, size=None, certify=certify)
            texts, released, guarantee = stored["texts"], ReleasedFit.restore(stored["fit"]), charged.guarantee
    certificate = json.loads(texts["certificate"])
    pages = _make_pages(options, texts["certificate"], certificate, fit)
    if options.plot is not None:
        pages |= {options.plot: _draw(options.plot, released, rows.names, bounds)}
    with replace_files(options.out, *pages) as (stream, *others):
        write_centres(stream, options.out, released.centres, rows.names)
        for other, text in zip(others, pages.values(), strict=True):
            other.write(text)
    told = _tell(released, guarantee, charged, certificate, options)
    if options.json:
        print_json(told)
    else:
        _print(released, guarantee, charged, settings, told, options)
        print_written(picture=options.plot)
    return 0


def _make_pages(options: Options, text: str, certificate: Mapping[str, Any], fit: Fit | None) -> dict[Path, bytes]:
    """Return the certificate and the report that were asked for."""
    pages: dict[Path, bytes] = {}
    if options.certificate is not None:
        pages[options.certificate] = text.encode()
    if options.report is not None and fit is not None:
        from accountant.applications.kmeans.page import render_fit

        pages[options.report] = render_fit(fit, certificate).encode()
    return pages


def _draw(path: Path, released: ReleasedFit, names: Sequence[str], bounds: Mapping[str, tuple[str, str]] | None) -> bytes:
    from accountant.applications.kmeans.picture import plot_centres

    return draw(lambda: plot_centres(released.centres, released.counts, names, bounds), path)


def _read_key(options: Options, columns: tuple[str, ...], ledger: Ledger | None) -> tuple[str, ...]:
    """Return the columns of ids, which are no coordinates. Raises :class:`InvalidArgument` for what a ledger does not go with."""
    if ledger is None:
        return ()
    key = ledger.settings.key if options.key is None else _names(options.key)
    if set(key) & set(columns):
        raise InvalidArgument("--columns or --bounds names the column of ids, which says who somebody is, not where; leave it out")
    refuse_alone(options, ledger)
    return key


def _read_bounds(options: Options) -> dict[str, tuple[str, str]] | None:
    """Return the texts of --bounds by column, None without any. Raises :class:`InvalidArgument`."""
    if not options.bounds:
        return None
    if options.without is not None:
        raise InvalidArgument("--without was given, but --bounds names the columns that are used; leave it out")
    bounds: dict[str, tuple[str, str]] = {}
    for text in options.bounds:
        name, equals, rest = (part.strip() for part in text.rpartition("="))
        low, colon, high = (part.strip() for part in rest.partition(":"))
        if not (equals and name and colon and low and high):
            raise InvalidArgument(f"--bounds needs COLUMN=LO:HI, but {text[:60]!r} was found; write for example --bounds age=0:110")
        if name in bounds:
            raise InvalidArgument(f"--bounds names the column {name[:60]!r} twice; give its bounds once")
        bounds[name] = (low, high)
    return bounds


def _names(given: str | None) -> tuple[str, ...]:
    """Return the names of a list with commas. Raises :class:`InvalidArgument`."""
    if given is None:
        return ()
    names = tuple(name.strip() for name in given.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise InvalidArgument(f"a list of columns names each once, with commas between, but {given[:60]!r} was found; correct it")
    return names


def _tell(
    released: ReleasedFit, guarantee: Guarantee, charged: Charged | None, certificate: Mapping[str, Any], options: Options
) -> dict[str, Any]:
    named = {name: certificate[name] for name in ("arguments", "epsilon", "released", "releases", "hypotheses", "premises")}
    if charged is not None:
        from accountant.guarantees import to_json

        told = to_json(guarantee)
        named |= {"epsilon": told.get("epsilon"), "hypotheses": told["hypotheses"], "premises": told["premises"]}
        named |= {"ledger": charged.to_json(), "guarantee": told}
    return {
        **named,
        "sample": None
        if released.expected is None
        else {"expected_size": released.expected, "releases": certificate["sample"]["releases"]},
        "unconditional": guarantee.is_unconditional,
        "checked_by_kernel": True,
        "warnings": list(released.warnings),
        "out": str(options.out),
        "certificate": None if options.certificate is None else str(options.certificate),
        "report": None if options.report is None else str(options.report),
    }


def _share(cost: Fraction, settings: FitSettings) -> str:
    from profiles import decimal_text

    return decimal_text(cost / settings.law.budget, 5, round_up=False)


def _tell_sample(released: ReleasedFit, settings: FitSettings) -> list[tuple[str, str]]:
    """Return the line about the releases of a sample, whose costs are those per unit of weight: together they take what is left."""
    if released.expected is None:
        return []
    left = settings.law.budget - sum((charge.cost for charge in released.charges), Fraction(0))
    what = f"counts and sums of one sample of about {max(1, round(released.expected))}, {len(released.sampled)} in all"
    return [(what, _share(left, settings))]


def _print(
    released: ReleasedFit,
    guarantee: Guarantee,
    charged: Charged | None,
    settings: FitSettings,
    told: Mapping[str, Any],
    options: Options,
) -> None:
    from accountant.guarantees import render, render_basis
    from profiles import decimal_text, to_exact

    def short(value: float | Fraction) -> str:
        return decimal_text(to_exact(float(value)), 5, round_up=False)

    statistics, bound = released.statistics, told["epsilon"]
    print_line(f"{settings.clusters} centres written to {options.out}; all that is printed here may be published")
    if charged is None:
        delta = "" if bound["delta"] is None else f", delta <= {bound['delta']}"
        print_line(f"epsilon               <= {bound['upper']} nats{delta}, of all that is released together")
        print_line(f"protects              {guarantee.unit.value}; {guarantee.protection.describe()}")
        print_line("checked by kernel     yes")
    else:
        print_line(f"ledger                {charged}")
    scaled = "" if settings.bounds is None else ", where each column is scaled to [-1, 1]"
    spread = f"root mean squared distance from their mean {short(statistics.rms)}{scaled}"
    print_line(f"records               about {short(statistics.count)}, {spread}")
    print_line(f"clusters              of about {_tell_counts(released, short)} records (noisy)")
    for text in released.warnings:
        print_line(f"warning               {text}")
    if options.everything or options.explain:
        _print_releases(released, settings, short)
    if charged is None:
        print_as_it_is("\n".join(render_basis(guarantee, everything=options.everything, explain=options.explain)))
    else:
        print_as_it_is(render(guarantee, everything=options.everything, explain=options.explain).rstrip())
    if options.certificate is not None:
        print_line(f"certificate           {options.certificate}; check it with: pdp check {options.certificate}")
    if options.report is not None:
        print_line(f"report                {options.report}")


def _tell_counts(released: ReleasedFit, short: Callable[[float | Fraction], str]) -> str:
    """Return the noisy counts of the clusters: of many the least and the largest."""
    counts = [short(count) for count in released.counts]
    return ", ".join(counts) if len(counts) <= _FEW else f"{short(min(released.counts))} to {short(max(released.counts))}"


def _print_releases(released: ReleasedFit, settings: FitSettings, short: Callable[[float | Fraction], str]) -> None:
    """Print how the centres were found, what was released for it, and the counts of the clusters."""
    chosen = (f"{name} {short(value) if isinstance(value, (float, Fraction)) else value}" for name, value in released.choices.items())
    print_line(f"method                {', '.join(chosen)}")
    print_table(
        "what was released",
        ("release", "share of the budget"),
        [*((charge.part.value, _share(charge.cost, settings)) for charge in released.charges), *_tell_sample(released, settings)],
    )
    print_table("clusters (noisy)", ("cluster", "records"), [(str(place), short(count)) for place, count in enumerate(released.counts)])
