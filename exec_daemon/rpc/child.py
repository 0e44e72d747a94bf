"""Agents as processes: requests on stdin, events on stdout, both pipes drained until the end (J-27, J-28)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from signal import Signals
from typing import Any, Final

from exec_daemon.rpc.port import Audience, NotOpened, Opening
from messaging.rpc import Event, Lines, Request, RpcCode, encode, read_event

_CHUNK_BYTES: Final = 1 << 16
# What a program says last on stderr is what it died of.
_TAIL_BYTES: Final = 1 << 12
# What waits for an agent that does not read: four of the longest prompts.
_MOST_UNREAD_BYTES: Final = 4 << 20
# A process that the agent left behind may hold its pipes; they are not waited for longer.
_LAST_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildAgents:
    """A `TaskRuntime` of processes. `environment` is what each of them starts from.

    `ready_s`: how long an agent may take to introduce itself (J-27). `term_s`: between TERM and KILL (J-19).
    """

    environment: Mapping[str, str]
    ready_s: float = 10.0
    term_s: float = 1.2

    async def open(self, opening: Opening, audience: Audience) -> ChildAgent:
        try:
            started = await _start(opening, {**self.environment, **opening.variables})
        except (OSError, ValueError) as fault:
            text = f"{opening.argv[0]} cannot be started: {fault}"
            raise NotOpened(RpcCode.TASK_BOOTSTRAP_FAILED, text) from None
        agent = ChildAgent(started, audience, self.term_s)
        try:
            await agent.introduction(self.ready_s)
        except BaseException:
            await agent.stop()
            raise
        return agent


class _Watched(SubprocessStreamProtocol):
    """Knows when the process itself has ended; `Process.wait` also waits for all who hold its pipes."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_CHUNK_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


@dataclass(frozen=True, slots=True)
class _Started:
    process: Process
    transport: asyncio.SubprocessTransport
    exited: asyncio.Event


async def _start(opening: Opening, environment: Mapping[str, str]) -> _Started:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: _Watched(loop),
        *opening.argv,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=opening.folder,
        env=environment,
        start_new_session=True,
    )
    return _Started(Process(transport, protocol, loop), transport, protocol.exited)


class ChildAgent:
    """One process. It is heard by `audience` once it has introduced itself."""

    def __init__(self, started: _Started, audience: Audience, term_s: float) -> None:
        self._started = started
        self._process = started.process
        self._audience = audience
        self._term_s = term_s
        self._told = 0
        self._tail = b""
        self._lines = Lines()
        self._first: asyncio.Future[Event | None] = asyncio.get_running_loop().create_future()
        self._introduced = False
        self.capabilities: frozenset[str] = frozenset()
        self._life = asyncio.create_task(self._live())

    @property
    def has_ended(self) -> bool:
        return self._life.done()

    async def introduction(self, within_s: float) -> None:
        """Waits for the first line. Raises `NotOpened` unless it is the event `ready`."""
        try:
            async with asyncio.timeout(within_s):
                first = await asyncio.shield(self._first)
        except TimeoutError:
            raise NotOpened(
                RpcCode.ENVELOPE_REQUIRED, f"The agent said nothing within {within_s:g} s."
            ) from None
        if first is None:
            raise self._not_introduced()
        self.capabilities = frozenset(map(str, first.payload["capabilities"]))

    @property
    def listens(self) -> bool:
        pipe = self._pipe
        closed = self.has_ended or pipe.is_closing()
        return not closed and pipe.transport.get_write_buffer_size() <= _MOST_UNREAD_BYTES

    def tell(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._told += 1
        if not self._pipe.is_closing():
            self._pipe.write(encode(Request(f"box-{self._told}", kind, payload).to_json()))

    @property
    def _pipe(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    def signal(self, number: Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    async def stop(self) -> None:
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)  # one that is paused could not hear it
        await asyncio.wait({self._life}, timeout=self._term_s)
        self.signal(signal.SIGKILL)
        await self._life

    async def _live(self) -> None:
        reading = asyncio.gather(self._listen(), self._drain())
        await self._started.exited.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_S):
                await reading
        self._started.transport.close()
        if not self._first.done():
            self._first.set_result(None)
        if self._introduced:
            self._audience.ended(self._process.returncode)

    async def _listen(self) -> None:
        async for chunk in _chunks(self._process.stdout):
            for line in self._lines.feed(chunk):
                self._heard(line)
        for line in self._lines.close():
            self._heard(line)

    async def _drain(self) -> None:
        async for chunk in _chunks(self._process.stderr):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]

    def _heard(self, line: bytes | None) -> None:
        event = None if line is None else read_event(line)
        if not self._first.done():
            self._introduced = event is not None and _introduces(event)
            self._first.set_result(event if self._introduced else None)
        elif not self._introduced:
            return
        elif event is not None:
            self._audience.said(event.event, event.payload)
        elif line is not None and not line.startswith(b'{"id":'):  # its answers to what we told it
            chunk = line.decode("utf-8", "replace") + "\n"
            self._audience.said("agent_output", {"chunk": chunk, "structured": False})

    def _not_introduced(self) -> NotOpened:
        if self._process.returncode is None:
            text = "The agent's first line is not the event `ready` with protocolVersion and capabilities."
            return NotOpened(RpcCode.ENVELOPE_REQUIRED, text)
        last = self._tail.decode("utf-8", "replace").strip()[-500:]
        text = f"The agent ended with {self._process.returncode} before it was ready. {last}".strip()
        return NotOpened(RpcCode.TASK_BOOTSTRAP_FAILED, text)


def _introduces(event: Event) -> bool:
    said = event.payload
    return event.event == "ready" and "protocolVersion" in said and isinstance(said.get("capabilities"), list)


async def _chunks(pipe: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    assert pipe is not None
    while chunk := await pipe.read(_CHUNK_BYTES):
        yield chunk
