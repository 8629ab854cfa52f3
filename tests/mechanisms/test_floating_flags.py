"""What a caller wants to hear of floating-point flags says nothing about records: none raises, warns or calls because of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from accountant import draw_sample, plan_sample
from accountant.applications.kmeans import DPLloyd
from profiles.mechanisms import GaussianSum, KNormSum, LaplaceSum, WeightedCount, WeightedLloyd
from profiles.mechanisms.ball import project_records, record_norms
from profiles.mechanisms.nearest import find_nearest
from profiles.mechanisms.repeated import RepeatedExponential, RepeatedThreshold
from profiles.numbers import to_exact

#: Numbers whose squares, products and casts under- or overflow, or that are subnormal themselves.
_TINY = (5e-324, 1e-320, 2.3e-308, 1e-200, -1e-160, 1e-45, 1e-39, 0.0)
_MODES = ("exact", "binary64")
_MANY = 39_000  # rows from which on labels come from the screens and not from the definition


def _rows(count: int, dimension: int, radius: float) -> NDArray[np.float64]:
    """Return ordinary records with hostile ones among them, all of norm at most ``radius``."""
    rows = np.random.default_rng(5).uniform(-1, 1, size=(count, dimension)) * (radius / (2 * dimension))
    for place, value in enumerate(item for item in _TINY if abs(item) * dimension <= radius):
        rows[7 * place] = value
        rows[7 * place + 1, 0] = value
    rows[3], rows[4] = 0.0, 0.0
    rows[3, 0], rows[4, -1] = radius, -radius
    return rows


def _weights(count: int) -> NDArray[np.float64]:
    weights = np.random.default_rng(6).uniform(1, 3, size=count)
    weights[:5] = 1.0, 1 + 2.0**-52, 2.0, 3.0, 1.0
    return weights


@pytest.fixture(params=["raise", "warn"])
def strict(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every flag raises, or warns where warnings are errors."""
    with warnings.catch_warnings(), np.errstate(all=request.param):
        warnings.simplefilter("error", RuntimeWarning)
        yield request.param


def _lloyd(dimension: int, mode: str, **changes: Any) -> WeightedLloyd:
    centres = np.eye(3, dimension) * 0.2
    given: dict[str, Any] = {"initial_centres": centres, "iterations": 2, "beta_count": 3, "beta_sum": 3, "radius": 1, "arithmetic": mode}
    return WeightedLloyd(**(given | changes))


def _mechanisms() -> Iterator[tuple[str, Any, float]]:
    for mode in _MODES:
        for exponent in (-900, 0, 600):
            radius = 2.0**exponent
            yield f"laplace {mode} {exponent}", LaplaceSum(b=to_exact(radius), radius=radius, dimension=2, arithmetic=mode), radius
            yield f"gaussian {mode} {exponent}", GaussianSum(sigma=to_exact(radius), radius=radius, dimension=2, arithmetic=mode), radius
            for p in (1, 2, 3, math.inf):
                if p != 3 or mode == "binary64":
                    made = KNormSum(beta_sum=to_exact(radius), radius=radius, dimension=2, p=p, arithmetic=mode)
                    yield f"k-norm {p} {mode} {exponent}", made, radius
            centres = np.eye(3, 2) * radius
            lloyd = _lloyd(2, mode, initial_centres=centres, beta_sum=to_exact(radius), radius=radius, confine=exponent == 0)
            yield f"lloyd {mode} {exponent}", lloyd, radius
            if exponent == 600:
                yield (
                    f"lloyd, any count {mode}",
                    _lloyd(2, mode, initial_centres=centres, radius=radius, beta_sum=2**600, min_count=None),
                    radius,
                )
        yield f"count {mode}", WeightedCount(beta_count=1, arithmetic=mode), 1.0
        yield f"lloyd, far centre {mode}", _lloyd(2, mode, initial_centres=[[0.1, 0.1], [1e200, 0], [1e-200, 0]]), 1.0
        for p in (1, math.inf):
            yield f"lloyd {p} {mode}", _lloyd(2, mode, p=p, confine=True), 1.0


_ALL = list(_mechanisms())


