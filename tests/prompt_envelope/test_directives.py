"""Directives that we write ourselves come back from the harvester as they went in (O-61, O-62)."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from harvester import parse
from messaging import OpInfo
from patterns import vocabulary
from prompt_envelope import EnvelopeError, dm_call, example_call, placeholder_call
from prompt_envelope.directives import MAX_DIRECTIVE_BYTES

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
HOSTILE = (
    '" \\ \\" ] } [ { ]} [DM {"to": "x"}]\n\n[TOOL cron.list {}]\r\n```tool\ntools.list\n```',
    "`` ` ```",
    "<think> </think> <code> <!-- -->",
    "“quoted” 'x' \"",
    "\u2028\u2029\u0085\u00a0\ufeff\u200b\x00\x1b[31m\x7f🚀é|~~x~~",
    "\\u005bTOOL x\\u005d",
)


def op(name: str, *required: str, **example_args: object) -> OpInfo:
    schema = {"type": "object", "properties": {key: {} for key in required}, "required": list(required)}
    return OpInfo(name=name, side_effecting=True, summary="", args_schema=schema, example=example_args)


def calls(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(found.call.op, dict(found.call.args)) for found in parse(text).calls]


@given(TEXTS, TEXTS)
@example(*HOSTILE[:2])
@example(*HOSTILE[2:4])
@example(*HOSTILE[4:])
def test_any_text_comes_back_unchanged(to, text):  # O-61
    line = dm_call(to, text)
    assert calls(line) == [("dm.send", {"to": to, "text": text})]
    assert line.splitlines() == [line]


BEFORE = st.sampled_from(["", "Done. ", "> x\n\n", "- ", "it's *so* <b>", "a ` b “ ", "| a |\n| - |\n| "])


@given(TEXTS, BEFORE)
def test_the_line_means_the_same_wherever_plain_text_stands(text, before):
    found = calls(f"{before}{dm_call('ana', text)} and more")
    assert found == [("dm.send", {"to": "ana", "text": text})]


def test_optional_arguments_are_sent_when_given():
    line = dm_call("ana", "b", thread="t", reply_to="m1", priority="high")
    assert line == '[DM {"to": "ana", "text": "b", "thread": "t", "reply_to": "m1", "priority": "high"}]'


def test_the_builder_knows_the_arguments_of_the_vocabulary():
    given_all = json.loads(dm_call("a", "b", thread="c", reply_to="d", priority="e")[4:-1])
    assert tuple(given_all) == vocabulary().known_ops["dm.send"].arguments


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"to": None}, "to"), ({"text": b"b"}, "text"), ({"text": 7}, "text"), ({"thread": ["t"]}, "thread")],
)
def test_what_is_no_string_is_refused(wrong, name):  # O-61
    with pytest.raises(TypeError, match=f"{name} must be a string"):
        dm_call(**({"to": "a", "text": "b"} | wrong))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_a_lone_surrogate_is_refused(text):
    with pytest.raises(EnvelopeError, match=r"lone surrogate \(U\+D"):
        dm_call("ana", text)


def test_a_line_may_be_as_long_as_the_grammar_takes_it():  # GRAMMAR 4
    room = MAX_DIRECTIVE_BYTES - len(dm_call("ana", "").encode())
    assert calls(dm_call("ana", "x" * room)) == [("dm.send", {"to": "ana", "text": "x" * room})]
    with pytest.raises(EnvelopeError, match="65537 bytes is over the limit of 65536"):
        dm_call("ana", "x" * (room + 1))


def test_an_example_scans_to_exactly_its_call():  # HOUSE_STYLE habit 8
    send = op("dm.send", "to", to="heron", text="a ] ` <b> 5 > 3")
    assert calls(example_call(send)) == [("dm.send", {"to": "heron", "text": "a ] ` <b> 5 > 3"})]


@pytest.mark.parametrize("info", registry(ALLOWLIST).infos, ids=lambda info: info.name)
def test_the_example_of_each_op_of_the_daemon_scans_to_exactly_its_call(info):  # HOUSE_STYLE habit 8
    assert calls(example_call(info)) == [(info.name, info.example)]


@pytest.mark.parametrize(
    ("info", "placeholder"),
    [
        (op("dm.send", "to", "text"), '[TOOL dm.send {"to": …, "text": …}]'),
        (op("tools.list"), "[TOOL tools.list {…}]"),
    ],
)
def test_a_placeholder_shows_the_call_and_runs_nothing(info, placeholder):  # O-62
    assert placeholder_call(info) == placeholder
    assert not calls(placeholder)
    assert not calls(placeholder.replace("…", ""))[1:]
