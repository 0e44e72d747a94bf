"""The connection to one MCP server: made when it is first needed, made again when it broke."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

from exec_daemon.mcp_servers.pins import Pin
from exec_daemon.mcp_servers.spec import McpSpec

log = logging.getLogger(__name__)

_CONNECT_S: Final = 15.0
_MOST_PAGES: Final = 20
# A tool that changes while the connection lasts is noticed within so long.
_LIST_EVERY_S: Final = 60.0


class LinkDown(Exception):
    """The server cannot be reached, or broke off."""


def pin_of(tool: Tool) -> Pin:
    """What would be approved of this tool."""
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    return Pin(tool.name, tool.description or "", dict(tool.input_schema), read_only)


@asynccontextmanager
async def connected(spec: McpSpec) -> AsyncIterator[Client]:
    """A client of the server, for as long as the context lasts."""
    async with AsyncExitStack() as stack:
        server = _command(spec, stack) if spec.command else await _address(spec, stack)
        yield await stack.enter_async_context(Client(server, read_timeout_seconds=spec.time_limit_s))


def _command(spec: McpSpec, stack: AsyncExitStack) -> Any:
    """It gets what the operator wrote, and of the daemon's environment what no program does without.

    What it says on stderr is lost: it is not the daemon's.
    """
    ours = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    parameters = StdioServerParameters(
        command=spec.command[0], args=list(spec.command[1:]), env={**ours, **spec.environment}
    )
    return stdio_client(parameters, errlog=stack.enter_context(Path(os.devnull).open("w")))


async def _address(spec: McpSpec, stack: AsyncExitStack) -> Any:
    headers = {}
    if spec.token_file is not None:
        token = await asyncio.to_thread(spec.token_file.read_text)
        headers["authorization"] = f"Bearer {token.strip()}"
    http = httpx2.AsyncClient(headers=headers, timeout=spec.time_limit_s, trust_env=False)
    return streamable_http_client(spec.url, http_client=await stack.enter_async_context(http))


async def offered(client: Client) -> dict[str, Pin]:
    """The tools that the server offers now, by name."""
    found: dict[str, Pin] = {}
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found |= {tool.name: pin_of(tool) for tool in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


class Link:
    """Lives on the event loop. One task owns the connection, since its scopes must end where they began."""

    def __init__(self, spec: McpSpec) -> None:
        self._spec = spec
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._offered: dict[str, Pin] = {}
        self._listed_s = 0.0
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()

    async def call(self, pin: Pin, args: dict[str, Any]) -> CallToolResult | None:
        """The tool's answer; None where the server no longer offers what was approved. Raises `LinkDown`."""
        client = await self._connected()
        try:
            await self._look_again(client)
            if self._offered.get(pin.tool) == pin:
                return await client.call_tool(pin.tool, args)
        except Exception as broken:
            await self.close()
            raise LinkDown(str(broken) or type(broken).__name__) from broken
        await self.close()  # so that the next call looks again
        return None

    async def _look_again(self, client: Client) -> None:
        if time.monotonic() - self._listed_s > _LIST_EVERY_S:
            self._offered, self._listed_s = await offered(client), time.monotonic()

    async def _connected(self) -> Client:
        async with self._lock:
            if self._client is None:
                self._ready, self._leave = asyncio.Event(), asyncio.Event()
                self._task = asyncio.create_task(self._own())
                ready = asyncio.create_task(self._ready.wait())
                await asyncio.wait(
                    {self._task, ready}, timeout=_CONNECT_S, return_when=asyncio.FIRST_COMPLETED
                )
                ready.cancel()
            if self._client is None:
                await self._end()
                raise LinkDown("the server did not answer")
            return self._client

    async def _own(self) -> None:
        try:
            async with connected(self._spec) as client:
                self._offered, self._listed_s = await offered(client), time.monotonic()
                self._client = client
                self._ready.set()
                await self._leave.wait()
        except Exception as broken:  # noqa: BLE001 - whatever a server or its transport does, calls say so
            log.warning("MCP server %s: %s", self._spec.name, broken)
        finally:
            self._client = None

    async def _end(self) -> None:
        if self._task is not None:
            self._leave.set()
            done, _ = await asyncio.wait({self._task}, timeout=2)
            if not done:
                self._task.cancel()
                await asyncio.wait({self._task}, timeout=2)

    async def close(self) -> None:
        """Leaves the server; the next call connects again."""
        async with self._lock:
            with contextlib.suppress(Exception):
                await self._end()
            self._client = None
