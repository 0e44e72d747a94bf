"""Looks through the directories of all groups, in bounded time whatever lies there (T-37, T-43).

Of each lane a round takes so many files, the oldest first. What lies beyond the backlog is removed and told
once, so that ten thousand files cost their removal and nothing more.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from harvester.container.followups import FollowUps
from harvester.container.groups import Source
from harvester.container.intake import Intake
from harvester.container.layout import FROM_AGENT, Layout
from harvester.container.pace import Pace
from harvester.container.round import Round
from harvester.container.snapshots import write_snapshots
from messaging.ipc import Changes, Folder

_log: Final = logging.getLogger(__name__)

# A chat with an agent in it has a handful of files in a minute.
BACKLOG: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`now_ms` is the wall clock, `moment` the same as text."""

    layout: Layout
    intake: Intake
    follow_ups: FollowUps
    pace: Pace
    now_ms: Callable[[], int]
    moment: Callable[[], str]
    backlog: int = BACKLOG

    def lanes(self) -> Iterator[tuple[str, Source]]:
        """Each lane whose group is registered, and who writes there."""
        groups = self.intake.ledger.groups()
        for lane in self.layout.lanes():
            if source := groups.source(lane):
                yield lane, source

    def watch(self, changes: Changes) -> None:
        """Wake up when a file comes into one of the directories."""
        for lane, _ in self.lanes():
            with contextlib.suppress(OSError), Folder.at(self.layout.ipc(lane)) as ipc:
                for name in FROM_AGENT:
                    with ipc.child(name) as folder:
                        changes.watch(folder.fileno())

    def once(self) -> int:
        """One round over all lanes; how many files were looked at. Raises `ClientError`."""
        counted, mutated = 0, False
        for lane, source in self.lanes():
            try:
                with Round.over(lane, source, self.layout, self.intake) as one:
                    counted += self._round(one)
                    mutated |= one.mutated
            except OSError as planted:  # a link in a directory's place: the group's own loss
                _log.warning("the directories of %s are not looked at: %s", lane, planted)
        if mutated:
            self.refresh()
        return counted

    def _round(self, one: Round) -> int:
        claimed, waiting = one.claimed(), one.waiting()
        if not claimed and not waiting:
            return 0
        one.drop(waiting[self.backlog :], self.backlog)
        del waiting[self.backlog :]
        allowed = self.pace.take(one.source.folder, len(claimed) + len(waiting))
        now_ms = self.now_ms()
        one.deal(claimed[:allowed], waiting[: max(0, allowed - len(claimed))], now_ms)
        if text := one.told():
            self.follow_ups.tell(one.lane, text, f"refused:{self.follow_ups.names.stamp()}")
        return min(allowed, len(claimed) + len(waiting))

    def refresh(self) -> None:
        """Write the snapshots of all lanes anew."""
        known = self.intake.known()
        for lane, source in self.lanes():
            try:
                with Folder.at(self.layout.ipc(lane)) as ipc:
                    write_snapshots(ipc, source, known, self.moment())
            except OSError as planted:
                _log.warning("no snapshots for %s: %s", lane, planted)
