"""Strict JSON: what GRAMMAR section 4 calls broken is refused, the rest comes out unchanged."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging import StrictJsonError, load_object, loads
from messaging.strict_json import MAX_INTEGER_DIGITS, MAX_LEVELS, levels

# O-12: what json.loads of the standard library would let through, and what it would not.
BROKEN = {
    "duplicate key": '{"a": 1, "a": 2}',
    "duplicate key after unescaping": '{"a": 1, "\\u0061": 2}',
    "duplicate key in depth": '[{"b": {"a": 1, "a": 1}}]',
    "NaN": "NaN",
    "negative Infinity": "-Infinity",
    "overflow to infinity": "1e999",
    "integer too long": "1" * (MAX_INTEGER_DIGITS + 1),
    "lone high surrogate": '"\\ud800"',
    "lone low surrogate as a key": '{"\\udc00": 1}',
    "raw lone surrogate": '"\ud800"',
    "too many levels": "[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1),
    "raw line break in a string": '"a\nb"',
    "NUL in a string": '"a\0b"',
    "trailing comma": "[1,]",
    "comment": "{} // x",
    "single quotes": "{'a': 1}",
    "bare word": "None",
    "leading zero": "007",
    "plus sign": "+1",
    "byte order mark": "\ufeff{}",
    "no-break space": "\u00a0{}",
    "form feed": "\f{}",
    "two values": "{} {}",
    "nothing": "",
    "blanks only": " \t\r\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_broken_json_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(StrictJsonError) as refused:
        loads(text)
    assert refused.value.reason


def test_the_limits_themselves_are_allowed() -> None:
    assert loads("9" * MAX_INTEGER_DIGITS) > 0
    assert levels("[" * MAX_LEVELS + "]" * MAX_LEVELS) == MAX_LEVELS
    loads("[" * MAX_LEVELS + "]" * MAX_LEVELS)


def test_brackets_in_strings_are_no_levels() -> None:
    text = json.dumps(["[" * 1000 + '"' + "{" * 1000])
    assert levels(text) == 1
    assert loads(text)[0].startswith("[[")


def test_many_brackets_side_by_side_are_one_level() -> None:
    assert len(loads("[" + ",".join(["[]"] * 500) + "]")) == 500


def test_blanks_around_the_value_are_allowed() -> None:
    assert loads(' \t\r\n{"a": 1}\r\n') == {"a": 1}


def test_an_object_is_wanted_where_an_object_is_wanted() -> None:
    assert load_object('{"a": [1]}') == {"a": [1]}
    with pytest.raises(StrictJsonError, match="not an object"):
        load_object("[1]")


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert loads('"\\ud83c\\udf78"') == "🍸"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_any_json_value_comes_back_unchanged(value: object, escaped: bool) -> None:
    assert loads(json.dumps(value, ensure_ascii=escaped)) == value


@given(st.text(alphabet='{}[]",:\\ \n0123456789aeflnrstu-.+\ud800'))
def test_no_text_raises_anything_but_its_own_error(text: str) -> None:
    with contextlib.suppress(StrictJsonError):
        loads(text)
