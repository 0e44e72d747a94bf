"""`/threads`: conversations and their messages."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.authors import AUTHORSHIP, RECORDED, RECORDERS, Authorship, author_name
from exec_daemon.access.identity import Role
from exec_daemon.access.scope import sees_all, sees_thread
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, query_number, read_body
from exec_daemon.api.endpoints.agents import require_agent
from exec_daemon.api.pages import STEP, paged
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.api.sse import Event, last_event_id, stream
from exec_daemon.store import NewThread, thread_topic
from messaging import ErrorCode, Message, MessageKind, NewMessage, Thread

_MOST = 500
_MOST_KEY_CHARS = 200


class ThreadBody(Body):
    """`agent` is the one that answers in the thread."""

    id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$",
        description="an id of 1 to 128 letters, digits, _ and -, that does not begin with -",
    )
    title: str = Field(default="", max_length=500)
    agent: str | None = Field(default=None, max_length=64)


class MessageBody(Body):
    """`as` (an agent's name) records what that agent wrote elsewhere."""

    may_hold_nul: ClassVar[bool] = True

    body: str = Field(min_length=1)
    kind: str | None = None
    in_reply_to: str | None = Field(default=None, max_length=200)
    author: str | None = Field(default=None, alias="as", max_length=64)


async def _seen(ask: Ask) -> Thread:
    """The thread of the path; foreign and missing answer alike (O-46)."""
    thread_id = ask.request.path_params["id"]
    thread = await ask.services.store.thread(thread_id)
    if thread is None or not sees_thread(ask.identity, thread):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no thread {thread_id[:128]!r} that you may see.")
    return thread


async def every(ask: Ask) -> Response:
    """The last active one first; an agent gets its own, others may ask for those of one `agent`."""
    store, limit = ask.services.store, query_number(ask.request, "limit", 100, _MOST)
    if sees_all(ask.identity):
        threads = await store.threads(ask.request.query_params.get("agent"), limit)
    elif ask.identity.role is Role.AGENT:
        threads = await store.threads(ask.identity.name, limit)
    else:
        threads = []
    return answer({"threads": [thread.to_json() for thread in threads]})


async def create(ask: Ask) -> Response:
    """A new thread."""
    services = ask.services
    body = await read_body(ask.request, ThreadBody, services.settings.limits.max_call_bytes)
    if body.agent is not None:
        await require_agent(services.store, body.agent)
    thread_id = body.id or services.new_id("thr")
    new = NewThread(id=thread_id, title=body.title or thread_id, agent=body.agent)
    return answer((await services.store.create_thread(new)).to_json(), 201)


async def one(ask: Ask) -> Response:
    """One thread."""
    return answer((await _seen(ask)).to_json())


async def messages(ask: Ask) -> Response:
    """Messages behind `after`, oldest first."""
    thread = await _seen(ask)
    after = query_number(ask.request, "after", 0, 2**53)
    limit = query_number(ask.request, "limit", 200, _MOST)
    found = await paged(partial(ask.services.store.messages, thread.id), after, limit, lambda one: one.seq)
    return answer({"messages": [message.to_json() for message in found]})


def _kind(wanted: str | None, authorship: Authorship) -> MessageKind:
    kinds = authorship.kinds
    if wanted is None:
        return kinds[0]
    if wanted not in kinds:
        raise refuse(ErrorCode.INVALID_REQUEST, f"kind must be one of {', '.join(kinds)} here.")
    return MessageKind(wanted)


def _key(ask: Ask) -> str | None:
    """The idempotency key, counted per identity: nobody can use up a key of another's."""
    keys = ask.request.headers.getlist("idempotency-key")
    if not keys:
        return None
    key = keys[0]
    if len(keys) > 1 or not key or len(key) > _MOST_KEY_CHARS or not key.isascii():
        text = f"Idempotency-Key stands once and has 1 to {_MOST_KEY_CHARS} ASCII characters."
        raise refuse(ErrorCode.INVALID_REQUEST, text)
    return f"{ask.identity} {key}"


def _check_same(ask: Ask, earlier: Message, wanted: NewMessage) -> None:
    """A key that stands for another message: saying "posted" would lose this one.

    A harvester's keys name the reply that it answers, and one that begins again may word the answer anew.
    """
    if ask.identity.role is Role.HARVESTER or earlier.body == wanted.body:
        return
    text = f"The Idempotency-Key stands for another message, {earlier.id}. Choose a new one."
    raise refuse(ErrorCode.DUPLICATE_ID, text, message_id=earlier.id)


async def _author(ask: Ask, body: MessageBody) -> tuple[str, Authorship]:
    """Who the message will be by: the asker, or the agent whose words it records."""
    if body.author is None:
        authorship = AUTHORSHIP[ask.identity.role]
        return author_name(ask.identity, authorship), authorship
    if ask.identity.role not in RECORDERS:
        raise refuse(ErrorCode.FORBIDDEN, f"{ask.identity} may not post as another.")
    return (await require_agent(ask.services.store, body.author)).name, RECORDED


async def _check_answered(ask: Ask, thread: Thread, message_id: str | None) -> None:
    """What a message says it answers is a message of the same thread: readers go by it."""
    if message_id is None:
        return
    answered = await ask.services.store.message(message_id)
    if answered is None or answered.thread != thread.id:
        text = f"There is no message {message_id[:128]!r} in the thread {thread.id} that could be answered."
        raise refuse(ErrorCode.NOT_FOUND, text)


async def post(ask: Ask) -> Response:
    """Appends a message; who wrote it follows from the asker's identity."""
    thread = await _seen(ask)
    body = await read_body(ask.request, MessageBody, ask.services.settings.limits.max_body_bytes)
    author, authorship = await _author(ask, body)
    await _check_answered(ask, thread, body.in_reply_to)
    wanted = NewMessage(
        thread=thread.id,
        author=author,
        author_kind=authorship.kind,
        kind=_kind(body.kind, authorship),
        body=body.body,
        in_reply_to=body.in_reply_to,
        key=_key(ask),
    )
    appended = await ask.services.store.append(wanted)
    if appended.replayed:
        _check_same(ask, appended.message, wanted)
    return answer(appended.message.to_json(), 200 if appended.replayed else 201)


async def follow(ask: Ask) -> Response:
    """Messages as they come; `Last-Event-ID` or `?after=` says what the client has."""
    thread = await _seen(ask)
    store = ask.services.store
    after = last_event_id(ask.request, query_number(ask.request, "after", 0, 2**53))

    async def page(behind: int) -> list[Event]:
        found = await store.messages(thread.id, behind, STEP)
        return [Event("message", message.seq, message.to_json()) for message in found]

    return stream(ask, thread_topic(thread.id), page, after)
