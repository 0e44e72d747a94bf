"""Strict JSON against the whole JSONTestSuite: y accepted, n refused, i as decided here (GRAMMAR 4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from messaging import StrictJsonError, loads
from messaging.strict_json import decode_at

_FOLDER = Path(__file__).parents[1] / "cases" / "json_test_suite"
_FILES = {path.stem: path.read_bytes() for path in sorted(_FOLDER.glob("*.json"))} | {
    "n_structure_100000_opening_arrays": b"[" * 100_000,
    "n_structure_open_array_object": b'[{"":' * 50_000 + b"\n",
}

# What RFC 8259 leaves to the reader. True is accepted; the reason of the others is GRAMMAR 4's word for it.
# Bytes become text before JSON is read, so what is no UTF-8 never gets there.
OVERFLOW, SURROGATE, NO_UTF8, DEEP, NO_VALUE = (
    "infinity",
    "lone surrogate",
    "no UTF-8",
    "levels",
    "Expecting value",
)
DECIDED: dict[str, bool | str] = {
    "i_number_double_huge_neg_exp": True,  # underflow is zero, as everywhere
    "i_number_huge_exp": OVERFLOW,
    "i_number_neg_int_huge_exp": OVERFLOW,
    "i_number_pos_double_huge_exp": OVERFLOW,
    "i_number_real_neg_overflow": OVERFLOW,
    "i_number_real_pos_overflow": OVERFLOW,
    "i_number_real_underflow": True,
    "i_number_too_big_neg_int": True,  # integers stay integers up to 4,300 digits
    "i_number_too_big_pos_int": True,
    "i_number_very_big_negative_int": True,
    "i_object_key_lone_2nd_surrogate": SURROGATE,
    "i_string_1st_surrogate_but_2nd_missing": SURROGATE,
    "i_string_1st_valid_surrogate_2nd_invalid": SURROGATE,
    "i_string_UTF-16LE_with_BOM": NO_UTF8,
    "i_string_UTF-8_invalid_sequence": NO_UTF8,
    "i_string_UTF8_surrogate_U+D800": NO_UTF8,
    "i_string_incomplete_surrogate_and_escape_valid": SURROGATE,
    "i_string_incomplete_surrogate_pair": SURROGATE,
    "i_string_incomplete_surrogates_escape_valid": SURROGATE,
    "i_string_invalid_lonely_surrogate": SURROGATE,
    "i_string_invalid_surrogate": SURROGATE,
    "i_string_invalid_utf-8": NO_UTF8,
    "i_string_inverted_surrogates_U+1D11E": SURROGATE,
    "i_string_iso_latin_1": NO_UTF8,
    "i_string_lone_second_surrogate": SURROGATE,
    "i_string_lone_utf8_continuation_byte": NO_UTF8,
    "i_string_not_in_unicode_range": NO_UTF8,
    "i_string_overlong_sequence_2_bytes": NO_UTF8,
    "i_string_overlong_sequence_6_bytes": NO_UTF8,
    "i_string_overlong_sequence_6_bytes_null": NO_UTF8,
    "i_string_truncated-utf-8": NO_UTF8,
    "i_string_utf16BE_no_BOM": NO_UTF8,
    "i_string_utf16LE_no_BOM": NO_UTF8,
    "i_structure_500_nested_arrays": DEEP,
    "i_structure_UTF-8_BOM_empty_object": NO_VALUE,  # U+FEFF is no blank
}
# RFC 8259 says that names "should" be unique, so these are JSON; to us they are broken: readers differ on
# which value counts, and a call must mean the same to everyone who reads it.
TWICE = {"y_object_duplicated_key": "duplicate key", "y_object_duplicated_key_and_value": "duplicate key"}


def named(kind: str) -> list[str]:
    return [name for name in _FILES if name.startswith(kind)]


def refused_for(data: bytes) -> str:
    """Why it is refused, empty if it is not."""
    try:
        loads(data.decode())
    except UnicodeDecodeError:
        return NO_UTF8
    except StrictJsonError as refused:
        return refused.reason
    return ""


# O-12
def test_the_suite_is_complete() -> None:
    assert [len(named(kind)) for kind in ("y_", "n_", "i_")] == [95, 188, 35]
    assert sorted(DECIDED) == sorted(named("i_"))


@pytest.mark.parametrize("name", sorted({*named("y_")} - {*TWICE}))
def test_what_is_json_is_accepted(name: str) -> None:
    text = _FILES[name].decode()
    start = len(text) - len(text.lstrip(" \t\r\n"))
    value, end = decode_at(text, start, len(text))
    assert value == loads(text)
    assert not text[end:].strip(" \t\r\n")


@pytest.mark.parametrize(("name", "reason"), TWICE.items())
def test_a_key_that_stands_twice_is_refused_though_the_suite_accepts_it(name: str, reason: str) -> None:
    assert refused_for(_FILES[name]) == reason


@pytest.mark.parametrize("name", named("n_"))
def test_what_is_no_json_is_refused(name: str) -> None:
    assert refused_for(_FILES[name])


@pytest.mark.parametrize(("name", "decided"), DECIDED.items(), ids=DECIDED)
def test_what_the_rfc_leaves_open_is_decided(name: str, decided: bool | str) -> None:
    reason = refused_for(_FILES[name])
    assert not reason if decided is True else str(decided) in reason
