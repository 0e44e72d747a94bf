"""`dm.read`: the messages that other agents and people sent to the asker."""

from __future__ import annotations

from typing import Any, Final, TypedDict

from pydantic import Field

from exec_daemon.access.scope import sees_thread
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.delivery import delivery_of, unread
from messaging import ErrorCode, JobState, Message, MessageKind, Thread, error

# A page of the store, and how many of them one call looks through for DMs between other messages.
_PAGE: Final = 200
_MOST_PAGES: Final = 10


class Args(Arguments):
    """Without `after` the newest DMs; with it those behind that `seq`, oldest first."""

    thread: str | None = Field(default=None, max_length=128, description="another thread than your home")
    after: int | None = Field(default=None, ge=0, le=2**53, description="only messages with a higher seq")
    limit: int = Field(default=20, ge=1, le=100, description="how many")
    sent: bool = Field(default=False, description="those that you sent, and who has read them")


class Inbox(TypedDict):
    """To read on, call again with the `seq` of the last message as `after`; `last_seq` is the thread's."""

    thread: str
    last_seq: int
    unread: int
    messages: list[dict[str, Any]]


class Outbox(TypedDict):
    """What the asker sent, the newest first, each with its delivery (O-85)."""

    sent: list[dict[str, Any]]


async def _home(context: OpContext) -> str | None:
    agent = await context.store.agent(context.identity.name)
    return agent.thread if agent else context.thread


async def _behind(thread: Thread, after: int, context: OpContext) -> list[Message]:
    """DMs with a higher seq than `after`, from a bounded stretch of the thread."""
    found: list[Message] = []
    for _ in range(_MOST_PAGES):
        page = await context.store.messages(thread.id, after=after, limit=_PAGE)
        found += [message for message in page if message.kind is MessageKind.DM]
        if len(page) < _PAGE:
            break
        after = page[-1].seq
    return found


async def run(args: Args, context: OpContext) -> Ended:
    """Reads; a thread that is foreign and one that is missing answer alike (O-46)."""
    if args.sent:
        return Success(Outbox(sent=await _sent(args.limit, context)))
    thread_id = args.thread or await _home(context)
    if thread_id is None:
        return error(ErrorCode.INVALID_ARGS, "thread: missing. You have no home thread; name one.")
    thread = await context.store.thread(thread_id)
    if thread is None or not sees_thread(context.identity, thread):
        return error(ErrorCode.NOT_FOUND, f"There is no thread {thread_id!r} that you may see.")
    if args.after is None:
        found = (await _behind(thread, max(0, thread.last_seq - _PAGE * _MOST_PAGES), context))[-args.limit :]
    else:
        found = (await _behind(thread, args.after, context))[: args.limit]
    shown = [message.to_json() for message in found]
    left = await unread(context.store, thread, context.identity)
    return Success(Inbox(thread=thread.id, last_seq=thread.last_seq, unread=left, messages=shown))


async def _sent(limit: int, context: OpContext) -> list[dict[str, Any]]:
    """By the asker's own jobs, of which a bounded number is looked through."""
    jobs = await context.store.jobs(str(context.identity), JobState.SUCCEEDED, _PAGE)
    ids = [job.result["message_id"] for job in jobs if job.op == "dm.send"][:limit]
    found = [message for one in ids if (message := await context.store.message(one)) is not None]
    return [one.to_json() | {"delivery": await delivery_of(context.store, one)} for one in found]


OP = Op(
    name="dm.read",
    summary="Read the messages that were sent to you.",
    side_effecting=False,
    arguments=Args,
    example={"limit": 10},
    run=run,
)
