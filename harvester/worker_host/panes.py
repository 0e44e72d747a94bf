"""Workers that are a tmux session, which a person can attach to (O-60).

A pane that lives is a heartbeat; what its thread gets is pasted into it. The session itself remembers up to
which message, so a host that comes after a `kill -9` goes on where the last one was.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harvester.client import DaemonClient
from harvester.worker_host import launch
from harvester.worker_host.ending import Endings
from harvester.worker_host.report import Reports
from harvester.worker_host.template import HostTemplate, OutsideFolderError
from harvester.worker_host.tmux import Pane, Tmux, TmuxError, session_of
from harvester.worker_host.turns import wakes
from messaging import strip_terminal

log = logging.getLogger(__name__)

_PAGE = 200
Row = dict[str, Any]


@dataclass(slots=True)
class Panes:
    """One for a host. `tend` and `stop` are called each round; `look` before them. `wall` gives seconds of
    the epoch, as tmux does."""

    tmux: Tmux
    endings: Endings
    wall: Callable[[], float] = time.time
    there: dict[str, Pane] = field(default_factory=dict)
    is_new: bool = True

    def look(self, alive: set[str]) -> None:
        """What sessions there are; those of workers that are over are ended."""
        if not (alive or self.there or self.is_new):
            return
        self.there, self.is_new = self.tmux.panes(), False
        for session in self.there.keys() - {session_of(worker) for worker in alive}:
            self.tmux.kill(session)

    def tend(self, row: Row, template: HostTemplate, client: DaemonClient, reports: Reports) -> None:
        """Starts it, tells it what its thread has for it, and says how it stands."""
        session = session_of(row["id"])
        pane = self.there.get(session)
        try:
            if pane is not None:
                self._go_on(row, template, pane, client, reports)
            elif row["state"] in ("wanted", "starting"):
                self._start(row, template, session, reports)
            else:
                reports.say(row, "ended", "its tmux session is gone")
        except (TmuxError, OutsideFolderError, OSError) as wrong:
            if pane is None:
                reports.say(row, "failed", str(wrong))
            else:  # closed since we looked, which the next look will show
                log.warning("worker %s: %s", row["id"], wrong)

    def _start(self, row: Row, template: HostTemplate, session: str, reports: Reports) -> None:
        reports.say(row, "starting")
        place = template.place(row["cwd"])
        told = self._note(row, template)
        try:
            self.tmux.start(session, [sys.executable, "-I", "-S", launch.__file__, "pane", str(told)], place)
        except TmuxError:
            told.unlink(missing_ok=True)
            raise
        reports.say(row, "running", session=session)

    def _note(self, row: Row, template: HostTemplate) -> Path:
        """What the first program reads: an environment on a command line would be seen by `ps`."""
        told = self.tmux.home / "workers" / f"{row['id']}.json"
        told.parent.mkdir(mode=0o700, exist_ok=True)
        environment = template.variables(row["id"], self.tmux.home)
        content = json.dumps({"argv": template.argv, "environment": environment}).encode()
        descriptor = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return told

    def _go_on(
        self, row: Row, template: HostTemplate, pane: Pane, client: DaemonClient, reports: Reports
    ) -> None:
        ending = row["id"] in self.endings.kill_at
        if pane.status is not None and not ending:
            self.tmux.kill(pane.session)
            reports.say(row, "failed" if pane.status else "ended", f"its program ended with {pane.status}")
        elif ending or self.wall() - pane.active_at >= template.idle_s:
            if self.endings.gone(row["id"], template.term_s):
                self.tmux.kill(pane.session)
                reports.say(row, "ended", f"its pane was silent for {template.idle_s:g} s")
        elif not pane.dead:
            self._tell(row, pane, client)
            reports.beat(row, "running", template.heartbeat_s)

    def _tell(self, row: Row, pane: Pane, client: DaemonClient) -> None:
        told = pane.told
        while told < row["messages"] and (page := client.messages(row["thread"], after=told, limit=_PAGE)):
            for message in page:
                if wakes(message, row["id"]):
                    self.tmux.paste(pane.session, strip_terminal(message.body), message.seq)
            told = page[-1].seq

    def stop(self, row: Row, template: HostTemplate, reports: Reports) -> None:
        """Ends what runs in it, then the session."""
        if self.endings.gone(row["id"], template.term_s):
            self.tmux.kill(session_of(row["id"]))
            reports.say(row, "ended", row["reason"] or "its job is over")
        else:
            reports.beat(row, "stopping", template.heartbeat_s)
