"""What became of a message: whether it has reached its agent, and who has read it (O-83, O-85)."""

from __future__ import annotations

from typing import Any, Final

from exec_daemon.access.identity import Identity, Role
from exec_daemon.store.port import Store
from exec_daemon.store.worker_values import OVER
from messaging import AuthorKind, Message, Thread
from messaging.undelivered import why_undelivered

# So many messages behind one are looked through for an answer of the agent, and for what is unread.
_PAGE: Final = 200


async def delivery_of(store: Store, message: Message) -> dict[str, Any]:
    """`{state, at, read_by, reason?}`.

    `queued`: the worker that it is for has not answered it yet. `failed`: the worker is over, or the agent's
    container was given up, before it did; `reason` says why. Else `delivered`: it is where its agent reads.
    """
    read_by = {
        one.reader: one.at
        for one in await store.readings(message.thread)
        if one.seq >= message.seq and not _wrote(one.reader, message)
    }
    thread = await store.thread(message.thread)
    later = await store.messages(message.thread, message.seq, _PAGE)
    answer = _answer(later, thread.agent) if thread and thread.agent else None
    if answer is not None:
        read_by.setdefault(f"{Role.AGENT}/{answer.author}", answer.created_at)
    shown = [{"reader": reader, "at": at} for reader, at in sorted(read_by.items())]
    state, reason = ("delivered", None) if shown else await _on_its_way(store, message, later)
    standing = {"state": state, "at": message.created_at, "read_by": shown}
    return standing | ({"reason": reason} if reason else {})


async def _on_its_way(store: Store, message: Message, later: list[Message]) -> tuple[str, str | None]:
    """How a message stands that nobody has read."""
    gave_up = [why for one in later if (why := why_undelivered(one)) is not None]
    if gave_up:
        return "failed", gave_up[-1]
    worker = await store.worker(message.thread)
    if worker is None or message.author == worker.id:
        return "delivered", None
    return ("failed", worker.reason or str(worker.state)) if worker.state in OVER else ("queued", None)


def _wrote(reader: str, message: Message) -> bool:
    return reader.partition("/")[2] == message.author


def _answer(later: list[Message], agent: str) -> Message | None:
    """What the thread's agent wrote next: it has read what stands before."""
    mine = (one for one in later if one.author_kind is AuthorKind.AGENT and one.author == agent)
    return next(mine, None)


async def unread(store: Store, thread: Thread, reader: Identity) -> int:
    """How many messages stand behind what `reader` has read or written there, up to 200."""
    marks = {one.reader: one.seq for one in await store.readings(thread.id)}
    after = max(marks.get(str(reader), 0), thread.last_seq - _PAGE)
    later = await store.messages(thread.id, after, _PAGE)
    mine = [one.seq for one in later if (one.author_kind, one.author) == (AuthorKind.AGENT, reader.name)]
    return sum(one.seq > max(mine, default=0) for one in later)
