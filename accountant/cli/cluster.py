"""``pdp cluster``: k centres among public candidates, privately."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.answers import AnswerOptions, EpsilonOption, open_seeds, prepare, tell_answer
from accountant.cli.charging import KeyOption, make_analysis, open_ledger
from accountant.cli.pictures import plot_option, refuse_plot
from accountant.progress import show_progress
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.clustering.places import Places

HELP = (
    "Choose k centres among public candidates so that records are near one (k-median or k-means), with epsilon-differential privacy for "
    "each record. Candidates are points, the rows of a matrix of distances, the places of a network, or the cells of a box."
)
EXAMPLE = """\b
Examples:
  pdp cluster examples/petals.csv --points examples/grid.csv \\
    --columns length,width -k 3 -e 1 --n-bound 1000 --seed 1
  pdp cluster examples/petals.csv --box 0:8,0:3 --grid 24,12 --norm 1 \\
    --columns length,width -k 3 -e 1 --n-bound 1000 --seed 1
  pdp cluster examples/travellers.csv --graph examples/roads.csv \\
    --columns place -k 2 -e 1 --n-bound 1000 --power 2 --out centres.csv
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(AnswerOptions):
    data: Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or JSON file, one row per record")]
    k: Annotated[int, typer.Option("--k", "-k", metavar="K", help="how many centres")]
    epsilon: EpsilonOption
    columns: Annotated[
        str,
        typer.Option("--columns", metavar="A,B", help="coordinates, as in --points; or the one column of places (numbers for --distances)"),
    ]
    points: Annotated[str | None, typer.Option("--points", metavar="FILE", help="public candidates: a file with these columns")] = None
    distances: Annotated[
        str | None,
        typer.Option("--distances", metavar="FILE", help="public distances: a square matrix: NPY, JSON, CSV without header"),
    ] = None
    no_triangle: Annotated[
        bool,
        typer.Option("--no-triangle", help="with --distances: do not check the triangle inequality, which the bound on the cost assumes"),
    ] = False
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="FILE", help="a public network: a file with columns from, to and length")
    ] = None
    box: Annotated[
        str | None,
        typer.Option("--box", metavar="L:U,L:U", help="a public box, one side per column: its cells' centres are the candidates"),
    ] = None
    grid: Annotated[str, typer.Option("--grid", metavar="N,N", help="with --box: how many cells an axis has")] = "16"
    norm: Annotated[str, typer.Option("--norm", metavar="P", help="with --box: distances in the l_p norm, p >= 1 or inf")] = "2"
    diameter: Annotated[
        float | None, typer.Option("--diameter", metavar="D", help="a public bound, to which larger and infinite distances are cut")
    ] = None
    power: Annotated[int, typer.Option("--power", metavar="Q", help="1 for k-median, 2 for k-means")] = 1
    n_bound: Annotated[int | None, typer.Option("--n-bound", metavar="N", help="a public bound on the number of records")] = None
    rounds: Annotated[int | None, typer.Option("--rounds", metavar="L", help="with --method selection: how many candidates it draws")] = (
        None
    )
    method: Annotated[str | None, typer.Option("--method", metavar="NAME", help="auto (with --n-bound), selection or everything")] = None
    plot: Annotated[Path | None, plot_option("the candidates and the released centres in their first two columns")] = None
    key: KeyOption = None


def run(options: Options) -> int:
    from accountant.applications.clustering import PrivateMetricClustering
    from accountant.applications.clustering.picture import plot_clusters

    given = [name for name in ("points", "distances", "graph", "box") if getattr(options, name) is not None]
    if len(given) != 1:
        raise InvalidArgument("exactly one of --points, --distances, --graph and --box is needed; say where the public candidates are")
    if options.box is None and (options.grid, options.norm) != ("16", "2"):
        raise InvalidArgument("--grid and --norm are for the cells of a box, but there is no --box; give one, or leave them out")
    if options.no_triangle and options.distances is None:
        raise InvalidArgument("--no-triangle is for a matrix of distances, but there is no --distances; leave it out")
    candidates = None if options.box is not None else getattr(options, given[0])
    prepare(options, {"input": options.data, "file of candidates": candidates})
    if given[0] in ("distances", "graph"):
        refuse_plot(options.plot, "a choice among places without coordinates")
    names = [name.strip() for name in options.columns.split(",")]
    method = options.method or ("auto" if options.n_bound is not None else "selection")
    rng, bits = open_seeds(options.seed)
    with show_progress("clustering"), open_ledger(options) as ledger:
        places = _read_places(options, names)
        model = PrivateMetricClustering(
            places.space, options.k, options.epsilon, power=options.power, n_bound=options.n_bound, rounds=options.rounds,
            method=method,  # type: ignore[arg-type]
        )  # fmt: skip
        analysis = make_analysis(ledger, options, data=options.data, key=options.key)
        answer = model.run(places.locate(options.data, names), rng, bits=bits, ledger=analysis)
    centres = places.describe(answer.centres)
    words = "; ".join(", ".join(f"{name} {column[row]}" for name, column in centres.items()) for row in range(options.k))
    columns: dict[str, list[Any]] = {"centre": list(answer.centres), **centres}
    return tell_answer(
        answer,
        columns,
        options,
        public={"k": options.k, "power": options.power, "candidates": places.space.size, "diameter": places.space.diameter},
        headline=f"centres               {words}",
        picture=lambda: plot_clusters(places, answer.centres),
    )


def _read_places(options: Options, names: list[str]) -> Places:
    from accountant.applications.clustering.places import parse_grid, read_graph, read_matrix, read_points

    if options.box is not None:
        return parse_grid(options.box, options.grid, options.norm, names, options.diameter)
    if options.points is not None:
        return read_points(options.points, names, options.diameter)
    if len(names) != 1:
        raise InvalidArgument(
            f"one column of places is needed, but --columns names {len(names)}; name the column that says where a record is"
        )
    if options.distances is not None:
        return read_matrix(options.distances, options.diameter, triangle=False if options.no_triangle else None)
    return read_graph(str(options.graph), options.diameter)
