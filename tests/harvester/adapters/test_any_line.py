"""No line makes an adapter raise, and nobody can see how the bytes were cut (A-01)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvester.adapters import ADAPTERS, LineReader, Listener
from tests.harvester.adapters._streams import CASES, events_of, lines_of, read_in_chunks

RECORDED = sorted(path.name for path in CASES.iterdir() if path.suffix in {".jsonl", ".txt"})
OBJECTS = [
    found
    for name in RECORDED
    for line in lines_of(name)
    if line.startswith("{") and line.endswith("}") and isinstance(found := json.loads(line), dict)
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def spoilt(draw: st.DrawFn) -> str:
    """A recorded line in which some values, at any depth, are others: the field is there, its type is not."""
    value = json.loads(json.dumps(draw(st.sampled_from(OBJECTS))))
    for _ in range(draw(st.integers(1, 3))):
        place = value
        while True:
            key = draw(st.sampled_from(sorted(place))) if place else "type"
            if not isinstance(place.get(key), dict) or draw(st.booleans()):
                break
            place = place[key]
        place[key] = draw(VALUES)
    return json.dumps(value)


@pytest.mark.parametrize("name", sorted(ADAPTERS))
@settings(max_examples=80)
@given(line=st.text() | st.from_regex(r"\{.*\}") | spoilt())
def test_no_line_makes_an_adapter_or_the_listener_raise(name: str, line: str) -> None:
    #
    listener = Listener()
    for event in ADAPTERS[name].read(line):
        listener.feed(event)
        json.dumps(event.payload(), allow_nan=False)
    assert listener.heard.text is None or listener.heard.text.encode("utf-8")


@pytest.mark.parametrize("name", sorted(ADAPTERS))
@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        '{"type":' * 100_000,
        '{"type":"result","total_cost_usd":' + "9" * 5000 + "}",
        '{"type":"result","total_cost_usd":1e999,"usage":{"input_tokens":-1}}',
        '{"type":"result","total_cost_usd":NaN,"usage":[]}',
        '{"type":["result"]}',
        '{"type":"assistant","message":{"content":[{"type":"tool_use","input":[NaN,-Infinity,1e999]}]}}',
        '{"role":{},"type":null}',
        "\ufeff{}",
        "\x00",
        "",
    ],
    ids=range(11),
)
def test_hostile_lines_are_kept_raw_or_say_nothing(name: str, line: str) -> None:
    #
    for event in ADAPTERS[name].read(line):
        json.dumps(event.payload(), allow_nan=False)


def test_half_an_emoji_becomes_a_replacement_character() -> None:
    # what is posted has to be UTF-8
    [event] = ADAPTERS["kimi"].read('{"role":"assistant","content":"ok \\ud83d"}')
    assert event.payload()["text"] == "ok \ufffd"


@pytest.mark.parametrize("name", RECORDED)
def test_every_two_way_split_of_a_recorded_stream_gives_the_same_events(name: str) -> None:
    raw, adapter = (CASES / name).read_bytes(), name.partition("_")[0]
    adapter = adapter if adapter in ADAPTERS else "claude"
    whole = LineReader()
    lines = whole.feed(raw) + whole.close()
    assert read_in_chunks(adapter, [raw]) == events_of(adapter, lines)
    for at in range(len(raw) + 1):
        reader = LineReader()
        assert reader.feed(raw[:at]) + reader.feed(raw[at:]) + reader.close() == lines


@given(
    chunks=st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"\r\n", "ß€😀".encode()]), max_size=12)
)
def test_no_partition_of_the_bytes_changes_the_lines(chunks: list[bytes]) -> None:
    raw = b"".join(chunks)
    reader, whole = LineReader(), LineReader()
    pieces = [line for chunk in chunks for line in reader.feed(chunk)] + reader.close()
    assert pieces == whole.feed(raw) + whole.close()


def test_a_line_without_an_end_is_kept_up_to_its_limit() -> None:
    reader = LineReader(max_line_bytes=10)
    assert [line for _ in range(1000) for line in reader.feed(b"x" * 100)] == []
    assert reader.feed(b"tail\nnext\n") == ["x" * 10, "next"]


def test_a_line_that_was_torn_by_a_death_comes_out_at_the_end() -> None:
    reader = LineReader()
    assert reader.feed(b'{"type":"resu') == []
    assert reader.close() == ['{"type":"resu']
    with pytest.raises(ValueError, match="closed"):
        reader.feed(b"more")
