"""`dm.send`: a message into the home thread of another agent (O-85)."""

from __future__ import annotations

from typing import Final, Literal, TypedDict

from pydantic import Field

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.scope import sees_thread
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.ops.dm_hops import MOST_HOPS, hops
from exec_daemon.store.values import Agent, AppendMessage
from messaging import AuthorKind, CallError, ErrorCode, MessageKind, NewMessage, error
from messaging.near import did_you_mean, near

# O-85: what an agent can read in one go; longer things are artifacts.
MAX_TEXT_BYTES: Final = 16 * 1024

AUTHOR_KINDS: Final = {
    Role.OPERATOR: AuthorKind.HUMAN,
    Role.AGENT: AuthorKind.AGENT,
    Role.WORKER: AuthorKind.AGENT,
}
# Whose messages could go round for ever.
BOUND: Final = frozenset({Role.AGENT, Role.WORKER})


class Args(Arguments):
    """`thread` picks another thread of the recipient than its home; `reply_to` is the id of a message."""

    to: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$", description="name of a registered agent")
    text: str = Field(min_length=1, description=f"at most {MAX_TEXT_BYTES} bytes of UTF-8")
    thread: str | None = Field(
        default=None, max_length=128, description="a thread of the recipient; its home"
    )
    reply_to: str | None = Field(default=None, max_length=128, description="id of the message this answers")
    priority: Literal["low", "normal", "high"] = Field(default="normal", description="kept with the job")


class Delivered(TypedDict):
    """Where the message is. It is there: a message that could not be delivered is an error."""

    message_id: str
    thread: str
    to: str
    delivered: bool


def check(args: Args) -> CallError | None:
    """Limits in bytes, which a JSON Schema cannot say."""
    size = len(args.text.encode())
    if size > MAX_TEXT_BYTES:
        text = f"text has {size} bytes; a DM holds at most {MAX_TEXT_BYTES}. Send a shorter one, or several."
        return error(ErrorCode.TOO_LARGE, text, details={"bytes": size, "most_bytes": MAX_TEXT_BYTES})
    if "\0" in args.text:
        return error(ErrorCode.INVALID_ARGS, "text: holds a NUL character.")
    return None


async def _unknown_recipient(args: Args, context: OpContext) -> CallError:
    names = [agent.name for agent in await context.store.agents()]
    close = near(args.to, names)
    text = f"There is no agent {args.to!r}.{did_you_mean(close)}"
    return error(ErrorCode.NOT_FOUND, text, details={"to": args.to, "suggestions": close})


async def _thread(args: Args, agent: Agent, context: OpContext) -> str | None:
    """The recipient's thread to write into: its home, or another one that it is bound to."""
    if args.thread in (None, agent.thread):
        return agent.thread
    thread = await context.store.thread(args.thread or "")
    return thread.id if thread and thread.agent == agent.name else None


async def _may_answer(message_id: str, context: OpContext) -> bool:
    """Does the message exist, where the sender can see it?"""
    message = await context.store.message(message_id)
    thread = message and await context.store.thread(message.thread)
    return bool(thread and sees_thread(context.identity, thread))


def _not_found(what: str) -> CallError:
    return error(ErrorCode.NOT_FOUND, f"There is no {what}.")


def _too_many_hops(args: Args) -> CallError:
    text = (
        f"This would be more than {MOST_HOPS} messages between agents in a row, without a person or a timer. "
        "Stop here; a person can go on."
    )
    return error(ErrorCode.FORBIDDEN, text, details={"rule": "hop count", "to": args.to, "most": MOST_HOPS})


async def run(args: Args, context: OpContext) -> Ended:
    """Delivers by an effect: the message is there exactly when the job has succeeded."""
    agent = await context.store.agent(args.to)
    if agent is None:
        return await _unknown_recipient(args, context)
    thread = await _thread(args, agent, context)
    if thread is None:
        return _not_found(f"thread {args.thread!r} of {args.to}")
    if args.reply_to is not None and not await _may_answer(args.reply_to, context):
        return _not_found(f"message {args.reply_to!r} that you may see")
    if context.identity.role in BOUND and await hops(context, args.reply_to) > MOST_HOPS:
        return _too_many_hops(args)
    message_id = context.new_id("msg")
    message = NewMessage(
        thread=thread,
        author=context.identity.name,
        author_kind=AUTHOR_KINDS.get(context.identity.role, AuthorKind.SYSTEM),
        kind=MessageKind.DM,
        body=args.text,
        in_reply_to=args.reply_to,
        job_id=context.job_id,
    )
    delivered = Delivered(message_id=message_id, thread=thread, to=args.to, delivered=True)
    return Success(delivered, (AppendMessage(message, message_id),))


def pair(identity: Identity, args: Args) -> str:
    """Two agents that answer each other without end are slowed down as a pair (O-85)."""
    return f"{identity}>{args.to}"


OP = Op(
    name="dm.send",
    summary="Send a message to another agent; it arrives in that agent's home thread.",
    side_effecting=True,
    arguments=Args,
    example={"to": "heron", "text": "The build is green."},
    run=run,
    check=check,
    pair=pair,
)
