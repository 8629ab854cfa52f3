"""Which pairs are neighbors: multisets of records in every form that shows them, and what is said where nothing shows them."""

from __future__ import annotations

import numpy as np
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.errors import InvalidArgument, NotNeighbors, PDPError
from proofs_check.audit import Claim, audit, judge_neighbors
from proofs_check.audit.report import Circumstances, render


class Opaque:
    """No equality, no records."""

    def __init__(self, value) -> None:
        self.value = value


class Locked(Opaque):
    def __reduce__(self):
        raise TypeError("cannot be pickled")


ONE, OTHER = Opaque(1), Opaque(2)


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ([1, 2], [1]),
        ([2, 1, 3], [3, 2]),
        ([1, 1], [1]),
        ((1, 2, 2), (2, 1)),
        ([0.0], []),
        ([-0.0, 1], [1.0]),
        ([float("nan")], []),
        (["a", "b"], ["b"]),
        (list("aab"), list("ab")),
        ([[1, 2], [3]], [[1, 2]]),
        ([{"x": 1}, {"x": 2}], [{"x": 2.0}]),
        ({1, 2}, {2}),
        (np.array([1.0, 4.0]), [4]),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3, 4]])),
        (np.zeros((1, 3)), np.zeros((0, 3))),
        (([1, 2], [1, 3]), ([2], [3])),
        (([1, 2], [1, 3]), [1]),
        ((np.array([1.0, 2.0]), None), np.array([2.0])),
        ((np.array([1.0, 2.0]), np.array([1.0, 1.0])), np.array([2.0])),
        ((np.ones((2, 3)), np.array([0, 1])), (np.ones((1, 3)), np.array([1]))),
        ([ONE, OTHER], [OTHER]),
        ([Opaque(1), Opaque(2)], [Opaque(2)]),
        (polars.DataFrame({"x": [1, 2], "y": ["a", "b"]}), polars.DataFrame({"x": [2], "y": ["b"]})),
        (pyarrow.table({"x": [1, 2]}), pyarrow.table({"x": [2]})),
    ],
)
def test_one_record_more_or_less(larger, smaller) -> None:
    assert judge_neighbors(larger, smaller).status == "checked"
    assert judge_neighbors(smaller, larger).status == "checked"
    assert judge_neighbors(larger, smaller, one_sided=True).status == "checked"
    with pytest.raises(NotNeighbors, match="D' has the record more"):
        judge_neighbors(smaller, larger, one_sided=True)
    for same in (larger, smaller):
        with pytest.raises(NotNeighbors, match="are the same"):
            judge_neighbors(same, same)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1, 2], [2, 1], "another order"),
        (([1, 2], [1, 3]), ([2, 1], [3, 1]), "another order"),
        ([1, 2], [1, 3], "replaced by another one, which is two steps"),
        (([1, 2], [1, 1]), ([1, 2], [1, 2]), "replaced by another one"),
        (([1, 2], [1, 2]), [1, 2], "replaced by another one"),
        (([1, 2], [1, 2]), [2], "D alone"),
        ((1.0,), (0.0,), "replaced by another one"),
        ([1, 1, 1], [1], "several of the records"),
        ([1, 2, 3], [4, 5], "several of the records are in D alone or in D' alone"),
        ([], [1, 2], "several of the records"),
        (np.zeros((3, 2)), np.zeros((1, 2)), "several of the records"),
        ([Locked(k) for k in range(3)], [Locked(0)], "D alone"),  # whatever they are, the sizes differ by two
        (Opaque([1, 2]), Opaque([1, 2]), "are the same"),
        (3.5, 3.5, "are the same"),
        ({"x": [1, 2]}, {"x": [1, 2]}, "are the same"),
        (np.array(0.5), np.array(0.5), "are the same"),
    ],
)
def test_no_neighbors(first, second, words) -> None:
    with pytest.raises(NotNeighbors, match=words) as found:
        judge_neighbors(first, second)
    assert str(found.value).startswith("not neighbors: ")
    assert found.value.exit_code == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (3.5, 4.5),
        (np.array(0.0), np.array(1.0)),
        (Opaque(1), Opaque(2)),
        ({"x": [1]}, {"x": [1, 2]}),
        ("word", "words"),
        (iter([1]), iter([])),
        ([Locked(1), Locked(2)], [Locked(1)]),
        ([[Locked(1)], [Locked(2)]], [[Locked(1)]]),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), np.ma.masked_array([1.0], [0])),
        (([1, 2], [1]), ([1], [1, 2])),
    ],
)
def test_what_cannot_be_seen_is_said(first, second) -> None:
    if isinstance(first, tuple):
        with pytest.raises(NotNeighbors):  # two lists of different lengths are two records
            judge_neighbors(first, second)
        return
    found = judge_neighbors(first, second)
    assert found.status == "not checked"
    assert found.reason
    assert judge_neighbors(first, second, "stated").status == "stated"


