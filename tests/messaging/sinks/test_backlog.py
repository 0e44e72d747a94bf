"""What waits in memory while a receiver is away (M-40, M-62)."""

from __future__ import annotations

import pytest

from messaging import JobEvent
from messaging.sinks import BacklogSink, Undelivered
from tests.messaging._events import story


class Away:
    """Takes an event, or meets the next fault of its list: None, "away" or "refused"."""

    def __init__(self, *faults: str | None) -> None:
        self.taken: list[int] = []
        self._faults = list(faults)

    async def emit(self, event: JobEvent) -> None:
        fault = self._faults.pop(0) if self._faults else None
        if fault:
            raise Undelivered(event.key, 1, fault, refused=fault == "refused")
        self.taken.append(event.seq)

    async def close(self) -> None:
        self.taken.append(-1)


async def test_what_was_not_taken_goes_before_anything_newer() -> None:  # M-62
    away, now = Away(None, "away"), [100.0]
    sink = BacklogSink(away, lambda: now[0])
    for one in story(6)[:4]:
        await sink.emit(one)
    assert away.taken == [0]
    now[0] += 5.0
    await sink.emit(story(6)[4])
    assert away.taken == [0, 1, 2, 3, 4]


async def test_the_end_is_tried_at_once_and_takes_along_what_waits() -> None:  # M-40
    away = Away(None, "away")
    sink = BacklogSink(away, lambda: 100.0)
    for one in story(4):
        await sink.emit(one)
    await sink.close()
    assert away.taken == [0, 1, 2, 3, -1]


async def test_an_end_that_is_not_taken_raises() -> None:  # M-40
    sink = BacklogSink(Away(None, "away", "away"), lambda: 100.0)
    *steps, end = story(4)
    for one in steps:
        await sink.emit(one)
    with pytest.raises(Undelivered, match="job-1:1"):
        await sink.emit(end)


async def test_a_wrong_address_is_found_before_the_work() -> None:  # M-30
    with pytest.raises(Undelivered, match="job-1:0"):
        await BacklogSink(Away("refused")).emit(story(3)[0])


async def test_nothing_waits_behind_what_was_refused_for_good() -> None:  # M-41
    away = Away(None, "refused", "refused")
    sink = BacklogSink(away, lambda: 100.0)
    for one in story(4):
        await sink.emit(one)
    assert away.taken == [0, 2, 3]


async def test_the_memory_is_bounded() -> None:
    sink = BacklogSink(Away(None, *["away"] * 9), lambda: 100.0)
    *steps, last = story(1002)[:1001]
    for one in steps:
        await sink.emit(one)
    with pytest.raises(Undelivered, match="job-1:1 "):
        await sink.emit(last)
