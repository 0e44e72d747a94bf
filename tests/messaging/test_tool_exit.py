"""What a tool's exit code and its events come to (M-14, M-15, M-16)."""

from __future__ import annotations

import pytest

from messaging import EXIT_OF_CODE, EventType, exit_of, settle
from messaging.tool_exit import STAGES
from tests.messaging._events import TS, event, story


def test_the_vocabulary_of_the_reference_is_complete() -> None:  # M-14, M-15
    assert STAGES == ("classify", "extract", "transcribe", "format")
    assert EXIT_OF_CODE == {
        "general": 1, "usage": 2, "blocked_url": 3, "extraction": 4, "formatting": 5, "cancelled": 130,
    }  # fmt: skip
    assert exit_of("what is this") == 1


def test_a_terminal_event_and_its_exit_code_agree() -> None:  # M-16
    told = story(3)
    assert settle("job-1", told, 0, TS) == settle("job-1", told, 0, TS)
    assert settle("job-1", told, 0, TS).doubt is None
    failed = event(0, EventType.FAILED, code="usage", message="no")
    assert settle("job-1", [failed], 2, TS).doubt is None


def test_success_stays_success_whatever_the_exit_code_is() -> None:  # M-16
    end = settle("job-1", story(3), 4, TS)
    assert end.event.type is EventType.SUCCEEDED
    assert end.doubt == "job-1 says succeeded, its process ended with 4"


@pytest.mark.parametrize(
    ("exit_code", "code"),
    [(0, "general"), (1, "general"), (2, "usage"), (3, "blocked_url"), (4, "extraction"), (5, "formatting"),
     (130, "cancelled"), (77, "general"), (-9, "general")],
)  # fmt: skip
def test_without_a_terminal_event_the_exit_code_speaks(exit_code: int, code: str) -> None:  # M-16
    end = settle("job-1", story(3)[:2], exit_code, TS)
    assert (end.event.type, end.event.seq, end.event.payload["code"]) == (EventType.FAILED, 2, code)
    assert end.doubt
    assert ("signal 9" in end.event.payload["message"]) == (exit_code == -9)


def test_a_tool_that_told_nothing_failed_with_its_first_event() -> None:  # M-16
    assert settle("job-1", [], 1, TS).event.seq == 0
