"""Instances from files: the same as from pairs, and named errors for everything else."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accountant.applications.submodular import read_coverage, read_weighted_coverage
from accountant.applications.submodular.functions import UNIT
from accountant.applications.submodular.readers import list_users
from profiles import InvalidArgument, InvalidData, UnreadableFile

CSV = "user,item,value,note\nann,tea,0.5,x\nbob,tea,1,y\nbob,jam,0.25,\nann,oil,1,z\n"
LABELS = ["jam", "oil", "tea"]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with gzip.open(tmp_path / "b.csv.gz", "wt") as stream:
        stream.write(CSV)
    table = pa.table({"user": ["ann", "bob", "bob", "ann"], "item": ["tea", "tea", "jam", "oil"], "value": [0.5, 1, 0.25, 1]})
    pq.write_table(table, tmp_path / "c.parquet")
    pq.write_table(table.set_column(1, "item", table.column(1).dictionary_encode()), tmp_path / "d.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["a.csv", "b.csv.gz", "c.parquet", "d.parquet"])
def test_files_agree(files, name):
    instance = read_coverage(files / name, user="user", item="item", candidates=LABELS)
    assert instance.starts.tolist() == [0, 2, 4]
    assert instance.items.tolist() == [1, 2, 0, 2]
    weighted = read_weighted_coverage(str(files / name), user="user", item="item", value="value", candidates=LABELS, combine="sum")
    assert (weighted.units / UNIT).tolist() == [1, 0.5, 0.25, 1]
    assert weighted.combine == "sum"


def test_items_by_number(tmp_path):
    (tmp_path / "a.csv").write_text("u,i\n1,0\n1, 4\n2,4\n2,4\n")
    assert read_coverage(tmp_path / "a.csv", user="u", item="i", candidates=5).track().gains.tolist() == [1, 0, 0, 0, 2]
    table = pa.table({"u": pa.array([1, 1, 2], pa.uint8()), "i": pa.array([7, 9, 7], pa.int16())})
    assert read_coverage(table, user="u", item="i", candidates=[9, 7]).track().gains.tolist() == [1, 2]
    assert read_coverage(table, user="u", item="i", candidates=np.array([9, 7])).track().gains.tolist() == [1, 2]


def test_ids_are_those_of_the_users_who_are_left():
    table = pa.table({"u": ["ann", "bob", "cid", "ann"], "i": ["tea", "other", "jam", "jam"]})
    named = {"user": "u", "item": "i", "candidates": ["jam", "tea"], "drop_unknown": True}
    instance, ids = read_coverage(table, **named), list_users(table, **named).to_pylist()
    assert (instance.users, instance.items.tolist(), ids) == (2, [0, 1, 0], ["ann", "cid"])
    everyone = list_users(table, user="u", item="i", candidates=["jam", "other", "tea"])
    assert everyone.to_pylist() == ["ann", "bob", "cid"]
    assert list_users(table, user="u", item="i", candidates=["soap"], drop_unknown=True).to_pylist() == []


def test_a_user_who_stands_twice_in_a_dictionary_is_one_user():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["ann", "ann"]))
    parts = pa.chunked_array([column, pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["ann"]))])
    assert read_coverage(pa.table({"u": parts, "i": [0, 1, 2]}), user="u", item="i", candidates=3).users == 1


def test_other_items_are_left_out_on_request():
    table = pa.table({"u": ["a", "a", "b"], "i": [0, 7, -1]})
    assert read_coverage(table, user="u", item="i", candidates=2, drop_unknown=True).track().gains.tolist() == [1, 0]
    table = pa.table({"u": ["a", "a", "b"], "i": ["x", "y", "z"]})
    assert read_coverage(table, user="u", item="i", candidates=["y"], drop_unknown=True).track().gains.tolist() == [1]


def test_no_rows():
    table = pa.table({"u": pa.array([], pa.string()), "i": pa.array([], pa.int64()), "v": pa.array([], pa.float64())})
    assert read_coverage(table, user="u", item="i", candidates=2).users == 0
    assert read_weighted_coverage(table, user="u", item="i", value="v", candidates=2).users == 0


@pytest.mark.parametrize(
    ("columns", "candidates", "error", "match"),
    [
        ({"u": ["a"], "i": [2]}, 2, InvalidData, "candidates are 0 to 1, but pair 0"),
        ({"u": ["a"], "i": ["z"]}, ["y"], InvalidData, "row 0 of the table"),
        ({"u": ["a"], "i": ["z"]}, 2, InvalidData, "integers from 0 to 1"),
        ({"u": ["a"], "i": [0.5]}, 2, InvalidData, "items must be integers"),
        ({"u": ["a"], "i": [5]}, ["y"], InvalidData, "candidates are not"),
        ({"u": [0.5], "i": [0]}, 2, InvalidData, "texts or integers"),
        ({"u": [None], "i": [0]}, 2, InvalidData, "missing values"),
        ({"u": ["a"], "i": [None]}, 2, InvalidData, "missing values"),
        ({"u": ["a", ""], "i": [0, 1]}, 2, InvalidData, "empty text"),
        ({"u": ["a"], "j": [0]}, 2, InvalidData, "one column 'i'"),
        ({"u": ["a"], "i": [0]}, ["y", "y"], InvalidArgument, "each one once"),
        ({"u": ["a"], "i": ["y"]}, ["1", 1], InvalidArgument, "written alike"),
        ({"u": ["a"], "i": [0]}, [], InvalidArgument, "at least one"),
        ({"u": ["a"], "i": [0]}, "y", InvalidArgument, "number or the list"),
        ({"u": ["a"], "i": [0]}, 0, InvalidArgument, "at least 1"),
        ({"u": ["a"], "i": [0]}, None, InvalidArgument, "number or the list"),
    ],
)
def test_unusable_tables(columns, candidates, error, match):
    with pytest.raises(error, match=match):
        read_coverage(pa.table(columns), user="u", item="i", candidates=candidates)


def test_unusable_files(tmp_path):
    def read(path):
        return read_coverage(path, user="u", item="i", candidates=1)

    with pytest.raises(UnreadableFile, match="check the path"):
        read(tmp_path / "none.csv")
    (tmp_path / "x.parquet").write_text("no parquet")
    with pytest.raises(UnreadableFile, match="could not be read as parquet"):
        read(tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("u,i\n1,2,3\n")
    with pytest.raises(UnreadableFile, match="could not be read as csv"):
        read(tmp_path / "x.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(UnreadableFile, match="could not be read as csv"):
        read(tmp_path / "empty.csv")
    (tmp_path / "x.txt").write_text("u,i\n")
    with pytest.raises(UnreadableFile, match="CSV, Parquet or JSON"):
        read(tmp_path / "x.txt")
    with pytest.raises(InvalidArgument, match="path or an Arrow table"):
        read(3)
    (tmp_path / "v.csv").write_text("u,i,v\n1,0,high\n")
    with pytest.raises(InvalidData, match="must hold numbers"):
        read_weighted_coverage(tmp_path / "v.csv", user="u", item="i", value="v", candidates=1)
