"""`JobEmitter`: how a program tells the steps of one job (M-01 to M-13, M-44 to M-47).

It owns the order and the numbering; a `Sink` takes what it makes. A tool narrows the three type
parameters to its own result and vocabulary:

    Stage = Literal["classify", "extract", "format"]
    Code = Literal["usage", "blocked_url", "extraction", "formatting", "general"]
    job: JobEmitter[Page, Stage, Code] = JobEmitter("job-1", sink, clock=utc_now)
    await job.accepted(url)
    await job.progress("extract", pct=10)
    await job.succeeded(page)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from messaging.artifacts import ArtifactRef
from messaging.errors import MessagingError
from messaging.event_order import Phase, after
from messaging.events import JOB_ID, EventType, JobEvent, dump
from messaging.redaction import clip, redact

ResultT = TypeVar("ResultT")
StageT = TypeVar("StageT", bound=str)
CodeT = TypeVar("CodeT", bound=str)

# M-45: what a person reads of a step, and of the reason why a job failed.
STEP_MESSAGE_CHARS: Final = 500
FAILURE_MESSAGE_CHARS: Final = 2000

Sanitise = Callable[[str], str]


class BadJobId(MessagingError, ValueError):
    """The job id cannot stand in a subject, a path or a file name (M-27)."""


class Sink(Protocol):
    """Where events go. `messaging.sinks` has them, and `tests/contracts` the suite that each passes."""

    async def emit(self, event: JobEvent) -> None:
        """Returns when the event is handed off; calls that overlap keep their order (M-29).

        Raises `messaging.sinks.SinkError` when it cannot be.
        """
        ...

    async def close(self) -> None:
        """Waits for what is under way and gives everything back; closing twice is closing once."""
        ...


class JobEmitter(Generic[ResultT, StageT, CodeT]):
    """Numbers the events of one job and hands them to `sink`. Misuse raises `OutOfOrder` (M-11).

    `clock` gives UTC in ISO 8601 with milliseconds and `Z`. Every free text goes through `sanitise`, then
    it is clipped: a secret that the clip would cut in two is gone by then (M-45).
    """

    def __init__(
        self, job_id: str, sink: Sink, *, clock: Callable[[], str], sanitise: Sanitise = redact
    ) -> None:
        if not JOB_ID.fullmatch(job_id):
            raise BadJobId(f"a job id is 1 to 128 of A-Z a-z 0-9 _ and -, not {job_id[:140]!r}")
        self.job_id = job_id
        self._sink = sink
        self._clock = clock
        self._sanitise = sanitise
        self._phase = Phase.NEW
        self._seq = 0

    @property
    def ended(self) -> bool:
        """Has a terminal event been emitted?"""
        return self._phase is Phase.ENDED

    async def accepted(self, url: str) -> JobEvent:
        """The job begins, for what `url` names."""
        return await self._emit(EventType.ACCEPTED, {"url": self._sanitise(url)})

    async def progress(
        self, stage: StageT, *, pct: float | None = None, message: str | None = None
    ) -> JobEvent:
        """The job is at `stage`, `pct` (0 to 100) of it done; raises ValueError for another `pct`."""
        if pct is not None and not 0 <= pct <= 100:
            raise ValueError(f"pct must be from 0 to 100, not {pct}")
        told = None if message is None else self._text(message, STEP_MESSAGE_CHARS)
        return await self._emit(EventType.PROGRESS, {"stage": str(stage), "pct": pct, "message": told})

    async def warning(self, message: str) -> JobEvent:
        """Something went wrong that the job can do without."""
        return await self._emit(EventType.WARNING, {"message": self._text(message, STEP_MESSAGE_CHARS)})

    async def succeeded(self, result: ResultT, artifacts: Sequence[ArtifactRef] = ()) -> JobEvent:
        """The end. `result` is JSON; what is large or not text goes into `artifacts` (M-81).

        Raises TypeError or ValueError for a result that is no JSON; then the job has not ended.
        """
        dump(result)
        return await self._emit(
            EventType.SUCCEEDED, {"artifacts": [one.to_json() for one in artifacts] or None}, result
        )

    async def failed(self, code: CodeT, message: str) -> JobEvent:
        """The end. The only event that may stand alone: a bad invocation is not `accepted` (M-12)."""
        told = self._text(message, FAILURE_MESSAGE_CHARS)
        return await self._emit(EventType.FAILED, {"code": str(code), "message": told})

    def _text(self, text: str, most_chars: int) -> str:
        return clip(self._sanitise(text), most_chars)

    async def _emit(self, kind: EventType, fields: Mapping[str, Any], result: Any = None) -> JobEvent:
        """Number and phase move before the hand-off: an event that a sink lost keeps its number."""
        self._phase = after(self._phase, kind)
        payload = {name: value for name, value in fields.items() if value is not None}  # M-19
        if kind is EventType.SUCCEEDED:
            payload = {"result": result, **payload}
        event = JobEvent(job_id=self.job_id, seq=self._seq, ts=self._clock(), type=kind, payload=payload)
        self._seq += 1
        await self._sink.emit(event)
        return event
