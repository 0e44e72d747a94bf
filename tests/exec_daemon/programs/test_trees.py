"""Nothing that a program has started outlives its run, however it tries."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exec_daemon.programs import Profile, Program, Programs
from exec_daemon.programs.link import start_nursery
from exec_daemon.programs.nursery import cgroup, trees
from tests.patience import AGES_S, PATIENCE_S, in_time_async, until_async

ROOT = Path(__file__).resolve().parents[3]

# Forks twice, takes a session of its own, ignores what can be ignored, and leaves its marker in argv.
HARDY = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            break
print("up", flush=True)
time.sleep(600)
"""


def hardy(marker: str, limit_s: float = 0.5) -> Program:
    return Program(argv=(sys.executable, "-S", "-c", HARDY, marker), time_limit_s=limit_s)


def mine(marker: str) -> str:
    """No other run of the tests on this machine has it."""
    return f"{marker}-{os.getpid()}"


def marked(marker: str) -> list[int]:
    """The processes that have the marker among their arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                if marker.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


async def test_a_tree_that_forks_takes_sessions_and_ignores_term_is_gone_with_the_answer(
    programs: Programs,
) -> None:  # D024
    marker = mine("tree-timed-out")
    ran = await in_time_async(
        lambda limit_s: programs.run(hardy(marker, limit_s)), lambda one: "up" in one.stdout.text
    )
    assert ran.timed_out
    assert "up" in ran.stdout.text
    assert marked(marker) == []


async def test_what_a_program_leaves_behind_is_gone_with_the_answer(programs: Programs) -> None:  # D027
    code = "import os, time\nif os.fork() == 0:\n os.setsid()\n time.sleep(600)\nprint('over')"
    ran = await programs.run(Program(argv=(sys.executable, "-S", "-c", code, mine("tree-left"))))
    assert (ran.exit, ran.left_over) == (0, True)
    assert marked(mine("tree-left")) == []


async def test_a_run_that_is_cancelled_takes_its_tree_with_it(programs: Programs) -> None:  # D025
    task = asyncio.create_task(programs.run(hardy(mine("tree-cancelled"), AGES_S)))
    assert await until_async(lambda: len(marked(mine("tree-cancelled"))) > 3)
    began_s = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(mine("tree-cancelled")) == []
    assert time.monotonic() - began_s < PATIENCE_S


async def test_the_next_run_is_not_disturbed(programs: Programs) -> None:
    for number in range(3):
        await programs.run(hardy(mine(f"tree-{number}"), 0.2))
        assert (await programs.run(Program(argv=("echo", "fine")))).stdout.text == "fine\n"


async def test_a_program_that_kills_its_spawner_has_gained_nothing(programs: Programs) -> None:
    one, other = (str(70_000_000 + 2 * os.getpid() + number) for number in range(2))
    code = f"kill -KILL $PPID; sleep {one} & exec sleep {other}"
    argv = ("/bin/sh", "-c", code)
    ran = await programs.run(Program(argv=argv, profile=Profile(confined=False), time_limit_s=5))
    # Nobody inside kills the first process of a PID namespace: there the time runs out.
    assert (ran.exit, ran.timed_out or ran.signal == signal.SIGKILL) == (None, True)
    assert marked(one) == marked(other) == []


async def test_a_program_that_stops_its_spawner_counts_as_stopped_and_is_gone() -> None:
    impatient = Programs(avoid=("cgroup", "pid namespace"), late_s=0.3)
    bare = Profile(confined=False)
    marker = str(80_000_000 + os.getpid())
    argv = ("/bin/sh", "-c", f"kill -STOP $PPID; exec sleep {marker}")
    try:
        assert (await impatient.run(Program(argv=argv, profile=bare, time_limit_s=0.3))).timed_out
        assert marked(marker) == []
        assert (await impatient.run(Program(argv=("true",), profile=bare))).ok
    finally:
        await impatient.close()


async def test_a_dead_nursery_is_replaced(programs: Programs) -> None:
    await programs.run(Program(argv=("true",)))
    assert programs._nursery is not None
    os.kill(programs._nursery._process.pid, signal.SIGKILL)
    assert await until_async(lambda: programs._nursery is not None and programs._nursery.has_ended)
    assert (await programs.run(Program(argv=("echo", "again")))).stdout.text == "again\n"


CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from exec_daemon.programs import Program, Programs
from tests.exec_daemon.programs.test_trees import hardy
asyncio.run(Programs().run(hardy(sys.argv[2], 600)))
"""


def start_child(marker: str) -> subprocess.Popen[bytes]:
    """A daemon, as far as programs go, that runs one of ours."""
    return subprocess.Popen([sys.executable, "-c", CHILD, str(ROOT), marker], cwd="/")


