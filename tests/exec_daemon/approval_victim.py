"""A process that is killed while a call is asked, approved, run and told.

`python -m tests.exec_daemon.approval_victim DATABASE AT`: it dies by SIGKILL right behind write number AT,
and ends with 0 where there are not so many.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from exec_daemon.store import open_store
from tests.exec_daemon.approving import ANN, HARVESTER, Mortal, dm, parts, people


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def live(database: Path, at: int) -> None:
    store = await open_store(database)
    reply = await people(store)
    made = parts(Mortal(store, at, committed=True, die=_kill))
    await made.executor.call(HARVESTER, dm(reply))
    (approval,) = await store.approvals()
    await made.deciding.approve(ANN, approval.id, approval.call.digest)
    await made.settled()
    await store.close()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), int(sys.argv[2])))
