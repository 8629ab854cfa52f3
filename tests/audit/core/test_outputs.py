"""Outputs of any kind become one table, and equal outputs become equal rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.audit.errors import UnusableOutputs
from proofs_check.audit.outputs import ABSENT, Reader, join

ENTRIES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False), st.sampled_from(["⊤", "⊥"]))
ROWS = st.lists(st.lists(ENTRIES, max_size=4).map(tuple), min_size=2, max_size=8).filter(any)


def keys(table):
    symbols = np.zeros(table.values.shape, dtype=np.int32) if table.symbols is None else table.symbols
    return [tuple(zip(row.tolist(), marks.tolist(), strict=True)) for row, marks in zip(table.values + 0.0, symbols, strict=True)]


@given(ROWS)
def test_rows_are_equal_exactly_where_outputs_are(rows) -> None:
    table = Reader().read(rows, len(rows))
    found = keys(table)
    for i, first in enumerate(rows):
        for j, second in enumerate(rows):
            same = len(first) == len(second) and all(a == b and (a is None) == (b is None) for a, b in zip(first, second, strict=True))
            assert (found[i] == found[j]) == same


@pytest.mark.thorough
@given(ROWS, st.data())
def test_reading_does_not_depend_on_the_call(rows, data) -> None:
    """The same output gets the same row, whichever outputs come with it: else the make-up of a call would look like evidence."""
    reader = Reader()
    whole = reader.read(rows, len(rows))
    cut = data.draw(st.integers(1, len(rows) - 1))
    if not any(rows[:cut]) or not any(rows[cut:]):
        return
    parts = join([reader.read(rows[:cut], cut), reader.read(rows[cut:], len(rows) - cut)])
    assert keys(parts.fit(whole.width)) == keys(whole)


def test_numbers_vectors_and_matrices() -> None:
    assert Reader().read(np.arange(3.0), 3).values.shape == (3, 1)
    assert Reader().read(np.zeros((3, 2, 2)), 3).width == 4
    assert Reader().read([1, 2.5, 3], 3).values.tolist() == [[1.0], [2.5], [3.0]]
    assert Reader().read(np.array([2**60, 2**60 + 1]), 2).symbols is not None  # no float holds the second one


def test_nesting_is_kept_apart() -> None:
    found = keys(Reader().read([[[1, 2], 3], [1, [2, 3]]], 2))
    assert found[0] != found[1]


def test_shorter_outputs_have_absent_places() -> None:
    table = Reader().read([(1,), (1, 2)], 2)
    assert table.symbols is not None
    assert table.symbols.tolist() == [[0, ABSENT], [0, 0]]


@pytest.mark.parametrize(
    ("returned", "size"),
    [
        (np.array([1.0, np.nan]), 2),
        (np.zeros(3), 2),
        (np.float64(1), 1),
        (None, 2),
        ([[1.0, float("nan")], [1.0, 2.0]], 2),
        ([{1: 2}, {1: 3}], 2),
        (np.ma.masked_array([1.0, 2.0], [True, False]), 2),
        (np.zeros((2, 0)), 2),
        (np.array([1 + 2j, 3]), 3),
    ],
)
def test_unusable_outputs_are_refused(returned, size) -> None:
    with pytest.raises(UnusableOutputs):
        Reader().read(returned, size)


def test_one_kind_of_container() -> None:
    reader = Reader()
    reader.read(np.zeros((2, 2)), 2)
    with pytest.raises(UnusableOutputs, match="one kind"):
        reader.read([(0, 0), (0, 0, 1)], 2)


def test_large_integers_are_read_alike_in_every_call() -> None:
    first = Reader()
    alone = keys(first.read(np.array([2**53 + 1, 2**53 + 1]), 2))
    beside = keys(first.read(np.array([2**53 + 1, 2**54]), 2))
    assert alone[0] == beside[0]
    assert beside[0] != beside[1]


def test_scalars_of_numpy_are_what_they_hold() -> None:
    reader = Reader()
    assert keys(reader.read(list(np.array(["a", "b"])), 2)) == keys(reader.read(["a", "b"], 2))
    assert keys(reader.read([(np.bool_(True), np.float32(0.5))], 1)) == keys(reader.read([(True, 0.5)], 1))
