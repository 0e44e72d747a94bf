"""`kill -9` between any two writes of an approval: the call runs once and is told once (O-36, D088)."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from exec_daemon.store import ApprovalState, open_store
from tests.exec_daemon.approving import ANN, HARVESTER, delivered, dm, parts, told

ROOT = Path(__file__).parents[2]
# asked, noted, approved, begun, ended, linked, told, settled. Where a life ends before the answer is durable
# the next one asks again; test_approvals.py has every instant, without processes.
WRITES = 8
KILLED_BEHIND = (0, 2, 3, 4, 6, WRITES)


def killed(database: Path, at: int) -> int:
    command = [sys.executable, "-m", "tests.exec_daemon.approval_victim", str(database), str(at)]
    return subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode


@pytest.mark.parametrize("at", KILLED_BEHIND)
async def test_a_killed_daemon_s_approval_is_carried_out_once_by_the_next(tmp_path: Path, at: int) -> None:
    database = tmp_path / "store.db"
    assert killed(database, at) == (-signal.SIGKILL if at < WRITES else 0)
    store = await open_store(database)
    try:
        made = parts(store)
        await store.interrupt_running()
        await made.deciding.look()
        reply = (await store.messages("ops"))[0]
        await made.executor.call(HARVESTER, dm(reply))
        for approval in await store.approvals(ApprovalState.PENDING):
            await made.deciding.approve(ANN, approval.id, approval.call.digest)
        await made.settled()
        assert await delivered(store) == ["go"]
        assert len(await told(store)) == 1
    finally:
        await store.close()
