"""A job followed to its end through the daemon (M-56)."""

from __future__ import annotations

from typing import Any

import pytest

from harvester.client import RetryPolicy, follow_job
from harvester.errors import Unavailable
from tests.messaging._events import story

AWAY = Unavailable("no daemon answers", url="https://a.example")
RETRY = RetryPolicy(attempts=3, sleep=lambda _: None)


class Scripted:
    """Answers each poll with the next of `answers`: a number of events, or an error."""

    def __init__(self, *answers: int | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[int, float]] = []

    def job_events(self, job_id: str, after: int = -1, wait_s: float = 0.0) -> list[dict[str, Any]]:
        self.asked.append((after, wait_s))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [one.to_json() for one in story(6, job_id)[after + 1 : after + 1 + answer]]


def test_each_event_comes_once_and_the_last_one_ends_it() -> None:
    client = Scripted(2, 0, 3, 1)
    assert list(follow_job(client, "job-1")) == story(6)
    assert [after for after, _ in client.asked] == [-1, 1, 1, 4]


def test_a_restart_of_the_daemon_is_waited_for() -> None:
    client = Scripted(2, AWAY, AWAY, 3, AWAY, AWAY, 1)
    assert list(follow_job(client, "job-1", retry=RETRY)) == story(6)


def test_a_daemon_that_stays_away_is_an_error() -> None:
    with pytest.raises(Unavailable):
        list(follow_job(Scripted(1, AWAY, AWAY, AWAY), "job-1", retry=RETRY))


def test_the_wait_ends_when_it_was_said_to() -> None:
    now = iter([0.0, 1.0, 2.0, 9.0, 10.0])
    client = Scripted(1, 0)
    with pytest.raises(TimeoutError):
        list(follow_job(client, "job-1", timeout_s=10.0, monotonic_s=lambda: next(now)))
    assert [wait_s for _, wait_s in client.asked] == [9.0, 1.0]
