"""Strict JSON in the middle of a text (GRAMMAR 4)."""

from __future__ import annotations

import pytest

from messaging.strict_json import StrictJsonError, decode_at

MOST = 1 << 16


def test_the_value_comes_with_the_offset_behind_it() -> None:
    assert decode_at('say {"a": [1]} now', 4, MOST) == ({"a": [1]}, 14)


@pytest.mark.parametrize("length", [1000, 1015, 1016, 1017, 1018, 1019, 1020, 5000])
def test_a_value_may_be_longer_than_what_is_looked_at_first(length: int) -> None:
    text = '{"a": "' + "x" * length + '", "b": true}'
    assert decode_at(text + " more", 0, MOST) == ({"a": "x" * length, "b": True}, len(text))


@pytest.mark.parametrize("pad", range(990, 1030))
def test_no_token_is_refused_for_being_cut_by_what_is_looked_at_first(pad: int) -> None:
    text = '{"a": "' + "x" * pad + '", "b": [null, -1.5e+10, "\\ud83c\\udf78\\n"]}'
    assert decode_at(text, 0, MOST)[1] == len(text)


def test_a_value_longer_than_the_most_is_refused() -> None:
    text = '{"a": "' + "x" * 100 + '"}'
    assert decode_at(text, 0, len(text))[1] == len(text)
    with pytest.raises(StrictJsonError):
        decode_at(text, 0, len(text) - 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a" 1}', "Expecting ':' delimiter"),
        ('{"a": 1', "delimiter"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"a": "\ud800"}', "lone surrogate"),
        ('{"a": 1, "a": 2}', "duplicate key"),
        ('{"a": NaN}', "NaN"),
        ("{" + '"a": {' * 64 + "}" * 65, "more than 64 levels"),
        ("[" * 100_000, "more than 64 levels"),
    ],
)
def test_what_is_not_strict_is_refused(text: str, reason: str) -> None:
    with pytest.raises(StrictJsonError, match=reason):
        decode_at("xx" + text, 2, MOST)


def test_an_error_says_where_it_stands_in_the_whole_text() -> None:
    with pytest.raises(StrictJsonError) as refused:
        decode_at('xx\n{"a" 1}', 3, MOST)
    assert refused.value.position == 8
