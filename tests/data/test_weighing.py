"""Weights of a file: right, written atomically, in bounded memory."""

import math
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import accountant.data.weighing as weighing
import profiles
from accountant.data import compute_weights_file, parse_statistic
from accountant.files import replace_file
from accountant.weights.fast import ProvedConvexity, optimal_weights, probabilities

LLOYD = profiles.declare("lloyd", "T*w*(1/a + z/b)", record={"z": [0, 4]}, parameters={"T": 10, "a": "20.5", "b": 30})
CONVEXITY = ProvedConvexity(LLOYD, Fraction(2), "by hand")
Z = np.linspace(0, 4, 1001)


def shared_data() -> Path | None:
    root = Path(os.environ.get("PDP_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    path = root / "ijcnn1.trn.bz2"
    return path if path.exists() else None


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"name": [f"r{i}" for i in range(1001)], "z": Z}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
@pytest.mark.parametrize("batch_rows", [64, 5000])
def test_the_output_holds_every_weight_exactly(table_file: Path, kind: str, batch_rows: int) -> None:
    out = table_file.with_name(f"out.{kind}")
    summary = compute_weights_file(LLOYD, table_file, out, convexity=CONVEXITY, target_epsilon=2, batch_rows=batch_rows)
    expected = optimal_weights(LLOYD, 2, {"z": Z}, convexity=CONVEXITY).weights
    if kind == "npy":
        assert np.load(out).tolist() == expected.tolist()
    else:
        table = pyarrow.csv.read_csv(out) if kind == "csv" else pq.read_table(out)
        assert table.schema.names == ["name", "z", "weight", "q"]
        assert table["z"].to_pylist() == Z.tolist()
        assert table["weight"].to_pylist() == expected.tolist()
        assert table["q"].to_pylist() == probabilities(expected).tolist()
    assert summary.rows == 1001
    assert summary.fast_rows + summary.refined_rows + summary.infinite_rows == 1001
    assert math.isclose(summary.expected_size, math.fsum((1 / expected).tolist()), rel_tol=1e-15)
    assert summary.min_weight == expected.min()
    assert [path.name for path in table_file.parent.iterdir() if path.name.startswith(".")] == []


def test_csv_columns_are_passed_on_as_they_are_written(tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text('id,z,note\n007,1.50,"a, b"\n008,0,\n')
    compute_weights_file(LLOYD, path, out, convexity=CONVEXITY, target_epsilon=2)
    lines = out.read_text().splitlines()
    assert lines[1].startswith('007,1.50,"a, b",')
    assert lines[2].startswith("008,0,")


def test_infinite_weights_are_written_and_never_sampled(tmp_path: Path) -> None:
    profile = profiles.declare("sum", "w*z", record={"z": [0, 1]})
    out = tmp_path / "out.csv"
    summary = compute_weights_file(
        profile, np.array([0.0, 1.0]), out, convexity=ProvedConvexity(profile, Fraction(1), "by hand"), target_epsilon=1,
        specs=[parse_statistic("z=0")],
    )  # fmt: skip
    assert pyarrow.csv.read_csv(out)["weight"].to_pylist() == [math.inf, 1.0]
    assert (summary.infinite_rows, summary.max_weight, summary.expected_size) == (1, math.inf, 1.0)


def test_records_outside_the_range_are_counted_over_the_whole_file_and_nothing_appears(tmp_path: Path) -> None:
    values = Z.copy()
    values[[10, 500, 700, 1000]] = [4.5, -1, 5, 6]
    out = tmp_path / "out.npy"
    out.write_text("old")
    with pytest.raises(profiles.InvalidData, match=r"rows 10, 500, 700 and others are outside.*above it or below it"):
        compute_weights_file(LLOYD, values, out, convexity=CONVEXITY, target_epsilon=2, specs=[parse_statistic("z=0")], batch_rows=100)
    assert out.read_text() == "old"


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, profiles.Undecided])
@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_failure_in_the_middle_leaves_the_old_file(
    table_file: Path, monkeypatch: pytest.MonkeyPatch, kind: str, problem: type[BaseException]
) -> None:
    real = weighing.iter_weights

    def broken(*args: object, **options: object) -> Iterator[object]:
        for number, item in enumerate(real(*args, **options)):  # type: ignore[arg-type]
            if number == 3:
                raise problem
            yield item

    monkeypatch.setattr(weighing, "iter_weights", broken)
    out = table_file.with_name(f"out.{kind}")
    out.write_text("old")
    with pytest.raises(problem):
        compute_weights_file(LLOYD, table_file, out, convexity=CONVEXITY, target_epsilon=2, batch_rows=100)
    assert out.read_text() == "old"
    assert sorted(path.name for path in table_file.parent.iterdir()) == ["in.parquet", out.name]


