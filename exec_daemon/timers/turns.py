"""How a run goes on and ends: a verdict, one nudge, a deadline, a cancel; pure (GRAMMAR 8, O 7.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.store.sources import NewId
from exec_daemon.store.timer_values import UNDER_WAY, Post, RunState, Timer, TimerRun, TimerState, TimerStep
from exec_daemon.store.values import Outcome
from exec_daemon.timers.look import Look
from exec_daemon.timers.plan import Plan
from messaging import TIMER_AUTHOR, AuthorKind, ErrorCode, MessageKind, NewMessage, error, one_line
from messaging.moment import iso

MISSING, CANCELLED, BLOCKED = "MISSING", "CANCELLED", "BLOCKED"
# A worker that ended before it gave a verdict.
EXITED: Final = "EXITED"
# Why a run was skipped: its gate said no, or did not decide.
GATE, GATE_FAILED = "gate", "gate_failed"
# Outcomes that say nothing of how it goes.
_NEITHER: Final = frozenset({CANCELLED, GATE})
# Outcomes that count as going well; the others add up to a pause.
WELL: Final = frozenset({"PASS", "PARTIAL", "SKIP"})
_CODES: Final[Mapping[str, ErrorCode]] = MappingProxyType(
    {
        "FAIL": ErrorCode.VERDICT_FAIL,
        MISSING: ErrorCode.NO_VERDICT,
        EXITED: ErrorCode.NO_VERDICT,
        CANCELLED: ErrorCode.CANCELLED,
    }
)
# The watcher starts again within seconds; who watches a thread elsewhere reads it in less than this.
_PATIENCE: Final = timedelta(seconds=30)
# T-70: a list shows a line of it.
_SUMMARY_CHARS: Final = 200
_SAYINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FAIL": "the agent's verdict is FAIL",
        MISSING: "no verdict came before the deadline",
        EXITED: "the worker ended without a verdict",
        CANCELLED: "the run was cancelled",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A verdict as it was found in a reply. `word` is one of the five."""

    word: str
    reply: str
    summary: str | None = None
    artifacts: tuple[Any, ...] = ()


def judged(look: Look, run: TimerRun, said: Said) -> TimerStep:
    """The step that a verdict makes. BLOCKED leaves the run open, with a notice and without a deadline."""
    if said.word != BLOCKED:
        return ended(look, run, said)
    summary = clipped(said.summary)
    waiting = replace(
        run, state=RunState.BLOCKED, outcome=BLOCKED, summary=summary, reply=said.reply, wake_at=None
    )
    text = f"Job {run.job} waits for a person: {summary or 'the agent did not say what for'}."
    return TimerStep(
        timer=look.touched(),
        was=look.timer.version,
        changed=(waiting,),
        posts=(_notice(replace(run, message=said.reply), text, look.new_id, f"blocked {said.reply}"),),
        warns=((run.job or "", {"code": BLOCKED, "message": text}),),
    )


def ended(look: Look, run: TimerRun, said: Said) -> TimerStep:
    """The step that ends a run with an outcome, lets the next in the queue go, and counts failures."""
    over = replace(
        run,
        state=RunState.ENDED,
        outcome=said.word,
        summary=clipped(said.summary),
        reply=said.reply or None,
        wake_at=None,
        ended_at=iso(look.now),
    )
    timer = counted(look.touched(), said.word)
    notices = (paused_notice(timer, run, look.new_id),) if timer.state is not look.timer.state else ()
    queued = tuple(replace(one, wake_at=iso(look.now)) for one in look.runs if one.state is RunState.QUEUED)
    return TimerStep(
        timer=timer,
        was=look.timer.version,
        changed=(over, *queued),
        posts=notices,
        ends=((run.job or "", _outcome(run, said, look.now)),),
    )


