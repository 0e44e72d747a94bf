"""The tool's side of one job, from its environment to its exit code (M-12, M-15 to M-18, M-66).

    async def work(job: JobEmitter[dict, Stage, Code]) -> dict:
        await job.accepted(url)
        ...
        return {"title": …}

    sys.exit(asyncio.run(run_tool(os.environ, work)))

`work` ends with its result, or with a `Produced` that has content beside it, or raises `ToolFailed` with a
code of `messaging.EXIT_OF_CODE`. What is large goes to the store that `BOX_ARTIFACTS` or `BOX_UPLOADS` names.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from messaging.artifact_stores.errors import ArtifactTooLarge
from messaging.artifact_stores.offload import Produced, offload
from messaging.artifact_stores.port import ArtifactStore
from messaging.artifact_stores.selection import artifact_store
from messaging.artifacts import ArtifactError
from messaging.emitter import JobEmitter
from messaging.errors import MessagingError
from messaging.events import dump
from messaging.moment import iso
from messaging.redaction import redact, secret_values
from messaging.sinks.errors import SinkError, TransportError
from messaging.sinks.nats import NatsSink
from messaging.sinks.selection import Selected, transport
from messaging.tool_exit import exit_of

ResultT = TypeVar("ResultT")
Work = Callable[[JobEmitter[ResultT, Any, Any]], Awaitable[ResultT]]


class ToolFailed(MessagingError):
    """How `work` says that the job failed: `code` decides the exit code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def utc_now() -> str:
    """M-03: UTC with milliseconds and `Z`."""
    return iso(datetime.now(UTC))


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


async def run_tool(
    environment: Mapping[str, str], work: Work[ResultT], say: Callable[[str], None] = _say
) -> int:
    """Runs `work` and gives the exit code. `say` gets the lines for stderr (M-18)."""
    try:
        selected, store = transport(environment), artifact_store(environment)
    except TransportError as wrong:
        say(str(wrong))
        return exit_of("usage")
    secrets = secret_values(environment)
    run = _Run(selected, store, lambda text: redact(text, secrets), say)
    try:
        return await run.to_its_end(work)
    finally:
        await run.close()


class _Run:
    """One job. What a sink cannot take is said on stderr. That a failure cannot be told changes no exit code
    (M-17); a result that reached nobody is no success."""

    def __init__(
        self,
        selected: Selected,
        store: ArtifactStore | None,
        sanitise: Callable[[str], str],
        say: Callable[[str], None],
    ) -> None:
        self._selected = selected
        self._store = store
        self._sanitise = sanitise
        self._say = say
        self._reason: str | None = None
        self.job: JobEmitter[Any, Any, Any] = JobEmitter(
            selected.job_id, selected.sink, clock=utc_now, sanitise=sanitise
        )

    async def to_its_end(self, work: Work[ResultT]) -> int:
        task = asyncio.ensure_future(work(self.job))
        listening = self._listen(task)
        try:
            result = await task
        except ToolFailed as failed:
            return await self._fail(failed.code, str(failed))
        except asyncio.CancelledError:
            task.cancel()
            return await self._fail("cancelled", self._reason or "The job was cancelled.")
        except SinkError as lost:
            return await self._fail("general", f"The job's events cannot be told: {lost}")
        except Exception as fault:  # noqa: BLE001 - whatever a tool raises is an end of its job
            return await self._fail("general", f"{type(fault).__name__}: {fault}")
        finally:
            listening.cancel()
        return await self._succeed(result)

    async def close(self) -> None:
        try:
            await self._selected.sink.close()
        except SinkError as lost:
            self._say(str(lost))

    def _listen(self, task: asyncio.Future[Any]) -> asyncio.Task[None]:
        """A job can be told to stop by TERM, and over NATS by a message (M-65, M-66)."""

        def cancel(reason: str | None) -> bool:
            self._reason = reason
            return not self.job.ended and task.cancel()

        with suppress(ValueError, RuntimeError):  # only the main thread can have signals
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, cancel, None)
        return asyncio.create_task(self._listen_to_broker(cancel))

    async def _listen_to_broker(self, cancel: Callable[[str | None], bool]) -> None:
        if isinstance(self._selected.direct, NatsSink):
            with suppress(SinkError):  # without a broker nobody can tell us to stop
                await self._selected.direct.listen(cancel)

    async def _succeed(self, result: Any) -> int:
        if self.job.ended:  # `work` has told the end itself
            return 0
        try:
            dump(result.result if isinstance(result, Produced) else result)
            told = await offload(result if isinstance(result, Produced) else Produced(result), self._store)
        except ArtifactTooLarge as large:
            return await self._fail("usage", f"The result is too large; BOX_ARTIFACTS is not set: {large}")
        except ArtifactError as lost:
            return await self._fail("general", f"The result cannot be kept: {lost}")
        except (TypeError, ValueError) as no_json:
            return await self._fail("general", f"The result is no JSON: {no_json}")
        arrived = await self._told(self.job.succeeded(told.result, told.artifacts))
        return 0 if arrived else exit_of("general")

    async def _fail(self, code: str, message: str) -> int:
        self._say(self._sanitise(message))
        if not self.job.ended:
            await self._told(self.job.failed(code, message))
        return exit_of(code)

    async def _told(self, telling: Awaitable[object]) -> bool:
        """Has the end arrived?"""
        try:
            await telling
        except SinkError as lost:
            self._say(str(lost))
            return False
        return True
