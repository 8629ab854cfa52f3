"""``pdp cover``: an order of public sets in which few cover all elements, privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from accountant.cli.answers import EpsilonOption, RowOptions, label, prepare, read_candidates, run_on_rows, tell_answer
from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.applications.setcover.algorithms import Algorithm

HELP = (
    "Put public sets into an order in which few of them cover all elements, with epsilon-differential privacy for each element: each "
    "element is then covered by the first set that contains it."
)
EXAMPLE = """\b
Examples:
  pdp cover examples/pixels.csv --element image --set pixel --sets 64 \\
    -e 1 --seed 1
  pdp cover examples/pixels.csv --element image --set pixel --sets 64 \\
    -e 1 --algorithm fresh-samples --max-elements 1000 --out order.csv
"""
_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(RowOptions):
    sets: Annotated[
        str, typer.Option("--sets", metavar="M or FILE", help="the public list of sets: a file with one per line (or a JSON list), or M")
    ]
    epsilon: EpsilonOption
    element: Annotated[str, typer.Option("--element", metavar="COLUMN", help="the column that identifies elements")] = "element"
    set: Annotated[str, typer.Option("--set", metavar="COLUMN", help="the column of the sets")] = "set"
    algorithm: Annotated[str, typer.Option("--algorithm", metavar="NAME", help="noisy-greedy, one-sample or fresh-samples")] = (
        "noisy-greedy"
    )
    max_elements: Annotated[
        int | None, typer.Option("--max-elements", metavar="N", help="with one-sample and fresh-samples: a public guess of their number")
    ] = None


def run(options: Options) -> int:
    from accountant.applications.setcover import PrivateSetCover, read_coverage

    prepare(options, {"input": options.data, "list of sets": options.sets})
    algorithm = _choose(options.algorithm, options.max_elements)
    sets = read_candidates(options.sets)
    mechanism = PrivateSetCover(options.epsilon, sets if isinstance(sets, int) else len(sets), algorithm)
    columns = (options.element, options.set)
    answer = run_on_rows(mechanism, options, columns, sets, read_coverage, "covering")
    order = label(sets, answer.permutation.tolist())
    first = ", ".join(map(str, order[:_SHOWN])) + (f", ... ({len(order)} sets; --out has all)" if len(order) > _SHOWN else "")
    return tell_answer(
        answer,
        {"rank": list(range(1, len(order) + 1)), "set": order},
        options,
        public={"algorithm": options.algorithm},
        headline=f"order                 {first}",
    )


def _choose(name: str, most: int | None) -> Algorithm:
    from accountant.applications.setcover import FreshSampleScaling, NoisyGreedy, OneSampleScaling

    scaling: dict[str, type[OneSampleScaling | FreshSampleScaling]] = {"one-sample": OneSampleScaling, "fresh-samples": FreshSampleScaling}
    if name == "noisy-greedy":
        if most is not None:
            raise InvalidArgument("--max-elements was given, but noisy greedy needs no guess; leave it out, or choose another algorithm")
        return NoisyGreedy()
    if name not in scaling:
        raise InvalidArgument(f"the algorithm must be noisy-greedy, one-sample or fresh-samples, but {name[:40]!r} was found; choose one")
    return scaling[name]() if most is None else scaling[name](max_elements=most)
