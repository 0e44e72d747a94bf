"""Samples for the contract of stores: the stores, known times and ids, short ways to write values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from exec_daemon.store import MemoryStore, NewJob, NewThread, Store, TokenRecord, open_store
from messaging import AuthorKind, CallError, ErrorCode, MessageKind, NewMessage, digest, error

STORES = ("memory", "sqlite")

_START = datetime(2026, 12, 1, 9, tzinfo=UTC)


class Ticks:
    """A clock that moves one second with each look at it."""

    def __init__(self) -> None:
        self._ticks = count()

    def __call__(self) -> str:
        return at(next(self._ticks))


class Ids:
    """`msg-1`, `msg-2`, `job-1` …"""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}-{self._counts[kind]}"


def at(second: int) -> str:
    moment = _START + timedelta(seconds=second)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def open_sample(kind: str, folder: Path) -> Store:
    clock, new_id = Ticks(), Ids()
    if kind == "memory":
        return MemoryStore(clock=clock, new_id=new_id)
    return await open_store(folder / "store.db", clock=clock, new_id=new_id)


def thread(name: str, agent: str | None = None) -> NewThread:
    return NewThread(id=name, title=f"About {name}", agent=agent)


def message(to: str, body: str = "hello", **fields: Any) -> NewMessage:
    usual: dict[str, Any] = {
        "author": "heron",
        "author_kind": AuthorKind.AGENT,
        "kind": MessageKind.TEXT,
    }
    return NewMessage(thread=to, body=body, **usual | fields)


def job(call_id: str = "c1", **fields: Any) -> NewJob:
    usual: dict[str, Any] = {
        "identity": "agent/heron",
        "op": "dm.send",
        "args": {"to": "crane", "text": "hi"},
        "side_effecting": True,
        "effects_inside": True,
    }
    merged = usual | fields
    merged.setdefault("digest", digest(merged["op"], merged["args"]))
    return NewJob(call_id=call_id, **merged)


def token(name: str, **fields: Any) -> TokenRecord:
    usual: dict[str, Any] = {
        "sha256": digest(name),
        "identity": f"agent/{name}",
        "created_at": at(0),
    }
    return TokenRecord(id=name, **usual | fields)


def failure(code: ErrorCode) -> CallError:
    return error(code, "it did not work", side_effecting=True)