def nursery_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


async def test_a_killed_daemon_leaves_nothing_behind() -> None:  # D141
    marker = mine("tree-daemon")
    daemon = start_child(marker)
    try:
        assert await until_async(lambda: len(marked(marker)) > 4)
    finally:
        daemon.kill()
        daemon.wait()
    assert await until_async(lambda: marked(marker) == [])


async def test_daemon_and_nursery_killed_together_leave_nothing_behind() -> None:  # D141
    marker = mine("tree-both")
    daemon = start_child(marker)
    try:
        assert await until_async(lambda: len(marked(marker)) > 4)
        os.kill(nursery_of(daemon.pid), signal.SIGKILL)
    finally:
        daemon.kill()
        daemon.wait()
    assert await until_async(lambda: marked(marker) == [])


@pytest.mark.parametrize("left_out", [(), ("cgroup",), ("cgroup", "pid namespace")])
async def test_each_way_to_end_a_tree_does_it(left_out: tuple[str, ...]) -> None:  # D024
    programs = Programs(avoid=left_out)
    try:
        standing = await programs.standing(Profile())
        ran = await programs.run(hardy("tree-way"))
        assert standing.tree not in left_out
        assert ran.timed_out
        assert marked("tree-way") == []
        assert len(standing.reasons) >= len(left_out)
    finally:
        await programs.close()


@pytest.mark.parametrize("left_out", [(), ("cgroup",), ("cgroup", "pid namespace")])
async def test_whatever_ends_its_tree_a_program_finds_itself_in_proc(left_out: tuple[str, ...]) -> None:
    code = "import os; print(os.readlink('/proc/self') == str(os.getpid()))"
    programs = Programs(avoid=left_out)
    try:
        ran = await programs.run(Program(argv=(sys.executable, "-S", "-c", code)))
        assert ran.stdout.text == "True\n", ran.stderr.text
    finally:
        await programs.close()


async def test_the_cgroups_are_gone_with_the_nursery() -> None:
    nursery = await start_nursery()
    pid = nursery._process.pid
    own = cgroup.own_folder()
    await nursery.close()
    assert own is None or f"inband-{pid}" not in os.listdir(own)  # noqa: PTH208 - its names


@pytest.mark.parametrize("held", [False, True])
def test_what_a_killed_nursery_has_left_is_taken_away_and_nothing_else(held: bool, tmp_path: Path) -> None:
    left = tmp_path / "inband-0"  # a number that no process here has; one elsewhere may
    (left / "1").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    descriptor = os.open(left, os.O_RDONLY)
    if held:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    folder = cgroup.claim(str(tmp_path))
    os.close(descriptor)
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {"other", Path(folder).name, *(["inband-0"] if held else [])}


def test_what_a_nursery_of_the_same_number_has_left_does_not_stand_in_the_way(tmp_path: Path) -> None:
    """Numbers of processes come again, and groups are numbered from the first in each nursery."""
    left = tmp_path / f"inband-{os.getpid()}" / "1"
    left.mkdir(parents=True)
    assert cgroup.claim(str(tmp_path)) == str(left.parent)
    assert not left.exists()


async def test_the_cgroups_of_a_nursery_that_was_killed_go_with_the_next(programs: Programs) -> None:
    await programs.run(Program(argv=("true",)))
    killed, own = programs._nursery, cgroup.own_folder()
    if killed is None or killed.tree != "cgroup":
        pytest.skip("no cgroup of version 2 that we may write to")
    events = Path(f"{own}/inband-{killed._process.pid}/cgroup.events")
    os.kill(killed._process.pid, signal.SIGKILL)
    assert await until_async(lambda: killed.has_ended and killed._process.poll() is not None)
    assert await until_async(lambda: not events.exists() or "populated 0" in events.read_text())
    await programs.run(Program(argv=("true",)))
    assert not events.parent.exists()


async def test_a_spawner_that_nobody_waits_for_any_more_goes_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    nursery = await start_nursery()
    asked = asyncio.create_task(nursery.spawner(Profile(confined=False)))
    await asyncio.sleep(0)  # the nursery is asked for it
    asked.cancel()
    await asyncio.wait({asked})
    await until_async(lambda: not nursery._going)
    await nursery.close()
    assert (asked.cancelled(), capfd.readouterr().err) == (True, "")


def test_the_canary_says_why_a_way_does_not_work() -> None:  # D045
    program = (
        "from exec_daemon.programs.nursery import canary, trees\n"
        "trees.adopt_orphans()\n"
        "print(canary.choose('/no/such/folder'))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert "cgroup: No such file or directory" in told.stdout


def test_all_ways_are_tried_in_order() -> None:
    assert list(trees.Tree) == ["cgroup", "pid namespace", "walk"]
