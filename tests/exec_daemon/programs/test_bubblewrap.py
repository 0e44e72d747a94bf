"""A program in bubblewrap: what it sees there, and what holds it as well as without."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.programs import Network, Ran
from exec_daemon.programs.bubblewrap import Room
from exec_daemon.programs.sandbox import Sandbox
from tests.exec_daemon.programs.conftest import SOCKET, Run, me, python

pytestmark = pytest.mark.needs("bwrap")

ROOM = Room()


@pytest.fixture
async def boxed(run: Run, tmp_path: Path) -> Callable[..., Awaitable[Ran]]:
    """Runs a shell's words in bubblewrap; skips where the machine lets nobody make namespaces."""
    loose = Sandbox(user=me()).profile(tmp_path / "home", confined=False)

    async def go(words: str, room: Room = ROOM, **more: Any) -> Ran:
        argv = room.argv(("/bin/sh", "-c", words))
        return await run(argv, profile=loose, third=room.filter(), **more)

    if not (await go("true")).ok:
        pytest.skip("this machine lets bubblewrap make no namespaces")
    return go


async def test_there_is_nothing_else(boxed) -> None:
    ran = await boxed("ls /; touch /usr/x; ls /proc | grep -c '^[0-9]'")
    assert set(ran.stdout.text.split()) <= set("bin dev etc lib lib32 lib64 proc sbin tmp usr 3 4".split())
    assert "Read-only" in ran.stderr.text
    assert (await boxed("sleep 600", time_limit_s=0.3)).timed_out


async def test_it_reads_and_writes_what_is_bound(boxed, tmp_path: Path) -> None:
    for name in ("in", "out", "other"):
        (tmp_path / name).mkdir(mode=0o777)
        (tmp_path / name / "file").write_text(name)
    room = Room(readable=(f"{tmp_path}/in",), writable=(f"{tmp_path}/out",), folder=f"{tmp_path}/out")
    ran = await boxed(f"cat ../in/file; pwd; echo x > made; echo x > ../in/made; ls {tmp_path}", room)
    assert ran.stdout.text == f"in{tmp_path}/out\nin\nout\n"
    assert (tmp_path / "out" / "made").read_text() == "x\n"
    assert not (tmp_path / "in" / "made").exists()


async def test_the_state_directory_is_empty_wherever_it_is_bound(boxed, tmp_path: Path) -> None:
    secret = tmp_path / "state"
    secret.mkdir()
    (secret / "token").write_text("CANARYCANARY")
    (tmp_path / "link").symlink_to(tmp_path)
    for bound in (tmp_path, tmp_path / "link", secret):
        room = Room(readable=(str(bound),), hidden=(str(secret),))
        ran = await boxed(f"cat {secret}/token {bound}/state/token {bound}/token; true", room)
        assert (ran.ok, ran.stdout.text) == (True, "")


async def test_the_filter_and_no_rights_are_around_it_too(boxed) -> None:
    ran = await boxed("grep -E '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status; unshare -U true")
    told = dict(line.split(":\t") for line in ran.stdout.text.splitlines())
    assert told == {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16, "Seccomp": "2"}
    assert "not permitted" in ran.stderr.text


@pytest.mark.parametrize(
    ("network", "family", "made"),
    [(Network.NONE, "AF_UNIX", False), (Network.LOCAL, "AF_UNIX", True), (Network.LOCAL, "AF_INET", False)],
)
async def test_sockets_are_as_without_it(network: Network, family: str, *, made: bool, boxed) -> None:
    ran = await boxed(shlex.join(python(SOCKET, family)), Room(network=network))
    assert (ran.stdout.text == "made\n") is made, ran.stderr.text


async def test_the_network_is_another_unless_it_is_meant_to_be_all(boxed) -> None:
    own = os.readlink("/proc/self/ns/net")  # noqa: PTH115 - no path
    for network in (Network.NONE, Network.ALL):
        ran = await boxed("readlink /proc/self/ns/net", Room(network=network))
        assert (ran.stdout.text.strip() == own) is (network is Network.ALL)
