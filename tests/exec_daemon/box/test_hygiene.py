"""Untrusted text made safe to show."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.box.hygiene import clean, clean_lines, clean_tree

KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----"


def test_a_key_over_several_lines_is_covered_as_a_whole() -> None:
    assert clean_lines(f"before\n{KEY}\nafter\n", (), 200) == ["before", "[REDACTED]", "after"]


def test_a_key_whose_beginning_is_beyond_the_last_lines_is_covered_too() -> None:
    lines = clean_lines(f"{KEY}\nafter\n", (), 2)
    assert lines == ["[REDACTED]", "after"]


def test_no_text_is_no_line() -> None:
    assert clean_lines("", (), 200) == []


def test_bytes_of_the_kernel_that_are_no_utf8_become_valid() -> None:
    assert clean(b"caf\xe9".decode("utf-8", "surrogateescape")) == "caf?"


def test_keys_and_nested_values_are_cleaned_and_tuples_become_lists() -> None:
    tree = clean_tree({"\x1b[1mkey": ({"x": "token=CANARYCANARY"}, 1, None)})
    assert tree == {"key": [{"x": "token=[REDACTED]"}, 1, None]}


@given(st.text(alphabet=st.characters(codec=None)))
def test_every_text_becomes_json_of_valid_utf8_without_controls(text: str) -> None:
    safe = clean(text)
    json.dumps(safe, ensure_ascii=False).encode()
    assert not any(ord(c) < 32 and c not in "\t\n" for c in safe)
