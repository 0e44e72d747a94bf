"""All the tests on two processors: what is real in one share, in order; the rest wherever there is room.

A browser, a kill or a clock bears a neighbour that computes, as it bears a busy machine. Two of them at once
would wait for the same disk and processors, and what looks at the whole machine would find the other's there.
Whoever names tests, or wants to stop or to look in, has them one after the other: see `whole`.
"""

from __future__ import annotations

import os
from enum import Enum

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

PROCESSORS = 2


class Share(Enum):
    """`REAL` is one unit of work, and begun first. `FREE` are as many units as there are files."""

    REAL = "what is real"
    FREE = "by file"


# How a path begins -> its share. The longest beginning counts; files of the upper lines are begun earlier.
SHARES = {
    "tests/": Share.REAL,
    # The command, and a daemon that only it speaks to.
    "tests/inband/test_box_": Share.FREE,
    "tests/inband/test_box_agent.py": Share.REAL,  # interrupts and kills
    # A daemon in the process of its tests, with a port and a folder of its own.
    "tests/exec_daemon/test_a": Share.FREE,
    "tests/exec_daemon/test_api_callback.py": Share.REAL,  # clocks
    "tests/exec_daemon/test_api_streams.py": Share.REAL,  # clocks
    "tests/exec_daemon/test_approvals_kill.py": Share.REAL,
    "tests/exec_daemon/test_approvals_told.py": Share.REAL,  # clocks
    "tests/exec_daemon/test_d": Share.FREE,
    "tests/exec_daemon/test_deadline.py": Share.REAL,  # clocks
    "tests/exec_daemon/test_door.py": Share.REAL,  # clocks
    "tests/exec_daemon/attacks/test_arguments.py": Share.FREE,
    # What computes and no more.
    "tests/harvester/": Share.FREE,
    "tests/harvester/agent_run/": Share.REAL,
    "tests/harvester/container/test_process.py": Share.REAL,
    "tests/harvester/container/test_runner.py": Share.REAL,
    "tests/harvester/worker_host/": Share.REAL,
    "tests/contracts/test_store_": Share.FREE,
    "tests/exec_daemon/box/test_arguments.py": Share.FREE,
    "tests/exec_daemon/box/test_bounds.py": Share.FREE,
    "tests/exec_daemon/rpc/test_rpc_fuzz.py": Share.FREE,
    "tests/exec_daemon/test_chain.py": Share.FREE,
    "tests/exec_daemon/test_grants.py": Share.FREE,
    "tests/exec_daemon/test_r": Share.FREE,
    "tests/exec_daemon/timers/": Share.FREE,
    "tests/frame/test_requirements.py": Share.FREE,
    "tests/messaging/": Share.FREE,
    "tests/messaging/artifact_stores/": Share.REAL,
    "tests/messaging/ipc/": Share.REAL,
    "tests/messaging/sinks/": Share.REAL,
    "tests/messaging/sources/": Share.REAL,
    "tests/oracle/": Share.FREE,
    "tests/patterns/": Share.FREE,
    "tests/prompt_envelope/": Share.FREE,
}


def row(path: str) -> str:
    """The line of the table that counts for a file."""
    return max((start for start in SHARES if path.startswith(start)), key=len)


def unit(nodeid: str) -> str:
    """What a test goes to a worker with."""
    path = nodeid.partition("::")[0]
    share = SHARES[row(path)]
    return share.value if share is Share.REAL else path


def turn(name: str) -> int:
    """When a unit is begun: the one of what is real first, the others as the table has them."""
    return -1 if name == Share.REAL.value else list(SHARES).index(row(name))


def whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for and no more: any option may mean to select, to stop or to look in."""
    asked = config.invocation_params.args or os.environ.get("PYTEST_ADDOPTS")
    return not asked and not hasattr(config, "workerinput") and config.pluginmanager.hasplugin("xdist")


def share_out(config: pytest.Config) -> None:
    """Has xdist start workers, if there are processors for them."""
    if whole(config) and len(os.sched_getaffinity(0)) >= PROCESSORS:
        config.option.numprocesses = PROCESSORS


class Shares(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Units as above, in their turn, to whichever worker is free."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=turn), last=False)
        super()._assign_work_unit(node)