@pytest.mark.thorough(quick=20)
@pytest.mark.parametrize(("name", "mechanism", "radius"), _ALL, ids=[name for name, _, _ in _ALL])
def test_no_run_of_a_mechanism_hears_flags(name: str, mechanism: Any, radius: float, strict: str) -> None:
    rows = _rows(300, 2, radius)
    for weights in (None, _weights(300)):
        with np.errstate(all="ignore"):
            expected = mechanism.run(rows, weights, np.random.default_rng(1))
        assert np.array_equal(mechanism.run(rows, weights, np.random.default_rng(1)), expected)
        assert len(mechanism((rows, weights), np.random.default_rng(2), 3)) == 3
    mechanism.statistic(rows)


@pytest.mark.parametrize("mode", _MODES)
def test_no_run_on_many_rows_hears_flags(mode: str, strict: str) -> None:
    rows = _rows(_MANY, 3, 1.0)
    mechanism = _lloyd(3, mode)
    for weights in (None, _weights(_MANY)):
        with np.errstate(all="ignore"):
            expected = mechanism.run(rows, weights, np.random.default_rng(1))
        assert np.array_equal(mechanism.run(rows, weights, np.random.default_rng(1)), expected)


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("outside", ["project", "error"])
@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_no_fit_hears_flags(mode: str, outside: str, norm: float, strict: str) -> None:
    rows = _rows(300, 3, 1.0)
    if outside == "project":
        rows[10], rows[11] = 1e-30, 1e300
    model = DPLloyd(3, epsilon=1, radius=1, iterations=2, norm=norm, outside=outside, arithmetic=mode, init=np.eye(3) * 0.2, random_state=1)
    model.fit(rows)
    model.predict(rows)
    model.set_params(largest_weight=4).fit(rows, sample_weight=_weights(300))


@pytest.mark.parametrize("mode", _MODES)
def test_no_sampled_fit_hears_flags(mode: str, strict: str) -> None:
    model = DPLloyd(2, epsilon=1, radius=1, iterations=2, outside="project", arithmetic=mode, random_state=1)
    model.fit_sampled(_rows(300, 3, 1.0), target_epsilon=2)
    model.fit_sampled(_rows(300, 3, 1.0), rule="uniform", constants={"rate": "0.5"})


@pytest.mark.parametrize("mode", _MODES)
def test_no_release_of_a_sample_hears_flags(mode: str, strict: str) -> None:
    mechanism = LaplaceSum(b=1, radius=1, dimension=1, arithmetic=mode)
    rows = _rows(300, 1, 1.0)[:, 0]
    table = pa.table({"x": rows, "z": np.abs(rows)})
    sample = draw_sample(plan_sample(mechanism, rule="uniform", constants={"rate": "0.5"}), table)
    sample.release(mechanism, columns=["x"])


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("scores", [(0.0, 5e-324, 1e-200), (1e308, -1e308, 0.0), (1.0, 1 + 2.0**-52, 1e-310)])
def test_no_choice_hears_flags(mode: str, scores: tuple[float, ...], strict: str) -> None:
    rng = np.random.default_rng(1)
    choice = RepeatedExponential(
        select=lambda _chosen: (range(3), lambda _data: np.array(scores)), rounds=2, epsilon0=1, sensitivity=1, arithmetic=mode
    )
    answer = RepeatedThreshold(select=lambda _given: (lambda _data: scores[0], 1), rounds=2, epsilon0=1, sensitivity=1, arithmetic=mode)
    for mechanism in (choice, answer):
        mechanism.run([], rng)
        mechanism.sample([], rng, 3)


_PASSES: list[tuple[str, Callable[[NDArray[np.float64]], object]]] = [
    ("project", lambda rows: project_records(rows, 2, to_exact(1))),
    ("norms", lambda rows: record_norms(rows, 3)),
    ("nearest", lambda rows: find_nearest(rows, np.eye(3, rows.shape[1]))),
]


@pytest.mark.parametrize(("name", "work"), _PASSES, ids=[name for name, _ in _PASSES])
def test_no_pass_over_records_hears_flags(name: str, work: Callable[[NDArray[np.float64]], object], strict: str) -> None:
    rows = _rows(300, 3, 1.0)
    rows[12], rows[13] = 1e300, -1.7e308
    work(rows)
