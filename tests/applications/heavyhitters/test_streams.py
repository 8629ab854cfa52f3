"""Streams from Parquet, CSV and Arrow tables, and what is refused in them."""

import datetime

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from accountant.applications.heavyhitters import HeavyHitterMonitor, open_stream
from profiles import InvalidData, UnreadableFile

MONITOR = HeavyHitterMonitor(k=1, epsilon=1, threshold=20, domain=["a", "b", "c"], times=range(3))
TABLE = pa.table({"user": list(range(100)), "time": [0] * 50 + [2] * 50, "item": ["a"] * 50 + ["b"] * 50})


def reported(stream):
    return [report.items for report in MONITOR.run(stream, bits=3).reports]


@pytest.mark.parametrize("kind", ["parquet", "csv", "table"])
def test_every_kind_of_file(tmp_path, kind):
    path = tmp_path / f"stream.{kind}"
    if kind == "parquet":
        pq.write_table(TABLE, path)
    elif kind == "csv":
        pyarrow.csv.write_csv(TABLE, path)
    stream = open_stream(TABLE if kind == "table" else path, batch_rows=30)
    assert reported(stream) == [("a",), (), ("b",)]
    assert reported(stream) == [("a",), (), ("b",)]  # it can be read again


def test_texts_and_integers(tmp_path):
    path = tmp_path / "stream.csv"
    path.write_text("who,when,what\n07,0,1\n7,0,1\n")
    names = {"user": "who", "time": "when", "item": "what"}
    with pytest.raises(InvalidData, match=r"'who' .* in row 0 .* one person would be two"):
        next(iter(open_stream(path, **names)))
    batch = next(iter(open_stream(path, **names, users="integer", items="integer")))
    assert (batch.users.tolist(), batch.times.tolist(), batch.items.tolist()) == ([7, 7], [0, 0], [1, 1])
    coded = pa.table({"user": pa.array([1, 2]), "time": [0, 1], "item": pa.array(["a", "b"]).dictionary_encode()})
    batch = next(iter(open_stream(coded, users="text")))
    assert (batch.users.tolist(), batch.items.tolist()) == (["1", "2"], ["a", "b"])


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("time", [0.0, 1.0], "must hold integers or texts, but its type is double"),
        ("user", [float("nan"), 1.0], "must hold integers or texts"),
        ("time", [0, None], "missing value in row 1"),
        ("item", ["a", None], "missing value in row 1"),
        ("user", ["x", ""], "empty text in row 1"),
        ("time", ["0", "soon"], "row 1 has text where a number was expected"),
        ("time", [datetime.date(2020, 1, 1)] * 2, "its type is date32"),
        ("time", [1, 0], "sorted by time"),
        ("user", [True, False], "must hold integers or texts"),
    ],
)
def test_malformed_columns(column, values, message):
    table = pa.table({"user": [1, 2], "time": [0, 1], "item": ["a", "b"], column: values})
    with pytest.raises(InvalidData, match=message):
        reported(open_stream(table))


def test_missing_columns_and_files(tmp_path):
    with pytest.raises(InvalidData, match="column 'user' was asked for"):
        reported(open_stream(TABLE.drop_columns(["user"])))
    with pytest.raises(UnreadableFile, match="does not exist"):
        open_stream(tmp_path / "none.csv")
