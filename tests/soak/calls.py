"""Many calls, and what grows: memory, descriptors, threads, the store's file.

    python -m tests.soak.calls --calls 1000000

Two thirds are reads, one third changes something, over a few kept connections. After a warm-up nothing may
grow: memory by less than 20 MiB, descriptors and threads not at all, and the store no further than what
retention keeps (here 2,000 jobs and 20,000 lines).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvester.client import DaemonClient
from messaging import Call, CallRequest
from tests.soak._parts import DAEMON, Parts

RECIPIENT: Final = "ada"
CLIENTS: Final = 4
PARTS: Final = 10  # after each of them it says how far it is
MOST_GROWTH_BYTES: Final = 20 << 20
# An idle connection more or less.
MOST_MORE_FILES: Final = CLIENTS
LOOK: Final = Call("tools.list", {"filter": "job.get"})
SEND: Final = Call("dm.send", {"to": RECIPIENT, "text": "x"})
BOX_TOML: Final = "[store]\nkeep_jobs = 2000\naudit_lines = 20000\n"


@dataclass(frozen=True, slots=True)
class Size:
    """How large the daemon is."""

    resident_bytes: int
    files: int
    threads: int
    store_bytes: int

    def __str__(self) -> str:
        """For a person."""
        mib = (self.resident_bytes / (1 << 20), self.store_bytes / (1 << 20))
        return f"{mib[0]:.1f} MiB, {self.files} files, {self.threads} threads, store {mib[1]:.1f} MiB"


def size(pid: int, store: Path) -> Size:
    """By what the kernel says."""
    process = Path("/proc") / str(pid)
    pages = int((process / "statm").read_text().split()[1])
    files = [store.with_name(store.name + suffix) for suffix in ("", "-wal")]
    return Size(
        resident_bytes=pages * os.sysconf("SC_PAGE_SIZE"),
        files=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        store_bytes=sum(file.stat().st_size for file in files if file.exists()),
    )


def call(client: DaemonClient, number: int) -> None:
    """One of them; AssertionError where it fails."""
    op, args = (
        ("tools.list", {"filter": "job.get"}) if number % 3 else ("dm.send", {"to": RECIPIENT, "text": "x"})
    )
    result = client.call(CallRequest(call=Call(op, args)))
    assert result.error is None, result.error


def many(parts: Parts, calls: int) -> None:
    """So many calls, shared among the clients, each on a connection of its own."""

    def work() -> None:
        with parts.client() as client:
            for number in range(calls // CLIENTS):
                call(client, number)

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    """Exit code 0 when nothing grows that should not."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    wanted.add_argument("--calls", type=int, default=100_000)
    chosen = wanted.parse_args()
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        home = Path(folder)
        (home / "inband").mkdir()
        (home / "inband" / "box.toml").write_text(BOX_TOML)
        with Parts(home, watching=False) as parts:
            with parts.client() as client:
                client.add_agent(RECIPIENT)
            store, pid = home / "state" / "store.db", parts.pid(DAEMON)
            many(parts, max(2000, chosen.calls // 10))
            first = last = size(pid, store)
            began_s = time.monotonic()
            print(f"after the warm-up: {first}", flush=True)
            for part in range(1, PARTS + 1):
                many(parts, chosen.calls // PARTS)
                last, took_s = size(pid, store), time.monotonic() - began_s
                done = chosen.calls * part // PARTS
                print(f"after {done:,} calls, {done / took_s:,.0f} a second: {last}", flush=True)
    faults = [
        f"memory grew by {(last.resident_bytes - first.resident_bytes) >> 20} MiB"
        for _ in range(last.resident_bytes - first.resident_bytes > MOST_GROWTH_BYTES)
    ]
    faults += ["descriptors grew"] * (last.files > first.files + MOST_MORE_FILES)
    faults += ["threads grew"] * (last.threads > first.threads + MOST_MORE_FILES)
    print("\n".join(faults) or "flat")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
