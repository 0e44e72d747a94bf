"""The reader's contract: pieces cannot be seen, unknown things are waited for, misuse raises (GRAMMAR 9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvester.dialects import DIALECTS, Completion, Content, NativeCall, Reader, parse
from harvester.errors import ScannerClosed, UnknownDialect

CALL = '<tool_call>{"name": "x", "arguments": {}}</tool_call>'

# Parts of every format, so that chance makes openers, closers and half of both.
PARTS = st.sampled_from(
    [
        *"{}[]()'\"\\,:; \n.x1",
        "<tool_call>",
        "</tool_call>",
        "<function=a>",
        "<parameter=b>",
        "</parameter>",
        "</function>",
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<think>",
        "</think>",
        "<|tool_call>call:a{",
        "<tool_call|>",
        '<|"|>',
        "<|channel>thought",
        "<channel|>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]",
        "<|channel|>",
        "<|message|>",
        "<|start|>assistant",
        "<|end|>",
        " to=functions.a",
        "final",
        "<｜DSML｜tool_calls>",
        '<｜DSML｜invoke name="a">',
        '<｜DSML｜parameter name="b" string="true">',
        "</｜DSML｜parameter>",
        "</｜DSML｜invoke>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|open|>tools<|sep|>",
        '<|open|>call tool="a"<|sep|>',
        '<|open|>argument key="b"<|sep|>',
        "<|close|>argument<|sep|>",
        "<|close|>call<|sep|>",
        "<|python_tag|>",
        '{"name": "a", "parameters": {}}',
        "a(b=1)",
        '<invoke name="a">',
        '<parameter name="b">',
        "</invoke>",
        "Action: a\nAction Input: {}",
        "\ud800",
        "\x00",
    ]
)


def whole(dialect: str, pieces: list[str], prompt: str | None) -> tuple[object, ...]:
    reader = Reader(dialect, generation_prompt=prompt)
    completion = Completion.of([*(one for text in pieces for one in reader.feed(text)), *reader.close()])
    return completion.content, completion.reasoning, completion.calls


@given(
    st.lists(PARTS, max_size=25), st.sampled_from([*DIALECTS, "auto"]), st.sampled_from(["", "<think>", None])
)
def test_pieces_cannot_be_seen(parts, dialect, prompt):
    text = "".join(parts)
    expected = whole(dialect, [text], prompt)
    assert whole(dialect, parts, prompt) == expected
    assert whole(dialect, list(text), prompt) == expected


def test_pieces_come_as_soon_as_they_are_known():
    reader = Reader("qwen3-hermes", generation_prompt="")
    assert reader.feed("Hello ") == [Content("Hello", (0, 5))]
    assert reader.feed("there\n<tool") == [Content(" ", (5, 6)), Content("there", (6, 11))]
    assert reader.feed(f"{CALL[5:]}!") == [NativeCall("x", {}, (12, 12 + len(CALL))), Content("!", (65, 66))]
    assert reader.close() == []


def test_without_the_prompt_nothing_is_said_before_it_is_known_what_is_reasoning():
    reader = Reader("qwen3-hermes")
    assert reader.feed(f"hm {CALL}</think>") == []
    assert reader.feed("Hello") == []
    completion = Completion.of(reader.close())
    assert (completion.content, completion.reasoning, completion.calls) == ("Hello", f"hm {CALL}", ())


def test_a_dialect_without_reasoning_needs_no_prompt_to_speak():
    assert Reader("pythonic").feed("Hello") == [Content("Hello", (0, 5))]


def test_a_reply_that_was_cut_off_before_any_marker_was_cut_off_in_its_reasoning():
    assert parse("I think", dialect="glm", truncated=True).reasoning == "I think"
    assert parse("I think", dialect="glm").content == "I think"
    assert parse("I think", dialect="glm", generation_prompt="", truncated=True).content == "I think"
    assert parse("<think>a</think>b", dialect="glm", truncated=True).content == "b"


def test_a_closed_reader_is_not_used_again():
    reader = Reader("glm")
    reader.close()
    with pytest.raises(ScannerClosed):
        reader.feed("x")
    with pytest.raises(ScannerClosed):
        reader.close()


def test_an_unknown_dialect_is_the_callers_mistake():
    with pytest.raises(UnknownDialect, match="no dialect 'klingon'; there are gpt-oss") as raised:
        parse("x", dialect="klingon")
    assert raised.value.name == "klingon"
    assert set(raised.value.known) == set(DIALECTS)


def test_a_long_call_in_single_characters_is_read_in_one():
    text = f'<tool_call>{{"name": "x", "arguments": {{"a": "{"y" * 20_000}"}}}}</tool_call>'
    assert whole("qwen3-hermes", list(text), "") == whole("qwen3-hermes", [text], "")


def test_tools_may_be_anything_that_names_them():
    tools: list[dict[str, object]] = [
        {"function": {"name": 1}},
        {"function": "x"},
        {"name": "f", "parameters": {"properties": []}},
    ]
    text = "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"
    assert parse(text, dialect="glm", tools=tools).calls[0].arguments == {"a": 1}


def test_a_schema_that_refers_to_itself_gives_its_types_once():
    itself = {"$ref": "#/$defs/a"}
    schemas = {"a": {"anyOf": [itself] * 50 + [{"type": "integer"}]}}
    tools = [{"name": "f", "parameters": {"properties": {"a": itself}, "$defs": schemas}}]
    text = "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"
    assert parse(text, dialect="glm", tools=tools).calls[0].arguments == {"a": 1}
