"""How far readers have read, in memory."""

from __future__ import annotations

from exec_daemon.store.errors import NoSuchThread
from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.readings import Reading


class MemoryReadings(MemoryPart):
    """The `Readings` part of the port."""

    async def mark_read(self, thread_id: str, reader: str, seq: int) -> Reading:
        at, thread = self._clock(), self._tables.threads.get(thread_id)
        if thread is None:
            raise NoSuchThread(f"there is no thread {thread_id!r}", thread_id)
        before = self._tables.readings.get((thread_id, reader))
        reached = min(seq, thread.last_seq)
        if before is None or reached > before.seq:
            before = Reading(reader=reader, seq=reached, at=at)
            self._tables.readings[thread_id, reader] = before
        return before

    async def readings(self, thread_id: str) -> list[Reading]:
        found = [one for (thread, _), one in self._tables.readings.items() if thread == thread_id]
        return sorted(found, key=lambda one: one.reader)
