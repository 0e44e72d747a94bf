"""Watching over one connection: replies as they come, each dealt with once, the cursor behind them.

A session survives nothing: when the daemon goes away it ends, and the next one begins at the stored cursor,
exactly as after a kill. Replies that were done beyond the cursor are read again then and repeat nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import Condition, Event
from typing import Final

from harvester.connector import Connector
from harvester.errors import BadCertificate, HarvesterError, Refused, Unauthenticated, Unavailable
from harvester.harvest import Harvested, Harvester
from harvester.lanes import Lanes
from harvester.progress import Progress
from messaging import Message

_log: Final = logging.getLogger(__name__)

# So many replies are read ahead; memory is bounded by them and their size.
_MOST_UNFINISHED: Final = 100


def may_pass(failure: Exception) -> bool:
    """Will the same work later, without anybody doing anything to the reply?"""
    return isinstance(failure, Unavailable) or (isinstance(failure, Refused) and failure.error.retryable)


def _ends_session(failure: Exception) -> bool:
    return may_pass(failure) or isinstance(failure, Unauthenticated | BadCertificate)


class Session:
    """`fresh` makes a harvester that knows the daemon's present registry.

    `harvested` is told of each reply, from several threads; `polled` is called after each poll.
    """

    def __init__(
        self,
        threads: Connector,
        fresh: Callable[[], Harvester],
        *,
        workers: int,
        wait_s: float,
        harvested: Callable[[Harvested], None] = lambda _: None,
        polled: Callable[[], None] = lambda: None,
    ) -> None:
        self._threads = threads
        self._fresh = fresh
        self._workers = workers
        self._wait_s = wait_s
        self._harvested = harvested
        self._polled = polled
        self._progress = Progress(threads.cursor())
        self._saved = self._progress.done
        self._broken: Exception | None = None
        self._changed = Condition()

    def run(self, stop: Event) -> None:
        """Watch until `stop` is set; raises what ended the connection. Running replies are finished."""
        with Lanes(self._workers) as lanes:
            while not stop.is_set():
                self._read(lanes, stop)
        self._check()

    def _read(self, lanes: Lanes, stop: Event) -> None:
        """One long poll, and its replies into their lanes."""
        found = self._threads.replies(self._progress.read, self._wait_s)
        self._check()
        self._polled()
        if found.messages:
            self._begin(found.messages, lanes, stop)
        with self._changed:
            self._progress.skip_to(found.position)
            self._save()
            self._changed.wait_for(self._has_room, self._wait_s)

    def _begin(self, messages: Sequence[Message], lanes: Lanes, stop: Event) -> None:
        harvester = self._fresh()
        with self._changed:
            for message in messages:
                self._progress.begin(message.position)
        for message in messages:
            lanes.put(message.thread, partial(self._deal_with, message, harvester, stop))

    def _has_room(self) -> bool:
        return self._progress.unfinished < _MOST_UNFINISHED or self._broken is not None

    def _check(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _deal_with(self, message: Message, harvester: Harvester, stop: Event) -> None:
        """Never raises. What the connection's end interrupts stays unfinished, and so does what follows."""
        if stop.is_set() or self._broken is not None:
            return
        try:
            self._settle(message, harvester)
            with self._changed:
                self._progress.finish(message.position)
                self._save()
                self._changed.notify()
        except Exception as failure:  # noqa: BLE001 - whatever it is, run() raises it
            with self._changed:
                self._broken = failure
                self._changed.notify()

    def _settle(self, message: Message, harvester: Harvester) -> None:
        """Harvest, or say in the thread why not; raises only what ends the session."""
        try:
            done = harvester.harvest(message)
        except Exception as failure:
            if _ends_session(failure):
                raise
            _log.exception("reply %s in thread %s: not harvested", message.id, message.thread)
            self._give_up(message, harvester)
            return
        self._harvested(done)
        failed = sum(not result.ok for result in done.results)
        counts = (len(done.results), failed, len(done.parsed.skipped))
        _log.info(
            "reply %s in thread %s: %d calls, %d failed, %d skipped",
            message.id,
            message.thread,
            *counts,
            extra={"fields": {"reply": message.id, "thread": message.thread}},
        )

    def _give_up(self, message: Message, harvester: Harvester) -> None:
        try:
            harvester.give_up(message)
        except HarvesterError as failure:
            if _ends_session(failure):
                raise
            _log.error("reply %s in thread %s: no notice either: %s", message.id, message.thread, failure)

    def _save(self) -> None:
        """Under the lock, so that the stored cursor only moves forward."""
        if self._progress.done > self._saved:
            self._threads.set_cursor(self._progress.done)
            self._saved = self._progress.done
