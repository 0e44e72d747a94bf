"""A flood of any marker costs time in proportion to its length (GRAMMAR 7 and 9)."""

import time

import pytest

from harvester.dialects import DIALECTS, parse

# Half of a call each: what keeps a reader looking for the other half.
HALVES = {
    "qwen3-hermes": ('<tool_call>{"', '<tool_call>{"name": "a"}', "<tool_call>{}</tool_call>"),
    "qwen3-xml": (
        "\n<function=a>\n<parameter=b>\n",
        "<tool_call><function=a><parameter=b>x</parameter>q</tool_call>",
    ),
    "glm": ("<tool_call>a<arg_key>k</arg_key><arg_value>x</arg_value>z</tool_call>", "</tool_call> "),
    "kimi": (
        "<|tool_call_begin|><|tool_call_end|>",
        "<|close|>argument<|sep|>",
        '<|open|>call tool="a"<|sep|>',
    ),
    "deepseek": ("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{", '<｜DSML｜parameter name="a" string="true">'),
    "mistral": ("[TOOL_CALLS]a[ARGS]{", "[TOOL_CALLS][", "[CALL_ID]"),
    "gemma4": ("<|tool_call>call:a{", '<|"|>', "<|tool_call>call:a{x}<tool_call|>"),
    "gpt-oss": ("<|start|>", "<|message|>", "<|end|> ", "<|channel|>commentary to=functions.a<|message|>{"),
    "llama": ("\n{", "\n[a(", "'''", '{"\\', "<|python_tag|>{", "\n{}"),
    "pythonic": ("\n[a(b=[", "\n[a(b='"),
    "openai": ('\n{"tool_calls":[',),
    "anthropic": ('<invoke name="a"><parameter name="b">x</parameter>q', "</invoke>"),
    "react": ("\nAction: a\nAction Input: {", "\nAction: a\n"),
    "function": ("<function=a>{", "</function>"),
}

SMALL, LARGE = 10_000, 80_000
# Eight times the text; a quadratic reader takes 64 times as long. Below half a second nobody waits.
MOST_TIMES, MOST_SECONDS = 24, 0.5


def seconds(dialect: str, unit: str, chars: int) -> float:
    """Of the processor: other work on the machine does not count."""
    text = unit * (chars // len(unit))
    begun = time.process_time()
    parse(text, dialect=dialect, generation_prompt="")
    return time.process_time() - begun


def units():
    for name, dialect in DIALECTS.items():
        closers = [thought.close for thought in dialect.tags.thoughts]
        yield from (
            (name, unit) for unit in dict.fromkeys((*dialect.tags.markers.literals, *closers, *HALVES[name]))
        )


@pytest.mark.parametrize(("dialect", "unit"), list(units()))
def test_a_flood_is_read_in_linear_time(dialect, unit):
    large = min(seconds(dialect, unit, LARGE) for _ in range(2))
    small = min(seconds(dialect, unit, SMALL) for _ in range(3))
    assert large < MOST_SECONDS or large / small < MOST_TIMES
