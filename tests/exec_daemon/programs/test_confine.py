"""What is around a program: each layer by what it refuses, and what ordinary programs still do."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from struct import unpack
from typing import Any

import pytest

from exec_daemon.programs import Network, Profile, Program, Programs, Ran, Unconfined
from exec_daemon.programs.bubblewrap import Room
from exec_daemon.programs.nursery import cgroup, kernel, landlock, seccomp
from exec_daemon.programs.sandbox import LAYERS, Sandbox
from tests.exec_daemon.programs.conftest import BARE, Run
from tests.patience import PATIENCE_S

CONTROLLERS = Path(cgroup.own_folder() or "/", "cgroup.controllers")
COUNTING = CONTROLLERS.exists() and "pids" in CONTROLLERS.read_text().split()
has_landlock = pytest.mark.skipif(not kernel.landlock_version(), reason="this kernel has no Landlock")
has_scopes = pytest.mark.skipif(kernel.landlock_version() < 6, reason="Landlock of this kernel has no scopes")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

counts_pids = pytest.mark.skipif(not COUNTING, reason="no cgroup of version 2 with the controller pids")

SOCKET = "import socket, sys\nsocket.socket(getattr(socket, sys.argv[1]))\nprint('made')"


def python(code: str, *words: str) -> tuple[str, ...]:
    return ("/usr/bin/env", "python3", "-S", "-c", code, *words)


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
    for profile in (Sandbox(user=_me(), readable=("/",)).profile(home), Sandbox().reading(home)):
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
        "        if os.fork() == 0:\n            time.sleep(60)\n"
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
    ran = await run("for n in $(seq 40); do sleep 60 & done; echo more", profile=few)
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
    loose = replace(Sandbox(user=_me()).profile(tmp_path), confined=False)
    ran = await run(
        f"echo x > {tmp_path}/x; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status", profile=loose
    )
    assert ran.stdout.text == "NoNewPrivs:\t0\nSeccomp:\t0\n"


@pytest.fixture
async def boxed(run: Run, tmp_path: Path) -> Callable[..., Awaitable[Ran]]:
    """Runs a shell's words in bubblewrap; skips where the machine lets nobody make namespaces."""
    loose = Sandbox(user=_me()).profile(tmp_path / "home", confined=False)

    async def go(words: str, room: Room = ROOM, **more: Any) -> Ran:
        argv = room.argv(("/bin/sh", "-c", words))
        return await run(argv, profile=loose, third=room.filter(), **more)

    if not (await go("true")).ok:
        pytest.skip("this machine lets bubblewrap make no namespaces")
    return go


ROOM = Room()


@pytest.mark.needs("bwrap")
async def test_in_bubblewrap_there_is_nothing_else(boxed) -> None:
    ran = await boxed("ls /; touch /usr/x; ls /proc | grep -c '^[0-9]'")
    assert set(ran.stdout.text.split()) <= set("bin dev etc lib lib32 lib64 proc sbin tmp usr 3 4".split())
    assert "Read-only" in ran.stderr.text
    assert (await boxed("sleep 60", time_limit_s=0.3)).timed_out


@pytest.mark.needs("bwrap")
async def test_in_bubblewrap_it_reads_and_writes_what_is_bound(boxed, tmp_path: Path) -> None:
    for name in ("in", "out", "other"):
        (tmp_path / name).mkdir(mode=0o777)
        (tmp_path / name / "file").write_text(name)
    room = Room(readable=(f"{tmp_path}/in",), writable=(f"{tmp_path}/out",), folder=f"{tmp_path}/out")
    ran = await boxed(f"cat ../in/file; pwd; echo x > made; echo x > ../in/made; ls {tmp_path}", room)
    assert ran.stdout.text == f"in{tmp_path}/out\nin\nout\n"
    assert (tmp_path / "out" / "made").read_text() == "x\n"
    assert not (tmp_path / "in" / "made").exists()


@pytest.mark.needs("bwrap")
async def test_in_bubblewrap_the_state_directory_is_empty_wherever_it_is_bound(boxed, tmp_path: Path) -> None:
    secret = tmp_path / "state"
    secret.mkdir()
    (secret / "token").write_text("CANARYCANARY")
    (tmp_path / "link").symlink_to(tmp_path)
    for bound in (tmp_path, tmp_path / "link", secret):
        room = Room(readable=(str(bound),), hidden=(str(secret),))
        ran = await boxed(f"cat {secret}/token {bound}/state/token {bound}/token; true", room)
        assert (ran.ok, ran.stdout.text) == (True, "")


