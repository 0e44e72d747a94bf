"""Death between any two writes of an approval: the call runs once and is told once (O-36, D088)."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from exec_daemon.store import Approval, ApprovalState, Store, open_store
from messaging import CallRequest, ErrorCode, Result
from tests.exec_daemon.approving import (
    ANN,
    HARVESTER,
    Dead,
    Mortal,
    Parts,
    asked,
    delivered,
    dm,
    parts,
    peopled,
    told,
)
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
# asked, approved, begun, ended, linked, told, settled. Where a life ends before the answer is durable
# the next one asks again. The second test has every instant, without processes.
WRITES = 7
KILLED_BEHIND = (0, 1, 2, 3, 5, WRITES)


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


async def lives_until(at: int, *, committed: bool) -> tuple[Store, str, bool]:
    """One daemon that dies at write `at` while a call is asked, approved, run and told; then another one."""
    store, reply = await peopled()
    mortal = Mortal(store, at, committed=committed)
    first = parts(mortal)
    try:
        approval = await asked(first, dm(reply))
        await first.deciding.approve(ANN, approval.id, approval.call.digest)
        await asyncio.wait_for(_gone(mortal, first), PATIENCE_S)
    except Dead:
        pass
    await asyncio.sleep(0)
    second = parts(store)
    await store.interrupt_running()
    await second.deciding.look()
    again = await asked_or_known(second, dm(reply))
    if again is not None:
        await second.deciding.approve(ANN, again.id, again.call.digest)
    await second.settled()
    return store, reply.id, mortal.died


async def _gone(mortal: Mortal, first: Parts) -> None:
    """Until it has died, or has settled everything."""
    while not mortal.died and await first.store.unsettled():  # noqa: ASYNC110 - nothing tells of a death
        await asyncio.sleep(0.001)


async def asked_or_known(made: Parts, request: CallRequest) -> Approval | None:
    """The watcher reads the reply again: the call is asked again, or known."""
    said = await made.executor.call(HARVESTER, request)
    assert isinstance(said, Result)
    if said.error is not None and said.error.code is ErrorCode.APPROVAL_PENDING:
        return await made.store.approval(str(said.job_id))
    return None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("at", range(8))
async def test_whenever_the_daemon_dies_the_call_runs_once_and_is_told_once(
    at: int, committed: bool
) -> None:  # O-36, D088
    store, reply, died = await lives_until(at, committed=committed)
    assert died is (at < 7), "the sweep reaches behind the last write"
    assert await delivered(store) == ["go"]
    said = await told(store)
    assert [(message.in_reply_to, " · ok · " in message.body) for message in said] == [(reply, True)]
    assert await store.unsettled() == []
