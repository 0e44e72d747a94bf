"""Which messages of its thread a worker has not answered yet. Pure; the thread is all that is remembered.

So a host that was killed finds out from the thread what is next: a turn that was answered is not run again,
one that was not is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from messaging import TIMER_AUTHOR, AuthorKind, Message, MessageKind

# Words to the worker. A notice of the harvester is for people: to answer it would go on for ever.
_WAKING: Final = frozenset(
    {MessageKind.ENVELOPE, MessageKind.DM, MessageKind.RESULT, MessageKind.WORK_ORDER, MessageKind.TEXT}
)
HARVESTER: Final = "harvester"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a worker is told next: the messages up to `last`, as one prompt."""

    last: Message
    prompt: str


def wakes(message: Message, worker: str) -> bool:
    """Is it something that the worker has to read?"""
    if message.author == worker and message.author_kind is AuthorKind.AGENT:
        return False
    return message.kind in _WAKING or (message.kind is MessageKind.NOTICE and message.author == TIMER_AUTHOR)


def next_turn(messages: Sequence[Message], worker: str) -> Turn | None:
    """`messages` are those of its thread, in order."""
    told = [message for message in messages if wakes(message, worker)]
    answered = _answered(messages, told, worker)
    fresh = [message for message in told if message.seq > answered]
    return Turn(fresh[-1], "\n\n".join(message.body for message in fresh)) if fresh else None


def _answered(messages: Sequence[Message], told: Sequence[Message], worker: str) -> int:
    """The number of the last message that something answers: a reply, or our word that none came."""
    seq = {message.id: message.seq for message in told}
    answers = (message.in_reply_to for message in messages if message.author in (worker, HARVESTER))
    return max((seq.get(answered or "", 0) for answered in answers), default=0)
