"""A native call that Markdown shows as an example does not run, in whichever dialect (GRAMMAR 1 and 9)."""

import pytest

from harvester import parse
from tests.harvester.test_native import SENT, UNMARKED

K3 = (
    '<|open|>tools<|sep|><|open|>call tool="dm.send" index="1"<|sep|>'
    '<|open|>argument key="to" type="string"<|sep|>ada<|close|>argument<|sep|>'
    '<|open|>argument key="text" type="string"<|sep|>hi<|close|>argument<|sep|>'
    "<|close|>call<|sep|><|close|>tools<|sep|>"
)
V3 = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>dm.send<｜tool▁sep｜>"
    '{"to": "ada", "text": "hi"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
INVOKES = f"<function_calls>\n{SENT['anthropic']}\n</function_calls>"
TEXTS = [
    *(SENT | UNMARKED).items(),
    ("kimi", K3),
    ("deepseek", V3),
    ("anthropic", INVOKES),
    ("llama", "[dm.send(to='ada', text='hi')]"),
]


def every_line(begin, text):
    return "\n".join(begin + line for line in text.split("\n"))


EXAMPLES = {
    "a quotation": lambda text: every_line("> ", text),
    "a quotation behind text": lambda text: f"They wrote:\n{every_line('> ', text)}\n\nI did not.",
    "a quotation in a quotation": lambda text: every_line("> > ", text),
    "a quotation in a list": lambda text: "- so:\n" + every_line("  > ", text),
    "a line of a quotation": lambda text: f"> see {text.replace(chr(10), ' ')} there",
    "what goes on with a quotation": lambda text: f"> They wrote:\n{text}",
    "a fence": lambda text: f"```\n{text}\n```",
    "code": lambda text: every_line("    ", text),
    "a code span": lambda text: f"`{text.replace(chr(10), ' ')}`",
    "a code span over lines": lambda text: f"`so\n{text.replace(chr(10), ' ')}\nthen`",
    "an element of code": lambda text: f"<code>{text.replace(chr(10), ' ')}</code>",
}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize(("dialect", "text"), TEXTS)
@pytest.mark.parametrize("named", [True, False])
def test_an_example_of_a_call_does_not_run(dialect, text, named, example):
    assert parse(EXAMPLES[example](text), dialect=dialect if named else "auto").calls == ()


@pytest.mark.parametrize(("dialect", "text"), TEXTS)
def test_behind_a_paragraph_or_a_quotation_that_has_ended_a_call_runs(dialect, text):
    for before in ("I send it.\n\n", "> They asked.\n\n", "```\nx\n```\n\n"):
        assert len(parse(before + text, dialect=dialect).calls) == 1, before


@pytest.mark.parametrize("marker", ["<|tool_calls_section_end|>", "<|close|>response<|sep|>"])
def test_a_marker_that_means_nothing_there_ends_no_quotation(marker):
    text = f"> They wrote {marker} [TOOL tools.list]"
    assert parse(text, dialect="kimi").calls == ()


def test_a_message_of_harmony_is_not_in_the_paragraph_of_the_one_before_it():
    text = (
        "<|channel|>commentary<|message|>`so<|end|><|start|>assistant"
        "<|channel|>final<|message|>[TOOL tools.list]"
    )
    assert len(parse(text, dialect="gpt-oss").calls) == 1


@pytest.mark.parametrize("marker", ["<|tool_calls_section_end|>", "<|im_end|>", "<|open|>response<|sep|>"])
def test_a_reply_of_nothing_but_a_marker_is_nothing(marker):
    assert parse(marker, dialect="kimi").calls == ()
    assert parse(marker * 3, dialect="auto").calls == ()


@pytest.mark.parametrize("dialect", ["glm", "kimi", "qwen3-hermes"])
def test_a_quoted_mark_that_ends_reasoning_does_not_end_the_quotation(dialect):
    for behind in (SENT[dialect], "[TOOL tools.list]"):
        for before in ("> ", "I think.\n> ", "I think.\n\n  > so "):
            assert parse(f"{before}They</think>{behind}", dialect=dialect).calls == ()
        assert len(parse(f"> They\n\nwrote.</think>{behind}", dialect=dialect).calls) == 1
