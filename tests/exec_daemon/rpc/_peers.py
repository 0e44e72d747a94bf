"""Both ends of an RPC connection for the tests: agents in memory, and a client that asks in turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from signal import Signals
from typing import Any

from exec_daemon.access.grants import Rates
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rates import Buckets
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import Asker
from exec_daemon.agent_template import AgentTemplate
from exec_daemon.calls.chain import Chain
from exec_daemon.rpc.converse import Client, converse
from exec_daemon.rpc.desk import Desk
from exec_daemon.rpc.port import Audience, NotOpened, Opening
from exec_daemon.store import Store, utc_now
from messaging.rpc import RpcCode
from tests.patience import PATIENCE_S

OPERATOR = Asker(Identity(Role.OPERATOR, "local"))
HERON = Asker(Identity(Role.AGENT, "heron"))


@dataclass
class MemoryAgent:
    """An agent that does nothing but note what it is told."""

    opening: Opening
    audience: Audience
    capabilities: frozenset[str] = frozenset({"pause", "cancel"})
    has_ended: bool = False
    listens: bool = True
    told: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    signals: list[Signals] = field(default_factory=list)

    def tell(self, kind: str, payload: Mapping[str, Any]) -> None:
        self.told.append((kind, payload))

    def signal(self, number: Signals) -> None:
        self.signals.append(number)

    async def stop(self) -> None:
        self.end(0)

    def end(self, code: int) -> None:
        if not self.has_ended:
            self.has_ended = True
            self.audience.ended(code)


@dataclass
class MemoryAgents:
    """A `TaskRuntime` in memory. Agents come up while `gate` is set, but for the next `fails`."""

    opened: list[MemoryAgent] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    fails: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    async def open(self, opening: Opening, audience: Audience) -> MemoryAgent:
        await self.gate.wait()
        if self.fails:
            self.fails -= 1
            raise NotOpened(RpcCode.TASK_BOOTSTRAP_FAILED, "It did not come up.")
        self.opened.append(MemoryAgent(opening, audience))
        return self.opened[-1]


TEMPLATES = {
    "echo": AgentTemplate(name="echo", argv=("echo",), models=("small", "large"), budget_usd=1.0),
    "other": AgentTemplate(name="other", argv=("other",)),
}


def desk_over(
    store: Store,
    agents: MemoryAgents,
    *,
    templates: Mapping[str, AgentTemplate] = TEMPLATES,
    rates: Rates | None = None,
    approval: tuple[str, ...] = (),
    chain: Chain | None = None,
) -> Desk:
    numbers = count(1)
    return Desk(
        store=store,
        agents=agents,
        templates=templates,
        buckets=Buckets(lambda: 0.0),
        grants=Grants(rates=dict.fromkeys(Role, rates or Rates()), approval=approval),
        clock=utc_now,
        new_id=lambda kind: f"{kind}-{next(numbers)}",
        chain=chain,
    )


# No two connections of a test use one id by chance.
_NUMBERS = count(1)


class Peer:
    """One connection."""

    def __init__(self, desk: Desk, asker: Asker = OPERATOR, *, keep_alive_s: float = 30.0) -> None:
        self._sent = asyncio.Queue[bytes]()
        self._lines = converse(desk, Client(asker=asker), self._chunks(), keep_alive_s=keep_alive_s)
        self.events: list[dict[str, Any]] = []

    async def _chunks(self) -> AsyncIterator[bytes]:
        while chunk := await self._sent.get():
            yield chunk

    def write(self, *frames: Mapping[str, Any] | bytes) -> None:
        for frame in frames:
            self._sent.put_nowait(frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n")

    def end(self) -> None:
        self._sent.put_nowait(b"")

    async def read(self) -> dict[str, Any]:
        """The next frame, whatever it is."""
        async with asyncio.timeout(PATIENCE_S):
            line = await anext(self._lines)
        frame: dict[str, Any] = json.loads(line)
        return frame

    async def rest(self) -> list[dict[str, Any]]:
        """All frames until the connection ends."""
        return [json.loads(line) async for line in self._lines]

    async def ask(self, kind: str, request_id: str | None = None, **payload: Any) -> dict[str, Any]:
        """The answer; events that come before it are kept in `events`."""
        request_id = request_id or f"auto-{next(_NUMBERS)}"
        self.write({"id": request_id, "type": kind, "payload": payload})
        while "ok" not in (frame := await self.read()):
            self.events.append(frame)
        assert frame["id"] == request_id
        return frame

    async def done(self, kind: str, **payload: Any) -> dict[str, Any]:
        """The result of what must succeed."""
        answer = await self.ask(kind, **payload)
        assert answer["ok"], answer
        result: dict[str, Any] = answer["result"]
        return result

    async def refused(self, kind: str, **payload: Any) -> str:
        """The code of what must fail."""
        answer = await self.ask(kind, **payload)
        assert not answer["ok"], answer
        return str(answer["error"]["code"])

    async def until(self, event: str) -> dict[str, Any]:
        """The next event of this name; those before it are kept."""
        while True:
            frame = await self.read()
            self.events.append(frame)
            if frame.get("event") == event:
                return frame

    async def close(self) -> None:
        await self._lines.aclose()


@asynccontextmanager
async def connected(desk: Desk, asker: Asker = OPERATOR, **more: Any) -> AsyncIterator[Peer]:
    peer = Peer(desk, asker, **more)
    try:
        yield peer
    finally:
        await peer.close()
