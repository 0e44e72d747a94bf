"""Frames: whole lines, any chunks, noise around them, and frames that are not right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.container import (
    NANOCLAW,
    TALON,
    ContainerOutput,
    Framed,
    FrameReader,
    Markers,
    SessionUsage,
    Status,
    Unframed,
    framed,
)

FIRST = ContainerOutput(
    status=Status.SUCCESS,
    result="hello",
    new_session_id="s1",
    usage=SessionUsage(input_tokens=10, output_tokens=3),
    consumed_inputs=("1796040000000-a1b2c3.json",),
)
SECOND = ContainerOutput(status=Status.ERROR, error="model unreachable")
STREAM = f"stray log line\n{framed(FIRST)}more noise\n{framed(SECOND)}the end".encode()


def read(content: bytes, *cuts: int, most: int = 1 << 20) -> list[Framed | Unframed]:
    reader, found, start = FrameReader(most), [], 0
    for cut in (*sorted(cuts), len(content)):
        found += reader.feed(content[start:cut])
        start = cut
    return found + reader.close()


def outputs(content: bytes) -> list[ContainerOutput]:
    return [found.output for found in read(content) if isinstance(found, Framed)]


def problems(content: bytes, most: int = 1 << 20) -> list[str]:
    return [found.problem for found in read(content, most=most) if isinstance(found, Unframed)]


@pytest.mark.parametrize("markers", [TALON, NANOCLAW])
def test_a_frame_is_three_lines_and_there_may_be_any_number(markers: Markers) -> None:
    # T-01
    text = framed(FIRST, markers)
    assert text.splitlines()[0] == markers.start
    assert text.splitlines()[2] == markers.end
    assert text.endswith("\n")
    assert outputs(text.encode() * 3) == [FIRST] * 3


def test_what_stands_outside_frames_is_noise() -> None:
    # T-02
    assert outputs(STREAM) == [FIRST, SECOND]
    assert problems(STREAM) == []


def test_every_way_to_cut_the_stream_in_two_reads_the_same() -> None:
    # T-03
    whole = read(STREAM)
    assert all(read(STREAM, cut) == whole for cut in range(len(STREAM)))
    assert read(STREAM, *range(len(STREAM))) == whole


@given(st.sets(st.integers(0, len(STREAM))))
def test_any_chunks_read_the_same(cuts: set[int]) -> None:
    # T-03
    assert read(STREAM, *cuts) == read(STREAM)


def test_line_ends_may_be_crlf() -> None:
    # T-03
    assert outputs(STREAM.replace(b"\n", b"\r\n")) == [FIRST, SECOND]


@pytest.mark.parametrize("line", [f" {TALON.start}", f"{TALON.start} ", f"x{TALON.start}", f"{TALON.start}x"])
def test_a_marker_is_a_marker_only_as_a_whole_line(line: str) -> None:
    # T-03
    assert outputs(f"{line}\n{{}}\n{TALON.end}\n".encode()) == []


@given(st.text() | st.sampled_from([TALON.start, TALON.end, f"\n{TALON.end}\n", NANOCLAW.start, "-" * 50]))
def test_a_result_that_quotes_a_marker_survives(text: str) -> None:
    # T-04
    said = ContainerOutput(status=Status.SUCCESS, result=text.encode("utf-8", "replace").decode())
    written = framed(said)
    assert outputs(written.encode()) == [said]
    assert written.count("---") == 4  # two in each marker, none between them
    assert written.isascii()


def test_a_frame_of_bad_json_is_told_and_the_next_one_is_read() -> None:
    # T-05
    bad = f"{TALON.start}\n{{nope\n{TALON.end}\n".encode()
    found = read(bad + framed(FIRST).encode())
    assert isinstance(found[0], Unframed)
    assert found[1] == Framed(FIRST)


@pytest.mark.parametrize(
    "body", ["[]", "{}", '{"status":"well"}', '{"status":"error","error":3}', "\udc80", ""]
)
def test_a_frame_that_holds_no_output_says_why(body: str) -> None:
    # T-05
    written = f"{TALON.start}\n{body}\n{TALON.end}\n".encode("utf-8", "surrogateescape")
    assert len(problems(written)) == 1


def test_a_start_inside_a_frame_begins_anew_and_an_end_alone_is_nothing() -> None:
    # T-05
    torn = f'{TALON.end}\n{TALON.start}\n{{"status":\n'.encode()
    assert read(torn + framed(FIRST).encode()) == [Framed(FIRST)]


def test_the_end_of_the_other_dialect_ends_nothing() -> None:
    # T-05
    assert len(problems(f"{TALON.start}\n{{}}\n{NANOCLAW.end}\n".encode())) == 1


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_frame_that_is_too_large_is_dropped_and_memory_stays_small(newline: bytes) -> None:
    # T-05
    large = TALON.start.encode() + b"\n" + (b"x" * 500 + newline) * 10 + b"\n" + TALON.end.encode() + b"\n"
    reader = FrameReader(1000)
    found = []
    for byte in large:
        found += reader.feed(bytes([byte]))
        assert len(reader._line) + len(reader._body) <= 1001
    assert found == [Unframed("a frame has over 1,000 bytes")]
    assert reader.feed(framed(FIRST).encode()) == [Framed(FIRST)]


def test_noise_without_a_line_end_is_not_held() -> None:
    reader = FrameReader()
    reader.feed(b"x" * 1_000_000)
    assert len(reader._line) < 100


def test_an_output_that_ends_inside_a_frame_says_so() -> None:
    # T-05
    assert problems(framed(FIRST).encode()[:50]) == ["the output ended inside a frame"]
    assert read(framed(FIRST).encode()[:-1]) == [Framed(FIRST)]


def test_feeding_a_closed_reader_is_a_mistake() -> None:
    reader = FrameReader()
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.feed(b"")
