"""The one reader of JSON from strangers."""

from __future__ import annotations

import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import strict_json
from profiles.strict_json import read_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(st.characters(codec="utf-8")), parts),
    max_leaves=10,
)


def test_doctests() -> None:
    assert doctest.testmod(strict_json).failed == 0


@given(values)
def test_what_was_written_is_read(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]', "NaN", "[-Infinity]", "[" * 100_000, '"\ud800"', "", "{", "1 2"]
)
@pytest.mark.parametrize("floats", [True, False])
def test_what_readers_may_take_differently_is_refused(text: str, floats: bool) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text, floats=floats)


def test_binary_numbers_only_on_request() -> None:
    assert read_json("[1.5, 2e3]", floats=True) == [1.5, 2000.0]
    with pytest.raises(ValueError, match="exact numbers are written as text"):
        read_json("[1.5]")
