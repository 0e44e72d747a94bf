"""`/timers` and `/verdicts`: what timers did and will do, and what agents say came of it.

Timers are made and changed by ops (`cron.create` and its kin); here is what is no call of an agent's.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.scope import sees_all
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, query_number, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.ops.cron_fields import Written, manages
from exec_daemon.store import Store
from exec_daemon.store.timer_port import LISTED
from exec_daemon.store.timer_values import Timer, TimerState
from exec_daemon.timers.look import moment
from exec_daemon.timers.plan import timing_fields
from exec_daemon.timers.reading import Kind, ScheduleError, read_schedule
from exec_daemon.timers.schedule import following
from exec_daemon.timers.turns import Said
from exec_daemon.timers.view import NEXT_SHOWN, local, shown_run, shown_timer
from exec_daemon.timers.zones import UnknownZoneError, host_zone
from exec_daemon.timing import may_wake
from messaging import ErrorCode

_MOST_RUNS = 500


class PreviewBody(Body):
    """A schedule as `cron.create` takes it."""

    schedule: Written
    schedule_type: Literal["cron", "interval", "once"] | None = None
    tz: str | None = Field(default=None, max_length=64)
    count: int = Field(default=NEXT_SHOWN, ge=1, le=100)


class VerdictBody(Body):
    """`reply` is the id of the message in which the harvester found it (GRAMMAR 8)."""

    reply: str = Field(max_length=200)
    verdict: Literal["PASS", "FAIL", "BLOCKED", "PARTIAL", "SKIP"]
    summary: str | None = Field(default=None, max_length=65536)
    artifacts: list[Any] = Field(default_factory=list, max_length=100)


async def _seen(ask: Ask) -> Timer:
    """The timer of the path, by id or name; foreign and missing answer alike (T-52)."""
    wanted, store = ask.request.path_params["id"], ask.services.store
    timer = await store.timer(wanted)
    if timer is None or not (manages(ask.identity, timer) or sees_all(ask.identity)):
        whose = None if sees_all(ask.identity) else str(ask.identity)
        timer = await _named(store, wanted, whose)
    if timer is None:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no timer {wanted[:128]!r} that you may see.")
    return timer


async def _named(store: Store, name: str, whose: str | None) -> Timer | None:
    """The one that has the name, else one that had it."""
    for states in (LISTED, tuple(TimerState)):
        if found := await store.timers(created_by=whose, name=name, states=states, limit=2):
            return found[0] if states is not LISTED or len(found) == 1 else None
    return None


async def one(ask: Ask) -> Response:
    """One timer."""
    timer = await _seen(ask)
    return answer(shown_timer(timer, await ask.services.store.timer_runs(timer.id, 1)))


async def runs(ask: Ask) -> Response:
    """Its runs, the newest first."""
    timer, limit = await _seen(ask), query_number(ask.request, "limit", 20, _MOST_RUNS)
    found = await ask.services.store.timer_runs(timer.id, max(1, limit))
    return answer({"timer": timer.id, "name": timer.name, "runs": [shown_run(run) for run in found]})


async def run(ask: Ask) -> Response:
    """One more run, now."""
    timer = await _seen(ask)
    if not manages(ask.identity, timer):
        raise refuse(ErrorCode.FORBIDDEN, f"{ask.identity} may not run timers.")
    if not may_wake(ask.services.grants.grants, ask.identity, timer.agent):
        raise refuse(ErrorCode.FORBIDDEN, f"{ask.identity} may not wake {timer.agent} by timers.")
    made = await ask.services.timers.run(timer)
    if made is None:
        raise refuse(ErrorCode.BUSY, f"A run of {timer.name} is under way. `box timer history` shows it.")
    return answer(shown_run(made), 201)


async def preview(ask: Ask) -> Response:
    """When a schedule would be due; nothing is made."""
    body = await read_body(ask.request, PreviewBody, ask.services.settings.limits.max_call_bytes)
    tz, now = body.tz or host_zone(), moment(ask.services.clock())
    try:
        kind = Kind(body.schedule_type) if body.schedule_type else None
        schedule = read_schedule(str(body.schedule), kind, tz=tz, now=now)
    except (ScheduleError, UnknownZoneError) as wrong:
        raise refuse(ErrorCode.INVALID_ARGS, f"{wrong}.") from None
    shown = timing_fields(schedule, str(body.schedule))
    due = [local(at, tz) for at in following(schedule, now, body.count)]
    return answer({"schedule_type": str(shown["schedule_type"]), "tz": tz, "next": due})


async def verdict(ask: Ask) -> Response:
    """Ends the run that the reply answers. The store's record says who wrote it, never the text (O-33)."""
    services = ask.services
    body = await read_body(ask.request, VerdictBody, services.settings.limits.max_call_bytes)
    reply = await services.store.message(body.reply)
    if reply is None or not reply.is_reply:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no reply {body.reply[:128]!r}.")
    said = Said(word=body.verdict, reply=reply.id, summary=body.summary, artifacts=tuple(body.artifacts))
    told = await services.timers.verdict(reply, said)
    return answer({"run": None if told is None else shown_run(told), "job": told.job if told else None})
