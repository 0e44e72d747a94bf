"""Programs that store tests run in a process of their own.

`python -m tests.exec_daemon.store_child NAME FOLDER` prints one JSON document. `full` and `read_only_disk`
mount a small file system over FOLDER, so they want a mount namespace of their own; `read_only_folder` gives
up root first, who may write anywhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from exec_daemon.store import New, Outcome, SqliteStore, Store, StoreError, StoreFull, open_store
from tests.contracts.samples import job, message, thread

ORDINARY_USER = 1000
DISK_BYTES = 2 * 1024 * 1024
# More of these than the disk has room for.
BODY = "x" * 100_000
MOST_BODIES = 100


def say(document: Any) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


async def fault_of(act: Awaitable[Any]) -> str | None:
    try:
        await act
    except StoreError as fault:
        return type(fault).__name__
    return None


def mount(folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)


def fill_up(ballast: Path) -> None:
    """To the last byte."""
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def give_up_rights(folder: Path) -> None:
    folder.chmod(0o555)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(ORDINARY_USER)
        os.setuid(ORDINARY_USER)


async def hold(folder: Path) -> None:
    """Owns the store until it is killed."""
    await open_store(folder / "store.db")
    say("open")
    await asyncio.sleep(600)


async def fill(store: Store) -> int:
    """Appends until the disk is full; how many messages were acknowledged."""
    for number in range(MOST_BODIES):
        try:
            await store.append(message("a", BODY))
        except StoreFull:
            return number
    raise AssertionError("the disk took everything")


async def full(folder: Path) -> None:
    mount(folder)
    store = await open_store(folder / "store.db")
    await store.create_thread(thread("a"))
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * (DISK_BYTES // 2))
    acknowledged = await fill(store)
    kept = len(await store.messages("a"))
    # Small writes share the group of one that cannot fit.
    together = [store.append(message("a", BODY * 10)), *[store.append(message("a", "s")) for _ in range(3)]]
    kinds = [type(end).__name__ for end in await asyncio.gather(*together, return_exceptions=True)]
    ballast.unlink()
    healed = await fault_of(store.append(message("a")))
    await store.close()
    again = await open_store(folder / "store.db")
    say(
        {
            "acknowledged": acknowledged,
            "kept": kept,
            "large": kinds[0],
            "healed": healed,
            "after": (await again.last_position()) - acknowledged - kinds.count("Appended"),
        }
    )
    await again.close()


async def full_for_reads(folder: Path) -> None:
    """Calls that change nothing go on; the audit tells later how many of them it does not know."""
    mount(folder)
    store = await open_store(folder / "store.db")
    fill_up(folder / "ballast")
    ends = []
    for number in range(300):
        begun = await store.begin(job(f"r{number}", op="dm.read", side_effecting=False, args={"x": BODY}))
        assert isinstance(begun, New)
        ends.append((await store.finish(begun.job.id, Outcome(data=number))).result)
    refused = await fault_of(store.begin(job("w", effects_inside=False, args={"x": BODY * 100})))
    await store.jobs()
    (folder / "ballast").unlink()
    await store.jobs()
    (line,) = [line for line in await store.audit(500) if line.op == "audit.lost"]
    check = await store.check_audit()
    say(
        {
            "ended": ends == list(range(300)),
            "refused": refused,
            "lost": int(line.call_id) + check.lines - 1,
            "whole": check.broken is None,
        }
    )
    await store.close()


async def full_at_birth(folder: Path) -> None:
    mount(folder)
    (folder / "ballast").write_bytes(b"x" * (DISK_BYTES - 8192))
    first = await fault_of(open_store(folder / "store.db"))
    made = (folder / "store.db").exists()
    (folder / "ballast").unlink()
    say({"fault": first, "made": made, "healed": await fault_of(open_store(folder / "store.db"))})


async def full_at_start(folder: Path) -> None:
    mount(folder)
    store = await open_store(folder / "store.db")
    await store.create_thread(thread("a"))
    await store.close()
    fill_up(folder / "ballast")
    first = await fault_of(open_store(folder / "store.db"))
    (folder / "ballast").unlink()
    say({"fault": first, "healed": await fault_of(open_store(folder / "store.db"))})


async def read_only_disk(folder: Path) -> None:
    mount(folder)
    store = await open_store(folder / "store.db")
    await store.create_thread(thread("a"))
    await store.close()
    make_read_only(folder)
    say({"fault": await fault_of(open_store(folder / "store.db")), "files": names(folder)})


async def read_only_folder(folder: Path) -> None:
    await (await open_store(folder / "store.db")).close()
    give_up_rights(folder)
    say({"fault": await fault_of(open_store(folder / "store.db"))})


PROGRAMS: dict[str, Callable[[Path], Coroutine[Any, Any, None]]] = {
    "hold": hold,
    "full": full,
    "full_for_reads": full_for_reads,
    "full_at_birth": full_at_birth,
    "full_at_start": full_at_start,
    "read_only_disk": read_only_disk,
    "read_only_folder": read_only_folder,
}

if __name__ == "__main__":
    # Loaded while every file can still be read.
    assert SqliteStore.__name__
    asyncio.run(PROGRAMS[sys.argv[1]](Path(sys.argv[2])))
