"""An agent's process: both pipes drained until it ends, its input fed, its whole group stopped (J-28).

One thread and one selector: nothing here blocks on a pipe, so a child can neither fill one nor be stopped
by one.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

_CHUNK_BYTES: Final = 1 << 16
# What a program says last is what it died of.
_TAIL_BYTES: Final = 1 << 14
# How often the end of the process is looked for while its pipes stay open.
_LOOK_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What is run: argv only, never a shell. `prompt` goes to stdin, where `ps` does not show it (A-09).

    `keep` are descriptors that the process inherits beside its pipes.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: Path | None = None
    prompt: bytes = b""
    keep: tuple[int, ...] = ()


class Child:
    """A running process. `with` ends it, however the block is left.

    Raises OSError when it cannot start, ValueError for an argv that no program can be given.
    """

    def __init__(self, command: Command, on_output: Callable[[bytes], None], *, term_s: float) -> None:
        self._on_output = on_output
        self._term_s = term_s
        self._unsent = memoryview(command.prompt)
        self._tail = b""
        self._process = subprocess.Popen(
            command.argv,
            stdin=subprocess.PIPE if command.prompt else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.folder,
            env=command.environment,
            bufsize=0,
            start_new_session=True,
            pass_fds=command.keep,
        )
        self._selector = selectors.DefaultSelector()
        self._watch(self._process.stdout, selectors.EVENT_READ, self._read_output)
        self._watch(self._process.stderr, selectors.EVENT_READ, self._read_errors)
        self._watch(self._process.stdin, selectors.EVENT_WRITE, self._send)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        if self._process.returncode is None:
            self.signal(signal.SIGTERM)
            self._wait(self._term_s)
            self.signal(signal.SIGKILL)
            self._process.wait()

    @property
    def errors(self) -> str:
        """The last of what it wrote to stderr."""
        return self._tail.decode("utf-8", "replace")

    @property
    def has_ended(self) -> bool:
        """Has the process itself ended? Until `reap` it stays a zombie, and its group's id its own."""
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, options) is not None
        except ChildProcessError:  # we were started by somebody who ignores SIGCHLD: nobody stays a zombie
            return True

    def turn(self, wait_s: float) -> bool:
        """Move what the pipes are ready for, waiting up to `wait_s`; False if nothing was."""
        ready = self._selector.select(min(wait_s, _LOOK_S))
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    @property
    def pipes_are_open(self) -> bool:
        """Can it, or a process that it started, still write?"""
        open_files = (self._process.stdout, self._process.stderr)
        return any(pipe is not None and not pipe.closed for pipe in open_files)

    def signal(self, number: signal.Signals) -> None:
        """To the process and all that it started. To be used before `reap` only."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def reap(self) -> int:
        """The exit code; minus a signal's number when that ended it."""
        return self._process.wait()

    def _wait(self, limit_s: float) -> None:
        for _ in range(int(limit_s / _LOOK_S)):
            if self.has_ended:
                return
            time.sleep(_LOOK_S)

    def _watch(self, pipe: IO[bytes] | None, event: int, act: Callable[[IO[bytes]], None]) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event, act)

    def _drop(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()

    def _read(self, pipe: IO[bytes]) -> bytes:
        chunk = os.read(pipe.fileno(), _CHUNK_BYTES)
        if not chunk:
            self._drop(pipe)
        return chunk

    def _read_output(self, pipe: IO[bytes]) -> None:
        if chunk := self._read(pipe):
            self._on_output(chunk)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        self._tail = (self._tail + self._read(pipe))[-_TAIL_BYTES:]

    def _send(self, pipe: IO[bytes]) -> None:
        """A child that does not want its input is welcome to leave it."""
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent[:_CHUNK_BYTES]) :]
        except BrokenPipeError:
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._drop(pipe)
