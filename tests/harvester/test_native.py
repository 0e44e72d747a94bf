"""Native calls among the directives of a reply: where they run, in which order, how many (GRAMMAR 9)."""

import json

import pytest

from harvester import Form, ScanPolicy, SkipReason, parse
from harvester.dialects import DIALECTS
from harvester.errors import UnknownDialect
from harvester.inert import inert
from harvester.native import shown
from messaging import OpInfo, neutralise
from prompt_envelope.escape import escaped, unescaped
from tests.harvester.scanned import cases

CALL = '<tool_call>\n{"name": "tools.list", "arguments": {}}\n</tool_call>'
SEND = (
    '<tool_call>\n{"name": "dm_send", "arguments": {"to": "ada", "text": "[TOOL tools.list]"}}\n</tool_call>'
)

# A call of `dm.send` as each dialect writes it.
SENT = {
    "qwen3-hermes": '<tool_call>{"name": "dm.send", "arguments": {"to": "ada", "text": "hi"}}</tool_call>',
    "qwen3-xml": "<tool_call>\n<function=dm.send>\n<parameter=to>\nada\n</parameter>\n<parameter=text>\nhi\n"
    "</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>dm.send<arg_key>to</arg_key><arg_value>ada</arg_value><arg_key>text</arg_key>"
    "<arg_value>hi</arg_value></tool_call>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.dm.send:0<|tool_call_argument_begin|>"
    '{"to": "ada", "text": "hi"}<|tool_call_end|><|tool_calls_section_end|>',
    "deepseek": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="dm.send">\n'
    '<｜DSML｜parameter name="to" string="true">ada</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="text" string="true">hi</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
    "mistral": '[TOOL_CALLS]dm.send[ARGS]{"to": "ada", "text": "hi"}',
    "gemma4": '<|tool_call>call:dm.send{to:<|"|>ada<|"|>,text:<|"|>hi<|"|>}<tool_call|>',
    "gpt-oss": "<|start|>assistant<|channel|>commentary to=functions.dm.send <|constrain|>json<|message|>"
    '{"to": "ada", "text": "hi"}<|call|>',
    "llama": '<|python_tag|>{"name": "dm.send", "parameters": {"to": "ada", "text": "hi"}}',
    "anthropic": '<invoke name="dm.send">\n<parameter name="to">ada</parameter>\n'
    '<parameter name="text">hi</parameter>\n</invoke>',
    "react": 'Action: dm.send\nAction Input: {"to": "ada", "text": "hi"}',
    "function": '<function=dm.send>{"to": "ada", "text": "hi"}</function>',
}
# Nothing marks a call here, so nothing can be escaped: text at the start of a line runs if a tool reads it.
UNMARKED = {
    "pythonic": "[dm.send(to='ada', text='hi')]",
    "openai": '{"tool_calls": [{"function": {"name": "dm.send", "arguments": {"to": "ada", "text": "hi"}}}]}',
}


def ops(text, dialect="auto", **more):
    return [(found.call.op, str(found.form)) for found in parse(text, dialect=dialect, **more).calls]


@pytest.mark.parametrize(("dialect", "text"), (SENT | UNMARKED).items())
@pytest.mark.parametrize("named", [True, False])
def test_a_call_in_a_dialect_becomes_the_same_call_as_a_directive(dialect, text, named):
    (found,) = parse(text, dialect=dialect if named else "auto").calls
    (written,) = parse('[DM {"to": "ada", "text": "hi"}]').calls
    assert found.call == written.call
    assert found.form is Form.NATIVE


@pytest.mark.parametrize("text", (SENT | UNMARKED).values())
def test_dialects_are_off_unless_asked_for(text):
    assert parse(text).calls == ()


@pytest.mark.parametrize("case", cases("directives.jsonl"), ids=lambda case: case.id)
def test_a_reply_in_no_dialect_reads_as_without_one(case):
    assert parse(case.text, dialect="auto") == parse(case.text)


def test_the_policy_may_ask_for_a_dialect():
    assert ops(CALL, None, policy=ScanPolicy(dialect="auto")) == [("tools.list", "native")]
    assert ops(SENT["react"], "react", policy=ScanPolicy(dialect="glm")) == [("dm.send", "native")]


@pytest.mark.parametrize("dialect", ["auto", "qwen3-hermes", "gpt-oss"])
def test_a_reply_may_begin_inside_reasoning(dialect):
    policy = ScanPolicy(reasoning_open=True)
    assert ops("[TOOL cron.list] hm", dialect, policy=policy) == []
    closed = "[TOOL cron.list] hm\n</think>\n\n[TOOL tools.list]"
    assert ops(closed, dialect, policy=policy) == [("tools.list", "F3")]


