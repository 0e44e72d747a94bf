"""NDJSON in blocks (M-23, M-25)."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.sources import pipe_events
from messaging.sources.stream import _MOST_LINE_BYTES, _Lines
from tests.messaging._events import story

CONTENT = b"".join(one.encode() + b"\n" for one in story(5))


@given(st.lists(st.integers(0, len(CONTENT))))
def test_where_blocks_are_cut_makes_no_difference(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(CONTENT)]
    lines = _Lines()
    found = [line for a, b in pairwise(edges) for line in lines.feed(CONTENT[a:b])]
    assert found == CONTENT.split(b"\n")[:-1]


def test_a_line_beyond_all_measure_is_dropped_and_the_next_one_read() -> None:
    lines, block = _Lines(), b"x" * (1 << 20)
    for _ in range(_MOST_LINE_BYTES // len(block) + 2):
        assert lines.feed(block) == []
    assert lines.feed(b"x\nnext\n") == [b"next"]


@pytest.mark.parametrize("torn", [b"", b'{"job_id":"job-1","se'])
async def test_a_pipe_ends_with_its_writer_and_a_torn_line_is_nothing(torn: bytes) -> None:  # M-25
    reader = asyncio.StreamReader()
    reader.feed_data(CONTENT + torn)
    reader.feed_eof()
    assert [one async for one in pipe_events(reader)] == story(5)
