"""The notice by which the record says that a message did not reach the agent it is for (O-85).

It stands in the thread of that agent, is by the system, and answers the last message that it is about: that
one and all before it that the agent had not read.
"""

from __future__ import annotations

from typing import Final

from messaging.threads import AuthorKind, Message, MessageKind

_OPENING: Final = "Not delivered: "


def undelivered(why: str) -> str:
    """The body of such a notice."""
    return f"{_OPENING}{why}"


def why_undelivered(notice: Message) -> str | None:
    """What it says; None for any other message, whoever wrote the same words."""
    ours = notice.author_kind is AuthorKind.SYSTEM and notice.kind is MessageKind.NOTICE
    if not ours or notice.in_reply_to is None or not notice.body.startswith(_OPENING):
        return None
    return notice.body.removeprefix(_OPENING)
