"""A daemon over real TLS for the tests of the API, and a store in memory for those of the way of a call."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon import Daemon, DaemonError, DaemonLimits, DaemonSettings, MemoryStore, StoreError
from exec_daemon.access.grants import Rates
from exec_daemon.access.identity import Role
from tests.patience import PATIENCE_S, until

UNLIMITED = dict.fromkeys(Role, Rates())


@dataclass
class Running:
    """A daemon in a thread of its own, and clients with the tokens that it was given."""

    home: Path
    daemon: Daemon
    thread: threading.Thread
    clients: dict[str, httpx2.Client] = field(default_factory=dict)
    opened: list[httpx2.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.daemon.url

    def client(self, name: str) -> httpx2.Client:
        """`operator` or `harvester` (the tokens of the first start), else `<role>/<name>` (a new token)."""
        if name not in self.clients:
            self.clients[name] = self.bearing(self.token(name))
        return self.clients[name]

    def token(self, name: str) -> str:
        if "/" not in name:
            return (self.home / "tokens" / name).read_text().strip()
        made = self.client("operator").post("/tokens", json={"identity": name})
        assert made.status_code == 201, made.text
        return str(made.json()["token"])

    def bearing(self, token: str | None) -> httpx2.Client:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        context = ssl.create_default_context(cafile=self.home / "ca.pem")
        made = httpx2.Client(base_url=self.url, verify=context, headers=headers, timeout=PATIENCE_S)
        self.opened.append(made)
        return made

    def agent(self, name: str) -> httpx2.Client:
        """A client of a registered agent."""
        assert self.client("operator").post("/agents", json={"name": name}).status_code in (200, 201)
        return self.client(f"agent/{name}")

    def exec(self, who: str, op: str, args: dict[str, Any] | None = None, **more: Any) -> httpx2.Response:
        return self.client(who).post("/exec", json={"op": op, "args": args or {}, **more})

    def reloaded(self, said: str = "certificates read again") -> None:
        """Waits until the daemon has seen that certificates have changed."""
        until(lambda: said in (self.home / "daemon.log").read_text())

    def hang_up(self) -> None:
        for client in self.opened:
            client.close()

    def stop(self) -> None:
        self.hang_up()
        self.daemon.stop()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


def start(home: Path, **settings: Any) -> Running:
    settings.setdefault("limits", DaemonLimits(rates=UNLIMITED, dm_pair_per_min=0))
    daemon = Daemon(DaemonSettings(home=home, port=0, log_to_stderr=False, **settings))
    listening, failed = threading.Event(), list[Exception]()

    def run() -> None:
        try:
            asyncio.run(daemon.serve(lambda _: listening.set()))
        except (DaemonError, StoreError) as raised:
            failed.append(raised)
            listening.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert listening.wait(PATIENCE_S)
    if failed:
        raise failed[0]
    return Running(home, daemon, thread)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("home"))
    yield running
    running.stop()


@pytest.fixture
def start_daemon(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts daemons over `tmp_path`; those that still run are stopped."""
    started: list[Running] = []

    def begin(**settings: Any) -> Running:
        started.append(start(tmp_path / "home", **settings))
        return started[-1]

    yield begin
    for running in started:
        running.hang_up()
        if running.thread.is_alive():
            running.stop()


@pytest.fixture
def thread(daemon: Running, request: pytest.FixtureRequest) -> str:
    """A fresh thread that the agent heron answers in."""
    daemon.agent("heron")
    name = f"t-{abs(hash(request.node.name))}"
    made = daemon.client("operator").post("/threads", json={"id": name, "title": "Test", "agent": "heron"})
    assert made.status_code == 201, made.text
    return name


def post(
    client: httpx2.Client, thread: str, body: str, key: str | None = None, **more: Any
) -> httpx2.Response:
    """Posts a message; `key` makes it happen once."""
    headers = {"idempotency-key": key} if key else {}
    return client.post(f"/threads/{thread}/messages", json={"body": body, **more}, headers=headers)


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    memory = MemoryStore()
    yield memory
    await memory.close()
