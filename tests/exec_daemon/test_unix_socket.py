"""The whole API over a unix socket, where the kernel says who asks."""

from __future__ import annotations

import errno
import grp
import os
import socket
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon.access.identity import Identity, Role
from exec_daemon.errors import AddressRefused
from exec_daemon.listen import bind_unix
from exec_daemon.settings import UnixSocket
from tests.patience import PATIENCE_S

EVE = Identity(Role.VIEWER, "eve")


def client(path: Path, token: str = "") -> httpx2.Client:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.HTTPTransport(uds=str(path))
    return httpx2.Client(
        base_url="http://localhost", transport=transport, headers=headers, timeout=PATIENCE_S
    )


def test_who_runs_as_the_daemons_user_is_the_operator(daemon: Any) -> None:
    with client(daemon.home / "daemon.sock") as local:
        assert local.get("/tokens").status_code == 200
        assert local.post("/exec", json={"op": "tools.list"}).json()["ok"]


def test_the_socket_is_the_owners_alone(daemon: Any) -> None:  # D076
    mode = (daemon.home / "daemon.sock").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def as_nobody(path: Path) -> int:
    """The error number of another user's attempt to connect; 0 when it gets through."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with socket.socket(socket.AF_UNIX) as sock:
            os._exit(sock.connect_ex(str(path)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_gets_no_connection() -> None:  # D076
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with bind_unix(Path(folder) / "api.sock") as listener:
            listener.listen()
            assert as_nobody(Path(folder) / "api.sock") == errno.EACCES


def test_a_user_is_whom_the_settings_name(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(unix=UnixSocket(users={os.getuid(): EVE}))
    with client(running.home / "daemon.sock") as eve:
        assert "viewer/eve may not" in eve.get("/tokens").json()["detail"]


def test_a_user_without_an_identity_is_nobody(start_daemon: Callable[..., Any]) -> None:  # D076
    running = start_daemon(unix=UnixSocket(users={os.getuid() + 1: EVE}))
    with client(running.home / "daemon.sock") as stranger:
        answer = stranger.get("/ops")
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
        assert f"uid {os.getuid()}" in answer.json()["detail"]
    with client(running.home / "daemon.sock", running.token("operator")) as stranger:
        assert stranger.get("/ops").status_code == 401  # a token does not make up for it


def test_a_token_on_the_socket_says_who_is_meant(daemon: Any) -> None:
    daemon.agent("heron")
    with client(daemon.home / "daemon.sock", daemon.token("agent/heron")) as heron:
        assert "agent/heron may not" in heron.get("/tokens").json()["detail"]
    with client(daemon.home / "daemon.sock", "inband_wrong") as wrong:
        assert wrong.get("/ops").status_code == 401


def test_who_expects_a_job_elsewhere_gets_an_address_that_reaches_us_from_there(daemon: Any) -> None:
    with client(daemon.home / "daemon.sock") as local:
        assert (
            local.post("/callback", json={"job_id": "far-1"}).json()["url"] == f"{daemon.url}/callback/far-1"
        )


def test_the_front_door_is_the_same(daemon: Any) -> None:  # D008
    with client(daemon.home / "daemon.sock") as local:
        assert local.get("/ops", headers={"host": "evil.example"}).status_code == 421
        assert local.post("/exec", content=b"{}").status_code == 415
        assert local.get("/ops", headers={"origin": "https://evil.example"}).status_code == 403


def test_the_socket_may_be_elsewhere_for_a_group(start_daemon: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / ("deep" * 30) / "api.sock"  # longer than a socket's address can be
    path.parent.mkdir()
    group = grp.getgrgid(os.getgid()).gr_name
    running = start_daemon(unix=UnixSocket(path=path, group=group))
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    running.stop()
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "group"), [("file", ""), ("missing/api.sock", ""), ("api.sock", "no-such-group")]
)
def test_a_place_that_cannot_be_used_is_named(tmp_path: Path, name: str, group: str) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(AddressRefused, match=name):
        bind_unix(tmp_path / name, group)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_leftover_of_a_killed_daemon_is_in_nobodys_way(tmp_path: Path) -> None:
    for _ in range(2):
        listener = bind_unix(tmp_path / "api.sock")
        assert listener.family is socket.AF_UNIX
        listener.close()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_socket_that_somebody_listens_on_is_not_taken_away(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "theirs.sock"
    with socket.socket(socket.AF_UNIX, kind) as theirs:
        theirs.bind(str(path))
        if kind == socket.SOCK_STREAM:
            theirs.listen(1)
        before = path.stat().st_ino
        with pytest.raises(AddressRefused, match="in use"):
            bind_unix(path)
        assert path.stat().st_ino == before


def test_what_a_link_in_its_place_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "daemon.sock"
    target.write_text("kept")
    path.symlink_to(target)
    with pytest.raises(AddressRefused, match="in use"):
        bind_unix(path)
    assert (path.is_symlink(), target.read_text()) == (True, "kept")
