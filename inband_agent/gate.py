"""The script that decides whether the agent is woken (T-75 to T-78).

It gets an environment of its own, since ours may hold what it must not see, a file of its own, since a fixed
name would be shared, and limits. Whatever it started ends with it.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from messaging.container import ScriptResult, script_result

_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BLOCK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLimits:
    """What a script may take."""

    # T-76: a look at a mailbox or a repository takes seconds.
    wall_s: float = 30.0
    # T-76: its decision is a line; the rest is noise.
    output_bytes: int = 1 << 20


def ask(
    script: str, *, folder: Path | None, zone: str | None, limits: GateLimits | None = None
) -> ScriptResult:
    """Run the script with bash and read its decision. It never raises, and in doubt wakes nobody."""
    limits = limits or GateLimits()
    with tempfile.NamedTemporaryFile("w", prefix="gate-", suffix=".sh", encoding="utf-8") as file:
        try:
            file.write(script)
            file.flush()
            process = _start(file.name, folder, zone)
        except (OSError, ValueError) as broken:
            return ScriptResult(wake_agent=False, reason=f"the script cannot be started: {broken}")
        with process:
            try:
                return _decision(process, limits)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _start(file: str, folder: Path | None, zone: str | None) -> subprocess.Popen[bytes]:
    clean = {"PATH": _PATH, "HOME": str(folder or "/"), "LANG": "C.UTF-8"} | ({"TZ": zone} if zone else {})
    return subprocess.Popen(
        ["bash", "--noprofile", "--norc", file],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean,
        cwd=folder,
        start_new_session=True,
        bufsize=0,
    )


def _decision(process: subprocess.Popen[bytes], limits: GateLimits) -> ScriptResult:
    until = time.monotonic() + limits.wall_s
    assert process.stdout is not None
    output = _all_of(process.stdout, until, limits.output_bytes)
    if output is None:
        return ScriptResult(wake_agent=False, reason=f"the script ran over {limits.wall_s:g} s")
    if len(output) > limits.output_bytes:
        return ScriptResult(wake_agent=False, reason=f"the script printed over {limits.output_bytes:,} bytes")
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return ScriptResult(wake_agent=False, reason=f"the script ran over {limits.wall_s:g} s")
    if code != 0:
        return ScriptResult(wake_agent=False, reason=f"the script ended with {code}")
    return script_result(output.decode("utf-8", "replace"))


def _all_of(pipe: IO[bytes], until: float, most_bytes: int) -> bytes | None:
    """All that comes until the pipe is closed; None when it is not closed in time."""
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(output) <= most_bytes:
            if not selector.select(max(0.0, until - time.monotonic())):
                return None
            block = os.read(pipe.fileno(), _BLOCK_BYTES)
            if not block:
                return output
            output += block
    return output
