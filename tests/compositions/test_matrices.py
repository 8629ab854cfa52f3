"""Strategy matrices: what is read and made is exact, what is refused is named."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest

from accountant.compositions.matrices import make_matrix, read_matrix
from profiles import InvalidArgument, InvalidNumber, UnreadableFile


def saved(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def header(text: str, body: bytes = b"") -> bytes:
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + body


SQUARE = np.tril(np.ones((3, 3)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (saved(np.array([[1, "a"]], dtype=object)), "pickled Python objects"),
        (saved(np.where(SQUARE > 0, np.nan, 0)), "NaN or an infinity"),
        (saved(np.where(SQUARE > 0, np.inf, 0)), "NaN or an infinity"),
        (saved(np.ones((2, 3))), "square matrix was expected, but 2 x 3"),
        (saved(np.ones((3, 3))), "row 1 has a number in column 2"),
        (saved(np.zeros((3, 3))), "matrix of zeros"),
        (saved(np.zeros((0, 0))), "shape (0, 0)"),
        (saved(np.ones((2, 2, 2))), "shape (2, 2, 2)"),
        (saved(np.float64(3)), "shape ()"),
        (saved(SQUARE.astype(complex)), "complex128"),
        (saved(SQUARE.astype(bool)), "bool"),
        *([(saved(SQUARE.astype(np.longdouble)), "at most 64 bits")] if np.dtype(np.longdouble).itemsize > 8 else []),
        (saved(np.array([["a"]])), "at most 64 bits"),
        (saved(SQUARE * 2.0**101), "above 1e30"),
        (saved(np.tril(np.full((2, 2), 2**53 + 1))), "from 2^53 on"),
        (saved(np.array([1.0, 0.5])), "not for how many steps"),
        (saved(SQUARE)[:-8], "save it again"),
        (saved(SQUARE) + b"x", "save it again"),
        (b"", "not an NPY file"),
        (b"\x93NUMPY\x01\x00", "not an NPY file"),
        (b"\x93NUMPY\x09\x00" + b"x" * 99, "not an NPY file"),
        (b"PK\x03\x04", "archive of arrays"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }"), "save it again"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", b"\0" * 8), "save it again"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': __import__('os'), }"), "not an NPY file"),
        (header("[" * 100), "not an NPY file"),
        (header("-" * 9000 + "1"), "not an NPY file"),
        (header("{'descr': 'f8,f8', 'fortran_order': False, 'shape': (1,), }", b"\0" * 16), "at most 64 bits"),
        (header("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 1), }", b"\0" * 8), "save it again"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (True, True), }", b"\0" * 8), "save it again"),
        (header("{'descr': '<f8', 'shape': (1, 1), }", b"\0" * 8), "not an NPY file"),
        (header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': (0, {10**30})}}"), "shape (0, "),
        (header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'1, ' * 100})}}", b"\0" * 8), "shape (1, "),
        (
            header(f"{{'descr': {{'names': ['a'], 'formats': ['f8'], 'offsets': [{2**70}]}}, 'fortran_order': False, 'shape': (1,)}}"),
            "not an NPY file",
        ),
    ],
)
def test_a_hostile_file_is_refused_by_name(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "c.npy"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile) as caught:
        read_matrix(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_too_many_steps_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large.npy").open("wb") as stream:
        stream.truncate(8 * 4200**2)
    for path, said in ((tmp_path / "large.npy", "at most 4096 steps"), (tmp_path, "a directory"), (tmp_path / "none.npy", "nothing")):
        with pytest.raises(UnreadableFile, match=said):
            read_matrix(path)
    with pytest.raises(UnreadableFile, match="path of a matrix"):
        read_matrix(3)  # type: ignore[arg-type]
    with pytest.raises(UnreadableFile):
        read_matrix("a\0b")


@pytest.mark.parametrize(
    ("given", "steps", "said"),
    [
        ([1, 2, 3], 2, "3 coefficients were found for 2 steps"),
        ([1], 0, "steps must be an integer"),
        ([1], 10**7, "steps must be an integer"),
        ([1], "many", "must be"),
        ([0, "0.0"], 5, "matrix of zeros"),
        (["nan"], 5, "finite"),
        ([float("inf")], 5, "finite"),
        ([True], 5, "boolean"),
        (["1e31"], 5, "above 1e30"),
        ([f"1/{prime}" for prime in range(10**40, 10**40 + 60)], 60, "denominators"),
        ([[1.0, 0.0], [1.0]], None, "rows of different lengths"),
        ([[2**53 + 1, 0], [0.5, 1]], None, "integer from 2^53 on"),
        ([[True, 0], [0.5, True]], None, "truth value"),
        (SQUARE, 4, "3 steps was found"),
        ("C", None, "at most 64 bits"),
        (None, None, "at most 64 bits"),
        ([], 5, "shape"),
    ],
)
def test_what_is_no_matrix_is_refused(given: object, steps: object, said: str) -> None:
    with pytest.raises((InvalidArgument, InvalidNumber)) as caught:
        make_matrix(given, steps)
    assert said in str(caught.value)


def test_the_digest_follows_the_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", SQUARE)
    assert read_matrix(tmp_path / "c.npy").digest == hashlib.sha256((tmp_path / "c.npy").read_bytes()).hexdigest()
    assert make_matrix(SQUARE).digest == make_matrix(SQUARE.astype(int).tolist()).digest
    assert make_matrix(SQUARE).digest != make_matrix(SQUARE * 2).digest
    assert make_matrix([1, "1/2"], 9).describe() == "the 9 x 9 Toeplitz matrix with the coefficients 1, 0.5"


def test_a_signalling_nan_is_refused_whatever_flags_the_caller_has_set(tmp_path: Path) -> None:
    """It warned when it was made a binary64 number."""
    signalling = np.frombuffer(b"\x01\x00\x80\x7f" * 4, dtype="<f4").reshape(2, 2)
    (tmp_path / "c.npy").write_bytes(saved(np.tril(np.ones((2, 2), dtype="<f4")))[:-16] + signalling.tobytes())
    with np.errstate(all="raise"), pytest.raises(UnreadableFile, match="a NaN or an infinity"):
        read_matrix(tmp_path / "c.npy")
