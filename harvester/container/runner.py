"""Starts a container for each lane in which something waits, and brings back what it says (T-28, T-85, T-86).

What an agent says is recorded as its reply first; then the follow-ups that went into it count as answered.
Whatever dies in between, they are told again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

from harvester.container.desk import Desk, Words
from harvester.container.followups import FollowUps
from harvester.container.groups import Group, Source
from harvester.container.heard import Heard
from harvester.container.ledger import Waiting
from harvester.container.limits import ContainerLimits
from harvester.container.lock import LaneBusy, held
from harvester.container.places import AT_ONCE, Kind, Places, Work
from harvester.container.process import Container, Program, Ran
from harvester.errors import ClientError
from messaging.container import ContainerInput, LlmEndpoint
from messaging.undelivered import undelivered

_log: Final = logging.getLogger(__name__)
# How soon a lane in which something waits is seen.
LOOK_S: Final = 0.5
# Behind it come the follow-ups that wait (T-27).
PROMPT: Final = "New in your thread:"
# How ids of messages begin.
_MESSAGE: Final = "msg"
# Who has sent more that nobody reads has been told often enough.
_MOST_TOLD: Final = 20

Make = Callable[[str, Source, int], Program]


@dataclass(slots=True, kw_only=True)
class Runner:
    """`make` gives the program for a lane; its last argument is the lock's descriptor, to be kept open."""

    desk: Desk
    follow_ups: FollowUps
    make: Make
    llm: LlmEndpoint | None = None
    zone: str | None = None
    limits: ContainerLimits = field(default_factory=ContainerLimits)
    clock: Callable[[], float] = time.monotonic
    places: Places = field(default_factory=Places)
    look_s: float = LOOK_S
    _lock: Lock = field(default_factory=Lock)
    _given_up: dict[str, frozenset[str]] = field(default_factory=dict)

    def run(self, stop: Event) -> None:
        """Until `stop` is set; containers that run then are ended."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="container") as pool:
            while not stop.is_set():
                self.look()
                while work := self._next():
                    pool.submit(self.work, work, stop)
                stop.wait(self.look_s)

    def look(self) -> None:
        """Ask for a place for each lane in which something waits and nothing has been given up."""
        for lane, waiting in self._waiting():
            if not waiting <= self._given_up.get(lane, frozenset()):
                with self._lock:
                    self.places.ask(Work(lane, Kind.TASK if self._is_task(lane) else Kind.MESSAGE, "waiting"))

    def _next(self) -> Work | None:
        with self._lock:
            return self.places.take(self.clock())

    def _waiting(self) -> Iterator[tuple[str, frozenset[str]]]:
        groups = self.follow_ups.ledger.groups()
        running = self.places.lanes
        for lane in self.follow_ups.layout.lanes():
            names = frozenset(one.name for one in self.follow_ups.ledger.unanswered(lane))
            if names and lane not in running and groups.source(lane):
                yield lane, names

    def work(self, work: Work, stop: Event) -> None:
        """One run of a lane's container, from its lock to its retry. Never raises."""
        try:
            problem = self._once(work.lane, stop)
        except Exception:  # noqa: BLE001 - whatever it is, it must not take the others' place
            _log.exception("%s: its container was not run", work.lane)
            problem = "a fault of ours; the log has the details"
        with self._lock:
            again = self.places.ended(work, self.clock(), well=problem is None)
        if problem and not stop.is_set():
            _log.warning("%s: attempt %d: %s", work.lane, work.attempt + 1, problem)
            if again is None:
                self._give_up(work.lane, problem)

    def _once(self, lane: str, stop: Event) -> str | None:
        """What went wrong, if anything did."""
        source = self.follow_ups.ledger.groups().source(lane)
        if source is None:
            return "its group is gone"
        try:
            with held(self.follow_ups.layout.lock(lane), lane) as lock:
                return self._contained(lane, source, self.make(lane, source, lock), stop)
        except LaneBusy as busy:  # it outlived the host that started it
            self.follow_ups.close(lane)
            return str(busy)

    def _contained(self, lane: str, source: Source, program: Program, stop: Event) -> str | None:
        self.follow_ups.clear_close(lane)
        before = self.follow_ups.restore(lane, reported=True)
        heard = Heard(lane, source.agent, self.desk, self.follow_ups)
        container = Container(
            program=program,
            limits=self.limits,
            on_output=heard.output,
            close=lambda: self.follow_ups.close(lane),
            warn=lambda text: _log.warning("%s: %s", lane, text),
            stop=stop,
            clock=self.clock,
        )
        ran: Ran | None = None
        try:
            ran = container.run(self._start(lane, source))
        except ClientError as away:
            return f"what it said could not be recorded: {away}"
        finally:
            unsure = ran is None or ran.error is not None or ran.reported
            after = self.follow_ups.restore(lane, reported=unsure)
        if ran.error is None and set(before) <= set(after):  # else it would be started again for ever
            return "it ended well and has taken nothing of what waited"
        return ran.error

    def _start(self, lane: str, source: Source) -> ContainerInput:
        group = next(one for one in self._groups() if one.folder == source.folder)
        return ContainerInput(
            prompt=PROMPT,
            group_folder=source.folder,
            chat_jid=group.jid,
            is_main=source.is_main,
            session_id=self.follow_ups.ledger.session(lane),
            is_scheduled_task=self._is_task(lane),
            assistant_name=source.agent,
            llm=self.llm,
            timezone=self.zone,
        )

    def _is_task(self, lane: str) -> bool:
        known = self.follow_ups.ledger.lane(lane)
        return known is not None and known.is_task

    def _groups(self) -> Iterator[Group]:
        yield from self.follow_ups.ledger.groups()

    def _give_up(self, lane: str, problem: str) -> None:
        """Silence would look like an agent that thinks. What comes new is tried again."""
        waiting = self.follow_ups.ledger.unanswered(lane)
        self._given_up[lane] = frozenset(one.name for one in waiting)
        source = self.follow_ups.ledger.groups().source(lane)
        if source is None or not waiting:
            return
        times = self.places.retries + 1
        why = f"the container of {lane} failed {times} times and is not tried again: {problem}"
        try:
            self._tell_of_it(lane, source, waiting, why)
        except ClientError as away:
            _log.warning("%s: no notice either: %s", lane, away)

    def _tell_of_it(self, lane: str, source: Source, waiting: Sequence[Waiting], why: str) -> None:
        """In the thread, where the record then says that it failed, and to the agents that wait for it."""
        messages = [one.key for one in waiting if one.key.startswith(_MESSAGE)]
        known = self.follow_ups.ledger.lane(lane)
        thread, key = known.thread if known else "", f"gave-up:{lane}:{waiting[-1].name}"
        about = messages[-1] if messages else None
        self.desk.notice(Words(source.agent, undelivered(why), key, thread, about))
        self.desk.tell_senders(
            messages[-_MOST_TOLD:], f"Your message to {source.agent} was not delivered: {why}."
        )
