"""How many agents have passed a message on: the bound against two that answer each other for ever (O-85).

Counted from the record, never from the text: a message was sent in a reply, and before that reply stands what
the agent was answering. A person, a timer or a job starts a new count.
"""

from __future__ import annotations

from typing import Final

from exec_daemon.calls.op import OpContext
from messaging import AuthorKind, Message, MessageKind

MOST_HOPS: Final = 8
_PAGE: Final = 50


async def hops(context: OpContext, reply_to: str | None) -> int:
    """Which in a row of messages between agents the one to be sent is; 1 for one that answers none."""
    trigger = await _first_trigger(context, reply_to)
    count = 1
    while trigger is not None and count <= MOST_HOPS:
        count += 1
        job = await context.store.job(trigger.job_id or "")
        reply = await context.store.message(job.reply) if job is not None and job.reply else None
        trigger = await _trigger(context, reply.thread, reply.seq) if reply is not None else None
    return count


async def _first_trigger(context: OpContext, reply_to: str | None) -> Message | None:
    """The message between agents that the sender answers: by name, else the last one before its reply."""
    if reply_to is not None:
        answered = await context.store.message(reply_to)
        return answered if answered is not None and _between_agents(answered) else None
    reply = await context.store.message(context.reply) if context.reply else None
    if reply is not None:
        return await _trigger(context, reply.thread, reply.seq)
    agent = await context.store.agent(context.identity.name)
    home = await context.store.thread(agent.thread) if agent is not None else None
    return await _trigger(context, home.id, home.last_seq + 1) if home is not None else None


def _between_agents(message: Message) -> bool:
    return message.kind is MessageKind.DM and message.author_kind is AuthorKind.AGENT


async def _trigger(context: OpContext, thread: str, before: int) -> Message | None:
    """The last thing that set the agent going: a message of another agent, or None for anything else."""
    stretch = await context.store.messages(thread, max(0, before - 1 - _PAGE), min(_PAGE, before - 1))
    for message in reversed(stretch):
        if _between_agents(message):
            return message
        if message.author_kind is AuthorKind.HUMAN or message.kind in (
            MessageKind.ENVELOPE,
            MessageKind.WORK_ORDER,
        ):
            return None
    return None
