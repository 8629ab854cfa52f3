"""The map over record batches: the weights of the single-machine path, for any batches, in any process, and nothing without a proof."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant.data import compute_weights_file, open_dataset, parse_statistic
from accountant.engines import ArrowWeights, arrow_weights
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import ProvedConvexity

ROOT = Path(__file__).parents[2]
LLOYD = profiles.declare("lloyd", "T*w*(1/a + z/b)", record={"z": [0, 4]}, parameters={"T": 10, "a": "20.5", "b": 30})
#: Linear (affine, with small exponents, with a compiled coefficient), of general form, with records that ball arithmetic has to weigh.
CASES = {
    "affine": ("w*z", "4", [4]),
    "small": ("w*z", "1e-6", ["1e-6"]),
    "compiled": ("w*(z + y*exp(z)/10)", "10", [4, 1]),
    "general": ("w**2*z/50 + w*y/20", "2", [4, 1]),
    "refined": ("w*z*(1 + tan(y/8))", "5", [4, 1]),
}


@cache
def make(case: str) -> ArrowWeights:
    text, target, tops = CASES[case]
    profile = profiles.declare(case, text, record=dict(zip("zy", ([0, top] for top in tops), strict=False)))
    return arrow_weights(profile, target, convexity=ProvedConvexity(profile, Fraction(0), "by hand: for tests"))


def bits(batch: pa.RecordBatch) -> list[bytes]:
    return [batch.column(name).to_numpy().tobytes() for name in ("weight", "q")]


SHARES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e-300, 1e-12, 0.5]))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_the_result_does_not_depend_on_how_rows_are_cut_into_batches(case: str, data: st.DataObject) -> None:
    weights = make(case)
    size = data.draw(st.integers(1, 8 if case == "refined" else 60))
    shares = st.lists(SHARES, min_size=size, max_size=size)
    tops = [float(statistic.hi) for statistic in weights.profile.record]
    columns = {s.name: top * np.array(data.draw(shares)) for s, top in zip(weights.profile.record, tops, strict=True)}
    batch = pa.record_batch({**columns, "name": [str(row) for row in range(size)]})
    whole = weights(batch)
    cuts = sorted(data.draw(st.sets(st.integers(0, size), max_size=6)) | {0, size})
    parts = [weights(batch.slice(start, stop - start)) for start, stop in itertools.pairwise(cuts)]
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches([whole]))
    order = data.draw(st.permutations(range(size)))
    shuffled = weights(batch.take(pa.array(order)))
    assert bits(shuffled) == bits(whole.take(pa.array(order)))


@pytest.mark.parametrize("case", ["affine", "compiled", "general"])
def test_large_batches_are_weighed_like_small_ones(case: str) -> None:
    weights, rng = make(case), np.random.default_rng(3)
    batch = pa.record_batch({s.name: rng.uniform(0, float(s.hi), 70_001) for s in weights.profile.record})
    whole = weights(batch)
    parts = [weights(batch.slice(start, 9_973)) for start in range(0, 70_001, 9_973)]
    assert pa.Table.from_batches(parts).combine_chunks().to_batches()[0].equals(whole)


def test_the_map_gives_what_the_single_machine_path_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"x": rng.uniform(-2, 2, 5_000), "id": range(5_000), "y": rng.uniform(-2, 2, 5_000)})
    pq.write_table(table, tmp_path / "in.parquet")
    specs = ["z=l2(x,y)"]
    compute_weights_file(
        LLOYD, tmp_path / "in.parquet", tmp_path / "out.parquet", convexity=prove_convexity(LLOYD, 2), target_epsilon=2,
        specs=[parse_statistic(text) for text in specs], batch_rows=700,
    )  # fmt: skip
    expected = pq.read_table(tmp_path / "out.parquet")
    weights = arrow_weights(LLOYD, 2, specs)
    assert weights.target_epsilon == 2
    assert "convex" in weights.evidence
    assert "lloyd" in repr(weights)
    reader = weights.reader(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999)))
    assert reader.schema == weights.schema(table.schema)
    assert reader.read_all().equals(expected)
    assert pa.Table.from_batches(weights.stream(table.select(["y", "x"]).to_batches()))["weight"].equals(expected["weight"])


def test_a_batch_without_rows_passes_and_is_checked() -> None:
    weights = arrow_weights(LLOYD, 2)
    empty = pa.record_batch({"z": pa.array([], pa.float32()), "name": pa.array([], pa.string())})
    assert weights(empty).schema == weights.schema(empty.schema)
    assert weights(empty).num_rows == 0
    with pytest.raises(profiles.InvalidData, match="'z' was asked for"):
        weights(empty.select(["name"]))


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"z": [1.0, 4.5, -1.0]}, r"rows 1, 2 are outside the declared range \[0, 4\] of 'z', above it or below it"),
        ({"z": [1.0, float("nan")]}, r"'z' of the record batch must hold finite numbers, but NaN or infinity was found in row 1"),
        ({"z": [float("inf")]}, "finite"),
        ({"z": [1.0, None]}, "missing value in row 1"),
        ({"Z": [1.0]}, r"'z' was asked for, but the record batch has no such column"),
        ({"z": [b"1"]}, "must hold numbers"),
        ({"z": [1.0], "q": [0.5]}, "already has a column 'q'"),
    ],
)
def test_bad_batches_raise_the_errors_of_the_single_machine_path(columns: dict[str, list[object]], match: str) -> None:
    with pytest.raises(profiles.InvalidData, match=match):
        arrow_weights(LLOYD, 2)(pa.record_batch(columns))


def test_other_things_than_record_batches_are_refused() -> None:
    with pytest.raises(profiles.InvalidArgument, match="takes an Arrow record batch, but Table"):
        arrow_weights(LLOYD, 2)(pa.table({"z": [1.0]}))
    with pytest.raises(profiles.InvalidData, match="two columns of one name"):
        arrow_weights(LLOYD, 2)(pa.RecordBatch.from_arrays([pa.array([1.0])] * 2, names=["z", "z"]))


def test_there_is_no_map_without_a_proof() -> None:
    with pytest.raises(profiles.Infeasible, match="assumption-8"):
        arrow_weights(LLOYD, 1)
    with pytest.raises(profiles.Undecided, match="convex"):
        arrow_weights(profiles.declare("root", "sqrt(w)*z", record={"z": [0, 1]}), 2)
    with pytest.raises(profiles.InvalidArgument, match="'y' was given"):
        arrow_weights(LLOYD, 2, ["y=z"])
    with pytest.raises(profiles.InvalidArgument, match="convexity was proved of"):
        arrow_weights(LLOYD, 2, convexity=prove_convexity(LLOYD.with_record(z=(0, 1)), 2))
    with pytest.raises(profiles.InvalidArgument, match="proved for"):
        arrow_weights(LLOYD, "1.9", convexity=prove_convexity(LLOYD, 2))


def test_a_map_cannot_be_made_or_changed_by_accident() -> None:
    weights = arrow_weights(LLOYD, 2)
    with pytest.raises(profiles.InvalidArgument, match="made directly; build it with"):
        ArrowWeights()
    with pytest.raises(profiles.InvalidArgument, match="cannot be changed"):
        weights._convexity = None  # type: ignore[assignment]
    with pytest.raises(profiles.InvalidArgument, match="cannot be changed"):
        del weights._solver
    assert copy.deepcopy(weights).target_epsilon == 2
    restore, (profile, target, specs, convexity, fingerprint) = weights.__reduce__()
    with pytest.raises(profiles.InvalidArgument, match="convexity was proved of"):
        restore(profile.with_record(z=(0, 5)), target, specs, convexity, fingerprint)
    with pytest.raises(profiles.InvalidArgument, match="proved for"):
        restore(profile, target / 2, specs, convexity, fingerprint)
    with pytest.raises(profiles.InvalidArgument, match="other digits"):
        restore(profile, target, specs, convexity, "0" * 64)


OTHER_PROCESS = """
import pickle, sys
import numpy as np, pyarrow as pa
with open(sys.argv[1], "rb") as file:
    weights = pickle.load(file)
    z = pickle.load(file)
