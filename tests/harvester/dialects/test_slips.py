"""Slips of models that leave no doubt what is meant: a marker once too often or left out, Python for JSON."""

import pytest

from harvester.dialects import parse

THINKING = "<|im_start|>assistant\n<think>\n"
HERMES = '<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>'
XML = "<tool_call>\n<function=list>\n</function>\n</tool_call>"
GLM = "<tool_call>list</tool_call>"
GEMMA = "<|tool_call>call:list{}<tool_call|>"


@pytest.mark.parametrize(
    ("dialect", "call", "closer"),
    [
        ("qwen3-hermes", HERMES, "</tool_call>"),
        ("qwen3-xml", XML, "</tool_call>"),
        ("glm", GLM, "</tool_call>"),
        ("gemma4", GEMMA, "<tool_call|>"),
        ("gemma4", GEMMA, "<|tool_response>"),
    ],
)
def test_a_call_that_is_closed_twice_leaves_no_marker_in_the_text(dialect, call, closer):
    completion = parse(f"{call}\n{closer}{closer}Sent.", dialect=dialect, generation_prompt="")
    assert completion.content == "Sent."
    assert [found.name for found in completion.calls] == ["list"]


@pytest.mark.parametrize("dialect", ["qwen3-hermes", "qwen3-xml", "glm"])
def test_reasoning_that_the_prompt_has_opened_may_be_opened_again(dialect):
    completion = parse("<think>\nI look.\n</think>\n\nHi", dialect=dialect, generation_prompt=THINKING)
    assert (completion.reasoning, completion.content) == ("I look.", "Hi")


ARGUMENTS = "<arg_key>to</arg_key><arg_value>ada</arg_value>"


def names_and_arguments(text, dialect, **rest):
    completion = parse(text, dialect=dialect, generation_prompt="", **rest)
    assert completion.content is None
    return [(call.name, call.arguments) for call in completion.calls]


def test_the_closing_tag_of_glm_may_be_missing_before_the_next_call_only():
    sent = ("send", {"to": "ada"})
    call = f"<tool_call>send{ARGUMENTS}"
    assert names_and_arguments(f"{call}<tool_call>list</tool_call>", "glm") == [sent, ("list", {})]
    for unfinished in (call, f"{call}\n<|observation|>", "<tool_call>send\n", "<tool_call>send\n<tool_call>"):
        assert names_and_arguments(unfinished, "glm") == []


def test_a_stop_token_ends_a_call_that_was_not_closed():
    assert names_and_arguments(HERMES.replace("</tool_call>", "<|im_end|>"), "qwen3-hermes") == [("list", {})]


SEND = [
    {
        "name": "send",
        "parameters": {
            "properties": {
                "to": {"type": "str"},
                "count": {"type": "int"},
                "loud": {"type": "bool"},
                "rows": {"type": "array"},
                "more": {"type": "object"},
                "note": {"type": ["string", "null"]},
            }
        },
    }
]


def xml(**values):
    inside = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function=send>\n{inside}</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"more": "{'k': [1, None], 'ok': True}"}, {"k": [1, None], "ok": True}),
        ({"rows": "['a', {'b': 2.5}]"}, ["a", {"b": 2.5}]),
        ({"rows": "['a', b]"}, "['a', b]"),
        ({"rows": "['a'] + []"}, "['a'] + []"),
        ({"rows": "['a'] ['b']"}, "['a'] ['b']"),
        ({"note": "None"}, None),
        ({"to": "None"}, "None"),
        ({"to": "7"}, "7"),
        ({"count": "7"}, 7),
        ({"loud": "True"}, True),
    ],
)
def test_values_and_types_may_be_written_as_python_has_them(written, value):
    [(_, arguments)] = names_and_arguments(xml(**written), "qwen3-xml", tools=SEND)
    assert list(arguments.values()) == [value]
    assert [type(given) for given in arguments.values()] == [type(value)]


def test_values_on_the_line_of_their_tag_may_be_closed_by_the_next_one():
    text = "<function=send>\n<parameter=to>ada\n<parameter=count>3\n<parameter=loud>true\n</function>"
    sent = ("send", {"to": "ada", "count": 3, "loud": True})
    assert names_and_arguments(text, "qwen3-xml", tools=SEND) == [sent]


def test_the_first_templates_of_gemma_wrote_none_as_python_does():
    text = "<|tool_call>call:send{count:None,rows:[None,True],to:null}<tool_call|>"
    assert names_and_arguments(text, "gemma4") == [
        ("send", {"count": None, "rows": [None, True], "to": None})
    ]


def test_blanks_between_two_messages_of_harmony_are_no_text():
    text = (
        "<|channel|>commentary<|message|>First.<|end|>\n\n<|start|>assistant<|channel|>final<|message|>Then."
    )
    assert parse(text, dialect="gpt-oss", generation_prompt="").content == "First.Then."


def test_kimi_names_its_section_in_the_singular_too():
    call = "<|tool_call_begin|>functions.list:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    text = f"<|tool_call_section_begin|>{call}<|tool_call_section_end|>"
    assert names_and_arguments(text, "kimi") == [("list", {})]


def test_the_end_marker_of_kimi_may_be_missing_where_the_arguments_are_complete():
    begun = "<|tool_call_begin|>functions.{}:{}<|tool_call_argument_begin|>{{}}"
    two = begun.format("list", 0) + begun.format("send", 1)
    section = f"<|tool_calls_section_begin|>{two}<|tool_calls_section_end|>"
    for text in (two, section):
        assert names_and_arguments(text, "kimi") == [("list", {}), ("send", {})]
    assert names_and_arguments(two, "kimi", truncated=True) == [("list", {})]


def test_the_blank_line_before_the_calls_of_deepseek_is_no_thought_either():
    calls = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="list">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'
    for text in (f"I look.\n\n{calls}", f"I look.</think>\n\n{calls}"):
        completion = parse(text, dialect="deepseek", generation_prompt="<think>")
        assert (completion.reasoning, completion.content) == ("I look.", None)
        assert [call.name for call in completion.calls] == ["list"]
    kept = parse(f"I look.\n\n</think>{calls}", dialect="deepseek", generation_prompt="<think>")
    assert kept.reasoning == "I look.\n\n"


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("llama", '{"name": "send", "parameters": {"to": "ada"}}'),
        ("llama", "[send(to='ada')]"),
        ("pythonic", "[send(to='ada')]"),
    ],
)
def test_a_reply_that_begins_with_a_call_may_go_on_in_its_line(dialect, call):
    completion = parse(f"{call} It is sent.", dialect=dialect, tools=SEND, generation_prompt="")
    assert [(found.name, found.arguments) for found in completion.calls] == [("send", {"to": "ada"})]
    assert completion.content == " It is sent."
    for text in (f"I use {call} now.", f"So:\n{call} is it.", f"{call}(there)", f"{call}, then"):
        completion = parse(text, dialect=dialect, tools=SEND, generation_prompt="")
        assert (completion.calls, completion.content) == ((), text)
    assert parse(f"{call} It is sent.", dialect=dialect, generation_prompt="").calls == ()
