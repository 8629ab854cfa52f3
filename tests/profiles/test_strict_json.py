"""JSON as it is read everywhere: what the standard library reads, without doubled keys and without what is no number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.strict_json import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def _floats_in(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, float) or any(map(_floats_in, inner))


@given(VALUES)
def test_it_reads_what_the_standard_library_writes(value):
    text = json.dumps(value)
    assert parse_json(text, floats=True) == value
    if _floats_in(value):
        with pytest.raises(ValueError, match="written as text"):
            parse_json(text, floats=False)
    else:
        assert parse_json(text, floats=False) == value


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"c": 1, "c": 2}}]', "NaN", "[1, Infinity]", '{"a": -Infinity}', "[1,]"])
def test_other_texts_are_refused(text, floats):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text, floats=floats)
