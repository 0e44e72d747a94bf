"""Starting, listening and stopping."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon import DaemonError, DaemonLimits, DaemonSettings, StoreError, serve
from exec_daemon.api.sse import changed
from exec_daemon.errors import AddressRefused, HomeUnusable, PortTaken
from exec_daemon.home import prepare
from exec_daemon.listen import is_loopback
from exec_daemon.logs import logging_to
from exec_daemon.store import REPLIES
from exec_daemon.store.memory import MemoryStore
from tests.patience import PATIENCE_S, until

# The program that the tests kill: a daemon, and nothing of the front door.
PROGRAM = """
import sys
import time
from pathlib import Path
from exec_daemon import DaemonSettings, serve
serve(DaemonSettings(home=Path(sys.argv[1]), port=0))
"""


def address_of(home: Path) -> str:
    """Where the daemon listens, once it does."""
    until((home / "daemon.json").exists)
    return str(json.loads((home / "daemon.json").read_text())["url"])


def test_a_daemon_says_where_it_listens_and_takes_it_back(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon()
    address = json.loads((running.home / "daemon.json").read_text())
    assert (address["url"], address["pid"]) == (running.url, os.getpid())
    running.stop()
    assert not (running.home / "daemon.json").exists()


@pytest.mark.parametrize(("seed", "warns"), [("0", True), ("random", False)])
def test_a_process_whose_hashes_others_know_says_so(tmp_path: Path, seed: str, warns: bool) -> None:  # D142
    home, environment = tmp_path / "home", os.environ | {"PYTHONHASHSEED": seed}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(home)], env=environment) as process:
        until((home / "daemon.json").exists)
        process.terminate()
    assert ("PYTHONHASHSEED" in (home / "daemon.log").read_text()) is warns


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_process_with_status_0(tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "home")], stderr=subprocess.PIPE, text=True
    ) as process:
        until((tmp_path / "home" / "daemon.json").exists)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert not (tmp_path / "home" / "daemon.json").exists()
    assert "Traceback" not in said


def test_a_connection_without_a_handshake_is_ended(tmp_path: Path) -> None:
    short = "port=0, limits=DaemonLimits(wire=WireLimits(handshake_s=0.2))"
    program = PROGRAM.replace("port=0", short).replace(
        "import DaemonSettings", "import DaemonLimits, DaemonSettings"
    )
    program = f"from exec_daemon.settings import WireLimits\n{program}"
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "home")]) as process:
        port = int(address_of(tmp_path / "home").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as silent:
            assert silent.recv(1) == b""
        process.terminate()
    assert process.returncode == 0


def test_a_stop_ends_streams_soon(start_daemon: Callable[..., Any]) -> None:  # D128
    running = start_daemon()
    running.agent("heron")
    with running.client("operator").stream("GET", "/threads/heron/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": keep-alive"
        running.daemon.stop()
        assert set(lines) <= {"", ": keep-alive"}
    running.thread.join(PATIENCE_S)
    assert not running.thread.is_alive()


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 in this Python")
def test_a_daemon_can_listen_on_ipv6(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(host="::1")
    assert running.url.startswith("https://[::1]:")
    assert running.client("operator").get("/healthz").status_code == 200


async def test_who_waits_for_news_is_let_go_when_the_daemon_stops(store: MemoryStore) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, stopping.set)
    with store.subscribe(REPLIES) as changes:
        assert not await changed(changes, stopping, timeout_s=3600)


def test_a_silent_stream_is_kept_alive(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=DaemonLimits(keep_alive_s=0.05))
    running.agent("heron")
    with running.client("operator").stream("GET", "/threads/heron/stream") as stream:
        lines = [line for line, _ in zip(stream.iter_lines(), range(6), strict=False)]
    assert lines == [": keep-alive", ""] * 3


def test_a_port_that_is_taken_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port}.*--port") as refused:
            serve(DaemonSettings(home=tmp_path / "home", port=port, log_to_stderr=False))
    assert refused.value.subject == str(port)


def test_a_daemon_takes_as_many_files_as_it_may(tmp_path: Path) -> None:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 512))\n"
        "from pathlib import Path; from exec_daemon import DaemonSettings\n"
        "from exec_daemon.listen import bind\n"
        "bind(DaemonSettings(home=Path(sys.argv[1]), port=0))\n"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    argv = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "512 512\n"


def test_asyncio_repeats_itself_once_a_second(tmp_path: Path) -> None:
    began_s = time.monotonic()
    with logging_to(tmp_path / "log", stderr=False):
        for number in range(100):
            logging.getLogger("asyncio").error("socket.accept() out of system resource")
            logging.getLogger("exec_daemon").info("line %d", number)
    lines = (tmp_path / "log").read_text().splitlines()
    assert 1 <= sum("accept" in line for line in lines) <= 2 + time.monotonic() - began_s
    assert sum(" line " in line for line in lines) == 100


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_listening_beyond_this_machine_has_to_be_asked_for(tmp_path: Path, host: str) -> None:
    with pytest.raises(AddressRefused, match="allow_remote"):
        serve(DaemonSettings(home=tmp_path / "home", host=host, port=0, log_to_stderr=False))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("example.org", False),
    ],
)
def test_loopback_is_what_stays_on_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_an_address_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AddressRefused):
        serve(DaemonSettings(home=tmp_path / "home", host="name.invalid", allow_remote=True, port=0))


def test_a_state_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    with pytest.raises(HomeUnusable, match="BOX_HOME"):
        serve(DaemonSettings(home=tmp_path / "home", port=0, log_to_stderr=False))


def test_a_state_directory_that_others_use_too_is_left_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    home.mkdir(mode=0o755)
    (home / "other").write_text("x")
    with pytest.raises(HomeUnusable, match="chmod 700"):
        serve(DaemonSettings(home=home, port=0, log_to_stderr=False))
    assert stat.S_IMODE(home.stat().st_mode) == 0o755
    assert [path.name for path in home.iterdir()] == ["other"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", ["", "tokens"])
def test_a_state_directory_of_another_user_is_refused(tmp_path: Path, name: str) -> None:
    """Its owner could put a store of their own into it."""
    home = prepare(tmp_path / "home")
    os.chown(home.root / name, 12345, -1)
    with pytest.raises(HomeUnusable, match="belongs to user 12345"):
        prepare(home.root)


@pytest.mark.parametrize("name", ["daemon.log", "ca.key", "tokens/operator", "certificates/x.pem"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    home = prepare(tmp_path / "home")
    os.mkfifo(home.root / name)
    with pytest.raises(HomeUnusable, match=f"{name} is a pipe"):
        serve(DaemonSettings(home=home.root, port=0, log_to_stderr=False))


def test_an_endless_device_behind_a_link_is_refused(tmp_path: Path) -> None:
    home = prepare(tmp_path / "home")
    home.ca_key.symlink_to("/dev/zero")
    with pytest.raises(HomeUnusable, match="is a pipe or a device"):
        prepare(home.root)


def test_an_empty_state_directory_is_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    home.mkdir(mode=0o755)
    prepare(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_corrupt_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "store.db").write_bytes(b"this is no database" * 500)
    with pytest.raises(StoreError):
        serve(DaemonSettings(home=home, port=0, log_to_stderr=False))
    assert (home / "store.db").read_bytes() == b"this is no database" * 500
    assert not (home / "ca.pem").exists()


def test_two_daemons_do_not_share_a_state_directory(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon()
    with pytest.raises(StoreError):
        serve(DaemonSettings(home=running.home, port=0, log_to_stderr=False))
    assert running.client("operator").get("/readyz").status_code == 200
    assert (running.home / "daemon.json").exists()


def test_a_killed_daemon_answers_the_same_call_with_the_stored_result(tmp_path: Path) -> None:
    home, results, messages = tmp_path / "home", [], []
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(home)], stderr=subprocess.DEVNULL
        ) as process:
            url = address_of(home)
            token = (home / "tokens" / "operator").read_text().strip()
            with httpx2.Client(
                base_url=url,
                verify=ssl.create_default_context(cafile=home / "ca.pem"),
                headers={"authorization": f"Bearer {token}"},
            ) as client:
                client.post("/agents", json={"name": "heron"})
                body = {"op": "dm.send", "args": {"to": "heron", "text": "once"}, "call_id": "c1"}
                results.append(client.post("/exec", json=body).json())
                messages = client.get("/threads/heron/messages").json()["messages"]
            process.kill()
        (home / "daemon.json").unlink()
    assert results[1] == results[0] | {"replayed": True}
    assert [message["body"] for message in messages] == ["once"]


def test_every_error_of_the_daemon_says_what_it_is_about() -> None:
    assert issubclass(PortTaken, DaemonError)
    assert PortTaken("taken", "8443").subject == "8443"
