"""Frames of the RPC: what is a request, what is refused, and what an event may look like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from messaging.rpc import (
    CODES,
    Event,
    Rejected,
    Request,
    RpcCode,
    code_named,
    encode,
    failure,
    read_event,
    read_request,
    rpc_error,
    success,
)

GOOD = {"id": "r1", "type": "prompt", "payload": {}}


def line(frame: Any) -> bytes:
    return json.dumps(frame).encode()


def test_a_request_has_an_id_a_type_and_a_payload() -> None:  # J-02
    request = Request("r1", "prompt", {"message": "go"})
    assert read_request(encode(request.to_json())) == request
    assert read_request(line(GOOD)) == Request("r1", "prompt", {})


@pytest.mark.parametrize(
    "changed",
    [
        {"payload": None},  # J-05
        {"payload": []},
        {"message": "go"},  # J-05: arguments beside the payload
        {"type": "response"},
        {"type": "event"},
        {"type": ""},
        {"type": 7},
        {"id": "x" * 257},
    ],
)
def test_a_request_of_another_shape_is_refused_under_its_id(changed: dict[str, Any]) -> None:  # J-05
    frame = GOOD | changed
    rejected = read_request(line(frame))
    assert isinstance(rejected, Rejected)
    assert (rejected.id, rejected.error.code) == (frame["id"], RpcCode.INVALID_REQUEST)


def test_the_payload_is_required_even_when_it_is_empty() -> None:  # J-02, J-05
    rejected = read_request(line({"id": "r1", "type": "runtime_diag"}))
    assert isinstance(rejected, Rejected)
    assert "payload" in rejected.error.message


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"\xff",
        b"[]",
        b"7",
        b'{"type":"prompt","payload":{}}',
        b'{"id":"","type":"prompt","payload":{}}',
        b'{"id":1,"type":"prompt","payload":{}}',
        b'{"id":"a","id":"b","type":"prompt","payload":{}}',
        b'{"id":"a","type":"prompt","payload":{"n":NaN}}',
    ],
)
def test_a_line_without_a_readable_id_is_refused_under_null(text: bytes) -> None:  # J-06
    rejected = read_request(text)
    assert isinstance(rejected, Rejected)
    assert failure(rejected.id, rejected.error)["id"] is None


def test_a_response_says_ok_and_a_result_or_a_typed_error() -> None:  # J-04
    assert success("r1", {"a": 1}) == {"id": "r1", "ok": True, "result": {"a": 1}}
    assert failure("r1", rpc_error(RpcCode.BUSY, "Later.")) == {
        "id": "r1",
        "ok": False,
        "error": {"code": "BUSY", "message": "Later.", "retryable": True},
    }
    assert rpc_error(RpcCode.BUSY, "Later.", places=3).to_json()["details"] == {"places": 3}


def test_an_event_reads_back_as_it_was_written() -> None:  # J-03, J-31
    event = Event(event="agent_end", agent="heron", ts="t", payload={"taskId": "a"}, epoch="e", seq=4)
    assert read_event(encode(event.to_json())) == event


def test_events_as_others_write_them_are_read() -> None:  # J-03
    written = {"type": "event", "event": "task_ready", "timestamp": "t", "taskId": "a", "payload": {}}
    assert read_event(line(written)) == Event(
        event="task_ready", agent="", ts="t", payload={"taskId": "a"}, epoch="", seq=0
    )


@pytest.mark.parametrize(
    "text", [b"hello", b"\xff", line({"type": "event", "event": "x"}), line({"type": "x", "payload": {}})]
)
def test_what_is_no_event_is_none_and_never_raises(text: bytes) -> None:  # J-14
    assert read_event(text) is None


RETRYABLE = "TASK_NOT_READY SWITCH_TIMEOUT PI_PROCESS_DEAD TASK_BOOTSTRAP_FAILED RATE_LIMITED BUSY"


@pytest.mark.parametrize("code", RpcCode)
def test_each_code_says_whether_to_try_again(code: RpcCode) -> None:  # J-25
    assert CODES[code].retryable is (str(code) in RETRYABLE.split())
    assert code_named(code) is code


def test_a_code_may_have_another_name() -> None:  # J-25
    assert code_named("AGENT_PROCESS_DEAD") is RpcCode.PI_PROCESS_DEAD
    assert code_named("NEVER_HEARD_OF") is None
