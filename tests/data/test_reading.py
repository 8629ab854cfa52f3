"""Readers: the same statistics from every format, in batches of any size, and one sentence for bad data."""

import bz2
import gzip
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.data import open_dataset, parse_statistic
from accountant.data.svmlight import SvmlightSource
from profiles import InvalidArgument, InvalidData, PDPError, UnreadableFile

VALUES = np.array([[0.5, -2.0, 3.25], [1e-3, 0.0, 1e6], [0.1, 0.2, -0.30000000000000004], [7, 8, 9]])
NORMS = ["l1", "l2", "l2^2", "linf"]


def by_formula(row: list[float], norm: str) -> float:
    if norm == "linf":
        return max(map(abs, row))
    total = 0.0
    for value in row:
        total += abs(value) if norm == "l1" else value * value
    return math.sqrt(total) if norm == "l2" else total


def write(folder: Path, kind: str) -> Path:
    path = folder / f"data.{kind}"
    table = pa.table({name: VALUES[:, index] for index, name in enumerate("abc")})
    if kind == "csv":
        pyarrow.csv.write_csv(table, path)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress("\n".join(["a,b,c", *(",".join(map(repr, row)) for row in VALUES.tolist())]).encode()))
    elif kind == "parquet":
        pq.write_table(table, path)
    elif kind == "npy":
        np.save(path, VALUES)
    else:
        lines = "\n".join("1 " + " ".join(f"{i}:{v!r}" for i, v in enumerate(row, 1) if v) for row in VALUES.tolist()) + "\n"
        packed = {"svm": lines.encode(), "svm.bz2": bz2.compress(lines.encode()), "svm.gz": gzip.compress(lines.encode())}
        path.write_bytes(packed[kind])
    return path


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "npy", "svm", "svm.bz2", "svm.gz"])
def test_every_format_gives_the_norms_of_the_stated_formula(tmp_path: Path, kind: str, batch_rows: int) -> None:
    source = open_dataset(write(tmp_path, kind), batch_rows=batch_rows)
    specs = [parse_statistic(f"{'z' + str(index)}={norm}") for index, norm in enumerate(NORMS)]
    for _ in range(2):  # a source can be read again
        batches = list(source.batches(specs))
        assert all(batch.size <= batch_rows for batch in batches)
        assert [batch.first_row for batch in batches] == list(range(0, 4, batch_rows))
        for index, norm in enumerate(NORMS):
            got = np.concatenate([batch.statistics[f"z{index}"] for batch in batches])
            assert got.tolist() == [by_formula(row, norm) for row in VALUES.tolist()]


@pytest.mark.parametrize("entry", [5e-324, 2.7e-162, 1e-161, 2.0**-500, 1e-120])
@pytest.mark.parametrize("columns", [1, 3, 50])
def test_a_norm_is_never_smaller_than_rounding_explains(tmp_path: Path, entry: float, columns: int) -> None:
    """Squares that underflow would make a record look harmless: a weight for z = 0 is infinite."""
    row = np.full((1, columns), entry) * np.where(np.arange(columns) % 2, -1.0, 1.0)
    path = tmp_path / "row.svm"
    path.write_text("1 " + " ".join(f"{i}:{v!r}" for i, v in enumerate(row[0].tolist(), 1)) + "\n")
    exact = columns * Fraction(entry) ** 2
    for norm, power in (("l2", 2), ("l2^2", 1)):
        found = one_batch(row, f"z={norm}")
        assert found == one_batch(path, f"z={norm}(-label)")
        assert Fraction(found[0]) ** power >= exact * (1 - Fraction(columns + 1, 2**52))
        assert Fraction(found[0]) ** power <= (exact + columns * Fraction(2) ** -1000) * (1 + Fraction(columns + 1, 2**52))
    assert one_batch(np.zeros((1, columns)), "z=l2") == [0.0]


def one_batch(data: object, text: str) -> list[float]:
    return [float(v) for batch in open_dataset(data).batches([parse_statistic(text)]) for v in batch.statistics["z"]]


