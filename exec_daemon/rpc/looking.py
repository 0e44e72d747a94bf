"""What changes nothing: each function is one command (docs/rpc.md)."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from exec_daemon.rpc.command import Answer, Done
from exec_daemon.rpc.payloads import Nothing, State
from exec_daemon.rpc.runtime import Runtime

# J-20.
_MOST_HISTORY: Final = 200
# An answer with replayed events stays below the longest line that a reader takes (J-01).
_MOST_REPLAYED_BYTES: Final = 1 << 19


async def models(runtime: Runtime, _wanted: Nothing) -> Answer:
    """What can be started, and with which models."""
    models = [
        {"provider": template.name, "model": model}
        for template in runtime.templates.values()
        for model in template.models or (None,)
    ]
    return Done({"models": models})


async def state(runtime: Runtime, wanted: State) -> Answer:
    """Where everything stands, and what was missed since."""
    log = runtime.log
    state = {
        "activeTaskId": runtime.active,
        "tasks": [task.to_json() for task in runtime.tasks.values()],
        "epoch": log.epoch,
        "lastSeq": log.last,
    }
    if wanted.since is None:
        return Done(state)
    since = wanted.since if wanted.epoch in (None, log.epoch) else 0
    return Done(state | _missed(runtime, since))


def _missed(runtime: Runtime, since: int) -> dict[str, Any]:
    """The events behind `since` (J-15). `more`: ask again, from the last of them on."""
    log, events, left = runtime.log, list[dict[str, Any]](), _MOST_REPLAYED_BYTES
    for event, size_bytes in log.after(since):
        left -= size_bytes
        if left < 0 and events:
            break
        events.append(event.to_json())
    reached = events[-1]["seq"] if events else log.last
    lagged = {"from": since + 1, "to": log.first - 1} if since + 1 < log.first else None
    return {"events": events, "lagged": lagged, "more": reached < log.last}


async def diag(runtime: Runtime, _wanted: Nothing) -> Answer:
    """For who looks for a fault."""
    log = runtime.log
    recent = islice(log.after(max(0, log.last - _MOST_HISTORY)), _MOST_HISTORY)
    history = [
        {"seq": one.seq, "ts": one.ts, "event": one.event, "taskId": one.payload.get("taskId")}
        for one, _ in recent
    ]
    providers = list(runtime.templates)
    return Done(
        {
            "epoch": log.epoch,
            "lastSeq": log.last,
            "firstSeq": log.first,
            "tasks": len(runtime.tasks),
            "providers": providers,
            "history": history,
        }
    )
