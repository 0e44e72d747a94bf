"""What became of a message: that it is there, and who has read it (O-83, O-85)."""

from __future__ import annotations

from typing import Any, Final

from exec_daemon.access.identity import Identity, Role
from exec_daemon.store.port import Store
from messaging import AuthorKind, Message, Thread

# So many messages behind one are looked through for an answer of the agent, and for what is unread.
_PAGE: Final = 200


async def delivery_of(store: Store, message: Message) -> dict[str, Any]:
    """`{state, at, read_by}`. A message in a thread is delivered; what could not be delivered is an error."""
    read_by = {
        one.reader: one.at
        for one in await store.readings(message.thread)
        if one.seq >= message.seq and not _wrote(one.reader, message)
    }
    thread = await store.thread(message.thread)
    answer = await _answer(store, thread, message) if thread and thread.agent else None
    if answer is not None:
        read_by.setdefault(f"{Role.AGENT}/{answer.author}", answer.created_at)
    shown = [{"reader": reader, "at": at} for reader, at in sorted(read_by.items())]
    return {"state": "delivered", "at": message.created_at, "read_by": shown}


def _wrote(reader: str, message: Message) -> bool:
    return reader.partition("/")[2] == message.author


async def _answer(store: Store, thread: Thread, message: Message) -> Message | None:
    """What the thread's agent wrote next: it has read what stands before."""
    later = await store.messages(thread.id, message.seq, _PAGE)
    mine = (one for one in later if one.author_kind is AuthorKind.AGENT and one.author == thread.agent)
    return next(mine, None)


async def unread(store: Store, thread: Thread, reader: Identity) -> int:
    """How many messages stand behind what `reader` has read or written there, up to 200."""
    marks = {one.reader: one.seq for one in await store.readings(thread.id)}
    after = max(marks.get(str(reader), 0), thread.last_seq - _PAGE)
    later = await store.messages(thread.id, after, _PAGE)
    mine = [one.seq for one in later if (one.author_kind, one.author) == (AuthorKind.AGENT, reader.name)]
    return sum(one.seq > max(mine, default=0) for one in later)
