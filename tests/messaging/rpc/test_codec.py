"""Bytes to requests: chunking is invisible, and a line that is too long costs no more than its limit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.rpc import Codec, CodecClosed, Lines, Rejected, Request

TEXT = (
    b'{"id":"a","type":"x","payload":{}}\r\n\n  \n{"id":"\xc3\xa9","type":"y","payload":{}}\n{\n\xff\n12345'
)
READ = [b'{"id":"a","type":"x","payload":{}}', b'{"id":"\xc3\xa9","type":"y","payload":{}}', b"{", b"\xff"]


@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_how_the_bytes_are_cut_does_not_show(cuts: list[int]) -> None:  # J-01
    lines = Lines()
    edges = [0, *sorted(cuts), len(TEXT)]
    found = [line for a, b in pairwise(edges) for line in lines.feed(TEXT[a:b])]
    assert found + lines.close() == [*READ, b"12345"]


def test_blank_lines_and_carriage_returns_are_nothing() -> None:  # J-01
    lines = Lines()
    assert lines.feed(b"\n\r\n \t\r\na\r\n") == [b"a"]
    assert lines.close() == []


@pytest.mark.parametrize("step", [1, 3, 100])
def test_a_line_that_is_too_long_is_thrown_away_alone(step: int) -> None:  # J-01
    lines, text = Lines(most_bytes=8), b"12345678\r\n123456789\n" + b"x" * 50 + b"\nab\n" + b"y" * 9
    found = [line for at in range(0, len(text), step) for line in lines.feed(text[at : at + step])]
    assert found + lines.close() == [b"12345678", None, None, b"ab", None]


def test_after_a_line_that_is_none_the_next_is_read() -> None:  # J-06
    codec = Codec(most_line_bytes=64)
    read = [
        *codec.feed(b'{"id":"a","type":"x","payload":{}}\n{\n' + b"z" * 99 + b'\n{"id":"b",'),
        *codec.feed(b'"type":"y","payload":{}}'),
        *codec.close(),
    ]
    assert [type(one) for one in read] == [Request, Rejected, Rejected, Request]
    assert [one.id for one in read] == ["a", None, None, "b"]


def test_feeding_after_the_end_is_misuse() -> None:
    lines = Lines()
    lines.close()
    with pytest.raises(CodecClosed):
        lines.feed(b"")
    with pytest.raises(CodecClosed):
        lines.close()
