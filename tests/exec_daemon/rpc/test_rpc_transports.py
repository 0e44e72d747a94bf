"""The RPC over HTTPS and over the unix socket, against a daemon and agents that are processes."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from exec_daemon import DaemonLimits
from exec_daemon.agent_template import AgentTemplate
from exec_daemon.rpc.socket import rpc_socket
from exec_daemon.settings import WireLimits
from exec_daemon.store import MemoryStore
from messaging.ipc.socket_address import short_address
from tests.exec_daemon.conftest import UNLIMITED, Running
from tests.exec_daemon.rpc._peers import MemoryAgents, desk_over
from tests.patience import PATIENCE_S

PROGRAM = str(Path(__file__).parent / "envelope_agent.py")
AGENTS = {"echo": AgentTemplate(name="echo", argv=(sys.executable, PROGRAM))}
LIMITS = DaemonLimits(rates=UNLIMITED, wire=WireLimits(body_s=0.5), keep_alive_s=0.2)


class Wire:
    """JSON Lines over a socket."""

    def __init__(self, sock: socket.socket, *, chunked: bool = False) -> None:
        self.sock = sock
        self.file = sock.makefile("rb")
        self.chunked = chunked
        self.events: list[dict[str, Any]] = []

    def write(self, text: bytes) -> None:
        self.sock.sendall(b"%x\r\n%s\r\n" % (len(text), text) if self.chunked else text)

    def read(self) -> dict[str, Any]:
        while True:
            line = self.file.readline()
            assert line, "the connection has ended"
            if line.startswith(b"{"):  # not a blank line, nor the size of a chunk
                frame: dict[str, Any] = json.loads(line)
                return frame

    def ask(self, request_id: str, kind: str, **payload: Any) -> dict[str, Any]:
        self.write(json.dumps({"id": request_id, "type": kind, "payload": payload}).encode() + b"\n")
        while "ok" not in (frame := self.read()):
            self.events.append(frame)
        assert frame["id"] == request_id
        return frame

    def until(self, event: str) -> dict[str, Any]:
        while (frame := self.read()).get("event") != event:
            self.events.append(frame)
        return frame


@contextmanager
def unix(home: Path) -> Iterator[Wire]:
    with socket.socket(socket.AF_UNIX) as sock, short_address(home / "rpc.sock") as address:
        sock.settimeout(PATIENCE_S)
        sock.connect(address)
        yield Wire(sock)


@contextmanager
def https(running: Running, token: str) -> Iterator[Wire]:
    """Both directions at once, which HTTP clients do not do."""
    url = urlsplit(running.url)
    context = ssl.create_default_context(cafile=running.home / "ca.pem")
    with (
        socket.create_connection((url.hostname, url.port), 20) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        head = f"POST /rpc HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        head += "content-type: application/x-ndjson\r\n"
        sock.sendall(head.encode() + b"transfer-encoding: chunked\r\n\r\n")
        yield Wire(sock, chunked=True)


@pytest.fixture
def running(start_daemon: Callable[..., Running]) -> Running:
    return start_daemon(agents=AGENTS, limits=LIMITS)


def converse(wire: Wire, request_id: str) -> None:
    task = f"task-{request_id}"
    assert wire.ask(request_id, "create_or_open_task", taskId=task)["result"]["mode"] == "created"
    assert wire.ask(f"{request_id}-p", "prompt", taskId=task, message="hello")["ok"]
    ended = wire.until("agent_end")
    assert ended["payload"]["taskId"] == task


def test_the_socket_is_the_operators_alone(running: Running) -> None:  # J-30
    mode = (running.home / "rpc.sock").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    with unix(running.home) as wire:
        converse(wire, "r1")


async def test_another_user_is_turned_away(store: MemoryStore, tmp_path: Path) -> None:  # J-30
    path = tmp_path / ("long" * 30) / "rpc.sock"  # longer than a socket's address can be
    path.parent.mkdir()
    desk = desk_over(store, MemoryAgents())
    async with rpc_socket(desk, path, keep_alive_s=30, uid=os.getuid() + 1):
        with short_address(path) as address:
            reader, writer = await asyncio.open_unix_connection(address)
        refused = json.loads(await reader.readline())
        assert (refused["id"], refused["error"]["code"]) == (None, "UNAUTHENTICATED")
        assert await reader.read() == b""
        writer.close()


def test_one_connection_of_http_carries_both_directions_for_long(running: Running) -> None:  # J-30
    with https(running, running.token("operator")) as wire:
        converse(wire, "r1")
        for _ in range(5):  # five blank lines: twice as long as a body may take that nobody vouches for
            while wire.file.readline() != b"\n":
                pass
        assert wire.ask("r2", "runtime_get_state")["ok"]


def test_several_clients_share_their_tasks_and_hear_the_same(running: Running) -> None:  # J-30
    running.agent("heron")
    with (
        unix(running.home) as one,
        https(running, running.token("operator")) as two,
        https(running, running.token("agent/heron")) as other,
    ):
        assert two.ask("w1", "runtime_get_state")["ok"]
        assert other.ask("w1", "runtime_get_state")["ok"]
        converse(one, "r1")
        two.until("agent_end")
        assert two.ask("w2", "runtime_get_state")["result"]["tasks"][0]["taskId"] == "task-r1"
        assert other.ask("w2", "runtime_get_state")["result"]["tasks"] == []


def test_answers_are_found_again_behind_a_restart(
    running: Running, start_daemon: Callable[..., Running]
) -> None:  # J-12, J-15, J-31
    with unix(running.home) as wire:
        first = wire.ask("r1", "create_or_open_task", taskId="t1")
        epoch = wire.ask("s1", "runtime_get_state")["result"]["epoch"]
    running.stop()
    again = start_daemon(agents=AGENTS, limits=LIMITS)
    with unix(again.home) as wire:
        assert wire.ask("r1", "create_or_open_task", taskId="t1") == first
        state = wire.ask("s1", "runtime_get_state")["result"]
        assert state["epoch"] != epoch
        assert state["tasks"][0]["state"] == "errored"


def test_a_daemon_that_stops_ends_connections_and_agents(running: Running) -> None:
    with unix(running.home) as wire, https(running, running.token("operator")) as other:
        converse(wire, "r1")
        assert other.ask("s1", "runtime_get_state")["ok"]
        running.stop()
        assert wire.file.read().strip() == b""
        assert not (running.home / "rpc.sock").exists()


def test_a_revoked_token_ends_the_connection(running: Running) -> None:  # J-30
    operator = running.client("operator")
    made = operator.post("/tokens", json={"identity": "viewer/x"}).json()
    with https(running, made["token"]) as wire:
        assert wire.ask("r1", "runtime_diag")["ok"]
        assert operator.delete(f"/tokens/{made['id']}").status_code < 300
        assert wire.ask("r2", "runtime_diag")["error"]["code"] == "UNAUTHENTICATED"
        assert b"{" not in wire.file.read()
