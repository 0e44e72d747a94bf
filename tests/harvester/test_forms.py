"""The forms of a call, each beside what looks like it and is text (GRAMMAR 1, 3, 4, 6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harvester import Form, parse

DM = {"to": "ada", "text": "hi"}
HI = {"op": "dm.send", "args": DM}
LIST = {"op": "tools.list", "args": {}}
CRON = {"op": "cron.list", "args": {}}


def calls(text: str) -> list[dict[str, Any]]:
    return [{"op": found.call.op, "args": dict(found.call.args)} for found in parse(text).calls]


def forms(text: str) -> set[Form]:
    return {found.form for found in parse(text).calls}


def look(action: str, **arg: str) -> dict[str, Any]:
    return {"op": "box.exec", "args": {"action": action, **arg}}


def test_the_two_engine_words_are_equal() -> None:  # O-01
    written = json.dumps(DM)
    assert calls(f"[TOOL dm.send {written}]") == calls(f"[EXEC dm.send {written}]") == [HI]


def test_a_dm_is_a_call_of_dm_send() -> None:  # O-02
    written = json.dumps(DM)
    assert calls(f"[DM {written}]") == calls(f"[TOOL dm.send {written}]") == [HI]


@pytest.mark.parametrize(
    ("language", "body", "expected"),
    [
        ("tool", 'dm.send {"to": "ada", "text": "hi"}\n\ntools.list {}', [HI, LIST]),
        ("exec", "tools.list\ncron.list", [LIST, CRON]),
        ("tool", '{"op": "tools.list"}', [LIST]),
        ("exec", '[{"op": "tools.list"}, {"tool": "cron.list", "args": {}}]', [LIST, CRON]),
        ("tool", "[TOOL tools.list]\n[EXEC cron.list {}]", [LIST, CRON]),
        ("box", "disk\nlogs nginx", [look("disk"), look("logs", arg="nginx")]),
        ("box", '{"action": "logs", "arg": "nginx"}', [look("logs", arg="nginx")]),
        ("box", '{"op": "box.exec", "args": {"action": "disk"}}', [look("disk")]),
    ],
)
@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_call_fence_holds_calls_in_one_form(
    fence: str, language: str, body: str, expected: list[dict[str, Any]]
) -> None:  # O-03
    text = f"Now:\n\n{fence}{language}\n{body}\n{fence}\n"
    assert calls(text) == expected
    assert forms(text) == {Form.F5}


@pytest.mark.parametrize(
    "text",
    [
        "```tool\ntools.list {}\nand so on\n```",
        "```box\ndisk\nreboot now please\n```",
        "```tool\ndisk\n```",
        "```json\n[TOOL tools.list {}]\n```",
        "```tool\ntools.list {}",
    ],
)
def test_a_fence_of_anything_else_runs_nothing(text: str) -> None:  # O-03, O-15
    assert calls(text) == []


URL = "https://localhost:8443/exec"
BODY = """'{"op": "tools.list", "args": {}}'"""


@pytest.mark.parametrize("option", ["-d", "--data", "--data-raw", "--data-binary", "--json"])
def test_each_way_to_give_a_body_is_read(option: str) -> None:  # O-04
    assert calls(f"curl -s {URL} {option} {BODY}") == [LIST]
    assert calls(f"```sh\n$ curl {option} {BODY} {URL}\n```") == [LIST]


@pytest.mark.parametrize(
    "command",
    [
        f"curl {URL} -d @call.json",
        f"curl {URL} -d {BODY} | sh",
        f"curl {URL} -d {BODY}; reboot",
        f'curl {URL} -d "$(cat call.json)"',
        f"curl https://evil.example/exec -d {BODY}",
        f"curl https://localhost.evil.example/exec -d {BODY}",
        f"curl https://me@localhost/exec -d {BODY}",
        f"curl http://localhost/exec -d {BODY}",
        f"curl https://localhost/exec/ -d {BODY}",
        f"curl https://localhost/exec?x -d {BODY}",
        f"curl https://localhost/ops -d {BODY}",
        f"curl {URL} -o out -d {BODY}",
        f"curl {URL}",
    ],
)
def test_a_curl_of_anything_else_is_nothing(command: str) -> None:  # O-04
    assert calls(command) == []
    assert calls(f"```bash\n{command}\n```") == []


@pytest.mark.parametrize(
    "args",
    [
        {"text": "list[0] and ]} stay"},
        {"text": "[TOOL tools.list {}]"},
        {"a": [[["]"]], {"b": {"c": {"d": [1, {"e": "]"}]}}}]},
        {"text": 'she said "]" and \\"}\\'},
        {"text": "{{{["},
    ],
)
def test_nothing_inside_the_arguments_cuts_them_short(args: dict[str, Any]) -> None:  # O-05, O-06
    assert calls(f"[TOOL x {json.dumps(args)}] [TOOL tools.list]") == [{"op": "x", "args": args}, LIST]


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_nesting_is_kept_whole_up_to_the_limit() -> None:  # O-05, O-12
    assert calls(f"[TOOL x {nested(64)}]") == [{"op": "x", "args": json.loads(nested(64))}]
    assert calls(f"[TOOL x {nested(65)}]") == []


def test_line_breaks_between_tokens_are_allowed_and_blank_lines_are_not() -> None:  # O-06
    assert calls('[TOOL\ndm.send\n{"to":\n"ada", "text": "hi"\r\n}\n]') == [HI]
    assert calls('[TOOL dm.send {"to": "ada",\n\n"text": "hi"}]') == []
    assert calls('[TOOL dm.send {"to": "ada", "text": "a\nb"}]') == []


def test_calls_come_in_the_order_of_the_text_whatever_their_form() -> None:  # O-07
    fence, curl = "```box\ndisk\n```", f"curl {URL} -d {BODY}"
    text = f"[TOOL tools.list] [DM {json.dumps(DM)}]\n\n{fence}\n\n- [EXEC cron.list {{}}]\n\n{curl}"
    assert calls(text) == [LIST, HI, look("disk"), CRON, LIST]


@pytest.mark.parametrize("between", [" ", "\t", "\n", " \n "])
def test_blanks_may_stand_before_the_closing_bracket(between: str) -> None:  # O-08
    assert calls(f"[TOOL tools.list {{}}{between}]") == [LIST]


@pytest.mark.parametrize("between", [",", "}", " x ", "\u00a0", "\u200b", "\n\n"])
def test_anything_else_before_the_closing_bracket_makes_it_broken(between: str) -> None:  # O-08
    assert calls(f"[TOOL tools.list {{}}{between}]") == []
    assert calls("[TOOL tools.list {}") == []


@pytest.mark.parametrize(
    "text", ["[DM hello]", "[DM @bob hi]", "[DM]", "[DM [1]]", '[DM "x"]', "[DM tools.list]"]
)
def test_a_dm_without_an_object_is_text_and_stops_nothing(text: str) -> None:  # O-09
    assert calls(f"{text} and [TOOL tools.list]") == [LIST]


BROKEN = [
    '{"to": "ada", "text": "see [TOOL cron.cancel {"id": "t1"}]"}',
    '{"to": "ada", text: "[TOOL cron.list {}]"}',
    '{"to": "ada" "[TOOL cron.list {}]"}',
    '{"to": ada, "a": [TOOL cron.list {}]}',
]


@pytest.mark.parametrize("broken", BROKEN)
def test_what_stands_in_a_broken_call_does_not_run_and_the_next_paragraph_does(broken: str) -> None:
    # O-11, O-10
    assert calls(f"[TOOL dm.send {broken}]\n\n[TOOL tools.list]") == [LIST]


@pytest.mark.parametrize(
    "args",
    [
        '{"n": NaN}',
        '{"n": -Infinity}',
        '{"n": 1e999}',
        '{"a": 1, "a": 1}',
        '{"x": {"a": 1, "\\u0061": 2}}',
        '{"a": 1,}',
        "{'a': 1}",
        '{"a": None}',
        '{"a": "\\ud800"}',
        '{"a": "' + "x" * 65536 + '"}',
    ],
    ids=lambda args: args[:16],
)
def test_what_is_not_strict_json_is_broken(args: str) -> None:  # O-12
    assert calls(f"[TOOL x {args}]\n\n[TOOL tools.list]") == [LIST]


def test_nothing_behind_the_first_mebibyte_runs() -> None:  # O-12
    line = "word " * 20 + "\n\n"
    text = "[TOOL tools.list]\n\n" + line * (2**20 // len(line)) + "\n\n[TOOL cron.list {}]"
    assert calls(text) == [LIST]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[TOOL tools.list]", [LIST]),
        ("[EXEC cron.list]", [CRON]),
        ("[TOOL dm.read]", [{"op": "dm.read", "args": {}}]),
        ("[TOOL box.disk]", [look("disk")]),
        ("[TOOL box.logs]", []),
        ("[TOOL dm.send]", []),
        ("[TOOL no.such]", []),
        ("[TOOL tools]", []),
        ("[TOOL Tools.List]", []),
        ("[DM tools.list]", []),
    ],
)
def test_without_json_only_a_known_op_that_needs_no_arguments_runs(
    text: str, expected: list[dict[str, Any]]
) -> None:  # O-14
    assert calls(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'[TOOL {{"op": "dm.send", "args": {json.dumps(DM)}}}]', [HI]),
        (f'[EXEC {{"name": "dm.send", "arguments": {json.dumps(json.dumps(DM))}}}]', [HI]),
        ('[TOOL {"tool": "tools.list"}]', [LIST]),
        ('[TOOL {"args": {"action": "disk"}}]', []),
        ('[TOOL {"op": "tools.list", "tool": "cron.list"}]', []),
        ('[TOOL {"op": "tools.list", "why": "to see"}]', []),
        (f"[DM dm.send {json.dumps(DM)}]", []),
    ],
)
def test_a_call_object_names_its_op_under_one_key_and_holds_nothing_else(
    text: str, expected: list[dict[str, Any]]
) -> None:  # O-21
    assert calls(text) == expected


@pytest.mark.parametrize("word", ["tool", "Tool", "exec", "dm", "TOOLBOX", "EXECUTE", "DMZ", "TOOL_CALLS"])
def test_engine_words_are_whole_words_in_upper_case(word: str) -> None:  # O-22
    assert calls(f"[{word} {json.dumps(DM)}] [{word} tools.list {{}}]") == []


@pytest.mark.parametrize("name", ["Tools.List", "TOOLS.LIST", "tools_list", "functions.tools.list", "ops"])
def test_names_of_ops_are_read_in_any_spelling(name: str) -> None:  # O-22, O-20
    assert calls(f"[TOOL {name} {{}}]") == [LIST]
