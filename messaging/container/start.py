"""`ContainerInput`: all that an agent is started with, over stdin only (T-15 to T-20).

Never in arguments or the environment: the token would be shown by `ps` and inherited by what the agent runs
(T-18). Its representation leaves the token out, so that no log has it either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from messaging.container.fields import (
    Key,
    Table,
    WireError,
    count,
    flag,
    number,
    read_fields,
    some_text,
    text,
    write_fields,
)
from messaging.strict_json import StrictJsonError, load_object


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmEndpoint:
    """How the agent reaches its model: an OpenAI-compatible base URL including `/v1`, and a bearer token."""

    base_url: str
    token: str = field(repr=False)
    model: str
    max_context_tokens: int
    fast_model: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    enable_thinking: bool | None = None
    request_timeout_secs: int | None = None

    @property
    def quick(self) -> str:
        """The model for small work: the fast one, else the one."""
        return self.fast_model or self.model

    def to_json(self) -> dict[str, Any]:
        """camelCase."""
        return write_fields(_LLM, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        return cls(**read_fields(_LLM, document))


_LLM: Final[Table] = {
    "base_url": Key("baseUrl", some_text, required=True),
    "token": Key("token", text, required=True),
    "model": Key("model", some_text, required=True),
    "max_context_tokens": Key("maxContextTokens", count, required=True),
    "fast_model": Key("fastModel", text),
    "max_output_tokens": Key("maxOutputTokens", count),
    "temperature": Key("temperature", number),
    "top_p": Key("topP", number),
    "enable_thinking": Key("enableThinking", flag),
    "request_timeout_secs": Key("requestTimeoutSecs", count),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerInput:
    """One start of an agent. `session_id` is the session to go on with, None for a new one."""

    prompt: str
    group_folder: str
    chat_jid: str
    is_main: bool
    session_id: str | None = None
    is_scheduled_task: bool = False
    assistant_name: str | None = None
    script: str | None = None
    llm: LlmEndpoint | None = None
    ephemeral: bool = False
    timezone: str | None = None

    def to_json(self) -> dict[str, Any]:
        """camelCase."""
        return write_fields(_INPUT, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        return cls(**read_fields(_INPUT, document))

    @classmethod
    def from_text(cls, written: str) -> Self:
        """What stood on stdin; raises `WireError` whose message begins as T-15 has it."""
        try:
            return cls.from_json(load_object(written))
        except (StrictJsonError, WireError) as wrong:
            raise WireError(f"Failed to parse input: {wrong}") from None


def _zone(value: Any) -> str:
    """An IANA name. A wrong one is an error: a silent UTC would be read as the time of day (T-20)."""
    try:
        ZoneInfo(some_text(value))
    except (OSError, ValueError, LookupError):
        raise WireError(f"{str(value)[:64]!r} is no IANA time zone") from None
    return str(value)


_INPUT: Final[Table] = {
    "prompt": Key("prompt", text, required=True),
    "session_id": Key("sessionId", text),
    "group_folder": Key("groupFolder", some_text, required=True),
    "chat_jid": Key("chatJid", some_text, required=True),
    "is_main": Key("isMain", flag, required=True),
    "is_scheduled_task": Key("isScheduledTask", flag, default=False),
    "assistant_name": Key("assistantName", text),
    "script": Key("script", text),
    "llm": Key("llm", LlmEndpoint.from_json),
    "ephemeral": Key("ephemeral", flag, default=False),
    "timezone": Key("timezone", _zone),
}
