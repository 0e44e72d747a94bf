"""A process that is made to be killed.

`python -m tests.exec_daemon.store_victim DATABASE ACKNOWLEDGED FIRST`
Many tasks journal calls, end each with one message, and append keyed messages, for call numbers from FIRST
on; what is acknowledged is written, a number a line, to the file ACKNOWLEDGED.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from exec_daemon.store import AppendMessage, Exists, New, Outcome, Store, open_store
from messaging import EventType
from tests.contracts.samples import job, message, thread

TASKS = 16


async def one(store: Store, number: int) -> None:
    """The call, from whatever an earlier life has left of it to its end."""
    answer = await store.begin(job(f"c{number}"))
    if isinstance(answer, New):
        await store.add_event(answer.job.id, EventType.PROGRESS, {"at": number})
        effect = AppendMessage(message("calls", str(number), job_id=answer.job.id))
        await store.finish(answer.job.id, Outcome(data=number), [effect])
    await store.append(message("keyed", str(number), key=f"k{number}"))


async def live(database: Path, acknowledged: Path, first: int) -> None:
    log = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = await open_store(database)
    await store.interrupt_running()
    for name in ("calls", "keyed"):
        try:
            await store.create_thread(thread(name))
        except Exists:
            continue
    numbers = itertools.count(first)

    async def work() -> None:
        for number in numbers:
            await one(store, number)
            os.write(log, f"{number}\n".encode())

    await asyncio.gather(*[work() for _ in range(TASKS)])


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
