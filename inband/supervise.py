"""Keep the daemon and the watcher running: two processes, so that neither can take the other down.

A part that dies is started again, with a growing pause; a part that says "this cannot work" (exit code
`CANNOT_START`) ends the whole. Everything durable is in the store, so a restart loses and repeats nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from inband.errors import Exit
from inband.notify import STOPPING, notify

# What a part ends with when starting it again would fail the same way: a port in use, a corrupt store.
CANNOT_START: Final = 78  # EX_CONFIG of sysexits.h
_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 5.0
# A part that ran this long was healthy: its next death starts with the short pause again.
_HEALTHY_S: Final = 10.0
_POLL_S: Final = 0.1
# Longer than the daemon's own drain; what does not end by then is killed.
_STOP_S: Final = 12.0


@dataclass(slots=True)
class Part:
    """One supervised process."""

    name: str
    argv: list[str]
    reloads: bool = False
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    pause_s: float = _FIRST_PAUSE_S
    due_at: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """Runs its parts until a signal comes or one of them cannot start."""

    parts: list[Part]
    environment: Mapping[str, str]
    say: Callable[[str], None]
    stopping: bool = field(default=False, init=False)

    def run(self, *, on_round: Callable[[], None] = lambda: None) -> int:
        """The exit code: OK after a signal, else that of the part that cannot start."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, self._reload)
        code: int = Exit.OK
        while not self.stopping and code == Exit.OK:
            code = next((ended for part in self.parts if (ended := self._look_after(part))), Exit.OK)
            on_round()
            time.sleep(_POLL_S)
        notify(STOPPING)
        self._end_all()
        return code

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping = True

    def _reload(self, _number: int, _frame: FrameType | None) -> None:
        """HUP goes on to the parts that know it."""
        for part in self.parts:
            if part.reloads and part.process is not None:
                part.process.send_signal(signal.SIGHUP)

    def _look_after(self, part: Part) -> int:
        """Start or restart one part; an exit code when the whole has to end."""
        now = time.monotonic()
        if part.process is None:
            if now >= part.due_at:
                part.process = subprocess.Popen(part.argv, env=dict(self.environment), start_new_session=True)
                part.started_at = now
            return 0
        code = part.process.poll()
        if code is None:
            return 0
        part.process = None
        if code == CANNOT_START:
            return Exit.FAILED
        healthy = now - part.started_at > _HEALTHY_S
        part.pause_s = _FIRST_PAUSE_S if healthy else min(part.pause_s * 2, _LONGEST_PAUSE_S)
        part.due_at = now + part.pause_s
        self.say(f"the {part.name} ended ({_how(code)}); starting it again in {part.pause_s:.1f} s")
        return 0

    def _end_all(self) -> None:
        """The watcher first, so that no call comes when the daemon drains."""
        for part in reversed(self.parts):
            if part.process is None:
                continue
            part.process.terminate()
            try:
                part.process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self.say(f"the {part.name} does not end; killing it")
                os.killpg(part.process.pid, signal.SIGKILL)
                part.process.wait()


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def interpreter() -> list[str]:
    """Python as it runs us. The folder that one happens to be in brings no code into it."""
    return [sys.executable, "-I" if sys.flags.isolated else "-P"]


def command(*words: str) -> list[str]:
    """`box WORDS` in a process of its own."""
    return [*interpreter(), "-m", "inband", *words]


def part(name: str, *flags: str, reloads: bool = False) -> Part:
    """The part that `box up --only NAME` runs. `reloads`: it reads its certificates again at HUP."""
    return Part(name, command("up", "--only", name, "--parent", str(os.getpid()), *flags), reloads)
