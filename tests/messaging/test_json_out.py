"""Compact JSON is what the standard module writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.json_out import compact

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON, st.booleans(), st.booleans())
def test_it_is_what_json_dumps_writes(value: Any, ascii_only: bool, sort_keys: bool) -> None:
    expected = json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=(",", ":"))
    assert compact(ascii_only=ascii_only, sort_keys=sort_keys)(value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_refused_unless_asked_for(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        compact()([value])
    assert compact(allow_nan=True)([value]) == json.dumps([value])


def test_what_is_not_json_is_refused() -> None:
    write = compact()
    for value in ({1, 2}, b"x", {"a": object()}, {(1,): 2}):
        with pytest.raises(TypeError):
            write(value)
    assert write({"a": [1]}) == '{"a":[1]}'  # and nothing of it is left


def test_a_value_that_holds_itself_is_refused() -> None:
    inside: list[Any] = []
    inside.append(inside)
    with pytest.raises(ValueError, match="holds itself"):
        compact()(inside)
