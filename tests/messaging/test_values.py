"""Calls, results, ops, threads, jobs: they survive the wire, and the error table is whole."""

import json
from dataclasses import replace

import pytest

from messaging import (
    ERRORS,
    AuthorKind,
    Call,
    CallError,
    CallRequest,
    ErrorCode,
    EventType,
    Job,
    JobEvent,
    JobState,
    Message,
    MessageKind,
    NewMessage,
    OpInfo,
    Result,
    Thread,
    error,
    retryable,
)

# O-35 and the table of the design: code -> (HTTP status, retryable for a read, retryable for a side effect).
TABLE = {
    "INVALID_REQUEST": (400, False, False),
    "INVALID_ARGS": (400, False, False),
    "UNAUTHENTICATED": (401, False, False),
    "FORBIDDEN": (403, False, False),
    "UNKNOWN_OP": (404, False, False),
    "UNKNOWN_ACTION": (404, False, False),
    "NOT_FOUND": (404, False, False),
    "DUPLICATE_ID": (409, False, False),
    "CANCELLED": (409, False, False),
    "APPROVAL_PENDING": (202, False, False),
    "APPROVAL_DENIED": (403, False, False),
    "APPROVAL_EXPIRED": (410, False, False),
    "OP_CHANGED": (409, False, False),
    "VERDICT_FAIL": (409, False, False),
    "NO_VERDICT": (409, False, False),
    "TOO_LARGE": (413, False, False),
    "RATE_LIMITED": (429, True, True),
    "INTERRUPTED": (500, False, False),
    "INTERNAL_ERROR": (500, False, False),
    "BUSY": (503, True, True),
    "UNAVAILABLE": (503, True, True),
    "TIMEOUT": (504, True, False),
}


def test_the_error_table_is_exactly_the_design() -> None:
    # O-35
    found = {
        str(code): (
            kind.http_status,
            retryable(code, side_effecting=False),
            retryable(code, side_effecting=True),
        )
        for code, kind in ERRORS.items()
    }
    assert found == TABLE
    assert set(ERRORS) == set(ErrorCode)


def test_a_result_survives_the_wire() -> None:
    good = Result(op="job.get", call_id="c", job_id="j", duration_ms=1.5, data={"a": None}, replayed=True)
    bad = Result(
        op="x", side_effecting=True, error=error(ErrorCode.BUSY, "full", details={"retry_after_s": 1})
    )
    assert Result.from_json(good.to_json()) == good
    assert Result.from_json(bad.to_json()) == bad
    assert "error" not in good.to_json()
    assert "result" not in bad.to_json()


@pytest.mark.parametrize("replayed", [False, True])
@pytest.mark.parametrize("text", [None, '{"a":null}'])
def test_a_result_as_text_is_the_same_whoever_has_written_its_data(text: str | None, replayed: bool) -> None:
    good = Result(op="job.get", job_id="j", data={"a": None}, text=text, replayed=replayed)
    bad = Result(op="x", error=error(ErrorCode.BUSY, "full"), text=text and "null", replayed=replayed)
    for one in (good, bad):
        assert json.loads(one.to_text()) == one.to_json()
        assert list(json.loads(one.to_text())) == list(one.to_json())


def test_an_unknown_error_code_is_kept_for_the_reader() -> None:
    read = CallError.from_json({"code": "NEW_ONE", "message": "m", "retryable": True})
    assert read.code is ErrorCode.INTERNAL_ERROR
    assert read.details == {"code": "NEW_ONE"}


def test_a_request_holds_only_what_is_set() -> None:
    assert CallRequest(call=Call("tools.list")).to_json() == {"op": "tools.list", "args": {}}
    full = CallRequest(
        call=Call("a", {"b": 1}, "c"), thread="t", reply="r", on_behalf_of="heron", dry_run=True
    )
    assert full.to_json() == {
        "op": "a",
        "args": {"b": 1},
        "call_id": "c",
        "thread": "t",
        "reply": "r",
        "on_behalf_of": "heron",
        "dry_run": True,
    }


def test_an_op_survives_the_wire_and_knows_its_arguments() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a"]}
    op = OpInfo(
        name="x.y",
        side_effecting=True,
        summary="s",
        args_schema=schema,
        actions=(("cpu", None),),
        allowed=False,
    )
    assert OpInfo.from_json(op.to_json()) == op
    assert (op.required, op.arguments) == (("a",), ("a", "b"))


@pytest.mark.parametrize("kind", MessageKind)
@pytest.mark.parametrize("author_kind", AuthorKind)
def test_only_an_agents_own_text_is_a_reply(kind: MessageKind, author_kind: AuthorKind) -> None:
    # O-15
    message = Message(
        id="m",
        thread="t",
        seq=1,
        position=1,
        author="a",
        author_kind=author_kind,
        kind=kind,
        body="",
        created_at="2026-11-30T12:00:00.000Z",
    )
    assert message.is_reply == (kind is MessageKind.TEXT and author_kind is AuthorKind.AGENT)
    assert Message.from_json(message.to_json() | {"unknown": 1}) == message


def test_a_message_at_its_place_says_what_was_to_be_appended() -> None:  # O-83
    new = NewMessage(
        thread="ops",
        author="heron",
        author_kind=AuthorKind.AGENT,
        kind=MessageKind.DM,
        body="hello",
        in_reply_to="msg-1",
        job_id="job-1",
        key="once",
    )
    appended = new.appended("msg-2", seq=3, position=9, created_at="2026-12-01T09:00:00.000Z")
    assert (appended.id, appended.seq, appended.position) == ("msg-2", 3, 9)
    assert Message.from_json(appended.to_json()) == appended
    said = new.__dataclass_fields__.keys() - {"key"}
    assert {name: getattr(appended, name) for name in said} == {name: getattr(new, name) for name in said}


def test_threads_and_jobs_survive_the_wire() -> None:
    thread = Thread(id="t", title="T", agent=None, created_at="2026-11-30T12:00:00.000Z")
    assert Thread.from_json(thread.to_json()) == thread
    job = Job(
        id="j",
        op="x",
        args={},
        call_id="c",
        identity="agent/a",
        state=JobState.FAILED,
        created_at="2026-11-30T12:00:00.000Z",
        side_effecting=False,
        error={"code": "TIMEOUT"},
    )
    assert Job.from_json(job.to_json()) == job
    assert "incomplete" not in job.to_json()
    torn = replace(job, incomplete=True)
    assert Job.from_json(torn.to_json()) == torn


def test_an_event_carries_the_fields_of_its_type_beside_the_common_ones() -> None:
    event = JobEvent(
        job_id="j", seq=0, ts="2026-11-30T12:00:00.000Z", type=EventType.ACCEPTED, payload={"url": "u"}
    )
    assert event.to_json() == {"job_id": "j", "seq": 0, "ts": event.ts, "type": "accepted", "url": "u"}
    assert [kind for kind in EventType if kind.terminal] == [EventType.SUCCEEDED, EventType.FAILED]
