"""The store's double: the whole port in memory, for tests and for demonstrations that leave nothing behind.

It ships with the product and passes the same contract suite as the store on disk. It scans where a
database has indices, so it is for thousands of messages, not for millions.
"""

from __future__ import annotations

from exec_daemon.store.feed import Subscription
from exec_daemon.store.memory.directory import MemoryDirectory
from exec_daemon.store.memory.outside import MemoryOutside
from exec_daemon.store.memory.permissions import MemoryPermissions
from exec_daemon.store.memory.readings import MemoryReadings
from exec_daemon.store.memory.rpc import MemoryRpc
from exec_daemon.store.memory.spending import MemorySpending
from exec_daemon.store.memory.workers import MemoryWorkers


class MemoryStore(
    MemoryDirectory,
    MemoryWorkers,
    MemoryReadings,
    MemoryOutside,
    MemorySpending,
    MemoryRpc,
    MemoryPermissions,
):
    """A `Store` that forgets everything when it is closed."""

    def subscribe(self, *topics: str) -> Subscription:
        """As the port says."""
        return self._feed.subscribe(*topics)

    async def close(self) -> None:
        """Forgets everything."""
        self._open_tables = None


__all__ = ["MemoryStore"]
