"""The end of a worker's processes, without waiting for it: TERM, later KILL, and a look each round."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harvester.worker_host import processes


@dataclass(slots=True)
class Endings:
    """`clock` gives monotonic seconds."""

    home: Path
    clock: Callable[[], float]
    kill_at: dict[str, float] = field(default_factory=dict)

    def gone(self, worker: str, term_s: float) -> bool:
        """Has the last of them ended? Asked again and again, it sees to it."""
        left = processes.of_worker(self.home, worker)
        if not left.pids():
            self.kill_at.pop(worker, None)
            return True
        if worker not in self.kill_at:
            self.kill_at[worker] = self.clock() + term_s
            left.end(signal.SIGTERM)
        elif self.clock() >= self.kill_at[worker]:
            left.end(signal.SIGKILL)
        return False

    def at_once(self, worker: str) -> None:
        """For a host that ends itself."""
        processes.of_worker(self.home, worker).end(signal.SIGKILL)
