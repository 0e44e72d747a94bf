"""`/mcp`: the ops as tools of the Model Context Protocol, over streamable HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from exec_daemon.access.tokens import Asker
from exec_daemon.api.answers import answer
from exec_daemon.api.body import read_content
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from messaging import ErrorCode, StrictJsonError, load_object

if TYPE_CHECKING:
    from exec_daemon.mcp.server import McpServer

_MISSING: Final = "MCP needs a package that is not installed here. Mend it: pip install 'inband[mcp]'"
# JSON-RPC 2.0, section 5.1.
_PARSE_ERROR: Final = -32700
# A session of a client that works is ended by it after minutes.
_LATER_S: Final = 60


class _Answer(Response):
    """The protocol's own server answers, with the body that was read."""

    def __init__(self, server: McpServer, asker: Asker, content: bytes, place: str = "") -> None:
        """`place` is that of the session that is about to be opened."""
        super().__init__()
        self._place = place
        self._server = server
        self._asker = asker
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pending: list[Message] = [{"type": "http.request", "body": self._content, "more_body": False}]

        async def receiving() -> Message:
            return pending.pop() if pending else await receive()

        await self._server.serve(self._asker, scope, receiving, send, self._place)


def _server(ask: Ask) -> McpServer:
    try:
        return ask.services.mcp.server()
    except ImportError:
        raise refuse(ErrorCode.NOT_FOUND, _MISSING) from None


async def talk(ask: Ask) -> Response:
    """One message of a client; the answer is JSON or a stream of events."""
    content = await read_content(ask.request, ask.services.settings.limits.max_call_bytes)
    try:
        document = load_object(content.decode())
    except (UnicodeDecodeError, StrictJsonError) as broken:
        return _parse_error(f"The body is not a strict JSON object: {broken}.")
    server = _server(ask)
    if document.get("method") != "initialize":
        return _Answer(server, ask.asker, content)
    place = server.sessions.begin(str(ask.identity))
    if place is None:
        most = server.sessions.most
        text = f"{ask.identity} has {most} sessions open, as many as one may. End one by DELETE /mcp."
        raise refuse(ErrorCode.BUSY, text, retry_after_s=_LATER_S, most=most)
    return _Answer(server, ask.asker, content, place)


async def leave(ask: Ask) -> Response:
    """The end of a session."""
    return _Answer(_server(ask), ask.asker, b"")


def _parse_error(text: str) -> Response:
    failed: dict[str, Any] = {"code": _PARSE_ERROR, "message": text}
    return answer({"jsonrpc": "2.0", "id": None, "error": failed}, 400)
