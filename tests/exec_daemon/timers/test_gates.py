"""Timers with a gate: asked on every path, and nothing passes one that did not say yes."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from exec_daemon.programs import Capped, Overloaded, Program, ProgramError, Ran
from exec_daemon.store.timer_values import RunState, TimerRun, TimerState, TimerStep
from exec_daemon.timers.changes import pause
from exec_daemon.timers.gates import Gates, decision
from exec_daemon.timers.present import look_at
from exec_daemon.timers.scheduler import Scheduler
from exec_daemon.timers.turns import Said
from messaging import MessageKind
from tests.exec_daemon.timers.conftest import Scene

YES = json.dumps({"wakeAgent": True, "data": {"unread": 3}})
NO = json.dumps({"wakeAgent": False})
GATE = Program(argv=("mail",), time_limit_s=30)


def ran(text: str = "", *, exit_code: int | None = 0, omitted: int = 0, **more: Any) -> Ran:
    fields = {"signal": None, "timed_out": False, "stderr": Capped(), "duration_ms": 1.0, **more}
    return Ran(exit=exit_code, stdout=Capped(text.encode(), omitted_bytes=omitted), **fields)


def gated(scene: Scene, *answers: Ran | Exception) -> list[Program]:
    """The scheduler's one gate `mail` gives these answers in turn, the last one for ever."""
    asked: list[Program] = []

    async def run(program: Program) -> Ran:
        asked.append(program)
        answer = answers[min(len(asked), len(answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    _put(scene, Gates({"mail": GATE}, run, room_s=0.0))
    return asked


def _put(scene: Scene, gates: Gates) -> None:
    store, desk = scene.store, scene.desk
    scene.scheduler = Scheduler(store, scene.clock, scene.new_id, desk.ops_for, desk.may_wake, gates)


async def go(scene: Scene, **by: float) -> None:
    await scene.go(**by)
    await scene.scheduler.keeper.idle()
    await scene.go(seconds=0)


def outcomes(runs: list[TimerRun]) -> list[tuple[str, str | None]]:
    return [(str(run.state), run.outcome) for run in runs]


async def test_a_yes_wakes_the_agent_with_what_the_gate_has_found(scene: Scene) -> None:  # T-77
    asked = gated(scene, ran(f"looking\n{YES}\n\n"))
    timer = await scene.make("1m", script="mail")
    await go(scene, minutes=1)
    (message,) = await scene.store.messages("heron")
    assert 'Script output:\n{\n  "unread": 3\n}\n\nInstructions:\nLook.' in message.body
    (run,) = await scene.runs(timer)
    assert (run.state, run.message) == (RunState.OPEN, message.id)
    assert (await scene.timer(timer)).sent == 1
    assert asked == [GATE]


async def test_a_no_is_a_row_and_nothing_else(scene: Scene) -> None:  # T-78
    gated(scene, ran(NO))
    timer = await scene.make("1m", script="mail", pause_after=1)
    for _ in range(3):
        await go(scene, minutes=1)
    assert outcomes(await scene.runs(timer)) == [("skipped", "gate")] * 3
    assert await scene.store.messages("heron") == []
    assert await scene.store.jobs() == []
    found = await scene.timer(timer)
    assert (found.state, found.sent, found.failures) == (TimerState.ACTIVE, 0, 0)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ran(YES, exit_code=3, stderr=Capped(b"no route\n")), "it ended with exit code 3: no route"),
        (ran(YES, exit_code=None, signal=9), "it ended with signal 9"),
        (ran(YES, exit_code=None, timed_out=True), "it ran over 30 s"),
        (ran(""), "printed nothing"),
        (ran("yes"), "is no decision"),
        (ran('{"wakeAgent": "true"}'), "must be true or false"),
        (ran(YES + "\nbye"), "is no decision"),
        (ran(json.dumps({"wakeAgent": True, "data": "x" * 70_000})), "its data has 70,002 bytes"),
        (ran(YES, omitted=1 << 20), "it printed over 1,048,576 bytes"),
    ],
)
def test_whatever_is_not_a_clear_yes_wakes_nobody_and_says_why(answer: Ran, why: str) -> None:  # T-75, T-76
    said = decision(GATE, answer)
    assert not said.wake_agent
    assert why in said.reason


def test_a_secret_that_a_gate_prints_reaches_nobody() -> None:
    secret = "ghp_" + "a1B2" * 9
    said = decision(GATE, ran(json.dumps({"wakeAgent": True, "data": f"token {secret}"})))
    assert said.wake_agent
    assert secret not in said.data


@pytest.mark.parametrize(
    ("gate", "answer", "why"),
    [
        ("mail", ProgramError("gone"), "the gate mail cannot run here"),
        ("post", ran(YES), "there is no gate post in box.toml"),
    ],
)
async def test_gates_that_do_not_decide_pause_the_timer_with_a_word(
    scene: Scene, gate: str, answer: Ran | Exception, why: str
) -> None:
    gated(scene, answer)
    timer = await scene.make("1m", script=gate, pause_after=2)
    for _ in range(3):
        await go(scene, minutes=1)
    runs = await scene.runs(timer)
    assert outcomes(runs) == [("skipped", "gate_failed")] * 2
    assert all(why in (run.summary or "") for run in runs)
    assert (await scene.timer(timer)).state is TimerState.PAUSED
    (notice,) = await scene.store.messages("heron")
    assert notice.kind is MessageKind.NOTICE
    assert "2 runs in a row did not go well" in notice.body


