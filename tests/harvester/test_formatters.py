"""How results and errors read, op by op."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvester.formatters import FORMATTERS, failure, formatted
from messaging import Call, ErrorCode, OpInfo, error

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)

DM = OpInfo(
    name="dm.send",
    side_effecting=True,
    summary="Send a message.",
    args_schema={
        "required": ["to", "text"],
        "properties": {
            "to": {"type": "string", "description": "name of a registered agent"},
            "text": {"type": "string"},
            "thread": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "priority": {"enum": ["low", "high"]},
            "extra": True,
        },
    },
    example={"to": "heron", "text": "done"},
)
BOX = OpInfo(
    name="box.exec",
    side_effecting=False,
    summary="Look.",
    args_schema={"required": ["action"], "properties": {"action": {}}},
    example={"action": "disk"},
    actions=(("disk", None), ("logs", "unit")),
)


def text(op: str, data: Any) -> list[str]:
    return formatted(op, data).split("\n")


def test_a_list_of_objects_is_a_table_with_a_column_for_every_key() -> None:
    # O-19
    mounts = [{"mount": "/", "used": 91.5}, {"mount": "/srv", "ro": True}]
    data = {"action": "disk", "host": "kite", "at": "2026-01-01T00:00:00Z", "data": {"mounts": mounts}}
    assert text("box.exec", data) == [
        "kite, 2026-01-01T00:00:00Z",
        "mounts:",
        "  mount  used  ro",
        "  /      91.5",
        "  /srv         yes",
    ]


def test_lines_of_a_log_stand_as_they_are_behind_their_unit() -> None:
    data = {"data": {"unit": "nginx", "lines": ["a  b", "c"]}, "truncated": True, "notes": ["no journal"]}
    assert text("box.exec", data) == [
        "unit: nginx",
        "a  b",
        "c",
        "(the box left out more)",
        "note: no journal",
    ]


def test_a_missing_subsystem_is_said_in_words() -> None:
    # O-45
    absent = {"data": {"available": False, "unit": "nginx"}, "notes": ["no journal here"]}
    assert text("box.exec", absent) == ["not available on this box", "unit: nginx", "note: no journal here"]
    assert text("box.exec", {"data": {"available": True, "n": 1}}) == ["n: 1"]


def test_a_note_may_be_a_single_text() -> None:
    assert text("box.exec", {"data": "x", "notes": "slow"}) == ["x", "note: slow"]


def test_objects_are_key_and_value_and_short_parts_stay_on_the_line_of_their_key() -> None:
    data = {"load": {"1m": 0.5, "5m": 12.0}, "tags": ["a", "b"], "none": [], "text": "x\ny", "up": None}
    assert text("x.y", data) == [
        "load: 1m 0.5, 5m 12",
        "tags: a, b",
        "none: none",
        "text:",
        "  x",
        "  y",
        "up: -",
    ]


def test_what_nests_deep_is_json_on_one_line() -> None:
    data = {"a": {"b": {"c": {"d": {"e": [1]}}}}}
    assert text("x.y", data)[-1].strip() == '{"e": [1]}'


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0"), (1023, "1023"), (1024, "1 KiB"), (83836108800, "78.1 GiB"), (2**63, "8192 PiB")],
)
def test_bytes_are_told_in_the_unit_that_reads_best(size: int, shown: str) -> None:
    assert text("x.y", {"free_bytes": size, "n": {"a_bytes": size}}) == [
        f"free_bytes: {shown}",
        f"n: a_bytes {shown}",
    ]
    assert text("x.y", [{"free_bytes": size}]) == ["free_bytes", shown]


def test_a_list_of_mixed_values_has_one_after_the_other() -> None:
    assert text("x.y", [1, [2, 3], {"k": 4}]) == ["1", "2", "3", "k: 4"]


def test_a_cell_is_one_clipped_line() -> None:
    line = text("x.y", [{"k": "a\nb" + "c" * 80}])[1]
    assert len(line) == 48
    assert line.startswith("a bc")
    assert line.endswith("…")


def test_tools_are_a_line_each_with_flag_and_arguments() -> None:
    # O-50, O-53
    data = {"ops": [DM.to_json(), BOX.to_json()], "allowed_for_you": ["box.exec"]}
    assert text("tools.list", data) == [
        "dm.send  effect (not for you)  to, text [thread, priority, extra]  Send a message.",
        "box.exec  read  action  Look.",
        "  actions: disk, logs (unit)",
    ]


def test_brief_tools_have_no_arguments_to_show() -> None:
    data = {"ops": [{"op": "x.y", "side_effecting": False, "summary": "S.", "actions": ["disk"]}]}
    assert text("tools.list", data) == ["x.y  read  S.", "  actions: disk"]


def test_a_sent_message_says_where_it_went() -> None:
    data = {"message_id": "msg_1", "thread": "ada", "to": "ada", "delivered": True}
    assert text("dm.send", data) == ["delivered to ada, thread ada, message msg_1"]


def test_received_messages_are_indented_below_their_author() -> None:
    one = {"seq": 4, "author": "ada", "created_at": "T", "id": "m4", "body": "hi\nthere"}
    data = {"thread": "heron", "last_seq": 4, "messages": [one]}
    assert text("dm.read", data) == [
        "thread heron, last seq 4, 1 shown",
        "seq 4, from ada, T, id m4",
        "  hi",
        "  there",
    ]


@pytest.mark.parametrize(
    ("end", "lines"),
    [
        ({"state": "succeeded", "result": {"n": 1}, "duration_ms": 5.0}, ["result: n 1"]),
        ({"state": "failed", "error": {"code": "BUSY"}, "duration_ms": 5.0}, ["error: code BUSY"]),
        ({"state": "running"}, []),
    ],
)
def test_a_job_shows_its_head_arguments_and_end(end: dict[str, Any], lines: list[str]) -> None:
    data = {"id": "j1", "op": "dm.read", "args": {"limit": 1}, "created_at": "T", **end}
    ran = ", 5 ms" if "duration_ms" in end else ""
    assert text("job.get", data) == [
        f"j1: dm.read {end['state']}{ran}, started T",
        'args: {"limit": 1}',
        *lines,
    ]


def test_a_job_without_arguments_has_no_line_for_them() -> None:
    assert text("job.get", {"id": "j1", "op": "x", "state": "running", "args": {}}) == [
        "j1: x running, started None"
    ]


@given(op=st.sampled_from([*FORMATTERS, "other.op"]), data=JSON)
def test_data_of_any_shape_is_shown_and_never_an_error(op: str, data: Any) -> None:
    assert isinstance(formatted(op, data), str)


@pytest.mark.parametrize("op", FORMATTERS)
@given(inner=JSON)
def test_the_expected_keys_may_hold_anything(op: str, inner: Any) -> None:
    keys = ("data", "ops", "messages", "id", "op", "state", "to", "thread", "message_id", "args", "notes")
    assert isinstance(formatted(op, dict.fromkeys(keys, inner)), str)


def hint(code: ErrorCode, call: Call, **details: Any) -> list[str]:
    return failure(error(code, "no.", details=details), call, [BOX, DM]).split("\n")


def test_an_unknown_op_names_near_ones_their_arguments_and_all_there_are() -> None:
    # O-13, O-19
    lines = hint(ErrorCode.UNKNOWN_OP, Call("dm.sned"))
    assert lines[:3] == [
        "UNKNOWN_OP: no.",
        "near: dm.send",
        "dm.send takes: to, text [thread, priority, extra]",
    ]
    assert lines[-1] == "all ops: box.exec, dm.send"


def test_what_the_daemon_suggests_comes_before_our_own_guess() -> None:
    lines = hint(ErrorCode.UNKNOWN_OP, Call("dm.sned"), suggestions=["deploy.run"])
    assert lines == ["UNKNOWN_OP: no.", "near: deploy.run", "all ops: box.exec, dm.send"]


def test_near_names_that_the_message_has_are_not_said_twice() -> None:
    said = error(ErrorCode.UNKNOWN_ACTION, "Did you mean disk?", details={"near": ["disk"], "ops": []})
    assert failure(said, Call("box.exec"), []) == "UNKNOWN_ACTION: Did you mean disk?"


def test_a_code_without_a_hint_shows_the_details() -> None:
    assert hint(ErrorCode.TOO_LARGE, Call("dm.send"), bytes=9) == ["TOO_LARGE: no.", "bytes: 9"]


def test_an_op_like_no_other_gets_the_list() -> None:
    assert hint(ErrorCode.UNKNOWN_OP, Call("zzz")) == ["UNKNOWN_OP: no.", "all ops: box.exec, dm.send"]


def test_without_a_registry_an_unknown_op_has_no_hint() -> None:
    assert failure(error(ErrorCode.UNKNOWN_OP, "no."), Call("zzz"), []) == "UNKNOWN_OP: no."


def test_wrong_arguments_are_answered_with_all_arguments_and_an_example() -> None:
    # O-19
    assert hint(ErrorCode.INVALID_ARGS, Call("dm.send"), missing="to") == [
        "INVALID_ARGS: no.",
        "dm.send takes: to, text [thread, priority, extra]",
        "  to: string, name of a registered agent",
        "  text: string",
        "  thread: string",
        "  priority: one of low, high",
        "  extra",
        'example: [TOOL dm.send {"to": "heron", "text": "done"}]',
    ]


def test_wrong_arguments_of_an_op_that_we_do_not_know_show_what_the_daemon_tells() -> None:
    assert hint(ErrorCode.INVALID_ARGS, Call("x.y"), missing="to") == ["INVALID_ARGS: no.", "missing: to"]


def test_an_unknown_action_is_answered_with_the_actions() -> None:
    # O-41
    assert hint(ErrorCode.UNKNOWN_ACTION, Call("box.exec", {"action": "disc"})) == [
        "UNKNOWN_ACTION: no.",
        "near: disk",
        "actions: disk, logs (unit)",
    ]
    said = failure(error(ErrorCode.UNKNOWN_ACTION, "Not disk, logs."), Call("box.exec"), [BOX])
    assert said.split("\n") == ["UNKNOWN_ACTION: Not disk, logs.", "actions: logs (unit)"]
    lines = failure(error(ErrorCode.UNKNOWN_ACTION, "no."), Call("box.exec"), []).split("\n")
    assert lines == ["UNKNOWN_ACTION: no."]


def test_a_missing_recipient_is_answered_with_near_names() -> None:
    assert hint(ErrorCode.NOT_FOUND, Call("dm.send"), suggestions=["ada"]) == ["NOT_FOUND: no.", "near: ada"]
    assert hint(ErrorCode.NOT_FOUND, Call("dm.send")) == ["NOT_FOUND: no."]


def test_an_error_that_may_pass_says_so() -> None:
    assert hint(ErrorCode.BUSY, Call("dm.send")) == ["BUSY: no.", "This may work later."]


REF = {"uri": f"/artifacts/{'a' * 64}", "sha256": "a" * 64, "bytes": 2048, "content_type": "text/html"}


@pytest.mark.parametrize("op", ["artifact.put", "dm.read", "x.y"])
def test_a_result_that_is_kept_as_an_artifact_says_where(op: str) -> None:
    # M-81
    assert formatted(op, {"artifact": REF}) == f"kept as artifact {'a' * 64}, 2 KiB of text/html"


def test_what_only_looks_like_an_artifact_is_shown_as_it_is() -> None:
    assert formatted("artifact.put", {"artifact": 5}) == "artifact: 5"
    assert formatted("artifact.put", {"artifact": REF, "n": 1}).endswith("\nn: 1")


def test_a_reading_that_was_cut_names_its_whole() -> None:
    # O-19, O-45
    reading = {"data": {"n": 1}, "truncated": True}
    assert formatted("box.exec", reading) == "n: 1\n(the box left out more)"
    said = formatted("box.exec", reading | {"artifact": REF})
    assert said == f"n: 1\n(the box left out more; all of it: artifact {'a' * 64})"
