"""What an event that someone else wrote has to look like (M-01 to M-09): one model a type, in a table.

Loads pydantic, so `messaging` loads this module when it is first used. Fields that we do not know are
kept: a tool may tell more than we understand.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from messaging.artifacts import ArtifactRef
from messaging.errors import MessagingError
from messaging.events import EventType, JobEvent
from messaging.strict_json import StrictJsonError, load_object

_ISO_8601: Final = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"
# Every JSON reader holds whole numbers up to here exactly.
_MOST_SEQ: Final = 2**53


class EventError(MessagingError, ValueError):
    """The text or document is no job event. `problems` names each field and what is wrong with it."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("not a job event: " + "; ".join(problems))
        self.problems = problems


def _artifact(document: dict[str, Any]) -> dict[str, Any]:
    ArtifactRef.from_json(document)
    return document


# M-80: `ArtifactRef` says what a reference is; here one stays the document that it was.
Artifact = Annotated[dict[str, Any], AfterValidator(_artifact)]


class Envelope(BaseModel):
    """The fields of every event (M-01)."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    job_id: Annotated[str, Field(min_length=1, max_length=128)]
    seq: Annotated[int, Field(ge=0, le=_MOST_SEQ)]
    ts: Annotated[str, Field(pattern=_ISO_8601)]
    type: str


class Accepted(Envelope):
    """M-05: the job has begun, for what `url` names."""

    url: str


class Progress(Envelope):
    """M-06: the job is at `stage`; `pct` percent of it are done."""

    stage: str
    pct: Annotated[float, Field(ge=0, le=100)] | None = None
    message: str | None = None


class Warned(Envelope):
    """M-07: something that the job could do without."""

    message: str


class Succeeded(Envelope):
    """M-08: the end, with the result, which may be null; M-89: only here are artifacts."""

    result: Any
    artifacts: list[Artifact] | None = None


class Failed(Envelope):
    """M-09: the end, without a result."""

    code: Annotated[str, Field(min_length=1)]
    message: str


SCHEMA: Final[Mapping[EventType, type[Envelope]]] = MappingProxyType(
    {
        EventType.ACCEPTED: Accepted,
        EventType.PROGRESS: Progress,
        EventType.WARNING: Warned,
        EventType.SUCCEEDED: Succeeded,
        EventType.FAILED: Failed,
    }
)
_OPTIONAL: Final = frozenset({"pct", "message", "artifacts"})


def read_event(document: Mapping[str, Any]) -> JobEvent:
    """The event that `document` is; raises `EventError`. An optional field that is null is left out."""
    model = _model(document.get("type"))
    if "artifacts" in document and model is not Succeeded:
        raise EventError(("artifacts: only a succeeded event has them",))
    try:
        read = model.model_validate(dict(document))
    except ValidationError as wrong:
        raise EventError(tuple(_problems(wrong))) from None
    return JobEvent(
        job_id=read.job_id,
        seq=read.seq,
        ts=read.ts,
        type=EventType(read.type),
        payload={key: value for key, value in document.items() if _is_payload(key, value)},
    )


def decode_event(line: bytes | str) -> JobEvent:
    """The event that one line of strict JSON is; raises `EventError`."""
    try:
        return read_event(load_object(line if isinstance(line, str) else line.decode()))
    except (UnicodeDecodeError, StrictJsonError) as broken:
        raise EventError((f"no strict JSON object: {broken}",)) from None


def _model(kind: object) -> type[Envelope]:
    if not isinstance(kind, str) or kind not in tuple(EventType):
        raise EventError((f"type: must be one of {', '.join(EventType)}",))
    return SCHEMA[EventType(kind)]


def _is_payload(key: str, value: Any) -> bool:
    return key not in Envelope.model_fields and not (value is None and key in _OPTIONAL)


def _problems(wrong: ValidationError) -> list[str]:
    shown = wrong.errors(include_url=False, include_context=False, include_input=False)[:16]
    return [f"{'.'.join(str(part)[:64] for part in entry['loc'])}: {entry['msg']}" for entry in shown]
