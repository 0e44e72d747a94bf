"""The `Readings` part of the port: what goes to the writer, what to the readers."""

from __future__ import annotations

from exec_daemon.store.readings import Reading
from exec_daemon.store.sqlite import readings
from exec_daemon.store.sqlite.part import SqlitePart


class SqliteReadings(SqlitePart):
    """See `exec_daemon/store/readings.py`."""

    async def mark_read(self, thread_id: str, reader: str, seq: int) -> Reading:
        return await self._write(readings.mark, thread_id, reader, seq, self._clock())

    async def readings(self, thread_id: str) -> list[Reading]:
        return await self._read(readings.readings, thread_id)