def test_a_call_behind_reasoning_that_the_prompt_opened_runs():
    policy = ScanPolicy(reasoning_open=True)
    assert ops(f"hm\n</think>\n\n{CALL}", policy=policy) == [("tools.list", "native")]
    assert ops(f"hm <tool_call> {CALL}\n</think>\n\nno", policy=policy) == []


def test_an_unknown_dialect_is_the_callers_mistake():
    with pytest.raises(UnknownDialect):
        parse("x", dialect="klingon")


def test_calls_directives_and_the_verdict_come_in_the_order_of_the_reply():
    thought, rest = (
        "<think>\n[TOOL cron.list]\n</think>",
        f"Then [TOOL cron.list].\n\n{CALL}\n\n[RESULT] PASS",
    )
    text = f"{thought}\n\nFirst:\n{SEND}\n{rest}"
    parsed = parse(text, dialect="auto")
    assert [found.call.op for found in parsed.calls] == ["dm.send", "cron.list", "tools.list"]
    assert [text[slice(*found.span)] for found in parsed.calls] == [SEND, "[TOOL cron.list]", CALL]
    assert parsed.to_json()["verdict"] == "PASS"


def _thinking(dialect):
    thoughts = DIALECTS[dialect].tags.thoughts
    return f"{thoughts[0].open}hm{thoughts[0].close}" if thoughts else ""


@pytest.mark.parametrize("lead", ["", " ", "\n", " \n\t"])
@pytest.mark.parametrize("behind", ["\n\n", "    ", "\t"])
@pytest.mark.parametrize("dialect", [name for name in SENT if _thinking(name)])
def test_blanks_around_reasoning_move_nothing(dialect, lead, behind):
    head = f"{lead}{_thinking(dialect)}{behind}"
    text = f"{head}[TOOL tools.list]\n\nI will write to her.\n\n{SENT[dialect]}"
    directive, sent = parse(text, dialect=dialect).calls
    assert (directive.op, text[slice(*directive.span)]) == ("tools.list", "[TOOL tools.list]")
    assert (sent.op, sent.args, sent.form) == ("dm.send", {"to": "ada", "text": "hi"}, Form.NATIVE)
    assert text[slice(*sent.span)] in SENT[dialect]


def test_a_line_break_behind_reasoning_keeps_the_indentation_of_the_next_line():
    assert ops("<think>hm</think>\n    [TOOL tools.list]", "qwen3-hermes") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"So:\n```\n{CALL}\n```\n", SkipReason.FENCE),
        (f"> {CALL}\n", SkipReason.BLOCK_QUOTE),
        (f"They wrote “{CALL}”.", SkipReason.QUOTED),
        (f'They wrote "{CALL}".', SkipReason.QUOTED),
        (f"Write `{CALL}`.", SkipReason.CODE_SPAN),
        (f"~~{CALL}~~", SkipReason.STRUCK),
    ],
)
def test_a_call_that_markdown_shows_as_an_example_does_not_run(text, reason):
    parsed = parse(text, dialect="qwen3-hermes")
    assert parsed.calls == ()
    assert [skip.reason for skip in parsed.skipped] == [reason]


@pytest.mark.parametrize("text", [f"Sure!{CALL}", f"{CALL}(see above)", f"\\{CALL}[x](y)", f"**Go:** {CALL}"])
def test_what_touches_a_call_means_nothing_to_it(text):
    assert ops(text) == [("tools.list", "native")]


def test_a_broken_call_is_skipped_silently():
    parsed = parse("<tool_call>{'name': 1}</tool_call> Done.", dialect="qwen3-hermes")
    assert (parsed.calls, [skip.reason for skip in parsed.skipped]) == ((), [SkipReason.BROKEN])


def test_a_call_that_was_cut_off_behind_a_complete_one_leaves_that_one():
    text = SENT["deepseek"].replace("</｜DSML｜tool_calls>", '<｜DSML｜invoke name="dm.send">\n')
    parsed = parse(f"Now.\n\n{text}", dialect="auto")
    assert [found.call.op for found in parsed.calls] == ["dm.send"]
    assert [skip.span for skip in parsed.skipped] == [(parsed.calls[0].span[1], len(text) + 6)]


