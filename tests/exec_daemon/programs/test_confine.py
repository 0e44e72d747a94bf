"""What is around a program: each layer by what it refuses, and what ordinary programs still do."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from exec_daemon.programs import Network, Profile, Program, Programs, Unconfined
from exec_daemon.programs.nursery import cgroup, kernel, landlock
from exec_daemon.programs.sandbox import LAYERS, Sandbox
from tests.exec_daemon.programs.conftest import BARE, SOCKET, me, python
from tests.patience import PATIENCE_S

CONTROLLERS = Path(cgroup.own_folder() or "/", "cgroup.controllers")
COUNTING = CONTROLLERS.exists() and "pids" in CONTROLLERS.read_text().split()
has_landlock = pytest.mark.skipif(not kernel.landlock_version(), reason="this kernel has no Landlock")
has_scopes = pytest.mark.skipif(kernel.landlock_version() < 6, reason="Landlock of this kernel has no scopes")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

counts_pids = pytest.mark.skipif(not COUNTING, reason="no cgroup of version 2 with the controller pids")


@has_landlock
async def test_it_writes_nowhere(run, profile: Profile, tmp_path: Path) -> None:  # D045
    for path in (tmp_path / "x", "/tmp/inband-pwn", "/var/tmp/inband-pwn", "/dev/zero"):
        ran = await run(f"echo x > {path}", profile=profile)
        assert ran.exit != 0
        assert "Permission denied" in ran.stderr.text
    assert (await run("echo x > /dev/null", profile=profile)).ok


@has_landlock
async def test_it_writes_where_it_may(run, profile: Profile, tmp_path: Path) -> None:
    open_folder = replace(profile, writable=(str(tmp_path),), readable=(*profile.readable, str(tmp_path)))
    ran = await run(
        f"echo x > {tmp_path}/x; mkdir {tmp_path}/d; mv {tmp_path}/x {tmp_path}/d/y", profile=open_folder
    )
    assert ran.ok, ran.stderr.text
    assert (tmp_path / "d" / "y").read_text() == "x\n"


@has_landlock
async def test_the_state_directory_is_hidden_also_below_a_readable_folder(run, tmp_path: Path) -> None:
    home, beside = tmp_path / "home", tmp_path / "beside"
    for folder in (home, beside):
        folder.mkdir()
        (folder / "token").write_text("CANARYCANARY")
    for profile in (Sandbox(user=me(), readable=("/",)).profile(home), Sandbox().reading(home)):
        ran = await run(f"cat {home}/token; ls {home}; cat {beside}/token", profile=profile)
        assert ran.stdout.text == "CANARYCANARY"
        assert ran.stderr.text.count("Permission denied") == 2


@has_landlock
async def test_home_folders_and_temporary_files_of_others_are_not_read(
    run, profile: Profile, tmp_path
) -> None:
    (tmp_path / "secret").write_text("CANARYCANARY")
    ran = await run(f"cat {tmp_path}/secret; ls /root /home", profile=profile)
    assert "CANARY" not in ran.stdout.text
    assert ran.exit != 0


@pytest.mark.parametrize(
    ("network", "family", "made"),
    [
        (Network.NONE, "AF_UNIX", False),  # D046
        (Network.NONE, "AF_INET", False),
        (Network.LOCAL, "AF_UNIX", True),
        (Network.LOCAL, "AF_INET", False),
        (Network.LOCAL, "AF_NETLINK", False),
        (Network.ALL, "AF_INET", True),
        (Network.ALL, "AF_UNIX", True),
    ],
)
async def test_which_sockets_can_be_made(network: Network, family: str, *, made: bool, run, profile) -> None:
    ran = await run(python(SOCKET, family), profile=replace(profile, network=network))
    assert (ran.stdout.text == "made\n") is made, ran.stderr.text
    assert made or "PermissionError" in ran.stderr.text


async def test_what_breaks_out_is_refused(run, profile: Profile) -> None:
    for command in ("unshare --user true", "unshare --mount true", "chroot / true"):
        ran = await run(command, profile=profile)
        assert ran.exit != 0
        assert "not permitted" in ran.stderr.text


async def test_a_program_cannot_give_words_to_a_terminal(run, profile: Profile) -> None:  # D042 D043
    code = (
        "import ctypes, os, pty\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "leader, terminal = pty.openpty()\n"
        "for number in (0x5412, 0x5412 + (1 << 32), 0x541C, 0x541C + (7 << 32)):\n"
        "    print(libc.ioctl(terminal, ctypes.c_ulong(number), b'x'), ctypes.get_errno())\n"
    )
    terminals = replace(profile, readable=(*profile.readable, "/dev"), writable=("/dev/ptmx", "/dev/pts"))
    ran = await run(python(code), profile=terminals)
    assert ran.stdout.text == "-1 1\n" * 4, ran.stderr.text


async def test_it_gains_no_rights_by_what_it_executes(run, profile: Profile) -> None:
    ran = await run("grep -E '^(NoNewPrivs|CapPrm|CapEff|Seccomp):' /proc/self/status", profile=profile)
    told = dict(line.split(":\t") for line in ran.stdout.text.splitlines())
    assert told == {"NoNewPrivs": "1", "CapPrm": "0" * 16, "CapEff": "0" * 16, "Seccomp": "2"}


@has_scopes
async def test_it_sends_no_signals_to_others(run, profile: Profile) -> None:
    ran = await run(f"kill -0 {os.getpid()}", profile=profile)
    assert ran.exit != 0


async def test_it_cannot_look_into_its_spawner(run, profile: Profile) -> None:
    ran = await run("cat /proc/$PPID/mem | head -c 1; cat /proc/$PPID/environ", profile=profile)
    assert ran.stdout.head == b""


@as_root
async def test_a_daemon_that_is_root_runs_programs_as_nobody(run, tmp_path: Path) -> None:
    ran = await run("id -un; id -Gn", profile=Sandbox().profile(tmp_path))
    assert ran.stdout.text == "nobody\nnogroup\n"


async def test_an_unknown_user_is_refused(run, tmp_path: Path) -> None:
    with pytest.raises(Unconfined, match=r"no user 'nobody-at-all': see `sandbox.user`"):
        await run(("true",), profile=Sandbox(user="nobody-at-all").profile(tmp_path))


async def test_limits_hold(run, profile: Profile, tmp_path: Path) -> None:
    limited = replace(
        profile, writable=(str(tmp_path),), file_bytes=1 << 16, open_files=64, memory_bytes=1 << 28
    )
    ran = await run(f"ulimit -n; ulimit -c; head -c 100000 /dev/zero > {tmp_path}/big", profile=limited)
    assert ran.stdout.text == "64\n0\n"
    assert (tmp_path / "big").stat().st_size == 1 << 16
    eater = await run(python("x = bytearray(1 << 30)"), profile=limited)
    assert "MemoryError" in eater.stderr.text


@as_root
async def test_a_fork_bomb_ends_at_its_limit(programs: Programs, run, tmp_path: Path) -> None:  # D041
    few = Sandbox(user="daemon", processes=32).profile(tmp_path)
    code = (
        "import os, time\nn = 0\n"
        "try:\n"
        "    while n < 500:\n"
        "        if os.fork() == 0:\n            time.sleep(600)\n"
        "        n += 1\n"
        "finally:\n    print(n, flush=True)\n"
    )
    ran = await run(python(code), profile=few, time_limit_s=PATIENCE_S)
    assert int(ran.stdout.text) < 40
    assert "BlockingIOError" in ran.stderr.text
    assert (await programs.run(Program(argv=("true",)))).ok


@counts_pids
async def test_processes_are_counted_for_each_program_by_itself(programs: Programs, run) -> None:
    few = replace(BARE, processes=20)
    if "pids" not in (await programs.standing(few)).layers:
        pytest.skip("whoever manages the cgroups here does not let us count processes")
    ran = await run("for n in $(seq 40); do sleep 600 & done; echo more", profile=few)
    assert "Resource temporarily unavailable" in ran.stderr.text
    assert (await run("true", profile=few)).ok


def test_a_group_is_given_a_limit_where_processes_are_counted(tmp_path: Path) -> None:
    group = cgroup.Group(str(tmp_path), -1)
    assert group.limit(20) is None
    (tmp_path / "pids.max").touch()
    assert group.limit(20) == "at most 20 in its cgroup"
    assert (tmp_path / "pids.max").read_bytes() == b"21"  # its spawner is one of them


async def test_ordinary_programs_go_on_working(run, profile: Profile) -> None:
    for command in ("date", "ls -l /usr", "head -c 4 /dev/urandom", "sort /etc/passwd | head -3", "ps ax"):
        if not shutil.which(command.split()[0]):  # `ps` is not on every machine
            continue
        ran = await run(command, profile=profile)
        assert ran.ok, (command, ran.stderr.text)
        assert ran.stdout.head


async def test_without_confinement_only_the_rest_is_left_out(run, tmp_path: Path) -> None:
    loose = replace(Sandbox(user=me()).profile(tmp_path), confined=False)
    ran = await run(
        f"echo x > {tmp_path}/x; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status", profile=loose
    )
    assert ran.stdout.text == "NoNewPrivs:\t0\nSeccomp:\t0\n"


async def test_the_layers_that_hold_are_told(programs: Programs, profile: Profile) -> None:  # D044
    standing = await programs.standing(profile)
    assert "network none" in standing.layers["seccomp"]
    assert ("landlock" in standing.layers) is bool(kernel.landlock_version())
    assert str(standing).startswith(f"trees end by {standing.tree}")


async def test_what_is_demanded_and_missing_keeps_programs_from_running(profile: Profile) -> None:  # D044
    programs = Programs(avoid=("cgroup",))
    try:
        with pytest.raises(Unconfined, match="a cgroup is demanded"):
            await programs.standing(replace(profile, require=("cgroup",)))
        with pytest.raises(Unconfined, match="seccomp is demanded"):
            await programs.standing(replace(profile, confined=False, require=("seccomp",)))
        with pytest.raises(Unconfined, match="pids is demanded"):
            await programs.standing(replace(profile, require=("pids",)))
        with pytest.raises(Unconfined, match="a cgroup is demanded"):
            await programs.run(Program(argv=("true",), profile=replace(profile, require=("cgroup",))))
    finally:
        await programs.close()


def test_layers_that_can_be_demanded() -> None:
    assert LAYERS == ("landlock", "seccomp", "cgroup", "pids")


def test_folders_around_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/secret/x", "a/other", "b"):
        (tmp_path / name).mkdir(parents=True)
    root = str(tmp_path)
    assert sorted(landlock.without([root], [f"{root}/a/secret"])) == [f"{root}/a/other", f"{root}/b"]
    assert landlock.without([f"{root}/a/secret/x", f"{root}/b"], [f"{root}/a/secret"]) == [f"{root}/b"]
    assert landlock.without([f"{root}/a"], [f"{root}/a-long"]) == [f"{root}/a"]  # D020
