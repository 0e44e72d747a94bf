"""Ends that come early: a job is cancelled, an answer is lost, the daemon is told to stop."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from exec_daemon.operator_ops.spec import specs
from exec_daemon.protocol import Protocol
from harvester.client import DaemonClient
from messaging import Call, CallRequest
from tests.exec_daemon.conftest import Running
from tests.exec_daemon.programs.test_trees import HARDY, marked, mine
from tests.exec_daemon.test_door import limits
from tests.exec_daemon.test_protocol import connect
from tests.patience import AGES_S, PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[3]


def test_a_cancelled_job_is_answered_when_its_tree_is_gone(
    start_daemon: Callable[..., Running],
) -> None:  # D025
    marker = mine("attack-cancelled")
    tree = {"argv": [sys.executable, "-S", "-c", HARDY, marker], "summary": "A tree.", "time_limit_s": AGES_S}
    running = start_daemon(ops=specs({"my.tree": {**tree, "confined": False}}))
    client = running.client("operator")
    job = client.post("/exec", json={"op": "my.tree"}, headers={"prefer": "respond-async"}).json()["job_id"]
    until(lambda: len(marked(marker)) > 3)
    began_s = time.monotonic()
    assert client.post(f"/jobs/{job}/cancel").json()["error"]["code"] == "CANCELLED"
    assert marked(marker) == []
    assert time.monotonic() - began_s < PATIENCE_S


class Lossy:
    """A way to the daemon that passes requests on, and hangs up in place of the first answer."""

    def __init__(self, port: int) -> None:
        self.lost: list[bytes] = []
        self._daemon = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, args=(2,))
        self._thread.start()

    def _serve(self, connections: int) -> None:
        with ThreadPoolExecutor(2) as pool, self._listener:
            for _ in range(connections):
                near, _ = self._listener.accept()
                with near, socket.create_connection(("127.0.0.1", self._daemon)) as far:
                    requests = pool.submit(self._carry, near, far)
                    self._carry(far, near, loses=not self.lost)
                    requests.result()

    def _carry(self, source: socket.socket, target: socket.socket, *, loses: bool = False) -> None:
        """The first piece that comes back is the handshake's, the second the answer."""
        pieces = 0
        with suppress(OSError):
            while piece := source.recv(65536):
                pieces += 1
                if loses and pieces == 2:
                    self.lost.append(piece)
                    break
                target.sendall(piece)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        self._thread.join()


def test_an_answer_that_is_lost_on_its_way_is_no_second_message(daemon: Running) -> None:  # D127
    daemon.agent("heron")
    token = (daemon.home / "tokens" / "operator").read_text().strip()
    call = CallRequest(call=Call("dm.send", {"to": "heron", "text": "once"}, "c-lost"))
    way = Lossy(urlsplit(daemon.url).port or 0)
    with DaemonClient(
        f"https://127.0.0.1:{way.port}", token, ca_file=daemon.home / "ca.pem", timeout_s=10
    ) as client:
        result = client.call(call)
    way.join()
    assert len(way.lost) == 1
    assert (result.ok, result.replayed) == (True, True)
    bodies = [
        one["body"] for one in daemon.client("operator").get("/threads/heron/messages").json()["messages"]
    ]
    assert bodies.count("once") == 1


GRACE_S = 3.0

DAEMON = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from exec_daemon import DaemonLimits, DaemonSettings, serve
from tests.exec_daemon.attacks._awaits import AWAITS
limits = DaemonLimits(drain_s=float(sys.argv[3]))
serve(DaemonSettings(home=Path(sys.argv[2]), port=0, limits=limits, **AWAITS))
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-c", DAEMON, str(ROOT), str(tmp_path / "home"), str(GRACE_S)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as running:
        until((tmp_path / "home" / "daemon.json").exists)
        yield running
        running.kill()


def test_a_stop_answers_what_runs_and_leaves_nothing(
    process: subprocess.Popen[bytes], tmp_path: Path
) -> None:  # D128
    home = tmp_path / "home"
    url = json.loads((home / "daemon.json").read_text())["url"]
    token = (home / "tokens" / "operator").read_text().strip()
    context = ssl.create_default_context(cafile=home / "ca.pem")
    bearing = {"authorization": f"Bearer {token}"}
    with (
        httpx2.Client(base_url=url, verify=context, headers=bearing, timeout=PATIENCE_S) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        client.post("/agents", json={"name": "heron"})

        def awaiting(file: Path) -> Future[httpx2.Response]:
            return pool.submit(client.post, "/exec", json={"op": "my.await", "args": {"file": str(file)}})

        short, endless = [awaiting(home / "soon") for _ in range(5)], awaiting(home / "never")
        until(lambda: marked(str(home / "never")) and len(marked(str(home / "soon"))) == 5)
        sent = pool.submit(client.post, "/exec", json={"op": "dm.send", "args": {"to": "heron", "text": "x"}})
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        (home / "soon").touch()
        assert [one.result().status_code for one in short] == [200] * 5
        with suppress(httpx2.TransportError):
            assert sent.result().status_code in (200, 503)
        with pytest.raises(httpx2.TransportError):
            endless.result()
        assert process.wait(PATIENCE_S) == 0
    assert time.monotonic() - began_s < 2 * GRACE_S  # it is one for connections and jobs
    assert marked(str(home / "never")) == []


def test_a_client_that_reads_nothing_does_not_hold_the_stop(
    start_daemon: Callable[..., Running],
) -> None:  # D129
    running = start_daemon(limits=limits({"drain_s": 1}, stalled_s=60.0))
    running.agent("heron")
    for _ in range(14):  # more than the kernel keeps for a connection
        running.client("operator").post("/threads/heron/messages", json={"body": "x" * 1_000_000})
    token = running.token("operator")
    with connect(running) as deaf:
        fields = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        deaf.sendall(f"GET /threads/heron/messages HTTP/1.1\r\n{fields}".encode())
        server = running.daemon._server
        assert server is not None
        open_ones = server.server_state.connections
        until(lambda: any(isinstance(one, Protocol) and one.flow.write_paused for one in open_ones))
        began_s = time.monotonic()
        running.stop()
        assert time.monotonic() - began_s < PATIENCE_S
        assert open_ones == set()
