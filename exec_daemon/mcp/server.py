"""The server of `/mcp`: both eras of the protocol, on the SDK's low-level server inside our own application.

Who asks was found out by the endpoint, as for every other; it stands in the request's scope. A session of the
older era belongs to the identity that opened it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from sse_starlette.sse import AppStatus
from starlette.types import Message, Receive, Scope, Send

from exec_daemon.access.tokens import Asker
from exec_daemon.calls.execute import Executor, Pending, Rehearsed, result_of
from exec_daemon.mcp.sessions import Sessions
from exec_daemon.mcp.tools import answer, request_of, tool
from exec_daemon.store import Store, job_topic
from messaging import CallRequest, OpInfo, Result

# It would end all later streams of this process when the first server of it stops. We end ours ourselves.
AppStatus.enable_automatic_graceful_drain = False
AppStatus.should_exit = False

ASKER: Final = "inband.asker"
# A call that takes longer tells its steps as progress.
_QUICK_S: Final = 0.2
_POLL_S: Final = 15.0
# One per client that works; each holds a few kilobytes.
_MOST_SESSIONS: Final = 200
# More than the clients of one person or agent at once.
_MOST_OF_ONE: Final = 16
_IDLE_S: Final = 30 * 60
_INSTRUCTIONS: Final = (
    "Each tool is an op of this box. box.exec looks at the machine and changes nothing; tools.list says what "
    "may be called and what has side effects. A call with the same inband/call_id in _meta happens once."
)

Context = ServerRequestContext[Any, Any]
SESSION: Final = "mcp-session-id"


def _session_of(message: Scope | Message) -> str | None:
    """The session that the head of a request or an answer names."""
    named = (value for name, value in message["headers"] if name.lower() == SESSION.encode())
    return next((value.decode("latin-1") for value in named), None)


def _asker(context: Context) -> Asker:
    asker = context.request.scope[ASKER] if context.request is not None else None
    assert isinstance(asker, Asker), "the endpoint puts who asks into the scope"
    return asker


@dataclass(frozen=True, slots=True)
class Tools:
    """What the server's handlers do. `ops` are those that everybody sees."""

    executor: Executor
    store: Store
    ops: Callable[[], tuple[OpInfo, ...]]
    _leaving: set[asyncio.Task[None]] = field(default_factory=set)

    async def list(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        """Every op; calling is what is permitted or not (record D5)."""
        return ListToolsResult(tools=[tool(op) for op in self.ops()])

    async def call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Runs the call as the asker. A refusal is a result with `isError`, so that a model sees it."""
        request = request_of(params, dict(context.meta or {}))
        return answer(await self._ended(context, request))

    async def _ended(self, context: Context, request: CallRequest) -> Result:
        calling = asyncio.create_task(self.executor.call(_asker(context), request, _QUICK_S))
        try:
            ended = await asyncio.shield(calling)
            assert not isinstance(ended, Rehearsed), "no dry run was asked for"
            return ended if isinstance(ended, Result) else await self._followed(context, ended)
        except asyncio.CancelledError:
            self._later(self._given_up(calling))
            raise

    async def _given_up(self, calling: asyncio.Task[Result | Pending | Rehearsed]) -> None:
        """Cancels the job, which may not have begun when its client gave up."""
        ended = await calling
        if isinstance(ended, Pending):
            await self.executor.jobs.cancel(ended.job.id)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """In a task of its own: nothing more may be awaited where the client has given up."""
        task = asyncio.create_task(work)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _followed(self, context: Context, pending: Pending) -> Result:
        """Each event of the job is one step of progress; its end is the result."""
        job_id, seen = pending.job.id, -1
        with self.store.subscribe(job_topic(job_id)) as changes:
            while True:
                for event in await self.store.events(job_id, seen):
                    seen = event.seq
                    await context.session.report_progress(float(seen + 1), None, str(event.type))
                    if event.type.terminal:
                        job = await self.store.job(job_id)
                        assert job is not None, "a job that has events is there"
                        return result_of(job)
                await changes.wait(timeout_s=_POLL_S)


class McpServer:
    """Starts with the first request and ends, with all its streams, when the daemon begins to stop."""

    def __init__(self, tools: Tools, version: str, stopping: asyncio.Event) -> None:
        server = Server(
            "inband",
            version=version,
            instructions=_INSTRUCTIONS,
            on_list_tools=tools.list,
            on_call_tool=tools.call,
        )
        self._manager = StreamableHTTPSessionManager(
            server, max_sessions=_MOST_SESSIONS, session_idle_timeout=_IDLE_S
        )
        self._stopping = stopping
        self.sessions = Sessions(_MOST_OF_ONE, _IDLE_S, time.monotonic)
        self._ready = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        """In one task, since the manager must be left by the task that entered it."""
        async with self._manager.run():
            self._ready.set()
            await self._stopping.wait()

    async def serve(self, asker: Asker, scope: Scope, receive: Receive, send: Send, place: str = "") -> None:
        """One request of `asker`; `place` is that of the session that it is to open."""
        await self._ready.wait()
        identity = str(asker.identity)
        user = AuthenticatedUser(AccessToken(token="", client_id=identity, scopes=list(asker.scopes)))

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.sessions.ended(place)
                if message["status"] < 400:
                    self._note(identity, scope["method"], _session_of(message) or _session_of(scope))
            await send(message)

        try:
            await self._manager.handle_request({**scope, ASKER: asker, "user": user}, receive, noting)
        finally:
            self.sessions.ended(place)

    def _note(self, identity: str, method: str, session: str | None) -> None:
        """What was answered was the owner's: others are told that there is no such session."""
        if session is not None and method == "DELETE":
            self.sessions.ended(session)
        elif session is not None:
            self.sessions.used(session, identity)

    async def ended(self) -> None:
        """Waits for the end."""
        await asyncio.wait({self._task})
