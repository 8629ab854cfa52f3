"""Samples from file to file: what is written, atomically, in bounded memory, and a certificate without the data in it."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from accountant import draw_sample, plan_sample, sample_file
from accountant.data import parse_statistic
from accountant.data.writers import write_npy_header
from accountant.samples import check_certificate, drawing, read_certificate
from profiles import InvalidArgument, InvalidData, UnwritableOutput, declare
from profiles.hypotheses import SECURE_BITS
from profiles.mechanisms import LaplaceSum
from proofs_check.kernel import check

SUM = LaplaceSum(b=20, radius=4)
Z = np.random.default_rng(1).uniform(0, 4, 2500)
NAMES = [f"record, {i}" for i in range(Z.size)]


@pytest.fixture(scope="module")
def plan():
    return plan_sample(SUM, target_epsilon="1/2")


@pytest.fixture
def table_file(tmp_path):
    path = tmp_path / "in.parquet"
    table = pa.table({"name": pa.array(NAMES).dictionary_encode(), "z": Z, "tags": [[i % 3] for i in range(Z.size)]})
    pq.write_table(table, path, row_group_size=700)
    return path


def expected(plan, source):
    return draw_sample(plan, pa.table({"z": Z}), source=source).consume()


def test_parquet(plan, table_file, tmp_path):
    out = tmp_path / "out.parquet"
    summary = sample_file(plan, table_file, out, source=5)
    records, written = expected(plan, 5), pq.read_table(out)
    assert written.schema.names == ["name", "z", "tags", "weight", "q"]
    assert written["z"].to_pylist() == records.points()[:, 0].tolist()
    assert written["weight"].to_pylist() == records.weights.tolist()
    assert written["q"].to_pylist() == records.q.tolist()
    assert [NAMES[int(np.flatnonzero(value == Z)[0])] for value in written["z"].to_pylist()] == written["name"].to_pylist()
    assert pq.ParquetFile(out).num_row_groups == 1
    private = summary.private
    assert (private.records, private.sample_size, private.seed) == (Z.size, records.weights.size, 5)
    assert math.isclose(private.expected_sample_size, math.fsum(plan.selector.select({"z": Z}).probabilities.tolist()), rel_tol=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet", "out.parquet.certificate.json"]


def test_csv_and_npy_give_the_same_sample(plan, tmp_path):
    records = expected(plan, 5)
    source = tmp_path / "in.csv"
    source.write_text("id,z\n" + "".join(f"{i:05d},{value!r}\n" for i, value in enumerate(Z.tolist())))
    sample_file(plan, source, tmp_path / "out.csv", source=5, batch_rows=100)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "id,z,weight,q"
    assert len(lines) == records.weights.size + 1
    assert [float(line.split(",")[1]) for line in lines[1:]] == records.points()[:, 0].tolist()
    assert all(len(line.split(",")[0]) == 5 for line in lines[1:])
    np.save(tmp_path / "in.npy", np.stack([np.arange(Z.size), Z], axis=1))
    specs = [parse_statistic("z=1")]
    sample_file(plan, tmp_path / "in.npy", tmp_path / "out.npy", source=5, specs=specs, batch_rows=99)
    matrix = np.load(tmp_path / "out.npy")
    assert matrix.shape == (records.weights.size, 4)
    assert np.array_equal(matrix[:, 1:], np.stack([records.points()[:, 0], records.weights, records.q], axis=1))
    sample_file(plan, tmp_path / "in.npy", tmp_path / "out.parquet", source=5, specs=specs)
    assert pq.read_table(tmp_path / "out.parquet")["weight"].to_pylist() == records.weights.tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_an_empty_sample_has_its_columns(tmp_path, kind):
    out = tmp_path / f"out.{kind}"
    sample_file(SUM, pa.table({"z": Z[:50]}), out, q="10**(-9)", source=1, batch_rows=7)
    if kind == "npy":
        assert np.load(out).shape == (0, 3)
    else:
        found = pq.read_table(out) if kind == "parquet" else pyarrow.csv.read_csv(out)
        assert (found.schema.names, found.num_rows) == (["z", "weight", "q"], 0)


@pytest.mark.parametrize("columns", [2, 3, 12_345_678])
@pytest.mark.parametrize("rows", [0, 1, 2**40, 2**63 - 1])
def test_an_npy_header_has_one_length_so_that_it_can_be_written_again(rows, columns):
    stream = io.BytesIO()
    write_npy_header(stream, rows, columns)
    assert stream.tell() == 128  # the writer of samples begins with no row and two columns
    stream.seek(0)
    assert np.lib.format.read_magic(stream) == (1, 0)
    assert np.lib.format.read_array_header_1_0(stream) == ((rows, columns), False, np.dtype("<f8"))


def test_large_samples_are_written_in_blocks(tmp_path):
    z = np.random.default_rng(2).uniform(0, 4, 90_000)
    plan = plan_sample(SUM, q="9/10")
    for kind in ("parquet", "npy"):
        summary = sample_file(plan, pa.table({"z": z}), tmp_path / f"out.{kind}", source=1, batch_rows=5_000)
    written = pq.ParquetFile(tmp_path / "out.parquet")
    assert written.num_row_groups == 3
    assert written.metadata.num_rows == summary.private.sample_size == np.load(tmp_path / "out.npy").shape[0]
    assert written.read()["z"].to_pylist() == np.load(tmp_path / "out.npy")[:, 0].tolist()


def numbers_in(value):
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def test_the_certificate_does_not_depend_on_the_data(plan, tmp_path):
    texts = set()
    for data, source in ((Z, 5), (Z[:7], 6), (np.zeros(3), 10**9)):
        sample_file(plan, pa.table({"z": data}), tmp_path / "out.parquet", source=source)
        texts.add((tmp_path / "out.parquet.certificate.json").read_text())
    (text,) = texts
    assert json.loads(text)["publishable"] is True
    assert "private" not in json.loads(text)
    assert set(numbers_in(json.loads(text))) <= {0, 1, 2, 2_000, 64}, "versions, budgets and places of the proof"


def test_private_figures_only_where_asked_for(plan, tmp_path):
    summary = sample_file(plan, pa.table({"z": Z}), tmp_path / "out.parquet", source=5, include_private=True)
    found = json.loads(summary.certificate.read_text())
    assert found["publishable"] is False
    assert "do not publish" in found["private"].pop("warning")
    assert found["private"] == summary.private.to_json()
    sized = sample_file(SUM, pa.table({"z": Z}), tmp_path / "sized.parquet", target_size=100, source=5)
    assert json.loads(sized.certificate.read_text())["publishable"] is False


RULES = {
    "constrained": {"target_epsilon": "1/2"},
    "uniform": {"rule": "uniform", "constants": {"rate": "1/3"}},
    "expression": {"q": "1/9 + z/10"},
    "coreset": {"rule": "coreset-l1", "constants": {"m": 10, "n": 100, "lam": "0.5", "mean": 2}},
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("options", RULES.values(), ids=RULES.keys())
def test_the_certificate_is_checked_by_the_kernel(tmp_path, options):
    sample_file(SUM, pa.table({"z": Z[:20]}), tmp_path / "out.parquet", **options)
    text = (tmp_path / "out.parquet.certificate.json").read_text()
    found = json.loads(text)
    assert read_certificate(text) == found
    assert not check(text).accepted, "the kernel reads proofs, not this file"
    assert check_certificate(found).accepted
    assert SECURE_BITS.sentence in found["hypotheses"]
    for change, step in (
        ({"epsilon": {"upper": "1/100", "lower": "0"}}, "epsilon"),
        ({"rule": {**found["rule"], "q": "1/2"}}, None),
        ({"rule": {**found["rule"], "q": None, "target_epsilon": "1/3"}}, None),
        ({"hypotheses": found["hypotheses"][:-1], "premises": found["premises"][:-1]}, "hypotheses"),
        ({"hypotheses": [], "premises": []}, "hypotheses"),
        ({"hypotheses": found["hypotheses"][:-1]}, "premises"),
        ({"profile": {**found["profile"], "epsilon": "w*z/1000"}}, "profile"),
        ({"proof": None}, "proof"),
        ({"proof": {**found["proof"], "claims": found["proof"]["claims"][:1]}}, "proof"),
        ({"proof": 3}, None),
        ({"version": 3}, "version"),
        ({"epsilon": {}}, None),
    ):
        report = check_certificate({**found, **change})
        assert not report.accepted, change
        assert step is None or report.step == f"sample-certificate.{step}", (change, report)
    if found["rule"]["q"] is not None:
        without = {**found["proof"], "claims": found["proof"]["claims"][:-1]}
        assert check_certificate({**found, "proof": without}).reason == "the claim proposition-17 is missing"


def test_what_the_kernel_does_not_check_is_said(tmp_path):
    concave = declare("concave", "log(1 + w*z)", record={"z": [0, 4]})
    sample_file(concave, pa.table({"z": Z[:20]}), tmp_path / "out.parquet", q="1/9 + z/10")
    found = json.loads((tmp_path / "out.parquet.certificate.json").read_text())
    assert "enforced for every record" in found["sampler"]["pairs"]
    assert check_certificate(found).accepted
    for text in (
        "",
        "{}",
        "[]",
        '"pdp-sample-certificate"',
        "pdp-sample-certificate",
        '{"format": "pdp-certificate", "x": "pdp-sample-certificate"}',
    ):
        assert read_certificate(text) is None
    assert not check_certificate({"format": "pdp-sample-certificate"}).accepted


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_failure_in_the_middle_leaves_both_old_files(plan, tmp_path, monkeypatch, kind, problem):
    real = drawing.draw_batch
    calls = []

    def broken(*args, **options):
        calls.append(1)
        if len(calls) == 4:
            raise problem
        return real(*args, **options)

    monkeypatch.setattr(drawing, "draw_batch", broken)
    out = tmp_path / f"out.{kind}"
    old = {out: "old sample", out.with_name(out.name + ".certificate.json"): "old certificate"}
    for path, text in old.items():
        path.write_text(text)
    with pytest.raises(UnwritableOutput if isinstance(problem, OSError) else problem):
        sample_file(plan, pa.table({"z": Z}), out, source=5, batch_rows=100)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == old


def test_records_out_of_range_are_counted_and_nothing_is_written(plan, tmp_path):
    values = Z.copy()
    values[[10, 500, 2499]] = [4.5, -1, 5]
    with pytest.raises(InvalidData, match=r"rows 10, 500, 2499 are outside.*above it or below it"):
        sample_file(plan, pa.table({"z": values}), tmp_path / "out.parquet", batch_rows=100)
    assert not list(tmp_path.iterdir())


def test_unusable_files(plan, tmp_path):
    np.save(tmp_path / "in.npy", Z)
    (tmp_path / "in.svm").write_text("1 1:0.5\n")
    data, specs = tmp_path / "in.npy", [parse_statistic("z=0")]

    def run(out, **options):
        sample_file(plan, options.pop("data", data), out, specs=specs, **options)

    (tmp_path / "folder").mkdir()
    for out, error, match in [
        (tmp_path / "no" / "o.csv", UnwritableOutput, "does not exist"),
        (tmp_path / "o.txt", UnwritableOutput, "must end in"),
        (tmp_path / "folder", UnwritableOutput, "must end in"),
        (Path("/proc/o.csv"), UnwritableOutput, "could not be written"),
        (data, InvalidArgument, "is the input"),
    ]:
        with pytest.raises(error, match=match):
            run(out)
    for certificate, error, match in [
        (tmp_path / "no" / "c.json", UnwritableOutput, "could not be written"),
        (tmp_path / "folder", UnwritableOutput, "not a regular file"),
        (data, InvalidArgument, "is the input"),
        (tmp_path / "o.csv", InvalidArgument, "name two files"),
    ]:
        with pytest.raises(error, match=match):
            run(tmp_path / "o.csv", certificate=certificate)
    with pytest.raises(InvalidArgument, match="is svmlight; convert"):
        run(tmp_path / "o.csv", data=tmp_path / "in.svm")
    with pytest.raises(InvalidData, match="already has a column 'weight'"):
        sample_file(plan, pa.table({"z": Z, "weight": Z}), tmp_path / "o.csv")
    with pytest.raises(InvalidData, match="write Parquet"):
        sample_file(plan, pa.table({"z": Z, "name": NAMES}), tmp_path / "o.npy")
    with pytest.raises(InvalidData, match="no sample file can hold"):
        sample_file(plan, np.array([(1.0, [1, 2])], dtype=[("z", "f8"), ("v", "i4", 2)]), tmp_path / "o.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "in.npy", "in.svm"]


MEASURE = """
import sys
from accountant import plan_sample, sample_file
from profiles import declare
plan = plan_sample(declare("sum", "w*z", record={"z": [0, 1]}), q="1/1000")
for path in sys.argv[2:]:
    sample_file(plan, path, sys.argv[1], batch_rows=20000)
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))  # ru_maxrss keeps the parent's peak
"""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process alone is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    rng, paths = np.random.default_rng(5), []
    for parts in (1, 20):
        paths.append(tmp_path / f"in{parts}.parquet")
        with pq.ParquetWriter(paths[-1], pa.schema([("z", pa.float64()), ("y", pa.float64())]), compression="none") as writer:
            for _ in range(parts):
                writer.write_table(pa.table({"z": rng.random(100_000), "y": rng.random(100_000)}))
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "out.parquet"), *map(str, paths)],
        check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    small, large = map(int, run.stdout.split())
    assert large - small < 16_000  # kB; the larger file is 32 MB
