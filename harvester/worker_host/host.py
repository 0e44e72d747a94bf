"""The loop that brings together what is wanted and what there is.

It knows nothing that the store, the threads, tmux and the processes do not know: it may die at any instant,
and the next one goes on from them.
"""

from __future__ import annotations

import fcntl
import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Final

from harvester.client import DaemonClient
from harvester.errors import ClientError, Refused
from harvester.session import may_pass
from harvester.worker_host import contained, processes
from harvester.worker_host.children import Children
from harvester.worker_host.ending import Endings
from harvester.worker_host.panes import Panes
from harvester.worker_host.report import Reports
from harvester.worker_host.template import HostTemplate
from harvester.worker_host.tmux import Tmux
from messaging import ErrorCode

log = logging.getLogger(__name__)

# News come at once, since the daemon answers a long poll when there are some; this is how long it takes to
# notice that we are to stop. Panes are looked at more often, and what is busy or about to end most often.
_WAIT_S: Final = 2.0
_PANES_S: Final = 0.5
_SHORT_S: Final = 0.2
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0
# Attempts that take longer than a daemon that starts beside us needs.
_WORTH_A_WORD: Final = 5
_FORGET_EVERY_S: Final = 3600.0
Row = dict[str, Any]


@contextmanager
def _alone(home: Path, stop: Event) -> Iterator[bool]:
    """False where `stop` came before the other host had ended."""
    with (home / "workers.lock").open("w") as file:
        while not stop.is_set():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                stop.wait(_LONGEST_PAUSE_S)
            else:
                yield True
                return
        yield False


def _is_known(client: DaemonClient, worker: str) -> bool:
    try:
        client.worker(worker)
    except Refused as refused:
        return refused.error.code is not ErrorCode.NOT_FOUND
    return True


class WorkerHost:
    """`connect` makes a client with a harvester's token. `home` is the state directory of its daemon.

    One for each daemon: two would start everything twice.
    """

    def __init__(
        self,
        connect: Callable[[], DaemonClient],
        templates: Mapping[str, HostTemplate],
        home: Path,
        *,
        socket: Path | None = None,
    ) -> None:
        self._connect = connect
        self._templates = templates
        self._home = home
        endings = Endings(home, time.monotonic)
        self._children = Children(home, time.monotonic, connect, endings)
        self._panes = Panes(Tmux(home, socket), endings)
        self._told_at: dict[str, float] = {}
        self._forget_at = 0.0

    def run(self, stop: Event) -> None:
        """Until `stop` is set. Raises `ClientError` for what waiting does not mend.

        Waits while another host keeps the workers of this state directory.
        """
        with _alone(self._home, stop) as alone:
            if alone:
                self._run(stop)

    def _run(self, stop: Event) -> None:
        processes.of_children(self._home).end(signal.SIGKILL)
        pause_s, failures = _FIRST_PAUSE_S, 0
        try:
            while not stop.is_set():
                try:
                    with self._connect() as client:
                        pause_s, failures = _FIRST_PAUSE_S, 0
                        self._keep(client, stop)
                except ClientError as failure:
                    if not may_pass(failure):
                        raise
                    failures += 1
                    if failures == _WORTH_A_WORD:
                        log.warning("waiting for the daemon: %s", failure)
                    stop.wait(pause_s)
                    pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        finally:
            self._children.close()

    def _keep(self, client: DaemonClient, stop: Event) -> None:
        """Rounds over one connection."""
        reports, seen, wait_s = Reports(client, time.monotonic, self._told_at), "", 0.0
        while not stop.is_set():
            found = client.workers(wait_s=wait_s, seen=seen)
            seen = found.seen
            self._forget(client)
            self._round(found.workers, client, reports)
            wait_s = self._pause_s(found.workers)

    def _forget(self, client: DaemonClient) -> None:
        """Now and then, what is left of workers that the daemon remembers no longer."""
        if time.monotonic() >= self._forget_at:
            self._forget_at = time.monotonic() + _FORGET_EVERY_S
            contained.forget(self._home, lambda worker: _is_known(client, worker))

    def _round(self, rows: list[Row], client: DaemonClient, reports: Reports) -> None:
        self._panes.look({row["id"] for row in rows if row["runtime"] == "tmux"})
        for row in reversed(rows):
            template = self._templates.get(row["template"])
            if template is None or template.runtime != row["runtime"]:
                reports.say(row, "failed", f'box.toml has no [workers."{row["template"]}"] of its kind')
            elif row["runtime"] == "tmux":
                self._keep_pane(row, template, client, reports)
            elif row["stays"]:
                self._children.tend(row, template, reports)
            else:
                self._children.stop(row, template, reports)

    def _keep_pane(self, row: Row, template: HostTemplate, client: DaemonClient, reports: Reports) -> None:
        if row["stays"]:
            self._panes.tend(row, template, client, reports)
        else:
            self._panes.stop(row, template, reports)

    def _pause_s(self, rows: list[Row]) -> float:
        """How soon may something happen that the daemon cannot tell of?"""
        stopping = any(not row["stays"] for row in rows)
        if stopping or any(mine.busy or mine.failed for mine in self._children.turns.values()):
            return _SHORT_S
        return _PANES_S if self._panes.there else _WAIT_S
