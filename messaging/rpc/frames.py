"""Frames: one JSON object a line. Requests in, responses and events out (J-02 to J-06).

    request   {"id": "r1", "type": "prompt", "payload": {"message": "…"}}
    response  {"id": "r1", "ok": true, "result": {…}}
              {"id": "r1", "ok": false, "error": {"code", "message", "retryable", "details"?}}
    event     {"type": "event", "event": "agent_end", "agent": "heron", "ts": "…", "epoch": "…", "seq": 7,
               "payload": {"taskId": "t1"}}

Reading is strict for requests, since they have effects, and tolerant for events, since agents write them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from messaging.rpc.codes import RpcCode, RpcError, rpc_error
from messaging.strict_json import StrictJsonError, load_object

# A key of the store: a UUID has 36 characters, a content hash 64.
MOST_ID_CHARS: Final = 256
# What an answer says of itself: as the type of a request they would be taken for one (J-05).
_NO_REQUESTS: Final = frozenset({"response", "event"})
_FIELDS: Final = ("id", "type", "payload")

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Request:
    """One command."""

    id: str
    type: str
    payload: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The frame."""
        return {"id": self.id, "type": self.type, "payload": dict(self.payload)}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that is no request; `id` is its own where it has one (J-06)."""

    id: str | None
    error: RpcError


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `epoch` changes when the daemon starts anew; `seq` has no gaps within one."""

    event: str
    agent: str
    ts: str
    payload: Mapping[str, Any]
    epoch: str = ""
    seq: int = 0

    def to_json(self) -> dict[str, Any]:
        """The frame (J-03, J-31)."""
        return {
            "type": "event",
            "event": self.event,
            "agent": self.agent,
            "ts": self.ts,
            "epoch": self.epoch,
            "seq": self.seq,
            "payload": dict(self.payload),
        }


def success(request_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """The response to a request that did what it says."""
    return {"id": request_id, "ok": True, "result": dict(result)}


def failure(request_id: str | None, error: RpcError) -> dict[str, Any]:
    """The response to a request that was refused or failed; `id` is null where none could be read."""
    return {"id": request_id, "ok": False, "error": error.to_json()}


def encode(frame: Mapping[str, Any]) -> bytes:
    """One line."""
    return _ENCODER.encode(dict(frame)).encode("utf-8", "replace") + b"\n"


def _rejected(request_id: str | None, text: str, **details: Any) -> Rejected:
    return Rejected(request_id, rpc_error(RpcCode.INVALID_REQUEST, text, **details))


def read_request(line: bytes) -> Request | Rejected:
    """The request that one line holds, or why it is none."""
    try:
        frame = load_object(line.decode())
    except UnicodeDecodeError:
        return _rejected(None, "The line is not UTF-8.")
    except StrictJsonError as broken:
        return _rejected(None, f"The line is not a strict JSON object: {broken}.")
    request_id = frame.get("id")
    if not isinstance(request_id, str) or not request_id:
        return _rejected(None, "The request has no id: a string that is not empty.")
    problem = _problem(frame)
    if problem:
        return _rejected(request_id, problem)
    return Request(request_id, frame["type"], frame["payload"])


def _problem(frame: Mapping[str, Any]) -> str | None:
    kind = frame.get("type")
    if len(frame["id"]) > MOST_ID_CHARS:
        return f"The id has more than {MOST_ID_CHARS} characters."
    if not isinstance(kind, str) or not kind or kind in _NO_REQUESTS:
        return "type names the command."
    if not isinstance(frame.get("payload"), dict):
        return "payload is missing or no object; send {} where there is nothing to say."
    if set(frame) - set(_FIELDS):
        return f"A request has {', '.join(_FIELDS)} and nothing beside them; arguments go into payload."
    return None


def read_event(line: bytes) -> Event | None:
    """The event that a line of an agent holds; None for any other line (J-14).

    Others write `timestamp` for `ts`, and `taskId` beside the payload (J-03).
    """
    try:
        frame = load_object(line.decode())
    except (UnicodeDecodeError, StrictJsonError):
        return None
    name, payload = frame.get("event"), frame.get("payload")
    if frame.get("type") != "event" or not isinstance(name, str) or not isinstance(payload, dict):
        return None
    task = {"taskId": frame["taskId"]} if "taskId" in frame else {}
    return Event(
        event=name,
        agent=_words(frame.get("agent")),
        ts=_words(frame.get("ts")) or _words(frame.get("timestamp")),
        payload=task | payload,
        epoch=_words(frame.get("epoch")),
        seq=_count(frame.get("seq")),
    )


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
