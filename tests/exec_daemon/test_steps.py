"""Jobs that run elsewhere, as they are shown (M-55)."""

from __future__ import annotations

from exec_daemon.calls.steps import events_anywhere, job_anywhere
from exec_daemon.store import MemoryStore
from messaging import JobState
from tests.messaging._events import story

AT = "2026-12-01T09:00:00.000Z"
SOON = "2026-12-01T09:00:29.999Z"
LATE = "2026-12-01T09:00:30.000Z"


async def test_a_gap_that_stays_marks_the_job_incomplete_and_its_end_is_told() -> None:  # M-55
    store = MemoryStore(clock=lambda: AT)
    await store.expect("job-1", "operator/local")
    told = story(4)
    for one in (told[0], told[3]):
        await store.receive(one, "a" * 64)
    waiting = await job_anywhere(store, "job-1", SOON)
    assert waiting is not None
    assert (waiting.state, waiting.incomplete) == (JobState.RUNNING, False)
    assert await events_anywhere(store, waiting, -1, SOON) == [told[0]]
    given_up = await job_anywhere(store, "job-1", LATE)
    assert given_up is not None
    assert (given_up.state, given_up.incomplete) == (JobState.SUCCEEDED, True)
    assert given_up.to_json()["incomplete"] is True
    assert await events_anywhere(store, given_up, -1, LATE) == [told[0], told[3]]
    assert await events_anywhere(store, given_up, 0, LATE) == [told[3]]
