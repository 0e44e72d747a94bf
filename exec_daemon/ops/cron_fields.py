"""What the ops on timers share: their arguments, who may touch which timer, and how a plan is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity, Role
from exec_daemon.calls.op import Arguments, OpContext
from exec_daemon.gate_spec import GATE_NAME, GateSpec
from exec_daemon.store.timer_values import Timer
from exec_daemon.timers.look import Look, moment
from exec_daemon.timers.plan import ContextMode, Misfire, Overlap, timing_fields
from exec_daemon.timers.present import look_at
from exec_daemon.timers.reading import Kind, ScheduleError, read_schedule
from exec_daemon.timers.zones import UnknownZoneError
from messaging import CallError, ErrorCode, error
from messaging.moment import iso
from messaging.near import did_you_mean, near

# With its envelope it still is one message, and what an agent reads in one go (O-85).
MOST_PROMPT_BYTES: Final = 16 * 1024
# A timer of seconds whose agent never answers fills its thread no further than this.
MOST_PAUSE_AFTER: Final = 50
_ID: Final = r"^[^\x00-\x1f\x7f]{1,128}$"
_AGENT: Final = r"^[a-z0-9][a-z0-9._-]{0,63}$"
# Nothing that a person does not see: two timers that look alike are taken for each other.
_UNSEEN: Final = r"\x00-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff"
_NAME: Final = rf"^[^\s{_UNSEEN}](?:[^{_UNSEEN}]{{0,78}}[^\s{_UNSEEN}])?$"
GATES: Final = 'The operator writes [gates."NAME"] into box.toml (docs/timers.md).'


# Milliseconds may be written as a number.
Written: TypeAlias = Annotated[str, Field(max_length=200)] | Annotated[int, Field(ge=1, le=2**53)]


class Which(Arguments):
    """One timer."""

    id: str = Field(pattern=_ID, description="id of the timer, or its name")


class Reasoned(Which):
    """One timer, and why."""

    reason: str | None = Field(default=None, max_length=200, description="why, for its history")


class Policies(Arguments):
    """How a timer behaves. Everything may be left out."""

    schedule_type: Literal["cron", "interval", "once"] | None = Field(
        default=None, description="what the schedule is; told from its looks where it is left out"
    )
    name: str | None = Field(default=None, pattern=_NAME, description="a name, one among your timers")
    tz: str | None = Field(default=None, max_length=64, description="IANA time zone, such as Europe/Berlin")
    target: str | None = Field(default=None, pattern=_AGENT, description="the agent to wake; yourself")
    thread: str | None = Field(
        default=None,
        max_length=128,
        description="a thread of that agent to wake it in; this one, or its home",
    )
    script: str | None = Field(
        default=None,
        max_length=65536,
        description="name of a gate of box.toml that is asked before each run; empty for none",
    )
    context_mode: Literal["group", "isolated"] | None = Field(
        default=None, description="isolated: each run in a new thread"
    )
    misfire: Literal["skip", "run_once"] | None = Field(
        default=None, description="what of a time that was missed; skip, for a single time run_once"
    )
    overlap: Literal["skip", "queue"] | None = Field(
        default=None, description="what of a time while the last run is open; skip"
    )
    jitter_s: int | None = Field(default=None, ge=0, le=3600, description="spread runs over so many seconds")
    max_runs: int | None = Field(default=None, ge=1, le=1_000_000, description="end after so many runs")
    until: str | None = Field(default=None, max_length=64, description="end at this time")
    pause_after: int | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="pause after so many runs in a row that went wrong; 5, 0 never",
    )
    nudge_s: int | None = Field(
        default=None, ge=1, le=604_800, description="ask for the verdict after so many seconds; 900"
    )
    deadline_s: int | None = Field(
        default=None, ge=1, le=604_800, description="the verdict is missing after so many seconds; 1800"
    )


def bounded(args: Policies, identity: Identity) -> CallError | None:
    """Only a person's timer goes on whatever comes of its runs: nobody may be there to look at an agent's."""
    after = args.pause_after
    if identity.role is Role.OPERATOR or after is None or 1 <= after <= MOST_PAUSE_AFTER:
        return None
    text = f"pause_after: from 1 to {MOST_PAUSE_AFTER}. Timers that never pause are for operators to make."
    return error(ErrorCode.INVALID_ARGS, text)


def check(args: Any) -> CallError | None:
    """What a JSON Schema cannot say."""
    if args.script and not GATE_NAME.fullmatch(args.script):
        text = f"script: names a gate, and is no script: what agents write is not run. {GATES}"
        return error(ErrorCode.INVALID_ARGS, text)
    size = len((args.prompt or "").encode("utf-8", "replace"))
    if size > MOST_PROMPT_BYTES:
        text = f"prompt has {size} bytes; a timer's message holds at most {MOST_PROMPT_BYTES}."
        return error(ErrorCode.TOO_LARGE, text, details={"bytes": size, "most_bytes": MOST_PROMPT_BYTES})
    if "\0" in (args.prompt or "") or "\0" in (args.thread or ""):
        return error(ErrorCode.INVALID_ARGS, "prompt: holds a NUL character.")
    return None


def gate(args: Policies, context: OpContext, before: str | None = None) -> str | CallError | None:
    """The gate that is asked before each run (T-78): the one that is named, else the one that it had.

    One that is missing and one that is not for the asker answer alike.
    """
    if args.script is None:
        return before
    if not args.script:
        return None
    mine = [name for name, spec in context.gates.items() if _may_name(context.identity, spec)]
    if args.script in mine:
        return args.script
    close = near(args.script, mine)
    text = f"script: there is no gate {args.script!r} for you.{did_you_mean(close)} {GATES}"
    return error(ErrorCode.NOT_FOUND, text, details={"script": args.script, "suggestions": close})


def _may_name(identity: Identity, spec: GateSpec) -> bool:
    listed = identity.role is Role.AGENT and matches(spec.agents, identity.name)
    return identity.role is Role.OPERATOR or listed


def manages(identity: Identity, timer: Timer) -> bool:
    """Operators manage all timers, others those that they made (T-52)."""
    return identity.role is Role.OPERATOR or timer.created_by == str(identity)


async def find(id_or_name: str, context: OpContext) -> Look | CallError:
    """The timer with its runs; one that is foreign and one that is missing answer alike (T-52)."""
    timer = await context.store.timer(id_or_name)
    if timer is None or not manages(context.identity, timer):
        timer = await _named(id_or_name, context)
    look = timer and await look_at(context.store, timer.id, context.clock(), context.new_id)
    if not look:
        text = f"There is no timer {id_or_name[:64]!r} of yours. cron.list names them."
        return error(ErrorCode.NOT_FOUND, text)
    return look


async def _named(name: str, context: OpContext) -> Timer | None:
    """The one timer of this name; an operator's own before those of others."""
    mine = await context.store.timers(created_by=str(context.identity), name=name, limit=1)
    if mine or context.identity.role is not Role.OPERATOR:
        return mine[0] if mine else None
    found = await context.store.timers(name=name, limit=2)
    return found[0] if len(found) == 1 else None


