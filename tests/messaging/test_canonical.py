"""Canonical JSON: one text for each value, whatever the order and the spacing it came in."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging import canonical_json, digest, loads

# RFC 8785, appendix B: numbers as ECMAScript writes them.
NUMBERS = {
    0.0: "0",
    5e-324: "5e-324",
    1.7976931348623157e308: "1.7976931348623157e+308",
    9007199254740992.0: "9007199254740992",
    295147905179352830000.0: "295147905179352830000",
    9.999999999999997e22: "9.999999999999997e+22",
    1e23: "1e+23",
    1e21: "1e+21",
    1e-6: "0.000001",
    1.5e-5: "0.000015",
    -1.5e-6: "-0.0000015",
    1e-7: "1e-7",
    333333333.3333332: "333333333.3333332",
    4.5: "4.5",
    1: "1",
}


@pytest.mark.parametrize(("number", "text"), NUMBERS.items())
def test_numbers_are_written_as_the_rfc_says(number: float, text: str) -> None:
    assert canonical_json(number) == text


def test_minus_zero_is_zero() -> None:
    assert canonical_json(-0.0) == "0"


def test_keys_are_sorted_by_utf16_code_units() -> None:
    # RFC 8785 section 3.2.3: U+1F600 is D83D DE00 in UTF-16 and so comes before U+FB33.
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'


def test_literals_and_nesting_have_no_blanks() -> None:
    assert (
        canonical_json({"b": [True, False, None, "x\n"], "a": {}}) == '{"a":{},"b":[true,false,null,"x\\n"]}'
    )


def test_big_integers_that_differ_stay_different() -> None:
    # O-16: two calls that differ in one digit are two calls.
    assert canonical_json(2**53 + 1) != canonical_json(2**53 + 2)
    assert digest(10**30) != digest(10**30 + 1)


def test_a_value_that_is_no_json_is_misuse() -> None:
    with pytest.raises(TypeError):
        canonical_json({"a": object()})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_the_canonical_text_is_json_of_the_same_value(value: object) -> None:
    def as_doubles(text: str) -> object:
        return json.loads(text, parse_int=float)

    assert as_doubles(canonical_json(value)) == as_doubles(json.dumps(value))


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_key_order_and_spacing_do_not_change_the_digest(
    value: dict[str, object], chance: random.Random
) -> None:
    keys = list(value)
    chance.shuffle(keys)
    shuffled = {key: value[key] for key in keys}
    assert digest(loads(json.dumps(shuffled, indent=3))) == digest(value)
