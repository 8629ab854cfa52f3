"""Selection of rows by draws that come from outside: what is asked of them, where they are opened, and what a seed reproduces."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import profiles
from accountant.engines import ArrowWeights, Draw, arrow_sample, arrow_weights, select_rows, spawn_generator

LLOYD = profiles.declare("lloyd", "T*w*(1/a + z/b)", record={"z": [0, 4]}, parameters={"T": 10, "a": "20.5", "b": 30})
Z = np.random.default_rng(6).uniform(0, 4, 4_000)
TABLE = pa.table({"id": range(4_000), "z": Z})


@dataclass(frozen=True, slots=True)
class OpenSeeded:
    """Uniform numbers of the partition's own stream; exact for q that are multiples of 2^-53, which is enough for tests."""

    seed: int
    partition: int

    def __call__(self) -> Draw:
        rng = spawn_generator(self.seed, self.partition)
        return lambda q: rng.random(q.size) < q


@pytest.fixture(scope="module")
def weights() -> ArrowWeights:
    return arrow_weights(LLOYD, 2)


def test_the_rows_that_are_drawn_are_kept_in_order_with_their_pairs(weights: ArrowWeights) -> None:
    weighed = weights(TABLE.to_batches()[0])
    chosen = np.arange(4_000) % 7 == 3
    kept = select_rows(weighed, lambda q: chosen)
    assert kept.column("id").to_pylist() == np.flatnonzero(chosen).tolist()
    assert kept.equals(weighed.filter(pa.array(chosen)))
    assert select_rows(weighed.slice(0, 0), lambda q: chosen).num_rows == 0


def test_draws_get_the_probabilities_as_they_are(weights: ArrowWeights) -> None:
    seen: list[np.ndarray] = []

    def draw(q: np.ndarray) -> np.ndarray:
        seen.append(q.copy())
        q[:] = 1.0  # what a draw does to its argument must not reach the sample
        return np.ones(q.size, dtype=np.bool_)

    weighed = weights(TABLE.to_batches()[0])
    kept = select_rows(weighed, draw)
    assert kept.equals(weighed)
    assert seen[0].dtype == np.float64
    assert seen[0].tobytes() == weighed.column("q").to_numpy().tobytes()


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ([True, False], "list"),
        (np.array([1.0, 0.0]), r"float64 of shape \(2,\)"),
        (np.array([True]), r"bool of shape \(1,\)"),
        (np.array([[True], [True]]), r"bool of shape \(2, 1\)"),
        (None, "NoneType"),
    ],
)
def test_draws_must_return_one_bool_a_row(returned: Any, found: str) -> None:
    with pytest.raises(profiles.InvalidArgument, match=rf"bool array of shape \(2,\), but {found}"):
        select_rows(pa.record_batch({"q": [0.1, 0.2]}), lambda q: returned)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"p": [0.5]}, "0 such columns"),
        ({"q": pa.array([0.5], pa.float32())}, "float was found"),
        ({"q": ["0.5"]}, "string was found"),
        ({"q": [0.5, None]}, r"\[0, 1\]"),
        ({"q": [float("nan")]}, r"\[0, 1\]"),
        ({"q": [-1e-300]}, r"\[0, 1\]"),
        ({"q": [1.0000000000000002]}, r"\[0, 1\]"),
    ],
)
def test_only_probabilities_are_drawn(columns: dict[str, Any], match: str) -> None:
    with pytest.raises(profiles.InvalidData, match=match):
        select_rows(pa.record_batch(columns), lambda q: np.ones(q.size, dtype=np.bool_))


def sample(weights: ArrowWeights, open_draw: Callable[[], Draw], rows: int, table: pa.Table = TABLE) -> list[int]:
    batches = table.to_batches(max_chunksize=rows)
    ids: list[int] = pa.Table.from_batches(arrow_sample(weights, open_draw)(batches), weights.schema(TABLE.schema))["id"].to_pylist()
    return ids


def test_a_seed_gives_the_same_sample_of_a_partition_however_it_is_cut_into_batches(weights: ArrowWeights) -> None:
    first = sample(weights, OpenSeeded(1, 0), 4_000)
    assert sample(weights, OpenSeeded(1, 0), 333) == first
    assert sample(weights, OpenSeeded(1, 1), 333) != first
    assert sample(weights, OpenSeeded(2, 0), 333) != first


def test_the_source_is_opened_once_a_partition_in_the_process_that_draws(weights: ArrowWeights) -> None:
    opened: list[int] = []

    def open_draw() -> Draw:
        opened.append(1)
        return lambda q: q > 2

    mapped = arrow_sample(weights, open_draw)
    assert opened == []
    for count in (1, 2):
        assert sum(batch.num_rows for batch in mapped(TABLE.to_batches(max_chunksize=500))) == 0
        assert len(opened) == count


def test_a_sample_map_can_be_sent_to_workers(weights: ArrowWeights) -> None:
    mapped = arrow_sample(weights, OpenSeeded(3, 2))
    again = pickle.loads(pickle.dumps(mapped))
    batches = TABLE.to_batches(max_chunksize=1_000)
    assert [batch.to_pylist() for batch in again(batches)] == [batch.to_pylist() for batch in mapped(batches)]


def test_the_expected_share_is_selected(weights: ArrowWeights) -> None:
    """Σ(1 − q)q bounds the variance: 5.2 standard deviations are exceeded with a probability below 1e-6 (Bernstein, fixed seed)."""
    q = weights(TABLE.to_batches()[0]).column("q").to_numpy()
    ids = [i for partition in range(50) for i in sample(weights, OpenSeeded(9, partition), 4_000)]
    assert abs(len(ids) - 50 * q.sum()) < 5.2 * np.sqrt(50 * (q * (1 - q)).sum())


def test_partitions_have_streams_of_their_own() -> None:
    numbers = {spawn_generator(seed, partition).integers(2**63) for seed in range(20) for partition in range(20)}
    assert len(numbers) == 400
    assert spawn_generator(np.int64(4), 5).random() == spawn_generator(4, 5).random()


@pytest.mark.parametrize(("seed", "partition"), [(-1, 0), (0, -1), (1.0, 0), (True, 0), (None, 0), (0, None)])
def test_bad_seeds(seed: Any, partition: Any) -> None:
    with pytest.raises(profiles.InvalidArgument, match="integer of at least 0"):
        spawn_generator(seed, partition)


def test_sources_that_are_none(weights: ArrowWeights) -> None:
    with pytest.raises(profiles.InvalidArgument, match="give two functions"):
        arrow_sample(weights, None)  # type: ignore[arg-type]
    with pytest.raises(profiles.InvalidArgument, match="open_draw must return a function"):
        list(arrow_sample(weights, lambda: np.random.default_rng(1))([]))  # type: ignore[arg-type, return-value]
