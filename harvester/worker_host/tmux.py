"""tmux, one command at a time. What a session is and what it was told stands in the session itself."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LIMIT_S: Final = 10.0
_WIDTH, _HEIGHT = 200, 50
_FIELDS: Final = (
    "session_name",
    "pid",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "window_activity",
    "@inband_seq",
    "@inband_home",
)
# POSIX shells: what ended by a signal has 128 and its number.
_BY_SIGNAL: Final = 128
_PREFIX: Final = "inband-"


class TmuxError(Exception):
    """tmux is not there, or refused."""


@dataclass(frozen=True, slots=True)
class Pane:
    """The one pane of a worker's session. `told`: the number of the last message that was pasted.

    `status` is the exit code of a program that has ended; 128 and the number for a signal, as a shell tells
    it. tmux calls a pane dead when its terminal is closed, and knows the code a moment later: None till then.
    """

    session: str
    pid: int
    dead: bool
    status: int | None
    active_at: int
    told: int


def _status(code: str, number: str) -> int | None:
    """From tmux's two fields, of which at most one says something."""
    if code:
        return int(code)
    return _BY_SIGNAL + int(number) if number else None


def _remind(server: int) -> None:
    """Have tmux look for children that ended: before 3.5 it can lose the signal, and then the code for good.

    The signal says nothing that is not true: what looks finds none, or one.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.kill(server, signal.SIGCHLD)


def session_of(worker: str) -> str:
    """As the daemon names it."""
    return f"{_PREFIX}{worker}"


@dataclass(frozen=True, slots=True)
class Tmux:
    """The server at `socket`, or the user's own. `home` is the state directory whose workers these are."""

    home: Path
    socket: Path | None = None

    def panes(self) -> dict[str, Pane]:
        """The sessions of our workers, by name; none where no server runs."""
        fields = "\t".join(f"#{{{name}}}" for name in _FIELDS)
        try:
            listed = self._run("list-panes", "-a", "-F", fields)
        except TmuxError:
            return {}
        return {pane.session: pane for pane in self._read(listed)}

    def _read(self, listed: str) -> Iterator[Pane]:
        for line in listed.splitlines():
            name, server, pid, dead, code, number, active, told, home = line.split("\t", len(_FIELDS) - 1)
            if name.startswith(_PREFIX) and home == str(self.home):
                status = _status(code, number)
                if dead == "1" and status is None:
                    _remind(int(server))
                yield Pane(
                    session=name,
                    pid=int(pid),
                    dead=dead == "1",
                    status=status,
                    active_at=int(active or "0"),
                    told=int(told or "0"),
                )

    def start(self, session: str, argv: list[str], folder: Path) -> None:
        """`argv` in a new session, never through a shell; one of the name is left alone."""
        size = ("-x", str(_WIDTH), "-y", str(_HEIGHT))
        self._run(
            *("new-session", "-d", "-s", session, "-c", str(folder), *size, "--", *argv, ";"),
            *("set-option", "-w", "-t", f"={session}:", "remain-on-exit", "on", ";"),
            *("set-option", "-t", f"={session}:", "@inband_home", str(self.home)),
        )

    def paste(self, session: str, text: str, seq: int) -> None:
        """`text` as if somebody had typed it, then Enter; done or not, together with the note of it.

        It goes through a buffer on stdin: no shell, no key names, nothing that `ps` shows; a program that
        knows bracketed paste sees where it ends.
        """
        name, pane = f"{session}-{seq}", f"={session}:"
        self._run("load-buffer", "-b", name, "-", stdin=text)
        self._run(
            *("paste-buffer", "-p", "-r", "-d", "-b", name, "-t", pane, ";"),
            *("send-keys", "-t", pane, "Enter", ";"),
            *("set-option", "-t", pane, "@inband_seq", str(seq)),
        )

    def kill(self, session: str) -> None:
        """Gone is gone."""
        try:
            self._run("kill-session", "-t", f"={session}")
        except TmuxError:
            return

    def _run(self, *words: str, stdin: str = "") -> str:
        where = ("-S", str(self.socket)) if self.socket else ()
        try:
            ran = subprocess.run(
                ["tmux", "-u", *where, *words],  # else it prints `_` for tabs where the locale is C
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as broken:
            raise TmuxError(f"tmux cannot be asked: {broken}") from broken
        if ran.returncode:
            raise TmuxError(ran.stderr.strip() or f"tmux ended with {ran.returncode}")
        return ran.stdout
