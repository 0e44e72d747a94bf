"""How a run ends: by its agent's verdict, by one nudge and a deadline, or by a person (GRAMMAR 8)."""

from __future__ import annotations

import pytest

from exec_daemon.store.timer_values import RunState, TimerRun, TimerState
from exec_daemon.timers.turns import Said
from messaging import EventType, JobState, MessageKind
from tests.exec_daemon.timers.conftest import Scene


async def say(scene: Scene, word: str, summary: str | None = None, to: str | None = None) -> TimerRun | None:
    reply = await scene.reply(f"[RESULT] {word}", to)
    return await scene.desk.verdict(reply, Said(word=word, reply=reply.id, summary=summary))


@pytest.mark.parametrize(
    ("word", "state", "code"),
    [
        ("PASS", JobState.SUCCEEDED, None),
        ("PARTIAL", JobState.SUCCEEDED, None),
        ("SKIP", JobState.SUCCEEDED, None),
        ("FAIL", JobState.FAILED, "VERDICT_FAIL"),
    ],
)
async def test_a_verdict_ends_the_run_and_its_job(
    scene: Scene, word: str, state: JobState, code: str | None
) -> None:  # O 7.6
    await scene.make()
    await scene.go(minutes=1)
    run = await say(scene, word, "because")
    assert run is not None
    assert (run.state, run.outcome, run.summary) == (RunState.ENDED, word, "because")
    job = await scene.store.job(run.job or "")
    assert job is not None
    assert job.state is state
    assert (job.error or {}).get("code") == code
    assert job.error is not None or job.result["verdict"] == word


async def test_a_run_that_is_blocked_stays_open_with_a_notice_and_no_deadline(scene: Scene) -> None:  # O 7.6
    timer = await scene.make()
    await scene.go(minutes=1)
    run = await say(scene, "BLOCKED", "which disk?")
    assert run is not None
    await scene.go(days=2)
    blocked = (await scene.runs(timer))[0]
    assert (blocked.state, blocked.outcome) == (RunState.BLOCKED, "BLOCKED")
    notice = (await scene.store.messages("heron"))[-1]
    assert (notice.kind, notice.job_id) == (MessageKind.NOTICE, run.job)
    assert "waits for a person: which disk?" in notice.body
    assert [one.type for one in await scene.store.events(run.job or "")] == [
        EventType.ACCEPTED,
        EventType.WARNING,
    ]
    over = await say(scene, "PASS")
    assert over is not None
    assert (over.due, over.outcome) == (run.due, "PASS")


async def test_a_reply_says_its_verdict_once(scene: Scene) -> None:  # O-16
    timer = await scene.make()
    await scene.go(minutes=1)
    reply = await scene.reply()
    first = await scene.desk.verdict(reply, Said(word="PASS", reply=reply.id))
    await scene.go(minutes=1)
    again = await scene.desk.verdict(reply, Said(word="FAIL", reply=reply.id))
    assert first == again
    assert [run.outcome for run in await scene.runs(timer)] == ["PASS", None]


async def test_a_reply_that_said_blocked_says_nothing_more(scene: Scene) -> None:  # O-16
    await scene.make()
    await scene.go(minutes=1)
    reply = await scene.reply()
    blocked = Said(word="BLOCKED", reply=reply.id)
    await scene.desk.verdict(reply, blocked)
    await say(scene, "PASS")
    other = await scene.make("1m")
    await scene.go(minutes=1)
    again = await scene.desk.verdict(reply, blocked)
    assert again is not None
    assert again.outcome == "PASS"
    assert [run.state for run in await scene.runs(other)] == [RunState.OPEN]


async def test_a_verdict_is_about_the_message_that_it_answers_else_about_the_oldest(scene: Scene) -> None:
    first, second, third = [await scene.make("1m") for _ in range(3)]
    await scene.go(minutes=1)
    asked = (await scene.runs(second))[0].message
    about = [await say(scene, "PASS", to=asked), *[await say(scene, "PASS") for _ in range(3)]]
    assert [run and run.timer for run in about] == [second.id, first.id, third.id, None]


