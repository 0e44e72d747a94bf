"""Threads and messages: where replies come from and results go (O-83).

A *reply* is a finished message whose recorded author is an agent and whose kind is `text`. Only replies
are harvested: a DM, a result or an envelope that holds directives is text and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from messaging.quick import quickly_made

# The author of what a timer says: envelopes, and notices such as the one that asks for a verdict.
TIMER_AUTHOR: Final = "timer"


class AuthorKind(StrEnum):
    """Who wrote a message, by the record of the store and never by the text."""

    HUMAN = "human"
    AGENT = "agent"
    SYSTEM = "system"


class MessageKind(StrEnum):
    """What a message is."""

    TEXT = "text"
    DM = "dm"
    RESULT = "directive_result"
    ENVELOPE = "envelope"
    NOTICE = "notice"
    WORK_ORDER = "work_order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation. `agent` is the agent that answers in it, if one is bound; times are UTC ISO 8601."""

    id: str
    title: str
    agent: str | None
    created_at: str
    last_seq: int = 0
    last_at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Thread:
        """The inverse of `to_json`; fields that we do not know are left out."""
        return cls(**{key: body[key] for key in cls.__dataclass_fields__ if key in body})


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of a thread. `seq` counts from 1 in its thread; `position` counts over the whole store."""

    id: str
    thread: str
    seq: int
    position: int
    author: str
    author_kind: AuthorKind
    kind: MessageKind
    body: str
    created_at: str
    in_reply_to: str | None = None
    job_id: str | None = None

    @property
    def is_reply(self) -> bool:
        """May directives in this message run?"""
        return self.author_kind is AuthorKind.AGENT and self.kind is MessageKind.TEXT

    def to_json(self) -> dict[str, Any]:
        """All fields, kinds as strings."""
        return asdict(self) | {"author_kind": str(self.author_kind), "kind": str(self.kind)}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Message:
        """The inverse of `to_json`; raises ValueError for an unknown kind."""
        known = {key: body[key] for key in cls.__dataclass_fields__ if key in body}
        known["author_kind"], known["kind"] = AuthorKind(body["author_kind"]), MessageKind(body["kind"])
        return cls(**known)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message to be appended. `key` makes it happen once: a second append with it returns the first."""

    thread: str
    author: str
    author_kind: AuthorKind
    kind: MessageKind
    body: str
    in_reply_to: str | None = None
    job_id: str | None = None
    key: str | None = None

    def appended(self, message_id: str, *, seq: int, position: int, created_at: str) -> Message:
        """The message that it becomes at its place."""
        return Message(
            id=message_id,
            thread=self.thread,
            seq=seq,
            position=position,
            author=self.author,
            author_kind=self.author_kind,
            kind=self.kind,
            body=self.body,
            created_at=created_at,
            in_reply_to=self.in_reply_to,
            job_id=self.job_id,
        )