print(weights(pa.record_batch({"z": z})).column("weight").to_numpy().tobytes().hex())
"""
#: The prover is there, but any use of it fails.
NO_PROOFS = """
import proofs_check.prover.search as search
import accountant.weights.convexity as convexity
def refuse(*arguments, **options): raise SystemExit("a proof was searched for")
search.prove = convexity.prove = convexity.prove_convexity = refuse
"""


@pytest.fixture
def pickled(tmp_path: Path) -> tuple[Path, str]:
    path, z = tmp_path / "map.pickle", np.linspace(0, 4, 301)
    weights = arrow_weights(LLOYD, 2)
    path.write_bytes(pickle.dumps(weights) + pickle.dumps(z))
    return path, weights(pa.record_batch({"z": z})).column("weight").to_numpy().tobytes().hex()


def run_elsewhere(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", NO_PROOFS + OTHER_PROCESS, str(path)],
        capture_output=True, text=True, cwd=ROOT, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.thorough
def test_a_pickle_works_in_another_process_and_proves_nothing_there(pickled: tuple[Path, str]) -> None:
    run = run_elsewhere(pickled[0])
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == pickled[1]


def test_a_process_with_another_arithmetic_is_refused(pickled: tuple[Path, str]) -> None:
    """NumPy without AVX-512 gives other last digits of log1p: q(x) would not be a function of the record alone."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    wide = [name for name in simd.get("found", []) if name == "X86_V4" or name.startswith("AVX512")]
    if not wide:
        pytest.skip("NumPy uses no AVX-512 on this machine")
    run = run_elsewhere(pickled[0], NPY_DISABLE_CPU_FEATURES=" ".join(wide))
    assert run.returncode != 0
    assert "this one computes other digits" in run.stderr


def test_a_row_group_is_not_held_in_memory(tmp_path: Path) -> None:
    path, rows = tmp_path / "one.parquet", 2_000_000
    pq.write_table(pa.table({"z": np.random.default_rng(5).random(rows)}), path, row_group_size=rows, use_dictionary=False)
    before = pa.total_allocated_bytes()
    for _ in open_dataset(path).batches([parse_statistic("z=z")]):
        assert pa.total_allocated_bytes() - before < 8_000_000  # the column has 16 MB
        break