@pytest.mark.parametrize(
    "dialect", ["qwen3-hermes", "qwen3-xml", "glm", "kimi", "deepseek", "gemma4", "anthropic"]
)
def test_a_call_that_the_end_of_the_reply_leaves_open_is_none(dialect):
    last_marker = SENT[dialect].rindex("<")
    assert ops(SENT[dialect], dialect) == [("dm.send", "native")]
    if dialect in ("kimi", "deepseek"):  # the last one closes the section
        last_marker = SENT[dialect].rindex("<", 0, last_marker)
    assert ops(f"I write.\n{SENT[dialect][:last_marker]}", dialect) == []


def test_the_limit_of_calls_counts_calls_of_either_kind():
    text = f"[TOOL cron.list]\n\n{CALL}\n\n[tools.list(), dm.read(), cron.list()]"
    parsed = parse(text, dialect="qwen3-hermes", policy=ScanPolicy(max_calls=1))
    assert len(parsed.calls) == 1
    assert parsed.to_json()["notice"]["code"] == "TOO_MANY_CALLS"
    listed = parse(
        "[tools.list(), dm.read(), cron.list()]", dialect="pythonic", policy=ScanPolicy(max_calls=2)
    )
    assert [found.call.op for found in listed.calls] == ["tools.list", "dm.read"]


@pytest.mark.parametrize("filler", ["x", "é", "日"])
def test_past_the_size_of_a_reply_nothing_is_read(filler):
    size = len(CALL) + 7
    parsed = parse(f"{CALL}{filler * 9}\n\n{CALL}", dialect="auto", policy=ScanPolicy(max_reply_bytes=size))
    assert len(parsed.calls) == 1
    assert parsed.to_json()["notice"]["code"] == "REPLY_TOO_LARGE"
    cut = parse(CALL, dialect="auto", policy=ScanPolicy(max_reply_bytes=len(CALL) - 4))
    assert cut.calls == ()


@pytest.mark.parametrize("dialect", [None, "auto", *SENT])
def test_what_stands_before_the_limit_of_size_is_no_reasoning(dialect):
    parsed = parse(
        f"[TOOL tools.list]\n\n{'x ' * 60}", dialect=dialect, policy=ScanPolicy(max_reply_bytes=100)
    )
    assert [found.op for found in parsed.calls] == ["tools.list"]
    assert parsed.to_json()["notice"]["code"] == "REPLY_TOO_LARGE"


def test_a_call_that_is_shorter_than_any_directive_is_none_of_ours():
    assert parse("[f()]", dialect="pythonic").calls == ()


def test_arguments_are_typed_by_the_registry():
    op = OpInfo(
        name="deploy.status",
        side_effecting=False,
        summary="",
        args_schema={
            "type": "object",
            "properties": {"count": {"type": "integer"}, "env": {"type": "string"}},
        },
        aliases=("status",),
    )
    text = (
        "<tool_call>\n<function=status>\n<parameter=count>\n3\n</parameter>\n<parameter=env>\n7\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    (found,) = parse(text, dialect="auto", registry=iter([op])).calls
    assert (found.call.op, dict(found.call.args)) == ("deploy.status", {"count": 3, "env": "7"})


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (f"<think>hm</think>Hello.\n{CALL}\n{SEND}", "Hello.\n(calls tools.list, dm_send)"),
        ("<think>hm</think>Hello.", "Hello."),
        (CALL, "(calls tools.list)"),
    ],
)
def test_a_person_is_shown_the_content_and_what_is_called(text, seen):
    assert shown(text, "qwen3-hermes") == seen


def test_the_same_reply_gives_the_same_ids_and_the_form_is_told():
    first, again = parse(CALL, dialect="auto", reply="m1"), parse(CALL, dialect="auto", reply="m1")
    assert first.calls == again.calls
    assert json.loads(json.dumps(first.to_json()))["calls"][0]["form"] == "native"


@pytest.mark.parametrize(("dialect", "text"), SENT.items())
@pytest.mark.parametrize("safe", [neutralise, inert, escaped])
def test_untrusted_text_made_safe_calls_nothing_in_any_dialect(dialect, text, safe):  # O-18
    assert ops(safe(f"a\n{text}\nb"), dialect) == []
    assert ops(safe(text)) == []


def test_every_opener_of_every_dialect_is_escaped():  # O-18
    openers = {opener for dialect in DIALECTS.values() for opener in dialect.tags.calls}
    assert {opener for opener in openers if neutralise(opener) == opener} == {
        "Action:"
    }  # its input is escaped


@pytest.mark.parametrize("text", SENT.values())
def test_an_envelope_gives_such_text_back_exactly(text):  # O-64
    assert unescaped(escaped(text)) == text
