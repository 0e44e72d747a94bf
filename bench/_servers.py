"""The servers that are measured, each a process: `python -m bench._servers NAME FOLDER PORT`.

All listen on uvicorn with httptools and TLS, with the same certificate. `bare` answers with a constant by
Starlette: all that a daemon does comes on top. The MCP servers have one tool that gives back its text and one
that runs `true`; they are stateless and answer in JSON, which is the fastest they do.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TRUE: Final = "/bin/true"
ANSWER: Final = (
    b'{"ok":true,"op":"tools.list","call_id":"call-dbf3a65d3e04258b9d35","job_id":"job-dbf3a65d3e04258b9d35",'
    b'"side_effecting":false,"duration_ms":0.1,"result":{"ops":[],"allowed_for_you":[]}}'
)


async def constant(_: Request) -> Response:
    """The least that a server can do."""
    return Response(ANSWER, media_type="application/json")


def bare(_: Path) -> Any:
    """Starlette with one row."""
    return Starlette(routes=[Route("/exec", constant, methods=["POST"])])


def page(folder: Path) -> Any:
    """The bytes of a page that somebody has put there."""
    content = (folder / "page.html").read_bytes()

    async def same(_: Request) -> Response:
        return Response(content, media_type="text/html")

    return Starlette(routes=[Route("/", same)])


async def run_true() -> str:
    """As one writes it in a tool."""
    process = await asyncio.create_subprocess_exec(TRUE, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return f"{process.returncode} {output.decode()}"


def echo(text: str) -> str:
    """Gives back its text."""
    return text


def mcp_sdk(_: Path) -> Any:
    """The official SDK for Python."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench", log_level="WARNING")
    server.add_tool(echo)
    server.add_tool(run_true)
    return server.streamable_http_app(json_response=True, stateless_http=True)


def fastmcp(_: Path) -> Any:
    """FastMCP."""
    from fastmcp import FastMCP

    server: Any = FastMCP("bench")
    server.tool(echo)
    server.tool(run_true)
    return server.http_app(json_response=True, stateless_http=True)


APPS: Final[dict[str, Callable[[Path], Any]]] = {
    "bare": bare,
    "page": page,
    "mcp": mcp_sdk,
    "fastmcp": fastmcp,
}


def serve_app(name: str, folder: Path, port: int) -> None:
    """With the certificate of the daemon that has run in `folder`."""
    uvicorn.run(
        APPS[name](folder),
        host="127.0.0.1",
        port=port,
        http="httptools",
        ws="none",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ssl_certfile=folder / "server.pem",
        ssl_keyfile=folder / "server.key",
    )


def serve_daemon(folder: Path, port: int) -> None:
    """Ours, without rate limits, with one op of an operator's, and the same without layers around it."""
    from exec_daemon import DaemonLimits, DaemonSettings, serve
    from exec_daemon.access.grants import Rates
    from exec_daemon.access.identity import Role
    from exec_daemon.operator_ops.spec import OpSpec
    from harvester import ScanPolicy
    from inband.explain import page_marks

    limits = DaemonLimits(rates=dict.fromkeys(Role, Rates()), dm_pair_per_min=0)
    op = OpSpec(name="bench.true", argv=(TRUE,), summary="Runs true.", side_effecting=False)
    loose = replace(op, name="bench.loose", confined=False)
    serve(
        DaemonSettings(
            home=folder,
            port=port,
            log_to_stderr=False,
            limits=limits,
            ops=(op, loose),
            marker=page_marks(ScanPolicy()),
        )
    )


def main(name: str, folder: str, port: str) -> None:
    """Until TERM."""
    if name == "daemon":
        serve_daemon(Path(folder), int(port))
    else:
        serve_app(name, Path(folder), int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
