"""Errors of OpenDP and diffprivlib, run by an interpreter that has them: ``python benchmarks/release/peers.py DATA.npz RUNS``.

Prints one JSON object: library → answer → root mean squared error. Needs nothing of this project. What a library does not offer under
one record more or less with a private number of rows is left out, and said under ``left out``.
"""

from __future__ import annotations

import json
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def rms(draw: Callable[[], float], truth: float, runs: int) -> float:
    """Return the root mean squared error of ``runs`` draws."""
    return float(np.sqrt(np.mean([(float(draw()) - truth) ** 2 for _ in range(runs)])))


def run_opendp(ages: np.ndarray, _: np.ndarray, regions: list[str], runs: int) -> dict[str, Any]:
    """Return the errors of OpenDP at d_in = 1 under the symmetric distance, d_out = 1."""
    import opendp.prelude as dp  # noqa: PLC0415 - where it can be imported

    dp.enable_features("contrib", "honest-but-curious")
    found: dict[str, Any] = {}
    left: dict[str, str] = {}
    whole = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()

    def try_one(name: str, make: Callable[[], tuple[Any, float]]) -> None:
        try:
            measure, truth = make()
            found[name] = rms(measure, truth, runs)
        except Exception as error:  # what it has no room for, in its own words
            left[name] = " ".join(str(error).split())[:120]

    def chain(make: Callable[[float], Any], data: Any) -> Callable[[], Any]:
        scale = dp.binary_search_param(make, d_in=1, d_out=1.0)
        ready = make(scale)
        return lambda: ready(data)

    listed = ages.tolist()

    def histogram() -> tuple[Any, float]:
        texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()

        def make(scale: float) -> Any:
            counted = texts >> dp.t.then_count_by_categories(["N", "S", "E", "W"], null_category=False)
            return counted >> dp.m.then_laplace(scale=scale)

        draw = chain(make, regions)
        return (lambda: draw()[0]), regions.count("N")

    def median() -> tuple[Any, float]:
        points = list(range(111))
        scored = whole >> dp.t.then_quantile_score_candidates(points, alpha=0.5)
        draw = chain(
            lambda scale: scored >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True) >> (lambda place: points[place]),
            listed,
        )
        return draw, float(np.median(ages))

    try_one("count", lambda: (chain(lambda s: whole >> dp.t.then_count() >> dp.m.then_laplace(scale=s), listed), len(ages)))
    try_one(
        "sum of whole numbers",
        lambda: (
            chain(lambda s: whole >> dp.t.then_clamp((0, 110)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=s), listed),
            int(ages.sum()),
        ),
    )
    try_one("one cell of a histogram", histogram)
    try_one("median", median)
    return {**found, "left out": left}


def run_diffprivlib(ages: np.ndarray, incomes: np.ndarray, regions: list[str], runs: int) -> dict[str, Any]:
    """Return the errors of diffprivlib.tools at epsilon = 1; its models are not loaded, which need an older scikit-learn."""
    sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")
    from diffprivlib import tools  # noqa: PLC0415 - where it can be imported

    first = np.array([name == "N" for name in regions])
    found = {
        "sum of whole numbers": rms(lambda: tools.sum(ages, epsilon=1.0, bounds=(0, 110)), int(ages.sum()), runs),
        "sum": rms(lambda: tools.sum(incomes, epsilon=1.0, bounds=(0, 150_000)), float(incomes.sum()), runs),
        "one cell of a histogram": rms(lambda: tools.count_nonzero(first, epsilon=1.0), int(first.sum()), runs),
        "median": rms(lambda: tools.median(ages.astype(float), epsilon=1.0, bounds=(0, 110)), float(np.median(ages)), runs),
    }
    public = "it takes the number of rows for public, which is another guarantee"
    return {**found, "left out": {"count": f"{public}: the noisy count is cut off there", "mean": public, "variance": public}}


def main() -> None:
    """Run the libraries that can be imported."""
    warnings.simplefilter("ignore")
    data, runs = np.load(sys.argv[1]), int(sys.argv[2])
    given = (data["ages"], data["incomes"], [str(name) for name in data["regions"]], runs)
    told: dict[str, Any] = {}
    for name, run in (("OpenDP", run_opendp), ("diffprivlib", run_diffprivlib)):
        try:
            told[name] = run(*given)
        except ImportError as error:
            told[name] = {"left out": {"everything": f"it cannot be imported: {error}"[:120]}}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
