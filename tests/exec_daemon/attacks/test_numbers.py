"""A process's number that was given to a stranger: the stranger lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvester.worker_host.processes import of_worker
from harvester.worker_host.template import HOME, WORKER
from tests.patience import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[3]

# In a PID namespace of its own, where the next number can be chosen: a spawner ends and is reaped, a sentinel
# of another parent gets its number, and then all that the spawner had started is ended.
STRANGER = """
import os, time
from exec_daemon.programs.nursery import trees
from exec_daemon.programs.nursery.brood import Brood
from exec_daemon.programs.nursery.trees import Tree

told, tell = os.pipe()
heard, answer = os.pipe()

def spawner(_):
    os.write(tell, b"%9d" % os.getpid())
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)

nursery = os.fork()
if nursery == 0:
    trees.adopt_orphans()
    brood = Brood(Tree.WALK, None)
    brood.start(1, spawner)
    while not brood.has_ending:
        list(brood.gone())
    os.write(tell, b"reaped   ")
    os.read(heard, 1)
    while brood.is_busy:
        brood.end_all()
        list(brood.gone())
    os._exit(0)

pid = int(os.read(told, 9))
assert os.read(told, 9) == b"reaped   "
with open("/proc/sys/kernel/ns_last_pid", "w") as file:
    file.write(str(pid - 1))
sentinel = os.fork()
if sentinel == 0:
    time.sleep(60)
os.write(answer, b"!")
assert os.waitpid(nursery, 0) == (nursery, 0)
print("same" if sentinel == pid else "other", os.waitpid(sentinel, os.WNOHANG) == (0, 0))
"""


def test_a_number_that_the_kernel_gave_to_a_stranger_is_not_killed() -> None:  # D029
    apart = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")
    try:
        done = subprocess.run(
            [*apart, sys.executable, "-c", STRANGER],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("no unshare program: sudo apt install util-linux")
    if "unshare" in done.stderr or "ns_last_pid" in done.stderr:
        pytest.skip(f"no PID namespace in which numbers can be chosen: {done.stderr.strip()[-200:]}")
    assert (done.returncode, done.stdout) == (0, "same True\n"), done.stderr


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the worker w-1 of this home."""
    marks = {HOME: str(tmp_path), WORKER: "w-1"}
    with subprocess.Popen(["sleep", "60"], env=os.environ | marks, start_new_session=True) as running:
        # exec(2) has begun when Popen returns; the marks come with its end
        until(lambda: f"{WORKER}=w-1".encode() in Path(f"/proc/{running.pid}/environ").read_bytes())
        yield running
        running.kill()


def test_a_process_that_is_not_the_worker_s_is_not_ended_as_one(
    sleeper: subprocess.Popen[bytes], tmp_path: Path
) -> None:  # D029
    of_worker(tmp_path, "w-2").signal(sleeper.pid, signal.SIGKILL)
    of_worker(tmp_path / "other", "w-1").signal(sleeper.pid, signal.SIGKILL)
    assert of_worker(tmp_path, "w-1").pids() == [sleeper.pid]
    of_worker(tmp_path, "w-1").end(signal.SIGTERM)
    assert sleeper.wait(PATIENCE_S) == -signal.SIGTERM
    of_worker(tmp_path, "w-1").signal(sleeper.pid, signal.SIGKILL)  # its number is free