async def recipient(args: Policies, context: OpContext, before: str | None = None) -> str | CallError:
    """The agent that is woken: by default the asker. Whom it may wake, its grant has said."""
    itself = context.identity.name if context.identity.role is Role.AGENT else None
    target = args.target or before or itself
    if target is None:
        return error(ErrorCode.INVALID_ARGS, "target: missing. Name the agent that the timer wakes.")
    if await context.store.agent(target) is None:
        close = near(target, [agent.name for agent in await context.store.agents()])
        text = f"There is no agent {target!r}.{did_you_mean(close)}"
        return error(ErrorCode.NOT_FOUND, text, details={"target": target, "suggestions": close})
    return target


async def place(wanted: str | None, agent: str, context: OpContext) -> str | CallError | None:
    """The thread to wake the agent in: the named one, else the one of the call where it is the agent's."""
    for name in (wanted, context.thread):
        thread = await context.store.thread(name) if name else None
        if thread is not None and thread.agent == agent:
            return thread.id
        if name is not None and name == wanted:
            return error(ErrorCode.NOT_FOUND, f"There is no thread {wanted[:128]!r} of {agent}.")
    return None


_ENUMS: Final[Mapping[str, Callable[[str], Any]]] = MappingProxyType(
    {"misfire": Misfire, "overlap": Overlap, "context_mode": ContextMode}
)


def planned(given: Mapping[str, Any], *, tz: str, now: str) -> dict[str, Any] | CallError:
    """The fields of a plan for the arguments that are `given`; INVALID_ARGS says what is wrong with them."""
    fields = {key: value for key, value in given.items() if value is not None}
    written, kind = fields.pop("schedule", None), fields.pop("schedule_type", None)
    try:
        timing = {} if written is None else _timing(str(written), kind, tz, now)
        if "until" in fields:
            fields["until"] = _until(fields["until"], tz, now)
    except UnknownZoneError as wrong:
        return error(ErrorCode.INVALID_ARGS, f"tz: {wrong}.")
    except ScheduleError as wrong:
        return error(ErrorCode.INVALID_ARGS, f"schedule: {wrong}.")
    return timing | {key: _ENUMS[key](value) if key in _ENUMS else value for key, value in fields.items()}


def _timing(written: str, kind: str | None, tz: str, now: str) -> dict[str, Any]:
    schedule = read_schedule(written, Kind(kind) if kind else None, tz=tz, now=moment(now))
    return {"tz": tz, **timing_fields(schedule, written)}


def _until(written: str, tz: str, now: str) -> str:
    try:
        end = read_schedule(written, Kind.ONCE, tz=tz, now=moment(now))
    except ScheduleError as wrong:
        raise ScheduleError(f"until: {wrong}") from None
    return iso(end.after(moment(now)) or moment(now))