def test_columns_and_chosen_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "csv")
    assert one_batch(path, "z=b") == VALUES[:, 1].tolist()
    assert one_batch(path, "z=l1(a,c)") == [abs(a) + abs(c) for a, _, c in VALUES.tolist()]
    assert one_batch(path, "z=l1(-b)") == [abs(a) + abs(c) for a, _, c in VALUES.tolist()]
    svm = write(tmp_path, "svm")
    assert one_batch(svm, "z=2") == VALUES[:, 1].tolist()
    assert one_batch(svm, "z=label") == [1.0] * 4
    assert one_batch(svm, "z=linf(-3)") == [max(abs(a), abs(b)) for a, b, _ in VALUES.tolist()]
    assert one_batch(VALUES, "z=1") == VALUES[:, 1].tolist()
    assert one_batch(VALUES[:, 0], "z=0") == VALUES[:, 0].tolist()
    assert one_batch(pa.table({"l2": [1, 2]}), "z=column:l2") == [1.0, 2.0]
    fields = np.array([(1.5, "x"), (2.5, "y")], dtype=[("size", "f4"), ("word", "U1")])
    assert one_batch(fields, "z=size") == one_batch(fields, "z=l2") == [1.5, 2.5]


def test_text_columns_are_no_part_of_a_norm_but_a_stray_word_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text('name,a\n"x, y",3\nz,4\n')
    assert one_batch(path, "z=l2") == [3.0, 4.0]
    path.write_text("name,a\nx,3\ny,?\n")
    with pytest.raises(
        InvalidData, match=r"column number 1 \(from 0\) of d.csv must hold numbers, but row 1 has text where a number was expected"
    ):
        one_batch(path, "z=l2")


def test_an_svmlight_file_is_known_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "data.trn"
    path.write_text("# made by hand\n-1 1:0.5 7:-2 # comment\n\n+1\n")
    assert one_batch(path, "z=l1") == [2.5, 0.0]


BAD_FILES: list[tuple[str, bytes, str, type[PDPError], str]] = [
    ("d.csv", b"", "z=a", UnreadableFile, "is empty"),
    ("d.csv", b"a,b\n", "z=a", InvalidData, "no rows"),
    ("d.csv", b"a,b\n1,2\n3\n", "z=a", InvalidData, "Expected 2 columns"),
    ("d.csv", b"a,b\n1,2\nnan,3\n", "z=a", InvalidData, "finite numbers, but NaN or infinity was found in row 1"),
    ("d.csv", b"a,b\n1,2\n-inf,3\n", "z=l2", InvalidData, "finite numbers, but NaN or infinity was found in row 1"),
    ("d.csv", b"a,b\n1,2\n,3\n", "z=a", InvalidData, "row 1 has text where a number was expected"),
    ("d.csv", b"word,b\nx,2\n", "z=word", InvalidData, "must hold numbers, but row 0 has text"),
    ("d.csv", b"word\nx\n", "z=l1", InvalidData, "no numeric columns"),
    ("d.csv", b"norm,b\n1,2\n", "z=nrom", InvalidData, "no such column among its 2"),
    ("d.csv", b"a,a\n1,2\n", "z=a", InvalidData, "two columns of one name"),
    ("d.csv", b"\xff\xfe\x00\n\x00\x81,\n", "z=a", PDPError, "d.csv"),
    ("d.parquet", b"PAR1 not really", "z=a", UnreadableFile, "could not be read as parquet"),
    ("d.npy", b"not numpy", "z=0", UnreadableFile, "could not be read as NPY"),
    ("d.xyz", b"hello world\n", "z=a", UnreadableFile, "format of d.xyz is not known"),
    ("d.svm", b"1 1:2 1:3\n", "z=l1", InvalidData, "line 1 of d.svm must read"),
    ("d.svm", b"1 2:2 1:3\n", "z=l1", InvalidData, "ascending"),
    ("d.svm", b"1 1:2\n1 1:1_0\n", "z=l1", InvalidData, "line 2"),
    ("d.svm", b"1 1:nan\n", "z=l1", InvalidData, "not a finite number"),
    ("d.svm", b"\n# nothing\n", "z=l1", InvalidData, "no rows"),
    ("d.svm.gz", b"not gzip", "z=l1", UnreadableFile, "could not be read"),
    ("d.svm.bz2", bz2.compress(b"1 1:2\n" * 1000)[:-5], "z=l1", UnreadableFile, "could not be read"),
    ("d.svm", b"1 1:2\n", "z=name", InvalidArgument, "feature numbers"),
]


