"""How a job ended, from a stdout with noise in it (M-87)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from messaging import EventType, settle
from messaging.tool_output import end_in_output
from tests.messaging._events import TS

END = '{"type": "succeeded", "result": {"title": "Soup"}}'
LATER = '{"type": "failed", "code": "extraction", "message": "no page"}'


def end(stdout: str) -> tuple[str, Any]:
    event = end_in_output(stdout.encode(), "job-1", TS)
    assert (event.job_id, event.ts) == ("job-1", TS)
    return str(event.type), event.payload.get("result", event.payload.get("code"))


@pytest.mark.parametrize("result", [{"title": "Soup"}, [1, 2], None, "text", {"type": "cake"}, {"type": 5}])
def test_a_stdout_that_is_json_is_the_result(result: Any) -> None:  # M-87
    assert end(json.dumps(result, indent=2) + "\n") == ("succeeded", result)


def test_a_stdout_that_is_a_terminal_event_is_that_event() -> None:  # M-87
    assert end(END) == ("succeeded", {"title": "Soup"})
    assert end(LATER) == ("failed", "extraction")


def test_among_noise_the_last_terminal_event_counts() -> None:  # M-87
    assert end(f"Downloading…\n{END}\n{{torn\n{LATER}\n[1]\n{{}}\nbye\n") == ("failed", "extraction")
    assert end(f"Downloading…\n  {END}\r\n") == ("succeeded", {"title": "Soup"})


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "nothing\n",
        '{"a": 1}\n{"a": 2}',
        'x\n{"type": "succeeded"}',
        'x\n{"type": "failed", "code": 5}',
        "{" * 9999,
    ],
)
def test_a_stdout_that_tells_no_end_is_bad_output(stdout: str) -> None:  # M-87
    assert end(stdout) == ("failed", "bad_output")


def test_the_job_is_the_one_that_was_started_whatever_the_tool_says() -> None:
    told = {"job_id": "another", "seq": 7, "ts": TS, "type": "succeeded", "result": 1}
    event = end_in_output(b"x\n" + json.dumps(told).encode(), "job-1", TS)
    assert (event.job_id, event.seq, event.type) == ("job-1", 7, EventType.SUCCEEDED)


def test_bytes_that_are_no_text_are_noise() -> None:
    assert end_in_output(b"\xff\xfe\n" + END.encode(), "job-1", TS).type is EventType.SUCCEEDED


def test_the_exit_code_is_held_against_it() -> None:  # M-16
    settled = settle("job-1", [end_in_output(b"oops", "job-1", TS)], 0, TS)
    assert (settled.event.payload["code"], settled.doubt is None) == ("bad_output", False)
