"""A tool on our own `run_tool`, as a process: `python _tool.py WHAT`. It stands for what users write."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[2]))

from messaging import JobEmitter
from messaging.sinks import ToolFailed, run_tool
from tests.patience import AGES_S

Stage = Literal["classify", "extract", "format"]
Job = JobEmitter[dict[str, Any], Stage, str]
WHAT = sys.argv[1]
URL = "https://a.example/x"


async def good(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    await job.progress("classify")
    await job.progress("extract")
    await job.warning("no picture")
    await job.progress("format")
    return {"title": "Soup"}


async def odd(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    return {"title": object()}


async def usage(_: Job) -> dict[str, Any]:
    raise ToolFailed("usage", "no URL given")


async def blocked(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    raise ToolFailed("blocked_url", "10.0.0.5 is private")


async def fault(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    raise RuntimeError("sk-abcdefghijklmnopqrstuvwxyz broke")


async def slow(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    await job.progress("extract")
    await asyncio.sleep(AGES_S)
    return {}


async def loud(job: Job) -> dict[str, Any]:
    """10 MiB on stderr, before anything is told."""
    for _ in range(160):
        sys.stderr.write("x" * 65535 + "\n")
    return await good(job)


def sleeper() -> int:
    return subprocess.Popen(["sleep", str(AGES_S)]).pid


async def stubborn(job: Job) -> dict[str, Any]:
    """Does not hear TERM, and has a child that does not either."""
    asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    await job.accepted(str(sleeper()))
    await asyncio.sleep(AGES_S)
    return {}


async def leaves(job: Job) -> dict[str, Any]:
    """Ends, and leaves a child that holds its pipes open."""
    await job.accepted(str(sleeper()))
    return {}


async def torn(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    os.write(1, b'{"job_id":"job-1","seq":1,"ts":"2026')
    os.kill(os.getpid(), 9)
    return {}


async def liar(job: Job) -> dict[str, Any]:
    await good(job)
    await job.succeeded({"title": "Soup"})
    os._exit(4)


async def noisy(job: Job) -> dict[str, Any]:
    print("Downloading…", flush=True)
    os.write(1, b'{"not": "an event"}\n')
    return await good(job)


async def many(job: Job) -> dict[str, Any]:
    await job.accepted(URL)
    for _ in range(5000):
        await job.progress("extract", message="x" * 400)
    return {}


sys.exit(asyncio.run(run_tool(os.environ, globals()[WHAT])))
