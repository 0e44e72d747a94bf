"""What one run of a container says, brought into the thread (T-28).

It is recorded as the agent's reply first; then the follow-ups that went into it count as answered.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from harvester.container.desk import Desk, Words
from harvester.container.followups import FollowUps
from harvester.errors import Refused
from messaging.container import ContainerOutput

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Heard:
    """Brings one run's outputs into the thread."""

    lane: str
    agent: str
    desk: Desk
    follow_ups: FollowUps
    count: int = 0
    run: str = ""

    def output(self, output: ContainerOutput) -> None:
        """One frame: session, reply, answered follow-ups, what it used; raises `ClientError`."""
        self.run = self.run or self.follow_ups.names.stamp()
        self.count += 1
        key = f"run:{self.lane}:{self.run}:{self.count}"
        if output.new_session_id:
            self.follow_ups.ledger.set_session(self.lane, output.new_session_id)
        if output.result and output.result.strip():
            lane = self.follow_ups.ledger.lane(self.lane)
            self._record(Words(self.agent, output.result, key, lane.thread if lane else ""))
        self.follow_ups.answered(self.lane, output.consumed_inputs or ())
        self._count(key, output)

    def _count(self, key: str, output: ContainerOutput) -> None:
        """Whatever the bill looks like, no reply is lost over it."""
        try:
            self.desk.spent(self.agent, key, output)
        except Refused as no:
            _log.warning("%s: what a turn used is not counted: %s", self.lane, no)

    def _record(self, words: Words) -> None:
        """What the daemon does not take, such as a reply that is too large, is said to be missing."""
        try:
            self.desk.record(words)
        except Refused as no:
            if no.error.retryable:
                raise
            text = f"What {self.agent} said is not recorded: {no.error.message}"
            self.desk.notice(Words(words.agent, text, f"{words.key} refused", words.thread))