def test_other_relations() -> None:
    assert judge_neighbors([1, 2], [1, 3], "replace-one").status == "checked"
    for pair in (([1, 2], [1]), ([1, 2], [2, 1]), ([1, 2], [3, 4])):
        with pytest.raises(NotNeighbors, match="replacing exactly one record"):
            judge_neighbors(*pair, "replace-one")
    assert judge_neighbors([1, 0], [0, 1], "stated").status == "stated"  # query answers: their order says which query
    with pytest.raises(NotNeighbors, match="are the same"):
        judge_neighbors([1, 0], [1, 0], "stated")
    with pytest.raises(InvalidArgument, match="one-sided claim is about adding"):
        judge_neighbors([1, 2], [1, 3], "replace-one", one_sided=True)
    with pytest.raises(InvalidArgument, match="did you mean 'stated'"):
        judge_neighbors([1], [], "state")


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ([1, 1, 1], [1], "2 records are in D alone, 0 in D' alone"),
        ([1, 2, 3], [4, 5], "3 records are in D alone, 2 in D' alone"),
        ([1, 2], [2, 1], ""),
        ([1], [1], ""),
    ],
)
def test_how_far_they_are_apart_is_private(first, second, told) -> None:
    with pytest.raises(NotNeighbors) as found:
        judge_neighbors(first, second)
    assert found.value.private == told
    assert not any(digit in str(found.value) for digit in "0123456789")


@given(st.lists(st.integers(0, 3), max_size=6), st.integers(0, 3), st.randoms(use_true_random=False))
def test_order_and_duplicates(records, more, shuffle) -> None:
    larger = [*records, more]
    shuffle.shuffle(larger)
    assert judge_neighbors(larger, records).status == "checked"
    with pytest.raises(NotNeighbors):
        judge_neighbors([*larger, more], records)


def test_an_audit_gives_no_verdict_about_such_a_pair() -> None:
    def leaky(dataset, rng, size):
        return float(np.sum(dataset)) + rng.laplace(0, 0.1, size)

    for first, second in (([1.0], [1.0]), ([1.0, 2.0], [2.0, 1.0]), ([1.0, 1.0], []), ([1.0], [2.0])):
        with pytest.raises(NotNeighbors):
            audit(leaky, first, second, Claim(1), rng=np.random.default_rng(1), samples=100)
    assert issubclass(NotNeighbors, PDPError)


@pytest.mark.thorough
def test_a_result_says_what_is_known_of_its_pair() -> None:
    def noisy(dataset, rng, size):
        return getattr(dataset, "value", 0) + rng.laplace(0, 1, size)

    options = {"rng": np.random.default_rng(1), "samples": 100}
    for pair, relation, status in (
        ((Opaque(1), Opaque(2)), "add-remove", "not checked"),
        ((Opaque(1), Opaque(2)), "stated", "stated"),
        (([1], []), "add-remove", "checked"),
    ):
        result = audit(noisy, *pair, Claim(4), neighboring=relation, **options)
        assert result.to_json()["neighboring"] == {"relation": relation, "status": status}
        text = " ".join(render(result, Circumstances("noisy")).split())
        assert f"neighbors {relation}, {status}" in text
        assert ("D and D' are neighbors: " in text.partition("Taken for granted")[2]) == (status != "checked")
