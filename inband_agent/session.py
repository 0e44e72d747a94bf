"""One run of the agent: from the first prompt over follow-ups to the end of the session."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inband_agent.gate import ask
from inband_agent.inbox import Inbox, Taken
from inband_agent.model import Model, ModelError, Turn
from inband_agent.transcript import Transcript
from messaging.container import (
    ContainerInput,
    ContainerOutput,
    ScriptResult,
    Status,
    first_prompt,
    woken_prompt,
)

_log: Final = logging.getLogger(__name__)

Emit = Callable[[ContainerOutput], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run works with. `folder` is the group's, where its scripts run."""

    model: Model
    inbox: Inbox
    transcript: Transcript
    emit: Emit
    folder: Path | None = None
    system: str = ""


def run(start: ContainerInput, parts: Parts) -> int:
    """Until the session is closed; the exit code. Nothing is taken before a script has had its say.

    A script decides on every path (T-78): follow-ups that wait neither pass it by nor are lost to it (T-28).
    """
    decision: ScriptResult | None = None
    if start.script:
        decision = ask(start.script, folder=parts.folder, zone=start.timezone)
        if not decision.wake_agent:
            _log.info("not woken: %s", decision.reason or "the script said no")
            parts.emit(ContainerOutput(status=Status.SUCCESS))
            return 0
    taken = parts.inbox.take()
    prompt = _first(start, decision, taken)
    while True:
        code = _turn(prompt, taken, parts)
        if code:
            return code
        following = _next(parts)
        if following is None:
            return 0
        taken, prompt = following, "\n".join(following.texts)


def _first(start: ContainerInput, decision: ScriptResult | None, taken: Taken) -> str:
    if decision:
        return first_prompt(woken_prompt(start.prompt, decision.data), scheduled=False, pending=taken.texts)
    return first_prompt(start.prompt, scheduled=start.is_scheduled_task, pending=taken.texts)


def _turn(prompt: str, taken: Taken, parts: Parts) -> int:
    """One question to the model; a failure names no inputs, so the host runs them again (T-10).

    Nor does it name a session in which nothing has been said: none is kept, and the next try would miss it.
    """
    asked = Turn("user", prompt)
    system = [Turn("system", parts.system)] if parts.system else []
    session = parts.transcript.session
    kept = session if parts.transcript.turns else None
    try:
        reply = parts.model.reply([*system, *parts.transcript.turns, asked])
    except ModelError as failed:
        parts.emit(ContainerOutput(status=Status.ERROR, error=str(failed), new_session_id=kept))
        return 1
    parts.transcript.add(asked, Turn("assistant", reply.text))
    parts.emit(
        ContainerOutput(
            status=Status.SUCCESS,
            result=reply.text,
            new_session_id=session,
            usage=reply.usage,
            consumed_inputs=taken.names,
        )
    )
    return 0


def _next(parts: Parts) -> Taken | None:
    """The next follow-ups. Only when there are none yet does the host hear that the agent is idle (T-29)."""
    if parts.inbox.is_closed():
        return None
    waiting = parts.inbox.take()
    if waiting.names:
        return waiting
    parts.emit(ContainerOutput(status=Status.SUCCESS, new_session_id=parts.transcript.session))
    return parts.inbox.wait()
