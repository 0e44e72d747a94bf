"""Threads and messages in memory."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store.errors import Exists, NoSuchThread
from exec_daemon.store.feed import message_topics
from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.port import PAGE
from exec_daemon.store.values import Appended, NewThread
from messaging import Message, NewMessage, Thread


def _active(thread: Thread) -> str:
    return thread.last_at or thread.created_at


class MemoryThreads(MemoryPart):
    """The `Threads` part of the port."""

    async def create_thread(self, new: NewThread) -> Thread:
        return self._make_thread(new, self._clock())

    async def thread(self, thread_id: str) -> Thread | None:
        return self._tables.threads.get(thread_id)

    async def threads(self, agent: str | None = None, limit: int = PAGE) -> list[Thread]:
        newest_first = reversed(self._tables.threads.values())
        found = [thread for thread in newest_first if agent in (None, thread.agent)]
        return sorted(found, key=_active, reverse=True)[:limit]

    async def append(self, new: NewMessage) -> Appended:
        return self._append(new, self._new_id("msg"), self._clock())

    async def message(self, message_id: str) -> Message | None:
        return self._tables.messages.get(message_id)

    async def messages(self, thread_id: str, after: int = 0, limit: int = PAGE) -> list[Message]:
        return [m for m in self._tables.messages.values() if m.thread == thread_id and m.seq > after][:limit]

    async def replies(self, after: int = 0, limit: int = PAGE) -> list[Message]:
        return [m for m in self._tables.messages.values() if m.is_reply and m.position > after][:limit]

    async def last_position(self) -> int:
        return len(self._tables.messages)

    def _make_thread(self, new: NewThread, at: str) -> Thread:
        if new.id in self._tables.threads:
            raise Exists(f"there is a thread {new.id!r} already", new.id)
        thread = Thread(id=new.id, title=new.title, agent=new.agent, created_at=at)
        self._tables.threads[new.id] = thread
        return thread

    def _append(self, new: NewMessage, message_id: str, at: str) -> Appended:
        tables = self._tables
        if new.key is not None and (new.thread, new.key) in tables.keyed:
            return Appended(tables.keyed[new.thread, new.key], replayed=True)
        thread = tables.threads.get(new.thread)
        if thread is None:
            raise NoSuchThread(f"there is no thread {new.thread!r}", new.thread)
        if message_id in tables.messages:
            raise Exists(f"there is a message {message_id!r} already", message_id)
        message = new.appended(
            message_id, seq=thread.last_seq + 1, position=len(tables.messages) + 1, created_at=at
        )
        tables.threads[thread.id] = replace(thread, last_seq=message.seq, last_at=at)
        tables.messages[message.id] = message
        if new.key is not None:
            tables.keyed[new.thread, new.key] = message
        self._feed.publish(message_topics(message))
        return Appended(message)
