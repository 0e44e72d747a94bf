"""What becomes of a run whose timer has a gate: asked, then sent or turned away; pure (T-75 to T-78).

The run stands in the store before its gate is asked, queued like one that waits for the run before it. So a
daemon that dies meanwhile asks again, and nothing is sent twice.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from exec_daemon.store.timer_values import RunState, TimerRun, TimerStep
from exec_daemon.timers.look import Due, Look
from exec_daemon.timers.plan import Plan
from exec_daemon.timers.rules import send_queued
from exec_daemon.timers.turns import GATE, GATE_FAILED, clipped, counted, paused_notice
from messaging.container import ScriptResult, woken_prompt
from messaging.moment import iso


def asked(look: Look, run: TimerRun, for_s: float) -> TimerStep:
    """The step that keeps the run to whoever asks its gate now, for so many seconds."""
    later = iso(look.now + timedelta(seconds=for_s))
    return TimerStep(timer=look.touched(), was=look.timer.version, changed=(replace(run, wake_at=later),))


def let_in(due: Due, run: TimerRun, data: Any) -> TimerStep:
    """The step that wakes the agent with what its gate has found (T-77)."""
    prompt = Plan.from_json(due.timer.plan).prompt
    return send_queued(due, run, woken_prompt(prompt, data))


def turned_away(look: Look, run: TimerRun, said: ScriptResult, home: str | None) -> TimerStep:
    """The step that records a run as skipped; a gate that did not decide counts as a run that went wrong.

    `home` is the thread of the agent, which hears when that pauses the timer.
    """
    word = GATE_FAILED if said.reason else GATE
    skipped = replace(
        run,
        state=RunState.SKIPPED,
        outcome=word,
        summary=clipped(said.reason or None),
        upto=run.due,
        wake_at=None,
    )
    timer = counted(look.touched(), word)
    thread = Plan.from_json(timer.plan).thread or home
    is_paused = timer.state is not look.timer.state and thread is not None
    heard = replace(skipped, thread=thread)
    notices = (paused_notice(timer, heard, look.new_id),) if is_paused else ()
    return TimerStep(timer=timer, was=look.timer.version, changed=(skipped,), posts=notices)
