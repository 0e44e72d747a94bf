"""Events on the wire: `{"type":"event","event":…,"agent":…,"ts":…,"seq":…,"payload":{…}}` (J-03, J-26).

`envelope` reads what `frame` writes, event by event: what one machine hears of an agent, another can be told.
"""

from __future__ import annotations

from typing import Any

from harvester.adapters.events import AgentEvent


def frame(event: AgentEvent, *, agent: str, ts: str, seq: int) -> dict[str, Any]:
    """`ts` is UTC, ISO 8601 with milliseconds; `seq` counts from 0 without gaps."""
    return {
        "type": "event",
        "event": event.kind,
        "agent": agent,
        "ts": ts,
        "seq": seq,
        "payload": event.payload(),
    }
