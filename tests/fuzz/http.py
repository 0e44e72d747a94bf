"""Seeded requests to everything that a daemon serves: no fault, whatever comes from whomever.

`./box fuzz http [REQUESTS] [SEED]`, 20,000 by default. The endpoints are those that the application itself
knows: those of the API and of callbacks, the web page with its forms and files, MCP and RPC, streams. Bodies
are made from each endpoint's model, calls from each op's, callbacks are signed, forms are forms; some of all
of it is wrong. Afterwards no request has met a fault, the log has none, and the audit is whole.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run isolated: it is not on the path

import httpx2

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.policy import Policy
from exec_daemon.api.app import EVERY_ROW, App
from exec_daemon.api.route import Row
from exec_daemon.services import Services
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate
from exec_daemon.workers.rules import WorkerRules
from tests.exec_daemon.conftest import Running, start
from tests.fuzz._requests import Asked, Requests
from tests.fuzz._values import Values

WHO: Final = ("operator", "harvester", "agent/heron", "agent/wren", "viewer/v", "worker/w")
ROLES: Final = {(row.method, row.path): row.roles for row in EVERY_ROW if isinstance(row, Row)}
# The rest of a stream is of no interest.
MOST_READ_BYTES: Final = 16 * 1024
LIMIT_S: Final = 20.0


@dataclass
class World:
    """The daemon, a client for each of `WHO`, and an operator whom no request can shut out."""

    running: Running
    clients: dict[str, httpx2.Client]
    admin: httpx2.Client
    routes: list[tuple[str, str]]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def mend(self) -> None:
        """Grants and tokens that a request has changed or taken back."""
        with self.lock:
            for grant in self.admin.get("/grants").json()["grants"]:
                if grant["place"] == "store":
                    self.admin.delete("/grants", params={"subject": grant["subject"]})
            for who in WHO:
                if self.clients[who].get("/ops").status_code == 401:
                    identity = who if "/" in who else f"{who}/local"
                    made = self.admin.post("/tokens", json={"identity": identity})
                    self.clients[who] = self.running.bearing(str(made.json()["token"]))


@dataclass
class Fuzzer:
    """One request after another, each of somebody. `faults` are those that the daemon is to blame for."""

    world: World
    chance: random.Random
    values: Values
    requests: Requests
    statuses: Counter[int] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def run(self, requests: int) -> None:
        for number in range(requests):
            if number % 100 == 0:
                self.world.mend()
            method, path = self.chance.choice(self.world.routes)
            self._send(self._who(method, path), self.requests.one(method, path), path)

    def _who(self, method: str, path: str) -> httpx2.Client:
        """Mostly one whose role the endpoint is for."""
        roles = ROLES.get((method, path), ())
        may = [who for who in WHO if who.partition("/")[0] in roles]
        who = self.chance.choice(may if may and self.chance.random() < 0.8 else WHO)
        return self.world.clients[who]

    def _send(self, client: httpx2.Client, asked: Asked, row: str) -> None:
        request = client.build_request(
            asked.method,
            asked.path,
            params=asked.query,
            content=asked.content,
            headers=asked.headers,
            timeout=LIMIT_S,
        )
        try:
            answer = client.send(request, stream=True)
            body = _beginning(answer)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            self.statuses[0] += 1  # a refusal that came before all was sent
            return
        except httpx2.TransportError as broken:
            self.faults.append(f"{asked}: {broken!r}")
            return
        self.statuses[answer.status_code] += 1
        self.values.saw(f'"{answer.headers.get("mcp-session-id")}" {body}')
        if answer.status_code < 400:
            self.reached[f"{asked.method} {row}"] += 1
        if answer.status_code >= 500 and not _typed(answer.status_code, body):
            self.faults.append(f"{asked} -> {answer.status_code} {body[:300]}")


def _beginning(answer: httpx2.Response) -> str:
    """What comes first; a stream says nothing more for a while."""
    read = b""
    try:
        for piece in answer.iter_raw():
            read += piece
            if len(read) >= MOST_READ_BYTES or b"keep-alive" in read:
                break
    finally:
        answer.close()
    return read.decode("utf-8", "replace")


def _typed(status: int, body: str) -> bool:
    """Too much to do, or too late: told by its code."""
    return status in (503, 504) and any(code in body for code in ("BUSY", "UNAVAILABLE", "TIMEOUT"))


def services_of(running: Running) -> Services:
    server = running.daemon._server
    assert server is not None
    return server._services


def world_of(home: Path) -> World:
    """A daemon with something in it."""
    template = WorkerTemplate(name="shell", runtime=WorkerRuntime.TMUX, most=10**6)
    workers = WorkerRules(templates={"shell": template}, most_alive=10**6, most_per_hour=10**6)
    running = start(
        home, workers=workers, policy=Policy(approvals=ApprovalPolicy(ops=("artifact.put", "cron.pause")))
    )
    for name in ("heron", "wren"):
        running.agent(name)
    running.client("operator").post("/threads", json={"id": "t1", "agent": "heron"})
    (running.home / "outbox" / "report.html").write_text("<p>all is well</p>")
    local = httpx2.HTTPTransport(uds=str(running.home / "daemon.sock"))
    admin = httpx2.Client(base_url="http://localhost", transport=local, timeout=LIMIT_S)
    routes = App(services_of(running)).routes
    served = sorted((method, route.path) for route in routes for method in route.methods or ())
    return World(running, {who: running.client(who) for who in WHO}, admin, served)


def fuzzer_of(world: World, seed: int) -> Fuzzer:
    chance = random.Random(seed)
    values, secret = Values(chance), services_of(world.running).callback_secret
    names = tuple(one.name for one in (files("exec_daemon.web") / "static").iterdir())
    return Fuzzer(world, chance, values, Requests(values, secret, world.running.token("operator"), names))


def fuzz(home: Path, requests: int, seed: int, threads: int = 4) -> int:
    """Prints what came; 1 when there was a fault."""
    world = world_of(home)
    try:
        fuzzers = [fuzzer_of(world, seed + number) for number in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda one: one.run(requests // threads), fuzzers))
        whole = world.admin.get("/audit/check").json()
        return told(world, fuzzers, whole)
    finally:
        world.admin.close()
        world.running.stop()


def told(world: World, fuzzers: list[Fuzzer], whole: dict[str, Any]) -> int:
    statuses = sum((one.statuses for one in fuzzers), Counter[int]())
    reached = sum((one.reached for one in fuzzers), Counter[str]())
    faults = [fault for one in fuzzers for fault in one.faults]
    lines = (world.running.home / "daemon.log").read_text().splitlines()
    faults += [line for line in lines if "incident" in line or " ERROR " in line]
    faults += [] if whole.get("ok") else [f"the audit: {whole}"]
    known = {f"{method} {path}" for method, path in world.routes}
    print(f"{sum(statuses.values())} requests, by status: {dict(sorted(statuses.items()))}")
    never = ", ".join(sorted(known - set(reached))) or "-"
    print(f"{len(reached)} of {len(known)} endpoints said yes; never: {never}")
    print("\n".join(faults[:40]) or "no fault")
    return int(bool(faults))


def main() -> int:
    requests, seed = (int(word) for word in (*sys.argv[1:3], *("20000", "1")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as home:
        return fuzz(Path(home) / "home", requests, seed)


if __name__ == "__main__":
    sys.exit(main())