async def test_a_reply_before_the_message_or_of_another_says_nothing(scene: Scene) -> None:  # O-33
    early = await scene.reply()
    await scene.make()
    await scene.go(minutes=1)
    assert await scene.desk.verdict(early, Said(word="PASS", reply=early.id)) is None
    foreign = await scene.reply()
    stranger = type(foreign)(
        **{name: getattr(foreign, name) for name in foreign.__dataclass_fields__} | {"author": "wren"}
    )
    assert await scene.desk.verdict(stranger, Said(word="PASS", reply=stranger.id)) is None


async def test_one_nudge_comes_and_then_the_verdict_is_missing(scene: Scene) -> None:  # O 7.6, O-84
    timer = await scene.make("1d", nudge_s=60, deadline_s=120)
    await scene.go(days=1)
    await scene.live(60)
    nudge = (await scene.store.messages("heron"))[-1]
    assert (nudge.kind, nudge.author) == (MessageKind.NOTICE, "timer")
    assert "still has no verdict" in nudge.body
    await scene.live(59)
    assert (await scene.runs(timer))[0].state is RunState.OPEN
    await scene.live(1)
    (run,) = await scene.runs(timer)
    assert (run.state, run.outcome, run.nudged) == (RunState.ENDED, "MISSING", True)
    job = await scene.store.job(run.job or "")
    assert job is not None
    assert job.error is not None
    assert job.error["code"] == "NO_VERDICT"
    assert len(await scene.store.messages("heron")) == 2


async def test_a_daemon_that_was_away_nudges_first_and_waits_as_long_as_ever(scene: Scene) -> None:
    timer = await scene.make("1d", nudge_s=60, deadline_s=120)
    await scene.go(days=1)
    await scene.go(hours=5)
    assert (await scene.runs(timer))[0].state is RunState.OPEN
    await scene.live(60)
    assert (await scene.runs(timer))[0].outcome == "MISSING"


async def test_a_reply_that_nobody_has_read_yet_is_waited_for(scene: Scene) -> None:
    timer = await scene.make("1d", nudge_s=60, deadline_s=120)
    await scene.go(days=1)
    await scene.store.set_cursor("watcher", 1)
    reply = await scene.reply("[RESULT] PASS")
    await scene.live(300)
    assert (await scene.runs(timer))[0].state is RunState.OPEN
    await scene.store.set_cursor("watcher", reply.position)
    await scene.live(60)
    assert (await scene.runs(timer))[0].outcome == "MISSING"


async def test_runs_that_fail_in_a_row_pause_the_timer_and_say_so(scene: Scene) -> None:
    timer = await scene.make("1m", pause_after=3)
    for word in ("FAIL", "FAIL", "PASS", "FAIL", "FAIL", "FAIL"):
        await scene.go(minutes=1)
        assert (await scene.timer(timer)).state is TimerState.ACTIVE
        await say(scene, word)
    paused = await scene.timer(timer)
    assert (paused.state, paused.failures) == (TimerState.PAUSED, 3)
    assert paused.reason == "3 runs in a row did not go well, the last one with FAIL"
    assert "is paused: 3 runs in a row" in (await scene.store.messages("heron"))[-1].body


async def test_a_job_of_a_timer_can_be_cancelled(scene: Scene) -> None:  # T-65
    timer = await scene.make("1m")
    await scene.go(minutes=1)
    (run,) = await scene.runs(timer)
    for _ in range(2):
        await scene.desk.cancel(run.job or "", "cancelled by operator/local")
    (over,) = await scene.runs(timer)
    assert (over.outcome, over.summary) == ("CANCELLED", "cancelled by operator/local")
    assert (await scene.timer(timer)).failures == 0


async def test_a_run_can_be_asked_for_beside_the_schedule(scene: Scene) -> None:
    timer = await scene.make("1h")
    await scene.go(minutes=7)
    made = await scene.desk.run(timer)
    assert made is not None
    assert made.due == "2026-12-01T09:07:00.000Z"
    assert await scene.desk.run(await scene.timer(timer)) is None
    assert (await scene.timer(timer)).next_due == timer.next_due
