"""Workers that run an agent's command line, or a container, once for each turn (J-27).

A turn's prompt is what its thread has for it, its reply the last words of the run: they become a message of
the worker's and are harvested like any reply. The thread remembers what was answered (`turns.py`).
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from harvester.adapters import ADAPTERS, Failure, Outcome, Status
from harvester.agent_run import Command, Limits, run
from harvester.client import DaemonClient
from harvester.container.lock import LaneBusy
from harvester.container.mounts import MountRefused
from harvester.errors import ClientError, Refused, Unavailable
from harvester.worker_host import launch
from harvester.worker_host.contained import contained, sweep
from harvester.worker_host.ending import Endings
from harvester.worker_host.report import Reports
from harvester.worker_host.template import HostTemplate
from harvester.worker_host.turns import Turn, next_turn
from messaging import Message, MessageKind
from messaging.container import WireError

log = logging.getLogger(__name__)

_PAGE: Final = 200
_RETRY_S: Final = 1.0
# Of a turn that failed of a provider that is busy or away: 5, 10 and 20 seconds later.
_RETRIES: Final = 3
_FIRST_PAUSE_S: Final = 5.0
# What the daemon takes; no name of a model or a session comes near it.
_MOST_NAME_CHARS: Final = 200
Row = dict[str, Any]


@dataclass(slots=True)
class _Turns:
    """The turns of one worker: the one that runs, and how far its thread was looked at."""

    running: threading.Thread | None = None
    looked: int = -1
    idle_since: float = 0.0
    failed: str | None = None
    session: str | None = None
    failures: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def busy(self) -> bool:
        return self.running is not None and self.running.is_alive()


@dataclass(slots=True)
class Children:
    """One for a host. `tend` and `stop` are called each round and never wait."""

    home: Path
    clock: Callable[[], float]
    connect: Callable[[], DaemonClient]
    endings: Endings
    turns: dict[str, _Turns] = field(default_factory=dict)

    def tend(self, row: Row, template: HostTemplate, reports: Reports) -> None:
        """Begins the next turn where there is one, and says how it stands."""
        mine = self.known(row)
        if mine.busy:
            reports.beat(row, "running", template.heartbeat_s)
            mine.idle_since = self.clock()
        elif mine.failed is not None:
            self._forget(row, reports, "failed", mine.failed)
        elif row["messages"] > mine.looked:
            mine.looked = row["messages"]
            reports.beat(row, "running", template.heartbeat_s)
            mine.running = threading.Thread(
                target=self._turn, args=(row, template, mine), name=row["id"], daemon=True
            )
            mine.running.start()
        elif self.clock() - mine.idle_since >= template.idle_s:
            self._forget(row, reports, "ended", f"it had nothing to do for {template.idle_s:g} s")
        elif mine.session != row["session"]:
            reports.say(row, "ready", session=mine.session)
        else:
            reports.beat(row, "ready", template.heartbeat_s)

    def known(self, row: Row) -> _Turns:
        """What is known of its turns; of one that another host began, its session."""
        fresh = _Turns(idle_since=self.clock(), session=row["session"])
        return self.turns.setdefault(row["id"], fresh)

    def stop(self, row: Row, template: HostTemplate, reports: Reports) -> None:
        """Ends what runs; the worker is over when nothing of it is left."""
        mine = self.turns.get(row["id"])
        if mine is not None:
            mine.over.set()
        gone = self.endings.gone(row["id"], template.term_s)
        if gone and not (mine and mine.busy):
            sweep(row, template)
            self._forget(row, reports, "ended", row["reason"] or "its job is over")
        else:
            reports.beat(row, "stopping", template.heartbeat_s)

    def close(self) -> None:
        """What was not answered is run again by the next host."""
        for worker, mine in self.turns.items():
            mine.over.set()
            self.endings.at_once(worker)
        for mine in self.turns.values():
            if mine.running is not None:
                mine.running.join()

    def _forget(self, row: Row, reports: Reports, state: str, reason: str) -> None:
        reports.say(row, state, reason)
        self.turns.pop(row["id"], None)

    def _turn(self, row: Row, template: HostTemplate, mine: _Turns) -> None:
        """One turn from the thread to the reply; what the daemon cannot take now is told again."""
        try:
            with self.connect() as client:
                turn = next_turn(_thread(client, row["thread"]), row["id"])
                if turn is None or mine.over.is_set():
                    return
                outcome = self._run(row, template, turn, mine.session)
                if mine.over.is_set():
                    return
                mine.session = outcome.heard.session or mine.session
                _count(client, row, template, outcome)
                self._deliver(client, row, turn, outcome, mine)
        except Refused as refused:
            mine.failed = refused.error.message
        except (ClientError, LaneBusy) as failure:
            log.warning("worker %s: %s", row["id"], failure)
            mine.over.wait(_RETRY_S)
            mine.looked = -1
        except (OSError, ValueError, MountRefused, WireError) as wrong:
            mine.failed = str(wrong)
        except Exception as fault:
            log.exception("worker %s", row["id"])
            mine.failed = f"a fault of the host: {fault!r}"

    def _run(self, row: Row, template: HostTemplate, turn: Turn, session: str | None) -> Outcome:
        if template.walls is not None:
            return contained(row, template, turn.prompt, session, self.home)
        command = self.command(row, template, turn, session)
        return run(ADAPTERS[template.adapter], command, limits=_limits(template))

    def command(self, row: Row, template: HostTemplate, turn: Turn, session: str | None) -> Command:
        """The run of a turn. Raises ValueError for a session or a folder that cannot be."""
        argv, adapter = list(template.argv), ADAPTERS[template.adapter]
        if session is not None and adapter.resume is not None:
            argv = adapter.resumed(argv, session)
        first = [sys.executable, "-I", "-S", launch.__file__, "child", str(os.getpid())]
        return Command(
            argv=[*first, *argv],
            environment=template.variables(row["id"], self.home),
            folder=template.place(row["cwd"]),
            prompt=turn.prompt.encode("utf-8", "replace"),
        )

    def _deliver(self, client: DaemonClient, row: Row, turn: Turn, outcome: Outcome, mine: _Turns) -> None:
        """The reply, once for each turn; one that failed has none."""
        key, reply = f"turn {row['id']} {turn.last.seq}", (outcome.reply or "").strip()
        if outcome.status is Status.FAILED:
            _failed(row, outcome.failure, mine)
            return
        mine.failures = 0
        said: dict[str, Any] = {"body": reply, "as_agent": row["id"]}
        if not reply:
            text = f"The worker {row['name']} ended this turn without a word."
            said = {"body": text, "kind": MessageKind.NOTICE}
        _patiently(
            mine.over,
            lambda: client.post_message(row["thread"], **said, in_reply_to=turn.last.id, key=key),
        )


def _failed(row: Row, failure: Failure | None, mine: _Turns) -> None:
    """What may pass is tried again, a few times and ever later; anything else is the end of the worker."""
    mine.failures += 1
    why = f"{failure.kind}: {failure.message}" if failure else "its run failed"
    if failure is None or not failure.retryable or mine.failures > _RETRIES:
        mine.failed = why if mine.failures == 1 else f"{why} ({mine.failures} times)"
        return
    log.warning("worker %s: turn failed, is tried again: %s", row["id"], why)
    mine.over.wait(_FIRST_PAUSE_S * 2 ** (mine.failures - 1))
    mine.looked = -1


def _count(client: DaemonClient, row: Row, template: HostTemplate, outcome: Outcome) -> None:
    """What the run used. Whatever the bill looks like, the reply is not lost over it."""
    heard = outcome.heard
    spent = heard.spent.to_json()
    del spent["reasoning_tokens"]  # part of the output tokens
    names = {"model": heard.model, "session": heard.session}
    cut = {name: text[:_MOST_NAME_CHARS] for name, text in names.items() if text}
    try:
        client.add_run(row["id"], f"worker-run:{uuid.uuid4().hex}", adapter=template.adapter, **cut, **spent)
    except Refused as refused:
        log.warning("worker %s: what it used is not counted: %s", row["id"], refused.error.message)


def _patiently(over: threading.Event, post: Callable[[], object]) -> None:
    """A daemon that is away comes back; a reply is not lost over it."""
    while not over.is_set():
        try:
            post()
        except Unavailable:
            over.wait(_RETRY_S)
        else:
            return


def _limits(template: HostTemplate) -> Limits:
    return replace(Limits(), stall_s=template.idle_s, wall_s=template.time_limit_s, term_s=template.term_s)


def _thread(client: DaemonClient, thread: str) -> list[Message]:
    """All of it: who answers has to know what was answered."""
    found: list[Message] = []
    while page := client.messages(thread, after=found[-1].seq if found else 0, limit=_PAGE):
        found += page
    return found
