"""The watcher: harvests every reply of the daemon's threads as it arrives, over restarts of either side."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from threading import Event
from types import MappingProxyType
from typing import Final

from harvester.client import DaemonClient
from harvester.connector import Connector, DaemonThreads
from harvester.errors import ClientError
from harvester.harvest import MAX_ROUNDS, Harvester, PatientCaller, telling
from harvester.policy import ScanPolicy
from harvester.rounds import KnownReplies
from harvester.session import Session, may_pass
from harvester.tally import Tally

_log: Final = logging.getLogger(__name__)

# Replies arrive at once, since the daemon answers a long poll when there is one; this is how long it takes
# until a watcher that waits notices that it is to stop.
_WAIT_S: Final = 2.0
# Calls of different threads that run side by side; the daemon has its own bound.
_WORKERS: Final = 4
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0
# Attempts that take longer than a daemon that starts beside us needs; said once, not for each attempt.
_WORTH_A_WORD: Final = 5


class Watcher:
    """`connect` makes a client with a harvester's token; it is asked again after the daemon was away.

    `name` names the cursor: two watchers of one name would share it, and the work would be done once
    anyway, but slower. `threads` opens the place where the threads live; the daemon's own by default.
    """

    def __init__(
        self,
        connect: Callable[[], DaemonClient],
        *,
        policy: ScanPolicy | None = None,
        max_rounds: int = MAX_ROUNDS,
        name: str = "watcher",
        workers: int = _WORKERS,
        wait_s: float = _WAIT_S,
        uniform: Callable[[float, float], float] = random.uniform,
        threads: Callable[[DaemonClient], AbstractContextManager[Connector]] | None = None,
        pins: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._connect = connect
        self._policy = policy
        self._max_rounds = max_rounds
        self._workers = workers
        self._wait_s = wait_s
        self._uniform = uniform
        self._pins = pins
        self._threads = threads or (lambda client: nullcontext(DaemonThreads(client, name)))
        self._known = KnownReplies()
        self._tally = Tally()

    def run(self, stop: Event) -> None:
        """Watch until `stop` is set. Raises `ClientError` for what waiting does not mend."""
        pause_s, failures = _FIRST_PAUSE_S, 0
        while not stop.is_set():
            try:
                with self._connect() as client, self._threads(client) as threads:
                    session = self._session(client, threads)
                    pause_s, failures = _FIRST_PAUSE_S, 0
                    session.run(stop)
            except ClientError as failure:
                if not may_pass(failure):
                    raise
                failures += 1
                if failures == _WORTH_A_WORD:
                    _log.warning("waiting for the daemon: %s", failure)
                stop.wait(self._uniform(pause_s / 2, pause_s))
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def _session(self, client: DaemonClient, threads: Connector) -> Session:
        def fresh() -> Harvester:
            return Harvester(
                caller=PatientCaller(client),
                threads=threads,
                ops=client.ops(),
                policy=self._policy,
                max_rounds=self._max_rounds,
                known=self._known,
                pins=self._pins,
                tell=telling(client),
            )

        return Session(
            threads,
            fresh,
            workers=self._workers,
            wait_s=self._wait_s,
            harvested=lambda done: self._tally.add(done.parsed, done.results),
            polled=lambda: self._report(client),
        )

    def _report(self, client: DaemonClient) -> None:
        """Counts are worth no broken session; what cannot be told is lost."""
        found = self._tally.take()
        if any(found.values()):
            with suppress(ClientError):
                client.report(found)