@pytest.mark.parametrize(("name", "content", "spec", "error", "match"), BAD_FILES)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str, content: bytes, spec: str, error: type[PDPError], match: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error, match=match) as caught:
        one_batch(path, spec)
    assert "\n" not in str(caught.value)


def test_missing_files_folders_and_other_objects(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="does not exist"):
        open_dataset(tmp_path / "none.csv")
    with pytest.raises(UnreadableFile, match="is a folder"):
        open_dataset(tmp_path)
    with pytest.raises(InvalidArgument, match="but list was found"):
        open_dataset([1, 2])
    with pytest.raises(InvalidArgument, match="at least 1 row"):
        open_dataset(VALUES, batch_rows=0)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        open_dataset(tmp_path / "pipe.csv")


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (pa.table({"a": [1.0, None]}), "missing value in row 1"),
        (pa.table({"a": [2**53 + 1]}), "above 2\\^53"),
        (pa.table({"a": ["x"]}), "must hold numbers"),
        (pa.table({"a": [True]}), "its type is bool"),
        (pa.table({"a": pa.array([], pa.float64())}), "no rows"),
    ],
)
def test_bad_tables(table: pa.Table, match: str) -> None:
    with pytest.raises(InvalidData, match=match):
        one_batch(table, "z=a")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([["a"]]), "must be a table of numbers"),
        (np.array([[1j]]), "must be a table of numbers"),
        (np.array([True]), "must be a table of numbers"),
        (np.zeros((2, 2, 2)), "of 3 dimensions"),
        (np.zeros((0, 2)), "no rows"),
        (np.array([2**60 + 1]), "above 2\\^53"),
        (np.array([1.0, np.nan]), "was found in row 1"),
    ],
)
def test_bad_arrays(array: np.ndarray, match: str) -> None:
    with pytest.raises(InvalidData, match=match):
        one_batch(array, "z=0")


def test_an_archive_of_arrays_is_no_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", z=np.ones(3))
    (tmp_path / "d.npz").rename(tmp_path / "d.npy")
    with pytest.raises(UnreadableFile, match="archive of arrays"):
        list(open_dataset(tmp_path / "d.npy").batches([parse_statistic("z=0")]))


@pytest.mark.parametrize("text", ["z", "=a", "z=", "1z=a", "z=l2()", "z=l2(a,)", "z=l2(a,-b)", "z=l2(-)"])
def test_bad_specs(text: str) -> None:
    with pytest.raises(InvalidArgument, match="was found"):
        parse_statistic(text)


@pytest.mark.thorough
@given(
    st.text(alphabet="0123456789.:+-eE# \t_qid", max_size=30)
    | st.from_regex(r"[+-]?1( [1-9]:-?[0-9]{1,3}(\.[0-9]+)?){0,4}", fullmatch=True)
)
def test_the_quick_parser_of_svmlight_lines_agrees_with_the_careful_one(text: str) -> None:
    source, line = SvmlightSource(Path("d.svm"), 10), text.encode() + b"\n"

    def attempt(parse: object) -> object:
        try:
            return parse(line, 1)  # type: ignore[operator]
        except InvalidData as error:
            return str(error)

    assert attempt(source._parse) == attempt(source._parse_slowly)


def test_a_parquet_file_with_names_that_are_not_utf8(tmp_path):
    path = tmp_path / "names.parquet"
    pq.write_table(pa.table({"name": [1.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"name", b"n\xff\xfe\xfd"))
    with pytest.raises(UnreadableFile, match="save it as UTF-8"):
        list(open_dataset(path).batches([]))
