"""What a timer does as time passes: each time that is due has one run, or a row that says why not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.store.timer_values import RunState, TimerRun, TimerState, TimerStep
from exec_daemon.timers.changes import cancel, pause, resume
from exec_daemon.timers.look import moment
from exec_daemon.timers.plan import ContextMode, Misfire, Overlap
from exec_daemon.timers.present import look_at
from exec_daemon.timers.rules import GRACE, jitter
from exec_daemon.timers.turns import Said
from messaging import JobState, MessageKind
from messaging.moment import iso
from prompt_envelope import is_envelope, unwrap
from tests.exec_daemon.timers.conftest import Scene


def told(runs: list[TimerRun]) -> list[tuple[str, str | None, int]]:
    return [(run.state, run.outcome, run.slots) for run in runs]


async def test_a_timer_that_is_due_wakes_its_agent_with_an_envelope(scene: Scene) -> None:  # O-60, O-63
    timer = await scene.make("1m", tz="Europe/Berlin")
    await scene.go(minutes=1)
    (run,) = await scene.runs(timer)
    (message,) = await scene.store.messages("heron")
    assert (message.id, message.kind, message.job_id) == (run.message, MessageKind.ENVELOPE, run.job)
    assert is_envelope(message.body)
    assert unwrap(message.body) == "Look."
    assert f"job: {run.job}" in message.body
    assert f"timer: {timer.name}" in message.body
    assert "due: 2026-12-01T10:01:00+01:00 Europe/Berlin" in message.body
    assert "deadline: 2026-12-01T10:31:00+01:00 Europe/Berlin" in message.body
    assert "[TOOL cron.create {" in message.body


async def test_a_run_has_a_job_of_who_made_the_timer(scene: Scene) -> None:  # O 7.7
    timer = await scene.make()
    await scene.go(minutes=1)
    (run,) = await scene.runs(timer)
    job = await scene.store.job(run.job or "")
    assert job is not None
    assert (job.op, job.identity, job.state) == ("timer", "operator/local", JobState.RUNNING)


async def test_nothing_is_sent_before_it_is_due_and_nothing_twice(scene: Scene) -> None:  # T-68, T-69
    timer = await scene.make()
    await scene.go(seconds=59.999)
    assert await scene.runs(timer) == []
    for _ in range(5):
        await scene.go(seconds=0.001)
    assert len(await scene.runs(timer)) == 1


async def test_late_runs_move_none_that_follow(scene: Scene) -> None:  # T-68
    timer = await scene.make(max_runs=3)
    for late in (20, 50, 3):
        due = moment((await scene.timer(timer)).next_due or "")
        scene.now = due
        await scene.go(seconds=late)
        reply = await scene.reply("[RESULT] PASS")
        await scene.desk.verdict(reply, Said(word="PASS", reply=reply.id))
    dues = [run.due for run in await scene.runs(timer)]
    assert dues == [f"2026-12-01T09:0{n}:00.000Z" for n in (1, 2, 3)]
    assert (await scene.timer(timer)).state is TimerState.COMPLETED


async def test_missed_times_are_one_row_that_says_how_many(scene: Scene) -> None:  # T-68, O 7.7
    timer = await scene.make()
    await scene.go(hours=3, seconds=30)
    first, last = await scene.runs(timer)
    assert told([first, last]) == [("skipped", "missed", 179), ("open", None, 1)]
    assert (first.due, first.upto) == ("2026-12-01T09:01:00.000Z", "2026-12-01T11:59:00.000Z")
    assert last.due == "2026-12-01T12:00:00.000Z"


@pytest.mark.parametrize(
    ("misfire", "rows"),
    [
        (Misfire.SKIP, [("skipped", "missed", 2)]),
        (Misfire.RUN_ONCE, [("skipped", "missed", 1), ("open", None, 1)]),
    ],
)
async def test_what_was_missed_for_long_is_skipped_or_run_once(
    scene: Scene, misfire: Misfire, rows: list[tuple[str, str | None, int]]
) -> None:  # O 7.7
    timer = await scene.make("0 12 * * *", misfire=misfire)
    await scene.go(days=1, hours=4, seconds=GRACE.total_seconds())
    assert told(await scene.runs(timer)) == rows


async def test_a_single_time_is_completed_by_its_run(scene: Scene) -> None:  # T-68, T-71
    timer = await scene.make("2026-12-01T10:00Z")
    await scene.go(hours=1)
    over = await scene.timer(timer)
    assert (over.state, over.next_due, over.sent) == (TimerState.COMPLETED, None, 1)


async def test_a_time_while_the_last_run_is_open_is_skipped_in_one_growing_row(scene: Scene) -> None:  # O 7.7
    timer = await scene.make("1s")
    await scene.live(10)
    assert told(await scene.runs(timer)) == [("open", None, 1), ("skipped", "overlap", 9)]


async def test_a_queue_keeps_one_run_and_sends_it_when_the_last_one_ends(scene: Scene) -> None:  # O 7.7
    timer = await scene.make("1m", overlap=Overlap.QUEUE)
    for _ in range(3):
        await scene.go(minutes=1)
    assert told(await scene.runs(timer)) == [
        ("open", None, 1),
        ("queued", None, 1),
        ("skipped", "overlap", 1),
    ]
    reply = await scene.reply("[RESULT] PASS")
    await scene.desk.verdict(reply, Said(word="PASS", reply=reply.id))
    await scene.go()
    runs = await scene.runs(timer)
    assert told(runs) == [("ended", "PASS", 1), ("open", None, 1), ("skipped", "overlap", 1)]
    assert [one.kind for one in await scene.store.messages("heron")].count(MessageKind.ENVELOPE) == 2


async def test_a_timer_ends_after_its_last_run_or_at_its_end(scene: Scene) -> None:  # O 7.7
    counted = await scene.make("1m", max_runs=1)
    dated = await scene.make("1m", until=iso(scene.now + timedelta(minutes=1, seconds=30)))
    await scene.go(minutes=1)
    for timer in (counted, dated):
        assert (await scene.timer(timer)).state is TimerState.COMPLETED
        assert len(await scene.runs(timer)) == 1


@given(st.text("abc", min_size=1), st.integers(0, 10**9), st.integers(0, 3600))
def test_jitter_is_the_same_whenever_it_is_asked_and_within_bounds(
    timer: str, second: int, most: int
) -> None:  # O 7.7
    due = datetime.fromtimestamp(second, tz=moment("2026-01-01T00:00:00Z").tzinfo)
    late = jitter(timer, due, most)
    assert timedelta() <= late <= timedelta(seconds=most)
    assert late == jitter(timer, due, most)


async def test_jitter_delays_a_run_and_keeps_its_due_time(scene: Scene) -> None:  # O 7.7
    timer = await scene.make("1h", jitter_s=600)
    due, at = moment(timer.next_due or ""), moment(timer.next_at or "")
    assert due < at
    scene.now = at - timedelta(milliseconds=1)
    await scene.go()
    assert await scene.runs(timer) == []
    await scene.go(seconds=0.001)
    assert [run.due for run in await scene.runs(timer)] == [iso(due)]


async def test_each_isolated_run_has_a_thread_of_its_own(scene: Scene) -> None:  # T-62
    timer = await scene.make("1m", context_mode=ContextMode.ISOLATED)
    await scene.go(minutes=1)
    (run,) = await scene.runs(timer)
    thread = await scene.store.thread(run.thread or "")
    assert thread is not None
    assert (thread.agent, thread.last_seq) == ("heron", 1)
    assert await scene.store.messages("heron") == []


async def test_a_clock_that_is_set_back_repeats_nothing(scene: Scene) -> None:  # T-69
    timer = await scene.make("1m")
    await scene.go(minutes=5)
    before = [run.due for run in await scene.runs(timer)]
    scene.now -= timedelta(minutes=4)
    look = await look_at(scene.store, timer.id, scene.clock(), scene.new_id)
    assert look is not None
    assert await scene.store.step_timer(resume(look))
    await scene.go(minutes=3)
    assert [run.due for run in await scene.runs(timer)] == before
    assert (await scene.timer(timer)).next_due == "2026-12-01T09:06:00.000Z"


async def test_a_paused_timer_sends_nothing_and_goes_on_with_a_time_to_come(scene: Scene) -> None:  # T-65
    timer = await scene.make("1m")
    look = await look_at(scene.store, timer.id, scene.clock(), scene.new_id)
    assert look is not None
    assert await scene.store.step_timer(pause(look, "holidays"))
    await scene.go(hours=2, seconds=10)
    assert await scene.runs(timer) == []
    look = await look_at(scene.store, timer.id, scene.clock(), scene.new_id)
    assert look is not None
    assert await scene.store.step_timer(resume(look))
    resumed = await scene.timer(timer)
    assert (resumed.reason, resumed.next_due) == (None, "2026-12-01T11:01:00.000Z")


async def test_a_cancel_ends_the_runs_that_are_open(scene: Scene) -> None:  # T-65
    timer = await scene.make("1m")
    await scene.go(minutes=1)
    look = await look_at(scene.store, timer.id, scene.clock(), scene.new_id)
    assert look is not None
    step: TimerStep = cancel(look, "not needed")
    assert await scene.store.step_timer(step)
    (run,) = await scene.runs(timer)
    assert (run.state, run.outcome, run.summary) == (RunState.ENDED, "CANCELLED", "not needed")
    job = await scene.store.job(run.job or "")
    assert job is not None
    assert job.error is not None
    assert job.error["code"] == "CANCELLED"
    await scene.go(hours=1)
    assert len(await scene.runs(timer)) == 1


async def test_a_timer_whose_agent_has_gone_is_paused_and_says_so(scene: Scene) -> None:  # T-71
    timer = await scene.make()
    del scene.store._tables.agents["heron"]
    await scene.go(minutes=1)
    paused = await scene.timer(timer)
    assert (paused.state, paused.reason) == (TimerState.PAUSED, "there is no agent heron")


async def test_a_timer_whose_maker_may_no_longer_wake_its_agent_is_paused_and_says_so(scene: Scene) -> None:
    timer = await scene.make(overlap=Overlap.QUEUE)
    await scene.go(minutes=1)
    await scene.go(minutes=1)  # one is queued behind the open one
    scene.barred.add("operator/local")
    open_run, _ = await scene.runs(timer)
    await scene.desk.cancel(open_run.job or "")
    await scene.go(minutes=5)
    paused = await scene.timer(timer)
    assert (paused.state, paused.reason) == (
        TimerState.PAUSED,
        "operator/local may not wake heron any more",
    )
    assert paused.sent == 1


async def test_a_timer_that_cannot_be_read_holds_up_no_other(scene: Scene) -> None:
    broken, sound = await scene.make(), await scene.make()
    plan = {**broken.plan, "tz": "Nowhere/Land", "schedule_type": "cron"}
    scene.store._tables.timers[broken.id] = replace(broken, plan=plan)
    await scene.go(minutes=1)
    assert (await scene.timer(broken)).state is TimerState.PAUSED
    assert len(await scene.runs(sound)) == 1