def test_unwritable_outputs(table_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(out: Path) -> None:
        compute_weights_file(LLOYD, table_file, out, convexity=CONVEXITY, target_epsilon=2)

    for out, match in [
        (tmp_path / "none" / "o.csv", "does not exist"),
        (tmp_path / "o.txt", "must end in"),
        (Path("/proc/o.csv"), "could not be written"),
    ]:
        with pytest.raises(profiles.UnwritableOutput, match=match):
            run(out)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(profiles.UnwritableOutput, match="is a folder"):
        run(tmp_path / "folder.csv")
    with pytest.raises(profiles.InvalidArgument, match="is the input"):
        run(table_file)
    if Path("/dev/full").exists():

        def full(_handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(profiles.UnwritableOutput, match="No space left"):
            run(tmp_path / "o.csv")
        assert not (tmp_path / "o.csv").exists()


def test_the_output_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with replace_file(tmp_path / "new") as stream:
            stream.write(b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o600)
    with replace_file(tmp_path / "new") as stream:
        stream.write(b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    assert (tmp_path / "new").read_bytes() == b"y"


def test_bad_requests(table_file: Path) -> None:
    def run(**options: object) -> None:
        compute_weights_file(LLOYD, table_file, None, convexity=CONVEXITY, **options)  # type: ignore[arg-type]

    with pytest.raises(profiles.InvalidArgument, match="either a target"):
        run()
    with pytest.raises(profiles.InvalidArgument, match="either a target"):
        run(target_epsilon=2, target_size=3)
    with pytest.raises(profiles.InvalidTarget, match="positive"):
        run(target_epsilon=-1)
    with pytest.raises(profiles.InvalidArgument, match=r"'y' was given, but 'lloyd' has z"):
        run(target_epsilon=2, specs=[parse_statistic("y=z")])
    with pytest.raises(profiles.InvalidArgument, match="given twice"):
        run(target_epsilon=2, specs=[parse_statistic("z=z"), parse_statistic("z=z")])
    clash = pa.table({"z": [1.0], "q": [2.0]})
    with pytest.raises(profiles.InvalidData, match="already has a column 'q'"):
        compute_weights_file(LLOYD, clash, table_file.with_name("o.csv"), convexity=CONVEXITY, target_epsilon=2)


@pytest.mark.parametrize("size", [1, "12.5", 100, 250])
def test_a_target_size_is_met_from_below(table_file: Path, size: object) -> None:
    summary = compute_weights_file(LLOYD, table_file, None, convexity=CONVEXITY, target_size=size, batch_rows=300)
    goal = float(Fraction(str(size)))
    assert goal * (1 - 1e-8) <= summary.expected_size <= goal
    assert summary.target_epsilon > CONVEXITY.least_target


@pytest.mark.parametrize(
    ("size", "match"), [(0, "positive"), (-3, "positive"), (2000, "above the number of records;"), (1000, "not reachable")]
)
def test_sizes_that_no_target_reaches(table_file: Path, size: object, match: str) -> None:
    with pytest.raises(profiles.InvalidTarget, match=match):
        compute_weights_file(LLOYD, table_file, None, convexity=CONVEXITY, target_size=size)


MEASURE = """
import sys
from fractions import Fraction
import profiles
from accountant.data import compute_weights_file, parse_statistic
from accountant.weights.fast import ProvedConvexity
profile = profiles.declare("sum", "w*z", record={"z": [0, 1]})
convexity = ProvedConvexity(profile, Fraction(1), "by hand")
specs = [parse_statistic("z=z" if sys.argv[1].endswith("parquet") else "z=0")]
compute_weights_file(profile, sys.argv[1], sys.argv[2], convexity=convexity, target_epsilon=1, specs=specs, batch_rows=20000)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))  # ru_maxrss keeps the parent's peak
"""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process alone is read from /proc")
@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str) -> None:
    peaks = []
    rng = np.random.default_rng(5)
    for rows in (100_000, 3_000_000):
        path = tmp_path / f"in{rows}.{kind}"
        if kind == "npy":
            np.save(path, rng.random(rows))
        else:
            with pq.ParquetWriter(path, pa.schema([("z", pa.float64())])) as writer:
                for _ in range(rows // 100_000):
                    writer.write_table(pa.table({"z": rng.random(100_000)}))
        run = subprocess.run(
            [sys.executable, "-c", MEASURE, str(path), str(tmp_path / f"out{rows}.{kind}")],
            check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        peaks.append(int(run.stdout))
    # 3 million rows are 24 MB a column, and three columns or more would be held by a reader that loads whole
    assert peaks[1] - peaks[0] < 24_000


@pytest.mark.thorough
@pytest.mark.shared_data
@pytest.mark.skipif(shared_data() is None, reason="the data set ijcnn1 is not here")
def test_ijcnn1_from_end_to_end(tmp_path: Path) -> None:
    path, out = shared_data(), tmp_path / "weights.npy"
    summary = compute_weights_file(LLOYD, path, out, convexity=CONVEXITY, target_epsilon=2, specs=[parse_statistic("z=l2")])
    assert summary.rows == 49_990
    weights = np.load(out)
    assert weights.shape == (49_990,)
    assert (weights >= 1).all()
    assert summary.refined_rows == 0
