"""Events that could not be delivered, kept on disk until they can be (M-43, M-67).

One file a job, one line an event, in order. Neither the address nor the secret is kept: whoever sends
them again has its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from messaging.emitter import Sink
from messaging.events import JOB_ID, JobEvent
from messaging.sinks.backlog import PROBE_EVERY_S
from messaging.sinks.errors import SinkBroken, SinkClosed, SinkError
from messaging.sinks.file import FileSink
from messaging.sources.lines import read_lines

log = logging.getLogger(__name__)

_SUFFIX: Final = ".ndjson"


class Spool:
    """A folder of our own, 0700. Raises `SinkBroken` when it cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def add(self, event: JobEvent) -> None:
        """Keeps the event; it is on the disk when this returns, as far as a process can tell."""
        _private(self._folder)
        file = FileSink(self._file(event.job_id))
        try:
            await file.emit(event)
        finally:
            await file.close()

    def jobs(self) -> list[str]:
        """The jobs that have events here, by id."""
        if not self._folder.is_dir():
            return []
        files = (file for file in self._folder.iterdir() if file.suffix == _SUFFIX)
        # Nothing but files is ours: a link would lead to what others wrote.
        return sorted(
            f.stem for f in files if JOB_ID.fullmatch(f.stem) and f.is_file() and not f.is_symlink()
        )

    def events(self, job_id: str) -> list[JobEvent]:
        """The events of one job, by number, each once."""
        try:
            content = self._file(job_id).read_bytes()
        except FileNotFoundError:
            return []
        except OSError as fault:
            raise SinkBroken(f"the spool {self._folder} cannot be read: {fault.strerror}") from fault
        found = {event.seq: event for event in read_lines(content) if event.job_id == job_id}
        return [found[seq] for seq in sorted(found)]

    def keep(self, job_id: str, events: Sequence[JobEvent]) -> None:
        """From now on only `events` are kept; a crash leaves the old ones or the new ones."""
        file = self._file(job_id)
        if not events:
            file.unlink(missing_ok=True)
            return
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.touch(0o600)
        fresh.write_bytes(b"".join(event.encode() + b"\n" for event in events))
        fresh.replace(file)

    def _file(self, job_id: str) -> Path:
        return self._folder / f"{job_id}{_SUFFIX}"


def _private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as fault:
        raise SinkBroken(f"the spool {folder} cannot be used: {fault.strerror}") from fault
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise SinkBroken(f"the spool {folder} is not ours alone; make it 0700, or name another folder")


@dataclass(frozen=True, slots=True)
class Resent:
    """How many events went out and how many are still here; `problem` is what stopped the rest."""

    sent: int
    left: int
    problem: str | None = None


async def resend(spool: Spool, job_id: str, sink: Sink) -> Resent:
    """Sends what is kept of one job, in order, and stops at the first event that is not taken."""
    waiting = spool.events(job_id)
    for number, event in enumerate(waiting):
        try:
            await sink.emit(event)
        except SinkError as failure:
            spool.keep(job_id, waiting[number:])
            return Resent(number, len(waiting) - number, str(failure))
    spool.keep(job_id, ())
    return Resent(len(waiting), 0)


class SpoolingSink:
    """Puts what `sink` cannot deliver into `spool`, and sends it before anything newer.

    An event that is on the disk counts as handed off. A terminal event and `close` try once more to send
    what is kept; `close` raises what `sink` raised when something stays behind.
    """

    def __init__(self, sink: Sink, spool: Spool, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._spool = spool
        self._monotonic_s = monotonic_s
        self._one_at_a_time = asyncio.Lock()
        self._kept: set[str] = set()
        self._failed_at_s = 0.0
        self._closed = False

    async def emit(self, event: JobEvent) -> None:
        async with self._one_at_a_time:
            if self._closed:
                raise SinkClosed("the sink is closed")
            ready = self._worth_a_try(event) and await self._flushed(event.job_id)
            if ready and await self._taken(event):
                return
            self._kept.add(event.job_id)
            await self._spool.add(event)

    async def close(self) -> None:
        async with self._one_at_a_time:
            if self._closed:
                return
            self._closed = True
            problems = [await self._resend(job_id) for job_id in sorted(self._kept)]
            await self._sink.close()
        left = [problem for problem in problems if problem]
        if left:
            raise SinkBroken(left[0])

    async def _taken(self, event: JobEvent) -> bool:
        try:
            await self._sink.emit(event)
        except SinkError as failure:
            self._missed(failure)
            return False
        return True

    def _worth_a_try(self, event: JobEvent) -> bool:
        late = self._monotonic_s() - self._failed_at_s >= PROBE_EVERY_S
        return not self._kept or event.type.terminal or late

    async def _flushed(self, job_id: str) -> bool:
        """Is nothing older in the way?"""
        return job_id not in self._kept or await self._resend(job_id) is None

    async def _resend(self, job_id: str) -> str | None:
        result = await resend(self._spool, job_id, self._sink)
        if result.problem is None:
            self._kept.discard(job_id)
        else:
            self._failed_at_s = self._monotonic_s()
        return result.problem

    def _missed(self, failure: SinkError) -> None:
        log.warning("%s; it is kept and will be sent again", failure)
        self._failed_at_s = self._monotonic_s()
