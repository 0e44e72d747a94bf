"""What each command takes. On the wire the fields have camel case (`taskId`); nothing is converted."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from messaging.rpc import Request, RpcCode, RpcError, is_task_id, rpc_error


def _task_id(text: str) -> str:
    if not is_task_id(text):
        raise ValueError("a task id has 1 to 128 letters, digits, _, -, : and single dots")
    return text


TaskId = Annotated[str, AfterValidator(_task_id)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Payload(BaseModel):
    """Root: strict, and nothing unknown gets in (J-02)."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class Nothing(Payload):
    """`{}`."""


class OfTask(Payload):
    """Without `taskId` the active task is meant."""

    task_id: TaskId | None = None


class Open(Payload):
    """`provider` is a template of the operator; it may be left out where there is one only.

    `thread` is where the task's prompts and answers are recorded.
    """

    task_id: TaskId
    provider: Name | None = None
    model: Name | None = None
    thinking_level: Name | None = None
    working_folder: str | None = Field(default=None, min_length=1, max_length=4096)
    thread: Name | None = None


class Switch(Payload):
    """Which task becomes the active one."""

    task_id: TaskId


class Prompt(OfTask):
    """`promptId` comes back with everything that follows from it."""

    message: str = Field(min_length=1)
    prompt_id: Name | None = None


class Pause(OfTask):
    """Why."""

    reason: Name


class Model(OfTask):
    """`provider` is read for the sake of clients that send it."""

    model: Name
    provider: Name | None = None


class State(Payload):
    """`since` is the last event that the client has, of `epoch`."""

    since: int | None = Field(default=None, ge=0, le=2**53)
    epoch: Name | None = None


class Anything(Payload):
    """Passed on as it is, but for `taskId`."""

    model_config = ConfigDict(extra="allow")

    task_id: TaskId | None = None

    def rest(self) -> dict[str, Any]:
        """All but the task."""
        return dict(self.model_extra or {})


def read_payload(request: Request, model: type[Payload]) -> Payload | RpcError:
    """The payload as `model`, or what is wrong with it."""
    try:
        return model.model_validate(dict(request.payload))
    except ValidationError as wrong:
        shown = wrong.errors(include_url=False, include_context=False, include_input=False)[:8]
    said = " ".join(f"{'.'.join(str(part)[:64] for part in one['loc'])}: {one['msg']}." for one in shown)
    takes = ", ".join(field.alias or name for name, field in model.model_fields.items()) or "nothing"
    return rpc_error(RpcCode.INVALID_REQUEST, f"{said} The payload of {request.type} takes {takes}.")
