"""The map of a sampler's pairs: those of the single-machine path, for any batches, in any process, with any kernels of NumPy."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant import draw_sample, plan_sample, prepare_selection
from accountant.engines import ArrowPairs, arrow_pairs
from accountant.rules import make_rule

ROOT = Path(__file__).parents[2]
LLOYD = profiles.declare("lloyd", "T*w*(1/a + z/b)", record={"z": [0, 4]}, parameters={"T": 10, "a": "20.5", "b": 30})
#: Falls as w rises, so that only the check of each record keeps the bound.
FALLING = profiles.declare("falling", "z/w", record={"z": [0, 4]})


@cache
def make(case: str) -> ArrowPairs:
    if case == "constrained":
        return arrow_pairs(plan_sample(LLOYD, target_epsilon=2).selector)
    if case == "coreset":
        return arrow_pairs(plan_sample(LLOYD, q="(1 + z)/10").selector)
    return arrow_pairs(prepare_selection(FALLING, make_rule("uniform", FALLING, {"rate": "0.3"}), bound="0.5"))


def columns(batch: pa.RecordBatch) -> list[bytes]:
    return [batch.column(name).to_numpy().tobytes() for name in ("weight", "q")]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("case", ["constrained", "coreset", "checked"])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_pair_does_not_depend_on_the_batch_or_the_order(case: str, data: st.DataObject) -> None:
    pairs, size = make(case), data.draw(st.integers(1, 20))
    shares = st.one_of(st.floats(0, 4), st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 1e-12, 4.0]))
    batch = pa.record_batch({"z": data.draw(st.lists(shares, min_size=size, max_size=size)), "name": [str(row) for row in range(size)]})
    whole = pairs(batch)
    cuts = sorted(data.draw(st.sets(st.integers(0, size), max_size=6)) | {0, size})
    parts = [pairs(batch.slice(start, stop - start)) for start, stop in itertools.pairwise(cuts)]
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches([whole]))
    order = pa.array(data.draw(st.permutations(range(size))))
    assert columns(pairs(batch.take(order))) == columns(whole.take(order))
    selected = pairs.selector.select({"z": batch.column("z").to_numpy()})
    assert columns(whole) == [selected.weights.tobytes(), selected.probabilities.tobytes()]


def test_the_map_gives_the_pairs_of_a_sample_drawn_on_one_machine() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"x": rng.uniform(-2, 2, 3_000), "id": range(3_000), "y": rng.uniform(-2, 2, 3_000)})
    plan = plan_sample(LLOYD, target_epsilon=2)
    pairs = arrow_pairs(plan.selector, ["z=l2(x,y)"])
    reader = pairs.reader(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999)))
    assert reader.schema == pairs.schema(table.schema)
    weighed = reader.read_all()
    sample = draw_sample(plan, table, specs=list(pairs.specs), source=3)
    records = sample.consume()
    ids, weights, q = records.table["id"].to_numpy(), records.weights, records.q
    assert ids.size > 100
    assert weighed["weight"].to_numpy()[ids].tobytes() == weights.tobytes()
    assert weighed["q"].to_numpy()[ids].tobytes() == q.tobytes()


def test_what_is_refused() -> None:
    pairs = make("constrained")
    with pytest.raises(profiles.InvalidArgument, match="needs a selector, but Profile was found; give plan_sample"):
        arrow_pairs(LLOYD)  # type: ignore[arg-type]
    with pytest.raises(profiles.InvalidArgument, match="'y' was given"):
        arrow_pairs(pairs.selector, ["y=z"])
    bare = profiles.declare("bare", "w/10")
    with pytest.raises(profiles.InvalidArgument, match="declares no record statistic"):
        arrow_pairs(prepare_selection(bare, make_rule("uniform", bare, {"rate": "0.3"})))
    with pytest.raises(profiles.InvalidArgument, match="takes an Arrow record batch, but Table"):
        pairs(pa.table({"z": [1.0]}))
    with pytest.raises(profiles.InvalidData, match=r"row 1 is outside the declared range \[0, 4\] of 'z'"):
        pairs(pa.record_batch({"z": [1.0, 4.5]}))
    with pytest.raises(profiles.InvalidData, match="missing value in row 1"):
        pairs(pa.record_batch({"z": [1.0, None]}))
    empty = pa.record_batch({"z": pa.array([], pa.float32())})
    assert pairs(empty).schema == pairs.schema(empty.schema)
    assert pairs(empty).num_rows == 0


OTHER_PROCESS = """
import pickle, sys
import numpy as np, pyarrow as pa
with open(sys.argv[1], "rb") as file:
    maps, z = pickle.load(file), pickle.load(file)
import proofs_check.prover.search as search
def refuse(*arguments, **options): raise SystemExit("a proof was searched for")
search.prove = refuse
for pairs in maps:
    found = pairs(pa.record_batch({"z": z}))
    print(found.column("weight").to_numpy().tobytes().hex(), found.column("q").to_numpy().tobytes().hex())
print(np.log1p(z).tobytes().hex())
"""


@pytest.mark.thorough
def test_other_processes_and_other_kernels_give_the_same_bits(tmp_path: Path) -> None:
    """Without AVX-512 the last digits of log1p differ, those of the pairs do not: no fingerprint is needed."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    wide = [name for name in simd.get("found", []) if name == "X86_V4" or name.startswith("AVX512")]
    maps, z = [make(case) for case in ("constrained", "coreset", "checked")], np.linspace(0, 4, 2_001)
    path = tmp_path / "maps.pickle"
    path.write_bytes(pickle.dumps(maps) + pickle.dumps(z))
    expected = [" ".join(part.hex() for part in columns(pairs(pa.record_batch({"z": z})))) for pairs in maps]
    for environment in ({}, {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)}) if wide else ({},):
        run = subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS, str(path)],
            capture_output=True, text=True, cwd=ROOT, check=False, env={**os.environ, **environment},
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        *found, logarithms = run.stdout.split("\n")[:-1]
        assert found == expected
        assert (logarithms == np.log1p(z).tobytes().hex()) == (not environment)
