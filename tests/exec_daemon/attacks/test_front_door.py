"""The front door as a whole: what is served to whom, and what a client that leaves or floods can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon.api.app import OPEN_ROWS, ROWS, App
from exec_daemon.mcp.sessions import Sessions
from exec_daemon.places import Places
from tests.exec_daemon.attacks._awaits import AWAITS
from tests.exec_daemon.conftest import Running
from tests.exec_daemon.test_door import limits
from tests.exec_daemon.test_protocol import JSON_HEAD, connect, everything
from tests.patience import until

# What asks for no identity, and why that is no harm.
OPEN = {
    ("GET", "/healthz"): "says only that it runs",
    ("GET", "/readyz"): "says only that it can serve",
    ("GET", "/openapi.json"): "is the same for everybody and stands in the docs",
    ("POST", "/callback/{job_id}"): "is signed",
    ("GET", "/sign-in"): "is the form",
    ("POST", "/sign-in"): "brings the token",
    ("GET", "/ui/static/{name}"): "files of the package",
}


def served(daemon: Running) -> set[tuple[str, str]]:
    """Every method and path that the application knows."""
    routes = App(daemon.daemon._server._services).routes  # type: ignore[union-attr]
    return {(method, route.path) for route in routes for method in route.methods or ()}


def test_all_that_is_served_to_anybody_is_a_list_that_one_can_read(daemon: Running) -> None:  # D078
    assert len(ROWS) + len(OPEN_ROWS) < len(served(daemon))  # the pages are there too
    with daemon.bearing(None) as stranger:
        for method, path in served(daemon) - set(OPEN):
            if (method == "HEAD") and ("GET", path) in OPEN:
                continue
            answer = stranger.request(method, path.format(id="x", op="x", name="x", sha256="x", seq="1"))
            refused = answer.status_code == 401
            led_away = answer.headers.get("location", "").startswith("/sign-in")
            assert refused or led_away, (method, path, answer.status_code)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
def test_no_other_method_makes_a_call(daemon: Running, method: str) -> None:  # D143
    daemon.agent("heron")
    client = daemon.client("operator")
    asked: dict[str, Any] = {"op": "dm.send", "args": {"to": "heron", "text": method}}
    assert client.request(method, "/exec", json=asked).status_code == 405
    assert client.request(method, "/exec", params={"op": "dm.send", "to": "heron"}).status_code == 405
    assert client.post("/exec", data={"op": "dm.send", "to": "heron", "text": method}).status_code == 415
    assert client.get("/threads/heron/messages").json()["messages"] == []


def test_a_body_that_never_ends_is_refused_while_it_comes(daemon: Running) -> None:  # D050
    fields = (
        b"Authorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n" % daemon.token("operator").encode()
    )
    with connect(daemon) as connection:
        connection.sendall(JSON_HEAD + fields)
        sent = 0
        try:
            while sent < 64 * 1024 * 1024:
                connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
                sent += 65536
        except OSError:
            pass
        assert everything(connection)[:12] in (b"HTTP/1.1 413", b"")  # a reset can overtake the answer
    assert sent < 16 * 1024 * 1024  # what counts and what the kernel holds


def test_everybody_is_told_the_same_ops_in_the_same_bytes(daemon: Running) -> None:  # D117
    with daemon.bearing(daemon.token("operator")) as one, daemon.bearing(daemon.token("operator")) as other:
        lists = {client.get("/ops").content for client in (one, other) for _ in range(50)}
    agents = daemon.agent("heron").get("/ops").json()["ops"]
    assert len(lists) == 1
    ops = httpx2.Response(200, content=lists.pop()).json()["ops"]
    assert [op | {"allowed": None} for op in ops] == [op | {"allowed": None} for op in agents]


@pytest.mark.parametrize(
    "path", ["/replies?wait=60", "/workers?wait=60&seen={seen}", "/threads/heron/stream"]
)
def test_who_leaves_gives_its_place_back(
    start_daemon: Callable[..., Running], path: str
) -> None:  # D131, D132
    running = start_daemon(limits=limits({"most_streams": 2}))
    running.agent("heron")
    harvester = running.client("harvester")
    where = path.format(seen=harvester.get("/workers").json()["seen"])
    bearing = f"Host: localhost\r\nAuthorization: Bearer {running.token('harvester')}"
    head = f"GET {where} HTTP/1.1\r\n{bearing}\r\n\r\n"
    waiting = [connect(running), connect(running)]
    for one in waiting:
        one.sendall(head.encode())
    places = running.daemon._server._services.places  # type: ignore[union-attr]
    until(lambda: taken(places) == 2)
    assert harvester.get(where).json()["code"] == "BUSY"
    for one in waiting:
        one.close()
    until(lambda: taken(places) == 0)


def taken(places: Places) -> int:
    return sum(number for (_, stays), number in places._taken.items() if stays)


def test_a_flood_of_one_is_told_to_wait_and_others_are_served(
    start_daemon: Callable[..., Running], tmp_path: Path
) -> None:  # D133
    running = start_daemon(limits=limits({"most_open": 8}), **AWAITS)
    flood, other = running.client("operator"), running.client("viewer/eve")
    asking = {"op": "my.await", "args": {"file": str(tmp_path / "soon")}}
    with ThreadPoolExecutor(24) as pool:
        asked = [pool.submit(flood.post, "/exec", json=asking) for _ in range(24)]
        until(lambda: sum(one.done() for one in asked) == 16)
        assert other.get("/ops").status_code == 200
        (tmp_path / "soon").touch()
        answers = [one.result() for one in asked]
    assert Counter(answer.status_code for answer in answers) == {200: 8, 503: 16}
    busy = next(answer for answer in answers if answer.status_code == 503)
    assert (busy.headers["retry-after"], busy.json()["error"]["code"]) == ("1", "BUSY")


def hello(client: httpx2.Client) -> httpx2.Response:
    """A client of the Model Context Protocol opens a session."""
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
    return client.post("/mcp", json=body, headers={"accept": "application/json, text/event-stream"})


def test_nobody_takes_all_sessions_of_mcp(daemon: Running) -> None:  # D133
    greedy = daemon.agent("heron")
    opened = [hello(greedy) for _ in range(16)]
    assert [answer.status_code for answer in opened] == [200] * 16
    refused = hello(greedy)
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (
        503,
        "BUSY",
        "60",
    )
    assert hello(daemon.client("viewer/eve")).status_code == 200
    session = {"mcp-session-id": opened[0].headers["mcp-session-id"]}
    assert daemon.client("viewer/eve").delete("/mcp", headers=session).status_code == 404
    assert hello(greedy).status_code == 503
    assert greedy.delete("/mcp", headers=session).status_code == 200
    assert hello(greedy).status_code == 200


def test_a_session_that_nobody_uses_counts_no_more() -> None:
    now_s = [0.0]
    sessions = Sessions(most=1, idle_s=25, now_s=lambda: now_s[0])
    place = sessions.begin("agent/heron")
    assert place is not None
    assert sessions.begin("agent/heron") is None  # also while the first is being opened
    sessions.used("s1", "agent/heron")
    sessions.ended(place)
    assert sessions.begin("agent/heron") is None
    assert sessions.begin("agent/wren") is not None
    now_s[0] = 26.0
    assert sessions.begin("agent/heron") is not None