@pytest.mark.needs("bwrap")
async def test_in_bubblewrap_the_filter_and_no_rights_are_around_it_too(boxed) -> None:
    ran = await boxed("grep -E '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status; unshare -U true")
    told = dict(line.split(":\t") for line in ran.stdout.text.splitlines())
    assert told == {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16, "Seccomp": "2"}
    assert "not permitted" in ran.stderr.text


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    ("network", "family", "made"),
    [(Network.NONE, "AF_UNIX", False), (Network.LOCAL, "AF_UNIX", True), (Network.LOCAL, "AF_INET", False)],
)
async def test_in_bubblewrap_sockets_are_as_without(
    network: Network, family: str, *, made: bool, boxed
) -> None:
    ran = await boxed(shlex.join(python(SOCKET, family)), Room(network=network))
    assert (ran.stdout.text == "made\n") is made, ran.stderr.text


@pytest.mark.needs("bwrap")
async def test_in_bubblewrap_the_network_is_another_unless_it_is_meant_to_be_all(boxed) -> None:
    own = os.readlink("/proc/self/ns/net")  # noqa: PTH115 - no path
    for network in (Network.NONE, Network.ALL):
        ran = await boxed("readlink /proc/self/ns/net", Room(network=network))
        assert (ran.stdout.text.strip() == own) is (network is Network.ALL)


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


def test_a_machine_whose_calls_have_no_numbers_here_has_no_filter_and_everything_else() -> None:  # D044
    with pytest.raises(KeyError):  # what `confine` leaves the layer out for
        seccomp.filter_of("riscv64", network="none")


def test_layers_that_can_be_demanded() -> None:
    assert LAYERS == ("landlock", "seccomp", "cgroup", "pids")


def test_folders_around_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/secret/x", "a/other", "b"):
        (tmp_path / name).mkdir(parents=True)
    root = str(tmp_path)
    assert sorted(landlock.without([root], [f"{root}/a/secret"])) == [f"{root}/a/other", f"{root}/b"]
    assert landlock.without([f"{root}/a/secret/x", f"{root}/b"], [f"{root}/a/secret"]) == [f"{root}/b"]
    assert landlock.without([f"{root}/a"], [f"{root}/a-long"]) == [f"{root}/a"]  # D020


# ---- the filter, read by a machine that does what the kernel does


def verdict(program: bytes, *, arch: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What the BPF program returns for a system call (linux/filter.h)."""
    words = {0: number, 4: arch}
    for index, argument in enumerate(arguments):
        words[16 + 8 * index] = argument & 0xFFFFFFFF
    steps = [unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    loaded, at = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            loaded = words.get(value, 0)
        else:
            test = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += then if test else otherwise


ALLOWED, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_refuses_what_it_names_and_allows_the_rest(machine: str) -> None:
    program = seccomp.filter_of(machine, network="none")
    arch, column = ARCHES[machine], list(ARCHES).index(machine)
    for name, numbers in seccomp._CALLS.items():
        number = numbers[column]
        assert number is None or verdict(program, arch=arch, number=number) == EPERM, name
    execve, read = {"x86_64": (59, 0), "aarch64": (221, 63)}[machine]
    assert verdict(program, arch=arch, number=execve) == verdict(program, arch=arch, number=read) == ALLOWED


@pytest.mark.parametrize("machine", ARCHES)
def test_another_instruction_set_gets_no_call_at_all(machine: str) -> None:
    program = seccomp.filter_of(machine, network="all")
    assert verdict(program, arch=0x40000003, number=4) == ENOSYS  # i386
    assert verdict(program, arch=ARCHES[machine], number=0x40000000 | 1) == ENOSYS  # x32
    assert verdict(program, arch=ARCHES[machine], number=435) == ENOSYS  # clone3: its flags are in memory


@pytest.mark.parametrize("machine", ARCHES)
def test_arguments_are_looked_at_in_their_lower_half(machine: str) -> None:  # D043
    program = seccomp.filter_of(machine, network="local")
    arch, column = ARCHES[machine], list(ARCHES).index(machine)
    ioctl, clone, socket = (pair[column] for pair in (seccomp._IOCTL, seccomp._CLONE, seccomp._SOCKET))
    for number, arguments, wanted in (
        (ioctl, (0, 0x5412), EPERM),
        (ioctl, (0, 0x5412 + (1 << 32)), EPERM),
        (ioctl, (0, 0x541C), EPERM),
        (ioctl, (0, 0x5413), ALLOWED),
        (clone, (0x10000000 | 17,), EPERM),
        (clone, (0x01200011,), ALLOWED),
        (clone, (0x00004111,), ALLOWED),  # vfork
        (socket, (1, 1), ALLOWED),
        (socket, (2, 1), EPERM),
    ):
        assert verdict(program, arch=arch, number=number, arguments=arguments) == wanted


def test_this_machine_is_one_that_the_numbers_are_of() -> None:
    assert platform.machine() in ARCHES or sys.platform != "linux"


def _me() -> str:
    import getpass

    return getpass.getuser()
