"""The files of `input/` and `messages/` (T-13, T-25)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from messaging.container.fields import Key, Table, WireError, read_fields, some_text, text, write_fields

_TYPE: Final = "message"


def _expect_message(document: Any) -> None:
    if not isinstance(document, dict) or document.get("type") != _TYPE:
        raise WireError(f"must be {_TYPE!r}", "type")


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """`input/*.json`: a word of the host to an agent that runs."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """`{"type": "message", "text"}`."""
        return {"type": _TYPE, "text": self.text}

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        _expect_message(document)
        return cls(**read_fields({"text": Key("text", text, required=True)}, document))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """`messages/*.json`: a word of an agent to a chat. Who it is by, it does not say (T-38)."""

    chat_jid: str
    text: str
    group_folder: str | None = None
    sender: str | None = None
    timestamp: str | None = None

    def to_json(self) -> dict[str, Any]:
        """`{"type": "message", "chatJid", "text", …}`."""
        return {"type": _TYPE} | write_fields(_CHAT, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        _expect_message(document)
        return cls(**read_fields(_CHAT, document))


_CHAT: Final[Table] = {
    "chat_jid": Key("chatJid", some_text, required=True),
    "text": Key("text", some_text, required=True),
    "group_folder": Key("groupFolder", text),
    "sender": Key("sender", text),
    "timestamp": Key("timestamp", text),
}
