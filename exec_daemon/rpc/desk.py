"""Where requests of all connections arrive: may they, and is it the first time? Then the command runs.

A command that changes something runs in a task of its own, so that a client that goes away changes nothing,
and the same request from another connection joins it (J-10).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from exec_daemon.access.approval import marked_by
from exec_daemon.access.decide import decide
from exec_daemon.access.identity import Identity
from exec_daemon.access.rates import Buckets
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import Asker
from exec_daemon.agent_template import AgentTemplate
from exec_daemon.calls.admit import want
from exec_daemon.calls.chain import Chain
from exec_daemon.calls.faults import fault
from exec_daemon.rpc.command import Command, Done
from exec_daemon.rpc.commands import COMMANDS
from exec_daemon.rpc.connections import Connections
from exec_daemon.rpc.event_log import EventLog
from exec_daemon.rpc.payloads import read_payload
from exec_daemon.rpc.port import TaskRuntime
from exec_daemon.rpc.runtime import Runtime
from exec_daemon.rpc.task import from_store, to_store
from exec_daemon.rpc.words import Words
from exec_daemon.store import Clock, NewId, RpcAnswer, Store, StoreError
from messaging.moment import iso
from messaging.near import did_you_mean, near
from messaging.rpc import (
    KEPT_FOR,
    MOST_KEPT,
    Earlier,
    Request,
    RpcCode,
    RpcError,
    failure,
    judge,
    keeps,
    request_digest,
    rpc_error,
    success,
)

log = logging.getLogger(__name__)

# A task is a worker that the asker starts and steers: the grant to start one is the one to have (O 7.5).
GRANT: Final = "swarm.spawn"

Frame = Mapping[str, Any]
Deliver = Callable[[Frame], object]
Then = tuple[Callable[[], object], ...]


# The RPC has no answer that says "wait", and must be no way round it (O-36).
_NO_WAY_ROUND: Final = f"Not allowed: a person approves each {GRANT}; ask for it by POST /exec."


@dataclass(frozen=True, slots=True)
class _Under:
    """A request under way."""

    digest: str
    answering: asyncio.Task[Frame]


class Desk:
    """One for the daemon. Lives on the event loop."""

    def __init__(
        self,
        *,
        store: Store,
        agents: TaskRuntime,
        templates: Mapping[str, AgentTemplate],
        buckets: Buckets,
        grants: Grants,
        clock: Clock,
        new_id: NewId,
        chain: Chain | None = None,
    ) -> None:
        self._store = store
        self._agents = agents
        self._templates = templates
        self._buckets = buckets
        self._grants = grants
        self._chain = chain
        self._clock = clock
        self._epoch = new_id("epoch")
        self._runtimes: dict[str, Runtime] = {}
        self._under_way: dict[tuple[str, str], _Under] = {}
        self.connections = Connections()

    async def runtime(self, who: Identity) -> Runtime:
        """The tasks of this identity; those of an earlier run of the daemon are found errored or stopped."""
        name = str(who)
        if name not in self._runtimes:
            earlier = [from_store(task) for task in await self._store.rpc_tasks(name)]
            made = Runtime(
                log=EventLog(self._epoch, self._clock),
                agents=self._agents,
                templates=self._templates,
                keep=lambda task: self._store.keep_rpc_task(to_store(name, task)),
                tasks={task.id: task for task in earlier},
                words=Words(self._store, who),
            )
            self._runtimes.setdefault(name, made)
        return self._runtimes[name]

    async def answer(self, asker: Asker, request: Request, deliver: Deliver) -> None:
        """Answers once, by `deliver`, whatever happens. Events that follow an answer come behind it."""
        command = COMMANDS.get(request.type)
        if command is None:
            meant = did_you_mean(near(request.type, COMMANDS))
            text = f"There is no command {request.type[:64]!r}.{meant}"
            deliver(failure(request.id, rpc_error(RpcCode.INVALID_REQUEST, text)))
        elif not command.writes:
            await self._run(asker, command, request, deliver)
        else:
            await self._once(asker, command, request, deliver)

    async def _once(self, asker: Asker, command: Command, request: Request, deliver: Deliver) -> None:
        key = (str(asker.identity), request.id)
        under = self._under_way.get(key)
        verdict = judge(Earlier(under.digest) if under else None, request)
        if isinstance(verdict, RpcError):
            deliver(failure(request.id, verdict))
        elif under is not None:
            deliver(await asyncio.shield(under.answering))
        else:
            answering = asyncio.create_task(self._first(asker, command, request, deliver))
            self._under_way[key] = _Under(request_digest(request), answering)
            answering.add_done_callback(lambda _: self._under_way.pop(key))
            await asyncio.shield(answering)

    async def _first(self, asker: Asker, command: Command, request: Request, deliver: Deliver) -> Frame:
        """The kept answer, or the command's own."""
        who = str(asker.identity)
        try:
            kept = await self._store.rpc_answer(who, request.id)
        except StoreError as failed:
            refused = failure(request.id, _no_store(failed))
            deliver(refused)
            return refused
        fresh = kept is not None and kept.at >= self._since()
        verdict = judge(Earlier(kept.digest, kept.answer) if kept and fresh else None, request)
        if verdict is None:
            return await self._run(asker, command, request, deliver)
        again = failure(request.id, verdict) if isinstance(verdict, RpcError) else verdict.answer or {}
        deliver(again)
        return again

    async def _run(self, asker: Asker, command: Command, request: Request, deliver: Deliver) -> Frame:
        """Runs it. The answer of what ran is on disk before anybody sees it; what was refused did not run."""
        frame: Frame
        then: Then = ()
        try:
            payload = await self._refusal(asker, command) or read_payload(request, command.payload)
            if isinstance(payload, RpcError):
                frame = failure(request.id, payload)
            else:
                frame, then = _frame(request, await command.run(await self.runtime(asker.identity), payload))
                if command.writes and keeps(frame):
                    await self._keep(asker, request, frame)
        except StoreError as failed:
            frame = failure(request.id, _no_store(failed))
        except Exception as raised:  # noqa: BLE001 - each id is answered, whatever was not foreseen
            said = fault(raised)
            frame = failure(request.id, RpcError(RpcCode.INTERNAL_ERROR, said.message, said.details))
        deliver(frame)
        for say in then:
            say()
        return frame

    async def _refusal(self, asker: Asker, command: Command) -> RpcError | None:
        who = asker.identity
        if command.writes:
            barred = await self._chain.barred(who, GRANT, None) if self._chain else None
            facts = Facts(scopes=asker.scopes, grants=self._grants.of(who), barred=barred)
            decision = decide(who, GRANT, {}, facts)
            if not decision.allowed:
                return rpc_error(RpcCode.FORBIDDEN, f"Not allowed: {decision.reason}.", rule=decision.rule)
            if marked_by(who, GRANT, facts, marked=False) is not None:
                return rpc_error(RpcCode.FORBIDDEN, _NO_WAY_ROUND, rule="approval")
        wait_s = self._buckets.take([want(who, self._grants.of(who).rates, writes=command.writes)])
        if not wait_s:
            return None
        text = f"Requests of {who}: too many in the last minute. Try again in {wait_s:.1f} s."
        return rpc_error(RpcCode.RATE_LIMITED, text, retry_after_s=round(wait_s, 3))

    async def _keep(self, asker: Asker, request: Request, frame: Frame) -> None:
        kept = RpcAnswer(
            identity=str(asker.identity),
            id=request.id,
            digest=request_digest(request),
            answer=frame,
            at=self._clock(),
        )
        try:
            await self._store.keep_rpc_answer(kept, since=self._since(), most=MOST_KEPT)
        except StoreError:  # it has happened: saying anything else would have it happen again
            log.exception("the answer to %r could not be kept", request.id)

    def _since(self) -> str:
        return iso(datetime.fromisoformat(self._clock()) - KEPT_FOR)

    async def close(self) -> None:
        """Ends what runs, agents last."""
        under_way = [one.answering for one in self._under_way.values()]
        for answering in under_way:
            answering.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await asyncio.gather(*(runtime.close() for runtime in self._runtimes.values()))


def _frame(request: Request, ended: Done | RpcError) -> tuple[Frame, Then]:
    if isinstance(ended, RpcError):
        return failure(request.id, ended), ()
    return success(request.id, ended.result), ended.then


def _no_store(failed: StoreError) -> RpcError:
    text = "The daemon's store cannot serve now. `box doctor` on its machine says why."
    return rpc_error(RpcCode.BUSY, text, reason=type(failed).__name__)
