"""The door of `/mcp`: makes the server when somebody first asks for it, and ends it with the daemon."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from exec_daemon.calls.execute import Executor
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Store

if TYPE_CHECKING:
    from exec_daemon.mcp.server import McpServer


class Door:
    """Lives on the event loop."""

    def __init__(
        self, executor: Executor, store: Store, registry: Registry, version: str, stopping: asyncio.Event
    ) -> None:
        self._executor = executor
        self._store = store
        self._registry = registry
        self._version = version
        self._stopping = stopping
        self._server: McpServer | None = None

    def server(self) -> McpServer:
        """The one server; raises ImportError where the extra is not installed."""
        if self._server is None:
            from exec_daemon.mcp.server import McpServer, Tools

            tools = Tools(self._executor, self._store, lambda: self._registry.infos)
            self._server = McpServer(tools, self._version, self._stopping)
        return self._server

    async def ended(self) -> None:
        """Waits until the server is gone, which the daemon's stop brings about."""
        if self._server is not None:
            await self._server.ended()