def nudged(look: Look, run: TimerRun) -> TimerStep:
    """The step that asks once for a verdict. A daemon that was away asks late: the time to answer stays."""
    plan = Plan.from_json(look.timer.plan)
    patience = timedelta(seconds=max(0, plan.deadline_s - plan.nudge_s))
    deadline = max(datetime.fromisoformat(run.deadline or iso(look.now)), look.now + patience)
    text = (
        f"Job {run.job} ({one_line(look.timer.name)}) still has no verdict. When it is done or cannot go on, "
        "end your reply with a line of its own: `[RESULT] WORD: why`."
    )
    return TimerStep(
        timer=look.touched(),
        was=look.timer.version,
        changed=(replace(run, nudged=True, deadline=iso(deadline), wake_at=iso(deadline)),),
        posts=(_notice(run, text, look.new_id, f"nudge {run.job}"),),
        warns=((run.job or "", {"code": "NUDGED", "message": "the agent was asked for its verdict"}),),
    )


def postponed(look: Look, run: TimerRun) -> TimerStep:
    """The step that waits on: there are replies that nobody has read."""
    later = iso(look.now + _PATIENCE)
    return TimerStep(
        timer=look.touched(), was=look.timer.version, changed=(replace(run, wake_at=later, deadline=later),)
    )


def missing(look: Look, run: TimerRun) -> TimerStep:
    """The step at the deadline."""
    return ended(look, run, Said(word=MISSING, reply=""))


def without_runs(step: TimerStep, runs: Iterable[TimerRun], why: str | None, now: datetime) -> TimerStep:
    """`step` with all runs that are under way cancelled (T-65)."""
    open_ = [run for run in runs if run.state in UNDER_WAY]
    said = Said(word=CANCELLED, reply="", summary=why)
    over = tuple(
        replace(
            run,
            state=RunState.ENDED,
            outcome=CANCELLED,
            summary=clipped(why),
            wake_at=None,
            ended_at=iso(now),
        )
        for run in open_
    )
    ends = tuple((run.job, _outcome(run, said, now)) for run in open_ if run.job is not None)
    return replace(step, changed=over, ends=ends)


def counted(timer: Timer, word: str) -> Timer:
    """Failures in a row; so many of them pause the timer, since nobody seems to look."""
    if word in _NEITHER:
        return timer
    failures = 0 if word in WELL else timer.failures + 1
    after = replace(timer, failures=failures)
    most = Plan.from_json(timer.plan).pause_after
    if timer.state is not TimerState.ACTIVE or not most or failures < most:
        return after
    reason = f"{failures} runs in a row did not go well, the last one with {word}"
    return replace(after, state=TimerState.PAUSED, reason=reason, next_due=None, next_at=None)


def _outcome(run: TimerRun, said: Said, now: datetime) -> Outcome:
    took_ms = (now - datetime.fromisoformat(run.at)).total_seconds() * 1000
    if said.word in WELL:
        artifacts = {"artifacts": list(said.artifacts)} if said.artifacts else {}
        data = {"verdict": said.word, "summary": said.summary, "reply": said.reply} | artifacts
        return Outcome(data=data, duration_ms=took_ms)
    text = _SAYINGS[said.word] + (f": {said.summary}" if said.summary else "")
    details = {"verdict": said.word, "summary": said.summary, "reply": said.reply or None}
    return Outcome(error=error(_CODES[said.word], text, details=details), duration_ms=took_ms)


def paused_notice(timer: Timer, run: TimerRun, new_id: NewId) -> Post:
    """What the agent's thread hears of a timer that has been paused."""
    text = (
        f"The timer {one_line(timer.name)} is paused: {timer.reason}. `box timer resume {timer.id}` goes on."
    )
    return _notice(run, text, new_id, f"paused {run.timer} {timer.version}")


def _notice(run: TimerRun, text: str, new_id: NewId, key: str) -> Post:
    """A word into the thread in which the agent was woken (O-84), about `run.message`."""
    message = NewMessage(
        thread=run.thread or "",
        author=TIMER_AUTHOR,
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.NOTICE,
        body=text,
        in_reply_to=run.message,
        job_id=run.job,
        key=f"{TIMER_AUTHOR} {key}",
    )
    return Post(new_id("msg"), message)


def clipped(summary: str | None) -> str | None:
    """As a list shows it."""
    return None if summary is None else one_line(summary, _SUMMARY_CHARS)
