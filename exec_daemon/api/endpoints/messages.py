"""`/messages`: what became of a message; and how far the asker has read a thread (O-83, O-85)."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.identity import Role
from exec_daemon.access.scope import sees_thread
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.delivery import delivery_of, unread
from messaging import AuthorKind, ErrorCode, Message, Thread


class ReadBody(Body):
    """The number of the last message that was read."""

    seq: int = Field(ge=0, le=2**53)


def _sent_it(ask: Ask, message: Message) -> bool:
    """Whoever sent a message into another's thread sees it there, and nothing else of that thread."""
    agent = (message.author_kind, message.author) == (AuthorKind.AGENT, ask.identity.name)
    return agent and ask.identity.role in (Role.AGENT, Role.WORKER)


async def one(ask: Ask) -> Response:
    """A message and its delivery, for those who see its thread and for who sent it."""
    store, message_id = ask.services.store, ask.request.path_params["id"]
    message = await store.message(message_id)
    thread = await store.thread(message.thread) if message is not None else None
    if message is None or thread is None or not (sees_thread(ask.identity, thread) or _sent_it(ask, message)):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no message {message_id[:128]!r} that you may see.")
    return answer({"message": message.to_json(), "delivery": await delivery_of(store, message)})


async def _seen(ask: Ask) -> Thread:
    thread_id = ask.request.path_params["id"]
    thread = await ask.services.store.thread(thread_id)
    if thread is None or not sees_thread(ask.identity, thread):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no thread {thread_id[:128]!r} that you may see.")
    return thread


async def _standing(ask: Ask, thread: Thread) -> dict[str, Any]:
    mine = [one for one in await ask.services.store.readings(thread.id) if one.reader == str(ask.identity)]
    left = await unread(ask.services.store, thread, ask.identity)
    return {
        "thread": thread.id,
        "reader": str(ask.identity),
        "seq": mine[0].seq if mine else 0,
        "unread": left,
    }


async def reading(ask: Ask) -> Response:
    """How far the asker has read, and how many messages it has not."""
    return answer(await _standing(ask, await _seen(ask)))


async def read(ask: Ask) -> Response:
    """The asker has read so far; less than before changes nothing."""
    thread = await _seen(ask)
    body = await read_body(ask.request, ReadBody, ask.services.settings.limits.max_call_bytes)
    await ask.services.store.mark_read(thread.id, str(ask.identity), body.seq)
    return answer(await _standing(ask, thread))
