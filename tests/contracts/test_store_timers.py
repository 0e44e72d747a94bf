"""Timers and their runs (T-69): what any store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exec_daemon.store import Agent, Exists, NewThread, Outcome, Outdated, StepTimer, Store
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.timer_values import Post, RunState, Start, Timer, TimerRun, TimerState, TimerStep
from messaging import ErrorCode, EventType, JobState
from tests.contracts.samples import at, failure, job, message, thread
from tests.patience import PATIENCE_S

TIMER = Timer(
    id="tmr-1",
    name="disks",
    created_by="agent/heron",
    agent="heron",
    plan={"schedule": "5m", "big": 10**30},
    state=TimerState.ACTIVE,
    created_at=at(0),
    updated_at=at(0),
    next_due=at(10),
    next_at=at(12),
)
RUN = TimerRun(timer="tmr-1", due=at(10), at=at(12), state=RunState.OPEN, job="job-t", thread="heron")
TIMER_JOB = job("tmr-1@10", op="timer")


async def make(store: Store, timer: Timer = TIMER) -> None:
    assert await store.step_timer(TimerStep(timer=timer, was=None))


def after(timer: Timer, **fields: object) -> Timer:
    return replace(timer, version=timer.version + 1, **fields)  # type: ignore[arg-type]


async def fired(store: Store) -> Timer:
    """The timer has run once: a run, a job and a message."""
    await store.add_agent(Agent(name="heron", thread="heron"))
    await make(store)
    later = after(TIMER, last_due=at(10), next_due=at(20), next_at=at(20), sent=1)
    step = TimerStep(
        timer=later,
        was=1,
        added=(RUN,),
        starts=(Start("job-t", TIMER_JOB),),
        posts=(Post("msg-t", message("heron", "wake up", job_id="job-t")),),
    )
    assert await store.step_timer(step)
    return later


async def test_a_timer_is_found_by_id_and_by_name(store: Store) -> None:  # T-60
    await make(store)
    assert await store.timer("tmr-1") == TIMER
    assert await store.timer("tmr-2") is None
    assert await store.timers(created_by="agent/heron", name="disks") == [TIMER]
    assert await store.timers(created_by="agent/wren", name="disks") == []


async def test_a_name_is_taken_by_a_timer_of_the_same_maker_that_is_not_over(store: Store) -> None:  # T-55
    await make(store)
    other = replace(TIMER, id="tmr-2")
    with pytest.raises(Exists):
        await make(store, other)
    await make(store, replace(other, created_by="agent/wren"))
    assert await store.step_timer(TimerStep(timer=after(TIMER, state=TimerState.CANCELLED), was=1))
    await make(store, replace(other, id="tmr-3"))
    assert await store.timer("tmr-1") == after(TIMER, state=TimerState.CANCELLED)


async def test_a_step_that_follows_from_an_older_version_changes_nothing(store: Store) -> None:  # T-69
    await make(store)
    assert await store.step_timer(TimerStep(timer=after(TIMER, reason="first"), was=1))
    late = TimerStep(timer=after(TIMER, reason="late"), was=1, threads=(NewThread(id="x", title="x"),))
    assert not await store.step_timer(late)
    assert (await store.timer("tmr-1")) == after(TIMER, reason="first")
    assert await store.thread("x") is None
    assert not await store.step_timer(TimerStep(timer=replace(TIMER, id="none"), was=1))


async def test_a_run_its_job_and_its_message_come_together(store: Store) -> None:  # T-69, O-60
    later = await fired(store)
    assert await store.timer("tmr-1") == later
    assert await store.timer_runs("tmr-1") == [RUN]
    begun = await store.job("job-t")
    assert begun is not None
    assert (begun.op, begun.state) == ("timer", JobState.RUNNING)
    assert [one.id for one in await store.messages("heron")] == ["msg-t"]


async def test_a_time_that_has_a_run_gets_no_other_and_the_whole_step_fails(store: Store) -> None:  # T-69
    later = await fired(store)
    again = TimerStep(
        timer=after(later),
        was=later.version,
        added=(replace(RUN, job="job-u"),),
        starts=(Start("job-u", replace(TIMER_JOB, call_id="again")),),
        posts=(Post("msg-u", message("heron", "twice")),),
    )
    with pytest.raises(Exists):
        await store.step_timer(again)
    assert await store.timer("tmr-1") == later
    assert await store.job("job-u") is None
    assert len(await store.messages("heron")) == 1


async def test_a_run_ends_together_with_its_job(store: Store) -> None:  # O 7.6
    later = await fired(store)
    over = replace(RUN, state=RunState.ENDED, outcome="PASS", reply="msg-9", ended_at=at(15))
    good = Outcome(data={"verdict": "PASS"}, duration_ms=3000.0)
    step = TimerStep(timer=after(later), was=later.version, changed=(over,), ends=(("job-t", good),))
    assert await store.step_timer(step)
    assert await store.run_of_job("job-t") == await store.run_of_reply("msg-9") == over
    ended = await store.job("job-t")
    assert ended is not None
    assert (ended.state, ended.result) == (JobState.SUCCEEDED, {"verdict": "PASS"})
    assert await store.open_runs("heron") == []


async def test_a_warning_of_a_run_is_an_event_of_its_job(store: Store) -> None:  # O 7.6
    later = await fired(store)
    step = TimerStep(timer=after(later), was=later.version, warns=(("job-t", {"code": "NUDGED"}),))
    assert await store.step_timer(step)
    assert [one.type for one in await store.events("job-t")] == [EventType.ACCEPTED, EventType.WARNING]


async def test_a_job_of_a_timer_outlives_its_daemon(store: Store) -> None:  # T-69
    await fired(store)
    await store.begin(job("c9"))
    assert [one.call_id for one in await store.interrupt_running()] == ["c9"]
    begun = await store.job("job-t")
    assert begun is not None
    assert begun.state is JobState.RUNNING


async def test_due_timers_come_in_the_order_of_their_times(store: Store) -> None:  # T-68
    rows = {"a": at(5), "b": at(3), "c": at(9), "d": None}
    for name, when in rows.items():
        await make(store, replace(TIMER, id=name, name=name, next_at=when))
    await make(store, replace(TIMER, id="e", name="e", next_at=at(1), state=TimerState.PAUSED))
    assert [one.id for one in await store.due_timers(at(5), 10)] == ["b", "a"]
    assert [one.id for one in await store.due_timers(at(5), 1)] == ["b"]
    assert await store.next_timer_at() == at(3)
    assert [one.id for one in await store.timers()] == ["e", "b", "a", "c", "d"]
    assert [one.id for one in await store.timers(states=(TimerState.PAUSED,))] == ["e"]


async def test_runs_are_listed_by_what_is_asked(store: Store) -> None:  # T-70
    await make(store)
    rows = [
        replace(RUN, due=at(1), job="j1", state=RunState.ENDED),
        replace(RUN, due=at(2), job="j2", state=RunState.BLOCKED, at=at(30)),
        replace(RUN, due=at(3), job="j3", wake_at=at(50)),
        replace(RUN, due=at(4), job=None, thread=None, state=RunState.QUEUED, wake_at=at(40)),
        replace(RUN, due=at(5), job=None, thread=None, state=RunState.SKIPPED, slots=3, upto=at(7)),
    ]
    assert await store.step_timer(TimerStep(timer=after(TIMER, next_at=None), was=1, added=tuple(rows)))
    assert await store.timer_runs("tmr-1") == rows[::-1]
    assert await store.timer_runs("tmr-1", 2) == rows[:2:-1]
    assert await store.standing_runs("tmr-1") == rows[:0:-1]
    assert await store.open_runs("heron") == [rows[2], rows[1]]
    assert await store.waking_runs(at(45), 9) == [rows[3]]
    assert await store.waking_runs(at(60), 9) == [rows[3], rows[2]]
    assert await store.next_timer_at() == at(40)


async def test_runs_that_are_over_are_forgotten_by_age(store: Store) -> None:  # T-70
    await make(store)
    rows = [
        replace(RUN, due=at(1), at=at(1), job=None, state=RunState.SKIPPED),
        replace(RUN, due=at(2), at=at(2), job="j2"),
        replace(RUN, due=at(3), at=at(3), job="j3", state=RunState.ENDED),
        replace(RUN, due=at(4), at=at(4), job="j4", state=RunState.ENDED),
    ]
    assert await store.step_timer(TimerStep(timer=after(TIMER), was=1, added=tuple(rows)))
    assert await store.forget_runs(at(4)) == 2
    assert await store.timer_runs("tmr-1") == [rows[3], rows[1]]


async def test_a_timer_that_is_over_goes_behind_its_last_run(store: Store) -> None:
    await make(store)
    over = after(TIMER, state=TimerState.CANCELLED, next_at=None, updated_at=at(3))
    row = replace(RUN, due=at(2), at=at(2), job="j2", state=RunState.ENDED)
    assert await store.step_timer(TimerStep(timer=over, was=1, added=(row,)))
    await make(store, replace(TIMER, id="tmr-2", name="other"))
    assert await store.forget_runs(at(2)) == 0
    assert await store.timer("tmr-1") == over
    assert await store.forget_runs(at(4)) == 1
    assert await store.timer("tmr-1") is None
    assert await store.timer("tmr-2") is not None


async def test_a_timer_changes_as_an_effect_of_a_job(store: Store) -> None:  # T-64
    begun = await store.begin(job("c1"))
    await store.finish(begun.job.id, Outcome(data={}), (StepTimer(TimerStep(timer=TIMER, was=None)),))
    assert await store.timer("tmr-1") == TIMER


async def test_an_effect_on_a_timer_that_changed_meanwhile_leaves_the_job_running(store: Store) -> None:
    await make(store)
    assert await store.step_timer(TimerStep(timer=after(TIMER), was=1))
    begun = await store.begin(job("c1"))
    late = StepTimer(TimerStep(timer=after(TIMER, reason="late"), was=1))
    with pytest.raises(Outdated):
        await store.finish(begun.job.id, Outcome(data={}), (late,))
    left = await store.job(begun.job.id)
    assert left is not None
    assert left.state is JobState.RUNNING
    await store.finish(begun.job.id, Outcome(error=failure(ErrorCode.BUSY)))


async def test_a_step_is_news_of_its_timer_and_of_its_thread(store: Store) -> None:
    await store.create_thread(thread("heron", "heron"))
    with store.subscribe(TIMERS) as timers:
        await make(store)
        assert await timers.wait(PATIENCE_S)
