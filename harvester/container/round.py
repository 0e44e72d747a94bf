"""One round over one lane's directories: what was claimed before, then what waits, in the order of names."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from harvester.container.groups import Source
from harvester.container.intake import Intake, Later, shown
from harvester.container.layout import FROM_AGENT, Layout
from harvester.container.ledger import FileKey
from messaging import CallError, ErrorCode, error, one_line
from messaging.ipc import Folder

_log: Final = logging.getLogger(__name__)

# What is kept of failed files, for a person to look at.
_KEPT_ERRORS: Final = 1000
_TOLD: Final = 10


class Found(NamedTuple):
    """A file, and whether it lay in `messages` or `tasks`. Sorted by name, which is the order of arrival."""

    name: str
    folder: str


class Pair(NamedTuple):
    """The agent's directory, and ours for what is claimed of it."""

    theirs: Folder
    ours: Folder


@dataclass(slots=True, kw_only=True)
class Round:
    """`refusals` are lines for the agent; `mutated`: the snapshots are out of date."""

    lane: str
    source: Source
    layout: Layout
    intake: Intake
    folders: Mapping[str, Pair]
    refusals: list[str] = field(default_factory=list)
    mutated: bool = False
    room: int = -1  # for failed files; not counted yet

    @classmethod
    @contextmanager
    def over(cls, lane: str, source: Source, layout: Layout, intake: Intake) -> Iterator[Self]:
        """Open the directories; raises OSError where something else stands in the place of one."""
        with ExitStack() as stack:
            ipc = stack.enter_context(Folder.at(layout.ipc(lane)))
            pairs = {
                name: Pair(
                    stack.enter_context(ipc.child(name, create=True)),
                    stack.enter_context(Folder.at(layout.claims(lane, name), create=True)),
                )
                for name in FROM_AGENT
            }
            yield cls(lane=lane, source=source, layout=layout, intake=intake, folders=pairs)

    def claimed(self) -> list[Found]:
        """What was claimed before we died, or before the daemon was busy."""
        return sorted(Found(name, at) for at, pair in self.folders.items() for name in pair.ours.names(""))

    def waiting(self) -> list[Found]:
        """What waits (T-37)."""
        return sorted(Found(name, at) for at, pair in self.folders.items() for name in pair.theirs.names())

    def drop(self, excess: list[Found], backlog: int) -> None:
        """Remove unread what is beyond the backlog."""
        for found in excess:
            with contextlib.suppress(OSError):
                self.folders[found.folder].theirs.clear(found.name)
        if excess:
            text = f"over {backlog:,} files were waiting; the last of them are removed unread."
            self._refuse(f"{len(excess)} files", error(ErrorCode.RATE_LIMITED, text))
            _log.warning("%s: %d files removed: %s", self.lane, len(excess), text)

    def deal(self, claimed: list[Found], waiting: list[Found], now_ms: int) -> None:
        """Each in its order; all behind one that has to wait for the daemon wait too."""
        try:
            for found in claimed:
                self._one(found, now_ms)
            for found in waiting:
                with contextlib.suppress(FileNotFoundError):
                    pair = self.folders[found.folder]
                    pair.theirs.move(found.name, pair.ours, found.name)
                    self._one(found, now_ms)
        except Later as busy:
            _log.info("%s: later: %s", self.lane, busy)

    def told(self) -> str | None:
        """What the agent hears of refusals: one text however many they were (T-50, T-56)."""
        if not self.refusals:
            return None
        more = len(self.refusals) - _TOLD
        lines = [*self.refusals[:_TOLD], *([f"and {more} more"] if more > 0 else [])]
        return "\n".join(["Refused by the host:", *lines])

    def _one(self, found: Found, now_ms: int) -> None:
        ours = self.folders[found.folder].ours
        key = FileKey(self.lane, found.folder, found.name, "")
        dealt = self.intake.deal(ours, key, self.source, now_ms)
        self.mutated |= dealt.mutated
        if dealt.refused:
            self._refuse(f"{found.folder}/{shown(found.name)}", dealt.refused)
            self._put_away(self.folders[found.folder], found.name)
        else:
            ours.clear(found.name)

    def _refuse(self, what: str, why: CallError) -> None:
        self.refusals.append(f"{one_line(what, 80)}: {why.code}: {one_line(why.message)}")

    def _put_away(self, pair: Pair, name: str) -> None:
        """T-39. When a thousand are kept the next ones are removed; a full directory is given back."""
        ours = pair.ours
        with Folder.at(self.layout.errors, create=True) as errors:
            if self.room < 0:
                self.room = _KEPT_ERRORS - len(errors.names("", most=_KEPT_ERRORS))
            kept = f"{self.lane}-{shown(name)}"[:200]
            if self.room == 0 or errors.has(kept):
                ours.clear(name, pair.theirs)
            else:
                ours.move(name, errors, kept)
                self.room -= 1
