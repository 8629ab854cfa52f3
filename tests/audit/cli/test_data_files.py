"""Data sets from files of every kind are the ones that JSON arrays make."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from accountant.cli.audit_inputs import make_pair, read_table
from profiles.errors import InvalidData
from proofs_check.audit.differences import find_difference


def test_json_makes_arrays():
    table = read_table("[1, 2.5]", "D")
    assert table.records.dtype == np.float64
    assert table.records.tolist() == [1, 2.5]
    assert table.weights is None
    assert read_table(" [[1, 0], [0, 1]]", "D").records.shape == (2, 2)
    weighted = read_table('{"data": [[1, 2]], "weights": [3]}', "D")
    assert (weighted.records.tolist(), weighted.weights.tolist()) == ([[1, 2]], [3])


def test_files(tmp_path):
    rows = [[1.0, 0.1], [2.0, 0.2]]
    (tmp_path / "d.csv").write_text("a,b\n1,0.1\n2,0.2\n")
    pa.parquet.write_table(pa.table({"a": [1, 2], "b": [0.1, 0.2]}), tmp_path / "d.parquet")
    np.save(tmp_path / "d.npy", np.array(rows))
    (tmp_path / "d.json").write_text(json.dumps({"data": rows}))
    for name in ("csv", "parquet", "npy", "json"):
        table = read_table(str(tmp_path / f"d.{name}"), "D")
        assert table.records.tolist() == rows, name
        assert table.weights is None
    assert read_table(str(tmp_path / "d.csv"), "D", ["b"]).records.tolist() == [0.1, 0.2]
    table = read_table(str(tmp_path / "d.parquet"), "D", [], "a")
    assert (table.records.tolist(), table.weights.tolist()) == ([0.1, 0.2], [1, 2])
    np.save(tmp_path / "images.npy", np.ones((5, 3, 3), dtype=np.float32))
    assert read_table(str(tmp_path / "images.npy"), "D").records.shape == (5, 3, 3)
    np.save(tmp_path / "none.npy", np.ones((0, 3)))
    assert read_table(str(tmp_path / "none.npy"), "D").records.shape == (0, 3)


def test_pairs_have_one_kind():
    first, second = make_pair(read_table('{"data": [[1, 2]], "weights": [3]}', "D"), read_table("[]", "D"))
    assert isinstance(first, tuple)
    assert isinstance(second, tuple)
    assert second[0].shape == (0, 2)
    first, second = make_pair(read_table("[1]", "D"), read_table("[]", "D"))
    assert (first.shape, second.shape) == ((1,), (0,))
    with pytest.raises(InvalidData, match="same shape"):
        make_pair(read_table("[1]", "D"), read_table("[[1]]", "D"))


def test_differences():
    def difference(d, d2):
        return find_difference(*make_pair(read_table(d, "D"), read_table(d2, "D")))

    record = difference("[[1, 2], [3, 4], [1, 2]]", "[[3, 4], [1, 2]]").added_record()
    assert (record.values.tolist(), record.weight, record.text()) == ([1, 2], 1.0, "x = (1, 2), w = 1")
    weighted = difference("[1]", '{"data": [1, 1], "weights": [1, 2.5]}')
    assert (weighted.added_record().weight, weighted.text()) == (2.5, "D' has one record more")
    assert weighted.private_text() == "x = 1, w = 2.5"
    assert not difference("[0.0]", "[-0.0]").first
    assert difference("[1, 2]", "[3]").text() == "D and D' differ in several records"
    assert difference("[1, 2]", "[3]").private_text() == "2 records are in D alone, 1 in D' alone"
    assert difference("[1]", "[1]").private_text() == ""
    many = find_difference(np.zeros((1, 8)), np.zeros((0, 8))).private_text()
    assert many == "x = (0, 0, 0, 0, 0, 0, ...), w = 1"
