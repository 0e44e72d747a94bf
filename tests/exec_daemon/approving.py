"""What the tests of approvals share: a daemon's parts over one store, and a death between two writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from exec_daemon.access.chain import ChainPolicy
from exec_daemon.access.grants import Grant
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rates import Buckets
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import Asker
from exec_daemon.approvals.asking import Asking
from exec_daemon.approvals.deciding import Deciding
from exec_daemon.artifacts import Artifacts
from exec_daemon.calls.chain import Chain
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.op import Op
from exec_daemon.calls.registry import Registry, registry
from exec_daemon.ops import ALLOWLIST
from exec_daemon.settings import DaemonLimits
from exec_daemon.store import Agent, Approval, ApprovalState, NewThread, Store, Word, random_id
from exec_daemon.store.memory import MemoryStore
from messaging import AuthorKind, Call, CallRequest, ErrorCode, Message, MessageKind, NewMessage, Result

HERON = Asker(Identity(Role.AGENT, "heron"))
HARVESTER = Asker(Identity(Role.HARVESTER, "local"))
ANN = Identity(Role.OPERATOR, "ann")
YES = Word(state=ApprovalState.APPROVED, by=str(ANN))
EXPIRE_S = 3600


class Moment:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.hour = 9

    def __call__(self) -> str:
        return f"2026-12-01T{self.hour:02}:00:00.000Z"


class Later(Moment):
    """A clock of years to come."""

    def __call__(self) -> str:
        return "2036-01-01T00:00:00.000Z"


class Dead(BaseException):
    """The process is gone: nothing of it catches this."""


WRITES = frozenset(
    {"ask", "answer_approval", "link_approval", "settle_approval", "begin", "finish", "append", "note"}
)


class Mortal:
    """A store whose user dies at write number `at`, just before it or just after it was committed."""

    def __init__(
        self, store: Store, at: int, *, committed: bool, die: Callable[[], None] = lambda: None
    ) -> None:
        self._die = die
        self._store = store
        self._left = at
        self._committed = committed
        self.died = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        return self._deadly(method) if name in WRITES else method

    def _deadly(self, method: Any) -> Any:
        async def write(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self.died or (self._left < 0 and not self._committed):
                self._end()
            done = await method(*args, **kwargs)
            if self._left < 0:
                self._end()
            return done

        return write

    def _end(self) -> None:
        self.died = True
        self._die()
        raise Dead


@dataclass
class Parts:
    """One life of a daemon."""

    store: Store
    registry: Registry
    executor: Executor
    deciding: Deciding
    grants: Grants

    async def settled_one(self) -> None:
        """Waits until only what is pending is left."""
        for _ in range(200):
            if all(one.state is ApprovalState.PENDING for one in await self.store.unsettled()):
                return
            await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Waits for what was decided to be carried out."""
        for _ in range(200):
            if not await self.store.unsettled():
                return
            await asyncio.sleep(0.005)


async def no_box(_: str, __: str | int | None, ___: Identity) -> Any:
    return {}


def parts(
    store: Store | Mortal,
    *,
    clock: Moment | None = None,
    ops: tuple[Op, ...] = ALLOWLIST,
    approval: tuple[str, ...] = ("dm.send",),
    grants: dict[str, Grant] | None = None,
    chain: ChainPolicy | None = None,
) -> Parts:
    held, now = cast("Store", store), clock or Moment()
    known = registry(ops)
    granted = Grants(grants or {}, approval=approval)
    executor = Executor(
        registry=known,
        store=held,
        buckets=Buckets(lambda: 0.0),
        limits=DaemonLimits(dm_pair_per_min=0),
        box=no_box,
        keep=Artifacts(Path("unused"), (), most_bytes=0, room_bytes=0),
        new_id=random_id,
        grants=granted,
        chain=Chain(held, chain) if chain else None,
        asking=Asking(store=held, registry=known, clock=now, new_id=random_id, expire_s=EXPIRE_S),
    )
    deciding = Deciding(store=held, registry=known, executor=executor, clock=now)
    return Parts(held, known, executor, deciding, granted)


async def peopled() -> tuple[MemoryStore, Message]:
    """A store in memory with two agents, and a reply of heron in its thread."""
    store = MemoryStore()
    return store, await people(store)


async def people(store: Store) -> Message:
    """Two agents, and a reply of heron."""
    for name in ("heron", "wren"):
        await store.add_agent(Agent(name=name, thread=name))
    await store.create_thread(NewThread(id="ops", title="Ops", agent="heron"))
    reply = NewMessage(
        thread="ops", author="heron", author_kind=AuthorKind.AGENT, kind=MessageKind.TEXT, body="please"
    )
    return (await store.append(reply)).message


def dm(reply: Message | None = None, call_id: str | None = "c1", text: str = "go") -> CallRequest:
    """A `dm.send` to wren, found in `reply` or made directly."""
    call = Call("dm.send", {"to": "wren", "text": text}, call_id)
    if reply is None:
        return CallRequest(call=call)
    return CallRequest(call=call, thread=reply.thread, reply=reply.id, on_behalf_of=reply.author)


async def asked(made: Parts, request: CallRequest, asker: Asker = HARVESTER) -> Approval:
    """What waits after this call."""
    said = await made.executor.call(asker, request)
    assert isinstance(said, Result)
    assert said.error is not None
    assert said.error.code is ErrorCode.APPROVAL_PENDING, said
    found = await made.store.approval(str(said.job_id))
    assert found is not None
    return found


async def delivered(store: Store) -> list[str]:
    return [message.body for message in await store.messages("wren")]


async def told(store: Store) -> list[Message]:
    """What the daemon said in heron's thread."""
    return [message for message in await store.messages("ops") if message.author == "daemon"]
