"""threads and thread: the conversations that the asker may see."""

from __future__ import annotations

from typing import Any, Final

from exec_daemon.box.errors import not_found
from exec_daemon.box.ports import BoxContext, StoreFacts
from exec_daemon.box.reading import Reading
from messaging import Message

# O 7.1: the last 50 messages.
_MESSAGES: Final = 50
_THREADS: Final = 100
_SHOWN: Final = ("seq", "id", "author", "author_kind", "kind", "created_at", "in_reply_to", "job_id", "body")


def threads(facts: StoreFacts, context: BoxContext) -> Reading:
    """Threads, the last active first."""
    found = facts.threads(context.scope, _THREADS)
    return Reading({"threads": [each.to_json() for each in found]}, truncated=len(found) == _THREADS)


def thread(facts: StoreFacts, context: BoxContext, thread_id: str) -> Reading:
    """One thread and its last messages."""
    found = facts.thread(thread_id, context.scope)
    if found is None:
        raise not_found("thread", thread_id)
    messages = [_message(each) for each in facts.last_messages(thread_id, _MESSAGES)]
    return Reading(
        {"thread": found.to_json(), "messages": messages}, truncated=found.last_seq > len(messages)
    )


def _message(message: Message) -> dict[str, Any]:
    body = message.to_json()
    return {name: body[name] for name in _SHOWN}
