"""`ContainerOutput`: what one frame says (T-06 to T-10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from messaging.container.fields import Key, Table, count, one_of, read_fields, text, texts, write_fields


class Status(StrEnum):
    """How a turn ended."""

    SUCCESS = "success"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """Tokens of one turn, named as Anthropic names them. What was not reported is None."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def context_size(self) -> int:
        """What grows when a session goes on: all that went in, and nothing that came out (T-08)."""
        parts = (self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens)
        return sum(part or 0 for part in parts)

    def to_json(self) -> dict[str, Any]:
        """snake_case also on the wire (T-07)."""
        return write_fields(_USAGE, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        return cls(**read_fields(_USAGE, document))

    @classmethod
    def from_openai(cls, usage: Mapping[str, Any]) -> Self:
        """OpenAI counts cached tokens among the prompt's; here they stand apart (T-09)."""
        prompt, cached = usage.get("prompt_tokens"), _cached(usage)
        return cls(
            input_tokens=max(0, prompt - (cached or 0)) if isinstance(prompt, int) else None,
            output_tokens=_whole(usage.get("completion_tokens")),
            cache_read_input_tokens=cached,
        )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _cached(usage: Mapping[str, Any]) -> int | None:
    details = usage.get("prompt_tokens_details")
    return _whole(details.get("cached_tokens")) if isinstance(details, dict) else None


_USAGE: Final[Table] = {name: Key(name, count) for name in SessionUsage.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerOutput:
    """One frame. A success without `result` says that the agent is idle (T-29).

    `consumed_inputs` names the files whose follow-ups went into the turn that the frame ends; None comes
    from an agent that does not say.
    """

    status: Status
    result: str | None = None
    new_session_id: str | None = None
    error: str | None = None
    usage: SessionUsage | None = None
    consumed_inputs: tuple[str, ...] | None = None

    @property
    def is_idle(self) -> bool:
        """Does it wait for the next follow-up?"""
        return self.status is Status.SUCCESS and self.result is None

    def to_json(self) -> dict[str, Any]:
        """`result` is there even when it is null (T-06)."""
        return write_fields(_OUTPUT, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        return cls(**read_fields(_OUTPUT, document))


def _status(value: Any) -> Status:
    return Status(one_of(*Status)(value))


_OUTPUT: Final[Table] = {
    "status": Key("status", _status, required=True),
    "result": Key("result", text, always=True),
    "new_session_id": Key("newSessionId", text),
    "error": Key("error", text),
    "usage": Key("usage", SessionUsage.from_json),
    "consumed_inputs": Key("consumedInputs", texts),
}
