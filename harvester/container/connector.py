"""A thread that lives in an IPC directory: what the agent writes there is a reply, what is said to it a file.

The record stays where the other threads are (`inner`): a reply gets its place and its proof there, and a
person reads the conversation like any other. This side brings files in and takes messages out, each once.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Final

from harvester.client import Replies
from harvester.connector import Connector, Outgoing
from harvester.container.followups import FollowUps
from harvester.container.groups import Group, lane_of
from harvester.container.sweep import Sweep
from messaging import TIMER_AUTHOR, AuthorKind, Message, MessageKind
from messaging.ipc import Changes

_log: Final = logging.getLogger(__name__)

# Files wake us; what others say in the thread is looked for so often.
LOOK_S: Final = 1.0
# Snapshots follow what agents change at once, and what others change so soon.
REFRESH_S: Final = 60.0
_PAGE: Final = 100


class IpcThreads:
    """The threads of all registered groups' agents.

    The home thread is in the group's own lane, each other one, such as that of a timer's isolated run, in a
    lane of its own (T-12). `tidy` is called now and then, to remove what is old.
    """

    def __init__(
        self,
        inner: Connector,
        sweep: Sweep,
        follow_ups: FollowUps,
        changes: Changes,
        *,
        clock: Callable[[], float] = time.monotonic,
        tidy: Callable[[], object] = lambda: None,
    ) -> None:
        self._inner = inner
        self._sweep = sweep
        self._follow_ups = follow_ups
        self._changes = changes
        self._clock = clock
        self._tidy = tidy
        self._delivering = Lock()
        self._agents: dict[str, str] = {}
        self._looked_at = self._refreshed_at = float("-inf")
        for lane, _ in sweep.lanes():
            with contextlib.suppress(OSError):
                follow_ups.recover(lane)
        sweep.watch(changes)

    def replies(self, after: int, wait_s: float) -> Replies:
        """Brings in what the directories hold, and gives the replies of the groups' agents."""
        until = self._clock() + wait_s
        found = self._found(after)
        while not found.messages and (left_s := until - self._clock()) > 0:
            self._changes.wait(left_s)
            if self._sweep.once() or self._look():
                found = self._found(found.position)
        return found

    def _found(self, after: int) -> Replies:
        self._sweep.once()
        self._look()
        found = self._inner.replies(after, 0.0)
        mine = tuple(message for message in found.messages if self._group(message.author))
        return Replies(mine, found.position)

    def messages(self, thread: str, after: int, limit: int) -> Sequence[Message]:
        """From the record."""
        return self._inner.messages(thread, after, limit)

    def post(self, outgoing: Outgoing) -> Message:
        """Into the record, and to the agent."""
        posted = self._inner.post(outgoing)
        if group := self._group(self._agents.get(outgoing.thread, outgoing.thread)):
            self._deliver(group, outgoing.thread)
        return posted

    def cursor(self) -> int:
        """With the record."""
        return self._inner.cursor()

    def set_cursor(self, position: int) -> None:
        """With the record."""
        self._inner.set_cursor(position)

    def _groups(self) -> Iterator[Group]:
        """One for each folder."""
        yield from {group.folder: group for group in self._sweep.intake.ledger.groups()}.values()

    def _group(self, agent: str) -> Group | None:
        return next((group for group in self._groups() if group.agent == agent), None)

    def _look(self) -> bool:
        """Deliver what others have said meanwhile; False when that is not due yet."""
        now = self._clock()
        if now - self._looked_at < LOOK_S:
            return False
        self._looked_at = now
        if now - self._refreshed_at >= REFRESH_S:
            self._refreshed_at = now
            self._sweep.refresh()
            self._tidy()
        self._sweep.watch(self._changes)  # groups that are new; for the others it changes nothing
        for group in self._groups():
            for thread in self._sweep.intake.desk.threads(group.agent):
                self._agents[thread.id] = group.agent
                if thread.last_seq > self._sweep.intake.ledger.position(out_of(thread.id)):
                    self._deliver(group, thread.id)
        return True

    def _deliver(self, group: Group, thread: str) -> None:
        """What is new in the thread and not the agent's own words becomes follow-ups, in order."""
        ledger = self._sweep.intake.ledger
        with self._delivering:
            done = ledger.position(out_of(thread))
            for message in self._inner.messages(thread, done, _PAGE):
                if _is_for(group, message) and not self._tell(group, message):
                    return  # the lane is full; it is told later
                ledger.set_position(out_of(thread), message.seq)

    def _tell(self, group: Group, message: Message) -> bool:
        lane = lane_of(group.folder, message.thread)
        try:
            if lane != group.folder:
                self._sweep.layout.prepare(lane, group.folder)
                is_task = message.kind is MessageKind.ENVELOPE
                self._sweep.intake.ledger.put_lane(lane, message.thread, is_task=is_task)
            return self._follow_ups.tell(lane, _shown(message), message.id) is not None
        except OSError as planted:  # a link in the place of `input`: the group's own loss
            _log.warning("%s gets no follow-ups: %s", lane, planted)
            return False


def out_of(thread: str) -> str:
    """The name of the position up to which a thread has been delivered."""
    return f"out:{thread}"


def _shown(message: Message) -> str:
    """A message of another agent says whose it is; all others speak for themselves."""
    if message.kind is MessageKind.DM:
        return f"Message from {message.author}:\n{message.body}"
    return message.body


def _is_for(group: Group, message: Message) -> bool:
    """Neither the agent's own words nor what people are told about it; a timer's question is for it."""
    own = message.author_kind is AuthorKind.AGENT and message.author == group.agent
    return not own and (message.kind is not MessageKind.NOTICE or message.author == TIMER_AUTHOR)