async def test_the_gate_is_asked_for_a_run_that_somebody_asks_for(scene: Scene) -> None:  # T-78
    asked = gated(scene, ran(NO), ran(YES))
    timer = await scene.make("1d", script="mail")
    for _ in range(2):
        run = await scene.desk.run(timer)
        assert run is not None
        assert run.job is None
        await go(scene, seconds=1)
    assert outcomes(await scene.runs(timer)) == [("skipped", "gate"), ("open", None)]
    assert len(asked) == 2
    assert (await scene.timer(timer)).next_due == timer.next_due


async def test_the_gate_is_asked_for_a_run_that_has_waited_for_another(scene: Scene) -> None:  # T-78
    asked = gated(scene, ran(YES), ran(NO))
    timer = await scene.make("1m", script="mail", overlap="queue", deadline_s=3600, nudge_s=3600)
    await go(scene, minutes=1)
    await go(scene, minutes=1)
    assert outcomes(await scene.runs(timer)) == [("open", None), ("queued", None)]
    assert len(asked) == 1
    reply = await scene.reply()
    await scene.desk.verdict(reply, Said(word="PASS", reply=reply.id))
    await go(scene, seconds=1)
    assert outcomes(await scene.runs(timer)) == [("ended", "PASS"), ("skipped", "gate")]


async def test_times_while_a_gate_is_asked_are_an_overlap_and_it_holds_up_no_other_timer(
    scene: Scene,
) -> None:
    never, answers = asyncio.Event(), 0

    async def run(_program: Program) -> Ran:
        nonlocal answers
        await never.wait()
        answers += 1
        return ran(YES)

    _put(scene, Gates({"mail": GATE}, run))
    slow, other = await scene.make("1m", script="mail"), await scene.make("1m")
    for _ in range(3):
        await scene.go(minutes=1)
    assert outcomes(await scene.runs(slow)) == [("queued", None), ("skipped", "overlap")]
    assert (await scene.timer(other)).sent == 1
    never.set()
    await scene.scheduler.keeper.idle()
    assert answers == 1  # however often the time for which the run is kept was prolonged
    assert outcomes(await scene.runs(slow))[0] == ("open", None)


async def test_a_timer_that_is_paused_while_its_gate_is_asked_wakes_nobody(scene: Scene) -> None:
    async def run(_program: Program) -> Ran:
        (timer,) = await scene.store.timers()
        look = await look_at(scene.store, timer.id, scene.clock(), scene.new_id)
        assert look is not None
        assert await scene.store.step_timer(pause(look, "enough"))
        return ran(YES)

    _put(scene, Gates({"mail": GATE}, run))
    timer = await scene.make("1m", script="mail")
    await go(scene, minutes=1)
    assert outcomes(await scene.runs(timer)) == [("ended", "CANCELLED")]
    assert await scene.store.messages("heron") == []


async def test_a_daemon_that_dies_while_it_asks_asks_again_and_sends_once(scene: Scene) -> None:  # T-69
    async def never(_program: Program) -> Ran:
        return await asyncio.Future()

    _put(scene, Gates({"mail": GATE}, never))
    timer = await scene.make("1h", script="mail")
    await scene.go(hours=1)
    await asyncio.sleep(0)  # the run is in the store, and its gate is being asked
    await scene.scheduler.keeper.close()
    asked = gated(scene, ran(YES))
    await go(scene, seconds=5)
    assert outcomes(await scene.runs(timer)) == [("queued", None)]  # somebody may still be asking
    await go(scene, seconds=40)
    assert outcomes(await scene.runs(timer)) == [("open", None)]
    assert len(await scene.store.messages("heron")) == 1
    assert len(asked) == 1


async def test_a_gate_without_a_place_to_run_waits_for_one(scene: Scene) -> None:
    asked = gated(scene, Overloaded("full"), Overloaded("full"), ran(YES))
    timer = await scene.make("1m", script="mail")
    await go(scene, minutes=1)
    assert outcomes(await scene.runs(timer)) == [("open", None)]
    assert len(asked) == 3


async def test_a_run_whose_agent_has_gone_meanwhile_is_turned_away(scene: Scene) -> None:
    gated(scene, ran(YES))
    timer = await scene.make("1m", script="mail")
    now, ghost = scene.clock(), replace(timer, agent="ghost", version=2)
    run = TimerRun(timer=timer.id, due=now, at=now, state=RunState.QUEUED, wake_at=now)
    assert await scene.store.step_timer(TimerStep(timer=ghost, was=1, added=(run,)))
    await go(scene, seconds=1)
    (found,) = await scene.runs(timer)
    assert (found.outcome, found.summary) == ("gate_failed", "there is no agent ghost")
